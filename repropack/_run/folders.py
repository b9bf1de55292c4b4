"""Folders that programs work in: make them, remove what they were filled with, see a change."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from repropack._format.digests import digest_stream
from repropack._format.paths import shown_path
from repropack.errors import CouldNotRunError

MOVED_UP = ".removed-"
"""How names of folders begin that a removal moved up before it was ended halfway."""
_MAX_SOCKET_CHARACTERS = 70
"""A socket's path may be some 100 bytes long; folder and name take the rest."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def files_below(folder: Path, pattern: str = "*") -> dict[str, Path]:
    """Find the files below a folder.

    Args:
        folder: A folder that no process is at work in; there need not be one.
        pattern: What a file's name matches.

    Returns:
        Place by POSIX path relative to ``folder``, sorted.
    """
    return {
        place.relative_to(folder).as_posix(): place
        for place in sorted(folder.rglob(pattern))
        if place.is_file()
    }


def digest_files(folder: Path, pattern: str = "*") -> dict[str, str]:
    """Digest the files below a folder.

    Args:
        folder: As for ``files_below``.
        pattern: What a file's name matches.

    Returns:
        Digests by POSIX path, sorted.

    Raises:
        OSError: a file cannot be read.
    """
    found = {}
    for path, place in files_below(folder, pattern).items():
        with place.open("rb") as stream:
            found[path] = digest_stream(stream)[0]
    return found


def new_folder(prefix: str, parent: Path | None = None) -> Path:
    """Make a folder of a new name for this user alone.

    Args:
        prefix: What its name begins with.
        parent: Where it is made; the system's folder for temporary files where ``None``.

    Returns:
        Its real path.

    Raises:
        CouldNotRunError: its path would not be UTF-8, and so could not be told to a worker.
        OSError: it cannot be made.
    """
    place = Path(tempfile.gettempdir() if parent is None else parent).resolve()
    if shown_path(place) != str(place):
        raise CouldNotRunError(
            f"{shown_path(place)}: expected a folder to work in whose path is UTF-8, observed "
            "other bytes",
            hint="for temporary files set TMPDIR to another; for a build name another target",
        )
    return Path(tempfile.mkdtemp(prefix=prefix, dir=place))


def new_socket_folder(prefix: str) -> Path:
    """Make a folder as ``new_folder`` does, with a path that is short enough for sockets in it.

    Args:
        prefix: What its name begins with.

    Returns:
        Its real path, in the system's folder for temporary files where that one's is short.

    Raises:
        CouldNotRunError: as ``new_folder``.
        OSError: it cannot be made.
    """
    usual = Path(tempfile.gettempdir()).resolve()
    short = len(str(usual)) < _MAX_SOCKET_CHARACTERS
    return new_folder(prefix, usual if short else Path("/tmp"))  # noqa: S108 - mkdtemp in it


def remove_tree(path: Path) -> bool:
    """Remove a folder with everything in it, whatever a program has made of it.

    No link is followed and no path is put together, so that neither depth nor length of names
    matters: a folder within a folder is moved up before it is emptied. Folders that may not be
    read are made readable. No process may be at work in it any more. An interrupt is raised when
    it is gone.

    Args:
        path: The folder. It may be absent; anything but a folder is unlinked.

    Returns:
        Whether it is gone. What could not be removed is left, and nothing else is raised.

    Raises:
        KeyboardInterrupt: it came while the folder was removed.
    """
    try:
        return _remove(path)
    except KeyboardInterrupt:
        _remove(path)
        raise


def _remove(path: Path) -> bool:
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return True
        root = _open_folder(str(path), None)
    except OSError:
        return not os.path.lexists(path)
    try:
        _Removal(root).run()
    finally:
        os.close(root)
    with contextlib.suppress(OSError):
        path.rmdir()
    return not os.path.lexists(path)


class _Removal:
    """Empties one open folder."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._moved = 0

    def run(self) -> None:
        todo = self._clear(self._root)
        while todo:
            name = todo.pop()
            try:
                folder = _open_folder(name, self._root)
            except OSError:
                continue
            try:
                todo += filter(
                    None, [self._move_up(below, folder) for below in self._clear(folder)]
                )
            finally:
                os.close(folder)
            with contextlib.suppress(OSError):
                os.rmdir(name, dir_fd=self._root)

    @staticmethod
    def _clear(folder: int) -> list[str]:
        """Unlink what is no folder; the names of those that are."""
        try:
            with os.scandir(folder) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            return []
        for name, is_folder in found:
            if not is_folder:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=folder)
        return [name for name, is_folder in found if is_folder]

    def _move_up(self, name: str, folder: int) -> str | None:
        """Move a folder into the root, under a name that is free there."""
        with contextlib.suppress(OSError):
            os.close(_open_folder(name, folder))  # to be moved it has to be writable
        while True:
            self._moved += 1
            target = f"{MOVED_UP}{self._moved}"
            if not _is_there(target, self._root):
                break
        try:
            os.rename(name, target, src_dir_fd=folder, dst_dir_fd=self._root)
        except OSError:
            return None
        return target


def _is_there(name: str, folder: int) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _open_folder(name: str, parent: int | None) -> int:
    """Open a folder and no link to one; its owner may then do everything in it."""
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        if os.fstat(place).st_mode & 0o700 != 0o700:
            Path(f"/proc/self/fd/{place}").chmod(0o700)  # this very folder, whatever its name is
    finally:
        os.close(place)
    return os.open(name, _FOLDER, dir_fd=parent)


def digest_tree(folder: Path) -> str:
    """SHA-256 over all files below a folder: their paths, kinds and bytes.

    Args:
        folder: A folder that no process is at work in.

    Returns:
        64 hexadecimal digits; equal for two folders where names, links and bytes are.

    Raises:
        OSError: something cannot be read.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = b""
        if stat.S_ISREG(mode):
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").digest()
        elif stat.S_ISLNK(mode):
            content = os.fsencode(path.readlink())
        row = f"{path.relative_to(folder)}\0{stat.S_IFMT(mode)}\0{len(content)}\0"
        digest.update(row.encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()
