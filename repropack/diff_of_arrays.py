"""Say how two files of arrays differ, down to the elements; nothing is evaluated or unpickled."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from repropack._compare.content_arrays import compare_arrays
from repropack._compare.contents import MAX_ARRAYS_SHOWN
from repropack._format.content_arrays import ArrayFile
from repropack._format.content_kinds import ContentLimits, NotOfKindError
from repropack._format.paths import shown_path
from repropack._read.sides import ARRAY_SUFFIXES
from repropack.errors import UsageError
from repropack.models.arrays_difference import ArraysDifference, ArraysSide
from repropack.models.differences import ArrayDifference

_LIMITS = ContentLimits(max_array_bytes=2**50, max_transposed_bytes=2**32)
"""Elements are read block by block, so that the caller's own files may be of any size."""


def diff_arrays(left: str | Path, right: str | Path) -> ArraysDifference:
    """Compare the arrays of two npz or two npy files by name, type, shape and bytes.

    Files that NumPy writes can be read in every version of its format, compressed or not. Memory is
    independent of their size, but for arrays in Fortran order.

    Args:
        left: A file whose name ends in ``.npz`` or ``.npy``.
        right: A file of the same kind.

    Returns:
        Which arrays differ and how; or why a file cannot be read as what its name says.

    Raises:
        UsageError: no such file, another kind of file, or one of each.
    """
    paths = Path(left), Path(right)
    if any(path.suffix.lower() not in ARRAY_SUFFIXES for path in paths) or (
        paths[0].suffix.lower() != paths[1].suffix.lower()
    ):
        observed = " and ".join(shown_path(path) for path in paths)
        raise UsageError(f"expected two npz or two npy files, observed {observed}")
    container = paths[0].suffix.lower() == ".npz"
    with ExitStack() as stack:
        sides = [_Side(path, stack.enter_context(_open(path)), container) for path in paths]
        return _compare(*sides)


class _Side:
    """One of the two files, its headers read where they can be."""

    def __init__(self, path: Path, file: BinaryIO, container: bool) -> None:  # noqa: FBT001
        self._path = path
        self._size = file.seek(0, 2)
        self.problem: str | None = None
        self.file: ArrayFile | None = None
        try:
            self.file = ArrayFile(file, self._size, _LIMITS, container=container)
        except NotOfKindError as error:
            self.problem = str(error)

    def described(self) -> ArraysSide:
        """What the report says of it."""
        return ArraysSide(path=shown_path(self._path), size_bytes=self._size, problem=self.problem)


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"{shown_path(path)}: cannot be read: {error.strerror}") from error


def _compare(left: _Side, right: _Side) -> ArraysDifference:
    found: list[ArrayDifference] = []
    one, two = left.file, right.file
    if one is None or two is None:
        return _damaged(left, right)
    shared = [name for name in one.arrays if name in two.arrays]
    for name in shared:
        try:
            difference = compare_arrays(name, one, two)
        except NotOfKindError:
            _find_problem(name, left, right)
            return _damaged(left, right)
        if difference is not None:
            found.append(difference)
    missing = tuple(name for name in one.arrays if name not in two.arrays)
    unexpected = tuple(name for name in two.arrays if name not in one.arrays)
    return ArraysDifference(
        verdict="differs" if found or missing or unexpected else "identical",
        left=left.described(),
        right=right.described(),
        arrays_equal=len(shared) - len(found),
        arrays_differing=len(found),
        missing=missing,
        unexpected=unexpected,
        arrays=tuple(found[:MAX_ARRAYS_SHOWN]),
    )


def _damaged(left: _Side, right: _Side) -> ArraysDifference:
    return ArraysDifference(verdict="damaged", left=left.described(), right=right.described())


def _find_problem(name: str, *sides: _Side) -> None:
    """Which side's elements cannot be read, by reading each to its end."""
    for side in sides:
        try:
            for _ in side.file.blocks(name) if side.file is not None else ():
                pass
        except NotOfKindError as error:
            side.problem = str(error)
