"""Verifying packages of tiny experiments, as if their source were shipped.

The shipped lab cannot misbehave; these can. The rule that only shipped sources run is switched off
here, and only here: the sources are this folder's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repropack._cli.main import main
from repropack._run.confinement import consent
from repropack._run.execute import Launcher
from repropack.build import build_package
from repropack.errors import CouldNotRunError, DivergenceError, StepError, UsageError
from repropack.models.reports import RunVerification, VerificationReport
from repropack.verify import verify_package
from tests.support.experiments import TINY, write_project

pytestmark = pytest.mark.slow

COUNTING = TINY.replace(
    "    def step(self, trace):\n",
    """    def step(self, trace):
        import os, pathlib
        place = pathlib.Path(self.config["counter"])
        count = int(place.read_text()) if place.exists() else 0
        place.write_text(str(count + 1))
        if count >= self.config["sane"]:
            self.misbehave(count)
""",
)
"""Counts its steps in a file over all its processes, and misbehaves after ``sane`` of them."""
DRIFTING = COUNTING + "\n    def misbehave(self, count):\n        self.x = self.x + count\n"
SHIFTED = COUNTING + "\n    def misbehave(self, count):\n        self.x = self.x + 1\n"
RAISING = COUNTING + '\n    def misbehave(self, count):\n        raise ValueError("enough")\n'
FORGETFUL = TINY.replace("self.updates = 0\n", "self.updates = self.hidden = 0\n").replace(
    "self.updates += 1\n", "self.updates += 1\n        self.hidden += 1\n"
)
FORGETFUL = FORGETFUL.replace("self.x = self.x *", "self.x = self.hidden + self.x *")
"""Its state lacks what its next step depends on: a resume parts though it restores everything."""


@pytest.fixture(autouse=True)
def shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consent, "is_shipped", lambda package: True)
    monkeypatch.setattr(Launcher, "try_round_trip", lambda launcher: None)  # it makes a step


def verify(folder: Path, **project: Any) -> VerificationReport:
    """Build a project and verify the package."""
    build_package(write_project(folder / "project", **project), folder / "built.zip")
    return verify_package(folder / "built.zip")


def by_name(report: VerificationReport) -> dict[str, RunVerification]:
    return {run.run: run for run in report.runs}


def test_a_resume_is_added_where_the_plan_has_none(tmp_path: Path) -> None:
    """From a middle checkpoint; its lines are the reference's own, chain included."""
    report = verify(tmp_path, record={"checkpoint-every": 2, "stages-every": 3, "keep": ["x"]})
    assert report.verdict == "identical"
    assert [(run.run, run.claim, run.first_step) for run in report.runs] == [
        ("reference", "independent-replay", 1),
        ("resume-at-4", "exact-resume", 5),
    ]
    added = by_name(report)["resume-at-4"]
    assert (added.lines_compared, added.checkpoints_compared, added.kept_arrays_compared) == (
        6, 4, 3,
    )  # fmt: skip
    assert "resuming after steps other than 4" in report.not_verified
    report.raise_for_divergence()


def test_an_added_resume_has_a_name_of_its_own(tmp_path: Path) -> None:
    """Also beside a comparison that took the name it would have had."""
    report = verify(
        tmp_path,
        record={"checkpoint-every": 2},
        comparisons=[{"name": "resume-at-4", "resume-at": 2, "reset": ["x"]}],
    )
    assert report.verdict == "identical"
    assert [run.run for run in report.runs] == ["reference", "resume-at-4", "resume-at-4-2"]


def test_without_a_middle_checkpoint_nothing_is_said_of_resuming(tmp_path: Path) -> None:
    report = verify(tmp_path)
    assert [run.run for run in report.runs] == ["reference"]
    assert "resuming at all" in report.not_verified


def test_a_resume_that_parts_from_the_reference_is_no_exact_resume(tmp_path: Path) -> None:
    """It repeats what the package holds of it, and that is all it shows."""
    report = verify(
        tmp_path,
        source=FORGETFUL,
        record={"checkpoint-every": 5},
        comparisons=[{"name": "resumed", "resume-at": 5, "expect": {"diverges-at": 6}}],
    )
    assert report.verdict == "identical"
    assert by_name(report)["resumed"].claim == "comparison"
    assert "resuming at all" in report.not_verified


