"""Build a package: run, record, compare, write. The author's own code is what runs."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from repropack._assembling import assemble_package
from repropack._checking import check_whole
from repropack._format.layout import AFTER, INPUTS, REFERENCE_RUN, SOURCE
from repropack._format.paths import shown_path
from repropack._lint.examine import OnFindings, lint_before_build, lint_before_publishing
from repropack._present.rendered import load_painter
from repropack._read.container import open_container
from repropack._read.project import Project, load_project
from repropack._read.run import RunReader
from repropack._run.after import run_after
from repropack._run.assemble import Supplement, check_written, publish, write_package
from repropack._run.chosen_sources import ChosenSources, choose_sources, with_tracked
from repropack._run.completing import (
    check_names,
    check_restored,
    completed_comparison,
    completed_plan,
)
from repropack._run.continuing import check_environment, has_something
from repropack._run.distributions import check_own_name
from repropack._run.durable import os_problem, sync_path
from repropack._run.execute import Launcher, OnStep
from repropack._run.identity import check_identity, identify_build, write_identity
from repropack._run.locking import LockedEnvironment, lock_environment
from repropack._run.materials import Materials, copy_materials
from repropack._run.recorder import RecordedRun
from repropack._run.target import check_target
from repropack._run.versions import check_version_built, check_version_planned
from repropack._run.workplace import (
    ASIDE,
    ASSEMBLED,
    IDENTITY,
    NOTES,
    RECORDED,
    SCRATCH,
    clear_place,
    clear_work,
    work_alone,
    work_folder,
)
from repropack.errors import CouldNotRunError, InexactResumeError, RepropackError, UsageError
from repropack.lab import LAB_PROJECT
from repropack.models.lint import LintFinding
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import Plan
from repropack.models.reports import BuildReport, ContinuedRun
from repropack.models.results import Results

LeftOverWork = Literal["refuse", "resume", "discard"]
"""What becomes of what an interrupted build of the same target left."""


def build_package(  # noqa: PLR0913 - the options of the verb
    project: str | Path | None = None,
    output: str | Path | None = None,
    *,
    force: bool = False,
    directory: bool = False,
    compress: bool = False,
    unexecuted_notebook: bool = False,
    lock: bool = False,
    with_wheels: bool = False,
    left_over: LeftOverWork = "refuse",
    on_step: OnStep | None = None,
    on_findings: OnFindings | None = None,
) -> BuildReport:
    """Run a project's plan and write its reproducibility package.

    The target is either the whole package or what it was before: never half a package, and never
    nothing where there was one. Built twice in one environment it is the same file, whether or not
    it was interrupted and continued.

    A build works in a folder ``.<target>.work`` beside the target, alone. However it ends, what it
    had recorded up to the last checkpoint stays there to be continued from.

    Args:
        project: Folder with a project file, or the file; the built-in replay lab where ``None``.
        output: The package to write; ``<name>-<version>.zip`` here where ``None`` (without
            ``.zip`` for a directory). Missing parent folders are made.
        force: Replace an existing package: of another version, or of the same evidence.
        directory: Write a directory instead of a zip.
        compress: Deflate the zip's entries. Their bytes then depend on the zlib in use.
        unexecuted_notebook: Pack the notebook without running it, which repeats every run; the
            plan records it.
        lock: Lock the distributions of this environment, by the index in use.
        with_wheels: Pack their wheels as well, which implies ``lock``.
        left_over: Where an interrupted build of the target left something: ``resume`` continues it,
            ``discard`` begins again, ``refuse`` does neither.
        on_step: Called after each step with the run's name, the step and the last step planned.
        on_findings: Called with what ``lint`` found in the project, before anything runs, and
            with what it found in what the runs made. The built-in lab is not looked at.

    Returns:
        Digests, size and results; ``expectations_held`` says whether all comparisons came out as
        the plan expects, and all claims hold. A package in which one fails is written all the same.

    Raises:
        UsageError: no such project, the target exists and ``force`` is not given or is of another
            kind or is this version with other evidence, nothing can be written there, a comparison
            resumes after the reference's end, an interrupted build is there, or it cannot be
            continued because something has changed.
        ProjectError: faults in the project file, the experiment imports what is neither packed
            nor installed, or a claim has no value in what was recorded.
        LintError: the project, or what its runs made, holds what must not be packed.
        ExperimentError: the experiment failed; nothing is written at the target.
        InexactResumeError: a continued run does not give what was recorded before.
        BusyError: another build or unpack of the target is under way.
        CouldNotRunError: a worker died, the disk is full or fails, the notebook cannot be
            executed here, the environment cannot be locked, or git or the installed distributions
            are not as they have to be.
        KeyboardInterrupt: the caller's own, with a note on what was kept.

    Determinism:
        The bytes depend on project, environment and options; not on working directory, umask,
        time zone, locale, hash seed, clock or interruptions.
    """
    loaded = with_tracked(load_project(LAB_PROJECT if project is None else Path(project)))
    plan = loaded.plan()
    if unexecuted_notebook:
        plan = plan.model_copy(update={"notebook": "unexecuted"})
    default = f"{loaded.document.package.name}-{loaded.document.package.version}"
    target = Path(f"{default}{'' if directory else '.zip'}" if output is None else output)
    check_target(target.absolute(), force=force, directory=directory)
    load_painter()
    check_own_name()
    sources = choose_sources(loaded, target.absolute())
    findings: tuple[LintFinding, ...] = ()
    if project is not None:
        locked = lock or with_wheels
        findings = lint_before_build(loaded, sources.files, on_findings, locked=locked)
    build = _Build(loaded, plan, target.absolute(), on_step, sources, Supplement(loaded.metadata()))
    try:
        with work_alone(target.absolute(), build.keeps) as work:
            resumed = build.begin(work, left_over)
            if lock or with_wheels:
                build.lock(work, wheels=with_wheels)
            results, runs = build.record(work, resumed=resumed)
            written = write_package(
                work / ASSEMBLED, build.supplement, directory=directory, compress=compress
            )
            check_written(written, check_whole)
            if project is not None:
                findings += lint_before_publishing(written.aside, on_findings)
            check_version_built(build.target, loaded.metadata(), written.evidence_digest)
            publish(written, target.absolute(), force=force, directory=directory)
            build.published = True
    except OSError as error:
        raise build.explained(_failed_call(error, build.target)) from error
    except RepropackError as error:
        raise build.explained(error)  # noqa: B904 - the same error
    except KeyboardInterrupt as interrupt:
        build.explain(interrupt)
        raise
    return BuildReport(
        path=shown_path(target if output is None else output),
        package=build.supplement.metadata,
        package_digest=written.package_digest,
        evidence_digest=written.evidence_digest,
        size_bytes=written.size_bytes,
        sources=sources.summary(),
        expectations_held=not any(row.held is False for row in results.comparisons)
        and all(claim.held for claim in results.claims),
        results=results,
        continued=tuple(
            ContinuedRun(run=run.name, after_steps=run.continued_after)
            for run in runs
            if run.continued_after
        ),
        not_compared=runs[0].not_compared,
        findings=findings,
        lock=build.locked.report() if build.locked is not None else None,
        loop=plan.experiment.loop,
    )


def _failed_call(error: OSError, target: Path) -> CouldNotRunError:
    """What is said of a call of the system that failed; a write names no file by itself."""
    problem = os_problem(error)
    if error.filename is None:
        problem = f"{work_folder(target).name}: {problem}"
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return CouldNotRunError(problem, hint="make room on the disk of the target" if full else None)


_Error = TypeVar("_Error", bound=RepropackError)


@dataclass
class _Build:
    """One build under way in its work folder."""

    project: Project
    plan: Plan
    target: Path
    on_step: OnStep | None
    sources: ChosenSources
    supplement: Supplement
    materials: Materials = field(init=False)
    locked: LockedEnvironment | None = None
    began: bool = False
    published: bool = False

    def keeps(self, work: Path) -> bool:
        """Whether what is in the work folder is to stay, to be continued from."""
        return not self.published and (work / IDENTITY).is_file() and has_something(work)

    def begin(self, work: Path, left_over: LeftOverWork) -> bool:
        """Bring the work folder to its beginning; returns whether a build is continued."""
        left = self.keeps(work)
        if left and left_over == "refuse":
            raise UsageError(
                f"{self.target.name}: an interrupted build of it is in {work.name}",
                hint="--resume continues it, --discard begins again",
            )
        resumed = left and left_over == "resume"
        if resumed:
            for name in (SOURCE, INPUTS, AFTER, SCRATCH, ASSEMBLED, ASIDE):
                clear_place(work / name)
        else:
            clear_work(work)
        for name in (SOURCE, SCRATCH, RECORDED, NOTES):
            (work / name).mkdir(exist_ok=True)
        self.materials, references = copy_materials(self.project, self.sources.files, work)
        self.sources.check(self.plan, self.materials.source)
        self.supplement = replace(
            self.supplement, references=references, metadata=self._metadata(self.materials)
        )
        identity = identify_build(self.project, self.plan, self.materials)
        check_version_planned(self.target, self.project.metadata(), self.plan, identity)
        if resumed:
            check_identity(work, identity, self.target.name)
        else:
            write_identity(work, identity)
            sync_path(work.parent)
        self.began = True
        return resumed

    def lock(self, work: Path, *, wheels: bool) -> None:
        """Lock the environment, before anything runs in it."""
        self.locked = lock_environment(work / SCRATCH, wheels=wheels)
        self.supplement = replace(
            self.supplement,
            documents={**self.supplement.documents, **self.locked.documents()},
            folders=self.locked.folders(),
        )

    def record(self, work: Path, *, resumed: bool) -> tuple[Results, tuple[RecordedRun, ...]]:
        """Run the plan, and put everything but the manifest together."""
        tree = work / RECORDED
        launcher = Launcher(
            self.plan,
            self.materials,
            tree,
            work / SCRATCH,
            on_step=self.on_step,
            notes=work / NOTES,
        )
        if not resumed and (self.plan.experiment.command is None or self.plan.experiment.loop):
            launcher.try_round_trip()
        reference = launcher.run_reference()
        if self.locked is not None:
            self.locked.require_same(reference.environment)
        plan = completed_plan(launcher.plan, reference)
        check_names(plan, tree)
        launcher = replace(launcher, plan=plan)
        comparisons, runs = [], [reference]
        for comparison in plan.comparisons:
            with open_container(tree) as container:
                run = launcher.run_comparison(comparison, RunReader(container, REFERENCE_RUN))
            if resumed:
                check_environment(reference.environment, run.environment)
            check_restored(tree, comparison, loop=self.plan.experiment.loop)
            comparisons.append(completed_comparison(plan, comparison, run))
            runs.append(run)
        plan = plan.model_copy(update={"comparisons": tuple(comparisons)})
        run_after(replace(launcher, plan=plan), work / AFTER)
        results = assemble_package(self.project, plan, work, tuple(runs), self.supplement)
        return results, tuple(runs)

    def _metadata(self, materials: Materials) -> PackageMetadata:
        """What the author says, and which commit it is; the built-in lab is of no checkout."""
        metadata = self.project.metadata()
        if self.project.file == LAB_PROJECT:
            return metadata
        origin = self.sources.origin({**materials.source_paths(), **materials.input_paths()})
        return metadata.model_copy(update={"origin": origin})

    def explained(self, error: _Error) -> _Error:
        """The error, and what becomes of what was recorded before it."""
        self.sources.explain(error)
        note = self._note()
        if note is not None and not isinstance(error, InexactResumeError):
            error.hint = note if error.hint is None else f"{error.hint}; {note}"
        return error

    def explain(self, interrupt: KeyboardInterrupt) -> None:
        """Note on an interrupt what becomes of what was recorded before it."""
        note = self._note()
        if note is not None:
            interrupt.add_note(note)

    def _note(self) -> str | None:
        folder = work_folder(self.target)
        try:
            if not self.began or not self.keeps(folder):
                return None
        except OSError:  # it cannot be read, and so stays as it is
            return None
        return (
            f"what was recorded is kept in {folder.name}: --resume continues it where nothing has "
            "changed, --discard begins again"
        )
