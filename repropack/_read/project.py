"""Read a project file: every fault in it at once, then the plan and the files that it names.

Reading never imports or runs anything of the project.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repropack._format.state import encode_value
from repropack._read.project_faults import Issue, Key, dotted, readable_faults, shown
from repropack._read.project_rules import broken_rules
from repropack._read.project_sources import find_sources, is_own_file
from repropack.errors import ProjectError, StateError, UsageError
from repropack.models.base import JsonObject, Model
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import (
    ComparisonPlan,
    ExpectedDivergence,
    ExperimentPlan,
    Plan,
    RecordPlan,
)
from repropack.models.project import ProjectComparison, ProjectFile

PROJECT_FILE = "repropack.toml"
PYPROJECT_FILE = "pyproject.toml"
PYPROJECT_TABLE: Key = ("tool", "repropack")
LICENSE_FILES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING")

_TOML_PLACE = re.compile(r"(?P<problem>.*) \(at (?P<place>line \d+, column \d+|end of document)\)")


@dataclass(frozen=True)
class Project:
    """A project whose file is without fault; ``root`` is absolute, ``file`` as it was named."""

    root: Path
    file: Path
    document: ProjectFile

    def metadata(self) -> PackageMetadata:
        """Return ``[package]`` as the manifest holds it."""
        return PackageMetadata.model_validate(_fields(self.document.package, PackageMetadata))

    def plan(self) -> Plan:
        """Return the plan, its configuration values encoded.

        Raises:
            ProjectError: configuration values that cannot be encoded, all of them.
        """
        document, issues = self.document, list[Issue]()
        values = _fields(document.experiment, ExperimentPlan)
        values["config"] = _encoded("experiment.config", values["config"], issues)
        comparisons = [
            _comparison_plan(comparison, f"comparisons[{place}].config", issues)
            for place, comparison in enumerate(document.comparisons)
        ]
        if issues:
            raise ProjectError(str(self.file), tuple(issues))
        return Plan(
            experiment=ExperimentPlan.model_validate(values),
            record=RecordPlan.model_validate(_fields(document.record, RecordPlan)),
            comparisons=tuple(comparisons),
        )

    def source_files(self) -> tuple[tuple[str, Path], ...]:
        """Return the experiment's source: POSIX path in the project and place of each file.

        Returns:
            Regular files that match ``source``, sorted by the bytes of their path. Caches, build
            folders, virtual environments and folders that start with a dot are passed over.

        Raises:
            ProjectError: no file matches, a named one is missing, or a match is a link.
        """
        patterns = self.document.experiment.source
        try:
            found = find_sources(self.root, patterns)
        except OSError as error:
            problem = f"the project folder cannot be searched: {error.strerror}"
            raise ProjectError(str(self.file), (("experiment.source", problem),)) from error
        if found.problems:
            issues = tuple(("experiment.source", problem) for problem in found.problems)
            raise ProjectError(str(self.file), issues)
        return found.files

    def license_text(self) -> bytes | None:
        """Return the licence's text: of ``license-file``, else of the first usual file there is.

        Raises:
            ProjectError: the file cannot be read.
        """
        named = self.document.package.license_file
        for name in (named,) if named else LICENSE_FILES:
            if is_own_file(self.root, name):
                try:
                    return (self.root / name).read_bytes()
                except OSError as error:
                    problem = f"{name!r} cannot be read: {error.strerror}"
                    raise ProjectError(
                        str(self.file), (("package.license-file", problem),)
                    ) from error
        return None


def load_project(path: Path) -> Project:
    """Read the project file of a folder, or a project file itself.

    Args:
        path: A folder with ``repropack.toml``, or with ``[tool.repropack]`` in its
            ``pyproject.toml``; or a ``.toml`` file of either form.

    Returns:
        The project. Its file obeys its schema and every rule that joins several values.

    Raises:
        UsageError: there is no such path, or no project file in it.
        ProjectError: the file is at fault; ``issues`` holds every fault.
    """
    if not path.exists():
        raise UsageError(f"{path}: expected a project folder or file, observed nothing there")
    file = _project_file(path)
    data = _read_toml(file)
    prefix: Key = ()
    if file.name == PYPROJECT_FILE:
        prefix, data = PYPROJECT_TABLE, _pyproject_table(file, data)
    root = file.parent.absolute()
    frozen = _with_tuples(data)
    faults: list[tuple[Key, str]] = []
    document: ProjectFile | None = None
    try:
        document = ProjectFile.model_validate(frozen)
    except ValidationError as error:
        faults += readable_faults(error)
    faults += broken_rules(frozen, root)
    if document is None or faults:
        issues = tuple((dotted((*prefix, *key)), problem) for key, problem in faults)
        raise ProjectError(str(file), issues)
    return Project(root, file, document)


def _project_file(path: Path) -> Path:
    if path.is_dir():
        for name in (PROJECT_FILE, PYPROJECT_FILE):
            if (path / name).is_file():
                return path / name
        raise _no_project(path)
    if path.suffix != ".toml" or not path.is_file():
        raise UsageError(f"{path}: expected a project folder or a .toml file")
    return path


def _no_project(path: Path) -> UsageError:
    return UsageError(
        f"{path}: expected {PROJECT_FILE}, or [tool.repropack] in {PYPROJECT_FILE}, "
        "observed neither",
        hint=f"write a {PROJECT_FILE} there",
    )


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8"))
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8, observed the byte {error.object[error.start]:#04x}"
        raise ProjectError(str(file), ((f"byte {error.start}", problem),)) from error
    except (ValueError, RecursionError) as error:
        raise ProjectError(str(file), (_syntax_issue(str(error)),)) from error


def _syntax_issue(message: str) -> Issue:
    """Return the place and the problem, both from the parser's message."""
    found = _TOML_PLACE.fullmatch(message)
    place, problem = (found["place"], found["problem"]) if found else ("", message)
    return place, f"not valid TOML: {problem[:1].lower()}{problem[1:]}"