def test_a_package_that_says_that_an_expectation_failed_is_no_success(tmp_path: Path, capsys):
    """All of it is reproduced, the failed resume included; the status and a line say so."""
    build_package(
        write_project(
            tmp_path / "project",
            source=FORGETFUL,
            record={"checkpoint-every": 5},
            comparisons=[{"name": "resumed", "resume-at": 5, "expect": "identical"}],
        ),
        tmp_path / "built.zip",
    )
    report = verify_package(tmp_path / "built.zip")
    assert (report.verdict, report.expectations_failed) == ("identical", ("resumed",))
    assert main(["verify", str(tmp_path / "built.zip")]) == 1
    told = (
        "The package itself says that resumed does not come out as it expects: `repropack inspect` "
        "tells how."
    )
    assert told in " ".join(capsys.readouterr().out.split())
    assert main(["check", str(tmp_path / "built.zip")]) == 0
    assert told in " ".join(capsys.readouterr().out.split())
    assert main(["check", "--fast", str(tmp_path / "built.zip")]) == 0
    assert "The package itself" not in capsys.readouterr().out


def test_a_run_that_drifts_neither_equals_nor_repeats(tmp_path: Path) -> None:
    """A second local run, made only then, differs from the first one too."""
    config = {"counter": str(tmp_path / "count"), "sane": 10}
    report = verify(tmp_path, source=DRIFTING, config=config)
    assert report.verdict == "differs"
    (run,) = report.runs
    assert (run.equal, run.repeats) == (False, False)
    assert run.divergence is not None
    assert (run.divergence.step, run.divergence.stage) == (1, "x")
    assert run.arrays[0].array == "checkpoint.x"
    assert run.arrays[0].elements_differing == 3
    with pytest.raises(DivergenceError, match="expected identical, observed differs"):
        report.raise_for_divergence()


def test_a_run_that_differs_may_repeat(tmp_path: Path) -> None:
    """Equal to itself here, and to nothing that is recorded."""
    config = {"counter": str(tmp_path / "count"), "sane": 10}
    (run,) = verify(tmp_path, source=SHIFTED, config=config).runs
    assert (run.equal, run.repeats) == (False, True)


RANDOM_START = TINY.replace("self.updates = 0\n", "self.updates = 0\n        self.start()\n") + (
    "\n    def start(self):\n        import os\n        self.x = self.x + os.urandom(1)[0]\n"
)
"""It begins from another state each time, and goes on from a state exactly."""


def test_the_elements_of_a_run_that_began_otherwise_are_shown(tmp_path: Path) -> None:
    """From the packaged first state the recorded step comes out again, beside the one here."""
    report = verify(tmp_path, source=RANDOM_START, steps=2)
    (run,) = report.runs
    zoom = run.zoom
    assert zoom is not None
    assert zoom.expected is not None
    assert zoom.observed is not None
    for side in (zoom.expected, zoom.observed):
        assert (side.origin, side.from_checkpoint, side.reproduced) == ("replay", 0, True)
    assert [(row.name, row.role) for row in zoom.arrays if not row.equal] == [
        ("x", "diverging"),
        ("state:x", "input"),
    ]
    assert all(row.difference is not None for row in zoom.arrays[:1])


def test_elements_are_of_the_replays_where_nothing_repeats(tmp_path: Path) -> None:
    """Two runs here differ too: what is shown is called a replay's, and the verdict stands."""
    config = {"counter": str(tmp_path / "count"), "sane": 2}
    report = verify(tmp_path, source=DRIFTING, config=config, steps=2)
    (run,) = report.runs
    assert (report.verdict, run.repeats) == ("differs", False)
    assert run.zoom is not None
    assert run.zoom.expected is not None
    assert run.zoom.expected.reproduced is False
    assert run.zoom.arrays[0].name == "x"


def test_elements_that_are_not_stored_and_do_not_come_out_again(tmp_path: Path) -> None:
    """Only keeping the stage would show what another machine computed."""
    config = {"counter": str(tmp_path / "count"), "sane": 2}
    (run,) = verify(tmp_path, source=SHIFTED, config=config, steps=2).runs
    assert run.zoom is not None
    assert run.zoom.arrays == ()
    assert run.zoom.problem == (
        "step 1 of run 'reference' is not made again: making it again gives what the run here "
        "gave, and the package does not hold its arrays: keep, in [record], stores those of a stage"
    )


