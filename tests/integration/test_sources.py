"""What a build packs and refuses to run without, through the command line."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from repropack._cli.main import main
from tests.unit._run.test_checkout import commit, write

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
PROJECT = """\
[package]
name = "lab"
version = "1.0.0"
title = "A title"
license = "MIT"
authors = [{ name = "Ada" }]
[experiment]
entry-point = "lab:Lab"
seed = 1
steps = 2
"""
LAB = """\
import helpers


class Lab:
    def __init__(self, config, seed):
        self.count = seed

    def step(self, trace):
        self.count = helpers.following(self.count)

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]
"""
HELPERS = "def following(count):\n    return count + 1\n"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    status = main([*arguments, "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


def build(capsys: pytest.CaptureFixture[str], project: Path) -> tuple[int, Any]:
    output = project.parent / "lab.zip"
    return run(capsys, "build", str(project), "-o", str(output), "--force", "--discard")


def test_a_module_that_is_not_packed_ends_a_build_before_it_runs(tmp_path, capsys):
    """The pattern is named, nothing was recorded, and with the pattern it builds."""
    project = tmp_path / "p"
    text = PROJECT + 'source = ["lab.py"]\n'
    write(project, {"repropack.toml": text, "lab.py": LAB, "helpers.py": HELPERS})
    status, report = build(capsys, project)
    assert (status, report["code"]) == (2, "project.invalid")
    assert report["message"].endswith(
        "experiment.source: lab.py, line 1: imports 'helpers' from helpers.py, which is not "
        "packed: add 'helpers.py' to source"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p"]
    write(project, {"repropack.toml": text.replace('"lab.py"]', '"lab.py", "helpers.py"]')})
    status, report = build(capsys, project)
    assert (status, report["sources"]) == (0, {"files": 2, "chosen_by": "source"})
    assert report["package"]["origin"] is None


def test_a_module_that_code_imports_from_elsewhere(tmp_path, capsys):
    """What reading cannot find, the worker sees; the run is not recorded as if it were whole."""
    hidden = (
        "import importlib, sys\n"
        f"sys.path.append({str(tmp_path / 'elsewhere')!r})\n"
        "def following(count):\n"
        "    return importlib.import_module('stray').following(count)\n"
    )
    files = {"p/repropack.toml": PROJECT, "p/lab.py": LAB, "p/helpers.py": hidden}
    write(tmp_path, {**files, "elsewhere/stray.py": HELPERS})
    status, report = build(capsys, tmp_path / "p")
    assert (status, report["code"]) == (4, "experiment.load")
    assert report["message"] == (
        "expected every imported module packed or installed, observed from elsewhere: stray "
        "(elsewhere/stray.py)"
    )
    assert not (tmp_path / "lab.zip").exists()


def test_a_module_that_a_run_does_not_find(tmp_path, capsys):
    """The hint of a failed run names what the project has."""
    late = "def following(count):\n    return __import__('late' + '_one').following(count)\n"
    text = PROJECT + 'source = ["lab.py", "helpers.py"]\n'
    files = {"repropack.toml": text, "lab.py": LAB, "helpers.py": late, "late_one.py": HELPERS}
    write(tmp_path / "p", files)
    status, report = build(capsys, tmp_path / "p")
    assert (status, report["code"]) == (4, "experiment.step")
    expected = "late_one.py is in the project and not packed: add 'late_one.py' to source"
    assert report["hint"].startswith(expected)


@needs_git
def test_a_checkout_is_packed_and_named(tmp_path, capsys):
    """What git tracks is packed; commit and state of the tree stand in the manifest."""
    project = tmp_path / "p"
    files = {"repropack.toml": PROJECT, "lab.py": LAB, "helpers.py": HELPERS, "notes.md": "n"}
    head = commit(project, files)
    write(project, {"scratch.py": "unfinished"})
    status, report = build(capsys, project)
    assert (status, report["sources"]) == (0, {"files": 4, "chosen_by": "git"})
    assert report["package"]["origin"] == {"clean": True, "commit": head}
    status, inspection = run(capsys, "inspect", str(tmp_path / "lab.zip"))
    assert inspection["package"]["origin"] == {"clean": True, "commit": head}
    sources = [row["path"] for row in inspection["entries"] if row["role"] == "source"]
    assert sources == [
        *("source/helpers.py", "source/lab.py", "source/notes.md", "source/repropack.toml"),
    ]
    write(project, {"helpers.py": HELPERS.replace("1", "2")})
    (tmp_path / "lab.zip").unlink()
    status, report = build(capsys, project)
    assert report["package"]["origin"] == {"clean": False, "commit": head}


def test_the_text_says_what_was_packed(tmp_path, capsys):
    """One line: how many files, and what chose them."""
    write(tmp_path / "p", {"repropack.toml": PROJECT, "lab.py": LAB, "helpers.py": HELPERS})
    assert main(["build", str(tmp_path / "p"), "-o", str(tmp_path / "lab.zip")]) == 0
    assert "source            2 files (**/*.py)\n" in capsys.readouterr().out


def test_the_built_in_lab_is_of_no_checkout(lab_package, capsys):
    """Wherever repropack itself lies, its lab is no project of whoever builds it."""
    _, inspection = run(capsys, "inspect", str(lab_package))
    assert inspection["package"]["origin"] is None


@needs_git
def test_lint_looks_at_what_would_be_packed(tmp_path, capsys):
    """A file that git does not track is not packed, and so no matter of lint's."""
    commit(tmp_path, {"repropack.toml": PROJECT, "lab.py": LAB, "helpers.py": HELPERS})
    text = 'PLACE = "/home/ada/data"\n'
    write(tmp_path, {"scratch.py": text})
    _, report = run(capsys, "lint", str(tmp_path))
    assert "scratch.py" not in json.dumps(report["findings"])
    write(tmp_path, {"helpers.py": HELPERS + text})
    _, report = run(capsys, "lint", str(tmp_path))
    assert "helpers.py" in json.dumps(report["findings"])


