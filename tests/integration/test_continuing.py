"""An interrupted build goes on, and gives the file that it would have given; or it says why not."""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from repropack._cli.main import main
from repropack._run import identity
from repropack._run.continuing import check_environment
from repropack._run.distributions import observe_distributions
from repropack._run.execute import Launcher
from repropack._run.left_over import step_of
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import CouldNotRunError, InexactResumeError, RepropackError, UsageError
from repropack.models.reports import BuildReport
from repropack.unpack import unpack_package
from tests.support.environments import RECORD
from tests.support.equal_files import assert_same_bytes
from tests.support.experiment_sources import SOURCES
from tests.support.experiments import TINY, write_project
from tests.support.notebooks import as_if_executed
from tests.support.thinning import part_of

pytestmark = pytest.mark.slow

RECORDING = {"checkpoint-every": 3, "keep": ["x"]}
COMPARISONS = (
    {"name": "resumed", "resume-at": 6, "expect": "identical"},
    {"name": "faster", "config": {"factor": 1.75}},
)
LOG = "recorded/runs/reference/fingerprints.jsonl"
STATES = "recorded/runs/reference/checkpoints"


def interrupted(run: str, step: int) -> Callable[[str, int, int], None]:
    def interrupt(name: str, at: int, last: int) -> None:
        if (name, at) == (run, step):
            raise KeyboardInterrupt

    return interrupt


def noting(seen: list[tuple[str, int]]) -> Callable[[str, int, int], None]:
    return lambda run, step, last: seen.append((run, step))


@dataclass
class Build:
    """A project, its target, and the package of a build that nothing interrupted."""

    project: Path
    target: Path
    whole: bytes

    @property
    def work(self) -> Path:
        return self.target.with_name(f".{self.target.name}.work")

    def interrupt(self, run: str, step: int, **options: Any) -> KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt) as caught:
            build_package(self.project, self.target, on_step=interrupted(run, step), **options)
        return caught.value

    def resume(self) -> tuple[BuildReport, list[tuple[str, int]]]:
        seen: list[tuple[str, int]] = []
        report = build_package(self.project, self.target, left_over="resume", on_step=noting(seen))
        return report, seen


Uninterrupted = Callable[[str], tuple[Path, bytes]]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    """A project and its package, built once without an interruption: with comparisons, or short."""
    folder = tmp_path_factory.mktemp("uninterrupted")

    @cache
    def make(kind: str) -> tuple[Path, bytes]:
        comparisons = COMPARISONS if kind == "whole" else ()
        project = write_project(folder / kind, steps=10, record=RECORDING, comparisons=comparisons)
        with pytest.MonkeyPatch.context() as monkeypatch:
            quick(monkeypatch)
            build_package(project, folder / f"{kind}.zip")
        return project, (folder / f"{kind}.zip").read_bytes()

    return make


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repropack._assembling.execute_notebook", as_if_executed)


@pytest.fixture
def build(uninterrupted: Uninterrupted, tmp_path: Path) -> Build:
    project, whole = uninterrupted("whole")
    shutil.copytree(project, tmp_path / "project")
    return Build(tmp_path / "project", tmp_path / "tiny.zip", whole)


@pytest.fixture
def short_build(uninterrupted: Uninterrupted, tmp_path: Path) -> Build:
    """Of the reference alone."""
    project, whole = uninterrupted("short")
    shutil.copytree(project, tmp_path / "project")
    return Build(tmp_path / "project", tmp_path / "tiny.zip", whole)


def flip(path: Path, place: int = -40) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


