"""By how many draws two states of a generator are apart, in the forms that states hold."""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import pytest

from repropack._compare.draws import MAX_GENERATORS, draw_distances, generators_of
from repropack._compare.generators import GeneratorState, read_generator
from repropack._compare.positions import MAX_SFC_WORDS, MAX_TWISTER_WORDS, words_between
from repropack._format.state import encode_state
from repropack.models.patterns import MAX_DRAWS, DrawDistance

INC = 87136372517582989555478159403783844777
PCG_0 = 35399562948360463058890781895381311971
PCG_3 = 18792671013009471063546316241193924174
DXSM_3 = 299579900761047362587023318480410966542
"""NumPy's generators of seed 0, and those after three words."""


def pcg(state: int, kind: str = "PCG64", **changes: Any) -> dict[str, Any]:
    inner = {"state": state, "inc": changes.pop("inc", INC)}
    return {"bit_generator": kind, "state": inner, "has_uint32": 0, "uinteger": 0} | changes


def distances(left: dict[str, Any], right: dict[str, Any]) -> tuple[DrawDistance, ...]:
    return draw_distances(encode_state(left), encode_state(right), 41)


def draws(left: object, right: object) -> int | None:
    """The distance of two values in one place."""
    (row,) = distances({"rng": left}, {"rng": right})
    return row.draws


def listed(state: Any) -> list[Any]:
    """A state as JSON gives it back."""
    return [list(part) if isinstance(part, tuple) else part for part in state]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (pcg(PCG_0), pcg(PCG_3), 3),
        (pcg(PCG_3), pcg(PCG_0), -3),
        (pcg(PCG_0, "PCG64DXSM"), pcg(DXSM_3, "PCG64DXSM"), 3),
        (pcg(PCG_0), pcg(DXSM_3), None),
        (pcg(PCG_0), pcg(PCG_0, "PCG64DXSM"), None),
        (pcg(PCG_0), pcg(PCG_3, inc=INC + 2), None),
        (pcg(0, inc=1), pcg(1, inc=1), 1),
        (pcg(0, inc=1), pcg(2**127, inc=1), None),
    ],
)
def test_congruential_generators_by_literal_states(
    left: dict[str, Any], right: dict[str, Any], expected: int | None
) -> None:
    """Exact, with sign; another stream, another algorithm and half the period are no distance."""
    assert draws(left, right) == expected


def test_a_congruential_generator_far_along_its_stream() -> None:
    """Exact up to what a JSON number holds; a position that no run reaches is none."""
    begin = np.random.PCG64(5)
    far, too_far = (np.random.PCG64(5).advance(n) for n in (MAX_DRAWS, MAX_DRAWS + 1))
    assert draws(begin.state, far.state) == 9007199254740991
    assert draws(far.state, begin.state) == -9007199254740991
    assert draws(begin.state, too_far.state) is None
    assert draws(begin.state, begin.jumped().state) is None


def philox(counter: int, place: int, key: int = 7) -> dict[str, Any]:
    words = [counter >> 64 * k & 2**64 - 1 for k in range(4)]
    return {
        "bit_generator": "Philox",
        "state": {"counter": np.array(words, np.uint64), "key": np.array([key, 1], np.uint64)},
        "buffer": np.zeros(4, np.uint64),
        "buffer_pos": place,
        "has_uint32": 0,
        "uinteger": 0,
    }


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (philox(0, 4), philox(2, 3), 7),
        (philox(2, 3), philox(0, 4), -7),
        (philox(2**64 - 1, 4), philox(2**64, 1), 1),
        (philox(2**256 - 1, 4), philox(0, 1), 1),
        (philox(0, 4), philox(2, 3, key=8), None),
        (philox(0, 4), philox(2**52, 4), None),
    ],
)
def test_a_counting_generator_by_literal_states(
    left: dict[str, Any], right: dict[str, Any], expected: int | None
) -> None:
    """Counter and place in the buffer of four words; carries and the wrap around count too."""
    assert draws(left, right) == expected


def sfc(*words: int) -> dict[str, Any]:
    state = {"state": np.array(words, np.uint64)}
    return {"bit_generator": "SFC64", "state": state, "has_uint32": 0, "uinteger": 0}


