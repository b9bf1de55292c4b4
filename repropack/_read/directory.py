"""A package as a directory: regular files below one handle, the same from listing to closing."""

from __future__ import annotations

import errno
import io
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import check_entry_path, package_order
from repropack._read.files import Container, check_paths, identity
from repropack.errors import LimitExceededError, UnsafeEntryError, UsageError
from repropack.refusals import refusal

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER_BYTES = 64 * 1024
OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
FOLDER_FLAGS = OPEN_FLAGS | os.O_DIRECTORY
KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a fifo",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
}


@dataclass(frozen=True, slots=True)
class _File:
    """A regular file of a directory, as it was listed; ``size`` in bytes."""

    size: int
    executable: bool
    identity: tuple[int, ...]


def _file_of(status: os.stat_result) -> _File:
    return _File(status.st_size, bool(status.st_mode & stat.S_IXUSR), _identity(status))


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """With the time of the last change, which nobody can set back as they can that of a write."""
    return (*identity(status), status.st_ctime_ns)


class _ListedFile(io.FileIO):
    """A file that is, from its first to its last byte, the one that was listed."""

    def __init__(self, handle: int, path: str, listed: _File) -> None:
        super().__init__(handle, "rb")
        self._path = path
        self._listed = listed
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        count = super().readinto(buffer)
        if not count:
            self._check()
        return count

    def readall(self) -> bytes:
        data = super().readall()
        self._check()
        return data

    def _check(self) -> None:
        if _identity(os.fstat(self.fileno())) != self._listed.identity:
            _refuse_changed(self._path, "the file that was listed", "another, or it was written to")


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
        self._limits = limits
        files = self._list_files()
        self._files = {path: files[path] for path in package_order(files)}
        check_paths(self.paths)

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
            handle = os.open(name, OPEN_FLAGS, dir_fd=parent)
        except OSError as error:
            self._refuse_system(path, error)
        finally:
            os.close(parent)
        kind = stat.S_IFMT(os.fstat(handle).st_mode)
        if kind != stat.S_IFREG:
            os.close(handle)
            _refuse_changed(path, "a file", KINDS[kind])
        return io.BufferedReader(_ListedFile(handle, path, self._files[path]), _BUFFER_BYTES)

    def check_unchanged(self) -> None:
        """List the directory again, and demand that it is the same."""
        files = self._list_files()
        for path in sorted(files.keys() ^ self._files.keys()):
            expected, observed = ("nothing", "a file") if path in files else ("a file", "nothing")
            _refuse_changed(path, expected, observed)
        for path, found in files.items():
            if found != self._files[path]:
                _refuse_changed(path, "the file that was listed", "another, or it was written to")

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

    def _list_files(self) -> dict[str, _File]:
        """Walk the tree, and refuse whatever is neither a file nor a folder."""
        files: dict[str, _File] = {}
        folders, seen = [""], 0
        while folders:
            folder = folders.pop()
            for name, status in self._scan(folder):
                seen += 1
                if seen > self._limits.max_entries:
                    bounds = (self._limits.max_entries, seen)
                    raise LimitExceededError("max_entries", self._where, "", bounds)
                path = f"{folder}/{name}" if folder else name
                kind = stat.S_IFMT(status.st_mode)
                if kind == stat.S_IFREG:
                    files[path] = _file_of(status)
                elif kind == stat.S_IFDIR:
                    check_entry_path(path)
                    folders.append(path)
                else:
                    observed = KINDS.get(kind, "something else")
                    raise UnsafeEntryError(
                        refusal("directory.kind", path, "kind", "a file or a folder", observed)
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
                inner = os.open(name, FOLDER_FLAGS, dir_fd=handle)
            except OSError as error:
                self._refuse_system(folder, error)
            finally:
                os.close(handle)
            handle = inner
        return handle

    def _refuse_system(self, path: str, error: OSError) -> NoReturn:
        if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.ENXIO}:
            _refuse_changed(path, "what was listed", "a link or another kind in its place", error)
        if error.errno == errno.ENOENT:
            _refuse_changed(path, "what was listed", "nothing", error)
        raise UsageError(
            f"{self._where}: entry {path!r}: expected to read it, observed {error.strerror!r}"
        ) from error


def _refuse_changed(
    path: str, expected: str, observed: str, cause: OSError | None = None
) -> NoReturn:
    raise UnsafeEntryError(
        refusal("directory.changed", path, "while it was read", expected, observed)
    ) from cause
