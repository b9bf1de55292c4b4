"""A stored state on disk: written, described, and held against its description when read."""

from __future__ import annotations

import hashlib
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from repropack._format.checkpoints import (
    checkpoint_bytes,
    checkpoint_name,
    describe_state,
    read_state,
    write_state,
)
from repropack._format.limits import Limits
from repropack._format.log import CHAIN_START
from repropack._format.npz import write_npz
from repropack._format.schemas import read_document
from repropack._format.state import decode_state, encode_state
from repropack.errors import (
    IntegrityError,
    LimitExceededError,
    PackageFormatError,
    StateError,
    UnsupportedVersionError,
    UsageError,
)
from repropack.models.checkpoint import ArrayRow, Checkpoint, StoredState
from tests.support.exact import is_exactly

STATE = {
    "w": np.array([1, -0.0], "f4"),
    "adam.m": np.zeros((2, 1)),
    "adam.t": 3,
    "s": [np.array([7], "u1")],
}
OTHER = "sha256:" + "0" * 64


def npz_of(arrays: dict[str, Any]) -> BytesIO:
    stream = BytesIO()
    write_npz(stream, arrays)
    stream.seek(0)
    return stream


@pytest.fixture
def stored() -> StoredState:
    """The description of ``STATE``."""
    return describe_state(encode_state(STATE))


@pytest.fixture
def arrays() -> dict[str, Any]:
    """The arrays of ``STATE`` as they are stored."""
    return dict(encode_state(STATE).arrays)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("step", "name"),
    [(0, "step-000000000"), (40, "step-000000040"), (999_999_999, "step-999999999")],
)
def test_checkpoint_names(step: int, name: str) -> None:
    """Names have nine digits, so that they sort like their steps."""
    assert checkpoint_name(step) == name


@pytest.mark.parametrize("step", [-1, 10**9])
def test_a_step_that_no_name_can_hold_is_refused(step: int) -> None:
    """A name that readers would not recognise is never given."""
    with pytest.raises(UsageError) as caught:
        checkpoint_name(step)
    assert str(caught.value) == (
        f"checkpoint: expected a step from 0 to 999999999, observed {step}"
    )


# ---------------------------------------------------------------- writing


def test_the_companion_is_literally_this() -> None:
    """The document is canonical JSON with every member, computable by hand."""
    elements = hashlib.sha256(b"repropack.array.v1\n|u1\n1\n\x07").hexdigest()
    rows = b'[["a.n",1],["a.s",[{"$array":"sha256:' + elements.encode() + b'"}]]]\n'
    fingerprint = hashlib.sha256(b"repropack.state.v1\n" + rows).hexdigest()
    stored = describe_state(encode_state({"a.s": [np.array([7], "u1")], "a.n": 1}))
    assert checkpoint_bytes(stored, step=40, chain=OTHER).decode() == (
        '{"arrays":{"a.s#1":{"dtype":"|u1","fingerprint":"sha256:' + elements + '",'
        '"logical_type":null,"same_as":null,"shape":[1]}},'
        '"chain":"' + OTHER + '",'
        '"components":[["a","sha256:' + fingerprint + '"]],'
        '"schema":"repropack/checkpoint/v1","step":40,'
        '"values":{"a.n":1,"a.s":[{"$array":"a.s#1"}]}}\n'
    )


def test_writing_twice_gives_the_same_bytes() -> None:
    """Order of names and layout in memory leave no trace in either file."""

    def files(state: dict[str, Any]) -> tuple[bytes, bytes]:
        encoded = encode_state(state)
        stream = BytesIO()
        write_state(stream, encoded)
        return stream.getvalue(), checkpoint_bytes(describe_state(encoded), step=1, chain=OTHER)

    other = dict(reversed(STATE.items()))
    other["adam.m"] = np.zeros((1, 4), ">f8")[:, ::2].T
    assert files(STATE) == files(other)


def test_a_companion_that_nobody_could_read_is_not_written() -> None:
    """Values past the readers' limit are refused when they are written, with advice."""
    stored = describe_state(encode_state({"log": "x" * (64 << 20)}))
    with pytest.raises(StateError, match="expected at most 16777216 bytes of values") as caught:
        checkpoint_bytes(stored, step=1, chain=OTHER)
    assert caught.value.hint == "keep long lists of numbers in the state as arrays"


