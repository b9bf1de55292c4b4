"""From two runs to one outcome: expectations, resumed runs, kept rows, printed metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repropack._compare.outcomes import compare_runs, compute_results, describe_reference
from repropack._format.log import CHAIN_START
from repropack.models.log import StepLine
from repropack.models.plan import (
    ComparisonPlan,
    ExpectedDivergence,
    ExperimentPlan,
    Plan,
    RecordPlan,
)
from repropack.models.results import (
    ComparisonOutcome,
    FinalMetric,
    KeptDifference,
    Largest,
    PrintedAgreement,
    Split,
)
from tests.support.logs import Declared, HandMadeRun, rows, step


def of(dtype: str, values: list[Any]) -> Any:
    """A flat array."""
    return np.array(values, dtype)


DECLARED: Declared = {"batch": ("state:sampler",), "weights": ("batch", "state:weights")}
STATE = {"sampler": "s0", "weights": "w0"}
LOSSES = (0.5, 0.25, 0.125, 0.0625)


def line(
    number: int, batch: str = "b", weights: str = "w", loss: float | None = None, **state: str
) -> StepLine:
    value = LOSSES[number - 1] if loss is None else loss
    return step(
        number,
        {"batch": f"{batch}{number}", "weights": f"{weights}{number}"},
        {"sampler": f"s{number}", "weights": f"{weights}{number}", **state},
        metrics={"loss": value},
        printed={"loss": f"{value:.1f}"},
    )


REFERENCE = HandMadeRun(
    tuple(line(n) for n in range(1, 5)),
    STATE,
    DECLARED,
    name="reference",
    constants={"data": "d"},
    kept={"weights": [of("float32", [n, n]) for n in range(1, 5)]},
)


def outcome(
    run: HandMadeRun, record: RecordPlan | None = None, expect: Any = None, **reference: Any
) -> ComparisonOutcome:
    """The outcome of one run against the reference, by default with nothing kept or printed."""
    comparison = ComparisonPlan(name="run", expect=expect)
    return compare_runs(
        replace(REFERENCE, **reference),
        replace(run, name="run"),
        comparison,
        record or RecordPlan(),
    )


def changed(**lines: StepLine) -> HandMadeRun:
    """The reference's run with single lines replaced: ``changed(s3=...)``."""
    numbers = {int(name[1:]): value for name, value in lines.items()}
    return replace(REFERENCE, lines=tuple(numbers.get(one.step, one) for one in REFERENCE.lines))


DIVERGED = changed(s3=line(3, weights="x"), s4=line(4, weights="x"))
"""Parts at step 3, at ``weights``, with equal inputs."""
RESET = replace(
    changed(s3=line(3, batch="x", weights="x", sampler="x"), s4=line(4, sampler="y")),
    first_step=3,
    state={"sampler": "s0", "weights": "w2"},
)
RESET = replace(RESET, lines=RESET.lines[2:])
"""Resumed after step 2 with another sampler."""


# ---------------------------------------------------------------- the whole


def test_an_identical_run() -> None:
    """Everything is equal and everything is counted."""
    found = outcome(REFERENCE, RecordPlan(keep=("weights",), printed={"loss": ".1f"}), "identical")
    assert found.identical
    assert found.held is True
    assert (found.first_step, found.last_step) == (1, 4)
    assert found.config_equal
    assert found.constants == Split(equal=("data",))
    assert found.start == Split(equal=("sampler", "weights"))
    assert found.kept == (KeptDifference(stage="weights"),)
    assert found.printed == (PrintedAgreement(metric="loss", compared=4, equal=4),)
    assert found.final_metrics == (FinalMetric(metric="loss", reference=0.0625, run=0.0625),)
    assert found.final_state == Split(equal=("sampler", "weights"))


def test_a_resumed_run_is_compared_with_the_steps_it_has() -> None:
    """First step, start and counts are the run's own."""
    found = outcome(RESET)
    assert (found.first_step, found.last_step) == (3, 4)
    assert found.start == Split(equal=("weights",), differing=("sampler",))
    assert [(row.name, row.compared, row.differing, row.first_step) for row in found.stages] == [
        ("batch", 2, 1, 3),
        ("weights", 2, 1, 3),
    ]
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.stage) == ("state", "batch")
    assert found.divergence.last_equal_step == 2


