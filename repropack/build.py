"""Build a package: run, record, compare, write. The author's own code is what runs."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode

from repropack._compare.logs import split
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
from repropack._format.released import checker_bytes
from repropack._format.schemas import PACKAGED_SCHEMAS, schema_bytes
from repropack._present.notebook import make_notebook
from repropack._present.package_readme import package_readme
from repropack._present.rendered import load_painter, render_figures
from repropack._read.consistency import planned_config, planned_start
from repropack._read.container import Container, open_container
from repropack._read.equality import hold_against
from repropack._read.package import evidence_digest
from repropack._read.project import Project, load_project
from repropack._read.run import RunReader
from repropack._run.assemble import list_entries, publish, write_documents
from repropack._run.execute import Launcher, OnStep
from repropack._run.notebook import execute_notebook
from repropack._run.notebook_form import notebook_bytes
from repropack._run.recorder import RecordedRun
from repropack._run.target import check_target
from repropack.errors import ConfigurationError, CouldNotRunError, StateError, UsageError
from repropack.lab import LAB_PROJECT
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.reports import BuildReport
from repropack.models.results import Results


def build_package(
    project: str | Path | None = None,
    output: str | Path | None = None,
    *,
    force: bool = False,
    directory: bool = False,
    compress: bool = False,
    unexecuted_notebook: bool = False,
    on_step: OnStep | None = None,
) -> BuildReport:
    """Run a project's plan and write its reproducibility package.

    The target is either the whole package or what it was before: never half a package. Built
    twice in one environment it is the same file.

    Args:
        project: Folder with a project file, or the file; the built-in replay lab where ``None``.
        output: The package to write; ``<name>-<version>.zip`` here where ``None`` (without
            ``.zip`` for a directory). Missing parent folders are made.
        force: Replace an existing package.
        directory: Write a directory instead of a zip.
        compress: Deflate the zip's entries. Their bytes then depend on the zlib in use.
        unexecuted_notebook: Pack the notebook without running it, which repeats every run; the
            plan records it.
        on_step: Called after each step with the run's name, the step and the last step planned.

    Returns:
        Digests, size and results; ``expectations_held`` says whether all comparisons came out as
        the plan expects. A package with a failed expectation is written all the same.

    Raises:
        UsageError: no such project, the target exists and ``force`` is not given or is of another
            kind, nothing can be written there, or a comparison resumes after the reference's end.
        ProjectError: faults in the project file.
        ExperimentError: the experiment failed; nothing is written at the target.
        CouldNotRunError: a worker died, or the notebook cannot be executed here.

    Determinism:
        The bytes depend on project, environment and options; not on working directory, umask,
        time zone, locale, hash seed or clock.
    """
    loaded = load_project(LAB_PROJECT if project is None else Path(project))
    target = _target(loaded, output, force=force, directory=directory)
    load_painter()
    work = _work_folder(target)
    try:
        tree = work / "tree"
        _copy_sources(loaded, tree / SOURCE, target)
        plan = loaded.plan()
        if unexecuted_notebook:
            plan = plan.model_copy(update={"notebook": "unexecuted"})
        results = _record(loaded, plan, tree, work, on_step)
        metadata = loaded.metadata()
        _target(loaded, output, force=force, directory=directory)  # it may have come meanwhile
        published = publish(tree, metadata, target, directory=directory, compress=compress)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return BuildReport(
        path=str(output if output is not None else target.name),
        package=metadata,
        package_digest=published.package_digest,
        evidence_digest=published.evidence_digest,
        size_bytes=published.size_bytes,
        expectations_held=all(outcome.held is not False for outcome in results.comparisons),
        results=results,
    )


def _target(project: Project, output: str | Path | None, *, force: bool, directory: bool) -> Path:
    package = project.document.package
    default = f"{package.name}-{package.version}{'' if directory else '.zip'}"
    target = Path(default if output is None else output).absolute()
    check_target(target, force=force, directory=directory)
    return target


def _work_folder(target: Path) -> Path:
    """Make a folder beside the target, so that the package gets there in one move."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise UsageError(f"{target.name}: cannot be written there: {error.strerror}") from error


