"""Blocks of Markdown, as far as it takes to know what surely stands in code.

A fence opens and ends a block of code inside its list item or quote, a run of backticks finds its
other within its paragraph, heading or table cell, and HTML has neither. The rules are those of
CommonMark 0.31 with the tables of GitHub; indented code is not told from text. Each line is read
once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

_MAX_DEPTH: Final = 32
"""Quotes and list items within each other; what stands deeper is text."""
_QUOTE: Final = -1
_FENCE: Final = re.compile(r"(?P<ticks>`{3,})(?![^\n]*`)|(?P<tildes>~{3,})")
_ITEM: Final = re.compile(r"(?:[-+*]|(?P<number>[0-9]{1,9})[.)])(?=[ \t]|$)", re.MULTILINE)
_BREAK: Final = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
_UNDERLINE: Final = re.compile(r"(?:=+|-+)[ \t]*")
_HEADING: Final = re.compile(r"#{1,6}(?=[ \t]|$)", re.MULTILINE)
_CELL: Final = r"[ \t]*:?-+:?[ \t]*"
_DELIMITERS: Final = re.compile(rf"\|?{_CELL}(?:\|{_CELL})*+\|?[ \t]*")
_BAR: Final = re.compile(r"\\.|\|")
_NAMES: Final = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    "|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head"
    "|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p"
    "|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_HTML: Final = tuple(
    (re.compile(start, re.IGNORECASE), re.compile(end, re.IGNORECASE) if end else None)
    for start, end in (
        (r"<(?:script|pre|style|textarea)(?=[\s>]|\Z)", r"</(?:script|pre|style|textarea)>"),
        ("<!--", "-->"),
        (r"<\?", r"\?>"),
        ("<![a-z]", ">"),
        (r"<!\[CDATA\[", r"\]\]>"),
        (rf"</?(?:{_NAMES})(?=\s|/?>|\Z)", ""),
    )
)
_ALONE: Final = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?>[ \t]*")
"""A tag alone on its line."""


@dataclass
class Blocks:
    """Fenced code, HTML, and the places that no code span and no comment in a line crosses."""

    code: list[tuple[int, int]] = field(default_factory=list)
    raw: list[tuple[int, int]] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)

    def code_end(self, at: int) -> int:
        """Where the fenced code ends in which a place stands; -1 where it stands in none."""
        return _end_of(self.code, at)

    def is_raw(self, at: int) -> bool:
        """Whether a place stands in a block of HTML."""
        return _end_of(self.raw, at) >= 0

    def crosses(self, start: int, stop: int) -> bool:
        """Whether another block, or another cell, begins after ``start`` and before ``stop``."""
        after = bisect_right(self.edges, start)
        return after < len(self.edges) and self.edges[after] < stop


def read_blocks(text: str, start: int = 0) -> Blocks:
    r"""Read the blocks of a Markdown text.

    Args:
        text: The text; a line ends with a newline.
        start: Where its first line begins, behind its metadata.

    Returns:
        The blocks, in order and apart from each other.

    Example:
        >>> read_blocks("a\n```\nb\n```\nc\n").code
        [(2, 11)]
    """
    reader = _Reader(text)
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        reader.read(start, end)
        start = end + 1
    reader.leave(len(text))
    reader.blocks.edges.sort()
    return reader.blocks


class _Reader:
    """What is open at a line: quotes and items, then code, HTML, a paragraph or a table."""

    def __init__(self, text: str) -> None:
        self.blocks = Blocks()
        self._text = text
        self._containers: list[int] = []
        self._fence = ""
        self._html: re.Pattern[str] | None = None
        self._begun = -1  # where the code or HTML began that is open
        self._paragraph = False
        self._table = False
        self._last = 0

    def read(self, start: int, end: int) -> None:
        """Read the line from ``start`` to before ``end``."""
        place, matched = self._enter(start, end)
        if matched < len(self._containers):
            self.leave(start)
        if self._begun >= 0 and self._goes_on(place, end):
            return
        place, fresh = self._open(place, end, matched)
        columns, place = self._indent(place, end)
        if place == end:
            self._stop(start, matched if not fresh else len(self._containers))
            return
        opens = columns < 4 and self._leaf(start, place, end)
        if opens or not self._paragraph or fresh:
            self.blocks.edges.append(start)
        if not fresh and (opens or not self._paragraph):
            del self._containers[matched:]
        if not opens:
            self._paragraph = True
            self._rows(start, place, end)
        else:
            self._paragraph = self._table = False
        self._last = start

    def leave(self, place: int) -> None:
        """End the code or the HTML that is open, before ``place``."""
        if self._begun < 0:
            return
        ranges = self.blocks.code if self._fence else self.blocks.raw
        ranges.append((self._begun, place))
        self._begun, self._fence, self._html = -1, "", None

    def _goes_on(self, place: int, end: int) -> bool:
        """Whether the line belongs to the code or the HTML that is open; it may be its last."""
        columns, place = self._indent(place, end)
        if self._fence:
            line = self._text[place:end].rstrip()
            least, one = len(self._fence), self._fence[0]
            if columns < 4 and len(line) >= least and line == one * len(line):
                self.leave(end)
            return True
        if self._html is not None:
            if self._html.search(self._text, place, end):
                self.leave(end)
            return True
        if place < end:
            return True
        self.leave(end)  # a blank line ends it
        return False

    def _enter(self, place: int, end: int) -> tuple[int, int]:
        """Pass what belongs to the quotes and items that are open; how many of them go on."""
        if place == end and _QUOTE not in self._containers:
            return place, len(self._containers)
        for number, needed in enumerate(self._containers):
            columns, after = self._indent(place, end)
            if needed == _QUOTE:
                if columns > 3 or not self._text.startswith(">", after, end):
                    return place, number
                place = after + 1 + self._text.startswith(" ", after + 1, end)
            elif after < end:
                if columns < needed:
                    return place, number
                place = self._pass(place, needed)
        return place, len(self._containers)

    def _open(self, place: int, end: int, matched: int) -> tuple[int, bool]:
        """Open the quotes and items that begin in a line; whether there were any."""
        fresh = False
        while len(self._containers) < _MAX_DEPTH or not fresh:
            columns, after = self._indent(place, end)
            if columns > 3 or after == end:
                break
            if self._text[after] == ">":
                needed, next_place = _QUOTE, after + 1 + self._text.startswith(" ", after + 1, end)
            else:
                item = _ITEM.match(self._text, after, end)
                interrupts = self._paragraph and not fresh and matched == len(self._containers)
                if item is None or _BREAK.fullmatch(self._text, after, end):
                    break
                spaces, body = self._indent(item.end(), end)
                if interrupts and (body == end or item["number"] not in {None, "1"}):
                    break
                spaces = spaces if 1 <= spaces <= 4 and body < end else 1
                needed = columns + item.end() - after + spaces
                next_place = min(self._pass(item.end(), spaces), end)
            if not fresh:
                del self._containers[matched:]
            self._containers.append(needed)
            place, fresh, self._paragraph, self._table = next_place, True, False, False
        return place, fresh

    def _leaf(self, start: int, place: int, end: int) -> bool:
        """Whether something begins here, or ends the paragraph, that is no paragraph."""
        text = self._text
        fence = _FENCE.match(text, place, end)
        if fence is not None:
            self._begun, self._fence = start, fence[0]
            return True
        if text[place] == "<":
            for begins, ends in _HTML:
                if begins.match(text, place, end):
                    self._begin_html(start, place, end, ends)
                    return True
            if not self._paragraph and _ALONE.fullmatch(text, place, end):
                self._begin_html(start, place, end, None)
                return True
        if self._paragraph and _UNDERLINE.fullmatch(text, place, end):
            return True
        return bool(_HEADING.match(text, place, end) or _BREAK.fullmatch(text, place, end))

    def _begin_html(self, start: int, place: int, end: int, ends: re.Pattern[str] | None) -> None:
        self._begun, self._html = start, ends
        if ends is not None and ends.search(self._text, place, end):
            self.leave(end)

    def _rows(self, start: int, place: int, end: int) -> None:
        """In a table, each row and each cell stands alone."""
        row = self._text.find("|", place, end) >= 0
        if not self._table and row and _DELIMITERS.fullmatch(self._text, place, end):
            self._table = True
            self._cells(self._last, start)
        if self._table:
            self._cells(start, end)

    def _cells(self, start: int, end: int) -> None:
        self.blocks.edges.append(start)
        bars = _BAR.finditer(self._text, start, end)
        self.blocks.edges += [bar.start() for bar in bars if bar[0] == "|"]

    def _stop(self, start: int, matched: int) -> None:
        """A blank line: no paragraph goes on after it."""
        self.blocks.edges.append(start)
        del self._containers[matched:]
        self._paragraph = self._table = False

    def _indent(self, place: int, end: int) -> tuple[int, int]:
        """Columns of white space from ``place`` on, and where it ends; a tab fills four."""
        columns = 0
        while place < end and self._text[place] in " \t\r":
            columns += 4 - columns % 4 if self._text[place] == "\t" else 1
            place += 1
        return columns, place

    def _pass(self, place: int, columns: int) -> int:
        """The place so many columns of white space further on."""
        passed = 0
        while passed < columns and self._text[place : place + 1] in {" ", "\t"}:
            passed += 4 - passed % 4 if self._text[place] == "\t" else 1
            place += 1
        return place


def _end_of(ranges: list[tuple[int, int]], at: int) -> int:
    place = bisect_right(ranges, (at, 1 << 60)) - 1
    return ranges[place][1] if place >= 0 and at < ranges[place][1] else -1
