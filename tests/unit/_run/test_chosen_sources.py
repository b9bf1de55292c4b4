"""The source of a build: chosen, copied, held against what it imports, and where it is from."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from repropack._read.project import load_project
from repropack._run.chosen_sources import (
    ChosenSources,
    check_source_names,
    choose_sources,
    shadowing,
    with_tracked,
)
from repropack._run.materials import Materials, copy_materials
from repropack.errors import CommandError, CouldNotRunError, ExperimentLoadError, ProjectError
from repropack.models.manifest import Entry, Origin
from repropack.models.plan import Plan
from repropack.models.reports import SourceSummary
from tests.unit._run.test_checkout import commit, git, write

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
PROJECT = """\
[package]
name = "lab"
version = "1.0.0"
title = "A title"
license = "MIT"
authors = [{ name = "Ada" }]
[experiment]
"""
ENTRY = PROJECT + 'entry-point = "lab:Lab"\nseed = 1\nsteps = 2\n'
COMMAND = PROJECT + 'command = ["python", "run.py"]\noutputs = ["*.csv"]\n'


def chosen(folder: Path, files: Mapping[str, str], text: str = ENTRY) -> ChosenSources:
    """What a build of these files would pack."""
    write(folder, {"repropack.toml": text, **files})
    return choose_sources(with_tracked(load_project(folder)), folder / "lab.zip")


def copied(found: ChosenSources, work: Path) -> Materials:
    """What a build gives to its runs."""
    return copy_materials(found.project, found.files, work)[0]


def check(found: ChosenSources, work: Path) -> list[tuple[str, str]]:
    """Copy and look; the issues."""
    try:
        found.check(found.project.plan(), copied(found, work).source)
    except ProjectError as error:
        return list(error.issues)
    return []


def origin(found: ChosenSources, work: Path) -> Origin | None:
    materials = copied(found, work)
    return found.origin({**materials.source_paths(), **materials.input_paths()})


# ---------------------------------------------------------------- choosing and copying


def test_chosen_by_source(tmp_path):
    """Patterns, where they are given; git is not asked."""
    (tmp_path / ".git").mkdir()
    found = chosen(tmp_path, {"lab.py": "", "b.py": ""}, ENTRY + 'source = ["lab.py"]\n')
    assert found.files == (("lab.py", tmp_path / "lab.py"),)
    assert found.summary() == SourceSummary(files=1, chosen_by="source")


def test_chosen_by_default(tmp_path):
    """Python files, where there is no git."""
    found = chosen(tmp_path, {"lab.py": "", "b.py": "", "c.txt": ""})
    assert found.summary() == SourceSummary(files=2, chosen_by="python-files")


@needs_git
def test_chosen_by_git(tmp_path):
    """What git tracks, where it tracks something."""
    commit(tmp_path, {"lab.py": "", "c.txt": "", "repropack.toml": ENTRY})
    found = chosen(tmp_path, {"untracked.py": ""})
    assert [path for path, _ in found.files] == ["c.txt", "lab.py", "repropack.toml"]
    assert found.summary() == SourceSummary(files=3, chosen_by="git")


@needs_git
def test_a_checkout_in_which_nothing_is_added_yet(tmp_path):
    """A repository that was made a minute ago tracks nothing, and keeps nobody from building."""
    git(tmp_path, "init", "-q")
    assert chosen(tmp_path, {"lab.py": ""}).chosen_by == "python-files"


def test_the_package_itself_is_no_source(tmp_path):
    """A package folder in the project, which is to be replaced, is passed over."""
    write(tmp_path, {"repropack.toml": ENTRY, "lab.py": "", "out/source/lab.py": ""})
    found = choose_sources(load_project(tmp_path), tmp_path / "out")
    assert [path for path, _ in found.files] == ["lab.py"]


# ---------------------------------------------------------------- what it imports


def test_everything_is_packed(tmp_path):
    """A project that packs what it imports has no fault."""
    files = {"lab.py": "import numpy, helpers", "helpers.py": ""}
    assert check(chosen(tmp_path / "p", files), tmp_path / "copy") == []


def test_patterns_that_miss_a_module(tmp_path):
    """The pattern to add is named, for a file and for a package."""
    files = {"lab.py": "import helpers\nimport tools.a", "helpers.py": "", "tools/__init__.py": ""}
    found = chosen(tmp_path / "p", files, ENTRY + 'source = ["lab.py"]\n')
    assert check(found, tmp_path / "copy") == [
        (
            "experiment.source",
            (
                "lab.py, line 1: imports 'helpers' from helpers.py, which is not packed: add "
                "'helpers.py' to source"
            ),
        ),
        (
            "experiment.source",
            (
                "lab.py, line 2: imports 'tools.a' from tools/__init__.py, which is not packed: "
                "add 'tools/**/*.py' to source"
            ),
        ),
    ]


@needs_git
def test_a_module_that_git_does_not_track(tmp_path):
    """Where git chooses, git is told."""
    commit(tmp_path / "p", {"lab.py": "import helpers", "repropack.toml": ENTRY})
    assert check(chosen(tmp_path / "p", {"helpers.py": ""}), tmp_path / "copy") == [
        (
            "experiment.source",
            (
                "lab.py, line 1: imports 'helpers' from helpers.py, which is not packed: `git add "
                "helpers.py`, for without source what git tracks is packed"
            ),
        )
    ]


def test_a_module_that_a_gitignore_excludes(tmp_path):
    """Where nothing is given, a name under ``source`` helps."""
    files = {"lab.py": "import local", "local.py": "", ".gitignore": "local.py\n"}
    assert check(chosen(tmp_path / "p", files), tmp_path / "copy") == [
        (
            "experiment.source",
            (
                "lab.py, line 1: imports 'local' from local.py, which is not packed: name it under "
                "source: without source it is passed over, as what .gitignore excludes and what "
                "is no Python file"
            ),
        )
    ]


def test_a_command_is_read_from_its_script_on(tmp_path):
    """What the script imports counts, and what commands that come after import, too."""
    after = '[[after]]\ncommand = ["python", "plot/plot.py"]\noutputs = ["*.png"]\n'
    files = {"run.py": "import a", "plot/plot.py": "import b", "a.py": "", "plot/b.py": ""}
    text = COMMAND + 'source = ["run.py", "plot/plot.py"]\n' + after
    problems = [
        problem for _, problem in check(chosen(tmp_path / "p", files, text), tmp_path / "c")
    ]
    assert [problem.partition(",")[0] for problem in problems] == ["run.py", "plot/plot.py"]
    assert problems[1].endswith("add 'plot/b.py' to source")


@pytest.mark.parametrize(
    ("outside", "expected"),
    [
        (
            "src/mine/__init__.py",
            (
                "lab.py, line 1: imports 'mine': expected it packed or installed, observed "
                "src/mine/__init__.py, found through src, which a run does not search: add "
                "import-from = ['src'], or install the project without -e"
            ),
        ),
        (
            "src/mine.py",
            (
                "lab.py, line 1: imports 'mine': expected it packed or installed, observed "
                "src/mine.py, found through src, which a run does not search: add "
                "import-from = ['src'], or install the project without -e"
            ),
        ),
        (
            "/elsewhere/mine.py",
            (
                "lab.py, line 1: imports 'mine': expected it packed or installed, observed "
                "/elsewhere/mine.py, of no distribution: copy it into the project, or install it "
                "without -e"
            ),
        ),
    ],
)
def test_modules_of_no_distribution(tmp_path, monkeypatch, outside, expected):
    """An editable install leads to files that nobody else has; the words say how to mend it."""
    place = str(tmp_path / "p" / outside)
    monkeypatch.setattr(
        "repropack._run.imports._locate", lambda names: {"mine": ["outside", place]}
    )
    found = chosen(tmp_path / "p", {"lab.py": "import mine"}, ENTRY + 'source = ["lab.py"]\n')
    assert check(found, tmp_path / "copy") == [("experiment.source", expected)]


# ---------------------------------------------------------------- in the place of repropack


@pytest.mark.parametrize(
    ("text", "paths", "expected"),
    [
        (ENTRY, ["lab.py", "repropack.py"], ["repropack.py"]),
        (ENTRY, ["lab.py", "repropack/__init__.py"], ["repropack/__init__.py"]),
        (ENTRY, ["lab.py", "repropack/notes.txt", "repropack.toml"], []),
        (ENTRY, ["lab.py", "vendored/repropack/__init__.py", "my_repropack.py"], []),
        (COMMAND.replace("run.py", "s/run.py"), ["s/run.py", "s/repropack.py"], ["s/repropack.py"]),
    ],
)
def test_shadowing(tmp_path, text, paths, expected):
    """A file is one where the run would look for repropack first."""
    write(tmp_path, {"repropack.toml": text})
    plan: Plan = load_project(tmp_path).plan()
    assert shadowing(plan, paths) == expected


def test_a_source_named_like_repropack_is_a_fault(tmp_path):
    """It is told before anything runs."""
    found = chosen(tmp_path / "p", {"lab.py": "", "repropack.py": ""})
    assert check(found, tmp_path / "copy") == [
        (
            "experiment.source",
            (
                "expected no module named 'repropack' among the source, observed 'repropack.py': "
                "rename it"
            ),
        )
    ]


def test_a_package_with_such_a_source_is_not_run(tmp_path):
    """Whoever made it: what is in it would be taken for the runner's."""
    write(tmp_path, {"repropack.toml": ENTRY})
    plan = load_project(tmp_path).plan()
    digest = "sha256:" + "0" * 64
    rows = [
        Entry(path="source/a.py", size=0, digest=digest, role="source", media_type="text/plain"),
        Entry(
            path="inputs/repropack.py", size=0, digest=digest, role="input", media_type="text/plain"
        ),
    ]
    check_source_names(plan, rows)
    rows.append(rows[0].model_copy(update={"path": "source/repropack/__init__.py"}))
    with pytest.raises(CouldNotRunError) as caught:
        check_source_names(plan, rows)
    assert caught.value.message == (
        "expected no module named 'repropack' among the package's source, observed "
        "'repropack/__init__.py', which would be imported in the place of the runner's"
    )


