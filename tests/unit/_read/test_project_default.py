"""What is packed where a project file does not say: what git tracks, else Python files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from repropack._read.project import Project, load_project
from repropack.errors import ProjectError

PROJECT = """\
[package]
name = "lab"
version = "1.0.0"
title = "A title"
license = "MIT"
authors = [{ name = "Ada" }]
[experiment]
command = ["python", "lab.py"]
outputs = ["results.csv", "figures/*.png"]
inputs = ["data/*.csv"]
[[after]]
command = ["python", "plot.py"]
outputs = ["table.tex"]
"""


def project(folder: Path, *names: str, text: str = PROJECT) -> Project:
    """A project of the files named, each with one line."""
    (folder / "repropack.toml").write_text(text, "utf-8")
    for name in ("data/a.csv", *names):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# {name}\n", "utf-8")
    return load_project(folder)


def packed(found: Project, *tracked: str) -> list[str]:
    return [path for path, _ in replace(found, tracked=tracked).source_files()]


def problems(found: Project, *tracked: str) -> list[str]:
    with pytest.raises(ProjectError) as caught:
        replace(found, tracked=tracked).source_files()
    assert {key for key, _ in caught.value.issues} == {"experiment.source"}
    return [problem for _, problem in caught.value.issues]


# ---------------------------------------------------------------- without git


def test_python_files_that_no_gitignore_excludes(tmp_path):
    """Without git it is ``**/*.py``, less what ``.gitignore`` files exclude, the deepest first."""
    found = project(
        tmp_path,
        *("lab.py", "notes.txt", "old/a.py", "old/keep.py", "sub/b.py", "sub/local.py"),
        *("local.py", "build/c.py", ".hidden/d.py", "venv/pyvenv.cfg", "venv/e.py", "sub/old.py"),
    )
    (tmp_path / ".gitignore").write_text("# mine\n/old/\n!old/keep.py\nlocal.py\n", "utf-8")
    (tmp_path / "sub/.gitignore").write_text("!local.py\nold.py\n", "utf-8")
    assert packed(found) == ["lab.py", "sub/b.py", "sub/local.py"]


def test_a_gitignore_does_not_touch_what_is_named(tmp_path):
    """Patterns of ``source`` are the author's last word."""
    text = PROJECT.replace("[[after]]", 'source = ["*.py"]\n[[after]]')
    found = project(tmp_path, "lab.py", "local.py", text=text)
    (tmp_path / ".gitignore").write_text("local.py\n", "utf-8")
    assert packed(found, "lab.py") == ["lab.py", "local.py"]


def test_a_gitignore_that_is_a_link_is_not_followed(tmp_path):
    """Nothing outside of the project is read."""
    outside = tmp_path / "outside"
    outside.write_text("*.py\n", "utf-8")
    (tmp_path / "p").mkdir()
    found = project(tmp_path / "p", "lab.py")
    (tmp_path / "p/.gitignore").symlink_to(outside)
    assert packed(found) == ["lab.py"]


def test_a_gitignore_of_any_bytes(tmp_path):
    """Lines that are no UTF-8 or no pattern end nothing."""
    found = project(tmp_path, "lab.py", "b.py")
    (tmp_path / ".gitignore").write_bytes(b"\xff\xfe\n[\n   \n/\n**\xe9\nb.py\r\n")
    assert packed(found) == ["lab.py"]


def test_a_gitignore_with_a_pattern_that_is_none(tmp_path):
    """What git would not understand either is a fault that names the file."""
    found = project(tmp_path, "lab.py", "sub/b.py")
    (tmp_path / "sub/.gitignore").write_text("!\n", "utf-8")
    (problem,) = problems(found)
    assert problem.startswith("expected a file of patterns, observed in 'sub/.gitignore': ")


# ---------------------------------------------------------------- with git


def test_what_git_tracks(tmp_path):
    """Every tracked file, less inputs, outputs, dotted names, caches and environments."""
    found = project(
        tmp_path,
        *("lab.py", "plot.py", "README.md", "results.csv", "figures/a.png", "table.tex"),
        *("build/x.py", "env/pyvenv.cfg", "env/lib/y.py", "untracked.py", ".env", ".github/z.yml"),
        *("a.egg-info/top.txt", "conf/a.json"),
    )
    tracked = [
        *("lab.py", "plot.py", "README.md", "results.csv", "figures/a.png", "table.tex"),
        *("build/x.py", "env/pyvenv.cfg", "env/lib/y.py", ".env", ".github/z.yml", "data/a.csv"),
        *("a.egg-info/top.txt", "conf/a.json", "repropack.toml"),
    ]
    expected = ["README.md", "conf/a.json", "lab.py", "plot.py", "repropack.toml"]
    assert packed(found, *tracked) == expected


def test_a_tracked_file_that_is_gone_is_left_out(tmp_path):
    """A file that was deleted since is not there to be packed."""
    assert packed(project(tmp_path, "lab.py"), "gone.py", "lab.py") == ["lab.py"]


def test_nothing_left_of_what_is_tracked(tmp_path):
    """A checkout in which all that is tracked is passed over says so."""
    assert problems(project(tmp_path, "lab.py"), ".github/a.yml") == [
        "expected at least one file, observed none among those that git tracks"
    ]


def test_a_tracked_link_is_a_fault(tmp_path):
    """A link would not be packed, so it is said."""
    found = project(tmp_path, "lab.py")
    (tmp_path / "link.py").symlink_to("lab.py")
    os.mkfifo(tmp_path / "pipe.py")
    assert problems(found, "lab.py", "link.py", "pipe.py") == [
        "expected a regular file, observed a link: 'link.py'",
        "expected a regular file, observed something else: 'pipe.py'",
    ]


# ---------------------------------------------------------------- names


def test_names_that_no_package_may_hold(tmp_path):
    """A path that is no UTF-8, or not the same on every system, is told before anything runs."""
    found = project(tmp_path, "lab.py", "Lab.py", "a:b.py", "aux.py")
    odd = os.fsdecode(b"caf\xe9.py")
    (tmp_path / odd).write_text("", "utf-8")
    told = problems(found, "lab.py", "Lab.py", "a:b.py", "aux.py", odd)
    assert [problem.partition(" cannot be packed: ")[0] for problem in told] == [
        "'a:b.py'",
        "'aux.py'",
        "'caf\\udce9.py'",
        "'lab.py'",
    ]
    assert told[3] == (
        "'lab.py' cannot be packed: expected a path unique under case folding, observed "
        "'source/Lab.py'"
    )


def test_names_of_inputs_that_no_package_may_hold(tmp_path):
    """They are told before anything runs, too: not when everything has run and is packed."""
    found = project(tmp_path, "lab.py", "data/A.csv", "data/it's.csv")
    with pytest.raises(ProjectError) as caught:
        found.input_files()
    assert [key for key, _ in caught.value.issues] == ["experiment.inputs"] * 2
    first, second = (problem for _, problem in caught.value.issues)
    assert first == (
        '"data/it\'s.csv" cannot be packed: character: expected letters, digits, inner blanks and '
        "usual punctuation, observed U+0027"
    )
    assert second == (
        "'data/a.csv' cannot be packed: expected a path unique under case folding, observed "
        "'inputs/data/A.csv'"
    )


# ---------------------------------------------------------------- by name alone


@pytest.mark.parametrize(
    ("path", "tracked", "expected"),
    [
        ("lab.py", True, True),
        ("notes.txt", True, True),
        ("notes.txt", False, False),
        ("a/lab.py", False, True),
        (".env", True, False),
        ("build/a.py", True, False),
        ("build/a.py", False, False),
        ("data/a.csv", True, False),
        ("results.csv", True, False),
        ("table.tex", True, False),
    ],
)
def test_would_pack(tmp_path, path, tracked, expected):
    """A file that is not there is judged by its path, as it would be if it were."""
    found = replace(project(tmp_path), tracked=("lab.py",) if tracked else ())
    assert found.would_pack(path) is expected


def test_would_pack_by_patterns(tmp_path):
    """Where ``source`` is given, its patterns decide."""
    text = PROJECT.replace("[[after]]", 'source = ["lib/*.py"]\n[[after]]')
    found = project(tmp_path, text=text)
    answers = [found.would_pack(path) for path in ("lib/a.py", "lab.py")]
    assert answers == [True, False]
