"""Check a package without running anything of it."""

from __future__ import annotations

from pathlib import Path

from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.integrity import Findings, check_package_whole
from repropack._read.package import open_package
from repropack.errors import PackageError
from repropack.models.reports import CheckReport


def check_package(
    path: str | Path,
    *,
    fast: bool = False,
    expect_digest: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> CheckReport:
    """Look at everything in a package and run nothing.

    File set, sizes and digests against the manifest; every document against its schema; log
    chains; array fingerprints; checkpoints and kept arrays against the logs; results against what
    the logs give.

    Args:
        path: The package, zip or directory.
        fast: Compare entry digests only.
        expect_digest: The package digest it must have, ``sha256:<64 hex>``.
        limits: Limits on reading.

    Returns:
        ``intact`` or ``damaged`` with every fault found. A file that is no package is damaged.

    Raises:
        UsageError: no such path.
        UnsupportedVersionError: a format version or feature of a later release.
    """
    findings = Findings(max_faults=limits.max_faults)
    try:
        package = open_package(path, limits=limits)
    except PackageError as error:
        findings.add_error(error, shown_path(Path(path).name), container=str(path))
        return CheckReport(
            path=shown_path(path), verdict="damaged", fast=fast, faults=tuple(findings.faults)
        )
    with package:
        check_package_whole(package, findings, fast=fast, expect_digest=expect_digest)
        return CheckReport(
            path=shown_path(path),
            verdict="damaged" if findings.faults else "intact",
            fast=fast,
            package=package.manifest.package,
            package_digest=package.package_digest,
            evidence_digest=package.evidence_digest,
            entries_checked=findings.entries,
            steps_checked=findings.steps,
            arrays_checked=findings.arrays,
            expectations_failed=() if fast or findings.faults else package.expectations_failed(),
            faults=tuple(findings.faults),
        )
