"""Build a package: run, record, compare, write. The author's own code is what runs."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from nbformat import NotebookNode

from repropack._compare.outcomes import compute_results, describe_reference
from repropack._format.canonical import encode_canonical
from repropack._format.layout import (
    CHECKER,
    CONFIG_SCHEMA,
    ENVIRONMENT,
    LICENSE,
    NOTEBOOK,
    PLAN,
    README,
    REFERENCE_RUN,
    RESULTS,
    SCHEMAS,
    SOURCE,
    checkpoint_folder,
    kept_path,
)
from repropack._format.paths import shown_path
from repropack._format.released import checker_bytes
from repropack._format.schemas import PACKAGED_SCHEMAS, schema_bytes
from repropack._present.notebook import make_notebook
from repropack._present.package_readme import package_readme
from repropack._present.rendered import load_painter, render_figures
from repropack._read.container import Container, open_container
from repropack._read.equality import hold_against
from repropack._read.package import evidence_digest
from repropack._read.project import Project, load_project
from repropack._read.run import RunReader
from repropack._run.assemble import (
    check_written,
    link_files,
    list_entries,
    publish,
    write_documents,
    write_package,
)
from repropack._run.completing import (
    check_names,
    check_restored,
    completed_comparison,
    completed_plan,
)
from repropack._run.continuing import check_environment, has_something
from repropack._run.durable import os_problem, sync_path
from repropack._run.execute import Launcher, OnStep
from repropack._run.identity import check_identity, identify_build, write_identity
from repropack._run.notebook import execute_notebook
from repropack._run.notebook_form import notebook_bytes
from repropack._run.recorder import RecordedRun
from repropack._run.target import check_target
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
    left_over: LeftOverWork = "refuse",
    on_step: OnStep | None = None,
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
        force: Replace an existing package.
        directory: Write a directory instead of a zip.
        compress: Deflate the zip's entries. Their bytes then depend on the zlib in use.
        unexecuted_notebook: Pack the notebook without running it, which repeats every run; the
            plan records it.
        left_over: Where an interrupted build of the target left something: ``resume`` continues it,
            ``discard`` begins again, ``refuse`` does neither.
        on_step: Called after each step with the run's name, the step and the last step planned.

    Returns:
        Digests, size and results; ``expectations_held`` says whether all comparisons came out as
        the plan expects. A package with a failed expectation is written all the same.

    Raises:
        UsageError: no such project, the target exists and ``force`` is not given or is of another
            kind, nothing can be written there, a comparison resumes after the reference's end, an
            interrupted build is there, or it cannot be continued because something has changed.
        ProjectError: faults in the project file.
        ExperimentError: the experiment failed; nothing is written at the target.
        InexactResumeError: a continued run does not give what was recorded before.
        BusyError: another build or unpack of the target is under way.
        CouldNotRunError: a worker died, the disk is full or fails, or the notebook cannot be
            executed here.
        KeyboardInterrupt: the caller's own, with a note on what was kept.

    Determinism:
        The bytes depend on project, environment and options; not on working directory, umask,
        time zone, locale, hash seed, clock or interruptions.
    """
    loaded = load_project(LAB_PROJECT if project is None else Path(project))
    plan = loaded.plan()
    if unexecuted_notebook:
        plan = plan.model_copy(update={"notebook": "unexecuted"})
    default = f"{loaded.document.package.name}-{loaded.document.package.version}"
    target = Path(f"{default}{'' if directory else '.zip'}" if output is None else output)
    check_target(target.absolute(), force=force, directory=directory)
    load_painter()
    build = _Build(loaded, plan, target.absolute(), on_step)
    try:
        with work_alone(target.absolute(), build.keeps) as work:
            resumed = build.begin(work, left_over)
            results, runs = build.record(work, resumed=resumed)
            written = write_package(
                work / ASSEMBLED, loaded.metadata(), directory=directory, compress=compress
            )
            check_written(written)
            publish(written, target.absolute(), force=force, directory=directory)
            build.published = True
    except OSError as error:
        raise build.explained(CouldNotRunError(os_problem(error))) from error
    except RepropackError as error:
        raise build.explained(error)  # noqa: B904 - the same error
    except KeyboardInterrupt as interrupt:
        build.explain(interrupt)
        raise
    return BuildReport(
        path=shown_path(target if output is None else output),
        package=loaded.metadata(),
        package_digest=written.package_digest,
        evidence_digest=written.evidence_digest,
        size_bytes=written.size_bytes,
        expectations_held=all(outcome.held is not False for outcome in results.comparisons),
        results=results,
        continued=tuple(
            ContinuedRun(run=run.name, after_steps=run.continued_after)
            for run in runs
            if run.continued_after
        ),
    )


_Error = TypeVar("_Error", bound=RepropackError)


