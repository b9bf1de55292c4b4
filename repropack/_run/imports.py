"""What an experiment's source imports, found by reading it, and whether that is packed.

Reading starts at the entry point, or at the script of a command, and follows imports through the
packed files. What is not among them is looked for by a process that has a worker's environment
and imports nothing. Names that cannot be found anywhere are left to the run: they may be optional.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path, PurePosixPath
from typing import Any

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._run.distributions import OWN_MODULE
from repropack._run.variables import worker_environment
from repropack.errors import CouldNotRunError, PackageFormatError

_MAIN = Path(__file__).with_name("worker_main.py")
_SECONDS = 60


@dataclass(frozen=True)
class Start:
    """A file in which reading begins, and the folders that its absolute imports are looked for in.

    Folders are relative paths; ``""`` is the project folder itself.
    """

    file: str
    roots: tuple[str, ...]


@dataclass(frozen=True)
class Unpacked:
    """An import that leads out of the packed files.

    Attributes:
        file: The packed file with the import.
        line: Its line, counted from 1.
        name: What is imported.
        path: File of the project that it would be; or ``None``.
        outside: Absolute path of the file that it would be, where no pattern can help.
    """

    file: str
    line: int
    name: str
    path: str | None = None
    outside: str | None = None

    @property
    def pattern(self) -> str | None:
        """What to add under ``source``: the file, or all of its package."""
        if self.path is None:
            return None
        folder, _, name = self.path.rpartition("/")
        return f"{folder}/**/*.py" if name == "__init__.py" and folder else self.path


class Imports:
    """Imports of packed files, followed from where reading starts.

    Attributes:
        visited: Packed files that were read, in the order in which they were met.
        unpacked: What is missing of the project, one for each file that is missing.
    """

    def __init__(self, project: Path, packed: Mapping[str, Path]) -> None:
        """Read nothing yet.

        Args:
            project: The project folder.
            packed: What is packed: paths relative to it, and where to read each.
        """
        self.visited: list[str] = []
        self.unpacked: list[Unpacked] = []
        self._project = project
        self._packed = packed
        self._folders = {
            str(folder) for path in packed for folder in PurePosixPath(path).parents
        } - {"."}
        self._elsewhere: dict[str, tuple[str, int]] = {}

    def follow(self, starts: Sequence[Start]) -> None:
        """Read files and what they import, each once.

        Args:
            starts: Packed files, and where each one's imports are looked for.
        """
        for start in starts:
            waiting = [start.file]
            while waiting:
                file = waiting.pop()
                if file in self.visited or file not in self._packed:
                    continue
                self.visited.append(file)
                for found in _imports_of(self._packed[file]):
                    waiting += self._resolve(file, found, start.roots)

    def elsewhere(self) -> Iterator[Unpacked]:
        """Yield imports of what is neither packed nor installed.

        Raises:
            CouldNotRunError: the process that looks for modules failed.
        """
        answer = _locate(sorted(self._elsewhere))
        for name, (file, line) in self._elsewhere.items():
            kind, place = answer[name]
            if kind == "outside":
                yield Unpacked(file, line, name, outside=place)
            elif kind == "missing":
                near = _joined(file.rpartition("/")[0], name.partition(".")[0])
                path = module_at(self._project, self._packed, near)
                if path is not None:
                    yield Unpacked(file, line, name, path=path)

    def _resolve(self, file: str, found: _Import, roots: tuple[str, ...]) -> Iterator[str]:
        """Yield the packed files that one import leads to, and note what is not packed."""
        folder = file.rpartition("/")[0]
        if found.level:
            for _ in range(found.level - 1):
                folder = folder.rpartition("/")[0]
            roots = (folder,)
        for root in dict.fromkeys((*roots, folder)):
            files = self._walk(root, found)
            if files is not None:
                yield from files
                return
        self._missing(file, found, roots)

    def _walk(self, root: str, found: _Import) -> list[str] | None:
        """The packed files from a folder down to a module; ``None`` where its first name is not."""
        files: list[str] = []
        place = root
        for depth, name in enumerate(found.parts):
            place = _joined(place, name)
            if f"{place}.py" in self._packed:
                return [*files, f"{place}.py"]
            if place not in self._folders:
                if depth == 0:
                    return None
                self._note_missing(place, found)
                return files
            files.append(f"{place}/__init__.py")
            if (self._project / place / "__init__.py").is_file():
                self._note_missing(place, found)
        return [*files, *self._members(place, found)]

    def _members(self, place: str, found: _Import) -> Iterator[str]:
        """Names that are imported from a package: modules in it, or what it defines itself."""
        init = self._packed.get(_joined(place, "__init__.py"))
        bound = None
        for name in found.names:
            member = _joined(place, name)
            if f"{member}.py" in self._packed:
                yield f"{member}.py"
            elif member in self._folders:
                yield f"{member}/__init__.py"
            else:
                bound = _bound_names(init) if bound is None else bound
                if name not in bound:
                    self._note_missing(member, found)

    def _missing(self, file: str, found: _Import, roots: Sequence[str]) -> None:
        """Note a module whose first name is not packed."""
        if not found.parts or found.parts[0] == OWN_MODULE:
            return
        for root in roots:
            if self._note_missing(_joined(root, found.parts[0]), found):
                return
        if not found.level:
            self._elsewhere.setdefault(".".join(found.parts), (file, found.line))

    def _note_missing(self, place: str, found: _Import) -> bool:
        """Note a module of the project that is not packed; whether there is one."""
        path = module_at(self._project, self._packed, place)
        if path is None:
            return False
        if all(one.path != path for one in self.unpacked):
            shown = "." * found.level + ".".join(found.parts)
            self.unpacked.append(Unpacked(self.visited[-1], found.line, shown, path=path))
        return True


def module_at(project: Path, packed: Container[str], place: str) -> str | None:
    """The file of a module of the project that is not packed.

    Args:
        project: The project folder.
        packed: Paths of the packed files.
        place: The module's path without a suffix.

    Returns:
        Its path in the project; ``None`` where there is none, or it is packed.
    """
    suffixes = ("/__init__.py", ".py", *EXTENSION_SUFFIXES)
    for path in (f"{place}{suffix}" for suffix in suffixes):
        if path not in packed and (project / path).is_file():
            return path
    return None


def starts_of(
    entry_point: str | None,
    command: Sequence[str],
    packed: Sequence[str],
    import_from: tuple[str, ...] = (),
) -> list[Start]:
    """Tell in which packed files the reading of an experiment begins.

    Args:
        entry_point: ``module:name``, or ``None`` for a command.
        command: The words of a command.
        packed: Paths of the packed files.
        import_from: Folders beside the project folder in which modules are looked for.

    Returns:
        The file of the entry point, or the script or module that Python is to run. Where neither
        can be told, every packed Python file.
    """
    known, roots = set(packed), ("", *import_from)
    script = script_of(command)
    if script is not None and script in known:
        return [Start(script, (script.rpartition("/")[0], *import_from))]
    module = _module_of(command) if entry_point is None else entry_point.partition(":")[0]
    names = _files_of_module(module.split(".")) if module else []
    for root in roots:
        files = [_joined(root, name) for name in names]
        if known & {*files}:
            return [Start(file, roots) for file in files if file in known]
    if entry_point is not None:
        return []
    return [
        Start(file, (*roots, file.rpartition("/")[0])) for file in packed if file.endswith(".py")
    ]


def script_of(command: Sequence[str]) -> str | None:
    """The Python file that a command runs, as a path in the clean copy; ``None`` if none."""
    words = list(command)
    if words and words[0].endswith(".py"):
        return str(PurePosixPath(words[0]))
    for word in _arguments_of_python(words):
        if word.startswith("-"):
            return None
        return str(PurePosixPath(word)) if word.endswith(".py") else None
    return None


@dataclass(frozen=True)
class _Import:
    """One import: dots before it, the parts of the module, and names taken from it."""

    level: int
    parts: tuple[str, ...]
    names: tuple[str, ...]
    line: int


def _imports_of(place: Path) -> list[_Import]:
    tree = _parsed(place)
    return [] if tree is None else list(_imports_in(tree))


def _imports_in(node: ast.AST) -> Iterator[_Import]:
    """Every import that may be made, which those for type checkers alone are not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield _Import(0, tuple(alias.name.split(".")), (), child.lineno)
        elif isinstance(child, ast.ImportFrom):
            parts = tuple(child.module.split(".")) if child.module else ()
            names = tuple(alias.name for alias in child.names if alias.name != "*")
            yield _Import(child.level, parts, names, child.lineno)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for inner in child.orelse:
                yield from _imports_in(ast.Module([inner], []))
        else:
            yield from _imports_in(child)