# ---------------------------------------------------------------- what a run did not find


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "run 'reference': step 1 raised: ModuleNotFoundError: No module named 'late'",
            "late.py is in the project and not packed: add 'late.py' to source",
        ),
        (
            "importing failed: ModuleNotFoundError: No module named 'pkg.late'",
            "pkg/late.py is in the project and not packed: add 'pkg/late.py' to source",
        ),
        (
            "ModuleNotFoundError: No module named 'near'",
            "scripts/near.py is in the project and not packed: add 'scripts/near.py' to source",
        ),
        (
            "expected every imported module packed, observed from elsewhere: late (lib/late.py)",
            "late.py is in the project and not packed: add 'late.py' to source",
        ),
        (
            "expected every imported module packed, observed from elsewhere: lab (p/lab.py)",
            "lab.py is packed; let what is put into sys.path follow __file__",
        ),
        ("ModuleNotFoundError: No module named 'lab'", None),
        (
            "ModuleNotFoundError: No module named 'pandas'",
            "install pandas in the environment that repropack runs in",
        ),
        ("ModuleNotFoundError: No module named 'lab.deep'; 'lab' is not a package", None),
        ("something else", None),
    ],
)
def test_explain(tmp_path, message, expected):
    """The hint names the pattern for a module that the project has."""
    files = dict.fromkeys(["lab.py", "late.py", "pkg/late.py", "scripts/near.py"], "")
    text = ENTRY + 'source = ["lab.py", "scripts/run.py"]\n'
    found = chosen(tmp_path, {**files, "scripts/run.py": ""}, text)
    error = CouldNotRunError(message)
    found.explain(error)
    assert error.hint == expected


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'patients.csv'", "patients.csv"),
        ("FileNotFoundError: patients.csv not found.", "patients.csv"),
        ("run.sh: line 3: patients.csv: No such file or directory", "patients.csv"),
        ("cannot open 'my data.csv'", "my data.csv"),
        ("Error: cannot open file 'data/x.csv'", "data/x.csv"),
        ("x.csv does not exist\nat line 7\n", "data/x.csv"),
        ("No such file or directory: 'gone.csv'", None),
        ("No such file or directory: 'packed.csv'", None),
        ("No such file or directory: 'old.csv'", None),
        ("No such file or directory: '/patients.csv'", None),
        ("patients.csv is odd", None),
    ],
)
def test_explain_a_file_that_is_not_packed(tmp_path, printed, expected):
    """What a command printed last names it; what is packed, an output or not there is not told."""
    names = ("patients.csv", "my data.csv", "data/x.csv", "packed.csv", "old.csv", "data/run.py")
    text = COMMAND.replace("*.csv", "old.csv") + 'inputs = ["packed.csv"]\nsource = ["**/*.py"]\n'
    found = chosen(tmp_path, {"run.py": "", **dict.fromkeys(names, "")}, text)
    error = CommandError("reference", "expected status 0, observed 1")
    error.printed = tuple(printed.splitlines())
    found.explain(error)
    told = f"{expected} is in the project and not packed: add it to inputs"
    assert error.hint == (None if expected is None else told)


