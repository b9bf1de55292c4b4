"""What is wrong with a claim before anything has run."""

# ruff: noqa: E501 - one line a case

from __future__ import annotations

from typing import Any

import pytest

from repropack._compare.claim_rules import claim_faults, repeated_names
from repropack._compare.pointers import PlanNames, names_of
from repropack.models.claims import ClaimPlan
from tests.support.claims import PLAN

NAMES = names_of(PLAN)
LOSS = "results.reference.final_metrics[loss]"


def faults(names: PlanNames = NAMES, **members: Any) -> list[tuple[str, str]]:
    values = {"id": "a", "kind": "number", "sentence": "It is {value}.", **members}
    return list(claim_faults(ClaimPlan.model_validate(values), names))


@pytest.mark.parametrize(
    "members",
    [
        {"expression": LOSS, "states": "0.2", "rounding": ".1f"},
        {"expression": LOSS, "states": "0.25"},
        {"kind": "count", "expression": "size(kept[other][weights])", "states": "24"},
        {"kind": "count", "expression": "count(metric[resumed][loss][3..4])", "states": "2",
         "rounding": ",d"},
        {"kind": "bound", "expression": f"{LOSS} < 1"},
        {"kind": "bound", "expression": f"{LOSS} < 1", "states": "0.3", "rounding": ".1f"},
        {"kind": "configuration-value", "expression": "plan.experiment.seed", "states": "3"},
        {"kind": "exact-resume", "run": "resumed"},
        {"expression": "max_abs_difference(final[other][x], checkpoint[reference][2][x])",
         "states": "1"},
        {"expression": "max(checkpoint[resumed][2][weights])", "states": "1",
         "sentence": "No value here."},
    ],
)  # fmt: skip
def test_nothing_is_wrong_with_these(members: dict[str, Any]) -> None:
    """Each kind in the form that it has."""
    assert faults(**members) == []


@pytest.mark.parametrize(
    ("members", "member", "problem"),
    [
        ({"expression": LOSS, "states": "1", "sentence": "It is {valu}."}, "sentence",
         "expected no brace but those of {value}, observed another"),
        ({"expression": LOSS}, "states",
         "expected the value that the write-up prints for a number"),
        ({"states": "1"}, "expression", "expected an expression, observed none"),
        ({"expression": LOSS, "states": "1", "run": "other"}, "run",
         "expected none beside number, whose expression names runs; observed one"),
        ({"expression": LOSS, "states": "2.5e-1", "rounding": ".2f"}, "states",
         "expected '0.25', as '.2f' prints it, observed '2.5e-1'"),
        ({"expression": LOSS, "states": "a lot", "rounding": ".2f"}, "states",
         "expected a number as '.2f' prints it, observed 'a lot'"),
        ({"kind": "count", "expression": LOSS, "states": "1.0", "rounding": ".1f"}, "rounding",
         "expected exact, d or ,d of a count, observed '.1f'"),
        ({"expression": f"{LOSS} < 1", "states": "true"}, "expression",
         "character 39: expected a value of a number, observed a comparison"),
        ({"kind": "bound", "expression": LOSS}, "expression",
         "character 1: expected a comparison, such as A < B, of a bound; observed none"),
        ({"expression": "1 + 1", "states": "2"}, "expression",
         "character 1: expected something of the package, observed constants alone"),
        ({"kind": "configuration-value", "expression": LOSS, "states": "1"}, "expression",
         "character 1: expected plan in a configuration-value, observed 'results'"),
        ({"expression": "max(kept[othr][weights])", "states": "1"}, "expression",
         "character 9: expected a run, observed 'othr'; did you mean 'other'?"),
        ({"expression": "max(kept[other][batch])", "states": "1"}, "expression",
         "character 16: expected a stage of record.keep (weights), observed 'batch'"),
        ({"expression": "max(kept[other][weights][4..2])", "states": "1"}, "expression",
         "character 25: expected a range of steps such as 41..100, observed '4..2'"),
        ({"expression": "max(kept[other][weights][3])", "states": "1"}, "expression",
         "character 25: expected a range of steps such as 41..100, observed '3'"),
        ({"expression": "max(metric[resumed][loss][2..4])", "states": "1"}, "expression",
         "character 26: expected steps of the run, 3 to 4, observed 2 to 4"),
        ({"expression": "max(metric[other][loss][2..5])", "states": "1"}, "expression",
         "character 24: expected steps of the run, 1 to 4, observed 2 to 5"),
        ({"expression": "max(checkpoint[other][3][w])", "states": "1"}, "expression",
         "character 22: expected a step after which 'other' stores its state, observed 3"),
        ({"expression": "max(checkpoint[resumed][0][w])", "states": "1"}, "expression",
         "character 24: expected a step after which 'resumed' stores its state, observed 0"),
        ({"expression": "max(checkpoint[other][end][w])", "states": "1"}, "expression",
         "character 22: expected a step, observed 'end'"),
        ({"expression": "count_different(kept[other][weights], final[other][weights])",
          "states": "1"}, "expression",
         "character 39: expected kept beside kept, observed final"),
        ({"kind": "exact-resume"}, "run", "expected the name of a comparison, observed none"),
        ({"kind": "exact-resume", "run": "reference"}, "run",
         "expected a comparison (other, resumed), observed 'reference'"),
        ({"kind": "repeated-outcome", "run": "resumed"}, "run",
         "expected a run without resume-at, observed 'resumed', which resumes"),
        ({"kind": "repeated-outcome", "run": "other"}, "run",
         "expected a run without config and reset, observed 'other', which has"),
        ({"kind": "exact-resume", "run": "resumed", "states": "x"}, "states",
         "expected none beside exact-resume, which names a run; observed one"),
        ({"kind": "exact-resume", "run": "resumed", "rounding": "d"}, "rounding",
         "expected none beside exact-resume, observed 'd'"),
    ],
)  # fmt: skip
def test_a_fault_names_the_member_and_says_what_was_expected(
    members: dict[str, Any], member: str, problem: str
) -> None:
    """One fault, with the place in the expression where it lies in one."""
    assert faults(**members) == [(member, problem)]


def test_a_fresh_run_is_no_resume() -> None:
    """Even where it is plain."""
    plain = PLAN.comparisons[1].model_copy(update={"name": "again", "resume_at": None})
    names = names_of(PLAN.model_copy(update={"comparisons": (plain,)}))
    assert faults(names, kind="exact-resume", run="again") == [
        ("run", "expected a run with resume-at, observed 'again' without")
    ]
    assert faults(names, kind="repeated-outcome", run="again") == []


def test_all_faults_of_a_claim_are_told() -> None:
    """Not the first alone."""
    found = faults(sentence="{}", states="x", rounding=".1f", expression="kept")
    assert [member for member, _ in found] == ["sentence", "states", "expression"]


def test_ids_and_macros_are_each_taken_once() -> None:
    """Whoever comes second is told."""
    assert list(repeated_names(["a", "b", "a", "step-1", "step-one"])) == [
        (2, "expected an id of its own, observed 'a' twice"),
        (4, "expected an id with a macro of its own, observed 'step-one' beside 'step-1', both \\claimStepOne"),
    ]  # fmt: skip
