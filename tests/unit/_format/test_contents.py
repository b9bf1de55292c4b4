"""What a file is compared as, and the fingerprint of what it holds, literally."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repropack._format.content_kinds import CONTENT_LIMITS, kind_of
from repropack._format.contents import Contents, contents_of, output_stage, read_output_stage
from repropack.errors import UsageError
from repropack.models.log import StageDigest
from tests.support.contents import (
    PNG_SIGNATURE,
    array_print,
    chunk,
    content,
    header,
    jpeg,
    listed_print,
    npy,
    npz,
    png,
    read,
    rgb_png,
    zipped,
)

WEIGHTS = np.arange(6, dtype="<f4").reshape(2, 3)
WEIGHTS_PRINT = "sha256:5c00cf7e3d93d15577b6c26dd99ec8b19058747968e41f89f6bc9716cf581b18"
"""The example of 4.3."""

BYTES_PRINT = "sha256:13e15eed95eeadcdad692c4db64fc1b22e76e82304317319e4506f62d405cc23"


# ---------------------------------------------------------------- kinds and stages


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.npz", "npz"),
        ("a.npy", "npy"),
        ("out/a.b.json", "json"),
        ("a.csv", "csv"),
        ("a.TSV", "csv"),
        ("a.png", "image"),
        ("a.jpg", "image"),
        ("a.JPEG", "image"),
        ("a.svg", "bytes"),
        ("a.jsonl", "bytes"),
        ("npz", "bytes"),
        (".npz", "bytes"),
        ("a.npz/b", "bytes"),
        ("a.csv.gz", "bytes"),
    ],
)
def test_the_end_of_a_path_decides(path: str, kind: str) -> None:
    """What stands after the last dot says what a file is."""
    assert kind_of(path) == kind


@pytest.mark.parametrize(
    ("path", "array", "stage"),
    [
        ("a.npz", None, "output:a.npz"),
        ("out/a.npz", "w", "output:out/a.npz:w"),
        ("out/a b~c:d%.txt", None, "output:out/a%20b%7Ec%3Ad%25.txt"),
        ("é/.-_", None, "output:%C3%A9/.-_"),
        ("a.npz", "x/y:z~ é", "output:a.npz:x%2Fy%3Az%7E%20%C3%A9"),
        ("a.npz", "", "output:a.npz:"),
    ],
)
def test_stages_are_percent_encoded(path: str, array: str | None, stage: str) -> None:
    """Names fit the log, and lead back to path and array."""
    assert output_stage(path, array) == stage
    assert read_output_stage(stage) == (path, array)


def test_a_recorded_stage_is_no_output() -> None:
    """Other stages have no path."""
    assert read_output_stage("gradient#2") is None


def test_a_path_that_is_no_unicode_is_refused() -> None:
    """It has no bytes that could be encoded."""
    with pytest.raises(UsageError, match=r"output '.+': expected Unicode"):
        output_stage("\ud800")


def test_a_digest_stands_for_a_long_name() -> None:
    """Any path and any array has a stage that the log takes."""
    assert output_stage("a" * 450) == f"output:{'a' * 450}"
    path = "é" * 75 + "a"
    digest = hashlib.sha256(path.encode()).hexdigest()
    assert output_stage(path) == f"output:%sha256-{digest}"
    assert output_stage("a", path) == f"output:a:%sha256-{digest}"
    assert read_output_stage(output_stage(path)) == (f"%sha256-{digest}", None)
    assert output_stage(f"%sha256-{digest}") == f"output:%25sha256-{digest}"
    assert len(output_stage("a" * 450, "b" * 450)) < 1000


# ---------------------------------------------------------------- bytes


def test_other_files_are_bytes() -> None:
    """A file of no kind has the fingerprint of its bytes, and no reason."""
    assert read("a.txt", b"done\n") == Contents(
        "bytes",
        (
            (
                "output:a.txt",
                "sha256:13e15eed95eeadcdad692c4db64fc1b22e76e82304317319e4506f62d405cc23",
            ),
        ),
    )


def test_an_empty_file_is_bytes_of_its_kind() -> None:
    """An empty file is no npz, JSON or image; it is a table without rows."""
    for path in ("a.npz", "a.npy", "a.json", "a.png", "a.jpg"):
        found = read(path, b"")
        assert found.kind == "bytes"
        assert found.stages == ((f"output:{path}", content("bytes", b"")),)
        assert found.reason
    assert read("a.csv", b"") == Contents("csv", (("output:a.csv", content("csv", b"[]\n")),))


def test_the_file_is_read_from_its_beginning_and_left_open() -> None:
    """Wherever the file stands."""
    for path, data in (("a.csv", b"a,b\n"), ("a.txt", b"a"), ("a.npz", npz(w=WEIGHTS))):
        stream = io.BytesIO(data)
        stream.seek(1)
        assert contents_of(path, stream, len(data)) == read(path, data)
        assert not stream.closed


# ---------------------------------------------------------------- arrays


def test_an_npy_is_its_array() -> None:
    """The fingerprint is the array's own."""
    assert read("w.npy", npy(WEIGHTS)) == Contents("npy", (("output:w.npy", WEIGHTS_PRINT),))


