"""What two runs look like step by step, read from logs written by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repropack._compare.outcomes import compare_runs
from repropack._compare.series import MetricSeries, RunSeries, run_series
from repropack.models.log import StepLine
from repropack.models.plan import ComparisonPlan, RecordPlan
from tests.support.logs import HandMadeRun, step

KEEP = RecordPlan(keep=("weights",), printed={"loss": ".1f"})


def line(number: int, weights: str = "w", loss: Any = None, **state: str) -> StepLine:
    value = 0.5 if loss is None else loss
    shown = f"{value:.1f}" if isinstance(value, float) else "odd"
    return step(
        number,
        {"batch": f"b{number}", "weights": f"{weights}{number}"},
        {"sampler": f"s{number}", **state},
        metrics={"loss": value},
        printed={"loss": shown},
    )


def kept(*rows: list[float]) -> dict[str, list[Any]]:
    return {"weights": [np.array(row, "<f4") for row in rows]}


REFERENCE = HandMadeRun(
    tuple(line(n) for n in range(1, 5)),
    state={"sampler": "s0"},
    kept=kept([1.0, 2.0], [2.0, 2.0], [3.0, 2.0], [4.0, 2.0]),
    name="reference",
)


def series(run: HandMadeRun, record: RecordPlan = KEEP, **changes: Any) -> RunSeries:
    """The series of a run against the reference; ``resume_at`` as the plan says it."""
    comparison = ComparisonPlan(name="run", resume_at=changes.pop("resume_at", None))
    return run_series(replace(REFERENCE, **changes), replace(run, name="run"), comparison, record)


def changed(rows: dict[str, list[Any]] | None = None, **lines: StepLine) -> HandMadeRun:
    """The reference's run with single lines and all kept rows replaced."""
    numbers = {int(name[1:]): value for name, value in lines.items()}
    return replace(
        REFERENCE,
        lines=tuple(numbers.get(one.step, one) for one in REFERENCE.lines),
        kept=REFERENCE.kept if rows is None else rows,
    )


def test_a_run_that_parts_and_returns() -> None:
    """Every step in full: equality by fingerprint, differences by rows, metrics with their text."""
    run = changed(
        kept([1.0, 2.0], [2.0, 2.5], [3.25, 2.0], [4.0, 2.0]),
        s2=line(2, "x", 0.54),
        s3=line(3, "x", 0.75),
    )
    assert series(run) == RunSeries(
        run="run",
        first_step=1,
        resume_at=None,
        subject="weights",
        steps=(1, 2, 3, 4),
        equal=(True, False, False, True),
        largest_absolute=(None, 0.5, 0.25, None),
        metrics=(
            MetricSeries(
                metric="loss",
                steps=(1, 2, 3, 4),
                reference=(0.5, 0.5, 0.5, 0.5),
                run=(0.5, 0.54, 0.75, 0.5),
                equal=(True, False, False, True),
                reference_printed=("0.5", "0.5", "0.5", "0.5"),
                run_printed=("0.5", "0.5", "0.8", "0.5"),
            ),
        ),
    )


def test_a_resumed_run_has_its_own_steps_and_the_right_rows() -> None:
    """The reference's rows before the resume are passed over."""
    run = HandMadeRun(
        (line(3, "x"), line(4, "x")), first_step=3, kept=kept([3.0, 2.5], [4.0, 2.0625])
    )
    found = series(run, resume_at=2)
    assert (found.first_step, found.resume_at) == (3, 2)
    assert found.steps == found.metrics[0].steps == (3, 4)
    assert found.equal == (False, False)
    assert found.largest_absolute == (0.5, 0.0625)


def test_an_identical_run_needs_only_its_log() -> None:
    """It stores no rows of its own; its fingerprints decide."""
    found = series(replace(REFERENCE, kept={}))
    assert found.equal == (True,) * 4
    assert found.largest_absolute == (None,) * 4


def test_differing_fingerprints_without_rows_are_a_difference_without_a_size() -> None:
    found = series(changed(rows={}, s2=line(2, "x")))
    assert found.equal == (True, False, True, True)
    assert found.largest_absolute == (None,) * 4


@pytest.mark.parametrize(
    ("row", "largest"),
    [
        (np.array([2.0, np.inf], "<f4"), np.inf),
        (np.array([np.nan, 2.0], "<f4"), None),
        (np.array([2.0, 2.0], "<f8"), None),
        (np.array([2.0, 2.0, 2.0], "<f4"), None),
    ],
    ids=["infinite", "nan", "type", "shape"],
)
def test_what_cannot_be_measured(row: Any, largest: float | None) -> None:
    """An infinite difference is infinite; other types, shapes and NaN have none."""
    rows = kept([1.0, 2.0], [2.0, 2.0], [3.0, 2.0], [4.0, 2.0])
    rows["weights"][1] = row
    found = series(changed(rows, s2=line(2, "x")))
    assert found.equal == (True, False, True, True)
    assert found.largest_absolute == (None, largest, None, None)