def test_another_start_is_not_identical_though_no_line_differs() -> None:
    """A component that was reset and made good within one step is a difference all the same."""
    run = replace(REFERENCE, state={**STATE, "sampler": "other"})
    found = outcome(run, expect="identical")
    assert found.divergence is None
    assert not found.identical
    assert found.held is False


def test_configuration_and_constants_are_told_apart_from_the_logs() -> None:
    """What the header says is reported beside what the lines say."""
    found = outcome(replace(REFERENCE, config="other", constants={"data": "x", "more": "m"}))
    assert (found.divergence, found.identical) == (None, False)
    assert not found.config_equal
    assert found.constants == Split(differing=("data", "more"))


def test_a_run_without_steps_has_no_end_to_compare() -> None:
    found = outcome(replace(REFERENCE, lines=()), RecordPlan(keep=("weights",)))
    assert (found.last_step, found.final_metrics, found.final_state) == (0, (), None)
    assert found.divergence is not None
    assert found.divergence.kind == "length"


def test_a_final_state_that_was_not_recorded_is_unknown() -> None:
    last = step(4, {"batch": "b4", "weights": "w4"}, metrics={"loss": 0.0625, "more": 1})
    found = outcome(changed(s4=last))
    assert found.final_state is None
    assert [row.metric for row in found.final_metrics] == ["loss"]


# ---------------------------------------------------------------- expectations


@pytest.mark.parametrize(
    ("run", "expect", "held"),
    [
        pytest.param(REFERENCE, None, None, id="nothing-expected"),
        pytest.param(REFERENCE, "identical", True, id="identical"),
        pytest.param(DIVERGED, "identical", False, id="identical-and-is-not"),
        pytest.param(REFERENCE, {"diverges_at": 3}, False, id="divergence-and-there-is-none"),
        pytest.param(DIVERGED, {"diverges_at": 3}, True, id="step"),
        pytest.param(DIVERGED, {"diverges_at": 2}, False, id="step-too-early"),
        pytest.param(DIVERGED, {"diverges_at": 4}, False, id="step-too-late"),
        pytest.param(DIVERGED, {"diverges_at": 3, "stage": "weights"}, True, id="stage"),
        pytest.param(DIVERGED, {"diverges_at": 3, "stage": "batch"}, False, id="other-stage"),
        pytest.param(
            DIVERGED, {"diverges_at": 3, "component": "weights"}, False, id="component-is-equal"
        ),
        pytest.param(RESET, {"diverges_at": 3, "component": "sampler"}, True, id="component"),
        pytest.param(
            RESET, {"diverges_at": 3, "component": "weights"}, False, id="other-component"
        ),
        pytest.param(
            RESET,
            {"diverges_at": 3, "stage": "batch", "component": "sampler"},
            True,
            id="stage-and-component",
        ),
        pytest.param(
            changed(s3=line(3, sampler="x")),
            {"diverges_at": 3, "component": "sampler"},
            True,
            id="component-after-the-step",
        ),
        pytest.param(
            changed(s3=line(3, sampler="x")),
            {"diverges_at": 3, "stage": "batch"},
            False,
            id="stage-and-there-is-none",
        ),
        pytest.param(
            changed(s3=line(3, loss=0.126)),
            {"diverges_at": 3, "component": "sampler"},
            False,
            id="component-of-a-metric",
        ),
        pytest.param(
            replace(REFERENCE, lines=REFERENCE.lines[:2]),
            {"diverges_at": 3, "component": "sampler"},
            False,
            id="component-of-a-missing-step",
        ),
    ],
)
def test_an_expectation_holds_or_not(run: HandMadeRun, expect: Any, held: bool | None) -> None:
    """Step, stage and component must all be as expected, where they are named."""
    wanted = ExpectedDivergence(**expect) if isinstance(expect, dict) else expect
    found = outcome(run, expect=wanted)
    assert found.held is held
    assert found.expected == wanted


# ---------------------------------------------------------------- kept arrays


