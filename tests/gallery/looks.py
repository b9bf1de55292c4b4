"""How an experiment of the gallery is looked at: its project, the runs that it takes, what is said.

Everything goes through the public verbs. What a look gives is what their reports hold; nothing is
decided here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from repropack import audit_project, build_package, diff_runs
from repropack._format.layout import REFERENCE_RUN, log_path
from repropack._present.divergence import divergence_place
from repropack._read.container import open_container
from repropack._read.project import load_project
from repropack._read.run import RunReader
from repropack._run.execute import Launcher
from repropack._run.materials import Materials
from repropack.models.audit import AuditReport, Holder
from repropack.models.patterns import Pattern, PatternId
from repropack.models.plan import ComparisonPlan
from repropack.models.run_difference import RunDifference
from repropack.models.zoom import RepeatVariation, Zoom
from repropack.zoom import ZoomOptions, zoom_difference
from tests.gallery.cases import FOLDER, Fault, Finding, Kind

STEPS = 16
WHOLE_RUNS, MOST_POINTS = 2, 3
"""Of an audit: whole runs, and steps after which it resumes where none is given."""
THREADS = "OMP_NUM_THREADS"
VARIATIONS: tuple[RepeatVariation, ...] = get_args(RepeatVariation)
_PROJECT = """\
[package]
name = "gallery"
version = "1.0.0"
title = "An experiment of the gallery"
license = "CC0-1.0"
date = 2026-11-30
[[package.authors]]
name = "A. Tester"

[experiment]
{form}
source = ["{name}.py"]
seed = 7
steps = {steps}
[experiment.config]
{settings}
[record]
checkpoint-every = 4
"""


def find_fault(fault: Fault, folder: Path) -> Finding | None:
    """Look at an experiment as its row says.

    Args:
        fault: The row.
        folder: An empty folder to work in.

    Returns:
        What is said of it; ``None`` where nothing was found.
    """
    if fault.look == "audit":
        return _of_audit(audit(write_project(folder, "faults", fault.name), at=fault.at))
    return _of_difference(_LOOKS[fault.look](fault, folder))


def audit(project: Path, *, at: int | None = None, resets: int = 0) -> AuditReport:
    """Audit a project.

    Args:
        project: Its folder.
        at: The one step after which it is resumed; those that the audit chooses where ``None``.
        resets: How many parts of the state are put back at most.

    Returns:
        What the audit says.
    """
    chosen = () if at is None else (at,)
    points = len(chosen) or MOST_POINTS
    return audit_project(project, resume_at=chosen, max_runs=WHOLE_RUNS + points + resets)


def write_project(
    folder: Path, kind: Kind, name: str, settings: Mapping[str, str] | None = None, more: str = ""
) -> Path:
    """A project folder of one experiment; ``more`` goes to the end of its project file."""
    project = folder / "project"
    project.mkdir(parents=True)
    text = (FOLDER / kind / f"{name}.py").read_text("utf-8")
    (project / f"{name}.py").write_text(text, "utf-8")
    loop = "repropack.attach" in text
    form = f'command = ["python", "{name}.py"]' if loop else f'entry-point = "{name}:Trainer"'
    head = _PROJECT.format(form=form, name=name, steps=STEPS, settings=_members(settings or {}))
    (project / "repropack.toml").write_text(head + more, "utf-8")
    return project


def second_launch(folder: Path, kind: Kind, name: str) -> RunDifference:
    """A run held against one that was started with another hash seed: two bare logs."""
    launcher = _launcher(write_project(folder, kind, name), folder)
    launcher.run_reference()
    with open_container(launcher.tree) as container:
        reference = RunReader(container, REFERENCE_RUN)
        launcher.run_comparison(ComparisonPlan(name="other", hash_seed=1), reference)
    return diff_runs(*(launcher.tree / log_path(run) for run in (REFERENCE_RUN, "other")))


def _launcher(project: Path, folder: Path) -> Launcher:
    scratch = folder / "scratch"
    scratch.mkdir()
    return Launcher(load_project(project).plan(), Materials(project), folder / "tree", scratch)


def _other_configuration(fault: Fault, folder: Path) -> RunDifference:
    first, second = fault.settings
    comparison = f'[[comparisons]]\nname = "other"\n[comparisons.config]\n{_members(second)}'
    package = _build(write_project(folder, "faults", fault.name, first, comparison), folder)
    return _zoomed(f"{package}::reference", f"{package}::other", fault.repeat)


def _other_hash_seed(fault: Fault, folder: Path) -> RunDifference:
    comparison = '[[comparisons]]\nname = "other"\nhash-seed = 1\n'
    package = _build(write_project(folder, "faults", fault.name, more=comparison), folder)
    return _zoomed(f"{package}::reference", f"{package}::other", fault.repeat)


def _other_threads(fault: Fault, folder: Path) -> RunDifference:
    project = write_project(folder, "faults", fault.name)
    packages = []
    for threads in ("1", "3"):
        with _variable(THREADS, threads):
            packages.append(_build(project, folder / threads))
    left, right = packages
    return _zoomed(f"{left}::reference", f"{right}::reference", fault.repeat)


_LOOKS = {
    "launches": lambda fault, folder: second_launch(folder, "faults", fault.name),
    "zoomed launches": _other_hash_seed,
    "threads": _other_threads,
    "configurations": _other_configuration,
}


def _build(project: Path, folder: Path) -> Path:
    target = folder / "package"
    build_package(project, target, directory=True, unexecuted_notebook=True)
    return target


def _zoomed(left: str, right: str, repeat: int) -> RunDifference:
    """What ``diff --zoom`` says; the packages were built here, so their code may run."""
    difference = diff_runs(left, right)
    if difference.divergence is None:
        return difference
    digests = {side.package_digest for side in (difference.left, difference.right)}
    trust = frozenset(digest for digest in digests if digest is not None)
    return zoom_difference(difference, left, right, ZoomOptions(trust=trust, repeat=repeat))[0]


def _of_audit(report: AuditReport) -> Finding | None:
    for resume in report.resumes:
        if resume.divergence is not None:
            named = _holder(resume.holders[0]) if resume.holders else None
            where = divergence_place(resume.divergence)
            return Finding(where, _consistent(resume.patterns), named)
    return None


def _of_difference(report: RunDifference) -> Finding | None:
    if report.divergence is None:
        return None
    named = _blamed(report.patterns) if report.zoom is None else _seen(report.zoom)
    return Finding(divergence_place(report.divergence), _consistent(report.patterns), named)


def _holder(holder: Holder) -> str:
    usual = holder.reason == "not-in-state"
    return holder.path if usual else f"{holder.path} ({holder.reason})"


def _blamed(patterns: tuple[Pattern, ...]) -> str | None:
    """What the first pattern that fits is about."""
    return next((", ".join(one.names) for one in patterns if one.consistent and one.names), None)


def _seen(zoom: Zoom) -> str | None:
    """Under what the step varies where it was repeated, else the kind of difference."""
    if zoom.repetition is not None:
        return next((name for name in VARIATIONS if zoom.repetition.varies(name)), None)
    first = zoom.arrays[0].difference if zoom.arrays else None
    return None if first is None else first.kind


def _consistent(patterns: tuple[Pattern, ...]) -> tuple[PatternId, ...]:
    return tuple(pattern.id for pattern in patterns if pattern.consistent)


def _members(settings: Mapping[str, str]) -> str:
    return "".join(f'{key} = "{value}"\n' for key, value in settings.items())


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
