"""How far two arrays part: bytes, absolute differences and units in the last place, by hand."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest

from repropack._compare.arrays import describe_difference, same_bytes
from repropack._compare.distances import (
    absolute_difference,
    largest,
    largest_distance,
    ulp_distance,
)
from repropack.errors import UnsupportedDtypeError
from repropack.models.differences import ArrayDifference, ElementDifference


def of(dtype: str, values: list[Any]) -> Any:
    """A flat array."""
    return np.array(values, dtype)


NAN = 2**64 - 1
INF = math.inf


def bits32(pattern: int) -> Any:
    return np.frombuffer(struct.pack("<I", pattern), "<f4")[0]


# ---------------------------------------------------------------- bytes


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        pytest.param(of("float32", [1, 2]), of("float32", [1, 2]), True, id="equal"),
        pytest.param(of("float32", [0.0]), of("float32", [-0.0]), False, id="sign-of-zero"),
        pytest.param(of("float32", [1, 2]), of("float64", [1, 2]), False, id="type"),
        pytest.param(of("int32", [0]), of("float32", [0]), False, id="kind"),
        pytest.param(np.zeros((2, 1)), np.zeros((1, 2)), False, id="shape"),
        pytest.param(np.float64(1.0), of("float64", [1.0]), False, id="rank"),
        pytest.param(np.float64(1.0), np.float64(1.0), True, id="rank-0"),
        pytest.param(np.zeros((0, 3)), np.zeros((0, 3)), True, id="empty"),
        pytest.param(np.zeros((0, 3)), np.zeros((0, 4)), False, id="empty-of-another-shape"),
        pytest.param(of("float32", [np.nan]), of("float32", [np.nan]), True, id="nan"),
        pytest.param(
            np.array([bits32(0x7FC00000)]), np.array([bits32(0x7FC00001)]), False, id="nan-payload"
        ),
        pytest.param(
            np.arange(3, dtype="<i4"), np.arange(3, dtype=">i4"), True, id="byte-order-in-memory"
        ),
        pytest.param(
            np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), True,
            id="layout-in-memory",
        ),
        pytest.param(np.array([True]), np.array([False]), False, id="bool"),
    ],
)  # fmt: skip
def test_same_bytes_asks_for_type_shape_and_every_bit(left: Any, right: Any, same: bool) -> None:
    """Equality is of stored bytes, not of numbers and not of memory."""
    assert same_bytes(left, right) is same
    assert same_bytes(right, left) is same


# ---------------------------------------------------------------- units in the last place


def ulps(left: Any, right: Any) -> list[int]:
    distance = ulp_distance(np.asarray(left), np.asarray(right))
    assert distance is not None
    assert distance.dtype == np.uint64
    return [int(one) for one in distance]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_neighbours_are_one_unit_apart(dtype: type[Any]) -> None:
    """In every type, on either side of a power of two, of zero and of the largest number."""
    one, zero, top = dtype(1), dtype(0), np.finfo(dtype).max
    up, down = dtype(np.inf), dtype(-np.inf)
    assert ulps([one], [np.nextafter(one, up)]) == [1]
    assert ulps([one], [np.nextafter(one, down)]) == [1]
    assert ulps([-one], [np.nextafter(-one, up)]) == [1]
    assert ulps([zero], [np.nextafter(zero, up)]) == [1]
    assert ulps([top], [up]) == [1]
    assert ulps([np.nextafter(zero, down)], [np.nextafter(zero, up)]) == [2]


@pytest.mark.parametrize(
    ("dtype", "between_one_and_two", "one_to_minus_one", "across_all"),
    [
        (np.float16, 1024, 2 * 0x3C00, 2 * 0x7C00),
        (np.float32, 2**23, 2 * 0x3F800000, 2 * 0x7F800000),
        (np.float64, 2**52, 2 * 0x3FF0000000000000, 2 * 0x7FF0000000000000),
    ],
)
def test_distances_are_differences_of_ordered_bits(
    dtype: type[Any], between_one_and_two: int, one_to_minus_one: int, across_all: int
) -> None:
    """Also across zero and from one infinity to the other, without wrapping around."""
    assert ulps([dtype(1)], [dtype(2)]) == [between_one_and_two]
    assert ulps([dtype(1)], [dtype(-1)]) == [one_to_minus_one]
    assert ulps([dtype(-np.inf)], [dtype(np.inf)]) == [across_all]


def test_both_zeros_are_at_one_place() -> None:
    """Their bits differ and their distance is 0; the neighbours of both are 1 away."""
    tiny = np.nextafter(np.float32(0), np.float32(1))
    assert ulps(of("float32", [0.0, -0.0, -0.0]), of("float32", [-0.0, 0.0, tiny])) == [0, 0, 1]


def test_a_nan_has_no_distance_unless_its_bits_are_equal() -> None:
    """The largest integer stands for "not comparable", which no two numbers are apart."""
    nan, other = bits32(0x7FC00000), bits32(0x7FC00001)
    left = np.array([nan, nan, nan, np.float32(1)])
    right = np.array([nan, other, np.float32(1), nan])
    assert ulps(left, right) == [0, NAN, NAN, NAN]
    assert largest_distance(left, right) == 0


def test_a_signalling_nan_is_compared_in_silence() -> None:
    """Widening one raises a floating-point flag, which is nobody's warning here."""
    signalling = np.array([bits32(0x7F800001)])
    assert ulps(signalling, signalling) == [0]
    assert ulps(signalling, of("float32", [1])) == [NAN]
    assert absolute_difference(signalling, signalling).tolist() == [0]
    found = describe_difference("value", 1, signalling, of("float32", [1]))
    assert found.first[0].expected_bits == "0x7f800001"


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_a_complex_number_is_as_far_as_its_farther_part(dtype: type[Any]) -> None:
    """One distance a number, whichever part is the farther one."""
    real = np.float32 if dtype is np.complex64 else np.float64
    up = np.nextafter(real(1), real(2))
    two_up = np.nextafter(up, real(2))
    left = np.array([complex(1, 1), complex(1, 1), complex(0, 0)], dtype)
    right = np.array([complex(up, two_up), complex(two_up, 1), complex(0, np.nan)], dtype)
    assert ulps(left, right) == [2, 2, NAN]


