"""What holds for the files of the repository as files."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 400
MAX_CHECKER_LINES = 450
"""The checker stands alone: what it needs of several modules is in one file."""
MADE_HERE = {
    ".git", ".venv", "build", "dist", "__pycache__", ".hypothesis", ".import_linter_cache",
    ".mypy_cache", ".pytest_cache", ".ruff_cache",
}  # fmt: skip

# Joined at run time, so that this file does not hold what it looks for.
FORBIDDEN_PATHS = tuple("/" + name + "/" for name in ("wo" + "rk", "ro" + "ot"))
WRONG_DISTRIBUTION = re.compile(rb"pip install (?:\S+ )*?['\"]?repro" + rb"pack(?![\w-])")


def list_files() -> list[Path]:
    """Every file of the repository that is, or would be, committed."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        paths = [ROOT / os.fsdecode(name) for name in listed.split(b"\0") if name]
    else:
        paths = [
            path
            for path in ROOT.rglob("*")
            if not MADE_HERE.intersection(path.relative_to(ROOT).parts)
        ]
    return [path for path in paths if path.is_file()]


FILES = list_files()
MODULES = sorted((ROOT / "repropack").rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_tree_was_found() -> None:
    """The tests below would pass on an empty list; it is not empty."""
    assert len(MODULES) > 10
    assert {"pyproject.toml", "LICENSE"} <= {name_of(path) for path in FILES}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_short_enough_to_read(path: Path) -> None:
    """No module of the package is longer than 400 lines, the one that stands alone than 450."""
    lines = len(path.read_text("utf-8").splitlines())
    most = MAX_CHECKER_LINES if path.name == "checker.py" else MAX_LINES
    assert lines <= most, f"{name_of(path)} has {lines} lines"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_why_it_exists(path: Path) -> None:
    """Every module of the package has a docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_bytes()))
    assert docstring
    assert docstring.strip()


def test_no_file_holds_a_path_of_the_machine_it_was_written_on() -> None:
    """Absolute paths of one machine never enter the repository."""
    found = [
        f"{name_of(path)}: {forbidden}"
        for path in FILES
        for forbidden in FORBIDDEN_PATHS
        if forbidden.encode() in path.read_bytes()
    ]
    assert found == []


def test_no_document_installs_a_distribution_of_someone_else() -> None:
    """The distribution is ``repropack-replay``; the shorter name on the index is not ours."""
    found = [name_of(path) for path in FILES if WRONG_DISTRIBUTION.search(path.read_bytes())]
    assert found == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("pip install repro" + "pack", True),
        ("pip install --user 'repro" + "pack[notebook]'", True),
        ("pip install repropack-replay", False),
        ("pip install --quiet 'repropack-replay[notebook]'", False),
        ("python -m pip install -e .", False),
    ],
)
def test_the_wrong_name_is_recognised(text: str, wrong: bool) -> None:
    """The pattern of the test above tells the two names apart."""
    assert bool(WRONG_DISTRIBUTION.search(text.encode())) is wrong


def test_the_licence_travels_with_what_is_packed() -> None:
    """The copies beside the lab and in each example are the licence of the project."""
    licence = (ROOT / "LICENSE").read_bytes()
    projects = [path.parent for path in ROOT.glob("examples/*/repropack.toml")]
    assert len(projects) == 8
    for folder in (ROOT / "repropack/lab", *projects):
        assert (folder / "LICENSE").read_bytes() == licence


def test_no_file_holds_what_a_merge_left() -> None:
    """A conflict that was not resolved is no text; no other gate reads documents."""
    marks = ("<" * 7 + " ", ">" * 7 + " ", "<" * 8 + " ", ">" * 8 + " ")
    left = [
        f"{name_of(path)}, line {number}"
        for path in list_files()
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1)
        if line.startswith(marks)
    ]
    assert left == []
