"""The npz in its one form: writing, reading, rows, and everything that is refused."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
from typing import Any

import numpy as np
import pytest

from repropack._format.archive_reader import ArchiveReader
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.limits import Limits
from repropack._format.npz import (
    NpzReader,
    NpzWriter,
    npy_header,
    npz_order,
    read_npz,
    write_npz,
)
from repropack.errors import (
    IntegrityError,
    LimitExceededError,
    PackageFormatError,
    StateError,
    UsageError,
)


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    write_npz(stream, arrays)
    return stream.getvalue()


def forged(*members: tuple[str, bytes], **options: bool) -> bytes:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for name, content in members:
        writer.add(name, content, **options)
    writer.finish()
    return stream.getvalue()


def refusal(data: bytes) -> str:
    with pytest.raises(PackageFormatError) as caught:
        read_npz(io.BytesIO(data), where="u.npz")
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


# ---------------------------------------------------------------- the file

STATE: dict[str, Any] = {
    "w": np.arange(6, dtype="f4").reshape(2, 3),
    "adam.m": np.float64(-0.0),
    "mask": np.array([True, False]),
    "gradient#2": np.zeros((0, 3), "c8"),
}


def test_pinned_bytes() -> None:
    """An npz of these four arrays has this digest, on every system and for ever."""
    data = npz(**STATE)
    assert len(data) == 946
    assert hashlib.sha256(data).hexdigest() == (
        "a3a1db4a1a835d44a9ffe39cd0cda899078cec6ab29a77e5a8d312928e46d028"
    )


def test_numpy_reads_it() -> None:
    """``numpy.load`` and the standard library read what was written."""
    stream = io.BytesIO(npz(**STATE))
    with zipfile.ZipFile(stream) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["adam.m.npy", "gradient#2.npy", "mask.npy", "w.npy"]
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as loaded:
        for name, array in STATE.items():
            assert loaded[name].dtype == array.dtype
            assert loaded[name].shape == array.shape
            assert loaded[name].tobytes() == array.tobytes()


def test_read() -> None:
    """What was written is read back: type, shape, bytes; writable and in stored order."""
    loaded = read_npz(io.BytesIO(npz(**STATE)), where="u.npz")
    assert list(loaded) == ["adam.m", "gradient#2", "mask", "w"]
    for name, array in STATE.items():
        assert loaded[name].dtype == array.dtype
        assert loaded[name].shape == array.shape
        assert loaded[name].tobytes() == array.tobytes()
        assert loaded[name].flags.writeable
        assert loaded[name].flags.owndata


def test_empty() -> None:
    """A state without arrays is a file too, here and for NumPy."""
    data = npz()
    assert read_npz(io.BytesIO(data), where="u.npz") == {}
    with np.load(io.BytesIO(data)) as loaded:
        assert list(loaded) == []


def test_order() -> None:
    """Names are sorted by the bytes of the member, so a prefix may come later."""
    assert npz_order(["a", "B", "a.b", "a0", "a+"]) == ("B", "a+", "a.b", "a", "a0")


def test_raw_equals_array() -> None:
    """An array written from a file of its elements is the same, byte for byte."""
    array = np.arange(2 * 700_000, dtype="<f4").reshape(2, 700_000)
    source = io.BytesIO(b"skipped" + array.tobytes())
    source.seek(7)
    stream = io.BytesIO()
    writer = NpzWriter(stream)
    writer.add_raw("w", "<f4", (2, 700_000), source)
    writer.finish()
    assert stream.getvalue() == npz(w=array)


@pytest.mark.parametrize("surplus", [-1, 1])
def test_raw_length(surplus: int) -> None:
    """A file of elements has exactly the bytes of the shape."""
    with pytest.raises(IntegrityError, match=r"entry 'w.npy': length differs: expected 140 bytes"):
        NpzWriter(io.BytesIO()).add_raw("w", "<f4", (3,), io.BytesIO(bytes(12 + surplus)))


def test_raw_refuses_impossible_shapes() -> None:
    """A shape that no array can have is refused, even where it is empty."""
    for shape in ((2**61,), (0, 2**61)):
        with pytest.raises(PackageFormatError, match=r"w: array: array shape: expected at most"):
            NpzWriter(io.BytesIO()).add_raw("w", "<f4", shape, io.BytesIO())


def test_writer_refuses_names() -> None:
    """A name that is none, or does not follow the one before, is refused."""
    writer = NpzWriter(io.BytesIO())
    writer.add_array("m", np.zeros(1))
    for name in ("", "../x", "a/b", "m", "a", "n\n", "é", ".n", "n#0", "n" * 211):
        with pytest.raises(StateError) as caught:
            writer.add_array(name, np.zeros(1))
        assert caught.value.name == name
    with pytest.raises(StateError):
        write_npz(io.BytesIO(), {"\ud800": np.zeros(1)})


# ---------------------------------------------------------------- rows

ROWS = np.arange(30, dtype="<i4").reshape(10, 3)


def test_rows() -> None:
    """Rows of the leading axis are read alone, or one block after the other."""
    reader = NpzReader(io.BytesIO(npz(e=np.zeros((0, 3)), r=ROWS, z=np.zeros((5, 0)))), where="u")
    assert reader.arrays == {"e": ("<f8", (0, 3)), "r": ("<i4", (10, 3)), "z": ("<f8", (5, 0))}
    assert reader.read_rows("r", 3, 5).tolist() == [[9, 10, 11], [12, 13, 14]]
    assert reader.read_rows("r", 10, 10).shape == (0, 3)
    blocks = list(reader.iter_rows("r", max_block_bytes=50))
    assert [block.shape for block in blocks] == [(4, 3), (4, 3), (2, 3)]
    assert np.concatenate(blocks).tobytes() == ROWS.tobytes()
    assert [len(block) for block in reader.iter_rows("r", max_block_bytes=1)] == [1] * 10
    assert list(reader.iter_rows("e")) == []
    assert [block.shape for block in reader.iter_rows("z")] == [(5, 0)]
    assert reader.read_rows("z", 1, 3).shape == (2, 0)


def test_rows_out_of_range() -> None:
    """Rows that are not there, of an array or of a number, are wrong use."""
    reader = NpzReader(io.BytesIO(npz(r=ROWS, s=np.float64(1))), where="u.npz")
    for name, start, stop in (("r", 0, 11), ("r", -1, 2), ("r", 3, 2), ("s", 0, 0), ("x", 0, 0)):
        with pytest.raises(UsageError):
            reader.read_rows(name, start, stop)
    for name in ("s", "x"):
        with pytest.raises(UsageError):
            next(reader.iter_rows(name))
    with pytest.raises(UsageError, match=r"u.npz: array: expected one of its 2 arrays"):
        reader.read("x")


@pytest.mark.parametrize("rows", [None, (0, 4), (1, 3), (2, 2), (3, 4)])
@pytest.mark.parametrize("block_bytes", [1, 8, 20, 1000])
def test_elements_come_flat_in_blocks_that_rows_do_not_matter_to(
    rows: tuple[int, int] | None, block_bytes: int
) -> None:
    """Together they are the rows that were asked for; a block holds an element at least."""
    array = np.arange(24, dtype="<f4").reshape(4, 3, 2)
    reader = NpzReader(io.BytesIO(npz(a=array)), where="u.npz")
    blocks = list(reader.iter_elements("a", rows, block_bytes))
    most = max(1, block_bytes // 4)
    assert [block.size for block in blocks[:-1]] == [most] * (len(blocks) - 1)
    chosen = array[slice(*rows)] if rows is not None else array
    joined = np.concatenate([np.empty(0, "<f4"), *blocks])
    assert joined.tolist() == chosen.reshape(-1).tolist()


def test_elements_of_an_array_without_rows_or_without_any() -> None:
    """Rank 0 is one element, an empty array none, and a damaged one is noticed."""
    data = npz(a=np.float64(2.5), b=np.zeros((0, 3)))
    reader = NpzReader(io.BytesIO(data), where="u.npz")
    assert [block.tolist() for block in reader.iter_elements("a")] == [[2.5]]
    assert list(reader.iter_elements("b")) == []
    assert list(reader.iter_elements("b", (0, 0))) == []
    spoiled = data.replace(np.float64(2.5).tobytes(), np.float64(2.25).tobytes())
    with pytest.raises(PackageFormatError, match="checksum differs"):
        list(NpzReader(io.BytesIO(spoiled), where="u.npz").iter_elements("a"))


def test_iterated_rows_are_verified() -> None:
    """Damage anywhere in an array is refused with its last block at the latest."""
    array = np.zeros((1000, 1000))
    data = bytearray(npz(r=array))
    data[4_000_000] ^= 1
    reader = NpzReader(io.BytesIO(bytes(data)), where="u.npz")
    with pytest.raises(PackageFormatError, match=r"u.npz: entry 'r.npy': checksum differs"):
        list(reader.iter_rows("r", max_block_bytes=80_000))
    with pytest.raises(PackageFormatError, match=r"u.npz: entry 'r.npy': checksum differs"):
        reader.read("r")


def test_file_that_shrinks() -> None:
    """A file that is cut while it is read is refused."""
    stream = io.BytesIO(npz(r=np.zeros((1000, 1000))))
    reader = NpzReader(stream, where="u.npz")
    stream.truncate(5_000_000)
    with pytest.raises(PackageFormatError, match=r"observed the end of the file after 4999965"):
        reader.read("r")


def test_entry_that_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """An array is never handed out half filled, whatever its stream does."""
    reader = NpzReader(io.BytesIO(npz(r=ROWS)), where="u.npz")
    short = io.BytesIO(bytes(128 + 100))
    monkeypatch.setattr(ArchiveReader, "open", lambda *_: short)
    with pytest.raises(PackageFormatError) as caught:
        reader.read("r")
    assert str(caught.value) == (
        "u.npz: entry 'r.npy': expected 120 bytes, observed 100 before the end of the file"
    )


# ---------------------------------------------------------------- refusals


def npy(text: str, data: bytes = b"", magic: bytes = b"\x93NUMPY\x01\x00") -> bytes:
    body = text.encode()
    return magic + struct.pack("<H", len(body)) + body + data


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
HEADERS = {
    "empty": b"",
    "cut": b"\x93NUMPY\x01",
    "version": npy(GOOD, bytes(4), b"\x93NUMPY\x02\x00"),
    "magic": npy(GOOD, bytes(4), b"\x93NUMPX\x01\x00"),
    "no-newline": npy(GOOD[:-1] + " ", bytes(4)),
    "unpadded": npy(GOOD.replace(" ", ""), bytes(4)),
    "padded-more": npy(GOOD[:-1] + " " * 64 + "\n", bytes(4)),
    "big-endian": npy(GOOD.replace("<", ">"), bytes(4)),
    "fortran": npy(GOOD.replace("False,", "True, "), bytes(4)),
    "object": npy(GOOD.replace("<f4", "|O8"), bytes(8)),
    "text": npy(GOOD.replace("<f4", "<U1"), bytes(4)),
    "void": npy(GOOD.replace("<f4", "|V4"), bytes(4)),
    "native": npy(GOOD.replace("<f4", "=f4"), bytes(4)),
    "byte-order-of-a-byte": npy(GOOD.replace("<f4", "<i1"), bytes(1)),
    "long-double": npy(GOOD.replace("'<f4'", "'<f16'")[:-2] + "\n", bytes(16)),
    "repeated-key": npy(GOOD.replace(", }" + " " * 14, ", 'shape': (1,), }"), bytes(4)),
    "two-keys": npy(GOOD.replace("'fortran_order': False, ", ""), bytes(4)),
    "leading-zero": npy(GOOD.replace("(1,)", "(01,)")[:-2] + "\n", bytes(4)),
    "negative": npy(GOOD.replace("(1,)", "(-1,)")[:-2] + "\n", bytes(4)),
    "long-suffix": npy(GOOD.replace("(1,)", "(1L,)")[:-2] + "\n", bytes(4)),
    "no-tuple": npy(GOOD.replace("(1,)", "(1) "), bytes(4)),
    "code": npy("__import__('os').getpid()".ljust(117) + "\n", bytes(4)),
    "minus-signs": npy("-" * 4000 + "\n"),
    "not-ascii": npy(GOOD.replace("(1,)", "(\uff11,)")[:-3] + "\n", bytes(4)),
}  # fmt: skip


@pytest.mark.hostile
@pytest.mark.parametrize("content", HEADERS.values(), ids=HEADERS.keys())
def test_refuses_headers(content: bytes) -> None:
    """A header that the writer would not have written is refused, by the entry's name."""
    assert refusal(forged(("w.npy", content))).startswith("u.npz: entry 'w.npy': array header: ")
    assert read_npz(io.BytesIO(forged(("w.npy", npy(GOOD, bytes(4))))), where="u")["w"] == [0.0]


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("shape", "size", "problem"),
    [
        ((3,), 11, "length: expected 140 bytes for type <f4 and shape (3,), observed 139"),
        ((3,), 13, "length: expected 140 bytes for type <f4 and shape (3,), observed 141"),
        ((2**40,), 4,
         ("length: expected 4398046511232 bytes for type <f4 and shape (1099511627776,), "
         "observed 132")),
        ((2**32, 2**32), 0,
         "array shape: expected at most 9223372036854775807 bytes, observed 73786976294838206464"),
        ((0, 10**18, 10**18), 0,
         ("array shape: expected at most 9223372036854775807 bytes, "
         "observed 4000000000000000000000000000000000000")),
    ],
    ids=["short", "long", "huge", "wraps-to-zero", "empty-and-huge"],
)  # fmt: skip
def test_refuses_lying_shapes(shape: tuple[int, ...], size: int, problem: str) -> None:
    """A shape that does not fit the bytes is refused before memory is asked for."""
    data = forged(("w.npy", npy_header("<f4", shape) + bytes(size)))
    assert refusal(data) == f"u.npz: entry 'w.npy': {problem}"


