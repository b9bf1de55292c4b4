"""Which files of a project folder are packed as the experiment's source.

Patterns are matched here rather than by ``glob``, whose treatment of links and of ``**`` changes
between Python versions. Nothing outside the project folder is ever looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath, PureWindowsPath

SKIPPED_FOLDERS = frozenset({"__pycache__", "build", "dist", "node_modules"})
"""Never searched, like folders that start with a dot, ``*.egg-info`` and virtual environments."""

Parts = tuple[str, ...]


@dataclass(frozen=True)
class FoundSources:
    """Files found, as POSIX path and place, sorted by the bytes of the path; and what is wrong."""

    files: tuple[tuple[str, Path], ...]
    problems: tuple[str, ...]


def find_sources(root: Path, patterns: tuple[str, ...]) -> FoundSources:
    """Find the regular files that match one of ``patterns``; an unreadable folder is an OSError.

    Args:
        root: The project folder.
        patterns: Relative patterns that stay inside it. ``*`` and ``?`` match within one name,
            ``**`` any number of folders; a leading dot is matched by a dot only.

    Returns:
        The files. Problems are a match that is a link or no regular file, a path without
        wildcards that is not there, and no match at all.
    """
    split = {pattern: PurePosixPath(pattern).parts for pattern in patterns}
    files: dict[str, Path] = {}
    problems: list[str] = []
    unmatched = set(patterns)
    for parts, entry in _walk(root, ()):
        matching = {pattern for pattern, wanted in split.items() if _matches(parts, wanted)}
        if not matching:
            continue
        unmatched -= matching
        path = "/".join(parts)
        if entry.is_file(follow_symlinks=False):
            files[path] = Path(entry.path)
        else:
            kind = "a link" if entry.is_symlink() else "something else"
            problems.append(f"expected a regular file, observed {kind}: {path!r}")
    problems += [
        f"expected a regular file, observed none: {pattern!r}"
        for pattern in patterns
        if pattern in unmatched and not set(pattern) & set("*?[")
    ]
    if not files and not problems:
        problems.append(f"expected at least one file, observed none that matches {list(patterns)}")
    ordered = sorted(files.items(), key=lambda item: os.fsencode(item[0]))
    return FoundSources(tuple(ordered), tuple(problems))


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


def _walk(folder: Path, parts: Parts) -> Iterator[tuple[Parts, os.DirEntry[str]]]:
    """Yield everything below ``folder`` that is no folder; links are not followed."""
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            yield (*parts, entry.name), entry
        elif not _is_skipped(entry):
            yield from _walk(Path(entry.path), (*parts, entry.name))


def _is_skipped(entry: os.DirEntry[str]) -> bool:
    return (
        entry.name in SKIPPED_FOLDERS
        or entry.name.startswith(".")
        or entry.name.endswith(".egg-info")
        or Path(entry.path, "pyvenv.cfg").is_file()
    )


def _matches(path: Parts, pattern: Parts) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        rest = pattern[1:] or ("*",)
        return any(_matches(path[start:], rest) for start in range(len(path)))
    return bool(path) and _matches_name(path[0], pattern[0]) and _matches(path[1:], pattern[1:])


def _matches_name(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) and (name[0] != "." or pattern[0] == ".")
