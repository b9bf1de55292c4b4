"""What a document may replace: one of its own kind, where that is asked for, and nothing else.

One rule for whatever repropack writes beside a package. A document is known as one of a kind by how
repropack itself writes that kind, so that what somebody made, or has changed since, is not one.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from repropack._format.figure_seals import is_sealed_png, is_sealed_svg
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.npz import NpzReader
from repropack._format.page_head import MAX_HEAD_BYTES, page_version
from repropack._read.beside import open_regular
from repropack._read.directory import KINDS
from repropack._run.listed import canonical_object
from repropack._run.target import Replaced, check_free
from repropack.errors import PackageError
from repropack.models.statements import PACKAGE_PREDICATE, RECORD_PREDICATE

_SIDED = re.compile(r"(?:left|right)\.")


@dataclass(frozen=True)
class DocumentKind:
    """A kind of document.

    Attributes:
        what: It in words, such as ``a page``.
        is_one: Whether a file is one, read from its first byte.
    """

    what: str
    is_one: Callable[[BinaryIO], bool]


def whole_kind(what: str, is_one: Callable[[bytes], bool]) -> DocumentKind:
    """The kind of a document that is looked at as a whole.

    Args:
        what: It in words.
        is_one: Whether bytes are one.

    Returns:
        The kind; no file above ``max_document_bytes`` is of it.
    """
    most = DEFAULT_LIMITS.max_document_bytes

    def holds(stream: BinaryIO) -> bool:
        data = stream.read(most + 1)
        return len(data) <= most and is_one(data)

    return DocumentKind(what, holds)


def check_document(target: Path, kind: DocumentKind, *, force: bool) -> None:
    """Refuse a target that exists, unless it is to be replaced and is of the same kind.

    Args:
        target: Where the document goes.
        kind: What it is.
        force: Whether one that stands there may be replaced.

    Raises:
        UsageError: something stands there that may not be replaced, or nothing ever can.
    """
    replaced = Replaced(kind.what, f"{kind.what} as repropack writes it")
    check_free(target, replaced, partial(_hindrance, kind), force=force, directory=False)


def json_kind(what: str, member: str, begin: str) -> DocumentKind:
    """The kind of a document in canonical JSON, which names its schema or type.

    Args:
        what: It in words.
        member: The member that names it.
        begin: How its value begins.

    Returns:
        The kind.
    """

    def is_one(data: bytes) -> bool:
        value = canonical_object(data)
        found = value.get(member)
        return isinstance(found, str) and found.startswith(begin)

    return whole_kind(what, is_one)


def head_kind(what: str, is_one: Callable[[bytes], bool]) -> DocumentKind:
    """The kind of a document that is known by its first bytes.

    Args:
        what: It in words.
        is_one: Whether a file that begins with these bytes, ``MAX_HEAD_BYTES`` at most, is one.

    Returns:
        The kind.
    """
    return DocumentKind(what, lambda stream: is_one(stream.read(MAX_HEAD_BYTES)))


PAGE = head_kind("a page", lambda head: page_version(head) is not None)
REPORT = json_kind("a verification report", "schema", "repropack/verification-report/")
RECORD = json_kind("a verification record", "predicateType", RECORD_PREDICATE)
STATEMENT = json_kind("a statement", "predicateType", PACKAGE_PREDICATE)
FIGURES = {
    ".svg": whole_kind("an SVG figure of an audit", is_sealed_svg),
    ".png": whole_kind("a PNG figure of an audit", is_sealed_png),
}


def _are_saved(stream: BinaryIO) -> bool:
    """Whether a file is an npz in our own form, undamaged, of arrays of a left and a right side.

    NumPy writes its npz in another form, so that one that went through it is none.

    Returns:
        True where it is one.
    """
    try:
        reader = NpzReader(stream, where="it")
        if not reader.arrays or not all(map(_SIDED.match, reader.arrays)):
            return False
        for name in reader.arrays:
            reader.fingerprint(name)  # reads all of it and holds it against its checksum
    except PackageError:
        return False
    return True


ARRAYS = DocumentKind("a file of arrays that `diff` saved", _are_saved)


def _hindrance(kind: DocumentKind, target: Path) -> str | None:
    mode = target.lstat().st_mode
    if not stat.S_ISREG(mode):
        return KINDS.get(stat.S_IFMT(mode), "something else")
    with open_regular(target, kind.what) as stream:
        return None if kind.is_one(stream) else "something else"
