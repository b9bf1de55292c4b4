"""Names and sentences in a figure: text that others wrote, made to fit and to stay text.

Pure. Widths are in average letters of the one font, so that nothing has to be drawn to be measured.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import accumulate

from repropack._compare.series import STATE_SUBJECT, RunSeries
from repropack._present.escape import escape_text


def heading_of(number: int, run: RunSeries, metric: str | None = None) -> tuple[str, ...]:
    """A comparison's number and whole name, and where it resumed, in lines that fit."""
    text = f"{number}  {shown(run.run, 100)}"
    if metric is not None:
        text += f": {shown(metric, 40)}"
    if run.resume_at is not None:
        text += f", resumed after step {run.resume_at:,}"
    return wrapped(text, 60)


def label_of(number: int, name: str) -> str:
    """A comparison's number and as much of its name as fits beside a plot."""
    return f"{number} {shown(name, 18)}"


def shown(text: str, at_most: int) -> str:
    """An author's text as printable ASCII, its middle left out where it is too long.

    Args:
        text: Any text.
        at_most: Room for it, in average letters.

    Returns:
        What fits. Letters beyond ASCII are escapes: the one font that is surely there lacks most.
    """
    plain = escape_text(text, 400).encode("ascii", "backslashreplace").decode("ascii")
    units = [_units(character) for character in plain]
    if sum(units) <= at_most:
        return plain
    half = (at_most - 3) / 2
    head = _count_within(units, half)
    tail = _count_within(units[::-1], half)
    return f"{plain[:head]}...{plain[len(plain) - tail :]}"


def wrapped(text: str, units: int) -> tuple[str, ...]:
    """Lines of at most about ``units`` average letters, broken at spaces and hyphens."""
    wide = max(1.0, _width(text) / max(1, len(text)))
    return tuple(textwrap.wrap(text, max(10, int(units / wide)))) or ("",)


def subject_words(series: Sequence[RunSeries]) -> str:
    """What is compared: ``"weights"``, or the complete state."""
    names = list(dict.fromkeys(run.subject for run in series))
    if names == [STATE_SUBJECT]:
        return "the complete state"
    return " or ".join(f'"{shown(name, 40)}"' for name in names[:3])


def _units(character: str) -> float:
    """The width of a character in average ones."""
    return 1.6 if character in "mwMW@%" else 1.2 if character.isupper() else 1.0


def _width(text: str) -> float:
    return sum(map(_units, text))


def _count_within(units: Sequence[float], limit: float) -> int:
    """How many of the first characters fit."""
    return sum(total <= limit for total in accumulate(units))
