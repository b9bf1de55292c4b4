"""Claims: sentences of a write-up that a package evaluates by itself (docs/claims.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repropack.models.authored import Line
from repropack.models.base import Model, Number, RunName

MAX_CLAIMS = 1000

ClaimId = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", min_length=1, max_length=64),
]
ClaimKind = Literal[
    "repeated-outcome", "exact-resume", "number", "count", "bound", "configuration-value"
]
"""What a claim says (docs/claims.md):

``repeated-outcome``     a second run without any change is identical to the reference
``exact-resume``         a plain resume continues identically
``number``               a number prints as the author states it
``count``                a whole number is the one that the author states
``bound``                a comparison is true
``configuration-value``  a value of the plan prints as the author states it
"""
Expression = Annotated[str, StringConstraints(pattern=r"^[ -~]+$", min_length=1, max_length=1000)]
"""An expression of the small language of docs/claims.md, in ASCII."""
RoundingRule = Annotated[
    str,
    StringConstraints(
        pattern=r"^(exact|,?d|[+ -]?[0-9]{0,2}(\.[0-9]{1,2})?[eEfFgG%])$", max_length=8
    ),
]
"""How a value is printed: Python's format language, such as ``.4f``; ``exact`` rounds nothing."""
ClaimValue = bool | Number | str
"""A value, exact: a number as in every document, text, or true or false."""


class ClaimPlan(Model):
    """One claim of the author. ``{value}`` in the sentence stands for the printed value.

    ``run`` names the comparison of a ``repeated-outcome`` or an ``exact-resume``; every other
    kind has an ``expression``. ``states`` is the value as the write-up prints it; a ``bound`` may
    do without, for its comparison says what is expected.
    """

    id: ClaimId
    kind: ClaimKind
    sentence: Line
    run: RunName | None = None
    expression: Expression | None = None
    states: Line | None = None
    rounding: RoundingRule = "exact"


class ClaimOutcome(Model):
    """One claim, evaluated on what the package stores.

    ``sentence`` has the value in its place; ``text`` is the value as the rounding rule prints it,
    ``value`` the same in full. ``expected`` is what ``text`` or ``value`` has to be, in words.
    ``limit`` is the right side of a bound's comparison, whose left side is the value. ``evidence``
    are the paths of the entries that it rests on, sorted.
    """

    id: ClaimId
    kind: ClaimKind
    sentence: Annotated[str, Field(min_length=1, max_length=20_000)]
    expected: str
    text: str
    value: ClaimValue
    limit: ClaimValue | None = None
    held: bool
    evidence: tuple[str, ...]


class ClaimVerification(Model):
    """One claim, on what the package stores and on what was computed again here.

    ``sentence_here`` is the sentence with the value of here. Where it was not verified, all that
    ends in ``here`` is null and ``reason`` says why: its runs were not executed, or have no such
    value here.
    """

    id: ClaimId
    kind: ClaimKind
    sentence: str
    expected: str
    held: bool
    text: str
    value: ClaimValue
    held_here: bool | None = None
    text_here: str | None = None
    value_here: ClaimValue | None = None
    sentence_here: str | None = None
    reason: str | None = None


class RecordedClaim(Model):
    """One claim as it came out here; null where that was not evaluated."""

    id: ClaimId
    held: bool | None
