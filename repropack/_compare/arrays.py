"""Compare arrays by type, shape and bytes, and measure how far two of them part."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repropack._format.npy import array_type, canonical_array
from repropack._format.state import encode_value
from repropack.models.differences import ArrayDifference, ElementDifference

Array = npt.NDArray[Any]
FIRST_ELEMENTS = 5
"""How many differing elements a description shows."""

_INCOMPARABLE = 2**64 - 1


def same_bytes(left: Array, right: Array) -> bool:
    """Whether type, shape and every bit are equal; -0.0 is not 0.0, NaNs count by payload."""
    same_form = array_type(left) == array_type(right) and left.shape == right.shape
    return same_form and bool(np.array_equal(_bits(left), _bits(right)))


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
    with np.errstate(all="ignore"):
        if left.dtype.kind in "iu":
            difference = _integer_difference(left, right)
        else:
            difference = np.abs(_parts(left) - _parts(right))
    difference[_part_bits(left) == _part_bits(right)] = 0.0
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
    first, second = _ordered(left), _ordered(right)
    high, low = np.maximum(first, second), np.minimum(first, second)
    distance = high.astype(np.uint64) - low.astype(np.uint64)
    incomparable = np.isnan(_parts(left)) | np.isnan(_parts(right))
    distance[incomparable] = np.uint64(_INCOMPARABLE)
    distance[_part_bits(left) == _part_bits(right)] = 0
    return _per_element(left, distance)


def describe_difference(name: str, step: int, expected: Array, observed: Array) -> ArrayDifference:
    """How two arrays differ, down to the first elements.

    Args:
        name: Where the array is stored, such as ``checkpoint.weights`` or ``kept.weights``.
        step: The step it belongs to.
        expected: What is recorded.
        observed: What was computed now.

    Returns:
        Counts, largest differences and the first differing elements; no elements where type or
        shape differ. A distance of more than 2**53 - 1 units in the last place is null.

    Raises:
        UnsupportedDtypeError: an array's type cannot be stored.
    """
    left, right = canonical_array(name, expected), canonical_array(name, observed)
    forms = (_form(left), _form(right))
    if forms[0] != forms[1]:
        return ArrayDifference(
            array=name,
            step=step,
            expected_type=forms[0],
            observed_type=forms[1],
            elements=left.size,
            elements_differing=left.size,
        )
    differs = np.flatnonzero((_bits(left) != _bits(right)).any(axis=1))
    absolute, ulps = absolute_difference(left, right), ulp_distance(left, right)
    return ArrayDifference(
        array=name,
        step=step,
        expected_type=forms[0],
        observed_type=forms[1],
        elements=left.size,
        elements_differing=len(differs),
        largest_absolute=largest(absolute),
        largest_ulp=_whole(largest_ulp(ulps)),
        first=tuple(_element(left, right, int(flat), ulps) for flat in differs[:FIRST_ELEMENTS]),
    )


def largest(absolute: npt.NDArray[np.float64]) -> Any:
    """Largest comparable difference as an encoded number; ``None`` where none is above zero."""
    comparable = absolute[~np.isnan(absolute)]
    value = float(comparable.max()) if comparable.size else 0.0
    return encode_value("largest", value) if value > 0 else None


def largest_ulp(ulps: npt.NDArray[np.uint64] | None) -> int | None:
    """Largest comparable distance; ``None`` where none is above zero."""
    if ulps is None:
        return None
    comparable = ulps[ulps != np.uint64(_INCOMPARABLE)]
    value = int(comparable.max()) if comparable.size else 0
    return value if value > 0 else None


def _element(
    left: Array, right: Array, flat: int, ulps: npt.NDArray[np.uint64] | None
) -> ElementDifference:
    index = tuple(int(k) for k in np.unravel_index(flat, left.shape)) if left.shape else ()
    return ElementDifference(
        index=index,
        expected=_decimal(left, flat),
        expected_bits=_hexadecimal(left, flat),
        observed=_decimal(right, flat),
        observed_bits=_hexadecimal(right, flat),
        ulp=None if ulps is None or ulps[flat] == _INCOMPARABLE else _whole(int(ulps[flat])),
    )


def _whole(distance: int | None) -> Any:
    """A distance as an encoded number."""
    return encode_value("ulp", distance)


def _decimal(array: Array, flat: int) -> Any:
    value = array.reshape(-1)[flat].item()
    if isinstance(value, complex):
        return {"real": repr(value.real), "imaginary": repr(value.imag)}
    if array.dtype.kind == "f" and np.isfinite(value):
        return float(str(array.reshape(-1)[flat]))  # shortest text of its own type
    return encode_value("element", value)


def _hexadecimal(array: Array, flat: int) -> str:
    return f"0x{array.reshape(-1)[flat : flat + 1].tobytes()[::-1].hex()}"


def _bits(array: Array) -> npt.NDArray[np.uint8]:
    """Elements as rows of bytes, little-endian."""
    canonical = canonical_array("array", array)
    return canonical.reshape(-1).view(np.uint8).reshape(canonical.size, canonical.dtype.itemsize)


def _float_parts(array: Array) -> Array:
    """Real and imaginary parts side by side for complex numbers, flat."""
    flat = canonical_array("array", array).reshape(-1)
    return flat.view(f"<f{flat.dtype.itemsize // 2}") if flat.dtype.kind == "c" else flat


def _parts(array: Array) -> npt.NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # widening a signalling NaN quiets it
        return _float_parts(array).astype(np.float64)


def _integer_difference(left: Array, right: Array) -> npt.NDArray[np.float64]:
    first, second = (canonical_array("array", array).reshape(-1) for array in (left, right))
    high, low = np.maximum(first, second), np.minimum(first, second)
    return np.asarray(high.astype(np.uint64) - low.astype(np.uint64), np.float64)


def _part_bits(array: Array) -> Array:
    parts = _float_parts(array)
    return parts.view(f"<u{parts.dtype.itemsize}")


def _ordered(array: Array) -> npt.NDArray[np.int64]:
    parts = _float_parts(array)
    bits = parts.view(f"<i{parts.dtype.itemsize}").astype(np.int64)
    magnitude = bits & np.int64(2 ** (8 * parts.dtype.itemsize - 1) - 1)
    return np.where(bits < 0, -magnitude, magnitude)


def _per_element(array: Array, values: Array) -> Array:
    if array.dtype.kind != "c":
        return values
    return np.asarray(values.reshape(-1, 2).max(axis=1))


def _form(array: Array) -> str:
    shape = ", ".join(map(str, array.shape))
    return f"{array_type(array)} ({shape}{',' if array.ndim == 1 else ''})"
