"""Functions of whole arrays: what they give, whatever the blocks, and never another order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._compare import reductions
from repropack._compare.reductions import (
    differing_elements,
    greatest,
    greatest_difference,
    greatest_magnitude,
    least,
    norm,
    total,
)

NAN = math.nan


def blocks(values: Any, dtype: str = "<f8", size: int = 3) -> Iterator[Any]:
    flat = np.array(values, dtype)
    return (flat[start : start + size] for start in range(0, flat.size, size))


@pytest.mark.parametrize(
    ("function", "values", "dtype", "expected"),
    [
        (least, [3, -7, 5, 1], "<i8", -7),
        (greatest, [3, -7, 5, 1], "<i8", 5),
        (greatest_magnitude, [3, -7, 5, 1], "<i8", 7),
        (greatest_magnitude, [-(2**63), 1], "<i8", 2**63),
        (least, [2**64 - 1, 7], "<u8", 7),
        (greatest, [0.5, -2.5, 1.5, 2.25], "<f4", 2.25),
        (greatest_magnitude, [0.5, -2.5, 1.5, 2.25], "<f4", 2.5),
        (greatest, [False, True], "|b1", 1),
        (least, [NAN, 1.0], "<f8", NAN),
        (greatest, [1.0, 2.0, 3.0, NAN], "<f8", NAN),
        (greatest_magnitude, [1.0, NAN, -2.0], "<f8", NAN),
        (greatest, [-math.inf, -1.0], "<f8", -1.0),
        (total, [2**63 - 1, 2**63 - 1, 2, -5], "<i8", 2**64 - 5),
        (total, [2**64 - 1] * 7, "<u8", 7 * (2**64 - 1)),
        (total, [100, 100, 100, -1], "|i1", 299),
        (total, [True, False, True, True], "|b1", 3),
        (total, [0.1] * 10, "<f8", 0.9999999999999999),
        (total, [1e16, 1.0, -1e16, 1.0], "<f8", 1.0),
        (total, [], "<f8", 0.0),
        (total, [math.inf, -math.inf], "<f8", NAN),
        (norm, [3.0, 4.0], "<f8", 5.0),
        (norm, [3, 4], "<i8", 5.0),
        (norm, [1e200, 1e200], "<f8", math.inf),
        (norm, [NAN], "<f8", NAN),
        (norm, [], "<f4", 0.0),
    ],
)
def test_what_a_function_gives(
    function: Callable[[Any], Any], values: list[Any], dtype: str, expected: Any
) -> None:
    """Integers exactly, floats in float64; a NaN is never passed over."""
    for size in (1, 2, 3, 100):
        found = function(blocks(values, dtype, size))
        assert type(found) is type(expected)
        assert math.isnan(found) if math.isnan(expected) else found == expected


def test_a_zero_has_no_sign() -> None:
    """No order tells the two apart, and machines choose either."""
    for function in (least, greatest, greatest_magnitude):
        assert math.copysign(1, function(blocks([-0.0, 0.0, -0.0]))) == 1


@given(st.lists(st.floats(-1e3, 1e3, width=32), max_size=40), st.integers(1, 50))
def test_a_sum_is_that_of_a_loop(values: list[float], size: int) -> None:
    """One after another from +0.0, for any blocks: never pairwise, never exact."""
    expected, squares = 0.0, 0.0
    for value in values:
        expected += value
        squares += value * value
    assert total(blocks(values, "<f8", size)) == expected
    assert norm(blocks(values, "<f4", size)) == math.sqrt(squares)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20), st.integers(1, 9))
def test_a_sum_of_integers_is_exact(values: list[int], size: int) -> None:
    """Of any 64-bit integers."""
    expected = sum(Fraction(value) for value in values) if values else 0.0
    assert total(blocks(values, "<i8", size)) == expected


@pytest.mark.parametrize(
    ("left", "right", "dtype", "largest", "elements", "rows"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], "<f4", 0.0, 0, 0),
        ([1, 2, 3, 4], [1, 2.5, 3, 8], "<f4", 4.0, 2, 2),
        ([1, 2, 3, 4], [2, 3, 3, 4], "<f4", 1.0, 2, 1),
        ([0.0, 1], [-0.0, 1], "<f8", 0.0, 1, 1),
        ([NAN, 1], [NAN, 1], "<f8", 0.0, 0, 0),
        ([NAN, 1], [2, 5], "<f8", NAN, 2, 1),
        ([math.inf, 1], [math.inf, 1], "<f8", 0.0, 0, 0),
        ([2**53, 0], [2**53 + 1, 0], "<i8", 1.0, 1, 1),
        ([0, 2**64 - 1], [2**64 - 1, 0], "<u8", float(2**64), 2, 1),
        ([True, False], [True, True], "|b1", 1.0, 1, 1),
    ],
)
def test_differences(
    left: list[Any], right: list[Any], dtype: str, largest: float, elements: int, rows: int
) -> None:
    """The largest in float64; elements and rows of two by their bits."""
    for size in (1, 2, 3, 100):
        one, two = (list(blocks(values, dtype, size)) for values in (left, right))
        found = greatest_difference(one, two)
        assert math.isnan(found) if math.isnan(largest) else found == largest
        assert differing_elements(one, two, 2) == (elements, rows)


def test_a_row_across_blocks_counts_once() -> None:
    """Rows of four elements, blocks of three."""
    left, right = [0] * 12, [0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1]
    one, two = (list(blocks(values, "<i8", 3)) for values in (left, right))
    assert differing_elements(one, two, 4) == (6, 2)


def test_complex_elements_are_compared_by_their_bits() -> None:
    """Real and imaginary part together are one element."""
    one, two = (list(blocks(values, "<c16")) for values in ([1 + 2j, 3], [1 + 2.5j, 3]))
    assert differing_elements(one, two, 1) == (1, 1)


def test_blocks_of_other_sizes_are_a_fault_of_the_caller() -> None:
    """And never compared as far as they go."""
    with pytest.raises(ValueError, match="blocks of the same sizes"):
        greatest_difference(blocks([1, 2, 3]), blocks([1, 2, 3], size=2))
    assert set(reductions.ONE_SERIES) == {"min", "max", "max_abs", "sum", "norm"}