def test_a_zoom_is_left_out_where_it_is_not_wanted(tmp_path: Path) -> None:
    """Or where the elements are compared anyway, as those of the last step are."""
    config = {"counter": str(tmp_path / "count"), "sane": 2}
    project = write_project(tmp_path / "p", source=SHIFTED, config=config, steps=2)
    build_package(project, tmp_path / "built.zip")
    (run,) = verify_package(tmp_path / "built.zip", zoom=False).runs
    assert (run.equal, run.zoom) == (False, None)


def test_values_that_lie_far_apart_can_be_reported(tmp_path: Path) -> None:
    """A distance that no plain JSON integer holds is encoded, not lost."""
    config = {"counter": str(tmp_path / "count"), "sane": 3, "factor": 1e-9}
    (run,) = verify(tmp_path, source=SHIFTED, config=config, steps=3).runs
    assert run.divergence is not None
    assert run.arrays[0].largest_ulp == {"$int": "262185301848704499"}
    assert run.arrays[0].first[0].ulp == {"$int": "262185301848704499"}
    assert run.arrays[0].largest_absolute is not None


def test_what_is_known_is_kept_when_a_run_breaks_off(tmp_path: Path) -> None:
    """The reference was equal; the resume raised: no answer, and the evidence so far."""
    config = {"counter": str(tmp_path / "count"), "sane": 20}
    report = verify(tmp_path, source=RAISING, config=config, record={"checkpoint-every": 5})
    assert report.verdict == "could-not-run"
    assert report.problem is not None
    assert report.problem.code == StepError.code
    assert "enough" in report.problem.message
    assert [(run.run, run.equal) for run in report.runs] == [("reference", True)]


def test_a_second_run_that_breaks_off_loses_no_evidence(tmp_path: Path) -> None:
    """The first local run differed; that is told although its repetition raised."""
    source = COUNTING + (
        "\n    def misbehave(self, count):\n"
        "        if count >= 20:\n"
        '            raise ValueError("enough")\n'
        "        self.x = self.x + 1\n"
    )
    config = {"counter": str(tmp_path / "count"), "sane": 10}
    report = verify(tmp_path, source=source, config=config)
    assert report.verdict == "could-not-run"
    assert [(run.equal, run.repeats) for run in report.runs] == [(False, None)]


def test_runs_are_chosen_by_name(tmp_path: Path) -> None:
    """What was not executed is named; no such run, and no run at all, are wrong use."""
    comparisons = [{"name": "other", "config": {"factor": 2.0}}]
    build_package(write_project(tmp_path / "p", comparisons=comparisons), tmp_path / "built.zip")
    report = verify_package(tmp_path / "built.zip", runs=["other"])
    assert report.verdict == "identical"
    assert report.runs_requested == ("other",)
    assert [run.run for run in report.runs] == ["other"]
    assert "run 'reference' was not executed" in report.not_verified
    with pytest.raises(UsageError, match="no run named 'absent': expected one of reference, other"):
        verify_package(tmp_path / "built.zip", runs=["other", "absent"])
    with pytest.raises(UsageError, match="at least one run"):
        verify_package(tmp_path / "built.zip", runs=[])


def test_each_step_is_told(tmp_path: Path) -> None:
    """By run, step and last step planned."""
    build_package(write_project(tmp_path / "project", steps=2), tmp_path / "built.zip")
    told: list[tuple[str, int, int]] = []
    verify_package(tmp_path / "built.zip", on_step=lambda *step: told.append(step))
    assert told == [("reference", 1, 2), ("reference", 2, 2)]


def test_a_package_that_is_no_package_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "note.zip").write_bytes(b"not a zip")
    report = verify_package(tmp_path / "note.zip")
    assert (report.verdict, report.package, report.not_verified) == ("damaged", None, ())
    assert [fault.entry for fault in report.faults] == [str(tmp_path / "note.zip")]


def test_a_run_that_began_and_did_not_end_is_told(
    lab_package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its code was executed: that it was not would be untrue."""

    def ended(_: object) -> None:
        raise CouldNotRunError("run 'reference': the worker ended")

    monkeypatch.setattr("repropack.verify.Launcher.run_reference", ended)
    report = verify_package(lab_package)
    assert report.verdict == "could-not-run"
    assert report.not_verified[:2] == (
        "run 'reference' did not end",
        "run 'adam-reset' was not executed",
    )


def test_another_package_than_expected_is_not_executed(tmp_path: Path) -> None:
    build_package(write_project(tmp_path / "project"), tmp_path / "built.zip")
    report = verify_package(tmp_path / "built.zip", expect_digest="sha256:" + "0" * 64)
    assert (report.verdict, report.runs) == ("damaged", ())
