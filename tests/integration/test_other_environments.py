"""The lab and the examples in two environments: one evidence, where their bytes travel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from repropack._read.package import open_package
from repropack.check import check_package
from repropack.verify import verify_package
from tests.support.examples import EXAMPLES
from tests.support.expected import EVIDENCE_DIGEST
from tests.support.thinning import EVERY_CASE

pytestmark = [pytest.mark.slow, pytest.mark.notebook]

ROOT = Path(__file__).resolve().parents[2]
OTHERS = ("python3.14", "python3.13", "python3.12", "python3.11")
OTHER_VERSIONS = ("numpy==2.3.5", "matplotlib==3.10.7")
DESCRIBES_A_MACHINE = {
    "environment.json",
    "index.html",
    "notebook.ipynb",
    "ro-crate-metadata.json",
}
"""Beside the figures: what may differ where evidence is the same."""


def other_interpreter() -> str:
    """Another version of Python than this one where there is one, else this one."""
    for name in OTHERS:
        if name != f"python3.{sys.version_info.minor}":
            found = subprocess.run(
                [name, "-c", "import ensurepip, sys; print(sys.executable)"],
                capture_output=True,
                text=True,
                check=False,
            ) if _is_on_path(name) else None  # fmt: skip
            if found is not None and found.returncode == 0:
                return found.stdout.strip()
    return sys.executable


def _is_on_path(name: str) -> bool:
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return any((Path(folder) / name).is_file() for folder in folders)


@pytest.fixture(scope="module")
def other_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Another interpreter with another NumPy and matplotlib, and this repropack."""
    folder = tmp_path_factory.mktemp("other")
    subprocess.run([other_interpreter(), "-m", "venv", str(folder / "venv")], check=True)
    python = str(folder / "venv/bin/python")
    package = (
        ROOT if (ROOT / "pyproject.toml").is_file() and (ROOT / "repropack").is_dir() else None
    )
    if package is None:
        pytest.skip("the sources are out of the way: nothing to install elsewhere")
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", f"{package}[notebook]", *OTHER_VERSIONS],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"another environment cannot be installed here: {done.stderr[-300:]}")
    return python


@pytest.fixture(scope="module")
def other(other_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of the lab, built there."""
    folder = tmp_path_factory.mktemp("lab")
    target = folder / "lab.zip"
    subprocess.run(
        [other_python, "-P", "-m", "repropack", "build", "-o", str(target)], check=True, cwd=folder
    )
    return target


def test_the_evidence_is_the_same(other: Path) -> None:
    """Another NumPy, matplotlib and interpreter: the lab's bytes travel."""
    report = check_package(other)
    assert report.verdict == "intact"
    assert report.evidence_digest == EVIDENCE_DIGEST


def test_only_what_describes_the_machine_differs(other: Path, lab_package: Path) -> None:
    """Entry by entry: the record, the figures, the notebook, and nothing else."""
    with open_package(other) as left, open_package(lab_package) as right:
        digests = [
            {entry.path: entry.digest for entry in package.manifest.entries}
            for package in (left, right)
        ]
        versions = {row.name: row.version for row in left.environment.distributions}
    assert digests[0].keys() == digests[1].keys()
    differing = {path for path, digest in digests[0].items() if digests[1][path] != digest}
    figures = {path for path in digests[0] if path.startswith("figures/")}
    assert "environment.json" in differing
    assert differing - figures <= DESCRIBES_A_MACHINE
    assert f"numpy=={versions['numpy']}" == OTHER_VERSIONS[0]


def test_it_verifies_here_and_the_account_names_the_versions(other: Path) -> None:
    """Identical, with the environment's differences told, and the figures left alone."""
    report = verify_package(other)
    assert report.verdict == "identical"
    assert report.environment is not None
    assert "numpy.version" in [row.field for row in report.environment.differences]
    assert report.figures is not None
    assert report.figures.reason is not None
    assert "3.10.7" in report.figures.reason
    assert json.loads(report.model_dump_json())["verdict"] == "identical"


TRAVELLING = tuple(
    name
    for name, example in EXAMPLES.items()
    if example.evidence is not None and (EVERY_CASE or name == "own-loop")
)


@pytest.mark.parametrize("name", TRAVELLING)
def test_the_evidence_of_an_example_is_the_same(
    other_python: str, name: str, tmp_path: Path
) -> None:
    """Another NumPy and interpreter give the digest that ``tests.support.examples`` states."""
    target = tmp_path / f"{name}.zip"
    subprocess.run(
        [other_python, "-P", "-m", "repropack", "build", EXAMPLES[name].path, "-o", target],
        check=True,
        cwd=tmp_path,
    )
    assert check_package(target).evidence_digest == EXAMPLES[name].evidence
