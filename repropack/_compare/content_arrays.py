"""Two arrays of two files, block by block: memory is independent of their size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from repropack._compare.arrays import measure_difference
from repropack._format.content_arrays import ArrayFile
from repropack.models.differences import ArrayDifference

Array = npt.NDArray[Any]
_STEP = 1  # a command is an experiment of one step


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
    one, two = left.arrays[name], right.arrays[name]
    forms = (one.dtype, one.shape), (two.dtype, two.shape)
    found = measure_difference(name, _STEP, forms, _aligned(left.blocks(name), right.blocks(name)))
    return None if found.kind is None else found


def _aligned(lefts: Iterator[Array], rights: Iterator[Array]) -> Iterator[tuple[Array, Array]]:
    """Blocks of two arrays of one shape, divided alike whatever the sizes of their elements."""
    left = right = np.empty(0)
    while True:
        left = left if left.size else next(lefts, left)
        right = right if right.size else next(rights, right)
        count = min(left.size, right.size)
        if not count:
            return
        yield left[:count], right[:count]
        left, right = left[count:], right[count:]
