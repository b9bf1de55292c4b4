"""The audit of small projects, whose missing state is known."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import pytest

from repropack._cli.main import main
from repropack._format.schemas import read_document
from repropack._run.documents import FIGURES
from repropack.audit import audit_project
from repropack.errors import ProjectError, UsageError
from repropack.models.audit import AuditedReset, AuditReport
from tests.support.experiment_sources import BEHAVING, LYING, experiment, write_project
from tests.support.loops import BEGIN, LOOP

FORGETFUL = experiment(
    """
    def __init__(self, config, seed):
        super().__init__(config, seed)
        import random
        random.seed(seed)
        self.momentum, self.cache, self.average = 0.0, {}, np.zeros(3)
        self.order = [3, 1, 2]

    def update(self, trace):
        import random
        self.momentum = 0.5 * self.momentum + 1.0
        self.cache[self.count] = True
        noise = np.array(random.random())
        trace.record("noise", noise, of=())
        trace.record("momentum", np.array(self.momentum), of=())
        self.weights = self.weights + self.momentum + noise
        self.average = 0.9 * self.average + 0.1 * self.weights

    def state_dict(self):
        return {**super().state_dict(), "ema": self.average, "fixed.a": 1, "fixed.b": self.order}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.average = state["ema"]
    """
)


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> AuditReport:
    """The audit of an experiment that leaves out its momentum and the generator of the process."""
    project = write_project(tmp_path_factory.mktemp("forgetful"), FORGETFUL, steps=6)
    plans: list[tuple[int, int]] = []
    report = audit_project(
        project, resume_at=(3,), on_plan=lambda runs, steps: plans.append((runs, steps))
    )
    assert plans == [(6, 6)]
    return report


def reset(report: AuditReport, component: str, value: str | None = None) -> AuditedReset:
    return next(one for one in report.resets if (one.component, one.value) == (component, value))


def test_a_resume_that_lacks_state_is_found_with_its_first_stage(forgetful: AuditReport):
    """The experiment repeats, and its state comes back; what follows is another run."""
    assert (forgetful.verdict, forgetful.round_trip) == ("differs", None)
    assert forgetful.repeat.identical
    (resume,) = forgetful.resumes
    assert (resume.resume_at, resume.identical, resume.start.differing) == (3, False, ())
    assert resume.divergence is not None
    assert (resume.divergence.step, resume.divergence.stage) == (4, "noise")
    assert resume.divergence.kind == "output"
    assert resume.repeats
    assert resume.differing_steps == ((4, 6),)


def test_what_may_hold_the_missing_state_is_named(forgetful: AuditReport):
    """The generator first, then the momentum, and a cache, which is no cause."""
    (resume,) = forgetful.resumes
    assert [(one.path, one.kind, one.reason) for one in resume.holders] == [
        ("random", "generator", "not-in-state"),
        ("self.momentum", "value", "not-in-state"),
        ("self.cache", "names", "not-in-state"),
    ]
    momentum = resume.holders[1]
    assert (momentum.changed_first, momentum.in_run, momentum.after_restore) == (1, "1.75", "0.0")
    assert [one.path for one in forgetful.changed] == ["random", "self.momentum", "self.cache"]


def test_each_part_of_the_state_is_put_back(forgetful: AuditReport):
    """What matters, what is only itself, and what never was another value."""
    weights = reset(forgetful, "weights")
    assert (weights.effect, weights.first_step, weights.resume_at) == ("matters", 4, 3)
    assert (weights.stages, weights.components) == (("weights",), ("ema",))
    (loss,) = weights.final_metrics
    assert loss.run != loss.reference
    ema = reset(forgetful, "ema")
    assert (ema.effect, ema.first_step, ema.differing_steps) == ("itself", None, ())
    assert [one.component for one in ema.final] == ["ema"]
    assert reset(forgetful, "count").effect == "itself"
    assert reset(forgetful, "fixed").effect == "unchanged"
    assert reset(forgetful, "fixed", "fixed.b").effect == "unchanged"
    assert forgetful.runs_made == 7


def test_a_calm_experiment_is_resumed_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """Status 0; text, JSON by its schema, and a figure; nothing is left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    project = write_project(tmp_path / "project", BEHAVING["generators"], steps=3)
    figure = tmp_path / "audit.svg"
    status = main(["audit", str(project), "--at", "1", "--format", "json", "--figure", str(figure)])
    captured = capsys.readouterr()
    assert status == 0
    assert captured.err.startswith("audit: 6 runs of up to 3 steps, each in its own process;")
    report = read_document(AuditReport, captured.out.encode(), where="stdout")
    assert report.verdict == "identical"
    assert [one.identical for one in report.resumes] == [True]
    assert report.changed == ()
    assert FIGURES[".svg"].is_one(BytesIO(figure.read_bytes()))
    assert list((tmp_path / "temporary").iterdir()) == []
    assert sorted(path.name for path in project.iterdir()) == ["repropack.toml", "tiny_lab.py"]


