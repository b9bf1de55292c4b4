"""Compare arrays by type, shape and bytes, and describe how two of them differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from repropack._compare.distances import (
    INCOMPARABLE,
    Largest,
    float_parts,
    largest,
    ulp_distance,
)
from repropack._format.npy import array_type, canonical_array
from repropack._format.state import encode_value
from repropack.models.differences import (
    ArrayDifference,
    ArrayDifferenceKind,
    Conversion,
    ElementDifference,
)

Array = npt.NDArray[Any]
Blocks = Iterable[tuple[Array, Array]]
"""Flat arrays of elements, in order; the two of a pair have the same number of them."""

FIRST_ELEMENTS = 5
"""How many differing elements a description shows."""

_BLOCK_ELEMENTS = 1 << 15
"""So many elements at once, so that what is made of them stays in the processor's cache."""
_FEW = 8
"""Where fewer than one in so many of a block differ, they are picked out; else all are measured."""
_SHOWN_CHARACTERS = 80


def same_bytes(left: Array, right: Array) -> bool:
    """Whether type, shape and every bit are equal; -0.0 is not 0.0, NaNs count by payload."""
    same_form = array_type(left) == array_type(right) and left.shape == right.shape
    return same_form and bool(np.array_equal(_bits(left), _bits(right)))


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
    one, two = left.reshape(-1), right.reshape(-1)
    forms = (left.dtype, left.shape), (right.dtype, right.shape)
    return measure_difference(name, step, forms, [(one, two)])


Form = tuple[np.dtype[Any], tuple[int, ...]]
"""Type and shape of an array."""


def measure_difference(
    name: str, step: int, forms: tuple[Form, Form], blocks: Blocks
) -> ArrayDifference:
    """How two arrays differ that are read block by block; memory is independent of their size.

    Args:
        name: The array's name.
        step: The step it belongs to.
        forms: Type, little-endian, and shape of what is expected and of what was observed.
        blocks: Their elements, read only where both have one shape, and one type or types of
            number.

    Returns:
        As ``describe_difference``; ``kind`` is ``None`` where nothing differs.
    """
    (left, shape), (right, other) = forms
    size = math.prod(shape)
    difference = ArrayDifference(
        array=name,
        step=step,
        expected_type=form_text(left.str, shape),
        observed_type=form_text(right.str, other),
        elements=size,
        elements_differing=size,
        kind="type" if left != right else "shape",
    )
    if shape != other:
        return difference
    if left != right:
        return difference.model_copy(update={"converted": _convert(forms, blocks)})
    measure = _Measure(left, shape)
    for one, two in blocks:
        measure.add(one, two)
    return difference.model_copy(update=measure.result())


def form_text(dtype: str, shape: Iterable[int]) -> str:
    """Type and shape as a description shows them, such as ``<f4 (24,)``."""
    return f"{dtype} {tuple(shape)}"


