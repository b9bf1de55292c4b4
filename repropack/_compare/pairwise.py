"""Any two runs of a package against each other, where neither is the reference.

Up to where one of them parts from the reference both are equal to it, so they are equal to each
other: a walk begins there, and reads a few lines in nearly every case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from repropack._compare.logs import LogComparison, LogView, split, view_from
from repropack._compare.rows import RunEvidence
from repropack.models.results import ComparisonOutcome, Divergence, Split

MAX_RUNS = 12
"""Most comparisons of which every pair is compared."""


@dataclass(frozen=True)
class PairOutcome:
    """Two comparisons against each other, from the first step that both have.

    ``constants`` and ``start`` split what they began with; ``start`` is ``None`` where one of them
    began later than the other, for then it is no start of both. ``last_step`` is the last step
    that both have, where they are equal throughout, else that of the divergence.
    """

    left: str
    right: str
    first_step: int
    last_step: int
    divergence: Divergence | None
    constants: Split
    start: Split | None

    @property
    def identical(self) -> bool:
        """Whether everything that both recorded is equal."""
        differing = (*self.constants.differing, *(self.start.differing if self.start else ()))
        return self.divergence is None and not differing


def compare_pairs(
    outcomes: Sequence[ComparisonOutcome], runs: Mapping[str, RunEvidence]
) -> Iterator[PairOutcome]:
    """Every pair of comparisons; none where there are more than ``MAX_RUNS``.

    Args:
        outcomes: What each comparison found against the reference, in the plan's order.
        runs: Their runs by name.

    Yields:
        One outcome a pair, the earlier comparison left.
    """
    if len(outcomes) > MAX_RUNS:
        return
    for left, right in combinations(outcomes, 2):
        yield _compare_pair(left, right, runs[left.run], runs[right.run])


def _compare_pair(
    left: ComparisonOutcome, right: ComparisonOutcome, one: RunEvidence, other: RunEvidence
) -> PairOutcome:
    first = max(left.first_step, right.first_step)
    together = left.first_step == right.first_step
    last, divergence = min(left.last_step, right.last_step), None
    if not (left.identical and right.identical and left.last_step == right.last_step):
        known = _known_equal(left, right, first)
        walk = LogComparison(_view(one, known + 1), _view(other, known + 1), known + 1, known)
        for _ in walk.pairs():
            if walk.divergence is not None:
                break
        divergence = walk.divergence
        last = walk.last_step if divergence is None else divergence.step
    return PairOutcome(
        left=left.run,
        right=right.run,
        first_step=first,
        last_step=last,
        divergence=divergence,
        constants=split(dict(one.header.constants), dict(other.header.constants)),
        start=split(dict(one.start.state), dict(other.start.state)) if together else None,
    )


def _known_equal(left: ComparisonOutcome, right: ComparisonOutcome, first: int) -> int:
    """The last step up to which both are known to equal the reference, or the one before both."""
    ends = [
        outcome.divergence.last_equal_step if outcome.divergence is not None else outcome.last_step
        for outcome in (left, right)
    ]
    return max(first - 1, min(ends))


def _view(run: RunEvidence, first_step: int) -> LogView:
    return view_from(run.header, run.start, run.steps(first_step - 1), first_step)
