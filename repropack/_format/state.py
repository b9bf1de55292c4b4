"""A state as it is stored: arrays apart, everything else as encoded JSON, components fingerprinted.

A state is a flat mapping of dotted names to arrays and JSON values. A value may contain arrays
(generator states do): each becomes an array ``<name>#<k>``, counted in the order of sorted keys,
and leaves ``{"$array": "<name>#<k>"}`` in its place.
"""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from repropack._format.canonical import encode_canonical
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.npy import canonical_array
from repropack.errors import PackageFormatError, StateError
from repropack.models.base import MAX_SAFE_INTEGER, NAME_PATTERN

STATE_DOMAIN = b"repropack.state.v1\n"
MAX_VALUE_DEPTH = 48
_NAME = re.compile(NAME_PATTERN)
_CANONICAL_NAN = struct.pack("<d", math.nan)
_Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class EncodedState:
    """A state ready to be stored: canonical arrays by name, encoded values by name."""

    arrays: Mapping[str, npt.NDArray[Any]]
    values: Mapping[str, Any]

    def names(self) -> tuple[str, ...]:
        """Names of the state itself, sorted; nested arrays belong to their value's name."""
        return tuple(sorted([*self.values, *(name for name in self.arrays if "#" not in name)]))


def check_name(name: object, what: str) -> str:
    """Return ``name`` if it is a valid name.

    Raises:
        StateError: not text, too long, or with characters that names do not have.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > 200:
        raise StateError(
            str(name)[:200],
            f"is no {what} name: expected 1 to 200 of A-Z a-z 0-9 _ . + - (not starting with "
            f". + -), observed {str(name)[:80]!r}",
        )
    return name


def component_of(name: str) -> str:
    """The component that a state name belongs to: the part before the first dot."""
    return name.split("#", 1)[0].split(".", 1)[0]


def encode_state(state: Mapping[str, object]) -> EncodedState:
    """Encode a state; arrays are copied, so that later changes in place cannot reach it.

    Args:
        state: What ``state_dict()`` returned: names to arrays, scalars and JSON values.

    Returns:
        Arrays in canonical form and encoded values, both under sorted names.

    Raises:
        StateError: a name or value that cannot be stored; names the value and where in it.
        UnsupportedDtypeError: an array of a type that cannot be stored.
    """
    if not isinstance(state, Mapping):
        raise StateError("state", f"expected a mapping of names, observed {_kind(state)}")
    arrays: _Arrays = {}
    values: dict[str, Any] = {}
    for name in sorted(state, key=str):
        check_name(name, "state")
        value = state[name]
        if isinstance(value, np.ndarray | np.generic):
            arrays[name] = canonical_array(name, value).copy()
        else:
            values[name] = _encode(name, value, arrays, "", 0)
    return EncodedState(dict(sorted(arrays.items())), values)


def encode_value(name: str, value: object) -> Any:
    """Encode one JSON value that holds no array, such as a configuration value or a metric.

    Raises:
        StateError: the value cannot be stored as JSON.
    """
    arrays: _Arrays = {}
    encoded = _encode(name, value, arrays, "", 0)
    if arrays:
        raise StateError(name, "expected a JSON value, observed an array")
    return encoded


def decode_state(encoded: EncodedState) -> dict[str, Any]:
    """The state as ``load_state_dict`` receives it; arrays are fresh copies.

    Raises:
        PackageFormatError: an encoded value that is malformed or names a missing array.
    """
    state: dict[str, Any] = {}
    for name in encoded.names():
        if name in encoded.values:
            state[name] = _decode(name, encoded.values[name], encoded.arrays)
        else:
            state[name] = encoded.arrays[name].copy()
    return state


def decode_value(name: str, value: object) -> Any:
    """Decode one encoded value that holds no array.

    Raises:
        PackageFormatError: the value is malformed.
    """
    return _decode(name, value, {})


def fingerprint_components(
    encoded: EncodedState, fingerprints: Mapping[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Fingerprint every component of a state.

    Args:
        encoded: The state.
        fingerprints: Array fingerprints by name where they are known already.

    Returns:
        ``(component, fingerprint)`` sorted by component. The fingerprint is SHA-256 of
        ``repropack.state.v1`` and a newline, then the canonical JSON of the sorted
        ``[name, value]``, each array in it as ``{"$array": <array fingerprint>}``.
    """
    known = fingerprints or {
        name: fingerprint_canonical(array) for name, array in encoded.arrays.items()
    }
    rows: dict[str, list[list[Any]]] = {}
    for name in encoded.names():
        if name in encoded.values:
            value = _with_fingerprints(encoded.values[name], known)
        else:
            value = {"$array": known[name]}
        rows.setdefault(component_of(name), []).append([name, value])
    return tuple(
        (component, f"sha256:{hashlib.sha256(STATE_DOMAIN + encode_canonical(rows[component])).hexdigest()}")
        for component in sorted(rows)
    )


