"""Stand between judge and worker: start it, watch it, and leave no process of it behind.

Run by path with ``-I -S -B`` and the standard library alone, once for every run. The judge passes
three descriptors: a policy to read, a pipe whose end says that the judge is gone, and a pipe for
one JSON line that says how the run ended. Standard input, output and error are the worker's.
"""

# ruff: noqa: PTH100, PTH116, PTH120, PTH208 - pathlib would take a third of its start

from __future__ import annotations

import contextlib
import errno
import json
import os
import pathlib
import select
import signal
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # every module that is not imported is a shorter start
    from collections.abc import Callable, Iterator
    from typing import Any

WATCH_SECONDS = 0.05
DISK_SECONDS = 0.25
_BLOCK_BYTES = 512
_PR_SET_CHILD_SUBREAPER = 36
_LINUX = sys.platform == "linux"
_MAX_DESCRIPTORS = 4096
"""Open descriptors of a run that are looked at for files without a name, each time."""


class _LimitReachedError(Exception):
    """A run went beyond one of its limits."""

    def __init__(self, limit: str, allowed: int, observed: int) -> None:
        super().__init__(limit)
        self.report = {"limit": limit, "allowed": allowed, "observed": observed}


def main(arguments: list[str]) -> None:
    """Run one command under one policy, and report how it ended.

    Args:
        arguments: Numbers of three descriptors: the policy's, the report's, the judge's.
    """
    policy_from, report_to, judge = map(int, arguments)
    for descriptor in (policy_from, report_to, judge):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - takes no name
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    with os.fdopen(policy_from, "rb") as stream:
        policy = json.load(stream)
    if _LINUX:
        import ctypes  # noqa: PLC0415 - only where it is used

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    report = _supervise(policy, judge)
    with contextlib.suppress(BrokenPipeError):
        os.write(report_to, json.dumps(report).encode() + b"\n")  # noqa: TID251 - standard library


def _supervise(policy: dict[str, Any], judge: int) -> dict[str, Any]:
    warden, stop = os.pipe()
    policy["warden"] = warden
    child, problem = _start(policy)
    os.close(warden)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # the worker's alone, so that their end is its end
        os.dup2(nowhere, descriptor)
    tree = _Tree(child, stop)
    try:
        said = problem or _watch(tree, policy, judge)
    except _LimitReachedError as reached:
        said = reached.report
    except Exception as error:  # noqa: BLE001 - whatever happens here, the tree has to end
        said = {"problem": f"{type(error).__name__}: {error}"}
    left = tree.end()
    if tree.status is not None and "limit" not in said:
        said.setdefault("status", tree.status)
    return {**said, "left": left}


