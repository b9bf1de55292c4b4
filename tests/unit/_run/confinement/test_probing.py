"""A level is used where a program that tries to break out of it is really held."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repropack._format.limits import DEFAULT_RUN_LIMITS, RunLimits
from repropack._run.confinement import probing
from repropack._run.confinement import sandbox as sandbox_module
from repropack._run.confinement.probing import GUARANTEES, choose_sandbox, probe_level
from repropack.errors import ConfinementUnavailableError
from repropack.models.reports import Guarantee

HELD = (Guarantee(name="network", status="held"),)
UNFIT = ConfinementUnavailableError("bubblewrap: observed none", hint="install it")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    probe_level.cache_clear()
    yield
    probe_level.cache_clear()


def found(monkeypatch: pytest.MonkeyPatch, **levels: Any) -> None:
    """Let each level be what is said of it."""
    monkeypatch.setattr(probing, "probe_level", levels.__getitem__)


def test_the_process_that_a_probe_may_not_reach_ends_with_the_judge() -> None:
    """A judge that is killed cannot end it; its pipe closes all the same."""
    command = [sys.executable, "-I", "-S", "-c", probing._VICTIM]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as victim:
        assert victim.poll() is None
        assert victim.stdin is not None
        victim.stdin.close()
        assert victim.wait(30) == 0


def test_the_best_level_that_holds_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, bubblewrap=HELD, landlock=HELD)
    limits = RunLimits(max_run_seconds=5)
    chosen = choose_sandbox(None, limits)
    assert (chosen.level, chosen.limits, chosen.guarantees) == ("bubblewrap", limits, HELD)
    found(monkeypatch, bubblewrap=UNFIT, landlock=HELD)
    assert choose_sandbox(None, limits).level == "landlock"


def test_a_level_that_was_asked_for_is_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own reason is told, though another level would do."""
    found(monkeypatch, bubblewrap=UNFIT, landlock=HELD)
    with pytest.raises(ConfinementUnavailableError) as caught:
        choose_sandbox("bubblewrap", DEFAULT_RUN_LIMITS)
    assert (caught.value.message, caught.value.hint) == (UNFIT.message, UNFIT.hint)
    assert choose_sandbox("landlock", DEFAULT_RUN_LIMITS).level == "landlock"


def test_where_nothing_holds_every_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install, and how to go without."""
    found(monkeypatch, bubblewrap=UNFIT, landlock=ConfinementUnavailableError("landlock: none"))
    with pytest.raises(ConfinementUnavailableError) as caught:
        choose_sandbox(None, DEFAULT_RUN_LIMITS)
    assert caught.value.message == (
        "confinement: expected a way to confine foreign code, observed none: "
        "bubblewrap: observed none; landlock: none"
    )
    assert caught.value.hint == (
        "install it; `repropack check` looks at everything without running it, and --no-sandbox "
        "--trust PACKAGE-DIGEST runs this very package unconfined"
    )


def outcome(**succeeded: bool) -> dict[str, bool]:
    return {name: False for names in GUARANTEES.values() for name in names} | succeeded


@pytest.mark.parametrize(
    ("attempt", "guarantee"),
    [("secret-named", "file-names"), ("signal", "signals"), ("command-line", "process-names")],
)
def test_some_things_may_fail_and_are_said_so(
    monkeypatch: pytest.MonkeyPatch, attempt: str, guarantee: str
) -> None:
    monkeypatch.setattr(probing, "_try", lambda level, canaries: outcome(**{attempt: True}))
    guarantees = probe_level("landlock")
    assert isinstance(guarantees, tuple)
    assert {row.name: row.status for row in guarantees if row.status != "held"} == {
        guarantee: "not-held"
    }


@pytest.mark.parametrize(
    ("attempt", "guarantee"),
    [
        ("udp", "network"), ("abstract-socket", "local-sockets"), ("home-read", "home-files"),
        ("secret-read", "other-files"), ("outside-written", "writes"),
        ("judge-environment", "environment"), ("call-ptrace", "system-calls"),
        ("memory", "memory-limit"), ("too-many-processes", "process-limit"),
        ("left-running", "process-end"),
    ],
)  # fmt: skip
def test_a_level_that_does_not_hold_what_counts_is_unfit(
    monkeypatch: pytest.MonkeyPatch, attempt: str, guarantee: str
) -> None:
    monkeypatch.setattr(probing, "_try", lambda level, canaries: outcome(**{attempt: True}))
    unfit = probe_level("bubblewrap")
    assert isinstance(unfit, ConfinementUnavailableError)
    assert unfit.message == (
        f"bubblewrap: expected its probe to be confined, observed no hold on {guarantee}"
    )


def test_what_was_not_tried_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is no evidence."""
    told = {name: value for name, value in outcome().items() if name != "home-read"}
    monkeypatch.setattr(probing, "_try", lambda level, canaries: told)
    guarantees = probe_level("landlock")
    assert isinstance(guarantees, tuple)
    assert [row.name for row in guarantees if row.status == "not-checked"] == ["home-files"]