@pytest.mark.parametrize("dtype", ["|b1", "|i1", "<u8", "<i4"])
def test_integers_and_truth_values_have_no_units(dtype: str) -> None:
    """There is no last place to count."""
    array = np.zeros(2, dtype)
    assert ulp_distance(array, array) is None
    assert largest_distance(array, array) == 0


# ---------------------------------------------------------------- absolute differences


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param(of("float32", [1, -1]), of("float32", [1.5, 1]), [0.5, 2.0], id="float32"),
        pytest.param(of("float16", [1]), of("float16", [0.5]), [0.5], id="float16"),
        pytest.param(
            of("float64", [INF, INF]), of("float64", [INF, -INF]), [0.0, INF], id="infinities"
        ),
        pytest.param(of("float64", [1e308]), of("float64", [-1e308]), [INF], id="beyond-the-range"),
        pytest.param(of("float32", [0.0]), of("float32", [-0.0]), [0.0], id="zeros"),
        pytest.param(of("complex64", [1 + 1j]), of("complex64", [1 + 3j]), [2.0], id="complex"),
        pytest.param(np.array([True, False]), np.array([False, False]), [1.0, 0.0], id="bool"),
        pytest.param(of("int8", [-128]), of("int8", [127]), [255.0], id="int8"),
        pytest.param(
            of("int64", [-(2**63)]), of("int64", [2**63 - 1]), [2.0**64], id="int64-range"
        ),
        pytest.param(of("int64", [2**62 + 1]), of("int64", [2**62]), [1.0], id="int64-neighbours"),
        pytest.param(
            of("uint64", [2**64 - 1]), of("uint64", [2**64 - 2]), [1.0], id="uint64-neighbours"
        ),
        pytest.param(of("uint8", [0]), of("uint8", [255]), [255.0], id="uint8"),
        pytest.param(np.float64(1), np.float64(3), [2.0], id="rank-0"),
        pytest.param(np.zeros((0, 2)), np.zeros((0, 2)), [], id="empty"),
        pytest.param(
            np.arange(4.0).reshape(2, 2), np.ones((2, 2)), [1.0, 0.0, 1.0, 2.0], id="flat"
        ),
    ],
)
def test_absolute_differences_are_taken_in_float64(
    left: Any, right: Any, expected: list[float]
) -> None:
    """Flat, one an element; of complex numbers the larger part's."""
    for first, second in ((left, right), (right, left)):
        difference = absolute_difference(first, second)
        assert difference.dtype == np.float64
        assert difference.tolist() == expected


