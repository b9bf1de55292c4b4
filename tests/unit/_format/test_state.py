"""States in their one encoded form: what survives, what is refused, what is fingerprinted."""

from __future__ import annotations

import enum
import hashlib
import math
import struct
import sys
import time
from collections import OrderedDict, namedtuple
from io import BytesIO
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from repropack._format.checkpoints import checkpoint_bytes, describe_state, read_state, write_state
from repropack._format.log import CHAIN_START
from repropack._format.schemas import read_document
from repropack._format.state import (
    EncodedState,
    check_encoded,
    check_name,
    component_of,
    decode_state,
    decode_value,
    encode_state,
    encode_value,
    fingerprint_components,
)
from repropack._format.values import MAX_VALUE_DEPTH
from repropack.errors import PackageFormatError, StateError, UnsupportedDtypeError
from repropack.models.checkpoint import Checkpoint
from tests.support.exact import is_exactly


def through_files(state: dict[str, Any]) -> dict[str, Any]:
    """The state after a checkpoint was written, read and decoded."""
    encoded = encode_state(state)
    npz = BytesIO()
    write_state(npz, encoded)
    data = checkpoint_bytes(describe_state(encoded), step=3, chain=CHAIN_START)
    document = read_document(Checkpoint, data, where="c.json")
    return decode_state(read_state(BytesIO(npz.getvalue()), document, where="c.npz"))


# ---------------------------------------------------------------- generators

GENERATORS = ["PCG64", "PCG64DXSM", "Philox", "MT19937", "SFC64"]


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_continues_its_stream_exactly(name: str) -> None:
    """A bit generator's state survives a checkpoint, and the stream goes on as it would."""
    generator = getattr(np.random, name)(7)
    generator.random_raw(1001)
    np.random.Generator(generator).integers(0, 2**32, dtype=np.uint32)  # half a word is left over
    before = generator.state
    restored = through_files({"sampler": before})
    assert is_exactly(restored, {"sampler": before})
    expected = generator.random_raw(2000)
    other = getattr(np.random, name)(8)
    other.state = restored["sampler"]
    assert np.array_equal(other.random_raw(2000), expected)


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_state_is_not_reached_by_later_draws(name: str) -> None:
    """Encoding copies: drawing on changes nothing that was encoded."""
    generator = getattr(np.random, name)(7)
    encoded = encode_state({"sampler": generator.state})
    before = fingerprint_components(encoded)
    generator.random_raw(1000)
    assert fingerprint_components(encoded) == before
    assert fingerprint_components(encode_state({"sampler": generator.state})) != before


def test_a_generator_of_the_standard_library_survives_as_lists() -> None:
    """``random.getstate()`` holds tuples; written as lists it is stored and set back."""
    import random

    source = random.Random(7)
    version, words, gauss = source.getstate()
    restored = through_files({"python": [version, list(words), gauss]})["python"]
    expected = [source.random() for _ in range(700)]
    other = random.Random(8)
    other.setstate((restored[0], tuple(restored[1]), restored[2]))
    assert [other.random() for _ in range(700)] == expected


# ---------------------------------------------------------------- values that survive

INTEGERS = {
    "zero": 0,
    "largest-plain": 2**53 - 1,
    "smallest-plain": -(2**53 - 1),
    "first-encoded": 2**53,
    "first-encoded-negative": -(2**53),
    "sixteen-nines": 10**16 - 1,
    "ten-to-sixteen": 10**16,
    "word": 2**64,
    "pcg": 2**128 - 1,
    "599-digits": 10**599 - 1,
    "600-digits": 10**599,
    "601-digits": -(10**600),
    "4300-digits": 10**4300 - 1,
    "4301-digits": 10**4300,
    "zeros-within": 10**9000 + 7,
    "many-digits": 3**30000,
    "many-digits-negative": -(7**20000),
    "power-of-two": 2**50000,
}


@pytest.mark.parametrize("value", INTEGERS.values(), ids=INTEGERS.keys())
def test_integers_of_any_size_survive(value: int) -> None:
    """An integer comes back equal and as an integer, however many digits it has."""
    restored = through_files({"n": value})["n"]
    assert type(restored) is int
    assert restored == value


