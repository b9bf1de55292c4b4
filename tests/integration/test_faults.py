"""Kills, full disks, calls that fail and writes that lie: nothing torn, nothing lost, no success
that is none. The random kills alone: ``python tools/kill_builds.py --kills 500``."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import CouldNotRunError
from repropack.unpack import unpack_package
from tests.support.equal_files import assert_same_bytes
from tests.support.experiments import TINY, write_project
from tests.support.thinning import EVERY_CASE, part_of
from tools.kill_builds import kill_builds

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("REPROPACK_KILLS", "2"))
"""How many builds are killed at random moments; set the variable for more."""
"""Whether every call of publishing is killed and fails, and not some of each kind: minutes."""
ROOT = Path(__file__).resolve().parents[2]
CALLS = (
    "write",
    "openat",
    "close",
    "fsync",
    "read",
    "rename",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
    "mkdirat",
    "chmod",
    "fchmodat",
    "fchmod",
    "flock",
    "newfstatat",
    "getdents64",
)
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background
from repropack.__main__ import console
console()
"""
COMMAND = [sys.executable, "-c", PROGRAM]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project with a checkpoint after every second step."""
    return write_project(
        tmp_path_factory.mktemp("faults") / "project",
        steps=6,
        record={"checkpoint-every": 2, "keep": ["x"]},
        comparisons=[{"name": "resumed", "resume-at": 4, "expect": "identical"}],
    )


@pytest.fixture(scope="module")
def package(project: Path) -> Path:
    """Its package, built once."""
    target = project.parent / "tiny.zip"
    assert build(project, target).returncode == 0
    return target


def build(project: Path, target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "build", str(project), "-o", str(target), "--unexecuted-notebook", *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def said_once(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that a failed command says, besides a hint and what lint found."""
    assert "Traceback" not in done.stderr
    lint = ("lint: ", "  warning: ")
    first, *hints = (line for line in done.stderr.splitlines() if not line.startswith(lint))
    assert first.startswith("repropack: error: ")
    assert all(line.startswith("hint: ") for line in hints)
    assert len(hints) <= 1
    return first.removeprefix("repropack: error: ")


# ---------------------------------------------------------------- kills


def test_builds_that_are_killed_at_random_moments_lose_nothing(tmp_path: Path):
    """At every moment the target is absent or whole; what goes on gives the same file."""
    tally = kill_builds(tmp_path, KILLS, seed=KILLS)
    assert tally.torn == []
    assert tally.killed == KILLS
    assert tally.packages >= 1


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A process whose children are traced; skips where that is not possible."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    made = Driver(tmp_path_factory.mktemp("driver"))
    try:
        yield made
    finally:
        made.end()


@dataclass
class Ended:
    """How a traced case ended: status or negative signal, what it said, and its trace."""

    status: int
    said: str
    trace: list[str]