def test_absolute_difference_of_a_nan_is_nan_unless_its_bits_are_equal() -> None:
    """Equal NaNs do not differ; a NaN and a number cannot be subtracted."""
    nan = np.nan
    difference = absolute_difference(of("float64", [nan, nan, 1]), of("float64", [nan, 1, nan]))
    assert difference[0] == 0
    assert np.isnan(difference[1:]).all()
    part = absolute_difference(np.array([complex(0, nan)]), np.array([complex(1, 0)]))
    assert np.isnan(part).all()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], None),
        ([0.0, 0.0], None),
        ([np.nan], None),
        ([np.nan, 0.5, 0.25], 0.5),
        ([0.5, INF], {"$float": "inf"}),
    ],
)
def test_the_largest_difference_ignores_what_cannot_be_compared(
    values: list[float], expected: Any
) -> None:
    """No difference above zero is none."""
    assert largest(np.array(values, np.float64)) == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (of("<f4", []), of("<f4", []), 0),
        (of("<f4", [1, math.nan, 0.0]), of("<f4", [1.0000001, 2, -0.0]), 1),
        (of("<f8", [-1.0]), of("<f8", [1.0]), 0x3FF << 53),
        (of("<f2", [math.inf]), of("<f2", [-math.inf]), 2 * 0x7C00),
        (of("<c8", [complex(1, math.nan), 1]), of("<c8", [complex(9, 2), 1.0000001]), 1),
        (of("<i4", [1]), of("<i4", [2]), 0),
    ],
)
def test_the_largest_distance_ignores_what_cannot_be_compared(
    left: Any, right: Any, expected: int
) -> None:
    """Neither part of a complex number counts where one of them is NaN."""
    assert largest_distance(left, right) == expected


# ---------------------------------------------------------------- descriptions


def test_a_description_names_the_first_elements() -> None:
    """The example of the design: shortest decimals of float32, bits, distance."""
    left = np.zeros((2, 3), "<f4")
    right = left.copy()
    left[1, 0], right[1, 0] = bits32(0xBF0DB60F), bits32(0xBF0DB60D)
    assert describe_difference("gradient", 1, left, right) == ArrayDifference(
        array="gradient",
        step=1,
        expected_type="<f4 (2, 3)",
        observed_type="<f4 (2, 3)",
        elements=6,
        elements_differing=1,
        kind="one-element",
        rows=(1, 1),
        largest_absolute=1.1920928955078125e-07,
        largest_ulp=2,
        first=(
            ElementDifference(
                index=(1, 0),
                expected=-0.55355924,
                expected_bits="0xbf0db60f",
                observed=-0.5535591,
                observed_bits="0xbf0db60d",
                ulp=2,
            ),
        ),
    )


@pytest.mark.parametrize(
    ("left", "right", "expected", "observed", "ulp"),
    [
        pytest.param(np.float16(1), np.float16(1.001), 1.0, 1.001, 1, id="float16"),
        pytest.param(np.float64(0.1), np.float64(0.3), 0.1, 0.3, 7205759403792793, id="float64"),
        pytest.param(
            np.float64(1), np.float64(-1), 1.0, -1.0, {"$int": "9214364837600034816"}, id="far"
        ),
        pytest.param(
            np.float32(INF), np.float32(-INF), {"$float": "inf"}, {"$float": "-inf"}, 4278190080,
            id="infinities",
        ),
        pytest.param(np.float32(np.nan), np.float32(1), {"$float": "nan"}, 1.0, None, id="nan"),
        pytest.param(
            np.uint64(2**64 - 1), np.uint64(5), {"$int": "18446744073709551615"}, 5, None,
            id="uint64",
        ),
        pytest.param(np.int8(-1), np.int8(1), -1, 1, None, id="int8"),
        pytest.param(np.bool_(True), np.bool_(False), True, False, None, id="bool"),
        pytest.param(
            np.complex64(1 + 2j), np.complex64(1 - 0.5j),
            {"real": "1.0", "imaginary": "2.0"}, {"real": "1.0", "imaginary": "-0.5"}, 2130706432,
            id="complex",
        ),
    ],
)  # fmt: skip
def test_every_type_can_be_described(
    left: Any, right: Any, expected: Any, observed: Any, ulp: Any
) -> None:
    """Decimals of the type's own precision, encoded where JSON has no number for them."""
    found = describe_difference("value", 3, left, right)
    (element,) = found.first
    assert (element.index, element.expected, element.observed) == ((), expected, observed)
    assert (element.ulp, found.largest_ulp) == (ulp, ulp)
    assert type(element.expected) is type(expected)
    assert found.elements == found.elements_differing == 1


