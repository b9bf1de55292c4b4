"""What holds for every test: a hermetic environment, Hypothesis profiles, no silent skip."""

from __future__ import annotations

import fcntl
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# ---------------------------------------------------------------- hypothesis

settings.register_profile(
    "ci",
    settings.get_profile("ci"),
    database=None,
    deadline=None,
    derandomize=True,
    max_examples=100,
    print_blob=True,
)
settings.register_profile("quick", settings.get_profile("default"), database=None, deadline=None)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE")
    or ("ci" if os.environ.get("CI", "").lower() == "true" else "quick")
)

# ---------------------------------------------------------------- hermetic environment

FIXED = {"TZ": "UTC", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "COLUMNS": "80"}

REMOVED = (
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "LANGUAGE",
    "MPLBACKEND",
    "MPLCONFIGDIR",
    "NO_COLOR",
    "PYTHONHASHSEED",
    "PYTHONSTARTUP",
    "PYTHONWARNINGS",
    "SOURCE_DATE_EPOCH",
)
REMOVED_PREFIXES = ("AWS_", "AZURE_", "GOOGLE_", "LC_", "REPROPACK_", "SSH_", "XDG_")
SECRET_WORDS = ("API_KEY", "APIKEY", "CREDENTIAL", "PASSWD", "PASSWORD", "SECRET", "TOKEN")

# Threads steer the bytes of a BLAS. A test meets what the machine had set when the tests were
# started, and nothing that a library has set since.
MACHINE_THREADS = {
    name: os.environ.get(name)
    for name in (
        "BLIS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    )
}


def is_removed(name: str) -> bool:
    """Tell whether an environment variable is kept from the tests."""
    return (
        name in REMOVED
        or name.startswith(REMOVED_PREFIXES)
        or any(word in name.upper() for word in SECRET_WORDS)
    )


def make_hermetic(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Bring the process's environment to the form that every test may rely on."""
    for name in [name for name in os.environ if is_removed(name)]:
        monkeypatch.delenv(name)
    for name, value in (FIXED | {"HOME": str(home)}).items():
        monkeypatch.setenv(name, value)
    for name, machine in MACHINE_THREADS.items():
        if machine is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, machine)
    time.tzset()


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home directory for the whole run, so that caches of fonts are made once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session", autouse=True)
def hermetic_session(home: Path) -> Iterator[None]:
    """What fixtures of a wide scope meet: they are made before any fixture of a test."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_hermetic(monkeypatch, home)
        yield


@pytest.fixture(autouse=True)
def hermetic(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What every test meets, whatever the tests before it did."""
    make_hermetic(monkeypatch, home)
    path = request.path.relative_to(request.config.rootpath).as_posix()
    if not MEASURE_WORKERS or path.startswith(UNMEASURED):
        for name in MEASURING:
            monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def lab_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The replay lab's package, a zip built once a session; read it, never write to it."""
    from tests.support.packages import build_lab

    return built_once("replay-lab", build_lab, tmp_path_factory)


@pytest.fixture(scope="session")
def lake_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A command's package whose author says all that archives ask for; as ``lab_package``."""
    from tests.support.described import build_lake

    return built_once("lake", build_lake, tmp_path_factory)


def built_once(
    name: str, build: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A package that the processes of a session share: whoever comes first builds it."""
    with shared_folder(name, tmp_path_factory) as folder:
        package = folder / f"{name}.zip"
        if not package.exists():
            build(tmp_path_factory.mktemp(name)).rename(package)
    return package


@contextmanager
def shared_folder(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of all processes of a session, which one of them has to itself for a while."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared-{name}"
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """The honest packages that hostile ones are made of, by name; never write to them."""
    from tests.hostile.corpus.bases import BUILDERS

    with shared_folder("bases", tmp_path_factory) as folder:
        return {name: build(folder) for name, build in BUILDERS.items()}


@pytest.fixture(autouse=True)
def quick_notebooks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds in this process pack the notebook unexecuted, but for tests marked ``notebook``.

    Executing it repeats every run of the plan. The lab of ``lab_package`` is executed.
    """
    executed = request.node.get_closest_marker("notebook") is not None
    if not executed and "repropack._assembling" in sys.modules:
        from tests.support.notebooks import as_if_executed

        monkeypatch.setattr("repropack._assembling.execute_notebook", as_if_executed)


# ---------------------------------------------------------------- coverage of workers

MEASURE_WORKERS = bool(os.environ.get("REPROPACK_MEASURE_WORKERS"))
"""Whether coverage follows into the processes that tests start, as `make coverage` asks for."""
MEASURING = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
UNMEASURED = ("tests/property/", "tests/unit/_present/", "tests/unit/test_checker.py")
"""Tests whose child processes show nothing that is not shown elsewhere, and take long measured."""


@pytest.fixture(scope="session", autouse=True)
def measured_workers() -> Iterator[None]:
    """Let coverage follow into workers, whose environment is built from nothing.

    Only where coverage measures: otherwise workers are started exactly as users' are.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        if MEASURE_WORKERS and any(name in os.environ for name in MEASURING):
            from repropack._run.variables import worker_environment

            monkeypatch.setattr(
                "repropack._run.launch.worker_environment",
                lambda *given, **named: (
                    worker_environment(*given, **named)
                    | {name: os.environ[name] for name in MEASURING if name in os.environ}
                ),
            )
        yield


# ---------------------------------------------------------------- no silent skip

NO_REASON = ("", "unconditional skip")


class SkipsNeedReasons:
    """Fails a run in which a test or module was skipped without a reason.

    Reports arrive in the process that decides the exit status, however many run the tests.
    """

    def __init__(self) -> None:
        self.unexplained: list[str] = []

    def _note(self, report: Any) -> None:
        if not report.skipped or hasattr(report, "wasxfail"):
            return
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if re.sub(r"^Skipped(: |$)", "", text).strip() in NO_REASON:
            self.unexplained.append(report.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._note(report)

    def pytest_collectreport(self, report: Any) -> None:
        self._note(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unexplained:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for nodeid in sorted(set(self.unexplained)):
            terminalreporter.write_line(f"ERROR {nodeid} was skipped without a reason", red=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    folder = config.rootpath / "tests" / "unit"
    for item in items:
        if item.path.is_relative_to(folder):
            item.add_marker("unit")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SkipsNeedReasons())
