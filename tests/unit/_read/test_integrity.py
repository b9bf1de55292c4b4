"""What a check gathers: every fault of a pass, counts, codes, and when it goes no further."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._read.findings import Findings
from repropack._read.integrity import check_entries, check_package_whole
from repropack._read.package import open_package
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import IntegrityError, PackageFormatError, UsageError
from repropack.refusals import refusal
from tests.support.experiments import TINY, write_project
from tests.support.hostile import Forgery, nudge, take_apart

OTHER_DIGEST = "sha256:" + "0" * 64


@pytest.fixture
def forgery(lab_package: Path) -> Forgery:
    return take_apart(lab_package)


def faults_of(path: Path, *, fast: bool = False) -> list[tuple[str, str]]:
    return [(fault.code, fault.entry) for fault in check_package(path, fast=fast).faults]


# ---------------------------------------------------------------- findings


def test_an_error_of_many_issues_becomes_many_faults() -> None:
    """Each keeps its own entry; any other error is a fault of the entry it was met in."""
    findings = Findings()
    one, two = refusal("run.name", "a", "", 1, 2), refusal("run.kept", "b", "here", "x", "y")
    findings.add_error(IntegrityError(one, two), "c")
    findings.add_error(PackageFormatError(refusal("npy.bool", "", "there", 3, 4)), "c")
    findings.add_error(
        PackageFormatError(refusal("zip.end", "/x/p.zip", "", 5, 6)), "p.zip", container="/x/p.zip"
    )
    findings.report("plan.name", "d", "", "e", "f")
    assert [tuple(fault.model_dump().values()) for fault in findings.faults] == [
        ("package.integrity", "run.name", "a", "expected 1, observed 2", "1", "2"),
        ("package.integrity", "run.kept", "b", "here: expected x, observed y", "x", "y"),
        ("package.format", "npy.bool", "c", "there: expected 3, observed 4", "3", "4"),
        ("package.format", "zip.end", "p.zip", "expected 5, observed 6", "5", "6"),
        ("package.integrity", "plan.name", "d", "expected e, observed f", "e", "f"),
    ]


def test_trying_gives_the_value_or_notes_the_fault() -> None:
    """Only errors of packages are faults; anything else is a fault of ours and is raised."""
    findings = Findings()

    def fail(error: Exception) -> None:
        raise error

    assert findings.trying("a", lambda: 7) == 7
    assert findings.faults == []
    assert (
        findings.trying("a", lambda: fail(PackageFormatError(refusal("zip.end", "", "", "x", "y"))))
        is None
    )
    assert [one.entry for one in findings.faults] == ["a"]
    with pytest.raises(UsageError):
        findings.trying("a", lambda: fail(UsageError("x")))


# ---------------------------------------------------------------- a whole package


def test_a_whole_package_has_no_faults_and_everything_counts(lab_package: Path) -> None:
    """Steps of all six logs; arrays of all checkpoints and kept rows."""
    findings = Findings()
    with open_package(lab_package) as package:
        check_package_whole(package, findings, expect_digest=package.package_digest)
        assert findings.entries == len(package.manifest.entries)
    assert findings.faults == []
    assert findings.steps == 3 * 100 + 3 * 60
    checkpoints, kept = 6 + 6 + 4 + 4, 100 + 100 + 60 + 60
    assert findings.arrays == 3 * checkpoints + kept


def test_a_fast_check_compares_digests_alone(lab_package: Path) -> None:
    findings = Findings()
    with open_package(lab_package) as package:
        check_package_whole(package, findings, fast=True)
        assert (findings.entries, findings.steps, findings.arrays) == (
            len(package.manifest.entries), 0, 0,
        )  # fmt: skip
    assert findings.faults == []


def test_another_package_digest_than_expected_is_a_fault_of_the_manifest(
    lab_package: Path,
) -> None:
    """It is a whole package, and not the one that was asked for."""
    report = check_package(lab_package, expect_digest=OTHER_DIGEST)
    assert report.verdict == "damaged"
    (fault,) = report.faults
    assert (fault.code, fault.entry) == ("package.another", "manifest.json")
    assert OTHER_DIGEST in fault.problem
    assert str(report.package_digest) in fault.problem
    assert report.steps_checked == 0


# ---------------------------------------------------------------- faults are gathered


def test_every_fault_of_the_entries_is_gathered(forgery: Forgery, tmp_path: Path) -> None:
    """The second pass begins only where every entry has its digest."""
    path = forgery.write_directory(tmp_path / "forged")
    (path / "LICENSE").write_bytes(b"changed")
    (path / "README.md").unlink()
    (path / "source/more.py").write_bytes(b"")
    (path / "plan.json").write_bytes(b"not even JSON")
    (path / "results.json").chmod(0o755)
    assert sorted(faults_of(path)) == [
        ("package.integrity", "LICENSE"),
        ("package.integrity", "README.md"),
        ("package.integrity", "plan.json"),
        ("package.integrity", "results.json"),
        ("package.integrity", "source/more.py"),
    ]
    assert faults_of(path) == faults_of(path, fast=True)


def test_one_entry_may_have_several_faults(forgery: Forgery, tmp_path: Path) -> None:
    forgery.rows["README.md"] = {"role": "plan", "executable": True, "digest": OTHER_DIGEST}
    path = forgery.write_zip(tmp_path / "forged.zip")
    assert faults_of(path) == [("package.integrity", "README.md")] * 3


def test_every_fault_of_the_contents_is_gathered(forgery: Forgery, tmp_path: Path) -> None:
    """Documents, logs, checkpoints and kept arrays of all runs, each by its own name."""
    forgery.files["environment.json"] = b"[]\n"
    forgery.files["schemas/plan.schema.json"] = b"{}\n"
    log = "runs/adam-reset/fingerprints.jsonl"
    forgery.files[log] = forgery.files[log].replace(b'"step":50}', b'"step":51}')
    forgery.edit_kept("reference", lambda arrays: nudge(arrays["weights"], 4, 0))
    forgery.edit_checkpoint("sampler-reset", 60, lambda arrays, _: nudge(arrays["weights"], 0))
    path = forgery.write_zip(tmp_path / "forged.zip")
    assert sorted(faults_of(path)) == [
        ("package.format", log),
        ("package.integrity", "runs/reference/kept.npz"),
        ("package.integrity", "runs/sampler-reset/checkpoints/step-000000060.json"),
        ("package.integrity", "schemas/plan.schema.json"),
        ("package.schema", "environment.json"),
    ]
    assert faults_of(path, fast=True) == []


def test_a_stage_is_named_once_however_many_rows_are_wrong(
    forgery: Forgery, tmp_path: Path
) -> None:
    """The first wrong row is enough; a second stage is looked at all the same."""

    def change(arrays: dict[str, object]) -> None:
        arrays["weights"] = arrays["weights"] + 1  # type: ignore[operator]
        arrays["extra"] = arrays["weights"]

    forgery.edit_kept("reference", change)
    report = check_package(forgery.write_zip(tmp_path / "forged.zip"))
    assert [fault.problem.split(":")[0] for fault in report.faults] == [
        "array 'extra'",
        "array 'weights'",
    ]


def test_a_damaged_member_of_the_kept_arrays_is_their_fault(
    forgery: Forgery, tmp_path: Path
) -> None:
    """A checksum inside the npz that is wrong though the entry's digest is right."""
    path = "runs/reference/kept.npz"
    data = bytearray(forgery.files[path])
    data[5000] ^= 1
    forgery.files[path] = bytes(data)
    found = check_package(forgery.write_zip(tmp_path / "forged.zip")).faults
    assert {fault.entry for fault in found} == {path}


