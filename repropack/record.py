"""Keep what a verification found as a record that others can count: a statement, to be signed."""

from __future__ import annotations

from pathlib import Path

from repropack._compare.records import verification_result
from repropack._format.digests import digest_stream
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.statements import record_statement
from repropack._read.package import open_package
from repropack._run.clock import present_moment
from repropack.errors import CouldNotRunError, PackageError, UnsupportedVersionError
from repropack.models.reports import VerificationReport


def record_verification(
    report: VerificationReport,
    path: str | Path,
    *,
    moment: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """Make the record of a verification.

    Args:
        report: What ``verify_package`` returned.
        path: The package that it was given, which names the zip's digest. It is only read.
        moment: When, such as ``2026-11-30T12:00:00Z``; that of ``SOURCE_DATE_EPOCH`` or of the
            clock where ``None``.
        limits: Limits on reading.

    Returns:
        An in-toto statement in canonical JSON: docs/verification-records.md. It holds no path,
        user or host.

    Raises:
        UsageError: no such path, or ``SOURCE_DATE_EPOCH`` is no number.
        CouldNotRunError: the package is another by now; or there is nothing to name it by: a
            folder without a manifest that could be read.

    Determinism:
        The bytes depend on report, package and moment alone.
    """
    archive = _archive_digest(report, Path(path), limits)
    if archive is None and report.package_digest is None:
        raise CouldNotRunError(
            "the record was not kept: expected a zip or a manifest to name the package by, "
            "observed neither"
        )
    result = verification_result(report, moment or present_moment())
    return record_statement(result, report.package_digest, archive)


def _archive_digest(report: VerificationReport, path: Path, limits: Limits) -> str | None:
    """Digest of the zip that was verified; ``None`` for a folder."""
    try:
        with open_package(path, limits=limits) as package:
            if report.package_digest not in {None, package.package_digest}:
                raise CouldNotRunError(
                    "the record was not kept: the package was replaced after it was verified"
                )
            return package.container.whole_digest()
    except (PackageError, UnsupportedVersionError):
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return digest_stream(stream)[0]
