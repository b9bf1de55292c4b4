"""The experiment protocol: what an author writes, and what a step may tell the recorder.

An experiment need not import this module: any object with ``step``, ``state_dict`` and
``load_state_dict`` will do. Nothing here writes files or starts processes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.npy import canonical_array
from repropack._format.printing import print_number
from repropack._format.state import check_name, encode_value
from repropack.errors import StateError

State = Mapping[str, Any]
"""Flat mapping of dotted names to NumPy arrays and JSON values: everything that determines the
next step. The part of a name before its first dot is its component."""

STATE_PREFIX = "state:"


class Experiment(Protocol):
    """A stepwise computation, made by ``entry_point(config, seed)``.

    Optional methods: ``constants() -> State``, arrays and values held fixed, fingerprinted once
    before the first step; ``close() -> None``, called when the run has ended.
    """

    def step(self, trace: Trace) -> None:
        """Advance by exactly one step, recording intermediate results into ``trace``."""

    def state_dict(self) -> State:
        """The complete state; arrays may be live views, the recorder copies what it stores."""

    def load_state_dict(self, state: State) -> None:
        """Continue from ``state`` exactly as if the process had never ended."""


def constants_of(experiment: object) -> State:
    """The experiment's constants: what its method ``constants`` returns.

    Args:
        experiment: The experiment.

    Returns:
        Names to arrays and JSON values held fixed; empty where there is no such method.

    Raises:
        StateError: it has an attribute ``constants`` that is no method, so that nothing of it
            would be recorded.
    """
    constants = getattr(experiment, "constants", None)
    if constants is None:
        return {}
    if not callable(constants):
        raise StateError(
            "constants",
            f"is an attribute of type {type(constants).__name__}: expected a method",
            hint="write a method constants() that returns it, or give the attribute another name",
        )
    found: State = constants()
    return found


def close_experiment(experiment: object) -> None:
    """Call the experiment's ``close`` where it has such a method.

    Args:
        experiment: The experiment; nothing of it is called afterwards.
    """
    close = getattr(experiment, "close", None)
    if callable(close):
        close()


Keep = Callable[[str, npt.NDArray[Any]], None]
"""Called with a stage and its array, which may be a live view: copy what outlives the call."""


class Trace:
    """What one step records: stages as they happen, metrics, and an early end.

    Arrays are fingerprinted at once, so that changing them in place afterwards changes nothing.

    Example:
        >>> trace = Trace(components=["model"])
        >>> trace.record("gradient", np.zeros(3), of="state:model")
        >>> trace.metric("loss", 0.5)
        >>> trace.declarations, trace.metrics
        ({'gradient': ('state:model',)}, {'loss': 0.5})
    """

    def __init__(
        self,
        *,
        components: Collection[str] | None = None,
        stages: bool = True,
        keep: Keep | None = None,
    ) -> None:
        """Prepare one step.

        Args:
            components: The state's components, to check ``of`` against; ``None`` accepts any.
            stages: Whether this step's stages are recorded; where not, ``record`` is inert.
            keep: Called with each stage's name and canonical array, for stages kept whole.
        """
        self._components = components
        self._records_stages = stages
        self._keep = keep
        self._declared: dict[str, tuple[str, ...] | None] = {}
        self._times: dict[tuple[str, str], int] = {}
        self._stages: list[tuple[str, str]] = []
        self._metrics: dict[str, Any] = {}
        self._finish: str | None = None

    def record(
        self, name: str, array: npt.ArrayLike, of: Sequence[str] | str | None = None
    ) -> None:
        """Fingerprint an array under a stage name.

        Args:
            name: The stage. Recorded again within a step it becomes ``name#2``, ``name#3``, ...
            array: A NumPy array or scalar of any shape; bool, integer, float or complex.
            of: What it was computed from: stages recorded earlier in this step, or
                ``"state:<component>"`` of the state before the step; none of them where empty.
                Without it, all earlier stages and the whole state count.

        Raises:
            StateError: the name is not valid, ``array`` is not a NumPy array, or ``of`` names a
                stage not recorded before or a component that the state does not have.
            UnsupportedDtypeError: the array's type cannot be stored.
        """
        if not self._records_stages:
            return
        stage, times = self._next_name("stage", name)
        if not isinstance(array, np.ndarray | np.generic):
            raise StateError(
                stage, f"expected a NumPy array or scalar, observed {type(array).__name__}"
            )
        inputs = self._checked_inputs(stage, of)
        canonical = canonical_array(stage, array)
        self._times["stage", name] = times
        self._declared[stage] = inputs
        self._stages.append((stage, fingerprint_canonical(canonical)))
        if self._keep is not None:
            self._keep(stage, canonical)

    def metric(self, name: str, value: float) -> None:
        """Note a number of this step, such as a loss.

        Args:
            name: The metric. Noted again within a step it becomes ``name#2``, ...
            value: A Python or NumPy integer or float, or an array of rank 0 that holds one; NaN
                and infinities are allowed. Narrower floats are widened to 64 bits, which is exact.

        Raises:
            StateError: the name is not valid, or the value is not one number of up to 64 bits.
        """
        metric, times = self._next_name("metric", name)
        number = _plain_number(value)
        if number is None:
            raise StateError(metric, f"expected one number, observed {_described(value)}")
        self._times["metric", name] = times
        self._metrics[metric] = number

    def finish(self, reason: str) -> None:
        """End the run after this step, before the planned number of steps.

        Args:
            reason: One line for the log, 1 to 400 printable characters. The last reason counts.

        Raises:
            StateError: the reason is not one line of at most 400 characters.
        """
        given: object = reason
        if not isinstance(given, str) or not 0 < len(given) <= 400 or not given.isprintable():
            raise StateError(
                "finish", f"expected one line of 1 to 400 characters, observed {given!r:.80}"
            )
        self._finish = str.__str__(given)

    @property
    def stages(self) -> tuple[tuple[str, str], ...]:
        """Stages in order of execution with their fingerprints.

        Returns:
            ``(stage, fingerprint)``; empty where this step's stages are not recorded.
        """
        return tuple(self._stages)

    @property
    def declarations(self) -> dict[str, tuple[str, ...] | None]:
        """What each recorded stage is made of.

        Returns:
            Inputs by stage in order of execution; ``None`` where they were not declared.
        """
        return dict(self._declared)

    @property
    def metrics(self) -> dict[str, Any]:
        """Metrics as encoded JSON numbers.

        Returns:
            Numbers by metric in order of execution.
        """
        return {name: encode_value(name, value) for name, value in self._metrics.items()}

    def printed(self, formats: Mapping[str, str]) -> dict[str, str]:
        """Each metric named in ``formats`` as a log would print it.

        Args:
            formats: Format specification by metric, such as ``{"loss": ".4f"}``.

        Returns:
            Text by metric; a metric that this step did not note is absent.
        """
        return {
            name: print_number(self._metrics[name], spec)
            for name, spec in formats.items()
            if name in self._metrics
        }

    @property
    def finish_reason(self) -> str | None:
        """Why the experiment ended the run.

        Returns:
            The reason given to ``finish``, or ``None``.
        """
        return self._finish

    def _next_name(self, what: str, name: str) -> tuple[str, int]:
        """The name under which ``name`` is noted now, and how often it then was."""
        times = self._times.get((what, check_name(name, what)), 0) + 1
        return (name if times == 1 else f"{name}#{times}"), times

    def _checked_inputs(self, stage: str, of: Sequence[str] | str | None) -> tuple[str, ...] | None:
        if of is None:
            return None
        inputs = (of,) if isinstance(of, str) else tuple(of)
        for item in inputs:
            self._check_input(stage, item)
        return inputs

    def _check_input(self, stage: str, item: object) -> None:
        if isinstance(item, str) and item.startswith(STATE_PREFIX):
            self._check_component(stage, item.removeprefix(STATE_PREFIX))
        elif not isinstance(item, str) or item not in self._declared:
            earlier = ", ".join(self._declared) or "none yet"
            raise StateError(
                stage,
                f"is declared to be made of {item!r}: expected a stage recorded earlier in this "
                f"step ({earlier}) or {STATE_PREFIX}<component>",
            )

    def _check_component(self, stage: str, component: str) -> None:
        check_name(component, "component")
        if self._components is not None and component not in self._components:
            raise StateError(
                stage,
                f"is declared to be made of component {component!r}: expected one of "
                f"{', '.join(sorted(self._components)) or 'none'}",
            )


def _plain_number(value: object) -> int | float | None:
    """The Python number that ``value`` holds exactly, or ``None`` where it is no number."""
    if isinstance(value, np.generic | np.ndarray):
        masked = isinstance(value, np.ma.MaskedArray)
        if value.ndim != 0 or masked or value.dtype.kind not in "iuf":
            return None
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int.__int__(value) if isinstance(value, int) else float.__float__(value)


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of type {value.dtype} and shape {value.shape}"
    return type(value).__name__
