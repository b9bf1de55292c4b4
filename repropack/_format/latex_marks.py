r"""Marks in LaTeX: ``\claim{id}{value}``, the macros that ``values`` makes, and their definitions.

Nothing is expanded. What surely stands in a comment or is verbatim is no mark; what only might be
is one.
"""

from __future__ import annotations

import re
from typing import Final

from repropack._format.scans import (
    MAX_MARKED,
    URL,
    BadMark,
    Closers,
    MacroDefinition,
    MacroUse,
    Mark,
    Scan,
)

_GAP: Final = r"(?:\s|%[^\n]*\n)*+"
_VALUE: Final = r"(?:claim|exact)[A-Z][A-Za-z]*"
_OPTIONS: Final = r"(?:\[[^\[\]\n]*\])?"
_NEW: Final = (
    r"(?:(?:re)?new|provide)(?:command|robustcmd)|DeclareRobustCommand"
    r"|(?:[nN]ew|[rR]enew|[pP]rovide|[dD]eclare)(?:Expandable)?DocumentCommand"
    r"|(?:protected@)?[egx]?def|(?:future|glob)?let"
)
_NAMED: Final = r"cs[egx]?def|cslet|@name[egx]?def"
_LATEX: Final = re.compile(
    rf"(?P<escape>\\[^A-Za-z@])|(?P<comment>%[^\n]*)"
    rf"|\\(?P<inline>[vV]erb\*?|spverb|lstinline{_OPTIONS}|mintinline{_OPTIONS}\{{[^{{}}\n]*\}})"
    r"[ \t]*(?P<verb>[^A-Za-z\s*])"
    r"|\\begin\{(?P<env>verbatim\*?|Verbatim|lstlisting|minted|comment)\}"
    rf"|\\(?P<new>{_NEW})\*?(?![A-Za-z@])\s*\{{?\s*\\(?:csname\s*)?(?P<defined>[A-Za-z@]+)"
    r"(?:\\endcsname)?\s*\}?"
    rf"|\\(?:{_NAMED})\s*\{{\s*(?P<named>{_VALUE})\s*\}}"
    rf"|(?P<mark>\\claim{_GAP}\{{)"
    r"|(?P<misspelt>\\(?:Claims?|CLAIMS?|claims)\s{0,20}\{[A-Za-z0-9-]{1,100}\}\s{0,20}(?=\{))"
    rf"|\\(?P<macro>{_VALUE})"
    r"|(?P<skipped>\\(?:label|[a-zA-Z]{0,30}ref|[a-zA-Z]{0,30}cite[a-zA-Z]{0,30}|url|nolinkurl"
    r"|href|include[a-z]*|input"
    r"|bibliography[a-z]*|usepackage|documentclass|[hv]space|setlength|begin|end)\*?"
    rf"{_OPTIONS}\{{[^{{}}\n]*\}})"
    rf"|(?P<url>{URL})"
)
_NAME: Final = re.compile(r"\\[A-Za-z]+")
_OPENED: Final = re.compile(rf"{_GAP}\{{")
_BRACES: Final = re.compile(
    rf"(?P<mark>\\claim\s*\{{|\\(?:{_NEW}|{_NAMED})(?![A-Za-z@]))|\\.|%[^\n]*|(?P<brace>[{{}}])"
)
_COMMENTS: Final = re.compile(r"(\\.)|%[^\n]*(?:\n[ \t]*)?")
_MAX_VERBATIM: Final = 1000
_MAX_DEFINED: Final = 20_000


def scan_latex(scan: Scan) -> None:
    """Find the marks of a LaTeX text.

    Args:
        scan: Takes what is found.

    Raises:
        TooManyMarksError: more marks than an article has.
    """
    text, place, closers = scan.text, 0, Closers(scan.text)
    while (found := _LATEX.search(text, place)) is not None:
        place = found.end()
        if found["mark"] is not None:
            place = _macro_mark(scan, found.start(), found.end())
            continue
        if found["escape"] is not None:
            continue
        if found["skipped"] is not None and ("\\claim" in found[0] or "\\exact" in found[0]):
            name = _NAME.match(text, found.start())
            place = place if name is None else name.end()
            continue
        if found["misspelt"] is not None:
            scan.add(BadMark(found.start(), "", "\\claim{ID}{VALUE}", found["misspelt"]))
        elif found["macro"] is not None:
            scan.add(MacroUse(found.start(), found["macro"]))
        elif found["defined"] is not None or found["named"] is not None:
            place = _definition(scan, found)
        elif found["verb"] is not None:
            place = _verbatim_end(text, found, place)
        elif found["env"] is not None:
            end = closers.find(f"\\end{{{found['env']}}}", place)
            place = place if end < 0 else end
        scan.blank(found.start(), place)


def _verbatim_end(text: str, found: re.Match[str], start: int) -> int:
    r"""Where ``\verb`` ends: at its delimiter; at once where that does not come in its line."""
    line_end = text.find("\n", start, start + _MAX_VERBATIM)
    stop = line_end if line_end >= 0 else min(len(text), start + _MAX_VERBATIM)
    braces = found["verb"] == "{" and "erb" not in found["inline"]
    end = text.find("}" if braces else found["verb"], start, stop)
    return start if end < 0 else end + 1


def _definition(scan: Scan, found: re.Match[str]) -> int:
    """Read the definition of a macro; returns where reading goes on."""
    text, name = scan.text, found["defined"] or found["named"]
    if re.fullmatch(_VALUE, name) is None:
        return found.end()
    opened = None
    if "Document" not in (found["new"] or "") and "let" not in found[0].split(name)[0]:
        opened = _OPENED.match(text, found.end())
    end = -1
    if opened is not None:
        end = _closing_brace(text, opened.end(), opened.end() + _MAX_DEFINED)
    content = None if opened is None or end < 0 else _printed(text[opened.end() : end])
    observed = text[found.start() : found.start() + 60].split("\n")[0]
    scan.add(MacroDefinition(found.start(), name, content, observed))
    return found.end() if content is None else end + 1


def _macro_mark(scan: Scan, start: int, brace_end: int) -> int:
    r"""Read ``\claim{id}{value}`` from behind its first brace; returns where reading goes on."""
    text = scan.text
    scan.looked_at.add(start)
    id_end = text.find("}", brace_end, brace_end + 101)
    opened = _OPENED.match(text, id_end + 1) if id_end >= 0 else None
    if opened is None:
        observed = text[start : start + 60].split("\n")[0]
        scan.add(BadMark(start, "", "\\claim{ID}{VALUE}", observed))
        return brace_end
    claim = text[brace_end:id_end].strip()
    end = _closing_brace(text, opened.end(), opened.end() + MAX_MARKED)
    if end < 0:
        expected = f"a closing brace within {MAX_MARKED:,} characters"
        scan.add(BadMark(start, claim, expected, "none"))
        return opened.end()
    scan.add(Mark(opened.end(), claim, _printed(text[opened.end() : end])))
    scan.blank(start, end + 1)
    return end + 1


def _closing_brace(text: str, start: int, stop: int) -> int:
    """Where the brace closes that is open at ``start``; -1 where another mark begins before."""
    depth = 1
    for found in _BRACES.finditer(text, start, stop):
        if found["mark"] is not None:
            return -1
        if found["brace"] is not None:
            depth += 1 if found["brace"] == "{" else -1
        if not depth:
            return found.start()
    return -1


def _printed(content: str) -> str:
    """What is marked, without the comments in it."""
    return _COMMENTS.sub(lambda found: found[1] or "", content)
