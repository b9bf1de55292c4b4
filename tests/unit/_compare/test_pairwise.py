"""Any two comparisons against each other say what a walk over both whole logs says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from repropack._compare.logs import LogComparison, LogView
from repropack._compare.outcomes import compare_runs
from repropack._compare.pairwise import MAX_RUNS, compare_pairs
from repropack.models.log import HeaderLine, StartLine, StepLine
from repropack.models.plan import ComparisonPlan, RecordPlan

PLAIN = "sha256:" + "0" * 64


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


@dataclass
class Run:
    """A run in memory; counts the lines that are read."""

    name: str
    values: list[int]
    first_step: int = 1
    start_value: int = 0
    read: int = field(default=0)

    @property
    def header(self) -> HeaderLine:
        stages = (("w", ("state:s",)),)
        return HeaderLine(
            run=self.name, config=PLAIN, constants=(), first_step=self.first_step, stages=stages
        )

    @property
    def start(self) -> StartLine:
        return StartLine(chain=PLAIN, state=(("s", digest(self.start_value)),))

    def steps(self, first_step: int = 0) -> Iterator[StepLine]:
        for step, value in enumerate(self.values, self.first_step):
            if step >= first_step:
                self.read += 1
                yield StepLine(
                    chain=digest(step * 1000 + value),
                    step=step,
                    stages=(("w", digest(value)),),
                    state=(("s", digest(value)),),
                    metrics={},
                    printed={},
                )

    def kept_rows(self, stage: str, first_step: int = 0) -> Iterator[Any] | None:
        return None


def whole_walk(left: Run, right: Run) -> Any:
    """The divergence by reading both from the first step that both have."""
    first = max(left.first_step, right.first_step)

    def view(run: Run) -> LogView:
        before = run.start_value if first == run.first_step else run.values[first - 2]
        return LogView(dict(run.header.stages), {"s": digest(before)}, run.steps(first))

    walk = LogComparison(view(left), view(right), first)
    for _ in walk.pairs():
        pass
    return walk.divergence


VALUES = st.lists(st.integers(0, 1), min_size=6, max_size=6)


@given(VALUES, VALUES, VALUES, st.integers(1, 4), st.integers(4, 6))
@settings(max_examples=60)
def test_a_short_walk_finds_what_a_whole_one_finds(
    reference: list[int], one: list[int], other: list[int], first: int, length: int
) -> None:
    """Also where one resumes later, starts from another state, or ends early."""
    base = Run("reference", reference)
    runs = {
        "one": Run("one", one[:length]),
        "other": Run("other", other[first - 1 :], first, reference[first - 2] if first > 1 else 0),
    }
    outcomes = [
        compare_runs(base, run, ComparisonPlan(name=name), RecordPlan())
        for name, run in runs.items()
    ]
    (found,) = compare_pairs(outcomes, runs)
    expected = whole_walk(runs["one"], runs["other"])
    assert (found.divergence is None) == (expected is None)
    if expected is not None and found.divergence is not None:
        known = {"last_equal_step", "state_before"}  # a walk from the middle knows as much or more
        assert found.divergence.model_dump(exclude=known) == expected.model_dump(exclude=known)
        assert found.divergence.last_equal_step >= expected.last_equal_step
    assert found.first_step == first


def test_little_is_read() -> None:
    """Two long runs that part late are read from there on."""
    base = Run("reference", [0] * 5000)
    runs = {
        "one": Run("one", [0] * 4000 + [1] * 1000),
        "other": Run("other", [0] * 4500 + [1] * 500),
    }
    outcomes = [
        compare_runs(base, run, ComparisonPlan(name=name), RecordPlan())
        for name, run in runs.items()
    ]
    for run in runs.values():
        run.read = 0
    (found,) = compare_pairs(outcomes, runs)
    assert found.divergence is not None
    assert (found.divergence.step, found.divergence.stage) == (4001, "w")
    assert [run.read for run in runs.values()] == [2, 2]


def test_identical_runs_are_not_read_at_all() -> None:
    """Both equal the reference, so they equal each other."""
    base = Run("reference", [0] * 10)
    runs = {"one": Run("one", [0] * 10), "other": Run("other", [0] * 10)}
    outcomes = [
        compare_runs(base, run, ComparisonPlan(name=name), RecordPlan())
        for name, run in runs.items()
    ]
    for run in runs.values():
        run.read = 0
    (found,) = compare_pairs(outcomes, runs)
    assert found.identical
    assert (found.first_step, found.last_step) == (1, 10)
    assert [run.read for run in runs.values()] == [0, 0]


def test_too_many_comparisons_have_no_pairs() -> None:
    """Pairs grow with the square of the runs."""
    base = Run("reference", [0])
    runs = {f"run-{k}": Run(f"run-{k}", [0]) for k in range(MAX_RUNS + 1)}
    outcomes = [
        compare_runs(base, run, ComparisonPlan(name=name), RecordPlan())
        for name, run in runs.items()
    ]
    assert list(compare_pairs(outcomes, runs)) == []