def _pyproject_table(file: Path, data: dict[str, Any]) -> dict[str, Any]:
    tool, name = PYPROJECT_TABLE
    tools = data.get(str(tool), {})
    if not isinstance(tools, dict) or name not in tools:
        raise _no_project(file)
    table: object = tools[name]
    if not isinstance(table, dict):
        issue = (dotted(PYPROJECT_TABLE), f"expected a table, observed {shown(table)}")
        raise ProjectError(str(file), (issue,))
    return table


def _with_tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table whose arrays are tuples, as strict models want; configurations stay."""
    return {key: value if key == "config" else _with_tuple(value) for key, value in table.items()}


def _with_tuple(value: object) -> object:
    if isinstance(value, list):
        return tuple(_with_tuple(item) for item in value)
    return _with_tuples(value) if isinstance(value, dict) else value


def _fields(source: Model, target: type[Model]) -> dict[str, Any]:
    """Return what ``target`` wants of the model that extends it."""
    return {name: getattr(source, name) for name in target.model_fields}


def _comparison_plan(
    comparison: ProjectComparison, key: str, issues: list[Issue]
) -> ComparisonPlan:
    values = _fields(comparison, ComparisonPlan)
    values["config"] = _encoded(key, comparison.config, issues)
    if isinstance(comparison.expect, ExpectedDivergence):
        expected = _fields(comparison.expect, ExpectedDivergence)
        values["expect"] = ExpectedDivergence.model_validate(expected)
    return ComparisonPlan.model_validate(values)


def _encoded(key: str, config: JsonObject, issues: list[Issue]) -> JsonObject:
    encoded: JsonObject = {}
    for name, value in config.items():
        try:
            encoded[name] = encode_value(name, value)
        except StateError as error:
            issues.append((f"{key}.{name}", error.problem))
    return encoded