def test_integers_survive_the_strictest_limit_on_digits() -> None:
    """The interpreter's limit on digits, which users may lower to 640, is never met."""
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(640)
        assert decode_value("n", encode_value("n", 7**9999)) == 7**9999
        assert decode_value("n", encode_value("n", -(10**641))) == -(10**641)
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (2**53 - 1, 9007199254740991),
        (2**53, {"$int": "9007199254740992"}),
        (-(2**53), {"$int": "-9007199254740992"}),
        (2**64, {"$int": "18446744073709551616"}),
    ],
)
def test_integers_are_encoded_as_the_format_says(value: int, encoded: Any) -> None:
    """Past 2**53 - 1 an integer is text."""
    assert encode_value("n", value) == encoded


FLOATS = {
    "one": 0x3FF0000000000000,
    "zero": 0x0000000000000000,
    "minus-zero": 0x8000000000000000,
    "smallest-subnormal": 0x0000000000000001,
    "largest-subnormal": 0x800FFFFFFFFFFFFF,
    "smallest-normal": 0x0010000000000000,
    "largest": 0x7FEFFFFFFFFFFFFF,
    "infinity": 0x7FF0000000000000,
    "minus-infinity": 0xFFF0000000000000,
    "nan": 0x7FF8000000000000,
    "minus-nan": 0xFFF8000000000000,
    "nan-payload": 0x7FF8000000000001,
    "nan-all-ones": 0xFFFFFFFFFFFFFFFF,
    "nan-signalling": 0x7FF0000000000001,
    "one-tenth": 0x3FB999999999999A,
    "integral": 0x4340000000000000,
}


@pytest.mark.parametrize("bits", FLOATS.values(), ids=FLOATS.keys())
def test_floats_survive_bit_for_bit(bits: int) -> None:
    """Every float comes back with its bits, NaN payloads and signs included."""
    value = struct.unpack(">d", bits.to_bytes(8, "big"))[0]
    restored = through_files({"x": [value]})["x"][0]
    assert type(restored) is float
    assert struct.pack(">d", restored).hex() == f"{bits:016x}"


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (1.0, 1.0),
        (math.nan, {"$float": "nan"}),
        (math.inf, {"$float": "inf"}),
        (-math.inf, {"$float": "-inf"}),
        (-math.nan, {"$float": "nan:fff8000000000000"}),
    ],
)
def test_floats_are_encoded_as_the_format_says(value: float, encoded: Any) -> None:
    """A float that JSON does not have is text."""
    assert encode_value("x", value) == encoded


def test_types_survive_beside_each_other() -> None:
    """One, one point zero, true and the text of one are four values."""
    state = {"v": [1, 1.0, True, "1", 0, 0.0, -0.0, False, None, "", [], {}, {"": {"": []}}]}
    assert is_exactly(through_files(state), state)


def test_arrays_survive_at_any_depth() -> None:
    """Arrays come back with type, shape and bits wherever a value holds them."""
    state = {
        "w": np.array([1, -0.0], "f4"),
        "opt.slots": [{"m": np.zeros((2, 0)), "a": np.array(3)}, [np.array([1j])], None],
        "opt.t": np.int64(5),
    }
    assert is_exactly(through_files(state), state)


def test_restored_arrays_are_writable_copies() -> None:
    """An experiment may work in place on what it is given, without reaching the encoded state."""
    encoded = encode_state({"w": np.zeros(2), "v": {"a": np.zeros(2)}})
    restored = decode_state(encoded)
    restored["w"][0] = restored["v"]["a"][0] = 1
    assert is_exactly(decode_state(encoded)["w"], np.zeros(2))
    assert is_exactly(decode_state(encoded)["v"]["a"], np.zeros(2))


@pytest.mark.parametrize("layout", ["plain", "view", "fortran", "big-endian"])
def test_encoded_arrays_are_copies(layout: str) -> None:
    """Changing an array in place afterwards changes nothing of the encoded state."""
    array = np.arange(6.0).reshape(2, 3)
    if layout == "view":
        array = np.arange(12.0).reshape(4, 3)[::2]
    elif layout == "fortran":
        array = np.asfortranarray(array)
    elif layout == "big-endian":
        array = array.astype(">f8")
    encoded = encode_state({"w": array, "v": [array]})
    before = {name: stored.tobytes() for name, stored in encoded.arrays.items()}
    array[:] = -1
    assert {name: stored.tobytes() for name, stored in encoded.arrays.items()} == before


