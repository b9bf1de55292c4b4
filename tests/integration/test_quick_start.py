"""The README's quick start, typed as it stands: from a clone to a verified package of a script."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repropack._format.limits import DEFAULT_RUN_LIMITS
from repropack._run.confinement.probing import choose_sandbox
from repropack.errors import ConfinementUnavailableError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MOST_COMMANDS = 5


def quick_start() -> list[list[str]]:
    """The commands of the section, word by word."""
    text = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"^## Quick start$.*?^```sh$\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert block is not None
    return [
        shlex.split(line) for line in block[1].replace("<this repository>", "ROOT").splitlines()
    ]


def test_the_quick_start_is_short_and_says_what_the_text_below_shows() -> None:
    """At most five commands: clone, install, and three verbs."""
    commands = quick_start()
    assert len(commands) <= MOST_COMMANDS
    assert [words[:2] for words in commands] == [
        ["git", "clone"],
        ["python", "-m"],
        ["repropack", "init"],
        ["repropack", "build"],
        ["repropack", "verify"],
    ]


def test_the_quick_start_leads_to_a_verified_package(tmp_path: Path) -> None:
    """In a new virtual environment, from a new clone: every command ends with status 0."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git, and a checkout to clone")
    try:
        choose_sandbox(None, DEFAULT_RUN_LIMITS)
    except ConfinementUnavailableError as error:
        pytest.skip(f"needs bubblewrap or Landlock: {error.message}")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    path = f"{tmp_path / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    said = ""
    for words in quick_start():
        done = subprocess.run(
            [str(ROOT) if word == "ROOT" else word for word in words],
            cwd=tmp_path,
            env=os.environ | {"PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        said = done.stdout
        if words[2] == "pip" and done.returncode != 0:
            pytest.skip(f"needs an index to install from: {said[-300:]}")
        assert done.returncode == 0, said
    assert said.startswith("identical  lake-1.0.0.zip\n2 runs executed again here: ")
    kept = sorted(path.name for path in (tmp_path / "lake").iterdir())
    assert kept == [
        ".gitignore",
        "LICENSE",
        "README.md",
        "analyse.py",
        "readings.csv",
        "repropack.toml",
    ]
    script = tmp_path / "repropack/examples/plain-script/analyse.py"
    assert (tmp_path / "lake/analyse.py").read_bytes() == script.read_bytes()