def test_an_npz_has_a_stage_for_each_array_and_one_for_all() -> None:
    """Arrays sorted by name come before the file."""
    found = read("r.npz", npz(w=WEIGHTS, a=np.int64(40)))
    scalar = "sha256:8ffc989fbebc831ae638c18caeb83a111b530b4410630ce18ef17ffb682a2f7f"
    assert found == Contents(
        "npz",
        (
            ("output:r.npz:a", scalar),
            ("output:r.npz:w", WEIGHTS_PRINT),
            ("output:r.npz", listed_print(("a", scalar), ("w", WEIGHTS_PRINT))),
        ),
    )


def test_an_npz_without_arrays_has_one_stage() -> None:
    """It is content all the same."""
    assert read("r.npz", npz()) == Contents("npz", (("output:r.npz", listed_print()),))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(npz(compressed=True, w=WEIGHTS), id="deflated"),
        pytest.param(npz(w=WEIGHTS.astype(">f4")), id="big-endian"),
        pytest.param(npz(w=np.asfortranarray(WEIGHTS)), id="fortran"),
        pytest.param(npz(w=np.asfortranarray(WEIGHTS.astype(">f4"))), id="fortran-big-endian"),
        pytest.param(zipped({"w.npy": npy(WEIGHTS, (2, 0))}), id="version-2"),
        pytest.param(zipped({"w.npy": npy(WEIGHTS, (3, 0))}), id="version-3"),
        pytest.param(
            zipped(
                {
                    "w.npy": header("{'descr':'<f4','fortran_order':False,'shape':(2,3)}")
                    + WEIGHTS.tobytes()
                }
            ),
            id="without-blanks",
        ),
    ],
)
def test_a_layout_is_no_content(data: bytes) -> None:
    """Compression, byte order, order in memory and version of a header leave no trace."""
    assert read("r.npz", data) == read("r.npz", npz(w=WEIGHTS))
    assert data != npz(w=WEIGHTS)


@pytest.mark.parametrize(
    ("array", "dtype", "elements"),
    [
        (np.array(["a", "bc"]), "<U2", "a\0bc".encode("utf-32-le")),
        (np.array(["a", "bc"], ">U2"), "<U2", "a\0bc".encode("utf-32-le")),
        (np.array([b"x", b"yz"]), "|S2", b"x\0yz"),
        (np.array(["1970-01-03", "NaT"], "M8[D]"), "<M8[D]", struct.pack("<2q", 2, -(2**63))),
        (np.array([7, 8], ">m8[25s]"), "<m8[25s]", struct.pack("<2q", 7, 8)),
    ],
)
def test_texts_and_times_are_compared_too(array: Any, dtype: str, elements: bytes) -> None:
    """By type, shape and bytes, apart from what a checkpoint can hold."""
    expected = content("array", f"{dtype}\n2\n".encode() + elements)
    assert read("t.npy", npy(array)) == Contents("npy", (("output:t.npy", expected),))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.array(True),
        np.array([True, False]),
        np.array([1 + 2j], ">c8"),
        np.array([1.5], "f2"),
        np.arange(700_000),
        np.arange(600_000, dtype=">u4").reshape(2, 300_000).T,
    ],
)
def test_every_type_and_size(array: Any) -> None:
    """Blocks, byte orders and empty arrays make no difference to the digest of the whole."""
    plain = array.astype(array.dtype.newbyteorder("<"))
    expected = array_print(plain.dtype.str, array.shape, plain.tobytes("C"))
    assert read("a.npy", npy(array)).stages == (("output:a.npy", expected),)


