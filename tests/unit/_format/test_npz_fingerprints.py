"""Fingerprints of stored arrays, made without loading an array."""

from __future__ import annotations

import tracemalloc
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from repropack._format.fingerprints import fingerprint_array
from repropack._format.npz import NpzReader, NpzWriter, write_npz
from repropack.errors import PackageFormatError, UsageError

ARRAYS: dict[str, Any] = {
    "a": np.arange(12, dtype="f4").reshape(3, 4),
    "b": np.array([True, False, True]),
    "c": np.float64(-0.0),
    "d": np.zeros((0, 3), "i8"),
    "e": np.zeros((2, 0), "i8"),
    "f": np.arange(300_000, dtype="f8"),
}


def stored(arrays: dict[str, Any]) -> BytesIO:
    stream = BytesIO()
    write_npz(stream, arrays)
    return stream


@pytest.mark.parametrize("name", ARRAYS)
def test_a_stored_array_has_the_fingerprint_of_the_array(name: str) -> None:
    """Of any type, rank and size; from a second reader that was given the first one's index."""
    stream = stored(ARRAYS)
    index = NpzReader(stream, where="a.npz").index
    reader = NpzReader(stream, where="a.npz", index=index)
    assert reader.arrays == NpzReader(stream, where="a.npz").arrays
    assert reader.fingerprint(name) == fingerprint_array(name, ARRAYS[name])


@pytest.mark.parametrize("name", ["a", "b", "d", "e"])
def test_each_row_has_the_fingerprint_of_the_row(name: str) -> None:
    """In order, as many as there are rows."""
    reader = NpzReader(stored(ARRAYS), where="a.npz")
    expected = [fingerprint_array(name, row) for row in ARRAYS[name]]
    assert list(reader.iter_row_fingerprints(name)) == expected


def test_there_are_no_rows_of_rank_zero() -> None:
    """A single number has none."""
    reader = NpzReader(stored(ARRAYS), where="a.npz")
    with pytest.raises(UsageError, match="expected rows, observed rank 0"):
        next(reader.iter_row_fingerprints("c"))


@pytest.mark.hostile
def test_a_bool_beyond_0_and_1_has_no_fingerprint() -> None:
    """Though its checksum is right."""
    stream = BytesIO()
    writer = NpzWriter(stream)
    writer.add_raw("b", "|b1", (3,), BytesIO(b"\2\0\1"))
    writer.finish()
    with pytest.raises(PackageFormatError) as caught:
        NpzReader(stream, where="a.npz").fingerprint("b")
    assert (caught.value.rule, caught.value.entry, caught.value.observed) == (
        "npy.bool",
        "a.npz",
        "2",
    )


@pytest.mark.hostile
def test_damaged_elements_have_no_fingerprint() -> None:
    """Bytes that are not those of the checksum, at the end of a large array."""
    data = bytearray(stored({"f": ARRAYS["f"]}).getvalue())
    at = data.rindex(np.float64(299_999).tobytes())
    data[at] ^= 1
    reader = NpzReader(BytesIO(bytes(data)), where="a.npz")
    with pytest.raises(PackageFormatError) as caught:
        reader.fingerprint("f")
    assert (caught.value.rule, caught.value.entry) == ("zip.checksum", "a.npz")


def test_memory_does_not_grow_with_an_array() -> None:
    """A fingerprint of 64 MiB takes a few blocks of memory."""
    array = np.zeros(8 << 20)
    stream = stored({"w": array})
    expected = fingerprint_array("w", array)
    reader = NpzReader(stream, where="a.npz")
    tracemalloc.start()
    try:
        assert reader.fingerprint("w") == expected
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
