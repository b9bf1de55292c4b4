"""What may be replaced at a target, and how it gets there: whole, and never over anything else."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from repropack._format.layout import MANIFEST
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.zip_layout import LOCAL_SIGNATURE, LOCAL_STRUCT, STORED
from repropack._read.beside import begin_of
from repropack._run.durable import sync_path
from repropack._run.folders import remove_tree
from repropack._run.listed import first_unlisted, listed_in_manifest
from repropack._run.moves import exchange_directories, move_new
from repropack.errors import UsageError
from repropack.models.manifest import FORMAT_NAME

_ANOTHER = "give another, or --force to replace a package"


@dataclass(frozen=True)
class Replaced:
    """What may be replaced at a target, in words: ``a package``, and in which form."""

    what: str
    form: str


def check_target(target: Path, *, force: bool, directory: bool) -> None:
    """Refuse a target that exists, unless it is to be replaced and is a package itself.

    Args:
        target: The zip or directory to make.
        force: Whether a package that stands there may be replaced.
        directory: Whether a directory is to be made.

    Raises:
        UsageError: something stands there that may not be replaced, or nothing ever can.
    """
    replaced = Replaced("a package", "a package directory" if directory else "a package's zip")
    hindrance = partial(_hindrance, directory=directory)
    check_free(target, replaced, hindrance, force=force, directory=directory)


def check_free(
    target: Path,
    replaced: Replaced,
    hindrance: Callable[[Path], str | None],
    *,
    force: bool,
    directory: bool,
) -> None:
    """Refuse a target that exists, unless it is to be replaced and may be.

    Args:
        target: What is to be made.
        replaced: What may be replaced there, in words.
        hindrance: Says what there is at the target that may not be replaced, ``None`` where it may.
        force: Whether it is to be replaced.
        directory: Whether a directory is to be made.

    Raises:
        UsageError: something stands there that may not be replaced, or nothing ever can.
    """
    if target.name in {"", ".."}:
        raise UsageError(f"{target}: expected a path that ends in a name, observed none")
    try:
        if not _stands(target):
            return
        observed = hindrance(target) if force else None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{target.name}: cannot be written there: {reason}") from error
    if not force:
        hint = f"give another, or --force to replace {replaced.what}"
        raise UsageError(_taken(target, directory=directory), hint=hint)
    if observed is not None:
        raise UsageError(
            f"{target.name}: expected {replaced.form} to replace, observed {observed}",
            hint=f"only {replaced.form} is ever replaced: give another path, or remove it yourself",
        )


def _stands(target: Path) -> bool:
    """Whether anything is at a path, a link to nothing included."""
    try:
        target.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def publish_file(aside: Path, target: Path, *, force: bool) -> None:
    """Move a file, which is whole and synced, to its target, and sync the folder there.

    Args:
        aside: The file, on the target's file system.
        target: Where it goes.
        force: Replace what stands there, which ``check_target`` has looked at.

    Raises:
        UsageError: without ``force``: something stands there, maybe since a moment ago.
        OSError: it cannot be moved, and what stood there still does; or the folder cannot be
            synced, and the new file may be gone after a power cut.
    """
    if force:
        aside.replace(target)
    else:
        _move_new(aside, target, directory=False)
    sync_path(target.parent)


def publish_directory(tree: Path, target: Path, *, force: bool) -> None:
    """Move a directory, which is whole and synced, to its target, and sync the folder there.

    Args:
        tree: The directory, in a work folder beside the target.
        target: Where it goes.
        force: Exchange it with the directory that stands there, which ``check_target`` has looked
            at; the old one is removed afterwards.

    Raises:
        UsageError: without ``force``: something stands there, maybe since a moment ago.
        OSError: as for ``publish_file``.
    """
    if not force or not target.exists():
        _move_new(tree, target, directory=True)
        sync_path(target.parent)
        return
    former = exchange_directories(tree, target, target.with_name(f"{tree.parent.name}.former"))
    sync_path(target.parent)
    remove_tree(former)


def _move_new(aside: Path, target: Path, *, directory: bool) -> None:
    try:
        move_new(aside, target)
    except FileExistsError as error:
        raise UsageError(_taken(target, directory=directory), hint=_ANOTHER) from error


def _taken(target: Path, *, directory: bool) -> str:
    kind = "folder" if directory else "path"
    return f"{target.name}: expected a {kind} that does not exist, observed one that does"


def _hindrance(target: Path, *, directory: bool) -> str | None:
    """What is at a target that is lost if a package replaces it; ``None`` where it is a package."""
    if target.is_symlink() or not (target.is_dir() if directory else _is_zip(target)):
        return "something else"
    return _of_directory(target) if directory else None


def _of_directory(target: Path) -> str | None:
    """What is lost with a directory: nothing where it is empty or a package as it was written."""
    if next(target.iterdir(), None) is None:
        return None
    data = begin_of(target / MANIFEST, DEFAULT_LIMITS.max_manifest_bytes)
    if _manifest(data) is None:
        return "something else"
    listed = listed_in_manifest(data)
    if listed is None:
        return f"{MANIFEST!a} in it, edited since: it is not as repropack writes one"
    return first_unlisted(target, listed, "its manifest")


def _is_zip(target: Path) -> bool:
    """Whether a file begins as every package does, with its manifest; the rest may be torn."""
    if not target.is_file():
        return False
    name = MANIFEST.encode("ascii")
    with target.open("rb") as stream:
        head = stream.read(LOCAL_STRUCT.size)
        if len(head) < LOCAL_STRUCT.size or not head.startswith(LOCAL_SIGNATURE):
            return False
        _, _, _, method, _, _, _, stored, _, name_length, extra_length = LOCAL_STRUCT.unpack(head)
        if stream.read(name_length) != name:
            return False
        stream.seek(extra_length, os.SEEK_CUR)
        data = stream.read(min(stored, DEFAULT_LIMITS.max_manifest_bytes))
    if method != STORED:
        try:
            inflater = zlib.decompressobj(-zlib.MAX_WBITS)
            data = inflater.decompress(data, DEFAULT_LIMITS.max_manifest_bytes)
        except zlib.error:
            return False
    return _manifest(data) is not None


def _manifest(data: bytes) -> dict[str, Any] | None:
    try:
        manifest = json.loads(data)  # noqa: TID251 - a look, no reading
    except (ValueError, RecursionError):
        return None
    known = isinstance(manifest, dict) and manifest.get("format") == FORMAT_NAME
    return manifest if known else None
