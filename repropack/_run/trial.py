"""The trial before a build's long run: does a state come back when it is loaded?

In a process of its own the first state is taken, one step is made with recording off, the first
state is loaded, and the state is taken again. It must be equal in every byte. A
``load_state_dict`` that does nothing is found too, for the step has changed something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from repropack._format.canonical import encode_canonical
from repropack._format.npy import array_bytes, array_type
from repropack._format.state import EncodedState, component_of, decode_state
from repropack._run.session import Session, Stateful
from repropack.errors import RepropackError, StateError
from repropack.experiment import Trace

_MAX_SHOWN_CHARACTERS = 60
_MAX_NAMED = 5


class Trial:
    """One trial: make it, make one step into ``trace``, then call ``end``.

    Attributes:
        trace: What the step records into; stages are not fingerprinted.
    """

    def __init__(self, session: Session, experiment: Stateful) -> None:
        """Take the first state.

        Args:
            session: Where the outcome is told.
            experiment: The experiment at its first state.

        Raises:
            ExperimentError: the state cannot be stored, or ``state_dict`` raised.
        """
        self._session = session
        self._experiment = experiment
        self._first = session.state_of(experiment)
        self.trace = Trace(stages=False)
        session.step = 1

    def make_step(self, step: Callable[[Trace], None]) -> None:
        """Make the step.

        Args:
            step: Makes it. What it raises is left to the run itself, which tells it with the
                stages before it; then nothing is compared.
        """
        try:
            self._session.guarded("step", lambda: step(self.trace))
        except RepropackError:
            self._session.end_trial()
            return
        self.end()

    def end(self) -> None:
        """Load the first state, take it again, and say whether it is equal.

        Raises:
            ExperimentError: it is not, or one of the two methods raised.
        """
        session, experiment = self._session, self._experiment
        state, after = decode_state(self._first), ", given the first state after one step,"
        load = session.called("load_state_dict")
        session.step = 0
        session.guarded(f"{load}{after}", lambda: experiment.load_state_dict(state), when="")
        again = session.state_of(experiment)
        error = state_difference(self._first, again, loop=session.is_loop)
        if error is not None:
            raise error
        session.end_trial()


def state_difference(
    first: EncodedState, again: EncodedState, *, loop: bool = False
) -> StateError | None:
    """What of a state did not come back.

    Args:
        first: The state that was loaded.
        again: The state taken after that.
        loop: Whether it is the attached state of a script that owns its loop.

    Returns:
        ``None`` where both are equal: names, types, shapes, elements' bytes and values. Else an
        error about the first name that differs, which names the others too.
    """
    problems = {
        name: problem
        for name in sorted({*first.names(), *again.names()})
        if (problem := _problem(name, first, again)) is not None
    }
    if not problems:
        return None
    name, *others = problems
    more = ""
    if others:
        left = f" and {len(others) - _MAX_NAMED} more" if len(others) > _MAX_NAMED else ""
        more = f"; so do {', '.join(others[:_MAX_NAMED])}{left}"
    if loop:
        return StateError(
            name,
            f"differs after a step and restoring the first state: {problems[name]}{more}",
            hint=f"see to it that what is attached as {component_of(name)!r} takes back the value "
            "that it has given",
        )
    return StateError(
        name,
        "differs after a step and load_state_dict(first state): "
        f"in state_dict() {problems[name]}{more}",
        hint=f"let load_state_dict put {name!r} back to the value that it is given, and "
        "state_dict return what it is put to",
    )


def _problem(name: str, first: EncodedState, again: EncodedState) -> str | None:
    expected, observed = _parts(name, first), _parts(name, again)
    if expected.keys() != observed.keys() or not expected or not observed:
        return f"expected {_described(expected)}, observed {_described(observed)}"
    for key, part in expected.items():
        other = observed[key]
        if isinstance(part, np.ndarray):
            problem = _array_problem(part, other)
            if problem is not None:
                return problem if key == name else f"(array {key}) {problem}"
        elif part != other:
            return f"expected {_cut(part)}, observed {_cut(other)}"
    return None


def _parts(name: str, state: EncodedState) -> dict[str, Any]:
    """A name's value as canonical JSON, and its arrays, those in the value too."""
    parts: dict[str, Any] = {
        key: array for key, array in state.arrays.items() if key.split("#")[0] == name
    }
    if name in state.values:
        parts[f"{name}:"] = encode_canonical(state.values[name]).decode().strip()
    return parts


def _array_problem(expected: npt.NDArray[Any], observed: npt.NDArray[Any]) -> str | None:
    forms = [f"{array_type(one)} {list(one.shape)}" for one in (expected, observed)]
    if forms[0] != forms[1]:
        return f"expected {forms[0]}, observed {forms[1]}"
    width = expected.dtype.itemsize
    rows = [
        np.frombuffer(array_bytes(one), np.uint8).reshape(-1, width) for one in (expected, observed)
    ]
    differing = np.flatnonzero((rows[0] != rows[1]).any(axis=1))
    if not differing.size:
        return None
    place = [int(k) for k in np.unravel_index(differing[0], expected.shape)]
    values = [one.reshape(-1)[differing[0]].item() for one in (expected, observed)]
    return (
        f"{differing.size} of {expected.size} elements: at {place} expected {values[0]!r}, "
        f"observed {values[1]!r}"
    )


def _described(parts: Mapping[str, Any]) -> str:
    if not parts:
        return "nothing of that name"
    value = next((part for part in parts.values() if isinstance(part, str)), None)
    if value is not None:
        return _cut(value)
    array = next(iter(parts.values()))
    return f"an array of {array_type(array)} {list(array.shape)}"


def _cut(text: str) -> str:
    if len(text) <= _MAX_SHOWN_CHARACTERS:
        return text
    return text[: _MAX_SHOWN_CHARACTERS - 3] + "..."
