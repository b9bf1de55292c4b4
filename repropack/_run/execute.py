"""Execute the runs of a plan, each in a fresh worker, and record them below a tree.

``build`` and ``verify`` both come through here, so that what is recorded is what a verifier sees.
A worker gets source, configuration, seed and at most one complete starting state; it never sees
recorded results, logs or the manifest.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
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
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.worker import Job

_T = TypeVar("_T")
OnStep = Callable[[str, int, int], None]
"""Called with a run's name, the step just recorded, and the last step planned."""


@dataclass(frozen=True)
class Launcher:
    """Where and how the runs of one plan are executed.

    Attributes:
        plan: What to run.
        source: Folder of the experiment's source; its modules are importable in the worker.
        tree: Root below which ``runs/<run>/`` is written.
        scratch: Folder for the workers' own files.
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

        Returns:
            What the run told; its files lie below ``tree``.

        Raises:
            ExperimentError: the experiment failed.
            CouldNotRunError: the worker died.
        """
        return self._run(name, None, None)

    def run_comparison(self, comparison: ComparisonPlan, reference: RunReader) -> RecordedRun:
        """Run under one intervention; a resume starts from ``reference``'s stored checkpoint.

        Returns:
            What the run told; its files lie below ``tree``.

        Raises:
            ExperimentError: the experiment failed, or a component to reset does not exist.
            CouldNotRunError: the worker died.
            PackageError: the stored checkpoint is damaged.
        """
        return self._run(comparison.name, comparison, reference)

    def _run(
        self, name: str, comparison: ComparisonPlan | None, reference: RunReader | None
    ) -> RecordedRun:
        scratch = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.scratch))
        try:
            handed = scratch / "handed"
            handed.mkdir()
            chain, first_step, start = CHAIN_START, 1, None
            if (
                comparison is not None
                and reference is not None
                and comparison.resume_at is not None
            ):
                start = scratch / "start"
                chain = _compose_start(comparison, reference, start)
                first_step = comparison.resume_at + 1
            job = Job(
                run=name,
                source=str(self.source),
                output=str(handed),
                experiment=self.plan.experiment.model_copy(
                    update={"config": planned_config(self.plan, comparison)}
                ),
                record=self.plan.record,
                first_step=first_step,
                start=str(start) if start is not None else None,
                memory_bytes=self.memory_bytes,
            )
            recorder = Recorder(
                name, self.tree, handed, first_step, keep=self.plan.record.keep, chain=chain
            )
            hash_seed = comparison.hash_seed if comparison is not None else None
            for step in recorder.record(run_worker(job, scratch=scratch, hash_seed=hash_seed or 0)):
                if self.on_step is not None:
                    self.on_step(name, step, self.plan.experiment.steps)
            return recorder.result()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _compose_start(comparison: ComparisonPlan, reference: RunReader, folder: Path) -> str:
    """Write the starting state of a resumed run; returns the chain that the run continues."""
    document, state = reference.checkpoint(comparison.resume_at or 0)
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
    return document.chain


def _merged(state: EncodedState, initial: EncodedState, reset: frozenset[str]) -> EncodedState:
    """``state`` with the components in ``reset`` taken from ``initial``."""
    return EncodedState(
        _pick(state.arrays, initial.arrays, reset), _pick(state.values, initial.values, reset)
    )


def _pick(now: Mapping[str, _T], then: Mapping[str, _T], reset: frozenset[str]) -> dict[str, _T]:
    kept = {name: value for name, value in now.items() if component_of(name) not in reset}
    back = {name: value for name, value in then.items() if component_of(name) in reset}
    return dict(sorted({**kept, **back}.items()))