SFC_0 = (9957867060933711493, 532597980065565856, 14769588338631205282, 13)
SFC_5 = (8966112727530602749, 2312034391341482673, 11489148809328591217, 18)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (sfc(*SFC_0), sfc(*SFC_5), 5),
        (sfc(*SFC_5), sfc(*SFC_0), -5),
        (sfc(*SFC_0), sfc(*SFC_5[:3], 19), None),
        (sfc(*SFC_0), sfc(*SFC_0[:3], 14 + MAX_SFC_WORDS), None),
    ],
)
def test_a_chaotic_generator_by_literal_states(
    left: dict[str, Any], right: dict[str, Any], expected: int | None
) -> None:
    """Its fourth word says how far, the other three whether it is the same stream."""
    assert draws(left, right) == expected


@pytest.mark.parametrize("count", [0, 1, 622, 623, 624, 625, 10_000])
@pytest.mark.parametrize("begin", [0, 1, 624, 700])
def test_a_twister_across_its_blocks(begin: int, count: int) -> None:
    """A block has 624 words; where it ends makes no difference."""
    bits = np.random.MT19937(3)
    bits.random_raw(begin, output=False)
    before = bits.state
    bits.random_raw(count, output=False)
    assert draws(before, bits.state) == count
    assert draws(bits.state, before) == -count


def test_a_twister_beyond_its_bound_is_not_found() -> None:
    """The search ends; what lies farther is not told from another stream."""
    bits = np.random.MT19937(3)
    before = bits.state
    bits.random_raw(MAX_TWISTER_WORDS + 2 * 624, output=False)
    assert draws(before, bits.state) is None
    assert draws(before, np.random.MT19937(4).state) is None


def test_python_generators_in_every_form() -> None:
    """As ``getstate`` gives it, as a loop's component holds it, and with a normal held back."""
    own = random.Random(11)
    before = own.getstate()
    own.random()
    after = own.getstate()
    assert draws(listed(before), listed(after)) == 2
    forms = [
        {"version": version, "words": np.array(words, np.uint32), "gauss": gauss}
        for version, words, gauss in (before, after)
    ]
    assert draws(*forms) == 2
    own.gauss(0, 1)
    (row,) = distances({"rng": listed(after)}, {"rng": listed(own.getstate())})
    assert (row.draws, row.word_bits, row.remainder_equal) == (4, 32, False)
    again = random.Random(11)
    again.setstate(own.getstate())
    again.gauss(0, 1)
    (row,) = distances({"rng": listed(own.getstate())}, {"rng": listed(again.getstate())})
    assert (row.draws, row.remainder_equal, row.equal) == (0, False, False)


def test_random_state_in_both_forms() -> None:
    """NumPy's legacy generator, as a dict and as the tuple that JSON makes a list of."""
    legacy = np.random.RandomState(11)
    first, second = legacy.get_state(legacy=False), listed(legacy.get_state(legacy=True))
    legacy.random_sample(3)
    assert draws(first, legacy.get_state(legacy=False)) == 6
    assert draws(second, listed(legacy.get_state(legacy=True))) == 6
    legacy.standard_normal()
    (row,) = distances({"rng": first}, {"rng": legacy.get_state(legacy=False)})
    assert not row.remainder_equal


def torch_state(words: list[int], left: int, normal: float | None = None) -> Any:
    """What ``torch.get_rng_state`` of release 2.13 gives: 5056 bytes."""
    head = struct.pack("<QiiQ", 5, left, 1, 0)
    body = np.array(words, "<u8").tobytes() + bytes(32)
    held = struct.pack("<f?3x", normal or 0.0, normal is not None)
    return np.frombuffer(head + body + held, np.uint8)


def test_a_generator_of_pytorch() -> None:
    """``left`` counts what is left of the block, and 1 means that a new one is made next."""
    bits = np.random.MT19937(5)
    words = [bits.state["state"]["key"].tolist()]
    bits.random_raw(7, output=False)
    words.append(bits.state["state"]["key"].tolist())
    before, after = torch_state(words[0], 1), torch_state(words[1], 618)
    assert draws(before, after) == 7
    (row,) = distances({"t": before}, {"t": torch_state(words[0], 1, normal=0.5)})
    assert (row.draws, row.remainder_equal) == (0, False)


