"""How an array differs, in words and numbers."""

from __future__ import annotations

from repropack._compare.logs import STATE_PREFIX
from repropack._present.escape import escape_text
from repropack._present.layout import WIDTH, cells, number, plural, wrap
from repropack.models.differences import (
    CHECKPOINT_PREFIX,
    KEPT_PREFIX,
    ArrayDifference,
    ElementDifference,
)


def array_counts(array: ArrayDifference) -> str:
    """How many elements differ, where and by how much, or which type and shape were met."""
    if array.expected_type != array.observed_type:
        expected, observed = (
            escape_text(array.expected_type, 80),
            escape_text(array.observed_type, 80),
        )
        text = f"type or shape: expected {expected}, observed {observed}"
        return text + ("" if array.converted is None else _CONVERTED[array.converted])
    text = f"{array.elements_differing} of {plural(array.elements, 'element')}"
    if array.kind == "everything":
        text = f"all {plural(array.elements, 'element')}"
    if array.kind == "rows" and array.rows is not None:
        first, last = array.rows
        text += f", in row {first} alone" if first == last else f", in rows {first} to {last} alone"
    if array.largest_ulp is not None:
        text += f", at most {number(array.largest_ulp)} ulp"
    if array.largest_absolute is not None:
        text += f", at most {number(array.largest_absolute)}"
    return text + _BITS_ALONE.get(array.kind or "", "")


_BITS_ALONE = {
    "sign-of-zero": ", in the sign of zero alone",
    "nan-payload": ", in the bits of NaNs alone",
    "bits-alone": ", in the sign of zero and the bits of NaNs alone",
}
_CONVERTED = {
    "equal": "; the values are equal",
    "rounded": "; the values are equal once the wider are rounded to the narrower type",
    "other": "; the values differ too",
}


def element_lines(array: ArrayDifference, at_most: int | None = None) -> list[str]:
    """The first differing elements, one below the other.

    Args:
        array: How an array differs.
        at_most: How many elements are shown; all that there are where ``None``.

    Returns:
        Lines that hang beside a label.
    """
    name = array.array
    for prefix in (KEPT_PREFIX, CHECKPOINT_PREFIX, STATE_PREFIX):
        name = name.removeprefix(prefix)
    stage = escape_text(name, 20)
    rows = [_element(stage, element) for element in array.first[:at_most]]
    label_width = max((cells(label) for label, _, _ in rows), default=0)
    expected_width = max((cells(expected) for _, expected, _ in rows), default=0)
    lines = []
    for label, expected, observed in rows:
        start = f"{'':18}{label}{' ' * (label_width - cells(label))}  "
        line = f"{start}{expected}{' ' * (expected_width - cells(expected))}  {observed}"
        if cells(line) <= WIDTH:
            lines.append(line)
        else:
            lines += wrap(expected, first=start)
            lines += wrap(observed, first=" " * cells(start))
    return lines


def _element(stage: str, element: ElementDifference) -> tuple[str, str, str]:
    index = f"[{', '.join(map(str, element.index))}]" if element.index else ""
    expected = f"expected {_shown(element.expected, element.expected_bits)}"
    observed = f"observed {_shown(element.observed, element.observed_bits)}"
    return f"{stage}{index}", expected, observed


def _shown(value: object, bits: str) -> str:
    if not bits:
        return f"'{escape_text(str(value), 80)}'"
    return f"{number(value)} ({escape_text(bits, 40)})"
