"""What ``diff`` reports of two files of arrays."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Count, Document, Model
from repropack.models.differences import ArrayDifference


class ArraysSide(Model):
    """One of the two files; ``problem`` says why its arrays cannot be read."""

    path: str
    size_bytes: Count
    problem: str | None = None


class ArraysDifference(Document):
    """How two npz or two npy files differ, array by array.

    Arrays are compared by name, type, shape and bytes; how a file stores them is no difference.
    ``missing`` are arrays that the right file lacks, ``unexpected`` ones that the left file lacks.
    Of those that differ the first are in ``arrays``, and ``arrays_differing`` counts all. The
    ``step`` of each is 1, for it belongs to none. The array of an npy has the name ``""``.
    """

    schema_name: Literal["repropack/arrays-difference/v1"] = Field(
        default="repropack/arrays-difference/v1", alias="schema"
    )
    verdict: Literal["identical", "differs", "damaged"]
    left: ArraysSide
    right: ArraysSide
    arrays_equal: Count = 0
    arrays_differing: Count = 0
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    arrays: tuple[ArrayDifference, ...] = ()
