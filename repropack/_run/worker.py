"""The worker: the one process that imports an experiment's code.

It reads one job from standard input, writes one JSON line a message to what was its standard
output, and puts arrays into its output folder. Whatever the experiment prints goes to standard
error. It computes no chain and writes no log: that is the judge's (``recorder``).
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy.typing as npt

from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import (
    checkpoint_name,
    describe_state,
    read_state,
    write_state,
)
from repropack._format.state import EncodedState, decode_state, encode_state, fingerprint_components
from repropack._run.environment import observe_environment
from repropack._run.guard import check_guard
from repropack._run.kept import KeptArrays
from repropack._run.loading import (
    Configuration,
    check_origin,
    last_line,
    load_entry_point,
    make_experiment,
    one_line,
)
from repropack._run.probe_card import changed_families, probe_card
from repropack.errors import (
    ConfigurationError,
    CouldNotRunError,
    ExperimentLoadError,
    RepropackError,
    StateError,
    UnsupportedDtypeError,
)
from repropack.experiment import Trace, close_experiment, constants_of
from repropack.models.base import Model
from repropack.models.checkpoint import StoredState
from repropack.models.worker import (
    Checkpointed,
    Failed,
    FailureReason,
    Finished,
    Job,
    Ready,
    Stepped,
)

START_NAME = "start"

_T = TypeVar("_T")


def main() -> int:
    """Run the one job that standard input holds, and report it on standard output.

    Returns:
        The process's exit status: 0 after ``Finished``, 1 after ``Failed``. Where neither was
        said, the process ends with a traceback on standard error and the judge sees it die.
    """
    job = Job.model_validate_json(sys.stdin.buffer.readline())
    with _take_over_stdout() as protocol:
        sys.path.insert(0, job.source)
        worker = _Worker(job, protocol)
        try:
            worker.run()
        except RepropackError as error:
            worker.say(_failure(error, worker))
            return 1
    return 0


def _take_over_stdout() -> BinaryIO:
    """Keep the real standard output for messages and send prints to standard error.

    A forked child gets standard error in its place: it could neither speak for this process nor
    keep the judge waiting for the end of the messages.

    Returns:
        The stream for messages.
    """
    descriptor = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: os.dup2(2, descriptor, inheritable=False))
    return os.fdopen(descriptor, "wb")


class _RaisedError(RepropackError):
    """The experiment raised something of its own after its first state."""


class _Worker:
    def __init__(self, job: Job, protocol: BinaryIO) -> None:
        self._job = job
        self._protocol = protocol
        self._output = Path(job.output)
        self._kept = KeptArrays(self._output, job.record.keep)
        self._components: tuple[str, ...] = ()
        self.step = job.first_step - 1
        self.stage: str | None = None

    def say(self, message: Model) -> None:
        """Send one message and flush it, so that nothing recorded is lost with the process."""
        self._protocol.write(encode_canonical(message.model_dump(mode="json")))
        self._protocol.flush()

    def run(self) -> None:
        """Construct, restore, and step to the end."""
        plan = self._job.experiment
        target = load_entry_point(plan.entry_point)
        check_origin(plan.entry_point, Path(self._job.source))
        config = Configuration(target, plan.config)
        experiment = make_experiment(target, config.value, plan.seed, plan.entry_point)
        check_guard()
        card = probe_card()
        try:
            if self._job.start is not None:
                self._restore(experiment, Path(self._job.start))
            self._say_ready(experiment, config, card)
            for step in range(self._job.first_step, plan.steps + 1):
                if self._make_step(experiment, step):
                    break
        except BaseException:
            self._close_quietly(experiment)
            raise
        self._guarded("close", lambda: close_experiment(experiment))
        changed = changed_families(card, probe_card())
        self.say(Finished(changed_families=changed))

    def _restore(self, experiment: Any, folder: Path) -> None:
        stored = StoredState.model_validate_json((folder / f"{START_NAME}.json").read_bytes())
        with (folder / f"{START_NAME}.npz").open("rb") as stream:
            state = decode_state(read_state(stream, stored, where=f"{START_NAME}.npz"))
        self._guarded("load_state_dict", lambda: experiment.load_state_dict(state))

    @staticmethod
    def _close_quietly(experiment: Any) -> None:
        """After a failure: what ``close`` raises as well must not hide what came first."""
        try:
            close_experiment(experiment)
        except (Exception, SystemExit):  # noqa: BLE001 - the first failure is the one to report
            traceback.print_exc(file=sys.stderr)

    def _say_ready(self, experiment: Any, config: Configuration, card: Mapping[str, str]) -> None:
        constants = self._guarded("constants", lambda: encode_state(constants_of(experiment)))
        start = self._job.first_step - 1
        components = self._store(self._state(experiment), start)
        self._know(components)
        self.say(
            Ready(
                config=config.encoded,
                config_schema=config.schema,
                constants=_fingerprint_constants(constants),
                state=components,
                environment=observe_environment(card),
            )
        )
        self.say(Checkpointed(step=start))

    def _make_step(self, experiment: Any, step: int) -> bool:
        """Make one step and report it; returns whether the run ends with it."""
        record, last = self._job.record, self._job.experiment.steps
        self.step, self.stage = step, None
        with_stages = step % record.stages_every == 0 or step == last
        trace = Trace(components=self._components, stages=with_stages, keep=self._note_stage)
        self._guarded("step", lambda: experiment.step(trace))
        if with_stages:
            self._kept.end_step()
        ends = step == last or trace.finish_reason is not None
        stores = ends or (
            record.checkpoint_every is not None and step % record.checkpoint_every == 0
        )
        components: tuple[tuple[str, str], ...] | None = None
        if stores:
            components = self._store(self._state(experiment), step)
        elif step % record.state_every == 0:
            components = fingerprint_components(self._state(experiment))
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
        if stores:
            self.say(Checkpointed(step=step, kept=self._kept.hand_over()))
        if components is not None:
            self._know(components)
        return ends

    def _know(self, components: tuple[tuple[str, str], ...]) -> None:
        """Remember which components the state has, to check the next step's ``of`` against."""
        self._components = tuple(name for name, _ in components)

    def _note_stage(self, stage: str, array: npt.NDArray[Any]) -> None:
        self.stage = stage
        self._writing(lambda: self._kept.add(stage, array))

    def _state(self, experiment: Any) -> EncodedState:
        return self._guarded("state_dict", lambda: encode_state(experiment.state_dict()))

    def _store(self, state: EncodedState, step: int) -> tuple[tuple[str, str], ...]:
        name = checkpoint_name(step)
        stored = describe_state(state)

        def write() -> None:
            with (self._output / f"{name}.npz").open("wb") as stream:
                write_state(stream, state)
            document = encode_canonical(stored.model_dump(mode="json"))
            (self._output / f"{name}.json").write_bytes(document)

        self._writing(write)
        return stored.components

    def _writing(self, write: Callable[[], None]) -> None:
        """Write what is handed over; a disk that is full or fails is no fault of the experiment."""
        try:
            write()
        except OSError as error:
            raise CouldNotRunError(
                f"run {self._job.run!r}, step {self.step}: what was recorded cannot be handed "
                f"over: {error.strerror or error}"
            ) from error

    def _guarded(self, what: str, call: Callable[[], _T]) -> _T:
        """Call into the experiment; what it raises becomes one line that names the place."""
        try:
            return call()
        except RepropackError:
            raise
        except (Exception, SystemExit) as error:
            traceback.print_exc(file=sys.stderr)
            line = last_line(error)
            if self.step < self._job.first_step:
                entry_point = self._job.experiment.entry_point
                raise ExperimentLoadError(
                    f"entry point {entry_point!r}: {what} raised before the first step: {line}"
                ) from error
            raise _RaisedError(line if what == "step" else f"{what}: {line}") from error

    def place_of(self, error: BaseException) -> str | None:
        """Where in the experiment's source ``error`` came from, as a hint; ``None`` if nowhere."""
        source = Path(self._job.source).resolve()
        for frame in reversed(traceback.extract_tb((error.__cause__ or error).__traceback__)):
            file = Path(frame.filename).resolve()
            if file.is_relative_to(source):
                place = file.relative_to(source).as_posix()
                return f"look at {place}, line {frame.lineno}, in {frame.name}"
        return None


def _fingerprint_constants(constants: EncodedState) -> tuple[tuple[str, str], ...]:
    """Constants are fingerprinted name by name, so that a report can name the one that differs."""
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


def _failure(error: RepropackError, worker: _Worker) -> Failed:
    reason: FailureReason = "step"
    name, message, dtype = "", error.message, None
    if isinstance(error, ExperimentLoadError):
        reason = "load"
    elif isinstance(error, ConfigurationError):
        reason = "configuration"
    elif isinstance(error, CouldNotRunError):
        reason = "environment"
    elif isinstance(error, UnsupportedDtypeError):
        reason, name, message, dtype = "dtype", error.name, error.problem, error.dtype
    elif isinstance(error, StateError):
        reason, name, message = "state", error.name, error.problem
    hint = error.hint or worker.place_of(error)
    return Failed(
        reason=reason,
        name=one_line(name),
        message=one_line(message),
        hint=None if hint is None else one_line(hint),
        step=worker.step,
        stage=worker.stage,
        dtype=None if dtype is None else one_line(dtype),
    )
