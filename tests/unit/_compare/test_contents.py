"""Where the contents of two files first differ, for each kind, literally."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from repropack._compare import contents
from repropack._compare.contents import compare_outputs
from repropack._format.content_kinds import CONTENT_LIMITS
from repropack.models.differences import (
    ArrayDifference,
    ByteDifference,
    CellDifference,
    ElementDifference,
    ImageDifference,
    OutputDifference,
    PixelDifference,
    TableDifference,
    ValueDifference,
)
from tests.support.contents import chunk, compare, differ, jpeg, npy, npz, png, rgb_png

WEIGHTS = np.arange(6, dtype="<f4").reshape(2, 3)


@pytest.mark.parametrize(
    ("path", "data"),
    [("a.npz", npz(w=WEIGHTS)), ("a.txt", b""), ("a.png", b"no image"), ("a.json", b"{}")],
)
def test_equal_bytes_are_no_difference(path: str, data: bytes) -> None:
    """Whatever the file is."""
    assert compare(path, data, data) is None


@pytest.mark.parametrize(
    ("path", "expected", "observed", "kind"),
    [
        ("a.npz", npz(w=WEIGHTS), npz(compressed=True, w=np.asfortranarray(WEIGHTS)), "npz"),
        ("a.npy", npy(WEIGHTS), npy(WEIGHTS.astype(">f4")), "npy"),
        ("a.json", b'{"a":1,"b":2}', b'{"b": 2, "a": 1}\n', "json"),
        ("a.csv", b"a,b\n", b'"a",b\r\n', "csv"),
        ("a.png", rgb_png([[(1, 2, 3)]]), rgb_png([[(1, 2, 3)]], level=0), "image"),
        ("a.jpg", jpeg(), jpeg(comment=b"x"), "image"),
    ],
)
def test_a_container_may_differ_alone(
    path: str, expected: bytes, observed: bytes, kind: str
) -> None:
    """Other bytes that hold the same are told as that, and nothing of the content is."""
    found = differ(path, expected, observed)
    assert found.content_equal
    assert found.kind == kind
    assert (found.expected_size, found.observed_size) == (len(expected), len(observed))
    assert found.model_copy(update={"content_equal": False}) == OutputDifference(
        path=path,
        kind=found.kind,
        content_equal=False,
        expected_size=len(expected),
        observed_size=len(observed),
        first_byte=found.first_byte,
    )


# ---------------------------------------------------------------- bytes


@pytest.mark.parametrize(
    ("expected", "observed", "first"),
    [
        (
            b"abc\nde",
            b"abc\ndf\n",
            ByteDifference(offset=5, line=2, expected="65", observed="660a"),
        ),
        (b"abc", b"ab", ByteDifference(offset=2, line=1, expected="63", observed="")),
        (b"", b"\n", ByteDifference(offset=0, line=1, expected="", observed="0a")),
        (
            b"\n" * (1 << 20) + b"0123456789",
            b"\n" * (1 << 20) + b"x123456789",
            ByteDifference(
                offset=1 << 20,
                line=(1 << 20) + 1,
                expected="3031323334353637",
                observed="7831323334353637",
            ),
        ),
    ],
)
def test_the_first_byte(expected: bytes, observed: bytes, first: ByteDifference) -> None:
    """Its offset, its line, and what stands there; block borders do not matter."""
    assert differ("a.txt", expected, observed) == OutputDifference(
        path="a.txt",
        kind="bytes",
        content_equal=False,
        expected_size=len(expected),
        observed_size=len(observed),
        first_byte=first,
    )


@pytest.mark.parametrize(
    ("path", "expected", "observed", "reason"),
    [
        ("a.json", b"{", b"[", "it is no JSON"),
        ("a.json", b"1", b"[", "observed: it is no JSON"),
        ("a.json", b"\xff", b"1", "expected: it is not UTF-8"),
        ("a.json", b"\xff", b"[", "expected: it is not UTF-8; observed: it is no JSON"),
        (
            "a.npz",
            npz(o=np.array([None])),
            npz(o=np.array([1])),
            "expected: its array 'o' is of a type that is not compared by its elements",
        ),
    ],
)
def test_why_files_are_compared_by_bytes(
    path: str, expected: bytes, observed: bytes, reason: str
) -> None:
    """Where one of them is not what its name says, both are compared by bytes."""
    found = differ(path, expected, observed)
    assert (found.kind, found.content_equal, found.reason) == ("bytes", False, reason)
    assert found.value is None
    assert found.arrays == ()


# ---------------------------------------------------------------- arrays


def elements(*rows: tuple[Any, ...]) -> tuple[ElementDifference, ...]:
    names = ("index", "expected", "expected_bits", "observed", "observed_bits", "ulp")
    return tuple(ElementDifference(**dict(zip(names, row, strict=True))) for row in rows)


def test_an_array_down_to_its_elements() -> None:
    """Counts, largest differences, and elements with bits and distance; other arrays unnamed."""
    other = WEIGHTS.copy()
    other[0, 1] = np.nextafter(other[0, 1], np.float32(2))
    other[1, 2] = 4
    found = differ("a.npz", npz(w=WEIGHTS, same=WEIGHTS), npz(w=other.T.copy().T, same=WEIGHTS))
    assert (found.kind, found.content_equal, found.arrays_differing) == ("npz", False, 1)
    assert (found.missing, found.unexpected) == ((), ())
    assert found.arrays == (
        ArrayDifference(
            array="w",
            step=1,
            expected_type="<f4 (2, 3)",
            observed_type="<f4 (2, 3)",
            elements=6,
            elements_differing=2,
            kind="scattered",
            rows=(0, 1),
            largest_absolute=1.0,
            largest_ulp=2097152,
            first=elements(
                ((0, 1), 1.0, "0x3f800000", 1.0000001, "0x3f800001", 1),
                ((1, 2), 5.0, "0x40a00000", 4.0, "0x40800000", 2097152),
            ),
        ),
    )


def test_arrays_that_are_missing_or_of_another_form() -> None:
    """Names on either side, and type and shape of those on both."""
    found = differ(
        "a.npz", npz(a=WEIGHTS, b=WEIGHTS, c=WEIGHTS), npz(b=WEIGHTS.T, c=WEIGHTS + 0j, d=WEIGHTS)
    )
    assert (found.missing, found.unexpected, found.arrays_differing) == (("a",), ("d",), 2)
    shape, kind = found.arrays
    assert shape == ArrayDifference(
        array="b",
        step=1,
        expected_type="<f4 (2, 3)",
        observed_type="<f4 (3, 2)",
        elements=6,
        elements_differing=6,
        kind="shape",
    )
    assert kind == shape.model_copy(
        update={"array": "c", "observed_type": "<c8 (2, 3)", "kind": "type", "converted": "equal"}
    )


@pytest.mark.parametrize(
    ("expected", "observed", "first"),
    [
        (
            np.array(["a", "bc"]),
            np.array(["a", "b\n"]),
            ((1,), "bc", "", "b\n", "", None),
        ),
        (np.array([b"a"]), np.array([b"\xff"]), ((0,), "a", "", "\\xff", "", None)),
        (
            np.array("2020-01-02", "M8[D]"),
            np.array("NaT", "M8[D]"),
            ((), "2020-01-02", "0x0000000000004757", "NaT", "0x8000000000000000", None),
        ),
        (
            np.array([3], ">m8[s]"),
            np.array([4], ">m8[s]"),
            ((0,), "3 seconds", "0x0000000000000003", "4 seconds", "0x0000000000000004", None),
        ),
        (np.array([np.nan]), np.array([1.0]), None),
        (np.array(["x" * 100]), np.array(["y" * 100]), None),
    ],
)
def test_texts_and_times(expected: Any, observed: Any, first: tuple[Any, ...] | None) -> None:
    """Shown as what they are; a text has no bits, and neither has a distance."""
    [array] = differ("a.npy", npy(expected), npy(observed)).arrays
    assert (array.array, array.elements_differing) == ("", 1)
    assert (array.largest_absolute, array.largest_ulp) == (None, None)
    if first is not None:
        assert array.first == elements(first)
    else:
        assert len(array.first) == 1
        assert len(str(array.first[0].expected)) <= 83


def test_a_large_array_is_described_by_blocks() -> None:
    """Indices go on from block to block, and the largest difference of all is given."""
    left = np.zeros((3, 200_000))
    right = left.copy()
    right[0, 7] = 2.0**-1060
    right[2, 199_999] = -8.0
    right[1, 100_000] = np.nan
    [array] = differ("a.npy", npy(left), npy(right)).arrays
    assert (array.elements, array.elements_differing) == (600_000, 3)
    assert array.largest_absolute == 8.0
    assert array.largest_ulp == {"$int": str(0x4020 << 48)}
    assert [one.index for one in array.first] == [(0, 7), (1, 100_000), (2, 199_999)]


def test_values_of_two_types_are_compared_by_blocks() -> None:
    """The blocks of the narrower type hold more elements."""
    left = np.linspace(0, 1, 300_000)
    right = left.astype("<f4")
    [array] = differ("a.npy", npy(left), npy(right)).arrays
    assert (array.kind, array.converted) == ("type", "rounded")
    right[-1] = 2
    [array] = differ("a.npy", npy(right), npy(left)).arrays
    assert (array.kind, array.converted) == ("type", "other")


def test_the_first_elements_are_shown_however_the_blocks_lie() -> None:
    """Five of an array, and not five of each block."""
    left = np.zeros(300_000)
    right = left.copy()
    places = [0, 1, 131_000, 131_072, 200_000, 262_144, 299_999]
    right[places] = 1.0
    [array] = differ("a.npy", npy(left), npy(right)).arrays
    assert array.elements_differing == 7
    assert [one.index for one in array.first] == [(place,) for place in places[:5]]


def test_at_most_so_many_arrays_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are counted."""
    monkeypatch.setattr(contents, "MAX_ARRAYS_SHOWN", 2)
    names = {f"a{k}": WEIGHTS for k in range(4)}
    others = dict.fromkeys(names, WEIGHTS + 1)
    found = differ("a.npz", npz(**names), npz(**others))  # type: ignore[arg-type]
    assert found.arrays_differing == 4
    assert [array.array for array in found.arrays] == ["a0", "a1"]


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize(
    ("expected", "observed", "pointer", "left", "right", "lengths"),
    [
        ('{"a": {"b": [1, 2.5]}}', '{"a": {"b": [1, 2.25]}}', "/a/b/1", "2.5", "2.25", None),
        ("1", "1.0", "", "1", "1.0", None),
        ("[0.0]", "[-0.0]", "/0", "0.0", "-0.0", None),
        ("true", "1", "", "true", "1", None),
        ("[null]", '["null"]', "/0", "null", '"null"', None),
        ("[NaN, 1]", "[NaN, 2]", "/1", "1", "2", None),
        ('{"x~/y": 1}', '{"x~/y": 2}', "/x~0~1y", "1", "2", None),
        ('{"b": 1, "c": 1}', '{"c": 2, "a": 1}', "/a", None, "1", None),
        ('{"\\ud800": 1}', "{}", "/\\ud800", "1", None, None),
        ('{"a": null}', "{}", "/a", "null", None, None),
        ("[1, 2]", "[1, 2, 3]", "/2", None, "3", (2, 3)),
        ('{"a": [[], 1]}', '{"a": [[]]}', "/a/1", "1", None, (2, 1)),
        ("[1, 2]", "[2]", "/0", "1", "2", None),
        ("{}", "[]", "", "{}", "[]", None),
        ('"\\u00e9"', '"e"', "", '"\\u00e9"', '"e"', None),
        (f'"{"x" * 300}"', "0", "", f'"{"x" * 199}...', "0", None),
    ],
)
def test_the_first_value(
    expected: str,
    observed: str,
    pointer: str,
    left: str | None,
    right: str | None,
    lengths: tuple[int, int] | None,
) -> None:
    """A pointer, and what stands there in each; members in the order of their names."""
    found = differ("a.json", expected.encode(), observed.encode())
    assert (found.kind, found.content_equal) == ("json", False)
    assert found.value == ValueDifference(
        pointer=pointer, expected=left, observed=right, lengths=lengths
    )


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("expected", "observed", "rows", "first"),
    [
        (
            "step,loss\n1,0.5\n2,0.25\n",
            "step,loss\n1,0.5\n2,0.250\n3,0\n",
            (3, 4),
            (3, 2, "loss", "0.25", "0.250"),
        ),
        ("a,b\n", "a,c\n", (1, 1), (1, 2, None, "b", "c")),
        ("a,b\n1,2\n", "a,b\n1,2,3\n", (2, 2), (2, 3, None, None, "3")),
        ("a,b\n1,2\n", "a,b\n1\n", (2, 2), (2, 2, "b", "2", None)),
        ("a\n1\n", "a\n1\n2\n", (2, 3), (3, 1, "a", None, "2")),
        ("a\n1\n2\n", "a\n", (3, 1), (2, 1, "a", "1", None)),
        ("a\n", "a\n\n", (1, 2), None),
        ("", "a\n", (0, 1), (1, 1, None, None, "a")),
        (f"a\n{'x' * 300}\n", "a\ny\n", (2, 2), (2, 1, "a", f"{'x' * 200}...", "y")),
    ],
)
def test_the_first_cell(
    expected: str, observed: str, rows: tuple[int, int], first: tuple[Any, ...] | None
) -> None:
    """Row and column from 1, what stands above it, and how many rows there are."""
    found = differ("a.csv", expected.encode(), observed.encode())
    assert (found.kind, found.content_equal) == ("csv", False)
    names = ("row", "column", "header", "expected", "observed")
    cell = None if first is None else CellDifference(**dict(zip(names, first, strict=True)))
    assert found.table == TableDifference(expected_rows=rows[0], observed_rows=rows[1], first=cell)


