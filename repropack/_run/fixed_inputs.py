"""Inputs that are the same bytes everywhere: words from SHA-256, and exact floats made of them.

The start guard and the probe card compute on these. ``numpy.random`` is never asked for them: it is
one of the things that are probed. Nothing here rounds, so a wrong rounding mode, flush-to-zero or
another NumPy cannot change an input and hide behind it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

WORDS = 8192
"""How many 64-bit words SHA-256 gives; ``MANY_WORDS`` are three times as many."""

MANY_WORDS = 3 * WORDS

Floats = npt.NDArray[np.floating[Any]]
_Scalar = TypeVar("_Scalar", bound=np.generic)

_DOMAIN = b"repropack.inputs.v1\n"
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD1342543DE82EF95)


@cache
def words() -> npt.NDArray[np.uint64]:
    """Return ``WORDS`` words: of SHA-256 of the domain line and a decimal counter, in order.

    Returns:
        Shape ``(WORDS,)``, read-only; each digest is four little-endian words.
    """
    data = b"".join(
        hashlib.sha256(_DOMAIN + str(number).encode("ascii")).digest()
        for number in range(WORDS // 4)
    )
    return _locked(np.frombuffer(data, dtype="<u8").astype(np.uint64))


@cache
def many_words() -> npt.NDArray[np.uint64]:
    """Return ``words()``, then the same times two odd numbers, modulo 2**64.

    Returns:
        Shape ``(MANY_WORDS,)``, read-only.
    """
    first = words()
    return _locked(np.concatenate([first, *(first * np.uint64(k) for k in _MULTIPLIERS)]))


@cache
def floats64() -> npt.NDArray[np.float64]:
    """Return the words as float64: sign, 52 bits of significand, and one of eight exponents.

    Returns:
        Shape ``(MANY_WORDS,)``, read-only; every magnitude at least 2**-8 and below 1, so that
        sums and products of them are rounded.
    """
    bits = many_words()
    exponents = np.uint64(1023 - 8) + ((bits >> np.uint64(52)) & np.uint64(7))
    kept = bits & np.uint64(1 << 63 | (1 << 52) - 1)
    return _locked((kept | (exponents << np.uint64(52))).view(np.float64))


@cache
def floats32() -> npt.NDArray[np.float32]:
    """Return the upper halves of the words as float32, made like ``floats64``.

    Returns:
        Shape ``(MANY_WORDS,)``, read-only; every magnitude at least 2**-8 and below 1.
    """
    bits = (many_words() >> np.uint64(32)).astype(np.uint32)
    exponents = np.uint32(127 - 8) + ((bits >> np.uint32(23)) & np.uint32(7))
    kept = bits & np.uint32(1 << 31 | (1 << 23) - 1)
    return _locked((kept | (exponents << np.uint32(23))).view(np.float32))


def both(length: int = WORDS) -> tuple[Floats, Floats]:
    """Return the first float32 and the first float64 inputs."""
    return floats32()[:length], floats64()[:length]


def int32(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    """Return the upper halves of words as signed numbers, whatever the byte order."""
    return (bits >> np.uint64(32)).astype(np.uint32).view(np.int32)


def _locked(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    array.flags.writeable = False
    return array
