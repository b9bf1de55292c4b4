"""Audit a project: which state determines the next step, and what is missing from it.

The author's own code is what runs, as ``build`` runs it, in a folder of its own that is removed at
the end. Nothing is published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repropack._compare.draws import draw_distances
from repropack._compare.holders import Changes, Watch, judge_holders, likely_holders, lost_paths
from repropack._compare.influence import final_distances, measure_influence, patterns_between
from repropack._format.layout import REFERENCE_RUN
from repropack._format.paths import shown_path
from repropack._format.state import EncodedState
from repropack._present.layout import experiment_text
from repropack._read.container import Container, open_container
from repropack._read.project import Project, load_project
from repropack._read.run import RunReader
from repropack._run.auditing import (
    FIRST_RUN,
    Auditor,
    Reset,
    audited_plan,
    find_boundaries,
    plan_resets,
    reset_name,
    resume_points,
    steps_to_watch,
)
from repropack._run.chosen_sources import ChosenSources, choose_sources, with_tracked
from repropack._run.distributions import check_own_name
from repropack._run.execute import Launcher, OnStep
from repropack._run.folders import new_folder, remove_tree
from repropack._run.materials import copy_materials
from repropack.errors import ExperimentError, RepropackError, UsageError
from repropack.lab import LAB_PROJECT
from repropack.models.audit import (
    AuditedRepeat,
    AuditedReset,
    AuditedResume,
    AuditReport,
    Holder,
    ResetEffect,
)
from repropack.models.patterns import DrawDistance
from repropack.models.plan import Plan
from repropack.models.reports import Problem
from repropack.models.results import Divergence

DEFAULT_MAX_RUNS = 40
WHOLE_RUNS = 2
"""Runs from the first state to the end, before anything is resumed."""
MAX_HOLDERS = 30
MAX_CHANGED = 100
OnPlan = Callable[[int, int], None]
"""Called with how many runs will be made, and how many steps the longest of them has."""


def audit_project(
    project: str | Path | None = None,
    *,
    resume_at: Sequence[int] = (),
    max_runs: int = DEFAULT_MAX_RUNS,
    on_plan: OnPlan | None = None,
    on_step: OnStep | None = None,
) -> AuditReport:
    """Run a project's experiment, resume it, and put back one part of its state after another.

    Two whole runs come first; the second is watched, and shows whether the experiment repeats at
    all. Then the complete state is resumed in fresh processes, each to the end; states, stages and
    metrics of every step are compared. Then each component, and each named value of it, is put
    back to its first value.

    Args:
        project: Folder with a project file, or the file; the built-in replay lab where ``None``.
        resume_at: Steps after which the whole state is resumed; early, middle, late and a step
            after which something changed that seldom does, where none are given.
        max_runs: Most runs that are made; parts of the state that are left out are reported so.
        on_plan: Called once it is known how many runs will be made.
        on_step: Called after each step with the run's name, the step and the last step planned.

    Returns:
        What was found; ``differs`` where the experiment does not repeat, does not take back its
        first state, or does not resume exactly.

    Raises:
        UsageError: no such project, a command without steps, a step to resume at that the run does
            not have or is its last, or fewer runs than the resumes take.
        ProjectError: faults in the project file, or the experiment imports what is neither packed
            nor installed.
        ExperimentError: a whole run failed.
        CouldNotRunError: a worker died.
        RepropackError: any of those, with a hint where a run did not find a file.
        KeyboardInterrupt: the caller's own; nothing is left behind.
    """
    loaded = with_tracked(load_project(LAB_PROJECT if project is None else Path(project)))
    plan = audited_plan(loaded.plan())
    if plan.experiment.command is not None and not plan.experiment.loop:
        raise UsageError(
            "audit: expected an experiment that makes steps, observed a command that runs as a "
            "whole, of which no state is known",
            hint="give it an entry point, or call repropack.attach in its loop and state `steps`",
        )
    _check_steps(tuple(resume_at), plan.experiment.steps)
    _check_runs(max_runs, max(1, len(set(resume_at))))
    check_own_name()
    work = new_folder("repropack-audit-")
    try:
        sources = choose_sources(loaded, work)
        try:
            launcher = _launcher(loaded, plan, sources, work, on_step)
            audit = _Audit(launcher, Auditor(launcher), tuple(resume_at), max_runs, on_plan)
            found = audit.run()
        except RepropackError as error:
            sources.explain(error)
            raise
    finally:
        remove_tree(work)
    path = "the built-in replay lab" if project is None else shown_path(project)
    return found.model_copy(update={"path": path})


def _check_runs(max_runs: int, resumes: int) -> None:
    """Two whole runs and each resume that is asked for have to be among the runs that are made."""
    least = WHOLE_RUNS + resumes
    if max_runs < least:
        raise UsageError(
            f"audit: expected at least {least} runs, observed a bound of {max_runs}",
            hint="two whole runs are made, and one for each step that is resumed after",
        )


def _check_steps(steps: tuple[int, ...], last_step: int) -> None:
    """A run can be resumed after every step but its last.

    Raises:
        UsageError: it has no such step, or none follows.
    """
    for step in steps:
        if not 0 <= step < last_step:
            raise UsageError(
                f"audit: expected a step from 0 to {last_step - 1} to resume after, observed "
                f"{step}",
                hint=f"the run ends with step {last_step}, and one has to follow",
            )


def _launcher(
    project: Project, plan: Plan, sources: ChosenSources, work: Path, on_step: OnStep | None
) -> Launcher:
    """Copy what the runs are given, and settle how they are executed."""
    for name in ("tree", "scratch"):
        (work / name).mkdir()
    materials, _ = copy_materials(project, sources.files, work)
    sources.check(plan, materials.source)
    return Launcher(plan, materials, work / "tree", work / "scratch", on_step=on_step)


@dataclass
class _Audit:
    """One audit under way."""

    launcher: Launcher
    auditor: Auditor
    resume_at: tuple[int, ...]
    max_runs: int
    on_plan: OnPlan | None
    last_step: int = 0
    lost: dict[str, list[int]] = field(default_factory=dict)
    asked_again: bool = False
    parted: Divergence | None = None

    def run(self) -> AuditReport:
        """Make all runs."""
        plan = self.launcher.plan
        trial = self._try_round_trip()
        self.auditor.run_first()
        with open_container(self.launcher.tree) as container:
            lines = list(RunReader(container, FIRST_RUN).steps())
        self.last_step = lines[-1].step
        boundaries = find_boundaries(lines)
        points = self._points(boundaries)
        watched = steps_to_watch(self.last_step, points)
        self.auditor.run_watched(points, watched)
        repeat = self._compare_repeat()
        self.parted = repeat.divergence
        if not repeat.identical:
            points = tuple(step for step in points if step < repeat.last_step)
        resets = self._plan_resets(points) if repeat.identical else []
        if self.on_plan is not None:
            wanted = sum(one.resume_at is not None and not one.alone for one in resets)
            runs = WHOLE_RUNS + len(points) + min(wanted, self._room(len(points)))
            self.on_plan(runs, self.last_step)
        watch = self.auditor.watch_of(REFERENCE_RUN)
        changes = Changes(watch)
        resumes = judge_holders([self._resume(step, changes, watch) for step in points], self.lost)
        exact = trial is None and all(one.identical for one in resumes)
        lost = {path: tuple(steps) for path, steps in self.lost.items()}
        changed = changes.unheld(lost, loop=plan.experiment.loop)
        return AuditReport(
            path="",
            verdict="identical" if exact and repeat.identical else "differs",
            experiment=experiment_text(plan.experiment),
            loop=plan.experiment.loop,
            last_step=self.last_step,
            round_trip=trial,
            repeat=repeat,
            boundaries=boundaries,
            resumes=resumes,
            resets=self._make_resets(resets, len(points)),
            runs_made=self.auditor.made,
            watched_steps=watch.steps(),
            changed=changed[:MAX_CHANGED],
            changed_left_out=max(0, len(changed) - MAX_CHANGED),
            opaque=watch.opaque()[:MAX_CHANGED],
            not_looked_at=tuple(watch.left_out)[:MAX_CHANGED],
        )

    def _try_round_trip(self) -> Problem | None:
        """Whether the first state comes back; what goes wrong otherwise, the runs tell."""
        try:
            self.launcher.try_round_trip()
        except ExperimentError as error:
            return _problem_of(error)
        return None

    def _points(self, boundaries: Sequence[int]) -> tuple[int, ...]:
        _check_steps(self.resume_at, self.last_step)
        given = tuple(sorted(set(self.resume_at)))
        return given or resume_points(self.last_step, boundaries)[: self.max_runs - WHOLE_RUNS]

    def _compare_repeat(self) -> AuditedRepeat:
        with open_container(self.launcher.tree) as container:
            runs = RunReader(container, FIRST_RUN), RunReader(container, REFERENCE_RUN)
            found = measure_influence(*runs)
            last = runs[1].checkpoint_steps()[-1]
            draws = () if found.identical else _draws(*runs)
        return AuditedRepeat(
            identical=found.identical,
            last_step=min(last, self.last_step),
            divergence=found.divergence,
            patterns=patterns_between(found, 1, draws, repeats=None if found.identical else False),
        )

    def _plan_resets(self, points: Sequence[int]) -> list[Reset]:
        with open_container(self.launcher.tree) as container:
            reference = RunReader(container, REFERENCE_RUN)
            states = [(step, reference.checkpoint(step)[1]) for step in points]
            return plan_resets(states, reference.checkpoint(0)[1])

    def _room(self, resumes: int) -> int:
        """How many runs are left for parts of the state."""
        return max(0, self.max_runs - WHOLE_RUNS - resumes)

    def _resume(self, step: int, changes: Changes, watch: Watch) -> AuditedResume:
        """Resume the whole state after a step, and see what came back."""
        name = _resume_name(step)
        with open_container(self.launcher.tree) as container:
            reference = RunReader(container, REFERENCE_RUN)
            try:
                self.auditor.resume(name, step, reference)
            except ExperimentError as error:
                return AuditedResume(resume_at=step, identical=False, problem=_problem_of(error))
        with open_container(self.launcher.tree) as container:
            reference = RunReader(container, REFERENCE_RUN)
            run = RunReader(container, name)
            found = measure_influence(reference, run)
            draws = () if found.identical else _draws(reference, run)
            repeats = None
            if not found.identical and not self.asked_again:
                repeats = self._repeats(name, step, reference)
        seen, restored = watch.at(step), self.auditor.watch_of(name).at(step)
        for path in lost_paths(seen, restored):
            self.lost.setdefault(path, []).append(step)
        holders: tuple[Holder, ...] = ()
        if not found.identical:
            loop = self.launcher.plan.experiment.loop
            holders = likely_holders(changes, seen, restored, loop=loop)
        return AuditedResume(
            resume_at=step,
            identical=found.identical,
            start=found.start,
            divergence=found.divergence,
            repeats=repeats,
            holders=holders[:MAX_HOLDERS],
            holders_left_out=max(0, len(holders) - MAX_HOLDERS),
            differing_steps=found.differing_steps,
            compared=found.compared,
            final_metrics=found.final_metrics,
            patterns=patterns_between(
                found, step + 1, draws, repeats=repeats, reference=self.parted
            ),
        )

    def _repeats(self, name: str, step: int, reference: RunReader) -> bool:
        """Whether a second resume gives what the first gave; asked once in an audit."""
        self.asked_again = True
        again = f"{name}-again"
        try:
            self.auditor.resume(again, step, reference, watched=False)
        except ExperimentError:
            return False
        with open_container(self.launcher.tree) as container:
            return measure_influence(
                RunReader(container, name), RunReader(container, again)
            ).identical

    def _make_resets(self, resets: Sequence[Reset], resumes: int) -> tuple[AuditedReset, ...]:
        left = self._room(resumes)
        made: dict[str, AuditedReset] = {}
        found = []
        for number, reset in enumerate(resets, 1):
            if reset.resume_at is None:
                found.append(_row(reset, "unchanged"))
            elif reset.alone:
                found.append(made[reset.component].model_copy(update={"value": reset.value}))
            elif not left:
                found.append(_row(reset, "not-run"))
            else:
                left -= 1
                found.append(self._reset(reset_name(number, reset), reset))
            if reset.value is None:
                made[reset.component] = found[-1]
        return tuple(sorted(found, key=lambda one: (one.component, one.value or "")))

    def _reset(self, name: str, reset: Reset) -> AuditedReset:
        """Put one part of the state back, and see what follows."""
        with open_container(self.launcher.tree) as container:
            reference = RunReader(container, REFERENCE_RUN)
            try:
                self.auditor.reset(name, reset, reference)
            except ExperimentError as error:
                return _row(reset, "fails", run=name, problem=_problem_of(error))
        with open_container(self.launcher.tree) as container:
            expected = self._plain(container, reset)
            run = RunReader(container, name)
            found = measure_influence(expected, run, (reset.component,))
            final = final_distances(_final(expected), _final(run))
        effect: ResetEffect = "none"
        if found.first_step is not None:
            effect = "matters"
        elif found.own_differs or final:
            effect = "itself"
        return _row(
            reset,
            effect,
            run=name,
            first_step=found.first_step,
            stages=found.stages,
            components=found.components,
            metrics=found.metrics,
            differing_steps=found.differing_steps,
            compared=found.compared,
            final=final,
            final_metrics=found.final_metrics,
        )

    def _plain(self, container: Container, reset: Reset) -> RunReader:
        """The same resume with its whole state; the reference where that raised an error."""
        name = _resume_name(reset.resume_at or 0)
        try:
            return RunReader(container, name)
        except UsageError:
            return RunReader(container, REFERENCE_RUN)


def _row(reset: Reset, effect: ResetEffect, **more: object) -> AuditedReset:
    row = {
        "component": reset.component,
        "value": reset.value,
        "effect": effect,
        "resume_at": reset.resume_at,
    }
    return AuditedReset.model_validate(row | more)


def _resume_name(step: int) -> str:
    return f"resume-at-{step}"


def _final(run: RunReader) -> EncodedState:
    """The state at the end of a run."""
    return run.checkpoint(run.checkpoint_steps()[-1])[1]


def _draws(expected: RunReader, run: RunReader) -> tuple[DrawDistance, ...]:
    """How far the generators of two last states are apart; nothing where they end apart."""
    last = run.checkpoint_steps()[-1]
    if last != expected.checkpoint_steps()[-1]:
        return ()
    return draw_distances(_final(expected), _final(run), last)


def _problem_of(error: RepropackError) -> Problem:
    return Problem(code=error.code, message=error.message, hint=error.hint)