@pytest.mark.parametrize(
    ("run", "step", "first", "continued"),
    part_of(
        [
            ("reference", 3, ("reference", 1), None),
            ("reference", 5, ("reference", 4), (3,)),
            ("reference", 8, ("reference", 7), (6,)),
            ("reference", 10, ("reference", 10), (9,)),
            ("resumed", 8, ("resumed", 7), None),
            ("resumed", 10, ("resumed", 10), (9,)),
            ("faster", 2, ("faster", 1), None),
            ("faster", 9, ("faster", 7), (6,)),
        ]
    ),
)
def test_a_build_that_goes_on_gives_the_same_file(
    build: Build,
    run: str,
    step: int,
    first: tuple[str, int],
    continued: tuple[int, ...] | None,
):
    """From the last checkpoint, or from the run's beginning where it had none; what has ended is
    not run again."""
    build.interrupt(run, step)
    report, seen = build.resume()
    assert seen[0] == first
    expected = [] if continued is None else [(run, continued)]
    assert [(row.run, row.after_steps) for row in report.continued] == expected
    assert_same_bytes(build.target, build.whole)
    assert sorted(path.name for path in build.target.parent.iterdir()) == ["project", "tiny.zip"]


def test_a_build_that_is_interrupted_again_and_again_gives_the_same_file(build: Build):
    """Each interruption costs the steps since a checkpoint, and is told in the report alone."""
    build.interrupt("reference", 5)
    for run, step in (("reference", 6), ("reference", 8), ("faster", 5), ("faster", 9)):
        build.interrupt(run, step, left_over="resume")
    report, seen = build.resume()
    assert seen == [("faster", 7), ("faster", 8), ("faster", 9), ("faster", 10)]
    assert [(row.run, row.after_steps) for row in report.continued] == [
        ("reference", (3, 3, 6)),
        ("faster", (3, 6)),
    ]
    assert_same_bytes(build.target, build.whole)


def test_a_directory_that_goes_on_is_the_same_package(build: Build, tmp_path: Path):
    """The form may even change between the attempts: it is no part of what is recorded."""
    build.interrupt("faster", 5)
    report = build_package(build.project, build.target, left_over="resume", directory=True)
    (tmp_path / "whole.zip").write_bytes(build.whole)
    assert report.package_digest == check_package(tmp_path / "whole.zip").package_digest
    assert check_package(build.target).verdict == "intact"


def cut_line(build: Build) -> None:
    log = build.work / LOG
    cut(log, log.stat().st_size - 30)


def empty_line(build: Build) -> None:
    """As after a power cut: the file has its length, and zeros at the end."""
    log = build.work / LOG
    data = log.read_bytes()
    log.write_bytes(data[:-200] + bytes(200))


def cut_array(build: Build) -> None:
    path = build.work / STATES / "step-000000006.npz"
    cut(path, path.stat().st_size - 1)


def cut_companion(build: Build) -> None:
    cut(build.work / STATES / "step-000000006.json", 80)


def lose_array(build: Build) -> None:
    (build.work / STATES / "step-000000006.npz").unlink()


def flip_array(build: Build) -> None:
    flip(build.work / STATES / "step-000000006.npz", 150)


def cut_rows(build: Build) -> None:
    path = build.work / "runs/reference/kept-0.raw"
    cut(path, path.stat().st_size - 1)


def flip_row(build: Build) -> None:
    flip(build.work / "runs/reference/kept-0.raw", 5 * 24)


def cut_log(build: Build) -> None:
    cut(build.work / LOG, 10)


def lose_notes(build: Build) -> None:
    (build.work / "runs/reference/progress.json").write_bytes(b"{")


def flip_all_states(build: Build) -> None:
    for name in ("step-000000003.npz", "step-000000006.npz"):
        flip(build.work / STATES / name, 150)


def lose_rows(build: Build) -> None:
    (build.work / "runs/reference/kept-0.raw").unlink()


