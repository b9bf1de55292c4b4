"""A stored state on disk: an npz of its arrays and a JSON companion for everything else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from repropack._format.canonical import encode_canonical
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.npy import array_type
from repropack._format.npz import NpzReader, read_npz, write_npz
from repropack._format.state import EncodedState, check_encoded, fingerprint_components
from repropack.errors import (
    IntegrityError,
    PackageFormatError,
    StateError,
    UnsupportedVersionError,
    UsageError,
)
from repropack.models.checkpoint import ArrayRow, Checkpoint, StoredState
from repropack.refusals import Refusal, refusal

_NOT_KEPT: npt.NDArray[Any] = np.empty(0)
"""Stands for an array whose elements nobody needs, only its name."""

CHECKPOINT_DIGITS = 9
"""Digits of a step in the name of its checkpoint."""


def checkpoint_name(step: int) -> str:
    """File name of the checkpoint after ``step``, without its extension.

    Args:
        step: 0, the initial state, to 999,999,999.

    Returns:
        ``step-`` and nine digits, so that names sort like steps.

    Raises:
        UsageError: the step has more digits than the name.

    Example:
        >>> checkpoint_name(40)
        'step-000000040'
    """
    if not 0 <= step < 10**CHECKPOINT_DIGITS:
        raise UsageError(
            f"checkpoint: expected a step from 0 to {10**CHECKPOINT_DIGITS - 1}, observed {step}"
        )
    return f"step-{step:0{CHECKPOINT_DIGITS}d}"


def describe_state(encoded: EncodedState) -> StoredState:
    """The JSON part of a stored state, every array and component fingerprinted.

    Args:
        encoded: The state, its arrays in canonical form.

    Returns:
        The description; each array is read once.

    Raises:
        UnsupportedDtypeError: an array's type cannot be stored.
    """
    rows = {name: _row(array) for name, array in encoded.arrays.items()}
    known = {name: row.fingerprint for name, row in rows.items()}
    return StoredState(
        components=fingerprint_components(encoded, known),
        arrays=rows,
        values=dict(encoded.values),
    )


def fingerprint_constants(constants: EncodedState) -> tuple[tuple[str, str], ...]:
    """Fingerprint constants name by name, so that a report can name the one that differs.

    Args:
        constants: What is held fixed, as a state.

    Returns:
        ``(name, fingerprint)``, sorted by name.
    """
    rows = []
    for name in constants.names():
        own = {key: a for key, a in constants.arrays.items() if key.split("#")[0] == name}
        values = {name: constants.values[name]} if name in constants.values else {}
        single = EncodedState(own, values)
        array_only = not values
        stored = describe_state(single)
        rows.append(
            (name, stored.arrays[name].fingerprint if array_only else stored.components[0][1])
        )
    return tuple(rows)


def _row(array: npt.NDArray[Any]) -> ArrayRow:
    return ArrayRow(
        dtype=array_type(array), shape=array.shape, fingerprint=fingerprint_canonical(array)
    )


def write_state(stream: BinaryIO, encoded: EncodedState) -> None:
    """Write a state's arrays as npz, through the project's own writer.

    Args:
        stream: Where the bytes go; written in order.
        encoded: The state, its arrays in canonical form.

    Raises:
        UnsupportedDtypeError: an array's type cannot be stored.
        StateError: an array's name is none.

    Determinism:
        Equal states give equal bytes.
    """
    write_npz(stream, encoded.arrays)


def checkpoint_bytes(stored: StoredState, *, step: int, chain: str) -> bytes:
    """The JSON companion of a checkpoint.

    Args:
        stored: The state's JSON part.
        step: The step after which it was taken; 0 is the initial state.
        chain: The log's chain up to and including that step.

    Returns:
        Canonical JSON.

    Raises:
        StateError: the document is longer than readers accept.
    """
    document = Checkpoint(
        components=stored.components,
        arrays=stored.arrays,
        values=stored.values,
        step=step,
        chain=chain,
    )
    data = encode_canonical(document.model_dump(mode="json"))
    maximum = DEFAULT_LIMITS.max_document_bytes
    if len(data) > maximum:
        raise StateError(
            "state",
            f"expected at most {maximum} bytes of values that are no arrays, observed {len(data)}",
            hint="keep long lists of numbers in the state as arrays",
        )
    return data


def read_state(
    stream: BinaryIO, stored: StoredState, *, where: str, limits: Limits = DEFAULT_LIMITS
) -> EncodedState:
    """Read a stored state's arrays and hold every one against its description.

    Args:
        stream: The npz.
        stored: The JSON part, already validated.
        where: The npz's path, for error messages.
        limits: Limits on reading.

    Returns:
        The state, every array's type, shape, fingerprint and every component's fingerprint
        recomputed and found as described.

    Raises:
        PackageFormatError: npz or values are not in their one form.
        LimitExceededError: a limit on reading would be exceeded.
        IntegrityError: arrays missing, unexpected or not as described; holds all of them.
        UnsupportedVersionError: the description uses a member reserved for later releases.
    """
    check_state(stream, stored, where=where, limits=limits)
    return EncodedState(read_npz(stream, where=where, limits=limits), stored.values)


def check_state(
    stream: BinaryIO, stored: StoredState, *, where: str, limits: Limits = DEFAULT_LIMITS
) -> None:
    """Hold a stored state's arrays against their description, without keeping any in memory.

    Args:
        stream: The npz.
        stored: The JSON part, already validated.
        where: The npz's path, for error messages.
        limits: Limits on reading.

    Raises:
        PackageFormatError: npz or values are not in their one form.
        LimitExceededError: a limit on reading would be exceeded.
        IntegrityError: arrays missing, unexpected or not as described; holds all of them.
        UnsupportedVersionError: the description uses a member reserved for later releases.
    """
    for name, row in stored.arrays.items():
        if row.logical_type is not None or row.same_as is not None:
            raise UnsupportedVersionError(
                "version.array", f"{where}: array {name!r}", "logical_type or same_as", "neither"
            )
    reader = NpzReader(stream, where=where, limits=limits)
    arrays = reader.arrays
    wrong: list[Refusal] = []
    for name in sorted(stored.arrays.keys() | arrays.keys()):
        expected = _described(stored.arrays.get(name))
        observed = "none"
        if name in arrays:
            dtype, shape = arrays[name]
            observed = f"{dtype} {list(shape)} {reader.fingerprint(name)}"
        if expected != observed:
            place = f"array {name!r}"
            wrong.append(refusal("checkpoint.array", where, place, expected, observed))
    if wrong:
        raise IntegrityError(*wrong)
    encoded = EncodedState(dict.fromkeys(sorted(arrays), _NOT_KEPT), stored.values)
    _check_form(encoded, where)
    components = fingerprint_components(
        encoded, {name: row.fingerprint for name, row in stored.arrays.items()}
    )
    if components != stored.components:
        expected, computed = _listed(stored.components), _listed(components)
        raise IntegrityError(
            refusal("checkpoint.components", where, "components", expected, computed)
        )


def _check_form(encoded: EncodedState, where: str) -> None:
    try:
        check_encoded(encoded)
    except PackageFormatError as error:
        raise PackageFormatError(*(replace(one, entry=where) for one in error.refusals)) from error


def _described(row: ArrayRow | None) -> str:
    return "none" if row is None else f"{row.dtype} {list(row.shape)} {row.fingerprint}"


def _listed(components: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name} {fingerprint}" for name, fingerprint in components) or "none"
