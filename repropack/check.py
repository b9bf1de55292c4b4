"""Check a package without running anything of it.

Where somebody asks who signed it, ``ssh-keygen`` is started; nothing of the package ever is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repropack._checking import check_whole
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.findings import Findings
from repropack._read.package import open_package
from repropack._signatures import read_signer_list, signatures_beside
from repropack.errors import PackageError, UsageError
from repropack.models.reports import CheckReport


def check_package(
    path: str | Path,
    *,
    fast: bool = False,
    expect_digest: str | None = None,
    signers: str | Path | None = None,
    revoked: str | Path | None = None,
    require_signers: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> CheckReport:
    """Look at everything in a package and run nothing.

    File set, sizes and digests against the manifest; every document against its schema; log
    chains; array fingerprints; checkpoints and kept arrays against the logs; results and claims
    against what logs and arrays give; the page against all of these.

    Args:
        path: The package, zip or directory.
        fast: Compare entry digests only.
        expect_digest: The package digest it must have, ``sha256:<64 hex>``.
        signers: A list of signers, as ssh-keygen(1) describes it under "ALLOWED SIGNERS": say who
            of them signed the package. Times in it are held against the present time.
        revoked: A list of revoked keys, or a KRL; with ``signers``.
        require_signers: Names that must have signed; the report says which of them did not.
        limits: Limits on reading.

    Returns:
        ``intact`` or ``damaged`` with every fault found. A file that is no package is damaged.

    Raises:
        UsageError: no such path; no such list; a required signer, or revoked keys, without a list.
        UnsupportedVersionError: a format version or feature of a later release.
        CouldNotRunError: signatures are asked for, and there is no ``ssh-keygen``.
    """
    if signers is None and (require_signers or revoked is not None):
        raise UsageError(
            "expected --signers with --require-signer or --revoked, observed none",
            hint="--signers FILE is the list of keys that you trust; see docs/signing.md",
        )
    listed = None if signers is None else read_signer_list(signers, revoked)
    findings = Findings(max_faults=limits.max_faults)
    try:
        package = open_package(path, limits=limits)
    except PackageError as error:
        findings.add_error(error, shown_path(Path(path).name), container=str(path))
        return CheckReport(
            path=shown_path(path), verdict="damaged", fast=fast, faults=tuple(findings.faults)
        )
    with package:
        check_whole(package, findings, fast=fast, expect_digest=expect_digest)
        signatures = None
        if listed is not None and not findings.faults:
            signatures = signatures_beside(package, listed, require_signers)
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
            not_compared=tuple(findings.not_compared),
            expectations_failed=() if fast or findings.faults else package.expectations_failed(),
            claims_failed=() if fast or findings.faults else package.claims_failed(),
            signatures=signatures,
            faults=tuple(findings.faults),
        )
