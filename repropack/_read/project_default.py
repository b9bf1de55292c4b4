"""Which files are an experiment's source where its project file does not say.

What git tracks in the project folder; where it tracks nothing there, or there is no git, the
files that match ``**/*.py`` and that no ``.gitignore`` excludes. Either way without folders that
are never searched, and without names that begin with a dot.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from repropack._read.project_sources import (
    FoundSources,
    Parts,
    find_sources,
    in_order,
    is_skipped_name,
    no_regular_file,
)

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

DEFAULT_SOURCE = ("**/*.py",)
_IGNORE_FILE = ".gitignore"


def find_default(root: Path, tracked: tuple[str, ...]) -> FoundSources:
    """Find the files that are packed where none are named; an unreadable folder is an OSError.

    Args:
        root: The project folder.
        tracked: Paths below it that git tracks; empty where there is no git.

    Returns:
        The files. A tracked file that is not there is left out; one that is a link, or no regular
        file, is a problem.
    """
    if not tracked:
        ignored = IgnoredFiles(root)
        found = find_sources(root, DEFAULT_SOURCE, ignored.excludes)
        return FoundSources(found.files, (*ignored.problems, *found.problems))
    files: dict[str, Path] = {}
    problems: list[str] = []
    environments: dict[Path, bool] = {}
    for path in filter(is_default, tracked):
        place = root / path
        if place.is_symlink():
            problems.append(no_regular_file(path, is_link=True))
        elif place.is_file():
            if not _in_environment(place.parent, root, environments):
                files[path] = place
        elif place.exists() and not place.is_dir():
            problems.append(no_regular_file(path, is_link=False))
    if not files and not problems:
        problems.append("expected at least one file, observed none among those that git tracks")
    return FoundSources(in_order(files), tuple(problems))


def is_default(path: str) -> bool:
    """Return whether a file that git tracks is packed where none are named, by its path alone."""
    *folders, name = PurePosixPath(path).parts
    return not name.startswith(".") and not any(map(is_skipped_name, folders))


def _in_environment(folder: Path, root: Path, known: dict[Path, bool]) -> bool:
    """Whether a folder lies in a virtual environment below ``root``."""
    if folder == root:
        return False
    if folder not in known:
        known[folder] = (folder / "pyvenv.cfg").is_file() or _in_environment(
            folder.parent, root, known
        )
    return known[folder]


class IgnoredFiles:
    """What the ``.gitignore`` files of a folder exclude, by git's rules.

    The file of the deepest folder that says something about a path decides; nothing below an
    excluded folder comes back.

    Attributes:
        problems: Files that cannot be understood.
    """

    def __init__(self, root: Path) -> None:
        """Read nothing yet.

        Args:
            root: The project folder; files above it are not looked at.
        """
        self.problems: list[str] = []
        self._root = root
        self._known: dict[Parts, GitIgnoreSpec | None] = {}

    def excludes(self, parts: Parts, entry: os.DirEntry[str]) -> bool:
        """Return whether a file, or a folder and all that is in it, is excluded.

        Args:
            parts: Names from the root to it.
            entry: What is there.

        Raises:
            OSError: a file cannot be read.
        """
        end = "/" if entry.is_dir(follow_symlinks=False) else ""
        for depth in range(len(parts) - 1, -1, -1):
            spec = self._spec(parts[:depth])
            found = None if spec is None else spec.check_file("/".join(parts[depth:]) + end).include
            if found is not None:
                return found
        return False

    def _spec(self, folder: Parts) -> GitIgnoreSpec | None:
        if folder not in self._known:
            self._known[folder] = self._read(folder)
        return self._known[folder]

    def _read(self, folder: Parts) -> GitIgnoreSpec | None:
        place = self._root.joinpath(*folder, _IGNORE_FILE)
        if place.is_symlink() or not place.is_file():
            return None
        from pathspec import GitIgnoreSpec  # noqa: PLC0415 - few projects need it

        lines: Iterable[str] = os.fsdecode(place.read_bytes()).splitlines()
        try:
            return GitIgnoreSpec.from_lines(lines)
        except ValueError as error:
            path = "/".join((*folder, _IGNORE_FILE))
            self.problems.append(f"expected a file of patterns, observed in {path!r}: {error}")
            return None
