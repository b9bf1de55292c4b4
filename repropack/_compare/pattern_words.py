"""How a rule says that evidence fits a pattern, or excludes it."""

from __future__ import annotations

from collections.abc import Iterable

from repropack.models.patterns import Pattern, PatternId
from repropack.models.results import Divergence

MAX_BECAUSE = 6
"""How many statements a pattern gives, and how many names; JSON has the evidence itself."""


def fits(name: PatternId, because: Iterable[str], names: Iterable[str] = ()) -> Pattern:
    """The evidence is consistent with the pattern."""
    return _pattern(name, because, names, consistent=True)


def excluded(name: PatternId, because: Iterable[str], names: Iterable[str] = ()) -> Pattern:
    """The evidence is not consistent with the pattern."""
    return _pattern(name, because, names, consistent=False)


def stage_names(found: Divergence) -> tuple[str, ...]:
    """The diverging stage, where there is one."""
    return () if found.stage is None else (found.stage,)


def counted(steps: int) -> str:
    """``1 step is``, ``2 steps are``: the beginning of a statement."""
    return f"{steps} step is" if steps == 1 else f"{steps} steps are"


def _pattern(
    name: PatternId, because: Iterable[str], names: Iterable[str], *, consistent: bool
) -> Pattern:
    return Pattern(
        id=name,
        consistent=consistent,
        because=tuple(because)[:MAX_BECAUSE],
        names=tuple(dict.fromkeys(names)),
    )