@pytest.mark.hostile
def test_limits() -> None:
    """Long headers and high ranks are refused by the limit's name."""
    with pytest.raises(LimitExceededError) as caught:
        read_npz(io.BytesIO(forged(("w.npy", npy(" " * 4087)))), where="u.npz")
    assert str(caught.value) == (
        "u.npz: entry 'w.npy': limit max_npy_header_bytes exceeded: allowed 4096, observed 4097"
    )
    with pytest.raises(LimitExceededError) as caught:
        read_npz(io.BytesIO(forged(("w.npy", npy_header("<f4", (1,) * 33) + bytes(4)))), where="u")
    assert caught.value.limit == "max_array_rank"
    deep = forged(("w.npy", npy_header("<f4", (1,) * 32) + bytes(4)))
    assert read_npz(io.BytesIO(deep), where="u")["w"].shape == (1,) * 32
    with pytest.raises(LimitExceededError):
        read_npz(io.BytesIO(deep), where="u", limits=Limits(max_array_rank=31))


ONE = npy_header("<f4", ()) + bytes(4)


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (forged(("w", ONE)), "entry 'w': expected <array name>.npy, observed 'w'"),
        (forged(("../w.npy", ONE)),
         "entry '../w.npy': expected <array name>.npy, observed '../w.npy'"),
        (forged((".npy", ONE)), "entry '.npy': expected <array name>.npy, observed '.npy'"),
        (forged(("w\n.npy", ONE)),
         "entry 'w\\n.npy': expected <array name>.npy, observed 'w\\n.npy'"),
        (forged(("b.npy", ONE), ("a.npy", ONE)),
         "entry 'a.npy': expected members sorted, observed it after 'b.npy'"),
        (forged(("w.npy", ONE), deflate=True),
         "entry 'w.npy': expected a stored plain member, observed deflated"),
        (forged(("w.npy", ONE), executable=True),
         "entry 'w.npy': expected a stored plain member, observed executable"),
    ],
    ids=["suffix", "traversal", "no-name", "newline", "order", "deflated", "executable"],
)  # fmt: skip
def test_refuses_members(data: bytes, problem: str) -> None:
    """Members other than sorted, stored, plain arrays are refused."""
    assert refusal(data) == f"u.npz: {problem}"


@pytest.mark.hostile
def test_refuses_foreign_npz() -> None:
    """What ``numpy.savez`` writes is not in the form, and a pickle is never looked at."""
    for array in (np.zeros(3), np.array([print])):
        stream = io.BytesIO()
        np.savez(stream, w=array)
        assert "entry 'w.npy': local header at byte 0 is not in the pinned form" in refusal(
            stream.getvalue()
        )