def kept_of(run: HandMadeRun, **reference: Any) -> KeptDifference:
    (found,) = outcome(run, RecordPlan(keep=("weights",)), **reference).kept
    return found


def test_the_largest_kept_difference_names_the_first_step_that_attains_it() -> None:
    """A later step that is just as far does not count; one in units may be another step."""
    lines = {f"s{n}": line(n, weights="x") for n in range(1, 5)}
    up = np.nextafter(np.float32(1), np.float32(2))
    far = of("float32", [2.5, 2])
    run = replace(
        changed(**lines),
        kept={
            "weights": [
                of("float32", [1, up]),
                far,
                of("float32", [3.5, 3]),
                of("float32", [4, 4.25]),
            ]
        },
    )
    assert kept_of(run) == KeptDifference(
        stage="weights",
        largest_absolute=Largest(value=0.5, first_step=2),
        largest_ulp=Largest(value=2**21, first_step=2),
    )


def test_rows_of_a_resumed_run_begin_at_its_first_step() -> None:
    """The reference's rows before it are skipped."""
    run = replace(RESET, kept={"weights": [of("float32", [3, 5]), of("float32", [4, 4])]})
    assert kept_of(run).largest_absolute == Largest(value=2.0, first_step=3)


def test_rows_are_aligned_where_stages_are_recorded_now_and_then() -> None:
    """Only recorded steps have a row: at every second step, row k belongs to step 2k."""

    def thin(run: HandMadeRun) -> HandMadeRun:
        return replace(
            run,
            lines=tuple(
                one if one.step % 2 == 0 else one.model_copy(update={"stages": None})
                for one in run.lines
            ),
        )

    reference = {"lines": thin(REFERENCE).lines,
                 "kept": {"weights": [of("float32", [2, 2]), of("float32", [4, 4])]}}  # fmt: skip
    fresh = thin(changed(s4=line(4, weights="x")))
    fresh = replace(fresh, kept={"weights": [of("float32", [2, 2]), of("float32", [4, 5])]})
    assert kept_of(fresh, **reference).largest_absolute == Largest(value=1.0, first_step=4)
    resumed = thin(replace(RESET, lines=(RESET.lines[0], line(4, weights="x"))))
    resumed = replace(resumed, kept={"weights": [of("float32", [4, 7])]})
    assert kept_of(resumed, **reference).largest_absolute == Largest(value=3.0, first_step=4)


def test_rows_stay_aligned_where_one_side_did_not_record() -> None:
    """A step without stages on one side has no row there and one on the other."""
    run = replace(
        changed(
            s2=line(2).model_copy(update={"stages": None}),
            s3=line(3, weights="x"),
            s4=line(4, weights="x"),
        ),
        kept={"weights": [of("float32", [1, 1]), of("float32", [3, 4]), of("float32", [4, 4])]},
    )
    assert kept_of(run).largest_absolute == Largest(value=1.0, first_step=3)


@pytest.mark.parametrize(
    "rows_of_run",
    [
        pytest.param([], id="no-row"),
        pytest.param([of("float32", [1, 2, 3])] * 4, id="another-shape"),
        pytest.param([of("float64", [9, 9])] * 4, id="another-type"),
        pytest.param([of("float32", [np.nan, n]) for n in range(1, 5)], id="not-comparable"),
        pytest.param([of("float32", [n, n]) for n in range(1, 5)], id="no-difference-in-value"),
    ],
)
def test_rows_that_cannot_be_measured_have_no_largest(rows_of_run: list[Any]) -> None:
    """The fingerprints differ; how far apart the rows are cannot be said."""
    run = replace(
        changed(**{f"s{n}": line(n, weights="x") for n in range(1, 5)}),
        kept={"weights": rows_of_run},
    )
    assert kept_of(run) == KeptDifference(stage="weights")


def test_rows_are_read_only_where_fingerprints_differ() -> None:
    """The log says where to look; an untrue row elsewhere is another check's to find."""
    run = replace(
        DIVERGED, kept={"weights": [of("float32", [9, 9])] * 2 + [of("float32", [3, 4])] * 2}
    )
    assert kept_of(run).largest_absolute == Largest(value=1.0, first_step=3)


