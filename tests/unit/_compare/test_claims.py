"""Claims evaluated: values, what they rest on, and whether they hold."""

# ruff: noqa: E501 - one line a case

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repropack._compare.claims import evaluate_claims, runs_of
from repropack._format.expressions import ExpressionError
from repropack.errors import LimitExceededError
from repropack.models.claims import ClaimPlan
from tests.support.claims import (
    OTHER,
    PLAN,
    REFERENCE,
    RUNS,
    claim,
    evaluator,
    outcome,
    results,
    weights,
)

LOG, OTHER_LOG, RESUMED_LOG = (one.log_path for one in RUNS.values())
KEPT, OTHER_KEPT = REFERENCE.kept_path, OTHER.kept_path
LOSS = "results.reference.final_metrics[loss]"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("results.reference.last_step", 4),
        (f"{LOSS} + 1", 1.25),
        (f"{LOSS} * 2 - 1 / 4", 0.25),
        (f"-({LOSS} - 1)", 0.75),
        ("plan.experiment.steps / 3", 4 / 3),
        ("plan.experiment.steps * 1000000000000000000000", {"$int": str(4 * 10**21)}),
        ("count(kept[reference][weights])", 4),
        ("size(kept[reference][weights])", 24),
        ("size(final[reference][weights])", 6),
        ("count(final[reference][weights])", 1),
        ("count(metric[reference][loss])", 4),
        ("first(metric[reference][loss])", 1.0),
        ("last(metric[reference][loss])", 0.25),
        ("first(metric[reference][loss][2..3])", 0.5),
        ("sum(metric[reference][hits])", 10.0),
        ("max(kept[reference][weights])", 4.0),
        ("min(kept[reference][weights][3..4])", 3.0),
        ("last(kept[other][weights])", 6.0),
        ("first(kept[other][weights])", 1.5),
        ("max_abs(final[reference][counts])", 7),
        ("sum(final[reference][counts])", 1),
        ("first(final[reference][clock.updates])", 4),
        ("first(final[reference][clock.rate])", 0.25),
        ("sum(checkpoint[reference][2][weights])", 12.0),
        ("norm(checkpoint[reference][2][weights])", math.sqrt(24)),
        ("max_abs_difference(kept[other][weights], kept[reference][weights])", 2.0),
        ("max_abs_difference(kept[other][weights][1..3], kept[reference][weights][1..3])", 0.5),
        ("count_different(kept[other][weights], kept[reference][weights])", 24),
        ("steps_different(kept[other][weights], kept[reference][weights])", 4),
        ("max_abs_difference(metric[other][loss], metric[reference][loss])", 0.25),
        ("max_abs_difference(final[other][weights], checkpoint[reference][2][weights])", 4.0),
        ("count(kept[resumed][weights])", 2),
        ("first(kept[resumed][weights])", 3.0),
        ("steps_different(kept[resumed][weights], kept[reference][weights])", 0),
        ("steps_different(kept[resumed][weights], kept[other][weights])", 2),
        ("max(final[resumed][weights])", 4.0),
        ("max(checkpoint[resumed][2][weights])", 2.0),
        ("count(results.comparisons)", 2),
    ],
)
def test_the_value_of_an_expression(expression: str, value: Any) -> None:
    """Exact, and of the type that it has; a run that is identical has the reference's arrays."""
    found = outcome(expression)
    assert (found.value, type(found.value)) == (value, type(value))


