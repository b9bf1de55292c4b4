"""Look at the step at which two runs part: what holds its arrays, or making it again.

What is stored is used first, and then nothing runs. A replay begins at the last checkpoint before
the step; where it does not give the step's recorded fingerprints, at the run's first state.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from repropack._compare.draws import first_distances
from repropack._compare.logs import LogComparison, view_from
from repropack._compare.zoomed import METRIC_ALONE, Looked, StepArrays, Wanted, look, wanted_of
from repropack._format.state import EncodedState
from repropack._read.container import open_container
from repropack._read.run import RunReader
from repropack._run.execute import Launcher
from repropack._run.zoom import SeenStep
from repropack.models.log import StepLine
from repropack.models.patterns import DrawDistance
from repropack.models.plan import ComparisonPlan, RecordPlan
from repropack.models.results import Divergence
from repropack.models.zoom import Zoom, ZoomSide

ZOOM_RUN = "zoom"
"""Name of the run that is made to look at a step; the experiment never learns of it."""

_Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Source:
    """A run, and where the arrays of one of its steps come from.

    Attributes:
        run: The run whose log is compared.
        stored: The run that holds its checkpoints and kept stages: itself, or the reference where
            it is identical to that.
        prepare: Makes ready to make its steps again, when that is needed; ``None`` where they are
            not made again.
        comparison: Its intervention.
        why_not: Why its steps are not made again, where they are not.
        seen: A step of a second run that was looked at while it was made, and that run.
        tries: How many replays are made at most until one gives what is recorded.
    """

    run: RunReader
    stored: RunReader
    prepare: Callable[[], Launcher] | None = None
    comparison: ComparisonPlan | None = None
    why_not: str = "it is a log without its package"
    seen: tuple[SeenStep, RunReader] | None = None
    tries: int = 3


@dataclass(frozen=True)
class Replay:
    """A step that was made again."""

    side: ZoomSide
    arrays: StepArrays
    run: RunReader


@dataclass(frozen=True)
class Found:
    """What was looked at, and the arrays of both sides for who wants to keep them."""

    zoom: Zoom
    wanted: Wanted
    sides: tuple[StepArrays, StepArrays] | None = None


def zoom_into(
    divergence: Divergence,
    expected: Source,
    observed: Source,
    scratch: Path,
    stack: ExitStack,
    *,
    whole: bool = False,
) -> Found:
    """Look at the elements of the step at which two runs part.

    Args:
        divergence: Where they part.
        expected: The run that is expected.
        observed: The run that is held against it.
        scratch: An existing folder, for replays.
        stack: Closes what the replays wrote.
        whole: Inputs that are equal are wanted too.

    Returns:
        The elements; or why there are none.

    Raises:
        ExperimentError: the experiment failed in a replay.
        CouldNotRunError: a worker died.
        PackageError: what is stored is damaged.
    """
    wanted = wanted_of(divergence)
    if isinstance(wanted, str):
        return Found(without(divergence, wanted), Wanted())
    looking = _Looking(divergence.step, scratch, stack, whole=whole)
    sides = [
        looking.stored(source, wanted) or looking.made_again(source)
        for source in (expected, observed)
    ]
    reasons = [side for side in sides if isinstance(side, str)]
    left, right = sides
    if isinstance(left, str) or isinstance(right, str):
        return Found(without(divergence, "; ".join(reasons)), wanted)
    earlier = _earlier(divergence, left, right)
    if earlier is not None:
        folder = scratch / "earlier"
        folder.mkdir()
        found = zoom_into(earlier, expected, observed, folder, stack, whole=whole)
        return replace(found, zoom=found.zoom.model_copy(update={"divergence": earlier}))
    if wanted.empty:
        return Found(without(divergence, METRIC_ALONE), wanted)
    looked = look(wanted, divergence.step, left.arrays, right.arrays)
    return Found(_told(divergence, looked, left, right), wanted, (left.arrays, right.arrays))


def without(divergence: Divergence, problem: str) -> Zoom:
    """What is reported where there is nothing to look at."""
    return Zoom(step=divergence.step, name=divergence.stage, problem=problem)


def _told(divergence: Divergence, looked: Looked, left: Replay, right: Replay) -> Zoom:
    lacking = ", ".join(looked.lacking)
    return Zoom(
        step=divergence.step,
        name=divergence.stage,
        expected=left.side,
        observed=right.side,
        arrays=tuple(looked.arrays),
        values=tuple(looked.values),
        left_out=looked.left_out,
        draws=_draws(divergence.step, left.arrays, right.arrays),
        problem=f"not recorded on both sides when the step was made again: {lacking}"
        if lacking
        else None,
    )


def _draws(step: int, left: StepArrays, right: StepArrays) -> tuple[DrawDistance, ...]:
    """How far generators are apart, before the step or after it."""
    states = ((after, left.state(after=after), right.state(after=after)) for after in (False, True))
    return first_distances(
        (step if after else step - 1, one, other)
        for after, one, other in states
        if one is not None and other is not None
    )


def _earlier(divergence: Divergence, left: Replay, right: Replay) -> Divergence | None:
    """Where two replays part, which recorded every step, if that is before the recorded place."""
    by_metric = divergence.kind == "metric"
    if divergence.last_equal_step + 1 >= divergence.step and not by_metric:
        return None
    runs = left.run, right.run
    if any(side.side.reproduced is not True for side in (left, right)):
        return None
    first_step = max(run.header.first_step for run in runs)
    views = [view_from(run.header, run.start, run.steps(), first_step) for run in runs]
    walk = LogComparison(views[0], views[1], first_step)
    for _ in walk.pairs():
        if walk.divergence is not None:
            break
    found = walk.divergence
    if found is None or (by_metric and found.kind == "metric"):
        return None
    return found if found.step < divergence.step or by_metric else None


@dataclass(frozen=True)
class _Start:
    """Where a replay begins: with the state after ``step`` restored, or anew."""

    step: int
    restored: bool


class _Stored:
    """What a run holds of a step: kept stages, and checkpoints after it and after the one before.

    Kept rows and checkpoints are held against their fingerprints by ``check``.
    """

    def __init__(self, run: RunReader, step: int) -> None:
        self._run = run
        self._step = step

    def stage(self, name: str) -> _Array | None:
        rows = self._run.kept_rows(name, self._step)
        return None if rows is None else next(rows, None)

    def state(self, *, after: bool) -> EncodedState | None:
        step = self._step if after else self._step - 1
        if step not in self._run.checkpoint_steps():
            return None
        return self._run.checkpoint(step)[1]


@dataclass(frozen=True)
class _Looking:
    """Finds the arrays of one step."""

    step: int
    scratch: Path
    stack: ExitStack
    whole: bool

    def stored(self, source: Source, wanted: Wanted) -> Replay | None:
        """The arrays where all that is wanted is stored, so that nothing needs to run."""
        if wanted.empty:
            return None
        arrays = _Stored(source.stored, self.step)
        stages, before, after = wanted.stages, bool(wanted.before), bool(wanted.after)
        if self.whole:
            stages, before = (*stages, *wanted.input_stages), True
        steps = source.stored.checkpoint_steps()
        if (before and self.step - 1 not in steps) or (after and self.step not in steps):
            return None
        if any(arrays.stage(stage) is None for stage in stages):
            return None
        return Replay(ZoomSide(run=source.run.name, origin="stored"), arrays, source.run)

    def made_again(self, source: Source) -> Replay | str:
        """The arrays of the step as it is made again, or why it is not."""
        name = source.run.name
        found = self._seen(source)
        if found is not None and found.side.reproduced:
            return found
        if source.prepare is None and found is None:
            return f"step {self.step} of run {name!r} is not made again: {source.why_not}"
        starts = self._starts(source) if source.prepare is not None else ()
        for start in starts[: source.tries]:
            again = self._replayed(source, start)
            found = found or again
            if again is not None and again.side.reproduced:
                return again
        return found or f"run {name!r} ended before step {self.step} when it was made again"

    def _seen(self, source: Source) -> Replay | None:
        """The step as it was looked at in a second run."""
        if source.seen is None:
            return None
        seen, run = source.seen
        if not seen.taken or seen.step != self.step:
            return None
        return self._described(source, seen, run, run.header.first_step - 1)

    def _starts(self, source: Source) -> tuple[_Start, ...]:
        """Where a replay may begin: at the last checkpoint, at the first, and without any."""
        first = source.run.header.first_step - 1
        held = [step for step in source.stored.checkpoint_steps() if first <= step < self.step]
        starts = [_Start(step, restored=True) for step in dict.fromkeys(held[-1:] + held[:1])]
        if source.comparison is None or source.comparison.resume_at is None:
            starts.append(_Start(first, restored=False))
        return tuple(starts)

    def _replayed(self, source: Source, start: _Start) -> Replay | None:
        if source.prepare is None:
            return None
        launcher = source.prepare()
        folder = self.scratch / str(len(list(self.scratch.iterdir())))
        folder.mkdir()
        plan = launcher.plan
        record = RecordPlan(printed=plan.record.printed)
        experiment = plan.experiment.model_copy(update={"steps": self.step})
        seen = SeenStep(self.step, folder / "seen")
        again = replace(
            launcher,
            plan=plan.model_copy(update={"experiment": experiment, "record": record}),
            tree=folder,
            zoom=seen,
        )
        own = source.comparison or ComparisonPlan(name=ZOOM_RUN)
        comparison = ComparisonPlan(
            name=ZOOM_RUN,
            resume_at=start.step if start.restored else None,
            config=own.config,
            hash_seed=own.hash_seed,
        )
        again.run_comparison(comparison, source.stored)
        if not seen.taken:  # the experiment has ended the run before
            return None
        container = self.stack.enter_context(open_container(folder))
        return self._described(source, seen, RunReader(container, ZOOM_RUN), start.step)

    def _described(self, source: Source, seen: SeenStep, run: RunReader, start: int) -> Replay:
        recorded, made = (next(one.steps(self.step), None) for one in (source.run, run))
        side = ZoomSide(
            run=source.run.name,
            origin="replay",
            from_checkpoint=start,
            reproduced=_reproduces(recorded, made),
        )
        return Replay(side, seen, run)


def _reproduces(recorded: StepLine | None, made: StepLine | None) -> bool:
    """Whether a replay gave what was recorded of a step."""
    if recorded is None or made is None:
        return False
    pairs: tuple[tuple[Any, Any], ...] = (
        (recorded.stages, made.stages),
        (recorded.state, made.state),
        (recorded.metrics or None, made.metrics or None),
    )
    known = [one == two for one, two in pairs if one is not None and two is not None]
    return bool(known) and all(known)
