"""Stand between judge and worker: start it, watch it, and leave no process of it behind.

Run by path with ``-I -S -B`` and the standard library alone, once for every run. The judge passes
three descriptors: a policy to read, a pipe whose end says that the judge is gone, and a pipe for
one JSON line that says how the run ended. Standard input, output and error are the worker's.
"""

# ruff: noqa: PTH100, PTH120 - pathlib would take a third of its start

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # every module that is not imported is a shorter start
    from typing import Any

WATCH_SECONDS = 0.05
DISK_SECONDS = 0.25
_PR_SET_CHILD_SUBREAPER = 36
_LINUX = sys.platform == "linux"


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
        if policy["limits"]:
            _go_before_others()
        import ctypes  # noqa: PLC0415 - only where it is used

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    report = _supervise(policy, judge)
    with contextlib.suppress(BrokenPipeError):
        os.write(report_to, json.dumps(report).encode() + b"\n")  # noqa: TID251 - standard library


def _go_before_others() -> None:
    """Be run before what is watched, however much of that there is; nobody but root may."""
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


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
    except Exception as error:  # noqa: BLE001 - whatever happens here, the tree has to end
        problem = {"problem": f"{type(error).__name__}: {error}"}
        said = getattr(error, "report", problem)  # a limit that was reached has one
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
            _beside("lockdown").enter(policy)
        except BaseException as error:  # noqa: BLE001 - this process must not go on as a second one
            os.write(told, f"{type(error).__name__}: {error}".encode()[:1000])
        finally:
            os._exit(127)
    os.close(told)
    with os.fdopen(broken, "rb") as stream:
        problem = stream.read().decode("utf-8", "replace")
    return child, {"problem": problem} if problem else {}


def _beside(name: str) -> Any:
    """A module beside this one, which no search path leads to."""
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path[0] != here:
        sys.path.insert(0, here)
    return importlib.import_module(name)


def _watch(tree: _Tree, policy: dict[str, Any], judge: int) -> dict[str, Any]:
    """Wait for the worker's end, the judge's, or a limit."""
    limits: dict[str, int] = policy["limits"]
    begun = time.monotonic()
    next_look = next_walk = begun
    waiting, counted = _Waiting(judge, tree.child), _beside("counted")
    disk = counted.Disk(policy["watched"])
    while True:
        if waiting.judge_is_gone(WATCH_SECONDS):
            return {"stopped": True}
        tree.reap()
        now = time.monotonic()
        counted.hold_time(policy["timeout_seconds"], int(now - begun))
        if limits:  # also of a run that has ended, where this process was kept from looking
            counted.hold("max_run_seconds", limits, int(now - begun))
        if tree.status is not None:
            return {}
        if not limits:
            continue
        if now >= next_look:
            counted.look(tree.processes(limits["max_run_processes"]), limits)
            next_look = now + max(WATCH_SECONDS, 4 * (time.monotonic() - now))
        if now >= next_walk:
            counted.walk(tree.processes(), policy["watched"], limits)
            disk.hold(limits)
            next_walk = now + max(DISK_SECONDS, 4 * (time.monotonic() - now))


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

    def processes(self, most: int | None = None) -> list[int]:
        """Every process below this one, or soon more than ``most``."""
        found: list[int] = _beside("counted").processes_below(os.getpid(), most)
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


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # there is nothing to clear away