def test_tabs_separate_the_cells_of_a_tsv() -> None:
    """And commas do not."""
    found = differ("a.tsv", b"a\tb,c\n", b"a\tb,d\n")
    assert found.table is not None
    assert found.table.first == CellDifference(
        row=1, column=2, header=None, expected="b,c", observed="b,d"
    )


# ---------------------------------------------------------------- images


def test_pixels() -> None:
    """How many, by how much, and the first from the left and the top."""
    left = [[(0, 0, 0)] * 3, [(0, 0, 0)] * 3]
    right = [[(0, 0, 0)] * 3, [(0, 0, 0), (1, 0, 9), (250, 0, 0)]]
    found = differ("a.png", rgb_png(left), rgb_png(right))
    assert (found.kind, found.content_equal) == ("image", False)
    assert found.image == ImageDifference(
        expected_form="RGB 3 x 2",
        observed_form="RGB 3 x 2",
        pixels=6,
        pixels_differing=2,
        largest_channel=250,
        first=PixelDifference(x=1, y=1, expected=(0, 0, 0, 255), observed=(1, 0, 9, 255)),
    )


def test_pixels_of_a_tall_image_are_counted_from_its_top() -> None:
    """An image is compared strip by strip."""
    rows = b"".join(b"\0" + bytes(2000) for _ in range(1000))
    other = bytearray(rows)
    other[900 * 2001 + 1 + 7] = 3
    found = differ(
        "a.png", png((2000, 1000), rows, colour=0), png((2000, 1000), bytes(other), colour=0)
    )
    assert found.image is not None
    assert found.image.first == PixelDifference(
        x=7, y=900, expected=(0, 0, 0, 255), observed=(3, 3, 3, 255)
    )
    assert (found.image.pixels_differing, found.image.largest_channel) == (1, 3)