@pytest.mark.parametrize(
    ("expression", "evidence"),
    [
        ("plan.experiment.seed", ("plan.json",)),
        (LOSS, (LOG,)),
        ("count(results.comparisons)", (LOG,)),
        ("results.comparisons[other].last_step", (OTHER_LOG, LOG)),
        ("results.comparisons[other].kept[weights].largest_absolute.value",
         (OTHER_LOG, OTHER_KEPT, LOG, KEPT)),
        ("count(results.comparisons[resumed].kept)", (LOG, RESUMED_LOG)),
        ("max(kept[other][weights])", (OTHER_LOG, OTHER_KEPT)),
        ("max(kept[resumed][weights])", (LOG, KEPT, RESUMED_LOG)),
        ("max(metric[resumed][loss])", (RESUMED_LOG,)),
        ("max(final[reference][weights])",
         ("runs/reference/checkpoints/step-000000004.json",
          "runs/reference/checkpoints/step-000000004.npz", LOG)),
        ("max(final[reference][clock.updates])",
         ("runs/reference/checkpoints/step-000000004.json", LOG)),
        (f"{LOSS} + plan.experiment.seed", ("plan.json", LOG)),
    ],
)  # fmt: skip
def test_what_a_value_rests_on(expression: str, evidence: tuple[str, ...]) -> None:
    """Paths of entries, sorted."""
    assert outcome(expression).evidence == tuple(sorted(evidence))


@pytest.mark.parametrize(
    ("members", "text", "expected", "held"),
    [
        ({"states": "0.3", "rounding": ".1f"}, "0.2", "0.3", False),
        ({"states": "0.2", "rounding": ".1f"}, "0.2", "0.2", True),
        ({"states": "0.25"}, "0.25", "0.25", True),
        ({"states": "0.250"}, "0.25", "0.250", False),
        ({"states": "25.0%", "rounding": ".1%"}, "25.0%", "25.0%", True),
    ],
)
def test_a_number_holds_where_it_prints_as_stated(
    members: dict[str, Any], text: str, expected: str, held: bool
) -> None:
    """And by nothing else; the sentence has what is printed."""
    found = outcome(LOSS, **members)
    assert (found.text, found.expected, found.held) == (text, expected, held)
    assert found.sentence == f"It is {text}."
    assert found.value == 0.25
    assert found.limit is None


@pytest.mark.parametrize(
    ("expression", "held", "expected", "limit"),
    [
        (f"{LOSS} < 0.25", False, "< 0.25", 0.25),
        (f"{LOSS} <= 0.25", True, "<= 0.25", 0.25),
        (f"{LOSS} > 0.2", True, "> 0.2", 0.2),
        (f"{LOSS} >= 1", False, ">= 1", 1),
        (f"{LOSS} == 0.25", True, "== 0.25", 0.25),
        (f"{LOSS} != 1 / 4", False, "!= 0.25", 0.25),
        ("plan.experiment.steps == 4.0", True, "== 4.0", 4.0),
        ("results.comparisons[other].divergence.stage == 'weights'", True, "== weights", "weights"),
        ("results.comparisons[other].identical == false", True, "== false", False),
    ],
)
def test_a_bound_holds_where_its_comparison_is_true(
    expression: str, held: bool, expected: str, limit: Any
) -> None:
    """Its value is the left side, its limit the right one."""
    found = outcome(expression, "bound")
    assert (found.held, found.expected, found.limit) == (held, expected, limit)
    assert type(found.limit) is type(limit)


def test_a_bound_may_state_what_is_printed_too() -> None:
    """Then both have to hold."""
    for stated, held in (("0.2", True), ("0.3", False)):
        found = outcome(f"{LOSS} < 1", "bound", states=stated, rounding=".1f")
        assert (found.held, found.text) == (held, "0.2")
        assert found.expected == f"< 1, printed as {stated}"


def test_a_count_is_whole() -> None:
    """Also where a metric gives a float."""
    found = outcome("last(metric[reference][hits])", "count", states="4")
    assert (found.value, type(found.value), found.text, found.held) == (4, int, "4", True)
    with pytest.raises(ExpressionError, match=r"expected a whole number, observed 0\.25"):
        outcome(LOSS, "count", states="0")


