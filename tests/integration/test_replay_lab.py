"""The reference experiment from end to end: each number of its recipe, in each form of package."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repropack._read.package import open_package
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import IntegrityError, PackageError, UsageError
from repropack.inspect import inspect_package
from repropack.models.reports import BuildReport, CheckReport
from repropack.models.results import (
    ComparisonOutcome,
    Divergence,
    FinalMetric,
    InputEquality,
    KeptDifference,
    Largest,
    PrintedAgreement,
    Results,
    Split,
)
from repropack.unpack import unpack_package
from repropack.verify import verify_package
from tests.support.expected import EVIDENCE_DIGEST, REFERENCE_CHAIN
from tests.support.hostile import take_apart

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "replay-lab"
REFERENCE_LOSS = 0.0214672945992594
COMPONENTS = ("adam", "sampler", "weights")
ARRAYS = ("adam.first_moment", "adam.second_moment", "weights")


@pytest.fixture(scope="module")
def results(lab_package: Path) -> Results:
    with open_package(lab_package) as package:
        return package.results


@pytest.fixture(scope="module")
def outcomes(results: Results) -> dict[str, ComparisonOutcome]:
    return {outcome.run: outcome for outcome in results.comparisons}


def divergence_of(outcome: ComparisonOutcome) -> Divergence:
    assert outcome.divergence is not None
    return outcome.divergence


def steps_differing(outcome: ComparisonOutcome, *, of: str = "stages") -> dict[str, int]:
    rows = outcome.stages if of == "stages" else outcome.components
    return {row.name: row.differing for row in rows}


# ---------------------------------------------------------------- the numbers of the recipe


def test_the_reference_makes_a_hundred_steps(results: Results) -> None:
    assert results.reference.last_step == 100
    assert results.reference.finish is None
    assert results.reference.final_metrics == {"loss": REFERENCE_LOSS}
    assert results.reference.chain == REFERENCE_CHAIN


def test_there_are_five_comparisons_and_all_come_out_as_expected(results: Results) -> None:
    """In the order of the plan."""
    assert [(outcome.run, outcome.held) for outcome in results.comparisons] == [
        ("independent-restart", True),
        ("full-checkpoint", True),
        ("reversed-reduction", True),
        ("adam-reset", True),
        ("sampler-reset", True),
    ]


@pytest.mark.parametrize(
    ("run", "first_step", "steps"), [("independent-restart", 1, 100), ("full-checkpoint", 41, 60)]
)
def test_a_restart_and_a_full_resume_are_identical(
    outcomes: dict[str, ComparisonOutcome], run: str, first_step: int, steps: int
) -> None:
    """At every step, in every stage, component, printed and final value."""
    outcome = outcomes[run]
    assert outcome.identical
    assert outcome.divergence is None
    assert (outcome.first_step, outcome.last_step) == (first_step, 100)
    assert outcome.start == outcome.final_state == Split(equal=COMPONENTS)
    assert outcome.constants == Split(equal=("features", "targets"))
    assert steps_differing(outcome) == dict.fromkeys(
        ("batch", "contributions", "gradient", "weights"), 0
    )
    assert {row.compared for row in (*outcome.stages, *outcome.components)} == {steps}
    assert outcome.printed == (PrintedAgreement(metric="loss", compared=steps, equal=steps),)
    assert outcome.kept == (KeptDifference(stage="weights"),)
    assert outcome.final_metrics == (
        FinalMetric(metric="loss", reference=REFERENCE_LOSS, run=REFERENCE_LOSS),
    )


def test_the_reversed_reduction_prints_the_same_and_is_not(
    outcomes: dict[str, ComparisonOutcome],
) -> None:
    """First at step 1, at ``gradient``, from equal contributions; then at all 100 steps."""
    outcome = outcomes["reversed-reduction"]
    found = divergence_of(outcome)
    assert (found.kind, found.step, found.last_equal_step, found.stage) == (
        "output", 1, 0, "gradient",
    )  # fmt: skip
    assert found.inputs == (InputEquality(name="contributions", equal=True),)
    assert found.stages == Split(
        equal=("batch", "contributions"), differing=("gradient", "weights")
    )
    assert found.state_before == Split(equal=COMPONENTS)
    assert found.state_after == Split(equal=("sampler",), differing=("adam", "weights"))
    assert not outcome.config_equal
    assert steps_differing(outcome) == {
        "batch": 0, "contributions": 99, "gradient": 100, "weights": 100,
    }  # fmt: skip
    assert steps_differing(outcome, of="components") == {"adam": 100, "sampler": 0, "weights": 100}
    assert outcome.printed == (PrintedAgreement(metric="loss", compared=100, equal=100),)
    assert outcome.kept == (
        KeptDifference(
            stage="weights",
            largest_absolute=Largest(value=1.1920928955078125e-07, first_step=38),
            largest_ulp=Largest(value=492, first_step=12),
        ),
    )
    assert outcome.final_metrics == (
        FinalMetric(metric="loss", reference=REFERENCE_LOSS, run=0.021467294219161076),
    )


def test_a_reset_optimizer_parts_at_the_weights(outcomes: dict[str, ComparisonOutcome]) -> None:
    """At step 41, because component ``adam`` differs; batch to gradient are equal."""
    outcome = outcomes["adam-reset"]
    found = divergence_of(outcome)
    assert (found.kind, found.step, found.last_equal_step, found.stage) == (
        "state", 41, 40, "weights",
    )  # fmt: skip
    assert found.inputs == (
        InputEquality(name="gradient", equal=True),
        InputEquality(name="state:weights", equal=True),
        InputEquality(name="state:adam", equal=False),
    )
    assert found.stages == Split(
        equal=("batch", "contributions", "gradient"), differing=("weights",)
    )
    assert outcome.start == found.state_before == Split(
        equal=("sampler", "weights"), differing=("adam",)
    )  # fmt: skip
    assert steps_differing(outcome) == {
        "batch": 0, "contributions": 59, "gradient": 59, "weights": 60,
    }  # fmt: skip
    assert outcome.printed == (PrintedAgreement(metric="loss", compared=60, equal=1),)
    assert outcome.kept == (
        KeptDifference(
            stage="weights",
            largest_absolute=Largest(value=0.13759219646453857, first_step=45),
            largest_ulp=Largest(value=2034218737, first_step=41),
        ),
    )
    assert outcome.final_metrics[0].run == 0.023287431488469387
    assert outcome.final_state == Split(equal=("sampler",), differing=("adam", "weights"))


def test_a_reset_sampler_parts_at_the_batch_and_ends_lower(
    outcomes: dict[str, ComparisonOutcome],
) -> None:
    """At step 41, because component ``sampler`` differs; the run that failed has the lower loss."""
    outcome = outcomes["sampler-reset"]
    found = divergence_of(outcome)
    assert (found.kind, found.step, found.last_equal_step, found.stage) == (
        "state", 41, 40, "batch",
    )  # fmt: skip
    assert found.inputs == (InputEquality(name="state:sampler", equal=False),)
    assert found.stages.equal == ()
    assert steps_differing(outcome) == dict.fromkeys(
        ("batch", "contributions", "gradient", "weights"), 60
    )
    assert outcome.printed == (PrintedAgreement(metric="loss", compared=60, equal=6),)
    assert outcome.kept == (
        KeptDifference(
            stage="weights",
            largest_absolute=Largest(value=0.041036590933799744, first_step=99),
            largest_ulp=Largest(value=2020600770, first_step=63),
        ),
    )
    assert outcome.final_metrics[0].run == 0.02076356404369701
    assert outcome.final_metrics[0].run < REFERENCE_LOSS
    assert outcome.final_state == Split(differing=COMPONENTS)


# ---------------------------------------------------------------- every form of the package


def build_in(form: str) -> Callable[[Path], BuildReport]:
    def build(folder: Path) -> BuildReport:
        project = folder / "project"  # apart from what the example's README adds, and git
        shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("README.md"))
        return build_package(
            project if form == "example" else None,
            folder / form,
            directory=form == "directory",
            compress=form == "compressed",
        )

    return build


@pytest.fixture(
    scope="module", params=["zip", "directory", "compressed", "example"], ids=lambda form: form
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The lab in one of the forms of a package, and built from the example's folder."""
    return build_in(request.param)(tmp_path_factory.mktemp("built"))


