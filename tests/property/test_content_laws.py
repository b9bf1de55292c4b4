"""Laws of contents (docs/format.md, chapter 11): what leaves no trace, and that all else does."""

from __future__ import annotations

import csv
import io
import json
import math
import zlib
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from repropack._format.contents import output_stage, read_output_stage
from tests.strategies import BYTE_ORDERS, LAYOUTS, json_values, laid_out, plain_arrays, texts
from tests.support.contents import (
    array_print,
    compare,
    content,
    listed_print,
    npy,
    npz,
    png,
    read,
    rgb_png,
    zipped,
)
from tests.support.exact import is_exactly

PATHS = ("a.npz", "a.npy", "a.json", "a.csv", "a.tsv", "a.png", "a.jpg", "a.txt")
CELLS = st.text(
    st.one_of(st.sampled_from('",\n\r \t'), st.characters(exclude_categories=["Cs"])), max_size=6
)
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=5)
STAGE_PARTS = st.text(
    st.one_of(st.sampled_from("/:%~ab2F. "), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=37,
)

# ---------------------------------------------------------------- 11.1 stages


@given(STAGE_PARTS, st.none() | STAGE_PARTS, STAGE_PARTS, st.none() | STAGE_PARTS)
@example("a:b", None, "a", "b")
@example("a%3Ab", None, "a:b", None)
@example("a/b", "c", "a", "b:c")
def test_no_two_outputs_have_one_stage(
    path: str, array: str | None, other: str, other_array: str | None
) -> None:
    """A stage leads back to its path and array, so no two have one."""
    one, two = output_stage(path, array), output_stage(other, other_array)
    assert (one == two) == ((path, array) == (other, other_array))
    assert read_output_stage(one) == (path, array)
    assert one.isascii()


# ---------------------------------------------------------------- 11.2, 11.3 anything


@given(st.sampled_from(PATHS), st.binary(max_size=200))
@example("a.npz", b"PK\x05\x06" + bytes(18))
@example("a.npz", b"PK\x05\x06" + b"\xff" * 16 + bytes(2))
def test_any_bytes_have_content(path: str, data: bytes) -> None:
    """Nothing is refused and nothing is raised: what is no such file is bytes."""
    found = read(path, data)
    assert found.stages[-1][0] == f"output:{path}"
    if found.kind == "bytes":
        assert found.stages == ((f"output:{path}", content("bytes", data)),)
    assert found == read(path, data)


def seed_file(path: str) -> bytes:
    kinds: dict[str, bytes] = {
        "a.npz": npz(w=np.arange(3, dtype="<i2"), s=np.array(["a"])),
        "a.npy": npy(np.arange(3)),
        "a.json": b'{"a": [1, 2.5, "x"], "b": null}',
        "a.csv": b'a,"b"\r\n1,2\r\n',
        "a.tsv": b"a\tb\n1\t2\n",
        "a.png": rgb_png([[(1, 2, 3), (4, 5, 6)]]),
        "a.jpg": b"\xff\xd8\xff\xfe\x00\x03x\xff\xdb\x00\x03y\xff\xdadata",
        "a.txt": b"text",
    }
    return kinds[path]


@given(st.sampled_from(PATHS), st.data())
def test_damage_never_raises_and_is_never_silent(path: str, data: st.DataObject) -> None:
    """A file with a byte changed, cut or put in differs, in content or in its bytes alone."""
    whole = seed_file(path)
    place = data.draw(st.integers(0, len(whole) - 1))
    how = data.draw(st.sampled_from(["change", "cut", "put"]))
    value = data.draw(st.integers(0, 255))
    damaged = {
        "change": whole[:place] + bytes([value]) + whole[place + 1 :],
        "cut": whole[:place],
        "put": whole[:place] + bytes([value]) + whole[place:],
    }[how]
    found = compare(path, whole, damaged)
    assert (found is None) == (damaged == whole)
    if found is not None:
        one, two = read(path, whole), read(path, damaged)
        assert found.content_equal == (one.kind == two.kind and one.stages == two.stages)


# ---------------------------------------------------------------- 11.5 to 11.7 arrays


@given(
    plain_arrays(), st.sampled_from(LAYOUTS), st.sampled_from(BYTE_ORDERS), st.booleans(),
    st.sampled_from([(1, 0), (2, 0), (3, 0)]),
)  # fmt: skip
def test_any_layout_has_one_fingerprint(
    array: Any, layout: str, order: str, compressed: bool, version: tuple[int, int]
) -> None:
    """Order in memory, byte order, version and compression leave no trace."""
    expected = array_print(array.dtype.str, array.shape, array.tobytes("C"))
    given_array = laid_out(array, layout, order)
    data = npy(given_array, version)
    assert read("a.npy", data).stages == (("output:a.npy", expected),)
    deflated = {"compression": 8} if compressed else {}
    assert read("a.npz", zipped({"x.npy": data}, **deflated)).stages == (
        ("output:a.npz:x", expected),
        ("output:a.npz", listed_print(("x", expected))),
    )


@given(plain_arrays().filter(lambda array: array.nbytes > 0), st.data())
def test_one_bit_changes_the_fingerprint(array: Any, data: st.DataObject) -> None:
    """Every bit of every element is content, and the comparison finds the one element."""
    raw = bytearray(array.tobytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= 1 if array.dtype.kind == "b" else 1 << data.draw(st.integers(0, 7))
    other = np.frombuffer(bytes(raw), array.dtype).reshape(array.shape)
    found = compare("a.npy", npy(array), npy(other))
    assert found is not None
    assert not found.content_equal
    [difference] = found.arrays
    assert difference.elements_differing == 1
    index = np.unravel_index(place // array.dtype.itemsize, array.shape) if array.shape else ()
    assert difference.first[0].index == tuple(map(int, index))


@given(st.lists(st.text("ab/.", max_size=3), unique=True, max_size=4), st.randoms())
def test_the_order_of_arrays_leaves_no_trace(names: list[str], random: Any) -> None:
    """Members in any order are the same arrays, and a name more is not."""
    members = [(f"{name}.npy", npy(np.int8(k))) for k, name in enumerate(names)]
    shuffled = list(members)
    random.shuffle(shuffled)
    one = read("a.npz", zipped(members))
    assert one == read("a.npz", zipped(shuffled))
    assert one.kind == "npz"
    assert one != read("a.npz", zipped([*members, ("c.npy", npy(np.int8(0)))]))


# ---------------------------------------------------------------- 11.8 JSON


@given(json_values(), json_values(), st.integers(0, 3), st.booleans())
def test_json_is_equal_where_values_are(left: Any, right: Any, indent: int, ascii_: bool) -> None:
    """Spelling leaves no trace; types, signs of zero and everything else do."""
    one = read("a.json", json.dumps(left).encode())
    assert one.kind == "json"
    spelled = json.dumps(left, indent=indent, ensure_ascii=ascii_).encode()
    assert one == read("a.json", spelled)
    assert (one == read("a.json", json.dumps(right).encode())) == is_exactly(left, right)


@given(st.dictionaries(texts(), st.integers(), min_size=1, max_size=5), st.randoms(), st.data())
def test_members_are_found_wherever_they_stand(
    value: dict[str, int], random: Any, data: st.DataObject
) -> None:
    """Another order is no difference; a changed member is the one that is named."""
    names = list(value)
    random.shuffle(names)
    changed = data.draw(st.sampled_from(names))
    other = {name: value[name] + (name == changed) for name in names}
    found = compare("a.json", json.dumps(value).encode(), json.dumps(other).encode())
    assert found is not None
    assert found.value is not None
    assert found.value.pointer == f"/{changed.replace('~', '~0').replace('/', '~1')}"
    assert found.value.expected == str(value[changed])


@given(st.floats())
def test_every_float_is_content(value: float) -> None:
    """NaN and infinities too, as Python writes them."""
    text = "NaN" if math.isnan(value) else json.dumps(value)
    assert read("a.json", json.dumps(value).encode()).stages[0][1] == content(
        "json", f"{text}\n".encode()
    )


# ---------------------------------------------------------------- 11.9 tables


@given(
    TABLES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans(),
    st.sampled_from([("a.csv", ","), ("a.tsv", "\t")]),
)  # fmt: skip
def test_quotes_and_line_ends_leave_no_trace(
    rows: list[list[str]], ending: str, quoted: bool, mark: bool, form: tuple[str, str]
) -> None:
    """However Python's writer is told to write cells, they are the same cells.

    Left to itself the writer does not quote a line end that is another than its own.
    """
    path, separator = form
    broken = any(set(cell) & {"\r", "\n"} for row in rows for cell in row)
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream,
        delimiter=separator,
        lineterminator=ending,
        quoting=csv.QUOTE_ALL if quoted or broken else csv.QUOTE_MINIMAL,
    )
    writer.writerows(rows)
    data = stream.getvalue().encode("utf-8-sig" if mark else "utf-8")
    if rows and not mark and data.startswith(b"\xef\xbb\xbf"):
        return  # a cell that begins with the mark, which is read as one
    listed = json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + "\n"
    assert read(path, data).stages == ((f"output:{path}", content("csv", listed.encode())),)


@given(st.lists(st.integers(1, 40_000), max_size=8))
def test_rows_are_hashed_as_one_list(lengths: list[int]) -> None:
    """Wherever the pieces end that are encoded at once."""
    rows = [["x" * length, "y"] for length in lengths]
    data = "".join(f"{','.join(row)}\n" for row in rows).encode()
    listed = json.dumps(rows, separators=(",", ":")) + "\n"
    assert read("a.csv", data).stages[0][1] == content("csv", listed.encode())


@given(TABLES.filter(bool), st.data())
def test_a_changed_cell_is_found(rows: list[list[str]], data: st.DataObject) -> None:
    """By its row and column, with both texts."""
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[row]) - 1))
    other = [list(cells) for cells in rows]
    other[row][column] += "x"

    def written(table: list[list[str]]) -> bytes:
        stream = io.StringIO(newline="")
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(table)
        return stream.getvalue().encode()

    found = compare("a.csv", written(rows), written(other))
    assert found is not None
    assert found.table is not None
    assert found.table.first is not None
    assert (found.table.first.row, found.table.first.column) == (row + 1, column + 1)
    assert found.table.first.expected == rows[row][column]


