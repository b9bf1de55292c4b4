"""Which files of a project folder match the patterns of a project file.

Patterns are matched here rather than by ``glob``, whose treatment of links and of ``**`` changes
between Python versions. Nothing outside the project folder is ever looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath

from repropack._format.paths import check_entry_path, check_path_set
from repropack.errors import UnsafeEntryError

SKIPPED_FOLDERS = frozenset({"__pycache__", "build", "dist", "node_modules"})
"""Never searched, like folders that start with a dot, ``*.egg-info`` and virtual environments."""

Parts = tuple[str, ...]
Unwanted = Callable[[Parts, os.DirEntry[str]], bool]
"""Whether a file, or a folder with all that is in it, is passed over."""


@dataclass(frozen=True)
class FoundSources:
    """Files found, as POSIX path and place, sorted by the bytes of the path; and what is wrong."""

    files: tuple[tuple[str, Path], ...]
    problems: tuple[str, ...]


def find_sources(
    root: Path, patterns: tuple[str, ...], unwanted: Unwanted | None = None
) -> FoundSources:
    """Find the regular files that match one of ``patterns``; an unreadable folder is an OSError.

    Args:
        root: The project folder.
        patterns: Relative patterns that stay inside it. ``*`` and ``?`` match within one name,
            ``**`` any number of folders; a leading dot is matched by a dot only.
        unwanted: What is passed over besides the folders that are never searched.

    Returns:
        The files. Problems are a match that is a link or no regular file, a path without
        wildcards that is not there, and no match at all.
    """
    split = {pattern: PurePosixPath(pattern).parts for pattern in patterns}
    files: dict[str, Path] = {}
    problems: list[str] = []
    unmatched = set(patterns)

    def passed_over(parts: Parts, entry: os.DirEntry[str]) -> bool:
        return _is_skipped(entry) or (unwanted is not None and unwanted(parts, entry))

    for parts, entry in _walk(root, (), passed_over):
        matching = {pattern for pattern, wanted in split.items() if _matches(parts, wanted)}
        if not matching:
            continue
        unmatched -= matching
        path = "/".join(parts)
        if entry.is_file(follow_symlinks=False):
            files[path] = Path(entry.path)
        else:
            problems.append(no_regular_file(path, is_link=entry.is_symlink()))
    problems += [
        f"expected a regular file, observed none: {pattern!r}"
        for pattern in patterns
        if pattern in unmatched and not set(pattern) & set("*?[")
    ]
    if not files and not problems:
        problems.append(f"expected at least one file, observed none that matches {list(patterns)}")
    return FoundSources(in_order(files), tuple(problems))


def in_order(files: dict[str, Path]) -> tuple[tuple[str, Path], ...]:
    """Files sorted by the bytes of their path."""
    return tuple(sorted(files.items(), key=lambda item: os.fsencode(item[0])))


def no_regular_file(path: str, *, is_link: bool) -> str:
    """What is said of a path at which something else is than a file to pack."""
    kind = "a link" if is_link else "something else"
    return f"expected a regular file, observed {kind}: {path!r}"


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a path matches one of the patterns, and lies in no folder that is skipped.

    Args:
        path: A relative path with ``/`` between its names.
        patterns: Patterns as ``find_sources`` takes them.

    Example:
        >>> matches_any("figures/a.png", ["figures/**"]), matches_any("a.png", ["figures/**"])
        (True, False)
        >>> matches_any("build/a.py", ["**/*.py"])
        False
    """
    parts = PurePosixPath(path).parts
    searched = not any(map(is_skipped_name, parts[:-1]))
    return searched and any(_matches(parts, PurePosixPath(one).parts) for one in patterns)


def is_skipped_name(name: str) -> bool:
    """Return whether a folder of this name is never searched."""
    return name in SKIPPED_FOLDERS or name.startswith(".") or name.endswith(".egg-info")


def unfit_paths(folder: str, paths: Iterable[str]) -> list[str]:
    """Say which files have a path that no package may hold.

    Args:
        folder: Folder of the package in which they are to lie.
        paths: Their paths below it.

    Returns:
        One problem for each path at fault; one where two of them meet on some system.
    """
    fit, problems = [], []
    for path in paths:
        try:
            check_entry_path(f"{folder}/{path}")
            fit.append(f"{folder}/{path}")
        except UnsafeEntryError as error:
            problems.append(f"{path!a} cannot be packed: {error.refusals[0].problem}")
    try:
        check_path_set(fit)
    except UnsafeEntryError as error:
        path = error.entry.removeprefix(f"{folder}/")
        problems.append(f"{path!r} cannot be packed: {error.refusals[0].problem}")
    return problems


def matching_files(folder: Path, pattern: str) -> dict[str, Path]:
    """Everything below a folder that is no folder and matches one pattern, whatever its name.

    Args:
        folder: A folder that may hold anything.
        pattern: As in ``find_sources``; a name that starts with a dot needs a dot there, too.

    Returns:
        Place by POSIX path.

    Raises:
        OSError: a folder cannot be read.
    """
    wanted = PurePosixPath(pattern).parts
    return {
        "/".join(parts): Path(entry.path)
        for parts, entry in _walk(folder, (), lambda _, __: False)
        if _matches(parts, wanted)
    }


def matches_pattern(path: str, pattern: str) -> bool:
    """Whether a POSIX path matches a pattern, as in ``find_sources``."""
    return _matches(_parts(path), _parts(pattern))


@lru_cache(maxsize=1 << 16)
def _parts(path: str) -> Parts:
    return PurePosixPath(path).parts


def is_pattern_inside(pattern: str) -> bool:
    """Return whether a pattern stays inside the folder that it is relative to, on any system."""
    parts = PurePosixPath(pattern).parts
    outside = PureWindowsPath(pattern).anchor or pattern.startswith("/") or ".." in parts
    return bool(parts) and not outside and not set(pattern) & {"\\", "\0"}


def is_own_file(root: Path, name: str) -> bool:
    """Return whether ``name`` is a regular file inside ``root``, reached without a link."""
    if not is_pattern_inside(name):
        return False
    path = root / name
    try:
        real = path.resolve(strict=True)
    except OSError:
        return False
    return real.is_file() and real == root.resolve().joinpath(*PurePosixPath(name).parts)


def _walk(
    folder: Path, parts: Parts, unwanted: Unwanted
) -> Iterator[tuple[Parts, os.DirEntry[str]]]:
    """Yield everything below ``folder`` that is no folder; links are not followed."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        own = (*parts, entry.name)
        if unwanted(own, entry):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), own, unwanted)
        else:
            yield own, entry


def _is_skipped(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder that is never searched."""
    return entry.is_dir(follow_symlinks=False) and (
        is_skipped_name(entry.name) or Path(entry.path, "pyvenv.cfg").is_file()
    )


def _matches(path: Parts, pattern: Parts) -> bool:
    """Whether a pattern takes all names of a path, in time that its ``**`` do not multiply."""
    taken = {0}
    for wanted in (*pattern, "*") if pattern[-1:] == ("**",) else pattern:
        if wanted == "**":
            taken = _any_folders(path, taken)
        else:
            taken = {n + 1 for n in taken if n < len(path) and _matches_name(path[n], wanted)}
    return len(path) in taken


def _any_folders(path: Parts, taken: set[int]) -> set[int]:
    """How many names may be taken after any number of folders, none of which begins with a dot."""
    reached, before = set[int](), False
    for place, name in enumerate(path):
        before = before or place in taken
        if before:
            reached.add(place)
        before = before and not name.startswith(".")
    return reached


def _matches_name(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) and (name[0] != "." or pattern[0] == ".")
