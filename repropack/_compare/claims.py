"""Claims evaluated: on what was just recorded, on what is stored, on what was computed again.

One evaluator for ``build``, ``check`` and ``verify``, so that a package that says anything else of
a claim than its logs and arrays is found out. Nothing of a claim is code; a value is a number, a
text, true or false.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from repropack._compare.claim_rules import OF_RUNS, VALUE
from repropack._compare.claim_sources import ClaimRun, Elements, Sources, side_by_side
from repropack._compare.pointers import DocumentView
from repropack._compare.reductions import (
    ONE_SERIES,
    REAL,
    differing_elements,
    greatest_difference,
)
from repropack._format.expressions import (
    COMPARATORS,
    DOCUMENTS,
    Binary,
    Call,
    Constant,
    ExpressionError,
    Negated,
    Node,
    Pointer,
    parse_expression,
    pointers_in,
)
from repropack._format.layout import PLAN, REFERENCE_RUN, log_path
from repropack._format.printing import EXACT, RoundingError, print_value, whole_number
from repropack._format.values import encode_value
from repropack.models.claims import ClaimOutcome, ClaimPlan
from repropack.models.plan import Plan
from repropack.models.results import Results

Value = bool | int | float | str
_MAX_BITS: Final = 1600
"""Bits of an integer that is reckoned with or printed."""
_MAX_TEXT: Final = 500
_TOO_LARGE: Final = "expected numbers within float64, observed larger"
_IDENTICAL, _DIFFERS = "identical", "differs"
_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class ClaimEvaluator:
    """Evaluates the claims of one plan on one set of runs and their results."""

    def __init__(
        self, plan: Plan, results: Results | None, runs: Mapping[str, ClaimRun], max_elements: int
    ) -> None:
        """Prepare; nothing is read yet.

        Args:
            plan: The plan, its configuration complete.
            results: What the runs give, without claims; ``None`` where there is no reference, for
                claims that do not rest on it.
            runs: The reference and the comparisons that there are, by name.
            max_elements: How many elements all claims together may read.
        """
        self._views = {"plan": DocumentView(plan)}
        if results is not None:
            self._views["results"] = DocumentView(results)
        rows = results.comparisons if results is not None else ()
        self._outcomes = {outcome.run: outcome for outcome in rows}
        self._runs = runs
        self._sources = Sources(runs, max_elements)

    def evaluate(self, claim: ClaimPlan) -> ClaimOutcome:
        """Evaluate one claim.

        Args:
            claim: One in which ``claim_faults`` finds nothing wrong.

        Returns:
            Its outcome, which follows from plan, logs, checkpoints and kept arrays alone.

        Raises:
            ExpressionError: there is no such value.
            PackageError: a log, checkpoint or kept array is malformed, or too much is read.
        """
        if claim.kind in OF_RUNS:
            return self._of_a_run(claim)
        node = parse_expression(claim.expression or "")
        evidence: set[str] = set()
        limit: Value | None = None
        if isinstance(node, Binary) and node.operator in COMPARATORS:
            value, limit = (self._value(side, evidence) for side in (node.left, node.right))
            held = _compared(node, value, limit)
            expected = f"{node.operator} {_printed(limit, EXACT, node.at)}"
        else:
            value, held, expected = self._value(node, evidence), True, ""
        if claim.kind == "count":
            value = _whole(value)
        text = _printed(value, claim.rounding, 0)
        if claim.states is not None:
            held = held and text == claim.states
            expected = f"{expected}, printed as {claim.states}" if expected else claim.states
        return ClaimOutcome(
            id=claim.id,
            kind=claim.kind,
            sentence=claim.sentence.replace(VALUE, text),
            expected=expected,
            text=text,
            value=_encoded(value),
            limit=None if limit is None else _encoded(limit),
            held=held,
            evidence=tuple(sorted(evidence)),
        )

    def _of_a_run(self, claim: ClaimPlan) -> ClaimOutcome:
        run = claim.run or ""
        outcome = self._outcomes[run]
        text = _IDENTICAL if outcome.identical else _DIFFERS
        return ClaimOutcome(
            id=claim.id,
            kind=claim.kind,
            sentence=claim.sentence.replace(VALUE, text),
            expected=_IDENTICAL,
            text=text,
            value=outcome.identical,
            held=outcome.identical,
            evidence=tuple(sorted((log_path(REFERENCE_RUN), log_path(run)))),
        )

    def _value(self, node: Node, evidence: set[str]) -> Value:
        if isinstance(node, Constant):
            return node.value
        if isinstance(node, Pointer):
            found = self._found(node, evidence)
            if not isinstance(found, bool | int | float | str):
                raise ExpressionError(node.at, "expected a single value, observed a list")
            return _checked(found, node.at)
        if isinstance(node, Call):
            return self._called(node, evidence)
        if isinstance(node, Negated):
            return -_as_number(self._value(node.operand, evidence), node.operand)
        left = _as_number(self._value(node.left, evidence), node.left)
        right = _as_number(self._value(node.right, evidence), node.right)
        return _reckoned(node, left, right)

    def _found(self, pointer: Pointer, evidence: set[str]) -> Value | Collection[Any]:
        evidence |= self._evidence_of(pointer)
        return self._views[pointer.root].value_at(pointer)

    def _evidence_of(self, pointer: Pointer) -> set[str]:
        """What a member of a document rests on."""
        if pointer.root == "plan":
            return {PLAN}
        reference = self._runs[REFERENCE_RUN]
        names = [part.name for part in pointer.parts]
        if names[0] != "comparisons" or len(names) == 1:
            return {reference.log_path}
        run = self._runs[names[1]]
        paths = {reference.log_path, run.log_path}
        if "kept" in names[2:3] and not self._outcomes[names[1]].identical:
            paths |= {one.kept_path for one in (reference, run) if one.kept_stages()}
        return paths

    def _called(self, call: Call, evidence: set[str]) -> Value:
        if call.arguments[0].root in DOCUMENTS:
            found = self._found(call.arguments[0], evidence)
            if isinstance(found, bool | int | float | str):
                raise ExpressionError(call.at, "expected a list to count, observed a single value")
            return len(found)
        elements = [self._elements(argument) for argument in call.arguments]
        evidence |= {path for one in elements for path in one.evidence}
        return _checked(self._reduced(call, elements), call.at)

    def _elements(self, pointer: Pointer) -> Elements:
        run = pointer.parts[0].name
        outcome = self._outcomes.get(run)
        holder = REFERENCE_RUN if outcome is not None and outcome.identical else run
        return self._sources.find(pointer, holder)

    def _charge(self, *read: Elements) -> None:
        """Count what is about to be read, rows of nothing too."""
        self._sources.charge(sum(max(one.size, one.rows) for one in read))

    def _reduced(self, call: Call, elements: list[Elements]) -> Value:
        name, first = call.function, elements[0]
        if name == "count":
            return first.rows
        if name == "size":
            return first.size
        if len(elements) == 2:
            return self._of_two(call, *elements)
        self._require_real(first)
        if name in {"first", "last"}:
            return self._at_an_end(call, first)
        if not first.size and name not in {"sum", "norm"}:
            raise ExpressionError(call.at, f"expected an element for {name}, observed none")
        self._charge(first)
        return ONE_SERIES[name](first.blocks())

    def _of_two(self, call: Call, left: Elements, right: Elements) -> Value:
        left, right = side_by_side(left, right)
        self._charge(left, right)
        if call.function == "max_abs_difference":
            self._require_real(left)
            return greatest_difference(left.blocks(), right.blocks())
        elements, rows = differing_elements(left.blocks(), right.blocks(), left.row_elements)
        return elements if call.function == "count_different" else rows

    def _at_an_end(self, call: Call, elements: Elements) -> Value:
        """The first element of the first row, or the last one of the last row."""
        row = elements.one(0 if call.function == "first" else elements.rows - 1)
        if not row.size:
            raise ExpressionError(
                call.at, f"expected an element for {call.function}, observed none"
            )
        self._charge(row)
        at = 0 if call.function == "first" else -1
        found: Any = None
        for block in row.blocks():
            found = block[at].item()
            if at == 0:
                break
        return int(found) if isinstance(found, bool) else found

    @staticmethod
    def _require_real(elements: Elements) -> None:
        if elements.dtype[1] not in REAL:
            problem = f"expected real numbers, observed the type {elements.dtype}"
            raise ExpressionError(elements.at, problem)


def runs_of(claim: ClaimPlan) -> tuple[str, ...]:
    """Names of the runs that a claim rests on; none where the plan alone is asked.

    Args:
        claim: One in which ``claim_faults`` finds nothing wrong.

    Returns:
        Names, sorted; what a comparison found rests on the reference too.
    """
    if claim.kind in OF_RUNS:
        return tuple(sorted((REFERENCE_RUN, claim.run or "")))
    names: set[str] = set()
    for pointer in pointers_in(parse_expression(claim.expression or "")):
        names |= set(_runs_of_pointer(pointer))
    return tuple(sorted(names))


def _runs_of_pointer(pointer: Pointer) -> Iterator[str]:
    if pointer.root == "results":
        yield REFERENCE_RUN
        if pointer.parts[0].name == "comparisons" and len(pointer.parts) > 1:
            yield pointer.parts[1].name
    elif pointer.root != "plan":
        yield pointer.parts[0].name


@dataclass(frozen=True)
class EvaluatedClaims:
    """The outcomes in the plan's order; ``faults`` are places of claims without one, and why."""

    outcomes: tuple[ClaimOutcome, ...]
    faults: tuple[tuple[int, str], ...]


