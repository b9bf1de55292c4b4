"""One value of a state as JSON that every reader reads alike: numbers beyond JSON, arrays apart.

Integers past 2**53 - 1 become ``{"$int": "..."}``, floats that are not finite ``{"$float": ...}``,
arrays ``{"$array": "<name>#<k>"}``. Each value has one encoded form; every other is refused.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from repropack._format.canonical import is_unicode
from repropack._format.npy import canonical_array
from repropack.errors import PackageFormatError, StateError
from repropack.models.base import MAX_SAFE_INTEGER
from repropack.refusals import refusal

MAX_VALUE_DEPTH = 48
"""Lists and dicts within each other in one value; less than ``Limits.max_json_depth``, because
documents hold values a few levels deep."""

_INTEGER = re.compile(r"-?[1-9][0-9]{15,}")
_FLOAT = re.compile(r"nan|inf|-inf|nan:[7f]ff[0-9a-f]{13}")
_NOT_NAN = frozenset({"nan:7ff0000000000000", "nan:fff0000000000000"})
_CANONICAL_NAN = "7ff8000000000000"
_CHUNK_DIGITS = 600
"""Less than the smallest limit that ``sys.set_int_max_str_digits`` accepts."""


def encode_value(name: str, value: object) -> Any:
    """Encode one JSON value that holds no array, such as a configuration value or a metric.

    Args:
        name: What the value is called, for error messages only.
        value: ``None``, bool, any int, any float, text, or lists and dicts of those.

    Returns:
        The encoded value.

    Raises:
        StateError: the value cannot be stored as JSON.
        UnsupportedDtypeError: it holds an array of a type that could not be stored either.

    Example:
        >>> encode_value("seed", 2**64)
        {'$int': '18446744073709551616'}
    """
    encoder = ValueEncoder(name)
    encoded = encoder.encode(value)
    if encoder.arrays:
        raise StateError(name, "expected a JSON value, observed an array")
    return encoded


def decode_value(name: str, value: object) -> Any:
    """Decode one encoded value that holds no array.

    Args:
        name: What the value is called, for error messages only.
        value: The encoded value.

    Returns:
        What ``encode_value`` was given.

    Raises:
        PackageFormatError: the value is malformed.
    """
    if check_references(name, value):
        raise PackageFormatError(refusal("state.value", "", f"value {name!r}", "no array", "one"))
    return decode_checked(value, {})


class ValueEncoder:
    """Encodes one value and collects the arrays in it.

    Attributes:
        arrays: Copies in canonical form under ``<name>#<k>``, counted from 1.
    """

    def __init__(self, name: str) -> None:
        """Prepare one value.

        Args:
            name: The value's name in its state.
        """
        self._name = name
        self.arrays: dict[str, npt.NDArray[Any]] = {}

    def encode(self, value: object, place: str = "", depth: int = 0) -> Any:
        """Encode the value, or a part of it.

        Args:
            value: The value or part.
            place: Where in the value the part is, such as ``['state'][0]``.
            depth: How many lists and dicts it lies in.

        Returns:
            The encoded part.

        Raises:
            StateError: it cannot be stored; names the value and the place in it.
            UnsupportedDtypeError: an array of a type that cannot be stored.
        """
        if isinstance(value, np.ndarray | np.generic):
            key = f"{self._name}#{len(self.arrays) + 1}"
            self.arrays[key] = canonical_array(f"{self._name}{place}", value).copy()
            return {"$array": key}
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, int):
            return _encode_integer(int.__int__(value))
        if isinstance(value, float):
            return _encode_float(float.__float__(value))
        if isinstance(value, list | dict):
            if depth == MAX_VALUE_DEPTH:
                raise StateError(self._name, f"is nested deeper than {MAX_VALUE_DEPTH} levels")
            if isinstance(value, dict):
                return self._dict(value, place, depth + 1)
            return [self.encode(item, f"{place}[{k}]", depth + 1) for k, item in enumerate(value)]
        if isinstance(value, tuple):
            raise StateError(
                self._name,
                f"holds a tuple{_at(place)}, which JSON would give back as a list",
                hint="store a list, and make a tuple of it where one is needed",
            )
        raise StateError(
            self._name,
            f"holds {_kind(value)}{_at(place)}: expected an array, a number, text, true, false, "
            f"none, or lists and dicts of those",
        )

    def _dict(self, value: dict[Any, Any], place: str, depth: int) -> dict[str, Any]:
        for key in value:
            if not isinstance(key, str):
                raise StateError(self._name, f"has the key {key!r:.80}{_at(place)}: expected text")
            if key.startswith("$"):
                raise StateError(
                    self._name, f"has the key {key!r:.80}{_at(place)}: keys with $ are reserved"
                )
        return {
            self._text(key, place): self.encode(value[key], f"{place}[{key!r}]", depth)
            for key in sorted(value)
        }

    def _text(self, text: str, place: str) -> str:
        if not is_unicode(text):
            raise StateError(self._name, f"holds text with a lone surrogate{_at(place)}")
        return str.__str__(text)


def _encode_integer(value: int) -> Any:
    return value if abs(value) <= MAX_SAFE_INTEGER else {"$int": _decimal(value)}


def _encode_float(value: float) -> Any:
    if math.isfinite(value):
        return value
    if math.isinf(value):
        return {"$float": "inf" if value > 0 else "-inf"}
    bits = struct.pack(">d", value).hex()
    return {"$float": "nan" if bits == _CANONICAL_NAN else f"nan:{bits}"}


def check_references(name: str, value: object, count: int = 0, depth: int = 0) -> int:
    """Check an encoded value, or a part of it, and count the references to arrays.

    Args:
        name: The value's name in its state.
        value: The encoded value or part.
        count: How many arrays were referred to before it.
        depth: How many lists and dicts it lies in.

    Returns:
        How many arrays were referred to with it; they are ``<name>#1`` to ``<name>#<count>``.

    Raises:
        PackageFormatError: it is malformed, could be spelled otherwise, or refers to another
            array than the next.
    """
    if isinstance(value, list | dict) and depth == MAX_VALUE_DEPTH and not _is_reserved(value):
        expected = f"at most {MAX_VALUE_DEPTH} levels"
        raise PackageFormatError(
            refusal("state.value-depth", "", f"value {name!r}", expected, "more")
        )
    if isinstance(value, list):
        for item in value:
            count = check_references(name, item, count, depth + 1)
        return count
    if isinstance(value, dict) and not _is_reserved(value):
        for key in sorted(value):
            count = check_references(name, value[key], count, depth + 1)
        return count
    if value == {"$array": f"{name}#{count + 1}"}:
        return count + 1
    if not (is_encoded_number(value) if isinstance(value, dict) else _is_plain(value)):
        raise PackageFormatError(
            refusal("state.value", "", f"value {name!r}", "an encoded value", f"{value!r:.80}")
        )
    return count


def _is_reserved(value: object) -> bool:
    return isinstance(value, dict) and any(key.startswith("$") for key in value)


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= MAX_SAFE_INTEGER
    return value is None or (isinstance(value, str) and is_unicode(value))


def is_encoded_number(value: dict[str, Any]) -> bool:
    """Return whether a dict is a number that JSON cannot hold, in its only spelling.

    Args:
        value: A JSON object.

    Returns:
        Whether it is ``{"$int": ...}`` or ``{"$float": ...}`` as ``encode_value`` gives them.

    Example:
        >>> is_encoded_number({"$float": "nan"}), is_encoded_number({"$int": "1"})
        (True, False)
    """
    ((kind, text),) = value.items() if len(value) == 1 else (("", None),)
    if not isinstance(text, str):
        return False
    if kind == "$int":
        digits = text.removeprefix("-")
        return _INTEGER.fullmatch(text) is not None and (
            len(digits) > 16 or digits > str(MAX_SAFE_INTEGER)
        )
    return (
        kind == "$float"
        and _FLOAT.fullmatch(text) is not None
        and text not in _NOT_NAN
        and text != f"nan:{_CANONICAL_NAN}"
    )


def decode_checked(value: Any, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Decode a value that ``check_references`` accepted.

    Args:
        value: The encoded value or part.
        arrays: The arrays that it refers to.

    Returns:
        The value; arrays in it are fresh copies.
    """
    if isinstance(value, list):
        return [decode_checked(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        return arrays[value["$array"]].copy()
    if "$int" in value:
        return _integer(value["$int"])
    if "$float" in value:
        text = value["$float"]
        return struct.unpack(">d", bytes.fromhex(text[4:]))[0] if ":" in text else float(text)
    return {key: decode_checked(item, arrays) for key, item in value.items()}


def _decimal(value: int) -> str:
    """Decimal digits of any integer; Python refuses ``str`` of long ones, so by halves."""
    return f"-{_digits(-value)}" if value < 0 else _digits(value)


def _digits(value: int) -> str:
    if value.bit_length() <= 3 * _CHUNK_DIGITS:
        return str(value)
    count = value.bit_length() * 30103 // 200000
    high, low = divmod(value, 10**count)
    return _digits(high) + _digits(low).zfill(count)


def _integer(text: str) -> int:
    """The inverse of ``_decimal``."""
    if text.startswith("-"):
        return -_integer(text[1:])
    if len(text) <= _CHUNK_DIGITS:
        return int(text)
    half = len(text) // 2
    return _integer(text[:-half]) * cast("int", 10**half) + _integer(text[-half:])


def _at(place: str) -> str:
    return f" at {place}" if place else ""


def _kind(value: object) -> str:
    kind = type(value)
    return f"an object of type {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")


def is_nan(number: object) -> bool:
    """Return whether an encoded number, one that ``is_encoded_number`` accepts, is a NaN.

    Example:
        >>> is_nan({"$float": "nan"}), is_nan({"$float": "inf"}), is_nan(1.0)
        (True, False, False)
    """
    return isinstance(number, dict) and str(number.get("$float", "")).startswith("nan")
