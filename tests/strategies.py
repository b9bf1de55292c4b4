"""Hypothesis strategies that several tests share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

STORABLE_TYPES = (
    "|b1",
    "|i1",
    "|u1",
    "<i2",
    "<u2",
    "<i4",
    "<u4",
    "<i8",
    "<u8",
    "<f2",
    "<f4",
    "<f8",
    "<c8",
    "<c16",
)
"""Every array type that can be stored, in the form in which it is stored."""

LAYOUTS = ("C", "F", "strided", "reversed")
BYTE_ORDERS = ("<", ">")


def array_names() -> st.SearchStrategy[str]:
    """Names that an array of a state, or a stage recorded again, may have."""
    return st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,8}(#[1-9])?", fullmatch=True)


def shapes(max_rank: int = 4, max_side: int = 4) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of rank 0 to ``max_rank``, empty ones included."""
    return st.lists(st.integers(0, max_side), max_size=max_rank).map(tuple)


@st.composite
def plain_arrays(
    draw: st.DrawFn, types: tuple[str, ...] = STORABLE_TYPES, max_rank: int = 4, max_side: int = 4
) -> NDArray[Any]:
    """Arrays in stored form, of arbitrary bits: NaN of every payload, both zeros, subnormals."""
    dtype = np.dtype(draw(st.sampled_from(types)))
    shape = draw(shapes(max_rank, max_side))
    size = math.prod(shape) * dtype.itemsize
    data = draw(st.binary(min_size=size, max_size=size))
    if dtype.kind == "b":
        data = bytes(byte & 1 for byte in data)
    return np.frombuffer(data, dtype).reshape(shape).copy()


def laid_out(array: NDArray[Any], layout: str, byte_order: str) -> NDArray[Any]:
    """The same values in another memory layout and byte order, bit for bit."""
    if byte_order == ">":
        array = array.byteswap().view(array.dtype.newbyteorder(">"))
    if array.ndim == 0 or layout == "C":
        return array
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "reversed":
        return array[::-1].copy()[::-1]
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def arrays(
    types: tuple[str, ...] = STORABLE_TYPES, max_rank: int = 4, max_side: int = 4
) -> st.SearchStrategy[NDArray[Any]]:
    """Arrays of every storable type, rank, layout and byte order."""
    return st.builds(
        laid_out,
        plain_arrays(types, max_rank, max_side),
        st.sampled_from(LAYOUTS),
        st.sampled_from(BYTE_ORDERS),
    )
