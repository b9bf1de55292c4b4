"""Read a project file: every fault in it at once, then the plan and the files that it names.

Reading never imports or runs anything of the project.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repropack._format.layout import AUTHOR_READMES, INPUTS, SOURCE
from repropack._format.state import encode_value
from repropack._read.beside import observed_at
from repropack._read.project_default import DEFAULT_SOURCE, find_default, is_default
from repropack._read.project_faults import (
    Issue,
    Key,
    dotted,
    readable_faults,
    shown,
    with_names,
)
from repropack._read.project_rules import broken_rules
from repropack._read.project_sources import (
    FoundSources,
    find_sources,
    is_own_file,
    matches_any,
    unfit_paths,
)
from repropack.errors import ProjectError, StateError, UsageError
from repropack.models.authored import AuthoredMetadata
from repropack.models.base import JsonObject, Model
from repropack.models.claims import ClaimPlan
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import (
    AuthoredExperiment,
    CommandPlan,
    ComparisonPlan,
    ExpectedDivergence,
    ExperimentPlan,
    Plan,
    RecordPlan,
)
from repropack.models.project import (
    ProjectComparison,
    ProjectExperiment,
    ProjectFile,
    ProjectInput,
)

PROJECT_FILE = "repropack.toml"
PYPROJECT_FILE = "pyproject.toml"
PYPROJECT_TABLE: Key = ("tool", "repropack")
README_FILES = ("README.md", "README.rst", "README.txt", "README")
LICENSE_FILES = ("LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING")

_TOML_PLACE = re.compile(r"(?P<problem>.*) \(at (?P<place>line \d+, column \d+|end of document)\)")


@dataclass(frozen=True)
class InputFile:
    """An input: its POSIX path in the project, where it lies, and what the author says of it."""

    path: str
    place: Path
    row: ProjectInput


@dataclass(frozen=True)
class Project:
    """A project whose file is without fault; ``root`` is absolute, ``file`` as it was named.

    ``tracked`` are the paths below the root that git tracks, where somebody asked it.
    """

    root: Path
    file: Path
    document: ProjectFile
    tracked: tuple[str, ...] = ()

    def metadata(self) -> PackageMetadata:
        """Return ``[package]`` as the manifest holds it."""
        wanted = set(AuthoredMetadata.model_fields)
        authored = self.document.package.model_dump(include=wanted, by_alias=False)
        return PackageMetadata(**authored, allowed_findings=self.document.lint.allow)

    def plan(self) -> Plan:
        """Return the plan, its configuration values encoded.

        Raises:
            ProjectError: configuration values that cannot be encoded, all of them.
        """
        document, issues = self.document, list[Issue]()
        values = _fields(document.experiment, AuthoredExperiment)
        values["config"] = _encoded("experiment.config", values["config"], issues)
        comparisons = [
            _comparison_plan(comparison, f"comparisons[{place}].config", issues)
            for place, comparison in enumerate(document.comparisons)
        ]
        if issues:
            raise self.error(issues)
        return Plan(
            experiment=_experiment_plan(document.experiment, values),
            record=RecordPlan.model_validate(_fields(document.record, RecordPlan)),
            comparisons=tuple(comparisons),
            after=tuple(
                CommandPlan.model_validate(_fields(command, CommandPlan))
                for command in document.after
            ),
            claims=tuple(
                ClaimPlan.model_validate(_fields(claim, ClaimPlan)) for claim in document.claims
            ),
        )

    def error(self, issues: Iterable[Issue]) -> ProjectError:
        """Return the error for faults that show only later; keys are those of the file."""
        faults = tuple(issues)
        return ProjectError(str(self.file), faults, shown=with_names(faults, self.document))

    def source_files(self) -> tuple[tuple[str, Path], ...]:
        """Return the experiment's source: POSIX path in the project and place of each file.

        Where ``source`` is not given it is what git tracks; where it tracks nothing, or is not in
        use, ``**/*.py`` less what a ``.gitignore`` excludes.

        Returns:
            Regular files, sorted by the bytes of their path. Caches, build folders, virtual
            environments and folders that start with a dot are passed over, and so are inputs and
            outputs, unless ``source`` or a command names the very file.

        Raises:
            ProjectError: no file matches, a named one is missing, a match is a link, or has a
                name that no package may hold.
        """
        patterns, key = self.document.experiment.source, "experiment.source"
        inputs, named = {file.path for file in self.input_files()}, self._named()
        if patterns is not None:
            found = self._find(key, patterns)
        else:
            found = self._found(key, lambda: find_default(self.root, self.tracked))
        files = tuple(
            (path, place)
            for path, place in found
            if path not in inputs and (path in named or not matches_any(path, self._outputs()))
        )
        problems = unfit_paths(SOURCE, [path for path, _ in files])
        if problems:
            raise ProjectError(str(self.file), tuple((key, problem) for problem in problems))
        return files

    def would_pack(self, path: str) -> bool:
        """Return whether a file of this path would be among the source, if it were there."""
        patterns = self.document.experiment.source
        inputs = [
            row.path if isinstance(row, ProjectInput) else row
            for row in self.document.experiment.inputs
        ]
        if matches_any(path, (*inputs, *self._outputs())):
            return False
        if patterns is None and self.tracked:
            return is_default(path)
        return matches_any(path, patterns or DEFAULT_SOURCE)

    def _outputs(self) -> tuple[str, ...]:
        """Patterns of the files that commands write: an old one in the project is no source."""
        document = self.document
        later = (pattern for command in document.after for pattern in command.outputs)
        return (*document.experiment.outputs, *later)

    def _named(self) -> set[str]:
        """What ``source`` and words of commands name; no pattern of outputs takes it away."""
        experiment, later = self.document.experiment, self.document.after
        words = (word for command in later for word in command.command)
        return {*(experiment.source or ()), *(experiment.command or ()), *words}

    def input_files(self) -> tuple[InputFile, ...]:
        """Return the experiment's input files.

        Returns:
            Regular files that match ``inputs``, sorted by the bytes of their path.

        Raises:
            ProjectError: nothing matches an input, a match is a link or has a name that no package
                may hold, or two name one file.
        """
        files: dict[str, InputFile] = {}
        for place, named in enumerate(self.document.experiment.inputs):
            key = f"experiment.inputs[{place}]"
            row = named if isinstance(named, ProjectInput) else ProjectInput(path=named)
            found = self._find(key, (row.path,))
            if row is named and len(found) != 1:
                problem = f"expected one file that has this path, observed {len(found)}"
                raise ProjectError(str(self.file), ((key, problem),))
            for path, file in found:
                if path in files and row is named:
                    problem = f"expected each file once, observed {path!r} twice"
                    raise ProjectError(str(self.file), ((key, problem),))
                files.setdefault(path, InputFile(path, file, row))
        problems = unfit_paths(INPUTS, list(files))
        if problems:
            faults = tuple(("experiment.inputs", problem) for problem in problems)
            raise ProjectError(str(self.file), faults)
        return tuple(files[path] for path in sorted(files, key=os.fsencode))

    def _find(self, key: str, patterns: tuple[str, ...]) -> tuple[tuple[str, Path], ...]:
        return self._found(key, lambda: find_sources(self.root, patterns))

    def _found(self, key: str, search: Callable[[], FoundSources]) -> tuple[tuple[str, Path], ...]:
        try:
            found = search()
        except OSError as error:
            problem = f"the project folder cannot be searched: {error.strerror}"
            raise ProjectError(str(self.file), ((key, problem),)) from error
        if found.problems:
            raise ProjectError(str(self.file), tuple((key, problem) for problem in found.problems))
        return found.files

    def readme(self) -> tuple[str, bytes] | None:
        """Return the author's README: the first usual file there is at the top of the project.

        Returns:
            Its entry path in a package, and its bytes; ``None`` where there is none.

        Raises:
            ProjectError: the file cannot be read.
        """
        name = next((name for name in README_FILES if is_own_file(self.root, name)), None)
        if name is None:
            return None
        markdown, plain = AUTHOR_READMES
        try:
            return markdown if name.endswith(".md") else plain, (self.root / name).read_bytes()
        except OSError as error:
            problem = f"{name!r} cannot be read: {error.strerror}"
            raise ProjectError(str(self.file), (("package", problem),)) from error

    def license_name(self) -> str | None:
        """Return the path of the licence's text: ``license-file``, else a usual name, if any."""
        named = self.document.package.license_file
        usual = (name for name in LICENSE_FILES if is_own_file(self.root, name))
        return named or next(usual, None)

    def license_text(self) -> bytes | None:
        """Return the licence's text: of ``license-file``, else of the first usual file there is.

        Raises:
            ProjectError: the file cannot be read.
        """
        name = self.license_name()
        if name is None:
            return None
        try:
            return (self.root / name).read_bytes()
        except OSError as error:
            problem = f"{name!r} cannot be read: {error.strerror}"
            raise ProjectError(str(self.file), (("package.license-file", problem),)) from error


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
        raise ProjectError(str(file), issues, shown=with_names(issues, frozen))
    return Project(root, file, document)


def _project_file(path: Path) -> Path:
    if path.is_dir():
        for name in (PROJECT_FILE, PYPROJECT_FILE):
            if (path / name).is_file():
                return path / name
            if (found := path / name).exists():
                raise UsageError(f"{found}: expected a file, observed {observed_at(found)}")
        raise _no_project(path)
    if path.suffix != ".toml" or not path.is_file():
        observed = observed_at(path)
        raise UsageError(f"{path}: expected a project folder or a .toml file, observed {observed}")
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


def _experiment_plan(experiment: ProjectExperiment, values: dict[str, Any]) -> ExperimentPlan:
    """A command is run as a whole, which is one step, where no number of steps is given."""
    return ExperimentPlan(
        **values,
        loop=experiment.command is not None and experiment.steps is not None,
        seed=experiment.seed or 0,
        steps=experiment.steps or 1,
    )


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
