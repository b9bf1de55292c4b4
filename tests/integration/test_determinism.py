"""Built twice it is the same file: whatever the caller's process, folder, clock and files are like.

Each build is a process of its own, started under one changed condition. What may change a byte of
the environment record, such as the number of threads, leaves the evidence digest alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.equal_files import assert_same_bytes
from tests.support.expected import EVIDENCE_DIGEST
from tests.support.experiments import TINY, write_project
from tests.support.thinning import part_of

pytestmark = pytest.mark.slow

BUILD = """
import json, sys
from repropack.build import build_package
project, output = sys.argv[1:]
report = build_package(project or None, output, unexecuted_notebook=bool(project))
print(json.dumps([report.package_digest, report.evidence_digest]))
"""
FAKE_CLOCK = """
import time
time.time = lambda: 1e9
time.time_ns = lambda: 10**18
time.localtime = time.gmtime = lambda *_: time.struct_time((1999, 12, 31, 23, 59, 59, 4, 365, 0))
"""
STRANGE_CALLER = {
    "HOME": "/nowhere",
    "HOSTNAME": "elsewhere",
    "LOGNAME": "somebody",
    "USER": "somebody",
    "PYTHONHASHSEED": "12345",
    "PYTHONUTF8": "0",
    "TZ": "Asia/Kathmandu",
    "LC_ALL": "C",
    "LANG": "tr_TR.UTF-8",
    "API_TOKEN": "secret",
    "MPLBACKEND": "pdf",
    "REPROPACK_ANYTHING": "1",
    "XDG_CACHE_HOME": "/nowhere/cache",
}


def build(
    project: Path | str,
    output: Path | str,
    *,
    variables: Mapping[str, str] | None = None,
    before: str = "",
    cwd: Path | None = None,
    umask: int = 0o022,
) -> list[str]:
    """Build in a process of its own; gives package digest and evidence digest."""
    done = subprocess.run(
        [sys.executable, "-c", before + BUILD, str(project), str(output)],
        env={**os.environ, **(variables or {})},
        cwd=cwd,
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    digests: list[str] = json.loads(done.stdout)
    return digests


COMPARISONS: tuple[dict[str, Any], ...] = (
    {"name": "resumed", "resume-at": 4, "expect": "identical"},
    {"name": "other", "config": {"factor": 2.0, "end": 5}},
)
CONFIG = {"factor": 1.25, "end": 0, "title": "naïve", "table": {"b": 1, "a": [1.5, "x"]}}
RECORD = {"checkpoint-every": 2, "keep": ["x"], "printed": {"loss": ".3f"}}


def make_project(folder: Path, *, reverse: bool = False) -> Path:
    """A project of several source files; the same tables and files in another order."""
    config, record = dict(CONFIG), dict(RECORD)
    if reverse:
        config = {**dict(reversed(config.items())), "table": {"a": [1.5, "x"], "b": 1}}
        record = dict(reversed(record.items()))
    project = write_project(folder, config=config, record=record, comparisons=COMPARISONS)
    names = ["alpha.py", "beta/__init__.py", "beta/gamma.py", "zeta.py", "Beta.py"]
    for name in reversed(names) if reverse else names:
        place = project / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"NAME = {name!r}\n", "utf-8")
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("project") / "tiny")


@pytest.fixture(scope="module")
def first(project: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The package as it was built the first time, under plain conditions."""
    path = tmp_path_factory.mktemp("first") / "tiny.zip"
    build(project, path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "condition",
    part_of(
        [
            pytest.param({"variables": STRANGE_CALLER}, id="environment"),
            pytest.param({}, id="again"),
            pytest.param({"variables": {"PYTHONHASHSEED": "1"}}, id="hash-seed"),
            pytest.param({"umask": 0}, id="umask-000"),
            pytest.param({"before": FAKE_CLOCK}, id="clock"),
            pytest.param({"before": "import random; random.seed(1)"}, id="random"),
            pytest.param({"umask": 0o077}, id="umask-077"),
        ]
    ),
)
def test_the_callers_process_leaves_no_trace(
    project: Path, first: bytes, tmp_path: Path, condition: dict[str, Any]
) -> None:
    """Umask, variables, time zone, locale, hash seed, home and clock."""
    build(project, tmp_path / "tiny.zip", **condition)
    assert_same_bytes((tmp_path / "tiny.zip"), first)