def test_an_empty_array_in_fortran_order() -> None:
    """There is nothing to turn."""
    data = npy(np.zeros((2, 0), order="F"))
    forced = data.replace(b"'fortran_order': False", b"'fortran_order': True ")
    expected = array_print("<f8", (2, 0), b"")
    for one in (data, forced):
        assert read("a.npy", one) == Contents("npy", (("output:a.npy", expected),))


def test_a_file_that_grew_is_bytes() -> None:
    """More bytes than were announced are noticed."""
    data = npy(WEIGHTS)
    found = contents_of("a.npy", io.BytesIO(data + b"x"), len(data))
    assert (found.kind, found.reason) == ("bytes", "it is followed by something else")


def test_a_directory_in_zip64_form_is_bytes() -> None:
    """Only more than the limits allow needs one."""
    data = npz(w=WEIGHTS)
    locator = b"PK\x06\x07" + bytes(16)
    found = read("a.npz", data[:-22] + locator + data[-22:])
    assert (found.kind, found.reason) == ("bytes", "its directory is in zip64 form")


def with_bool(value: int) -> bytes:
    data = npy(np.array([True]))
    return data[:-1] + bytes([value])


def encrypted() -> bytes:
    data = bytearray(zipped({"w.npy": npy(WEIGHTS)}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def shape_header(shape: str, descr: str = "<f8") -> bytes:
    return header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n")


OBJECTS = np.array([{"a": 1}], object)


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.npy", npy(np.zeros(2, [("x", "f4")])), "it is of a type that is not compared"),
        ("a.npz", npz(o=OBJECTS), "its array 'o' is of a type that is not compared"),
        ("a.npz", npz(w=WEIGHTS, o=OBJECTS), "its array 'o' is of a type that is not compared"),
        ("a.npy", npy(np.zeros(1, "V3")), "it is of a type that is not compared"),
        ("a.npy", npy(np.zeros(1, "g")), "it has the type '<f16', which is not compared"),
        ("a.npy", npy(WEIGHTS)[:-1], "it has not the 24 bytes of elements that it declares"),
        ("a.npy", npy(WEIGHTS) + b"\0", "it has not the 24 bytes of elements that it declares"),
        ("a.npy", npy(WEIGHTS)[:20], "it is cut short"),
        ("a.npy", b"\x93NUMPX" + npy(WEIGHTS)[6:], "it has no header of version 1, 2 or 3"),
        ("a.npy", b"\x93NUMPY\x04\x00" + npy(WEIGHTS)[8:], "it has no header of version"),
        ("a.npy", with_bool(2), "it holds a bool that is neither 0 nor 1"),
        ("a.npy", shape_header("(1000000000,)"), "it has not the 8000000000 bytes"),
        ("a.npy", shape_header("(-1,)"), "it is of a type that is not compared"),
        ("a.npy", shape_header("(0, __import__('os'))"), "it is of a type that is not compared"),
        ("a.npy", shape_header(f"({', '.join('0' * 33)})"), "it has 33 dimensions"),
        ("a.npy", shape_header("(1000000000,)", "|S0"), "it has elements of 0 bytes"),
        ("a.npy", shape_header("(0,)", "|S70000"), "it has elements of 70000 bytes"),
        ("a.npy", shape_header("(0,)", "<f3"), "it has the type '<f3', which NumPy has not"),
        ("a.npy", shape_header("(0,)", "<f08"), "it has the type '<f08'"),
        ("a.npy", shape_header("(0,)", "<M8[xx]"), "it has the type '<M8[xx]'"),
        ("a.npy", header(" " * 5000), "it has a header of 5000 bytes"),
        ("a.npz", b"PK\x03\x04", "it is no zip"),
        ("a.npz", npz(w=WEIGHTS) + b"x", "it is no zip"),
        ("a.npz", b"x" * 100 + npz(w=WEIGHTS)[-22:], "it is damaged"),
        ("a.npz", npz(w=WEIGHTS).replace(WEIGHTS.tobytes(), bytes(24)), "its array 'w' is damaged"),
        ("a.npz", zipped({"w.txt": b""}), "its member 'w.txt' is no array"),
        ("a.npz", zipped({"w.npy/": b""}), "its member 'w.npy/' is no array"),
        ("a.npz", encrypted(), "its member 'w.npy' is neither stored nor deflated"),
        (
            "a.npz",
            zipped({"w.npy": npy(WEIGHTS)}, compression=zipfile.ZIP_LZMA),
            "its member 'w.npy' is neither stored nor deflated",
        ),
    ],
)
def test_what_is_no_array_is_bytes(path: str, data: bytes, reason: str) -> None:
    """With the reason in words, and without unpickling or evaluating anything."""
    found = read(path, data)
    assert found.kind == "bytes"
    assert found.stages == ((f"output:{path}", content("bytes", data)),)
    assert found.reason is not None
    assert found.reason.startswith(reason)


