"""Execute the runs of a plan, each in a fresh worker, and record them below a tree.

``build`` and ``verify`` both come through here, so that what is recorded is what a verifier sees.
A worker gets source, configuration, seed and at most one complete starting state; it never sees
recorded results, logs or the manifest. A build keeps notes, so that a run that has ended is not
run again and one that was interrupted goes on.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from repropack._format.layout import REFERENCE_RUN, RUNS, SOURCE
from repropack._format.log import CHAIN_START
from repropack._format.state import EncodedState, component_of
from repropack._read.consistency import planned_config
from repropack._read.container import open_container
from repropack._read.run import RunReader
from repropack._run.clean_copy import (
    check_unchanged,
    find_others,
    find_outputs,
    lay_out,
    output_stages,
    take_outputs,
)
from repropack._run.confinement.sandbox import UNCONFINED, Sandbox
from repropack._run.continuing import Continuation, RunJournal
from repropack._run.folders import digest_tree, new_folder, remove_tree
from repropack._run.launch import run_worker
from repropack._run.materials import Materials
from repropack._run.recorder import RecordedRun, Recorder
from repropack._run.runtime import PRESENT, Runtime
from repropack._run.session import START_NAME
from repropack._run.state_files import write_state_files
from repropack._run.zoom import SeenStep
from repropack.errors import CouldNotRunError, StateError
from repropack.models.log import Declaration
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.worker import Job, Message, Watched

_T = TypeVar("_T")
OnStep = Callable[[str, int, int], None]
"""Called with a run's name, the step just recorded, and the last step planned."""
OnWatched = Callable[[str, Watched], None]
"""Called with a run's name and what its worker saw."""


