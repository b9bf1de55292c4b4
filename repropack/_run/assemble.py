"""Put a package together: entries from a tree, manifest, zip or directory, published in one move.

Nothing appears at the target before it is whole: it is written aside, synced and renamed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repropack._format.archive_writer import ArchiveWriter
from repropack._format.canonical import encode_canonical
from repropack._format.digests import digest_bytes, digest_stream
from repropack._format.layout import MANIFEST, media_type_of, role_of
from repropack._format.paths import check_entry_path, check_path_set
from repropack._read.package import evidence_digest
from repropack._run.target import replace_directory
from repropack.errors import UsageError
from repropack.models.manifest import Entry, Manifest, PackageMetadata

FILE_MODE, EXECUTABLE_MODE, FOLDER_MODE = 0o644, 0o755, 0o755


@dataclass(frozen=True)
class Published:
    """A package that stands at its target."""

    path: Path
    package_digest: str
    evidence_digest: str
    size_bytes: int


def write_documents(tree: Path, documents: Mapping[str, bytes]) -> None:
    """Write documents below ``tree``, whose folders are made where they are missing.

    Args:
        tree: Root of the package tree.
        documents: Their bytes by entry path.
    """
    for path, data in documents.items():
        place = tree / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def list_entries(tree: Path) -> tuple[Entry, ...]:
    """List what a manifest would.

    Args:
        tree: Root of the package tree.

    Returns:
        A row for every file below ``tree`` but the manifest, sorted by the bytes of its path.

    Raises:
        UnsafeEntryError: a path that a package cannot have.
        UsageError: a file where no entry may stand.
    """
    files = (path for path in tree.rglob("*") if path.is_file())
    paths = {path.relative_to(tree).as_posix(): path for path in files}
    paths.pop(MANIFEST, None)
    check_path_set([MANIFEST, *paths])
    return tuple(_entry(path, paths[path]) for path in sorted(paths, key=str.encode))


def _entry(path: str, place: Path) -> Entry:
    check_entry_path(path)
    role = role_of(path)
    if role is None:
        raise UsageError(f"entry {path!r}: no entry may stand at this path")
    with place.open("rb") as stream:
        digest, size = digest_stream(stream)
    return Entry(
        path=path,
        size=size,
        digest=digest,
        role=role,
        media_type=media_type_of(path),
        executable=bool(place.stat().st_mode & 0o100),
    )


def publish(
    tree: Path, metadata: PackageMetadata, target: Path, *, directory: bool, compress: bool
) -> Published:
    """Write the manifest of ``tree`` and move the whole to ``target``.

    Args:
        tree: The package's files, below a folder beside the target.
        metadata: What the author says of the package.
        target: The zip or directory to make; one that exists is replaced.
        directory: Publish the tree itself instead of a zip of it.
        compress: Deflate the zip's entries instead of storing them.

    Returns:
        Where it stands, with its digests and size in bytes.

    Raises:
        UnsafeEntryError: a path that a package cannot have.
        UsageError: a file where no entry may stand.

    Determinism:
        The bytes depend on the files below ``tree``, their executable bits and the arguments;
        with ``compress`` on the zlib in use as well.
    """
    entries = list_entries(tree)
    manifest = Manifest(package=metadata, entries=entries)
    data = encode_canonical(manifest.model_dump(mode="json"))
    (tree / MANIFEST).write_bytes(data)
    if directory:
        _fix_modes(tree, {entry.path for entry in entries if entry.executable})
        replace_directory(tree, target)
        size = len(data) + sum(entry.size for entry in entries)
    else:
        aside = tree.parent / "package.zip"
        _write_zip(aside, tree, entries, compress=compress)
        aside.chmod(FILE_MODE)
        aside.replace(target)
        size = target.stat().st_size
    _sync_folder(target.parent)
    return Published(target, digest_bytes(data), evidence_digest(entries), size)


def _write_zip(aside: Path, tree: Path, entries: tuple[Entry, ...], *, compress: bool) -> None:
    with aside.open("wb") as stream:
        writer = ArchiveWriter(stream)
        writer.add(MANIFEST, (tree / MANIFEST).read_bytes(), deflate=compress)
        for entry in entries:
            with (tree / entry.path).open("rb") as source:
                writer.add(
                    entry.path,
                    source,
                    size=entry.size,
                    executable=entry.executable,
                    deflate=compress,
                )
        writer.finish()
        stream.flush()
        os.fsync(stream.fileno())


def _fix_modes(tree: Path, executables: set[str]) -> None:
    """Modes do not follow the caller's umask."""
    tree.chmod(FOLDER_MODE)
    for place in tree.rglob("*"):
        if place.is_dir():
            place.chmod(FOLDER_MODE)
        else:
            path = place.relative_to(tree).as_posix()
            place.chmod(EXECUTABLE_MODE if path in executables else FILE_MODE)
            with place.open("rb") as stream:
                os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