def evaluate_claims(
    plan: Plan, results: Results, runs: Mapping[str, ClaimRun], max_elements: int
) -> EvaluatedClaims:
    """Evaluate all claims of a plan.

    Args:
        plan: The plan.
        results: What the runs give, without claims.
        runs: The reference and every comparison, by name.
        max_elements: How many elements all claims together may read.

    Returns:
        Outcomes and faults.

    Raises:
        PackageError: a log, checkpoint or kept array is malformed, or too much is read.
    """
    evaluator = ClaimEvaluator(plan, results, runs, max_elements)
    outcomes: list[ClaimOutcome] = []
    faults: list[tuple[int, str]] = []
    for place, claim in enumerate(plan.claims):
        try:
            outcomes.append(evaluator.evaluate(claim))
        except ExpressionError as error:
            faults.append((place, str(error)))
    return EvaluatedClaims(tuple(outcomes), tuple(faults))


def _compared(node: Binary, left: Value, right: Value) -> bool:
    """Texts and truths are equal or not; numbers have an order, and NaN has none."""
    kinds = {_kind(left), _kind(right)}
    if len(kinds) > 1:
        raise ExpressionError(
            node.at, f"expected {_kind(left)} on both sides, observed {_kind(right)} on the right"
        )
    if node.operator not in {"==", "!="} and kinds != {"a number"}:
        raise ExpressionError(node.at, f"expected numbers for {node.operator}, observed others")
    return bool(_ORDER[node.operator](left, right))


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "a text" if isinstance(value, str) else "a number"


