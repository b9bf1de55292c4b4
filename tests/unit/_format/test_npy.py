"""Arrays as bytes: canonical form, type strings and headers."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from repropack._format.npz import array_type, canonical_array, npy_header
from repropack.errors import UnsupportedDtypeError

# ---------------------------------------------------------------- canonical arrays


@pytest.mark.parametrize(
    ("array", "dtype", "shape", "data"),
    [
        (np.array([1, 2], ">i2"), "<i2", (2,), "01000200"),
        (np.array([[1, 2], [3, 4]], "u1", order="F"), "|u1", (2, 2), "01020304"),
        (np.arange(6, dtype="i1")[::-2], "|i1", (3,), "050301"),
        (np.array(1.5, ">f8"), "<f8", (), "000000000000f83f"),
        (np.float32(-0.0), "<f4", (), "00000080"),
        (np.bool_(True), "|b1", (), "01"),
        (np.array([1 + 2j], ">c8"), "<c8", (1,), "0000803f00000040"),
        (np.zeros((0, 3), ">f2"), "<f2", (0, 3), ""),
        (np.broadcast_to(np.int64(7), (2,)), "<i8", (2,), "07000000000000000700000000000000"),
        (np.array([1, 2], np.longlong), "<i8", (2,), "01000000000000000200000000000000"),
    ],
    ids=str,
)
def test_canonical_array(array: Any, dtype: str, shape: tuple[int, ...], data: str) -> None:
    """Any layout and byte order becomes little-endian C order; shape and rank are kept."""
    result = canonical_array("u", array)
    assert type(result) is np.ndarray
    assert (result.dtype.str, result.shape, result.tobytes().hex()) == (dtype, shape, data)
    assert result.flags.c_contiguous
    assert array_type(array) == dtype


def test_canonical_array_is_not_copied() -> None:
    """An array that already has the form is handed back as it is."""
    array = np.arange(3)
    assert np.shares_memory(canonical_array("u", array), array)


def test_subclasses_are_plain() -> None:
    """A subclass of ndarray is seen as a plain array."""

    class Named(np.ndarray): ...

    result = canonical_array("u", np.arange(3, dtype="i1").view(Named))
    assert (type(result), result.tolist()) == (np.ndarray, [0, 1, 2])


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.zeros(2, np.longdouble), "float128"),
        (np.zeros(2, np.clongdouble), "complex256"),
        (np.array([None]), "object"),
        (np.array(["a"]), "<U1"),
        (np.array([b"a"]), "|S1"),
        (np.zeros(2, "V4"), "|V4"),
        (np.zeros(2, [("a", "<f4")]), "[('a', '<f4')]"),
        (np.zeros(2, "M8[s]"), "datetime64[s]"),
        (np.zeros(2, "m8[s]"), "timedelta64[s]"),
        (np.datetime64(0, "s"), "datetime64[s]"),
        (np.ma.masked_array([1.0], [True]), "masked float64"),
        ([1.0], "list"),
        (1.0, "float"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_unsupported_types(array: object, dtype: str) -> None:
    """Whatever is not plain numbers is refused, with its name and type."""
    with pytest.raises(UnsupportedDtypeError) as caught:
        canonical_array("model.w", array)
    assert (caught.value.name, caught.value.dtype) == ("model.w", dtype)


# ---------------------------------------------------------------- headers


@pytest.mark.parametrize(
    ("dtype", "shape", "text"),
    [
        ("<f4", (), "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"),
        ("|b1", (3,), "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }"),
        ("<c16", (2, 0, 3), "{'descr': '<c16', 'fortran_order': False, 'shape': (2, 0, 3), }"),
    ],
)
def test_header(dtype: str, shape: tuple[int, ...], text: str) -> None:
    """The header is this text, padded to 128 bytes, and the one that NumPy writes."""
    header = npy_header(dtype, shape)
    assert header == b"\x93NUMPY\x01\x00\x76\x00" + text.encode().ljust(117) + b"\n"
    stream = io.BytesIO()
    description = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, description)
    assert stream.getvalue() == header


def test_header_refuses_types() -> None:
    """There is no header for a type that cannot be stored."""
    for dtype in (">f4", "=f4", "f4", "<f16", "|O", "|V8"):
        with pytest.raises(UnsupportedDtypeError):
            npy_header(dtype, ())
