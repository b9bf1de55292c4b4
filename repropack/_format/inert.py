"""Which files a site may show beside a page: those that neither a browser nor a server would run.

A package is a stranger's, and a file of it that a site hands out as a page runs with the rights of
that site. What is not known to be harmless is left in the package, where nothing runs it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final
from xml.parsers import expat

MAX_SVG_BYTES: Final = 32 * 1024 * 1024
HEAD_BYTES: Final = 1024
"""How much of a file's beginning browsers look at to guess what it is."""

_SHOWN = frozenset({
    ".bib", ".c", ".cff", ".cfg", ".cpp", ".csv", ".dat", ".f90", ".gif", ".go", ".gz", ".h",
    ".h5", ".hpp", ".ipynb", ".java", ".jl", ".jpeg", ".jpg", ".json", ".jsonl", ".lock",
    ".log", ".m", ".md", ".npy", ".npz", ".png", ".py", ".r", ".rs", ".rst", ".sh", ".tar",
    ".tex", ".toml", ".tsv", ".txt", ".whl", ".yaml", ".yml", ".zip",
})  # fmt: skip
"""Endings of names, in any case. What is not among them is left out, whatever it is."""
_RUN_BY_SERVERS = frozenset({
    "asp", "aspx", "cgi", "htm", "html", "hta", "jsp", "jspx", "mht", "mhtml", "phar", "php",
    "php3", "php4", "php5", "php7", "phtml", "pl", "shtml", "svg", "svgz", "xht", "xhtml",
    "xml", "xsl", "xslt",
})  # fmt: skip
"""Between dots anywhere in a name: some servers look at more than its end."""
_SVG = "http://www.w3.org/2000/svg"
_TOLD = frozenset(
    {
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "http://creativecommons.org/ns#",
        "http://purl.org/dc/elements/1.1/",
    }
)
"""Namespaces of metadata, which no browser acts on."""
_DRAWN = frozenset({
    "circle", "clipPath", "defs", "desc", "ellipse", "g", "image", "line", "linearGradient",
    "marker", "metadata", "path", "pattern", "polygon", "polyline", "radialGradient", "rect",
    "stop", "style", "svg", "symbol", "text", "title", "tspan", "use",
})  # fmt: skip
_INNER_LINK = re.compile(r"#[^\s]*|data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]*")
_BEFORE_CALL = re.compile(r"\s*([A-Za-z-]*)")
"""What is called, in a text that is read backwards from its parenthesis."""
_INNER = re.compile(r"\s*['\"]?#")
_CALLED = frozenset({
    "hsl", "hsla", "matrix", "rgb", "rgba", "rotate", "scale", "skewx", "skewy", "translate",
})  # fmt: skip
"""What a style or attribute may call; besides, ``url`` of a place in the picture itself."""
_WORDS = frozenset({"class", "id", "lang", "role"})
"""Attributes that hold words, and nothing that a browser would fetch by."""
_BLANKS = bytes(range(0x21))
"""What browsers skip at the beginning of a page, and some more."""


def why_left_out(path: str, head: bytes) -> str | None:
    """Why a file is not laid out on a site.

    Args:
        path: Its path.
        head: Its first ``HEAD_BYTES`` bytes, or all of it where there are fewer.

    Returns:
        The reason; ``None`` for a file that may be laid out. Pictures that are SVG are for
        ``is_still_svg`` to judge.

    Example:
        >>> why_left_out("source/train.py", b"import numpy")
        >>> why_left_out("source/a.html", b"")
        'a browser or server may run files of this name'
    """
    if any(part.startswith(".") for part in path.split("/")):
        return "servers hide or obey files whose name begins with a dot"
    name = path.rpartition("/")[2].lower()
    _, *parts = name.split(".")
    if _RUN_BY_SERVERS.intersection(parts):
        return "a browser or server may run files of this name"
    if parts and f".{parts[-1]}" not in _SHOWN:
        return "it is not known what a browser makes of files of this name"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip(_BLANKS).startswith(b"<"):
        return "it begins with `<`, which browsers may take for a page"
    return None


def is_still_svg(data: bytes) -> bool:
    """Whether a picture is an SVG that draws, and does nothing else.

    Args:
        data: The file.

    Returns:
        True where every element is one of drawing, style or metadata, without event handlers,
        entities, instructions, or references to anything outside of it.

    Example:
        >>> is_still_svg(b'<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>')
        True
        >>> is_still_svg(b'<svg xmlns="http://www.w3.org/2000/svg" onload="x"/>')
        False
    """
    if len(data) > MAX_SVG_BYTES:
        return False
    parser = expat.ParserCreate(namespace_separator=" ")
    picture = _Picture()
    parser.StartElementHandler = picture.begin
    parser.CharacterDataHandler = picture.say
    parser.EndElementHandler = picture.end
    parser.StartDoctypeDeclHandler = _check_doctype
    for handler in ("EntityDeclHandler", "ProcessingInstructionHandler"):
        setattr(parser, handler, _refuse)
    try:
        parser.Parse(data, True)  # noqa: FBT003 - its signature
    except (expat.ExpatError, _NotStillError):
        return False
    return True


class _NotStillError(Exception):
    """The picture does more than draw."""


def _refuse(*_: object) -> None:
    raise _NotStillError


def _check_doctype(_: str, __: str | None, ___: str | None, has_subset: int) -> None:
    if has_subset:
        raise _NotStillError


class _Picture:
    """What is seen of a picture, element by element; a style sheet is looked at as a whole."""

    def __init__(self) -> None:
        self._style: list[str] | None = None

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if self._style is not None:  # a browser reads the texts around it as one
            raise _NotStillError
        if space in _TOLD:
            return
        if space != _SVG or local not in _DRAWN:
            raise _NotStillError
        for key, value in attributes.items():
            _check_attribute(key.rpartition(" ")[2].lower(), value)
        if local == "style":
            self._style = []

    def say(self, text: str) -> None:
        if self._style is not None:
            self._style.append(text)

    def end(self, _: str) -> None:
        if self._style is not None:
            _check_style("".join(self._style))
            self._style = None


def _check_attribute(name: str, value: str) -> None:
    is_link = name in {"href", "src"}
    if name.startswith("on") or (is_link and not _INNER_LINK.fullmatch(value)):
        raise _NotStillError
    if not is_link and name not in _WORDS and not name.startswith("aria-"):
        _check_style(value)


def _check_style(text: str) -> None:
    """Nothing is fetched: with a backslash, a rule or a call a style sheet could."""
    if "\\" in text or "@" in text or "/*" in text:
        raise _NotStillError
    for before, after in pairwise(text.split("(")):
        called = _BEFORE_CALL.match(before[::-1])
        name = called[1][::-1].lower() if called is not None else ""
        if name not in _CALLED and not (name == "url" and _INNER.match(after)):
            raise _NotStillError