def test_encoded_values_are_copies() -> None:
    """Changing a list or dict afterwards changes nothing of the encoded state."""
    value: dict[str, Any] = {"a": [1, {"b": 2}]}
    encoded = encode_state({"v": value})
    value["a"][1]["b"] = 3
    value["a"].append(4)
    value["c"] = 5
    assert encoded.values == {"v": {"a": [1, {"b": 2}]}}


class _Colour(str, enum.Enum):  # noqa: UP042 - its str() is not its value
    RED = "red"


class _Level(enum.IntEnum):
    HIGH = 2**60


class _Fraction(float):
    pass


def test_subclasses_are_stored_by_their_value() -> None:
    """An enumeration of texts is stored as its text, not as its name."""
    state = {"c": [_Colour.RED, _Level.HIGH, _Fraction(0.5)], "d": OrderedDict(b=1, a=2)}
    state["e"] = {_Colour.RED: 1}
    expected = {"c": ["red", 2**60, 0.5], "d": {"a": 2, "b": 1}, "e": {"red": 1}}
    restored = through_files(state)
    assert is_exactly(restored, expected)
    assert type(next(iter(restored["e"]))) is str


def test_any_mapping_is_a_state() -> None:
    """``state_dict`` may return a read-only mapping."""
    assert encode_state(MappingProxyType({"a": 1})).values == {"a": 1}


def test_names_and_arrays_are_sorted() -> None:
    """The order in which a state was put together leaves no trace."""
    encoded = encode_state({"b": 1, "a.c": np.zeros(1), "a": [np.zeros(1)] * 11, "B": 2})
    assert encoded.names() == ("B", "a", "a.c", "b")
    assert list(encoded.arrays) == sorted(["a.c", *(f"a#{k}" for k in range(1, 12))])
    assert list(encoded.values) == ["B", "a", "b"]


def test_nested_arrays_are_counted_in_the_order_of_sorted_keys() -> None:
    """``name#k`` follows the sorted keys of dicts and the order of lists."""
    value = {"z": np.array(3), "a": [np.array(1), np.array(2)]}
    encoded = encode_state({"v": value})
    assert encoded.values == {
        "v": {"a": [{"$array": "v#1"}, {"$array": "v#2"}], "z": {"$array": "v#3"}}
    }
    assert [int(encoded.arrays[f"v#{k}"]) for k in (1, 2, 3)] == [1, 2, 3]


def test_a_name_that_begins_like_another_does_not_disturb_its_count() -> None:
    """``a`` and ``a.b`` are counted apart."""
    encoded = encode_state({"a": [np.array(1)], "a.b": [np.array(2)], "aa": [np.array(3)]})
    assert set(encoded.arrays) == {"a#1", "a.b#1", "aa#1"}


def test_many_nested_arrays_are_encoded_in_linear_time() -> None:
    """Twenty thousand arrays in one value take seconds, not minutes."""
    array = np.zeros(1)
    start = time.process_time()
    encoded = encode_state({"v": [array] * 20_000})
    assert time.process_time() - start < 5
    assert len(encoded.arrays) == 20_000


# ---------------------------------------------------------------- what is refused

_Pair = namedtuple("_Pair", "a b")  # noqa: PYI024 - what third parties still use
EXPECTED_VALUES = (
    "expected an array, a number, text, true, false, none, or lists and dicts of those"
)


class _Thing:
    pass


REFUSED_VALUES = {
    "tuple": ((1, 2), "'a.b': holds a tuple, which JSON would give back as a list"),
    "tuple-within": (
        {"x": [0, (1,)]},
        "'a.b': holds a tuple at ['x'][1], which JSON would give back as a list",
    ),
    "namedtuple": (_Pair(1, 2), "'a.b': holds a tuple, which JSON would give back as a list"),
    "set": ({1}, f"'a.b': holds an object of type set: {EXPECTED_VALUES}"),
    "frozenset": (frozenset(), f"'a.b': holds an object of type frozenset: {EXPECTED_VALUES}"),
    "bytes": ([b"x"], f"'a.b': holds an object of type bytes at [0]: {EXPECTED_VALUES}"),
    "complex": (1j, f"'a.b': holds an object of type complex: {EXPECTED_VALUES}"),
    "object": (_Thing(), f"'a.b': holds an object of type {__name__}._Thing: {EXPECTED_VALUES}"),
    "class": (int, f"'a.b': holds an object of type type: {EXPECTED_VALUES}"),
    "mapping": (
        MappingProxyType({}),
        f"'a.b': holds an object of type mappingproxy: {EXPECTED_VALUES}",
    ),
    "integer-key": ({"x": {1: 2}}, "'a.b': has the key 1 at ['x']: expected text"),
    "none-key": ({None: 2}, "'a.b': has the key None: expected text"),
    "tuple-key": ({(1, 2): 2}, "'a.b': has the key (1, 2): expected text"),
    "bytes-key": ({b"x": 2}, "'a.b': has the key b'x': expected text"),
    "dollar-key": ({"$array": "a.b#1"}, "'a.b': has the key '$array': keys with $ are reserved"),
    "dollar-key-within": (
        [{"$": 1}],
        "'a.b': has the key '$' at [0]: keys with $ are reserved",
    ),
    "surrogate": ("x\ud800", "'a.b': holds text with a lone surrogate"),
    "surrogate-within": (["", "\udfff"], "'a.b': holds text with a lone surrogate at [1]"),
    "surrogate-key": ({"\ud800": 1}, "'a.b': holds text with a lone surrogate"),
}