def _as_number(value: Value, node: Node) -> int | float:
    if isinstance(value, bool | str):
        raise ExpressionError(node.at, f"expected a number, observed {_kind(value)}")
    return value


def _reckoned(node: Binary, left: float, right: float) -> Value:
    try:
        value = _ARITHMETIC[node.operator](left, right)
    except ZeroDivisionError:
        raise ExpressionError(node.at, "expected a divisor other than 0, observed 0") from None
    except OverflowError:  # of an integer that becomes a float
        raise ExpressionError(node.at, _TOO_LARGE) from None
    if _has_infinity(value) and not _has_infinity(left, right):
        raise ExpressionError(node.at, _TOO_LARGE)
    return _checked(value, node.at)


def _has_infinity(*values: Value) -> bool:
    return any(isinstance(value, float) and math.isinf(value) for value in values)


def _checked(value: Value, at: int) -> Value:
    """A value of a bounded length; a NaN without its bits, which no two machines need share."""
    if isinstance(value, str) and len(value) > _MAX_TEXT:
        raise ExpressionError(at, f"expected at most {_MAX_TEXT} characters, observed {len(value)}")
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise ExpressionError(at, f"expected an integer of at most {_MAX_BITS} bits, observed more")
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def _whole(value: Value) -> Value:
    try:
        return whole_number(_as_number(value, Constant(0, 0)))
    except RoundingError as error:
        raise ExpressionError(0, str(error)) from error


def _printed(value: Value, rule: str, at: int) -> str:
    try:
        return print_value(value, rule)
    except RoundingError as error:
        raise ExpressionError(at, str(error)) from error


def _encoded(value: Value) -> Any:
    return encode_value("claim", value)