def test_images_of_other_sizes() -> None:
    """No pixels are compared."""
    found = differ("a.png", rgb_png([[(0, 0, 0)]]), rgb_png([[(0, 0, 0)] * 2]))
    assert found.image == ImageDifference(
        expected_form="RGB 1 x 1", observed_form="RGB 2 x 1", pixels=1, pixels_differing=1
    )


def test_other_samples_can_show_the_same() -> None:
    """Two palettes in another order are other content, and no pixel differs."""
    one = png((1, 1), b"\0\0", colour=3, before=chunk(b"PLTE", b"abcdef"))
    two = png((1, 1), b"\0\1", colour=3, before=chunk(b"PLTE", b"defabc"))
    found = differ("a.png", one, two)
    assert not found.content_equal
    assert found.image == ImageDifference(
        expected_form="P 1 x 1", observed_form="P 1 x 1", pixels=1, pixels_differing=0
    )


def test_a_jpeg_is_shown_by_pixels_where_it_can_be_decoded() -> None:
    """And by bytes where it cannot, with the reason."""
    found = differ("a.jpg", jpeg(), jpeg(colour=(200, 40, 120)))
    assert found.image is not None
    assert found.image.pixels_differing == 72
    cut = differ("a.jpg", jpeg(), jpeg()[:-8])
    assert (cut.kind, cut.content_equal, cut.image) == ("image", False, None)
    assert cut.reason == "it cannot be decoded as JPEG"