def _encode(name: str, value: object, arrays: _Arrays, place: str, depth: int) -> Any:
    if depth > MAX_VALUE_DEPTH:
        raise StateError(name, f"nested deeper than {MAX_VALUE_DEPTH} levels at {place}")
    if isinstance(value, np.ndarray | np.generic):
        key = f"{name}#{sum(known.startswith(f'{name}#') for known in arrays) + 1}"
        arrays[key] = canonical_array(f"{name}{place}", value).copy()
        return {"$array": key}
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(name, value, place)
    if isinstance(value, int):
        return int(value) if abs(value) <= MAX_SAFE_INTEGER else {"$int": _decimal(value)}
    if isinstance(value, float):
        return _encode_float(value)
    if isinstance(value, list):
        return [_encode(name, item, arrays, f"{place}[{k}]", depth + 1) for k, item in enumerate(value)]
    if isinstance(value, dict):
        return _encode_dict(name, value, arrays, place, depth)
    if isinstance(value, tuple):
        raise StateError(
            name,
            f"holds a tuple{_at(place)}, which JSON would give back as a list",
            hint="store a list, and make the tuple again in load_state_dict",
        )
    raise StateError(
        name,
        f"holds {_kind(value)}{_at(place)}: expected an array, a number, text, true, false, "
        f"none, or lists and dicts of those",
    )


def _encode_dict(
    name: str, value: dict[Any, Any], arrays: _Arrays, place: str, depth: int
) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise StateError(name, f"has the key {key!r}{_at(place)}: expected text")
        if key.startswith("$"):
            raise StateError(name, f"has the key {key!r}{_at(place)}: keys with $ are reserved")
        _text(name, key, place)
    return {
        key: _encode(name, value[key], arrays, f"{place}[{key!r}]", depth + 1)
        for key in sorted(value)
    }


def _encode_float(value: float) -> Any:
    if math.isfinite(value):
        return float(value)
    if math.isinf(value):
        return {"$float": "inf" if value > 0 else "-inf"}
    bits = struct.pack("<d", value)
    return {"$float": "nan" if bits == _CANONICAL_NAN else f"nan:{bits[::-1].hex()}"}


def _decode(name: str, value: Any, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    if isinstance(value, list):
        return [_decode(name, item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if not any(key.startswith("$") for key in value):
        return {key: _decode(name, item, arrays) for key, item in value.items()}
    if len(value) == 1:
        ((kind, text),) = value.items()
        if kind == "$int" and isinstance(text, str) and re.fullmatch(r"-?[1-9][0-9]{15,}", text):
            return _integer(text)
        if kind == "$float" and isinstance(text, str):
            return _decode_float(name, text)
        if kind == "$array" and isinstance(text, str) and text in arrays:
            return arrays[text].copy()
    raise PackageFormatError(f"value {name!r}: expected an encoded value, observed {value!r:.80}")


def _decode_float(name: str, text: str) -> float:
    if text in {"nan", "inf", "-inf"}:
        return float(text)
    if re.fullmatch(r"nan:[7f]ff[0-9a-f]{13}", text):
        value = cast("float", struct.unpack(">d", bytes.fromhex(text[4:]))[0])
        if math.isnan(value) and text != "nan:7ff8000000000000":
            return value
    raise PackageFormatError(
        f"value {name!r}: expected nan, inf, -inf or nan:<16 hex>, observed {text!r:.80}"
    )


def _with_fingerprints(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_with_fingerprints(item, known) for item in value]
    if isinstance(value, dict):
        if "$array" in value:
            return {"$array": known[value["$array"]]}
        return {key: _with_fingerprints(item, known) for key, item in value.items()}
    return value


def _text(name: str, text: str, place: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise StateError(name, f"holds text with a lone surrogate{_at(place)}")
    return str(text)


def _decimal(value: int) -> str:
    """Decimal digits of any integer; Python refuses ``str`` above 4,300 digits, so by halves."""
    if value < 0:
        return f"-{_decimal(-value)}"
    return _digits(value)


def _digits(value: int) -> str:
    if value < 10**4000:
        return str(value)
    count = value.bit_length() * 30103 // 200000
    high, low = divmod(value, 10**count)
    return _digits(high) + _digits(low).zfill(count)


def _integer(text: str) -> int:
    """The inverse of ``_decimal``."""
    if text.startswith("-"):
        return -_integer(text[1:])
    if len(text) <= 4000:
        return int(text)
    half = len(text) // 2
    return _integer(text[:-half]) * 10**half + _integer(text[-half:])


def _at(place: str) -> str:
    return f" at {place}" if place else ""


def _kind(value: object) -> str:
    kind = type(value)
    return f"an object of type {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")
