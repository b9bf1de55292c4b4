"""A supervisor ends what it started: at its end, at a limit, and when the judge is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repropack._format.limits import MEBIBYTE, RunLimits
from repropack._run.confinement.sandbox import Places, Sandbox, compose_policy
from repropack._run.confinement.supervised import Supervised

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="needs /proc, to look for processes"
)

LIMITS = RunLimits(
    max_run_seconds=20,
    max_run_memory_bytes=200 * MEBIBYTE,
    max_run_processes=20,
    max_run_scratch_bytes=8 * MEBIBYTE,
    max_run_files=50,
    max_run_depth=5,
    max_run_output_bytes=1000,
)
PRELUDE = """
import os, signal, subprocess, sys, threading, time
def fork(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child
"""


def start(folder: Path, program: str, sandbox: Sandbox | None = None, **options: Any) -> Supervised:
    """Run a program of the standard library; its environment names the folder."""
    script = folder / "program.py"
    script.write_text(PRELUDE + textwrap.dedent(program), "utf-8")
    environment = {"MARK": str(folder), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-I", "-S", "-B", str(script)]
    places = Places(folder, writable=(folder,))
    policy = compose_policy(sandbox or Sandbox("none", LIMITS), command, environment, places)
    return Supervised(policy, folder=folder, environment=environment, **options)


def report_of(folder: Path, program: str, **options: Any) -> dict[str, Any]:
    """Run a program to its end, and say how it ended."""
    with start(folder, program, **options) as running:
        report = running.wait(60)
    assert report is not None
    assert left(folder) == []
    return report


def left(folder: Path) -> list[int]:
    """Processes that were started in ``folder``, after a moment."""
    deadline = time.monotonic() + 5
    while (found := list(_marked(folder))) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _marked(folder: Path) -> Iterator[int]:
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"MARK={folder}\0".encode() in (place / "environ").read_bytes():
                yield int(place.name)
        except OSError:
            continue


@pytest.mark.parametrize(
    ("program", "status"),
    [("pass", 0), ("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", -9), ("os._exit(255)", 255)],
    ids=["ends", "status", "signal", "high"],
)
def test_an_end_is_told_as_it_was(tmp_path: Path, program: str, status: int) -> None:
    """Status, or the signal as a negative number."""
    assert report_of(tmp_path, program) == {"status": status, "left": 0}


def test_a_command_that_is_not_there_is_told(tmp_path: Path) -> None:
    """It never began; that is no status of its own."""
    policy = compose_policy(Sandbox(), ["/no/such/program"], {}, Places(tmp_path))
    with Supervised(policy, folder=tmp_path, environment={}) as running:
        report = running.wait(60)
    assert report is not None
    assert report["problem"].startswith("FileNotFoundError: [Errno 2]")


@pytest.mark.parametrize(
    ("program", "limit", "allowed"),
    [
        ("time.sleep(60)", "max_run_seconds", 1),
        ("os.kill(os.getpid(), signal.SIGSTOP)", "max_run_seconds", 1),
        ("kept = b'x' * (300 << 20); time.sleep(60)", "max_run_memory_bytes", 200 << 20),
        (
            "for k in range(4): fork(lambda: (b'x' * (80 << 20), time.sleep(60)))\ntime.sleep(60)",
            "max_run_memory_bytes",
            200 << 20,
        ),
        (
            "for k in range(40): fork(lambda: time.sleep(60))\ntime.sleep(60)",
            "max_run_processes",
            20,
        ),
        (
            """
            threading.stack_size(1 << 17)
            for k in range(40): threading.Thread(target=time.sleep, args=(60,)).start()
            """,
            "max_run_processes",
            20,
        ),
        (
            "for k in range(20): open(str(k), 'w').write('x' * (1 << 20))\ntime.sleep(60)",
            "max_run_scratch_bytes",
            8 << 20,
        ),
        (
            """
            f = open('f', 'w'); os.unlink('f'); g = open('g', 'w'); os.unlink('g')
            for s in (f, g): s.write('x' * (7 << 20)); s.flush()
            time.sleep(60)
            """,
            "max_run_scratch_bytes",
            8 << 20,
        ),
        ("for k in range(99): open(str(k), 'w')\ntime.sleep(60)", "max_run_files", 50),
        ("os.makedirs('1/2/3/4/5/6/7'); time.sleep(60)", "max_run_depth", 5),
    ],
    ids=[
        "time", "stopped", "memory", "memory-together", "processes", "threads", "files-together",
        "files-without-names", "files", "depth",
    ],
)  # fmt: skip
def test_each_limit_ends_a_run_by_its_name(
    tmp_path: Path, program: str, limit: str, allowed: int
) -> None:
    """With what was allowed and observed; nothing of the run is left."""
    limits = LIMITS
    if limit == "max_run_seconds":
        limits = RunLimits(max_run_seconds=1)
    if "threading" in program:  # each reserves addresses for its own memory
        limits = RunLimits(max_run_seconds=20, max_run_processes=20)
    report = report_of(tmp_path, program, sandbox=Sandbox("none", limits))
    assert (report["limit"], report["allowed"], report["left"]) == (limit, allowed, 0)
    assert report["observed"] > allowed


@pytest.mark.parametrize(
    "program",
    [
        "os.truncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 1 << 40)",
        "bytearray(1 << 30)",
    ],
    ids=["sparse-file", "address-space"],
)
def test_what_the_kernel_holds_each_process_to_fails_in_it(tmp_path: Path, program: str) -> None:
    """A large file, and mapping too much, are errors that a program may handle."""
    handled = f"try:\n    {program}\nexcept (OSError, MemoryError): sys.exit(5)"
    assert report_of(tmp_path, handled)["status"] == 5


def test_a_program_that_wants_to_be_traced_by_its_supervisor_is_ended(tmp_path: Path) -> None:
    """A signal would stop it for ever, and it would be said to have ended."""
    program = "import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), 25)"
    report = report_of(tmp_path, program)
    assert (report["status"], report["left"]) == (-9, 0)


def test_the_callers_own_code_has_no_limits(tmp_path: Path) -> None:
    """Nothing is watched but its end."""
    program = "for k in range(99): open(str(k), 'w')\ntime.sleep(0.6)"
    assert report_of(tmp_path, program, sandbox=Sandbox()) == {"status": 0, "left": 0}


@pytest.mark.parametrize(
    "program",
    [
        "fork(lambda: (os.setsid(), fork(lambda: time.sleep(60))))",
        "os.kill(fork(lambda: time.sleep(60)), signal.SIGSTOP)",
        "fork(lambda: ([signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)], time.sleep(60)))",
        "subprocess.Popen(['sleep', '60'], start_new_session=True)",
        "def run(n=1500):\n    while n and os.fork() == 0: n -= 1\nfork(run)",
    ],
    ids=["daemon", "stopped", "deaf", "command", "runaway"],
)
@pytest.mark.parametrize("level", ["none", "landlock"])
def test_nothing_is_left_behind(tmp_path: Path, program: str, level: Any) -> None:
    """Whatever a program started ends with it, in a session of its own or not."""
    if level == "landlock":
        pytest.importorskip("ctypes")
        require_landlock()
    assert report_of(tmp_path, program, sandbox=Sandbox(level, LIMITS)) == {"status": 0, "left": 0}


def require_landlock() -> None:
    from repropack._run.confinement.landlock import landlock_version

    if landlock_version() < 6:
        pytest.skip(f"needs Landlock 6, which scopes signals: here is {landlock_version()}")


def test_an_early_end_is_the_judges(tmp_path: Path) -> None:
    """Ending a run ends all of it, and says that it was stopped."""
    with start(
        tmp_path, "fork(lambda: time.sleep(60)); print('on', flush=True); time.sleep(60)"
    ) as r:
        assert r.stdout.readline() == b"on\n"
        assert r.wait(0.01) is None
        report = r.end()
    assert (report["stopped"], report["status"], report["left"]) == (True, -9, 0)
    assert left(tmp_path) == []


def test_only_the_last_of_the_prints_is_kept(tmp_path: Path) -> None:
    """A flood is read to its end and blocks nothing."""
    program = "for k in range(64): os.write(2, b'x' * (1 << 20))\nos.write(2, b'the end')"
    with start(tmp_path, program, output_bytes=1000) as running:
        assert running.wait(60) == {"status": 0, "left": 0}
    assert running.printed() == b"x" * 993 + b"the end"
    with start(tmp_path, "os.write(2, b'nothing of this')", output_bytes=0) as running:
        running.wait(60)
    assert running.printed() == b""


def test_prints_of_both_streams_are_kept_where_nobody_reads_one(tmp_path: Path) -> None:
    with start(tmp_path, "os.write(1, b'one '); os.write(2, b'two')", prints=True) as running:
        running.wait(60)
    assert (running.printed(), running.stdout) == (b"one two", None)


def test_a_program_has_signals_as_usual(tmp_path: Path) -> None:
    """What the supervisor ignores, the program does not."""
    program = """
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGXFSZ")
    ignored = [n for n in names if signal.getsignal(getattr(signal, n)) == signal.SIG_IGN]
    print(ignored, os.getsid(0) == os.getpid(), sorted(map(int, os.listdir("/proc/self/fd")))[:4])
    """
    with start(tmp_path, program) as running:
        assert running.stdout.read() == b"['SIGXFSZ'] True [0, 1, 2, 3]\n"  # Python's own


JUDGE = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.unit._run.confinement.test_supervised import start
from repropack._run.confinement.sandbox import Sandbox
folder = Path({folder!r})
program = "fork(lambda: (os.setsid(), time.sleep(60))); print('on', flush=True); time.sleep(60)"
running = start(folder, program, sandbox=Sandbox({level!r}))
assert running.stdout.readline() == b"on\\n"
print("on", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("level", ["none", "landlock", "bubblewrap"])
@pytest.mark.parametrize("victim", ["judge", "supervisor"])
def test_a_killed_judge_or_supervisor_leaves_nothing(
    tmp_path: Path, level: str, victim: str
) -> None:
    """SIGKILL gives nobody time to clear away: the end of a pipe is noticed all the same."""
    if level == "landlock":
        require_landlock()
    if level == "bubblewrap":
        from repropack._run.confinement.bubblewrap import find_bubblewrap

        if find_bubblewrap() is None:
            pytest.skip("needs bubblewrap")
    if level == "none" and victim == "supervisor":
        pytest.skip("needs confinement: unconfined, a killed supervisor leaves what it watched")
    root = str(Path(__file__).parents[4])
    judge = subprocess.Popen(
        [sys.executable, "-c", JUDGE.format(root=root, folder=str(tmp_path), level=level)],
        stdout=subprocess.PIPE,
    )
    assert judge.stdout is not None
    assert judge.stdout.readline() == b"on\n"
    assert list(_marked(tmp_path))
    target = judge.pid
    if victim == "supervisor":
        children = Path(f"/proc/{judge.pid}/task/{judge.pid}/children").read_text("utf-8")
        target = int(children)
    os.kill(target, signal.SIGKILL)
    assert left(tmp_path) == []
    judge.kill()
    judge.wait()
    judge.stdout.close()


def test_a_supervisor_that_is_ended_is_told(tmp_path: Path) -> None:
    """No report is no answer, and never a hang."""
    with start(tmp_path, "time.sleep(60)") as running:
        running._process.kill()
        assert running.wait(60) == {"problem": "the supervisor was ended"}
    assert left(tmp_path) == []