def _record(
    project: Project, plan: Plan, tree: Path, work: Path, on_step: OnStep | None
) -> Results:
    """Write everything but source and manifest below ``tree``."""
    launcher = Launcher(plan, tree / SOURCE, tree, work, on_step=on_step)
    reference = launcher.run_reference()
    plan = _completed(launcher.plan, reference)
    with open_container(tree) as container:
        lines = RunReader(container, REFERENCE_RUN).steps()
        _check_names(plan, {name for line in lines for name in line.metrics})
    launcher = replace(launcher, plan=plan)
    comparisons = []
    for comparison in plan.comparisons:
        with open_container(tree) as container:
            run = launcher.run_comparison(comparison, RunReader(container, REFERENCE_RUN))
        _check_restored(tree, comparison)
        comparisons.append(_completed_comparison(plan, comparison, run))
    plan = plan.model_copy(update={"comparisons": tuple(comparisons)})
    with open_container(tree) as container:
        runs = {row.name: RunReader(container, row.name) for row in plan.comparisons}
        results = compute_results(plan, RunReader(container, REFERENCE_RUN), runs)
        _check_identical(results, container)
        reference_run = RunReader(container, REFERENCE_RUN)
        last_step = results.reference.last_step
        write_documents(tree, render_figures(plan, reference_run, runs, last_step=last_step))
    _drop_repeated(tree, results)
    _write_documents(project, tree, plan, reference, results)
    metadata = project.metadata()
    notebook = _notebook(make_notebook(metadata, plan, results), plan, tree, work)
    write_documents(tree, {NOTEBOOK: notebook})
    entries = list_entries(tree)
    paths = {entry.path for entry in entries}
    readme = package_readme(metadata, plan, results, evidence_digest(entries), paths)
    write_documents(tree, {README: readme})
    return results


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


def _check_restored(tree: Path, comparison: ComparisonPlan) -> None:
    """A resumed run must start from exactly the state that it was given."""
    if comparison.resume_at is None:
        return
    with open_container(tree) as container:
        expected = planned_start(comparison, RunReader(container, REFERENCE_RUN))
        observed = dict(RunReader(container, comparison.name).start.state)
    differing = split(expected, observed).differing
    if differing:
        raise StateError(
            differing[0],
            f"is not restored in comparison {comparison.name!r}: after load_state_dict, expected "
            "state_dict to give what was loaded, observed another value",
            hint="load_state_dict and state_dict have to be each other's inverse",
        )


def _completed(plan: Plan, reference: RecordedRun) -> Plan:
    """The plan with the configuration as the experiment completed it, defaults filled in."""
    experiment = plan.experiment.model_copy(update={"config": reference.config})
    return plan.model_copy(update={"experiment": experiment})


def _check_names(plan: Plan, printed: set[str]) -> None:
    """Names in the plan that only the experiment knows: metrics and configuration."""
    for name in sorted(set(plan.record.printed) - printed):
        known = ", ".join(sorted(printed)) or "none"
        raise StateError(
            name, f"is to be printed: expected a metric of the reference ({known}), observed none"
        )
    known_names = sorted(plan.experiment.config)
    for comparison in plan.comparisons:
        for name in sorted(set(comparison.config) - set(known_names) if known_names else ()):
            raise ConfigurationError(
                f"comparison {comparison.name!r}: config: unknown name {name!r}: expected one of "
                f"{', '.join(known_names)}"
            )


def _completed_comparison(
    plan: Plan, comparison: ComparisonPlan, run: RecordedRun
) -> ComparisonPlan:
    """The comparison with its changes as the experiment read them; they must be all there is."""
    changes = {name: run.config[name] for name in comparison.config}
    completed = comparison.model_copy(update={"config": changes})
    planned = planned_config(plan, completed)
    if encode_canonical(planned) != encode_canonical(run.config):
        names = [
            name
            for name in sorted({*planned, *run.config})
            if encode_canonical(planned.get(name)) != encode_canonical(run.config.get(name))
        ]
        raise ConfigurationError(
            f"comparison {comparison.name!r}: expected to change {', '.join(sorted(changes))} "
            f"alone, observed another value of {', '.join(names)} as well"
        )
    return completed


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


def _drop_repeated(tree: Path, results: Results) -> None:
    """A run that is identical to the reference stores only its log."""
    for outcome in results.comparisons:
        if outcome.identical:
            shutil.rmtree(tree / checkpoint_folder(outcome.run))
            (tree / kept_path(outcome.run)).unlink(missing_ok=True)


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
