"""``attach``: for scripts that own their loop. Inert where repropack does not run the script.

Importing this module costs nothing but the errors. Everything that records is imported by
``attach``, and only within a run of repropack.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy.typing as npt

    from repropack._run.attached import Attached

JOB_VARIABLE = "REPROPACK_JOB"
"""Names the job file in a process that repropack has started."""


def attach(state: Mapping[str, object], constants: Mapping[str, object] | None = None) -> LoopRun:
    """Attach this script to the run that it is part of, if it is part of one.

    Args:
        state: Everything that determines the next step, as objects by component name: objects
            with ``state_dict`` and ``load_state_dict`` (optimizers, models, loaders), NumPy
            generators, ``random.Random``, the modules ``random`` and ``numpy.random`` for their
            global generators, dicts and arrays. They are restored in place, generators last.
            A number, a text or a list cannot be: put it into a dict, and read it from there.
        constants: Arrays and JSON values held fixed, fingerprinted once.

    Returns:
        The run: loop over its ``steps``.

    Raises:
        CommandError: attached a second time, in this process or another of the run.
        ExperimentLoadError: the run that started this process is over, or of another release.
        StateError: a component is of a kind that cannot be restored in place. Outside repropack
            nothing is looked at.

    Example:
        >>> counter = {"value": 0}
        >>> run = attach(state={"counter": counter})
        >>> for step in run.steps(3):
        ...     counter["value"] += step
        >>> run.attached, counter
        (False, {'value': 6})
    """
    job_file = os.environ.get(JOB_VARIABLE)
    if not job_file:
        return LoopRun(None)
    from repropack._run.attached import Attached  # noqa: PLC0415 - only within a run

    return LoopRun(Attached(job_file, state, constants))


class LoopRun:
    """A run whose loop the script owns. Outside repropack it counts steps and records nothing."""

    def __init__(self, attached: Attached | None) -> None:
        self._attached = attached
        self._finished = False

    @property
    def attached(self) -> bool:
        """Whether repropack runs this script.

        Returns:
            False where the run is inert.
        """
        return self._attached is not None

    def steps(self, count: int) -> Iterator[int]:
        """The steps to make, from 1, or from where a resumed run goes on.

        Within repropack the plan's number governs, and state is restored before the first step.

        Args:
            count: Steps to make outside repropack; at least as many as the plan has.

        Yields:
            The number of each step; the step is over when the next is asked for.

        Raises:
            ExperimentError: within repropack: fewer steps than the plan has, a second loop, or a
                state that cannot be stored.
        """
        if self._attached is not None:
            yield from self._attached.steps(count)
            return
        self._finished = False
        for step in range(1, count + 1):
            yield step
            if self._finished:
                return

    def record(
        self, name: str, array: npt.ArrayLike, of: Sequence[str] | str | None = None
    ) -> None:
        """Fingerprint an array of this step under a stage name, as ``Trace.record`` does.

        Args:
            name: The stage. Recorded again within a step it becomes ``name#2``, ...
            array: A NumPy array or scalar of any shape; bool, integer, float or complex.
            of: What it was computed from: earlier stages of this step, or ``"state:<component>"``.

        Raises:
            ExperimentError: within repropack: it cannot be recorded, or no step is under way.
        """
        if self._attached is not None:
            self._attached.trace.record(name, array, of)

    def metric(self, name: str, value: float) -> None:
        """Note a number of this step, as ``Trace.metric`` does.

        Args:
            name: The metric.
            value: One integer or float; NaN and infinities are allowed.

        Raises:
            ExperimentError: within repropack: it is not one number, or no step is under way.
        """
        if self._attached is not None:
            self._attached.trace.metric(name, value)

    def finish(self, reason: str) -> None:
        """End the loop after this step, before the planned number of steps.

        Args:
            reason: One line for the log, 1 to 400 printable characters.

        Raises:
            ExperimentError: within repropack: the reason is no such line, or no step is under way.
        """
        self._finished = True
        if self._attached is not None:
            self._attached.trace.finish(reason)