def test_an_experiment_that_does_not_repeat_is_told_first(tmp_path: Path):
    """No part of its state is put back, for nothing could be told apart from chance."""
    project = write_project(tmp_path, LYING["reads-clock"], steps=3)
    report = audit_project(project, resume_at=(1,))
    assert report.verdict == "differs"
    assert not report.repeat.identical
    assert report.repeat.divergence is not None
    assert (report.repeat.divergence.step, report.repeat.divergence.stage) == (1, "weights")
    assert report.resets == ()


def test_a_state_that_does_not_load_is_told_with_its_name(tmp_path: Path):
    """And the resume that follows from it; the audit goes on."""
    project = write_project(tmp_path, LYING["loads-half"], steps=3)
    report = audit_project(project, resume_at=(1,), max_runs=3)
    assert report.round_trip is not None
    assert report.round_trip.message.startswith("'count': differs after a step")
    (resume,) = report.resumes
    assert resume.start.differing == ("count",)
    (holder,) = resume.holders
    assert (holder.path, holder.reason, holder.in_state) == (
        "self.count",
        "not-restored",
        ("count",),
    )
    assert {one.effect for one in report.resets} == {"not-run"}


def test_a_loop_is_audited_by_the_names_of_its_script(tmp_path: Path):
    """What is attached comes back, a list beside it does not; loop variables stand last."""
    script = (
        BEGIN.replace('counters = {"made": 0}', 'counters = {"made": 0}\nhidden = [0]')
        + LOOP
        + "    hidden[0] += 1\n    weights += hidden[0]\n"
    )
    (tmp_path / "train.py").write_text(script, "utf-8")
    project = write_project(tmp_path, "", steps=4, patterns='["train.py"]')
    toml = (project / "repropack.toml").read_text("utf-8")
    command = 'command = ["python", "train.py", "{seed}"]'
    toml = toml.replace('entry-point = "tiny_lab:Experiment"', command)
    (project / "repropack.toml").write_text(toml, "utf-8")
    report = audit_project(project, resume_at=(2,), max_runs=3)
    (resume,) = report.resumes
    assert resume.divergence is not None
    assert (resume.divergence.step, resume.divergence.kind) == (3, "state")
    assert [(one.path, one.set_by_each_step) for one in resume.holders] == [
        ("train.hidden", False),
        ("train.noise", True),
        ("train.step", True),
    ]


def test_a_command_without_steps_is_refused(tmp_path: Path):
    """With the reason, before anything runs."""
    project = write_project(tmp_path, "", patterns='["tiny_lab.py"]')
    toml = (project / "repropack.toml").read_text("utf-8")
    toml = toml.replace(
        'entry-point = "tiny_lab:Experiment"', 'command = ["python", "tiny_lab.py"]'
    )
    toml = toml.replace("steps = 4\n", 'outputs = ["out/*"]\n').split("[record]")[0]
    (project / "repropack.toml").write_text(toml, "utf-8")
    with pytest.raises(UsageError, match="observed a command that runs as a whole"):
        audit_project(project)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--at", "4"], "expected a step from 0 to 3 to resume after, observed 4"),
        (["--at", "x"], "expected numbers of steps separated by commas"),
        (["--max-runs", "0"], "expected 1 to 1000"),
        (["--max-runs", "2"], "expected at least 3 runs, observed a bound of 2"),
        (["--at", "1,2", "--max-runs", "3"], "expected at least 4 runs, observed a bound of 3"),
        (["--figure", "a.pdf"], "expected a name that ends in .svg or .png, observed .pdf"),
    ],
    ids=["past-the-end", "no-steps", "no-runs", "few-runs", "fewer-than-resumes", "no-figure"],
)
def test_wrong_use_is_told_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
):
    """Status 2."""
    project = write_project(tmp_path, BEHAVING["calm"])
    assert main(["audit", str(project), *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_an_interrupt_leaves_nothing(tmp_path: Path):
    """Status 130, no folder, and no process."""
    project = write_project(tmp_path / "project", BEHAVING["sleeps"])
    (tmp_path / "temporary").mkdir()
    restored = "import signal,runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            restored + "runpy.run_module('repropack', run_name='__main__')",
            "audit",
            str(project),
            "--format",
            "json",
        ],
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    log = tmp_path / "temporary"
    while not list(log.glob("repropack-audit-*/tree/runs/first/fingerprints.jsonl")):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(output)["code"] == "interrupted"
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_source_that_cannot_be_chosen_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit's own folder goes also where nothing of it was used."""
    project = write_project(tmp_path / "project", FORGETFUL, steps=6)
    file = project / "repropack.toml"
    file.write_text(
        re.sub(r"(?m)^source = .*$", 'source = ["no-such-*.py"]', file.read_text("utf-8")), "utf-8"
    )
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with pytest.raises(ProjectError):
        audit_project(project)
    assert list((tmp_path / "temporary").iterdir()) == []
