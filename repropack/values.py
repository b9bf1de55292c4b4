"""The values of a package's claims, for a write-up that prints them; nothing is executed."""

from __future__ import annotations

from pathlib import Path

from repropack._compare.claim_values import printed_claims
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._read.intact import require_intact
from repropack._read.package import open_package
from repropack.models.proofreading import Values


def package_values(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Values:
    """Return the value of each claim of a package, as it is printed and in full.

    The package is checked first, so that no value is another than its logs and arrays give.

    Args:
        path: The package, zip or directory.
        limits: Limits on reading.

    Returns:
        The values in the order of the plan; none where the package makes no claim.

    Raises:
        UsageError: no such path.
        PackageError: not a package, or damaged.
        UnsupportedVersionError: a format version or feature of a later release.
    """
    with open_package(path, limits=limits) as package:
        require_intact(package)
        return Values(
            package=package.manifest.package,
            package_digest=package.package_digest,
            evidence_digest=package.evidence_digest,
            values=printed_claims(package.results.claims),
        )
