"""``repropack lint`` on projects and packages, and ``build``, which asks it first."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from repropack._cli.main import main
from repropack._format.schemas import read_document
from repropack._read.package import open_package
from repropack._read.project import load_project
from repropack.build import build_package
from repropack.errors import LintError, PackageFormatError, ProjectError
from repropack.lint import lint_path
from repropack.models.lint import LintReport
from tests.support.experiments import TINY, write_project
from tests.support.hostile import take_apart
from tests.support.locks import add_lock

HOME = "/home/" + "mgarcia"
README = "It takes 2 seconds. The loss should fall.\n"


def allow(project: Path, *rules: str) -> None:
    with (project / "repropack.toml").open("a") as file:
        file.write(f"[lint]\nallow = {json.dumps(list(rules))}\n")


def found(path: Path) -> list[tuple[str, str, int | None, bool]]:
    return [(row.rule, row.path, row.line, row.allowed) for row in lint_path(path).findings]


def test_a_small_project_has_warnings_and_no_errors(tmp_path: Path) -> None:
    """An honest first project builds; README, licence and lock clear its warnings."""
    project = write_project(tmp_path / "tiny")
    report = lint_path(project)
    assert (report.verdict, report.subject) == ("warnings", "project")
    assert [row.rule for row in report.findings] == [
        "readme-missing", "license-missing", "authors-names", "archive-required", "not-locked",
        "authors-orcid", "archive-wanted", "no-comparisons", "checkpoint-every-missing",
    ]  # fmt: skip
    (project / "README.md").write_text(README)
    (project / "LICENSE").write_text("CC0\n")
    (project / "uv.lock").write_text("version = 1\n")
    file = project / "repropack.toml"
    about = 'date = 2026-11-30, description = "Tiny.", type = "software", license = '
    text = file.read_text().replace("license = ", about, 1)
    file.write_text(text.replace('"Nobody"}', '"Nobody", kind = "organization"}', 1))
    assert lint_path(project).verdict == "clean"


def test_a_packed_file_with_a_personal_path_is_an_error(tmp_path: Path) -> None:
    """In source, in inputs, and in the configuration."""
    project = write_project(
        tmp_path / "tiny",
        source=TINY + f"\nDATA = '{HOME}/x'\n",
        config={"folder": f"{HOME}/y"},
    )
    errors = [row for row in found(project) if row[0] == "personal-path"]
    assert errors == [
        ("personal-path", "repropack.toml", 1, False),
        ("personal-path", "tiny.py", TINY.count("\n") + 2, False),
    ]
    assert lint_path(project).verdict == "errors"


def test_a_file_that_is_not_packed_may_hold_anything(tmp_path: Path) -> None:
    """Notes beside the project are the author's own."""
    project = write_project(tmp_path / "tiny")
    (project / "notes.txt").write_text(f"see {HOME}/x\n")
    assert lint_path(project).verdict == "warnings"


def test_statuses_and_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 with warnings, 1 with errors, 2 for wrong use, 3 for a damaged package."""
    project = write_project(tmp_path / "tiny")
    assert main(["lint", str(project)]) == 0
    assert capsys.readouterr().out.startswith("warnings  ")
    (project / "tiny.py").write_text(f"x = '{HOME}/x'\n")
    assert main(["lint", str(project), "--format", "json"]) == 1
    output, other = capsys.readouterr()
    report = read_document(LintReport, output.encode(), where="output")
    assert (report.verdict, report.findings[0].rule, other) == ("errors", "personal-path", "")
    assert main(["lint", str(tmp_path / "none")]) == 2
    assert main(["lint", str(tmp_path)]) == 2
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and no more")
    assert main(["lint", str(tmp_path / "a.zip")]) == 3


def test_build_stops_at_an_error_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 1, the findings on standard error, no package and no work folder."""
    project = write_project(tmp_path / "tiny", source=TINY + f"\nDATA = '{HOME}/x'\n")
    target = tmp_path / "tiny.zip"
    assert main(["build", str(project), "-o", str(target)]) == 1
    output, other = capsys.readouterr()
    assert output == ""
    assert "  error: tiny.py:" in other
    assert (
        'hint: mend what is found, or let it pass with allow = ["personal-path"] in [lint]' in other
    )
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]
    assert main(["build", str(project), "-o", str(target), "--format", "json"]) == 1
    failed = json.loads(capsys.readouterr().out)
    assert (failed["code"], failed["status"]) == ("lint", 1)
    assert [(row["rule"], row["entry"]) for row in failed["faults"]] == [
        ("personal-path", f"tiny.py:{TINY.count(chr(10)) + 2}")
    ]


