"""Runs of a plan: each in a world of its own, resumed exactly, and held against one another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._read.equality import hold_against
from repropack._run.execute import Launcher
from repropack.errors import ExperimentLoadError, StateError, StepError, UsageError
from repropack.models.reports import RunClaim, RunVerification
from tests.support.experiment_sources import SOURCES, compare, make_launcher, opened, run_reference

pytestmark = pytest.mark.slow


def held(
    launcher: Launcher, claim: RunClaim = "exact-resume", /, **intervention: Any
) -> RunVerification:
    """Run a comparison and hold it against the reference, byte for byte."""
    compare(launcher, **intervention)
    with opened(launcher, "other") as (reference, other):
        return hold_against(reference, reference, other, claim)


@pytest.mark.parametrize("name", ["constant", "generators", "live-views"])
@pytest.mark.parametrize(
    "intervention", [{"hash_seed": 1}, {"resume_at": 2}], ids=["new", "resume"]
)
def test_a_good_experiment_is_repeated_and_resumed_exactly(
    tmp_path: Path, name: str, intervention: dict[str, Any]
):
    """Every line, checkpoint and final array of the second run is that of the first."""
    launcher, _ = run_reference(tmp_path, name)
    found = held(launcher, **intervention)
    assert (found.equal, found.divergence, found.problems) == (True, None, ())
    assert found.lines_compared == 4 - (intervention.get("resume_at") or 0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("evaluates", {"checkpoint_every": 3, "steps": 7}),
        ("calm", {"checkpoint_every": 3, "stages_every": 2, "steps": 7}),
        ("calm", {"checkpoint_every": 3, "state_every": 2, "steps": 7}),
        ("evaluates", {"checkpoint_every": 3, "steps": 7, "keep": ("weights",)}),
        ("finishes", {"checkpoint_every": 2, "steps": 7}),
    ],
    ids=["seldom-stage", "stages-every", "state-every", "kept", "finish"],
)
def test_an_exact_resume_ends_with_the_references_chain(
    tmp_path: Path, name: str, options: dict[str, Any]
):
    """Whatever is recorded at which steps, a resumed run writes the reference's own lines."""
    launcher, _ = run_reference(tmp_path, name, **options)
    resume_at = options["checkpoint_every"]
    found = held(launcher, resume_at=resume_at)
    with opened(launcher, "other") as (reference, other):
        expected = [line.chain for line in reference.steps()][resume_at:]
        assert [line.chain for line in other.steps()] == expected
        assert other.header.stages == reference.header.stages
    assert found.equal


@pytest.mark.parametrize(
    ("name", "intervention"),
    [("reads-clock", {}), ("set-order", {"hash_seed": 1})],
)
def test_an_experiment_that_cannot_be_repeated_is_caught_at_step_one(
    tmp_path: Path, name: str, intervention: dict[str, Any]
):
    """Clock and order of sets show as another output of equal inputs, at the first step."""
    launcher, _ = run_reference(tmp_path, name)
    found = held(launcher, "independent-replay", **intervention)
    assert not found.equal
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.step) == ("output", 1)
    assert found.divergence.stage == "weights"
    assert found.final_arrays.differing == ("weights",)


def test_an_order_of_sets_is_not_seen_under_one_hash_seed(tmp_path: Path):
    """Two runs under one hash seed agree: it takes another seed to find the fault."""
    launcher, _ = run_reference(tmp_path, "set-order")
    assert held(launcher, "independent-replay").equal


def test_state_that_is_not_stored_is_caught_where_the_run_resumes(tmp_path: Path):
    """A forgotten momentum differs at the first resumed step, at the stage that shows it."""
    launcher, _ = run_reference(tmp_path, "forgets")
    found = held(launcher, resume_at=2)
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.step) == ("output", 3)
    assert (found.divergence.stage, found.divergence.last_equal_step) == ("momentum", 2)
    assert found.problems == ()


def test_state_that_is_not_loaded_is_caught_before_the_first_step(tmp_path: Path):
    """A component that ``load_state_dict`` leaves out is named by the state at the start."""
    launcher, _ = run_reference(tmp_path, "loads-half")
    found = held(launcher, resume_at=2)
    assert found.problems[0] == "state after step 2: component 'count' differs"
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.step) == ("state", 3)
    assert found.divergence.stage == "weights"
    assert [item.name for item in found.divergence.inputs if item.equal is False] == ["state:count"]


