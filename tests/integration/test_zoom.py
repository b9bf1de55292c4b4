"""Looking at the step at which two runs part: stored, made again, narrowed, and repeated."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._cli.main import main
from repropack._compare.outcomes import compare_runs
from repropack._read.package import open_package
from repropack._repeating import repeat_apart
from repropack._run.documents import ARRAYS
from repropack._run.execute import Launcher
from repropack._run.repeat import RepeatedStep, repeat_step
from repropack._run.zoom import SeenStep
from repropack._zooming import Source, zoom_into
from repropack.errors import IntegrityError, UsageError
from repropack.models.plan import ComparisonPlan
from repropack.models.results import Divergence
from repropack.models.zoom import RanCode, Repetition, Zoom
from repropack.zoom import ZoomOptions, zoom_runs
from tests.support.experiment_sources import compare, experiment, make_launcher, opened
from tests.support.hostile import take_apart
from tests.support.loops import CALM, make_loop_launcher

pytestmark = pytest.mark.slow

FORGETFUL = experiment(
    """
    hidden = 0

    def update(self, trace):
        self.hidden += 1
        self.weights = self.weights + self.hidden
        if self.config.get("other") and self.count == 3:
            self.weights = self.weights + 1
    """
)
"""What its next step depends on is not in its state; with ``other`` its third step differs."""


def nothing_runs() -> Launcher:
    raise AssertionError("expected nothing to run")


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Launcher:
    """A reference of six steps, and one that resumes after the second."""
    launcher = make_launcher(tmp_path_factory.mktemp("forgetful"), FORGETFUL, steps=6)
    launcher.run_reference()
    compare(launcher, resume_at=2)
    return launcher


def look(
    launcher: Launcher, scratch: Path, comparison: ComparisonPlan, **options: Any
) -> tuple[Zoom, tuple[Any, ...]]:
    """Zoom into where the run ``other`` parts from the reference."""
    prepare = options.pop("prepare", lambda: launcher)
    scratch.mkdir()
    with opened(launcher, "other") as (reference, other), ExitStack() as stack:
        outcome = compare_runs(reference, other, comparison, launcher.plan.record)
        assert outcome.divergence is not None
        sources = (
            Source(reference, reference, prepare),
            Source(other, other, prepare, comparison),
        )
        found = zoom_into(outcome.divergence, *sources, scratch, stack, **options)
        stages = [side.stage("weights") for side in found.sides or ()]
        return found.zoom, tuple(stages)


RESUMED = ComparisonPlan(name="other", resume_at=2)


def test_a_replay_goes_back_until_it_gives_what_is_recorded(
    forgetful: Launcher, tmp_path: Path
) -> None:
    """The reference is made again from its first state, since from a checkpoint it parts too."""
    zoom, (left, right) = look(forgetful, tmp_path / "zoom", RESUMED)
    assert zoom.expected is not None
    assert zoom.observed is not None
    for side, run, start in ((zoom.expected, "reference", 0), (zoom.observed, "other", 2)):
        assert (side.run, side.from_checkpoint, side.reproduced) == (run, start, True)
        assert side.origin == "replay"
    first, *inputs = zoom.arrays
    assert (zoom.step, zoom.name, first.name, first.role) == (3, "weights", "weights", "diverging")
    np.testing.assert_array_equal(left - right, [2, 2, 2])
    assert first.difference is not None
    assert (first.difference.kind, first.difference.largest_absolute) == ("everything", 2.0)
    assert [(row.name, row.equal) for row in inputs] == [
        ("state:weights", True),
        ("state:count", True),
    ]
    assert zoom.problem is None


def test_a_run_that_does_not_come_out_again_is_called_so(
    forgetful: Launcher, tmp_path: Path
) -> None:
    """With other code the elements are of the replay, and not of the record."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "tiny_lab.py").write_text(FORGETFUL.replace("+= 1", "+= 10"), "utf-8")
    materials = replace(forgetful.materials, source=source)
    other = replace(forgetful, materials=materials)
    zoom, _ = look(forgetful, tmp_path / "zoom", RESUMED, prepare=lambda: other)
    assert zoom.expected is not None
    assert zoom.expected.reproduced is False