@dataclass(frozen=True)
class Launcher:
    """Where and how the runs of one plan are executed.

    No run sees another's files: each works in a folder of its own, on its own copy of the source.

    Attributes:
        plan: What to run.
        materials: Source and inputs. A run's copy of the source is importable in its worker.
        tree: Root below which ``runs/<run>/`` is written.
        scratch: An existing folder for the workers' own files.
        sandbox: How the workers are confined, and the limits on each run.
        on_step: Progress.
        runs: Files of finished runs that a command is given as well, by path in a package.
        notes: Folder in which notes of the runs are kept, or ``None``: then nothing is continued,
            and nothing is synced.
        runtime: The interpreter of the workers.
        on_watched: Called with a run's name and what its worker saw, where runs are watched.
        watch_at: Steps after which the objects of an experiment are looked at.
        store_at: Steps after which a checkpoint is stored beside those of the plan.
        reset_values: Names of the state that a resuming run finds reset besides components.
        zoom: A step that the run's worker hands over whole.
    """

    plan: Plan
    materials: Materials
    tree: Path
    scratch: Path
    sandbox: Sandbox = UNCONFINED
    on_step: OnStep | None = None
    runs: Mapping[str, Path] = field(default_factory=dict)
    notes: Path | None = None
    runtime: Runtime = PRESENT
    on_watched: OnWatched | None = None
    watch_at: tuple[int, ...] = ()
    store_at: tuple[int, ...] = ()
    reset_values: frozenset[str] = frozenset()
    zoom: SeenStep | None = None

    def run_reference(self, name: str = REFERENCE_RUN) -> RecordedRun:
        """Run the experiment from its first state to its end.

        Args:
            name: The run's name, and that of its folder.

        Returns:
            What the run told; its files lie below ``tree``.

        Raises:
            ExperimentError: the experiment failed.
            CouldNotRunError: the worker died.
        """
        return self._run(name, None, None)

    def try_round_trip(self) -> None:
        """Try, with one step in a process of its own, whether a state comes back when it is loaded.

        What else goes wrong is left to the run itself, which tells it with all that was recorded.

        Raises:
            ExperimentError: the experiment cannot begin, or its first state does not come back.
        """
        scratch = new_folder("trial-", self.scratch)
        try:
            for folder in ("handed", "scratch"):
                (scratch / folder).mkdir()
            job = Job(
                run="trial",
                source=str(self.source_in(scratch)),
                output=str(scratch / "handed"),
                copy_folder=str(self.lay_out_in(scratch / "scratch")),
                experiment=self.plan.experiment,
                record=self.plan.record,
                first_step=1,
                trial=True,
            )
            messages = run_worker(job, scratch=scratch / "scratch", sandbox=self.sandbox)
            with contextlib.closing(messages), contextlib.suppress(CouldNotRunError):
                for _ in messages:
                    pass
        finally:
            remove_tree(scratch)

    def run_comparison(self, comparison: ComparisonPlan, reference: RunReader) -> RecordedRun:
        """Run under one intervention; a resume starts from ``reference``'s stored checkpoint.

        Args:
            comparison: The intervention; its ``hash_seed`` is 0 where it has none.
            reference: The reference run that the package holds.

        Returns:
            What the run told; its files lie below ``tree``.

        Raises:
            ExperimentError: the experiment failed, or a component to reset does not exist.
            CouldNotRunError: the worker died.
            PackageError: the stored checkpoint is damaged.
            UsageError: the reference stores no checkpoint after the step to resume at.
        """
        return self._run(comparison.name, comparison, reference)

    def _run(
        self, name: str, comparison: ComparisonPlan | None, reference: RunReader | None
    ) -> RecordedRun:
        journal = None
        if self.notes is not None:
            journal = RunJournal(name, self.tree, self.notes / name)
            finished = journal.finished()
            if finished is not None:
                return finished
        scratch = new_folder(f"{name}-", self.scratch)
        try:
            start = self._start(comparison, reference, journal, scratch / "start")
            own = scratch / "own" if journal is None else journal.folder
            for folder in (scratch / "handed", scratch / "scratch", own):
                folder.mkdir(exist_ok=True)
            source, copy = self.source_in(scratch), self.lay_out_in(scratch / "scratch")
            job = Job(
                run=name,
                source=str(source),
                output=str(scratch / "handed"),
                copy_folder=str(copy),
                experiment=self.plan.experiment.model_copy(
                    update={"config": planned_config(self.plan, comparison)}
                ),
                record=self.plan.record,
                first_step=start.step + 1,
                start=start.folder,
                watch_at=self.watch_at,
                store_at=self.store_at,
                zoom_step=None if self.zoom is None else self.zoom.step,
            )
            recorder = Recorder(
                name,
                self.tree,
                scratch / "handed",
                own,
                _first_step(comparison),
                keep=self.plan.record.keep,
                chain=start.chain,
                declared=start.declared,
                last_step=self.plan.experiment.steps,
                journal=journal,
                continued=start.continued,
                zoom=self.zoom,
            )
            hash_seed = (comparison.hash_seed if comparison is not None else None) or 0
            messages = run_worker(
                job,
                scratch=scratch / "scratch",
                hash_seed=hash_seed,
                sandbox=self.sandbox,
                recorded=self.tree / RUNS / name,
                runtime=self.runtime,
            )
            self._record(recorder, messages)
            if self.sandbox.level != "none":
                _require_same(self.materials.source, source, name)
            check_unchanged(name, self._given(), copy)
            self._take_outputs(name, copy)
            result = recorder.result().model_copy(
                update={"not_compared": self._not_compared(name, copy)}
            )
            if journal is not None:
                journal.finish(result)
            return result
        finally:
            remove_tree(scratch)

    def _start(
        self,
        comparison: ComparisonPlan | None,
        reference: RunReader | None,
        journal: RunJournal | None,
        folder: Path,
    ) -> _Start:
        """Where the run goes on or begins, its starting state written to ``folder``."""
        plan = self.plan
        if journal is not None:
            whole = bool(plan.experiment.outputs)
            continued = journal.begin(plan.record.keep, plan.experiment.steps, whole=whole)
            if continued is not None:
                write_start(continued.state, folder)
                return _Start(continued.step, continued.chain, None, str(folder), continued)
        if comparison is not None and reference is not None:
            return _compose_start(comparison, reference, folder, self.reset_values)
        return _Start()

    def source_in(self, scratch: Path) -> Path:
        """A copy of the source for one run, which it can read.

        Args:
            scratch: The folder in which it is made.

        Returns:
            The copy.
        """
        source = scratch / SOURCE
        shutil.copytree(self.materials.source, source)
        return source

    def _given(self) -> dict[str, Path]:
        """What lies in the working folder of a run: all of it for a command, else the inputs."""
        inputs = self.materials.input_paths()
        if self.plan.experiment.command is None:
            return inputs
        return self.materials.source_paths() | inputs | dict(self.runs)

    def lay_out_in(self, folder: Path) -> Path:
        """The working folder of a run's code: a clean copy for a command.

        Args:
            folder: The worker's folder; the clean copy of a command is made in it.

        Returns:
            The folder to work in.
        """
        copy = folder if self.plan.experiment.command is None else folder / "copy"
        copy.mkdir(exist_ok=True)
        lay_out(self._given(), copy)
        return copy

    def _take_outputs(self, name: str, copy: Path) -> None:
        """Take over what a command wrote, which has to be what its log says of it.

        A loop's outputs are the reference's alone: a run that resumes writes only a part of them.

        Raises:
            CouldNotRunError: it is not.
        """
        experiment = self.plan.experiment
        if not experiment.outputs or (experiment.loop and name != REFERENCE_RUN):
            return
        files = find_outputs(name, experiment.outputs, copy, self._given())
        if not experiment.loop:
            with open_container(self.tree) as container:
                recorded = next(RunReader(container, name).steps()).stages
            if output_stages(name, files, copy) != list(recorded or ()):
                raise CouldNotRunError(f"run {name!r}: its outputs are not those that it told")
        take_outputs(name, files, copy, self.tree)

    def _not_compared(self, name: str, copy: Path) -> tuple[str, ...]:
        """What the reference's command wrote that no pattern of outputs matches."""
        experiment = self.plan.experiment
        if experiment.command is None or name != REFERENCE_RUN:
            return ()
        return tuple(find_others(experiment.outputs, copy, self._given()))

    def _record(self, recorder: Recorder, messages: Generator[Message, None, None]) -> None:
        """Record a run; the worker is ended here, whatever happens."""
        with contextlib.closing(messages):
            for step in recorder.record(self._to_record(recorder.name, messages)):
                if self.on_step is not None:
                    self.on_step(recorder.name, step, self.plan.experiment.steps)

    def _to_record(self, name: str, messages: Iterator[Message]) -> Iterator[Message]:
        """What is recorded of a run; what was seen besides goes to whoever watches."""
        for message in messages:
            if not isinstance(message, Watched):
                yield message
            elif self.on_watched is not None:
                self.on_watched(name, message)


