"""One run, as the process that makes it tells it: state, steps, what was recorded, the end.

Both forms of a stepwise experiment speak through a session: the worker for one with an entry
point, the script's own process for a loop. A session computes no chain and writes no log: that is
the judge's (``recorder``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

import numpy.typing as npt

from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import (
    checkpoint_name,
    fingerprint_constants,
)
from repropack._format.state import EncodedState, decode_state, encode_state, fingerprint_components
from repropack._run.environment import observe_environment
from repropack._run.failing import failure_of
from repropack._run.guard import check_guard
from repropack._run.kept import KeptArrays
from repropack._run.loading import last_line
from repropack._run.probe_card import changed_families, probe_card
from repropack._run.state_files import read_state_files, write_state_files
from repropack._run.watching import Watcher
from repropack._run.zoomed import ZoomedStep
from repropack.errors import (
    CouldNotRunError,
    ExperimentLoadError,
    RepropackError,
)
from repropack.experiment import State, Trace, constants_of
from repropack.models.base import Model
from repropack.models.worker import (
    Checkpointed,
    Finished,
    Job,
    Ready,
    Stepped,
)

START_NAME = "start"
_OF_A_LOOP = {
    "state_dict": "taking the attached state",
    "load_state_dict": "restoring the attached state",
}

_T = TypeVar("_T")


class Stateful(Protocol):
    """What a session needs of an experiment: its state, and how to go on from one."""

    def state_dict(self) -> State:
        """The complete state."""

    def load_state_dict(self, state: State) -> None:
        """Continue from ``state``."""


class RaisedError(RepropackError):
    """The experiment raised something of its own after its first state."""


class Session:
    """Tells one run, from its first state to its end.

    Call ``begin`` once, then ``open_step`` and ``close_step`` for every step, then ``end``; or
    ``fail``, after which nothing more is said.

    Attributes:
        step: The step under way, or the one before the first.
        stage: The stage recorded last in that step.
        is_loop: Whether the script's own process speaks, which owns its loop.
        ended: Whether the last word is said.
        failed: Whether it was that the run cannot go on.
    """

    def __init__(self, job: Job, protocol: BinaryIO, source: Path) -> None:
        """Prepare a run.

        Args:
            job: What is run.
            protocol: Where messages go.
            source: Folder of the code that runs, to name places in it.
        """
        self._job, self.is_loop = job, job.experiment.loop
        self._protocol = protocol
        self._source = source.resolve()
        self._output = Path(job.output)
        self._kept = KeptArrays(self._output, job.record.keep)
        self._watcher = Watcher(job, self._source) if job.watch_at else None
        zoom = job.zoom_step
        self._zoomed = None if zoom is None else ZoomedStep(self._output, zoom)
        self._components: tuple[str, ...] = ()
        self._card: Mapping[str, str] = {}
        self.step = job.first_step - 1
        self.stage: str | None = None
        self.ended = self.failed = False

    @property
    def subject(self) -> str:
        """What is run, as errors name it.

        Returns:
            The entry point, or the command.
        """
        plan = self._job.experiment
        if plan.command is None:
            return f"entry point {plan.entry_point!r}"
        return f"command {' '.join(plan.command)!r:.120}"

    def called(self, method: str) -> str:
        """What is called where ``method`` is: a script that owns its loop has no such method."""
        return _OF_A_LOOP[method] if self.is_loop else method

    def say(self, message: Model) -> None:
        """Send one message and flush it, so that nothing recorded is lost with the process."""
        self._protocol.write(encode_canonical(message.model_dump(mode="json")))
        self._protocol.flush()

    def begin(
        self, experiment: Stateful, config: dict[str, Any], schema: dict[str, Any] | None
    ) -> None:
        """Look at the machine, restore what the run begins from, and tell the first state.

        Args:
            experiment: The experiment, all that it imports being imported.
            config: Its configuration, complete and encoded.
            schema: JSON Schema of the configuration, where it has one.

        Raises:
            ExperimentError: what it hands over cannot be stored, or one of its methods raised.
            CouldNotRunError: arithmetic is not IEEE 754's, or the state cannot be written.
        """
        check_guard()
        self._card = probe_card()
        if self._job.start is not None:
            self.restore(experiment)
        constants = self.guarded("constants", lambda: encode_state(constants_of(experiment)))
        start = self._job.first_step - 1
        state = self.state_of(experiment)
        components = self._store(state, start)
        self._know(components)
        self._look_before(start + 1, state)
        self.say(
            Ready(
                config=config,
                config_schema=schema,
                constants=fingerprint_constants(constants),
                state=components,
                environment=observe_environment(self._card),
            )
        )
        self.say(Checkpointed(step=start))
        self._watch(experiment)

    def restore(self, experiment: Stateful) -> None:
        """Put the experiment back to the state that the run begins from.

        Args:
            experiment: The experiment.

        Raises:
            ExperimentError: ``load_state_dict`` raised.
        """
        folder = Path(self._job.start or "")
        state = decode_state(read_state_files(folder, START_NAME))
        self.guarded(self.called("load_state_dict"), lambda: experiment.load_state_dict(state))

    def open_step(self, step: int) -> Trace:
        """Begin a step.

        Args:
            step: Its number.

        Returns:
            What the step records into.
        """
        self.step, self.stage = step, None
        return Trace(
            components=self._components, stages=self._with_stages(step), keep=self._note_stage
        )

    def close_step(self, experiment: Stateful, trace: Trace) -> bool:
        """Tell the step that ``open_step`` began, and the state after it.

        Args:
            experiment: The experiment after the step.
            trace: What ``open_step`` gave.

        Returns:
            Whether the run ends with this step.

        Raises:
            ExperimentError: the state cannot be stored, ``state_dict`` raised, or a stage that is
                to be kept is missing.
            CouldNotRunError: what was recorded cannot be written.
        """
        record, step = self._job.record, self.step
        with_stages = self._with_stages(step)
        if with_stages:
            self._kept.end_step([stage for stage, _ in trace.stages])
        ends = step == self._job.experiment.steps or trace.finish_reason is not None
        stores = ends or self._stores_after(step)
        components: tuple[tuple[str, str], ...] | None = None
        tells = stores or step % record.state_every == 0
        looks = self._zoomed is not None and step in {self._zoomed.step - 1, self._zoomed.step}
        state = self.state_of(experiment) if tells or looks else EncodedState({}, {})
        if stores:
            components = self._store(state, step)
        elif tells:
            components = fingerprint_components(state)
        self.say(
            Stepped(
                step=step,
                stages=trace.stages if with_stages else None,
                declarations=tuple(trace.declarations.items()) if with_stages else None,
                state=components,
                metrics=trace.metrics,
                printed=trace.printed(record.printed),
                finish=trace.finish_reason,
            )
        )
        if self._zoomed is not None and step == self._zoomed.step:
            zoomed = self._zoomed
            self._writing(lambda: self.say(zoomed.after(state)))
        self._look_before(step + 1, state)
        if stores:
            self.say(Checkpointed(step=step, kept=self._kept.hand_over()))
        self._watch(experiment)
        if components is not None:
            self._know(components)
        return ends

    def end(self) -> None:
        """Say that the run has ended as planned, and what the probe card gives now."""
        self.ended = True
        self.say(Finished(changed_families=changed_families(self._card, probe_card())))

    def end_trial(self) -> None:
        """Say that a trial has found nothing."""
        self.ended = True
        self.say(Finished())

    def fail(self, error: RepropackError) -> None:
        """Say why the run cannot go on."""
        self.ended = self.failed = True
        self.say(failure_of(error, self._source, self.step, self.stage))

    def guarded(
        self, what: str, call: Callable[[], _T], when: str = " before the first step"
    ) -> _T:
        """Call into the experiment; what it raises becomes one line that names the place.

        Args:
            what: The method that is called.
            call: The call.
            when: How the message goes on after "raised", before the first step.

        Returns:
            What the call returns.

        Raises:
            ExperimentLoadError: it raised before the first step.
            RaisedError: it raised later.
            RepropackError: one of ours, unchanged.
        """
        try:
            return call()
        except RepropackError:
            raise
        except (Exception, SystemExit) as error:
            line = last_line(error)
            if self.step < self._job.first_step:
                raise ExperimentLoadError(f"{self.subject}: {what} raised{when}: {line}") from error
            raise RaisedError(line if what == "step" else f"{what}: {line}") from error

    def state_of(self, experiment: Stateful) -> EncodedState:
        """The experiment's state as it is stored.

        Args:
            experiment: The experiment.

        Returns:
            Its state, arrays copied.

        Raises:
            ExperimentError: it cannot be stored, or ``state_dict`` raised.
        """
        state = self.guarded(
            self.called("state_dict"), lambda: encode_state(experiment.state_dict())
        )
        if self._watcher is not None:
            self._watcher.state = state
        return state

    def _watch(self, experiment: Stateful) -> None:
        """Tell what is reached from the experiment, where this step is watched."""
        if self._watcher is not None and self.step in self._job.watch_at:
            self.say(self._watcher.look(experiment, self.step))

    def _stores_after(self, step: int) -> bool:
        every = self._job.record.checkpoint_every
        return step in self._job.store_at or (every is not None and step % every == 0)

    def _with_stages(self, step: int) -> bool:
        last = self._job.experiment.steps
        return step % self._job.record.stages_every == 0 or step == last

    def _know(self, components: tuple[tuple[str, str], ...]) -> None:
        """Remember which components the state has, to check the next step's ``of`` against."""
        self._components = tuple(name for name, _ in components)

    def _look_before(self, step: int, state: EncodedState) -> None:
        """Hand over the state before a step where that is the one that is looked at."""
        zoomed = self._zoomed
        if zoomed is not None and zoomed.step == step:
            self._writing(lambda: zoomed.before(state))

    def _note_stage(self, stage: str, array: npt.NDArray[Any]) -> None:
        self.stage = stage
        self._writing(lambda: self._kept.add(stage, array))
        zoomed = self._zoomed
        if zoomed is not None and zoomed.step == self.step:
            self._writing(lambda: zoomed.keep(stage, array))

    def _store(self, state: EncodedState, step: int) -> tuple[tuple[str, str], ...]:
        name = checkpoint_name(step)
        stored = self._writing(lambda: write_state_files(self._output, name, state))
        return stored.components

    def _writing(self, write: Callable[[], _T]) -> _T:
        """Write what is handed over; a disk that is full or fails is no fault of the experiment."""
        try:
            return write()
        except OSError as error:
            raise CouldNotRunError(
                f"run {self._job.run!r}, step {self.step}: what was recorded cannot be handed "
                f"over: {error.strerror or error}"
            ) from error


def silence_children(descriptor: int) -> None:
    """See to it that a forked child cannot speak for this process.

    It gets standard error in the descriptor's place, so that it neither sends messages nor keeps
    their reader waiting for their end.

    Args:
        descriptor: Where this process's messages go.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os.dup2(2, descriptor, inheritable=False))
