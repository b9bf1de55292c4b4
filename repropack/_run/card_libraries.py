"""Computations of the probe card whose results follow a library's code, release and threads.

Matrix products are small: some OpenBLAS kernels overrun their stack from an inner dimension of 300
on, and below about 60 x 60 x 60 no threads are waited for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.random import PCG64, Generator

from repropack._run.card_exact import FEW, SEED, Result
from repropack._run.fixed_inputs import WORDS, Floats, both, floats32, floats64, int32, words


def sum_short() -> Iterator[Result]:
    for values in both():
        for length in (7, 100, 1000, 5000, WORDS):
            yield np.asarray(values[:length].sum())


def sum_long() -> Iterator[Result]:
    for values in (floats32(), floats64()):
        yield from (np.asarray(values.sum()), np.asarray(values[:10_000].sum()))


def sum_axis() -> Iterator[Result]:
    for values in both(3072):
        table = values.reshape(128, 24)
        column = np.asfortranarray(table)
        yield from (table.sum(0), table.sum(1), column.sum(0), column.sum(1), table[:, :1].sum(0))


def mean_variance() -> Iterator[Result]:
    for values in both(3072):
        table = values.reshape(128, 24)
        yield from (
            np.asarray(values.mean()),
            np.asarray(values.var()),
            table.mean(0),
            table.var(1),
        )


def einsum() -> Iterator[Result]:
    for values in both(3072):
        table = values.reshape(128, 24)
        yield from (np.einsum("ij,j->i", table, values[:24]), np.einsum("ij->j", table))
        yield np.asarray(np.einsum("i,i->", values, values[::-1].copy()))


def fft() -> Iterator[Result]:
    for length in (256, 243, 509):
        yield np.fft.fft(floats64()[:length])
    yield np.fft.rfft(floats32()[:1024])


# ---------------------------------------------------------------- steered by BLAS and LAPACK


def dot() -> Iterator[Result]:
    for values in both(FEW):
        for length in (5, 33, 100, 1000):
            yield np.asarray(np.dot(values[:length], values[-length:]))


def dot_long() -> Iterator[Result]:
    """Long enough to be shared out among threads, and the only result here that is."""
    values = floats64()
    yield np.asarray(np.dot(values, values[::-1].copy()))


def matrix_vector() -> Iterator[Result]:
    for values in both():
        yield values[:1536].reshape(64, 24) @ values[1536:1560]
        yield values.reshape(128, 64).T @ values[:128]


def matmul(values: Floats) -> Iterator[Result]:
    yield values[:1536].reshape(64, 24) @ values[1536:2304].reshape(24, 32)
    yield values[:4608].reshape(48, 96) @ values[5000:9608].reshape(96, 48)


def linear_algebra() -> Iterator[Result]:
    table = floats64()[:576].reshape(24, 24)
    system = table + 6.0 * np.eye(24)
    yield np.linalg.solve(system, floats64()[600:624])
    yield from np.linalg.svd(table[:, :16], full_matrices=False)
    yield from np.linalg.eigh(table + table.T)


# ---------------------------------------------------------------- draws, the C library, Python


def _generator() -> Generator:
    return Generator(PCG64(SEED))


def uniform_draws() -> Iterator[Result]:
    draw = _generator()
    yield from (draw.random(512), draw.random(512, dtype=np.float32), draw.uniform(-2.0, 3.0, 512))
    yield from (draw.integers(0, 1000, 512), draw.integers(0, 2**40, 256))


def normal_draws() -> Iterator[Result]:
    draw = _generator()
    yield from (draw.standard_normal(4096), draw.standard_normal(4096, dtype=np.float32))
    yield from (draw.normal(1.0, 0.1, 512), draw.standard_exponential(1024))


def permutation_draws() -> Iterator[Result]:
    draw = _generator()
    order = np.arange(500)
    draw.shuffle(order)
    yield from (draw.permutation(1000), order, draw.choice(1000, 300, replace=False))


def libm() -> Iterator[Result]:
    values = floats64()[:512].tolist()
    for function in (
        math.sin,
        math.cos,
        math.tan,
        math.exp,
        math.expm1,
        math.atan,
        math.tanh,
        math.erf,
    ):
        yield np.array([function(3.0 * value) for value in values])
    for function in (math.log, math.log1p, math.lgamma):
        yield np.array([function(abs(value) + 0.01) for value in values])
    yield np.array([abs(value) ** (1.7 + value) for value in values])
    yield np.array([0.999**number for number in range(512)])


def python_sum() -> Iterator[Result]:
    values = floats64()[:1000].tolist()
    yield np.array([sum(values[:length]) for length in (10, 100, 1000)])
    yield np.array([math.fsum(values)])


def numpy_text() -> Iterator[Result]:
    for values in both(64):
        yield "\n".join(f"{value!r} {value}" for value in values)
        yield "\n".join(np.format_float_scientific(value) for value in values)


def promotion() -> Iterator[Result]:
    single, double = both(256)
    yield from (single * double[7], single * double[:1].reshape(()), single * 0.1)
    yield from (np.asarray(single[3] * 0.1), np.asarray(single[3] ** 2), single[:3] + np.int64(1))
    yield np.asarray(np.sum(int32(words()[:8])))