# ---------------------------------------------------------------- 11.10 images


@given(st.integers(1, 9), st.integers(1, 5), st.sampled_from([0, 2, 4, 6]), st.data())
def test_a_pixel_is_content_and_deflate_is_not(
    width: int, height: int, colour: int, data: st.DataObject
) -> None:
    """Samples of every colour type, at any level of deflate; one changed sample is found."""
    size = width * {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    samples = data.draw(st.binary(min_size=size * height, max_size=size * height))

    def picture(values: bytes, level: int) -> bytes:
        rows = b"".join(b"\0" + values[k * size : (k + 1) * size] for k in range(height))
        return png((width, height), rows, colour=colour, level=level)

    head = f"png\n{width} {height} 8 {colour}\n\n\n".encode()
    plain = picture(samples, 0)
    assert read("a.png", plain).stages == (("output:a.png", content("image", head + samples)),)
    assert read("a.png", picture(samples, 9)) == read("a.png", plain)
    place = data.draw(st.integers(0, len(samples) - 1))
    changed = bytearray(samples)
    changed[place] ^= 1
    found = compare("a.png", plain, picture(bytes(changed), 9))
    assert found is not None
    assert found.image is not None
    assert not found.content_equal
    assert found.image.pixels_differing == 1
    assert found.image.largest_channel == 1
    assert found.image.first is not None
    pixel = place // (size // width)
    assert (found.image.first.x, found.image.first.y) == (pixel % width, pixel // width)


def test_deflate_is_really_another() -> None:
    """The law above compares files that differ."""
    assert zlib.compress(bytes(99), 0) != zlib.compress(bytes(99), 9)
