"""What an export may replace: an earlier one of its kind; never a package."""

from __future__ import annotations

import os
from pathlib import Path

from repropack._export.bagit import (
    ALGORITHMS,
    DECLARATION,
    INFO,
    PAYLOAD,
    payload_manifest,
    tag_manifest,
)
from repropack._export.codecheck import is_draft
from repropack._export.identifiers import are_identifiers
from repropack._export.zenodo import is_deposit
from repropack._format.layout import MANIFEST
from repropack._format.zip_layout import LOCAL_SIGNATURE, LOCAL_STRUCT
from repropack._run.documents import DocumentKind, canonical_object, check_document
from repropack._run.target import Replaced, check_free
from repropack.errors import UsageError
from repropack.models.export import ExportFormat

_MAX_NAME_BYTES = 1024
_TAGS = frozenset({
    DECLARATION, INFO, *map(payload_manifest, ALGORITHMS), *map(tag_manifest, ALGORITHMS),
})  # fmt: skip
_DOCUMENTS: dict[ExportFormat, DocumentKind] = {
    "zenodo": DocumentKind("a deposit's metadata", lambda data: is_deposit(canonical_object(data))),
    "codecheck": DocumentKind("a draft that nobody has filled in", is_draft),
    "swhid": DocumentKind("a list of identifiers", are_identifiers),
}


def check_export_target(target: Path, package: Path, *, to: ExportFormat, force: bool) -> None:
    """Refuse a target that is the package or lies in it, or that exists and may not be replaced.

    Args:
        target: What is to be made: for a bag a zip where its name ends in ``.zip``, else a folder.
        package: What is exported, which is never changed.
        to: What is made: a bag, or one kind of document.
        force: Whether an earlier export that stands there may be replaced.

    Raises:
        UsageError: it may not be made there.
    """
    held = package.resolve()
    if target.resolve() == held or (package.is_dir() and target.resolve().is_relative_to(held)):
        raise UsageError(
            f"{target.name}: expected a path outside the package, observed one inside",
            hint="a package is never changed; give another path with -o",
        )
    if to in _DOCUMENTS:
        check_document(target, _DOCUMENTS[to], force=force)
    elif target.suffix == ".zip":
        zipped = Replaced("a bag", "the zip of a bag")
        check_free(target, zipped, _zip_hindrance, force=force, directory=False)
    else:
        if force and held.is_relative_to(target.resolve()):
            raise UsageError(
                f"{target.name}: expected a folder apart from the package, observed one that holds "
                "it"
            )
        check_free(target, Replaced("a bag", "a bag"), _bag_hindrance, force=force, directory=True)


def _zip_hindrance(target: Path) -> str | None:
    """A zip of a bag begins with its first tag file, in a folder."""
    if target.is_symlink() or not target.is_file():
        return "something else"
    with target.open("rb") as stream:
        head = stream.read(LOCAL_STRUCT.size)
        name = stream.read(_MAX_NAME_BYTES)
    begins = head.startswith(LOCAL_SIGNATURE) and len(head) == LOCAL_STRUCT.size
    found = begins and f"/{INFO}".encode() in name[: LOCAL_STRUCT.unpack(head)[-2]]
    return None if found else "something else"


def _bag_hindrance(target: Path) -> str | None:
    """A folder that is empty, or a bag of a package without a file that is in no manifest."""
    if target.is_symlink() or not target.is_dir():
        return "something else"
    places = sorted(place for place in target.rglob("*") if place.is_symlink() or place.is_file())
    if not places:
        return None
    if not all((target / name).is_file() for name in (DECLARATION, f"{PAYLOAD}/{MANIFEST}")):
        return "something else"
    with (target / PAYLOAD / MANIFEST).open("rb") as stream:
        if not stream.read(_MAX_NAME_BYTES).startswith(b'{"entries":['):
            return "another bag"
    listed = _listed(target / payload_manifest(ALGORITHMS[0]))
    for place in places:
        path = place.relative_to(target).as_posix()
        tag = path in _TAGS
        if not tag and os.fsencode(path) not in listed:
            return f"{path!a} in it, which its manifest does not list"
    return None


def _listed(manifest: Path) -> set[bytes]:
    lines = manifest.read_bytes().split(b"\n")
    return {line.partition(b"  ")[2].replace(b"%25", b"%") for line in lines}