def _require_same(source: Path, copy: Path, name: str) -> None:
    """What was executed is what was checked, also when the run is over."""
    if digest_tree(source) != digest_tree(copy):
        raise CouldNotRunError(
            f"run {name!r}: its source changed while it ran: expected the packaged bytes, "
            "observed others"
        )


@dataclass(frozen=True)
class _Start:
    """Where a run begins: fresh, or in a folder that holds a complete starting state."""

    step: int = 0
    chain: str = CHAIN_START
    declared: tuple[Declaration, ...] | None = None
    folder: str | None = None
    continued: Continuation | None = None


def _first_step(comparison: ComparisonPlan | None) -> int:
    """The first step of a run, also of one that is continued at a later."""
    return ((comparison.resume_at if comparison is not None else None) or 0) + 1


def _compose_start(
    comparison: ComparisonPlan, reference: RunReader, folder: Path, values: frozenset[str]
) -> _Start:
    """Write the starting state of a run that resumes: the checkpoint, reset where it is to be."""
    if comparison.resume_at is None:
        return _Start()
    document, state = reference.checkpoint(comparison.resume_at)
    if comparison.reset or values:
        _, initial = reference.checkpoint(reference.header.first_step - 1)
        known = {component_of(name) for name in state.names()} & {
            component_of(name) for name in initial.names()
        }
        for component in comparison.reset:
            if component not in known:
                raise StateError(
                    component,
                    f"is to be reset by comparison {comparison.name!r}: expected one of the "
                    f"components {', '.join(sorted(known))}",
                )
        state = _merged(state, initial, values.union(comparison.reset))
    write_start(state, folder)
    return _Start(comparison.resume_at, document.chain, reference.header.stages, str(folder))


def write_start(state: EncodedState, folder: Path) -> None:
    """Write a complete starting state for a worker.

    Args:
        state: The state.
        folder: The folder that is made for it.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir()
    write_state_files(folder, START_NAME, state)


def _merged(state: EncodedState, initial: EncodedState, reset: frozenset[str]) -> EncodedState:
    """``state`` with the components and names in ``reset`` taken from ``initial``."""
    return EncodedState(
        _pick(state.arrays, initial.arrays, reset), _pick(state.values, initial.values, reset)
    )


def _pick(now: Mapping[str, _T], then: Mapping[str, _T], reset: frozenset[str]) -> dict[str, _T]:
    kept = {name: value for name, value in now.items() if not _is_reset(name, reset)}
    back = {name: value for name, value in then.items() if _is_reset(name, reset)}
    return dict(sorted({**kept, **back}.items()))


def _is_reset(name: str, reset: frozenset[str]) -> bool:
    return component_of(name) in reset or name.split("#", 1)[0] in reset
