r"""Marks in articles: which number is the value of which claim, in Markdown, HTML and LaTeX.

Markdown and HTML mark with comments, which no reader sees: ``<!-- claim: final-loss -->0.0215<!--
/claim -->``. LaTeX marks with a macro, ``\claim{final-loss}{0.0215}``, or uses the macros that
``values`` makes. Nothing is rendered and nothing is expanded: a text is read once, from left to
right, in time that grows with its length alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final, Literal

Form = Literal["markdown", "html", "latex"]
MAX_MARKED: Final = 400
"""Characters between the two ends of a mark."""
MAX_MARKS: Final = 100_000
"""Marks of one text, and what looks like one."""


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


@dataclass
class Scan:
    """What was found in a text, and the text with everything blanked that is no running text."""

    text: str
    marks: list[Mark] = field(default_factory=list)
    uses: list[MacroUse] = field(default_factory=list)
    bad: list[BadMark] = field(default_factory=list)
    _blanks: list[tuple[int, int]] = field(default_factory=list)

    def add(self, one: Mark | MacroUse | BadMark) -> None:
        """Note what was found."""
        if len(self.marks) + len(self.uses) + len(self.bad) >= MAX_MARKS:
            raise TooManyMarksError(f"expected at most {MAX_MARKS} marks, observed more")
        if isinstance(one, Mark):
            self.marks.append(one)
        elif isinstance(one, MacroUse):
            self.uses.append(one)
        else:
            self.bad.append(one)

    def blank(self, start: int, stop: int) -> None:
        """Note that no number is looked for from ``start`` to before ``stop``."""
        self._blanks.append((start, stop))

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


def scan_text(text: str, form: Form) -> Scan:
    r"""Find the marks in a text.

    Args:
        text: The article, or a Markdown cell of a notebook.
        form: What it is written in.

    Returns:
        Marks in order, what looks like one and is none, and where running text is.

    Raises:
        TooManyMarksError: more than 100,000 marks.

    Example:
        >>> scan_text("loss <!-- claim: a -->0.5<!-- /claim -->", "markdown").marks
        [Mark(at=22, claim='a', content='0.5')]
        >>> scan_text(r"loss \claim{a}{\num{0.5}}", "latex").marks
        [Mark(at=15, claim='a', content='\\num{0.5}')]
    """
    scan = Scan(text)
    {"markdown": _scan_markdown, "html": _scan_html, "latex": _scan_latex}[form](scan)
    return scan


_COMMENT_CLAIM = re.compile(r"\s*claim\s*:\s*(?P<id>[^\s]{1,100})\s*")
_COMMENT_CLOSE = re.compile(r"\s*/\s*claim\s*")
_BEGINS = re.compile(r"\s*claims?\s*(?:[:=;]|(?<=\s)\S{1,100}\s*\Z|\Z)", re.IGNORECASE)
"""What begins like a mark, rightly or not; a sentence that begins with "claims" does not."""
_CLOSES = re.compile(r"\s*(?:[/\\]\s*claims?(?:\s*:)?|end\s?claims?)\s*", re.IGNORECASE)
"""What ends like a mark, rightly or not."""
_URL = r"(?P<url>(?:https?|ftp)://[^\s<>\"'`)\]}]+|doi:[^\s<>]+)"
_TAG = r"(?P<tag></?[A-Za-z][^<>]*>)"
_MARKDOWN = re.compile(
    r"(?P<fence>(?m:^)[ ]{0,3}(?P<ticks>`{3,}|~{3,})[^\n]*)"
    rf"|(?P<escape>\\[!-/:-@\[-`{{-~])|(?P<span>`+)|(?P<comment><!--)|{_URL}"
    rf"|(?P<target>\]\([^()\s]*\)?)|{_TAG}"
)
_HTML = re.compile(rf"(?P<comment><!--)|{_URL}|{_TAG}")
_RAW = frozenset({"script", "style", "textarea", "title"})
_CODE = frozenset({"pre", "code", "kbd", "samp", "tt"})
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n")
_FRONT_END = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)


class _Closers:
    """Looks for what closes something, reading no part of the text twice for one closer."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, tuple[int, int]] = {}

    def find(self, closer: str, start: int) -> int:
        """Where ``closer`` begins, from ``start`` on; -1 where it never comes."""
        found = self._found.get(closer)
        if found is None or start < found[0] or 0 <= found[1] < start:
            found = self._found[closer] = (start, self._text.find(closer, start))
        return found[1]


