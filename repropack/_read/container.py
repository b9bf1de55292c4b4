"""A package's files, opened: a zip or a directory, told apart by what lies there."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from repropack._format.archive_reader import ArchiveReader
from repropack._format.digests import digest_stream
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import package_order
from repropack._read.directory import FOLDER_FLAGS, KINDS, OPEN_FLAGS, DirectoryContainer
from repropack._read.files import Container, check_paths, identity
from repropack.errors import PackageFormatError, UsageError
from repropack.refusals import refusal

__all__ = ["Container", "DirectoryContainer", "ZipContainer", "open_container"]


class ZipContainer(Container):
    """A package in one zip, opened once and read from that handle."""

    def __init__(self, stream: BinaryIO, *, where: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """Read and check every header and path; the stream is then the container's to close.

        Args:
            stream: The zip from byte 0, seekable.
            where: Name of the file; used in error messages only.
            limits: Limits on entries, names and deflate ratio.

        Raises:
            PackageFormatError: No zip in the pinned form, or its entries are not in order.
            UnsafeEntryError: A path that is never accepted.
            LimitExceededError: A limit would be exceeded.
        """
        self._stream = stream
        self._where = where
        self._identity = _identity_of(stream)
        self._archive = ArchiveReader(stream, where=where, limits=limits)
        self._paths = tuple(self._archive.members)
        check_paths(self._paths)
        for expected, observed in zip(package_order(self._paths), self._paths, strict=True):
            if expected != observed:
                right = f"entries sorted after manifest.json, here {expected!r}"
                raise PackageFormatError(
                    refusal("zip.order", observed, "", right, repr(observed)), container=where
                )

    @property
    def paths(self) -> tuple[str, ...]:
        """Path of every file: ``manifest.json`` first, then sorted by bytes."""
        return self._paths

    def size(self, path: str) -> int:
        """Return the size of a file's content in bytes; see ``Container``."""
        return self._archive.member(path).size

    def executable(self, path: str) -> bool:
        """Return whether a file's mode lets its owner execute it; see ``Container``."""
        return self._archive.member(path).executable

    def open(self, path: str) -> BinaryIO:
        """Open a file's content; see ``Container``."""
        return self._archive.open(path)

    def random_access(self, path: str) -> bool:
        """Return whether an entry is stored; see ``Container``."""
        return not self._archive.member(path).deflated

    def check_unchanged(self) -> None:
        """Demand that the zip is the same file, neither longer nor written to."""
        observed = _identity_of(self._stream)
        if observed != self._identity:
            raise PackageFormatError(
                refusal("zip.changed", self._where, "", "the zip that was opened", "it changed")
            )

    def whole_digest(self) -> str | None:
        """Return the digest of the zip's bytes; see ``Container``."""
        self.check_unchanged()
        self._stream.seek(0)
        digest, _ = digest_stream(self._stream)
        self.check_unchanged()
        return digest

    def close(self) -> None:
        """Close the zip."""
        self._stream.close()


def _identity_of(stream: BinaryIO) -> tuple[int, ...]:
    """The identity of an open file; nothing for a stream that is none."""
    try:
        return identity(os.fstat(stream.fileno()))
    except (OSError, AttributeError):
        return ()


def open_container(path: Path, limits: Limits = DEFAULT_LIMITS) -> Container:
    """Open a package, zip or directory, and check the path of every file in it.

    Args:
        path: Where it lies. Only here, where the user named it, is a link followed.
        limits: Limits on entries, names and deflate ratio.

    Returns:
        The open container; leave it (``with``) or close it.

    Raises:
        UsageError: Nothing is there, or neither a file nor a directory, or not readable.
        PackageFormatError: A file that is no zip in the pinned form.
        UnsafeEntryError: A path or kind of entry that is never accepted.
        LimitExceededError: A limit would be exceeded.
    """
    kind = _kind_of(path)
    if kind not in {stat.S_IFREG, stat.S_IFDIR}:
        observed = KINDS.get(kind, "something else")
        raise UsageError(f"{path}: expected a package (zip or directory), observed {observed}")
    flags = (FOLDER_FLAGS if kind == stat.S_IFDIR else OPEN_FLAGS) & ~os.O_NOFOLLOW
    try:
        handle = os.open(path, flags)
    except OSError as error:
        raise UsageError(
            f"{path}: expected a readable package, observed {error.strerror!r}"
        ) from error
    if kind == stat.S_IFDIR:
        return _open_directory(handle, path, limits)
    return _open_zip(os.fdopen(handle, "rb"), path, limits)


def _kind_of(path: Path) -> int:
    """Return the kind of what lies at a path the user named."""
    try:
        return stat.S_IFMT(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise UsageError(
            f"{path}: no such file or directory: expected a package (zip or directory)"
        ) from error
    except OSError as error:
        raise UsageError(
            f"{path}: expected a readable package, observed {error.strerror!r}"
        ) from error


def _open_zip(stream: BinaryIO, path: Path, limits: Limits) -> Container:
    try:
        return ZipContainer(stream, where=str(path), limits=limits)
    except BaseException:
        stream.close()
        raise


def _open_directory(root: int, path: Path, limits: Limits) -> Container:
    try:
        return DirectoryContainer(root, where=str(path), limits=limits)
    except BaseException:
        os.close(root)
        raise
