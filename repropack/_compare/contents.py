"""Two files at one path: whether only their bytes differ, or where what they hold first does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, BinaryIO

from repropack._compare.content_arrays import compare_arrays
from repropack._compare.content_images import compare_images
from repropack._format.content_arrays import ArrayFile
from repropack._format.content_kinds import CONTENT_LIMITS, ContentLimits, NotOfKindError
from repropack._format.content_texts import encode_json, iter_rows, read_json
from repropack._format.contents import contents_of, separator_of
from repropack._format.digests import BLOCK_BYTES
from repropack.models.differences import (
    ArrayDifference,
    ByteDifference,
    CellDifference,
    OutputDifference,
    TableDifference,
    ValueDifference,
)

Given = tuple[BinaryIO, int]
"""A file, seekable, and its size in bytes."""

MAX_ARRAYS_SHOWN = 100
"""How many differing arrays of one file are described."""

_SHOWN_BYTES = 8
_SHOWN_CHARACTERS = 200


def compare_outputs(
    path: str, expected: Given, observed: Given, limits: ContentLimits = CONTENT_LIMITS
) -> OutputDifference | None:
    """Compare two files by what they are.

    Args:
        path: The path of both; its end decides as what they are read.
        expected: What is recorded.
        observed: What was written now.
        limits: Limits on what is read as more than bytes.

    Returns:
        ``None`` where every byte is equal.

    Raises:
        UsageError: the path is not Unicode.
    """
    first_byte = _first_byte(expected[0], observed[0])
    if first_byte is None:
        return None
    left, right = (contents_of(path, file, size, limits) for file, size in (expected, observed))
    both = left.kind == right.kind
    difference = OutputDifference(
        path=path,
        kind=left.kind if both else "bytes",
        content_equal=both and left.stages == right.stages,
        expected_size=expected[1],
        observed_size=observed[1],
        first_byte=first_byte,
        reason=_reason(left.reason, right.reason),
    )
    if difference.content_equal or difference.kind == "bytes":
        return difference
    for file, _ in (expected, observed):
        file.seek(0)
    return difference.model_copy(update=_DETAILS[difference.kind](path, expected, observed, limits))


def _reason(expected: str | None, observed: str | None) -> str | None:
    """Why at least one of them is compared by bytes, and which."""
    if expected == observed:
        return expected
    sides = (("expected", expected), ("observed", observed))
    return "; ".join(f"{side}: {reason}" for side, reason in sides if reason is not None)


def _first_byte(left: BinaryIO, right: BinaryIO) -> ByteDifference | None:
    left.seek(0)
    right.seek(0)
    offset, line = 0, 1
    while True:
        one, two = left.read(BLOCK_BYTES), right.read(BLOCK_BYTES)
        if one != two:
            break
        if not one:
            return None
        offset += len(one)
        line += one.count(b"\n")
    pairs = enumerate(zip(one, two, strict=False))
    place = next((k for k, (a, b) in pairs if a != b), min(len(one), len(two)))
    sides = []
    for file in (left, right):
        file.seek(offset + place)
        sides.append(file.read(_SHOWN_BYTES).hex())
    return ByteDifference(
        offset=offset + place,
        line=line + one.count(b"\n", 0, place),
        expected=sides[0],
        observed=sides[1],
    )


def _array_details(
    path: str, expected: Given, observed: Given, limits: ContentLimits
) -> dict[str, Any]:
    container = path.lower().endswith(".npz")
    left, right = (ArrayFile(*given, limits, container=container) for given in (expected, observed))
    shared = [name for name in left.arrays if name in right.arrays]
    found = [one for name in shared if (one := compare_arrays(name, left, right)) is not None]
    shown: tuple[ArrayDifference, ...] = tuple(found[:MAX_ARRAYS_SHOWN])
    return {
        "missing": tuple(name for name in left.arrays if name not in right.arrays),
        "unexpected": tuple(name for name in right.arrays if name not in left.arrays),
        "arrays_differing": len(found),
        "arrays": shown,
    }


def _json_details(
    path: str,  # noqa: ARG001 - one call for all kinds
    expected: Given,
    observed: Given,
    limits: ContentLimits,
) -> dict[str, Any]:
    left, right = (read_json(file, limits) for file, _ in (expected, observed))
    return {"value": first_unequal_value(left, right)}


def first_unequal_value(left: Any, right: Any) -> ValueDifference | None:
    """The first place where two JSON values differ, members taken in the order of their names."""
    return next(_walk("", left, right), None)


def _walk(pointer: str, left: Any, right: Any) -> Iterator[ValueDifference]:
    """The differences of two values, members by name, elements in order."""
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted({*left, *right}):
            place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            if name in left and name in right:
                yield from _walk(place, left[name], right[name])
            else:
                yield _value(
                    place, *([side[name]] if name in side else [] for side in (left, right))
                )
    elif isinstance(left, list) and isinstance(right, list):
        for number, (one, two) in enumerate(zip(left, right, strict=False)):
            yield from _walk(f"{pointer}/{number}", one, two)
        if len(left) != len(right):
            end = min(len(left), len(right))
            found = _value(f"{pointer}/{end}", left[end:], right[end:])
            yield found.model_copy(update={"lengths": (len(left), len(right))})
    elif encode_json(left) != encode_json(right):
        yield _value(pointer, [left], [right])


def _value(pointer: str, left: list[Any], right: list[Any]) -> ValueDifference:
    """A difference at one place, of the first of each list, where there is one."""
    sides = [
        _cut(encode_json(side[0]).decode().strip()) if side else None for side in (left, right)
    ]
    shown = pointer.encode("utf-8", "backslashreplace").decode("utf-8")
    return ValueDifference(pointer=_cut(shown), expected=sides[0], observed=sides[1])


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _table_details(
    path: str, expected: Given, observed: Given, limits: ContentLimits
) -> dict[str, Any]:
    separator = separator_of(path)
    left, right = (iter_rows(file, separator, limits) for file, _ in (expected, observed))
    counts = [0, 0]
    first: CellDifference | None = None
    header: list[str] | None = None
    for number, pair in enumerate(zip_longest(left, right), start=1):
        counts = [count + (row is not None) for count, row in zip(counts, pair, strict=True)]
        one, two = (row or [] for row in pair)
        header = one if header is None else header
        if first is None and one != two:
            first = _cell(number, header if number > 1 else [], one, two)
    return {"table": TableDifference(expected_rows=counts[0], observed_rows=counts[1], first=first)}


def _cell(row: int, header: list[str], left: list[str], right: list[str]) -> CellDifference:
    cells = enumerate(zip_longest(left, right))
    column, (one, two) = next((k, pair) for k, pair in cells if pair[0] != pair[1])
    return CellDifference(
        row=row,
        column=column + 1,
        header=_cut(header[column]) if column < len(header) else None,
        expected=None if one is None else _cut(one),
        observed=None if two is None else _cut(two),
    )


def _image_details(
    path: str, expected: Given, observed: Given, limits: ContentLimits
) -> dict[str, Any]:
    try:
        return {"image": compare_images(path, expected, observed, limits)}
    except NotOfKindError as error:  # a JPEG has content also where it cannot be decoded
        return {"reason": str(error)}


_DETAILS: dict[str, Callable[[str, Given, Given, ContentLimits], dict[str, Any]]] = {
    "npz": _array_details,
    "npy": _array_details,
    "json": _json_details,
    "csv": _table_details,
    "image": _image_details,
}