def test_what_is_stored_is_not_made_again(tmp_path: Path) -> None:
    """Kept stages of both runs are enough; with their inputs checkpoints are needed as well."""
    launcher = make_launcher(tmp_path, FORGETFUL, steps=4, keep=("weights",))
    launcher.run_reference()
    compare(launcher, resume_at=2)
    zoom, _ = look(launcher, tmp_path / "zoom", RESUMED, prepare=nothing_runs)
    assert zoom.expected is not None
    assert (zoom.expected.origin, zoom.expected.from_checkpoint) == ("stored", None)
    assert zoom.arrays[0].difference is not None
    zoom, _ = look(launcher, tmp_path / "whole", RESUMED, prepare=nothing_runs, whole=True)
    assert zoom.arrays[0].difference is not None  # step 2 has a checkpoint in both


def test_a_step_that_was_not_recorded_is_found(tmp_path: Path) -> None:
    """The logs have stages of every fourth step; made again, stages of the third differ.

    The metric of the third is recorded, and says nothing of what diverged.
    """
    record: Any = {"stages_every": 4, "state_every": 4, "checkpoint_every": 8}
    launcher = make_launcher(tmp_path, FORGETFUL, steps=8, **record)
    launcher.run_reference()
    compare(launcher, config={"other": True})
    comparison = ComparisonPlan(name="other", config={"other": True})
    zoom, (left, right) = look(launcher, tmp_path / "zoom", comparison)
    assert zoom.divergence is not None
    assert (zoom.step, zoom.divergence.step, zoom.divergence.last_equal_step) == (3, 3, 2)
    np.testing.assert_array_equal(right - left, [1, 1, 1])


def test_steps_that_were_not_recorded_are_found(tmp_path: Path) -> None:
    """Without a metric the logs part at the fourth step, and made again at the third."""
    source = FORGETFUL.replace('        trace.metric("loss", float(self.weights[0]))\n', "")
    record: Any = {"stages_every": 4, "state_every": 4, "checkpoint_every": 8}
    launcher = make_launcher(tmp_path, source, steps=4, **record)
    launcher.run_reference()
    compare(launcher, config={"other": True})
    comparison = ComparisonPlan(name="other", config={"other": True})
    with opened(launcher, "other") as (one, two):
        recorded = compare_runs(one, two, comparison, launcher.plan.record).divergence
    assert recorded is not None
    assert (recorded.step, recorded.last_equal_step) == (4, 0)
    zoom, (left, right) = look(launcher, tmp_path / "zoom", comparison)
    assert zoom.divergence is not None
    assert (zoom.step, zoom.name) == (3, "weights")
    np.testing.assert_array_equal(right - left, [1, 1, 1])


def test_looking_leaves_no_trace_in_the_log(forgetful: Launcher, tmp_path: Path) -> None:
    """A run that is looked at tells the same lines and stores the same checkpoints."""
    seen = SeenStep(4, tmp_path / "seen")
    looked = replace(forgetful, tree=tmp_path / "tree", zoom=seen)
    looked.run_reference()
    assert seen.taken
    with opened(forgetful) as (one,), opened(looked) as (two,):
        assert list(one.steps()) == list(two.steps())
        assert one.checkpoint_steps() == two.checkpoint_steps() == (0, 2, 4, 6)
        before, after = (seen.state(after=after) for after in (False, True))
        assert after.values == two.checkpoint(4)[1].values
    assert before.values == {"count": 3}


def test_a_step_is_repeated_from_one_state(forgetful: Launcher, tmp_path: Path) -> None:
    """What restoring does not put back shows in one process, and not between fresh ones."""
    launcher = replace(forgetful, tree=tmp_path / "tree")
    with opened(forgetful) as (reference,):
        _, before = reference.checkpoint(2)
        recorded = next(reference.steps(3))
    repetition = Repetition(run="reference", side="expected", step=3, name="weights")
    found = repeat_apart(repetition, launcher, None, before, recorded, 2)
    assert found.varies("one-process") is True
    assert found.varies("fresh-processes") is False
    assert found.varies("threads") is None
    assert [(group.variation, group.times) for group in found.groups[:2]] == [
        ("one-process", 2),
        ("fresh-processes", 2),
    ]
    by_name = {row.name: (row.distinct, row.as_recorded) for row in found.groups[0].results}
    assert by_name == {
        "weights": (2, False),  # what the restored state lacks begins anew
        "state:count": (1, True),
        "state:weights": (2, False),
    }


