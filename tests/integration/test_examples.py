"""Every example is built, checked and run again, and loses nothing where its build is killed."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from repropack._format.limits import DEFAULT_RUN_LIMITS
from repropack._read.package import open_package
from repropack._run.confinement.consent import Consent
from repropack._run.confinement.probing import choose_sandbox
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import ConfinementUnavailableError, InexactResumeError
from repropack.models.reports import BuildReport
from repropack.models.results import ComparisonOutcome
from repropack.verify import verify_package
from tests.support.equal_files import assert_same_bytes
from tests.support.examples import EXAMPLES, FOLDER, Example, Found
from tests.support.notebooks import as_if_executed
from tests.support.thinning import EVERY_CASE, part_of

pytestmark = pytest.mark.slow

NAMES = tuple(EXAMPLES)
MOST_SECONDS = 120.0

KILLED = tuple(NAMES) if EVERY_CASE else ("forgotten-state", "own-loop")
"""Whose builds are killed: one that resumes inexactly, one with an entry point, a loop."""


class Packages(dict[str, tuple[Path, BuildReport]]):
    """Packages of examples, each built when it is first asked for; never written to."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> tuple[Path, BuildReport]:
        target = self.folder / f"{name}.zip"
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("repropack._assembling.execute_notebook", as_if_executed)
            report = build_package(EXAMPLES[name].path, target)
        target.chmod(0o444)
        self[name] = (target, report)
        return self[name]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[Path, BuildReport]]:
    return Packages(tmp_path_factory.mktemp("examples"))


def found_of(outcome: ComparisonOutcome) -> Found:
    if outcome.divergence is None:
        assert outcome.identical
        return None
    return (outcome.divergence.step, outcome.divergence.stage or "")


def test_every_project_below_examples_is_tested() -> None:
    """The lab's copy has tests of its own."""
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.toml")}
    known = {example.project for example in EXAMPLES.values()} | {"replay-lab"}
    assert {path.removesuffix("/repropack.toml") for path in files} == known


@pytest.mark.parametrize("name", NAMES)
def test_each_comparison_finds_what_the_readme_says(packages: Packages, name: str) -> None:
    """Every first divergence, literally; every expectation holds, and lint finds no error."""
    example, (_, report) = EXAMPLES[name], packages[name]
    assert {row.run: found_of(row) for row in report.results.comparisons} == example.found
    assert report.expectations_held
    assert report.results.reference.last_step == example.steps
    assert [row.rule for row in report.findings if row.severity != "note"] == ["not-locked"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_intact_and_its_evidence_is_the_stated_one(packages: Packages, name: str) -> None:
    """``check`` agrees; where bytes travel, with the digest that stands here."""
    example, (path, built) = EXAMPLES[name], packages[name]
    report = check_package(path)
    assert report.verdict == "intact"
    assert report.evidence_digest == built.evidence_digest
    if example.evidence is not None:
        assert report.evidence_digest == example.evidence
    with open_package(path) as package:
        paths = [entry.path for entry in package.manifest.entries]
    made = [path for path in paths if path.startswith("after/") or "/outputs/" in path]
    assert tuple(made) == example.outputs


@pytest.mark.parametrize("name", part_of(NAMES))
def test_it_verifies_as_a_stranger_s_program(packages: Packages, name: str) -> None:
    """Confined, every run again: identical."""
    try:
        choose_sandbox(None, DEFAULT_RUN_LIMITS)
    except ConfinementUnavailableError as error:
        pytest.skip(f"needs bubblewrap or Landlock: {error.message}")
    report = verify_package(packages[name][0], consent=Consent())
    assert report.verdict == "identical"
    assert {row.run for row in report.runs} >= {"reference", *EXAMPLES[name].found}
    assert all(row.equal for row in report.runs)


# ---------------------------------------------------------------- nothing is lost


def log_lines(work: Path, run: str) -> int:
    """How many lines the log of a run has so far, 0 where it has not begun."""
    try:
        return (work / "recorded/runs" / run / "fingerprints.jsonl").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def kill_at(example: Example, target: Path, run: str, lines: int) -> None:
    """Start a build, and kill it with all that it holds when a run's log is so long."""
    work = target.with_name(f".{target.name}.work")
    build = subprocess.Popen(
        [sys.executable, "-P", "-m", "repropack", "build", str(example.path), "-o", str(target)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        until = time.monotonic() + MOST_SECONDS
        while build.poll() is None and log_lines(work, run) < lines:
            assert time.monotonic() < until, f"{run} never came to line {lines}"
            time.sleep(0.0005)
    finally:
        build.kill()
        _, said = build.communicate()
    assert build.returncode == -signal.SIGKILL, said.decode("utf-8", "replace")


@pytest.mark.parametrize("name", KILLED)
def test_a_killed_build_goes_on_to_the_same_file(
    packages: Packages, name: str, tmp_path: Path
) -> None:
    """SIGKILL at a step of a run, drawn by chance; ``--resume`` gives the package byte for byte."""
    example, target = EXAMPLES[name], tmp_path / f"{name}.zip"
    draw = random.Random(None if EVERY_CASE else name)
    run = draw.choice(("reference", *example.found))
    outcome: Any = {row.run: row for row in packages[name][1].results.comparisons}.get(run)
    first = 1 if outcome is None else outcome.first_step
    lines = draw.randint(1, example.steps - first + 2)  # header, start, and all steps but the last
    kill_at(example, target, run, lines)
    assert not target.exists()
    may_be_refused = (InexactResumeError,) if name == "forgotten-state" else ()
    report = None
    with contextlib.suppress(*may_be_refused):
        report = build_package(example.path, target, left_over="resume")
    if report is None:
        assert not target.exists()
        return
    assert_same_bytes(target, packages[name][0], f"killed in {run} at {lines}")
    assert report.expectations_held
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def interrupt_at(run: str, step: int) -> Callable[[str, int, int], None]:
    def interrupt(name: str, at: int, last: int) -> None:
        if (name, at) == (run, step):
            raise KeyboardInterrupt

    return interrupt


@pytest.mark.parametrize(
    ("run", "step", "checkpoint", "shown_by"),
    part_of(
        [
            (
                "reference",
                45,
                40,
                "independent-restart",
            ),  # as inexact as the resume at 40: equal to it
            ("reference", 55, 50, "independent-restart"),
            ("independent-restart", 66, 60, "independent-restart"),
            ("resume-at-40", 66, 60, "resume-at-40"),  # the decay would come later still
        ]
    ),
)
def test_what_was_continued_inexactly_is_not_published(
    run: str, step: int, checkpoint: int, shown_by: str, tmp_path: Path
) -> None:
    """Whichever run it was: a second run or a resume, without any change, shows it."""
    example, target = EXAMPLES["forgotten-state"].path, tmp_path / "forgotten.zip"
    with pytest.raises(KeyboardInterrupt):
        build_package(example, target, on_step=interrupt_at(run, step))
    with pytest.raises(InexactResumeError) as caught:
        build_package(example, target, left_over="resume")
    assert (caught.value.run, caught.value.checkpoint) == (run, checkpoint)
    assert f"comparison {shown_by!r}" in caught.value.problem
    assert not target.exists()
