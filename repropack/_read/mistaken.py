"""One of our own documents in the place of another: told by name, for they are easily mixed up."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from repropack._format.canonical import decode_strict
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.paths import shown_path
from repropack._format.zip_layout import LOCAL_SIGNATURE
from repropack._read.beside import begin_of, read_unnamed
from repropack.errors import PackageError, UsageError
from repropack.models.statements import PACKAGE_PREDICATE, RECORD_PREDICATE

RECORD_KIND: Final = "a verification record (of `verify --record`)"
REPORT_KIND: Final = "a verification report (of `verify --report`)"
PACKAGE_KIND: Final = "a zip, such as a package"
_SCHEMAS = {
    "repropack/verification-report/": REPORT_KIND,
    "repropack/certificate/": "a certificate (of `certify`)",
    "repropack/check-report/": "a report of `check`",
    "repropack/sign-report/": "a report of `sign`",
}
_PREDICATES = {
    RECORD_PREDICATE: RECORD_KIND,
    PACKAGE_PREDICATE: "the statement about a package (of `sign`)",
}
_SIGNATURE = b"-----BEGIN SSH SIGNATURE-----"


def refuse_mistaken(path: Path, wanted: Collection[str], words: str) -> None:
    """Refuse a file that is known as another of our own; what nobody knows is left to its reader.

    Args:
        path: The file that was given.
        wanted: Kinds that are not refused, as they are named here.
        words: What is wanted, for the message.

    Raises:
        UsageError: it is of another kind; says of which, and what is wanted.
    """
    kind = _kind_of(path)
    if kind is not None and kind not in wanted:
        raise UsageError(f"{shown_path(path)}: this is {kind}; {words} is wanted")


def _kind_of(path: Path) -> str | None:
    begin = begin_of(path, len(_SIGNATURE))
    if begin.startswith(_SIGNATURE):
        return "a signature (of `sign`)"
    if begin.startswith(LOCAL_SIGNATURE):
        return PACKAGE_KIND
    if not begin.startswith(b"{"):
        return None
    try:
        data = read_unnamed(path, "a document", DEFAULT_LIMITS.max_document_bytes)
        value = decode_strict(data, where="")
    except (PackageError, UsageError, ValueError):
        return None
    schema, predicate = value.get("schema"), value.get("predicateType")  # it begins as an object
    if isinstance(schema, str):
        return next((kind for name, kind in _SCHEMAS.items() if schema.startswith(name)), None)
    return _PREDICATES.get(predicate) if isinstance(predicate, str) else None
