"""How far elements part: absolute difference and distance in units in the last place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from repropack._format.npy import STORABLE_TYPES, canonical_array
from repropack._format.state import encode_value

Array = npt.NDArray[Any]
INCOMPARABLE = 2**64 - 1
"""Stands for the distance of what is no number."""


def absolute_difference(left: Array, right: Array) -> npt.NDArray[np.float64]:
    """Elementwise absolute difference, taken in float64; of complex numbers, the larger part's.

    Integers are subtracted exactly and then rounded to float64, so that two that differ never
    have a difference of 0.

    Args:
        left: Any storable type and shape.
        right: The same type and shape.

    Returns:
        Float64 of the same number of elements, flat. NaN where either side is NaN; 0 where the
        bits are equal, also for equal infinities.
    """
    one, two = float_parts(left), float_parts(right)
    if left.dtype.kind in "iub":
        return _integer_difference(one, two)
    with np.errstate(all="ignore"):  # widening a signalling NaN quiets it
        difference = one.astype(np.float64)
        difference -= two
    np.abs(difference, out=difference)
    unknown = np.isnan(difference)
    if unknown.any():  # of equal infinities and of equal NaNs too
        difference[unknown & (_bits(one) == _bits(two))] = 0.0
    return _per_element(left, difference)


def ulp_distance(left: Array, right: Array) -> npt.NDArray[np.uint64] | None:
    """Elementwise distance in units in the last place, or ``None`` for types without any.

    Floats are mapped to integers in their order (both zeros to 0), as in the lexicographic view
    of IEEE 754 bits; the distance is the difference of those integers.

    Args:
        left: Float or complex, any shape.
        right: The same type and shape.

    Returns:
        Unsigned 64-bit integers, flat, one an element; the larger part's for complex numbers.
        The largest integer, ``2**64 - 1``, where either side is NaN and the bits differ; no two
        numbers are that far apart.
    """
    if left.dtype.kind not in "fc":
        return None
    one, two = float_parts(left), float_parts(right)
    distance, incomparable = _distance(one, two)
    ulps = distance.astype(np.uint64)
    if incomparable.any():
        equal = _bits(one) == _bits(two)
        ulps[incomparable] = np.where(equal, 0, np.uint64(INCOMPARABLE))[incomparable]
    return _per_element(left, ulps)


def largest_distance(left: Array, right: Array) -> int:
    """Largest comparable distance in units in the last place; 0 where there is none.

    Args:
        left: Any storable type and shape.
        right: The same type and shape.

    Returns:
        The largest of ``ulp_distance`` but for what is no number, in less time.
    """
    if left.dtype.kind not in "fc":
        return 0
    distance, incomparable = _distance(float_parts(left), float_parts(right))
    if incomparable.any():
        if left.dtype.kind == "c":  # neither part of such an element counts
            incomparable = incomparable.reshape(-1, 2).any(axis=1).repeat(2)
        distance[incomparable] = 0
    return int(distance.max(initial=0))


class Largest:
    """The largest distances between elements, block by block, in memory that is taken once.

    Attributes:
        absolute: The largest of ``absolute_difference`` so far, but for what is no number.
        ulp: The largest of ``largest_distance`` so far.
    """

    def __init__(self, dtype: np.dtype[Any], elements: int) -> None:
        """Take the memory.

        Args:
            dtype: A number's type, little-endian.
            elements: How many elements a block has at most.
        """
        self.absolute = 0.0
        self.ulp = 0
        self._of_floats = dtype.kind in "fc"
        if self._of_floats:
            parts = 2 if dtype.kind == "c" else 1
            self._difference = np.empty(parts * elements)
            self._integers = np.empty((3, parts * elements), f"<i{dtype.itemsize // parts}")

    def add(self, left: Array, right: Array) -> None:
        """Take in the next block of each side: flat, of the type, and of one size."""
        if self._of_floats and left.size and self._add_numbers(left, right):
            return
        absolute = absolute_difference(left, right)
        self.absolute = max(self.absolute, float(np.fmax.reduce(absolute, initial=0.0)))
        self.ulp = max(self.ulp, largest_distance(left, right))

    def _add_numbers(self, left: Array, right: Array) -> bool:
        """Take in floats; ``False`` where a difference is none, as of NaNs and equal infinities."""
        one, two = float_parts(left), float_parts(right)
        difference = self._difference[: one.size]
        with np.errstate(all="ignore"):
            np.subtract(one, two, out=difference, dtype=np.float64)
        highest, lowest = float(difference.max()), float(difference.min())
        if math.isnan(highest):
            return False
        self.absolute = max(self.absolute, highest, -lowest)
        self.ulp = max(self.ulp, self._largest_ulp(one, two))
        return True

    def _largest_ulp(self, one: Array, two: Array) -> int:
        """As ``largest_distance`` of parts of which none is NaN."""
        first, second, third = (buffer[: one.size] for buffer in self._integers)
        bits = [parts.view(first.dtype) for parts in (one, two)]
        np.bitwise_xor(bits[0], bits[1], out=first)
        if first.min() >= 0:  # of one sign in each place, so that nothing can wrap around
            np.subtract(bits[0], bits[1], out=first)
            return max(int(first.max()), -int(first.min()))
        _order(bits[0], first, third)
        _order(bits[1], second, third)
        return int(_apart(first, second, third).max())


def largest(absolute: npt.NDArray[np.float64]) -> Any:
    """Largest comparable difference as an encoded number; ``None`` where none is above zero."""
    comparable = absolute[~np.isnan(absolute)]
    value = float(comparable.max()) if comparable.size else 0.0
    return encode_value("largest", value) if value > 0 else None


def float_parts(array: Array) -> Array:
    """Elements flat, little-endian; of complex numbers, real and imaginary parts side by side."""
    plain = array.flags.c_contiguous and array.dtype.str in STORABLE_TYPES
    flat = (array if plain else canonical_array("array", array)).reshape(-1)
    return flat.view(f"<f{flat.dtype.itemsize // 2}") if flat.dtype.kind == "c" else flat


def _integer_difference(left: Array, right: Array) -> npt.NDArray[np.float64]:
    high, low = np.maximum(left, right), np.minimum(left, right)
    return np.asarray(high.astype(np.uint64) - low.astype(np.uint64), np.float64)


def _bits(parts: Array) -> Array:
    return parts.view(f"<u{parts.dtype.itemsize}")


def _order(bits: Array, ordered: Array, sign: Array) -> None:
    """Bits, as signed integers, in the order of the numbers, both zeros 0; ``sign`` is spent."""
    width = 8 * bits.dtype.itemsize
    np.right_shift(bits, bits.dtype.type(width - 1), out=sign)  # 0 or -1
    np.bitwise_and(bits, bits.dtype.type(2 ** (width - 1) - 1), out=ordered)
    ordered ^= sign
    ordered -= sign


def _apart(first: Array, second: Array, distance: Array) -> Array:
    """Distances of ordered integers, unsigned and of their width; ``first`` is spent."""
    np.maximum(first, second, out=distance)
    np.minimum(first, second, out=first)
    distance -= first  # wraps around, and is right unsigned
    return distance.view(f"<u{distance.dtype.itemsize}")


def _distance(one: Array, two: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Distances of parts, unsigned and of their width, and which are of no number."""
    bits = [parts.view(f"<i{parts.dtype.itemsize}") for parts in (one, two)]
    first, second, third = (np.empty_like(bits[0]) for _ in range(3))
    _order(bits[0], first, third)
    _order(bits[1], second, third)
    incomparable = np.isnan(one)
    incomparable |= np.isnan(two)
    return _apart(first, second, third), incomparable


def _per_element(array: Array, values: Array) -> Array:
    if array.dtype.kind != "c":
        return values
    return np.asarray(values.reshape(-1, 2).max(axis=1))
