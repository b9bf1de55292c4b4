"""What a supervisor sees of a run: its processes, their memory, its files."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from repropack._format.limits import RunLimits
from repropack._run.confinement import counted, lockdown, supervisor, view_main
from repropack._run.confinement.counted import LimitReachedError, _Tally

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
LIMITS = {"max_run_files": 10, "max_run_depth": 3, "max_run_scratch_bytes": 1 << 20}


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    """A child with a child of its own, each with memory that nobody shares."""
    program = (
        "import os, sys, time\n"
        "kept = b'x' * (30 << 20)\n"
        "child = os.fork()\n"
        "if child: print(child, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        yield parent.pid, child
        os.kill(child, 9)
        parent.kill()


def test_descendants_are_found_in_both_ways(family: tuple[int, int]) -> None:
    """From the lists of children, and on kernels without them from everybody's parent."""
    parent, child = family
    assert counted._lists_children()
    assert parent in counted._children(os.getpid())
    assert counted._children(parent) == [child]
    below = counted._children_by_parent()
    assert parent in below(os.getpid())
    assert below(parent) == [child]
    assert below(child) == []
    tree = supervisor._Tree(parent, os.open(os.devnull, os.O_RDONLY))
    assert {parent, child} <= set(tree.processes())
    os.close(tree._stop)


def test_no_more_processes_are_looked_for_than_tell_that_there_are_too_many(
    family: tuple[int, int],
) -> None:
    """Who forks as fast as it can must not keep the supervisor busy with counting."""
    parent, _ = family
    assert counted.processes_below(parent, 0) == counted.processes_below(parent)
    found = counted.processes_below(os.getpid(), 0)
    assert parent in found
    assert len(found) < len(counted.processes_below(os.getpid()))


def test_the_kernel_holds_a_users_threads_as_well(family: tuple[int, int]) -> None:
    """They are counted before a run begins, the run's limit is added."""
    assert lockdown._own_threads() > len(family)


def test_shared_memory_counts_once(family: tuple[int, int]) -> None:
    """A page that two processes share is half of each one's."""
    parent, child = family
    time.sleep(0.2)
    together = counted._memory(parent) + counted._memory(child)
    assert 30 << 20 < together < 55 << 20
    assert counted._memory(2**22 + 1) == 0


def test_memory_and_threads_are_held_to_their_limits(family: tuple[int, int]) -> None:
    parent, _ = family
    processes = [parent, *counted._children(parent)]
    counted.look(processes, {"max_run_processes": 2, "max_run_memory_bytes": 100 << 20})
    with pytest.raises(LimitReachedError) as caught:
        counted.look(processes, {"max_run_processes": 1, "max_run_memory_bytes": 100 << 20})
    assert caught.value.report == {"limit": "max_run_processes", "allowed": 1, "observed": 2}
    with pytest.raises(LimitReachedError, match="max_run_memory_bytes"):
        counted.look(processes, {"max_run_processes": 2, "max_run_memory_bytes": 20 << 20})


def tally(folder: Path, **limits: int) -> _Tally:
    counting = _Tally({**LIMITS, **limits})
    counting.add(counted._open_folder(str(folder), None), 1)
    return counting


def test_files_and_the_bytes_that_they_take_are_counted(tmp_path: Path) -> None:
    """Of a sparse file what it takes, of a link itself, of a folder its contents."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/usr")
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(1 << 30)
    found = tally(tmp_path)
    assert found.files == 4
    assert 100_000 <= found.bytes < 200_000


def test_a_folder_that_may_not_be_read_is_counted_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "file").touch()
    (tmp_path / "locked").chmod(0)
    assert tally(tmp_path).files == 2


@pytest.mark.parametrize(
    ("limit", "allowed", "observed"), [("max_run_files", 4, 5), ("max_run_depth", 2, 3)]
)
def test_counting_stops_at_a_limit(tmp_path: Path, limit: str, allowed: int, observed: int) -> None:
    """It is no way to keep the supervisor busy."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in range(20):
        (tmp_path / "a" / "b" / str(name)).touch()
    limits = {"max_run_files": 100, "max_run_depth": 100, limit: allowed}
    with pytest.raises(LimitReachedError) as caught:
        tally(tmp_path, **limits)
    assert caught.value.report == {"limit": limit, "allowed": allowed, "observed": observed}


def test_files_without_a_name_are_seen(tmp_path: Path) -> None:
    """Once, however often they are open."""
    with (tmp_path / "file").open("wb") as stream:
        stream.write(b"x" * 100_000)
        stream.flush()
        (tmp_path / "file").unlink()
        second = os.dup(stream.fileno())
        found = list(counted._without_name([os.getpid()], {"max_run_files": 1000}))
        os.close(second)
    assert len([size for size in found if 100_000 <= size < 110_000]) == 1


def test_a_walk_holds_all_bytes_to_the_limit(tmp_path: Path) -> None:
    """Folders that are not there count nothing."""
    (tmp_path / "file").write_bytes(b"x" * (2 << 20))
    folders = [str(tmp_path / "absent"), str(tmp_path)]
    with pytest.raises(LimitReachedError, match="max_run_scratch_bytes"):
        counted.walk([], folders, LIMITS)
    counted.walk([], folders[:1], LIMITS)


def test_open_descriptors_are_as_many_as_files_may_be(tmp_path: Path) -> None:
    """None is passed over because there are too many of them."""
    with pytest.raises(LimitReachedError) as caught:
        list(counted._without_name([os.getpid()], {"max_run_files": 2}))
    assert caught.value.report == {"limit": "max_run_files", "allowed": 2, "observed": 3}


def test_where_little_is_left_on_a_disk_all_that_is_gone_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that is mapped and has no name is seen in no other way."""
    left = iter([100 << 30, 50 << 30, 1 << 30, (1 << 30) - 1])
    monkeypatch.setattr(counted, "_left_on_disk", lambda folder: next(left))
    disk = counted.Disk(["x"])
    for _ in range(2):
        disk.hold(LIMITS)
    with pytest.raises(LimitReachedError, match="max_run_scratch_bytes"):
        disk.hold(LIMITS)


def test_the_watched_limits_are_those_that_are_stated() -> None:
    """Every attribute of the limits is one that the supervisor knows, or the judge's own."""
    assert {name for name in RunLimits.__dataclass_fields__ if name != "max_run_output_bytes"} == {
        "max_run_seconds",
        "max_run_memory_bytes",
        "max_run_processes",
        "max_run_scratch_bytes",
        "max_run_files",
        "max_run_depth",
    }


def test_an_interpreter_tells_what_it_imports(capsys: pytest.CaptureFixture[str]) -> None:
    """Search path, prefixes, and the tables of finders, absolute paths all."""

    class Finder:
        def __init__(self) -> None:
            self.known_source_files = {"lab": "/src/lab.py", "odd": "relative.py"}
            self.known_wheel_files = {"fast": ["/build/fast.so"]}

    sys.meta_path.append(Finder())  # type: ignore[arg-type]
    try:
        assert view_main.main() == 0
    finally:
        del sys.meta_path[-1]
    import json

    told = json.loads(capsys.readouterr().out)
    assert told["found"] == ["/build/fast.so", "/src/lab.py"]
    assert sys.prefix in told["prefixes"]
    assert told["executable"] == sys.executable
