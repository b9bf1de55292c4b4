"""Write a page of a package: its own made anew, and with it what was found when it was verified."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repropack._checking import check_intact, page_of
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.package import open_package
from repropack._read.run import read_stored
from repropack.errors import UsageError
from repropack.models.manifest import PackageMetadata
from repropack.models.page import PageReport
from repropack.models.reports import VerificationReport


@dataclass(frozen=True)
class PackagePage:
    """A page, and of what it is.

    Attributes:
        content: The page: HTML, UTF-8.
        package: What the author says of the package.
        package_digest: The package that it is of.
        evidence_digest: Its evidence digest.
        verification: The report that it shows, if any.
    """

    content: bytes
    package: PackageMetadata
    package_digest: str
    evidence_digest: str
    verification: VerificationReport | None

    def report(self, path: str | Path, page: str | Path) -> PageReport:
        """What is said of it once it is written.

        Args:
            path: Where the package lies.
            page: Where the page was written.

        Returns:
            The report.
        """
        return PageReport(
            path=shown_path(path),
            page=shown_path(page),
            package=self.package,
            package_digest=self.package_digest,
            evidence_digest=self.evidence_digest,
            size_bytes=len(self.content),
            verification=self.verification.verdict if self.verification is not None else None,
        )


def report_package(
    path: str | Path,
    *,
    verification: str | Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> PackagePage:
    """Check a package, run nothing of it, and make a page of it.

    Args:
        path: The package, zip or directory.
        verification: A file that ``verify --report`` kept of this very package.
        limits: Limits on reading, of the report too.

    Returns:
        The page, which names the package digest; nothing is written.

    Raises:
        UsageError: no such path, or the verification is of another package.
        PackageError: not a package, or the verification is not such a report.
        IntegrityError: the package is damaged.
        UnsupportedVersionError: a feature of a later release.

    Determinism:
        The bytes depend on the package, the verification and this version of repropack.
    """
    report = None if verification is None else _read_verification(Path(verification), limits)
    with open_package(path, limits=limits) as package:
        if report is not None:
            _check_same(report, package.package_digest, Path(str(verification)))
        timelines, runs = check_intact(package)
        return PackagePage(
            content=page_of(
                package,
                timelines,
                runs,
                package_digest=package.package_digest,
                verification=report,
            ),
            package=package.manifest.package,
            package_digest=package.package_digest,
            evidence_digest=package.evidence_digest,
            verification=report,
        )


def _read_verification(path: Path, limits: Limits) -> VerificationReport:
    where = shown_path(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(limits.max_document_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"{where}: expected a report that `verify --report` kept, observed: {reason}"
        ) from error
    return read_stored(VerificationReport, data, where=where, limits=limits)


def _check_same(report: VerificationReport, package_digest: str, path: Path) -> None:
    if report.package_digest != package_digest:
        raise UsageError(
            f"{shown_path(path)}: expected a verification of the package {package_digest}, "
            f"observed one of {report.package_digest or 'a package that could not be read'}",
            hint="run `repropack verify PACKAGE --report FILE` on this package",
        )