@pytest.mark.parametrize(
    ("entry_point", "missed", "expected"),
    [
        ("nett:Net", "nett", "source has net.py; did you mean 'net:Net'?"),
        ("pkg.ned:Net", "pkg.ned", "source has pkg/net.py; did you mean 'pkg.net:Net'?"),
        ("pkk.net:Net", "pkk", "source has pkg/net.py; did you mean 'pkg.net:Net'?"),
        ("model:Net", "model", "source has src/mdel.py; did you mean 'mdel:Net'?"),
        ("zzz:Net", "zzz", "source has net.py, pkg/__init__.py, pkg/net.py, src/mdel.py"),
        ("net:Net", "zzz", "install zzz in the environment that repropack runs in"),
    ],
)
def test_explain_an_entry_point_that_is_nowhere(tmp_path, entry_point, missed, expected):
    """A module that the source has under a like name, or what it has."""
    text = ENTRY.replace("lab:Lab", entry_point) + 'import-from = ["src"]\n'
    files = dict.fromkeys(["net.py", "pkg/__init__.py", "pkg/net.py", "src/mdel.py"], "")
    found = chosen(tmp_path, files, text)
    error = ExperimentLoadError(f"failed: ModuleNotFoundError: No module named {missed!r}")
    found.explain(error)
    assert error.hint == expected


