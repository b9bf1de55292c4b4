"""Places in plan and results: what can be known of them before a run, and what is there after."""

# ruff: noqa: E501 - one line a case

from __future__ import annotations

from typing import Any

import pytest

from repropack._compare.pointers import DocumentView, check_pointer, names_of
from repropack._format.expressions import ExpressionError, Pointer, parse_expression
from tests.support.claims import PLAN, results

NAMES = names_of(PLAN)


def pointer(text: str, *, counted: bool = False) -> Pointer:
    node: Any = parse_expression(f"count({text})" if counted else text)
    found = node.arguments[0] if counted else node
    assert isinstance(found, Pointer)
    return found


def view(root: str) -> DocumentView:
    return DocumentView(PLAN if root == "plan" else results())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("results.reference.last_step", 4),
        ("results.reference.final_metrics[loss]", 0.25),
        ("results.comparisons[other].printed[loss].equal", 0),
        ("results.comparisons[other].kept[weights].largest_absolute.value", 2.0),
        ("results.comparisons[other].stages[weights].differing", 4),
        ("results.comparisons[other].divergence.stage", "weights"),
        ("results.comparisons[other].final_metrics[loss].run", 0.5),
        ("results.comparisons[other].config_equal", True),
        ("results.comparisons[resumed].identical", True),
        ("plan.experiment.seed", 3),
        ("plan.experiment.config[rate]", 0.25),
        ("plan.experiment.config[nested][name]", "adam"),
        ("plan.experiment.config[big]", 2**60),
        ("plan.comparisons[other].config[rate]", 0.5),
        ("plan.comparisons[resumed].resume_at", 2),
        ("plan.record.printed[loss]", ".1f"),
    ],
)
def test_a_place_is_found_by_names(text: str, value: Any) -> None:
    """Rows by their name, numbers decoded; and nothing was wrong with it before the run."""
    place = pointer(text)
    check_pointer(place, NAMES, counted=False)
    found = view(place.root).value_at(place)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("results.comparisons", 2),
        ("results.comparisons[other].divergence.inputs", 1),
        ("results.comparisons[resumed].final_state.differing", 0),
        ("plan.record.keep", 1),
        ("plan.experiment.config", 3),
    ],
)
def test_lists_and_mappings_can_be_counted(text: str, count: int) -> None:
    """Where a function counts them."""
    place = pointer(text, counted=True)
    check_pointer(place, NAMES, counted=True)
    found: Any = view(place.root).value_at(place)
    assert len(found) == count


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("results.comparison[a]", "character 9: expected a member, observed 'comparison'; did you mean 'comparisons'?"),
        ("results.claims", "character 9: expected a member (reference, comparisons), observed 'claims'"),
        ("results.comparisons[othr].identical", "character 20: expected a comparison, observed 'othr'; did you mean 'other'?"),
        ("results.comparisons[reference].identical", "character 20: expected a comparison (other, resumed), observed 'reference'"),
        ("results.comparisons.other", "character 21: expected a name in brackets, such as [other], observed .other"),
        ("results.comparisons[other].kept[weigts].stage", "character 32: expected a stage of record.keep, observed 'weigts'; did you mean 'weights'?"),
        ("results.comparisons[other].printed[x].equal", "character 35: expected a metric of record.printed (loss), observed 'x'"),
        ("results.comparisons[other].held.x", "character 33: expected nothing behind a single value, observed 'x'"),
        ("results.comparisons[other].stages", "character 28: expected a row by its name in brackets, observed the whole list"),
        ("results.comparisons[other].start.equal[w]", "character 39: expected count of it, for it is a list of names"),
        ("plan.after[x].command", "character 11: expected count of it, for its rows have no names"),
        ("plan.schema_name", "character 6: expected a member (experiment, record, comparisons, after, notebook), observed 'schema_name'"),
    ],
)  # fmt: skip
def test_what_cannot_be_there_is_told_before_a_run(text: str, problem: str) -> None:
    """At its character, with what there is."""
    with pytest.raises(ExpressionError) as caught:
        check_pointer(pointer(text), NAMES, counted=False)
    assert str(caught.value) == problem


def test_a_single_value_is_not_counted_and_a_group_is_no_value() -> None:
    """Each says what was expected."""
    with pytest.raises(ExpressionError, match="expected a list to count, observed a single value"):
        check_pointer(pointer("plan.experiment.seed", counted=True), NAMES, counted=True)
    with pytest.raises(ExpressionError, match=r"one of its members \(kind, step, .* all of them"):
        check_pointer(pointer("results.comparisons[other].divergence"), NAMES, counted=False)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("results.comparisons[resumed].divergence.step", "expected a value of 'divergence', observed none"),
        ("results.reference.final_metrics[los]", "expected a name of it, observed 'los'; did you mean 'loss'?"),
        ("results.comparisons[other].stages[batch].differing", "expected the name of a row (weights), observed 'batch'"),
        ("plan.experiment.config[nested][name][x]", "expected nothing behind a single value, observed 'x'"),
        ("plan.experiment", "expected one of its members, observed all"),
    ],
)  # fmt: skip
def test_what_only_the_runs_know_is_told_after_them(text: str, problem: str) -> None:
    """A row that there is not, or a null."""
    place = pointer(text)
    with pytest.raises(ExpressionError) as caught:
        view(place.root).value_at(place)
    assert caught.value.problem == problem