def whole_check(path: Path | str) -> CheckReport:
    report = check_package(path)
    assert report.faults == ()
    assert report.verdict == "intact"
    return report


def test_every_form_is_intact_and_has_the_same_digests(
    built: BuildReport, lab_package: Path
) -> None:
    """The evidence digest is that of every machine; the package digest that of this one."""
    report = whole_check(built.path)
    assert built.expectations_held
    assert built.evidence_digest == report.evidence_digest == EVIDENCE_DIGEST
    assert built.package_digest == report.package_digest
    assert report.package_digest == check_package(lab_package).package_digest
    assert (report.steps_checked, report.arrays_checked) == (480, 380)
    assert report.entries_checked == len(take_apart(lab_package).files)
    assert not report.fast


def test_every_form_verifies_identical(built: BuildReport) -> None:
    """Each run with exactly what was compared of it."""
    report = verify_package(built.path)
    assert report.verdict == "identical"
    assert report.confinement is not None
    assert (report.confinement.level, report.confinement.reason) == ("none", "shipped-source")
    assert report.evidence_digest == EVIDENCE_DIGEST
    assert [
        (
            run.run, run.claim, run.first_step, run.last_step,
            run.lines_compared, run.checkpoints_compared, run.kept_arrays_compared,
        )
        for run in report.runs
    ] == [
        ("reference", "independent-replay", 1, 100, 100, 6, 100),
        ("independent-restart", "independent-replay", 1, 100, 100, 6, 100),
        ("full-checkpoint", "exact-resume", 41, 100, 60, 4, 60),
        ("reversed-reduction", "comparison", 1, 100, 100, 6, 100),
        ("adam-reset", "comparison", 41, 100, 60, 4, 60),
        ("sampler-reset", "comparison", 41, 100, 60, 4, 60),
    ]  # fmt: skip
    for run in report.runs:
        assert run.equal
        assert run.final_arrays == Split(equal=ARRAYS)
        assert (run.divergence, run.arrays, run.problems, run.repeats) == (None, (), (), None)
    assert report.not_verified == (
        "what README.md, LICENSE, notebook.ipynb say",
        "resuming after steps other than 40",
        "state outside the declared components (adam, sampler, weights)",
        "any other environment than this one",
    )
    assert (report.faults, report.problem) == ((), None)
    assert report.environment is not None
    assert report.environment.differences == ()


