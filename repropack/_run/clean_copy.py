"""The clean copy that a run works in: source and inputs and nothing else, and what came of it.

The judge lays it out before a run and looks at it afterwards, when everything of the run has ended:
what was given has to be as it was, and new files that match the plan's patterns are outputs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from repropack._format.contents import ContentBudget, contents_of
from repropack._format.digests import digest_stream
from repropack._format.layout import outputs_folder
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.paths import check_entry_path, check_path_set
from repropack._read.project_sources import matching_files
from repropack._run.handed import HandedFolder
from repropack.errors import CommandError, CouldNotRunError, UnsafeEntryError

MAX_OUTPUTS = 10_000
"""Most files that are taken over as the outputs of one run."""


def lay_out(files: dict[str, Path], copy: Path) -> None:
    """Copy what a run is given into a folder of its own.

    Args:
        files: Where each file lies, by its path in the copy.
        copy: An existing folder.

    Raises:
        OSError: a file cannot be copied.
    """
    for path, place in files.items():
        target = copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(place, target)


def check_unchanged(run: str, files: dict[str, Path], copy: Path) -> None:
    """See to it that a run left what it was given as it was.

    Args:
        run: Name of the run, for the message.
        files: Where each file lies, by its path in the copy.
        copy: The copy that the run worked in.

    Raises:
        CommandError: a file has other bytes, is gone, or is something else; every one is named.
    """
    given = HandedFolder(run, copy)
    changed = []
    for path, place in files.items():
        try:
            with place.open("rb") as left, given.open(path) as right:
                if digest_stream(left) != digest_stream(right):
                    changed.append(path)
        except OSError:
            changed.append(path)
    if changed:
        names = ", ".join(map(repr, changed[:10])) + (" and more" if len(changed) > 10 else "")
        raise CommandError(
            run,
            f"expected the files that it was given as they were, observed changes of {names}",
            hint="let it write to files of its own, and name them in outputs",
        )


def find_outputs(
    run: str, patterns: Iterable[str], copy: Path, given: Iterable[str]
) -> dict[str, Path]:
    """Find what a command wrote, by the plan's patterns.

    Args:
        run: Name of the run, for messages.
        patterns: Relative patterns of paths.
        copy: The copy that it worked in.
        given: Paths that were there before; they are no outputs.

    Returns:
        Place of each output by its path, sorted by the bytes of the path.

    Raises:
        CommandError: a pattern matches nothing, or something that is no regular file.
        CouldNotRunError: a path that a package cannot have, or too many files.
    """
    known = set(given)
    files: dict[str, Path] = {}
    for pattern in patterns:
        found = matching_files(copy, pattern)
        fresh = {path: place for path, place in found.items() if path not in known}
        if not fresh:
            raise CommandError(
                run,
                f"expected files that match the output {pattern!r}, observed none",
                hint=_what_it_wrote(copy, known, sorted(found)),
            )
        files.update(fresh)
    if len(files) > MAX_OUTPUTS:
        raise CouldNotRunError(
            f"run {run!r}: outputs: expected at most {MAX_OUTPUTS} files, observed {len(files)}"
        )
    for path, place in files.items():
        _check_output(run, path, place)
    _check_packable(run, "outputs", lambda: check_path_set(sorted(files)))
    return {path: files[path] for path in sorted(files, key=os.fsencode)}


def find_others(patterns: Iterable[str], copy: Path, given: Iterable[str]) -> list[str]:
    """Find what a command wrote besides its outputs.

    Args:
        patterns: Relative patterns of paths, of its outputs.
        copy: The copy that it worked in.
        given: Paths that were there before.

    Returns:
        Paths, sorted; what is no UTF-8 in them as escapes. Caches of compiled code, and names that
        begin with a dot, are left out.

    Raises:
        OSError: a folder cannot be read.
    """
    known = {*given, *(path for pattern in patterns for path in matching_files(copy, pattern))}
    others = (path for path in matching_files(copy, "**") if path not in known)
    return sorted(
        os.fsencode(path).decode("utf-8", "backslashreplace")
        for path in others
        if "__pycache__" not in PurePosixPath(path).parts
    )


def output_stages(run: str, files: dict[str, Path], copy: Path) -> list[tuple[str, str]]:
    """Describe outputs by their content.

    Args:
        run: Name of the run, for messages.
        files: What ``find_outputs`` gave.
        copy: The folder that they lie in.

    Returns:
        ``(stage, fingerprint)`` of each output, or of each array in it, in the order of ``files``.

    Raises:
        CouldNotRunError: a file cannot be read.
    """
    stages: list[tuple[str, str]] = []
    handed, budget = HandedFolder(run, copy), ContentBudget(DEFAULT_LIMITS.max_inflated_bytes)
    for path in files:
        try:
            with handed.open(path) as stream:
                size = os.fstat(stream.fileno()).st_size
                beyond = budget.take(path, stream, size)
                if beyond is not None:
                    raise CouldNotRunError(
                        f"run {run!r}: outputs: limit max_inflated_bytes exceeded: allowed "
                        f"{budget.allowed}, observed {beyond}"
                    )
                stages += contents_of(path, stream, size).stages
        except OSError as error:
            raise CouldNotRunError(_unreadable(run, path, error)) from error
    return stages


def take_outputs(run: str, files: dict[str, Path], copy: Path, tree: Path) -> None:
    """Copy outputs to where a package holds them.

    Args:
        run: Name of the run.
        files: What ``find_outputs`` gave.
        copy: The folder that they lie in.
        tree: Root of the package tree.

    Raises:
        CouldNotRunError: a file cannot be copied.
    """
    handed = HandedFolder(run, copy)
    for path in files:
        target = tree / outputs_folder(run) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with handed.open(path) as stream, target.open("wb") as written:
                shutil.copyfileobj(stream, written)
        except OSError as error:
            raise CouldNotRunError(
                f"run {run!r}: output {path!r} cannot be copied: {error.strerror or error}"
            ) from error


def _check_output(run: str, path: str, place: Path) -> None:
    entry = f"{outputs_folder(run)}/{path}"
    _check_packable(run, f"output {path!a}", lambda: check_entry_path(entry))
    if place.is_symlink() or not place.is_file():
        raise CommandError(
            run,
            f"output {path!r}: expected a regular file, observed another kind",
            hint="let it write a file, or leave this one out of outputs",
        )


def _what_it_wrote(copy: Path, known: set[str], found: list[str]) -> str:
    """The hint where a pattern has no output: ``found`` matches it, and was there before."""
    wrote = sorted(set(matching_files(copy, "**")) - known)
    told = ", ".join(map(repr, wrote[:8])) + (" and more" if len(wrote) > 8 else "")
    hint = f"it wrote {told}" if wrote else "it wrote no file into its working folder"
    return f"{hint}; {found[0]!r} was there before, and is no output" if found else hint


def _check_packable(run: str, what: str, check: Callable[[], None]) -> None:
    try:
        check()
    except UnsafeEntryError as error:
        raise CouldNotRunError(
            f"run {run!r}: {what} cannot be packed: {error.message}",
            hint="let it write under another name, or leave the file out of outputs",
        ) from None


def _unreadable(run: str, path: str, error: OSError) -> str:
    return f"run {run!r}: output {path!r} cannot be read: {error.strerror or error}"
