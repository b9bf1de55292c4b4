"""Places in the plan and the results, by their members and by the names of their rows.

``check_pointer`` says before a run what can be said from the models and the plan alone;
``DocumentView`` looks a place up in a document that is there.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from repropack._format.expressions import ExpressionError, Part, Pointer, advice
from repropack._format.layout import REFERENCE_RUN
from repropack._format.values import decode_value
from repropack.models.base import Model
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.results import (
    ComparisonOutcome,
    FinalMetric,
    InputEquality,
    KeptDifference,
    PrintedAgreement,
    Results,
    StepCount,
)

_ROW_NAMES: Final[Mapping[type[Model], str]] = {
    ComparisonOutcome: "run",
    ComparisonPlan: "name",
    StepCount: "name",
    KeptDifference: "stage",
    PrintedAgreement: "metric",
    FinalMetric: "metric",
    InputEquality: "name",
}
"""By what member the rows of a list are chosen."""
_HIDDEN: Final = frozenset({"schema_name", "claims"})
"""Members that no pointer reaches: a claim is about what was run, and not about claims."""
_MAX_KNOWN = 12


@dataclass(frozen=True)
class RunRow:
    """What a plan says of a run: where it resumes, and whether anything is changed in it."""

    resume_at: int | None = None
    changed: bool = False


@dataclass(frozen=True)
class PlanNames:
    """The names that a plan has before anything runs.

    ``steps`` and ``checkpoint_every`` are ``None`` where nothing is known of them.
    """

    runs: Mapping[str, RunRow]
    keep: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    steps: int | None = None
    checkpoint_every: int | None = None


def names_of(plan: Plan) -> PlanNames:
    """Return the names that a plan has."""
    rows = {
        row.name: RunRow(row.resume_at, changed=bool(row.reset or row.config))
        for row in plan.comparisons
    }
    return PlanNames(
        runs={REFERENCE_RUN: RunRow(), **rows},
        keep=plan.record.keep,
        printed=tuple(plan.record.printed),
        steps=plan.experiment.steps,
        checkpoint_every=plan.record.checkpoint_every,
    )


def check_pointer(pointer: Pointer, names: PlanNames, *, counted: bool) -> None:
    """Hold a pointer against the models and the plan, before there are results.

    Args:
        pointer: Into ``results`` or ``plan``.
        names: The names that the plan has.
        counted: Whether its members are counted, so that it has to end at a list.

    Raises:
        ExpressionError: there cannot be such a place.
    """
    place: Any = Results if pointer.root == "results" else Plan
    for part in pointer.parts:
        place = _inner(_plain(place), part, names)
    place = _plain(place)
    listed = typing.get_origin(place) in {tuple, dict} or place is Any
    at = pointer.parts[-1].at
    if counted and not listed:
        raise ExpressionError(at, "expected a list to count, observed a single value")
    if not counted and _is_model(place):
        raise ExpressionError(
            at, f"expected one of its members ({_listed(_members(place))}), observed all of them"
        )
    if not counted and listed and place is not Any:
        raise ExpressionError(at, "expected a row by its name in brackets, observed the whole list")


class DocumentView:
    """A document in which places are looked up; the rows of each list are sorted by name once."""

    def __init__(self, document: Model) -> None:
        """Look at the plan or the results.

        Args:
            document: It, or a part of it; must not change.
        """
        self._document = document
        self._rows: dict[int, dict[str, Any]] = {}

    def value_at(self, pointer: Pointer) -> bool | int | float | str | Collection[Any]:
        """Look a place up.

        Args:
            pointer: Into this document.

        Returns:
            Numbers decoded; a list or a mapping where the pointer ends at one.

        Raises:
            ExpressionError: there is no such place, or it holds null.
        """
        value: Any = self._document
        for part in pointer.parts:
            value = self._looked_up(value, part)
            if value is None:
                raise ExpressionError(part.at, f"expected a value of {part.name!r}, observed none")
        if isinstance(value, Model):
            raise ExpressionError(pointer.parts[-1].at, "expected one of its members, observed all")
        if is_encoded(value):
            decoded: int | float = decode_value(pointer.parts[-1].name, value)
            return decoded
        return typing.cast("bool | int | float | str | Collection[Any]", value)

    def _looked_up(self, value: Any, part: Part) -> Any:
        if isinstance(value, Model):
            members = _members(type(value))
            if part.row or part.name not in members:
                raise unknown(part.at, part.name, members, "a member")
            return getattr(value, part.name)
        if isinstance(value, dict) and part.row:
            if part.name not in value:
                raise unknown(part.at, part.name, value, "a name of it")
            return value[part.name]
        if isinstance(value, tuple) and part.row:
            rows = self._rows_of(value)
            if part.name not in rows:
                raise unknown(part.at, part.name, rows, "the name of a row")
            return rows[part.name]
        problem = f"expected nothing behind a single value, observed {part.name!r}"
        raise ExpressionError(part.at, problem)

    def _rows_of(self, listed: tuple[Any, ...]) -> dict[str, Any]:
        if id(listed) not in self._rows:
            self._rows[id(listed)] = dict(filter(None, map(_named_row, listed)))
        return self._rows[id(listed)]


def is_encoded(value: object) -> bool:
    """Whether a value of a document stands for a number beyond JSON."""
    return isinstance(value, dict) and bool(value) and value.keys() <= {"$int", "$float"}


def _named_row(row: Any) -> tuple[str, Any] | None:
    """A row and the name by which it is chosen; ``None`` for one without."""
    if isinstance(row, tuple):
        return str(row[0]), row[1]
    member = _ROW_NAMES.get(type(row))
    return None if member is None else (str(getattr(row, member)), row)


def unknown(at: int, name: str, known: Collection[str], what: str) -> ExpressionError:
    """Return the error for a name that there is not."""
    told = advice(name, list(known))
    listed = "" if told else f" ({_listed(known)})"
    return ExpressionError(at, f"expected {what}{listed}, observed {name!r}{told}")


def _inner(place: Any, part: Part, names: PlanNames) -> Any:
    """The type of what a part leads to, from the type of where it begins."""
    if place is Any:
        return Any
    origin, inner = typing.get_origin(place), typing.get_args(place)
    if _is_model(place):
        members = _members(place)
        if part.row or part.name not in members:
            raise unknown(part.at, part.name, members, "a member")
        return place.model_fields[part.name].annotation
    if origin is dict and part.row:
        return inner[1]
    if origin is tuple and part.row:
        row = _plain(inner[0])
        _check_row(part, row, names)
        if _is_model(row):
            return row
        return str
    if origin in {dict, tuple}:
        raise ExpressionError(
            part.at, f"expected a name in brackets, such as [{part.name}], observed .{part.name}"
        )
    raise ExpressionError(
        part.at, f"expected nothing behind a single value, observed {part.name!r}"
    )


def _check_row(part: Part, row: Any, names: PlanNames) -> None:
    if _is_model(row) and row not in _ROW_NAMES:
        raise ExpressionError(part.at, "expected count of it, for its rows have no names")
    if not _is_model(row) and typing.get_origin(row) is not tuple:
        raise ExpressionError(part.at, "expected count of it, for it is a list of names")
    if row in {ComparisonOutcome, ComparisonPlan}:
        comparisons = [name for name in names.runs if name != REFERENCE_RUN]
        if part.name not in comparisons:
            raise unknown(part.at, part.name, comparisons, "a comparison")
    elif row is KeptDifference and part.name not in names.keep:
        raise unknown(part.at, part.name, names.keep, "a stage of record.keep")
    elif row is PrintedAgreement and part.name not in names.printed:
        raise unknown(part.at, part.name, names.printed, "a metric of record.printed")


def _plain(annotation: Any) -> Any:
    """A type without its constraints and without null; of several types the model, if any."""
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) not in {typing.Union, types.UnionType}:
        return annotation
    inner = [_plain(one) for one in typing.get_args(annotation) if one is not type(None)]
    models = [one for one in inner if _is_model(one)]
    if models:
        return models[0]
    return inner[0] if len(inner) == 1 else float


def _is_model(place: Any) -> bool:
    return isinstance(place, type) and issubclass(place, Model)


def _members(model: type[Model]) -> list[str]:
    return [name for name in model.model_fields if name not in _HIDDEN]


def _listed(names: Collection[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _MAX_KNOWN} more" if len(known) > _MAX_KNOWN else ""
    return f"{', '.join(known[:_MAX_KNOWN])}{more}" if known else "none"
