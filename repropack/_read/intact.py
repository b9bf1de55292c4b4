"""Refuse a damaged package where a verb gives no report on damage."""

from __future__ import annotations

from repropack._read.findings import Findings
from repropack._read.integrity import check_package_whole
from repropack._read.package import Package
from repropack.errors import IntegrityError
from repropack.models.reports import refusal_of


def require_intact(package: Package, *, fast: bool = False) -> None:
    """Refuse a package that is damaged.

    Args:
        package: The open package.
        fast: Look at the entries' digests only.

    Raises:
        IntegrityError: it is damaged; holds every fault.
        UnsupportedVersionError: an entry has a role that is reserved for later releases.
    """
    findings = Findings(max_faults=package.limits.max_faults)
    check_package_whole(package, findings, fast=fast)
    if findings.faults:
        raise IntegrityError(*map(refusal_of, findings.faults))
