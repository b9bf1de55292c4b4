"""Notebooks of commands and loops, executed by ``build`` and again by ``verify --notebook``."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from repropack._run.confinement.consent import Consent
from repropack.build import build_package
from repropack.errors import CouldNotRunError, UsageError
from repropack.unpack import unpack_package
from repropack.verify import verify_package
from tests.support.scripts import COMMAND, LOOP, LOOP_COMMAND, SCRIPT, write_script

pytest.importorskip("nbclient", reason="the extra `notebook` is not installed")
pytest.importorskip("ipykernel", reason="the extra `notebook` is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.notebook]

HELD = '[{ path = "data/table.csv", include = false, location = "on request" }]'


def said(package: Path) -> str:
    """Everything that the packaged notebook printed or showed as text."""
    notebook = nbformat.reads((package / "notebook.ipynb").read_text("utf-8"), as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "\n".join(
        output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in outputs
    )


@pytest.mark.parametrize(
    ("script", "experiment", "last"),
    [
        (SCRIPT, COMMAND, "All assertions hold: 3 runs wrote 12 outputs again"),
        (LOOP, LOOP_COMMAND, "All assertions hold: 3 recorded logs with 12 steps agree"),
    ],
    ids=["command", "loop"],
)
def test_a_notebook_is_executed_twice_with_the_same_words(
    tmp_path: Path, script: str, experiment: str, last: str
) -> None:
    """By ``build``, and by ``verify`` in another folder; nothing of either place is in it."""
    project = write_script(tmp_path / "project", script, experiment)
    report = build_package(project, tmp_path / "package", directory=True)
    told = said(tmp_path / "package")
    assert last in told
    assert str(tmp_path) not in told
    trusted = Consent(trust=report.package_digest)
    found = verify_package(tmp_path / "package", notebook=True, consent=trusted)
    assert found.verdict == "identical"
    assert found.notebook is not None
    assert (found.notebook.differences, found.notebook.images) == ((), ())
    beside = "what the command does besides writing its outputs"
    assert (beside in found.not_verified) is (script is SCRIPT)
    assert any(text.startswith("resuming") for text in found.not_verified) is (script is LOOP)


def test_an_input_that_is_held_elsewhere_is_there_for_the_notebook_alone(tmp_path: Path) -> None:
    """The notebook runs with it, and the package does not hold it."""
    project = write_script(tmp_path / "project", experiment=COMMAND.replace('["data/*.csv"]', HELD))
    build_package(project, tmp_path / "package.zip")
    unpack_package(tmp_path / "package.zip", tmp_path / "package")
    assert "All assertions hold: 3 runs wrote 12 outputs again" in said(tmp_path / "package")
    assert not (tmp_path / "package" / "inputs").exists()
    with pytest.raises(UsageError) as caught:
        unpack_package(tmp_path / "package.zip", tmp_path / "inputs", ["inputs"])
    assert caught.value.message == (
        "entry 'inputs/data/table.csv': expected one that the package holds, observed one that is "
        "held by reference"
    )
    assert caught.value.hint == "where to get it: on request"
    shutil.rmtree(tmp_path / "package")
    build_package(project, tmp_path / "package", directory=True)
    assert not (tmp_path / "package" / "inputs").exists()


def test_an_output_that_is_never_the_same_stops_the_notebook(tmp_path: Path) -> None:
    """Unless a comparison of the plan shows it; the hint says how to go on without executing."""
    script = SCRIPT + 'open("out/found.log", "w").write(os.urandom(8).hex())\n'
    alone = COMMAND.partition("[[comparisons]]")[0]
    project = write_script(tmp_path / "project", script, alone)
    with pytest.raises(CouldNotRunError) as caught:
        build_package(project, tmp_path / "package.zip")
    assert caught.value.message.endswith(
        "AssertionError: run reference: output out/found.log is not the packaged one"
    )
    assert caught.value.hint is not None
    assert "--unexecuted-notebook packs the notebook without running it" in caught.value.hint
