"""Say where one run parts from another, reading their logs and running nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repropack._compare.logs import LogView, as_stored, split, view_from
from repropack._compare.patterns import difference_with_patterns
from repropack._compare.runs import RunWalk
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.log import LogReader
from repropack._format.log_search import LogIndex, first_unequal
from repropack._format.paths import shown_path
from repropack._read.decisions import measure_decision
from repropack._read.draws import measure_draws
from repropack._read.findings import Findings
from repropack._read.forms import common_checkpoint, stored_forms
from repropack._read.side_logs import DamagedError, SideLog
from repropack._read.sides import OpenLog, read_side
from repropack.errors import PackageError, UsageError
from repropack.models.log import HeaderLine
from repropack.models.results import Split
from repropack.models.run_difference import FormChange, RunDifference, WhyIncomparable

_MAX_FORMS = 100


def diff_runs(
    left: str | Path,
    right: str | Path,
    *,
    believe_chains: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> RunDifference:
    """Compare two runs on the steps that both have: where they part, and how far.

    Both logs are read to their ends, every chain is computed again, and the log of a run in a
    package has the digest that the manifest lists. Memory does not grow with the logs.

    Args:
        left: What is expected: a log, ``PACKAGE::runs/NAME``, or a package, whose reference is
            meant.
        right: What is held against it.
        believe_chains: Search for the divergence by the recorded chains and read a few lines
            instead of all. A log whose chains were made up misleads that, and nothing is counted.
        limits: Limits on reading either.

    Returns:
        The first divergence, how often each part differs, whether the runs meet again; why two logs
        cannot be compared; or the faults of a side that is damaged: its log, or a checkpoint or
        kept stage that is looked at for the patterns.

    Raises:
        UsageError: no such path or run, or a side of another kind.
        UnsupportedVersionError: a format version of a later release.

    Example:
        >>> diff_runs("lab.zip::reference", "lab.zip::sampler-reset")  # doctest: +SKIP
        RunDifference(...)
    """
    with ExitStack() as stack:
        sides = _side(left, limits, stack), _side(right, limits, stack)
        try:
            logs = sides[0].open(check=not believe_chains), sides[1].open(check=not believe_chains)
            if believe_chains and all(log.random_access for log in logs):
                return _searched(sides, logs)
            return _walked(sides, logs, to_the_end=not believe_chains)
        except DamagedError:
            return RunDifference(
                verdict="damaged",
                left=sides[0].described(),
                right=sides[1].described(),
                chains_believed=believe_chains,
            )


def _side(given: str | Path, limits: Limits, stack: ExitStack) -> SideLog:
    side = read_side(given)
    if side.kind == "arrays":
        raise UsageError(
            f"{shown_path(side.given)}: expected a run or a fingerprint log, observed a file of "
            "arrays",
            hint="two files of arrays are compared with each other",
        )
    return SideLog(side, limits, Findings(max_faults=limits.max_faults), stack)


_Head = LogReader | LogIndex
_State = Mapping[str, str] | None
_Sides = tuple[SideLog, SideLog]
_Logs = tuple[OpenLog, OpenLog]


def _walked(sides: _Sides, logs: _Logs, *, to_the_end: bool) -> RunDifference:
    """Read both logs from their beginning."""
    left = sides[0].reader(logs[0])
    right = sides[1].reader(logs[1], twin=left)
    readers = left, right
    first_step = max(reader.header.first_step for reader in readers)
    lines = [side.steps(reader) for side, reader in zip(sides, readers, strict=True)]
    views = [
        view_from(reader.header, reader.start, steps, first_step)
        for reader, steps in zip(readers, lines, strict=True)
    ]
    start = _split_states(*(view.before for view in views))
    walk = RunWalk(views[0], views[1], first_step)
    walk.walk(to_the_end=to_the_end)
    if to_the_end:
        for steps in lines:  # what only the longer one has is held against its chain as well
            deque(steps, maxlen=0)
    elif walk.divergence is not None:
        for side in sides:
            side.forget_end()
    found = _Found(first_step, walk.last_step, start, walk.chains_equal, walk, counted=to_the_end)
    return _report(sides, left, right, found)


def _searched(sides: _Sides, logs: _Logs) -> RunDifference:
    """Find the divergence by the recorded chains, and read the lines around it."""
    left, right = (side.index(log) for side, log in zip(sides, logs, strict=True))
    first_step = max(left.header.first_step, right.header.first_step)
    last_step = min(left.last_step, right.last_step)
    if last_step < first_step:
        return _report(sides, left, right, _Found(first_step, first_step - 1))
    declared_alike = dict(left.header.stages) == dict(right.header.stages)
    step = first_unequal(left, right) if declared_alike else first_step  # no chain covers a header
    start = _split_states(left.state_before(first_step), right.state_before(first_step))
    if step > left.last_step and step > right.last_step:
        return _report(sides, left, right, _Found(first_step, last_step, start, chains_equal=True))
    known = None if step == first_step else left.last_state_before(step)
    views = [
        LogView(
            dict(index.header.stages),
            index.state_before(step),
            side.guarded(side.reader(log, after=index.mark(step)).steps()),
        )
        for side, log, index in zip(sides, logs, (left, right), strict=True)
    ]
    walk = RunWalk(views[0], views[1], step, max(known or 0, first_step - 1))
    walk.walk(to_the_end=False)
    found = _Found(first_step, last_step, start, step > last_step, walk)
    return _report(sides, left, right, found)


def _split_states(left: _State, right: _State) -> Split | None:
    return None if left is None or right is None else split(left, right)


@dataclass(frozen=True)
class _Found:
    """What comparing gave; without ``walk`` no line differs. What was not read is unknown."""

    first_step: int
    last_step: int | None
    start: Split | None = None
    chains_equal: bool = False
    walk: RunWalk | None = None
    counted: bool = False


def _report(sides: _Sides, left: _Head, right: _Head, found: _Found) -> RunDifference:
    header, other = left.header, right.header
    constants = split(dict(header.constants), dict(other.constants))
    declared = None
    if header.first_step == other.first_step:
        declared = split(_declarations(header), _declarations(other))
    common: dict[str, Any] = {
        "left": sides[0].described(),
        "right": sides[1].described(),
        "chains_believed": not found.counted,
        "configurations_equal": header.config == other.config,
        "constants": constants,
        "declared": declared,
    }
    reasons = _reasons(sides, found)
    if reasons:
        return RunDifference(verdict="differs", comparable=False, reasons=reasons, **common)
    walk = found.walk
    divergence = None if walk is None else walk.divergence
    recorded_alike = walk is None or walk.recorded_alike
    before = (constants, found.start or Split(), declared or Split())
    same = divergence is None and recorded_alike and not any(part.differing for part in before)
    difference = RunDifference(
        verdict="identical" if same else "differs",
        first_step=found.first_step,
        last_step=found.last_step,
        start=found.start,
        recorded_alike=recorded_alike,
        chains_equal=found.chains_equal,
        divergence=divergence,
        structure=None if walk is None else walk.structure,
        forms=() if divergence is None else _forms(sides),
        counts=walk.counts() if walk is not None and found.counted else None,
        **common,
    )
    return difference_with_patterns(_measured(sides, difference))


def _measured(sides: _Sides, difference: RunDifference) -> RunDifference:
    """With what packages store of both runs: generators and choices; as it is else."""
    left, right = sides[0].stored_run(), sides[1].stored_run()
    if left is None or right is None or difference.counts is None:
        return difference
    if difference.verdict == "identical":
        return difference
    try:
        draws = measure_draws(left, right, difference.divergence)
        decided = measure_decision(left, right, difference.counts.stages)
    except PackageError:
        for side in sides:  # both may have one path in their packages: which was it?
            side.read_stored()
        raise
    return difference.model_copy(update={"draws": draws, "decided": decided})


def _forms(sides: _Sides) -> tuple[FormChange, ...]:
    """Arrays of another type or shape, where both runs lie in packages."""
    left, right = sides[0].stored_run(), sides[1].stored_run()
    if left is None or right is None:
        return ()
    step = common_checkpoint(left, right)
    forms = []
    for side, run in zip(sides, (left, right), strict=True):
        with side.noting():
            forms.append(stored_forms(run, step))
    names = [name for name in forms[0] if forms[0][name] != forms[1].get(name, forms[0][name])]
    return tuple(
        FormChange(name=name, left=forms[0][name], right=forms[1][name])
        for name in names[:_MAX_FORMS]
    )


def _declarations(header: HeaderLine) -> dict[str, str]:
    return {name: as_stored(inputs) for name, inputs in header.stages}


def _reasons(sides: _Sides, found: _Found) -> tuple[WhyIncomparable, ...]:
    if found.last_step is not None and found.last_step < found.first_step:
        left, right = (
            (f"{side.header.first_step}..{side.last_step}",) if side.header is not None else ()
            for side in sides
        )
        return (WhyIncomparable(reason="no-step-in-common", left=left, right=right),)
    walk = found.walk
    if walk is None or walk.first_step > found.first_step:  # equal before it, so that they can be
        return ()
    return walk.reasons()
