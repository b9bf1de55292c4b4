"""How an output differs, in words: where, what was expected, and what was observed."""

from __future__ import annotations

from repropack._present.elements import array_counts, element_lines
from repropack._present.escape import escape_text
from repropack._present.layout import field, join_names, plural, wrap
from repropack.models.differences import (
    CellDifference,
    ImageDifference,
    OutputDifference,
    TableDifference,
    ValueDifference,
)

_MAX_ARRAYS = 5
_MAX_ELEMENTS = 3
_KINDS = {
    "npz": "its arrays",
    "npy": "its array",
    "json": "its values",
    "csv": "its cells",
    "image": "its pixels",
    "bytes": "its bytes",
}
_FIRST = "first difference:"
_PLACE = 60
_TEXT = 100


def output_lines(difference: OutputDifference) -> list[str]:
    """What is to be said of an output whose bytes are not those that are recorded.

    Args:
        difference: How it differs.

    Returns:
        Lines of at most 100 columns, everything from the files escaped. Where only the bytes
        differ they say so, and that it changes no verdict.
    """
    path = escape_text(difference.path, 200)
    what = _KINDS[difference.kind]
    if difference.content_equal:
        lines = wrap(f"output {path}: equal in {what}, written in other bytes")
        return [*lines, *_bytes(difference), *field("", "This changes no verdict.")]
    lines = wrap(f"output {path} differs in {what}")
    if difference.reason is not None:
        lines += field("as bytes:", _by_bytes(difference))
    lines += _arrays(difference)
    if difference.value is not None:
        lines += field(_FIRST, _value(difference.value))
    if difference.table is not None:
        lines += _table(difference.table)
    if difference.image is not None:
        lines += _image(difference.image)
    details = (difference.value, difference.table, difference.image)
    if difference.kind == "bytes" or (difference.kind == "image" and details == (None,) * 3):
        lines += _bytes(difference)
    return lines


def _by_bytes(difference: OutputDifference) -> str:
    reason = escape_text(difference.reason or "", 300)
    if difference.kind == "image":
        return f"its pixels cannot be shown: {reason}"
    return f"it is not compared as what its name says: {reason}"


def _bytes(difference: OutputDifference) -> list[str]:
    one = difference.first_byte
    sides = [side or "the end of the file" for side in (one.expected, one.observed)]
    lines = field(
        "first byte:",
        f"at offset {one.offset} (line {one.line}): expected {sides[0]}, observed {sides[1]}",
    )
    if difference.expected_size != difference.observed_size:
        expected, observed = difference.expected_size, difference.observed_size
        lines += field("size:", f"expected {plural(expected, 'byte')}, observed {observed}")
    return lines


def _arrays(difference: OutputDifference) -> list[str]:
    lines = []
    for array in difference.arrays[:_MAX_ARRAYS]:
        name = f"{escape_text(array.array, _PLACE)}: " if array.array else ""
        lines += field("array:", f"{name}{array_counts(array)}")
        lines += element_lines(array, at_most=_MAX_ELEMENTS)
    more = difference.arrays_differing - len(difference.arrays[:_MAX_ARRAYS])
    if more > 0:
        lines += field("", f"and {plural(more, 'more array', 'more arrays')}")
    for label, names in (("missing:", difference.missing), ("unexpected:", difference.unexpected)):
        if names:
            lines += field(label, join_names(names))
    return lines


def _value(value: ValueDifference) -> str:
    place = escape_text(value.pointer, _TEXT) or "the whole"
    expected, observed = (
        "nothing" if side is None else escape_text(side, _TEXT)
        for side in (value.expected, value.observed)
    )
    text = f"{place}: expected {expected}, observed {observed}"
    if value.lengths is not None:
        text += f" (a list of {value.lengths[0]}, observed {value.lengths[1]})"
    return text


def _table(table: TableDifference) -> list[str]:
    lines = [] if table.first is None else field(_FIRST, _cell(table.first))
    if table.expected_rows != table.observed_rows:
        lines += field("rows:", f"expected {table.expected_rows}, observed {table.observed_rows}")
    return lines


def _cell(cell: CellDifference) -> str:
    header = "" if cell.header is None else f" ({escape_text(cell.header, _PLACE)})"
    expected, observed = (
        "no cell" if side is None else f"'{escape_text(side, _TEXT)}'"
        for side in (cell.expected, cell.observed)
    )
    place = f"row {cell.row}, column {cell.column}{header}"
    return f"{place}: expected {expected}, observed {observed}"


def _image(image: ImageDifference) -> list[str]:
    forms = [escape_text(form, _PLACE) for form in (image.expected_form, image.observed_form)]
    lines = (
        [] if forms[0] == forms[1] else field("form:", "expected {}, observed {}".format(*forms))
    )
    if image.first is None:
        if image.pixels_differing == 0:
            text = "every pixel is equal as it is decoded here; the file means it in another way"
            lines += field("pixels:", text)
        return lines
    lines += field(
        "pixels:",
        f"{image.pixels_differing} of {plural(image.pixels, 'pixel')}, at most "
        f"{image.largest_channel} of 255",
    )
    one = image.first
    place = f"x {one.x}, y {one.y}"
    return lines + field(_FIRST, f"{place}: expected {one.expected}, observed {one.observed}")