def test_two_members_of_one_name_are_bytes() -> None:
    """Readers disagree on which of them is meant."""
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zipped([("w.npy", npy(WEIGHTS)), ("w.npy", npy(WEIGHTS + 1))])
    assert read("a.npz", data).reason == "it has two members of one name"


@pytest.mark.parametrize(
    ("limit", "value", "data", "reason"),
    [
        ("max_array_bytes", 47, npz(a=WEIGHTS, b=WEIGHTS), "its arrays have 48 bytes, more"),
        ("max_transposed_bytes", 23, npz(a=WEIGHTS.T), "its array 'a' is in Fortran order and"),
        ("max_element_bytes", 7, npz(a=np.zeros(1)), "its array 'a' has elements of 8 bytes"),
        ("max_arrays", 1, npz(a=WEIGHTS, b=WEIGHTS), "it has 2 members, more than are compared"),
        ("max_directory_bytes", 50, npz(a=WEIGHTS), "its directory has 51 bytes, more than"),
        ("max_header_bytes", 117, npz(a=WEIGHTS), "its array 'a' has a header of 118 bytes"),
        ("max_array_rank", 1, npz(a=WEIGHTS), "its array 'a' has 2 dimensions, more than"),
    ],
)
def test_each_limit_on_arrays(limit: str, value: int, data: bytes, reason: str) -> None:
    """One beyond a limit is bytes, and at the limit it is an npz."""
    beyond = read("a.npz", data, replace(CONTENT_LIMITS, **{limit: value}))
    assert beyond.kind == "bytes"
    assert beyond.reason is not None
    assert beyond.reason.startswith(reason)
    assert read("a.npz", data, replace(CONTENT_LIMITS, **{limit: value + 1})).kind == "npz"


def test_many_arrays_are_covered_by_the_file() -> None:
    """Where arrays have no stages of their own, the file's tells them all apart."""
    limits = replace(CONTENT_LIMITS, max_array_stages=1)
    two = read("a.npz", npz(a=WEIGHTS, b=WEIGHTS), limits)
    expected = listed_print(("a", WEIGHTS_PRINT), ("b", WEIGHTS_PRINT))
    assert two.stages == (("output:a.npz", expected),)


def test_arrays_of_any_name_have_stages() -> None:
    """A name may be empty, hold a slash, or end as a file does."""
    names = {"": WEIGHTS, "g/w": WEIGHTS, "a.npy": WEIGHTS, "é": WEIGHTS}
    data = zipped({f"{name}.npy": npy(array) for name, array in names.items()})
    assert [stage for stage, _ in read("a.npz", data).stages] == [
        "output:a.npz:",
        "output:a.npz:a.npy",
        "output:a.npz:g%2Fw",
        "output:a.npz:%C3%A9",
        "output:a.npz",
    ]


