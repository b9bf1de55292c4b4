r"""Marks in articles: which number is the value of which claim, in Markdown, HTML and LaTeX.

Markdown and HTML mark with comments, which no reader sees: ``<!-- claim: final-loss -->0.0215<!--
/claim -->``. LaTeX marks with a macro, ``\claim{final-loss}{0.0215}``, or uses the macros that
``values`` makes. Nothing is rendered and nothing is expanded: a text is read once, from left to
right, in time that grows with its length alone.
"""

from __future__ import annotations

import re
from typing import Final

from repropack._format.latex_marks import scan_latex
from repropack._format.markdown_blocks import Blocks, read_blocks
from repropack._format.scans import MAX_MARKED, URL, BadMark, Closers, Form, Mark, Runs, Scan


def scan_text(text: str, form: Form, *, metadata: bool = True) -> Scan:
    r"""Find the marks in a text.

    Args:
        text: The article, or a Markdown cell of a notebook.
        form: What it is written in.
        metadata: Whether Markdown may begin with metadata between lines of ``---``, as articles
            do and cells do not.

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
    scan = Scan(text, form)
    if form == "markdown":
        _scan_markdown(scan, _front_matter(scan) if metadata else 0)
    elif form == "html":
        _scan_html(scan)
    else:
        scan_latex(scan)
    return scan


_COMMENT_CLAIM = re.compile(r"\s*claim\s*:\s*(?P<id>[^\s]{1,100})\s*")
_EMPTY_COMMENT = re.compile("<!---?>")
_COMMENT_CLOSE = re.compile(r"\s*/\s*claim\s*")
_BEGINS = re.compile(r"\s*claims?\s*(?:[:=;]|(?<=\s)\S{1,100}\s*\Z|\Z)", re.IGNORECASE)
"""What begins like a mark, rightly or not; a sentence that begins with "claims" does not."""
_CLOSES = re.compile(r"\s*(?:[/\\]\s*claims?(?:\s*:)?|end\s?claims?)\s*", re.IGNORECASE)
"""What ends like a mark, rightly or not."""
_TAG = r"(?P<tag></?[A-Za-z][^<>]*>)"
_MARKDOWN: Final = re.compile(
    rf"(?P<escape>\\[!-/:-@\[-`{{-~])|(?P<span>`+)|(?P<comment><!--)|(?P<url>{URL})"
    rf"|(?P<target>\]\([^()\s<`]*\)?)|{_TAG}"
)
_HTML: Final = re.compile(rf"(?P<comment><!--)|(?P<url>{URL})|{_TAG}")
_RAW = frozenset({"script", "style", "textarea", "title"})
_CODE = frozenset({"pre", "code", "kbd", "samp", "tt"})
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?=[ \t]*[^\s])")
_FRONT_END = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)


class _Comments:
    """Marks that are comments, for Markdown and HTML."""

    def __init__(self, scan: Scan, blocks: Blocks | None = None) -> None:
        self._scan = scan
        self._blocks = blocks
        self._closers = Closers(scan.text)

    def read(self, start: int) -> int:
        """Read a comment, and what it marks; returns where reading goes on."""
        scan = self._scan
        empty = _EMPTY_COMMENT.match(scan.text, start)
        if empty is not None:
            return empty.end()
        body_end = self._closers.find("-->", start + 4)
        if body_end < 0 or self._is_text(start, body_end):
            return start + 4
        scan.looked_at.add(start)
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

    def _is_text(self, start: int, body_end: int) -> bool:
        """Whether the block ends before the comment does, outside HTML."""
        blocks = self._blocks
        return blocks is not None and not blocks.is_raw(start) and blocks.crosses(start, body_end)

    def _marked(self, start: int, after: int, claim: str) -> int:
        scan = self._scan
        close = scan.text.find("<!--", after, after + MAX_MARKED + 4)
        end = self._closers.find("-->", close) if close >= 0 else -1
        if end < 0 or not _COMMENT_CLOSE.fullmatch(scan.text[close + 4 : end]):
            expected = f"<!-- /claim --> within {MAX_MARKED:,} characters"
            observed = "another comment before it" if end >= 0 else "none"
            misspelt = end >= 0 and _CLOSES.fullmatch(scan.text[close + 4 : end]) is not None
            if misspelt:
                observed = scan.text[close : min(end + 3, close + 80)]
            scan.add(BadMark(start, claim, expected, observed))
            return end + 3 if misspelt else after
        scan.add(Mark(after, claim, scan.text[after:close]))
        scan.blank(after, end + 3)
        return end + 3


def _scan_markdown(scan: Scan, place: int) -> None:
    text, blocks = scan.text, read_blocks(scan.text, place)
    comments, spans = _Comments(scan, blocks), Runs(text)
    for start, stop in blocks.code:
        scan.blank(start, stop)
    while (found := _MARKDOWN.search(text, place)) is not None:
        start, place = found.span()
        code_end = blocks.code_end(start)
        if code_end >= 0:
            place = code_end
        elif found["comment"] is not None:
            place = comments.read(start)
        elif found["escape"] is not None:  # there are none in HTML
            place -= blocks.is_raw(start)
        elif found["span"] is not None:
            end = spans.closing(start, place)
            if end > place and not blocks.is_raw(start) and not blocks.crosses(start, end):
                place = end  # a backtick without another is a character
                scan.blank(start, place)
        elif found["tag"] is not None and blocks.crosses(start, place):
            place = start + 1
        else:
            scan.blank(start, place)


def _front_matter(scan: Scan) -> int:
    """Blank the metadata above a Markdown document; returns where the document begins."""
    found = _FRONT_MATTER.match(scan.text)
    end = _FRONT_END.search(scan.text, found.end()) if found is not None else None
    if end is None:
        return 0
    scan.blank(0, end.end())
    return min(end.end() + 1, len(scan.text))


def _scan_html(scan: Scan) -> None:
    text, comments = scan.text, _Comments(scan)
    lowered, place = text.lower(), 0
    closers = Closers(lowered if len(lowered) == len(text) else text)
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