class _Comments:
    """Marks that are comments, for Markdown and HTML."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._closers = _Closers(scan.text)

    def read(self, start: int) -> int:
        """Read a comment, and what it marks; returns where reading goes on."""
        scan = self._scan
        body_end = self._closers.find("-->", start + 4)
        if body_end < 0:
            return start + 4
        body, after = scan.text[start + 4 : body_end], body_end + 3
        scan.blank(start, after)
        if _COMMENT_CLOSE.fullmatch(body):
            scan.add(BadMark(start, "", "a claim that this closes", "none before it"))
            return after
        if _CLOSES.fullmatch(body):
            scan.add(
                BadMark(start, "", "<!-- /claim -->", scan.text[start : min(after, start + 80)])
            )
            return after
        if not _BEGINS.match(body):
            return after
        found = _COMMENT_CLAIM.fullmatch(body)
        if found is None:
            observed = scan.text[start : min(after, start + 80)]
            scan.add(BadMark(start, "", "<!-- claim: ID -->", observed))
            return after
        return self._marked(start, after, found["id"])

    def _marked(self, start: int, after: int, claim: str) -> int:
        scan = self._scan
        close = scan.text.find("<!--", after, after + MAX_MARKED + 4)
        end = self._closers.find("-->", close) if close >= 0 else -1
        if end < 0 or not _COMMENT_CLOSE.fullmatch(scan.text[close + 4 : end]):
            expected = f"<!-- /claim --> within {MAX_MARKED} characters"
            observed = "another comment before it" if end >= 0 else "none"
            misspelt = end >= 0 and _CLOSES.fullmatch(scan.text[close + 4 : end]) is not None
            if misspelt:
                observed = scan.text[close : min(end + 3, close + 80)]
            scan.add(BadMark(start, claim, expected, observed))
            return end + 3 if misspelt else after
        scan.add(Mark(after, claim, scan.text[after:close]))
        scan.blank(after, end + 3)
        return end + 3


def _scan_markdown(scan: Scan) -> None:
    text, comments = scan.text, _Comments(scan)
    spans = _Runs(text)
    place = _front_matter(scan)
    while (found := _MARKDOWN.search(text, place)) is not None:
        place = found.end()
        if found["fence"] is not None:
            place = _fenced(text, found["ticks"], found.end())
        elif found["span"] is not None:
            place = spans.closing(found.start(), found.end())
            if place == found.end():  # a backtick without another is a character
                continue
        elif found["comment"] is not None:
            place = comments.read(found.start())
            continue
        elif found["escape"] is not None:
            continue
        scan.blank(found.start(), place)


def _front_matter(scan: Scan) -> int:
    """Blank the metadata above a Markdown document."""
    found = _FRONT_MATTER.match(scan.text)
    end = _FRONT_END.search(scan.text, found.end()) if found is not None else None
    if end is None:
        return 0
    scan.blank(0, end.end())
    return end.end()


def _fenced(text: str, opener: str, start: int) -> int:
    """Where a fenced block of code ends that is open at ``start``: at its fence or the end."""
    closing = re.compile(
        rf"^[ ]{{0,3}}{re.escape(opener[0])}{{{len(opener)},}}[ \t]*$", re.MULTILINE
    )
    found = closing.search(text, start)
    return len(text) if found is None else found.end()


class _Runs:
    """Runs of backticks by length, so that each finds its other without looking at all others."""

    def __init__(self, text: str) -> None:
        self._starts: dict[int, list[int]] = {}
        for found in re.finditer("`+", text):
            self._starts.setdefault(found.end() - found.start(), []).append(found.start())

    def closing(self, start: int, stop: int) -> int:
        """Where the code ends that a run opens; ``stop`` where no other run is as long."""
        starts = self._starts.get(stop - start, [])
        place = bisect_left(starts, stop)
        return stop if place == len(starts) else starts[place] + stop - start


def _scan_html(scan: Scan) -> None:
    text, comments = scan.text, _Comments(scan)
    lowered, place = text.lower(), 0
    closers = _Closers(lowered if len(lowered) == len(text) else text)
    while (found := _HTML.search(text, place)) is not None:
        place = found.end()
        if found["comment"] is not None:
            place = comments.read(found.start())
            continue
        named = _TAG_NAME.match(found[0]) if found["tag"] is not None else None
        name = named[2].lower() if named is not None else ""
        if name != "sup":  # it raises an exponent
            scan.blank(found.start(), place)
        if named is None or named[1] or name not in _RAW | _CODE:
            continue
        end = closers.find(f"</{name}", place)
        end = len(text) if end < 0 else end
        scan.blank(place, end)
        if name in _RAW:  # code may hold marks: a comment in it is one
            place = end


_LATEX = re.compile(
    r"(?P<comment>(?<!\\)%[^\n]*)"
    r"|\\verb\*?(?P<verb>[^A-Za-z\s*])"
    r"|\\begin\{(?P<env>verbatim\*?|Verbatim|lstlisting|minted|comment)\}"
    r"|\\(?:newcommand|renewcommand|providecommand)\*?\s*\{?\\(?P<defined>[A-Za-z]+)\}?"
    r"|\\def\s*\\(?P<defd>[A-Za-z]+)"
    r"|(?P<mark>\\claim\s*\{)"
    r"|(?P<misspelt>\\(?:Claims?|CLAIMS?|claims)\s{0,20}\{[A-Za-z0-9-]{1,100}\}\s{0,20}(?=\{))"
    r"|\\(?P<macro>(?:claim|exact)[A-Z][A-Za-z]*)"
    r"|(?P<skipped>\\(?:label|[a-zA-Z]{0,30}ref|[a-zA-Z]{0,30}cite[a-zA-Z]{0,30}|url|href"
    r"|include[a-z]*|input"
    r"|bibliography[a-z]*|usepackage|documentclass|[hv]space|setlength|begin|end)\*?"
    r"(?:\[[^\[\]\n]*\])?\{[^{}\n]*\})"
    rf"|{_URL}"
)


_BRACES = re.compile(r"(?P<mark>\\claim\s*\{)|\\.|(?P<brace>[{}])")
_MAX_VERBATIM = 1000


def _scan_latex(scan: Scan) -> None:
    text, place, closers = scan.text, 0, _Closers(scan.text)
    while (found := _LATEX.search(text, place)) is not None:
        place = found.end()
        if found["mark"] is not None:
            place = _macro_mark(scan, found.start(), found.end())
            continue
        if found["misspelt"] is not None:
            scan.add(BadMark(found.start(), "", "\\claim{ID}{VALUE}", found["misspelt"]))
        elif found["macro"] is not None:
            scan.add(MacroUse(found.start(), found["macro"]))
        elif found["verb"] is not None:
            place = _verbatim_end(text, found["verb"], place)
        elif found["env"] is not None:
            end = closers.find(f"\\end{{{found['env']}}}", place)
            place = len(text) if end < 0 else end
        scan.blank(found.start(), place)


def _verbatim_end(text: str, delimiter: str, start: int) -> int:
    r"""Where ``\verb`` ends: at its delimiter, or with the line."""
    line_end = text.find("\n", start, start + _MAX_VERBATIM)
    stop = line_end if line_end >= 0 else min(len(text), start + _MAX_VERBATIM)
    end = text.find(delimiter, start, stop)
    return stop if end < 0 else end + 1


def _macro_mark(scan: Scan, start: int, brace_end: int) -> int:
    r"""Read ``\claim{id}{value}`` from behind its first brace; returns where reading goes on."""
    text = scan.text
    id_end = text.find("}", brace_end, brace_end + 101)
    opened = re.compile(r"\s{0,20}\{").match(text, id_end + 1) if id_end >= 0 else None
    if opened is None:
        observed = text[start : start + 60].split("\n")[0]
        scan.add(BadMark(start, "", "\\claim{ID}{VALUE}", observed))
        return brace_end
    claim, end = text[brace_end:id_end].strip(), _closing_brace(text, opened.end())
    if end < 0:
        expected = f"a closing brace within {MAX_MARKED} characters"
        scan.add(BadMark(start, claim, expected, "none"))
        return opened.end()
    scan.add(Mark(opened.end(), claim, text[opened.end() : end]))
    scan.blank(start, end + 1)
    return end + 1


def _closing_brace(text: str, start: int) -> int:
    """Where the brace closes that is open at ``start``; -1 where another mark begins before."""
    depth = 1
    for found in _BRACES.finditer(text, start, start + MAX_MARKED):
        if found["mark"] is not None:
            return -1
        if found["brace"] is not None:
            depth += 1 if found["brace"] == "{" else -1
        if not depth:
            return found.start()
    return -1


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
