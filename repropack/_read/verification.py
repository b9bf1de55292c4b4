"""Read what ``verify --report`` kept of a package."""

from __future__ import annotations

from pathlib import Path

from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.beside import read_beside
from repropack._read.mistaken import REPORT_KIND, refuse_mistaken
from repropack._read.run import read_stored
from repropack.errors import PackageError, UsageError
from repropack.models.reports import VerificationReport

_WHAT = "a report that `verify --report` kept"


def read_verification(
    path: str | Path, package_digest: str, *, limits: Limits = DEFAULT_LIMITS
) -> VerificationReport:
    """Read a verification, which has to be of this very package.

    Args:
        path: The file.
        package_digest: The package's.
        limits: Limits on its size and depth.

    Returns:
        The report.

    Raises:
        UsageError: it cannot be read, is no such report as this version writes it, exceeds a limit,
            or is of another package.
        UnsupportedVersionError: it names a later version of its schema.
    """
    shown = shown_path(path)
    data = read_beside(Path(path), _WHAT, limits.max_document_bytes)
    try:
        report = read_stored(VerificationReport, data, where=shown, limits=limits)
    except PackageError as error:
        refuse_mistaken(Path(path), (REPORT_KIND,), REPORT_KIND)
        raise UsageError(f"{shown}: expected {_WHAT}, observed: {error.message}") from error
    if report.package_digest != package_digest:
        observed = report.package_digest or "a package that could not be read"
        raise UsageError(
            f"{shown}: expected a verification of the package {package_digest}, observed one of "
            f"{observed}",
            hint="run `repropack verify PACKAGE --report FILE` on this package",
        )
    return report
