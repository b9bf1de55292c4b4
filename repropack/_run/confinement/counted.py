"""What a run takes: its processes, their memory, its files, each held to its limit.

Beside ``supervisor``, and like it of the standard library alone.
"""

# ruff: noqa: PTH116, PTH208 - pathlib would take a third of its start

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BLOCK_BYTES = 512
_RESERVE_BYTES = 1 << 30
"""Where no more than this is left on a disk, all that is gone from it counts as the run's: a file
without a name that is mapped, or in a message between sockets, is seen in no other way."""
_OF_ITS_OWN = ("tmp", "dev/shm")
"""Folders in memory that bubblewrap gives a run."""


class LimitReachedError(Exception):
    """A run went beyond one of its limits."""

    def __init__(self, limit: str, allowed: int, observed: int) -> None:
        super().__init__(limit)
        self.report = {"limit": limit, "allowed": allowed, "observed": observed}


def hold(limit: str, limits: dict[str, int], observed: int) -> None:
    if observed > limits[limit]:
        raise LimitReachedError(limit, limits[limit], observed)


# ---------------------------------------------------------------- processes


def processes_below(process: int, most: int | None = None) -> list[int]:
    """Every process below one; where they are more than ``most``, enough to tell.

    Returns:
        Their numbers. One that is just being made may be missed.
    """
    found: list[int] = []
    todo = [process]
    children = _children if _lists_children() else _children_by_parent()
    while todo and (most is None or len(found) <= most):
        below = children(todo.pop())
        found += below
        todo += below
    return found


def _lists_children() -> bool:
    return pathlib.Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _children(process: int) -> list[int]:
    found: list[int] = []
    for thread in _names(f"/proc/{process}/task"):
        text = _read(f"/proc/{process}/task/{thread}/children")
        found += map(int, text.split())
    return found


