"""What a document may replace: one of its own kind, where that is asked for, and nothing else.

One rule for whatever repropack writes beside a package. A document is known as one of a kind by how
repropack itself writes that kind, so that what somebody made, or has changed since, is not one.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.page_head import MAX_HEAD_BYTES, page_version
from repropack._format.zip_layout import LOCAL_SIGNATURE, LOCAL_STRUCT
from repropack._read.beside import begin_of, read_unnamed
from repropack._read.directory import KINDS
from repropack._run.target import Replaced, check_free
from repropack.errors import PackageError, UsageError
from repropack.models.statements import PACKAGE_PREDICATE, RECORD_PREDICATE

_HEAD_BYTES = 4096
_PNG = b"\x89PNG\r\n\x1a\n"
_SVG = b'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n<!DOCTYPE svg'


@dataclass(frozen=True)
class DocumentKind:
    """A kind of document.

    Attributes:
        what: It in words, such as ``a page``.
        is_one: Whether bytes are one: all of a file where ``whole``, else its first 4096.
        whole: Whether all of it has to be looked at.
    """

    what: str
    is_one: Callable[[bytes], bool]
    whole: bool = True


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

    return DocumentKind(what, is_one)


def canonical_object(data: bytes) -> dict[str, object]:
    """An object in canonical JSON.

    Args:
        data: Any bytes.

    Returns:
        It; empty where they are something else, or the same in another spelling.
    """
    try:
        value = decode_strict(data, where="")
        if isinstance(value, dict) and encode_canonical(value) == data:
            return value
    except (PackageError, UsageError):
        pass
    return {}


PAGE = DocumentKind(
    "a page", lambda head: page_version(head[:MAX_HEAD_BYTES]) is not None, whole=False
)
REPORT = json_kind("a verification report", "schema", "repropack/verification-report/")
RECORD = json_kind("a verification record", "predicateType", RECORD_PREDICATE)
STATEMENT = json_kind("a statement", "predicateType", PACKAGE_PREDICATE)
FIGURES = {
    ".svg": DocumentKind("an SVG figure", lambda head: head.startswith(_SVG), whole=False),
    ".png": DocumentKind("a PNG figure", lambda head: head.startswith(_PNG), whole=False),
}


def _is_npz(head: bytes) -> bool:
    """Whether a zip begins with an array: a package begins with its manifest."""
    if len(head) < LOCAL_STRUCT.size or not head.startswith(LOCAL_SIGNATURE):
        return False
    length = LOCAL_STRUCT.unpack(head[: LOCAL_STRUCT.size])[-2]
    return head[LOCAL_STRUCT.size :][:length].endswith(b".npy")


ARRAYS = DocumentKind("a file of arrays", _is_npz, whole=False)


def _hindrance(kind: DocumentKind, target: Path) -> str | None:
    mode = target.lstat().st_mode
    if not target.is_file() or target.is_symlink():
        return KINDS.get(stat.S_IFMT(mode), "something else")
    if kind.whole:
        try:
            data = read_unnamed(target, "it", DEFAULT_LIMITS.max_document_bytes)
        except ValueError:
            return "something else"
    else:
        data = begin_of(target, _HEAD_BYTES)
    return None if kind.is_one(data) else "something else"
