"""HTML made of elements: escaped by default, and without any way to write what a browser runs.

A page shows what strangers wrote. So text becomes text, an attribute's value becomes a value, and
what could run or fetch (``style``, ``on...``, other schemes than https) cannot be said at all: to
ask for it is a fault of the caller. The bytes depend on the arguments alone, not on the version of
Unicode that Python has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote

from repropack._format.canonical import encode_canonical

MAX_CHARACTERS = 1000
"""Longest text shown from a package, where nothing else is said."""

_NAME = re.compile(r"[a-z][a-zA-Z0-9-]*")
_VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "wbr"})
_RAW = frozenset({"script", "style"})
_REFUSED = frozenset({"action", "formaction", "srcdoc", "srcset", "style", "xlink:href", "ping"})
_LINK = re.compile(r"#[A-Za-z0-9_-]+|https://[A-Za-z0-9.-]+(/[A-Za-z0-9._~/-]*)?")
_IMAGE = re.compile(r"data:image/(png|svg\+xml);base64,[A-Za-z0-9+/=]*")
_ENDS = re.compile(r"</(script|style)|<!--|\r", re.IGNORECASE)
_MAX_MARKS = 2
_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control, but tab and line end
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
"""Control, format, bidirectional and invisible characters, and halves of pairs: shown as escapes.

A fixed list: what Python calls printable depends on its version, and a page must not.
"""
_MARKS = re.compile("[\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""Combining marks of blocks that hold nothing else, some of them younger than Unicode 3.2."""


@dataclass(frozen=True)
class Markup:
    """HTML that is safe as it stands. Only this module and its tests make one of a text."""

    html: str


Content: TypeAlias = "Markup | str | int | Iterable[Content] | None"
Attribute: TypeAlias = "str | int | float | bool | None"


def text(value: str, max_characters: int = MAX_CHARACTERS) -> Markup:
    r"""Any text as text.

    Args:
        value: Any text, by whomever.
        max_characters: Length at which it is cut; what is cut is counted.

    Returns:
        The text, escaped for an element's content and for an attribute's value alike.

    Example:
        >>> text("<b>\u202e").html
        '&lt;b&gt;\\u202e'
    """
    cut = value[:max_characters]
    more = len(value) - len(cut)
    shown = _marked(_HIDDEN.sub(lambda found: _visible(found.group()), cut))
    if more:
        shown += f"... ({more} more characters)"
    return Markup(
        shown.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#39;")
    )


def element(name: str, /, *content: Content, **attributes: Attribute) -> Markup:
    """One element.

    Args:
        name: Its name.
        content: What is in it: markup as it is, texts escaped, numbers, iterables of these;
            nothing for ``None``.
        attributes: Its attributes. A trailing underscore is left out and others become hyphens;
            ``True`` stands for one without a value, ``None`` and ``False`` for none.

    Returns:
        The element.

    Raises:
        ValueError: a name that no element or attribute of a page may have, or a link or picture
            that would fetch or run something.

    Example:
        >>> element("p", "1 < 2", class_="x").html
        '<p class="x">1 &lt; 2</p>'
    """
    if not _NAME.fullmatch(name) or name in _RAW:
        raise ValueError(f"no element of a page: {name!r}")
    begin = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in _VOID:
        return Markup(begin)
    return Markup(f"{begin}{join(content).html}</{name}>")


def join(content: Iterable[Content]) -> Markup:
    """Contents one after the other, as ``element`` takes them."""
    return Markup("".join(_html(part) for part in content))


def lines(content: Iterable[Content]) -> Markup:
    """Contents one after the other, each on a line of its own: for people who read the source."""
    return Markup("".join(f"{part}\n" for part in map(_html, content) if part))


def prose(words: str) -> Markup:
    """Our own words, in which backticks stand around names: those become code.

    Args:
        words: A text of which nothing between backticks holds one.

    Returns:
        The text, escaped.

    Example:
        >>> prose("see `plan.json`").html
        'see <code>plan.json</code>'
    """
    parts = words.split("`")
    return join(
        element("code", part) if place % 2 and place < len(parts) - 1 else part
        for place, part in enumerate(parts)
    )


def json_block(identifier: str, value: object) -> Markup:
    """Data for scripts, in a block that no text in it can end.

    Args:
        identifier: The block's id.
        value: What JSON can hold.

    Returns:
        A script element of a type that browsers do not run.
    """
    data = encode_canonical(value).decode("utf-8").rstrip("\n")
    for character in "<>&\u2028\u2029":
        data = data.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{text(identifier).html}">{data}</script>')


def style_block(css: str) -> Markup:
    """Our own style sheet; raises ``ValueError`` where it could end its element."""
    return Markup(f"<style>{_raw(css)}</style>")


def script_block(script: str) -> Markup:
    """Our own script; raises ``ValueError`` where it could end its element."""
    return Markup(f"<script>{_raw(script)}</script>")


def file_link(path: str, *content: Content) -> Markup:
    """A link to a file that lies beside the page or below it.

    Args:
        path: Its path relative to the page's folder, as an entry's path is written.
        content: What is shown; the path where there is nothing.

    Returns:
        The link, percent-encoded and begun with ``./``, so that it can name no other place.

    Raises:
        ValueError: the path leads out of the folder.

    Example:
        >>> file_link("source/a b.py").html
        '<a href="./source/a%20b.py">source/a b.py</a>'
    """
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts) or "\\" in path:
        raise ValueError(f"no file beside a page: {path[:80]!r}")
    href = text("./" + quote(path, safe="/")).html
    return Markup(f'<a href="{href}">{join(content or (path,)).html}</a>')


def _raw(content: str) -> str:
    if _ENDS.search(content):
        raise ValueError("an asset of the page holds what HTML reads otherwise")
    return content


def _html(part: Content) -> str:
    if part is None:
        return ""
    if isinstance(part, Markup):
        return part.html
    if isinstance(part, str):
        return text(part).html
    if isinstance(part, int):
        return str(part)
    return "".join(map(_html, part))


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name in _REFUSED or name.lower().startswith("on"):
        raise ValueError(f"no attribute of a page: {name!r}")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    written = str(value)
    allowed = {"href": _LINK, "src": _IMAGE}.get(name)
    if allowed is not None and not allowed.fullmatch(written):
        raise ValueError(f"no {name} of a page: {written[:80]!r}")
    return f' {name}="{text(written, len(written)).html}"'


def _visible(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _marked(shown: str) -> str:
    """The text with at most two combining marks after a character: more reach into other lines."""
    if shown.isascii():
        return shown
    pieces, marks = [], _MAX_MARKS
    for character in shown:
        category = unicodedata.ucd_3_2_0.category(character)  # the same in every Python
        is_mark = category in {"Mn", "Me"} or _MARKS.match(character) is not None
        marks = marks + 1 if is_mark else 0
        pieces.append(character if marks <= _MAX_MARKS else _visible(character))
    return "".join(pieces)