def test_damage_that_shows_only_at_the_end_of_a_large_array_is_found(tmp_path: Path) -> None:
    """Every row has its fingerprint; the checksum over all of them is wrong."""
    source = TINY.replace("np.full(3,", "np.full(200_000,")
    project = write_project(tmp_path / "p", source=source, steps=2, record={"keep": ["x"]})
    build_package(project, tmp_path / "built.zip")
    forgery = take_apart(tmp_path / "built.zip")
    path = "runs/reference/kept.npz"
    data = bytearray(forgery.files[path])
    checksum = bytes(data[14:18])
    for place in (14, data.rfind(checksum)):
        data[place] ^= 1
    forgery.files[path] = bytes(data)
    report = check_package(forgery.write_zip(tmp_path / "forged.zip"))
    assert [(fault.code, fault.entry) for fault in report.faults] == [("package.format", path)]
    assert "checksum differs" in report.faults[0].problem


def test_a_damaged_document_does_not_hide_the_others(forgery: Forgery, tmp_path: Path) -> None:
    forgery.files["plan.json"] = b"[]\n"
    forgery.files["results.json"] = b"{}\n"
    path = forgery.write_zip(tmp_path / "forged.zip")
    assert faults_of(path) == [
        ("package.schema", "plan.json"),
        ("package.schema", "results.json"),
    ]


