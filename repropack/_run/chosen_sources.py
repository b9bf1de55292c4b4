"""The source that a build packs: which files, whether they are all that is imported, from where.

A build copies the chosen files and runs the copy, so everything here is asked of the copy, and of
the project folder only to say what the copy lacks.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from repropack._format.layout import SOURCE
from repropack._read.named_files import files_named, words_of
from repropack._read.project import Project
from repropack._read.project_sources import matches_any
from repropack._run.checkout import observe_origin, tracked_files
from repropack._run.distributions import OWN_MODULE
from repropack._run.imports import Imports, Start, Unpacked, module_at, starts_of
from repropack.errors import CouldNotRunError, ExperimentError, ProjectError, RepropackError
from repropack.models.manifest import Entry, Origin
from repropack.models.plan import Plan
from repropack.models.reports import SourceChoice, SourceSummary

_KEY = "experiment.source"
_NOT_FOUND = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_NO_FILE = re.compile(
    r"No such file|not found|(?:cannot|can't|could not|unable to|failed to) (?:open|find|read)"
    r"|does not exist|doesn't exist",
    re.IGNORECASE,
)
"""What programs say of a file that is not there, on the line that names it."""
_ENDING_LINES = 3
_MAX_NAMED = 5
_ELSEWHERE = re.compile(r"observed from elsewhere: ([\w.]+) ")
_CURES: Mapping[SourceChoice, str] = {
    "source": "add {pattern!r} to source",
    "git": "`git add {path}`, for without source what git tracks is packed",
    "python-files": (
        "name it under source: without source it is passed over, as what .gitignore excludes and "
        "what is no Python file"
    ),
}


@dataclass(frozen=True)
class ChosenSources:
    """The files that are packed, as path in the project and place, and how they were chosen."""

    project: Project
    files: tuple[tuple[str, Path], ...]
    chosen_by: SourceChoice

    def summary(self) -> SourceSummary:
        """Say how many files there are and how they were chosen."""
        return SourceSummary(files=len(self.files), chosen_by=self.chosen_by)

    def origin(self, copies: Mapping[str, Path]) -> Origin | None:
        """Say which commit the packed files are from; ``None`` where no git is in use.

        Packed are source and inputs, the licence's text, and the project file, from which the
        plan follows.

        Args:
            copies: Where the copies of source and inputs lie, by their path in the project.

        Returns:
            The commit, and whether the packed files are as it has them.
        """
        project = self.project
        named = (project.file.name, project.license_name())
        files = {name: project.root / name for name in named if name is not None}
        return observe_origin(
            project.root,
            {**files, **copies},
            project.would_pack,
        )

    def check(self, plan: Plan, copy: Path) -> None:
        """See to it that what the experiment imports is packed or installed.

        Args:
            plan: What is run.
            copy: The folder with the copied files.

        Raises:
            ProjectError: an import leads out of the packed files to what is no installed
                distribution, or a packed file would be imported in the place of repropack; every
                such one.
            CouldNotRunError: modules could not be looked for.
        """
        packed = {path: copy / path for path, _ in self.files}
        imports = Imports(self.project.root, packed)
        imports.follow(_starts(plan, tuple(packed)))
        own = f"expected no module named {OWN_MODULE!r} among the source"
        problems = [
            *(f"{own}, observed {path!r}: rename it" for path in shadowing(plan, packed)),
            *(self._problem(one) for one in imports.unpacked),
            *(self._problem(one) for one in imports.elsewhere()),
        ]
        if problems:
            raise ProjectError(
                str(self.project.file), tuple((_KEY, problem) for problem in problems)
            )

    def explain(self, error: RepropackError) -> None:
        """Say what to do where a run did not find a module or a file, or found one elsewhere.

        Args:
            error: What ended the run; its hint is replaced.
        """
        told = f"{error.message} {error.hint}"
        found = _NOT_FOUND.search(told) or _ELSEWHERE.search(told)
        if found is None:
            found = _NOT_FOUND.search("\n".join(error.printed[-_ENDING_LINES:]))
        if found is not None:
            self._explain_module(error, found)
        elif isinstance(error, ExperimentError | CouldNotRunError):
            path = self._file_missed([error.message, *error.printed])
            if path is not None:
                is_code = path.endswith((".py", ".sh"))
                cure = self._cure(path) if is_code else "add it to inputs"
                error.hint = f"{path} is in the project and not packed: {cure}"

    def _file_missed(self, lines: Iterable[str]) -> str | None:
        """The file of the project that the lines say is not there; the last one that they name."""
        project = self.project
        packed = {path for path, _ in self.files} | {one.path for one in project.input_files()}
        folders = ["", *(str(one) for path in packed for one in PurePosixPath(path).parents)]
        for line in reversed([one for one in lines if _NO_FILE.search(one)]):
            for path in files_named(project.root, folders, words_of(line)):
                outputs = project.document.experiment.outputs
                if path not in packed and not matches_any(path, outputs):
                    return path
        return None

    def _explain_module(self, error: RepropackError, found: re.Match[str]) -> None:
        packed = dict(self.files)
        above = {str(folder) for path in packed for folder in PurePosixPath(path).parents}
        folders = sorted({"", *above} - {"."})
        places = ["/".join((*folder.split("/"), *found[1].split("."))) for folder in folders]
        for folder, place in zip(folders, (one.lstrip("/") for one in places), strict=True):
            if folder and found.re is _NOT_FOUND and _is_packed(place, packed):
                cure = f"add import-from = [{folder!r}] to [experiment]"
                error.hint = f"{found[1]} is packed in {folder}: {cure}"
                return
            path = module_at(self.project.root, packed, place)
            if path is not None:
                error.hint = f"{path} is in the project and not packed: {self._cure(path)}"
                return
            if f"{place}.py" in packed and found.re is _ELSEWHERE:
                error.hint = f"{place}.py is packed; let what is put into sys.path follow __file__"
                return
        if found.re is _NOT_FOUND and f"{self._entry_module}.".startswith(f"{found[1]}."):
            error.hint = self._explain_entry_point() or error.hint
        elif found.re is _NOT_FOUND and not _is_packed(found[1], packed) and "." not in found[1]:
            error.hint = f"install {found[1]} in the environment that repropack runs in"

    @property
    def _entry_module(self) -> str:
        """Name of the module that the experiment is in; empty where it is a command."""
        return (self.project.document.experiment.entry_point or "").partition(":")[0]

    def _explain_entry_point(self) -> str | None:
        """What the source has, where it does not have the entry point's module."""
        experiment = self.project.document.experiment
        modules: dict[str, str] = {}
        for root in ("", *experiment.import_from):
            for path, _ in self.files:
                inner = PurePosixPath(path)
                if inner.suffix == ".py" and inner.is_relative_to(root):
                    parts = inner.relative_to(root).with_suffix("").parts
                    parts = parts[:-1] if parts[-1] == "__init__" else parts
                    modules.setdefault(".".join(parts), path)
        if self._entry_module in modules:
            return None
        close = difflib.get_close_matches(self._entry_module, modules, n=1)
        if not close:
            files = list(dict.fromkeys(modules.values()))
            more = " and more" if len(files) > _MAX_NAMED else ""
            return f"source has {', '.join(files[:_MAX_NAMED])}{more}" if files else None
        _, _, name = (experiment.entry_point or "").partition(":")
        return f"source has {modules[close[0]]}; did you mean '{close[0]}:{name}'?"

    def _problem(self, one: Unpacked) -> str:
        where = f"{one.file}, line {one.line}: imports {one.name!r}"
        if one.path is not None:
            return f"{where} from {one.path}, which is not packed: {self._cure(one.path)}"
        return f"{where}: expected it packed or installed, observed {self._outside(one)}"

    def _cure(self, path: str) -> str:
        pattern = Unpacked("", 0, "", path=path).pattern
        return _CURES[self.chosen_by].format(pattern=pattern, path=path)

    def _outside(self, one: Unpacked) -> str:
        """Words for a file that no distribution lists, and what to do about it."""
        file = Path(one.outside or "")
        if not file.is_relative_to(self.project.root):
            return f"{file}, of no distribution: copy it into the project, or install it without -e"
        path = file.relative_to(self.project.root).as_posix()
        depth = one.name.count(".") + (2 if file.name == "__init__.py" else 1)
        folder = "/".join(PurePosixPath(path).parts[:-depth]) or "."
        return (
            f"{path}, found through {folder}, which a run does not search: add "
            f"import-from = [{folder!r}], or install the project without -e"
        )