@pytest.mark.parametrize(("value", "message"), REFUSED_VALUES.values(), ids=REFUSED_VALUES.keys())
def test_what_would_not_survive_is_refused(value: Any, message: str) -> None:
    """A value that JSON would give back as another is refused, by name and place."""
    with pytest.raises(StateError) as caught:
        encode_state({"a.a": 1, "a.b": value})
    assert str(caught.value) == message
    assert caught.value.name == "a.b"


def test_a_tuple_comes_with_advice() -> None:
    """The commonest mistake says what to do instead."""
    with pytest.raises(StateError) as caught:
        encode_state({"a": (1,)})
    assert caught.value.hint == "store a list, and make a tuple of it where one is needed"


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([object()]), "object"),
        (np.array(["x"]), "<U1"),
        (np.str_("x"), "<U1"),
        (np.datetime64(0, "s"), "datetime64[s]"),
        (np.ma.masked_array([1], [True]), "masked int64"),
    ],
    ids=["object", "text", "text-scalar", "date", "masked"],
)
def test_arrays_of_other_types_are_refused_with_their_place(array: Any, dtype: str) -> None:
    """The error names the value, where in it the array is, and the array's type."""
    with pytest.raises(UnsupportedDtypeError) as caught:
        encode_state({"a": {"x": [array]}})
    assert (caught.value.name, caught.value.dtype) == ("a['x'][0]", dtype)
    with pytest.raises(UnsupportedDtypeError) as caught:
        encode_state({"a": array})
    assert (caught.value.name, caught.value.dtype) == ("a", dtype)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_nesting_is_limited_exactly() -> None:
    """48 levels survive a checkpoint, 49 are refused."""
    state = {"v": nested(MAX_VALUE_DEPTH)}
    assert is_exactly(through_files(state), state)
    with pytest.raises(StateError, match="'v': is nested deeper than 48 levels"):
        encode_state({"v": nested(MAX_VALUE_DEPTH + 1)})


def test_an_array_at_the_greatest_depth_survives() -> None:
    """The reference that an array leaves does not count as a level."""
    state = {"v": nested(MAX_VALUE_DEPTH - 1)}
    innermost = state["v"]
    while isinstance(innermost[0], list):
        innermost = innermost[0]
    innermost[0] = [np.zeros(1), 2**64]
    assert is_exactly(through_files(state), state)


def test_a_value_that_contains_itself_is_refused() -> None:
    """A cycle ends in an error that names the value."""
    value: list[Any] = []
    value.append({"again": value})
    with pytest.raises(StateError, match="'v': is nested deeper"):
        encode_state({"v": value})


@pytest.mark.parametrize("state", [None, [], [("a", 1)], "a", 1], ids=repr)
def test_a_state_is_a_mapping(state: Any) -> None:
    """``state_dict`` that returns something else is told so."""
    with pytest.raises(StateError) as caught:
        encode_state(state)
    assert str(caught.value) == (
        f"'state': expected a mapping of names, observed {type(state).__name__}"
    )


