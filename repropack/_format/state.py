"""A state as it is stored: arrays apart, everything else as encoded JSON, components fingerprinted.

A state is a flat mapping of dotted names to arrays and JSON values. A value may contain arrays
(generator states do): each becomes an array ``<name>#<k>``, counted in the order of sorted keys,
and leaves ``{"$array": "<name>#<k>"}`` in its place. A state has one encoded form, and reading
refuses every other, so that no part of a stored state escapes its component's fingerprint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from repropack._format.canonical import encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.npy import canonical_array
from repropack._format.values import (
    ValueEncoder,
    check_references,
    decode_checked,
    decode_value,
    encode_value,
)
from repropack.errors import PackageFormatError, StateError
from repropack.models.base import NAME_PATTERN
from repropack.refusals import refusal

__all__ = [
    "STATE_DOMAIN",
    "EncodedState",
    "check_encoded",
    "check_name",
    "component_of",
    "decode_state",
    "decode_value",
    "encode_state",
    "encode_value",
    "fingerprint_components",
]

STATE_DOMAIN = b"repropack.state.v1\n"
_NAME = re.compile(NAME_PATTERN)
_MAX_NAME_CHARACTERS = 200
_Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class EncodedState:
    """A state ready to be stored: canonical arrays by name, encoded values by name."""

    arrays: Mapping[str, npt.NDArray[Any]]
    values: Mapping[str, Any]

    def names(self) -> tuple[str, ...]:
        """Names of the state itself, sorted; nested arrays belong to their value's name.

        Returns:
            Every name of an array or value that the author gave.
        """
        return tuple(sorted([*self.values, *(name for name in self.arrays if "#" not in name)]))


def check_name(name: object, what: str) -> str:
    """Check a name that an author gave.

    Args:
        name: The name.
        what: What it names, for error messages: ``state``, ``stage``, ``metric``, ``component``.

    Returns:
        ``name`` itself, if it is valid.

    Raises:
        StateError: not text, too long, or with characters that names do not have.

    Example:
        >>> check_name("adam.first_moment", "state")
        'adam.first_moment'
    """
    if not _is_name(name):
        raise StateError(
            str(name)[:_MAX_NAME_CHARACTERS],
            f"is no {what} name: expected 1 to {_MAX_NAME_CHARACTERS} of A-Z a-z 0-9 _ . + - "
            f"(not starting with . + - or ending in .npy), observed {str(name)[:80]!r}",
        )
    return cast("str", name)


def component_of(name: str) -> str:
    """The component that a state name, or an array of a state, belongs to.

    Args:
        name: A valid name, with ``#<k>`` at its end or not.

    Returns:
        The part before the first dot.

    Example:
        >>> component_of("adam.first_moment"), component_of("sampler#2")
        ('adam', 'sampler')
    """
    return name.split("#", 1)[0].split(".", 1)[0]


def encode_state(state: Mapping[str, object]) -> EncodedState:
    """Encode a state; arrays are copied, so that later changes in place cannot reach it.

    Args:
        state: What ``state_dict()`` returned: names to arrays, scalars and JSON values. A NumPy
            scalar is stored as an array of rank 0 and comes back as one. The order of a dict's
            keys is not part of a state.

    Returns:
        Arrays in canonical form and encoded values, both under sorted names.

    Raises:
        StateError: a name or value that cannot be stored; names the value and where in it.
        UnsupportedDtypeError: an array of a type that cannot be stored.

    Determinism:
        Equal states give equal forms: ``-0.0`` differs from ``0.0``, ``1`` from ``1.0``, NaNs by
        payload; order of names and keys leaves no trace.

    Example:
        >>> encode_state({"w": np.zeros(2), "t": 1, "rate": float("inf")}).values
        {'rate': {'$float': 'inf'}, 't': 1}
    """
    if not isinstance(state, Mapping):
        raise StateError("state", f"expected a mapping of names, observed {type(state).__name__}")
    arrays: _Arrays = {}
    values: dict[str, Any] = {}
    for name in sorted(state, key=str):
        check_name(name, "state")
        value = state[name]
        if isinstance(value, np.ndarray | np.generic):
            arrays[name] = canonical_array(name, value).copy()
        else:
            encoder = ValueEncoder(name)
            values[name] = encoder.encode(value)
            arrays.update(encoder.arrays)
    return EncodedState(dict(sorted(arrays.items())), values)


def decode_state(encoded: EncodedState) -> dict[str, Any]:
    """The state as ``load_state_dict`` receives it.

    Args:
        encoded: The state in its one encoded form.

    Returns:
        Arrays, fresh and writable copies, and values by sorted names.

    Raises:
        PackageFormatError: the state is not in its one form.
    """
    check_encoded(encoded)
    return {
        name: decode_checked(encoded.values[name], encoded.arrays)
        if name in encoded.values
        else encoded.arrays[name].copy()
        for name in encoded.names()
    }


def check_encoded(encoded: EncodedState) -> None:
    """Check that a state that was read is in the one form that ``encode_state`` gives.

    Nothing is decoded or copied: the time needed is in proportion to the values' size.

    Args:
        encoded: The state as it was read.

    Raises:
        PackageFormatError: a name that is none, a name used twice, a value that is malformed or
            could be spelled otherwise, or arrays and references to them that do not match.
    """
    nested = {name for name in encoded.arrays if "#" in name}
    for name in [*encoded.values, *(name for name in encoded.arrays if name not in nested)]:
        if not _is_name(name):
            raise PackageFormatError(
                refusal("state.name", "", "state", "a state name", f"{name!r:.80}")
            )
    for name in encoded.values:
        if name in encoded.arrays:
            raise PackageFormatError(
                refusal("state.name", "", f"value {name!r}", "one value", "an array too")
            )
        count = check_references(name, encoded.values[name])
        for key in (f"{name}#{k}" for k in range(1, count + 1)):
            if key not in nested:
                raise PackageFormatError(
                    refusal("state.array", "", f"value {name!r}", f"array {key!r}", "none")
                )
            nested.remove(key)
    if nested:
        raise PackageFormatError(
            refusal("state.array", "", f"array {min(nested)!r}", "a value that names it", "none")
        )


def fingerprint_components(
    encoded: EncodedState, fingerprints: Mapping[str, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Fingerprint every component of a state.

    Args:
        encoded: The state.
        fingerprints: Fingerprints of all its arrays by name, where they are known already.

    Returns:
        ``(component, fingerprint)`` sorted by component. The fingerprint is SHA-256 of
        ``repropack.state.v1`` and a newline, then the canonical JSON of the sorted
        ``[name, value]``, each array in it as ``{"$array": <array fingerprint>}``.

    Determinism:
        Equal components give equal fingerprints, whatever else the state holds.
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
        (component, digest_bytes(STATE_DOMAIN + encode_canonical(rows[component])))
        for component in sorted(rows)
    )


def _with_fingerprints(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_with_fingerprints(item, known) for item in value]
    if isinstance(value, dict):
        if "$array" in value:
            return {"$array": known[value["$array"]]}
        return {key: _with_fingerprints(item, known) for key, item in value.items()}
    return value


def _is_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and _NAME.fullmatch(name) is not None
        and len(name) <= _MAX_NAME_CHARACTERS
        and not name.endswith(".npy")  # numpy.load would give its array under a shorter name
    )
