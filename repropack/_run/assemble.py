"""Put a package together: entries from a tree, manifest, zip or directory, published in one move.

Nothing appears at the target before it is whole: it is written aside, synced, read back from the
disk, and only then moved.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repropack._format.archive_writer import ArchiveWriter
from repropack._format.canonical import encode_canonical
from repropack._format.digests import digest_bytes, digest_stream
from repropack._format.layout import MANIFEST, media_type_of, role_of
from repropack._format.paths import check_entry_path, check_path_set
from repropack._read.findings import Findings
from repropack._read.integrity import check_package_whole
from repropack._read.package import evidence_digest, open_package
from repropack._run.durable import forget_cached, sync_tree
from repropack._run.target import check_target, publish_directory, publish_file
from repropack._run.workplace import ASIDE
from repropack.errors import CouldNotRunError, PackageError, UsageError
from repropack.models.manifest import Entry, Manifest, PackageMetadata

FILE_MODE, EXECUTABLE_MODE, FOLDER_MODE = 0o644, 0o755, 0o755


Check = Callable[..., object]
"""Looks at an open package, and fills findings: ``check_package_whole``, or what asks for more."""


@dataclass(frozen=True)
class Written:
    """A package that is written aside, whole and synced."""

    aside: Path
    package_digest: str
    evidence_digest: str
    size_bytes: int


@dataclass(frozen=True)
class Supplement:
    """What a package holds beside what follows from its runs.

    Attributes:
        metadata: What the author says of the package, and where it was checked out from.
        references: Inputs that are held elsewhere, as the manifest lists them.
        documents: Documents by entry path.
        folders: Folders whose files are packed, by the folder's path in the package.
    """

    metadata: PackageMetadata
    references: tuple[Entry, ...] = ()
    documents: Mapping[str, bytes] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)


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


def link_files(folder: Path, tree: Path, wanted: Callable[[str], bool] = lambda _: True) -> None:
    """Put the files of a folder into a tree, as links to the same files where that is possible.

    Args:
        folder: Where they lie; nothing there is changed.
        tree: Where they go, under the same paths.
        wanted: Asked for each path, relative to ``folder``.

    Raises:
        OSError: a file cannot be linked or copied.
    """
    for place in folder.rglob("*"):
        path = place.relative_to(folder).as_posix()
        if not place.is_file() or not wanted(path):
            continue
        entry = tree / path
        entry.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(place, entry, follow_symlinks=False)
        except OSError:  # a file system without links, or too many to one file
            shutil.copy(place, entry, follow_symlinks=False)


def list_entries(tree: Path, references: tuple[Entry, ...] = ()) -> tuple[Entry, ...]:
    """List what a manifest would.

    Args:
        tree: Root of the package tree.
        references: Rows of files that are held elsewhere.

    Returns:
        A row for every file below ``tree`` but the manifest, and for each of ``references``,
        sorted by the bytes of its path.

    Raises:
        UnsafeEntryError: a path that a package cannot have.
        UsageError: a file where no entry may stand.
    """
    files = (path for path in tree.rglob("*") if path.is_file())
    paths = {path.relative_to(tree).as_posix(): path for path in files}
    paths.pop(MANIFEST, None)
    check_path_set([MANIFEST, *paths, *(entry.path for entry in references)])
    entries = [*references, *(_entry(path, place) for path, place in paths.items())]
    return tuple(sorted(entries, key=lambda entry: entry.path.encode()))


def with_entry(entries: tuple[Entry, ...], tree: Path, path: str) -> tuple[Entry, ...]:
    """Add the row of a file that was written since.

    Args:
        entries: The rows so far; nothing else has changed.
        tree: Root of the package tree.
        path: Where the file lies.

    Returns:
        The rows with that one, sorted.
    """
    others = (entry for entry in entries if entry.path != path)
    rows = [*others, _entry(path, tree / path)]
    return tuple(sorted(rows, key=lambda entry: entry.path.encode()))


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


def with_documents(entries: tuple[Entry, ...], documents: Mapping[str, bytes]) -> tuple[Entry, ...]:
    """List entries and documents that have just been written beside them, without reading again.

    Args:
        entries: Rows of a tree.
        documents: Documents by entry path, none of them executable; they replace rows of theirs.

    Returns:
        All rows, sorted by the bytes of their path.

    Raises:
        UsageError: a path where no entry may stand.
    """
    rows = {entry.path: entry for entry in entries}
    for path, data in documents.items():
        role = role_of(path)
        if role is None:
            raise UsageError(f"entry {path!r}: no entry may stand at this path")
        rows[path] = Entry(
            path=path,
            size=len(data),
            digest=digest_bytes(data),
            role=role,
            media_type=media_type_of(path),
        )
    return tuple(rows[path] for path in sorted(rows, key=str.encode))


def write_package(
    tree: Path, supplement: Supplement, *, directory: bool, compress: bool
) -> Written:
    """Write the manifest of ``tree``, and the package aside, and bring it to the disk.

    Args:
        tree: The package's files, in a work folder.
        supplement: Metadata, and rows of files that are held elsewhere.
        directory: The tree itself is the package, instead of a zip of it.
        compress: Deflate the zip's entries instead of storing them.

    Returns:
        Where it lies in the work folder, with its digests and size in bytes.

    Raises:
        UnsafeEntryError: a path that a package cannot have.
        UsageError: a file where no entry may stand.
        OSError: it cannot be written whole.

    Determinism:
        The bytes depend on the files below ``tree``, their executable bits and the arguments;
        with ``compress`` on the zlib in use as well.
    """
    entries = list_entries(tree, supplement.references)
    manifest = Manifest(package=supplement.metadata, entries=entries)
    data = encode_canonical(manifest.model_dump(mode="json"))
    (tree / MANIFEST).write_bytes(data)
    if directory:
        _fix_modes(tree, {entry.path for entry in entries if entry.executable})
        sync_tree(tree)
        stored = sum(entry.size for entry in entries if entry.included)
        aside, size = tree, len(data) + stored
    else:
        aside = tree.parent / ASIDE
        _write_zip(aside, tree, entries, compress=compress)
        size = aside.stat().st_size
    return Written(aside, digest_bytes(data), evidence_digest(entries), size)


def check_written(written: Written, check: Check = check_package_whole) -> None:
    """Read a package back from the disk, as strictly as anyone will.

    Args:
        written: What was meant.
        check: How strictly that is; what follows from the rest is made again where this is told to.

    Raises:
        CouldNotRunError: it is not what was meant: a write, or the storage, has lied.
        OSError: it cannot be read.
    """
    findings = Findings()
    try:
        with open_package(written.aside) as package:
            check(package, findings, expect_digest=written.package_digest)
    except PackageError as error:
        findings.add_error(error, written.aside.name)
    if findings.faults:
        fault = findings.faults[0]
        raise CouldNotRunError(
            f"read back before it was published: entry {fault.entry!r}: {fault.problem}",
            hint="the storage did not keep what was written; try another disk",
        )


def publish(written: Written, target: Path, *, force: bool, directory: bool) -> None:
    """Move a package that was read back to its target.

    Args:
        written: The package, in a work folder beside the target.
        target: The zip or directory to make.
        force: Replace a package that stands there.
        directory: Whether it is a directory.

    Raises:
        UsageError: something stands there that may not be replaced.
        OSError: it cannot be moved; what stood there still does.
    """
    check_target(target, force=force, directory=directory)
    (publish_directory if directory else publish_file)(written.aside, target, force=force)


def _write_zip(aside: Path, tree: Path, entries: tuple[Entry, ...], *, compress: bool) -> None:
    aside.unlink(missing_ok=True)
    with aside.open("xb") as stream:
        writer = ArchiveWriter(stream)
        writer.add(MANIFEST, (tree / MANIFEST).read_bytes(), deflate=compress)
        for entry in (entry for entry in entries if entry.included):
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
        os.fchmod(stream.fileno(), FILE_MODE)
        os.fsync(stream.fileno())
        forget_cached(stream.fileno())


def _fix_modes(tree: Path, executables: set[str]) -> None:
    """Modes do not follow the caller's umask."""
    tree.chmod(FOLDER_MODE)
    for place in tree.rglob("*"):
        if place.is_dir():
            place.chmod(FOLDER_MODE)
        else:
            path = place.relative_to(tree).as_posix()
            place.chmod(EXECUTABLE_MODE if path in executables else FILE_MODE)
