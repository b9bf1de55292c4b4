"""The start guard: floating-point arithmetic is what IEEE 754 says, or the run does not begin.

A library that was built with fast-math can switch flush-to-zero on for the whole process when it
is loaded, and a rounding mode can be left changed. Every number of an experiment would then differ
from the recorded one with nothing in its code to blame. What is found by trying is kept apart
(``keeps_subnormals``, ``rounding_of``), for the environment record. Messages never format a float:
with such arithmetic its text cannot be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from repropack._format.fingerprints import fingerprint_array
from repropack._run.fixed_inputs import floats32, floats64, words
from repropack.errors import CouldNotRunError
from repropack.models.environment import Rounding

_Bits = tuple[type[np.unsignedinteger[Any]], int]
_LENGTH = 64
"""Elements of a tried array: enough for every vector unit, so that no scalar path answers."""

_UNSIGNED: Mapping[type[Any], _Bits] = MappingProxyType(
    {np.float32: (np.uint32, 23), np.float64: (np.uint64, 52)}
)

EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        "float32 +": "sha256:512f87142fcd8dc63c955fac25d3cc11e3178557f254f71d25566d59bc001185",
        "float32 *": "sha256:014a78bd7a2707c7bc3d14d803fcd0bb640f6118197c58cecedd399f80a19bfb",
        "float32 /": "sha256:6a26f57aef5076fdde108423a9f4496ae8dd41df729bf968db745ac4ef1b595f",
        "float64 +": "sha256:5007408822344b47cd097ec1314390c8ea87fbbc997a0174c217dbd35cec7c20",
        "float64 *": "sha256:01c6f368a20a6aafdb5caf726c0a712001d68d3c0d4eff562e01cc00cabb5181",
        "float64 /": "sha256:d718318008c2d9c2b8f141430e9cd5ede15ab4717e14d7240eeb52e9897769e7",
        "float32 cast": "sha256:8b46369ccb39d00d3ca2a814e98819c843f1d669701f05bc175609b945ddbd52",
    }
)
"""Fingerprints of what fixed vectors must give, the same on every machine; ``cast`` is from
float64."""


def check_guard() -> None:
    """Check that arithmetic is IEEE 754's, as every recorded byte assumes.

    Gradual underflow and rounding to nearest, ties to even, in float32 and float64; ``+ * /`` of
    both and the cast from float64 to float32 on fixed vectors, against stored fingerprints. Takes
    less than a millisecond once the inputs are made.

    Raises:
        CouldNotRunError: one of them fails; the message names all that do.
    """
    with np.errstate(all="ignore"):  # whatever the experiment's imports have asked for
        faults = [*_mode_faults(), *_vector_faults()]
    if faults:
        raise CouldNotRunError(
            f"floating-point arithmetic of this process: {'; '.join(faults)}",
            hint="find the library that changes it when it is loaded, such as one that was built "
            "with -ffast-math, and leave it out",
        )


def keeps_subnormals(kind: type[np.float32 | np.float64]) -> bool:
    """Tell whether numbers below the smallest normal one survive as results and as operands.

    Args:
        kind: ``np.float32`` or ``np.float64``.

    Returns:
        False where either is flushed to zero.
    """
    unsigned, digits = _UNSIGNED[kind]
    smallest_normal: npt.NDArray[Any] = np.full(_LENGTH, 1 << digits, unsigned).view(kind)
    smallest: npt.NDArray[Any] = np.full(_LENGTH, 1, unsigned).view(kind)
    half = smallest_normal * kind(0.5)
    doubled = smallest + smallest
    return _all_equal(half, unsigned(1 << (digits - 1))) and _all_equal(doubled, unsigned(2))


def rounding_of(kind: type[np.float32 | np.float64]) -> Rounding:
    """Tell how sums of arrays are rounded.

    Args:
        kind: ``np.float32`` or ``np.float64``.

    Returns:
        ``other`` for what is none of IEEE 754's modes, such as ties away from zero.
    """
    one = np.ones(_LENGTH, kind)
    unit = np.full(_LENGTH, 2.0 ** -_UNSIGNED[kind][1], kind)
    half, most = unit * kind(0.5), unit * kind(0.75)
    outcome = (_moved(one, most), _moved(-one, -most))
    if outcome == (True, True):
        even = not _moved(one, half) and not _moved(-one, -half)
        return "nearest-even" if even and _moved(one + unit, half) else "other"
    modes: dict[tuple[bool, bool], Rounding] = {
        (True, False): "up",
        (False, True): "down",
        (False, False): "toward-zero",
    }
    return modes[outcome]


def _moved(start: npt.NDArray[Any], step: npt.NDArray[Any]) -> bool:
    return not _all_equal(start + step, start.view(_UNSIGNED[start.dtype.type][0])[0])


def _all_equal(array: npt.NDArray[Any], bits: np.unsignedinteger[Any]) -> bool:
    """Compare the bits: a comparison of floats could itself flush what it is given."""
    return bool((array.view(_UNSIGNED[array.dtype.type][0]) == bits).all())


def _mode_faults() -> Iterator[str]:
    for kind in (np.float32, np.float64):
        name = np.dtype(kind).name
        if not keeps_subnormals(kind):
            yield f"{name} gradual underflow: expected subnormals kept, observed flushed to zero"
        rounding = rounding_of(kind)
        if rounding != "nearest-even":
            yield f"{name} rounding: expected nearest-even, observed {rounding}"


def _vector_faults() -> Iterator[str]:
    for name, array in _results().items():
        observed = fingerprint_array(name, array)
        if observed != EXPECTED[name]:
            yield f"{name} of a fixed vector: expected {EXPECTED[name]}, observed {observed}"


def _results() -> dict[str, npt.NDArray[Any]]:
    """Return what is held against ``EXPECTED``: 1024 elements each."""
    results: dict[str, npt.NDArray[Any]] = {}
    for name, values in (("float32", floats32()), ("float64", floats64())):
        left, right = values[:1024], values[1024:2048]
        results[f"{name} +"] = left + right
        results[f"{name} *"] = left * right
        results[f"{name} /"] = left / right
    # bit patterns with any exponent from 2**-159 to 2**100: results of every size, subnormal too
    exponents = np.uint64(1023 - 159) + words()[:1024] % np.uint64(260)
    patterns = (words()[1024:2048] >> np.uint64(12)) | (exponents << np.uint64(52))
    results["float32 cast"] = patterns.view(np.float64).astype(np.float32)
    return results
