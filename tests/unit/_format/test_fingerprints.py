"""The array fingerprint, against SHA-256 over bytes written down by hand."""

from __future__ import annotations

import hashlib
import struct
import time
from typing import Any

import numpy as np
import pytest

from repropack._format.fingerprints import fingerprint_array, fingerprint_canonical
from repropack.errors import StateError, UnsupportedDtypeError
from tests.strategies import BYTE_ORDERS, LAYOUTS, STORABLE_TYPES, laid_out


def by_hand(dtype: str, shape: str, elements: bytes) -> str:
    """REFERENCE.md, "Array fingerprint", word for word."""
    hasher = hashlib.sha256()
    hasher.update(b"repropack.array.v1\n")
    hasher.update(dtype.encode("ascii"))
    hasher.update(b"\n")
    hasher.update(shape.encode("ascii"))
    hasher.update(b"\n")
    hasher.update(elements)
    return "sha256:" + hasher.hexdigest()


LITERAL: dict[str, tuple[Any, str, str, bytes]] = {
    "bool": (np.array([True, False]), "|b1", "2", b"\x01\x00"),
    "int8": (np.array([-1, 2], "i1"), "|i1", "2", b"\xff\x02"),
    "uint8": (np.array([255], "u1"), "|u1", "1", b"\xff"),
    "int16": (np.array([-2], "i2"), "<i2", "1", struct.pack("<h", -2)),
    "uint16": (np.array([65534], "u2"), "<u2", "1", b"\xfe\xff"),
    "int32": (np.array([[1, 2]], "i4"), "<i4", "1,2", struct.pack("<ii", 1, 2)),
    "uint32": (np.array([2**32 - 1], "u4"), "<u4", "1", b"\xff" * 4),
    "int64": (np.array([-(2**63)]), "<i8", "1", b"\x00" * 7 + b"\x80"),
    "uint64": (np.array([2**64 - 1], "u8"), "<u8", "1", b"\xff" * 8),
    "float16": (np.array([1.5], "f2"), "<f2", "1", b"\x00\x3e"),
    "float32": (np.array([1, 2, 3], "f4"), "<f4", "3", struct.pack("<fff", 1, 2, 3)),
    "float64": (np.array([[1.0], [2.0]]), "<f8", "2,1", struct.pack("<dd", 1, 2)),
    "complex64": (np.array([1 + 2j], "c8"), "<c8", "1", struct.pack("<ff", 1, 2)),
    "complex128": (np.array([1 - 2j]), "<c16", "1", struct.pack("<dd", 1, -2)),
    "rank-0": (np.array(7, "i4"), "<i4", "", b"\x07\x00\x00\x00"),
    "scalar": (np.int32(7), "<i4", "", b"\x07\x00\x00\x00"),
    "numpy-bool": (np.True_, "|b1", "", b"\x01"),
    "one-element": (np.array([7], "i4"), "<i4", "1", b"\x07\x00\x00\x00"),
    "empty": (np.zeros(0, "f4"), "<f4", "0", b""),
    "empty-columns": (np.zeros((3, 0), "f4"), "<f4", "3,0", b""),
    "empty-rows": (np.zeros((0, 3), "f4"), "<f4", "0,3", b""),
    "big-endian": (np.array([1], ">i4"), "<i4", "1", b"\x01\x00\x00\x00"),
    "fortran": (np.array([[1, 2], [3, 4]], "i1", order="F"), "|i1", "2,2", b"\x01\x02\x03\x04"),
    "reversed": (np.arange(3, dtype="i1")[::-1], "|i1", "3", b"\x02\x01\x00"),
    "strided": (np.arange(6, dtype="i1")[::2], "|i1", "3", b"\x00\x02\x04"),
    "broadcast": (np.broadcast_to(np.int8(5), (2, 2)), "|i1", "2,2", b"\x05" * 4),
    "minus-zero": (np.float32(-0.0), "<f4", "", b"\x00\x00\x00\x80"),
    "subclass": (np.array([[1, 2]], "i1").view(np.matrix), "|i1", "1,2", b"\x01\x02"),
    "unaligned": (np.frombuffer(b"\x00\x01\x00\x00\x00", "<i4", 1, 1), "<i4", "1", b"\x01\0\0\0"),
}


@pytest.mark.parametrize(
    ("array", "dtype", "shape", "elements"), LITERAL.values(), ids=LITERAL.keys()
)
def test_fingerprint_is_sha256_over_type_shape_and_elements(
    array: Any, dtype: str, shape: str, elements: bytes
) -> None:
    """A fingerprint can be computed with nothing but SHA-256 and the reference document."""
    assert fingerprint_array("w", array) == by_hand(dtype, shape, elements)


def test_one_fingerprint_as_a_literal() -> None:
    """One value is written down, so that neither side of the other tests can drift alone."""
    assert fingerprint_array("w", np.arange(3, dtype="<f4")) == (
        "sha256:45634bf6401a58c9be8d8a8848db66161228967ab172f3ac17856c7f0ef3c0d4"
    )


def nan(bits: int) -> Any:
    return np.array([bits], "<u8").view("<f8")


