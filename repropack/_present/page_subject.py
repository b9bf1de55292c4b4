"""What a page is of: a package's documents, and what was gathered of its runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from repropack._compare.pairwise import PairOutcome
from repropack._compare.timeline import Timelines
from repropack._version import __version__
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.reports import VerificationReport
from repropack.models.results import ComparisonOutcome, Results


@dataclass(frozen=True)
class PageSubject:
    """A package as its page shows it.

    Attributes:
        metadata: What the author says of the package.
        plan: What was run.
        results: What was found.
        environment: What it ran on.
        entries: The package's entries, without the page itself and the crate, which lists it.
        evidence_digest: Its evidence digest.
        source_digest: Digest of the packaged source.
        timelines: The comparisons step by step.
        pairs: The comparisons against each other.
        lab: Whether the source is one that repropack ships.
        package_digest: Digest of the package; ``None`` in its own page, which cannot know it.
        verification: What was found when it was verified, where that is shown.
        version: The version of repropack that makes the page.
    """

    metadata: PackageMetadata
    plan: Plan
    results: Results
    environment: EnvironmentRecord
    entries: tuple[Entry, ...]
    evidence_digest: str
    source_digest: str
    timelines: Timelines
    pairs: tuple[PairOutcome, ...] = ()
    lab: bool = False
    package_digest: str | None = None
    verification: VerificationReport | None = None
    version: str = field(default=__version__)

    def compared(self) -> list[tuple[ComparisonPlan, ComparisonOutcome]]:
        """Each comparison of the plan with what it found."""
        found = {outcome.run: outcome for outcome in self.results.comparisons}
        rows = ((row, found.get(row.name)) for row in self.plan.comparisons)
        return [(row, outcome) for row, outcome in rows if outcome is not None]
