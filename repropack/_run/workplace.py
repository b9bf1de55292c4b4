"""The work folder of a target: beside it, under a fixed name, for one process at a time.

The lock is on the folder itself. The kernel frees it when its holder ends, however that ends, so
that there is never a stale one.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from repropack._format.layout import AFTER, INPUTS, SOURCE
from repropack._run.durable import os_problem
from repropack._run.folders import MOVED_UP, remove_tree
from repropack.errors import BusyError, CouldNotRunError, UsageError

IDENTITY = "build.json"
"""In a build's work folder: what is being built. Without it nothing there is worth keeping."""
RECORDED, NOTES, SCRATCH, ASSEMBLED, ASIDE = (
    "recorded",
    "runs",
    "scratch",
    "assembled",
    "package.zip",
)
"""There as well: the runs as a package holds them, notes of each, the workers' folders, the package
put together anew at each attempt, and its zip."""
_KNOWN_NAMES = frozenset(
    {IDENTITY, f"{IDENTITY}.new", SOURCE, INPUTS, AFTER, RECORDED, NOTES, SCRATCH, ASSEMBLED, ASIDE}
)
_WRONG_USE = frozenset(
    {errno.EACCES, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR,
     errno.EPERM, errno.EROFS, errno.EINVAL}
)  # fmt: skip
_ATTEMPTS = 100


def work_folder(target: Path) -> Path:
    """Where a target is worked on: beside it, hidden."""
    return target.with_name(f".{target.name}.work")


@contextmanager
def work_alone(target: Path, keeps: Callable[[Path], bool]) -> Iterator[Path]:
    """Hold the work folder of ``target``, made where it is missing, while the block runs.

    Args:
        target: What is being made; missing parent folders are made.
        keeps: Asked when the block ends, whether what is in the folder is to stay.

    Yields:
        The folder. It is removed with its contents when the block ends, unless ``keeps`` says so.

    Raises:
        BusyError: another process holds it.
        UsageError: it cannot be made there, something else has its name, or another user made it.
        CouldNotRunError: the file system is full or fails, or knows no locks.
    """
    folder = work_folder(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _hold(folder, target)
    except OSError as error:
        if error.errno in _WRONG_USE:
            raise UsageError(f"{target.name}: cannot be written there: {error.strerror}") from error
        raise CouldNotRunError(os_problem(error)) from error
    try:
        _check_own(folder)
        try:
            yield folder
        finally:
            _settle(folder, keeps)
    finally:
        os.close(descriptor)


def _settle(folder: Path, keeps: Callable[[Path], bool]) -> None:
    """Remove the folder unless it is to stay; an interrupt waits until that is done."""
    try:
        if not keeps(folder):
            remove_work(folder)
    except KeyboardInterrupt:
        if not keeps(folder):
            remove_work(folder)
        raise


def remove_work(folder: Path) -> None:
    """Remove a work folder as far as it can be; what is left of it is worth nothing.

    Its identity goes first: a folder without one is removed by whoever comes next.
    """
    for name in (IDENTITY, f"{IDENTITY}.new"):
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError:
            break
    remove_tree(folder)


def clear_work(folder: Path) -> None:
    """Empty a work folder, which stays and stays held; its identity goes first.

    Raises:
        OSError: something in it cannot be removed.
    """
    (folder / IDENTITY).unlink(missing_ok=True)
    for place in folder.iterdir():
        clear_place(place)


def clear_place(place: Path) -> None:
    """Remove a file, or a folder with all that is below it, where there is one.

    Raises:
        OSError: it cannot be removed.
    """
    if not remove_tree(place):
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(place))


def _hold(folder: Path, target: Path) -> int:
    """Open and lock the folder; who held it before may have removed it meanwhile."""
    for _ in range(_ATTEMPTS):
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            descriptor = os.open(
                folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            )
        except FileNotFoundError:
            continue
        try:
            _check_owner(descriptor, folder)
            _lock(descriptor, target)
            if _is_at(descriptor, folder):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise BusyError(target.name)


def _check_owner(descriptor: int, folder: Path) -> None:
    """Refuse a folder that another user made: what is in it, and its links, would be theirs.

    A file system without owners gives everything one; there a new folder has it as well.

    Raises:
        UsageError: it is another user's.
        OSError: nothing can be made beside it.
    """
    owner = os.fstat(descriptor).st_uid
    if owner == os.geteuid():
        return
    probe = Path(tempfile.mkdtemp(prefix=".repropack-", dir=folder.parent))
    try:
        if probe.stat().st_uid == owner:
            return
    finally:
        probe.rmdir()
    raise UsageError(
        f"{folder.name}: expected a work folder of your own, observed one that another user made",
        hint="nothing in it was touched; give a target in a folder of your own",
    )


def _lock(descriptor: int, target: Path) -> None:
    import fcntl  # noqa: PLC0415 - not on every platform

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BusyError(target.name) from error
    except OSError as error:
        raise CouldNotRunError(
            f"{target.name}: cannot be locked against others: {error.strerror}",
            hint="make it on a file system with locks, then move it",
        ) from error


def _is_at(descriptor: int, folder: Path) -> bool:
    """Whether an open folder is still the one that its path names."""
    try:
        there = folder.lstat()
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)


def _check_own(folder: Path) -> None:
    """Refuse a folder in which anything lies that is not a build's or an unpacking's."""
    names = (place.name for place in folder.iterdir() if not place.name.startswith(MOVED_UP))
    foreign = sorted(name for name in names if name not in _KNOWN_NAMES)
    if foreign:
        raise UsageError(
            f"{folder.name}: expected a work folder of repropack, observed {foreign[0]!a} in it",
            hint="move it away, or give another target",
        )