DIFFERENT = {
    "sign-of-zero": (np.float64(0.0), np.float64(-0.0)),
    "sign-of-complex-zero": (np.array([0j]), np.array([-0j]).conj()),
    "nan-payload": (nan(0x7FF8000000000000), nan(0x7FF8000000000001)),
    "nan-sign": (nan(0x7FF8000000000000), nan(0xFFF8000000000000)),
    "nan-signalling": (nan(0x7FF8000000000001), nan(0x7FF0000000000001)),
    "one-ulp": (np.float32(1.0), np.nextafter(np.float32(1.0), np.float32(2.0))),
    "float-width": (np.zeros(2, "f4"), np.zeros(1, "f8")),
    "signedness": (np.zeros(2, "i4"), np.zeros(2, "u4")),
    "kind": (np.zeros(2, "i4"), np.zeros(2, "f4")),
    "bool-and-byte": (np.zeros(2, "?"), np.zeros(2, "u1")),
    "complex-and-pair": (np.zeros(1, "c8"), np.zeros(2, "f4")),
    "rank-0-and-1": (np.array(1.0), np.array([1.0])),
    "trailing-axis": (np.zeros(3), np.zeros((3, 1))),
    "leading-axis": (np.zeros(3), np.zeros((1, 3))),
    "transposed-shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "digits-of-shape": (np.zeros((1, 11)), np.zeros((11, 1))),
    "empty-shapes": (np.zeros((0, 3)), np.zeros((3, 0))),
    "empty-ranks": (np.zeros(0), np.zeros((0, 1))),
    "empty-types": (np.zeros(0, "f4"), np.zeros(0, "f8")),
    "transposed-elements": (np.array([[1, 2], [3, 4]]), np.array([[1, 3], [2, 4]])),
}


@pytest.mark.parametrize(("left", "right"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_arrays_that_differ_in_bits_differ_in_fingerprint(left: Any, right: Any) -> None:
    """Type, shape, signs of zero and NaN payloads all count."""
    assert fingerprint_array("w", left) != fingerprint_array("w", right)


@pytest.mark.parametrize("dtype", STORABLE_TYPES)
def test_layout_and_byte_order_leave_no_trace(dtype: str) -> None:
    """The same elements have one fingerprint, however they lie in memory."""
    array = np.frombuffer(bytes(range(12)) * 16, dtype)[:12].reshape(3, 4)
    if dtype == "|b1":
        array = np.arange(12).reshape(3, 4) % 3 == 0
    variants = [laid_out(array, layout, order) for layout in LAYOUTS for order in BYTE_ORDERS]
    assert {fingerprint_array("w", variant) for variant in variants} == {
        by_hand(dtype, "3,4", array.tobytes())
    }


REFUSED = {
    "objects": (np.array([object()]), "object"),
    "text": (np.array(["a"]), "<U1"),
    "bytes": (np.array([b"a"]), "|S1"),
    "records": (np.zeros(1, [("a", "f4")]), "[('a', '<f4')]"),
    "void": (np.zeros(1, "V4"), "|V4"),
    "dates": (np.zeros(1, "M8[s]"), "datetime64[s]"),
    "durations": (np.zeros(1, "m8[ns]"), "timedelta64[ns]"),
    "text-scalar": (np.str_("a"), "<U1"),
    "masked": (np.ma.masked_array([1.0], [True]), "masked float64"),
    "masked-scalar": (np.ma.masked, "masked float64"),
    "list": ([1.0], "list"),
    "float": (1.0, "float"),
    "none": (None, "NoneType"),
}
if np.dtype(np.longdouble).itemsize > 8:
    REFUSED["longdouble"] = (np.zeros(1, np.longdouble), str(np.dtype(np.longdouble)))
    REFUSED["clongdouble"] = (np.zeros(1, np.clongdouble), str(np.dtype(np.clongdouble)))


@pytest.mark.parametrize(("array", "dtype"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_stored_is_refused_by_name_and_type(array: Any, dtype: str) -> None:
    """The error names the array and the type that was met."""
    with pytest.raises(UnsupportedDtypeError) as caught:
        fingerprint_array("adam.first_moment", array)
    assert (caught.value.name, caught.value.dtype) == ("adam.first_moment", dtype)
    assert str(caught.value).startswith(f"'adam.first_moment': array type {dtype} cannot be stored")
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, StateError)


def test_fingerprinting_changes_nothing() -> None:
    """The array that was handed over keeps its type, order and elements, and is not kept."""
    array = np.arange(6, dtype=">f4").reshape(2, 3).T
    before = (array.dtype, array.strides, array.tobytes())
    fingerprint_array("w", array)
    assert (array.dtype, array.strides, array.tobytes()) == before


def test_a_read_only_array_can_be_fingerprinted() -> None:
    """Constants are often read-only."""
    array = np.arange(3, dtype="<i4")
    writable = fingerprint_array("w", array)
    array.flags.writeable = False
    assert fingerprint_array("w", array) == writable


def test_a_canonical_array_has_the_same_fingerprint() -> None:
    """Skipping the conversion skips nothing else."""
    array = np.arange(6, dtype="<f4").reshape(2, 3)
    assert fingerprint_canonical(array) == fingerprint_array("w", array)


def test_a_large_array_costs_little_more_than_its_digest() -> None:
    """Nothing is copied: 32 MiB are fingerprinted at the speed of SHA-256."""
    array = np.zeros(4 << 20)

    def seconds(action: Any) -> float:
        start = time.process_time()
        action()
        return time.process_time() - start

    plain = min(seconds(lambda: hashlib.sha256(array.data)) for _ in range(3))
    ours = min(seconds(lambda: fingerprint_array("w", array)) for _ in range(3))
    assert ours < 2 * plain + 0.02
