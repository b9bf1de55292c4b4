"""From a lean environment to a package with wheels, and from the package to that environment.

Wheels are packed again from what is installed here, so that no index is needed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from repropack._run.installers import find_pip, find_uv
from repropack.errors import UsageError
from repropack.verify import verify_package
from tests.support.experiment_sources import SOURCES, write_project
from tests.support.thinning import part_of
from tests.support.wheels import packed_again, requirements_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NOBODY = "http://127.0.0.1:9/"
RESUME = """[record]
checkpoint-every = 2
[[comparisons]]
name = "resume"
resume-at = 2
expect = "identical"
"""


class Lean:
    """An environment with repropack, what it needs, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.house, self.home = folder / "house", folder / "lean"
        self.house.mkdir()
        wheels = [
            packed_again(name, self.house)
            for name in sorted(requirements_of("repropack-replay") - {"repropack-replay"})
        ]
        self.count = len(wheels)
        subprocess.run(
            [sys.executable, "-I", "-m", "venv", "--without-pip", str(self.home)], check=True
        )
        self.python = self.home / "bin" / "python"
        uv, pip = find_uv(), find_pip()
        if uv is not None:
            install = [*uv.command, "--offline", "pip", "install", "--python", str(self.python)]
            install += ["--no-deps", "--no-cache"]
        elif pip is not None:
            install = [*pip.command, "--python", str(self.python), "install", "--no-compile"]
            install += ["--no-deps"]
        else:
            pytest.skip("needs uv or pip")
        subprocess.run([*install, "-q", "--no-index", *map(str, wheels)], check=True)
        (site,) = self.home.glob("lib/python*/site-packages")
        (site / "repropack.pth").write_text(f"{ROOT}\n")
        own = site / "repropack_replay-0.1.0.dist-info"
        own.mkdir()
        (own / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: repropack-replay\nVersion: 0.1.0\n"
        )

    def call(
        self, folder: Path, *arguments: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Call the program, with no index but what ``variables`` say."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        environment = {**kept, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", **variables}
        environment["UV_CACHE_DIR"] = str(folder / "cache")
        return subprocess.run(
            [str(self.python), "-P", "-m", "repropack", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Lean:
    """A lean environment."""
    return Lean(tmp_path_factory.mktemp("lean"))


@pytest.fixture(scope="module")
def packed(lean: Lean, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with wheels, built there by pip, from a folder of wheels."""
    folder = tmp_path_factory.mktemp("packed")
    if find_pip() is None:
        pytest.skip("needs pip, to fetch wheels")
    write_project(folder / "project", SOURCES["calm"], more=RESUME)
    arguments = ("build", "project", "-o", "a.zip", "--unexecuted-notebook", "--with-wheels")
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(lean.house), "UV_NO_INDEX": "1"}
    done = lean.call(folder, *arguments, **index)
    assert done.returncode == 0, done.stderr
    assert f"Locked were {lean.count} distributions, and their wheels packed." in done.stdout
    return folder / "a.zip"


@pytest.fixture(scope="module")
def locked(lean: Lean, packed: Path) -> Path:
    """The same package with a lock alone."""
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(lean.house), "UV_NO_INDEX": "1"}
    arguments = ("build", "project", "-o", "b.zip", "--unexecuted-notebook", "--lock")
    done = lean.call(packed.parent, *arguments, **index)
    assert done.returncode == 0, done.stderr
    return packed.parent / "b.zip"


def searching(name: str, folder: Path) -> str:
    """A search path on which uv is, or is not."""
    uv = find_uv()
    if name == "pip":
        return "/usr/bin:/bin"
    if uv is None:
        pytest.skip("needs uv")
    folder.mkdir()
    (folder / "uv").symlink_to(uv.command[0])
    return f"{folder}:/usr/bin:/bin"


def report_of(done: subprocess.CompletedProcess[str]) -> Any:
    """The report, or the reason for which no foreign code runs here."""
    report = json.loads(done.stdout)
    problem = report.get("problem") or {}
    if problem.get("code") == "confinement-unavailable":
        pytest.skip("needs bubblewrap or Landlock")
    return report


@pytest.mark.parametrize("name", part_of(["pip", "uv"]))
def test_packed_wheels_make_the_environment_again(
    name: str, lean: Lean, packed: Path, tmp_path: Path
) -> None:
    """Without any index, and byte for byte: only the origin of repropack itself is another."""
    path = searching(name, tmp_path / "bin")
    if name == "uv" and (lean.home / "bin" / "uv").exists():
        pytest.skip("needs uv on the search path alone")
    arguments = ("verify", str(packed), "--recreate-env", "--format", "json")
    nobody = {"PIP_INDEX_URL": NOBODY, "UV_DEFAULT_INDEX": NOBODY, "PATH": path}
    done = lean.call(tmp_path, *arguments, **nobody)
    report = report_of(done)
    assert report["verdict"] == "identical", report["problem"]
    assert done.returncode == 0
    used = report["used_environment"]
    assert (used["kind"], used["origin"], used["installer"], used["distributions"]) == (
        "recreated",
        "packed-wheels",
        name,
        lean.count,
    )
    assert used["installer_confined"] is (report["confinement"]["level"] == "bubblewrap")
    differing = [row["field"] for row in report["environment"]["differences"]]
    assert differing == []


def test_a_lock_alone_needs_an_index(lean: Lean, locked: Path, tmp_path: Path) -> None:
    """Where nobody answers there is no environment, and the report says which distribution."""
    arguments = ("verify", str(locked), "--recreate-env", "--format", "json")
    path = searching("pip", tmp_path / "bin")
    nobody = {"PIP_INDEX_URL": NOBODY, "PIP_RETRIES": "0", "PATH": path}
    done = lean.call(tmp_path, *arguments, **nobody)
    report = report_of(done)
    assert (report["verdict"], done.returncode) == ("could-not-run", 4)
    assert report["problem"]["message"].startswith("environment: distribution ")
    assert report["used_environment"] is None
    house = {"UV_NO_INDEX": "1", "UV_FIND_LINKS": str(lean.house), "PIP_NO_INDEX": "1"}
    house |= {"PIP_FIND_LINKS": str(lean.house), "PATH": os.environ["PATH"]}
    report = report_of(lean.call(tmp_path, *arguments, **house))
    assert (report["verdict"], report["used_environment"]["origin"]) == ("identical", "index")


def test_built_twice_it_is_the_same_lock(lean: Lean, packed: Path, locked: Path) -> None:
    """With wheels or without."""
    import zipfile

    with zipfile.ZipFile(packed) as one, zipfile.ZipFile(locked) as other:
        assert one.read("requirements.lock") == other.read("requirements.lock")
        assert {name for name in one.namelist() if name not in set(other.namelist())} == {
            "pylock.toml",
            *(f"wheels/{wheel.name}" for wheel in lean.house.iterdir()),
        }


def test_a_pylock_is_read_by_others(packed: Path, tmp_path: Path) -> None:
    """uv installs from it, offline, in the unpacked package."""
    import zipfile

    uv = find_uv()
    if uv is None:
        pytest.skip("needs uv")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path)
    subprocess.run(
        [sys.executable, "-I", "-m", "venv", "--without-pip", str(tmp_path / "e")], check=True
    )
    command = ["--offline", "--no-cache", "--no-config", "--preview", "pip", "sync", "-q"]
    python = str(tmp_path / "e" / "bin" / "python")
    subprocess.run(
        [*uv.command, *command, "--python", python, "pylock.toml"], cwd=tmp_path, check=True
    )
    told = subprocess.run(
        [python, "-c", "import numpy; print(numpy.__name__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "numpy\n"


def test_without_a_lock_there_is_no_answer(lab_package: Path) -> None:
    """And nothing is tried."""
    report = verify_package(lab_package, recreate_environment=True)
    assert (report.verdict, report.used_environment, report.confinement) == (
        "could-not-run",
        None,
        None,
    )
    assert report.problem is not None
    assert "requirements.lock" in report.problem.message


def test_a_notebook_is_of_the_present_environment(lab_package: Path) -> None:
    """So the two are not asked for together."""
    with pytest.raises(UsageError, match="observed both"):
        verify_package(lab_package, notebook=True, recreate_environment=True)