def test_every_form_can_be_inspected(built: BuildReport) -> None:
    """Documents and the outline of the runs."""
    found = inspect_package(built.path)
    assert found.package_digest == built.package_digest
    assert found.plan.experiment.entry_point == "replay_lab:ReplayLab"
    assert found.results == built.results
    assert [(run.run, run.first_step, run.last_step, run.kept) for run in found.runs] == [
        ("reference", 1, 100, True),
        ("adam-reset", 41, 100, True),
        ("full-checkpoint", 41, 100, False),
        ("independent-restart", 1, 100, False),
        ("reversed-reduction", 1, 100, True),
        ("sampler-reset", 41, 100, True),
    ]
    assert found.runs[0].checkpoints == (0, 20, 40, 60, 80, 100)
    assert found.runs[2].checkpoints == ()
    manifest = len(take_apart_manifest(Path(built.path)))
    assert found.size_bytes == manifest + sum(entry.size for entry in found.entries)
    assert sum(run.size_bytes for run in found.runs) < found.size_bytes


def take_apart_manifest(path: Path) -> bytes:
    with open_package(path) as package:
        return package.read("manifest.json")


def test_every_form_unpacks_to_the_same_directory(
    built: BuildReport, tmp_path: Path, lab_package: Path
) -> None:
    """What was unpacked is a package of its own, and verifies like the first."""
    report = unpack_package(built.path, tmp_path / "unpacked")
    assert report.package_digest == built.package_digest
    files = take_apart(lab_package).files
    assert set(report.entries) == {"manifest.json", *files}
    assert contents(tmp_path / "unpacked") == {
        **files, "manifest.json": take_apart_manifest(lab_package),
    }  # fmt: skip
    whole_check(tmp_path / "unpacked")
    assert verify_package(tmp_path / "unpacked", runs=["reference"]).verdict == "identical"
    assert [path.name for path in tmp_path.iterdir()] == ["unpacked"]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# ---------------------------------------------------------------- what is left behind: nothing


def listing(folder: Path) -> list[tuple[str, int, int, int]]:
    return sorted(
        (path.relative_to(folder).as_posix(), status.st_mtime_ns, status.st_size, status.st_mode)
        for path in (folder, *folder.rglob("*"))
        for status in (path.lstat(),)
    )


def children() -> set[str]:
    tasks = Path("/proc/self/task")
    found: set[str] = set()
    for task in tasks.iterdir() if tasks.is_dir() else ():
        found |= set((task / "children").read_text().split())
    return found


@pytest.fixture
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.mark.parametrize("form", ["zip", "directory"])
def test_verify_writes_nothing_into_the_package_and_leaves_nothing_behind(
    form: str, lab_package: Path, tmp_path: Path, own_temporary_folder: Path
) -> None:
    """Bytes, times and names are as before; no temporary file and no process is left."""
    folder = tmp_path / "packages"
    folder.mkdir()
    forgery = take_apart(lab_package)
    path = folder / form
    if form == "zip":
        forgery.write_zip(path)
    else:
        forgery.write_directory(path)
    before, names, running = contents(folder), listing(folder), children()
    assert verify_package(path, runs=["reference", "adam-reset"]).verdict == "identical"
    assert (contents(folder), listing(folder)) == (before, names)
    assert list(own_temporary_folder.iterdir()) == []
    assert children() <= running


