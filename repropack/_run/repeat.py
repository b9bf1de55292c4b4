"""The judge's end of a repetition: one step of a run, in workers that differ in one thing."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass

from repropack._format.state import EncodedState
from repropack._run.execute import Launcher, write_start
from repropack._run.folders import new_folder, remove_tree
from repropack._run.handed import nonsense
from repropack._run.launch import run_worker
from repropack.errors import CouldNotRunError
from repropack.models.base import JsonObject
from repropack.models.plan import RecordPlan
from repropack.models.worker import Job, Message, Repeated

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Variables by which numeric libraries are told how many threads to use."""

_RUN = "repeat"


@dataclass(frozen=True)
class RepeatedStep:
    """The step that is repeated.

    Attributes:
        step: Its number.
        before: The state before it.
        config: The run's configuration, complete and encoded.
        hash_seed: ``PYTHONHASHSEED`` of the run.
    """

    step: int
    before: EncodedState
    config: JsonObject
    hash_seed: int = 0


def repeat_step(
    launcher: Launcher,
    repeated: RepeatedStep,
    times: int,
    *,
    threads: int | None = None,
    hash_seed: int | None = None,
) -> list[Repeated]:
    """Make a step some times in one process, each time from the same state and inputs.

    Args:
        launcher: How the runs of its plan are executed.
        repeated: The step.
        times: How often, at least 1.
        threads: How many threads numeric libraries are told to use; what they use where ``None``.
        hash_seed: Another hash seed than the run's.

    Returns:
        What each time gave, in order.

    Raises:
        ExperimentError: the experiment failed.
        CouldNotRunError: the worker died, or said something else than it was asked.
    """
    plan = launcher.plan.experiment
    variables = {} if threads is None else dict.fromkeys(THREAD_VARIABLES, str(threads))
    scratch = new_folder("repeat-", launcher.scratch)
    try:
        for folder in ("handed", "scratch"):
            (scratch / folder).mkdir()
        write_start(repeated.before, scratch / "start")
        job = Job(
            run=_RUN,
            source=str(launcher.source_in(scratch)),
            output=str(scratch / "handed"),
            copy_folder=str(launcher.lay_out_in(scratch / "scratch")),
            experiment=plan.model_copy(
                update={
                    "config": repeated.config,
                    "steps": repeated.step,
                    "environment": {**plan.environment, **variables},
                }
            ),
            record=RecordPlan(),
            first_step=repeated.step,
            start=str(scratch / "start"),
            repeat=times,
        )
        messages = run_worker(
            job,
            scratch=scratch / "scratch",
            hash_seed=repeated.hash_seed if hash_seed is None else hash_seed,
            sandbox=launcher.sandbox,
            runtime=launcher.runtime,
        )
        return _collect(messages, times)
    finally:
        remove_tree(scratch)


def _collect(messages: Generator[Message, None, None], times: int) -> list[Repeated]:
    """What each time gave; a worker that says anything else is ended."""
    told: list[Repeated] = []
    with contextlib.closing(messages):
        for message in messages:
            if not isinstance(message, Repeated):
                continue
            if message.number != len(told) + 1 or len(told) == times:
                problem = f"expected repetition {len(told) + 1} of {times}"
                raise _nonsense(f"{problem}, observed {message.number}")
            told.append(message)
    if len(told) != times:
        raise _nonsense(f"expected the step {times} times, observed {len(told)}")
    return told


def _nonsense(problem: str) -> CouldNotRunError:
    return nonsense(_RUN, problem)