def test_a_variation_reaches_the_step(tmp_path: Path) -> None:
    """Threads and hash seed are what the step sees, each time."""
    source = experiment(
        """
        def update(self, trace):
            seen = os.environ["PYTHONHASHSEED"] + os.environ.get("OMP_NUM_THREADS", "9")
            self.weights = self.weights + int(seen)
        """
    )
    launcher = make_launcher(tmp_path, source, steps=1)
    launcher.run_reference()
    with opened(launcher) as (reference,):
        _, before = reference.checkpoint(0)
    step = RepeatedStep(1, before, {}, hash_seed=3)
    results = [
        repeat_step(launcher, step, 1, **options)[0].stages
        for options in ({"threads": 2}, {"threads": 2}, {"threads": 1}, {"hash_seed": 4})
    ]
    assert results[0] == results[1]
    assert len(set(results)) == 3


def test_a_loop_is_looked_at_and_repeated(tmp_path: Path) -> None:
    """A script with its own loop hands over a step too, and makes one again and again."""
    launcher = make_loop_launcher(tmp_path, CALM)
    seen = SeenStep(3, tmp_path / "seen")
    replace(launcher, zoom=seen).run_reference()
    noise = seen.stage("noise")
    assert noise is not None
    assert noise.shape == (3,)
    told = repeat_step(launcher, RepeatedStep(3, seen.state(after=False), {}), 3)
    with opened(launcher) as (reference,):
        recorded = next(reference.steps(3))
    assert [one.stages for one in told] == [recorded.stages] * 3


# ---------------------------------------------------------------- packages


def first_divergence(package: Path, run: str) -> Divergence:
    from repropack.diff_of_runs import diff_runs

    found = diff_runs(f"{package}::reference", f"{package}::{run}").divergence
    assert found is not None
    return found


@pytest.fixture(scope="module")
def at_batch(lab_package: Path) -> Divergence:
    return first_divergence(lab_package, "sampler-reset")


def test_a_log_without_its_package_holds_no_array(
    lab_package: Path, at_batch: Divergence, tmp_path: Path
) -> None:
    """That is said, and nothing runs."""
    log = tmp_path / "fingerprints.jsonl"
    log.write_bytes(b"{}\n")
    zoom, arrays = zoom_runs(log, lab_package, at_batch)
    assert zoom.problem == f"{log} is a log without its package: no array is known"
    assert (zoom.arrays, dict(arrays)) == ((), {})


