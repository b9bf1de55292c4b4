"""What a scan of an article finds: marks, what only looks like one, and where running text is."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final, Literal

Form = Literal["markdown", "html", "latex"]
MAX_MARKED: Final = 5000
"""Characters between the two ends of a mark."""
MAX_MARKS: Final = 100_000
"""Marks of one text, and what looks like one."""


URL: Final = r"(?:https?|ftp)://[^\s<>\"'`)\]}\\]+|doi:[^\s<>\\{}]+"
"""What an address is in running text; no mark begins in it."""
_COMMENT_MARK: Final = re.compile(r"<!--\s{0,20}claim\s{0,20}:", re.IGNORECASE)
_LATEX_MARK: Final = re.compile(r"\\claim\s{0,20}\{")


class TooManyMarksError(ValueError):
    """A text with more marks than an article has."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked value: where it stands, the id as it is written, and what is marked."""

    at: int
    claim: str
    content: str


@dataclass(frozen=True, slots=True)
class MacroUse:
    """The use of a macro whose name may be that of a claim's value."""

    at: int
    name: str


@dataclass(frozen=True, slots=True)
class BadMark:
    """Something that begins like a mark; what was expected and what stands there."""

    at: int
    claim: str
    expected: str
    observed: str


@dataclass(frozen=True, slots=True)
class MacroDefinition:
    """An article that defines a macro itself, whose name may be that of a claim's value.

    ``content`` is what the macro prints; ``None`` where it is no text between two braces.
    """

    at: int
    name: str
    content: str | None
    observed: str


@dataclass
class Scan:
    """What was found in a text, and the text with everything blanked that is no running text."""

    text: str
    form: Form
    marks: list[Mark] = field(default_factory=list)
    uses: list[MacroUse] = field(default_factory=list)
    definitions: list[MacroDefinition] = field(default_factory=list)
    bad: list[BadMark] = field(default_factory=list)
    looked_at: set[int] = field(default_factory=set)
    """Where marks begin that were read, rightly written or not."""
    _blanks: list[tuple[int, int]] = field(default_factory=list)

    def add(self, one: Mark | MacroUse | MacroDefinition | BadMark) -> None:
        """Note what was found."""
        if len(self.marks) + len(self.uses) + len(self.definitions) + len(self.bad) >= MAX_MARKS:
            raise TooManyMarksError(f"expected at most {MAX_MARKS} marks, observed more")
        if isinstance(one, Mark):
            self.marks.append(one)
        elif isinstance(one, MacroUse):
            self.uses.append(one)
        elif isinstance(one, MacroDefinition):
            self.definitions.append(one)
        else:
            self.bad.append(one)

    def blank(self, start: int, stop: int) -> None:
        """Note that no number is looked for from ``start`` to before ``stop``."""
        self._blanks.append((start, stop))

    def not_looked_at(self) -> int:
        """How many marks begin that were not read: in code, in comments, in metadata."""
        begins = _LATEX_MARK if self.form == "latex" else _COMMENT_MARK
        return sum(found.start() not in self.looked_at for found in begins.finditer(self.text))

    def running_text(self) -> str:
        """The text, as long as before, with blanks in place of marks, code and addresses."""
        parts, place = [], 0
        for start, stop in sorted(self._blanks):
            if stop <= place:
                continue
            begin = max(start, place)
            parts += [self.text[place:begin], " " * (stop - begin)]
            place = stop
        return "".join([*parts, self.text[place:]])


class Closers:
    """Looks for what closes something, reading no part of the text twice for one closer."""

    def __init__(self, text: str) -> None:
        """Look at nothing yet.

        Args:
            text: What is looked through.
        """
        self._text = text
        self._found: dict[str, tuple[int, int]] = {}

    def find(self, closer: str, start: int) -> int:
        """Where ``closer`` begins, from ``start`` on; -1 where it never comes."""
        found = self._found.get(closer)
        if found is None or start < found[0] or 0 <= found[1] < start:
            found = self._found[closer] = (start, self._text.find(closer, start))
        return found[1]


class Runs:
    """Runs of backticks by length, so that each finds its other without looking at all others."""

    def __init__(self, text: str) -> None:
        """Look at a text once.

        Args:
            text: Markdown.
        """
        self._starts: dict[int, list[int]] = {}
        for found in re.finditer("`+", text):
            self._starts.setdefault(found.end() - found.start(), []).append(found.start())

    def closing(self, start: int, stop: int) -> int:
        """Where the code ends that a run opens; ``stop`` where no other run is as long."""
        starts = self._starts.get(stop - start, [])
        place = bisect_left(starts, stop)
        return stop if place == len(starts) else starts[place] + stop - start


class Lines:
    """Lines and columns of places in a text."""

    def __init__(self, text: str) -> None:
        """Look at a text once.

        Args:
            text: The text; a line ends with a newline.
        """
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of a place, both counted from 1."""
        line = bisect_left(self._starts, at + 1)
        return line, at - self._starts[line - 1] + 1
