"""The families of the probe card: what each of them computes, by name.

A family's name is its identity: what it computes never changes under one name, for cards of
different releases are compared by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from repropack._run import card_dispatched as dispatched
from repropack._run import card_exact as exact
from repropack._run import card_libraries as libraries
from repropack._run.fixed_inputs import floats32, floats64

FAMILIES: Mapping[str, Callable[[], Iterator[exact.Result]]] = MappingProxyType(
    {
        "arithmetic-f32": lambda: exact.arithmetic(floats32()),
        "arithmetic-f64": lambda: exact.arithmetic(floats64()),
        "division": exact.division,
        "subnormals": exact.subnormals,
        "casts": exact.casts,
        "integers": exact.integers,
        "ordered-sums": exact.ordered_sums,
        "python-arithmetic": exact.python_arithmetic,
        "square-root": exact.square_root,
        "stable-sort": exact.stable_sort,
        "raw-words": exact.raw_words,
        "text": exact.text,
        "exp": dispatched.exp,
        "log": dispatched.log,
        "exp-log-variants": dispatched.exp_log_variants,
        "sin-cos": lambda: dispatched.each(np.sin, np.cos, scale=30),
        "tan-hyperbolic": dispatched.tangents,
        "arc-functions": dispatched.arc,
        "power": dispatched.power,
        "cube-root": lambda: dispatched.each(np.cbrt, scale=9),
        "hypot": dispatched.hypot,
        "complex": dispatched.complex_numbers,
        "nan-bits": dispatched.nan_bits,
        "signed-zeros": dispatched.signed_zeros,
        "unstable-sort": dispatched.unstable_sort,
        "partition": dispatched.partition,
        "sum-short": libraries.sum_short,
        "sum-long": libraries.sum_long,
        "sum-axis": libraries.sum_axis,
        "mean-variance": libraries.mean_variance,
        "einsum": libraries.einsum,
        "fft": libraries.fft,
        "dot": libraries.dot,
        "dot-long": libraries.dot_long,
        "matrix-vector": libraries.matrix_vector,
        "matmul-f32": lambda: libraries.matmul(floats32()),
        "matmul-f64": lambda: libraries.matmul(floats64()),
        "linear-algebra": libraries.linear_algebra,
        "uniform-draws": libraries.uniform_draws,
        "normal-draws": libraries.normal_draws,
        "permutation-draws": libraries.permutation_draws,
        "libm": libraries.libm,
        "python-sum": libraries.python_sum,
        "numpy-text": libraries.numpy_text,
        "promotion": libraries.promotion,
    }
)
"""Every family of the card, by name, in the order in which it is computed and told."""