def test_a_package_that_cannot_be_written_to_verifies(lab_package: Path, tmp_path: Path) -> None:
    """The package is only read: files without any right to write are enough."""
    path = take_apart(lab_package).write_directory(tmp_path / "package")
    places = sorted(path.rglob("*"), reverse=True)
    for place in (*places, path):
        place.chmod(0o555 if place.is_dir() else 0o444)
    try:
        assert verify_package(path, runs=["adam-reset"]).verdict == "identical"
    finally:
        for place in (path, *places):
            place.chmod(0o755)


# ---------------------------------------------------------------- unpacking


def test_single_entries_can_be_unpacked(lab_package: Path, tmp_path: Path) -> None:
    report = unpack_package(lab_package, tmp_path / "some", ["plan.json", "source/replay_lab.py"])
    assert set(contents(tmp_path / "some")) == {"plan.json", "source/replay_lab.py"}
    assert set(report.entries) == {"plan.json", "source/replay_lab.py"}


def test_modes_follow_the_manifest_and_not_the_umask(lab_package: Path, tmp_path: Path) -> None:
    forgery = take_apart(lab_package)
    forgery.executables.add("source/replay_lab.py")
    path = forgery.write_zip(tmp_path / "forged.zip")
    former = os.umask(0o077)
    try:
        unpack_package(path, tmp_path / "unpacked")
    finally:
        os.umask(former)
    modes = {
        name: (tmp_path / "unpacked" / name).stat().st_mode & 0o777
        for name in ("source/replay_lab.py", "README.md")
    }
    assert modes == {"source/replay_lab.py": 0o755, "README.md": 0o644}


def test_an_existing_folder_is_replaced_only_by_force(lab_package: Path, tmp_path: Path) -> None:
    target = tmp_path / "unpacked"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="expected a folder that does not exist"):
        unpack_package(lab_package, target)
    with pytest.raises(UsageError, match="expected a package directory to replace"):
        unpack_package(lab_package, target, force=True)
    assert contents(target) == {"mine.txt": b"mine"}
    (target / "mine.txt").rename(target / "manifest.json")
    (target / "manifest.json").write_text('{"format": "replay-package"}')
    with pytest.raises(UsageError, match="expected a package directory to replace"):
        unpack_package(lab_package, target, force=True)
    shutil.rmtree(target)
    unpack_package(lab_package, target)
    unpack_package(lab_package, target, ["plan.json"], force=True)
    assert set(contents(target)) == {"plan.json"}
    assert [path.name for path in tmp_path.iterdir()] == ["unpacked"]


def test_force_replaces_folders_alone_and_never_the_package(
    lab_package: Path, tmp_path: Path
) -> None:
    """A file, a link, and a folder that holds the package itself are left alone."""
    path = take_apart(lab_package).write_zip(tmp_path / "package.zip")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link"):
        with pytest.raises(UsageError, match="expected a package directory to replace"):
            unpack_package(path, tmp_path / name, force=True)
    with pytest.raises(UsageError, match="observed one that holds it"):
        unpack_package(path, tmp_path, force=True)
    assert (tmp_path / "file").read_text() == "mine"
    directory = take_apart(lab_package).write_directory(tmp_path / "directory")
    with pytest.raises(UsageError, match="observed one that holds it"):
        unpack_package(directory, directory, ["plan.json"], force=True)
    whole_check(directory)
    whole_check(path)


def test_a_damaged_package_is_not_unpacked(lab_package: Path, tmp_path: Path) -> None:
    """Not even in part, and nothing is left where it would have been."""
    forgery = take_apart(lab_package)
    forgery.rows["LICENSE"] = {"size": 1}
    forgery.rows["README.md"] = {"size": 1}
    path = forgery.write_zip(tmp_path / "forged.zip")
    with pytest.raises(IntegrityError) as caught:
        unpack_package(path, tmp_path / "new" / "unpacked", ["plan.json"])
    assert [one.entry for one in caught.value.refusals] == ["LICENSE", "README.md"]
    assert not (tmp_path / "new").exists()
    with pytest.raises(UsageError, match="no entry and no folder 'absent'"):
        unpack_package(lab_package, tmp_path / "unpacked", ["absent"])


def test_a_damaged_package_may_not_be_inspected(lab_package: Path, tmp_path: Path) -> None:
    """What cannot be read is an error; a run folder of a false name too."""
    forgery = take_apart(lab_package)
    forgery.files["runs/Ghost/fingerprints.jsonl"] = forgery.files[
        "runs/reference/fingerprints.jsonl"
    ]
    with pytest.raises(PackageError):
        inspect_package(forgery.write_zip(tmp_path / "forged.zip"))
