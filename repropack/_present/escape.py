"""The one way in which text that others wrote reaches a terminal or a page.

Titles, names, paths and problems come from packages, and a package may be hostile. What would
move a cursor, reverse a line or hide itself becomes a visible escape; what is long is cut and
says so.
"""

from __future__ import annotations

import re
import unicodedata

MAX_CHARACTERS = 240
"""Longest text shown from a package; a digest, a name or a usual path is shown whole."""

_MAX_MARKS = 2
"""Combining marks that may follow one character; more of them reach into other lines."""

_SHOWN_AS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code)
    for first, last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
    for code in range(first, last + 1)
}
"""Counted as printable by Unicode, but drawn as nothing or as a space."""

_FOLDERS = re.compile(
    r"(?<![\w.%*:/\\-])(?:~?/(?:[^\s/\"'`<>|;,)\]}:]{1,255}/){1,64}"
    r"|[A-Za-z]:\\(?:[^\s\\\"'`<>|;,)\]}:]{1,255}\\){1,64})"
)
"""The folders of an absolute path; an address has a colon before its slashes."""


def escape_text(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    r"""Return ``text`` as one line of printable characters.

    Args:
        text: Any text.
        max_characters: Length at which it is cut, escapes counted as they are written.

    Returns:
        Printable characters as they are, every other as ``\xhh``, ``\uhhhh`` or ``\Uhhhhhhhh``;
        no line ends, no control, format or bidirectional characters, no invisible ones.

    Example:
        >>> print(escape_text("red \x1b[31m, reversed \u202e"))
        red \x1b[31m, reversed \u202e
        >>> escape_text("abcdef", max_characters=4)
        'abcd... (2 more characters)'
    """
    shown = ""
    marks = _MAX_MARKS  # a mark at the beginning would land on what stands before the text
    for position, character in enumerate(text):
        marks = marks + 1 if unicodedata.category(character) in {"Mn", "Me"} else 0
        visible = character.isprintable() and character not in _SHOWN_AS_NOTHING
        piece = character if visible and marks <= _MAX_MARKS else _escape(character)
        if len(shown) + len(piece) > max_characters:
            return f"{shown}... ({len(text) - position} more characters)"
        shown += piece
    return shown


def without_folders(text: str) -> str:
    r"""Return a message without the folders of the machine on which it was written.

    Args:
        text: A message that names files by absolute paths.

    Returns:
        The same with ``...`` in place of the folders before each file's name.

    Example:
        >>> without_folders("train.py: '/home/ann/lab/a.csv' is not there, see https://x.org/a/b")
        "train.py: '.../a.csv' is not there, see https://x.org/a/b"
    """
    return _FOLDERS.sub(r".../", text)


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
