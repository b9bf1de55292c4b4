"""Computations of the probe card whose results follow the instruction sets that NumPy uses.

Each is one ufunc, or a sort, on inputs in its domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from repropack._run.card_exact import FEW, Result
from repropack._run.fixed_inputs import both, floats32, floats64, words


def each(*ufuncs: Callable[..., Any], scale: float = 1.0, shift: float = 0.0) -> Iterator[Result]:
    """Apply functions of one argument to float32 and float64 inputs, scaled and shifted."""
    for values in both():
        kind = values.dtype.type
        argument = values * kind(scale) + kind(shift)
        for ufunc in ufuncs:
            yield ufunc(argument)


def exp() -> Iterator[Result]:
    return each(np.exp, scale=20)


def log() -> Iterator[Result]:
    yield from each(np.log, scale=50, shift=51)
    for values in both():
        yield np.log(np.abs(values))


def exp_log_variants() -> Iterator[Result]:
    yield from each(np.exp2, np.expm1, scale=9)
    yield from each(np.log1p, scale=0.9)
    yield from each(np.log2, np.log10, scale=50, shift=51)


def tangents() -> Iterator[Result]:
    return each(np.tan, np.sinh, np.cosh, np.tanh, scale=3)


def arc() -> Iterator[Result]:
    yield from each(np.arcsin, np.arccos, np.arctanh, scale=0.9)
    yield from each(np.arctan, np.arcsinh, scale=5)
    yield from each(np.arccosh, scale=3, shift=5)
    for values in both():
        yield np.arctan2(values, values[::-1].copy())


def power() -> Iterator[Result]:
    for values in both():
        base = np.abs(values) + values.dtype.type(0.125)
        yield from (np.power(base, values[::-1].copy()), base**3, base ** values.dtype.type(0.3))


def hypot() -> Iterator[Result]:
    for values in both(FEW):
        yield np.hypot(values, values[::-1].copy())


def complex_numbers() -> Iterator[Result]:
    """Contiguous operands: of reversed views NumPy 1.26 lets addresses choose the code path."""
    for values in both(FEW):
        left = values[:1024] + 1j * values[1024:]
        left = left.astype(np.result_type(values.dtype, np.complex64))
        right = left[::-1].copy()
        yield from (left * right, np.abs(left), left / (right + left.dtype.type(3)))


def nan_bits() -> Iterator[Result]:
    for values in both(64):
        zeros = values * values.dtype.type(0)
        infinite = np.full_like(values, np.inf)
        yield from (zeros / zeros, infinite - infinite, infinite * zeros)
        yield from (np.log(-np.abs(values) - 1), np.sqrt(-np.abs(values) - 1))


def signed_zeros() -> Iterator[Result]:
    for values in both(FEW):
        zeros = values * values.dtype.type(0)
        yield from (np.maximum(zeros, zeros[::-1].copy()), np.asarray(zeros.max()), np.sort(zeros))


def unstable_sort() -> Iterator[Result]:
    ties = (words()[:FEW] % np.uint64(61)).astype(np.int64)
    kinds = (np.int64, np.int32, np.float64, np.float32, np.uint16)
    return (np.argsort(ties.astype(kind)) for kind in kinds)


def partition() -> Iterator[Result]:
    ties = (words()[:FEW] % np.uint64(61)).astype(np.int64)
    yield from (np.argpartition(ties, 700), np.argpartition(ties.astype(np.float32), 700))
    yield from (np.partition(floats64()[:FEW], 700), np.partition(floats32()[:FEW], 700))
