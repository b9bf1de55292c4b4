"""How two files that should be equal differ: arrays down to elements, outputs by what they are."""

from __future__ import annotations

from typing import Literal

from repropack.models.base import Count, Model, Number, StepNumber

ContentKind = Literal["npz", "npy", "json", "csv", "image", "bytes"]
"""What an output is compared as (docs/format.md, chapter 11)."""


ArrayDifferenceKind = Literal[
    "type",
    "shape",
    "sign-of-zero",
    "nan-payload",
    "bits-alone",
    "one-element",
    "rows",
    "everything",
    "scattered",
]
"""What an array's difference looks like, the first that fits:

``type``          the elements have another type
``shape``         the type is the same and the shape is not
``sign-of-zero``  each element that differs is a zero on both sides, of another sign
``nan-payload``   each element that differs is NaN on both sides, of other bits
``bits-alone``    each element that differs is one of these two
``one-element``   a single element differs
``everything``    every element differs
``rows``          some rows on end differ, each in at least one element, and no other row does
``scattered``     anything else
"""

KEPT_PREFIX = "kept."
CHECKPOINT_PREFIX = "checkpoint."
"""What the name of an ``ArrayDifference`` begins with where a run keeps the stage or the state."""

Conversion = Literal["equal", "rounded", "other"]
"""Of two types: the values are equal; they are once the wider is rounded to the narrower; no."""


class ElementDifference(Model):
    """One element in both runs: decimal, hexadecimal bits, and distance.

    Of a text or a time, ``expected`` and ``observed`` are texts; bits of a text are empty. ``ulp``
    is in units in the last place; null for types without any, and where one side is NaN.
    """

    index: tuple[Count, ...]
    expected: Number | bool | str
    expected_bits: str
    observed: Number | bool | str
    observed_bits: str
    ulp: Number | None = None


class ArrayDifference(Model):
    """How one array differs: where it is stored, how many elements, and the first of them.

    ``expected_type`` and ``observed_type`` read like ``<f4 (24,)``; where they differ no elements
    are described, and ``converted`` says how the values of two types of number compare where the
    shape is the same. ``kind`` is null where nothing differs. ``rows`` are the first and the last
    index on the first axis at which an element differs.
    """

    array: str
    step: StepNumber
    expected_type: str
    observed_type: str
    elements: Count
    elements_differing: Count
    kind: ArrayDifferenceKind | None = None
    rows: tuple[Count, Count] | None = None
    converted: Conversion | None = None
    largest_absolute: Number | None = None
    largest_ulp: Number | None = None
    first: tuple[ElementDifference, ...] = ()


class ValueDifference(Model):
    """The first place where two JSON values differ, members taken in the order of their names.

    ``pointer`` is a JSON pointer. ``expected`` and ``observed`` are JSON, cut where it is long;
    null where nothing is at that place. ``lengths`` are those of the list around it, where they
    differ.
    """

    pointer: str
    expected: str | None
    observed: str | None
    lengths: tuple[Count, Count] | None = None


class CellDifference(Model):
    """The first cell in which two tables differ; rows and columns are numbered from 1.

    ``header`` is the cell above it in row 1. A side is null where it has no such cell.
    """

    row: Count
    column: Count
    header: str | None
    expected: str | None
    observed: str | None


class TableDifference(Model):
    """How two tables differ: their numbers of rows, and the first cell that differs.

    ``first`` is null where a row without cells is all that one of them has more.
    """

    expected_rows: Count
    observed_rows: Count
    first: CellDifference | None


class PixelDifference(Model):
    """One pixel: its place from the left and from the top, from 0, and its RGBA values."""

    x: Count
    y: Count
    expected: tuple[Count, Count, Count, Count]
    observed: tuple[Count, Count, Count, Count]


class ImageDifference(Model):
    """How two images differ, as they are decoded here.

    ``expected_form`` and ``observed_form`` read like ``RGBA 640 x 480``; where the sizes differ no
    pixels are compared. ``largest_channel`` is the largest difference of a value, of 255.
    """

    expected_form: str
    observed_form: str
    pixels: Count
    pixels_differing: Count
    largest_channel: Count = 0
    first: PixelDifference | None = None


class ByteDifference(Model):
    """The first byte that differs: its offset, its line, and some bytes from there on, as hex.

    ``line`` is the number of newlines before it, and one; ``expected`` or ``observed`` is empty
    where the file ends there.
    """

    offset: Count
    line: Count
    expected: str
    observed: str


class OutputDifference(Model):
    """How two files at one path differ.

    ``kind`` is what both could be compared as. ``content_equal`` means that the bytes differ and
    what they hold does not. ``reason`` says why they are compared by bytes although the name says
    otherwise. Of ``arrays`` the first ones are given, ``arrays_differing`` counts all; sizes are
    in bytes.
    """

    path: str
    kind: ContentKind
    content_equal: bool
    expected_size: Count
    observed_size: Count
    first_byte: ByteDifference
    reason: str | None = None
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    arrays_differing: Count = 0
    arrays: tuple[ArrayDifference, ...] = ()
    value: ValueDifference | None = None
    table: TableDifference | None = None
    image: ImageDifference | None = None


class OutputsComparison(Model):
    """The files that a command wrote here against those that are recorded.

    ``compared`` counts paths that both have; ``missing`` ones were not written here, ``unexpected``
    ones are not recorded. ``reason`` says why nothing was compared.
    """

    compared: Count = 0
    differences: tuple[OutputDifference, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def equal(self) -> bool:
        """Whether both sides have the same paths, and equal content at each."""
        others = self.missing or self.unexpected
        return not others and all(one.content_equal for one in self.differences)
