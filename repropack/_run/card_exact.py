"""Computations of the probe card whose results IEEE 754 and integer arithmetic fix.

They give one digest on every machine that the project was tried on. Where one differs the machine
or the process is at fault, not the experiment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import MT19937, PCG64, SFC64, Philox, SeedSequence

from repropack._run.fixed_inputs import Floats, both, floats32, floats64, int32, words

Result = npt.NDArray[Any] | str
SEED = 20240607
FEW = 2048


def arithmetic(values: Floats) -> Iterator[Result]:
    left, right = values[:FEW], values[FEW : 2 * FEW]
    large = left * values.dtype.type(1000)
    yield from (left + right, left - right, left * right, np.square(left), np.abs(left), -left)
    yield from (np.rint(large), np.floor(large), np.clip(left, right, right), left * right + left)


def division() -> Iterator[Result]:
    for values in both():
        yield values / values[::-1]


def subnormals() -> Iterator[Result]:
    for values, exponent in zip(both(FEW), (-70, -520), strict=True):
        kind = values.dtype.type
        small, three = kind(2.0**exponent), kind(3)
        tiny = values * small * small
        yield from (tiny, tiny + tiny[::-1], tiny - tiny[::-1], tiny * kind(0.75), tiny / three)


def casts() -> Iterator[Result]:
    single, double = both(FEW)
    bits = words()[:FEW]
    yield from (double.astype(np.float32), single.astype(np.float64), single.astype(np.float16))
    yield from (double.astype(np.float16), bits.astype(np.float64), bits.astype(np.float32))
    yield bits.view(np.int64).astype(np.float64)
    yield int32(bits).astype(np.float32)
    yield (double * 2.0**40).astype(np.int64)
    yield (single * np.float32(2.0**20)).astype(np.int32)


def integers() -> Iterator[Result]:
    left, right = words()[:FEW], words()[FEW : 2 * FEW]
    yield from (left + right, left * right, left ^ right, left >> np.uint64(7), left // (right | 1))
    signed, divisor = left.view(np.int64), right.view(np.int64) | np.int64(1)
    yield from (signed // divisor, signed % divisor, int32(left) * np.int32(3))
    yield from (np.asarray(int32(left).sum(dtype=np.int64)), np.cumsum(signed))


def ordered_sums() -> Iterator[Result]:
    for values in both(FEW):
        table = values.reshape(64, -1)
        yield from (np.cumsum(values), np.add.accumulate(table, 0), np.add.accumulate(table, 1))
        rows = np.zeros_like(table[0])
        for row in table:
            rows = rows + row
        yield rows
    where = (words()[:FEW] % np.uint64(37)).astype(np.int64)
    yield np.bincount(where, weights=floats64()[:FEW])


def python_arithmetic() -> Iterator[Result]:
    values = floats64()[:256].tolist()
    total, results = 0.0, []
    for left, right in zip(values, reversed(values), strict=True):
        total = total + left * right
        results += [left + right, left * right - left, left / (right + 2.0), total]
    yield np.array(results)


def square_root() -> Iterator[Result]:
    for values in (floats32(), floats64()):  # long: one vendor's build misrounds only long arrays
        yield np.sqrt(np.abs(values))
    yield np.array([math.sqrt(abs(value)) for value in floats64()[:256].tolist()])


def stable_sort() -> Iterator[Result]:
    ties = (words()[:FEW] % np.uint64(97)).astype(np.uint64)
    yield from (
        np.argsort(ties, kind="stable"),
        np.sort(words()),
        np.lexsort((words()[:FEW], ties)),
    )
    yield from (np.sort(floats64()[:FEW]), np.sort(floats32()[:FEW]), np.unique(ties))


def raw_words() -> Iterator[Result]:
    for kind in (PCG64, Philox, SFC64, MT19937):
        yield np.asarray(kind(SEED).random_raw(256))
    yield SeedSequence(SEED).generate_state(16, np.uint64)
    yield PCG64(SeedSequence(SEED).spawn(3)[2]).random_raw(16)


def text() -> Iterator[Result]:
    values = floats64()[:256].tolist()
    yield "\n".join(f"{v!r} {v:.4f} {v:.3e} {v * 1e200:g} {v.hex()}" for v in values)
