r"""Texts as articles write them: what a reader sees of ``a\*b``, ``a&lt;b`` or ``5\$``."""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Final

from repropack._format.scans import Form, Runs

_HIDDEN: Final = 0xF0000
"""Added to a character that is no markup: a place for private use."""
_PRIVATE: Final = re.compile("[\U000f0000-\U000fffff]")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])|(`+)")
_STARS: Final = re.compile(r"(\*{1,3})(?=[^\s*])([^*]*)(?<=[^\s*])\1")
_SCORES: Final = re.compile(r"(_{1,3})(?=[^\s_])(.*)(?<=[^\s_])\1", re.DOTALL)
_TAG: Final = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)(?:[\s/][^<>]*)?>")
_NO_TEXT: Final = frozenset({"del", "s", "strike", "sub", "sup", "script", "style", "template"})
_INLINE: Final = frozenset(
    {"a", "abbr", "b", "big", "cite", "code", "em", "font", "i", "kbd", "mark", "samp", "small",
     "span", "strong", "tt", "u", "var"}
)  # fmt: skip
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|([A-Za-z][A-Za-z0-9]{0,40}));")
_WRAPPED: Final = re.compile(
    r"\\(?:textbf|textit|texttt|textsf|textsc|textrm|text|emph|mbox|mathrm|mathbf|mathtt"
    r"|ensuremath)\s*(?=\{)"
)
_VERB: Final = re.compile(r"\\verb\*?([^A-Za-z\s*])([^\n]*)\1")
_TEX: Final = re.compile(
    r"\\text(backslash|asciicircum|asciitilde|less|greater|bar|dollar|underscore)"
    r"(?![A-Za-z])(?:\{\}|[ ]?)|\\([$&#%_{}])|\\([~^])\{\}|([{}])|(~|\\[ ,])"
)
_NAMED: Final = {
    "backslash": "\\", "asciicircum": "^", "asciitilde": "~", "less": "<", "greater": ">",
    "bar": "|", "dollar": "$", "underscore": "_",
}  # fmt: skip


def one_space(text: str) -> str:
    """Return a text with one space in place of all white space between words."""
    return " ".join(text.split())


def plain_text(text: str, form: Form) -> str | None:
    r"""Return what a reader sees of a text, for values that are no numbers.

    Args:
        text: What is marked.
        form: What it is written in.

    Returns:
        One line; ``None`` where something in it is struck out, raised or lowered.

    Example:
        >>> plain_text(r"**`gradient`**", "markdown"), plain_text(r"a\*b", "markdown")
        ('gradient', 'a*b')
        >>> plain_text(r"\texttt{final\_loss}", "latex"), plain_text("a &lt; b", "html")
        ('final_loss', 'a < b')
    """
    if form == "latex":
        return one_space(_latex(text.strip()))
    if _PRIVATE.search(text):
        return None
    seen = text.strip()
    if form == "markdown":
        seen = _unmarked(_hidden(seen))
        if "~~" in seen or (len(seen) > 1 and seen[0] == seen[-1] == "~"):
            return None
    if any(found[1].lower() in _NO_TEXT for found in _TAG.finditer(seen)):
        return None
    seen = _TAG.sub(lambda found: "" if found[1].lower() in _INLINE else " ", seen)
    seen = html.unescape(seen) if form == "html" else _ENTITY.sub(_decoded, seen)
    return one_space(_PRIVATE.sub(lambda found: chr(ord(found[0]) - _HIDDEN), seen))


def _hidden(text: str) -> str:
    """A text whose escaped characters and code no markup is looked for in."""
    runs, parts, place = Runs(text), [], 0
    while (found := _ESCAPED.search(text, place)) is not None:
        parts.append(text[place : found.start()])
        place = found.end()
        if found[1] is not None:
            parts.append(_hide(found[1]))
            continue
        end = runs.closing(found.start(), place)
        code = text[place : max(place, end - len(found[2]))]
        padded = len(code) > 2 and code[0] == code[-1] == " "
        parts.append(_hide(code[1:-1] if padded else code) if end > place else found[0])
        place = end
    return "".join([*parts, text[place:]])


def _hide(text: str) -> str:
    return "".join(chr(ord(one) + _HIDDEN) if "!" <= one <= "~" else one for one in text)


def _unmarked(text: str) -> str:
    """A text of Markdown without what makes it slanted or bold."""
    for _ in range(3):
        scores = _SCORES.fullmatch(text)
        text = _STARS.sub(r"\2", text if scores is None else scores[2])
    return text


def _decoded(found: re.Match[str]) -> str:
    return html.unescape(found[0]) if found[1] is None else html5.get(f"{found[1]};", found[0])


def _latex(text: str) -> str:
    verbatim = _VERB.fullmatch(text)
    if verbatim is not None:
        return verbatim[2]
    if len(text) > 1 and text[0] == text[-1] == "$" and text.count("$") == 2:
        text = text[1:-1]
    return _TEX.sub(_character, _WRAPPED.sub("", text))


def _character(found: re.Match[str]) -> str:
    if found[1] is not None:
        return _NAMED[found[1]]
    return found[2] or found[3] or (" " if found[5] else "")
