"""Numbers as people read them: how a log prints a metric, and how a claim prints its value.

Python's own formatting, which rounds the exact binary value half to even and is the same
everywhere. Nothing is rounded twice.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import Final

EXACT: Final = "exact"
"""The rounding rule that rounds nothing."""
_WHOLE: Final = frozenset({"d", ",d"})
MAX_TEXT: Final = 500
"""Characters of a printed value."""


class RoundingError(ValueError):
    """A value that a rounding rule does not print."""


def print_number(number: float, spec: str) -> str:
    """Print a number in Python's format language.

    Args:
        number: Any int or float.
        spec: One of the models' ``PrintFormat``, such as ``.4f``.

    Returns:
        The text; an integer beyond the range of floats prints as infinity.

    Example:
        >>> print_number(0.0214672945992594, ".4f"), print_number(10**400, ".1f")
        ('0.0215', 'inf')
    """
    try:
        return format(number, spec)
    except OverflowError:  # an integer beyond the range of floats
        return format(math.copysign(math.inf, 1 if number > 0 else -1), spec)


def print_value(value: bool | float | str, rule: str) -> str:  # noqa: FBT001 - a value of a claim
    """Print the value of a claim by its rounding rule.

    Args:
        value: A number, a text, true or false.
        rule: ``exact``: a float as the shortest decimal that gives its bits, everything else in
            full. ``d`` and ``,d``: a whole number, with thousands parted or not. Anything else is
            Python's format language.

    Returns:
        The text, without blanks at its ends.

    Raises:
        RoundingError: the rule does not print such a value.

    Example:
        >>> print_value(1.1920928955078125e-07, "exact"), print_value(12500, ",d")
        ('1.1920928955078125e-07', '12,500')
        >>> print_value(0.125, ".2f"), print_value(0.975, ".1%")
        ('0.12', '97.5%')
    """
    if rule == EXACT:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    elif isinstance(value, bool | str):
        what = "true or false" if isinstance(value, bool) else "a text"
        raise RoundingError(f"expected a number for the rounding {rule!r}, observed {what}")
    elif rule in _WHOLE:
        text = format(whole_number(value), rule)
    else:
        text = print_number(value, rule).strip()
    if len(text) > MAX_TEXT:
        raise RoundingError(f"expected at most {MAX_TEXT} printed characters, observed {len(text)}")
    return text


def whole_number(value: float) -> int:
    """Return a whole number as an int.

    Args:
        value: An int, or a float without a fraction.

    Raises:
        RoundingError: it has a fraction, or is not finite.

    Example:
        >>> whole_number(100.0)
        100
    """
    if isinstance(value, int):
        return value
    if not math.isfinite(value) or value != math.floor(value):
        raise RoundingError(f"expected a whole number, observed {value!r}")
    return int(value)


def printable_form(stated: str, rule: str) -> str | None:
    """Return how a rule prints the number that a text states, or ``None`` where it is none.

    Args:
        stated: A value as an author writes it.
        rule: The rounding rule.

    Returns:
        The one spelling that can come out; for ``exact`` the text itself, for it may be no number.

    Example:
        >>> printable_form("2.15e-2", ".4f"), printable_form("loss", ".4f")
        ('0.0215', None)
    """
    if rule == EXACT:
        return stated
    percent = stated.endswith("%")
    try:
        number = Decimal(stated.removesuffix("%").replace(",", ""))
        if number.is_finite() and number.adjusted() > MAX_TEXT:
            return None
        if rule in _WHOLE:
            return format(int(number), rule) if number == int(number) else None
        return print_number(float(number) / 100 if percent else float(number), rule).strip()
    except (InvalidOperation, ValueError, OverflowError):
        return None
