"""Execute the runs of a plan, each in a fresh worker, and record them below a tree.

``build`` and ``verify`` both come through here, so that what is recorded is what a verifier sees.
A worker gets source, configuration, seed and at most one complete starting state; it never sees
recorded results, logs or the manifest.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import describe_state, write_state
from repropack._format.layout import REFERENCE_RUN
from repropack._format.log import CHAIN_START
from repropack._format.state import EncodedState, component_of
from repropack._read.consistency import planned_config
from repropack._read.run import RunReader
from repropack._run.launch import run_worker
from repropack._run.recorder import RecordedRun, Recorder
from repropack._run.worker import START_NAME
from repropack.errors import StateError
from repropack.models.log import Declaration
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.worker import Job, Message

_T = TypeVar("_T")
OnStep = Callable[[str, int, int], None]
"""Called with a run's name, the step just recorded, and the last step planned."""


@dataclass(frozen=True)
class Launcher:
    """Where and how the runs of one plan are executed.

    No run sees another's files: each works in a folder of its own, on its own copy of the source.

    Attributes:
        plan: What to run.
        source: Folder of the experiment's source; a run's copy of it is importable in its worker.
        tree: Root below which ``runs/<run>/`` is written.
        scratch: An existing folder for the workers' own files.
        memory_bytes: Limit on a worker's address space, or ``None``.
        on_step: Progress.
    """

    plan: Plan
    source: Path
    tree: Path
    scratch: Path
    memory_bytes: int | None = None
    on_step: OnStep | None = None

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
        scratch = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.scratch)).absolute()
        try:
            handed, here = scratch / "handed", scratch / "scratch"
            handed.mkdir()
            here.mkdir()
            shutil.copytree(self.source, scratch / "source")
            start = _Start()
            if comparison is not None and reference is not None:
                start = _compose_start(comparison, reference, scratch / "start")
            job = Job(
                run=name,
                source=str(scratch / "source"),
                output=str(handed),
                experiment=self.plan.experiment.model_copy(
                    update={"config": planned_config(self.plan, comparison)}
                ),
                record=self.plan.record,
                first_step=start.first_step,
                start=start.folder,
                memory_bytes=self.memory_bytes,
            )
            recorder = Recorder(
                name,
                self.tree,
                handed,
                start.first_step,
                keep=self.plan.record.keep,
                chain=start.chain,
                declared=start.declared,
                last_step=self.plan.experiment.steps,
            )
            hash_seed = (comparison.hash_seed if comparison is not None else None) or 0
            self._record(recorder, run_worker(job, scratch=here, hash_seed=hash_seed))
            return recorder.result()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _record(self, recorder: Recorder, messages: Generator[Message, None, None]) -> None:
        """Record a run; the worker is ended here, whatever happens."""
        with contextlib.closing(messages):
            for step in recorder.record(messages):
                if self.on_step is not None:
                    self.on_step(recorder.name, step, self.plan.experiment.steps)


@dataclass(frozen=True)
class _Start:
    """Where a run begins: fresh, or in a folder that holds a complete starting state."""

    first_step: int = 1
    chain: str = CHAIN_START
    declared: tuple[Declaration, ...] | None = None
    folder: str | None = None


def _compose_start(comparison: ComparisonPlan, reference: RunReader, folder: Path) -> _Start:
    """Write the starting state of a run that resumes: the checkpoint, reset where it is to be."""
    if comparison.resume_at is None:
        return _Start()
    document, state = reference.checkpoint(comparison.resume_at)
    if comparison.reset:
        _, initial = reference.checkpoint(reference.header.first_step - 1)
        known = {component_of(name) for name in state.names()}
        for component in comparison.reset:
            if component not in known:
                raise StateError(
                    component,
                    f"is to be reset by comparison {comparison.name!r}: expected one of the "
                    f"components {', '.join(sorted(known))}",
                )
        state = _merged(state, initial, frozenset(comparison.reset))
    folder.mkdir()
    with (folder / f"{START_NAME}.npz").open("wb") as stream:
        write_state(stream, state)
    stored = encode_canonical(describe_state(state).model_dump(mode="json"))
    (folder / f"{START_NAME}.json").write_bytes(stored)
    return _Start(
        first_step=comparison.resume_at + 1,
        chain=document.chain,
        declared=reference.header.stages,
        folder=str(folder),
    )


def _merged(state: EncodedState, initial: EncodedState, reset: frozenset[str]) -> EncodedState:
    """``state`` with the components in ``reset`` taken from ``initial``."""
    return EncodedState(
        _pick(state.arrays, initial.arrays, reset), _pick(state.values, initial.values, reset)
    )


def _pick(now: Mapping[str, _T], then: Mapping[str, _T], reset: frozenset[str]) -> dict[str, _T]:
    kept = {name: value for name, value in now.items() if component_of(name) not in reset}
    back = {name: value for name, value in then.items() if component_of(name) in reset}
    return dict(sorted({**kept, **back}.items()))
