"""Files of a folder that a text names: a shell script, a table of paths, a configuration.

A guess for a proposal that its author corrects: a word that happens to be a file's path names it.
Nothing outside the folder is ever looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from repropack._read.project_sources import is_own_file, is_skipped_name

TEXT_SUFFIXES = frozenset({".json", ".toml", ".yaml", ".yml", ".csv", ".tsv", ".txt"})
"""Files whose text may name other files."""
MAX_TEXT_BYTES = 1 << 20
"""Largest file whose text is looked at."""

_MAX_WORD_CHARACTERS = 1000
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#.*$")
_WRITTEN = re.compile(
    r"(?:&?>>?|(?<=\s)(?:-o|--out[\w-]*)[ =])[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|\S+)"
)
_FOLDER = re.compile(r"\$(?:\{\w+\}|\w+|\([^()\n]*\))\"?/")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'")
_BETWEEN = re.compile(r"[\s\"'`,;:=()<>|&{}\[\]$]+")


def words_of(text: str) -> set[str]:
    """Return the words of a text, and what stands in quotation marks as a whole.

    Example:
        >>> sorted(words_of('{"path": "my data.csv"}'))
        ['data.csv', 'my', 'my data.csv', 'path']
    """
    quoted = (one or other for one, other in _QUOTED.findall(text))
    return {*filter(None, _BETWEEN.split(text)), *quoted}


def words_of_shell(text: str) -> set[str]:
    """Return the words of a shell script, less comments and what it says to write to.

    A variable or a command that stands for a folder is left out of a path.

    Example:
        >>> sorted(words_of_shell('sort "$HERE/a.csv" > b.csv  # not c.csv'))
        ['a.csv', 'sort']
    """
    told = _WRITTEN.sub(" ", _COMMENT.sub("", text))
    return words_of(_FOLDER.sub('"', told))


def files_named(base: Path, folders: Iterable[str], words: Iterable[str]) -> list[str]:
    """Return which words are paths of files, each in the first of some folders that has it.

    Args:
        base: An absolute folder without links in its path.
        folders: Folders below it that a word may be relative to; empty for ``base`` itself.
        words: Any texts.

    Returns:
        Paths below ``base``, sorted. Links, names that begin with a dot or are patterns, and
        folders that are never searched for source are left out.
    """
    known = tuple(dict.fromkeys(folders))
    found = set[str]()
    for word in filter(_is_path, words):
        paths = (str(PurePosixPath(folder, word)) for folder in known)
        path = next((path for path in paths if is_own_file(base, path)), None)
        if path is not None and not any(map(is_skipped_name, PurePosixPath(path).parts)):
            found.add(path)
    return sorted(found)


def text_of(place: Path) -> str:
    """Return a file's text; empty where it is too long for a look or cannot be read."""
    try:
        if place.stat().st_size > MAX_TEXT_BYTES:
            return ""
        return place.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _is_path(word: str) -> bool:
    return (
        0 < len(word) <= _MAX_WORD_CHARACTERS
        and word.isprintable()
        and not word.startswith("/")
        and not set(word) & set("*?[")
    )
