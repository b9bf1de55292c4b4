"""What git knows of a project folder: the files that it tracks, and the commit they are from.

Git is asked as a program, with no variable of its own from the caller and with nothing that a
repository's configuration could have it start for these questions. Nothing is written.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from repropack.errors import CouldNotRunError
from repropack.models.manifest import Origin

_GIT = (
    "git",
    "--no-optional-locks",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
)
_SECONDS = 60
_CHUNK_BYTES = 1024 * 1024
_REGULAR = ("100644", "100755")
_LINK = "120000"
_NO_REPOSITORY = "not a git repository"
_OTHER_FILE_SYSTEM = "filesystem boundary"
_HINT = "or list the files to pack under source, which asks git for nothing"


def tracked_files(folder: Path) -> tuple[str, ...]:
    """Return the files that git tracks in a folder.

    Args:
        folder: The project folder, absolute.

    Returns:
        Paths relative to the folder with ``/`` between names, in git's order; what is no UTF-8 in
        them as ``os.fsdecode`` gives it. Links are listed, submodules and what is in them are
        not. Empty where the folder lies in no checkout.

    Raises:
        CouldNotRunError: the folder lies in a checkout, and git is not installed or refuses it.
    """
    if not _lies_in_checkout(folder):
        return ()
    told = _ask(folder, "ls-files", "-z", "--cached", "--stage")
    if told is None:
        return ()
    rows = (row.partition(b"\t") for row in told.split(b"\0") if row)
    modes = {os.fsdecode(path): os.fsdecode(head.split(b" ")[0]) for head, _, path in rows}
    return tuple(path for path, mode in modes.items() if mode in {*_REGULAR, _LINK})


def observe_origin(
    folder: Path, files: Mapping[str, Path], would_pack: Callable[[str], bool]
) -> Origin | None:
    """Return the commit that is checked out, and whether the packed files are its files.

    They are, and the origin is *clean*, where each packed file has the bytes that the commit has
    under its path, and no file is missing that would be packed. What git changes on the way
    between a commit and a folder, such as line ends or files in Git LFS, counts as changed.

    Args:
        folder: The project folder, absolute.
        files: What is packed: paths relative to the folder, and where to read each.
        would_pack: Whether a file of this path is to be packed, if it is there.

    Returns:
        The origin; ``None`` where the folder lies in no checkout, its commit holds nothing of the
        folder, or git is not installed or refuses it.
    """
    if not _lies_in_checkout(folder):
        return None
    try:
        commit = _ask(folder, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        listed = _ask(folder, "ls-tree", "-r", "-z", "HEAD")
    except CouldNotRunError:
        return None
    if not commit or not listed:
        return None
    blobs = dict(_blobs(listed))
    same = all(blobs.get(path) == _blob_id(place, blobs.get(path)) for path, place in files.items())
    missing = any(would_pack(path) for path in blobs.keys() - files.keys())
    return Origin(commit=commit.decode("ascii").strip(), clean=same and not missing)


def author_name(folder: Path) -> str | None:
    """Return ``user.name`` of git's configuration, ``None`` where there is none or no git."""
    try:
        told = _ask(folder, "config", "--get", "user.name")
    except CouldNotRunError:
        return None
    return (told or b"").decode("utf-8", "replace").strip() or None


def _lies_in_checkout(folder: Path) -> bool:
    return any(os.path.lexists(place / ".git") for place in (folder, *folder.parents))


def _is_broken(folder: Path, complaint: str) -> bool:
    """Whether there is a repository that git does not know as one, such as a moved worktree's."""
    if _OTHER_FILE_SYSTEM in complaint:  # git looks no further up than this, and nor do we
        return False
    for place in (folder, *folder.parents):
        own = place / ".git"
        if own.is_dir():
            return any(own.iterdir())
        if os.path.lexists(own):
            return True
    return False


def _blobs(listed: bytes) -> Iterable[tuple[str, str]]:
    """Path and id of every regular file in the output of ``ls-tree``."""
    for row in listed.split(b"\0"):
        head, _, path = row.partition(b"\t")
        mode, _, rest = os.fsdecode(head).partition(" ")
        if mode in _REGULAR:
            yield os.fsdecode(path), rest.partition(" ")[2]


def _blob_id(place: Path, expected: str | None) -> str | None:
    """The id that git gives to a file's bytes; ``""`` where none is expected or it is not there."""
    if expected is None:
        return ""
    kind = "sha1" if len(expected) == 40 else "sha256"
    digest = hashlib.new(kind, usedforsecurity=False)
    try:
        with place.open("rb") as stream:
            digest.update(b"blob %d\0" % os.fstat(stream.fileno()).st_size)
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
    except OSError:
        return ""
    return digest.hexdigest()


def _ask(folder: Path, *question: str) -> bytes | None:
    """What git answers; ``None`` where it has no answer, or sees no repository."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    try:
        done = subprocess.run(  # noqa: S603 - our own words; git is found like any program
            [*_GIT, *question],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise CouldNotRunError(
            "the project lies in a checkout of git: expected git to be installed, observed none",
            hint=f"install git, {_HINT}",
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise CouldNotRunError(f"git cannot be asked: {error}", hint=f"mend it, {_HINT}") from error
    if done.returncode == 0:
        return done.stdout
    complaint = os.fsdecode(done.stderr).strip()
    if not complaint or (_NO_REPOSITORY in complaint and not _is_broken(folder, complaint)):
        return None
    line = complaint.splitlines()[0]
    hint = f"mend it, {_HINT}"
    if "dubious ownership" in complaint:
        hint = f"`git config --global --add safe.directory FOLDER` if you trust it, {_HINT}"
    raise CouldNotRunError(f"git refuses the project's checkout: {line}", hint=hint)