def test_a_sign_of_zero_is_described_without_a_size() -> None:
    """The elements differ, and by nothing that could be measured."""
    found = describe_difference("value", 3, of("float32", [0.0]), of("float32", [-0.0]))
    assert (found.elements_differing, found.largest_absolute, found.largest_ulp) == (1, None, None)
    assert (found.first[0].expected_bits, found.first[0].observed_bits) == (
        "0x00000000", "0x80000000",
    )  # fmt: skip
    assert found.first[0].ulp == 0
    assert math.copysign(1, found.first[0].observed) == -1  # type: ignore[arg-type]


def test_no_more_than_five_elements_are_shown() -> None:
    """All are counted."""
    found = describe_difference("value", 3, np.arange(9), np.arange(9) + 1)
    assert found.elements_differing == 9
    assert [one.index for one in found.first] == [(0,), (1,), (2,), (3,), (4,)]


@pytest.mark.parametrize(
    ("left", "right", "forms"),
    [
        (np.zeros(3, "<f4"), np.zeros(3, "<f8"), ("<f4 (3,)", "<f8 (3,)")),
        (np.zeros(3), np.zeros((3, 1)), ("<f8 (3,)", "<f8 (3, 1)")),
        (np.float64(0), np.zeros(1), ("<f8 ()", "<f8 (1,)")),
        (np.array(True), np.array(1, "<i8"), ("|b1 ()", "<i8 ()")),
    ],
)
def test_arrays_of_another_form_are_not_compared_by_element(
    left: Any, right: Any, forms: tuple[str, str]
) -> None:
    """Type and shape are named, and all elements count as differing."""
    found = describe_difference("value", 3, left, right)
    assert (found.expected_type, found.observed_type) == forms
    assert (found.elements, found.elements_differing) == (left.size, left.size)
    assert (found.first, found.largest_absolute, found.largest_ulp) == ((), None, None)


def test_equal_arrays_have_nothing_to_describe() -> None:
    found = describe_difference("value", 3, np.arange(3.0), np.arange(3.0))
    assert (found.elements_differing, found.first, found.largest_absolute) == (0, (), None)
    assert (found.kind, found.rows) == (None, None)


QUIET = bits32(0x7FC00000)
OTHER_NAN = bits32(0xFFC00001)


def changed(shape: tuple[int, ...], *places: Any, to: float = 2.0) -> tuple[Any, Any]:
    """Ones, and the same with other elements at some places."""
    left = np.ones(shape, "<f4")
    right = left.copy()
    for place in places:
        right[place] = to
    return left, right