def test_half_a_word_is_held_back() -> None:
    """A draw of 32 bits keeps the other half for the next one; a stale half does not count."""
    generator = np.random.default_rng(1)
    before = generator.bit_generator.state
    generator.integers(0, 5, dtype=np.int32)
    half = generator.bit_generator.state
    generator.integers(0, 5, dtype=np.int32)
    whole = generator.bit_generator.state
    (row,) = distances({"rng": before}, {"rng": half})
    assert (row.draws, row.remainder_equal, row.equal) == (1, False, False)
    (row,) = distances({"rng": half}, {"rng": whole})
    assert (row.draws, row.remainder_equal, row.equal) == (0, False, False)
    (row,) = distances({"rng": whole}, {"rng": {**whole, "uinteger": 9}})
    assert (row.draws, row.remainder_equal, row.equal) == (0, True, True)


def test_generators_are_found_wherever_a_state_holds_them() -> None:
    """Under a name, spread over names with dots, in dicts and in lists, and nowhere else."""
    spread = {f"loader.rng.{key}": value for key, value in pcg(PCG_0).items()}
    state = {
        "sampler": pcg(PCG_0),
        **spread,
        "workers": [{"rng": pcg(PCG_3)}, pcg(PCG_0), 7],
        "weights": np.zeros(3),
        "history": [1.0, 2.0],
        "empty": [],
        "plain": 3,
    }
    found = generators_of(encode_state(state))
    assert list(found) == ["loader.rng", "sampler", "workers[0].rng", "workers[1]"]
    assert found["sampler"] == GeneratorState("PCG64", (PCG_0, INC))


def test_names_that_begin_with_another_name_are_both_looked_at() -> None:
    """A state may hold a value ``a`` and a value ``a.b``, in any of both forms."""
    state = {"a": 1, "a.rng": pcg(PCG_0), "b": {"x": 1}, "b.rng": pcg(PCG_3)}
    found = generators_of(encode_state(state))
    assert sorted(one.numbers[0] for one in found.values()) == [PCG_3, PCG_0]


def test_only_what_both_states_hold_is_compared() -> None:
    """Generators of one side alone are no distance; equal ones are told as 0."""
    left = {"a": pcg(PCG_0), "b": pcg(PCG_0), "c": 1}
    assert distances(left, {"b": pcg(PCG_0), "c": pcg(PCG_0)}) == (
        DrawDistance(generator="b", kind="PCG64", step=41, draws=0, word_bits=64),
    )
    assert distances({"w": np.zeros(2)}, {"w": np.ones(2)}) == ()


def test_the_number_of_generators_is_bounded() -> None:
    """A state of strangers may hold any number of them."""
    many = {f"g{k:03}": pcg(PCG_0) for k in range(MAX_GENERATORS + 1)}
    rows = distances(many, many)
    assert len(rows) == MAX_GENERATORS
    assert rows[-1].generator == "g063"


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "PCG64",
        np.zeros(5056, np.float64),
        np.zeros(5055, np.uint8),
        np.zeros(5056, np.uint8),
        {"bit_generator": "PCG64"},
        {"bit_generator": "PCG64", "state": 3},
        {"bit_generator": "Unknown", "state": {"state": 1, "inc": 1}},
        {"bit_generator": ["PCG64"], "state": {"state": 1, "inc": 1}},
        pcg(PCG_0, inc=INC + 1),
        pcg(2**128),
        pcg(-1),
        pcg(PCG_0) | {"state": {"state": 1.5, "inc": 1}},
        philox(0, 5),
        philox(0, 4) | {"state": {"counter": [0, 0, 0], "key": [1, 2]}},
        sfc(1, 2, 3),
        [3, list(range(624)), None],
        [3, [*range(624), 625], None],
        [3, [*range(624), -1], None],
        [3, 7, None],
        ["MT19937", list(range(624)), 700, 0, 0.0],
        ["MT19937", [0.5] * 624, 1, 0, 0.0],
        {"version": 9, "words": np.zeros(625, np.uint32), "gauss": None},
        {"bit_generator": "MT19937", "state": {"key": np.zeros(3, np.uint32), "pos": 1}},
    ],
)
def test_what_is_no_generator_is_none(value: object) -> None:
    """Malformed states of strangers are passed over, and nothing is raised."""
    assert read_generator(value) is None


def test_a_distance_needs_one_algorithm() -> None:
    """States of two algorithms are not of one stream."""
    twister = read_generator(np.random.MT19937(1).state)
    other = read_generator(np.random.PCG64(1).state)
    assert twister is not None
    assert other is not None
    assert words_between(twister, other) is None
    assert (twister.word_bits, other.word_bits) == (32, 64)
