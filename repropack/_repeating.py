"""Repeat one step in one process and in several, with threads and hash seed varied."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from repropack._compare.logs import STATE_PREFIX
from repropack._format.state import EncodedState
from repropack._read.consistency import planned_config
from repropack._run.execute import Launcher
from repropack._run.repeat import RepeatedStep, repeat_step
from repropack.models.log import StepLine
from repropack.models.plan import ComparisonPlan
from repropack.models.worker import Repeated
from repropack.models.zoom import RepeatedGroup, RepeatedResult, RepeatVariation, Repetition

_HASH_SEEDS = (1, 2)
_Results = dict[str, str]
"""Fingerprints by name: stages in order of execution, then components as ``state:<name>``."""
_Rows = Sequence[tuple[str, str]]


def repeat_apart(
    repetition: Repetition,
    launcher: Launcher,
    comparison: ComparisonPlan | None,
    before: EncodedState,
    recorded: StepLine | None,
    times: int,
) -> Repetition:
    """Make one step again and again from the same state and inputs, one thing varied at a time.

    Args:
        repetition: The run, the step and what diverged there.
        launcher: How the runs of its plan are executed.
        comparison: The intervention of its run.
        before: The state before the step.
        recorded: What is recorded of the step.
        times: How often under each variation.

    Returns:
        How many distinct results there were under each, and whether they are as recorded.

    Raises:
        ExperimentError: the experiment failed.
        CouldNotRunError: a worker died.
    """
    step = RepeatedStep(
        repetition.step,
        before,
        planned_config(launcher.plan, comparison),
        (comparison.hash_seed if comparison is not None else None) or 0,
    )
    known = {} if recorded is None else _results(recorded.stages, recorded.state)
    first: _Results | None = None
    groups = []
    for variation, setting, told in _varied(launcher, step, times):
        results = [_results(one.stages, one.state) for one in told]
        first = results[0] if first is None else first
        groups.append(
            RepeatedGroup(
                variation=variation,
                setting=setting,
                times=len(results),
                results=_counted(results, first, known),
            )
        )
    return repetition.model_copy(update={"groups": tuple(groups)})


def _varied(
    launcher: Launcher, step: RepeatedStep, times: int
) -> Iterator[tuple[RepeatVariation, int | None, list[Repeated]]]:
    yield "one-process", None, repeat_step(launcher, step, times)
    fresh = [one for _ in range(times) for one in repeat_step(launcher, step, 1)]
    yield "fresh-processes", None, fresh
    for threads in sorted({1, 2, os.cpu_count() or 1}):
        yield "threads", threads, repeat_step(launcher, step, times, threads=threads)
    for seed in _HASH_SEEDS:
        yield "hash-seed", seed, repeat_step(launcher, step, times, hash_seed=seed)


def _results(stages: _Rows | None, state: _Rows | None) -> _Results:
    components = {f"{STATE_PREFIX}{name}": fingerprint for name, fingerprint in state or ()}
    return {**dict(stages or ()), **components}


def _counted(
    results: Sequence[_Results], first: _Results, recorded: _Results
) -> tuple[RepeatedResult, ...]:
    names = dict.fromkeys(name for one in (first, *results) for name in one)
    return tuple(
        RepeatedResult(
            name=name,
            distinct=len({one.get(name) for one in results}),
            as_first=results[0].get(name) == first.get(name),
            as_recorded=results[0].get(name) == recorded[name] if name in recorded else None,
        )
        for name in names
    )