def test_modules_in_a_folder_of_the_source(tmp_path, capsys):
    """Without import-from a src layout is refused before it runs; with it, it builds."""
    project = tmp_path / "p"
    moved = PROJECT.replace("lab:Lab", "mine.lab:Lab")
    write(project, {"repropack.toml": moved, "src/mine/__init__.py": ""})
    write(project, {"src/mine/lab.py": LAB.replace("import helpers", "from mine import helpers")})
    write(project, {"src/mine/helpers.py": HELPERS})
    status, told = build(capsys, project)
    assert (status, told["code"]) == (4, "experiment.load")
    assert told["hint"] == "mine is packed in src: add import-from = ['src'] to [experiment]"
    named = moved.replace("seed = 1", 'seed = 1\nimport-from = ["src"]')
    write(project, {"repropack.toml": named})
    assert build(capsys, project)[0] == 0
    assert run(capsys, "verify", str(tmp_path / "lab.zip"))[1]["verdict"] == "identical"


def test_a_command_finds_modules_in_a_folder_of_the_source(tmp_path, capsys):
    """`python -m` and a script both do."""
    project = tmp_path / "p"
    moved = PROJECT.replace('entry-point = "lab:Lab"', 'import-from = ["src"]').replace(
        "steps = 2", 'command = ["python", "-m", "mine"]\noutputs = ["a.txt"]'
    )
    script = "from mine.helpers import following\nopen('a.txt', 'w').write(str(following(2)))\n"
    write(project, {"repropack.toml": moved, "src/mine/__init__.py": ""})
    write(project, {"src/mine/helpers.py": HELPERS, "src/mine/__main__.py": script})
    assert build(capsys, project)[0] == 0
    write(project, {"repropack.toml": moved.replace('"-m", "mine"', '"run.py"'), "run.py": script})
    shutil.move(tmp_path / "lab.zip", tmp_path / "former.zip")
    assert build(capsys, project)[0] == 0


@pytest.mark.parametrize(
    ("name", "entry"), [("README.md", "README.author.md"), ("README.rst", "README.author.txt")]
)
def test_what_the_author_says_is_packed_and_is_no_evidence(tmp_path, capsys, name, entry):
    """Beside the README that a build writes, byte for byte; other words are the same evidence."""
    project = tmp_path / "p"
    write(project, {"repropack.toml": PROJECT, "lab.py": LAB, "helpers.py": HELPERS})
    digests = []
    for words in ("It takes 5 seconds.\n", "It takes 6 seconds.\n"):
        write(project, {name: words})
        status, told = build(capsys, project)
        digests.append(told["evidence_digest"])
        assert status == 0
        with zipfile.ZipFile(tmp_path / "lab.zip") as package:
            assert package.read(entry).decode() == words
            assert f"| `{entry}` |" in package.read("README.md").decode()
    assert digests[0] == digests[1]
    found = run(capsys, "lint", str(tmp_path / "lab.zip"))[1]["findings"]
    assert "readme-time" not in [one["rule"] for one in found]
