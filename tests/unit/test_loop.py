"""``attach`` outside repropack: it counts steps, and does nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import repropack
from repropack.loop import JOB_VARIABLE, attach


@pytest.fixture(autouse=True)
def _outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(JOB_VARIABLE, raising=False)


def test_a_script_runs_as_it_would_without(capsys: pytest.CaptureFixture[str]):
    """Steps are counted from 1; stages and metrics go nowhere, whatever they are."""
    weights = np.zeros(2)
    odd: Any = object()
    run = repropack.attach(state={"weights": weights, "odd": [1]}, constants={"data": odd})
    made = []
    for step in run.steps(3):
        run.record("no name!", odd, of="nothing")
        run.metric("", odd)
        weights += step
        made.append(step)
    assert (run.attached, made, weights.tolist()) == (False, [1, 2, 3], [6.0, 6.0])
    assert capsys.readouterr() == ("", "")


def test_finish_ends_the_loop_outside_as_well():
    """A script makes the same steps whether it is recorded or not; a later loop is another."""
    run = attach(state={})
    made = []
    for step in run.steps(9):
        made.append(step)
        if step == 2:
            run.finish("enough")
    assert made == [1, 2]
    assert list(run.steps(3)) == [1, 2, 3]


def test_attaching_outside_imports_nothing():
    """Neither NumPy nor pydantic nor anything that records."""
    code = (
        "import sys, repropack; before = set(sys.modules); run = repropack.attach(state={}); "
        "list(run.steps(3)); print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={}
    )
    assert done.stdout == "['repropack.loop']\n"


def test_a_job_file_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch):
    """The variable of a run that has ended leads nowhere."""
    monkeypatch.setenv(JOB_VARIABLE, "/no/such/job.json")
    with pytest.raises(repropack.RepropackError) as caught:
        attach(state={})
    assert caught.value.message == (
        "attach: the job file that REPROPACK_JOB names cannot be taken: No such file or directory"
    )


def test_a_job_file_of_another_release_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """It is taken, and nothing is made of it."""
    job = tmp_path / "job.json"
    job.write_text('{"job": {}, "pipe": 3}')
    monkeypatch.setenv(JOB_VARIABLE, str(job))
    with pytest.raises(repropack.ExperimentLoadError) as caught:
        attach(state={})
    assert caught.value.message == (
        "attach: expected a job file of this release of repropack, observed another"
    )
    assert not job.exists()
