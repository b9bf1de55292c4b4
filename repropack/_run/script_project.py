"""A project around a script: which files belong to it, and the command that runs it.

The script is read and never run. What is found is a proposal, which its author completes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repropack._read.beside import observed_at
from repropack._read.named_files import (
    TEXT_SUFFIXES,
    files_named,
    text_of,
    words_of,
    words_of_shell,
)
from repropack._read.project_sources import find_sources, matches_pattern
from repropack._read.script import UNKNOWN, ScriptFacts, read_script
from repropack._run.imports import Imports, Start
from repropack.errors import UsageError

_RUNNERS = {".py": "python", ".sh": "bash"}


@dataclass(frozen=True)
class ScriptProject:
    """What was found of a script.

    Attributes:
        base: The folder that paths are relative to.
        path: The script's path in it.
        command: The words that run it.
        facts: What reading it told.
        source: Patterns of its source: the script, the modules that it imports from ``base``, and
            the scripts that it names.
        inputs: Files that it reads or names, and files that those name, which are there.
        missing: Files that it seems to read, which are not there.
        files: Everything of these in ``base``, by path.
    """

    base: Path
    path: str
    command: tuple[str, ...]
    facts: ScriptFacts
    source: tuple[str, ...]
    inputs: tuple[str, ...]
    missing: tuple[str, ...]
    files: dict[str, Path]


def read_script_project(
    folder: Path, script: Path, inputs: Sequence[str], outputs: Sequence[str] = ()
) -> ScriptProject:
    """Tell what belongs to a script.

    Args:
        folder: The project folder, which may not be there yet.
        script: The script, in it or elsewhere; then what lies beside the script belongs to it.
        inputs: Patterns of files that it reads, where the author named them.
        outputs: The same of what it writes; an old one that lies there is no input.

    Returns:
        What was found.

    Raises:
        UsageError: there is no such script, or it is of a kind that cannot be run.
        OSError: a folder cannot be searched.
    """
    if not script.is_file():
        observed = observed_at(script)
        raise UsageError(f"--script: expected a file, observed {observed}: {str(script)!r}")
    if script.suffix not in _RUNNERS:
        raise UsageError(
            f"--script: expected a file that ends in .py or .sh, observed {script.name!r}",
            hint="for another program write its words under command in repropack.toml",
        )
    place = script.resolve()
    base = folder.resolve() if place.is_relative_to(folder.resolve()) else place.parent
    path = place.relative_to(base).as_posix()
    facts = _facts(base, path)
    found = _Found(base, path, (*facts.writes, *outputs))
    found.follow(path)
    seed = (facts.seed_flag, "{seed}") if facts.seed_flag is not None else ()
    patterns, missing = list[str](), list[str]()
    files = dict(found.source_files)
    for pattern in inputs or facts.reads:
        matches = find_sources(base, (pattern,)).files
        (patterns if matches else missing).append(pattern)
        files.update(matches)
    if not inputs:
        named = {path: base / path for path in found.with_named() if path not in files}
        patterns += named
        files.update(named)
        ends = {PurePosixPath(path).name for path in named}
        missing = [one for one in missing if PurePosixPath(one).name not in ends]
    return ScriptProject(
        base=base,
        path=path,
        command=(_RUNNERS[script.suffix], _as_word(path), *seed),
        facts=facts,
        source=tuple(found.source),
        inputs=tuple(patterns),
        missing=tuple(missing),
        files=files,
    )


def _facts(base: Path, path: str) -> ScriptFacts:
    """What a script's text tells; of one that is no Python, which files it may name."""
    if path.endswith(".py"):
        return read_script((base / path).read_bytes(), path)
    return ScriptFacts(named=tuple(sorted(words_of_shell(text_of(base / path)))))


class _Found:
    """What a script leads to by imports and by name: source that it runs, and other files.

    Attributes:
        source: Patterns of the source.
        source_files: Its files by path.
    """

    def __init__(self, base: Path, script: str, outputs: Sequence[str]) -> None:
        self.source: list[str] = []
        self.source_files: dict[str, Path] = {}
        self._base = base
        self._folder = _folder_of(script)
        self._outputs = {one.removeprefix(f"{UNKNOWN}/") for one in outputs}
        self._named: set[str] = set()

    def follow(self, script: str) -> None:
        """Take up a script that is run, and from it on what is source."""
        if script in self.source_files:
            return
        patterns, files = [script], {script: self._base / script}
        if script.endswith(".py"):
            patterns, files = _with_modules(self._base, script)
        fresh = [path for path in files if path not in self.source_files]
        self.source += [one for one in patterns if one not in self.source]
        self.source_files.update(files)
        for path in fresh:
            facts = _facts(self._base, path)
            self._outputs.update(facts.writes)
            for named in self._files(facts.named, _folder_of(path)):
                if PurePosixPath(named).suffix in _RUNNERS:
                    self.follow(named)
                else:
                    self._named.add(named)

    def with_named(self) -> list[str]:
        """The other files, and those that they name in turn, sorted."""
        found = {path for path in self._named if not self._is_output(path)}
        for path in sorted(found):
            if PurePosixPath(path).suffix.lower() in TEXT_SUFFIXES:
                words = words_of(text_of(self._base / path))
                found.update(self._files(words, _folder_of(path)))
        return sorted(path for path in found if path not in self.source_files)

    def _files(self, words: Iterable[str], folder: str) -> list[str]:
        named = files_named(self._base, (folder, self._folder, ""), words)
        return [path for path in named if not self._is_output(path)]

    def _is_output(self, path: str) -> bool:
        return any(matches_pattern(path, pattern) for pattern in self._outputs)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _as_word(path: str) -> str:
    """A path as a word of a command: its braces are no placeholders, and it is no option."""
    word = path.replace("{", "{{").replace("}", "}}")
    return f"./{word}" if word.startswith("-") else word


def _with_modules(base: Path, path: str) -> tuple[list[str], dict[str, Path]]:
    """The script and what it imports from its folder, and from there on: patterns, and files."""
    patterns, files = [path], {path: base / path}
    while True:
        imports = Imports(base, files)
        imports.follow([Start(path, (path.rpartition("/")[0],))])
        more = [one.pattern for one in imports.unpacked if one.pattern not in patterns]
        fresh = [pattern for pattern in more if pattern is not None]
        if not fresh:
            return patterns, files
        patterns += dict.fromkeys(fresh)
        files.update(find_sources(base, tuple(fresh)).files)
