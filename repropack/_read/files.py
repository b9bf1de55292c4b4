"""What a package's files are, the same whether it is a zip or a directory.

Whatever the form, every path was checked before anything else looks at it, the files are regular
ones, and their order is that of ``package_order``. Contents are not looked at here.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from functools import cached_property
from types import TracebackType
from typing import BinaryIO, Self

from repropack._format.paths import check_entry_path, check_path_set


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

    def random_access(self, path: str) -> bool:  # noqa: ARG002 - a zip's depends on the entry
        """Return whether any part of a file is read without what lies before it.

        Args:
            path: One of ``paths``.

        Returns:
            False for a deflated entry of a zip.

        Raises:
            UsageError: There is no such file.
        """
        return True

    @abstractmethod
    def check_unchanged(self) -> None:
        """Demand that the package is what it was when it was opened.

        Raises:
            PackageFormatError: It was changed, or files came or went.
        """

    def whole_digest(self) -> str | None:
        """Return the digest of the container as one file.

        Returns:
            That of a zip's bytes, ``sha256:<64 hex>``; ``None`` for a directory, which has none.

        Raises:
            PackageFormatError: It changed since it was opened.
        """
        return None

    @abstractmethod
    def close(self) -> None:
        """Close what the container holds; streams opened from it end too or must be closed."""

    def __contains__(self, path: object) -> bool:
        """Whether there is such a file."""
        return path in self._known

    def names_in(self, folder: str) -> tuple[str, ...]:
        """Names of the files that lie in a folder, not deeper, sorted by bytes."""
        return tuple(self._folders.get(folder, ()))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.paths)

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self.paths:
            folder, _, name = path.rpartition("/")
            found.setdefault(folder, []).append(name)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def check_paths(paths: tuple[str, ...]) -> None:
    """Apply the rules of paths, each and together."""
    for path in paths:
        check_entry_path(path)
    check_path_set(paths)


def identity(status: os.stat_result) -> tuple[int, ...]:
    """What changes when a file is replaced, cut, or written to."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