BAD_NAMES = [
    "",
    ".a",
    "-a",
    "+a",
    "a b",
    "a#1",
    "a/b",
    "é",
    "a\n",
    "\ud800",
    "$a",
    "a.npy",
    "a" * 201,
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_names_of_other_characters_are_refused(name: str) -> None:
    """A state name that could be no array's name is refused."""
    with pytest.raises(StateError) as caught:
        encode_state({name: 1})
    assert caught.value.problem == (
        "is no state name: expected 1 to 200 of A-Z a-z 0-9 _ . + - (not starting with . + - or "
        f"ending in .npy), observed {name[:80]!r}"
    )


@pytest.mark.parametrize("name", [1, None, b"a", ("a",)], ids=repr)
def test_names_are_text(name: Any) -> None:
    """A key of another type is refused as a name."""
    with pytest.raises(StateError, match="is no state name"):
        encode_state({"a": 1, name: 1})


@pytest.mark.parametrize("name", ["a", "0", "_", "adam.m", "a..b", "A-b+c_d.9", "a" * 200])
def test_valid_names_are_returned(name: str) -> None:
    """Every name of the permitted characters is a name."""
    assert check_name(name, "stage") == name


@pytest.mark.parametrize(
    ("name", "component"),
    [
        ("w", "w"),
        ("adam.m", "adam"),
        ("adam.m.x", "adam"),
        ("s#12", "s"),
        ("a.b#1", "a"),
        ("a.", "a"),
    ],
)
def test_a_component_is_what_stands_before_the_first_dot(name: str, component: str) -> None:
    """Arrays within values belong to the component of their value."""
    assert component_of(name) == component


def test_a_single_value_holds_no_array() -> None:
    """A configuration value or a metric cannot be an array."""
    with pytest.raises(StateError) as caught:
        encode_value("rate", [np.float32(0.1)])
    assert str(caught.value) == "'rate': expected a JSON value, observed an array"


# ---------------------------------------------------------------- one form, and no other

MALFORMED = {
    "int-plain": {"$int": "1"},
    "int-largest-plain": {"$int": "9007199254740991"},
    "int-plain-negative": {"$int": "-9007199254740991"},
    "int-leading-zero": {"$int": "09007199254740992"},
    "int-plus": {"$int": "+9007199254740992"},
    "int-spaces": {"$int": " 9007199254740992"},
    "int-underscore": {"$int": "9_007_199_254_740_992"},
    "int-newline": {"$int": "9007199254740992\n"},
    "int-other-digits": {"$int": "٩٠٠٧١٩٩٢٥٤٧٤٠٩٩٢"},
    "int-number": {"$int": 9007199254740991},
    "float-number": {"$float": 1.0},
    "float-finite": {"$float": "1.0"},
    "float-capital": {"$float": "NaN"},
    "float-plus": {"$float": "+inf"},
    "float-long": {"$float": "infinity"},
    "float-canonical-nan": {"$float": "nan:7ff8000000000000"},
    "float-infinity-bits": {"$float": "nan:7ff0000000000000"},
    "float-minus-infinity-bits": {"$float": "nan:fff0000000000000"},
    "float-finite-bits": {"$float": "nan:3ff0000000000000"},
    "float-capital-bits": {"$float": "nan:7FF8000000000001"},
    "float-short-bits": {"$float": "nan:7ff800000000001"},
    "float-newline": {"$float": "nan\n"},
    "unknown": {"$date": "2026-01-01"},
    "dollar": {"$": 1},
    "two-members": {"$int": "9007199254740992", "a": 1},
    "two-kinds": {"$int": "9007199254740992", "$float": "nan"},
    "array": {"$array": "v#1"},
    "array-number": {"$array": 1},
    "integer": 2**53,
    "not-finite": math.inf,
    "surrogate": "\ud800",
    "other-type": (1,),
}


@pytest.mark.hostile
@pytest.mark.parametrize("value", MALFORMED.values(), ids=MALFORMED.keys())
def test_another_spelling_of_a_value_is_refused(value: Any) -> None:
    """Two encodings of one value would have two fingerprints: there is one, others are refused."""
    for encoded in (value, [value], {"a": {"b": value}}):
        with pytest.raises(PackageFormatError, match=r"^value 'v': expected "):
            decode_value("v", encoded)
        with pytest.raises(PackageFormatError, match=r"^value 'v': expected "):
            decode_state(EncodedState({}, {"v": encoded}))


A = np.zeros(1)
CONFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "missing": ({}, {"v": {"$array": "v#1"}}, "value 'v': expected array 'v#1', observed none"),
    "missing-second": (
        {"v#1": A},
        {"v": [{"$array": "v#1"}, {"$array": "v#2"}]},
        "value 'v': expected array 'v#2', observed none",
    ),
    "unreferenced": (
        {"v#1": A},
        {"v": 1},
        "array 'v#1': expected a value that names it, observed none",
    ),
    "unreferenced-without-value": (
        {"v#1": A},
        {},
        "array 'v#1': expected a value that names it, observed none",
    ),
    "nested-in-an-array": (
        {"w": A, "w#1": A},
        {},
        "array 'w#1': expected a value that names it, observed none",
    ),
    "of-another-value": (
        {"u#1": A},
        {"u": {"$array": "u#1"}, "v": {"$array": "u#1"}},
        "value 'v': expected an encoded value, observed {'$array': 'u#1'}",
    ),
    "plain-array": (
        {"w": A},
        {"v": {"$array": "w"}},
        "value 'v': expected an encoded value, observed {'$array': 'w'}",
    ),
    "twice": (
        {"v#1": A},
        {"v": [{"$array": "v#1"}, {"$array": "v#1"}]},
        "value 'v': expected an encoded value, observed {'$array': 'v#1'}",
    ),
    "out-of-order": (
        {"v#1": A, "v#2": A},
        {"v": [{"$array": "v#2"}, {"$array": "v#1"}]},
        "value 'v': expected an encoded value, observed {'$array': 'v#2'}",
    ),
    "out-of-key-order": (
        {"v#1": A, "v#2": A},
        {"v": {"b": {"$array": "v#1"}, "a": {"$array": "v#2"}}},
        "value 'v': expected an encoded value, observed {'$array': 'v#2'}",
    ),
    "from-zero": (
        {"v#0": A},
        {"v": {"$array": "v#0"}},
        "value 'v': expected an encoded value, observed {'$array': 'v#0'}",
    ),
    "both": ({"v": A}, {"v": 1}, "value 'v': expected one value, observed an array too"),
    "value-name": ({}, {"a b": 1}, "state: expected a state name, observed 'a b'"),
    "value-name-nested": ({}, {"v#1": 1}, "state: expected a state name, observed 'v#1'"),
    "value-name-empty": ({}, {"": 1}, "state: expected a state name, observed ''"),
    "array-name": ({"-w": A}, {}, "state: expected a state name, observed '-w'"),
    "deep": ({}, {"v": nested(49)}, "value 'v': expected at most 48 levels, observed more"),
}