def _parsed(place: Path) -> ast.Module | None:
    """The syntax of a file; ``None`` where it has none that this interpreter knows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(place.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _bound_names(place: Path | None) -> set[str]:
    """Names that a module defines, wherever in it; ``from . import name`` only looks for one."""
    tree = None if place is None else _parsed(place)
    bound: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return bound


def _joined(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def _files_of_module(parts: Sequence[str]) -> list[str]:
    """Paths of a module and of the packages that it lies in."""
    packages = [f"{'/'.join(parts[:depth])}/__init__.py" for depth in range(1, len(parts) + 1)]
    return [*packages, f"{'/'.join(parts)}.py", f"{'/'.join(parts)}/__main__.py"]


def _arguments_of_python(words: Sequence[str]) -> list[str]:
    """What follows the interpreter's own options: a script, ``-m``, ``-c``; empty for others."""
    if not words or not PurePosixPath(words[0]).name.startswith("python"):
        return []
    place = 1
    while place < len(words):
        word = words[place]
        if word in {"-W", "-X"}:
            place += 2
        elif word.startswith("-") and not word.startswith(("-m", "-c")):
            place += 1
        else:
            return list(words[place:])
    return []


def _module_of(command: Sequence[str]) -> str | None:
    words = _arguments_of_python(command)
    return words[1] if len(words) > 1 and words[0] == "-m" else None


def _locate(names: Sequence[str]) -> Mapping[str, Any]:
    """Ask where modules would be imported from in a worker; nothing of them is imported."""
    if not names:
        return {}
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and script
            [sys.executable, "-P", "-B", str(_MAIN), "locate"],
            input=encode_canonical(list(names)),
            capture_output=True,
            env=worker_environment(dict(os.environ)),
            timeout=_SECONDS,
            check=True,
        )
        answer: Mapping[str, Any] = decode_strict(done.stdout, where="modules")
    except (OSError, subprocess.SubprocessError, PackageFormatError) as error:
        raise CouldNotRunError(f"modules could not be looked for: {error}") from error
    return answer
