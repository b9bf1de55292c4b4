"""Every hostile program, confined: what must come of it, and nothing more."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repropack._format.limits import MEBIBYTE, RunLimits
from repropack._read.package import open_package
from repropack._run.confinement.consent import Consent
from repropack._run.confinement.probing import probe_level
from repropack.build import build_package
from repropack.errors import ConfinementUnavailableError
from repropack.models.reports import VerificationReport
from repropack.verify import verify_package
from tests.support.experiment_sources import SOURCES, write_project
from tests.support.hostile import Forgery, take_apart
from tests.support.hostile_programs import HELD, PROGRAMS, Program
from tests.support.thinning import EVERY_CASE

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

LIMITS = RunLimits(
    max_run_seconds=8,
    max_run_memory_bytes=400 * MEBIBYTE,
    max_run_processes=60,
    max_run_scratch_bytes=24 * MEBIBYTE,
    max_run_files=600,
    max_run_depth=40,
)
LEVELS = ("bubblewrap", "landlock")
"""Whether every program is tried at both levels, also where it ends alike."""


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package that every program is packed into: it was recorded by a calm experiment."""
    folder = tmp_path_factory.mktemp("calm")
    build_package(write_project(folder / "project", SOURCES["calm"]), folder / "calm.zip")
    return folder / "calm.zip"


@pytest.fixture(scope="module")
def stranger(calm: Path) -> Forgery:
    return take_apart(calm)


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    require(name)
    return name


def tried() -> list[Any]:
    """Every program, and at which levels: those that end alike at both, at one of them in turn."""
    pairs = []
    for place, program in enumerate(PROGRAMS):
        alike = program.beside_landlock is None and not EVERY_CASE
        levels = (LEVELS[place % len(LEVELS)],) if alike else LEVELS
        pairs += [pytest.param(program, one, id=f"{one}-{program.name}") for one in levels]
    return pairs


def require(level: Any) -> None:
    found = probe_level(level)
    if isinstance(found, ConfinementUnavailableError):
        pytest.skip(f"needs {level}: {found.message}")


@pytest.fixture
def canaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What a program looks for; after it, nothing of that may have changed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for name in ("temporary", "outside", "home/.ssh"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("secret", "home/notes.txt", "home/.profile", "home/.ssh/id_ed25519"):
        (tmp_path / name).write_text("secret", "utf-8")
        (tmp_path / name).chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    signals: list[int] = []
    before = signal.signal(signal.SIGURG, lambda number, _: signals.append(number))
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        udp.bind(("127.0.0.1", 0))
        named.bind(str(tmp_path / "s"))
        abstract.bind(f"\0{tmp_path.name}-{os.getpid()}")
        for listener in (tcp, udp, named, abstract):
            listener.settimeout(0)
            if listener is not udp:
                listener.listen()
        yield {
            "secret": str(tmp_path / "secret"),
            "home": str(tmp_path / "home"),
            "outside": str(tmp_path / "outside"),
            "package": str(tmp_path / "package"),
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "named": str(tmp_path / "s"),
            "abstract": f"{tmp_path.name}-{os.getpid()}",
            "judge": os.getpid(),
            "group": os.getpgid(0),
            "variable": "HOME",  # which no worker has,
        }
        for listener in (tcp, named, abstract):
            with pytest.raises(BlockingIOError):
                listener.accept()
        with pytest.raises(BlockingIOError):
            udp.recv(1)
    signal.signal(signal.SIGURG, before)
    assert signals == []


def pack(stranger: Forgery, source: str, folder: Path) -> Path:
    """The calm package with another source, every digest right."""
    forgery = Forgery(dict(stranger.files), stranger.manifest, stranger.executables, {})
    forgery.files["source/tiny_lab.py"] = source.encode()
    return forgery.write_directory(folder)


def snapshot(folder: Path) -> dict[str, tuple[int, float, bytes]]:
    """Modes, times and bytes of all files below a folder, the package's and the sockets' apart."""
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_relative_to(folder / "package")
    }


def left_running(marker: str) -> list[str]:
    """Command lines of processes in whose environment the marker is, after a moment."""
    deadline = time.monotonic() + 5
    while (found := _with_marker(marker)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _with_marker(marker: str) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        if place.name == str(os.getpid()):
            continue
        try:
            if marker.encode() in (place / "environ").read_bytes():
                found.append((place / "cmdline").read_text("utf-8", "replace"))
        except OSError:
            continue
    return found


def verify(path: Path, level: Any) -> VerificationReport:
    return verify_package(
        path, runs=["reference"], consent=Consent(sandbox=level, run_limits=LIMITS)
    )


@pytest.mark.parametrize(("program", "at"), tried())
def test_a_hostile_program_gets_nowhere(
    program: Program,
    at: str,
    stranger: Forgery,
    canaries: dict[str, Any],
    tmp_path: Path,
) -> None:
    """It ends as expected, reaches no canary, changes no file, and leaves no process or folder."""
    require(at)
    package = pack(stranger, program.source(canaries), tmp_path / "package")
    before = snapshot(tmp_path)
    report = verify(package, at)
    expected = program.expected(at)
    if expected == HELD:
        assert (report.verdict, report.problem) == ("identical", None)
    else:
        assert report.verdict == "could-not-run"
        assert report.problem is not None
        assert expected in report.problem.message
    assert report.confinement is not None
    assert report.confinement.level == at
    assert snapshot(tmp_path) == before
    assert list((tmp_path / "temporary").iterdir()) == []
    assert left_running(str(tmp_path / "temporary")) == []


@pytest.mark.parametrize(
    "name",
    [
        "reads-a-secret", "reads-a-key", "lists-the-home", "reads-users", "reads-the-package",
        "looks-for-results", "edits-its-source", "listens", "reads-the-judges-variables",
        "reads-command-lines", "hides-memory", "points-to-a-secret",
    ],
)  # fmt: skip
def test_unconfined_a_program_gets_somewhere(
    name: str, stranger: Forgery, canaries: dict[str, Any], tmp_path: Path
) -> None:
    """What the programs above try does work where nothing holds them."""
    (program,) = (program for program in PROGRAMS if program.name == name)
    path = pack(stranger, program.source(canaries), tmp_path / "package")
    with open_package(path) as package:
        consent = Consent(trust=package.package_digest, run_limits=LIMITS)
    report = verify_package(path, runs=["reference"], consent=consent)
    assert report.verdict == "differs"
    assert report.runs[0].divergence is not None
    assert (report.runs[0].divergence.step, report.runs[0].divergence.stage) == (2, "weights")


def test_there_are_enough_programs() -> None:
    """At least forty, each with a name of its own."""
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert len(PROGRAMS) >= 100
