"""The policy of a run: what bubblewrap and Landlock are told, and which limits apply."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from repropack._format.limits import RunLimits
from repropack._run.confinement import sandbox as module
from repropack._run.confinement.bubblewrap import bubblewrap_command
from repropack._run.confinement.landlock import landlock_policy
from repropack._run.confinement.sandbox import UNCONFINED, Places, Sandbox, compose_policy
from repropack._run.confinement.view import View
from repropack.errors import ConfinementUnavailableError

EXECUTE, READ_FILE, READ_DIR = 1, 4, 8
READ = EXECUTE | READ_FILE | READ_DIR


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name in ("source", "scratch"):
        (tmp_path / name).mkdir()
    return Places(tmp_path / "scratch", (tmp_path / "source",), (tmp_path / "scratch",))


def compose(sandbox: Sandbox, places: Places) -> dict[str, Any]:
    view = View(shown=("/usr",), listed=("/project",), links=(("/bin", "usr/bin"),))
    return compose_policy(sandbox, ["/usr/bin/python3", "x"], {"TZ": "UTC"}, places, view=view)


def test_the_callers_own_code_is_only_supervised(places: Places) -> None:
    """No limit, no filter, no view; its folders are known all the same."""
    assert compose(UNCONFINED, places) == {
        "command": ["/usr/bin/python3", "x"],
        "level": "none",
        "landlock": None,
        "limits": {},
        "rlimits": {},
        "seccomp": None,
        "timeout_seconds": None,
        "watched": [str(places.folder)],
    }


def test_limits_are_watched_together_and_held_for_each_process(places: Places) -> None:
    """One process may map twice what all may hold; prints are the judge's to count."""
    limits = RunLimits(max_run_memory_bytes=1000, max_run_scratch_bytes=500)
    policy = compose(Sandbox("none", limits), places)
    assert policy["limits"] == {
        "max_run_seconds": 3600,
        "max_run_memory_bytes": 1000,
        "max_run_processes": 1024,
        "max_run_scratch_bytes": 500,
        "max_run_files": 100_000,
        "max_run_depth": 128,
    }
    assert policy["rlimits"] == {
        "RLIMIT_AS": 2000, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": 500, "RLIMIT_NOFILE": 4096,
    }  # fmt: skip


def test_landlock_is_told_what_is_read_and_what_is_changed(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading for the view and the source, everything but devices and sockets for the scratch."""
    monkeypatch.setattr(module, "landlock_version", lambda: 7)
    policy = compose(Sandbox("landlock", RunLimits()), places)
    rules = dict(policy["landlock"]["rules"])
    assert rules["/usr"] == rules[str(places.read_only[0])] == READ
    assert rules["/project"] == READ_DIR
    assert rules["/proc/cpuinfo"] == EXECUTE | READ_FILE
    assert rules["/dev/null"] == READ_FILE | 1 << 1 | 1 << 14
    made = {"character": 1 << 6, "folder": 1 << 7, "file": 1 << 8, "socket": 1 << 9,
            "pipe": 1 << 10, "block": 1 << 11, "link": 1 << 12}  # fmt: skip
    allowed = {name for name, right in made.items() if rules[str(places.folder)] & right}
    assert allowed == {"folder", "file", "pipe", "link"}
    assert policy["command"] == ["/usr/bin/python3", "x"]
    assert len(base64.b64decode(policy["seccomp"])) % 8 == 0


@pytest.mark.parametrize(
    ("version", "files", "net", "scoped"),
    [(1, 13, 0, 0), (2, 14, 0, 0), (3, 15, 0, 0), (4, 15, 3, 0), (5, 16, 3, 0), (6, 16, 3, 3)],
)
def test_each_kernel_is_asked_for_all_that_it_knows(
    version: int, files: int, net: int, scoped: int
) -> None:
    """And for nothing more: it would refuse the whole."""
    policy = landlock_policy(version, View(shown=("/usr",)), (), ("/",))
    assert policy["files"] == (1 << files) - 1
    assert (policy["net"], policy["scoped"]) == (net, scoped)
    assert all(rights & policy["files"] == rights for _, rights in policy["rules"])


def test_of_processes_one_sees_ones_own_files_and_no_network() -> None:
    """In ``/proc/self``, and in each thread's folder there, lies the machine's network."""
    policy = landlock_policy(7, View(shown=("/usr",)), (), ())
    shown = {path for path, _ in policy["rules"]}
    assert "/proc/self/maps" in shown
    assert not shown & {"/proc", "/proc/self", "/proc/self/task", "/proc/self/net"}


@pytest.mark.parametrize(("version", "sends"), [(5, False), (6, True)])
def test_signals_are_refused_where_landlock_does_not_keep_them_in(
    places: Places, monkeypatch: pytest.MonkeyPatch, version: int, sends: bool
) -> None:
    """The supervisor is of the same user: whoever could end it would be rid of every limit."""
    told: list[bool] = []

    def program(*_: Any, signals: bool, **__: Any) -> bytes:
        told.append(signals)
        return b""

    monkeypatch.setattr(module, "seccomp_program", program)
    monkeypatch.setattr(module, "landlock_version", lambda: version)
    compose(Sandbox("landlock", RunLimits()), places)
    assert told == [sends]


def test_bubblewrap_has_namespaces_and_a_root_of_the_view(places: Places) -> None:
    """The order is what counts: temporary folders before what lies in them, read-only at last."""
    command = bubblewrap_command(
        "/usr/bin/bwrap",
        ["python", "x"],
        environment={"TZ": "UTC"},
        view=View(shown=("/usr",), listed=("/project",), links=(("/bin", "usr/bin"),)),
        read_only=map(str, places.read_only),
        writable=map(str, places.writable),
        folder=str(places.folder),
    )
    source, scratch = str(places.read_only[0]), str(places.folder)
    assert command == [
        "/usr/bin/bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc",
        "--unshare-uts", "--unshare-cgroup-try", "--uid", "1000", "--gid", "1000",
        "--hostname", "confined", "--cap-drop", "ALL", "--die-with-parent", "--new-session",
        "--clearenv", "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev",
        "--size", "268435456", "--tmpfs", "/dev/shm", "--remount-ro", "/dev",
        "--size", "268435456", "--tmpfs", "/tmp",
        "--setenv", "TZ", "UTC",
        "--dir", "/project", "--symlink", "usr/bin", "/bin",
        "--ro-bind-try", "/usr", "/usr", "--ro-bind-try", source, source,
        "--bind", scratch, scratch,
        "--remount-ro", "/", "--chdir", scratch, "--", "python", "x",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "level", "message"),
    [
        ("landlock_version", lambda: 0, "landlock", "landlock: expected a kernel that offers it"),
        ("find_bubblewrap", lambda: None, "bubblewrap", "bubblewrap: expected the program `bwrap`"),
        ("seccomp_program", lambda *_, **__: None, "landlock", "expected a processor whose system"),
    ],
)
def test_what_is_missing_is_named(
    places: Places, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, level: Any, message: str
) -> None:
    """A level that this machine does not have is never replaced by another one."""
    monkeypatch.setattr(module, name, value)
    with pytest.raises(ConfinementUnavailableError, match=message):
        compose(Sandbox(level, RunLimits()), places)
