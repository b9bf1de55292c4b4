"""Look at a project or a package for what reviewers ask for, and run nothing of it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from repropack._format.layout import MANIFEST
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._lint.examine import examine
from repropack._lint.subject import Subject
from repropack._lint.subjects import package_subject, project_subject
from repropack._read.package import open_package
from repropack._read.project import PROJECT_FILE, PYPROJECT_FILE, load_project
from repropack._run.chosen_sources import choose_sources, with_tracked
from repropack.models.lint import LintReport

_NOWHERE = ".no-package"
"""A target that no source lies in: nothing is built here."""


def lint_path(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> LintReport:
    """Apply every rule of ``docs/lint.md`` to a project or a package.

    Args:
        path: A project folder, a project file (``.toml``), or a package, zip or directory.
        limits: Limits on reading a package.

    Returns:
        The findings, errors first, and a verdict that leaves out those that the author lets pass.

    Raises:
        UsageError: no such path, or neither a project nor a package.
        ProjectError: faults in the project file.
        PackageError: the package is damaged or unsafe.
        UnsupportedVersionError: a format version of a later release.
        CouldNotRunError: git is to be asked what it tracks, and does not answer.
    """
    place = Path(path)
    if _is_package(place):
        with open_package(place, limits=limits) as package:
            return _report(path, package_subject(package))
    project = with_tracked(load_project(place))
    sources = choose_sources(project, project.root / _NOWHERE)
    return _report(path, project_subject(project, sources.files))


def _report(path: str | Path, subject: Subject) -> LintReport:
    findings = examine(subject)
    severities = {one.severity for one in findings if not one.allowed}
    verdict: Literal["clean", "warnings", "errors"] = "clean"
    if "error" in severities:
        verdict = "errors"
    elif "warning" in severities:
        verdict = "warnings"
    return LintReport(
        path=shown_path(path),
        subject=subject.kind,
        verdict=verdict,
        package=subject.metadata,
        files_examined=len(subject.files),
        findings=findings,
    )


def _is_package(place: Path) -> bool:
    """A folder is a package where it has a manifest and no project file; so is any other file."""
    if place.is_dir():
        project = any((place / name).exists() for name in (PROJECT_FILE, PYPROJECT_FILE))
        return not project and (place / MANIFEST).exists()
    return place.exists() and place.suffix != ".toml"
