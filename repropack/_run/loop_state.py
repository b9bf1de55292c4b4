"""The state of a script that owns its loop: named objects, taken and put back in place.

A component's values are named ``component.key`` where it has keys, and ``component`` where it is
one value. Restoring never replaces an object, for the script holds it under names of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from repropack._format.state import check_name
from repropack.errors import StateError
from repropack.experiment import State

ACCEPTED = (
    "an object with state_dict and load_state_dict, a NumPy generator, random.Random, the module "
    "random or numpy.random, a dict or an array"
)


class _Component(Protocol):
    """One component: its values by key, or one value under the empty key."""

    is_generator: bool

    def take(self) -> Mapping[str, Any]:
        """Its values."""

    def put(self, values: Mapping[str, Any]) -> None:
        """Put it back to values that ``take`` gave."""


class LoopState:
    """Components as one state, in the form of an experiment's.

    Example:
        >>> weights, counters = np.zeros(2), {"epoch": 1}
        >>> state = LoopState({"weights": weights, "counters": counters})
        >>> before = state.state_dict()
        >>> sorted(before)
        ['counters.epoch', 'weights']
    """

    def __init__(
        self, components: Mapping[str, object], constants: Mapping[str, object] | None = None
    ) -> None:
        """Look at what each component is.

        Args:
            components: Objects by component name, without dots.
            constants: Arrays and JSON values held fixed, by name.

        Raises:
            StateError: no mapping of names, or an object that cannot be restored in place.
        """
        _check_mapping("state", components)
        _check_mapping("constants", constants or {})
        self._components = {
            _component_name(name): _component(name, value) for name, value in components.items()
        }
        self._constants = constants or {}

    def constants(self) -> State:
        """What is held fixed.

        Returns:
            The constants as they were given.
        """
        return self._constants

    def state_dict(self) -> State:
        """The complete state; arrays are live views.

        Returns:
            Values by name. A component without values is an empty object under its own name.

        Raises:
            StateError: a component gives no mapping, or has a key that is no text.
        """
        state: dict[str, Any] = {}
        for name, component in self._components.items():
            values = component.take()
            _check_mapping(name, values)
            if not values:
                state[name] = {}
            for key, value in values.items():
                state[f"{name}.{key}" if key != "" else name] = value
        return state

    def load_state_dict(self, state: State) -> None:
        """Put every component back in place, generators last.

        Args:
            state: What ``state_dict`` returned, here or in another process.

        Raises:
            StateError: it holds other components, or an array does not have the form of its own.
        """
        values: dict[str, dict[str, Any]] = {}
        for name, value in state.items():
            component, _, key = name.partition(".")
            values.setdefault(component, {})[key] = value
        if values.keys() != self._components.keys():
            raise StateError(
                "state",
                f"expected components {', '.join(sorted(self._components)) or 'none'}, observed "
                f"{', '.join(sorted(values)) or 'none'}",
            )
        for last in (False, True):
            for name, one in self._components.items():
                if one.is_generator == last:
                    one.put({} if _is_empty(values[name]) else values[name])


def _check_mapping(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise StateError(name, f"expected a dict of names, observed {type(value).__name__}")


def _is_empty(values: Mapping[str, Any]) -> bool:
    """Whether a component's values are the empty object under its own name."""
    return isinstance(values.get(""), dict) and not values[""]


def _component_name(name: object) -> str:
    given = check_name(name, "component")
    if "." in given:
        raise StateError(given, "is no component name: expected one without dots")
    return given


def _component(name: str, value: object) -> _Component:
    """What a value is taken and put back by."""
    generator = _generator_of(value)
    if generator is not None:
        return generator
    if isinstance(value, np.ndarray):
        return _Array(name, value)
    if isinstance(value, dict):
        return _Dict(name, value)
    take, put = (getattr(value, method, None) for method in ("state_dict", "load_state_dict"))
    if callable(take) and callable(put):
        return _Object(take, put)
    raise StateError(
        name,
        f"cannot be restored in place: expected {ACCEPTED}, observed {type(value).__name__}",
        hint="put numbers, texts and lists into a dict, and the dict into the state",
    )