def test_stages_fit_the_log() -> None:
    """Each stage is one that a log's line can hold."""
    from pydantic import TypeAdapter

    data = zipped(
        {"a b/:%~é.npy": npy(WEIGHTS), ".npy": npy(WEIGHTS), f"{'é' * 999}.npy": npy(WEIGHTS)}
    )
    for path in ("out/a ~:.npz", f"{'é' * 400}.npz"):
        stages = read(path, data).stages
        assert len(stages) == 4
        for row in stages:
            assert TypeAdapter(StageDigest).validate_python(row) == row


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    ("data", "canonical"),
    [
        (b' {"b": [1, 1.0, NaN], "a": "\xc3\xa9"}', b'{"a":"\\u00e9","b":[1,1.0,NaN]}\n'),
        (b"[Infinity, -Infinity, -0, -0.0, 1e400]", b"[Infinity,-Infinity,0,-0.0,Infinity]\n"),
        (b'"\\ud83d\\ude00\\ud800\\u007f"', b'"\\ud83d\\ude00\\ud800\\u007f"\n'),
        (b"123456789012345678901234567890", b"123456789012345678901234567890\n"),
        (b"0.10", b"0.1\n"),
        (b"null", b"null\n"),
    ],
)
def test_json_is_its_value(data: bytes, canonical: bytes) -> None:
    """Blanks, order of members and spelling of a number leave no trace."""
    expected = content("json", canonical)
    assert read("a.json", data) == Contents("json", (("output:a.json", expected),))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": 1, "a": 1}', "it has a member twice in one object"),
        (b"{", "it is no JSON"),
        (b"", "it is no JSON"),
        (b"[1,]", "it is no JSON"),
        (b"\xef\xbb\xbf1", "it is no JSON"),
        (b'"\xff"', "it is not UTF-8"),
        (b"1" * 4301, "it has an integer of 4301 characters"),
        (b"[" * 65 + b"]" * 65, "it is beyond the limit max_json_depth"),
        (b"[" * 100_000, "it is beyond the limit max_json_depth"),
    ],
)
def test_what_is_no_json_is_bytes(data: bytes, reason: str) -> None:
    """With the reason in words."""
    found = read("a.json", data)
    assert (found.kind, found.reason) == ("bytes", reason)
    assert found.stages == (("output:a.json", content("bytes", data)),)


@pytest.mark.parametrize(
    ("limit", "value", "data", "named"),
    [
        ("max_json_bytes", 6, b"[1, 2] ", "max_document_bytes"),
        ("max_json_depth", 1, b"[[1]]", "max_json_depth"),
        ("max_json_containers", 2, b"[[],[]]", "max_json_containers"),
        ("max_json_items", 1, b"[1,2,3]", "max_json_items"),
    ],
)
def test_each_limit_on_json(limit: str, value: int, data: bytes, named: str) -> None:
    """One beyond a limit is bytes, and at the limit it is JSON."""
    beyond = read("a.json", data, replace(CONTENT_LIMITS, **{limit: value}))
    assert (beyond.kind, beyond.reason) == ("bytes", f"it is beyond the limit {named}")
    assert read("a.json", data, replace(CONTENT_LIMITS, **{limit: value + 1})).kind == "json"


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("path", "data", "rows"),
    [
        ("a.csv", b"a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        ("a.csv", b'\xef\xbb\xbf"a",b\r\n1,"2"', [["a", "b"], ["1", "2"]]),
        ("a.csv", b"a,b\r1,2\r", [["a", "b"], ["1", "2"]]),
        ("a.csv", b'"x,""y""\n",\n', [['x,"y"\n', ""]]),
        ("a.csv", b'a"b, c\n', [['a"b', " c"]]),
        ("a.csv", b'\n""\n\n', [[], [""], []]),
        ("a.csv", b"a\tb;c\n", [["a\tb;c"]]),
        ("a.tsv", b"a\tb,c\n", [["a", "b,c"]]),
        ("a.csv", b"a\0,b", [["a\0", "b"]]),
        ("a.csv", "é".encode(), [["é"]]),
    ],
)
def test_a_table_is_its_cells(path: str, data: bytes, rows: list[list[str]]) -> None:
    """Quotes, line ends and a byte order mark leave no trace."""
    listed = json.dumps(rows, separators=(",", ":"), ensure_ascii=False) + "\n"
    expected = content("csv", listed.encode())
    assert read(path, data) == Contents("csv", ((f"output:{path}", expected),))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'"a', "its quotes do not make cells, or a cell is too long"),
        (b'"a"b,c', "its quotes do not make cells, or a cell is too long"),
        (b"a,\xff", "it is not UTF-8"),
        (b"a" * 131_073, "its quotes do not make cells, or a cell is too long"),
        (b"a," * 2**19 + b"\n", "it has a row that is longer than is compared"),
        (b'"\n",' * 300_000, "it has a row that is longer than is compared"),
    ],
)
def test_what_is_no_table_is_bytes(data: bytes, reason: str) -> None:
    """With the reason in words."""
    found = read("a.csv", data)
    assert (found.kind, found.reason) == ("bytes", reason)
    assert found.stages == (("output:a.csv", content("bytes", data)),)


