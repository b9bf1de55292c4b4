"""The runs of an audit: which, from where, and how many; each in a fresh worker as a build's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from repropack._compare.holders import Watch
from repropack._compare.influence import differing_values
from repropack._format.state import EncodedState, component_of
from repropack._read.run import RunReader
from repropack._run.execute import Launcher
from repropack.models.log import StepLine
from repropack.models.plan import ComparisonPlan, Plan, RecordPlan
from repropack.models.worker import Watched

FIRST_RUN = "first"
MAX_WATCHED_STEPS = 48
"""Steps after which a run is looked at, besides those at which it is resumed."""
_SELDOM = 3
"""A component that changes in no more than a third of the steps changes seldom."""
_MAX_BOUNDARIES = 50


def audited_plan(plan: Plan) -> Plan:
    """The plan of an audit: the experiment alone, every stage and state recorded.

    Args:
        plan: The project's own.

    Returns:
        It, without comparisons, kept stages and printed metrics.
    """
    return plan.model_copy(update={"record": RecordPlan(), "comparisons": (), "after": ()})


def find_boundaries(lines: Iterable[StepLine]) -> tuple[int, ...]:
    """Steps after which a component changed that seldom does.

    Args:
        lines: The steps of a run, their states recorded.

    Returns:
        Ascending, without the first step and the last.
    """
    changed: dict[str, list[int]] = {}
    before: dict[str, str] | None = None
    last = 0
    for line in lines:
        state, last = dict(line.state or ()), line.step
        for name, digest in state.items():
            if before is not None and before.get(name) != digest:
                changed.setdefault(name, []).append(line.step)
        before = state
    seldom = [steps for steps in changed.values() if len(steps) * _SELDOM <= last - 1]
    return tuple(sorted({step for steps in seldom for step in steps if step < last}))[
        :_MAX_BOUNDARIES
    ]


def resume_points(last_step: int, boundaries: Sequence[int]) -> tuple[int, ...]:
    """Steps after which a run is resumed: early, middle, late, and where an epoch ends.

    Early and late are chosen so that they seldom are the end of an epoch.

    Args:
        last_step: The last step of the run.
        boundaries: Steps after which something changed that seldom does.

    Returns:
        Ascending, from 1 to the step before the last; 0 where there is one step.

    Example:
        >>> resume_points(40, (10, 20, 30)), resume_points(3, ()), resume_points(1, ())
        ((7, 10, 21, 33), (1, 2), (0,))
    """
    if last_step == 1:
        return (0,)
    early = _beside(_early(last_step), last_step, boundaries)
    late = _beside(last_step - early, last_step, boundaries)
    middle = _beside(last_step // 2, last_step, boundaries)
    ends = [step for step in boundaries if 0 < step < last_step][:1]
    return tuple(sorted({early, middle, late, *ends}))


def _early(last_step: int) -> int:
    wanted = last_step // 8
    if last_step < 16:
        return max(1, min(3, wanted))
    return next(k for k in range(max(7, wanted), last_step) if all(k % d for d in (2, 3, 5)))


def _beside(step: int, last_step: int, boundaries: Sequence[int]) -> int:
    """The step, or the nearest one that is no boundary."""
    steps = [step, *(step + k * sign for k in range(1, last_step) for sign in (1, -1))]
    return next((k for k in steps if 0 < k < last_step and k not in boundaries), step)


def steps_to_watch(last_step: int, points: Iterable[int]) -> tuple[int, ...]:
    """Steps after which a run is looked at: all where there are few, else spread over the run.

    Args:
        last_step: The last step of the run.
        points: Steps after which it is resumed.

    Returns:
        Ascending, from 0.
    """
    stride = max(1, -(-last_step // MAX_WATCHED_STEPS))
    spread = {0, 1, 2, last_step, *range(0, last_step, stride)}
    return tuple(sorted(step for step in {*spread, *points} if step <= last_step))


@dataclass(frozen=True)
class Reset:
    """A part of the state that is put back: a component, or one value where ``value`` is given."""

    component: str
    value: str | None
    resume_at: int | None
    alone: bool = False
    """Whether the value is all of its component that changed."""


def plan_resets(states: Sequence[tuple[int, EncodedState]], initial: EncodedState) -> list[Reset]:
    """What is put back to its first value, and from which checkpoint on.

    Args:
        states: States by step, ascending.
        initial: The first state.

    Returns:
        Components, sorted, then the values of those that have several; ``resume_at`` is the first
        step after which it was another, ``None`` where it never was.
    """
    names = sorted({name for _, state in states for name in state.names()})
    first: dict[str, int] = {}
    for step, state in states:
        for name in differing_values(initial, state):
            first.setdefault(name, step)
    members: dict[str, list[str]] = {}
    for name in names:
        members.setdefault(component_of(name), []).append(name)
    whole, parts = [], []
    for component, own in sorted(members.items()):
        changed = [first[name] for name in own if name in first]
        whole.append(Reset(component, None, min(changed) if changed else None))
        if len(own) > 1:
            parts += [Reset(component, name, first.get(name), len(changed) == 1) for name in own]
    return whole + parts


def reset_name(number: int, reset: Reset) -> str:
    """The name of a run that puts a part of the state back.

    Args:
        number: Its place among them, which makes it the only one of its name.
        reset: What is put back.

    Returns:
        A run's name, such as ``reset-3-adam-first-moment``.
    """
    shown = re.sub(r"[^a-z0-9]+", "-", (reset.value or reset.component).lower())
    return f"reset-{number}-{shown}"[:64].rstrip("-")


class Auditor:
    """Makes the runs of an audit, and gives them back as what can be compared.

    Attributes:
        made: How many runs were made.
    """

    def __init__(self, launcher: Launcher) -> None:
        """Prepare.

        Args:
            launcher: Executes the runs of the audited plan.
        """
        self._launcher = launcher
        self._watches: dict[str, Watch] = {}
        self.made = 0

    def watch_of(self, run: str) -> Watch:
        """What was seen in a run."""
        return self._watches.setdefault(run, Watch())

    def run_first(self) -> None:
        """Run from the first state to the end, with nothing but the record."""
        self.made += 1
        self._launcher.run_reference(FIRST_RUN)

    def run_watched(self, points: Sequence[int], watched: Sequence[int]) -> None:
        """Run again, store a checkpoint at each point, and look at its objects.

        Args:
            points: Steps after which it will be resumed.
            watched: Steps after which it is looked at.
        """
        self.made += 1
        launcher = self._watching(watched)
        replace(launcher, store_at=tuple(points)).run_reference()

    def resume(self, name: str, step: int, reference: RunReader, *, watched: bool = True) -> None:
        """Resume the whole state after a step.

        Args:
            name: The run's name.
            step: The step.
            reference: The run that stored a checkpoint there.
            watched: Whether it is looked at before its first step.
        """
        self.made += 1
        launcher = self._watching((step,)) if watched else self._launcher
        launcher.run_comparison(ComparisonPlan(name=name, resume_at=step), reference)

    def reset(self, name: str, reset: Reset, reference: RunReader) -> None:
        """Resume with a part of the state put back to its first value.

        Args:
            name: The run's name.
            reset: What is put back, and where the run resumes.
            reference: The run that stored a checkpoint there.
        """
        self.made += 1
        components = () if reset.value is not None else (reset.component,)
        values = frozenset() if reset.value is None else frozenset({reset.value})
        comparison = ComparisonPlan(name=name, resume_at=reset.resume_at, reset=components)
        replace(self._launcher, reset_values=values).run_comparison(comparison, reference)

    def _watching(self, steps: Sequence[int]) -> Launcher:
        def take(run: str, message: Watched) -> None:
            self.watch_of(run).add(message)

        return replace(self._launcher, on_watched=take, watch_at=tuple(steps))