@pytest.mark.hostile
@pytest.mark.parametrize(("arrays", "values", "message"), CONFUSED.values(), ids=CONFUSED.keys())
def test_arrays_and_values_that_do_not_belong_together_are_refused(
    arrays: dict[str, Any], values: dict[str, Any], message: str
) -> None:
    """No array of a stored state escapes its component's fingerprint, or serves two values."""
    with pytest.raises(PackageFormatError) as caught:
        check_encoded(EncodedState(arrays, values))
    assert str(caught.value) == message
    with pytest.raises(PackageFormatError):
        decode_state(EncodedState(arrays, values))


@pytest.mark.hostile
def test_a_hostile_integer_is_checked_without_converting_it() -> None:
    """Millions of digits are looked at, not computed with."""
    start = time.process_time()
    check_encoded(EncodedState({}, {"v": {"$int": "9" * 5_000_000}}))
    assert time.process_time() - start < 2


# ---------------------------------------------------------------- components


def by_hand(rows: bytes) -> str:
    """DESIGN.md: SHA-256 of ``repropack.state.v1\\n`` and the canonical JSON of the rows."""
    return "sha256:" + hashlib.sha256(b"repropack.state.v1\n" + rows + b"\n").hexdigest()


def array_by_hand(dtype: bytes, shape: bytes, elements: bytes) -> bytes:
    data = b"repropack.array.v1\n" + dtype + b"\n" + shape + b"\n" + elements
    return b"sha256:" + hashlib.sha256(data).hexdigest().encode()


