"""Arrays as bytes: which types can be stored, and the one header that each has.

Little-endian, C order, version 1.0 of NumPy's format. Layout and byte order in memory leave no
trace. Headers are written and compared as literal text; nothing is evaluated or unpickled.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repropack.errors import PackageFormatError, StateError, UnsupportedDtypeError
from repropack.models.base import RECORDED_PATTERN
from repropack.refusals import refusal

STORABLE_TYPES = frozenset(
    {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"}
    | {"<f2", "<f4", "<f8", "<c8", "<c16"}
)
"""Every type string that an array in an npz may have."""

SUFFIX = ".npy"
MAGIC = b"\x93NUMPY\x01\x00"
PREFIX_BYTES = len(MAGIC) + 2
_ALIGNMENT_BYTES = 64
_MAX_ARRAY_BYTES = 2**63 - 1
_NAME = re.compile(RECORDED_PATTERN)
_MAX_NAME_BYTES = 210
_NUMBER = r"(?:0|[1-9][0-9]{0,18})"
_HEADER = re.compile(
    r"\{'descr': '(?P<dtype>[|<][a-z][0-9]{1,2})', 'fortran_order': False, "
    rf"'shape': \((?P<shape>|{_NUMBER},|{_NUMBER}(?:, {_NUMBER})+)\), \}} *\n"
)


def canonical_array(name: str, array: object) -> NDArray[Any]:
    """Return the array in the form that is stored: little-endian, C order, a plain ndarray.

    Values and shape are unchanged, rank 0 included; no copy is made of an array that already
    has the form, so the result may share memory with ``array``.

    Args:
        name: Name of the array; used in error messages only.
        array: NumPy array or scalar of shape ``(d0, ..., dk)``, any rank, any layout and byte
            order, whose type is bool, integer or float of up to 64 bits, or complex of up to
            128 bits. A scalar is an array of rank 0; a subclass is seen as a plain array.

    Returns:
        Array of the same shape and values whose type is one of ``STORABLE_TYPES``.

    Raises:
        UnsupportedDtypeError: ``array`` is no NumPy array, is masked, or is of another type.
        StateError: a bool's byte is neither 0 nor 1, so that equal values would have other bytes.

    Example:
        >>> import numpy as np
        >>> canonical_array("u", np.arange(3, dtype=">i2")[::-1]).tobytes().hex()
        '020001000000'
    """
    if isinstance(array, np.ma.MaskedArray):
        raise UnsupportedDtypeError(name, f"masked {array.dtype}")
    if not isinstance(array, np.ndarray | np.generic):
        raise UnsupportedDtypeError(name, type(array).__qualname__)
    plain: NDArray[Any] = np.asarray(array)
    stored = np.dtype(array_type(plain, name=name))
    if stored.kind == "b" and plain.size and plain.view(np.uint8).max() > 1:
        raise StateError(name, "holds a bool that is neither 0 nor 1 in its byte")
    return plain.astype(stored, order="C", copy=False)


def array_type(array: NDArray[Any] | np.generic, *, name: str = "array") -> str:
    """Return the type string under which an array is stored, such as ``<f4`` or ``|b1``.

    Args:
        array: Array or scalar of any shape and byte order.
        name: Name of the array; used in error messages only.

    Returns:
        One of ``STORABLE_TYPES``, whatever the byte order in memory.

    Raises:
        UnsupportedDtypeError: The type is not among them.
    """
    dtype = array.dtype
    order = "|" if dtype.itemsize == 1 else "<"
    text = f"{order}{dtype.kind}{dtype.itemsize}"
    if text not in STORABLE_TYPES:
        raise UnsupportedDtypeError(name, str(dtype))
    return text


def array_bytes(array: NDArray[Any]) -> memoryview:
    """Return the elements of a C-contiguous array of any rank as one flat view of bytes."""
    return array.reshape(-1).view(np.uint8).data


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    r"""Return everything that precedes the elements of a version 1.0 ``.npy`` file.

    The text is the one that NumPy itself writes, padded with blanks to the next multiple of
    64 bytes.

    Args:
        dtype: One of ``STORABLE_TYPES``.
        shape: Lengths of the axes, each at least 0.

    Returns:
        Magic, version, length and header text; a multiple of 64 bytes.

    Raises:
        UnsupportedDtypeError: ``dtype`` is not a type that can be stored.

    Example:
        >>> npy_header("<f4", (2, 3))[10:]
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                                                          \n"
    """  # noqa: E501 - the doctest shows the whole header
    if dtype not in STORABLE_TYPES:
        raise UnsupportedDtypeError("array", dtype)
    axes = ", ".join(str(int(length)) for length in shape) + ("," if len(shape) == 1 else "")
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({axes}), }}"
    padding = -(PREFIX_BYTES + len(text) + 1) % _ALIGNMENT_BYTES
    body = (text + " " * padding + "\n").encode("ascii")
    return MAGIC + struct.pack("<H", len(body)) + body


def parse_npy_header(where: str, place: str, header: bytes) -> tuple[str, tuple[int, ...]]:
    """Parse a header that must be exactly what ``npy_header`` writes for its values.

    Args:
        where: What is being read; used in error messages only.
        place: Where in it the array lies; used in error messages only.
        header: Magic, version, length and header text.

    Returns:
        Type string, one of ``STORABLE_TYPES``, and shape in elements.

    Raises:
        PackageFormatError: Another version, type, order or spelling.
    """
    match = _HEADER.fullmatch(header[PREFIX_BYTES:].decode("latin-1"))
    if match is None or match["dtype"] not in STORABLE_TYPES:
        expected_kind, observed = "a storable little-endian array in C order", repr(header[:100])
        raise PackageFormatError(
            refusal("npy.header", where, f"{place}: array header", expected_kind, observed)
        )
    shape = tuple(int(length) for length in re.findall(r"[0-9]+", match["shape"]))
    expected = npy_header(match["dtype"], shape)
    if header != expected:
        raise PackageFormatError(
            refusal(
                "npy.header", where, f"{place}: array header", repr(expected), repr(header[:200])
            )
        )
    return match["dtype"], shape


def array_size(where: str, place: str, dtype: str, shape: tuple[int, ...]) -> int:
    """Return the exact number of bytes of an array's elements.

    Args:
        where: What is being read; used in error messages only.
        place: Where in it the array lies; used in error messages only.
        dtype: One of ``STORABLE_TYPES``.
        shape: Lengths of the axes, each at least 0.

    Returns:
        Product of the lengths and the size of an element, in bytes.

    Raises:
        PackageFormatError: No NumPy array can have this shape, even where it is empty.
    """
    element_bytes = np.dtype(dtype).itemsize
    strides_bytes = math.prod(max(length, 1) for length in shape) * element_bytes
    if strides_bytes > _MAX_ARRAY_BYTES:
        expected = f"at most {_MAX_ARRAY_BYTES} bytes"
        raise PackageFormatError(
            refusal("npy.shape", where, f"{place}: array shape", expected, strides_bytes)
        )
    return math.prod(shape) * element_bytes


def is_array_name(name: str) -> bool:
    """Return whether an array in an npz may have this name: a state's or a stage's."""
    return _NAME.fullmatch(name) is not None and len(name) <= _MAX_NAME_BYTES