def _start(policy: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Fork the worker; what keeps it from beginning comes back as a report."""
    broken, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _lockdown().enter(policy)
        except BaseException as error:  # noqa: BLE001 - this process must not go on as a second one
            os.write(told, f"{type(error).__name__}: {error}".encode()[:1000])
        finally:
            os._exit(127)
    os.close(told)
    with os.fdopen(broken, "rb") as stream:
        problem = stream.read().decode("utf-8", "replace")
    return child, {"problem": problem} if problem else {}


def _lockdown() -> Any:
    """The module beside this one, which no search path leads to."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import lockdown  # type: ignore[import-not-found] # noqa: PLC0415 - on that path alone

    return lockdown


def _watch(tree: _Tree, policy: dict[str, Any], judge: int) -> dict[str, Any]:
    """Wait for the worker's end, the judge's, or a limit."""
    limits: dict[str, int] = policy["limits"]
    begun = time.monotonic()
    next_look = next_walk = begun
    waiting = _Waiting(judge, tree.child)
    while True:
        if waiting.judge_is_gone(WATCH_SECONDS):
            return {"stopped": True}
        tree.reap()
        if tree.status is not None:
            return {}
        if not limits:
            continue
        now = time.monotonic()
        _hold("max_run_seconds", limits, int(now - begun))
        if now >= next_look:
            _look(tree, limits)
            next_look = now + max(WATCH_SECONDS, 4 * (time.monotonic() - now))
        if now >= next_walk:
            _walk(tree, policy["watched"], limits)
            next_walk = now + max(DISK_SECONDS, 4 * (time.monotonic() - now))


def _hold(limit: str, limits: dict[str, int], observed: int) -> None:
    if observed > limits[limit]:
        raise _LimitReachedError(limit, limits[limit], observed)


class _Waiting:
    """Waits for the judge to go or the worker to end, whichever is first."""

    def __init__(self, judge: int, child: int) -> None:
        self._judge = judge
        self._poll = select.poll()
        self._poll.register(judge, select.POLLIN | select.POLLHUP)
        with contextlib.suppress(AttributeError, OSError):
            self._poll.register(os.pidfd_open(child), select.POLLIN)

    def judge_is_gone(self, seconds: float) -> bool:
        """Wait at most ``seconds``; the judge never writes, so anything there is its end."""
        return any(descriptor == self._judge for descriptor, _ in self._poll.poll(seconds * 1000))


# ---------------------------------------------------------------- processes


class _Tree:
    """The worker and everything that came of it."""

    def __init__(self, child: int, stop: int) -> None:
        self.child = child
        self.status: int | None = None
        self._stop = stop

    def reap(self) -> bool:
        """Collect what has ended; whether anything is left to wait for."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if process == 0:
                return True
            if os.WIFSTOPPED(status):  # it has made this process its tracer
                _signal(process)
            elif process == self.child:
                self.status = os.waitstatus_to_exitcode(status)

    def processes(self) -> list[int]:
        """Every process below this one. One that is just being made may be missed."""
        found: list[int] = []
        todo = [os.getpid()]
        children = _children if _lists_children() else _children_by_parent()
        while todo:
            below = children(todo.pop())
            found += below
            todo += below
        return found

    def end(self, seconds: float = 30) -> int:
        """End all of them, however fast they multiply, and collect them; how many are left."""
        os.close(self._stop)  # where there is a warden it now ends its whole domain at once
        deadline = time.monotonic() + seconds
        while self.reap():
            if not _LINUX:
                _signal(-self.child)
            for process in self.processes():
                _signal(process)
            if time.monotonic() > deadline:
                return len(self.processes())
            time.sleep(0.0005)
        return 0


def _signal(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)


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


def _look(tree: _Tree, limits: dict[str, int]) -> None:
    """Count processes with their threads, and the memory that they hold together."""
    page = os.sysconf("SC_PAGE_SIZE")
    threads = resident = 0
    processes = tree.processes()
    for process in processes:
        fields = _read(f"/proc/{process}/stat").rpartition(")")[2].split()
        if len(fields) > 21:
            threads += int(fields[17])
            resident += int(fields[21]) * page
    _hold("max_run_processes", limits, threads)
    if resident > limits["max_run_memory_bytes"]:  # shared pages were counted more than once
        _hold("max_run_memory_bytes", limits, sum(map(_memory, processes)))


def _memory(process: int) -> int:
    """Bytes of a process, of shared pages its part."""
    for line in _read(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


# ---------------------------------------------------------------- files


def _walk(tree: _Tree, folders: list[str], limits: dict[str, int]) -> None:
    """Count the files of a run and the bytes that they take, with and without a name."""
    tally = _Tally(limits)
    for folder in folders:
        with contextlib.suppress(OSError):
            tally.add(_open_folder(folder, None), 1)
    for observed in _without_name(tree.processes()):
        tally.bytes += observed
    _hold("max_run_scratch_bytes", limits, tally.bytes)


class _Tally:
    def __init__(self, limits: dict[str, int]) -> None:
        self._limits = limits
        self.bytes = self.files = 0

    def add(self, folder: int, depth: int) -> None:
        """Count what is in an open folder, and close it."""
        try:
            _hold("max_run_depth", self._limits, depth)
            with os.scandir(folder) as entries:
                for entry in entries:
                    self.files += 1
                    _hold("max_run_files", self._limits, self.files)
                    with contextlib.suppress(FileNotFoundError):
                        self._add_entry(entry, folder, depth)
        finally:
            os.close(folder)

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
    """Open a folder and no link to one; one that may not be read is made readable."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=parent)
    except PermissionError:
        place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        try:
            pathlib.Path(f"/proc/self/fd/{place}").chmod(0o700)
        finally:
            os.close(place)
        return os.open(name, flags, dir_fd=parent)


def _without_name(processes: list[int]) -> Iterator[int]:
    """Sizes of files that are open and have no name any more, each once."""
    seen: set[tuple[int, int]] = set()
    looked = 0
    for process in processes:
        for name in _names(f"/proc/{process}/fd"):
            looked += 1
            if looked > _MAX_DESCRIPTORS:
                return
            with contextlib.suppress(OSError):
                found = os.stat(f"/proc/{process}/fd/{name}")
                key = (found.st_dev, found.st_ino)
                if stat.S_ISREG(found.st_mode) and not found.st_nlink and key not in seen:
                    seen.add(key)
                    yield found.st_blocks * _BLOCK_BYTES


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # there is nothing to clear away
