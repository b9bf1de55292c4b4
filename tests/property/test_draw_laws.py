"""Laws of draw distances: drawing n words is found as n, backwards as -n, and streams are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repropack._compare.generators import GeneratorState, read_generator
from repropack._compare.positions import words_between
from repropack.models.patterns import MAX_DRAWS

ALGORITHMS: tuple[Any, ...] = (
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.Philox,
    np.random.SFC64,
    np.random.MT19937,
)
seeds = st.integers(0, 2**32)


def position(bits: Any) -> GeneratorState:
    found = read_generator(bits.state)
    assert found is not None
    return found


@given(st.sampled_from(ALGORITHMS), seeds, st.integers(0, 700), st.integers(0, 5000))
def test_as_many_words_as_were_drawn(algorithm: Any, seed: int, begin: int, count: int) -> None:
    """Any algorithm from any place: n forward, -n back."""
    bits = algorithm(seed)
    bits.random_raw(begin, output=False)
    before = position(bits)
    bits.random_raw(count, output=False)
    assert words_between(before, position(bits)) == count
    assert words_between(position(bits), before) == -count


@given(st.sampled_from(ALGORITHMS[:2]), seeds, st.integers(0, MAX_DRAWS), st.integers(0, MAX_DRAWS))
def test_distances_add_up(algorithm: Any, seed: int, first: int, second: int) -> None:
    """However far: the way from one to the other is the difference of the ways."""
    one, other = (position(algorithm(seed).advance(n)) for n in (first, second))
    assert words_between(one, other) == second - first


@given(seeds, st.integers(0, MAX_DRAWS // 8), st.integers(0, MAX_DRAWS // 8))
def test_a_counter_may_be_set_anywhere(seed: int, first: int, second: int) -> None:
    """Philox is advanced by blocks of four words."""
    one, other = (position(np.random.Philox(seed).advance(n)) for n in (first, second))
    assert words_between(one, other) == 4 * (second - first)


@given(st.sampled_from(ALGORITHMS[:4]), seeds, seeds)
def test_another_seed_is_another_stream(algorithm: Any, seed: int, other: int) -> None:
    """Two seeds never look like a few draws."""
    found = words_between(position(algorithm(seed)), position(algorithm(other)))
    assert found == (0 if seed == other else None)
