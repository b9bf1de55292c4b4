"""A package's files, the same whether it is a zip or a directory.

Whatever the form, every path was checked before anything else looks at it, the files are regular
ones, and their order is that of ``package_order``. Contents are not looked at here.
"""

from __future__ import annotations

import errno
import os
import stat
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NoReturn, Self

from repropack._format.archive_reader import ArchiveReader
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import check_entry_path, check_path_set, package_order
from repropack.errors import (
    LimitExceededError,
    PackageFormatError,
    UnsafeEntryError,
    UsageError,
)

_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_FOLDER_FLAGS = _OPEN_FLAGS | os.O_DIRECTORY
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a fifo",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
}


class Container(ABC):
    """Files by path, opened for reading; closes what it holds when it is left."""

    @property
    @abstractmethod
    def paths(self) -> tuple[str, ...]:
        """Path of every file: ``manifest.json`` first, then sorted by bytes."""

    @abstractmethod
    def size(self, path: str) -> int:
        """Return the size of a file's content in bytes, as it was when it was opened.

        Args:
            path: One of ``paths``.

        Returns:
            Bytes of its content.

        Raises:
            UsageError: There is no such file.
        """

    @abstractmethod
    def executable(self, path: str) -> bool:
        """Return whether a file's mode lets its owner execute it.

        Args:
            path: One of ``paths``.

        Returns:
            True for 0755, False for 0644.

        Raises:
            UsageError: There is no such file.
        """

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """Open a file's content.

        Args:
            path: One of ``paths``.

        Returns:
            A seekable read-only stream; from a zip, one that verifies size and checksum
            while it is read in order, and raises ``PackageFormatError``.

        Raises:
            UsageError: There is no such file, or the system does not let it be read.
            PackageFormatError: It is damaged, no longer a regular file, or over a limit.
        """

    @abstractmethod
    def close(self) -> None:
        """Close what the container holds; streams opened from it end too or must be closed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


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
        self._archive = ArchiveReader(stream, where=where, limits=limits)
        self._paths = tuple(self._archive.members)
        _check_paths(self._paths)
        for expected, observed in zip(package_order(self._paths), self._paths, strict=True):
            if expected != observed:
                raise PackageFormatError(
                    f"{where}: entry {observed!r}: expected entries sorted after manifest.json, "
                    f"here {expected!r}, observed {observed!r}"
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

    def close(self) -> None:
        """Close the zip."""
        self._stream.close()


@dataclass(frozen=True, slots=True)
class _File:
    """A regular file of a directory; ``size`` in bytes."""

    size: int
    executable: bool


class DirectoryContainer(Container):
    """A package as a directory, all of it below one handle; links are never followed."""

    def __init__(self, root: int, *, where: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """List and check every file; the handle is then the container's to close.

        Args:
            root: File descriptor of the directory.
            where: Name of the directory; used in error messages only.
            limits: Limits on entries and depth.

        Raises:
            UnsafeEntryError: A path that is never accepted, or anything but files and folders.
            LimitExceededError: A limit would be exceeded.
            UsageError: The system does not let a folder be read.
        """
        self._root = root
        self._where = where
        files = self._list_files(limits)
        self._files = {path: files[path] for path in package_order(files)}
        _check_paths(self.paths)

    @property
    def paths(self) -> tuple[str, ...]:
        """Path of every file: ``manifest.json`` first, then sorted by bytes."""
        return tuple(self._files)

    def size(self, path: str) -> int:
        """Return the size of a file in bytes; see ``Container``."""
        return self._lookup(path).size

    def executable(self, path: str) -> bool:
        """Return whether a file's mode lets its owner execute it; see ``Container``."""
        return self._lookup(path).executable

    def open(self, path: str) -> BinaryIO:
        """Open a file, component by component; see ``Container``."""
        self._lookup(path)
        folder, _, name = path.rpartition("/")
        parent = self._open_folder(folder)
        try:
            handle = os.open(name, _OPEN_FLAGS, dir_fd=parent)
        except OSError as error:
            self._refuse_system(path, error)
        finally:
            os.close(parent)
        kind = stat.S_IFMT(os.fstat(handle).st_mode)
        if kind != stat.S_IFREG:
            os.close(handle)
            raise UnsafeEntryError(path, f"kind: expected a file, observed {_KINDS[kind]}")
        return os.fdopen(handle, "rb")

    def close(self) -> None:
        """Close the directory's handle."""
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def _lookup(self, path: str) -> _File:
        if path not in self._files:
            raise UsageError(
                f"{self._where}: entry: expected one of its {len(self._files)} entries, "
                f"observed {path!r}"
            )
        return self._files[path]

    def _list_files(self, limits: Limits) -> dict[str, _File]:
        """Walk the tree, and refuse whatever is neither a file nor a folder."""
        files: dict[str, _File] = {}
        folders, seen = [""], 0
        while folders:
            folder = folders.pop()
            for name, status in self._scan(folder):
                seen += 1
                if seen > limits.max_entries:
                    raise LimitExceededError(self._where, "max_entries", limits.max_entries, seen)
                path = f"{folder}/{name}" if folder else name
                kind = stat.S_IFMT(status.st_mode)
                if kind == stat.S_IFREG:
                    files[path] = _File(status.st_size, bool(status.st_mode & stat.S_IXUSR))
                elif kind == stat.S_IFDIR:
                    check_entry_path(path)
                    folders.append(path)
                else:
                    observed = _KINDS.get(kind, "something else")
                    raise UnsafeEntryError(
                        path, f"kind: expected a file or a folder, observed {observed}"
                    )
        return files

    def _scan(self, folder: str) -> list[tuple[str, os.stat_result]]:
        """List one folder, links as links."""
        handle = self._open_folder(folder)
        try:
            with os.scandir(handle) as items:
                return [(item.name, item.stat(follow_symlinks=False)) for item in items]
        except OSError as error:
            self._refuse_system(folder, error)
        finally:
            os.close(handle)

    def _open_folder(self, folder: str) -> int:
        """Open a folder below the root without ever following a link."""
        handle = os.dup(self._root)
        for name in folder.split("/") if folder else ():
            try:
                inner = os.open(name, _FOLDER_FLAGS, dir_fd=handle)
            except OSError as error:
                self._refuse_system(folder, error)
            finally:
                os.close(handle)
            handle = inner
        return handle

    def _refuse_system(self, path: str, error: OSError) -> NoReturn:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            rule = "kind: expected what was listed, observed a link or file in its place"
            raise UnsafeEntryError(path, rule) from error
        raise UsageError(
            f"{self._where}: entry {path!r}: expected to read it, observed {error.strerror!r}"
        ) from error


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
        observed = _KINDS.get(kind, "something else")
        raise UsageError(f"{path}: expected a package (zip or directory), observed {observed}")
    flags = (_FOLDER_FLAGS if kind == stat.S_IFDIR else _OPEN_FLAGS) & ~os.O_NOFOLLOW
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


def _check_paths(paths: tuple[str, ...]) -> None:
    """Apply the rules of paths, each and together."""
    for path in paths:
        check_entry_path(path)
    check_path_set(paths)
