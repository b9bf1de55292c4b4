"""Named arrays in one file, written and read by ourselves: the npz of NumPy, in one pinned form.

Members are ``<name>.npy``, stored, sorted by the bytes of the member's name; containers of equal
arrays are equal byte for byte. ``numpy.load`` reads them; nothing here ever calls it, and nothing
is ever pickled. Sizes are checked in exact integers before memory is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, BinaryIO

from numpy.typing import NDArray

from repropack._format.archive_writer import BLOCK_BYTES, ArchiveWriter, split_blocks
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.npy import (
    STORABLE_TYPES,
    SUFFIX,
    array_bytes,
    array_size,
    array_type,
    canonical_array,
    is_array_name,
    npy_header,
)
from repropack._format.npz_reader import NpzReader
from repropack.errors import StateError

__all__ = [
    "STORABLE_TYPES",
    "NpzReader",
    "NpzWriter",
    "array_type",
    "canonical_array",
    "npy_header",
    "npz_order",
    "read_npz",
    "write_npz",
]


class NpzWriter:
    """Writes an npz array by array, in the order of ``npz_order``.

    Determinism:
        Equal names, types, shapes and elements give equal bytes on every system.
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Begin an npz.

        Args:
            stream: Where the bytes go; written in order, never sought.
        """
        self._archive = ArchiveWriter(stream)
        self._last = ""

    def add_array(self, name: str, array: NDArray[Any]) -> None:
        """Add one array.

        Args:
            name: Its name: letters, digits and ``_.+-``, with ``#<number>`` at the end or not.
            array: Array of any shape and layout, of a type that ``canonical_array`` accepts.

        Raises:
            UnsupportedDtypeError: The array's type cannot be stored.
            StateError: The name is not a name, or does not follow the one before it.
            IntegrityError: The array changed while it was being written.
        """
        stored = canonical_array(name, array)
        header = npy_header(array_type(stored, name=name), stored.shape)
        elements = array_bytes(stored)

        def blocks() -> Iterable[bytes | memoryview]:
            return chain([header], split_blocks(elements))

        self._archive.add_blocks(self._member_name(name), blocks, size=len(header) + stored.nbytes)

    def add_raw(self, name: str, dtype: str, shape: tuple[int, ...], source: BinaryIO) -> None:
        """Add one array whose elements lie in a file; memory is independent of its size.

        Args:
            name: As in ``add_array``.
            dtype: Type of the elements, one of ``STORABLE_TYPES``.
            shape: Lengths of the axes, each at least 0.
            source: Seekable; from where it stands to its end exactly the elements,
                little-endian and in C order. Read twice.

        Raises:
            UnsupportedDtypeError: ``dtype`` is not a type that can be stored.
            PackageFormatError: No array can have this shape.
            StateError: The name is not a name, or does not follow the one before it.
            IntegrityError: The source has another length, or changed while it was read.
        """
        header = npy_header(dtype, shape)
        size = len(header) + array_size(name, "array", dtype, shape)
        start = source.tell()

        def blocks() -> Iterable[bytes | memoryview]:
            source.seek(start)
            return chain([header], iter(lambda: source.read(BLOCK_BYTES), b""))

        self._archive.add_blocks(self._member_name(name), blocks, size=size)

    def finish(self) -> None:
        """Write the end of the npz. Nothing can be added after it."""
        self._archive.finish()

    def _member_name(self, name: str) -> str:
        """Check name and order, and return the name of the zip entry."""
        if not is_array_name(name):
            raise StateError(
                name, f"array name: expected letters, digits and _.+-, observed {name!r}"
            )
        member = name + SUFFIX
        if member <= self._last:
            raise StateError(
                name, f"array name: expected one sorted after {self._last!r}, observed {member!r}"
            )
        self._last = member
        return member


def npz_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return array names in the order of an npz: by the bytes of ``<name>.npy``."""
    return tuple(sorted(names, key=lambda name: (name + SUFFIX).encode("utf-8", "surrogatepass")))


def write_npz(stream: BinaryIO, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as an npz; their order in ``arrays`` and layout in memory leave no trace.

    Args:
        stream: Where the bytes go; written in order, never sought.
        arrays: By name, each as in ``NpzWriter.add_array``; may be empty.

    Raises:
        UnsupportedDtypeError: An array's type cannot be stored.
        StateError: A name is not a name.
        IntegrityError: An array changed while it was being written.
    """
    writer = NpzWriter(stream)
    for name in npz_order(arrays):
        writer.add_array(name, arrays[name])
    writer.finish()


def read_npz(
    stream: BinaryIO, *, where: str, limits: Limits = DEFAULT_LIMITS
) -> dict[str, NDArray[Any]]:
    """Read every array of an npz, in stored order, and verify their checksums.

    Args:
        stream: The npz from byte 0, seekable.
        where: Name of the file; used in error messages only.
        limits: Limits on entries, names, headers and rank.

    Returns:
        New writable arrays by name, little-endian and in C order.

    Raises:
        PackageFormatError: The bytes are not an npz in the pinned form, or are damaged.
        LimitExceededError: A limit would be exceeded.

    Example:
        >>> from io import BytesIO
        >>> import numpy as np
        >>> stream = BytesIO()
        >>> write_npz(stream, {"u": np.arange(3, dtype="i2")})
        >>> read_npz(stream, where="u.npz")
        {'u': array([0, 1, 2], dtype=int16)}
    """
    reader = NpzReader(stream, where=where, limits=limits)
    return {name: reader.read(name) for name in reader.arrays}
