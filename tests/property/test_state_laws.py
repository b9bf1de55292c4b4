"""Laws of stored states (docs/format.md, the chapters on arrays and states)."""

from __future__ import annotations

import copy
from io import BytesIO
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.checkpoints import checkpoint_bytes, describe_state, read_state, write_state
from repropack._format.fingerprints import fingerprint_array
from repropack._format.log import CHAIN_START
from repropack._format.schemas import read_document
from repropack._format.state import (
    check_encoded,
    component_of,
    decode_state,
    encode_state,
    fingerprint_components,
)
from repropack.errors import PackageError, UnsupportedVersionError
from repropack.models.checkpoint import Checkpoint
from tests.strategies import (
    BYTE_ORDERS,
    LAYOUTS,
    arrays,
    laid_out,
    plain_arrays,
    state_values,
    states,
)
from tests.support.exact import is_exactly


@given(plain_arrays(), st.sampled_from(LAYOUTS), st.sampled_from(BYTE_ORDERS))
def test_layout_and_byte_order_leave_no_trace(array: Any, layout: str, order: str) -> None:
    """An array's fingerprint is that of its elements, however they lie."""
    other = laid_out(array, layout, order)
    assert fingerprint_array("w", other) == fingerprint_array("w", array)


@given(arrays(), arrays())
def test_fingerprints_are_equal_exactly_where_arrays_are(left: Any, right: Any) -> None:
    """Type, shape and bits decide, and nothing else."""
    same = fingerprint_array("w", left) == fingerprint_array("w", right)
    assert same == is_exactly(left, right)


@given(plain_arrays(types=("<f4", "<f8", "<i2", "<c8", "|u1")), st.data())
def test_one_bit_changes_the_fingerprint(array: Any, data: st.DataObject) -> None:
    """Every bit of every element counts."""
    if array.nbytes == 0:
        return
    changed = array.copy()
    flat = changed.reshape(-1).view(np.uint8)
    flat[data.draw(st.integers(0, flat.size - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert fingerprint_array("w", changed) != fingerprint_array("w", array)


@given(states())
def test_decoding_undoes_encoding(state: dict[str, Any]) -> None:
    """A state comes back exactly, and encoding it again gives the same form."""
    encoded = encode_state(state)
    check_encoded(encoded)
    restored = decode_state(encoded)
    assert is_exactly(restored, state)
    again = encode_state(restored)
    assert encode_canonical(again.values) == encode_canonical(encoded.values)
    assert is_exactly(dict(again.arrays), dict(encoded.arrays))


@given(states())
def test_a_checkpoint_holds_a_state_exactly(state: dict[str, Any]) -> None:
    """A state survives the two files of a checkpoint, read as strictly as a stranger's."""
    encoded = encode_state(state)
    npz = BytesIO()
    write_state(npz, encoded)
    data = checkpoint_bytes(describe_state(encoded), step=1, chain=CHAIN_START)
    document = read_document(Checkpoint, data, where="c.json")
    read = read_state(BytesIO(npz.getvalue()), document, where="c.npz")
    assert is_exactly(decode_state(read), state)
    assert document.components == fingerprint_components(encoded)


@given(states(), st.randoms())
def test_the_order_of_names_leaves_no_trace(state: dict[str, Any], random: Any) -> None:
    """A state that was put together in another order is stored in the same bytes."""
    names = list(state)
    random.shuffle(names)
    left, right = encode_state(state), encode_state({name: state[name] for name in names})
    assert fingerprint_components(left) == fingerprint_components(right)
    assert describe_state(left) == describe_state(right)


@given(states(), states())
def test_fingerprints_are_equal_exactly_where_components_are(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    """A component's fingerprint decides whether that part of two states is the same."""
    lefts = dict(fingerprint_components(encode_state(left)))
    rights = dict(fingerprint_components(encode_state(right)))
    assert set(lefts) == set(map(component_of, left))
    for name in {*lefts, *rights}:
        part = [
            {k: v for k, v in side.items() if component_of(k) == name} for side in (left, right)
        ]
        assert (lefts.get(name) == rights.get(name)) == is_exactly(*part)


@given(states(), st.sampled_from(["a", "a.x", "b", "c.x"]), state_values())
def test_a_change_shows_in_its_component_alone(
    state: dict[str, Any], name: str, value: Any
) -> None:
    """Setting one name changes the fingerprint of its component, or of none."""
    before = dict(fingerprint_components(encode_state(state)))
    after = dict(fingerprint_components(encode_state({**state, name: value})))
    changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
    unchanged = name in state and is_exactly(state[name], value)
    assert changed == (set() if unchanged else {component_of(name)})


@given(states())
def test_encoding_copies(state: dict[str, Any]) -> None:
    """Nothing that is done to a state's arrays afterwards reaches its encoded form."""
    encoded = encode_state(state)
    before = copy.deepcopy(dict(encoded.arrays))
    restored = decode_state(encoded)
    for array in [*_arrays_in(list(state.values())), *_arrays_in(list(restored.values()))]:
        if array.flags.writeable:
            array[...] = 1
    assert is_exactly(dict(encoded.arrays), before)


def _arrays_in(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [array for part in parts for array in _arrays_in(part)]


@given(states(), st.data())
def test_a_changed_companion_is_noticed(state: dict[str, Any], data: st.DataObject) -> None:
    """Whatever byte of a companion's values, arrays or components changes, reading refuses it."""
    encoded = encode_state(state)
    npz = BytesIO()
    write_state(npz, encoded)
    good = checkpoint_bytes(describe_state(encoded), step=1, chain=CHAIN_START)
    position = data.draw(st.integers(0, len(good) - 1))
    bad = bytearray(good)
    bad[position] ^= 1 << data.draw(st.integers(0, 6))
    try:
        document = read_document(Checkpoint, bytes(bad), where="c.json")
        read = read_state(BytesIO(npz.getvalue()), document, where="c.npz")
    except (PackageError, UnsupportedVersionError):
        return
    value = decode_strict(good, where="x")
    outside = document.step != value["step"] or document.chain != value["chain"]
    assert outside or is_exactly(decode_state(read), state)
