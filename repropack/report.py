"""Write a page of a package: its own made anew, and with it what was found when it was verified."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repropack._checking import check_intact, page_of
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.package import open_package
from repropack._read.verification import read_verification
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
        UsageError: no such path; or the verification is no such report, or of another package.
        PackageError: not a package.
        IntegrityError: the package is damaged.
        UnsupportedVersionError: a feature of a later release.

    Determinism:
        The bytes depend on the package, the verification and this version of repropack.
    """
    with open_package(path, limits=limits) as package:
        report = None
        if verification is not None:
            report = read_verification(verification, package.package_digest, limits=limits)
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
