"""Laws of the container layer: nothing is lost, nothing leaves a trace, nothing goes unnoticed."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from repropack._format.archive_reader import ArchiveReader
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.npz import NpzReader, canonical_array, npz_order, read_npz, write_npz
from repropack._format.paths import check_entry_path
from repropack._format.zip_layout import local_header
from repropack.errors import PackageFormatError, RepropackError, UnsafeEntryError
from tests.strategies import BYTE_ORDERS, LAYOUTS, array_names, arrays, laid_out, plain_arrays

FLIPS = (0x01, 0x20, 0x80, 0xFF)


def write(files: dict[str, bytes], *, deflate: bool = False) -> bytes:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for name, content in files.items():
        writer.add(name, content, executable=name.endswith("x"), deflate=deflate)
    writer.finish()
    return stream.getvalue()


def tree(data: bytes) -> dict[str, tuple[bytes, bool]]:
    reader = ArchiveReader(io.BytesIO(data), where="p.zip")
    return {
        name: (reader.open(name).read(), member.executable)
        for name, member in reader.members.items()
    }


def npz(mapping: dict[str, NDArray[Any]]) -> bytes:
    stream = io.BytesIO()
    write_npz(stream, mapping)
    return stream.getvalue()


def bits(mapping: dict[str, NDArray[Any]]) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    return {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in mapping.items()}


def flipped(data: bytes, offset: int, flip: int) -> bytes:
    return data[:offset] + bytes([data[offset] ^ flip]) + data[offset + 1 :]


# ---------------------------------------------------------------- identity

files = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12),
    st.binary(max_size=300) | st.binary(max_size=3).map(lambda block: block * 200),
    max_size=5,
)


@given(files, st.booleans())
def test_archive_round_trip(content: dict[str, bytes], deflate: bool) -> None:
    """What is added comes back: names, order, contents, modes; also for the standard library."""
    data = write(content, deflate=deflate)
    assert tree(data) == {name: (body, name.endswith("x")) for name, body in content.items()}
    assert list(tree(data)) == list(content)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == content


@given(st.dictionaries(array_names(), arrays(), max_size=4))
def test_npz_round_trip(mapping: dict[str, NDArray[Any]]) -> None:
    """Arrays come back with type, shape and every bit, also through ``numpy.load``."""
    expected = {name: canonical_array(name, mapping[name]) for name in npz_order(mapping)}
    data = npz(mapping)
    loaded = read_npz(io.BytesIO(data), where="u.npz")
    assert list(loaded) == list(expected)
    assert bits(loaded) == bits(expected)
    with np.load(io.BytesIO(data), allow_pickle=False) as other:
        assert bits({name: other[name] for name in other}) == bits(expected)
    assert npz(loaded) == data


@given(plain_arrays(), st.sampled_from(LAYOUTS), st.sampled_from(BYTE_ORDERS))
def test_memory_leaves_no_trace(array: NDArray[Any], layout: str, byte_order: str) -> None:
    """Layout and byte order in memory change no byte of the file, nor any bit of an element."""
    other = laid_out(array, layout, byte_order)
    assert canonical_array("u", other).tobytes() == array.tobytes()
    assert npz({"u": other}) == npz({"u": array})


@given(st.dictionaries(array_names(), arrays(max_rank=1), max_size=4), st.randoms())
def test_order_leaves_no_trace(mapping: dict[str, NDArray[Any]], random: Any) -> None:
    """The order in which arrays are given changes no byte."""
    items = list(mapping.items())
    random.shuffle(items)
    assert npz(dict(items)) == npz(mapping)


@given(arrays(max_rank=3).filter(lambda a: a.ndim > 0), st.integers(1, 40))
def test_rows_are_the_array(array: NDArray[Any], block_bytes: int) -> None:
    """Rows read in blocks, or one by one, are the array."""
    reader = NpzReader(io.BytesIO(npz({"u": array})), where="u.npz")
    expected = canonical_array("u", array).tobytes()
    blocks = list(reader.iter_rows("u", max_block_bytes=block_bytes))
    assert b"".join(block.tobytes() for block in blocks) == expected
    rows = [reader.read_rows("u", k, k + 1) for k in range(len(array))]
    assert b"".join(row.tobytes() for row in rows) == expected


# ---------------------------------------------------------------- nothing goes unnoticed

SMALL = {"manifest.json": b"{}", "a": b"", "b/x": b"hello", "c": bytes(range(40))}
SMALL_ARRAYS: dict[str, NDArray[Any]] = {
    "s": np.array(1.5),
    "t": np.arange(4, dtype="<i2").reshape(2, 2),
}


def test_every_flipped_byte_is_noticed() -> None:
    """A zip of which any one byte is changed is refused, or its content is."""
    data = write(SMALL)
    for offset in range(len(data)):
        for flip in FLIPS:
            with pytest.raises(PackageFormatError):
                tree(flipped(data, offset, flip))


def test_every_flipped_byte_of_an_npz_is_noticed() -> None:
    """An npz of which any one byte is changed is refused."""
    data = npz(SMALL_ARRAYS)
    for offset in range(len(data)):
        for flip in FLIPS:
            with pytest.raises(PackageFormatError):
                read_npz(io.BytesIO(flipped(data, offset, flip)), where="u.npz")


def test_flipped_bytes_never_change_a_deflated_tree() -> None:
    """A deflated zip with a changed byte is refused, or still holds the very same files.

    Deflate knows several spellings of one content; which one it is changes no file.
    """
    content = {"a": b"abcabc" * 50, "b": b"the same, the same, and the same again"}
    data = write(content, deflate=True)
    expected, same = tree(data), 0
    for offset in range(len(data)):
        for flip in FLIPS:
            try:
                assert tree(flipped(data, offset, flip)) == expected
                same += 1
            except PackageFormatError:
                pass
    assert same < 10


@pytest.mark.parametrize("deflate", [False, True], ids=["stored", "deflated"])
def test_every_truncation_is_noticed(deflate: bool) -> None:
    """A zip that ends early, anywhere, is refused; and so is one that goes on."""
    data = write(SMALL | {"d": b"ab" * 100}, deflate=deflate)
    for length in range(len(data)):
        with pytest.raises(PackageFormatError):
            tree(data[:length])
    for suffix in (b"\0", b"P", b"PK\x03\x04", data):
        with pytest.raises(PackageFormatError):
            tree(data + suffix)
        with pytest.raises(PackageFormatError):
            tree(suffix + data)


def test_every_truncation_of_an_npz_is_noticed() -> None:
    """An npz that ends early, anywhere, or goes on, is refused."""
    data = npz(SMALL_ARRAYS)
    for changed in (*(data[:length] for length in range(len(data))), data + b"\0", data + data):
        with pytest.raises(PackageFormatError):
            read_npz(io.BytesIO(changed), where="u.npz")


@pytest.mark.parametrize("deflate", [False, True], ids=["stored", "deflated"])
def test_damaged_headers_name_their_entry(deflate: bool) -> None:
    """A changed byte in a header of an entry is reported under that entry's name."""
    content = {"first.txt": b"1" * 50, "second.txt": b"2" * 60, "third.txt": b"3" * 70}
    data = write(content, deflate=deflate)
    reader = ArchiveReader(io.BytesIO(data), where="p.zip")
    position = max(m.offset + len(local_header(m)) + m.stored_size for m in reader.members.values())
    spans: list[tuple[str, int, int]] = []
    for name, member in reader.members.items():
        spans.append((name, member.offset, member.offset + len(local_header(member))))
        spans.append((name, position, position + 46 + len(name)))
        position += 46 + len(name)
    for name, start, stop in spans:
        for offset in range(start, stop):
            with pytest.raises(RepropackError) as caught:
                tree(flipped(data, offset, 0x01))
            assert name in str(caught.value), (name, offset - start, str(caught.value))


