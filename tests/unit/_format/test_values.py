"""Single values: the parts that states, logs and configurations share (more in test_state)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repropack._format.values import (
    ValueEncoder,
    check_references,
    decode_checked,
    decode_value,
    encode_value,
    is_encoded_number,
)
from repropack.errors import PackageFormatError

NUMBERS: list[tuple[dict[str, Any], bool]] = [
    ({"$int": "9007199254740992"}, True),
    ({"$int": "-9007199254740992"}, True),
    ({"$int": "10000000000000000"}, True),
    ({"$int": "9007199254740991"}, False),
    ({"$int": "-9007199254740991"}, False),
    ({"$int": ""}, False),
    ({"$int": "-"}, False),
    ({"$int": None}, False),
    ({"$float": "nan"}, True),
    ({"$float": "inf"}, True),
    ({"$float": "-inf"}, True),
    ({"$float": "-nan"}, False),
    ({"$float": "nan:fff8000000000000"}, True),
    ({"$float": "nan:7ff0000000000001"}, True),
    ({"$float": "nan:7ff0000000000000"}, False),
    ({"$float": "nan:7ff8000000000000"}, False),
    ({"$array": "v#1"}, False),
    ({"x": "nan"}, False),
    ({}, False),
    ({"$float": "nan", "$int": "9007199254740992"}, False),
]


@pytest.mark.parametrize(("value", "expected"), NUMBERS, ids=str)
def test_numbers_have_one_spelling(value: dict[str, Any], expected: bool) -> None:
    """A number beyond JSON is written in one way; whatever else looks like one is none."""
    assert is_encoded_number(value) is expected


def test_arrays_are_collected_and_put_back() -> None:
    """The encoder leaves a reference where an array was, and decoding puts a copy there."""
    encoder = ValueEncoder("v")
    encoded = encoder.encode([np.array([1, 2]), {"a": np.array(3)}])
    assert encoded == [{"$array": "v#1"}, {"a": {"$array": "v#2"}}]
    assert check_references("v", encoded) == 2
    decoded = decode_checked(encoded, encoder.arrays)
    assert (decoded[0].tolist(), decoded[1]["a"].tolist()) == ([1, 2], 3)
    assert decoded[0] is not encoder.arrays["v#1"]


def test_counting_goes_on_from_the_arrays_before() -> None:
    """The references of a value's parts are numbered through."""
    assert check_references("v", {"$array": "v#4"}, count=3) == 4
    with pytest.raises(PackageFormatError, match=r"observed {'\$array': 'v#4'}"):
        check_references("v", {"$array": "v#4"}, count=4)


def test_a_single_value_refers_to_no_array() -> None:
    """A configuration value that names an array is malformed, even in the one form of a state."""
    with pytest.raises(PackageFormatError) as caught:
        decode_value("rate", [{"$array": "rate#1"}])
    assert str(caught.value) == "value 'rate': expected no array, observed one"


def test_messages_are_short_and_name_the_value() -> None:
    """A malformed value of any size is quoted in part."""
    with pytest.raises(PackageFormatError) as caught:
        decode_value("rate", {"$int": "1" * 10**6, "x": 1})
    assert str(caught.value).startswith("value 'rate': expected an encoded value, observed {'$int'")
    assert len(str(caught.value)) < 200


def test_encoding_leaves_plain_values_as_they_are() -> None:
    """What JSON can hold is stored as it is."""
    value: dict[str, Any] = {"a": [1, 1.5, True, None, "x", {}]}
    assert encode_value("v", value) == value
    assert decode_value("v", value) == value
