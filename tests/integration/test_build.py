"""A build gives a whole package or none; what it says of its runs is what they did."""

from __future__ import annotations

import json
import os
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from repropack import _assembling as assembling_module
from repropack import build as build_module
from repropack._format.zip_layout import ZipMember, local_header
from repropack._read.equality import hold_against
from repropack._read.package import open_package
from repropack._run.execute import Launcher
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import (
    ConfigurationError,
    CouldNotRunError,
    ExperimentLoadError,
    ProjectError,
    RepropackError,
    StateError,
    StepError,
    UsageError,
)
from tests.support.equal_files import assert_same_bytes
from tests.support.experiment_sources import (
    DATACLASS,
    PYDANTIC,
    SOURCES,
    configured,
    write_project,
)

pytestmark = pytest.mark.slow

RESUME = """[record]
checkpoint-every = 2
keep = ["weights"]
[[comparisons]]
name = "resume"
resume-at = 2
expect = "identical"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose experiment is the calm one, with a resume."""
    return write_project(tmp_path / "project", SOURCES["calm"], more=RESUME)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder for packages."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


KEPT = (
    "what was recorded is kept in .tiny.zip.work: --resume continues it where nothing has changed, "
    "--discard begins again"
)


def left(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir())


def never(run: str, step: int, last: int) -> None:
    pytest.fail("nothing was to be run")


def comparison(name: str, *lines: str) -> str:
    return "\n".join(("[[comparisons]]", f'name = "{name}"', *lines, ""))


def read(package: Path, path: str) -> Any:
    with zipfile.ZipFile(package) as stored:
        return json.loads(stored.read(path))


def test_a_package_is_whole_and_intact(project: Path, out: Path):
    """What is built checks as intact, holds every part, and leaves nothing beside it."""
    report = build_package(project, out / "tiny.zip")
    checked = check_package(out / "tiny.zip")
    assert (checked.verdict, checked.faults) == ("intact", ())
    assert (report.package_digest, report.evidence_digest) == (
        checked.package_digest,
        checked.evidence_digest,
    )
    assert report.size_bytes == (out / "tiny.zip").stat().st_size
    assert report.path == str(out / "tiny.zip")
    assert report.expectations_held
    assert [path.name for path in out.iterdir()] == ["tiny.zip"]
    with zipfile.ZipFile(out / "tiny.zip") as package:
        names = set(package.namelist())
    assert names >= {
        "manifest.json",
        "plan.json",
        "environment.json",
        "results.json",
        "README.md",
        "LICENSE",
        "source/tiny_lab.py",
        "runs/reference/fingerprints.jsonl",
        "runs/reference/kept.npz",
        "runs/reference/checkpoints/step-000000002.npz",
        "runs/reference/checkpoints/step-000000002.json",
        "runs/resume/fingerprints.jsonl",
    }
    assert not any(name.startswith("runs/resume/checkpoints") for name in names)