def _generator_of(value: object) -> _Component | None:
    if value is np.random:
        value = np.random.mtrand._rand  # noqa: SLF001 - the global one
    if isinstance(value, np.random.RandomState):
        legacy = value
        return _Generator(lambda: legacy.get_state(legacy=False), legacy.set_state)
    if isinstance(value, np.random.Generator):
        value = value.bit_generator
    if isinstance(value, np.random.BitGenerator):
        bits = value
        return _Generator(lambda: bits.state, lambda state: setattr(bits, "state", state))
    if value is random or isinstance(value, random.Random):  # noqa: S311 - the author's own
        own: Any = value

        def take() -> object:
            return _encode_random(own.getstate())

        return _Generator(take, lambda state: own.setstate(_decode_random(state)))
    return None


def _encode_random(state: tuple[Any, ...]) -> dict[str, Any]:
    version, words, gauss = state
    return {"gauss": gauss, "version": version, "words": np.array(words, np.uint32)}


def _decode_random(state: Mapping[str, Any]) -> tuple[Any, ...]:
    return state["version"], tuple(state["words"].tolist()), state["gauss"]


class _Generator:
    is_generator = True

    def __init__(self, take: Callable[[], Any], put: Callable[[Any], None]) -> None:
        self._take, self._put = take, put

    def take(self) -> Mapping[str, Any]:
        return {"": self._take()}

    def put(self, values: Mapping[str, Any]) -> None:
        self._put(values[""])


class _Object:
    is_generator = False

    def __init__(
        self, take: Callable[[], Mapping[str, Any]], put: Callable[[Mapping[str, Any]], object]
    ) -> None:
        self._take, self._put = take, put

    def take(self) -> Mapping[str, Any]:
        return self._take()

    def put(self, values: Mapping[str, Any]) -> None:
        self._put(values)


class _Array:
    is_generator = False

    def __init__(self, name: str, array: np.ndarray[Any, Any]) -> None:
        if not array.flags.writeable:
            raise StateError(name, "cannot be restored in place: the array is read-only")
        self._name, self._array = name, array

    def take(self) -> Mapping[str, Any]:
        return {"": self._array}

    def put(self, values: Mapping[str, Any]) -> None:
        given = values[""]
        if not _fits(self._array, given):
            own, observed = (f"{one.dtype} {list(one.shape)}" for one in (self._array, given))
            raise StateError(self._name, f"expected an array of {own}, observed {observed}")
        self._array[...] = given


class _Dict:
    is_generator = False

    def __init__(self, name: str, value: dict[str, Any]) -> None:
        self._name, self._value = name, value

    def take(self) -> Mapping[str, Any]:
        for key in self._value:
            if not _is_text(key):
                raise StateError(self._name, f"expected texts as keys, observed {key!r:.80}")
        return self._value

    def put(self, values: Mapping[str, Any]) -> None:
        _put_items(self._value, values)


def _put_items(target: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Make a dict equal to ``values``; what is in it stays the same object, in the same order."""
    for key in [key for key in target if key not in values]:
        del target[key]
    for key, value in values.items():
        own = target.get(key)
        if isinstance(own, np.ndarray) and own.flags.writeable and _fits(own, value):
            own[...] = value
        elif isinstance(own, dict) and isinstance(value, dict):
            _put_items(own, value)
        elif isinstance(own, list) and isinstance(value, list):
            own[:] = value
        else:
            target[key] = value


def _is_text(key: object) -> bool:
    return isinstance(key, str) and key != ""


def _fits(own: np.ndarray[Any, Any], value: object) -> bool:
    """Whether an array can take a value's elements as they are, whatever its byte order."""
    return (
        isinstance(value, np.ndarray)
        and own.shape == value.shape
        and own.dtype.newbyteorder("<") == value.dtype.newbyteorder("<")
    )