def test_an_allowed_error_is_recorded(tmp_path: Path) -> None:
    """The package names the rule; the report and ``lint`` of the package mark the finding."""
    project = write_project(tmp_path / "tiny", source=TINY + f"\nDATA = '{HOME}/x'\n")
    allow(project, "personal-path")
    told: list[Any] = []
    report = build_package(project, tmp_path / "tiny.zip", on_findings=told.append)
    assert told[0] == report.findings[: len(told[0])]
    assert ("personal-path", True) in {(row.rule, row.allowed) for row in report.findings}
    with open_package(tmp_path / "tiny.zip") as package:
        assert package.manifest.package.allowed_findings == ("personal-path",)
    line = TINY.count("\n") + 2
    assert ("personal-path", "source/tiny.py", line, True) in found(tmp_path / "tiny.zip")
    assert main(["lint", str(tmp_path / "tiny.zip")]) == 0


def test_warnings_do_not_stop_a_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are told on standard error, and are in the report."""
    project = write_project(tmp_path / "tiny")
    assert main(["build", str(project), "-o", str(tmp_path / "tiny.zip")]) == 0
    output, other = capsys.readouterr()
    assert output.startswith("built  ")
    assert other == (
        f"lint: 5 warnings, 4 notes; `repropack lint {project}` tells more\n"
        "  warning: repropack.toml: expected a README, observed none [readme-missing]\n"
        "  warning: repropack.toml: expected the text of 'CC0-1.0' in a file, observed none "
        "[license-missing]\n"
        "  warning: repropack.toml: expected the parts of the name Nobody [authors-names]\n"
        "  warning: repropack.toml: no date, description, type [archive-required]\n"
        "  warning: repropack.toml: expected a lock of the distributions, observed none "
        "[not-locked]\n"
    )


def test_the_built_in_lab_is_not_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody who builds it can mend it."""
    assert build_package(None, tmp_path / "lab.zip").findings == ()


def test_what_a_run_makes_is_looked_at_before_it_is_published(tmp_path: Path) -> None:
    """A state may hold what no source does; what was recorded is kept, and may be allowed."""
    leaking = TINY.replace('"updates": self.updates', '"updates": self.updates, "path": PATH')
    path = 'PATH = "/".join(("", "home", "mgarcia", "x"))'
    leaking = leaking.replace("class Tiny:", f"{path}\n\n\nclass Tiny:")
    project = write_project(tmp_path / "tiny", source=leaking)
    target = tmp_path / "tiny.zip"
    with pytest.raises(LintError) as caught:
        build_package(project, target)
    assert {(one.rule, one.entry.partition(":")[0]) for one in caught.value.refusals} == {
        ("personal-path", "runs/reference/checkpoints/step-000000000.json"),
        ("personal-path", "runs/reference/checkpoints/step-000000010.json"),
    }
    assert "--resume continues it" in str(caught.value.hint)
    assert not target.exists()
    allow(project, "personal-path")
    report = build_package(project, target, left_over="resume")
    assert {row.path for row in report.findings if row.allowed} == {
        "runs/reference/checkpoints/step-000000000.json",
        "runs/reference/checkpoints/step-000000010.json",
    }


def test_an_unknown_rule_in_allow_is_a_fault_of_the_file(tmp_path: Path) -> None:
    """With what may have been meant, and beside other faults."""
    project = write_project(tmp_path / "tiny")
    allow(project, "personal-paths", "colour", "secret", "secret")
    with pytest.raises(ProjectError) as caught:
        load_project(project)
    meant = "did you mean 'personal-path'?"
    assert caught.value.issues == (
        ("lint.allow[0]", f"expected a rule of docs/lint.md, observed 'personal-paths'; {meant}"),
        ("lint.allow[1]", "expected a rule of docs/lint.md, observed 'colour'"),
        ("lint.allow", "expected each name once, observed 'secret' twice"),
    )