def _children_by_parent() -> Callable[[int], list[int]]:
    """The same from one look at all processes, for kernels that do not list children."""
    below: dict[int, list[int]] = {}
    for name in filter(str.isdigit, _names("/proc")):
        fields = _read(f"/proc/{name}/stat").rpartition(")")[2].split()
        if fields:
            below.setdefault(int(fields[1]), []).append(int(name))
    return lambda process: below.get(process, [])


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(file: str) -> str:
    try:
        with pathlib.Path(file).open(encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


# ---------------------------------------------------------------- memory


def hold_time(timeout_seconds: int | None, observed: int) -> None:
    """Hold a run to the time that its own plan gives it; None gives it any."""
    if timeout_seconds is not None:
        hold("timeout-seconds", {"timeout-seconds": timeout_seconds}, observed)


def look(processes: list[int], limits: dict[str, int]) -> None:
    """Count processes with their threads, and the memory that they hold together."""
    threads = most = 0
    for process in processes:
        fields = _stat(process)
        threads += int(fields[17]) if fields else 0
        most += sum(_resident(process))
    hold("max_run_processes", limits, threads)
    if most > limits["max_run_memory_bytes"]:  # shared pages were counted more than once
        hold("max_run_memory_bytes", limits, sum(map(_memory, processes)))


def _stat(process: int | str) -> list[str]:
    """What the kernel tells of a process, from its state on; empty where there is none."""
    fields = _read(f"/proc/{process}/stat").rpartition(")")[2].split()
    return fields if len(fields) > 21 else []


def _holders(process: int) -> list[int | str]:
    """Who tells what a process holds: where its first thread has ended, all others."""
    fields = _stat(process)
    if fields and fields[0] == "Z" and int(fields[17]) > 1:
        return list(_names(f"/proc/{process}/task"))
    return [process]


def _resident(process: int) -> tuple[int, int]:
    """Bytes of a process in memory, and at most how many of tables for its pages."""
    told = [_stat(holder) for holder in _holders(process)]
    page = os.sysconf("SC_PAGE_SIZE")
    return max(((int(f[21]) * page, int(f[20]) // 512) for f in told if f), default=(0, 0))


def _memory(process: int) -> int:
    """Bytes of a process, of shared pages its part; all of them where that is not told."""
    for holder in _holders(process):
        part = _kibibytes(f"/proc/{holder}/smaps_rollup", "Pss:")
        if part is not None:
            return (part + (_kibibytes(f"/proc/{holder}/status", "VmPTE:") or 0)) * 1024
    return sum(_resident(process))


def _kibibytes(file: str, name: str) -> int | None:
    for line in _read(file).splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return None


# ---------------------------------------------------------------- files


def walk(processes: list[int], folders: list[str], limits: dict[str, int]) -> None:
    """Count the files of a run and the bytes that they take, with and without a name."""
    tally = _Tally(limits)
    for folder in folders:
        with contextlib.suppress(FileNotFoundError):  # one is made when the run begins
            tally.add(_open_folder(folder, None), 1)
    for observed in _without_name(processes, limits):
        tally.bytes += observed
    tally.add_memory(processes)
    hold("max_run_files", limits, tally.files)
    hold("max_run_scratch_bytes", limits, tally.bytes)


class Disk:
    """What is left on the disks of a run's folders."""

    def __init__(self, folders: list[str]) -> None:
        self._left = {folder: _left_on_disk(folder) for folder in folders}

    def hold(self, limits: dict[str, int]) -> None:
        """Where little is left, all that is gone counts."""
        for folder, before in self._left.items():
            now = _left_on_disk(folder)
            if now < min(_RESERVE_BYTES, before // 8):
                hold("max_run_scratch_bytes", limits, before - now)


def _left_on_disk(folder: str) -> int:
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize


class _Tally:
    def __init__(self, limits: dict[str, int]) -> None:
        self._limits = limits
        self.bytes = self.files = 0

    def add(self, folder: int, depth: int) -> None:
        """Count what is in an open folder, and close it."""
        try:
            hold("max_run_depth", self._limits, depth)
            with os.scandir(folder) as entries:
                for entry in entries:
                    self.files += 1
                    hold("max_run_files", self._limits, self.files)
                    with contextlib.suppress(FileNotFoundError):
                        self._add_entry(entry, folder, depth)
        finally:
            os.close(folder)

    def add_memory(self, processes: list[int]) -> None:
        """Count what is in the folders that bubblewrap gives a run, as one inside sees them."""
        for process in reversed(processes):
            root = f"/proc/{process}/root"
            with contextlib.suppress(OSError):
                if os.path.samestat(os.stat(root), os.stat("/")):
                    continue
                for place in _OF_ITS_OWN:
                    found = os.statvfs(f"{root}/{place}")
                    self.files += found.f_files - found.f_ffree
                    self.bytes += (found.f_blocks - found.f_bfree) * found.f_frsize
                return

    def _add_entry(self, entry: os.DirEntry[str], folder: int, depth: int) -> None:
        self.bytes += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
        if entry.is_dir(follow_symlinks=False):
            try:
                below = _open_folder(entry.name, folder)
            except OSError as error:
                if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
                    return  # another thing by now
                raise
            self.add(below, depth + 1)


def _open_folder(name: str, parent: int | None) -> int:
    """Open a folder and no link to one; one that may not be looked into is made so that it may."""
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        if os.fstat(place).st_mode & 0o500 != 0o500:
            pathlib.Path(f"/proc/self/fd/{place}").chmod(0o700)
    finally:
        os.close(place)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, dir_fd=parent)


def _without_name(processes: list[int], limits: dict[str, int]) -> Iterator[int]:
    """Sizes of files that are open and have no name any more, each once.

    Every thread is asked, for it may have descriptors of its own.

    Yields:
        Bytes on the disk.
    """
    seen: set[tuple[int, int]] = set()
    looked = 0
    tasks = (f"/proc/{process}/task" for process in processes)
    for folder in (f"{task}/{thread}/fd" for task in tasks for thread in _names(task)):
        for name in _names(folder):
            looked += 1
            hold("max_run_files", limits, looked)
            with contextlib.suppress(OSError):
                found = os.stat(f"{folder}/{name}")
                key = (found.st_dev, found.st_ino)
                if stat.S_ISREG(found.st_mode) and not found.st_nlink and key not in seen:
                    seen.add(key)
                    yield found.st_blocks * _BLOCK_BYTES
