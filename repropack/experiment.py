"""The experiment protocol: what an author writes, and what a step may tell the recorder.

An experiment need not import this module: any object with ``step``, ``state_dict`` and
``load_state_dict`` will do. Nothing here writes files or starts processes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.npy import canonical_array
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


@runtime_checkable
class _HasConstants(Protocol):
    def constants(self) -> State: ...


@runtime_checkable
class _HasClose(Protocol):
    def close(self) -> None: ...


def constants_of(experiment: object) -> State:
    """The experiment's constants; empty where it declares none."""
    return experiment.constants() if isinstance(experiment, _HasConstants) else {}


def close_experiment(experiment: object) -> None:
    """Call the experiment's ``close`` where it has one."""
    if isinstance(experiment, _HasClose):
        experiment.close()


Keep = Callable[[str, npt.NDArray[Any]], None]


class Trace:
    """What one step records: stages as they happen, metrics, and an early end.

    Arrays are fingerprinted at once, so that changing them in place afterwards changes nothing.
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
                ``"state:<component>"`` of the state before the step. Without it, all earlier
                stages and the whole state count.

        Raises:
            StateError: the name is not valid, or ``of`` names a stage not recorded before.
            UnsupportedDtypeError: the array's type cannot be stored.
        """
        if not self._records_stages:
            return
        stage = self._unused(check_name(name, "stage"), self._declared)
        if not isinstance(array, np.ndarray | np.generic):
            raise StateError(
                stage, f"expected a NumPy array or scalar, observed {type(array).__name__}"
            )
        inputs = self._checked_inputs(stage, of)
        canonical = canonical_array(stage, array)
        self._declared[stage] = inputs
        self._stages.append((stage, fingerprint_canonical(canonical)))
        if self._keep is not None:
            self._keep(stage, canonical)

    def metric(self, name: str, value: float) -> None:
        """Note a number of this step, such as a loss.

        Args:
            name: The metric. Noted again within a step it becomes ``name#2``, ...
            value: A Python or NumPy integer or float; NaN and infinities are allowed. Narrower
                floats are widened to 64 bits, which is exact.

        Raises:
            StateError: the name is not valid or the value is not a number.
        """
        metric = self._unused(check_name(name, "metric"), self._metrics)
        number = value.item() if isinstance(value, np.generic | np.ndarray) and value.size == 1 else value
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise StateError(metric, f"expected one number, observed {type(value).__name__}")
        self._metrics[metric] = number

    def finish(self, reason: str) -> None:
        """End the run after this step, before the planned number of steps.

        Args:
            reason: One line for the log, up to 400 characters.

        Raises:
            StateError: the reason is not one line of at most 400 characters.
        """
        if not 0 < len(reason) <= 400 or not reason.isprintable():
            raise StateError("finish", f"expected one line of 1 to 400 characters, observed {reason!r:.80}")
        self._finish = reason

    @property
    def stages(self) -> tuple[tuple[str, str], ...]:
        """Stages in order of execution with their fingerprints."""
        return tuple(self._stages)

    @property
    def declarations(self) -> dict[str, tuple[str, ...] | None]:
        """What each recorded stage is made of."""
        return dict(self._declared)

    @property
    def metrics(self) -> dict[str, Any]:
        """Metrics as encoded JSON numbers."""
        return {name: encode_value(name, value) for name, value in self._metrics.items()}

    def printed(self, formats: Mapping[str, str]) -> dict[str, str]:
        """Each metric named in ``formats`` as a log would print it."""
        return {
            name: _print(self._metrics[name], spec)
            for name, spec in formats.items()
            if name in self._metrics
        }

    @property
    def finish_reason(self) -> str | None:
        """Why the experiment ended the run, or ``None``."""
        return self._finish

    @staticmethod
    def _unused(name: str, taken: Mapping[str, object]) -> str:
        count = 2
        unused = name
        while unused in taken:
            unused = f"{name}#{count}"
            count += 1
        return unused

    def _checked_inputs(
        self, stage: str, of: Sequence[str] | str | None
    ) -> tuple[str, ...] | None:
        if of is None:
            return None
        inputs = (of,) if isinstance(of, str) else tuple(of)
        for item in inputs:
            if item.startswith(STATE_PREFIX):
                self._check_component(stage, item.removeprefix(STATE_PREFIX))
            elif item not in self._declared:
                raise StateError(
                    stage,
                    f"is declared to be made of {item!r}: expected a stage recorded earlier in this "
                    f"step ({', '.join(self._declared) or 'none yet'}) or state:<component>",
                )
        return inputs

    def _check_component(self, stage: str, component: str) -> None:
        check_name(component, "component")
        if self._components is not None and component not in self._components:
            raise StateError(
                stage,
                f"is declared to be made of component {component!r}: expected one of "
                f"{', '.join(sorted(self._components)) or 'none'}",
            )


def _print(number: float, spec: str) -> str:
    try:
        return format(number, spec)
    except OverflowError:  # an integer beyond the range of floats
        return format(float("inf") if number > 0 else float("-inf"), spec)