def test_the_seed_reaches_the_experiment(tmp_path: Path):
    """Two seeds give two runs, unless the experiment ignores them."""
    chains = {}
    for name in ("calm", "ignores-seed"):
        for seed in (7, 8):
            launcher, _ = run_reference(tmp_path / f"{name}-{seed}", name, seed=seed)
            with opened(launcher) as (reference,):
                chains[name, seed] = [line.chain for line in reference.steps()]
    assert chains["calm", 7] != chains["calm", 8]
    assert chains["ignores-seed", 7] == chains["ignores-seed", 8]


def test_a_run_sees_nothing_of_an_earlier_one(tmp_path: Path):
    """What a run leaves beside its source is not there for the next one, nor in the source."""
    launcher, _ = run_reference(tmp_path, "leaves-a-trace")
    assert held(launcher, "independent-replay").equal
    assert [path.name for path in launcher.materials.source.iterdir()] == ["tiny_lab.py"]


def test_a_reset_component_starts_from_its_first_value(tmp_path: Path):
    """Reset components are those of checkpoint 0, the others those of the step resumed at."""
    launcher, _ = run_reference(tmp_path, "calm")
    found = held(launcher, "comparison", resume_at=2, reset=("weights",))
    with opened(launcher, "other") as (reference, other):
        initial, middle = reference.checkpoint(0)[1], reference.checkpoint(2)[1]
        start = other.checkpoint(2)[1]
    np.testing.assert_array_equal(start.arrays["weights"], initial.arrays["weights"])
    assert start.values["count"] == middle.values["count"] == 2
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.step) == ("state", 3)


def test_a_component_that_is_not_there_cannot_be_reset(tmp_path: Path):
    """The message names the comparison and the components that there are."""
    launcher, _ = run_reference(tmp_path, "calm")
    with pytest.raises(StateError) as caught:
        compare(launcher, resume_at=2, reset=("adam",))
    assert caught.value.message == (
        "'adam': is to be reset by comparison 'other': expected one of the components "
        "count, weights"
    )
    assert list(launcher.scratch.iterdir()) == []


def test_a_run_cannot_resume_where_nothing_is_stored(tmp_path: Path):
    """A step without a checkpoint is wrong use, and the stored ones are named."""
    launcher, _ = run_reference(tmp_path, "finishes", steps=9)
    with pytest.raises(UsageError) as caught:
        compare(launcher, resume_at=6)
    assert caught.value.message == (
        "run 'reference': no checkpoint after step 6: expected one of 0, 2, 3"
    )


def test_configuration_of_a_comparison_replaces_single_values(tmp_path: Path):
    """A comparison changes what it names and leaves the rest."""
    launcher = make_launcher(tmp_path, SOURCES["calm"], config={"a": 1, "b": 2})
    launcher.run_reference()
    assert compare(launcher, config={"b": 3}).config == {"a": 1, "b": 3}


def test_progress_is_told_for_every_step(tmp_path: Path):
    """The run's name, the step and the last step planned, once a step, when it is in the log."""
    seen: list[tuple[str, int, int]] = []
    launcher = make_launcher(tmp_path, SOURCES["finishes"], steps=9)
    object.__setattr__(launcher, "on_step", lambda *told: seen.append(told))
    launcher.run_reference()
    assert seen == [("reference", 1, 9), ("reference", 2, 9), ("reference", 3, 9)]


def test_a_failed_run_leaves_its_log_and_nothing_else(tmp_path: Path):
    """What was recorded before the failure is there to be read; the worker's files are gone."""
    launcher = make_launcher(tmp_path, SOURCES["raises"])
    with pytest.raises(StepError):
        launcher.run_reference()
    log = (launcher.tree / "runs/reference/fingerprints.jsonl").read_text("utf-8")
    assert log.count("\n") == 3
    assert list(launcher.scratch.iterdir()) == []


def test_relative_folders_are_taken_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The worker's own working directory does not change what the judge's paths mean."""
    monkeypatch.chdir(tmp_path)
    launcher = make_launcher(Path(), SOURCES["calm"])
    assert launcher.run_reference().last_step == 4
    assert (tmp_path / "tree/runs/reference/fingerprints.jsonl").is_file()


def test_a_source_in_folders_is_imported_from_its_root(tmp_path: Path):
    """An entry point names its module from the root of the source."""
    launcher = make_launcher(tmp_path, "", entry_point="lab.tiny:Experiment")
    (tmp_path / "source/lab").mkdir()
    (tmp_path / "source/lab/tiny.py").write_text(SOURCES["calm"], "utf-8")
    assert launcher.run_reference().last_step == 4
    (tmp_path / "source/lab/tiny.py").unlink()
    with pytest.raises(ExperimentLoadError, match="No module named 'lab"):
        launcher.run_reference("again")