def test_component_fingerprints_by_hand() -> None:
    """Component fingerprints can be computed from the reference document alone."""
    state = {
        "weights": np.array([1, 2], "f4"),
        "adam.updates": 3,
        "adam.first_moment": np.zeros((2, 1)),
        "sampler": {"state": {"key": np.array([7], "u1"), "pos": 2**64}, "kind": "é"},
    }
    weights = array_by_hand(b"<f4", b"2", struct.pack("<ff", 1, 2))
    moment = array_by_hand(b"<f8", b"2,1", bytes(16))
    key = array_by_hand(b"|u1", b"1", b"\x07")
    assert fingerprint_components(encode_state(state)) == (
        ("adam", by_hand(b'[["adam.first_moment",{"$array":"%s"}],["adam.updates",3]]' % moment)),
        (
            "sampler",
            by_hand(
                '[["sampler",{"kind":"é","state":{"key":{"$array":"'.encode()
                + key
                + b'"},"pos":{"$int":"18446744073709551616"}}}]]'
            ),
        ),
        ("weights", by_hand(b'[["weights",{"$array":"%s"}]]' % weights)),
    )


def test_one_component_fingerprint_as_a_literal() -> None:
    """One value is written down, so that neither side of the other tests can drift alone."""
    assert fingerprint_components(encode_state({"adam.t": 1, "adam.rate": 0.5})) == (
        ("adam", "sha256:a9d03080382d35243f857d8acecbc98b4e4b42409d0d0bf793a1692cb5ceba8c"),
    )


def test_an_empty_state_has_no_components() -> None:
    """An experiment may keep nothing."""
    assert fingerprint_components(encode_state({})) == ()


def component(value: Any, name: str = "v") -> str:
    return dict(fingerprint_components(encode_state({name: value})))["v"]


ARRAY = np.zeros(2)
ARRAY_FINGERPRINT = array_by_hand(b"<f8", b"2", bytes(16)).decode()
DISTINCT: list[Any] = [
    ARRAY,
    ARRAY_FINGERPRINT,
    [ARRAY],
    [[ARRAY]],
    {"a": ARRAY},
    [ARRAY, ARRAY],
    [ARRAY_FINGERPRINT],
    {"array": ARRAY_FINGERPRINT},
    "v#1",
    '{"$array":"v#1"}',
    np.zeros(2, "f4"),
    np.float64(0),
    np.zeros(1),
    0,
    0.0,
    -0.0,
    1,
    1.0,
    "1",
    True,
    False,
    None,
    "",
    [],
    {},
    [[]],
    [{}],
    {"": None},
    2**64,
    str(2**64),
    float(2**64),
    math.nan,
    -math.nan,
    "nan",
    math.inf,
    -math.inf,
    "inf",
    [1, 2],
    [2, 1],
    [[1], 2],
    {"a": 1, "b": 2},
    {"a": 2, "b": 1},
    "é",
    "e\u0301",
]


def test_different_values_have_different_fingerprints() -> None:
    """No two of these can be confused; above all not an array with the text of its fingerprint."""
    found = [component(value) for value in DISTINCT]
    assert len(set(found)) == len(DISTINCT)


def test_a_name_is_part_of_its_component() -> None:
    """The same values under other names are another state."""
    assert len({component(1, name) for name in ("v", "v.a", "v.b", "v.a.b")}) == 4


def test_the_order_of_keys_leaves_no_trace() -> None:
    """Dicts and states are unordered."""
    left = encode_state({"v.a": {"x": A, "y": 1}, "v.b": 2})
    right = encode_state({"v.b": 2, "v.a": {"y": 1, "x": A}})
    assert fingerprint_components(left) == fingerprint_components(right)


def test_a_change_shows_in_its_component_alone() -> None:
    """Components are fingerprinted apart, nested arrays with their value."""
    state: dict[str, Any] = {"a.x": np.zeros(2), "a.y": [np.zeros(2)], "b": np.zeros(2), "ab": 1}
    before = dict(fingerprint_components(encode_state(state)))
    assert list(before) == ["a", "ab", "b"]
    for name, changed, value in (
        ("a.x", "a", np.ones(2)),
        ("a.y", "a", [np.ones(2)]),
        ("b", "b", np.ones(2)),
        ("ab", "ab", 2),
    ):
        after = dict(fingerprint_components(encode_state({**state, name: value})))
        assert {key for key in before if before[key] != after[key]} == {changed}


def test_known_fingerprints_are_not_computed_again() -> None:
    """Fingerprints that are at hand are taken as they are."""
    encoded = encode_state({"w": A})
    known = {"w": "sha256:" + "0" * 64}
    assert fingerprint_components(encoded, known) == (
        ("w", by_hand(b'[["w",{"$array":"sha256:' + b"0" * 64 + b'"}]]')),
    )
