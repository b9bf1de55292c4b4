"""What a script's objects are taken and put back by."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from repropack._format.state import decode_state, encode_state
from repropack._run.loop_state import LoopState
from repropack.errors import StateError, UnsupportedDtypeError


def stored(state: LoopState) -> dict[str, Any]:
    """The state as it comes back from a checkpoint."""
    return decode_state(encode_state(state.state_dict()))


@pytest.mark.parametrize(
    "kind", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"], ids=lambda kind: kind
)
@pytest.mark.parametrize("wrapped", [True, False], ids=["generator", "bits"])
def test_every_numpy_generator_goes_on_where_it_was(kind: str, wrapped: bool):
    """The next draws after restoring are those after taking, cached halves of words too."""
    bits = getattr(np.random, kind)(3)
    generator = np.random.Generator(bits)
    generator.integers(0, 9, 3, dtype=np.uint32)
    state = LoopState({"rng": generator if wrapped else bits})
    before = stored(state)
    assert list(before) == ["rng"]
    expected = generator.integers(0, 1 << 30, 9, dtype=np.uint32)
    generator.standard_normal(5)
    state.load_state_dict(before)
    assert generator.integers(0, 1 << 30, 9, dtype=np.uint32).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("component", "draw"),
    [
        (np.random.RandomState(3), "standard_normal"),
        (np.random, "standard_normal"),
        (random.Random(3), "gauss"),
        (random, "gauss"),
    ],
    ids=["RandomState", "numpy.random", "Random", "random"],
)
def test_older_generators_keep_their_cached_normal_number(component: Any, draw: str):
    """An odd number of normal draws leaves one in hand, which is part of the state."""
    number: Callable[[], float] = getattr(component, draw)
    if draw == "gauss":
        number = lambda: component.gauss(0.0, 1.0)  # noqa: E731
    number()
    state = LoopState({"rng": component})
    before = stored(state)
    expected = [number() for _ in range(4)]
    state.load_state_dict(before)
    assert [number() for _ in range(4)] == expected


def test_a_dict_is_made_equal_in_place():
    """Same dict, same nested objects, same order; what came later goes, what is gone returns."""
    moments = {"b": np.zeros(2), "a": np.zeros(2)}
    inner: dict[str, Any] = {"rate": 0.5}
    history = [1, 2]
    component: dict[str, Any] = {"z": 1, "moments": moments, "inner": inner, "history": history}
    state = LoopState({"adam": component})
    before = stored(state)
    assert list(before) == ["adam.history", "adam.inner", "adam.moments", "adam.z"]
    array = moments["b"]
    array += 1.0
    inner["rate"] = 0.1
    history.append(3)
    del component["z"]
    component["late"] = True
    state.load_state_dict(before)
    assert list(component) == ["moments", "inner", "history", "z"]
    assert (component["moments"] is moments, moments["b"] is array) == (True, True)
    assert (list(moments), array.tolist()) == (["b", "a"], [0.0, 0.0])
    assert (component["inner"] is inner, inner) == (True, {"rate": 0.5})
    assert (component["history"] is history, history) == (True, [1, 2])


def test_an_empty_component_has_a_place_in_the_state():
    """So that a later step may name it, and restoring empties it again."""
    late: dict[str, Any] = {}
    state = LoopState({"late": late})
    before = stored(state)
    assert before == {"late": {}}
    late["moment"] = np.ones(1)
    assert list(stored(state)) == ["late.moment"]
    state.load_state_dict(before)
    assert late == {}


def test_generators_are_put_back_last():
    """Loading a model may draw; a generator that was put back before would be past its place."""
    generator = np.random.default_rng(3)

    class Model:
        def state_dict(self) -> dict[str, Any]:
            return {"w": 1.0}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            generator.random(9)

    state = LoopState({"rng": generator, "model": Model()})
    before = stored(state)
    expected = generator.random()
    state.load_state_dict(before)
    assert generator.random() == expected


def test_an_array_is_put_back_in_place_whatever_its_byte_order():
    """Elements go into the script's own array; one of another shape is refused."""
    array = np.arange(3, dtype=">f4")
    state = LoopState({"w": array})
    before = stored(state)
    array[:] = 9
    state.load_state_dict(before)
    assert array.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(StateError) as caught:
        state.load_state_dict({"w": np.zeros(4, np.float32)})
    assert caught.value.message == "'w': expected an array of >f4 [3], observed float32 [4]"


def test_a_state_of_other_components_is_refused():
    """Nothing is put back by halves."""
    array = np.zeros(1)
    state = LoopState({"w": array, "c": {"n": 1}})
    with pytest.raises(StateError) as caught:
        state.load_state_dict({"w": np.ones(1), "d.n": 1})
    assert caught.value.message == "'state': expected components c, w, observed d, w"
    assert array.tolist() == [0.0]


class Half:
    """Has one of the two methods."""

    def state_dict(self) -> dict[str, Any]:
        return {}


READ_ONLY = np.zeros(2)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ({"n": 3}, "'n': cannot be restored in place: expected an object with"),
        ({"n": "text"}, "observed str"),
        ({"n": np.float64(1)}, "observed float64"),
        ({"n": Half()}, "observed Half"),
        ({"w": READ_ONLY}, "'w': cannot be restored in place: the array is read-only"),
        ({"a.b": {}}, "'a.b': is no component name: expected one without dots"),
        ({"no name": {}}, "'no name': is no component name: expected 1 to 200 of"),
        ([("w", {})], "'state': expected a dict of names, observed list"),
    ],
    ids=["int", "str", "scalar", "half", "read-only", "dot", "name", "list"],
)
def test_what_cannot_be_put_back_is_refused_by_name_and_type(components: Any, message: str):
    """Before the first step, and with what would be accepted."""
    with pytest.raises(StateError) as caught:
        LoopState(components)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("components", "kind", "message"),
    [
        ({"c": {1: 2}}, StateError, "'c': expected texts as keys, observed 1"),
        ({"c": {"a b": 2}}, StateError, "'c.a b': is no state name"),
        ({"w": np.array([None])}, UnsupportedDtypeError, "'w': array type object"),
    ],
    ids=["integer-key", "key", "object-array"],
)
def test_what_cannot_be_stored_is_named(components: Any, kind: type[Exception], message: str):
    """When the state is taken."""
    with pytest.raises(StateError) as caught:
        stored(LoopState(components))
    assert isinstance(caught.value, kind)
    assert caught.value.message.startswith(message)
