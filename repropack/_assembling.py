"""From recorded runs to the tree of a package: results, figures, documents, notebook, README."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nbformat import NotebookNode

from repropack._compare.claims import evaluate_claims
from repropack._compare.outcomes import compute_results, describe_reference
from repropack._compare.timeline import Timelines
from repropack._export.citation import citation_bytes
from repropack._export.crate import crate_bytes
from repropack._format.canonical import encode_canonical
from repropack._format.layout import (
    AFTER,
    CHECKER,
    CITATION,
    CONFIG_SCHEMA,
    CRATE,
    ENVIRONMENT,
    INPUTS,
    LICENSE,
    NOTEBOOK,
    PAGE,
    PLAN,
    README,
    REFERENCE_RUN,
    RESULTS,
    SCHEMAS,
    SOURCE,
    checkpoint_folder,
    kept_path,
    outputs_folder,
)
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.released import checker_bytes
from repropack._format.schemas import PACKAGED_SCHEMAS, schema_bytes
from repropack._paging import make_page
from repropack._present.notebook import make_notebook
from repropack._present.package_readme import package_readme
from repropack._present.rendered import render_figures
from repropack._read.container import Container, open_container
from repropack._read.equality import hold_against
from repropack._read.package import evidence_digest
from repropack._read.project import Project
from repropack._read.run import RunReader
from repropack._read.swhids import source_swhid
from repropack._run.assemble import (
    Supplement,
    link_files,
    list_entries,
    with_documents,
    write_documents,
)
from repropack._run.notebook import execute_notebook
from repropack._run.notebook_form import notebook_bytes
from repropack._run.recorder import RecordedRun
from repropack._run.workplace import ASSEMBLED, RECORDED, SCRATCH
from repropack.errors import CouldNotRunError, InexactResumeError, LimitExceededError
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.results import Results


def assemble_package(
    project: Project, plan: Plan, work: Path, runs: tuple[RecordedRun, ...], supplement: Supplement
) -> Results:
    """Put the tree of the package together anew; nothing that was recorded is changed.

    Args:
        project: The project.
        plan: Its plan, completed by what the runs told.
        work: The work folder, in which every run of the plan is recorded.
        runs: What the runs told, the reference first.
        supplement: What the package holds beside what follows from the runs.

    Returns:
        The results.

    Raises:
        CouldNotRunError: storage gives back other bytes than were written, or the notebook cannot
            be executed here.
        InexactResumeError: a run was continued, and resuming is not exact.
        ProjectError: a claim has no value in what was recorded; every such claim.
        OSError: something cannot be read or written.
    """
    recorded, tree, metadata = work / RECORDED, work / ASSEMBLED, supplement.metadata
    reference = runs[0]
    with open_container(recorded) as container:
        readers = {row.name: RunReader(container, row.name) for row in plan.comparisons}
        reference_run = RunReader(container, REFERENCE_RUN)
        timelines = Timelines(keep_fingerprints=True)
        results = compute_results(plan, reference_run, readers, timelines)
        results = _with_claims(project, plan, results, {**readers, REFERENCE_RUN: reference_run})
        _check_identical(results, container)
        _check_spliced(plan, results, runs)
        last_step = results.reference.last_step
        figures = render_figures(plan, reference_run, readers, last_step=last_step)
    repeated = _repeated(results)
    link_files(work / SOURCE, tree / SOURCE)
    link_files(work / INPUTS, tree / INPUTS)
    link_files(work / AFTER, tree / AFTER)
    link_files(recorded, tree, lambda path: not path.startswith(repeated))
    for path, folder in supplement.folders.items():
        link_files(folder, tree / path)
    write_documents(tree, {**figures, **supplement.documents})
    _write_documents(project, tree, plan, reference, results)
    node = make_notebook(metadata, plan, results)
    write_documents(tree, {NOTEBOOK: _notebook(node, plan, tree, work / SCRATCH, results)})
    for entry in supplement.references:  # the notebook needs them, the package does not hold them
        _remove(tree, tree / entry.path)
    _write_descriptions(tree, plan, reference, results, supplement, recorded, timelines)
    return results


def _with_claims(
    project: Project, plan: Plan, results: Results, runs: Mapping[str, RunReader]
) -> Results:
    """The results with every claim evaluated."""
    try:
        evaluated = evaluate_claims(plan, results, runs, DEFAULT_LIMITS.max_claim_elements)
    except LimitExceededError as error:
        raise project.error([("claims", error.message)]) from error
    if evaluated.faults:
        raise project.error(
            (f"claims[{place}].expression", problem) for place, problem in evaluated.faults
        )
    return results.model_copy(update={"claims": evaluated.outcomes})


def _write_descriptions(
    tree: Path,
    plan: Plan,
    reference: RecordedRun,
    results: Results,
    supplement: Supplement,
    recorded: Path,
    timelines: Timelines,
) -> None:
    """Write what describes the rest: README, citation, page, and last the crate of all."""
    metadata, environment = supplement.metadata, reference.environment
    entries = list_entries(tree, supplement.references)
    evidence = evidence_digest(entries)
    readme = package_readme(metadata, plan, results, evidence, {entry.path for entry in entries})
    with open_container(tree) as container:
        source = source_swhid(container, entries)
    documents = {README: readme, CITATION: citation_bytes(metadata, evidence, source)}
    listed = with_documents(entries, documents)
    with open_container(recorded) as container:
        readers = {row.name: RunReader(container, row.name) for row in plan.comparisons}
        page = make_page(metadata, plan, results, environment, listed, timelines, readers)
    documents[PAGE] = page
    listed = with_documents(listed, {PAGE: page})
    documents[CRATE] = crate_bytes(metadata, listed, plan, results, environment)
    write_documents(tree, documents)


def _remove(tree: Path, place: Path) -> None:
    """Remove a file, and the folders above it that are empty then."""
    place.unlink()
    for folder in place.parents:
        if folder == tree or next(folder.iterdir(), None) is not None:
            return
        folder.rmdir()


def _notebook(node: NotebookNode, plan: Plan, tree: Path, work: Path, results: Results) -> bytes:
    """The notebook as the plan has it: executed in a copy of ``tree``, or as it is."""
    if plan.notebook == "unexecuted":
        return notebook_bytes(node)
    try:
        return execute_notebook(node, folder=tree, scratch=work)
    except CouldNotRunError as error:
        hint = (
            "--unexecuted-notebook packs the notebook without running it (beside --discard: the "
            "plan is another then)"
        )
        known = (error.hint, _unrepeated(plan, results), hint)
        raise CouldNotRunError(error.message, hint="; ".join(filter(None, known))) from error


def _unrepeated(plan: Plan, results: Results) -> str | None:
    """That the runs differ already where a plain second run does, so that no notebook can agree."""
    plain = {row.name for row in plan.comparisons if row.resume_at is None and not row.config}
    for outcome in results.comparisons:
        if outcome.run in plain and not outcome.identical:
            return (
                f"run {outcome.run!r} differs from the reference as well, from the beginning: the "
                "experiment does not repeat here"
            )
    return None


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


def _check_spliced(plan: Plan, results: Results, runs: tuple[RecordedRun, ...]) -> None:
    """Runs that were continued stand only where nothing of the plan shows that to be inexact."""
    spliced = next((run for run in runs if run.continued_after), None)
    if spliced is None:
        return
    for comparison, outcome in zip(plan.comparisons, results.comparisons, strict=True):
        if _should_repeat(comparison) and not outcome.identical:
            same = "a second run" if comparison.resume_at is None else "a resume"
            raise InexactResumeError(
                spliced.name,
                spliced.continued_after[-1],
                f"comparison {comparison.name!r}, {same} without any change, parts from the "
                "reference",
            )


def _should_repeat(comparison: ComparisonPlan) -> bool:
    """Whether nothing is changed; a hash seed is a change where no equality is expected."""
    if comparison.config or comparison.reset:
        return False
    return comparison.hash_seed is None or comparison.expect == "identical"


def _repeated(results: Results) -> tuple[str, ...]:
    """Paths that are left out: a run that is identical to the reference stores only its log."""
    return tuple(
        path
        for outcome in results.comparisons
        if outcome.identical
        for path in (
            f"{checkpoint_folder(outcome.run)}/",
            f"{outputs_folder(outcome.run)}/",
            kept_path(outcome.run),
        )
    )


def _write_documents(
    project: Project, tree: Path, plan: Plan, reference: RecordedRun, results: Results
) -> None:
    documents = {
        CHECKER: checker_bytes(),
        PLAN: encode_canonical(plan.model_dump(mode="json")),
        ENVIRONMENT: encode_canonical(reference.environment.model_dump(mode="json")),
        RESULTS: encode_canonical(results.model_dump(mode="json")),
        LICENSE: project.license_text()
        or f"SPDX-License-Identifier: {project.document.package.license}\n".encode(),
    }
    told = project.readme()
    if told is not None:
        documents[told[0]] = told[1]
    for name in PACKAGED_SCHEMAS:
        documents[f"{SCHEMAS}/{name}.schema.json"] = schema_bytes(name)
    if reference.config_schema is not None:
        documents[CONFIG_SCHEMA] = encode_canonical(reference.config_schema)
    write_documents(tree, documents)
