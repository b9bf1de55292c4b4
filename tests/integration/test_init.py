"""A project that was begun a moment ago builds and verifies; on a terminal it asks."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from repropack._cli.main import main

SCRIPT = """\
import argparse
import numpy as np
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=5)
seed = parser.parse_args().seed
x = np.loadtxt("x.txt")
np.savez("out", x=x, draws=np.random.PCG64(seed).random_raw(4))
with open("sum.csv", "w") as stream:
    stream.write(f"sum\\n{x.sum()}\\n")
"""
FLAGS = ("--author", "Ada", "--license", "MIT")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    status = main([*arguments, "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_new_project_builds_and_verifies(tmp_path, capsys, monkeypatch):
    """Three commands: begun, built with every expectation held, verified."""
    monkeypatch.chdir(tmp_path)
    status, begun = run(capsys, "init", "study", *FLAGS)
    assert (status, begun["schema"], begun["form"]) == (0, "repropack/init-report/v1", "stepwise")
    assert begun["next"] == ["repropack build study", "repropack verify study-1.0.0.zip"]
    status, built = run(capsys, "build", "study", "--unexecuted-notebook")
    assert (status, built["expectations_held"]) == (0, True)
    assert built["sources"] == {"files": 1, "chosen_by": "source"}
    runs = {row["run"]: row["held"] for row in built["results"]["comparisons"]}
    assert runs == {"restart": True, "resume": True, "generator-reset": True}
    status, verified = run(capsys, "verify", "study-1.0.0.zip")
    assert (status, verified["verdict"]) in {(0, "identical"), (4, "could-not-run")}
    if verified["verdict"] == "could-not-run":
        assert verified["problem"]["code"] == "confinement-unavailable"


def test_a_script_builds_and_verifies(tmp_path, capsys, monkeypatch):
    """The same around a script that is there; its bytes are what is packed."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT, "utf-8")
    Path("x.txt").write_text("1\n2\n", "utf-8")
    status, begun = run(capsys, "init", ".", "--name", "mine", "--script", "train.py", *FLAGS)
    assert (status, begun["outputs"]) == (0, ["out.npz", "sum.csv"])
    status, built = run(capsys, "build", ".", "--unexecuted-notebook")
    assert (status, built["expectations_held"]) == (0, True)
    status, inspection = run(capsys, "inspect", "mine-1.0.0.zip")
    paths = [row["path"] for row in inspection["entries"]]
    assert {"source/train.py", "inputs/x.txt", "runs/reference/outputs/out.npz"} <= set(paths)
    assert Path("train.py").read_text("utf-8") == SCRIPT


# ---------------------------------------------------------------- flags and questions


@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        ([], "--author, --license"),
        (["--author", "Ada"], "--license"),
        (["--license", "MIT"], "--author"),
    ],
)
def test_without_a_terminal_missing_flags_are_named(tmp_path, capsys, monkeypatch, flags, missing):
    """Status 2, nobody is asked, nothing is written."""
    monkeypatch.setattr("sys.stdin", None)
    status, report = run(capsys, "init", str(tmp_path / "x"), *flags)
    assert (status, report["code"]) == (2, "usage")
    assert report["message"] == f"the following arguments are required: {missing}"
    assert not (tmp_path / "x").exists()


def test_inputs_and_outputs_belong_to_a_script(tmp_path, capsys):
    """Without a script there is nothing that reads or writes."""
    status, report = run(capsys, "init", str(tmp_path / "x"), *FLAGS, "--output", "a")
    assert status == 2
    assert report["message"] == "--input and --output: expected --script beside them, observed none"


def on_terminal(folder: Path, *arguments: str, answers: str) -> tuple[int, str]:
    """Call ``init`` on a terminal of its own, and type; status and everything that it shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "repropack", "init", *arguments],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1", "GIT_CEILING_DIRECTORIES": "/"},
    )
    os.close(theirs)
    os.write(ours, answers.encode("utf-8"))
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 1)[0]:
            continue
        try:
            data = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return process.wait(60), shown.decode("utf-8").replace("\r\n", "\n")


def test_on_a_terminal_what_is_missing_is_asked_for(tmp_path):
    """Name, title, author and licence, each with its default where there is one."""
    status, shown = on_terminal(tmp_path, "My_study", answers="\n\n\nAda\n\n")
    assert status == 0
    asked = [line for line in shown.splitlines() if line.endswith(":")]
    assert asked == [
        "name of the package [my-study]:",
        "title [My study]:",
        "author:",
        "author:",
        "licence (SPDX) [CC0-1.0]:",
        "next:",
    ]
    text = (tmp_path / "My_study/repropack.toml").read_text("utf-8")
    for line in ('name = "my-study"', 'title = "My study"', 'license = "CC0-1.0"', 'name = "Ada"'):
        assert f"{line}\n" in text


def test_on_a_terminal_nothing_is_asked_that_is_known(tmp_path):
    """With both flags there is no question."""
    status, shown = on_terminal(tmp_path, "x", *FLAGS, answers="")
    assert status == 0
    assert shown.startswith("begun  x\n")


def test_the_input_ends(tmp_path):
    """An end of the input is no answer."""
    status, shown = on_terminal(tmp_path, "x", answers="\x04")
    assert status == 2
    assert "name of the package: expected an answer, observed the end of the input" in shown
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_author_of_git_is_proposed(tmp_path, monkeypatch):
    """``user.name`` is a default, and no more: an answer goes before it."""
    config = tmp_path / "home"
    config.mkdir()
    (config / ".gitconfig").write_text("[user]\n\tname = Ada of git\n", "utf-8")
    monkeypatch.setenv("HOME", str(config))
    status, shown = on_terminal(tmp_path, "x", "--license", "MIT", answers="\n\n\n")
    assert status == 0
    assert "author [Ada of git]:" in shown
    assert 'name = "Ada of git"\n' in (tmp_path / "x/repropack.toml").read_text("utf-8")