def fake_bubblewrap(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in bubblewrap's place."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sandbox_module, "find_bubblewrap", lambda: str(program))


def test_a_bubblewrap_that_confines_nothing_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The probe runs, and its canaries are reached: having the program proves nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "diary").write_text("secret", "utf-8")
    script = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'
    fake_bubblewrap(tmp_path, script, monkeypatch)
    unfit = probe_level("bubblewrap")
    assert isinstance(unfit, ConfinementUnavailableError)
    for name in ("network", "local-sockets", "home-files", "other-files", "writes", "signals"):
        if name != "signals":  # may fail at a level that is used all the same
            assert name in unfit.message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bwrap", "diary"]


@pytest.mark.parametrize(
    ("switch", "value", "remedy"),
    [
        ("apparmor_restrict_unprivileged_userns", "1", "AppArmor forbids user namespaces"),
        ("unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
        ("max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
        ("none", "", "a container may forbid namespaces"),
    ],
)
def test_a_bubblewrap_that_is_forbidden_is_told_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, switch: str, value: str, remedy: str
) -> None:
    """What the program printed, escaped, and which switch of this system is the cause."""
    (tmp_path / switch).write_text(f"{value}\n", "utf-8")
    monkeypatch.setattr(
        probing,
        "_SWITCHES",
        tuple((str(tmp_path / Path(place).name), bad, do) for place, bad, do in probing._SWITCHES),
    )
    script = "printf 'bwrap: \\033[31msetting up uid map: Permission denied\\n' >&2; exit 1"
    fake_bubblewrap(tmp_path, script, monkeypatch)
    unfit = probe_level("bubblewrap")
    assert isinstance(unfit, ConfinementUnavailableError)
    assert unfit.message == (
        "bubblewrap: expected its probe to run, observed: "
        "bwrap: \\x1b[31msetting up uid map: Permission denied"
    )
    assert unfit.hint is not None
    assert remedy in unfit.hint


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_a_level_of_this_machine_holds_all_that_counts(level: Any, tmp_path: Path) -> None:
    """Nothing in the home folder is written to find out."""
    guarantees = probe_level(level)
    if isinstance(guarantees, ConfinementUnavailableError):
        pytest.skip(f"needs {level}: {guarantees.message}")
    status = {row.name: row.status for row in guarantees}
    assert list(status) == list(GUARANTEES)
    lacking = {name for name, value in status.items() if value == "not-held"}
    assert lacking <= {"file-names", "process-names", "signals"}
    if level == "bubblewrap":
        assert lacking == set()
    assert json.dumps(status)


def test_a_long_temporary_folder_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket's path is short; with another the probe could not even try to reach it."""
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with probing._put_out_canaries() as canaries:
        assert canaries.seen()["datagram"] is False
        for name in ("named", "datagram"):
            assert len(canaries.job[name]) < 100
            assert Path(canaries.job[name]).is_socket()
    assert list(folder.iterdir()) == []