@pytest.mark.parametrize(
    ("harm", "step"),
    part_of(
        [
            (cut_line, 7),
            (empty_line, 7),
            (cut_array, 4),
            (cut_companion, 4),
            (lose_array, 4),
            (flip_array, 4),
            (cut_rows, 4),
            (flip_row, 4),
            (cut_log, 1),
            (lose_notes, 1),
            (flip_all_states, 1),
            (lose_rows, 1),
        ]
    ),
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_torn_is_not_believed(short_build: Build, harm: Callable[[Build], None], step: int):
    """A torn line is dropped, a torn checkpoint passed over for the one before, or for the
    beginning; the package is the same."""
    short_build.interrupt("reference", 8)
    harm(short_build)
    _, seen = short_build.resume()
    assert seen[0] == ("reference", step)
    assert_same_bytes(short_build.target, short_build.whole)


@pytest.mark.parametrize(
    "file", ["fingerprints.jsonl", "progress.json", "step-000000006.json", "step-000000006.npz"]
)
def test_what_cannot_be_read_is_not_given_up(
    short_build: Build, monkeypatch: pytest.MonkeyPatch, file: str
):
    """A disk that fails for a moment is no torn file: the build ends, and nothing is removed."""
    short_build.interrupt("reference", 8)
    opened, read = os.open, Path.open

    def failing(path: Any, *arguments: Any, **options: Any) -> int:
        if Path(path).name == file:
            raise OSError(errno.EIO, os.strerror(errno.EIO), file)
        return opened(path, *arguments, **options)

    def failing_too(self: Path, *arguments: Any, **options: Any) -> Any:
        if self.name == file:
            raise OSError(errno.EIO, os.strerror(errno.EIO), file)
        return read(self, *arguments, **options)

    before = sorted(short_build.work.glob("recorded/**/*"))
    with monkeypatch.context() as broken:
        broken.setattr(os, "open", failing)
        broken.setattr(Path, "open", failing_too)
        with pytest.raises(RepropackError, match="Input/output error"):
            short_build.resume()
    assert sorted(short_build.work.glob("recorded/**/*")) == before
    _, seen = short_build.resume()
    assert seen[0] == ("reference", 7)
    assert_same_bytes(short_build.target, short_build.whole)


def test_a_run_that_has_ended_is_looked_at_before_it_is_believed(build: Build):
    """One flipped byte in a file of a finished run, and what is whole of it is gone on from."""
    build.interrupt("faster", 2)
    flip(build.work / STATES / "step-000000010.npz", 150)
    _, seen = build.resume()
    assert seen[0] == ("reference", 1)
    assert_same_bytes(build.target, build.whole)


def test_an_interrupted_build_is_neither_continued_nor_lost_unasked(short_build: Build, capsys):
    """A plain build refuses and names both ways on; nothing of the left-over is touched."""
    interrupt = short_build.interrupt("reference", 5)
    kept = "what was recorded is kept in .tiny.zip.work: --resume continues it where nothing"
    assert interrupt.__notes__ == [f"{kept} has changed, --discard begins again"]
    before = {path: path.stat().st_mtime_ns for path in short_build.work.rglob("*")}
    arguments = ["build", str(short_build.project), "-o", str(short_build.target)]
    assert main(arguments) == 2
    _, _, told = capsys.readouterr().err.rpartition("[not-locked]\n")
    assert told == (
        "repropack: error: tiny.zip: an interrupted build of it is in .tiny.zip.work\n"
        "hint: --resume continues it, --discard begins again\n"
    )
    assert {path: path.stat().st_mtime_ns for path in short_build.work.rglob("*")} == before
    assert main([*arguments, "--resume", "--discard"]) == 2
    assert "not allowed with argument --resume" in capsys.readouterr().err
    seen: list[tuple[str, int]] = []
    build_package(
        short_build.project, short_build.target, left_over="discard", on_step=noting(seen)
    )
    assert seen[0] == ("reference", 1)
    assert_same_bytes(short_build.target, short_build.whole)


def test_resuming_where_nothing_is_left_builds(short_build: Build):
    """So a script may always say ``--resume``."""
    report, seen = short_build.resume()
    assert (seen[0], report.continued) == (("reference", 1), ())
    assert_same_bytes(short_build.target, short_build.whole)


def change_source(build: Build) -> None:
    (build.project / "tiny.py").write_text(TINY + "\n", "utf-8")


def add_source(build: Build) -> None:
    (build.project / "more.py").write_text("", "utf-8")


def change_seed(build: Build) -> None:
    file = build.project / "repropack.toml"
    file.write_text(file.read_text("utf-8").replace("seed = 3", "seed = 4"), "utf-8")


def change_title(build: Build) -> None:
    file = build.project / "repropack.toml"
    file.write_text(file.read_text("utf-8").replace('"Tiny"', '"Tinier"'), "utf-8")


def add_license(build: Build) -> None:
    (build.project / "LICENSE").write_text("free", "utf-8")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (change_source, "source: tiny.py"),
        (add_source, "source: more.py"),
        (change_seed, "project: experiment.seed"),
        (change_title, "project: package.title"),
        (add_license, "the licence's text"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_another_build_is_not_continued(
    short_build: Build, change: Callable[[Build], None], what: str, tmp_path: Path
):
    """What has changed is named; the left-over waits for it to be undone."""
    shutil.copytree(short_build.project, tmp_path / "before")
    short_build.interrupt("reference", 5)
    change(short_build)
    with pytest.raises(UsageError) as caught:
        short_build.resume()
    assert caught.value.message == (
        "tiny.zip: expected to continue the same build, observed changes since it began: " + what
    )
    assert (caught.value.hint or "").startswith(
        "undo the changes to continue it, or begin again with --discard"
    )
    shutil.rmtree(short_build.project)
    shutil.copytree(tmp_path / "before", short_build.project)
    _, seen = short_build.resume()
    assert seen[0] == ("reference", 4)
    assert_same_bytes(short_build.target, short_build.whole)


def test_another_version_of_a_distribution_is_named(build: Build, monkeypatch: pytest.MonkeyPatch):
    """Also repropack's own code, the interpreter, and variables that steer numbers."""
    build.interrupt("reference", 5)

    def other() -> Any:
        return tuple(
            row.model_copy(update={"version": "0.0.1"}) if row.name == "numpy" else row
            for row in observe_distributions()
        )

    monkeypatch.setattr(identity, "observe_distributions", other)
    version = platform.python_version()
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.0")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(identity, "_PACKAGE", build.project)
    with pytest.raises(UsageError) as caught:
        build.resume()
    _, _, changes = caught.value.message.partition("since it began: ")
    assert changes.split("; ") == [
        "distributions: numpy",
        "variables: OMP_NUM_THREADS",
        f"interpreter: CPython {version}, now CPython 3.99.0",
        "repropack itself",
    ]


def test_another_machine_is_noticed():
    """A member of the record that follows from the machine must be the same."""
    check_environment(RECORD, RECORD.model_copy(update={"thread_pools": ()}))
    other = RECORD.platform.model_copy(update={"machine": "other"})
    with pytest.raises(UsageError) as caught:
        check_environment(RECORD, RECORD.model_copy(update={"platform": other}))
    assert caught.value.message == (
        "the environment is not the one that the build began in: expected the same platform, "
        "observed another"
    )


def forgetful(tmp_path: Path, comparisons: tuple[dict[str, Any], ...] = ()) -> Build:
    """An experiment whose state lacks its momentum, so that it cannot be resumed exactly."""
    source = SOURCES["forgets"].replace("class Experiment(", "class Tiny(")
    project = write_project(
        tmp_path / "forgetful",
        source=source,
        steps=8,
        record={"checkpoint-every": 2},
        comparisons=comparisons,
    )
    return Build(project, tmp_path / "out" / "tiny.zip", b"")


def test_an_experiment_that_does_not_resume_exactly_is_caught(tmp_path: Path):
    """Lines computed again are held against those recorded before the interruption."""
    build = forgetful(tmp_path)
    build.interrupt("reference", 6)
    with pytest.raises(InexactResumeError) as caught:
        build.resume()
    assert caught.value.code == "experiment.inexact-resume"
    assert caught.value.message == (
        "run 'reference': continuing from checkpoint 4 is not exact: step 5, stage 'momentum' "
        "differs from what was recorded before the interruption"
    )
    assert caught.value.hint == "build again with --discard, which begins anew"
    assert not build.target.exists()
    with pytest.raises(InexactResumeError):  # it is not forgotten
        build.resume()
    assert build_package(build.project, build.target, left_over="discard").continued == ()


def test_a_splice_is_not_published(tmp_path: Path):
    """Where no line is computed twice, the plan's own resume tells that continuing is not exact."""
    plain = {"name": "resumed", "resume-at": 2}
    build = forgetful(tmp_path, (plain,))
    build.interrupt("reference", 6)
    log = build.work / LOG
    lines = log.read_bytes().splitlines(keepends=True)
    assert step_of(lines[5]) == 4
    log.write_bytes(b"".join(lines[:6]))
    with pytest.raises(InexactResumeError) as caught:
        build.resume()
    assert caught.value.message == (
        "run 'reference': continuing from checkpoint 4 is not exact: comparison 'resumed', a "
        "resume without any change, parts from the reference"
    )
    assert not build.target.exists()


def test_a_state_that_is_not_restored_is_caught(tmp_path: Path, monkeypatch):
    """Before the first step that is made again, where no trial has found it before."""
    monkeypatch.setattr(Launcher, "try_round_trip", lambda launcher: None)
    source = SOURCES["loads-half"].replace("class Experiment(", "class Tiny(")
    project = write_project(
        tmp_path / "half", source=source, steps=8, record={"checkpoint-every": 2}
    )
    build = Build(project, tmp_path / "out" / "tiny.zip", b"")
    build.interrupt("reference", 6)
    with pytest.raises(InexactResumeError) as caught:
        build.resume()
    assert caught.value.message == (
        "run 'reference': continuing from checkpoint 4 is not exact: component 'count' differs "
        "before step 5"
    )


def test_what_was_recorded_is_held_against_across_interruptions(tmp_path: Path):
    """Lines of the first attempt that the second did not come to are still held against."""
    source = SOURCES["calm"].replace(
        "class Experiment(Calm):\n    pass",
        "class Tiny(Calm):\n"
        "    def update(self, trace):\n"
        "        super().update(trace)\n"
        "        if self.count == 8: self.weights = self.weights + os.getpid()",
    )
    project = write_project(
        tmp_path / "project", source=source, steps=12, record={"checkpoint-every": 4}
    )
    build = Build(project, tmp_path / "out" / "tiny.zip", b"")
    build.interrupt("reference", 8)
    build.interrupt("reference", 6, left_over="resume")
    with pytest.raises(InexactResumeError) as caught:
        build.resume()
    assert caught.value.problem == (
        "step 8, stage 'weights' differs from what was recorded before the interruption"
    )


def test_an_interrupted_build_is_not_unpacked_over(build: Build, lab_package: Path, tmp_path: Path):
    """Build and unpack work in one folder, and respect what is in it."""
    build.interrupt("reference", 5)
    with pytest.raises(UsageError) as caught:
        unpack_package(lab_package, build.target)
    assert caught.value.message == "tiny.zip: an interrupted build of it is in .tiny.zip.work"
    assert build.resume()[1][0] == ("reference", 4)


def test_no_trace_of_an_interruption_is_told_to_programs_but_in_the_report(build: Build):
    """The report is a document; the package is not changed by it."""
    build.interrupt("faster", 9)
    report = json.loads(build.resume()[0].model_dump_json())
    assert report["continued"] == [{"run": "faster", "after_steps": [6]}]


def test_what_cannot_be_read_is_not_taken_for_nothing(build: Build):
    """A folder that cannot be listed may hold every step that was recorded: it stays as it is."""
    work = build.work
    build.interrupt("reference", 7)
    (work / "recorded/runs").rename(build.project / "runs")
    (work / "recorded/runs").symlink_to("runs")  # to itself
    for left_over in ("refuse", "resume"):
        with pytest.raises(CouldNotRunError):
            build_package(build.project, build.target, left_over=left_over)
    (work / "recorded/runs").unlink()
    (build.project / "runs").rename(work / "recorded/runs")
    with pytest.raises(UsageError, match="an interrupted build of it is in"):
        build_package(build.project, build.target)