def test_a_row_may_be_as_long_as_the_limit() -> None:
    """The limit counts one row, not the file."""
    row = b"a," * (2**19 - 1) + b"b\n"
    rows = [["a"] * (2**19 - 1) + ["b"]] * 2 + [["c"]]
    listed = json.dumps(rows, separators=(",", ":")) + "\n"
    assert read("a.csv", row * 2 + b"c\n").stages[0][1] == content("csv", listed.encode())
    limits = replace(CONTENT_LIMITS, max_cell_characters=2)
    assert read("a.csv", b"ab,c\n", limits).kind == "csv"
    assert read("a.csv", b"abc\n", limits).reason == "it has a cell that is longer than is compared"


# ---------------------------------------------------------------- images

RED_BLUE = [[(255, 0, 0), (0, 0, 255)]]
RED_BLUE_PRINT = content("image", b"png\n2 1 8 2\n\n\n" + bytes((255, 0, 0, 0, 0, 255)))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(rgb_png(RED_BLUE), id="plain"),
        pytest.param(rgb_png(RED_BLUE, level=0), id="other-deflate"),
        pytest.param(png((2, 1), b"\x01\xff\0\0\x01\0\xff"), id="other-filter"),
        pytest.param(
            rgb_png(
                RED_BLUE, before=chunk(b"tEXt", b"Software\0x"), after=chunk(b"tIME", bytes(7))
            ),
            id="texts-and-times",
        ),
        pytest.param(rgb_png(RED_BLUE, before=chunk(b"pHYs", bytes(9))), id="resolution"),
        pytest.param(rgb_png(RED_BLUE, before=chunk(b"PLTE", b"abc")), id="suggested-palette"),
        pytest.param(rgb_png(RED_BLUE, before=chunk(b"zTXt", b"a\0\0garbage")), id="damaged-text"),
    ],
)
def test_a_png_is_its_pixels(data: bytes) -> None:
    """How it was deflated and filtered, and what is told beside it, leaves no trace."""
    assert read("a.png", data) == Contents("image", (("output:a.png", RED_BLUE_PRINT),))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (png((3, 1), b"\0\xa0", depth=1, colour=0), b"png\n3 1 1 0\n\n\n\xff\0\xff"),
        (png((3, 1), b"\0\x1b", depth=2, colour=0), b"png\n3 1 2 0\n\n\n\0\x55\xaa"),
        (png((2, 1), b"\0\x1f", depth=4, colour=0), b"png\n2 1 4 0\n\n\n\x11\xff"),
        (png((2, 2), b"\0ab\0cd", colour=0), b"png\n2 2 8 0\n\n\nabcd"),
        (png((1, 1), b"\0ab", colour=4), b"png\n1 1 8 4\n\n\nab"),
        (png((1, 1), b"\0abcd", colour=6), b"png\n1 1 8 6\n\n\nabcd"),
        (
            png((2, 1), b"\0\x10", depth=4, colour=3, before=chunk(b"PLTE", b"abcdef")),
            b"png\n2 1 4 3\n616263646566\n\n\x01\0",
        ),
        (
            png(
                (1, 1), b"\0\0", colour=3,
                before=chunk(b"PLTE", b"abc") + chunk(b"tRNS", b"\x80"),
            ),
            b"png\n1 1 8 3\n616263\n80\n\0",
        ),
        (
            rgb_png(RED_BLUE, before=chunk(b"tRNS", b"\0\xff\0\0\0\0")),
            b"png\n2 1 8 2\n\n00ff00000000\n" + bytes((255, 0, 0, 0, 0, 255)),
        ),
    ],
)  # fmt: skip
def test_every_form_of_png(data: bytes, expected: bytes) -> None:
    """Samples as the PNG means them, with palette and transparency."""
    assert read("a.png", data).stages == (("output:a.png", content("image", expected)),)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (5, 1), (1, 5), (9, 7), (8, 8)])
