"""Files that a user names, or that lie beside a package: statements, records, lists, articles.

Each is read whole, under a limit, and only where it is a regular file: what is none is never waited
for. Nothing is parsed here.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from repropack._format.paths import shown_path
from repropack._format.statements import MAX_SIGNATURE_FILES, SIGNATURE_SUFFIX, STATEMENT_SUFFIX
from repropack._read.directory import KINDS, OPEN_FLAGS
from repropack.errors import UsageError

_LABEL = re.compile(r"\.[A-Za-z0-9_-]{1,40}")


def statement_place(package: Path) -> Path:
    """Where the statement about a package lies: beside it, named after it."""
    place = Path(os.path.abspath(package))  # noqa: PTH100 - a link keeps its name, `..` does not
    return place.with_name(place.name + STATEMENT_SUFFIX)


def signature_files(statement: Path) -> tuple[Path, ...]:
    """The signature files of a statement, which lie beside it.

    Args:
        statement: The statement; it need not be there.

    Returns:
        ``NAME.sig``, then every ``NAME.<label>.sig``, whose label is of letters, digits, ``_`` and
        ``-``: numbers in their order, then the rest in that of their bytes; 64 at most.
    """
    if not statement.parent.is_dir():
        return ()
    base = statement.name
    labels = []
    for name in os.listdir(statement.parent):  # noqa: PTH208 - names alone
        label = name.removeprefix(base).removesuffix(SIGNATURE_SUFFIX)
        if name == base + label + SIGNATURE_SUFFIX and (not label or _LABEL.fullmatch(label)):
            labels.append(label)
    ordered = sorted(labels, key=_order_of)[:MAX_SIGNATURE_FILES]
    return tuple(statement.with_name(base + label + SIGNATURE_SUFFIX) for label in ordered)


def next_signature(statement: Path) -> Path:
    """The first name for a signature that is free: ``NAME.sig``, ``NAME.2.sig``, and so on."""
    number = 1
    while True:
        label = "" if number == 1 else f".{number}"
        place = statement.with_name(statement.name + label + SIGNATURE_SUFFIX)
        if not os.path.lexists(place):
            return place
        number += 1


def read_beside(path: Path, what: str, max_bytes: int) -> bytes:
    """Read a file whole.

    Args:
        path: The file; a link to one is followed, for whoever named it may have made it.
        what: What it should be, for messages.
        max_bytes: Largest size accepted.

    Returns:
        Its bytes.

    Raises:
        UsageError: it is not there, no regular file, larger, or cannot be read; by the path as it
            was given.
    """
    try:
        return read_unnamed(path, what, max_bytes)
    except ValueError as error:
        raise UsageError(f"{shown_path(path)}: {error}") from error


def read_unnamed(path: Path, what: str, max_bytes: int) -> bytes:
    """Read a file whole, where whoever tells of it names it in a way of their own.

    Args:
        path: As for ``read_beside``, and so are the others.
        what: What it should be.
        max_bytes: Largest size accepted.

    Returns:
        Its bytes.

    Raises:
        ValueError: as ``read_beside`` raises; says what was expected and observed, without any
            path.
    """
    try:
        with open_regular(path, what) as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        raise ValueError(f"expected {what}, observed {error.strerror!r}") from error
    if len(data) > max_bytes:
        raise ValueError(f"expected {what} of at most {max_bytes} bytes, observed more")
    return data


def begin_of(path: Path, max_bytes: int) -> bytes:
    """The first bytes of a regular file.

    Args:
        path: Anything; a link is followed.
        max_bytes: How many.

    Returns:
        They; none where there is no regular file that can be read.
    """
    try:
        with open_regular(path, "a file") as stream:
            return stream.read(max_bytes)
    except (OSError, ValueError):
        return b""


def observed_at(path: Path) -> str:
    """What lies at a path, for a message: ``a fifo``, ``a folder``, or ``no such file``."""
    try:
        return KINDS.get(stat.S_IFMT(os.stat(path).st_mode), "something else")  # noqa: PTH116
    except (OSError, ValueError):
        return "a link to nothing" if path.is_symlink() else "no such file"


def open_regular(path: Path, what: str) -> BinaryIO:
    """Open a file without waiting for anybody, and nothing that is none: not even to look.

    Args:
        path: The file; a link is followed.
        what: What it should be, for the message.

    Returns:
        It, from its first byte.

    Raises:
        OSError: it is not there or cannot be read.
        ValueError: it is no regular file; says what was expected and observed, without any path.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - the error names no path
        if stat.S_ISREG(found.st_mode):
            stream = os.fdopen(os.open(path, OPEN_FLAGS & ~os.O_NOFOLLOW), "rb")
            found = os.fstat(stream.fileno())
            if stat.S_ISREG(found.st_mode):
                return stream
            stream.close()
    except ValueError as error:
        raise ValueError(f"expected {what}, observed a path that cannot be") from error
    observed = KINDS.get(stat.S_IFMT(found.st_mode), "something else")
    raise ValueError(f"expected {what}, observed {observed}")


def _order_of(label: str) -> tuple[int, int, str]:
    number = label.removeprefix(".")
    is_number = number.isascii() and number.isdigit()
    return (0 if not label else 1 if is_number else 2, int(number) if is_number else 0, label)
