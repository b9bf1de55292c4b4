"""The notebook of real packages, executed in kernels: equal bytes, and failures that say where."""

from __future__ import annotations

import base64
import getpass
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import nbformat
import pytest

from repropack._compare.notebooks import compare_notebooks, is_executed
from repropack._run.notebook import execute_notebook
from repropack._run.notebook_form import notebook_bytes
from repropack.build import build_package
from repropack.errors import CouldNotRunError
from repropack.unpack import unpack_package
from tests.support.experiment_sources import DATACLASS, configured, write_project
from tests.support.notebooks import notebook_of

pytest.importorskip("nbclient", reason="the extra `notebook` is not installed")
pytest.importorskip("ipykernel", reason="the extra `notebook` is not installed")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EXECUTE = """
import sys
from pathlib import Path
from repropack._run.notebook import execute_notebook
notebook, folder, scratch, output = map(Path, sys.argv[1:])
done = execute_notebook(notebook.read_bytes(), folder=folder, scratch=scratch)
output.write_bytes(done)
"""


@pytest.fixture(scope="module")
def lab(lab_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The replay lab's package, unpacked, with its notebook not executed."""
    folder = tmp_path_factory.mktemp("lab") / "package"
    unpack_package(lab_package, folder)
    return folder


@pytest.fixture(scope="module")
def executed(lab: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The lab's notebook, executed."""
    return execute_notebook(
        notebook_of(lab), folder=lab, scratch=tmp_path_factory.mktemp("scratch")
    )


def outputs(data: bytes) -> list[Any]:
    cells = nbformat.reads(data.decode(), as_version=4).cells
    return [output for cell in cells for output in cell.get("outputs", ())]


def texts(data: bytes) -> str:
    """Everything that is said in outputs, images left out; a stream may come in pieces."""
    parts = []
    for output in outputs(data):
        parts.append(output.get("text", ""))
        parts += [v for k, v in output.get("data", {}).items() if not k.startswith("image/")]
    return "".join(parts)


def test_every_assertion_of_the_lab_holds(executed: bytes) -> None:
    """It is valid, every code cell ran, and the last word is that everything is equal."""
    notebook = nbformat.reads(executed.decode(), as_version=4)
    nbformat.validate(notebook)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert is_executed(executed)
    assert "All assertions hold: 6 logs with 480 steps" in texts(executed)
    kinds = [kind for output in outputs(executed) for kind in output.get("data", {})]
    assert kinds.count("image/png") == 2
    assert kinds.count("text/markdown") == 4


def test_executed_by_another_caller_it_is_the_same_file(
    lab: Path, executed: bytes, tmp_path: Path
) -> None:
    """Another process with another folder, time zone, locale, hash seed, umask and home."""
    source, output = tmp_path / "source.ipynb", tmp_path / "out.ipynb"
    source.write_bytes(notebook_bytes(notebook_of(lab)))
    scratch = tmp_path / "elsewhere" / "scratch"
    scratch.mkdir(parents=True)
    strange = {
        "HOME": "/nowhere",
        "USER": "somebody",
        "PYTHONHASHSEED": "12345",
        "TZ": "Asia/Kathmandu",
        "LANG": "tr_TR.UTF-8",
        "LC_ALL": "C",
        "MPLBACKEND": "pdf",
        "API_TOKEN": "secret",
    }
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(source), str(lab), str(scratch), str(output)],
        cwd=tmp_path / "elsewhere",
        env={**os.environ, **strange},
        umask=0o077,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert compare_notebooks(executed, output.read_bytes()) == ()
    assert output.read_bytes() == executed


def test_it_tells_nothing_of_the_machine(executed: bytes) -> None:
    """No path, user, host, address, time or version of the kernel."""
    said = texts(executed)
    whole = executed.decode()
    for place in (str(ROOT), sys.prefix, str(Path.home()), "/tmp", "/home/", "/Users/"):
        assert place not in whole
    for name in (getpass.getuser(), socket.gethostname()):
        assert not re.search(rf"\b{re.escape(name)}\b", said)
    assert not re.search(r"at 0x[0-9a-f]{6}", whole)
    assert "execution" not in {
        key for cell in json.loads(whole)["cells"] for key in cell["metadata"]
    }
    assert sys.version.split()[0] not in whole
    images = [output["data"].get("image/png") for output in outputs(executed) if "data" in output]
    assert not any(b"tEXt" in base64.b64decode(image) for image in images if image)


def test_a_package_whose_log_was_altered_fails(lab: Path, tmp_path: Path) -> None:
    """The error names the cell, the run, the step and the stage."""
    copy = tmp_path / "package"
    shutil.copytree(lab, copy)
    log = copy / "runs" / "sampler-reset" / "fingerprints.jsonl"
    lines = log.read_text("utf-8").splitlines(keepends=True)
    row = dict(json.loads(lines[-1])["stages"])["weights"]
    lines[-1] = lines[-1].replace(row, row[:-1] + ("0" if row[-1] != "0" else "1"), 1)
    log.write_text("".join(lines), "utf-8")
    expected = (
        r"notebook: cell \d+ failed: AssertionError: run sampler-reset: the log made here differs "
        r"from the recorded one in line 62 \(step 100, weights\)$"
    )
    with pytest.raises(CouldNotRunError, match=expected):
        execute_notebook(notebook_of(lab), folder=copy, scratch=tmp_path)


def test_a_users_own_project_has_one_too(tmp_path: Path) -> None:
    """A tiny experiment with a dataclass, a resume and a change of its configuration."""
    more = (
        '[record]\ncheckpoint-every = 2\nprinted = { loss = ".1f" }\n'
        '[[comparisons]]\nname = "resumed"\nresume-at = 2\nexpect = "identical"\n'
        '[[comparisons]]\nname = "faster"\nconfig = { rate = 0.75 }\n'
    )
    project = write_project(tmp_path / "project", configured("Config", DATACLASS), more=more)
    build_package(project, tmp_path / "package", directory=True)
    folder = tmp_path / "package"
    data = execute_notebook(notebook_of(folder), folder=folder, scratch=tmp_path)
    assert "All assertions hold: 3 logs" in texts(data)
    assert "First divergence from the reference: step 1 · weights." in texts(data)


@pytest.fixture(scope="module")
def bare_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with what the notebook needs and nothing of repropack."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, with_pip=True)
    needed = ["numpy", "matplotlib", "ipykernel", "nbclient"]
    done = subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", *needed],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode:
        pytest.skip(f"pip cannot install {' '.join(needed)}: {done.stderr.strip()[-200:]}")
    return folder / "bin" / "python"


def test_numpy_and_matplotlib_are_enough(
    lab: Path, executed: bytes, tmp_path: Path, bare_environment: Path
) -> None:
    """In a fresh environment, through nbclient alone, in the unpacked folder itself."""
    listed = subprocess.run(
        [bare_environment, "-m", "pip", "list"], capture_output=True, text=True, check=True
    ).stdout
    assert "repropack" not in listed
    assert "pydantic" not in listed
    folder = tmp_path / "package"
    shutil.copytree(lab, folder)
    (folder / "notebook.ipynb").write_bytes(notebook_bytes(notebook_of(lab)))
    program = (
        "import nbformat; from nbclient import NotebookClient\n"
        "notebook = nbformat.read('notebook.ipynb', as_version=4)\n"
        "NotebookClient(notebook, kernel_name='python3').execute()\n"
        "nbformat.write(notebook, 'notebook.ipynb')\n"
    )
    done = subprocess.run(
        [bare_environment, "-P", "-c", program],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert texts((folder / "notebook.ipynb").read_bytes()) == texts(executed)
