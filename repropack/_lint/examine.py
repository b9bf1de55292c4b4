"""All rules over one subject, in the order of their table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from repropack._format.lint_rules import LINT_RULES
from repropack._lint.absolute import check_absolute
from repropack._lint.code import parse_modules
from repropack._lint.documents import check_documents
from repropack._lint.metadata import check_metadata, check_plan
from repropack._lint.opened import check_opened, check_unused
from repropack._lint.person import Person, observe_person
from repropack._lint.pickles import check_pickles
from repropack._lint.privacy import check_privacy
from repropack._lint.seeds import check_seeds
from repropack._lint.subject import Subject
from repropack._lint.subjects import SourceFiles, made_by_runs, package_subject, project_subject
from repropack._read.package import open_package
from repropack._read.project import Project
from repropack.errors import LintError, UsageError
from repropack.models.lint import LintFinding
from repropack.refusals import Refusal

OnFindings = Callable[[tuple[LintFinding, ...]], None]
_SEVERITIES = ("error", "warning", "note")


def examine(subject: Subject, person: Person | None = None) -> tuple[LintFinding, ...]:
    """Apply every rule; nothing of the subject is run.

    Args:
        subject: What is looked at.
        person: The account and machine whose names are looked for; observed where not given.

    Returns:
        The findings: errors first, then by rule, path and line. Those of rules that the author
        lets pass are ``allowed``.

    Raises:
        UsageError: a project's file cannot be read.
        PackageError: a package's entry is damaged.
    """
    who = observe_person() if person is None else person
    try:
        return _ordered(_all(subject, who), subject)
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be read: {error.strerror}") from error


def lint_before_build(
    project: Project,
    sources: SourceFiles,
    on_findings: OnFindings | None,
    *,
    locked: bool = False,
) -> tuple[LintFinding, ...]:
    """Apply every rule to a project as its package will be, and stop at an error.

    Args:
        project: The project.
        sources: The files that are packed as its source, as path and place.
        on_findings: Told of the findings before anything is raised, and before a long build.
        locked: Whether the package will lock its distributions.

    Returns:
        The findings; no error among them but those that the author lets pass.

    Raises:
        ProjectError: inputs cannot be listed.
        UsageError: a file of the project cannot be read.
        LintError: a finding is an error; it holds all of them.
    """
    return _told(examine(project_subject(project, sources, locked=locked)), on_findings)


def lint_before_publishing(
    written: Path, on_findings: OnFindings | None
) -> tuple[LintFinding, ...]:
    """Look for what must not be published in what the runs made, and stop at an error.

    Args:
        written: The package, written in the work folder and not published yet.
        on_findings: Told of the findings, where there are any, before anything is raised.

    Returns:
        Findings in entries that are neither source, input nor licence: those were looked at before.

    Raises:
        PackageError: an entry is damaged.
        LintError: a finding is an error; it holds all of them.
    """
    with open_package(written) as package:
        subject = made_by_runs(package_subject(package))
        person = replace(observe_person(), work=str(written.absolute().parent))
        found = (*check_privacy(subject, person), *check_pickles(subject, ()))
        findings = _ordered(found, subject)
    return _told(findings, on_findings) if findings else ()


def _told(
    findings: tuple[LintFinding, ...], on_findings: OnFindings | None
) -> tuple[LintFinding, ...]:
    if on_findings is not None:
        on_findings(findings)
    errors = [one for one in findings if one.severity == "error" and not one.allowed]
    if errors:
        raise LintError(*(Refusal(one.rule, one.place, one.problem, "", "") for one in errors))
    return findings


def _ordered(findings: Iterable[LintFinding], subject: Subject) -> tuple[LintFinding, ...]:
    allowed = frozenset(subject.metadata.allowed_findings)
    marked = (one.model_copy(update={"allowed": one.rule in allowed}) for one in findings)
    return tuple(sorted(marked, key=_place))


def _all(subject: Subject, person: Person) -> Iterator[LintFinding]:
    modules = parse_modules(subject)
    yield from check_documents(subject)
    yield from check_metadata(subject)
    yield from check_plan(subject)
    yield from check_opened(subject, modules)
    yield from check_unused(subject)
    yield from check_absolute(subject, modules)
    yield from check_privacy(subject, person)
    yield from check_pickles(subject, modules)
    yield from check_seeds(modules)


def _place(finding: LintFinding) -> tuple[int, int, str, int]:
    order = list(LINT_RULES).index(finding.rule)
    return (_SEVERITIES.index(finding.severity), order, finding.path, finding.line or 0)