def test_an_interlaced_png_is_the_same_picture(size: tuple[int, int]) -> None:
    """Seven passes of fewer pixels hold what one pass does."""
    width, height = size
    pixels = np.arange(width * height * 3, dtype=np.uint8).reshape(height, width, 3)
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2))
    rows = b"".join(
        b"\0" + row.tobytes()
        for x, y, across, down in (*passes, (0, 1, 1, 2))
        for row in pixels[y::down, x::across]
        if row.size
    )
    plain = rgb_png([[(r, g, b) for r, g, b in row] for row in pixels.tolist()])
    interlaced = png(size, rows, interlaced=True)
    assert interlaced != plain
    assert read("a.png", interlaced) == read("a.png", plain)
    assert read("a.png", plain).kind == "image"


def with_header(**changes: int) -> bytes:
    fields = {"width": 2, "height": 1, "depth": 8, "colour": 2, "a": 0, "b": 0, "c": 0} | changes
    head = chunk(b"IHDR", struct.pack(">2I5B", *fields.values()))
    return PNG_SIGNATURE + head + rgb_png(RED_BLUE)[33:]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GIF89a", "it is no PNG"),
        (jpeg(), "it is no PNG"),
        (rgb_png(RED_BLUE)[:-1], "it is cut short"),
        (rgb_png(RED_BLUE) + b"x", "it is cut short"),
        (PNG_SIGNATURE, "its chunks are not in the order of a PNG"),
        (rgb_png(RED_BLUE)[:-5] + b"EIND"[:1] + rgb_png(RED_BLUE)[-4:], "the checksum of a chunk"),
        (rgb_png(RED_BLUE, before=chunk(b"acTL", bytes(8))), "it has several frames, or chunks"),
        (rgb_png(RED_BLUE, before=chunk(b"ABCD", b"")), "it has several frames, or chunks"),
        (rgb_png(RED_BLUE, after=chunk(b"tRNS", bytes(6))), "its chunks are not in the order"),
        (
            rgb_png(RED_BLUE, after=chunk(b"tEXt", b"a\0b") + chunk(b"IDAT", b"")),
            "its chunks are not in the order of a PNG",
        ),
        (
            rgb_png(RED_BLUE, before=chunk(b"IHDR", bytes(13))),
            "it has a chunk twice that may come once",
        ),
        (with_header(depth=16), "its samples of type 2 have 16 bits"),
        (with_header(colour=1), "its samples of type 1 have 8 bits"),
        (with_header(width=0), "it has 0 x 1 pixels, none or more than are decoded"),
        (with_header(width=2**31), "it has 2147483648 x 1 pixels, none or more than are decoded"),
        (with_header(a=1), "its header is not that of a PNG"),
        (with_header(c=2), "its header is not that of a PNG"),
        (with_header(height=2), "its samples are not the 14 bytes that its size needs"),
        (png((2, 1), bytes(8)), "its samples are not the 7 bytes that its size needs"),
        (png((2, 1), bytes(1 << 26)), "its samples are not the 7 bytes that its size needs"),
        (
            rgb_png(RED_BLUE, after=chunk(b"IDAT", b"x")),
            "its samples are not the 7 bytes that its size needs",
        ),
        (
            PNG_SIGNATURE + with_header()[8:33] + chunk(b"IDAT", b"abc") + chunk(b"IEND", b""),
            "its samples are damaged",
        ),
        (
            PNG_SIGNATURE + with_header()[8:33] + chunk(b"IDAT", b"") + chunk(b"IEND", b""),
            "its samples are not the 7 bytes that its size needs",
        ),
        (png((2, 1), b"\x05" + bytes(6)), "it cannot be decoded as PNG"),
        (PNG_SIGNATURE + chunk(b"IHDR", b"") + rgb_png(RED_BLUE)[33:], "its header is not that"),
    ],
)
def test_what_is_no_png_is_bytes(data: bytes, reason: str) -> None:
    """With the reason in words."""
    found = read("a.png", data)
    assert found.kind == "bytes"
    assert found.stages == (("output:a.png", content("bytes", data)),)
    assert found.reason is not None
    assert found.reason.startswith(reason)