def test_inputs_of_a_project(tmp_path: Path) -> None:
    """One that is opened and not packed stops a build; named in inputs it does not."""
    project = write_project(tmp_path / "tiny", source=TINY + "\nROWS = open('rows.csv').read()\n")
    (project / "rows.csv").write_text("1\n")
    assert ("input-missing", "tiny.py", TINY.count("\n") + 2, False) in found(project)
    file = project / "repropack.toml"
    file.write_text(file.read_text().replace('"seed" = 3', '"seed" = 3').replace(
        "seed = 3", 'seed = 3, inputs = ["rows.csv"]'))  # fmt: skip
    assert not [row for row in found(project) if row[0].startswith("input-")]


def test_the_lab_and_its_example_have_no_errors(lab_package: Path) -> None:
    """What repropack ships obeys its own rules."""
    root = Path(__file__).resolve().parents[2]
    assert lint_path(root / "examples" / "replay-lab").verdict in {"clean", "warnings"}
    assert lint_path(lab_package).verdict in {"clean", "warnings"}


def test_wheels_are_others_and_not_looked_at(lab_package: Path, tmp_path: Path) -> None:
    """An index has them under the same digest; the same words in the source are an error."""
    words = b"written in /home/zenobia/wheel\n"
    forgery = take_apart(lab_package)
    add_lock(forgery)
    wheel = next(path for path in forgery.files if path.startswith("wheels/numpy-"))
    forgery.files[wheel] = words
    assert lint_path(forgery.write_zip(tmp_path / "a.zip")).verdict in {"clean", "warnings"}
    forgery.files["source/notes.txt"] = words
    assert lint_path(forgery.write_zip(tmp_path / "b.zip")).verdict == "errors"


def test_a_package_is_looked_at_as_zip_and_as_folder(tmp_path: Path) -> None:
    """With the same findings."""
    project = write_project(tmp_path / "tiny", source=TINY + f"\nDATA = '{HOME}/x'\n")
    allow(project, "personal-path")
    build_package(project, tmp_path / "tiny.zip")
    build_package(project, tmp_path / "tiny-folder", directory=True)
    assert lint_path(tmp_path / "tiny.zip").findings == lint_path(tmp_path / "tiny-folder").findings


def test_nothing_of_a_project_is_run(tmp_path: Path) -> None:
    """Not even imported."""
    marker = tmp_path / "ran"
    source = f"import pathlib\npathlib.Path({str(marker)!r}).touch()\n" + TINY
    project = write_project(tmp_path / "tiny", source=source)
    lint_path(project)
    assert not marker.exists()


def test_a_package_without_one_of_its_entries_is_damaged(tmp_path: Path) -> None:
    """What cannot be looked at is not called clean."""
    package = tmp_path / "tiny"
    build_package(write_project(tmp_path / "project"), package, directory=True)
    (package / "source" / "tiny.py").unlink()
    with pytest.raises(PackageFormatError, match=r"source/tiny\.py: missing"):
        lint_path(package)


def test_what_git_tracks_is_looked_at(tmp_path: Path) -> None:
    """Where source is not given, and nothing else is."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    project = write_project(tmp_path / "tiny")
    for name in ("notes.txt", "own.txt"):
        (project / name).write_text(f"see {HOME}/x\n")
    for words in (["init", "-q"], ["add", "repropack.toml", "tiny.py", "notes.txt"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    errors = [row[1] for row in found(project) if row[0] == "personal-path"]
    assert errors == ["notes.txt"]


def test_a_run_that_writes_where_it_ran_is_found(tmp_path: Path) -> None:
    """Also where nobody's home is around the project."""
    project = tmp_path / "tiny"
    project.mkdir()
    (project / "run.py").write_text("import os\nopen('out.txt', 'w').write(os.getcwd())\n")
    (project / "repropack.toml").write_text(
        'package = { name = "tiny", version = "1.0.0", title = "Tiny", license = "CC0-1.0", '
        'authors = [{ name = "Nobody" }] }\n'
        '[experiment]\ncommand = ["python", "run.py"]\noutputs = ["out.txt"]\nsource = ["run.py"]\n'
    )
    with pytest.raises(LintError) as caught:
        build_package(project, tmp_path / "tiny.zip")
    assert [(one.rule, one.entry, one.problem) for one in caught.value.refusals] == [
        (
            "personal-path",
            "runs/reference/outputs/out.txt:1",
            "a path of this machine, below the folder of this build",
        )
    ]
    assert not (tmp_path / "tiny.zip").exists()
