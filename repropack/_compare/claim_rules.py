"""What is wrong with a claim before anything has run: its form, its expression, its names.

The project file and the plan in a package are held against the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from repropack._compare.pointers import PlanNames, check_pointer, unknown
from repropack._format.expressions import (
    DOCUMENTS,
    Binary,
    Call,
    ExpressionError,
    Negated,
    Node,
    Part,
    Pointer,
    is_comparison,
    parse_expression,
    pointers_in,
)
from repropack._format.layout import REFERENCE_RUN
from repropack._format.macros import macro_name
from repropack._format.printing import EXACT, printable_form
from repropack.models.claims import ClaimPlan

Fault = tuple[str, str]
"""A member of the claim, and the problem."""

OF_RUNS: Final = frozenset({"repeated-outcome", "exact-resume"})
"""Kinds that name a run and have no expression."""
VALUE: Final = "{value}"
_COUNTED: Final = frozenset({EXACT, "d", ",d"})
_RANGE: Final = re.compile(r"([0-9]{1,9})\.\.([0-9]{1,9})")
_STEP: Final = re.compile(r"[0-9]{1,9}")


def claim_faults(claim: ClaimPlan, names: PlanNames) -> Iterator[Fault]:
    """Yield what is wrong with a claim by itself and against the plan.

    Args:
        claim: The claim; its values have their types.
        names: The names that the plan has.
    """
    yield from _sentence(claim.sentence)
    if claim.kind in OF_RUNS:
        yield from _of_a_run(claim, names)
    else:
        yield from _of_an_expression(claim, names)


def repeated_names(ids: Iterable[str]) -> Iterator[tuple[int, str]]:
    r"""Yield the place of each claim whose id, or the macro made of it, is taken already.

    Args:
        ids: The ids in order.

    Example:
        >>> list(repeated_names(["step-1", "step-one"]))
        [(1, "expected an id with a macro of its own, observed 'step-one' beside 'step-1', both \\\\claimStepOne")]
    """  # noqa: E501 - the doctest shows the whole line
    seen: dict[str, str] = {}
    for place, name in enumerate(ids):
        macro = macro_name(name)
        before = seen.get(macro)
        if before == name:
            yield place, f"expected an id of its own, observed {name!r} twice"
        elif before is not None:
            problem = "expected an id with a macro of its own"
            observed = f"{name!r} beside {before!r}, both \\claim{macro}"
            yield place, f"{problem}, observed {observed}"
        seen.setdefault(macro, name)


def step_range(part: Part) -> tuple[int, int]:
    """Read ``FIRST..LAST`` in brackets.

    Args:
        part: The name in brackets.

    Returns:
        Both steps, the first not above the last.

    Raises:
        ExpressionError: it is no range of steps.
    """
    found = _RANGE.fullmatch(part.name)
    if found is None or not 0 < int(found[1]) <= int(found[2]):
        problem = f"expected a range of steps such as 41..100, observed {part.name!r}"
        raise ExpressionError(part.at, problem)
    return int(found[1]), int(found[2])


def _sentence(sentence: str) -> Iterator[Fault]:
    rest = sentence.replace(VALUE, "")
    if "{" in rest or "}" in rest:
        yield "sentence", "expected no brace but those of {value}, observed another"


def _of_a_run(claim: ClaimPlan, names: PlanNames) -> Iterator[Fault]:
    for member in ("expression", "states"):
        if getattr(claim, member) is not None:
            yield member, f"expected none beside {claim.kind}, which names a run; observed one"
    if claim.rounding != EXACT:
        yield "rounding", f"expected none beside {claim.kind}, observed {claim.rounding!r}"
    if claim.run is None:
        yield "run", "expected the name of a comparison, observed none"
        return
    comparisons = [name for name in names.runs if name != REFERENCE_RUN]
    if claim.run not in comparisons:
        yield "run", unknown(0, claim.run, comparisons, "a comparison").problem
        return
    row = names.runs[claim.run]
    if row.changed:
        yield "run", f"expected a run without config and reset, observed {claim.run!r}, which has"
    elif claim.kind == "exact-resume" and row.resume_at is None:
        yield "run", f"expected a run with resume-at, observed {claim.run!r} without"
    elif claim.kind == "repeated-outcome" and row.resume_at is not None:
        yield "run", f"expected a run without resume-at, observed {claim.run!r}, which resumes"


def _of_an_expression(claim: ClaimPlan, names: PlanNames) -> Iterator[Fault]:
    if claim.run is not None:
        yield "run", f"expected none beside {claim.kind}, whose expression names runs; observed one"
    if claim.kind == "count" and claim.rounding not in _COUNTED:
        yield "rounding", f"expected exact, d or ,d of a count, observed {claim.rounding!r}"
    if claim.kind != "bound" and claim.states is None:
        yield "states", f"expected the value that the write-up prints for a {claim.kind}"
    if claim.states is not None:
        yield from _stated(claim.states, claim.rounding)
    if claim.expression is None:
        yield "expression", "expected an expression, observed none"
        return
    try:
        node = parse_expression(claim.expression)
        _check_kind(claim.kind, node)
        _check_names(node, names)
    except ExpressionError as error:
        yield "expression", str(error)


def _stated(stated: str, rule: str) -> Iterator[Fault]:
    form = printable_form(stated, rule)
    if form is None:
        yield "states", f"expected a number as {rule!r} prints it, observed {stated!r}"
    elif form != stated:
        yield "states", f"expected {form!r}, as {rule!r} prints it, observed {stated!r}"


def _check_kind(kind: str, node: Node) -> None:
    if kind == "bound" and not is_comparison(node):
        raise ExpressionError(0, "expected a comparison, such as A < B, of a bound; observed none")
    if kind != "bound" and isinstance(node, Binary) and is_comparison(node):
        raise ExpressionError(node.at, f"expected a value of a {kind}, observed a comparison")
    pointers = list(pointers_in(node))
    if not pointers:
        raise ExpressionError(0, "expected something of the package, observed constants alone")
    if kind == "configuration-value":
        for pointer in pointers:
            if pointer.root != "plan":
                problem = f"expected plan in a configuration-value, observed {pointer.root!r}"
                raise ExpressionError(pointer.at, problem)


def _check_names(node: Node, names: PlanNames) -> None:
    if isinstance(node, Call):
        for argument in node.arguments:
            _check_place(argument, names, counted=node.function == "count")
        _check_pair(node)
    elif isinstance(node, Pointer):
        _check_place(node, names, counted=False)
    elif isinstance(node, Negated):
        _check_names(node.operand, names)
    elif isinstance(node, Binary):
        _check_names(node.left, names)
        _check_names(node.right, names)


def _check_pair(call: Call) -> None:
    """Series are held against series of their kind, arrays against arrays."""
    if len(call.arguments) == 2:
        one, two = ({"final": "checkpoint"}.get(a.root, a.root) for a in call.arguments)
        if one != two:
            raise ExpressionError(
                call.arguments[1].at,
                f"expected {call.arguments[0].root} beside {call.arguments[0].root}, observed "
                f"{call.arguments[1].root}",
            )


def _check_place(pointer: Pointer, names: PlanNames, *, counted: bool) -> None:
    if pointer.root in DOCUMENTS:
        check_pointer(pointer, names, counted=counted)
        return
    run, second, *rest = pointer.parts
    if run.name not in names.runs:
        raise unknown(run.at, run.name, list(names.runs), "a run")
    if pointer.root == "kept" and second.name not in names.keep:
        raise unknown(second.at, second.name, names.keep, "a stage of record.keep")
    if pointer.root == "checkpoint":
        _check_step(run, second, names)
    elif rest:
        first, last = step_range(rest[0])
        begin = (names.runs[run.name].resume_at or 0) + 1
        if first < begin or last > (names.steps or last):
            problem = f"expected steps of the run, {begin} to {names.steps}"
            raise ExpressionError(rest[0].at, f"{problem}, observed {first} to {last}")


def _check_step(run: Part, part: Part, names: PlanNames) -> None:
    if _STEP.fullmatch(part.name) is None:
        raise ExpressionError(part.at, f"expected a step, observed {part.name!r}")
    step, begin = int(part.name), names.runs[run.name].resume_at or 0
    every, steps = names.checkpoint_every, names.steps
    planned = step in {begin, steps} or (every and step % every == 0)
    if steps is not None and not (begin <= step <= steps and planned):
        problem = f"expected a step after which {run.name!r} stores its state, observed {step}"
        raise ExpressionError(part.at, problem)