def test_a_run_that_kept_nothing_has_no_largest() -> None:
    """An identical run stores no rows of its own."""
    assert kept_of(replace(DIVERGED, kept={})) == KeptDifference(stage="weights")
    assert kept_of(DIVERGED, kept={}) == KeptDifference(stage="weights")


def test_a_first_step_beyond_the_end_is_found_at_once() -> None:
    """However far a log claims to begin, rows are skipped no further than there are lines."""
    run = replace(REFERENCE, first_step=2**53 - 1, lines=())
    assert kept_of(run) == KeptDifference(stage="weights")


def test_integers_have_no_units() -> None:
    reference = {"kept": {"weights": [of("int64", [n]) for n in range(1, 5)]}}
    run = replace(DIVERGED, kept={"weights": [of("int64", [2 * n]) for n in range(1, 5)]})
    assert kept_of(run, **reference) == KeptDifference(
        stage="weights", largest_absolute=Largest(value=4.0, first_step=4)
    )


# ---------------------------------------------------------------- printed metrics


def test_printed_texts_are_counted_where_both_have_them() -> None:
    """Equal texts of different values count as equal: that is the point of showing them."""
    run = changed(
        s1=line(1, loss=0.51),
        s2=line(2, loss=9.0),
        s3=line(3).model_copy(update={"printed": {}}),
    )
    found = outcome(run, RecordPlan(printed={"loss": ".1f", "absent": ".2f"}))
    assert found.printed == (
        PrintedAgreement(metric="absent", compared=0, equal=0),
        PrintedAgreement(metric="loss", compared=3, equal=2),
    )


# ---------------------------------------------------------------- the document


def test_results_hold_the_reference_and_every_comparison_in_order() -> None:
    """The plan's order, not the alphabet's."""
    plan = Plan(
        experiment=ExperimentPlan(entry_point="a:b", seed=1, steps=4),
        record=RecordPlan(),
        comparisons=(ComparisonPlan(name="second"), ComparisonPlan(name="first")),
    )
    runs = {name: replace(REFERENCE, name=name) for name in ("first", "second")}
    found = compute_results(plan, REFERENCE, runs)
    assert [row.run for row in found.comparisons] == ["second", "first"]
    assert found.reference.last_step == 4
    assert found.reference.final_metrics == {"loss": 0.0625}
    assert found.reference.final_state == rows({"sampler": "s4", "weights": "w4"})


def test_a_reference_without_steps_ends_where_it_starts() -> None:
    found = describe_reference(replace(REFERENCE, lines=()))
    assert (found.last_step, found.finish, found.chain) == (0, None, CHAIN_START)
    assert found.final_state == rows(STATE)


def test_a_metric_that_is_no_number_is_noted_at_its_first_step() -> None:
    """Each metric once; infinities are numbers here, and a later number takes nothing back."""
    nan, inf = {"$float": "nan"}, {"$float": "inf"}
    lines = (
        step(1, metrics={"loss": 1.0, "rate": inf}),
        step(2, metrics={"loss": {"$float": "nan:fff8000000000000"}}),
        step(3, metrics={"loss": nan, "rate": nan}),
        step(4, metrics={"loss": 1.0}),
    )
    found = describe_reference(replace(REFERENCE, lines=lines))
    assert found.first_nan == {"loss": 2, "rate": 3}


def test_components_that_no_step_changes_are_named() -> None:
    """The same at the start and in every recorded state; a value that comes back has changed."""
    state = {"b": "b0", "a": "a0", "back": "k0", "late": "l0", "gone": "g0"}
    kept = {"b": "b0", "a": "a0"}
    lines = (
        step(1, state={**state, "back": "other"}),
        step(2),
        step(3, state={**kept, "back": "k0", "late": "other", "new": "n0"}),
    )
    found = describe_reference(replace(REFERENCE, state=state, lines=lines))
    assert found.unchanged == ("a", "b")
    assert describe_reference(REFERENCE).unchanged == ()
    assert describe_reference(replace(REFERENCE, lines=())).unchanged == ()


def test_a_reference_says_why_it_ended() -> None:
    last = line(4).model_copy(update={"finish": "converged"})
    assert describe_reference(changed(s4=last)).finish == "converged"
