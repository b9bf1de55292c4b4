"""Two arrays of two files, block by block: memory is independent of their size."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from repropack._compare.arrays import (
    FIRST_ELEMENTS,
    absolute_difference,
    describe_difference,
    largest,
    largest_ulp,
    ulp_distance,
)
from repropack._format.content_arrays import ArrayFile, ArrayForm
from repropack._format.state import encode_value
from repropack.models.differences import ArrayDifference, ElementDifference

Array = npt.NDArray[Any]
_STEP = 1  # a command is an experiment of one step
_SHOWN_CHARACTERS = 80


def compare_arrays(name: str, left: ArrayFile, right: ArrayFile) -> ArrayDifference | None:
    """Compare the arrays of one name, by type, shape and bytes.

    Args:
        name: A name that both files have.
        left: The recorded file.
        right: The one that was written now.

    Returns:
        ``None`` where they are equal.

    Raises:
        NotOfKindError: elements are cut or damaged.
    """
    forms = left.arrays[name], right.arrays[name]
    texts = tuple(map(_form_text, forms))
    if texts[0] != texts[1]:
        return ArrayDifference(
            array=name,
            step=_STEP,
            expected_type=texts[0],
            observed_type=texts[1],
            elements=_count(forms[0]),
            elements_differing=_count(forms[0]),
        )
    found = _Found(forms[0])
    for one, two in zip(left.blocks(name), right.blocks(name), strict=True):
        found.add(one, two)
    if not found.differing:
        return None
    return ArrayDifference(
        array=name,
        step=_STEP,
        expected_type=texts[0],
        observed_type=texts[1],
        elements=_count(forms[0]),
        elements_differing=found.differing,
        largest_absolute=largest(np.array(found.absolute, np.float64)),
        largest_ulp=encode_value("ulp", max(found.ulps)) if found.ulps else None,
        first=tuple(found.first),
    )


class _Found:
    """What was found in the blocks so far."""

    def __init__(self, form: ArrayForm) -> None:
        self._form = form
        self._offset = 0
        self.differing = 0
        self.absolute: list[float] = []
        self.ulps: list[int] = []
        self.first: list[ElementDifference] = []

    def add(self, left: Array, right: Array) -> None:
        """Compare the next block of each."""
        width = self._form.dtype.itemsize
        bits = [block.view(np.uint8).reshape(-1, width) for block in (left, right)]
        differs = np.flatnonzero((bits[0] != bits[1]).any(axis=1))
        for flat in differs[: FIRST_ELEMENTS - len(self.first)]:
            self.first.append(self._element(left, right, int(flat)))
        if len(differs) and self._form.is_number:
            absolute = absolute_difference(left, right)
            self.absolute += absolute[~np.isnan(absolute)].max(initial=0.0, keepdims=True).tolist()
            ulp = largest_ulp(ulp_distance(left, right))
            self.ulps += [] if ulp is None else [ulp]
        self.differing += len(differs)
        self._offset += left.size

    def _element(self, left: Array, right: Array, flat: int) -> ElementDifference:
        one, two = left[flat : flat + 1], right[flat : flat + 1]
        if self._form.is_number:
            found = describe_difference("element", _STEP, one, two).first[0]
        else:
            found = _text_element(one, two)
        shape = self._form.shape
        index = np.unravel_index(self._offset + flat, shape) if shape else ()
        return found.model_copy(update={"index": tuple(int(k) for k in index)})


def _text_element(left: Array, right: Array) -> ElementDifference:
    sides = [_text(side) for side in (left, right)]
    bits = [
        f"0x{side.tobytes()[::-1].hex()}" if side.dtype.kind in "mM" else ""
        for side in (left, right)
    ]
    return ElementDifference(
        index=(),
        expected=sides[0],
        expected_bits=bits[0],
        observed=sides[1],
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


def _count(form: ArrayForm) -> int:
    return form.element_bytes // form.dtype.itemsize


def _form_text(form: ArrayForm) -> str:
    shape = ", ".join(map(str, form.shape))
    return f"{form.type} ({shape}{',' if len(form.shape) == 1 else ''})"