class _Measure:
    """What was found in the blocks of two arrays of one form so far."""

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self._dtype = dtype
        self._shape = shape
        self._row_size = math.prod(shape[1:])
        self._offset = 0
        self._differing = 0
        self._rows = [0, -1]
        self._rows_differing = 0
        numbers = dtype.kind in "biufc"
        self._largest = Largest(dtype, _BLOCK_ELEMENTS) if numbers else None
        self._seen: set[str] = set()
        self._first: list[ElementDifference] = []

    def add(self, left: Array, right: Array) -> None:
        """Compare the next elements of each."""
        one, two = _comparable(left), _comparable(right)
        for start in range(0, left.size, _BLOCK_ELEMENTS):
            part = slice(start, start + _BLOCK_ELEMENTS)
            differs = one[part] != two[part]
            if differs.ndim == 2:
                differs = differs.any(axis=1)
            count = int(np.count_nonzero(differs))
            if count:
                self._note(left[part], right[part], differs, count)
                self._differing += count
            self._offset += differs.size

    def _note(self, left: Array, right: Array, differs: npt.NDArray[np.bool_], count: int) -> None:
        """Take in a block of which ``count`` elements differ, at least one."""
        if shown := FIRST_ELEMENTS - len(self._first):
            for place in np.flatnonzero(differs)[:shown]:
                self._first.append(self._element(left, right, int(place)))
        self._note_rows(differs, count)
        if self._largest is None:
            self._seen.add("value")
            return
        if _FEW * count < differs.size:
            left, right = left[differs], right[differs]
        if "value" in self._seen or self._note_kinds(left, right):
            self._largest.add(left, right)  # elements that are equal do no harm

    def _note_rows(self, differs: npt.NDArray[np.bool_], count: int) -> None:
        """Which rows, indices on the first axis, hold one of the elements that differ."""
        if self._row_size == 1 or count == differs.size:
            ends = int(differs.argmax()), differs.size - 1 - int(differs[::-1].argmax())
            first, last = ((self._offset + place) // self._row_size for place in ends)
            found = count if self._row_size == 1 else last - first + 1
        else:
            rows = (np.flatnonzero(differs) + self._offset) // self._row_size
            first, last = int(rows[0]), int(rows[-1])
            found = 1 + int(np.count_nonzero(rows[1:] != rows[:-1]))
        if not self._differing:
            self._rows[0] = first
        elif self._rows[1] == first:  # it began in the block before
            found -= 1
        self._rows[1] = last
        self._rows_differing += found

    def _note_kinds(self, left: Array, right: Array) -> bool:
        """Whether a part that differs is anything but two zeros or two NaNs."""
        if self._dtype.kind not in "fc":
            self._seen.add("value")
            return True
        one, two = float_parts(left), float_parts(right)
        differs = _comparable(one) != _comparable(two)
        zeros = np.count_nonzero(differs & (one == two))
        nans = np.count_nonzero(differs & np.isnan(one) & np.isnan(two))
        counts = {"zero": zeros, "nan": nans, "value": np.count_nonzero(differs) - zeros - nans}
        self._seen |= {name for name, count in counts.items() if count}
        return bool(counts["value"])

    def _element(self, left: Array, right: Array, place: int) -> ElementDifference:
        one, two = left[place : place + 1], right[place : place + 1]
        found = np.unravel_index(self._offset + place, self._shape) if self._shape else ()
        index = tuple(int(k) for k in found)
        if self._dtype.kind in "biufc":
            return _number_element(index, one, two)
        return _text_element(index, one, two)

    def result(self) -> dict[str, Any]:
        """What a description says of it."""
        located = self._differing > 0 and len(self._shape) > 0
        absolute, ulp = (
            (0.0, 0) if (found := self._largest) is None else (found.absolute, found.ulp)
        )
        return {
            "elements_differing": self._differing,
            "kind": self._kind(),
            "rows": tuple(self._rows) if located else None,
            "largest_absolute": largest(np.array([absolute])),
            "largest_ulp": encode_value("ulp", ulp) if ulp else None,
            "first": tuple(self._first),
        }

    def _kind(self) -> ArrayDifferenceKind | None:
        bits_alone: dict[frozenset[str], ArrayDifferenceKind] = {
            frozenset({"zero"}): "sign-of-zero",
            frozenset({"nan"}): "nan-payload",
            frozenset({"zero", "nan"}): "bits-alone",
        }
        if not self._differing:
            return None
        kind = bits_alone.get(frozenset(self._seen))
        if kind is not None:
            return kind
        if self._differing == 1:
            return "one-element"
        if self._differing == math.prod(self._shape):
            return "everything"
        band = self._rows[1] - self._rows[0] + 1
        return "rows" if self._rows_differing == band < self._shape[0] else "scattered"


def _convert(forms: tuple[Form, Form], blocks: Blocks) -> Conversion | None:
    """How the values of two types of number compare; ``None`` for other types."""
    left, right = (form[0] for form in forms)
    if left.kind not in "biufc" or right.kind not in "biufc":
        return None
    narrower = min(left, right, key=lambda dtype: dtype.itemsize)
    equal, rounded = True, left.kind == right.kind and left.kind in "fc"
    for one, two in blocks:
        for start in range(0, one.size, _BLOCK_ELEMENTS):
            pair = one[start : start + _BLOCK_ELEMENTS], two[start : start + _BLOCK_ELEMENTS]
            equal = equal and _same_values(*pair)
            if not equal and not rounded:
                return "other"
            rounded = rounded and _same_rounded(*pair, narrower)
    return "equal" if equal else "rounded" if rounded else "other"


def _same_values(left: Array, right: Array) -> bool:
    kinds = left.dtype.kind + right.dtype.kind
    exact = all(kind in "biu" for kind in kinds) or all(kind in "fc" for kind in kinds)
    if not exact:  # an integer beyond 2**53 may not be a float
        whole = left if left.dtype.kind in "biu" else right
        if whole.dtype.kind != "b" and bool(((whole > 2**53) | (whole < -(2**53))).any()):
            return False
    same = left == right
    if not same.all() and "b" not in kinds:
        same |= (left != left) & (right != right)  # noqa: PLR0124 - NaN on both sides
    return bool(same.all())


def _same_rounded(left: Array, right: Array, narrower: np.dtype[Any]) -> bool:
    with np.errstate(all="ignore"):
        one, two = left.astype(narrower, copy=False), right.astype(narrower, copy=False)
    same = (one == two) | ((one != one) & (two != two))  # noqa: PLR0124 - NaN on both sides
    return bool(same.all())


def _number_element(index: tuple[int, ...], left: Array, right: Array) -> ElementDifference:
    """Two numbers, each an array of one element."""
    ulps = ulp_distance(left, right)
    return ElementDifference(
        index=index,
        expected=_decimal(left),
        expected_bits=_hexadecimal(left),
        observed=_decimal(right),
        observed_bits=_hexadecimal(right),
        ulp=None if ulps is None or ulps[0] == INCOMPARABLE else _whole(int(ulps[0])),
    )


def _text_element(index: tuple[int, ...], left: Array, right: Array) -> ElementDifference:
    """Two texts or times, each an array of one element; a text has no bits."""
    bits = [_hexadecimal(side) if side.dtype.kind in "mM" else "" for side in (left, right)]
    return ElementDifference(
        index=index,
        expected=_text(left),
        expected_bits=bits[0],
        observed=_text(right),
        observed_bits=bits[1],
    )


def _text(element: Array) -> str:
    """A text or a time as text; what is no Unicode is escaped."""
    kind = element.dtype.kind
    if kind in "mM":
        return str(element[0])
    encoding = "utf-32-le" if kind == "U" else "ascii"
    text = element.tobytes().decode(encoding, "backslashreplace").rstrip("\0")
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _whole(distance: int) -> Any:
    """A distance as an encoded number."""
    return encode_value("ulp", distance)


def _decimal(element: Array) -> Any:
    value = element[0].item()
    if isinstance(value, complex):
        return {"real": repr(value.real), "imaginary": repr(value.imag)}
    if element.dtype.kind == "f" and np.isfinite(value):
        return float(str(element[0]))  # shortest text of its own type
    return encode_value("element", value)


def _hexadecimal(element: Array) -> str:
    return f"0x{element.tobytes()[::-1].hex()}"


def _bits(array: Array) -> npt.NDArray[np.uint8]:
    """Elements as bytes, little-endian."""
    return canonical_array("array", array).reshape(-1).view(np.uint8)


def _comparable(flat: Array) -> Array:
    """Elements as integers that are equal where all their bits are; several a row for long ones."""
    size = flat.dtype.itemsize
    if size in {1, 2, 4, 8}:
        return flat.view(f"<u{size}")
    width = 8 if size % 8 == 0 else 4 if size % 4 == 0 else 1
    return flat.view(f"<u{width}").reshape(-1, size // width)
