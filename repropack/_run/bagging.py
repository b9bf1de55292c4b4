"""Write a package as a bag: its tree as the payload, copied as a stream, and the tag files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO, cast

from repropack._export.bagit import (
    ALGORITHMS,
    DECLARATION,
    DECLARATION_BYTES,
    INFO,
    PAYLOAD,
    info_bytes,
    manifest_bytes,
    payload_manifest,
    tag_manifest,
)
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.digests import BLOCK_BYTES
from repropack._format.layout import MANIFEST
from repropack._read.package import Package
from repropack._run.assemble import EXECUTABLE_MODE, FILE_MODE, FOLDER_MODE
from repropack._run.durable import forget_cached
from repropack.errors import CouldNotRunError
from repropack.models.manifest import Entry


class _Hashing:
    """A stream that takes every digest of a bag of what is written through it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._hashers = {name: hashlib.new(name) for name in ALGORITHMS}

    def write(self, data: bytes) -> int:
        for hasher in self._hashers.values():
            hasher.update(data)
        return self._stream.write(data)

    def digest(self, algorithm: str) -> str:
        return self._hashers[algorithm].hexdigest()


def write_bag(package: Package, source_swhid: str | None, bag: Path) -> tuple[int, int]:
    """Write a bag as a folder.

    Args:
        package: The open package, which was checked.
        source_swhid: Identifier of its source, if it has one.
        bag: The folder to make.

    Returns:
        Bytes and files of the payload.

    Raises:
        IntegrityError: an entry has changed since it was checked.
        OSError: it cannot be written whole.

    Determinism:
        Names, contents and modes follow from the package and the release alone.
    """
    bag.mkdir()
    digests: dict[str, dict[str, str]] = {name: {} for name in ALGORITHMS}
    octets = files = 0
    rows: dict[str, Entry | None] = {MANIFEST: None}
    rows |= {entry.path: entry for entry in package.manifest.entries if entry.included}
    for path, entry in rows.items():
        place = bag / PAYLOAD / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as stream:
            hashing = _Hashing(stream)
            _copy(package, entry, cast("BinaryIO", hashing))
            octets += stream.tell()
        place.chmod(EXECUTABLE_MODE if entry is not None and entry.executable else FILE_MODE)
        files += 1
        for name in ALGORITHMS:
            digests[name][f"{PAYLOAD}/{path}"] = hashing.digest(name)
    payload = (octets, files)
    metadata = package.manifest.package
    tags = {
        DECLARATION: DECLARATION_BYTES,
        INFO: info_bytes(metadata, package.package_digest, source_swhid, payload),
        **{payload_manifest(name): manifest_bytes(digests[name]) for name in ALGORITHMS},
    }
    sealed = {
        tag_manifest(name): manifest_bytes(
            {tag: hashlib.new(name, data).hexdigest() for tag, data in tags.items()}
        )
        for name in ALGORITHMS
    }
    for tag, data in {**tags, **sealed}.items():
        (bag / tag).write_bytes(data)
        (bag / tag).chmod(FILE_MODE)
    for folder in (bag, *(place for place in bag.rglob("*") if place.is_dir())):
        folder.chmod(FOLDER_MODE)
    return payload


def zip_bag(bag: Path, aside: Path, name: str) -> None:
    """Write a bag as a zip with one folder at its top, in the form of a package's zip.

    Args:
        bag: The bag.
        aside: The zip to make.
        name: Name of the folder in it.

    Raises:
        UnsafeEntryError: a path is too long with the folders above it.
        OSError: it cannot be written whole.

    Determinism:
        The bytes follow from the bag's files and the name alone.
    """
    paths = {place.relative_to(bag).as_posix(): place for place in bag.rglob("*")}
    with aside.open("xb") as stream:
        writer = ArchiveWriter(stream)
        for path in sorted(paths, key=str.encode):
            if paths[path].is_file():
                executable = bool(paths[path].stat().st_mode & 0o100)
                with paths[path].open("rb") as source:
                    writer.add(f"{name}/{path}", source, executable=executable)
        writer.finish()
        stream.flush()
        os.fchmod(stream.fileno(), FILE_MODE)
        os.fsync(stream.fileno())
        forget_cached(stream.fileno())


def check_bag(bag: Path) -> None:
    """Read the payload back from the disk, and hold it against the bag's first manifest.

    Args:
        bag: A bag that was written and synced.

    Raises:
        CouldNotRunError: it is not what was written.
        OSError: it cannot be read.
    """
    algorithm = ALGORITHMS[0]
    read = {}
    for place in (bag / PAYLOAD).rglob("*"):
        if place.is_file():
            with place.open("rb") as stream:
                forget_cached(stream.fileno())
                digest = hashlib.file_digest(stream, algorithm).hexdigest()
            read[place.relative_to(bag).as_posix()] = digest
    if manifest_bytes(read) != (bag / payload_manifest(algorithm)).read_bytes():
        raise CouldNotRunError(
            "read back before it was published: the bag is not what was written",
            hint="the storage did not keep what was written; try another disk",
        )


def _copy(package: Package, entry: Entry | None, target: BinaryIO) -> None:
    """Copy an entry, or the manifest, which is not one."""
    if entry is not None:
        package.copy_entry(entry, target)
        return
    with package.container.open(MANIFEST) as stream:
        while block := stream.read(BLOCK_BYTES):
            target.write(block)