def named_rgb(data: bytes) -> bytes:
    """A JPEG whose components are called R, G and B."""
    changed = bytearray(data)
    frame, scan = data.index(b"\xff\xc0"), data.index(b"\xff\xda")
    for number, name in enumerate(b"RGB"):
        changed[frame + 10 + 3 * number] = changed[scan + 5 + 2 * number] = name
    return bytes(changed)


def test_a_jpeg_with_and_without_a_jfif_header_shows_other_colours() -> None:
    """Only with one are components called R, G and B brightness and two differences."""
    headed = named_rgb(jpeg())
    bare = headed[:2] + headed[headed.index(b"\xff\xdb") :]
    found = differ("a.jpg", headed, bare)
    assert (found.kind, found.content_equal) == ("image", False)
    assert found.image is not None
    assert found.image.pixels_differing == 72


@pytest.mark.parametrize(("scans", "decoded"), [(100, True), (101, False)])
def test_a_jpeg_of_too_many_scans_is_not_decoded(scans: int, decoded: bool) -> None:
    """A scan of a few bytes costs time for every pixel of the picture."""
    plain = jpeg(progressive=True)
    last, end = plain.rindex(b"\xff\xda"), plain.rindex(b"\xff\xd9")
    more = plain[last:end] * (scans - plain.count(b"\xff\xda"))
    found = differ("a.jpg", plain[:end] + more + plain[end:], jpeg())
    assert (found.image is not None) == decoded
    assert found.reason == (None if decoded else "it has 101 scans, more than are decoded")


def test_a_jpeg_of_too_many_pixels_is_not_decoded() -> None:
    """Its size is looked at before its pixels."""
    limits = replace(CONTENT_LIMITS, max_image_pixels=71)
    one, two = ((io.BytesIO(data), len(data)) for data in (jpeg(), jpeg(colour=(0, 0, 0))))
    found = compare_outputs("a.jpg", one, two, limits)
    assert found is not None
    assert (found.kind, found.image) == ("image", None)
    assert found.reason == "it has 9 x 8 pixels, none or more than are decoded"


def test_files_are_left_open() -> None:
    """The caller opened them."""
    for path, one, two in (("a.csv", b"a", b"b"), ("a.png", rgb_png([[(0, 0, 0)]]), b"x")):
        streams = [(io.BytesIO(data), len(data)) for data in (one, two)]
        assert compare_outputs(path, streams[0], streams[1]) is not None
        assert not any(stream.closed for stream, _ in streams)