def test_the_working_directory_leaves_no_trace(project: Path, first: bytes, tmp_path: Path) -> None:
    """Relative paths from another folder, and a folder beside with a module of a common name."""
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the working directory')")
    relative = os.path.relpath(project, tmp_path)
    build(relative, "built.zip", cwd=tmp_path, before="import sys; sys.path.remove('')\n")
    assert_same_bytes((tmp_path / "built.zip"), first)


def test_the_places_and_times_of_the_sources_leave_no_trace(
    project: Path, first: bytes, tmp_path: Path
) -> None:
    """A copy elsewhere, with a longer path, other times and other rights to read."""
    copy = tmp_path / "a much longer path, with blanks" / "renamed"
    shutil.copytree(project, copy)
    for place in copy.rglob("*"):
        os.utime(place, (0, 2_000_000_000))
        place.chmod(0o700 if place.is_dir() else 0o600)
    build(copy, tmp_path / "tiny.zip")
    assert_same_bytes((tmp_path / "tiny.zip"), first)


def test_the_order_of_tables_and_files_leaves_no_trace(first: bytes, tmp_path: Path) -> None:
    """Keys of the project file in another order, files created in another order."""
    project = make_project(tmp_path / "tiny", reverse=True)
    build(project, tmp_path / "tiny.zip")
    assert_same_bytes((tmp_path / "tiny.zip"), first)


def test_caches_beside_the_sources_are_not_packed(first: bytes, tmp_path: Path) -> None:
    """Byte code that a run, or another tool, left in the project folder."""
    project = make_project(tmp_path / "tiny")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(project)], check=True)
    assert (project / "__pycache__").is_dir()
    build(project, tmp_path / "tiny.zip")
    assert_same_bytes((tmp_path / "tiny.zip"), first)


def test_building_over_a_package_gives_the_same(
    project: Path, first: bytes, lab_package: Path, tmp_path: Path
) -> None:
    """What stood at the target before leaves no trace."""
    script = BUILD.replace("output, ", "output, force=True, ", 1)
    (tmp_path / "tiny.zip").write_bytes(lab_package.read_bytes())
    subprocess.run(
        [sys.executable, "-c", script, str(project), str(tmp_path / "tiny.zip")], check=True
    )
    assert_same_bytes((tmp_path / "tiny.zip"), first)


def test_threads_are_recorded_and_change_no_evidence(project: Path, tmp_path: Path) -> None:
    """The package says what it ran on; what it found is the same."""
    variables = [{"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "2"}]
    one, two = (
        build(project, tmp_path / f"{place}.zip", variables=changed)
        for place, changed in enumerate(variables)
    )
    assert one[0] != two[0]
    assert one[1] == two[1]


def test_a_changed_source_changes_the_bytes(first: bytes, tmp_path: Path) -> None:
    """The comparison of bytes above would notice."""
    project = make_project(tmp_path / "tiny")
    (project / "tiny.py").write_text(TINY + "# changed\n", "utf-8")
    build(project, tmp_path / "tiny.zip")
    assert (tmp_path / "tiny.zip").read_bytes() != first


@pytest.mark.slow
def test_the_lab_is_the_same_file_under_all_of_it(lab_package: Path, tmp_path: Path) -> None:
    """Every condition at once, against the one built in this process."""
    digests = build(
        "",
        "lab.zip",
        variables=STRANGE_CALLER,
        before=FAKE_CLOCK,
        cwd=tmp_path,
        umask=0o077,
    )
    assert digests[1] == EVIDENCE_DIGEST
    assert_same_bytes((tmp_path / "lab.zip"), lab_package)
