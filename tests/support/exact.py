"""Equality as this project means it: type, shape and bits, never ``==`` alone."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np


def is_exactly(left: Any, right: Any) -> bool:
    """Tell whether two state values are the same: types, signs of zero, NaN payloads and all.

    An array equals an array of another layout or byte order, and a scalar one of rank 0.
    """
    if isinstance(left, np.ndarray | np.generic) or isinstance(right, np.ndarray | np.generic):
        return (
            isinstance(left, np.ndarray | np.generic)
            and isinstance(right, np.ndarray | np.generic)
            and _bits(left) == _bits(right)
        )
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return struct.pack("<d", left) == struct.pack("<d", right)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(is_exactly, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(is_exactly(left[k], right[k]) for k in left)
    return bool(left == right)


def _bits(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    little = np.asarray(array).astype(array.dtype.newbyteorder("<"))
    return f"{array.dtype.kind}{array.dtype.itemsize}", array.shape, little.tobytes()