def test_zeros_of_two_signs_differ_and_are_no_distance_apart() -> None:
    rows = kept([0.0, 2.0], [2.0, 2.0], [3.0, 2.0], [4.0, 2.0])
    negative = kept([-0.0, 2.0], [2.0, 2.0], [3.0, 2.0], [4.0, 2.0])
    found = series(changed(negative, s1=line(1, "x")), kept=rows)
    assert found.equal[0] is False
    assert found.largest_absolute[0] is None


def test_without_a_kept_stage_the_complete_state_is_the_subject() -> None:
    """A component that differs, or that one side lacks, makes the state differ."""
    run = changed(s2=line(2, sampler="x"), s3=line(3, extra="x"), s4=line(4, "x"))
    found = series(run, RecordPlan())
    assert found.subject == "state"
    assert found.equal == (True, False, False, True)
    assert found.largest_absolute == (None,) * 4


def test_of_several_kept_stages_the_first_is_the_subject() -> None:
    found = series(changed(s2=line(2, "x")), RecordPlan(keep=("batch", "weights")))
    assert (found.subject, found.equal) == ("batch", (True,) * 4)


def test_steps_at_which_the_subject_was_not_recorded_are_left_out() -> None:
    """Bare steps have no row either, so that the rows after them stay in step."""
    bare = step(2, metrics={"loss": 0.5})
    nameless = step(3, {"batch": "b3"}, {"sampler": "s3"})
    lines = (line(1), bare, nameless, line(4))
    rows = kept([1.0, 2.0], [0.0, 0.0], [4.0, 2.0])
    run = replace(REFERENCE, lines=(*lines[:3], line(4, "x")), kept=kept([1, 2], [0, 0], [4, 3]))
    found = series(run, lines=lines, kept=rows)
    assert found.steps == (1, 4)
    assert found.equal == (True, False)
    assert found.largest_absolute == (None, 1.0)
    assert found.metrics[0].steps == (1, 2, 4)
    assert series(run, RecordPlan(), lines=lines).steps == (1, 3, 4)


def test_a_stage_that_one_side_lacks_differs() -> None:
    found = series(changed(s2=step(2, {"batch": "b2"}, {"sampler": "s2"})))
    assert found.steps == (1, 2, 3, 4)
    assert found.equal == (True, False, True, True)


def test_steps_that_only_one_run_has_are_not_compared() -> None:
    assert series(replace(REFERENCE, lines=REFERENCE.lines[:2])).steps == (1, 2)
    assert series(REFERENCE, lines=()).steps == ()
    late = HandMadeRun((line(9),), first_step=9, kept=kept([1.0, 2.0]))
    assert series(late).steps == ()


@pytest.mark.parametrize(
    ("left", "right", "values", "equal"),
    [
        (0.0, -0.0, (0.0, -0.0), False),
        (1, 1.0, (1.0, 1.0), False),
        ({"$float": "nan"}, {"$float": "nan"}, None, True),
        ({"$float": "inf"}, {"$float": "-inf"}, (np.inf, -np.inf), False),
        ({"$int": "1" + "0" * 400}, {"$int": "-1" + "0" * 400}, (np.inf, -np.inf), False),
    ],
    ids=["zero", "integer", "nan", "infinite", "too-large"],
)
def test_metrics_are_equal_as_stored(
    left: Any, right: Any, values: tuple[float, float] | None, equal: bool
) -> None:
    """Values become float64 for drawing; equality is that of the stored text."""
    lines = (line(1, loss=left),)
    (metric,) = series(replace(REFERENCE, lines=(line(1, loss=right),)), lines=lines).metrics
    assert metric.equal == (equal,)
    if values is None:
        assert np.isnan([metric.reference[0], metric.run[0]]).all()
    else:
        assert (metric.reference[0], metric.run[0]) == values


def test_metrics_are_sorted_and_those_of_one_run_alone_left_out() -> None:
    """A metric that is not printed has no text."""
    left = step(1, {"weights": "w1"}, metrics={"b": 1.0, "a": 2.0, "c": 3.0})
    right = step(1, {"weights": "w1"}, metrics={"a": 2.0, "b": 1.0, "d": 3.0})
    found = series(replace(REFERENCE, lines=(right,)), lines=(left,))
    assert [metric.metric for metric in found.metrics] == ["a", "b"]
    assert found.metrics[0].reference_printed == (None,)


def test_a_series_and_an_outcome_of_the_same_runs_agree() -> None:
    """Counts and the largest difference of the outcome are those of the series."""
    rows = kept([1.0, 2.5], [2.0, 2.0], [3.25, 2.0], [4.0, 2.0])
    run = changed(rows, s1=line(1, "x"), s3=line(3, "x", 0.75))
    found = series(run)
    outcome = compare_runs(REFERENCE, replace(run, name="run"), ComparisonPlan(name="run"), KEEP)
    count = next(row for row in outcome.stages if row.name == "weights")
    assert (count.compared, count.differing) == (len(found.steps), found.equal.count(False))
    (difference,) = outcome.kept
    assert difference.largest_absolute is not None
    assert difference.largest_absolute.value == max(
        value for value in found.largest_absolute if value is not None
    )