class Driver:
    """Runs cases under strace, each attached to before it begins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.support.fault_driver"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, what: str, arguments: list[Path], *options: str) -> Ended:
        """Run one case with options of strace; ``inject`` counts from its first call."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        said, trace = self.folder / "said", self.folder / "trace"
        said.unlink(missing_ok=True)
        case = {"what": what, "arguments": [str(path) for path in arguments], "said": str(said)}
        stdin.write(json.dumps(case) + "\n")
        stdin.flush()
        child = int(stdout.readline())
        tracer = subprocess.Popen(
            ["strace", "-qq", "-y", "-s", "0", "-o", str(trace), *options, "-p", str(child)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        status = Path(f"/proc/{child}/status")
        until = time.monotonic() + 30
        while "TracerPid:\t0\n" in status.read_text("utf-8"):
            if tracer.poll() is not None or time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                stdout.readline()
                _, problem = tracer.communicate()
                pytest.skip(f"needs strace that may attach: {problem.strip()}")
        os.kill(child, signal.SIGCONT)
        ended = int(stdout.readline())
        tracer.communicate(timeout=30)
        lines = trace.read_text("utf-8", "replace").splitlines()
        return Ended(ended, said.read_text("utf-8") if said.exists() else "", lines)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@dataclass
class Place:
    """A target where an older package stands, and what is to replace it."""

    what: str
    arguments: list[Path]
    target: Path
    old: Callable[[], None]

    def state(self) -> str:
        """What stands at the target: the old package or the new one, whole; never anything else."""
        found = check_package(self.target)
        assert (found.verdict, found.faults) == ("intact", ())
        assert found.package is not None
        return found.package.title


@pytest.fixture(scope="module", params=["zip", "directory", "unpack"])
def place(
    request: pytest.FixtureRequest, package: Path, tmp_path_factory: pytest.TempPathFactory
) -> Place:
    folder = tmp_path_factory.mktemp("place")
    other = write_project(folder / "other", steps=2)
    file = other / "repropack.toml"
    file.write_text(file.read_text("utf-8").replace('"Tiny"', '"Older"'), "utf-8")
    older = folder / "older.zip"
    assert build(other, older).returncode == 0
    tree = folder / "tree"
    unpack_package(package, tree)
    (tree / "manifest.json").unlink()
    target = folder / "out" / "target"
    target.parent.mkdir()

    def old() -> None:
        for left in target.parent.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        if request.param == "zip":
            shutil.copyfile(older, target)
        else:
            unpack_package(older, target)

    arguments = [package, target] if request.param == "unpack" else [package, tree, target]
    return Place(request.param, arguments, target, old)


def count_calls(ended: Ended) -> Counter[str]:
    names = (re.match(r"([a-z0-9_]+)\(", line) for line in ended.trace)
    return Counter(name[1] for name in names if name)


def cases_of(driver: Driver, place: Place) -> list[tuple[str, int]]:
    """Every call that the case makes, as its name in strace and its number."""
    place.old()
    every = ",".join(f"?{name}" for name in CALLS)  # not every machine has all of them
    whole = driver.run(place.what, place.arguments, "-e", f"trace={every}")
    assert (whole.status, whole.said, place.state()) == (0, "", "Tiny")
    counts = count_calls(whole)
    return [(name, number) for name in CALLS for number in range(1, counts[name] + 1)]


def thinned(cases: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Some calls of every kind, the first and the last of each among them; or every call."""
    if EVERY_CASE:
        return cases
    chosen = []
    for name, number in cases:
        total = max(n for other, n in cases if other == name)
        looking = name in {"openat", "close", "read", "newfstatat", "getdents64"}
        if number in {1, total} or number % (total // (1 if looking else 2) + 1) == 0:
            chosen.append((name, number))
    return chosen


def test_a_kill_at_each_call_leaves_the_old_or_the_new(driver: Driver, place: Place):
    """Never half of one, never nothing, and the next one is not kept out."""
    seen: Counter[str] = Counter()
    for name, number in thinned(cases_of(driver, place)):
        place.old()
        inject = f"inject={name}:signal=KILL:when={number}"
        ended = driver.run(place.what, place.arguments, "-e", f"trace={name}", "-e", inject)
        assert ended.status == -signal.SIGKILL, (name, number, ended.said)
        seen[place.state()] += 1
    assert set(seen) == {"Older", "Tiny"}
    assert driver.run(place.what, place.arguments).status == 0
    assert [path.name for path in place.target.parent.iterdir()] == ["target"]


def test_each_call_that_fails_once_is_told_or_does_not_matter(driver: Driver, place: Place):
    """Status 0 means that the new package stands there; anything else is one line, and the old
    package or the whole new one."""
    told = 0
    for name, number in thinned(cases_of(driver, place)):
        place.old()
        error = "ENOSPC" if name in {"write", "mkdir", "mkdirat", "link", "linkat"} else "EIO"
        inject = f"inject={name}:error={error}:when={number}"
        ended = driver.run(place.what, place.arguments, "-e", f"trace={name}", "-e", inject)
        assert ended.status in {0, 4}, (name, number, ended.said)
        assert "\n" not in ended.said
        told += ended.status == 4
        state = place.state()
        assert state == "Tiny" or ended.status == 4, (name, number)
    assert told > 0


def test_a_write_that_lies_is_noticed(driver: Driver, place: Place):
    """The system says that bytes were written which were not: what is read back tells."""
    noticed = 0
    writes = [case for case in cases_of(driver, place) if case[0] == "write"]
    for name, number in thinned(writes):
        place.old()
        inject = f"inject={name}:retval=5:when={number}"
        ended = driver.run(place.what, place.arguments, "-e", f"trace={name}", "-e", inject)
        assert ended.status == 4, (name, number, ended.said)
        assert place.state() == "Older"
        noticed += "read back before it was published" in ended.said
    assert noticed > 0


def test_the_order_of_publishing(driver: Driver, place: Place):
    """Synced, read back, moved, and the folder synced: in this order and no other."""
    place.old()
    trace = driver.run(place.what, place.arguments, "-e", "trace=fsync,openat,?rename,renameat2")
    work = re.escape(f"{place.target.parent}/.target.work")
    aside = f"{work}/package.zip" if place.what == "zip" else f"{work}/assembled"
    file = aside if place.what == "zip" else f"{aside}/plan.json"
    wanted = [
        rf"fsync\(\d+<{file}>\) += 0",
        rf"openat\(.*<{file}>$",
        rf"rename(at2)?\(.*{aside}\", .*",
        rf"fsync\(\d+<{re.escape(str(place.target.parent))}>\) += 0",
    ]
    places: list[int] = []
    for pattern in wanted:
        start = places[-1] + 1 if places else 0
        found = [k for k, line in enumerate(trace.trace) if re.search(pattern, line) and k >= start]
        assert found, pattern
        places.append(found[-1] if pattern.startswith("fsync") and not places else found[0])
    renames = [line for line in trace.trace if line.startswith("rename")]
    assert len([line for line in renames if str(place.target) + '"' in line]) == 1


# ---------------------------------------------------------------- disks


@contextmanager
def small_disk(folder: Path, options: str) -> Iterator[Path]:
    """A file system of its own, in memory, gone afterwards."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs root, to mount a small file system")
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs to mount a small file system: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def test_a_full_disk_at_any_size(project: Path, package: Path, tmp_path: Path):
    """From no room to almost enough: one line, the target absent; with room it goes on to the same
    file."""
    sizes = part_of([448, 192, 4096, 1344])
    statuses = Counter[int]()
    for kibibytes in sizes:
        with small_disk(tmp_path / "disk", f"size={kibibytes}k") as disk:
            target = disk / "tiny.zip"
            done = build(project, target)
            statuses[done.returncode] += 1
            if done.returncode == 0:
                assert_same_bytes(target, package)
                continue
            assert done.returncode == 4
            assert "No space left on device" in said_once(done) + done.stderr
            assert not said_once(done).startswith("No space")  # it says where, and what to do
            assert "\nhint: " in done.stderr
            assert not target.exists()
            remount(disk, "size=8m")
            assert build(project, target, "--resume").returncode == 0
            assert_same_bytes(target, package)
            assert [path.name for path in disk.iterdir()] == ["tiny.zip"]
    assert set(statuses) == {0, 4}


@pytest.mark.parametrize("inodes", part_of([8, 24]))
def test_a_disk_without_inodes(project: Path, package: Path, tmp_path: Path, inodes: int):
    """Names can run out before bytes do."""
    with small_disk(tmp_path / "disk", f"size=8m,nr_inodes={inodes}") as disk:
        done = build(project, disk / "tiny.zip")
        assert done.returncode == 4
        assert "No space left on device" in said_once(done) + done.stderr
        assert not (disk / "tiny.zip").exists()
        remount(disk, "nr_inodes=400")
        assert build(project, disk / "tiny.zip", "--resume").returncode == 0
        assert_same_bytes((disk / "tiny.zip"), package)


def test_a_disk_that_can_only_be_read(project: Path, package: Path, tmp_path: Path):
    """Wrong use, before anything runs; what stands there stands there still."""
    with small_disk(tmp_path / "disk", "size=8m") as disk:
        shutil.copyfile(package, disk / "tiny.zip")
        remount(disk, "ro")
        done = build(project, disk / "tiny.zip", "--force")
        assert done.returncode == 2
        assert said_once(done) == "tiny.zip: cannot be written there: Read-only file system"
        unpacked = subprocess.run(
            [*COMMAND, "unpack", str(package), str(disk / "tiny")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert unpacked.returncode == 2
        assert said_once(unpacked) == "tiny: cannot be written there: Read-only file system"
        assert_same_bytes((disk / "tiny.zip"), package)


def test_a_report_that_cannot_be_kept_does_not_cost_the_verdict(lab_package: Path, tmp_path: Path):
    """The verdict is printed; the status says that not everything was done."""
    with small_disk(tmp_path / "disk", "size=4k") as disk:
        (disk / "filler").write_bytes(bytes(4096))
        done = subprocess.run(
            [*COMMAND, "verify", str(lab_package), "--runs", "reference", "--report",
             str(disk / "report.json")],
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 4
        assert done.stdout.startswith("identical  ")
        problem = said_once(done)
        assert problem.startswith("the report was not kept: ")
        assert problem.endswith("No space left on device")
        assert [path.name for path in disk.iterdir()] == ["filler"]


@pytest.mark.parametrize("gone", ["out", "out/.tiny.zip.work", "out/.tiny.zip.work/recorded"])
def test_a_folder_that_vanishes_is_told(project: Path, tmp_path: Path, gone: str):
    """Also in the middle of a run: an error of ours, and no package."""

    def vanish(run: str, step: int, last: int) -> None:
        if step == 3:
            shutil.rmtree(tmp_path / gone)

    with pytest.raises(CouldNotRunError, match="No such file or directory"):
        build_package(project, tmp_path / "out/tiny.zip", on_step=vanish)
    assert not (tmp_path / "out/tiny.zip").exists()


# ---------------------------------------------------------------- others at the same time


def test_eight_builders_at_one_target(tmp_path: Path):
    """One builds; seven are told at once that it is busy, and disturb nothing."""
    go = tmp_path / "go"
    source = TINY.replace(
        "import numpy as np", "import os\nimport time\n\nimport numpy as np"
    ).replace(
        "        self.updates += 1\n",
        "        self.updates += 1\n"
        "        while not os.path.exists(self.config['go']): time.sleep(0.05)\n",
    )
    project = write_project(tmp_path / "project", source=source, steps=2, config={"go": str(go)})
    target = tmp_path / "out/tiny.zip"
    builders = [
        subprocess.Popen(
            [*COMMAND, "build", str(project), "-o", str(target), "--unexecuted-notebook",
             "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(8)
    ]  # fmt: skip
    until = time.monotonic() + 120
    while sum(one.poll() is not None for one in builders) < 7 and time.monotonic() < until:
        time.sleep(0.05)
    go.touch()
    documents = [json.loads(one.communicate(timeout=120)[0]) for one in builders]
    assert sorted(one.returncode for one in builders) == [0, 4, 4, 4, 4, 4, 4, 4]
    codes = Counter(document.get("code", "built") for document in documents)
    assert codes == {"built": 1, "busy": 7}
    assert check_package(target).verdict == "intact"
    assert [path.name for path in target.parent.iterdir()] == ["tiny.zip"]


@pytest.mark.parametrize("when", part_of(["2040-02-29 12:00:00", "1975-01-01 00:00:00"]))
def test_a_wrong_clock_leaves_no_trace(project: Path, package: Path, tmp_path: Path, when: str):
    """Before zip's calendar begins, and after 32-bit seconds end."""
    if shutil.which("faketime") is None:
        pytest.skip("needs faketime")
    done = subprocess.run(
        ["faketime", when, *COMMAND, "build", str(project), "-o", str(tmp_path / "tiny.zip"),
         "--unexecuted-notebook"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    lint = ("lint: ", "  warning: ")
    told = [line for line in done.stderr.splitlines() if not line.startswith(lint)]
    assert (done.returncode, told) == (0, [])
    assert_same_bytes((tmp_path / "tiny.zip"), package)


@pytest.mark.parametrize("seconds", part_of([-86400 * 365, 0, 2**33]))
def test_times_of_files_leave_no_trace(project: Path, package: Path, tmp_path: Path, seconds: int):
    """Sources may be from before 1970, or from the far future."""
    copy = tmp_path / "project"
    shutil.copytree(project, copy)
    for path in copy.iterdir():
        os.utime(path, (seconds, seconds))
    assert build(copy, tmp_path / "tiny.zip").returncode == 0
    assert_same_bytes((tmp_path / "tiny.zip"), package)


@pytest.mark.parametrize("number", part_of([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
def test_an_interrupted_verify_leaves_nothing(
    lab_package: Path, tmp_path: Path, number: signal.Signals
):
    """No process, no temporary file, no report; status 130 and one line."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    verify = subprocess.Popen(
        [*COMMAND, "verify", str(lab_package), "--report", str(tmp_path / "report.json")],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not list(temporary.glob("*/reference-*")) and time.monotonic() < until:
        time.sleep(0.01)
    verify.send_signal(number)
    out, err = verify.communicate(timeout=60)
    assert (verify.returncode, out, err) == (130, "", "repropack: interrupted\n")
    assert list(temporary.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_unpack_leaves_all_or_nothing(
    lab_package: Path, tmp_path: Path, number: signal.Signals
):
    """Whenever it comes: the whole folder, or none, and nothing beside it."""
    statuses = set()
    for milliseconds in range(300, 1500, 150):
        unpack = subprocess.Popen(
            [*COMMAND, "unpack", str(lab_package), str(tmp_path / "out/lab")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            unpack.wait(milliseconds / 1000)
        except subprocess.TimeoutExpired:
            unpack.send_signal(number)
        unpack.communicate(timeout=60)
        statuses.add(unpack.returncode)
        left = sorted(path.name for path in (tmp_path / "out").glob("*"))
        assert left in ([], ["lab"]), left
        if left:
            assert check_package(tmp_path / "out/lab").verdict == "intact"
            shutil.rmtree(tmp_path / "out/lab")
    assert statuses <= {0, 130, -number}