@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    """Bytes that nobody wrote are refused, never misread and never a fault of the reader."""
    for data in (noise, b"PK\x03\x04" + noise, b"PK\x05\x06" + noise):
        if data.hex() != "504b0506" + 36 * "0":
            with pytest.raises(PackageFormatError):
                tree(data)


@given(st.data())
def test_several_changes_are_noticed(data: st.DataObject) -> None:
    """A zip and an npz with a stretch of other bytes are refused, or are not changed at all."""
    original = data.draw(st.sampled_from([write(SMALL), npz(SMALL_ARRAYS)]))
    start = data.draw(st.integers(0, len(original)))
    stop = data.draw(st.integers(start, len(original)))
    changed = original[:start] + data.draw(st.binary(max_size=20)) + original[stop:]
    if changed != original:
        with pytest.raises(PackageFormatError):
            tree(changed)


# ---------------------------------------------------------------- paths


@given(st.text(max_size=30))
def test_accepted_paths_stay_inside(path: str) -> None:
    """A path that passes is relative, holds no odd component, and passes again."""
    try:
        check_entry_path(path)
    except UnsafeEntryError:
        return
    assert not set(path) & set('\\:*?"<>|\0\n')
    assert not {"", ".", ".."} & set(path.split("/"))
    check_entry_path(path)