def _is_packed(place: str, packed: Mapping[str, Path]) -> bool:
    return f"{place}.py" in packed or f"{place}/__init__.py" in packed


def with_tracked(project: Project) -> Project:
    """Ask git which files it tracks, where the project file leaves the choice to it.

    Args:
        project: The project as its file has it.

    Returns:
        The same, and what git tracks of its folder where ``source`` is not given.

    Raises:
        CouldNotRunError: git is to be asked and does not answer.
    """
    if project.document.experiment.source is not None:
        return project
    return replace(project, tracked=tracked_files(project.root))


def choose_sources(project: Project, target: Path) -> ChosenSources:
    """Tell which files are packed as the source.

    Args:
        project: The project, which knows what git tracks.
        target: Where the package is to be, absolute; a folder there is no source.

    Returns:
        The files.

    Raises:
        ProjectError: there are none, or one cannot be packed.
    """
    chosen_by: SourceChoice = "git" if project.tracked else "python-files"
    if project.document.experiment.source is not None:
        chosen_by = "source"
    files = project.source_files()
    own = tuple((path, place) for path, place in files if not place.is_relative_to(target))
    return ChosenSources(project, own, chosen_by)


def check_source_names(plan: Plan, entries: Iterable[Entry]) -> None:
    """See to it that nothing in a package's source is imported in the place of repropack.

    Args:
        plan: The package's plan.
        entries: Its entries.

    Raises:
        CouldNotRunError: a file would be.
    """
    paths = (entry.path for entry in entries if entry.role == "source")
    for path in shadowing(plan, (path.removeprefix(f"{SOURCE}/") for path in paths)):
        raise CouldNotRunError(
            f"expected no module named {OWN_MODULE!r} among the package's source, observed "
            f"{path!r}, which would be imported in the place of the runner's"
        )


def shadowing(plan: Plan, paths: Iterable[str]) -> list[str]:
    """Find packed files that Python would import in the place of repropack.

    Args:
        plan: What is run.
        paths: Paths of the packed source.

    Returns:
        Those named like repropack, in a folder in which a run looks for modules.
    """
    known = sorted(paths)
    roots = {root for start in _starts(plan, known) for root in start.roots} | {""}
    own = {f"{root}/{OWN_MODULE}".lstrip("/") for root in roots}
    return [
        path
        for path in known
        if any(path == f"{name}.py" or path.startswith(f"{name}/") for name in own)
        and path.endswith(".py")
    ]


def _starts(plan: Plan, packed: Sequence[str]) -> list[Start]:
    """Where reading begins: in the experiment, and in each command that comes after."""
    one = plan.experiment
    starts = starts_of(one.entry_point, one.command or (), packed, one.import_from)
    for after in plan.after:
        starts += starts_of(None, after.command, packed, one.import_from)
    return starts
