"""What a page shows step by step: columns of steps, rows of printed values, fingerprints."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._compare.logs import StepPair, split
from repropack._compare.timeline import (
    MAX_COLUMNS,
    MAX_NAMES,
    MAX_PRINTED,
    Cell,
    Fingerprints,
    Measured,
    PrintedRow,
    PrintedRows,
    Timeline,
    Timelines,
    width_for,
)
from repropack.models.log import StepLine
from repropack.models.plan import ComparisonPlan


def digest(text: object) -> str:
    return f"sha256:{str(text).encode().hex():0>64}"[:71]


def line(step: int, value: object, *, chain: object = None, **more: object) -> StepLine:
    members: dict[str, object] = {
        "chain": digest(f"c{step}{value if chain is None else chain}"),
        "step": step,
        "stages": (("batch", digest("b")), ("w", digest(value))),
        "state": (("opt", digest("o")), ("w", digest(value))),
        "metrics": {"loss": 0.5},
        "printed": {"loss": "0.5"},
    }
    return StepLine.model_validate(members | more)


def pair(left: StepLine, right: StepLine) -> StepPair:
    state = split(dict(left.state or ()), dict(right.state or ())) if left.state else None
    lefts, rights = dict(left.stages or ()), dict(right.stages or ())
    differing = {n for n in {*lefts, *rights} if lefts.get(n) != rights.get(n)}
    return StepPair(left, right, frozenset(differing), state)


def timeline() -> Timeline:
    return Timeline("other", None, "w")


def test_a_step_that_differs_says_what_and_how_far() -> None:
    """The first stage that differs, names that do, the difference; an equal step says nothing."""
    run = timeline()
    run.add(pair(line(1, "a"), line(1, "a")), None)
    run.add(pair(line(2, "a"), line(2, "z")), Measured(0.25, 7))
    assert run.cells[0] == Cell(compared=1, names={"batch", "w", "state:opt", "state:w"})
    assert run.cells[1] == Cell(
        compared=1,
        differing=1,
        first_step=2,
        first_name="w",
        absolute=0.25,
        absolute_step=2,
        ulp=7,
        ulp_step=2,
        names={"batch", "w", "state:opt", "state:w"},
        differing_names={"w", "state:w"},
    )
    assert (run.last_step, run.chain) == (2, line(2, "z").chain)


def test_state_alone_and_metrics_alone_differ() -> None:
    """A component is named as one; a metric has no name; an ending differs too."""
    run = timeline()
    run.add(
        pair(
            line(1, "a"), line(1, "a", chain="x", state=(("opt", digest("p")), ("w", digest("a"))))
        ),
        None,
    )
    run.add(pair(line(2, "a"), line(2, "a", chain="x", metrics={"loss": 0.25})), None)
    run.add(
        pair(line(3, "a"), line(3, "a", chain="x", metrics={"loss": 0.5}, finish="enough")), None
    )
    assert [run.cells[k].first_name for k in range(3)] == ["state:opt", None, None]
    assert [run.cells[k].differing for k in range(3)] == [1, 1, 1]


def test_a_minus_before_zero_is_a_difference() -> None:
    """Metrics are compared as they are stored."""
    run = timeline()
    run.add(
        pair(line(1, "a", metrics={"loss": 0.0}), line(1, "a", chain="x", metrics={"loss": -0.0})),
        None,
    )
    assert run.cells[0].differing == 1


def test_a_step_that_recorded_nothing_is_not_compared() -> None:
    """It has a printed value all the same."""
    run = timeline()
    bare = {"stages": None, "state": None}
    run.add(StepPair(line(1, "a", **bare), line(1, "z", **bare), frozenset()), None)
    assert run.cells[0].compared == 0
    assert run.printed["loss"].compared == 1


@given(st.integers(1, 100_000_000))
def test_columns_are_few_and_as_narrow_as_they_can_be(last_step: int) -> None:
    """A power of two, and half of it would not do."""
    width = width_for(last_step)
    assert width & (width - 1) == 0
    assert (last_step - 1) // width < MAX_COLUMNS
    assert width == 1 or (last_step - 1) // (width // 2) >= MAX_COLUMNS


@pytest.mark.parametrize("length", [1, 400, 401, 850])
@pytest.mark.parametrize("odds", [0.1, 0.9])
def test_columns_keep_their_counts_when_they_merge(length: int, odds: float) -> None:
    """Folded on the way or counted at the end, it is the same."""
    draw = Random(length)
    run, equal = timeline(), [draw.random() < odds for _ in range(length)]
    for step, same in enumerate(equal, 1):
        measured = None if same else Measured(float(step), step)
        run.add(pair(line(step, "a"), line(step, "a" if same else "z")), measured)
    width = width_for(len(equal))
    assert run.width == width
    for column, cell in run.cells.items():
        part = equal[column * width : (column + 1) * width]
        steps = [column * width + k + 1 for k, same in enumerate(part) if not same]
        assert (cell.compared, cell.differing) == (len(part), len(steps))
        assert cell.first_step == (steps[0] if steps else 0)
        assert cell.ulp_step == cell.absolute_step == (steps[-1] if steps else 0)


def test_a_merged_column_begins_where_its_first_difference_is() -> None:
    """Of two columns the earlier one that differs says what is first."""
    earlier = Cell(compared=2, differing=1, first_step=2, first_name="a", ulp=1, ulp_step=2)
    later = Cell(compared=2, differing=2, first_step=3, first_name="b", ulp=1, ulp_step=3)
    earlier.merge(later)
    assert (earlier.compared, earlier.differing) == (4, 3)
    assert (earlier.first_step, earlier.first_name, earlier.ulp_step) == (2, "a", 2)
    equal = Cell(compared=2)
    equal.merge(later)
    assert (equal.first_step, equal.first_name) == (3, "b")


def test_all_runs_end_with_columns_of_one_width() -> None:
    """That of the longest, the reference among them."""
    timelines = Timelines()
    one = timelines.begin(ComparisonPlan(name="one"), ("w",))
    assert one is not None
    one.add(pair(line(1, "a"), line(1, "z")), None)
    one.add(pair(line(3, "a"), line(3, "z")), None)
    assert timelines.ended(401) == 2
    assert sorted(one.cells) == [0, 1]
    assert timelines.ended(401) == 2


def test_names_are_bounded() -> None:
    """A log may have new ones at every step."""
    run = timeline()
    for step in range(1, MAX_NAMES + 3):
        stages = ((f"s{step}", digest("a")),)
        run.add(pair(line(step, "a", stages=stages), line(step, "a", stages=stages)), None)
    assert len(run.stages) == MAX_NAMES
    assert run.names_left_out


def test_comparisons_are_bounded() -> None:
    """Those beyond are counted."""
    timelines = Timelines()
    begun = [timelines.begin(ComparisonPlan(name=f"run-{k}"), ()) for k in range(26)]
    assert [k for k, run in enumerate(begun) if run is None] == [24, 25]
    assert timelines.left_out == 2


def test_printed_rows_thin_out_evenly() -> None:
    """Of 250 steps one in four is shown, and all are counted."""
    rows = PrintedRows()
    for step in range(1, 251):
        rows.add(PrintedRow(step, "0.5", "0.5", 0.5, 0.5 if step % 2 else 0.25))
    assert (rows.width, rows.compared, rows.equal) == (4, 250, 125)
    assert [row.step for row in rows.rows.values()] == list(range(1, 251, 4))
    assert len(rows.rows) <= MAX_PRINTED


def test_fingerprints_are_whole_or_not_there() -> None:
    """Rows of 32 bytes a name; another name, or too many, and there are none."""
    held = Fingerprints()
    held.add("reference", line(1, "a"))
    held.add("reference", line(2, "a"))
    assert (held.stages, held.components) == (("batch", "w"), ("opt", "w"))
    assert len(held.rows["reference"]) == 2 * 4 * 32
    assert held.rows["reference"][:32].hex() == digest("b").removeprefix("sha256:")
    held.add("other", line(1, "a", stages=(("w", digest("a")),)))
    assert not held.whole
    many = Fingerprints()
    for step in range(1, 2002):
        many.add("reference", line(step, "a"))
    assert not many.whole