def test_a_damaged_package_is_not_executed(
    lab_package: Path, at_batch: Divergence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything in it is checked before its code could run."""
    monkeypatch.setattr(Launcher, "run_comparison", lambda *given: nothing_runs())
    data = bytearray(lab_package.read_bytes())
    data[data.index(b"class ReplayLab")] ^= 1
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(data)
    with pytest.raises(IntegrityError):
        zoom_runs(f"{damaged}::reference", f"{damaged}::sampler-reset", at_batch)


def test_trust_is_in_one_of_the_two(lab_package: Path, at_batch: Divergence) -> None:
    """A digest that is neither's is a mistake, and nothing runs."""
    options = ZoomOptions(trust=frozenset({"sha256:" + "0" * 64}))
    with pytest.raises(UsageError, match="expected one of the two, observed sha256:000"):
        zoom_runs(lab_package, lab_package, at_batch, options)
    with pytest.raises(UsageError, match="repeat: expected 0 to 1000, observed 1001"):
        zoom_runs(lab_package, lab_package, at_batch, ZoomOptions(repeat=1001))


def test_each_package_is_trusted_by_its_own_digest(
    lab_package: Path, at_batch: Divergence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the other may is not changed by it; and what ran is told, also to repeat a step."""
    monkeypatch.setattr("repropack.zoom.repeat_apart", lambda repetition, *given: repetition)
    forgery = take_apart(lab_package)
    forgery.files["README.md"] += b"\n"
    other = forgery.write_zip(tmp_path / "other.zip")
    with open_package(other) as package:
        trust = frozenset({package.package_digest})
    zoom, _ = zoom_runs(
        f"{lab_package}::reference",
        f"{other}::sampler-reset",
        at_batch,
        ZoomOptions(trust=trust, repeat=1),
    )
    assert zoom.ran == (
        RanCode(sides=("expected",), level="none", reason="shipped-source"),
        RanCode(sides=("observed",), level="none", reason="trusted"),
    )
    assert zoom.repetition is not None


def words(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_diff_zooms_and_keeps_the_arrays(
    lab_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The batch was drawn by another state of the sampler; NumPy reads what is kept."""
    kept = tmp_path / "kept.npz"
    sides = [f"{lab_package}::runs/reference", f"{lab_package}::runs/sampler-reset"]
    assert main(["diff", *sides, "--zoom", "--save", str(kept)]) == 1
    text = words(capsys)
    assert "elements: batch: all 64 elements, at most 441.0 batch[0] expected 42" in text
    assert "made of: state:sampler/state/state/$int: expected" in text
    assert "not confined (repropack ships the source" in text
    assert ARRAYS.is_one(BytesIO(kept.read_bytes()))
    with np.load(kept) as arrays:
        assert sorted(arrays) == ["left.batch", "right.batch"]
        assert (arrays["left.batch"][0], arrays["right.batch"][0]) == (42, 140)


def test_a_file_that_would_be_empty_is_not_written(
    lab_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs that do not part have no arrays to keep, and that is said."""
    kept = tmp_path / "kept.npz"
    sides = [f"{lab_package}::reference", f"{lab_package}::full-checkpoint"]
    assert main(["diff", *sides, "--zoom", "--save", str(kept)]) == 0
    assert f"--save: no array is known, so {kept} is not written" in capsys.readouterr().err
    assert not kept.exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--save", "x.npz"], "--save: expected --zoom beside it, observed none"),
        (["--repeat", "2"], "--repeat: expected --zoom beside it, observed none"),
        (["--no-sandbox"], "--no-sandbox: expected --zoom beside it, observed none"),
        (["--zoom", "--fast"], "expected --fast or --zoom, observed both"),
        (["--zoom", "--repeat", "0"], "expected 1 to 1000, observed '0'"),
        (["--zoom", "--no-sandbox"], "expected --no-sandbox and --trust together"),
        (["--zoom", "--save", "{package}"], "expected a zoom file outside the package"),
    ],
)
def test_options_that_do_not_go_together(
    lab_package: Path, capsys: pytest.CaptureFixture[str], options: list[str], problem: str
) -> None:
    """Wrong use is told before anything runs."""
    sides = [f"{lab_package}::reference", f"{lab_package}::sampler-reset"]
    given = [option.format(package=lab_package) for option in options]
    assert main(["diff", *sides, *given]) == 2
    assert problem in " ".join(capsys.readouterr().err.split())


def test_files_of_arrays_are_compared_by_diff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is run for them, so that there is nothing to zoom into."""
    for name, value in (("a", 0.0), ("b", -0.0)):
        np.savez(tmp_path / f"{name}.npz", w=np.full(2, value))
    paths = [str(tmp_path / f"{name}.npz") for name in "ab"]
    assert main(["diff", *paths]) == 1
    assert "array: w: 2 of 2 elements, in the sign of zero alone" in words(capsys)
    assert main(["diff", paths[0], paths[0]]) == 0
    assert main(["diff", *paths, "--zoom"]) == 2
    assert "--zoom: expected runs, observed two files of arrays" in capsys.readouterr().err
    (tmp_path / "b.npz").write_bytes(b"none")
    assert main(["diff", *paths]) == 3
