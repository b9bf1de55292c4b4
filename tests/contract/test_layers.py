"""The import contracts hold, and each of them bites when something is planted against it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = "import sys; from importlinter.cli import lint_imports_command as lint; lint()"


def lint_imports(checkout: Path, *contracts: str) -> tuple[int, str]:
    """Run the contracts on the package below ``checkout``; return status and report."""
    chosen = [argument for name in contracts for argument in ("--contract", name)]
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache", "--no-logo", *chosen],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the package that may be spoiled."""
    shutil.copytree(
        ROOT / "repropack",
        tmp_path / "repropack",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_contract_is_kept(checkout: Path) -> None:
    """The package as it stands keeps all contracts."""
    status, report = lint_imports(checkout)
    assert status == 0, report
    assert "0 broken" in report


@pytest.mark.parametrize(
    ("contract", "file", "line", "reported"),
    [
        ("layers", "errors.py", "import repropack.models.base", "repropack.models"),
        ("layers", "models/planted.py", "import repropack._format", "repropack._format"),
        ("layers", "unlisted.py", '"""A module without a place."""', "unlisted"),
        ("no-pickle", "_format/planted.py", "import pickle", "pickle"),
        ("no-pickle", "_run/planted.py", "from marshal import loads", "marshal"),
        ("pure", "_format/planted.py", "import time", "time"),
        ("pure", "_compare/planted.py", "import random", "random"),
        ("pure", "models/planted.py", "from datetime import datetime", "datetime"),
        ("judge-runs-nothing", "_read/planted.py", "import subprocess", "subprocess"),
        ("judge-runs-nothing", "_compare/planted.py", "import repropack.experiment", "experiment"),
    ],
)
def test_a_contract_bites(
    checkout: Path, contract: str, file: str, line: str, reported: str
) -> None:
    """One planted line breaks its contract, and the report names it."""
    kept, report = lint_imports(checkout, contract)
    assert kept == 0, report
    target = checkout / "repropack" / file
    with target.open("a", encoding="utf-8") as module:
        module.write(f"\n{line}\n")
    status, report = lint_imports(checkout, contract)
    assert status == 1, report
    assert "BROKEN" in report or "not listed" in report, report
    assert reported in report