def test_a_run_is_claimed_to_be_identical() -> None:
    """A resume here, and another run that is not."""
    resumed = ClaimPlan(id="r", kind="exact-resume", run="resumed", sentence="It is {value}.")
    found = evaluator().evaluate(resumed)
    assert (found.held, found.value, found.text, found.expected) == (
        True, True, "identical", "identical",
    )  # fmt: skip
    assert found.evidence == tuple(sorted((LOG, RESUMED_LOG)))
    other = evaluator().evaluate(resumed.model_copy(update={"run": "other"}))
    assert (other.held, other.value, other.sentence) == (False, False, "It is differs.")


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("1 / (results.reference.last_step - 4)", "character 3: expected a divisor other than 0, observed 0"),
        (f"{LOSS} + 'a'", "character 41: expected a number, observed a text"),
        (f"-results.comparisons[other].identical + {LOSS}", "character 2: expected a number, observed true or false"),
        ("plan.experiment.seed * 1.0 * " + "9" * 400, "character 28: expected numbers within float64, observed larger"),
        ("plan.experiment.seed * 1e308", "character 22: expected numbers within float64, observed larger"),
        ("max(metric[reference][los])", "character 22: expected a metric, observed 'los'; did you mean 'loss'?"),
        ("max(final[reference][weight])", "character 21: expected an array or a number of the state, observed 'weight'; did you mean 'weights'?"),
        ("max(final[reference][clock.name])", "character 21: expected an array or a number, observed another value of 'clock.name'"),
        ("max(final[reference][clock.big])", "character 21: expected 'clock.big' within 64 bits, observed a larger"),
        ("max_abs_difference(final[reference][counts], final[reference][weights])",
         "character 62: expected type <i8 and shape (3,), observed type <f4 and shape (2, 3)"),
        ("plan.experiment.config[nested]", "character 1: expected a single value, observed a list"),
        ("count(plan.experiment.config[rate])", "character 1: expected a list to count, observed a single value"),
        ("results.comparisons[resumed].divergence.step", "character 30: expected a value of 'divergence', observed none"),
    ],
)  # fmt: skip
def test_what_has_no_value_is_told(expression: str, problem: str) -> None:
    """At its character; never a traceback, and never a guess."""
    with pytest.raises(ExpressionError) as caught:
        outcome(expression)
    assert str(caught.value) == problem


def test_other_kinds_are_not_compared() -> None:
    """A text is no number, and has no order."""
    with pytest.raises(ExpressionError, match="expected a number on both sides, observed a text"):
        outcome(f"{LOSS} == 'a'", "bound")
    with pytest.raises(ExpressionError, match="expected numbers for <, observed others"):
        outcome("results.comparisons[other].divergence.stage < 'x'", "bound")


def test_integers_are_bounded() -> None:
    """So that nobody multiplies until the memory is full."""
    with pytest.raises(ExpressionError, match="at most 1600 bits"):
        outcome(" * ".join(["plan.experiment.seed", *["9" * 300] * 2]))


def test_a_nan_is_stored_without_its_bits_and_compares_with_nothing() -> None:
    """Machines make others."""
    odd = np.array([0x7FF8000000000123], "<u8").view("<f8")
    run = replace(REFERENCE, arrays={0: {}, 4: {"weights": odd}})
    here = evaluator(reference=run)
    found = here.evaluate(claim("first(final[reference][weights])"))
    assert (found.value, found.text) == ({"$float": "nan"}, "nan")
    bound = here.evaluate(claim("first(final[reference][weights]) <= 1", "bound"))
    assert (bound.held, bound.value) == (False, {"$float": "nan"})


def test_series_meet_at_the_steps_that_both_have() -> None:
    """One that ends early is compared as far as it goes."""
    short = replace(
        OTHER, name="other", lines=OTHER.lines[:2], kept={"weights": weights(0.5, range(1, 3))},
        arrays={0: OTHER.arrays[0], 2: OTHER.arrays[4]},
    )  # fmt: skip
    here = evaluator(other=short)
    expression = "count_different(kept[reference][weights], kept[other][weights])"
    assert here.evaluate(claim(expression)).value == 12