@pytest.mark.parametrize(
    ("pair", "kind", "rows"),
    [
        (changed((4, 3), (2, 1)), "one-element", (2, 2)),
        (changed((4, 3), (2, 1), (2, 2)), "rows", (2, 2)),
        (changed((4, 3), (1, 0), (2, 2)), "rows", (1, 2)),
        (changed((4, 3), 0, 1, 2), "rows", (0, 2)),
        (changed((4, 3), 0, 2), "scattered", (0, 2)),
        (changed((4, 3), (slice(None), 1)), "scattered", (0, 3)),
        (changed((4, 3), ...), "everything", (0, 3)),
        (changed((5,), slice(1, 4)), "rows", (1, 3)),
        (changed((5,), 1, 3), "scattered", (1, 3)),
        (changed((1, 5), (0, 1), (0, 2)), "scattered", (0, 0)),
        (changed((), ()), "one-element", None),
        ((of("<f4", [0.0, 1, -0.0]), of("<f4", [-0.0, 1, 0.0])), "sign-of-zero", (0, 2)),
        ((of("<f8", [0.0, 1]), of("<f8", [-0.0, 2])), "everything", (0, 1)),
        ((np.array([QUIET, 1]), np.array([OTHER_NAN, 1])), "nan-payload", (0, 0)),
        ((np.array([QUIET, 0], "<f4"), np.array([OTHER_NAN, -0.0], "<f4")), "bits-alone", (0, 1)),
        ((np.array([QUIET, 1], "<f4"), of("<f4", [1, 1])), "one-element", (0, 0)),
        ((of("<c8", [complex(0, 1)]), of("<c8", [complex(-0.0, 1)])), "sign-of-zero", (0, 0)),
        ((of("<c8", [complex(0, 1)]), of("<c8", [complex(-0.0, 2)])), "one-element", (0, 0)),
        ((of("<c16", [1j, 0]), of("<c16", [1j, 1])), "one-element", (1, 1)),
        ((of("|b1", [0, 1]), of("|b1", [1, 0])), "everything", (0, 1)),
        ((of("<i8", [0, 1, 2]), of("<i8", [0, 5, 6])), "rows", (1, 2)),
    ],
)  # fmt: skip
def test_the_kind_of_a_difference(pair: Any, kind: str, rows: Any) -> None:
    """Told by what the elements are and where they lie."""
    found = describe_difference("value", 3, *pair)
    assert (found.kind, found.rows, found.converted) == (kind, rows, None)
    mirrored = describe_difference("value", 3, pair[1], pair[0])
    assert (mirrored.kind, mirrored.rows) == (kind, rows)


@pytest.mark.parametrize(
    ("left", "right", "converted"),
    [
        (of("<f4", [1.5, math.nan]), of("<f8", [1.5, math.nan]), "equal"),
        (of("<f8", [0.1, math.nan]), of("<f4", [0.1, math.nan]), "rounded"),
        (of("<f8", [0.1, 1]), of("<f4", [0.2, 1]), "other"),
        (of("<f8", [1e300]), of("<f4", [math.inf]), "rounded"),
        (of("<c16", [0.1j]), of("<c8", [0.1j]), "rounded"),
        (of("<i8", [1, -2]), of("<i4", [1, -2]), "equal"),
        (of("<i8", [-1]), of("<u8", [2**64 - 1]), "other"),
        (of("<i8", [3]), of("<f8", [3.0]), "equal"),
        (of("<i8", [2**53 + 1]), of("<f8", [2.0**53]), "other"),
        (of("|b1", [True, False]), of("<i8", [1, 0]), "equal"),
        (of("|b1", [True]), of("<f8", [1.0]), "equal"),
    ],
)
def test_values_of_two_types_are_compared(left: Any, right: Any, converted: str) -> None:
    """A state that was cast holds the rounded values, which is worth knowing."""
    found = describe_difference("value", 3, left, right)
    assert (found.kind, found.converted, found.rows) == ("type", converted, None)
    assert describe_difference("value", 3, right, left).converted == converted


def test_values_of_another_shape_are_not_compared() -> None:
    found = describe_difference("value", 3, np.zeros(3, "<f4"), np.zeros((3, 1), "<f4"))
    assert (found.kind, found.converted) == ("shape", None)
    found = describe_difference("value", 3, np.zeros(3, "<f4"), np.zeros((3, 1), "<f8"))
    assert (found.kind, found.converted) == ("type", None)


def test_rows_are_counted_across_blocks() -> None:
    """A row that lies in two blocks is one row; a gap between blocks is one."""
    left = np.zeros((8, 10_000))
    band, gap = left.copy(), left.copy()
    band[3:6, ::7] = 1
    gap[2:4, 5] = gap[6, 5] = 1
    found = describe_difference("value", 3, left, band)
    assert (found.kind, found.rows, found.elements_differing) == ("rows", (3, 5), 4287)
    assert describe_difference("value", 3, left, gap).kind == "scattered"
    assert describe_difference("value", 3, left, left + 1).kind == "everything"
    zeros = describe_difference("value", 3, left, -left)
    assert (zeros.kind, zeros.elements_differing) == ("sign-of-zero", 80_000)


def test_an_array_that_cannot_be_stored_cannot_be_described() -> None:
    """Objects are refused, by the name of the array."""
    with pytest.raises(UnsupportedDtypeError, match="'value'"):
        describe_difference("value", 3, np.array([object()]), np.array([object()]))