# ---------------------------------------------------------------- reading


def test_a_checkpoint_survives(stored: StoredState, arrays: dict[str, Any]) -> None:
    """What was stored comes back exactly, through both files."""
    data = checkpoint_bytes(stored, step=3, chain=CHAIN_START)
    document = read_document(Checkpoint, data, where="c.json")
    state = read_state(npz_of(arrays), document, where="c.npz")
    assert is_exactly(decode_state(state), STATE)
    assert (document.step, document.chain) == (3, CHAIN_START)
    assert describe_state(state) == stored


def test_an_empty_state_can_be_stored() -> None:
    """An experiment without any state has checkpoints too."""
    stored = describe_state(encode_state({}))
    assert read_state(npz_of({}), stored, where="c.npz").names() == ()


def refused(stream: BytesIO, stored: StoredState, kind: type[Exception]) -> Any:
    with pytest.raises(kind) as caught:
        read_state(stream, stored, where="c.npz")
    return caught.value


def test_missing_and_unexpected_arrays_are_all_named(
    stored: StoredState, arrays: dict[str, Any]
) -> None:
    """Faults are gathered: every array that is missing or too many, sorted."""
    del arrays["w"], arrays["adam.m"]
    arrays["x"] = np.zeros(1)
    error = refused(npz_of(arrays), stored, IntegrityError)
    assert [(one.rule, one.entry, one.problem.split(":")[0]) for one in error.refusals] == [
        ("checkpoint.array", "c.npz", "array 'adam.m'"),
        ("checkpoint.array", "c.npz", "array 'w'"),
        ("checkpoint.array", "c.npz", "array 'x'"),
    ]
    assert [one.observed for one in error.refusals[:2]] == ["none", "none"]
    assert error.refusals[2].expected == "none"


CHANGED = {
    "element": np.array([1, 2], "f4"),
    "sign-of-zero": np.array([1, 0.0], "f4"),
    "shape": np.array([[1, -0.0]], "f4"),
    "type": np.array([1, -0.0], "f8"),
    "reinterpreted": np.array([1, -0.0], "f4").view("<i4"),
}


@pytest.mark.hostile
@pytest.mark.parametrize("array", CHANGED.values(), ids=CHANGED.keys())
def test_an_array_that_is_not_as_described_is_named(
    stored: StoredState, arrays: dict[str, Any], array: Any
) -> None:
    """Type, shape and fingerprint are recomputed from the npz."""
    expected, observed = stored.arrays["w"], describe_state(encode_state({"w": array})).arrays["w"]
    error = refused(npz_of({**arrays, "w": array}), stored, IntegrityError)
    assert [one.problem for one in error.refusals] == [
        (
            f"array 'w': expected <f4 [2] {expected.fingerprint}, "
            f"observed {observed.dtype} {list(observed.shape)} {observed.fingerprint}"
        )
    ]


@pytest.mark.hostile
@pytest.mark.parametrize(
    "update", [{"dtype": "<f8"}, {"shape": (1, 2)}, {"fingerprint": OTHER}], ids=str
)
def test_a_description_that_lies_is_noticed(
    stored: StoredState, arrays: dict[str, Any], update: dict[str, Any]
) -> None:
    """The description is held against the array as the array is against the description."""
    row = stored.arrays["w"].model_copy(update=update)
    lying = stored.model_copy(update={"arrays": {**stored.arrays, "w": row}})
    assert "array 'w': expected" in str(refused(npz_of(arrays), lying, IntegrityError))


@pytest.mark.hostile
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: (("adam", OTHER), *rows[1:]),
        lambda rows: rows[:-1],
        lambda rows: (*rows, ("x", OTHER)),
        lambda rows: rows[::-1],
        lambda rows: (rows[0], *rows),
        lambda _: (),
    ],
    ids=["changed", "missing", "unexpected", "order", "twice", "none"],
)
def test_component_fingerprints_are_recomputed(
    stored: StoredState, arrays: dict[str, Any], change: Any
) -> None:
    """Components that do not follow from arrays and values are an error that shows both."""
    lying = stored.model_copy(update={"components": change(stored.components)})
    error = refused(npz_of(arrays), lying, IntegrityError)
    assert (error.rule, error.entry) == ("checkpoint.components", "c.npz")
    problem = error.refusals[0].problem
    assert problem.startswith("components:")
    assert "expected" in problem
    assert problem.endswith(", ".join(f"{name} {digest}" for name, digest in stored.components))


