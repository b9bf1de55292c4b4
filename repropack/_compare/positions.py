"""How many raw words lie between two states of one generator.

Exact where the algorithm allows it: PCG64 and PCG64DXSM are linear congruential, Philox and SFC64
count. A Mersenne Twister is stepped, a block at a time, up to a bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from repropack._compare.generators import MT_WORDS, GeneratorState
from repropack.models.patterns import MAX_DRAWS

MAX_TWISTER_WORDS = 1_000_000
"""A Mersenne Twister is stepped so far in either direction: some 1,600 blocks."""
MAX_SFC_WORDS = 2**24
"""An SFC64 knows by its counter how far it is to be stepped; farther than this it is not."""
_MULTIPLIERS = {
    "PCG64": 0x2360ED051FC65DA44385DF649FCCF645,
    "PCG64DXSM": 0xDA942042E4DD58B5,
}
_ALL_128 = 2**128 - 1


def words_between(left: GeneratorState, right: GeneratorState) -> int | None:
    """How many raw words ``right`` is ahead of ``left``; negative where it is behind.

    Args:
        left: One state.
        right: Another.

    Returns:
        The number of words; ``None`` where the two are not of one stream, or none was found within
        the bounds: ``MAX_DRAWS``, ``MAX_TWISTER_WORDS``, ``MAX_SFC_WORDS``.

    Example:
        >>> from repropack._compare.generators import read_generator
        >>> bits = np.random.PCG64(7)
        >>> before = read_generator(bits.state)
        >>> after = read_generator(bits.advance(3).state)
        >>> words_between(before, after), words_between(after, before)
        (3, -3)
    """
    if left.kind != right.kind:
        return None
    if left.kind in _MULTIPLIERS:
        return _between_pcg(left, right)
    if left.kind == "Philox":
        return _between_philox(left, right)
    if left.kind == "SFC64":
        return _between_sfc(left, right)
    return _between_twisters(left, right)


def _between_pcg(left: GeneratorState, right: GeneratorState) -> int | None:
    """The logarithm in the recurrence ``s * multiplier + increment``, one bit after the other."""
    (current, increment), (wanted, other) = left.numbers, right.numbers
    if increment != other:
        return None
    multiplier = _MULTIPLIERS[left.kind]
    distance = 0
    for k in range(128):
        if (current ^ wanted) >> k & 1:
            current = (current * multiplier + increment) & _ALL_128
            distance |= 1 << k
        increment = ((multiplier + 1) * increment) & _ALL_128
        multiplier = (multiplier * multiplier) & _ALL_128
    return _signed(distance, 128)


def _between_philox(left: GeneratorState, right: GeneratorState) -> int | None:
    """Counters and places in the buffer of four words."""
    if left.numbers[4:] != right.numbers[4:]:
        return None
    counters = [
        sum(word << 64 * k for k, word in enumerate(one.numbers[:4])) for one in (left, right)
    ]
    blocks = (counters[1] - counters[0]) % 2**256
    blocks = blocks - 2**256 if blocks >= 2**255 else blocks
    return _within(4 * blocks + right.place - left.place)


def _between_sfc(left: GeneratorState, right: GeneratorState) -> int | None:
    """The fourth word counts; the other three decide whether it is the same stream."""
    words = _signed((right.numbers[3] - left.numbers[3]) % 2**64, 64)
    if words is None or abs(words) > MAX_SFC_WORDS:
        return None
    first, last = (left, right) if words >= 0 else (right, left)
    bits = np.random.SFC64(0)
    state: Any = {"state": np.array(first.numbers, np.uint64)}
    bits.state = {"bit_generator": "SFC64", "state": state, "has_uint32": 0, "uinteger": 0}
    bits.random_raw(abs(words), output=False)
    found: Any = bits.state
    return words if tuple(map(int, found["state"]["state"])) == last.numbers else None


def _between_twisters(left: GeneratorState, right: GeneratorState) -> int | None:
    for first, last, sign in ((left, right, 1), (right, left, -1)):
        blocks = _blocks_between(first, last)
        if blocks is not None:
            return sign * (blocks * MT_WORDS + last.place - first.place)
    return None


def _blocks_between(first: GeneratorState, last: GeneratorState) -> int | None:
    """How many blocks have to be made of one to come to the other."""
    wanted = np.array(last.numbers, np.uint32)
    state: Any = {"key": np.array(first.numbers, np.uint32), "pos": MT_WORDS}
    bits = np.random.MT19937(0)
    bits.state = {"bit_generator": "MT19937", "state": state}
    for blocks in range(MAX_TWISTER_WORDS // MT_WORDS + 1):
        if np.array_equal(state["key"], wanted):
            return blocks
        bits.random_raw(MT_WORDS, output=False)
        state = bits.state["state"]
    return None


def _signed(distance: int, bits: int) -> int | None:
    """The shorter way round."""
    return _within(distance - 2**bits if distance >= 2 ** (bits - 1) else distance)


def _within(distance: int) -> int | None:
    return distance if abs(distance) <= MAX_DRAWS else None