def test_explain_a_script_that_is_not_packed(tmp_path):
    """It belongs to the source; a more general hint gives way."""
    found = chosen(tmp_path, {"run.py": "", "b.sh": ""}, COMMAND + 'source = ["run.py"]\n')
    error = CommandError("reference", "no output: b.sh not found", hint="it wrote no file")
    found.explain(error)
    assert error.hint == "b.sh is in the project and not packed: add 'b.sh' to source"


def test_explain_what_a_command_printed_of_modules(tmp_path):
    """A traceback's last line stands there; one that lies further back was not the end of it."""
    found = chosen(tmp_path, {"run.py": ""}, COMMAND)
    line = "ModuleNotFoundError: No module named 'pandas'"
    for lines, expected in (
        (("Traceback", line), "install pandas in the environment that repropack runs in"),
        ((line, "1", "2", "3"), None),
    ):
        error = CommandError("reference", "expected status 0, observed 1")
        error.printed = lines
        found.explain(error)
        assert error.hint == expected


# ---------------------------------------------------------------- origin


@needs_git
@pytest.mark.parametrize(
    "changed", [None, "lab.py", "LICENSE", "data.csv", "repropack.toml", "b.txt"]
)
def test_origin(tmp_path, changed):
    """Clean concerns source, inputs, licence and project file, and no other file."""
    text = ENTRY + 'source = ["lab.py"]\ninputs = ["data.csv"]\n'
    files = {"lab.py": "", "LICENSE": "MIT", "data.csv": "1", "repropack.toml": text, "b.txt": ""}
    head = commit(tmp_path / "p", files)
    if changed is not None:
        with (tmp_path / "p" / changed).open("a") as stream:
            stream.write("\n# changed\n")
    found = choose_sources(with_tracked(load_project(tmp_path / "p")), tmp_path / "lab.zip")
    clean = changed in {None, "b.txt"}
    assert origin(found, tmp_path / "copy") == Origin(commit=head, clean=clean)


@needs_git
def test_origin_where_a_tracked_file_is_gone(tmp_path):
    """A file of the commit that would be packed and is not there makes it another tree."""
    head = commit(tmp_path / "p", {"lab.py": "", "b.py": "", "repropack.toml": ENTRY})
    (tmp_path / "p/b.py").unlink()
    found = choose_sources(with_tracked(load_project(tmp_path / "p")), tmp_path / "lab.zip")
    assert origin(found, tmp_path / "copy") == Origin(commit=head, clean=False)


def test_no_origin_without_git(tmp_path):
    """Outside of a checkout there is none."""
    found = chosen(tmp_path, {"lab.py": ""})
    assert origin(found, tmp_path / "copy") is None
