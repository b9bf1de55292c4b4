"""Reads an npz of exactly the form that ``NpzWriter`` makes, array by array.

Sizes are checked in exact integers before memory is asked for; elements are read straight into
the arrays that are handed out.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from repropack._format.archive_reader import ArchiveReader
from repropack._format.fingerprints import array_hasher
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
from repropack._format.zip_origin import Origin
from repropack.errors import PackageFormatError, UsageError

_ROW_BUFFER_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class _StoredArray:
    """Where an array lies: ``header_bytes`` and ``element_bytes`` (all of them) in bytes."""

    member: str
    dtype: str
    shape: tuple[int, ...]
    header_bytes: int
    element_bytes: int


@dataclass(frozen=True, slots=True)
class NpzIndex:
    """Where the arrays of an npz lie, as a reader found it."""

    members: Mapping[str, ZipMember]
    stored: Mapping[str, _StoredArray]


class NpzReader:
    """Reads an npz of exactly the form that ``NpzWriter`` makes, array by array.

    Opening it reads every header and no element; whatever is not in the form is refused then.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        where: str,
        limits: Limits = DEFAULT_LIMITS,
        index: NpzIndex | None = None,
    ) -> None:
        """Open an npz.

        Args:
            stream: The npz from byte 0, seekable; must stay open while arrays are read.
            where: Name of the file; used in error messages only.
            limits: Limits on entries, names, headers and rank.
            index: What another reader of this very npz found, which is then not read again.

        Raises:
            PackageFormatError: The bytes are not an npz in the pinned form.
            LimitExceededError: A limit would be exceeded.
        """
        self._where = where
        self._origin = Origin(where, nested=True)
        members = None if index is None else index.members
        self._archive = ArchiveReader(
            stream, where=where, limits=limits, nested=True, members=members
        )
        self._stored: Mapping[str, _StoredArray] = (
            self._read_headers(limits) if index is None else index.stored
        )

    def _read_headers(self, limits: Limits) -> dict[str, _StoredArray]:
        stored: dict[str, _StoredArray] = {}
        last = ""
        for member in self._archive.members.values():
            self._check_member(member, last)
            last = member.name
            stored[last.removesuffix(SUFFIX)] = self._read_header(member, limits)
        return stored

    @property
    def index(self) -> NpzIndex:
        """Where everything lies, for another reader of the same npz."""
        return NpzIndex(self._archive.members, self._stored)

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

    def iter_rows(
        self, name: str, max_block_bytes: int = 16 * MEBIBYTE, first_row: int = 0
    ) -> Iterator[NDArray[Any]]:
        """Read one array along its leading axis, block by block, and verify its checksum.

        The checksum is of the whole array, and is not verified where ``first_row`` is above 0.

        Args:
            name: One of ``arrays``, of rank 1 or more.
            max_block_bytes: Size of a block, in bytes; a single longer row is a block too.
            first_row: Index of the first row to read.

        Yields:
            New writable arrays of shape ``(rows, *shape[1:])``, in order, together the array from
            ``first_row`` on.

        Raises:
            UsageError: There is no such array, or it has no rows.
            PackageFormatError: The elements are damaged; the checksum is known with the last.
        """
        stored = self._lookup_rows(name)
        rows = stored.shape[0]
        block_rows = max(1, max_block_bytes * rows // max(stored.element_bytes, 1))
        with self._archive.open(stored.member) as stream:
            stream.read(stored.header_bytes)  # the checksum covers it too
            if first_row:
                stream.seek(stored.header_bytes + first_row * (stored.element_bytes // rows))
            for start in range(first_row, rows, block_rows):
                shape = (min(block_rows, rows - start), *stored.shape[1:])
                block = np.empty(shape, np.dtype(stored.dtype))
                self._fill(stream, stored, block)
                yield block

    def iter_elements(
        self, name: str, rows: tuple[int, int] | None = None, max_block_bytes: int = MEBIBYTE
    ) -> Iterator[NDArray[Any]]:
        """Read elements of one array in order, whatever its rows are; the memory is a block.

        The checksum is verified only where all of the array is read.

        Args:
            name: One of ``arrays``.
            rows: First row and the one after the last, of an array of rank 1 or more; all of the
                array where ``None``.
            max_block_bytes: Size of a block, in bytes; at least one element is read.

        Yields:
            New flat arrays. Two arrays of one type give blocks of the same sizes.

        Raises:
            UsageError: There is no such array.
            PackageFormatError: The elements are damaged.
        """
        stored = self._lookup(name)
        kind = np.dtype(stored.dtype)
        start, stop = 0, stored.element_bytes
        if rows is not None:
            row_bytes = stored.element_bytes // max(stored.shape[0], 1)
            start, stop = rows[0] * row_bytes, rows[1] * row_bytes
        step = max(1, max_block_bytes // kind.itemsize) * kind.itemsize
        with self._archive.open(stored.member) as stream:
            stream.read(stored.header_bytes)  # the checksum covers it too
            if start:
                stream.seek(stored.header_bytes + start)
            for place in range(start, stop, step):
                block = np.empty(min(step, stop - place) // kind.itemsize, kind)
                self._fill(stream, stored, block)
                yield block

    def fingerprint(self, name: str) -> str:
        """Fingerprint one array and verify its checksum; memory is independent of its size.

        Args:
            name: One of ``arrays``.

        Returns:
            What ``fingerprint_array`` gives for it.

        Raises:
            UsageError: There is no such array.
            PackageFormatError: The elements are damaged.
        """
        stored = self._lookup(name)
        with self._archive.open(stored.member) as stream:
            stream.read(stored.header_bytes)  # the checksum covers it too
            return self._fingerprint(stream, stored, stored.shape, stored.element_bytes)

    def iter_row_fingerprints(self, name: str) -> Iterator[str]:
        """Fingerprint one array along its leading axis, row by row, and verify its checksum.

        Args:
            name: One of ``arrays``, of rank 1 or more.

        Yields:
            What ``fingerprint_array`` gives for each row, in order.

        Raises:
            UsageError: There is no such array, or it has no rows.
            PackageFormatError: The elements are damaged; the checksum is known with the last.
        """
        stored = self._lookup_rows(name)
        rows = stored.shape[0]
        with self._archive.open(stored.member, _ROW_BUFFER_BYTES) as stream:
            stream.read(stored.header_bytes)  # the checksum covers it too
            for _ in range(rows):
                yield self._fingerprint(
                    stream, stored, stored.shape[1:], stored.element_bytes // rows
                )

    def _fingerprint(
        self, stream: io.BufferedReader, stored: _StoredArray, shape: tuple[int, ...], size: int
    ) -> str:
        """Fingerprint the elements that follow, ``size`` bytes of them."""
        hasher = array_hasher(stored.dtype, shape)
        for start in range(0, size, MEBIBYTE):
            block = np.empty(min(MEBIBYTE, size - start), np.uint8)
            self._fill(stream, stored, block if stored.dtype != "|b1" else block.view(np.bool_))
            hasher.update(block.data)
        return f"sha256:{hasher.hexdigest()}"

    def _lookup_rows(self, name: str) -> _StoredArray:
        stored = self._lookup(name)
        if not stored.shape:
            raise UsageError(f"{self._where}: array {name!r}: expected rows, observed rank 0")
        return stored

    def _lookup(self, name: str) -> _StoredArray:
        if name not in self._stored:
            raise UsageError(
                f"{self._where}: array: expected one of its {len(self._stored)} arrays, "
                f"observed {name!r}"
            )
        return self._stored[name]

    def _check_member(self, member: ZipMember, last: str) -> None:
        """Refuse a zip entry that the writer would not have made."""
        name = member.name
        if not name.endswith(SUFFIX) or not is_array_name(name[: -len(SUFFIX)]):
            self._refuse("npz.name", name, "<array name>.npy", repr(name))
        if name <= last:
            self._refuse("npz.order", name, "members sorted", f"it after {last!r}")
        if member.deflated or member.executable:
            observed = "deflated" if member.deflated else "executable"
            self._refuse("npz.member", name, "a stored plain member", observed)

    def _read_header(self, member: ZipMember, limits: Limits) -> _StoredArray:
        where, place = self._where, f"entry {member.name!r}"
        with self._archive.open(member.name) as stream:
            prefix = stream.read(PREFIX_BYTES)
            length = struct.unpack("<H", prefix[-2:])[0] if len(prefix) == PREFIX_BYTES else 0
            if PREFIX_BYTES + length > limits.max_npy_header_bytes:
                bounds = (limits.max_npy_header_bytes, PREFIX_BYTES + length)
                raise self._origin.limit("max_npy_header_bytes", member.name, "", bounds)
            header = prefix + stream.read(length)
        dtype, shape = parse_npy_header(where, place, header)
        if len(shape) > limits.max_array_rank:
            bounds = (limits.max_array_rank, len(shape))
            raise self._origin.limit("max_array_rank", member.name, "", bounds)
        element_bytes = array_size(where, place, dtype, shape)
        if len(header) + element_bytes != member.size:
            expected = f"{len(header) + element_bytes} bytes for type {dtype} and shape {shape}"
            rule = "npy.trailing-bytes" if member.size > len(header) + element_bytes else "npy.cut"
            self._refuse(rule, member.name, expected, str(member.size), "length")
        return _StoredArray(member.name, dtype, shape, len(header), element_bytes)

    def _fill(self, stream: io.BufferedReader, stored: _StoredArray, array: NDArray[Any]) -> None:
        """Read elements straight into a new array, all of it."""
        count = stream.readinto(array_bytes(array))
        if count != array.nbytes:
            observed = f"{count} before the end of the file"
            self._refuse("npy.cut", stored.member, f"{array.nbytes} bytes", observed)
        if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
            observed = str(array.view(np.uint8).max())
            self._refuse("npy.bool", stored.member, "bool bytes 0 and 1", observed)

    def _refuse(
        self, rule: str, member: str, expected: str, observed: str, place: str = ""
    ) -> NoReturn:
        one = self._origin.refusal(rule, member, place, expected, observed)
        raise PackageFormatError(one)
