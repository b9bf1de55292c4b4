"""Reads an npz of exactly the form that ``NpzWriter`` makes, array by array.

Sizes are checked in exact integers before memory is asked for; elements are read straight into
the arrays that are handed out.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from repropack._format.archive_reader import ArchiveReader
from repropack._format.limits import DEFAULT_LIMITS, MEBIBYTE, Limits
from repropack._format.npy import (
    PREFIX_BYTES,
    SUFFIX,
    array_bytes,
    array_size,
    is_array_name,
    parse_npy_header,
)
from repropack._format.zip_layout import ZipMember
from repropack.errors import LimitExceededError, PackageFormatError, UsageError


@dataclass(frozen=True, slots=True)
class _StoredArray:
    """Where an array lies: ``header_bytes`` and ``element_bytes`` (all of them) in bytes."""

    member: str
    dtype: str
    shape: tuple[int, ...]
    header_bytes: int
    element_bytes: int


class NpzReader:
    """Reads an npz of exactly the form that ``NpzWriter`` makes, array by array.

    Opening it reads every header and no element; whatever is not in the form is refused then.
    """

    def __init__(self, stream: BinaryIO, *, where: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """Open an npz.

        Args:
            stream: The npz from byte 0, seekable; must stay open while arrays are read.
            where: Name of the file; used in error messages only.
            limits: Limits on entries, names, headers and rank.

        Raises:
            PackageFormatError: The bytes are not an npz in the pinned form.
            LimitExceededError: A limit would be exceeded.
        """
        self._where = where
        self._archive = ArchiveReader(stream, where=where, limits=limits)
        self._stored: dict[str, _StoredArray] = {}
        last = ""
        for member in self._archive.members.values():
            self._check_member(member, last)
            last = member.name
            self._stored[last.removesuffix(SUFFIX)] = self._read_header(member, limits)

    @property
    def arrays(self) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """Type string and shape of every array by name, in stored order."""
        return {name: (array.dtype, array.shape) for name, array in self._stored.items()}

    def read(self, name: str) -> NDArray[Any]:
        """Read one array and verify its checksum.

        Args:
            name: One of ``arrays``.

        Returns:
            A new writable array, little-endian and in C order.

        Raises:
            UsageError: There is no such array.
            PackageFormatError: The elements are damaged.
        """
        stored = self._lookup(name)
        result = np.empty(stored.shape, np.dtype(stored.dtype))
        with self._archive.open(stored.member) as stream:
            stream.read(stored.header_bytes)  # the checksum covers it too
            self._fill(stream, stored, result)
        return result

    def read_rows(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Read part of one array without reading the rest.

        The checksum covers the whole array and is not verified here: read rows only of a file
        whose digest was checked, or use ``iter_rows``.

        Args:
            name: One of ``arrays``, of rank 1 or more.
            start: First index on the leading axis, from 0.
            stop: Index after the last, ``start <= stop <= shape[0]``.

        Returns:
            A new writable array of shape ``(stop - start, *shape[1:])``.

        Raises:
            UsageError: There is no such array, or it has no such rows.
            PackageFormatError: The elements are damaged.
        """
        stored = self._lookup(name)
        rows = stored.shape[0] if stored.shape else 0
        if not 0 <= start <= stop <= rows or not stored.shape:
            raise UsageError(
                f"{self._where}: array {name!r}: expected rows within 0 to {rows}, "
                f"observed {start} to {stop}"
            )
        result = np.empty((stop - start, *stored.shape[1:]), np.dtype(stored.dtype))
        with self._archive.open(stored.member) as stream:
            row_bytes = stored.element_bytes // max(rows, 1)
            stream.seek(stored.header_bytes + start * row_bytes)
            self._fill(stream, stored, result)
        return result

    def iter_rows(self, name: str, max_block_bytes: int = 16 * MEBIBYTE) -> Iterator[NDArray[Any]]:
        """Read one array along its leading axis, block by block, and verify its checksum.

        Args:
            name: One of ``arrays``, of rank 1 or more.
            max_block_bytes: Size of a block, in bytes; a single longer row is a block too.

        Yields:
            New writable arrays of shape ``(rows, *shape[1:])``, in order, together the array.

        Raises:
            UsageError: There is no such array, or it has no rows.
            PackageFormatError: The elements are damaged; the checksum is known with the last.
        """
        stored = self._lookup(name)
        if not stored.shape:
            raise UsageError(f"{self._where}: array {name!r}: expected rows, observed rank 0")
        rows = stored.shape[0]
        block_rows = max(1, max_block_bytes * rows // max(stored.element_bytes, 1))
        with self._archive.open(stored.member) as stream:
            stream.read(stored.header_bytes)  # the checksum covers it too
            for start in range(0, rows, block_rows):
                shape = (min(block_rows, rows - start), *stored.shape[1:])
                block = np.empty(shape, np.dtype(stored.dtype))
                self._fill(stream, stored, block)
                yield block

    def _lookup(self, name: str) -> _StoredArray:
        if name not in self._stored:
            raise UsageError(
                f"{self._where}: array: expected one of its {len(self._stored)} arrays, "
                f"observed {name!r}"
            )
        return self._stored[name]

    def _check_member(self, member: ZipMember, last: str) -> None:
        """Refuse a zip entry that the writer would not have made."""
        where = f"{self._where}: entry {member.name!r}"
        if not member.name.endswith(SUFFIX) or not is_array_name(member.name[: -len(SUFFIX)]):
            raise PackageFormatError(
                f"{where}: expected <array name>.npy, observed {member.name!r}"
            )
        if member.name <= last:
            raise PackageFormatError(
                f"{where}: expected members sorted, observed it after {last!r}"
            )
        if member.deflated or member.executable:
            observed = "deflated" if member.deflated else "executable"
            raise PackageFormatError(
                f"{where}: expected a stored plain member, observed {observed}"
            )

    def _read_header(self, member: ZipMember, limits: Limits) -> _StoredArray:
        where = f"{self._where}: entry {member.name!r}"
        with self._archive.open(member.name) as stream:
            prefix = stream.read(PREFIX_BYTES)
            length = struct.unpack("<H", prefix[-2:])[0] if len(prefix) == PREFIX_BYTES else 0
            if PREFIX_BYTES + length > limits.max_npy_header_bytes:
                allowed, observed = limits.max_npy_header_bytes, PREFIX_BYTES + length
                raise LimitExceededError(where, "max_npy_header_bytes", allowed, observed)
            header = prefix + stream.read(length)
        dtype, shape = parse_npy_header(where, header)
        if len(shape) > limits.max_array_rank:
            raise LimitExceededError(where, "max_array_rank", limits.max_array_rank, len(shape))
        element_bytes = array_size(where, dtype, shape)
        if len(header) + element_bytes != member.size:
            raise PackageFormatError(
                f"{where}: length: expected {len(header) + element_bytes} bytes for type {dtype} "
                f"and shape {shape}, observed {member.size}"
            )
        return _StoredArray(member.name, dtype, shape, len(header), element_bytes)

    def _fill(self, stream: io.BufferedReader, stored: _StoredArray, array: NDArray[Any]) -> None:
        """Read elements straight into a new array, all of it."""
        count = stream.readinto(array_bytes(array))
        if count != array.nbytes:
            raise PackageFormatError(
                f"{self._where}: entry {stored.member!r}: expected {array.nbytes} bytes, "
                f"observed {count} before the end of the file"
            )
        if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
            raise PackageFormatError(
                f"{self._where}: entry {stored.member!r}: expected bool bytes 0 and 1, observed "
                f"{array.view(np.uint8).max()}"
            )