def test_the_default_name_is_that_of_the_package(
    project: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    """Without an output the package is written here, under its name and version."""
    monkeypatch.chdir(out)
    assert build_package(project).path == "tiny-1.0.0.zip"
    assert build_package(project, directory=True).path == "tiny-1.0.0"
    assert sorted(path.name for path in out.iterdir()) == ["tiny-1.0.0", "tiny-1.0.0.zip"]


def test_zip_and_directory_hold_the_same_package(project: Path, out: Path):
    """Both forms, and the compressed one, have the same digest and check as intact."""
    forms: dict[str, dict[str, Any]] = {
        "a.zip": {},
        "b.zip": {"compress": True},
        "c": {"directory": True},
    }
    reports = [build_package(project, out / name, **options) for name, options in forms.items()]
    assert len({report.package_digest for report in reports}) == 1
    assert [check_package(out / name).verdict for name in forms] == ["intact"] * 3
    assert (out / "c/source/tiny_lab.py").read_text("utf-8") == SOURCES["calm"]


def test_a_package_built_twice_is_the_same_file(
    project: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    """Working directory, umask, time zone, locale, hash seed and thread of time leave no trace."""
    build_package(project, out / "a.zip")
    monkeypatch.chdir(out)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONHASHSEED", "5")
    monkeypatch.setenv("HOME", "/nowhere")
    time.tzset()
    before = os.umask(0o077)
    try:
        build_package(project, "b.zip")
    finally:
        os.umask(before)
    assert_same_bytes((out / "a.zip"), (out / "b.zip"))
    assert {(out / name).stat().st_mode & 0o777 for name in ("a.zip", "b.zip")} == {0o644}


@pytest.mark.parametrize(
    ("name", "error", "code", "message"),
    [
        (
            "raises-after-stage",
            StepError,
            "experiment.step",
            (
                "run 'reference': step 2 raised after stage 'gradient': "
                "ValueError: the loss is no number"
            ),
        ),
        (
            "breaks-on-import",
            ExperimentLoadError,
            "experiment.load",
            (
                "entry point 'tiny_lab:Experiment': importing 'tiny_lab' failed: "
                "ModuleNotFoundError: No module named 'no_such_module'"
            ),
        ),
        (
            "killed",
            CouldNotRunError,
            "could-not-run",
            (
                "run 'reference': the worker was ended by signal 9 (SIGKILL) after step 1: "
                "expected it to finish"
            ),
        ),
        ("tuple-state", StateError, "experiment.state", None),
    ],
)
def test_a_build_that_fails_leaves_nothing(
    tmp_path: Path,
    out: Path,
    name: str,
    error: type[RepropackError],
    code: str,
    message: str | None,
):
    """Nothing at the target, nothing beside it, and the experiment's error word for word."""
    project = write_project(tmp_path / "project", SOURCES[name], more=RESUME)
    with pytest.raises(error) as caught:
        build_package(project, out / "tiny.zip")
    assert type(caught.value) is error
    assert caught.value.code == code
    assert message in (None, caught.value.message)
    assert left(out) == []


def test_a_build_that_fails_late_keeps_what_it_recorded(
    tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    """A reference that has ended is not lost with the comparison that cannot be run."""
    monkeypatch.setattr(Launcher, "try_round_trip", lambda launcher: None)  # it would find it
    project = write_project(tmp_path / "project", SOURCES["raises-in-load"], more=RESUME)
    with pytest.raises(ExperimentLoadError) as caught:
        build_package(project, out / "tiny.zip")
    assert caught.value.message == (
        "entry point 'tiny_lab:Experiment': load_state_dict raised before the first step: "
        "KeyError: 'moment'"
    )
    assert (caught.value.hint or "").endswith(f"; {KEPT}")
    assert left(out) == [".tiny.zip.work"]


def test_a_build_interrupted_before_its_first_checkpoint_leaves_nothing(project: Path, out: Path):
    """An interrupt is passed on, and where there is nothing to continue from all is taken away."""

    def interrupt(run: str, step: int, last: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_package(project, out / "tiny.zip", on_step=interrupt)
    assert left(out) == []


@pytest.mark.parametrize("directory", [False, True], ids=["zip", "directory"])
def test_a_target_that_exists_is_not_touched(project: Path, out: Path, directory: bool):
    """Without force whatever stands at the target stays, and nothing is run."""
    (out / "tiny").write_bytes(b"mine")
    with pytest.raises(UsageError) as caught:
        build_package(project, out / "tiny", directory=directory, on_step=never)
    kind = "folder" if directory else "path"
    assert caught.value.code == "usage"
    expected = f"tiny: expected a {kind} that does not exist, observed one that does"
    assert caught.value.message == expected
    assert caught.value.hint == "give another, or --force to replace a package"
    assert (out / "tiny").read_bytes() == b"mine"
    assert [path.name for path in out.iterdir()] == ["tiny"]


def test_a_link_that_leads_nowhere_is_a_target_that_exists(project: Path, out: Path):
    """A dangling link is not written through, nor replaced with force: it is no package."""
    (out / "tiny.zip").symlink_to("nowhere")
    with pytest.raises(UsageError, match="expected a path that does not exist"):
        build_package(project, out / "tiny.zip")
    with pytest.raises(UsageError, match="expected a package's zip to replace"):
        build_package(project, out / "tiny.zip", force=True)
    assert (out / "tiny.zip").is_symlink()
    assert [path.name for path in out.iterdir()] == ["tiny.zip"]


@pytest.mark.parametrize("directory", [False, True], ids=["zip", "directory"])
def test_force_replaces_a_package(project: Path, out: Path, directory: bool):
    """With force a new version stands in the old one's place, and nothing of the old."""
    build_package(project, out / "tiny", directory=directory)
    source, file = project / "tiny_lab.py", project / "repropack.toml"
    source.write_text(SOURCES["constant"], "utf-8")
    file.write_text(file.read_text("utf-8").replace("1.0.0", "1.0.1"), "utf-8")
    report = build_package(project, out / "tiny", directory=directory, force=True)
    assert check_package(out / "tiny").package_digest == report.package_digest
    with open_package(out / "tiny") as package:
        assert package.results.reference.final_metrics == {"loss": 7.0}
    assert [path.name for path in out.iterdir()] == ["tiny"]


@pytest.mark.parametrize(
    ("kind", "directory", "message"),
    [
        ("folder", False, "tiny: expected a package's zip to replace, observed something else"),
        ("file", False, "tiny: expected a package's zip to replace, observed something else"),
        ("folder", True, "tiny: expected a package directory to replace, observed something else"),
        ("file", True, "tiny: expected a package directory to replace, observed something else"),
    ],
    ids=["folder-by-zip", "file-by-zip", "folder-by-directory", "file-by-directory"],
)
def test_force_replaces_nothing_but_a_package(
    project: Path, out: Path, kind: str, directory: bool, message: str
):
    """A folder that is no package, or something of the other form, is never replaced."""
    target = out / "tiny"
    if kind == "folder":
        target.mkdir()
        (target / "thesis.tex").write_bytes(b"mine")
    else:
        target.write_bytes(b"mine")
    with pytest.raises(UsageError) as caught:
        build_package(project, target, directory=directory, force=True, on_step=never)
    assert caught.value.message == message
    assert target.exists()


def test_a_target_that_came_meanwhile_is_not_replaced(project: Path, out: Path):
    """A file that appears while the experiment runs is as safe as one that was there before."""

    def arrive(run: str, step: int, last: int) -> None:
        (out / "tiny.zip").write_bytes(b"mine")

    with pytest.raises(UsageError, match="expected a path that does not exist"):
        build_package(project, out / "tiny.zip", on_step=arrive)
    assert (out / "tiny.zip").read_bytes() == b"mine"
    assert left(out) == [".tiny.zip.work", "tiny.zip"]
    (out / "tiny.zip").unlink()
    build_package(project, out / "tiny.zip", left_over="resume", on_step=never)
    assert left(out) == ["tiny.zip"]


def test_missing_parent_folders_are_made(project: Path, out: Path):
    """The target's folders need not be there."""
    build_package(project, out / "a/b/tiny.zip")
    assert check_package(out / "a/b/tiny.zip").verdict == "intact"


def test_a_target_below_a_file_is_wrong_use(project: Path, out: Path):
    """Where no package can be written, nothing is run."""
    (out / "file").write_bytes(b"")
    with pytest.raises(UsageError) as caught:
        build_package(project, out / "file/tiny.zip", on_step=never)
    assert caught.value.message == "tiny.zip: cannot be written there: File exists"


class DiskError(OSError):
    """Stands for a disk that fails."""


def breaking(*arguments: Any, **options: Any) -> Any:
    raise DiskError("the disk is gone")


@pytest.mark.parametrize(
    "name",
    [
        "compute_results",
        "_check_identical",
        "link_files",
        "package_readme",
        "write_package",
        "check_written",
        "publish",
    ],
)
def test_a_failure_at_any_stage_leaves_the_old_package(
    project: Path, out: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    """From the first run to the last rename: what fails, the old package stands."""
    manifest = b'{"format": "replay-package"}'
    size = len(manifest)
    member = ZipMember("manifest.json", size, size, 0, deflated=False, executable=False, offset=0)
    old = local_header(member) + manifest
    (out / "tiny.zip").write_bytes(old)
    with monkeypatch.context() as broken:
        home = build_module if hasattr(build_module, name) else assembling_module
        broken.setattr(home, name, breaking)
        with pytest.raises(CouldNotRunError) as caught:
            build_package(project, out / "tiny.zip", force=True)
    assert caught.value.message == ".tiny.zip.work: the disk is gone"
    assert caught.value.hint == KEPT
    assert_same_bytes((out / "tiny.zip"), old)
    assert left(out) == [".tiny.zip.work", "tiny.zip"]
    build_package(project, out / "tiny.zip", force=True, left_over="resume", on_step=never)
    assert left(out) == ["tiny.zip"]
    assert check_package(out / "tiny.zip").verdict == "intact"


def test_a_directory_that_cannot_be_moved_leaves_the_old_package(
    project: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    """The old directory stands until the new one does."""
    build_package(project, out / "tiny", directory=True)
    digest = check_package(out / "tiny").package_digest
    monkeypatch.setattr("repropack._run.target.exchange_directories", breaking)
    with pytest.raises(CouldNotRunError, match="the disk is gone"):
        build_package(project, out / "tiny", directory=True, force=True)
    assert check_package(out / "tiny").package_digest == digest
    assert left(out) == [".tiny.work", "tiny"]


def test_a_failed_expectation_still_gives_a_package(tmp_path: Path, out: Path):
    """A comparison that comes out otherwise is reported, in the report and in the package."""
    project = write_project(tmp_path / "project", SOURCES["forgets"], more=RESUME)
    report = build_package(project, out / "tiny.zip")
    (outcome,) = report.results.comparisons
    assert not report.expectations_held
    assert (outcome.held, outcome.identical) == (False, False)
    assert outcome.divergence is not None
    assert (outcome.divergence.step, outcome.divergence.stage) == (3, "momentum")
    assert check_package(out / "tiny.zip").verdict == "intact"
    assert read(out / "tiny.zip", "results.json")["comparisons"][0]["held"] is False


def test_an_expected_divergence_is_held(tmp_path: Path, out: Path):
    """A comparison may be expected to part at a step, a stage and a component."""
    more = RESUME + comparison(
        "reset",
        "resume-at = 2",
        'reset = ["weights"]',
        'expect = { diverges-at = 3, stage = "weights", component = "weights" }',
    )
    project = write_project(tmp_path / "project", SOURCES["calm"], more=more)
    report = build_package(project, out / "tiny.zip")
    assert [outcome.held for outcome in report.results.comparisons] == [True, True]
    assert check_package(out / "tiny.zip").verdict == "intact"


@pytest.mark.parametrize(
    "record",
    [
        "checkpoint-every = 3",
        "checkpoint-every = 3\nstages-every = 2",
        "checkpoint-every = 3\nstate-every = 2",
    ],
    ids=["seldom-stage", "stages-every", "state-every"],
)
def test_an_exact_resume_is_identical_whatever_is_recorded(tmp_path: Path, out: Path, record: str):
    """Stages that come seldom, and steps that record little, are no difference of a resume."""
    more = f"[record]\n{record}\n" + comparison("resume", "resume-at = 3", 'expect = "identical"')
    project = write_project(tmp_path / "project", SOURCES["evaluates"], more=more, steps=7)
    assert build_package(project, out / "tiny.zip").expectations_held
    assert check_package(out / "tiny.zip").faults == ()


def test_a_change_without_effect_is_identical(tmp_path: Path, out: Path):
    """A run under another configuration may be identical; that is a finding, not a fault."""
    more = (
        "[experiment.config]\nnoise = false\n"
        + RESUME
        + comparison("quiet", "config = { noise = true }", 'expect = "identical"')
    )
    project = write_project(tmp_path / "project", SOURCES["calm"], more=more)
    report = build_package(project, out / "tiny.zip")
    outcome = report.results.comparisons[1]
    assert (outcome.identical, outcome.config_equal) == (True, False)
    assert check_package(out / "tiny.zip").verdict == "intact"


def test_arrays_that_differ_under_equal_fingerprints_end_the_build(
    project: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    """Before a copy is dropped it is compared, array by array: fingerprints are not believed."""

    def lying(*arguments: Any) -> Any:
        return hold_against(*arguments).model_copy(update={"equal": False})

    monkeypatch.setattr(assembling_module, "hold_against", lying)
    with pytest.raises(CouldNotRunError) as caught:
        build_package(project, out / "tiny.zip")
    assert caught.value.message == (
        "run 'resume': expected arrays and a chain equal to the reference's, as its fingerprints "
        "are; observed others: the machine or its storage is faulty"
    )
    assert left(out) == [".tiny.zip.work"]


@pytest.mark.parametrize(
    ("declaration", "encoded"),
    [
        (DATACLASS, {"rate": 0.25, "layers": [4, 2]}),
        (PYDANTIC, {"rate": 0.25, "name": "calm"}),
    ],
    ids=["dataclass", "pydantic"],
)
def test_the_plan_holds_the_complete_configuration(
    tmp_path: Path, out: Path, declaration: str, encoded: dict[str, Any]
):
    """Defaults are filled in and comparisons are written as the experiment read them."""
    more = (
        "[experiment.config]\nrate = 0.25\n"
        + RESUME
        + comparison("fast", "config = { rate = 1 }", "expect = { diverges-at = 1 }")
    )
    source = configured("Config", declaration)
    report = build_package(write_project(tmp_path / "p", source, more=more), out / "tiny.zip")
    plan = read(out / "tiny.zip", "plan.json")
    assert plan["experiment"]["config"] == encoded
    assert json.dumps(plan["comparisons"][1]["config"]) == '{"rate": 1.0}'
    assert sorted(read(out / "tiny.zip", "schemas/config.schema.json")["properties"]) == sorted(
        encoded
    )
    assert report.expectations_held
    assert check_package(out / "tiny.zip").verdict == "intact"


def test_a_change_that_drags_another_along_is_refused(tmp_path: Path, out: Path):
    """A comparison names what it changes; a configuration that changes more is not that run."""
    declaration = (
        "import pydantic\n\n\nclass Config(pydantic.BaseModel):\n    rate: float = 0.5\n"
        "    half: float = 0.25\n"
        "    @pydantic.model_validator(mode='after')\n    def follow(self):\n"
        "        self.half = self.rate / 2\n        return self\n"
    )
    more = RESUME + comparison("fast", "config = { rate = 1.0 }")
    project = write_project(tmp_path / "p", configured("Config", declaration), more=more)
    with pytest.raises(ConfigurationError) as caught:
        build_package(project, out / "tiny.zip")
    assert caught.value.message == (
        "comparison 'fast': expected to change rate alone, observed another value of half as well"
    )
    assert left(out) == [".tiny.zip.work"]


def test_a_package_directory_inside_the_project_is_no_source(tmp_path: Path):
    """A package that is built into its own project twice is the same both times."""
    project = write_project(tmp_path / "p", SOURCES["calm"], patterns='["**/*.py"]')
    first = build_package(project, project / "tiny", directory=True)
    second = build_package(project, project / "tiny", directory=True, force=True)
    assert first.package_digest == second.package_digest
    assert [path.name for path in (project / "tiny/source").iterdir()] == ["tiny_lab.py"]


def test_an_executable_source_stays_one(project: Path, out: Path):
    """The executable bit is the one mode that a package keeps."""
    (project / "tiny_lab.py").chmod(0o700)
    build_package(project, out / "tiny", directory=True)
    assert (out / "tiny/source/tiny_lab.py").stat().st_mode & 0o777 == 0o755


def test_a_comparison_beyond_the_end_of_the_reference_is_wrong_use(tmp_path: Path, out: Path):
    """A run that finished early stores no checkpoint to resume at later."""
    more = "[record]\ncheckpoint-every = 2\n" + comparison("late", "resume-at = 6")
    project = write_project(tmp_path / "p", SOURCES["finishes"], more=more, steps=9)
    with pytest.raises(UsageError) as caught:
        build_package(project, out / "tiny.zip")
    assert caught.value.message == (
        "run 'reference': no checkpoint after step 6: expected one of 0, 2, 3"
    )
    assert left(out) == [".tiny.zip.work"]


def test_a_project_that_is_not_there_or_at_fault_is_wrong_use(tmp_path: Path, out: Path):
    """Nothing is made before the project was read."""
    with pytest.raises(UsageError, match="expected a project folder or file"):
        build_package(tmp_path / "nowhere", out / "a/tiny.zip")
    project = write_project(tmp_path / "p", SOURCES["calm"], more="[record]\nkeep = 3\n")
    with pytest.raises(ProjectError):
        build_package(project, out / "a/tiny.zip")
    assert list(out.iterdir()) == []


def test_the_environment_of_the_package_is_the_workers(
    project: Path, out: Path, monkeypatch: pytest.MonkeyPatch
):
    """Numeric variables of the caller are recorded; nothing else of it is."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setenv("MY_TOKEN", "secret-word")
    build_package(project, out / "tiny.zip")
    variables = read(out / "tiny.zip", "environment.json")["variables"]
    assert variables["OPENBLAS_NUM_THREADS"] == "1"
    stored = (out / "tiny.zip").read_bytes()
    assert b"secret-word" not in stored
    assert str(project).encode() not in stored
    assert b"MY_TOKEN" not in stored