@pytest.mark.hostile
@pytest.mark.parametrize(
    "values",
    [
        {"adam.t": 4, "s": [{"$array": "s#1"}]},
        {"adam.t": 3.0, "s": [{"$array": "s#1"}]},
        {"adam.u": 3, "s": [{"$array": "s#1"}]},
        {"s": [{"$array": "s#1"}]},
        {"adam.t": 3, "s": {"$array": "s#1"}},
        {"adam.t": 3, "s": [{"$array": "s#1"}], "x": None},
    ],
    ids=["changed", "type", "renamed", "missing", "unwrapped", "added"],
)
def test_a_changed_value_shows_in_its_component(
    stored: StoredState, arrays: dict[str, Any], values: dict[str, Any]
) -> None:
    """Values are covered by their component's fingerprint."""
    lying = stored.model_copy(update={"values": values})
    assert "components:" in str(refused(npz_of(arrays), lying, IntegrityError))


@pytest.mark.hostile
@pytest.mark.parametrize(
    "values",
    [
        {"adam.t": 3, "s": []},
        {"adam.t": 3},
        {"adam.t": 3, "s": [{"$array": "w"}]},
        {"adam.t": 3, "s": [{"$array": "s#1"}], "w": 1},
        {"adam.t": {"$int": "3"}, "s": [{"$array": "s#1"}]},
        {"adam.t": 3, "s": [{"$array": "s#1"}], "a b": 1},
    ],
    ids=["unreferenced", "gone", "borrowed", "hidden", "spelling", "name"],
)
def test_values_in_another_form_are_refused(
    stored: StoredState, arrays: dict[str, Any], values: dict[str, Any]
) -> None:
    """Nothing is stored beside the components, and no array hides behind a value."""
    lying = stored.model_copy(update={"values": values})
    assert str(refused(npz_of(arrays), lying, PackageFormatError)).startswith("c.npz: ")


@pytest.mark.parametrize(
    "update", [{"logical_type": "bfloat16"}, {"same_as": "step-000000000"}], ids=str
)
def test_reserved_members_ask_for_a_later_release(
    stored: StoredState, arrays: dict[str, Any], update: dict[str, Any]
) -> None:
    """What is reserved is not guessed at."""
    row = stored.arrays["w"].model_copy(update=update)
    later = stored.model_copy(update={"arrays": {**stored.arrays, "w": row}})
    error = refused(npz_of(arrays), later, UnsupportedVersionError)
    assert str(error) == ("c.npz: array 'w': expected neither, observed logical_type or same_as")


def test_limits_apply_to_the_npz(stored: StoredState, arrays: dict[str, Any]) -> None:
    """Reading is limited as the caller says."""
    with pytest.raises(LimitExceededError, match="max_entries"):
        read_state(npz_of(arrays), stored, where="c.npz", limits=Limits(max_entries=1))


def test_every_changed_byte_of_a_small_checkpoint_is_noticed() -> None:
    """No byte of an npz can change unnoticed."""
    encoded = encode_state({"w": np.array([1, 2], "u1"), "v": [np.array(True)]})
    stored = describe_state(encoded)
    good = npz_of(dict(encoded.arrays)).getvalue()
    noticed = 0
    for position in range(len(good)):
        bad = bytearray(good)
        bad[position] ^= 0x01
        with pytest.raises((PackageFormatError, IntegrityError)):
            read_state(BytesIO(bytes(bad)), stored, where="c.npz")
        noticed += 1
    assert noticed == len(good)


def test_rows_describe_type_shape_and_fingerprint(stored: StoredState) -> None:
    """Each array's row says what is needed to read it anywhere."""
    assert stored.arrays["adam.m"] == ArrayRow(
        dtype="<f8",
        shape=(2, 1),
        fingerprint="sha256:"
        + hashlib.sha256(b"repropack.array.v1\n<f8\n2,1\n" + bytes(16)).hexdigest(),
    )
    assert sorted(stored.arrays) == ["adam.m", "s#1", "w"]