def test_a_file_that_is_no_package_is_damaged(tmp_path: Path) -> None:
    """There is nothing to say of it but that."""
    path = tmp_path / "note.zip"
    path.write_bytes(b"not a zip")
    report = check_package(path)
    assert (report.verdict, report.package, report.package_digest) == ("damaged", None, None)
    assert [(fault.code, fault.entry) for fault in report.faults] == [
        ("package.format", "note.zip")
    ]


def test_check_entries_can_be_called_alone(lab_package: Path) -> None:
    findings = Findings()
    with open_package(lab_package) as package:
        check_entries(package, findings)
    assert findings.faults == []
    assert findings.entries > 0


# ---------------------------------------------------------------- limits, notebook, reset


def test_faults_are_listed_up_to_a_limit() -> None:
    """The last row says that there are more, and is the only one of its kind."""
    findings = Findings(max_faults=2)
    for name in "abcde":
        findings.report("run.kept", name, "", "x", "y")
    assert [(fault.rule, fault.entry) for fault in findings.faults] == [
        ("run.kept", "a"),
        ("run.kept", "b"),
        ("limit.max_faults", "manifest.json"),
    ]


@pytest.mark.hostile
def test_the_notebook_is_what_the_plan_says(forgery: Forgery, tmp_path: Path) -> None:
    """A plan that calls the notebook executed, or not, against what is in it."""
    planned = forgery.read("plan.json")["notebook"]
    other = {"executed": "unexecuted", "unexecuted": "executed"}[planned]
    forgery.edit("plan.json", lambda plan: plan.update(notebook=other))
    (fault,) = check_package(forgery.write_zip(tmp_path / "x.zip")).faults
    assert (fault.rule, fault.entry) == ("plan.notebook", "notebook.ipynb")
    assert (fault.expected, fault.observed) == (f"{other}, as the plan says", planned)


@pytest.mark.hostile
def test_a_notebook_that_is_none_is_refused(forgery: Forgery, tmp_path: Path) -> None:
    """Not JSON, or no notebook."""
    forgery.files["notebook.ipynb"] = b"{}\n"
    (fault,) = check_package(forgery.write_zip(tmp_path / "x.zip")).faults
    assert (fault.code, fault.rule) == ("package.format", "notebook.form")


@pytest.mark.hostile
def test_a_long_document_is_told_in_the_models_words(forgery: Forgery, tmp_path: Path) -> None:
    """Of a document beyond a mebibyte the schema is not asked, and it is refused all the same."""
    forgery.edit("results.json", lambda results: results.update(more="x" * (1 << 20)))
    (fault,) = check_package(forgery.write_zip(tmp_path / "x.zip")).faults
    assert (fault.rule, fault.entry) == ("document.schema", "results.json")
    assert fault.problem == "/more: Extra inputs are not permitted"


@pytest.mark.hostile
def test_a_change_while_checking_is_noticed(
    forgery: Forgery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that comes while a directory is checked is a fault of its own."""
    folder = forgery.write_directory(tmp_path / "x")
    findings = Findings()
    with open_package(folder) as package:
        (folder / "source" / "sitecustomize.py").write_bytes(b"")
        check_package_whole(package, findings)
    assert [(fault.rule, fault.entry) for fault in findings.faults] == [
        ("directory.changed", "source/sitecustomize.py")
    ]