def test_limits_on_images() -> None:
    """One byte or pixel beyond a limit is bytes."""
    data = rgb_png(RED_BLUE)
    for limit, value in (("max_image_bytes", len(data)), ("max_image_pixels", 2)):
        assert read("a.png", data, replace(CONTENT_LIMITS, **{limit: value})).kind == "image"
        assert read("a.png", data, replace(CONTENT_LIMITS, **{limit: value - 1})).kind == "bytes"


def test_a_jpeg_is_all_that_its_decoder_needs() -> None:
    """Comments and applications' segments leave no trace; what steers colours does.

    That is Adobe's, and whether there is a JFIF header: without, components that are called R, G
    and B are these colours.
    """
    plain = jpeg()
    scan = plain.index(b"\xff\xdb")
    bare = plain[:2] + plain[scan:]
    expected = content("image", b"jpeg\n" + plain[:4].replace(b"\0\x10", b"") + plain[scan:])
    assert plain[:11] == b"\xff\xd8\xff\xe0\0\x10JFIF\0"
    for data in (
        plain,
        jpeg(comment=b"made by"),
        jpeg(dpi=(300, 300)),
        jpeg(exif=b"Exif\0\0"),
    ):
        for path in ("a.jpg", "a.jpeg"):
            assert read(path, data) == Contents("image", ((f"output:{path}", expected),))
    for data in (bare, bare[:2] + b"\xff\xe0\0\x0fJFIF\0" + bytes(8) + bare[2:]):
        assert read("a.jpg", data).stages == (("output:a.jpg", content("image", b"jpeg\n" + bare)),)
    adobe = plain[:2] + b"\xff\xee\x00\x0eAdobe" + bytes(7) + plain[scan:]
    assert read("a.jpg", adobe).stages == (("output:a.jpg", content("image", b"jpeg\n" + adobe)),)
    assert read("a.jpg", jpeg(colour=(0, 0, 0))).stages != read("a.jpg", plain).stages


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (rgb_png(RED_BLUE), "it is no JPEG"),
        (jpeg()[:30], "it is cut short, or is no JPEG"),
        (jpeg()[:2] + b"\xff\xd9\x00\x02", "its segments are not those of a JPEG"),
        (jpeg()[:2] + b"\xff\xff\x00\x02", "its segments are not those of a JPEG"),
        (jpeg()[:2] + b"\x00\xe0\x00\x02", "it is cut short, or is no JPEG"),
    ],
)
def test_what_is_no_jpeg_is_bytes(data: bytes, reason: str) -> None:
    """With the reason in words."""
    found = read("a.jpg", data)
    assert (found.kind, found.reason) == ("bytes", reason)
