"""Packages of scripts with their own loop: built, checked, verified confined, and continued."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repropack._format.layout import log_path
from repropack._format.limits import DEFAULT_RUN_LIMITS
from repropack._run.confinement.consent import Consent
from repropack._run.confinement.probing import probe_level
from repropack._run.confinement.sandbox import Sandbox
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import ConfinementUnavailableError, StateError
from repropack.verify import verify_package
from tests.support.equal_files import assert_same_bytes
from tests.support.loops import CALM, in_loop, make_loop_launcher

pytestmark = pytest.mark.slow

PROJECT = """\
[package]
name = "own-loop"
version = "1.0.0"
title = "A loop of its own"
license = "CC0-1.0"
date = 2026-11-30
authors = [{ name = "A. Tester" }]

[experiment]
command = ["python", "train.py", "{seed}"]
source = ["train.py"]
seed = 7
steps = 4

[record]
checkpoint-every = 2

[[comparisons]]
name = "resume"
resume-at = 2
expect = "identical"

[[comparisons]]
name = "reset"
resume-at = 2
reset = ["rng"]
expect = { diverges-at = 3, stage = "noise", component = "rng" }
"""


@pytest.fixture(params=["bubblewrap", "landlock"])
def level(request: pytest.FixtureRequest) -> Any:
    found = probe_level(request.param)
    if isinstance(found, ConfinementUnavailableError):
        pytest.skip(f"needs {request.param}: {found.message}")
    return request.param


def write_project(folder: Path, script: str = CALM) -> Path:
    folder.mkdir(parents=True)
    (folder / "repropack.toml").write_text(PROJECT, "utf-8")
    (folder / "train.py").write_text(script, "utf-8")
    return folder


def build(project: Path, target: Path, **options: Any) -> Any:
    return build_package(project, target, unexecuted_notebook=True, **options)


def test_a_loop_package_is_verified_confined(tmp_path: Path, level: Any) -> None:
    """Built with both expectations held, intact, and identical at either level."""
    target = tmp_path / "built.zip"
    assert build(write_project(tmp_path / "project"), target).expectations_held
    assert check_package(target).verdict == "intact"
    report = verify_package(target, consent=Consent(sandbox=level))
    assert report.verdict == "identical"
    assert [(row.run, row.equal) for row in report.runs] == [
        *(("reference", True), ("resume", True), ("reset", True))
    ]
    assert report.environment is not None
    assert report.environment.differences == ()


def test_a_loop_records_the_same_environment_inside_as_outside(tmp_path: Path, level: Any) -> None:
    """The script's own process is a child of the worker, and sees the libraries that it has."""
    records, logs = [], []
    for name, sandbox in (("out", Sandbox()), ("in", Sandbox(level, DEFAULT_RUN_LIMITS))):
        launcher = make_loop_launcher(tmp_path / name, CALM, sandbox=sandbox)
        records.append(launcher.run_reference().environment)
        logs.append((launcher.tree / log_path("reference")).read_bytes())
    assert records[0].thread_pools
    assert records[0] == records[1]
    assert logs[0] == logs[1]


@pytest.mark.parametrize("step", [1, 3])
def test_an_interrupted_loop_goes_on_to_the_same_package(tmp_path: Path, step: int) -> None:
    """From the checkpoint before, or from the beginning where there is none."""

    def interrupt(run: str, at: int, last: int) -> None:
        if (run, at) == ("reference", step):
            raise KeyboardInterrupt

    project = write_project(tmp_path / "project")
    whole, torn = tmp_path / "whole.zip", tmp_path / "torn.zip"
    build(project, whole)
    with pytest.raises(KeyboardInterrupt):
        build(project, torn, on_step=interrupt)
    report = build(project, torn, left_over="resume")
    after = [row.after_steps for row in report.continued if row.run == "reference"]
    assert after == ([] if step == 1 else [(2,)])
    assert_same_bytes(torn, whole)


def test_a_state_that_does_not_come_back_ends_the_build_before_its_run(tmp_path: Path) -> None:
    """Nothing was recorded, so nothing is kept."""
    script = in_loop("counters['made'] += 0").replace(
        '"counters": counters', '"counters": Counters()'
    )
    script = script.replace(
        "run = ",
        "class Counters:\n"
        "    def state_dict(self): return dict(counters)\n"
        "    def load_state_dict(self, state): pass\n\n\nrun = ",
        1,
    )
    project = write_project(tmp_path / "project", script)
    with pytest.raises(StateError) as caught:
        build(project, tmp_path / "built.zip")
    assert caught.value.message == (
        "'counters.made': differs after a step and restoring the first state: expected 0, "
        "observed 1 (tried before the run)"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["project"]
