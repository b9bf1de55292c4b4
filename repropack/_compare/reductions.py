"""What a claim says of whole arrays: each function by its name, block by block.

Only arithmetic that IEEE 754 or integers fix: comparisons, differences, and sums whose order is
stated. Where an element is no number, the value is none either; nothing is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from repropack._compare.distances import absolute_difference

Array = npt.NDArray[Any]
Blocks = Iterable[Array]

REAL: Final = frozenset("biuf")
"""Kinds of types whose elements have an order."""


def least(blocks: Blocks) -> int | float:
    """The smallest element; a zero comes out as plain 0.

    Args:
        blocks: Flat arrays of real numbers, with an element at least.

    Returns:
        An int of integers, else a float; NaN where one is among them.
    """
    return _extreme(blocks, lambda block: block.min(), min)


def greatest(blocks: Blocks) -> int | float:
    """The largest element, as ``least``."""
    return _extreme(blocks, lambda block: block.max(), max)


def greatest_magnitude(blocks: Blocks) -> int | float:
    """The largest absolute value, as ``least``."""
    low, high = _extremes(blocks)
    return low if math.isnan(low) else _plain(max(abs(low), abs(high)))


def total(blocks: Blocks) -> int | float:
    """The sum: of integers exactly, of floats in float64, in order, from +0.0.

    Args:
        blocks: Flat arrays of real numbers.

    Returns:
        An int or a float; 0.0 where there is nothing.
    """
    whole, real, seen_whole = 0, 0.0, False
    for block in blocks:
        if block.dtype.kind in "biu":
            seen_whole = True
            whole += _whole_total(block)
        else:
            real = _accumulated(real, block.astype(np.float64))
    return whole if seen_whole else real


def norm(blocks: Blocks) -> float:
    """The Euclidean norm: each element as float64, squared, added in order, then the root.

    Args:
        blocks: Flat arrays of real numbers.

    Returns:
        A float; the root is that of the C library's ``sqrt``, which IEEE 754 fixes.
    """
    squares = 0.0
    with np.errstate(all="ignore"):
        for block in blocks:
            wide = block.astype(np.float64)
            squares = _accumulated(squares, wide * wide)
    return math.nan if math.isnan(squares) else math.sqrt(squares)


def greatest_difference(left: Blocks, right: Blocks) -> float:
    """The largest absolute difference, in float64; 0.0 where all bits are equal.

    Args:
        left: Flat arrays of real numbers.
        right: As many elements of the same type.

    Returns:
        A float; NaN where one side alone is none, or both are and their bits differ.
    """
    largest = 0.0
    for one, two in _side_by_side(left, right):
        found = float(absolute_difference(one, two).max())
        if math.isnan(found):
            return math.nan
        largest = max(largest, found)
    return largest


def differing_elements(left: Blocks, right: Blocks, row_elements: int) -> tuple[int, int]:
    """How many elements differ in their bits, and in how many rows.

    Args:
        left: Flat arrays of any storable type.
        right: As many elements of the same type.
        row_elements: Elements of a row.

    Returns:
        Both counts.
    """
    elements, rows, last_row, before = 0, 0, -1, 0
    for one, two in _side_by_side(left, right):
        places = np.flatnonzero((_bytes(one) != _bytes(two)).any(axis=1))
        elements += places.size
        found = np.unique((places + before) // max(row_elements, 1))
        if found.size:
            rows += found.size - (int(found[0]) == last_row)
            last_row = int(found[-1])
        before += one.size
    return elements, rows


ONE_SERIES: Final[Mapping[str, Callable[[Blocks], int | float]]] = {
    "min": least,
    "max": greatest,
    "max_abs": greatest_magnitude,
    "sum": total,
    "norm": norm,
}
"""Functions of one series that read its elements."""


def _extremes(blocks: Blocks) -> tuple[int | float, int | float]:
    low: int | float = math.inf
    high: int | float = -math.inf
    for block in blocks:
        lowest, highest = block.min().item(), block.max().item()
        if math.isnan(lowest):
            return math.nan, math.nan
        low, high = min(low, lowest), max(high, highest)
    return low, high


def _extreme(
    blocks: Blocks, of: Callable[[Array], Any], better: Callable[..., int | float]
) -> int | float:
    best: int | float | None = None
    for block in blocks:
        found = of(block).item()
        if math.isnan(found):
            return math.nan
        best = found if best is None else better(best, found)
    return _plain(math.nan if best is None else best)


def _plain(value: float) -> int | float:
    """A bool as an int, and a zero without its sign, which no order tells apart."""
    return int(value) if isinstance(value, bool) else value + 0


def _whole_total(block: Array) -> int:
    """The exact sum of at most some millions of integers of 64 bits."""
    if block.dtype.kind == "b":
        return int(np.count_nonzero(block))
    if block.dtype.itemsize < 8:
        wide = np.int64 if block.dtype.kind == "i" else np.uint64
        return int(block.astype(wide).sum())
    high, low = block >> block.dtype.type(32), block & block.dtype.type(0xFFFFFFFF)
    return (int(high.sum()) << 32) + int(low.sum())


def _accumulated(before: float, block: npt.NDArray[np.float64]) -> float:
    """Add the elements one after another; ``accumulate`` does nothing else, on any machine."""
    if not block.size:
        return before
    with np.errstate(all="ignore"):
        return float(np.add.accumulate(np.concatenate(([before], block)))[-1])


def _side_by_side(left: Blocks, right: Blocks) -> Iterator[tuple[Array, Array]]:
    for one, two in zip_longest(left, right):
        if one is None or two is None or one.size != two.size:  # a fault of the caller
            raise ValueError("expected blocks of the same sizes on both sides")
        yield one, two


def _bytes(block: Array) -> Array:
    return np.ascontiguousarray(block).view(np.uint8).reshape(block.size, block.dtype.itemsize)
