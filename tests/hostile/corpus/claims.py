"""T9: what a package says of its claims and what its logs and arrays give are two stories."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.hostile.corpus.case import INTEGRITY, SCHEMA, Case, Write, lie, rows, told
from tests.hostile.corpus.documents import PLAN, RESULTS, edited

Change = Callable[[Any], object]
RESUME, BOUND, COUNT = 0, 1, 2
"""The claims of both bases by their place."""


def outcome(place: int, **members: Any) -> Write:
    """Say something else of one claim."""
    return edited(RESULTS, lambda value: value["claims"][place].update(members))


def planned(place: int, **members: Any) -> Write:
    """Plan another claim; results follow where it can be evaluated."""
    return edited(PLAN, lambda value: value["claims"][place].update(members))


def follows(change: Change) -> Write:
    """Change the plan; the results are what follows from it."""

    def tell(_: Any, forgery: Any) -> None:
        forgery.edit(PLAN, change)
        forgery.recompute_results()

    return told(tell)


def both(plan: Change, results: Change) -> Write:
    """Change plan and results."""

    def tell(_: Any, forgery: Any) -> None:
        forgery.edit(PLAN, plan)
        forgery.edit(RESULTS, results)

    return told(tell)


def same_id(value: Any) -> None:
    value["claims"][COUNT]["id"] = value["claims"][BOUND]["id"]


def in_plan(change: Change) -> Write:
    return edited(PLAN, lambda value: change(value["claims"]))


def in_results(change: Change) -> Write:
    return edited(RESULTS, lambda value: change(value["claims"]))


CASES: tuple[Case, ...] = rows(
    "T9",
    "claim",
    lie("value", "A value that nothing gives.", outcome(COUNT, value=7), INTEGRITY, "value"),
    lie("value-float", "A whole number as a float.", outcome(COUNT, value=6.0), INTEGRITY, "value"),
    lie("text", "A value that prints otherwise.", outcome(COUNT, text="7"), INTEGRITY, "text"),
    lie("sentence", "A sentence with another value in it.", outcome(COUNT, sentence="It has made 7."), INTEGRITY, "sentence"),
    lie("failed", "A claim that holds is said to fail.", outcome(BOUND, held=False), INTEGRITY, "held"),
    lie("not-resumed", "A resume that is exact is said not to be.", outcome(RESUME, held=False, value=False, text="differs"), INTEGRITY, "text"),
    lie("held", "A claim that fails is said to hold.", both(lambda v: v["claims"][COUNT].update(states="7"), lambda v: v["claims"][COUNT].update(expected="7")), INTEGRITY, "held"),
    lie("expected", "Something else is said to be expected.", outcome(COUNT, expected="7"), INTEGRITY, "expected"),
    lie("limit", "A bound with another limit.", outcome(BOUND, limit=2), INTEGRITY, "limit"),
    lie("evidence", "A claim that rests on another file.", outcome(COUNT, evidence=["LICENSE"]), INTEGRITY, "evidence"),
    lie("evidence-less", "A claim that rests on nothing.", outcome(BOUND, evidence=[]), INTEGRITY, "evidence"),
    lie("kind", "A claim of another kind than planned.", outcome(COUNT, kind="number"), INTEGRITY, "kind"),
    lie("left-out", "A planned claim is not told of.", in_results(lambda value: value.pop()), INTEGRITY, "one for each of the plan"),
    lie("added", "A claim is told of that nobody planned.", in_results(lambda value: value.append({**value[0], "id": "more"})), INTEGRITY, "one for each of the plan"),
    lie("order", "Claims in another order.", in_results(lambda value: value.reverse()), INTEGRITY, "one for each of the plan"),
    lie("all-left-out", "No claim is told of.", in_results(lambda value: value.clear()), INTEGRITY, "one for each of the plan"),
    lie("value-list", "A value that is a list.", outcome(COUNT, value=[6]), SCHEMA, "value", faults=None),
    lie("held-text", "Held, in words.", outcome(COUNT, held="yes"), SCHEMA, "held"),
    lie("more-than-a-thousand", "Claims without end.", in_plan(lambda value: value.extend([value[0]] * 1000)), SCHEMA, "claims"),
    lie("plan-code", "An expression that is code.", planned(BOUND, expression="__import__('os').system('id')"), INTEGRITY, "expected a function"),
    lie("plan-attribute", "An expression that looks into objects.", planned(BOUND, expression="results.__class__ == 1"), INTEGRITY, "expected a member"),
    lie("plan-private", "An expression that leads to the model.", planned(BOUND, expression="plan.model_fields == 1"), INTEGRITY, "expected a member"),
    lie("plan-deep", "An expression of parentheses.", planned(BOUND, expression="(" * 1000), INTEGRITY, "depth"),
    lie("plan-parts", "An expression of many parts.", planned(BOUND, expression="1" + "+1" * 499), INTEGRITY, "parts"),
    lie("plan-long", "An expression that is too long.", planned(BOUND, expression="1" * 1001), SCHEMA, "expression"),
    lie("plan-newline", "An expression of two lines.", planned(BOUND, expression="1 <\n2"), SCHEMA, "expression"),
    lie("plan-unicode", "An expression in other letters.", planned(BOUND, expression="\u0440lan.x < 1"), SCHEMA, "expression"),
    lie("plan-run", "A claim about a run that there is not.", planned(RESUME, run="ghost"), INTEGRITY, "expected a comparison"),
    lie("plan-changed-run", "A resume that is no plain one.", follows(lambda v: v["claims"][RESUME].update(run=v["comparisons"][1]["name"])), INTEGRITY, "without config and reset"),
    lie("plan-stage", "A claim about a stage that is not kept.", planned(BOUND, expression="max(kept[reference][ghost]) < 1"), INTEGRITY, "record.keep"),
    lie("plan-kind", "A bound that bounds nothing.", planned(BOUND, expression="plan.experiment.seed"), INTEGRITY, "expected a comparison"),
    lie("plan-states", "A statement that is no number.", planned(COUNT, states="six", rounding="d"), INTEGRITY, "expected a number"),
    lie("plan-brace", "A sentence with another brace.", planned(COUNT, sentence="{0.__class__}"), INTEGRITY, "no brace"),
    lie("plan-rounding", "A rounding that takes a gigabyte.", planned(COUNT, rounding=".999999999f"), SCHEMA, "rounding"),
    lie("plan-id", "An id that closes a comment.", planned(COUNT, id="--><script>"), SCHEMA, "id"),
    lie("plan-id-twice", "Two claims of one id.", both(same_id, same_id), INTEGRITY, "an id of its own"),
    lie("no-value", "A claim that has no value.", planned(COUNT, expression="max(final[reference][ghost])"), INTEGRITY, "observed 'ghost'"),
    lie("no-divisor", "A claim that divides by nothing.", planned(COUNT, expression="plan.experiment.seed / 0"), INTEGRITY, "divisor"),
)  # fmt: skip
