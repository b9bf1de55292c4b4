"""The whole of ``check``: what ``_read`` can say, and that the page is the one that follows.

An entry that people read, and that follows from the others, is made again and compared: there a lie
would be read first.
"""

from __future__ import annotations

from repropack._compare.timeline import Timelines
from repropack._format.digests import digest_bytes
from repropack._format.layout import PAGE, REFERENCE_RUN
from repropack._format.page_head import MAX_HEAD_BYTES, page_version
from repropack._paging import make_page, timelines_for
from repropack._read.findings import Findings
from repropack._read.integrity import check_package_whole
from repropack._read.package import Package
from repropack._read.run import RunReader
from repropack._version import __version__
from repropack.errors import IntegrityError
from repropack.models.reports import VerificationReport, refusal_of


def check_whole(
    package: Package,
    findings: Findings,
    *,
    fast: bool = False,
    expect_digest: str | None = None,
) -> tuple[Timelines, dict[str, RunReader]]:
    """All that can be said of a package without running anything; faults go to ``findings``.

    Args:
        package: The open package.
        findings: Filled with counts and faults.
        fast: Stop after the entries' digests.
        expect_digest: The package digest it must have.

    Returns:
        What a page is made of beside the documents: the runs step by step, and their readers.
        Both are whole where no fault was found and ``fast`` is not given.

    Raises:
        UnsupportedVersionError: a feature of a later release.
    """
    timelines = timelines_for(package.manifest.entries)
    runs = check_package_whole(
        package, findings, fast=fast, expect_digest=expect_digest, timelines=timelines
    )
    if not fast and not findings.faults:
        findings.trying(PAGE, lambda: _check_page(package, findings, timelines, runs))
    return timelines, runs


def check_intact(package: Package) -> tuple[Timelines, dict[str, RunReader]]:
    """Refuse a damaged package, its page included.

    Args:
        package: The open package.

    Returns:
        What ``check_whole`` gives.

    Raises:
        IntegrityError: it is damaged; holds every fault.
        UnsupportedVersionError: a feature of a later release.
    """
    findings = Findings(max_faults=package.limits.max_faults)
    made = check_whole(package, findings)
    if findings.faults:
        raise IntegrityError(*map(refusal_of, findings.faults))
    return made


def _check_page(
    package: Package, findings: Findings, timelines: Timelines, runs: dict[str, RunReader]
) -> None:
    """Make the page again, where this release made it; another release's cannot be compared."""
    with package.container.open(PAGE) as stream:
        version = page_version(stream.read(MAX_HEAD_BYTES))
    if version is None:
        expected = "the first lines that every page has"
        findings.report("page.head", PAGE, "", expected, "others")
    elif version != __version__:
        findings.not_compared.append(
            f"{PAGE}: made by repropack {version}, and this is {__version__}: it was not made again"
        )
    else:
        listed = next(entry.digest for entry in package.manifest.entries if entry.path == PAGE)
        expected = digest_bytes(page_of(package, timelines, runs))
        if listed != expected:
            place = "against the package's other entries"
            findings.report("page.content", PAGE, place, f"the page {expected}", listed)


def page_of(
    package: Package,
    timelines: Timelines,
    runs: dict[str, RunReader],
    *,
    package_digest: str | None = None,
    verification: VerificationReport | None = None,
) -> bytes:
    """A package's page, made of what ``check_whole`` gave.

    Args:
        package: The open package.
        timelines: The runs step by step.
        runs: Their readers, the reference's among them.
        package_digest: The package digest, on a page that is not the package's own.
        verification: What was found when it was verified, likewise.

    Returns:
        The page.

    Raises:
        PackageError: a log is malformed.
    """
    return make_page(
        package.manifest.package,
        package.plan,
        package.results,
        package.environment,
        package.manifest.entries,
        timelines,
        {name: run for name, run in runs.items() if name != REFERENCE_RUN},
        package_digest=package_digest,
        verification=verification,
    )
