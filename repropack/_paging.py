"""From a package's documents and runs to its page.

``build`` packs it, ``check`` makes it again, ``report`` makes one beside the package.
"""

from __future__ import annotations

from collections.abc import Mapping

from repropack._compare.pairwise import compare_pairs
from repropack._compare.rows import RunEvidence
from repropack._compare.timeline import Timelines
from repropack._format.layout import CRATE, PAGE
from repropack._present.page import render_page
from repropack._present.page_subject import PageSubject
from repropack._read.package import evidence_digest, source_digest
from repropack.lab import SHIPPED_SOURCES
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.plan import Plan
from repropack.models.reports import VerificationReport
from repropack.models.results import Results

_NOT_LISTED = (PAGE, CRATE)
"""Entries that a page does not list: itself, and what is made after it and lists it."""


def make_page(  # noqa: PLR0913 - what a page is of
    metadata: PackageMetadata,
    plan: Plan,
    results: Results,
    environment: EnvironmentRecord,
    entries: tuple[Entry, ...],
    timelines: Timelines,
    runs: Mapping[str, RunEvidence],
    *,
    package_digest: str | None = None,
    verification: VerificationReport | None = None,
) -> bytes:
    """Write the page of a package.

    Args:
        metadata: What the author says of the package.
        plan: The plan.
        results: The results.
        environment: The environment record.
        entries: The package's entries; the page itself and the crate may be among them.
        timelines: What ``compute_results`` filled on the way to ``results``.
        runs: The comparisons' runs by name, open.
        package_digest: Digest of the package, where the page is not the package's own.
        verification: What was found when it was verified, likewise.

    Returns:
        The page.

    Raises:
        PackageError: a log is malformed.
    """
    source = source_digest(entries)
    subject = PageSubject(
        metadata=metadata,
        plan=plan,
        results=results,
        environment=environment,
        entries=tuple(entry for entry in entries if entry.path not in _NOT_LISTED),
        evidence_digest=evidence_digest(entries),
        source_digest=source,
        timelines=timelines,
        pairs=tuple(compare_pairs(results.comparisons, runs)),
        lab=source in SHIPPED_SOURCES,
        package_digest=package_digest,
        verification=verification,
    )
    return render_page(subject)


def timelines_for(entries: tuple[Entry, ...]) -> Timelines:
    """What gathers the steps of a package's runs: for a lab with their fingerprints."""
    return Timelines(keep_fingerprints=source_digest(entries) in SHIPPED_SOURCES)
