"""``--limit`` and ``--show-limits``: the limits as a person may state and read them.

Whatever is a frozen dataclass of whole numbers can be stated here; the meaning of a limit is the
text below its attribute.
"""

# ruff: noqa: PLC0415 - a verb that needs no list of limits does not wait for it

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import Field, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from repropack.errors import UsageError

if TYPE_CHECKING:
    from repropack.models.limit_list import LimitList


class LimitSet(Protocol):
    """A frozen dataclass whose fields are whole numbers."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


_Limits = TypeVar("_Limits", bound=LimitSet)


def check_names(stated: Sequence[tuple[str, int]], *known: LimitSet) -> None:
    """Refuse a limit that is none.

    Args:
        stated: Names and values, as ``--limit`` gave them.
        known: The limits of a verb.

    Raises:
        UsageError: a name that none of them has; the hint names those that come near.
    """
    names = [field.name for limits in known for field in fields(limits)]
    for name, _ in stated:
        if name not in names:
            near = " or ".join(get_close_matches(name, names)) or "one that --show-limits lists"
            raise UsageError(f"--limit {name}: no limit of this name", hint=f"did you mean {near}?")


def with_stated(limits: _Limits, stated: Sequence[tuple[str, int]]) -> _Limits:
    """Put stated values in the place of the usual ones.

    Args:
        limits: The usual limits.
        stated: Names and values; a name that these limits do not have is another's.

    Returns:
        The limits that apply. Of a name that comes twice the last value holds.
    """
    own = {field.name for field in fields(limits)}
    return replace(limits, **{name: value for name, value in stated if name in own})


def list_limits(*known: LimitSet) -> LimitList:
    """Describe limits.

    Args:
        known: The limits that apply, set by set.

    Returns:
        Every limit's name, value and meaning, in the order of its set.
    """
    from repropack.models.limit_list import LimitList, LimitRow

    return LimitList(
        limits=tuple(
            LimitRow(name=name, value=getattr(limits, name), meaning=meaning)
            for limits in known
            for name, meaning in _meanings(type(limits))
        )
    )


def _meanings(kind: type[LimitSet]) -> Iterator[tuple[str, str]]:
    """The text below each attribute of a class, in its source."""
    import ast
    import inspect
    import textwrap

    (declared,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    body = declared.body if isinstance(declared, ast.ClassDef) else []
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            text = following.value if isinstance(following, ast.Expr) else None
            value = text.value if isinstance(text, ast.Constant) else ""
            yield statement.target.id, " ".join(str(value).replace("``", "").split())