@dataclass
class _Build:
    """One build under way in its work folder."""

    project: Project
    plan: Plan
    target: Path
    on_step: OnStep | None
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
            for name in (SOURCE, SCRATCH, ASSEMBLED, ASIDE):
                clear_place(work / name)
        else:
            clear_work(work)
        for name in (SOURCE, SCRATCH, RECORDED, NOTES):
            (work / name).mkdir(exist_ok=True)
        _copy_sources(self.project, work / SOURCE, self.target)
        identity = identify_build(self.project, self.plan, work / SOURCE)
        if resumed:
            check_identity(work, identity, self.target.name)
        else:
            write_identity(work, identity)
            sync_path(work.parent)
        self.began = True
        return resumed

    def record(self, work: Path, *, resumed: bool) -> tuple[Results, tuple[RecordedRun, ...]]:
        """Run the plan, and put everything but the manifest together."""
        tree = work / RECORDED
        launcher = Launcher(
            self.plan, work / SOURCE, tree, work / SCRATCH, on_step=self.on_step, notes=work / NOTES
        )
        reference = launcher.run_reference()
        plan = completed_plan(launcher.plan, reference)
        check_names(plan, tree)
        launcher = replace(launcher, plan=plan)
        comparisons, runs = [], [reference]
        for comparison in plan.comparisons:
            with open_container(tree) as container:
                run = launcher.run_comparison(comparison, RunReader(container, REFERENCE_RUN))
            if resumed:
                check_environment(reference.environment, run.environment)
            check_restored(tree, comparison)
            comparisons.append(completed_comparison(plan, comparison, run))
            runs.append(run)
        plan = plan.model_copy(update={"comparisons": tuple(comparisons)})
        results = self._assemble(work, plan, reference)
        return results, tuple(runs)

    def _assemble(self, work: Path, plan: Plan, reference: RecordedRun) -> Results:
        """Put the tree of the package together anew; nothing that was recorded is changed."""
        recorded, tree = work / RECORDED, work / ASSEMBLED
        with open_container(recorded) as container:
            runs = {row.name: RunReader(container, row.name) for row in plan.comparisons}
            reference_run = RunReader(container, REFERENCE_RUN)
            results = compute_results(plan, reference_run, runs)
            _check_identical(results, container)
            _check_spliced(plan, results, reference)
            last_step = results.reference.last_step
            figures = render_figures(plan, reference_run, runs, last_step=last_step)
        repeated = _repeated(results)
        link_files(work / SOURCE, tree / SOURCE)
        link_files(recorded, tree, lambda path: not path.startswith(repeated))
        write_documents(tree, figures)
        _write_documents(self.project, tree, plan, reference, results)
        metadata = self.project.metadata()
        node = make_notebook(metadata, plan, results)
        write_documents(tree, {NOTEBOOK: _notebook(node, plan, tree, work / SCRATCH)})
        entries = list_entries(tree)
        paths = {entry.path for entry in entries}
        readme = package_readme(metadata, plan, results, evidence_digest(entries), paths)
        write_documents(tree, {README: readme})
        return results

    def explained(self, error: _Error) -> _Error:
        """The error, and what becomes of what was recorded before it."""
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
            f"what was recorded is kept in {folder.name}: --resume continues it, --discard begins "
            "again"
        )


def _notebook(node: NotebookNode, plan: Plan, tree: Path, work: Path) -> bytes:
    """The notebook as the plan has it: executed in a copy of ``tree``, or as it is."""
    if plan.notebook == "unexecuted":
        return notebook_bytes(node)
    try:
        return execute_notebook(node, folder=tree, scratch=work)
    except CouldNotRunError as error:
        hint = "--unexecuted-notebook packs the notebook without running it"
        raise CouldNotRunError(
            error.message, hint=f"{error.hint}; {hint}" if error.hint else hint
        ) from error


def _copy_sources(project: Project, folder: Path, target: Path) -> None:
    """Copy the source; a package directory in the project that is to be replaced is no source."""
    for path, place in project.source_files():
        if place.is_relative_to(target):
            continue
        copy = folder / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place, copy)
        copy.chmod(0o755 if place.stat().st_mode & 0o100 else 0o644)


def _check_identical(results: Results, container: Container) -> None:
    """Hold every run that its fingerprints call identical against the reference by its arrays."""
    reference = RunReader(container, REFERENCE_RUN)
    for outcome in results.comparisons:
        if not outcome.identical:
            continue
        run = RunReader(container, outcome.run)
        # configuration and constants may be others, so the run's own log stands for both sides
        arrays_equal = hold_against(run, reference, run, "comparison").equal
        if not arrays_equal or describe_reference(run).chain != results.reference.chain:
            raise CouldNotRunError(
                f"run {outcome.run!r}: expected arrays and a chain equal to the reference's, as "
                "its fingerprints are; observed others: the machine or its storage is faulty"
            )


def _check_spliced(plan: Plan, results: Results, reference: RecordedRun) -> None:
    """A reference that was continued stands only where resuming is shown to be exact."""
    if not reference.continued_after:
        return
    for comparison, outcome in zip(plan.comparisons, results.comparisons, strict=True):
        changed = comparison.reset or comparison.config or comparison.hash_seed
        if comparison.resume_at is not None and not changed and not outcome.identical:
            raise InexactResumeError(
                REFERENCE_RUN,
                reference.continued_after[-1],
                f"comparison {comparison.name!r}, a resume without any change, parts from it",
            )


def _repeated(results: Results) -> tuple[str, ...]:
    """Paths that are left out: a run that is identical to the reference stores only its log."""
    return tuple(
        path
        for outcome in results.comparisons
        if outcome.identical
        for path in (f"{checkpoint_folder(outcome.run)}/", kept_path(outcome.run))
    )


def _write_documents(
    project: Project, tree: Path, plan: Plan, reference: RecordedRun, results: Results
) -> None:
    metadata = project.metadata()
    documents = {
        CHECKER: checker_bytes(),
        PLAN: encode_canonical(plan.model_dump(mode="json")),
        ENVIRONMENT: encode_canonical(reference.environment.model_dump(mode="json")),
        RESULTS: encode_canonical(results.model_dump(mode="json")),
        LICENSE: project.license_text()
        or f"SPDX-License-Identifier: {metadata.license}\n".encode(),
    }
    for name in PACKAGED_SCHEMAS:
        documents[f"{SCHEMAS}/{name}.schema.json"] = schema_bytes(name)
    if reference.config_schema is not None:
        documents[CONFIG_SCHEMA] = encode_canonical(reference.config_schema)
    write_documents(tree, documents)
