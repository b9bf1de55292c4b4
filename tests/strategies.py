"""Hypothesis strategies that several tests share."""

from __future__ import annotations

import math
import struct
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


# ---------------------------------------------------------------- JSON values and states

SAFE_INTEGERS = st.integers(-(2**53 - 1), 2**53 - 1)


def texts(max_size: int = 8) -> st.SearchStrategy[str]:
    """Text of every Unicode character, which excludes lone surrogates."""
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=max_size)


def finite_floats() -> st.SearchStrategy[float]:
    """Every float that JSON can hold: both zeros and subnormals among them."""
    return st.floats(allow_nan=False, allow_infinity=False)


def any_floats() -> st.SearchStrategy[float]:
    """Every float by its bits: NaN of every payload and sign, infinities, subnormals."""
    return st.binary(min_size=8, max_size=8).map(lambda bits: struct.unpack(">d", bits)[0])


def json_values(max_leaves: int = 20) -> st.SearchStrategy[Any]:
    """Values that canonical JSON can hold as they are."""
    return st.recursive(
        st.none() | st.booleans() | SAFE_INTEGERS | finite_floats() | texts(),
        lambda part: st.lists(part, max_size=4) | st.dictionaries(texts(), part, max_size=4),
        max_leaves=max_leaves,
    )


def state_names() -> st.SearchStrategy[str]:
    """Names of state values, of few components so that several share one."""
    names = st.from_regex(r"[ab](\.[A-Za-z0-9_+-]{1,3}){0,2}", fullmatch=True)
    return names.filter(lambda name: not name.endswith(".npy"))


def state_values(max_leaves: int = 10) -> st.SearchStrategy[Any]:
    """Values that a state may have: arrays anywhere, integers and floats of every kind."""
    keys = texts(4).filter(lambda key: not key.startswith("$"))
    return st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.integers(-(10**40), 10**40)
        | any_floats()
        | texts()
        | arrays(max_rank=2, max_side=3),
        lambda part: st.lists(part, max_size=3) | st.dictionaries(keys, part, max_size=3),
        max_leaves=max_leaves,
    )


def states() -> st.SearchStrategy[dict[str, Any]]:
    """Complete states: a flat mapping of dotted names to arrays and values."""
    return st.dictionaries(state_names(), state_values(), max_size=6)