def test_steps_that_one_side_lacks_are_told() -> None:
    """Where they lie between common ones; a range helps."""
    lines = [replace_stages(line) if line.step == 2 else line for line in OTHER.lines]
    kept = {"weights": [row for n, row in enumerate(OTHER.kept["weights"], 1) if n != 2]}
    here = evaluator(other=replace(OTHER, lines=tuple(lines), kept=kept))
    both = "kept[reference][weights]{0}, kept[other][weights]{0}"
    with pytest.raises(ExpressionError, match=r"observed others between them; name a range"):
        here.evaluate(claim(f"max_abs_difference({both.format('')})"))
    assert here.evaluate(claim(f"max_abs_difference({both.format('[3..4]')})")).value == 2.0
    with pytest.raises(ExpressionError, match="expected a recorded step, observed none"):
        here.evaluate(claim("max(kept[other][weights][2..2])"))


def replace_stages(line: Any) -> Any:
    return line.model_copy(update={"stages": None})


def test_an_empty_array_has_no_extreme() -> None:
    """But a size, a sum and a norm."""
    run = replace(REFERENCE, arrays={0: {}, 4: {"weights": np.zeros((0, 3), "<f4")}})
    here = evaluator(reference=run)
    for function, value in (("size", 0), ("sum", 0.0), ("norm", 0.0)):
        assert here.evaluate(claim(f"{function}(final[reference][weights])")).value == value
    for function in ("max", "min", "max_abs", "first", "last"):
        with pytest.raises(ExpressionError, match=f"expected an element for {function}"):
            here.evaluate(claim(f"{function}(final[reference][weights])"))


def test_complex_numbers_have_no_order() -> None:
    """They are told apart by their bits alone."""
    run = replace(REFERENCE, arrays={0: {}, 4: {"weights": np.array([1 + 2j], "<c8")}})
    here = evaluator(reference=run)
    with pytest.raises(ExpressionError, match="expected real numbers, observed the type <c8"):
        here.evaluate(claim("max(final[reference][weights])"))
    same = "count_different(final[reference][weights], final[reference][weights])"
    assert here.evaluate(claim(same)).value == 0


def test_what_all_claims_read_is_bounded() -> None:
    """By elements; a line of a log counts as a thousand, and is read once."""
    kept = claim("max(kept[reference][weights])")
    evaluator(4 * 1000 + 24).evaluate(kept)
    here = evaluator(4 * 1000 + 2 * 24)
    here.evaluate(kept)
    here.evaluate(kept)
    with pytest.raises(LimitExceededError) as caught:
        here.evaluate(kept)
    assert (caught.value.limit, caught.value.allowed) == ("max_claim_elements", 4048)
    with pytest.raises(LimitExceededError):
        evaluator(3999).evaluate(claim("count(metric[reference][loss])"))
    with pytest.raises(LimitExceededError):
        evaluator(5999).evaluate(claim("size(final[reference][weights])"))


def test_every_claim_of_a_plan_is_evaluated_and_every_fault_is_told() -> None:
    """By its place in the plan."""
    claims = tuple(claim(text, states="4") for text in (LOSS, "max(metric[other][x])", LOSS))
    found = evaluate_claims(
        PLAN.model_copy(update={"claims": claims}), results(), RUNS, 10**9
    )  # fmt: skip
    assert [one.value for one in found.outcomes] == [0.25, 0.25]
    assert found.faults == ((1, "character 18: expected a metric (hits, loss), observed 'x'"),)


@pytest.mark.parametrize(
    ("expression", "runs"),
    [
        ("plan.experiment.seed", ()),
        (LOSS, ("reference",)),
        ("results.comparisons[other].identical", ("other", "reference")),
        ("max(metric[other][loss])", ("other",)),
        ("max_abs_difference(kept[other][weights], kept[resumed][weights])", ("other", "resumed")),
    ],
)
def test_which_runs_a_claim_rests_on(expression: str, runs: tuple[str, ...]) -> None:
    """What is to be executed before it can be verified."""
    assert runs_of(claim(expression)) == runs
