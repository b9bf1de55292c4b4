"""A project file is read whole: every fault at once, then a plan, source files and a licence."""

from __future__ import annotations

import json
import math
import os
from dataclasses import FrozenInstanceError
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from repropack._format.schemas import schema_bytes
from repropack._read.project import Project, load_project
from repropack._read.project_faults import dotted, readable_faults, shown
from repropack._read.project_sources import is_own_file, is_pattern_inside
from repropack.errors import ProjectError, UsageError
from repropack.models.authored import Author
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import (
    ComparisonPlan,
    ExpectedDivergence,
    ExperimentPlan,
    Plan,
    RecordPlan,
)
from repropack.models.project import ProjectDivergence, ProjectFile
from repropack.models.project_words import PROJECT_WORDS

ROOT = Path(__file__).parents[3]

PACKAGE = """\
[package]
name = "lab"
version = "1.0.0"
title = "A title"
license = "MIT"
authors = [{ name = "Ada" }]
"""
EXPERIMENT = """\
[experiment]
entry-point = "lab:Lab"
seed = 7
steps = 100
"""
RECORD = """\
[record]
checkpoint-every = 20
"""
MINIMAL = PACKAGE + EXPERIMENT
RECORD_KEYS = "checkpoint-every, stages-every, state-every, keep, printed"
NAME_FORM = "a name of A-Z a-z 0-9 _ . + - (not starting with . + -)"
FULL = (
    PACKAGE
    + EXPERIMENT
    + """\
source = ["lab.py", "parts/**"]
[experiment.config]
rate = 0.5
sizes = [1, 2]
[record]
checkpoint-every = 20
stages-every = 2
state-every = 5
keep = ["weights"]
printed = { loss = ".4f" }
[[comparisons]]
name = "full"
resume-at = 40
expect = "identical"
[[comparisons]]
name = "reset"
resume-at = 40
reset = ["sampler"]
expect = { diverges-at = 41, stage = "batch", component = "sampler" }
[[comparisons]]
name = "changed"
config = { rate = 0.25 }
hash-seed = 3
"""
)


def write(folder: Path, text: str, name: str = "repropack.toml") -> Path:
    """Write a project file into ``folder``."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def load(folder: Path, text: str = MINIMAL) -> Project:
    write(folder, text)
    return load_project(folder)


def faults(folder: Path, text: str) -> list[tuple[str, str]]:
    """All faults of a project file with this text."""
    with pytest.raises(ProjectError) as caught:
        load(folder, text)
    assert caught.value.file == str(folder / "repropack.toml")
    return list(caught.value.issues)


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")


def sources(folder: Path, *patterns: str) -> list[str]:
    """POSIX paths of the source files that these patterns select."""
    listed = ", ".join(f"'{pattern}'" for pattern in patterns)
    project = load(folder, MINIMAL + (f"source = [{listed}]\n" if patterns else ""))
    return [path for path, _ in project.source_files()]


def source_faults(folder: Path, *patterns: str) -> list[tuple[str, str]]:
    with pytest.raises(ProjectError) as caught:
        sources(folder, *patterns)
    return list(caught.value.issues)


# ---------------------------------------------------------------- what is read


@pytest.mark.parametrize(
    "path",
    [ROOT / "repropack/lab/replay_lab.toml", ROOT / "examples/replay-lab"],
    ids=["lab", "example"],
)
def test_replay_lab_is_read(path):
    """The built-in lab, and the example made of it, are projects without fault."""
    project = load_project(path)
    plan = project.plan()
    assert plan.experiment.entry_point == "replay_lab:ReplayLab"
    assert (plan.experiment.seed, plan.experiment.steps) == (7, 100)
    assert [comparison.name for comparison in plan.comparisons] == [
        "independent-restart",
        "full-checkpoint",
        "reversed-reduction",
        "adam-reset",
        "sampler-reset",
    ]
    assert [name for name, _ in project.source_files()] == ["replay_lab.py"]
    assert (project.license_text() or b"").startswith(b"BSD 3-Clause License")


def test_plan_says_what_the_file_says(tmp_path):
    """Every key of the project file arrives in the plan, under the plan's own models."""
    plan = load(tmp_path, FULL).plan()
    assert plan == Plan(
        experiment=ExperimentPlan(
            entry_point="lab:Lab", config={"rate": 0.5, "sizes": [1, 2]}, seed=7, steps=100
        ),
        record=RecordPlan(
            checkpoint_every=20,
            stages_every=2,
            state_every=5,
            keep=("weights",),
            printed={"loss": ".4f"},
        ),
        comparisons=(
            ComparisonPlan(name="full", resume_at=40, expect="identical"),
            ComparisonPlan(
                name="reset",
                resume_at=40,
                reset=("sampler",),
                expect=ExpectedDivergence(diverges_at=41, stage="batch", component="sampler"),
            ),
            ComparisonPlan(name="changed", config={"rate": 0.25}, hash_seed=3),
        ),
    )
    assert type(plan.comparisons[1].expect) is ExpectedDivergence
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_defaults(tmp_path):
    """A minimal file names no source or input, records every step and compares nothing."""
    document = load(tmp_path).document
    assert document.experiment.source is None
    assert (document.experiment.inputs, document.after, document.lint.allow) == ((), (), ())
    assert document.experiment.config == {}
    assert document.record.checkpoint_every is None
    assert (document.record.stages_every, document.record.state_every) == (1, 1)
    assert document.comparisons == ()


def test_metadata_is_the_manifests(tmp_path):
    """``[package]`` becomes the manifest's metadata; where the licence lies is left behind."""
    touch(tmp_path, "TERMS")
    text = PACKAGE + 'date = 2026-11-29\nlicense-file = "TERMS"\n' + EXPERIMENT
    metadata = load(tmp_path, text).metadata()
    assert type(metadata) is PackageMetadata
    assert metadata == PackageMetadata(
        name="lab",
        version="1.0.0",
        title="A title",
        license="MIT",
        authors=(Author(name="Ada"),),
        date=date(2026, 11, 29),
    )


def test_config_values_stay_as_they_are_until_the_plan(tmp_path):
    """Not-a-number and big integers are Python values in the file and encoded in the plan."""
    config = f"[experiment.config]\na = nan\nb = -inf\nc = {2**60}\nd = {{ e = [inf] }}\n"
    comparison = "[[comparisons]]\nname = 'other'\nconfig = { c = 9007199254740993 }\n"
    project = load(tmp_path, MINIMAL + config + comparison)
    values = project.document.experiment.config
    assert math.isnan(values["a"])
    assert (values["b"], values["c"], values["d"]) == (-math.inf, 2**60, {"e": [math.inf]})
    assert project.plan().experiment.config == {
        "a": {"$float": "nan"},
        "b": {"$float": "-inf"},
        "c": {"$int": str(2**60)},
        "d": {"e": [{"$float": "inf"}]},
    }
    assert project.plan().comparisons[0].config == {"c": {"$int": "9007199254740993"}}


def test_config_values_that_cannot_be_encoded(tmp_path):
    """What only the encoding refuses is a fault of the project file, all of it."""
    deep = "[" * 60 + "]" * 60
    config = f"[experiment.config]\na = {deep}\n"
    comparison = f"[[comparisons]]\nname = 'other'\nconfig = {{ b = {deep} }}\n"
    project = load(tmp_path, MINIMAL + config + comparison)
    with pytest.raises(ProjectError) as caught:
        project.plan()
    assert [key for key, _ in caught.value.issues] == [
        "experiment.config.a",
        "comparisons[0].config.b",
    ]


def test_project_is_frozen(tmp_path):
    """A project is a value."""
    project = load(tmp_path)
    with pytest.raises(FrozenInstanceError):
        project.root = tmp_path  # type: ignore[misc]
    assert project == load_project(tmp_path)


def test_schema_speaks_kebab_case():
    """The JSON Schema of the project file names keys as authors write them."""
    definitions = ProjectFile.model_json_schema()["$defs"]
    assert sorted(definitions["ProjectExperiment"]["properties"]) == [
        "command",
        "config",
        "entry-point",
        "environment",
        "import-from",
        "inputs",
        "outputs",
        "seed",
        "source",
        "steps",
        "timeout-seconds",
    ]
    assert "diverges-at" in definitions["ProjectDivergence"]["properties"]


# ---------------------------------------------------------------- where it is found


def test_file_itself_may_be_named(tmp_path):
    """A project file may have any name that ends in ``.toml``; its folder is the root."""
    path = write(tmp_path, MINIMAL, "other.toml")
    project = load_project(path)
    assert (project.root, project.file) == (tmp_path, path)


def test_root_is_absolute(tmp_path, monkeypatch):
    """The working directory may change after a project was read."""
    write(tmp_path, MINIMAL)
    touch(tmp_path, "lab.py")
    monkeypatch.chdir(tmp_path)
    project = load_project(Path())
    monkeypatch.chdir("/")
    assert project.source_files() == (("lab.py", tmp_path / "lab.py"),)
    assert str(project.file) == "repropack.toml"


@pytest.mark.parametrize("named", [False, True])
def test_pyproject_holds_the_same(tmp_path, named):
    """``[tool.repropack]`` of a ``pyproject.toml`` is read like the file of its own."""
    text = "[project]\nname = 'x'\n" + MINIMAL.replace("[", "[tool.repropack.", 1).replace(
        "[experiment]", "[tool.repropack.experiment]"
    )
    path = write(tmp_path, text, "pyproject.toml")
    project = load_project(path if named else tmp_path)
    assert project.file == path
    assert project.plan().experiment.steps == 100


def test_own_file_goes_before_pyproject(tmp_path):
    """Where both are there, ``repropack.toml`` counts."""
    write(tmp_path, "[tool.repropack]\n", "pyproject.toml")
    assert load(tmp_path).file == tmp_path / "repropack.toml"


def test_pyproject_faults_name_the_whole_key(tmp_path):
    """Keys of faults are those of the file that the author sees."""
    write(tmp_path, "[tool.repropack]\npackage = 1\n", "pyproject.toml")
    with pytest.raises(ProjectError) as caught:
        load_project(tmp_path)
    assert caught.value.issues == (
        ("tool.repropack.package", "expected a table, observed 1"),
        ("tool.repropack.experiment", "expected a value, observed none"),
    )


def test_pyproject_table_of_another_type(tmp_path):
    """``tool.repropack`` itself may be at fault."""
    write(tmp_path, "[tool]\nrepropack = true\n", "pyproject.toml")
    with pytest.raises(ProjectError) as caught:
        load_project(tmp_path)
    assert caught.value.issues == (("tool.repropack", "expected a table, observed true"),)


@pytest.mark.parametrize("text", ["", "tool = 1\n", "[tool.other]\n"])
def test_pyproject_without_table(tmp_path, text):
    """A ``pyproject.toml`` of another tool is no project file."""
    path = write(tmp_path, text, "pyproject.toml")
    with pytest.raises(UsageError) as caught:
        load_project(tmp_path)
    assert str(caught.value) == (
        f"{path}: expected repropack.toml, or [tool.repropack] in pyproject.toml, observed neither"
    )


def test_folder_without_project(tmp_path):
    """An empty folder is wrong use, with a hint."""
    with pytest.raises(UsageError) as caught:
        load_project(tmp_path)
    assert not isinstance(caught.value, ProjectError)
    assert str(caught.value) == (
        f"{tmp_path}: expected repropack.toml, or [tool.repropack] in pyproject.toml, "
        "observed neither"
    )
    assert caught.value.hint == "write a repropack.toml there"


def test_no_such_path(tmp_path):
    """A path that is not there is wrong use."""
    path = tmp_path / "absent"
    with pytest.raises(UsageError) as caught:
        load_project(path)
    assert str(caught.value) == (
        f"{path}: expected a project folder or file, observed nothing there"
    )


def test_other_kind_of_file(tmp_path):
    """A package handed over in place of a project is not parsed."""
    path = write(tmp_path, MINIMAL, "package.zip")
    with pytest.raises(UsageError) as caught:
        load_project(path)
    expected = f"{path}: expected a project folder or a .toml file"
    assert str(caught.value) == f"{expected}, observed a file"


def test_a_project_file_that_is_none_is_named_by_its_kind(tmp_path):
    """Nobody waits for a pipe that nobody writes to."""
    pipe = tmp_path / "repropack.toml"
    os.mkfifo(pipe)
    for given in (tmp_path, pipe):
        with pytest.raises(UsageError, match="observed a fifo"):
            load_project(given)


def test_unreadable_file(tmp_path, monkeypatch):
    """A file that cannot be read is wrong use."""
    path = write(tmp_path, MINIMAL)

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UsageError) as caught:
        load_project(path)
    assert str(caught.value) == f"{path}: cannot be read: Permission denied"


# ---------------------------------------------------------------- TOML


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("a = 1\nb 2\n", "line 2, column 3", "expected '=' after a key in a key/value pair"),
        ("a = ", "end of document", "invalid value"),
        ("a = 1\na = 2", "end of document", "cannot overwrite a value"),
    ],
)
def test_syntax_error(tmp_path, text, place, problem):
    """A file that is not TOML has one fault, with its place."""
    assert faults(tmp_path, text) == [(place, f"not valid TOML: {problem}")]


def test_syntax_error_in_one_line(tmp_path):
    """The error reads as file, place, problem."""
    with pytest.raises(ProjectError) as caught:
        load(tmp_path, "a = 1\nb 2\n")
    assert str(caught.value) == (
        f"{tmp_path / 'repropack.toml'}: line 2, column 3: not valid TOML: "
        "expected '=' after a key in a key/value pair"
    )


def test_not_utf8(tmp_path):
    """TOML is UTF-8; the first byte that is not is named."""
    (tmp_path / "repropack.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(ProjectError) as caught:
        load_project(tmp_path)
    assert caught.value.issues == (("byte 5", "expected UTF-8, observed the byte 0xe9"),)


def test_number_too_long_for_the_parser(tmp_path):
    """A fault that the parser gives no place for is one all the same."""
    ((place, problem),) = faults(tmp_path, f"a = {'9' * 5000}")
    assert place == ""
    assert problem.startswith("not valid TOML: exceeds the limit (4300")


# ---------------------------------------------------------------- types and keys


def replaced(old: str, new: str, text: str = FULL) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        ('title = "A title"\n', "", "package.title", "expected a value, observed none"),
        ('"A title"', '""', "package.title", "expected text that is not empty, observed ''"),
        ('"A title"', "5", "package.title", "expected text, observed 5"),
        (
            '"A title"',
            f'"{"x" * 501}"',
            "package.title",
            f"expected at most 500 characters, observed '{'x' * 77}...'",
        ),
        (
            'name = "lab"',
            'name = "My Lab"',
            "package.name",
            "expected lower-case letters, digits and '-', observed 'My Lab'",
        ),
        (
            '"1.0.0"',
            '"v 1"',
            "package.version",
            "expected a version such as 1.0.0, observed 'v 1'",
        ),
        (
            '[{ name = "Ada" }]',
            "[]",
            "package.authors",
            "expected at least 1 item, observed 0",
        ),
        (
            '[{ name = "Ada" }]',
            '["Ada"]',
            "package.authors[0]",
            "expected a table, observed 'Ada'",
        ),
        (
            '{ name = "Ada" }',
            '{ name = "Ada", orcid = "1" }',
            "package.authors[0].orcid",
            "expected an ORCID iD such as 0000-0002-1825-0097, observed '1'",
        ),
        (
            '{ name = "Ada" }',
            '{ name = "Ada", affiliate = "RS" }',
            "package.authors[0].affiliate",
            "unknown key; did you mean 'affiliation'?",
        ),
        (
            'license = "MIT"',
            'license = "MIT"\ndate = "2026-11-29"',
            "package.date",
            "expected a date such as 2026-11-30, observed '2026-11-29'",
        ),
        (
            'license = "MIT"',
            'license = "MIT"\ndate = 2026-11-29T10:00:00',
            "package.date",
            "expected a date such as 2026-11-30, observed the date or time 2026-11-29T10:00:00",
        ),
        (
            '"lab:Lab"',
            '"lab.Lab"',
            "experiment.entry-point",
            "expected module:name, such as lab:Lab, observed 'lab.Lab'",
        ),
        ("seed = 7", "seed = 7.0", "experiment.seed", "expected a whole number, observed 7.0"),
        ("seed = 7", "seed = true", "experiment.seed", "expected a whole number, observed true"),
        ("seed = 7", "seed = -1", "experiment.seed", "expected at least 0, observed -1"),
        (
            "seed = 7",
            f"seed = {2**53}",
            "experiment.seed",
            "expected at most 9007199254740991, observed 9007199254740992",
        ),
        (
            "seed = 7",
            f"seed = {hex(2**300)}",
            "experiment.seed",
            "expected at most 9007199254740991, observed a number of 301 bits",
        ),
        ("steps = 100", "steps = 0", "experiment.steps", "expected at least 1, observed 0"),
        (
            "steps = 100",
            "step = 100\nsteps = 100",
            "experiment.step",
            "unknown key; did you mean 'steps'?",
        ),
        (
            'source = ["lab.py", "parts/**"]',
            'source = "lab.py"',
            "experiment.source",
            "expected an array, observed 'lab.py'",
        ),
        (
            'source = ["lab.py", "parts/**"]',
            "source = []",
            "experiment.source",
            "expected at least 1 item, observed 0",
        ),
        (
            "[experiment.config]\nrate = 0.5\nsizes = [1, 2]\n",
            "config = [1]\n",
            "experiment.config",
            "expected a table, observed an array",
        ),
        (
            "checkpoint-every = 20",
            "checkpoint_every = 20\ncheckpoint-every = 20",
            "record.checkpoint_every",
            "unknown key; did you mean 'checkpoint-every'?",
        ),
        (
            "checkpoint-every = 20",
            "zzz = 20\ncheckpoint-every = 20",
            "record.zzz",
            f"unknown key; expected one of {RECORD_KEYS}",
        ),
        (
            'keep = ["weights"]',
            'keep = ["the weights"]',
            "record.keep[0]",
            f"expected {NAME_FORM}, observed 'the weights'",
        ),
        (
            '".4f"',
            '".4d"',
            "record.printed.loss",
            "expected a format such as '.4f', observed '.4d'",
        ),
        (
            'loss = ".4f"',
            '"a loss" = ".4f"',
            'record.printed."a loss"',
            f"expected {NAME_FORM}, observed 'a loss'",
        ),
        (
            'expect = "identical"',
            'expect = "equal"',
            "comparisons[0].expect",
            "expected 'identical' or a table with diverges-at, observed 'equal'",
        ),
        (
            'expect = "identical"',
            "expect = {}",
            "comparisons[0].expect.diverges-at",
            "expected a value, observed none",
        ),
        (
            'stage = "batch"',
            'stag = "batch"',
            "comparisons[1].expect.stag",
            "unknown key; did you mean 'stage'?",
        ),
        (
            'reset = ["sampler"]',
            'reset = "sampler"',
            "comparisons[1].reset",
            "expected an array, observed 'sampler'",
        ),
        (
            "hash-seed = 3",
            "hash-seed = 4294967296",
            "comparisons[2].hash-seed",
            "expected at most 4294967295, observed 4294967296",
        ),
        (
            "[package]",
            "[packages]\n[package]",
            "packages",
            "unknown key; did you mean 'package'?",
        ),
    ],
)
def test_single_fault(tmp_path, old, new, key, problem):
    """One fault in an otherwise good file is reported alone, in the words of the file."""
    assert faults(tmp_path, replaced(old, new)) == [(key, problem)]


def test_comparisons_of_another_type(tmp_path):
    """Tables in place of arrays, and values in place of tables, are named."""
    assert faults(tmp_path, MINIMAL + "[comparisons]\nname = 'x'\n") == [
        ("comparisons", "expected an array, observed a table")
    ]
    assert faults(tmp_path, "comparisons = [1]\n" + MINIMAL) == [
        ("comparisons[0]", "expected a table, observed 1")
    ]


def test_empty_file(tmp_path):
    """An empty file lacks its two tables."""
    assert faults(tmp_path, "") == [
        ("package", "expected a value, observed none"),
        ("experiment", "expected a value, observed none"),
    ]


# ---------------------------------------------------------------- rules


def compared(*tables: str, record: str = RECORD) -> str:
    return MINIMAL + record + "".join(f"[[comparisons]]\n{table}\n" for table in tables)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            compared("name = 'reference'"),
            [
                (
                    "comparisons[0].name",
                    "expected another name than that of the first run, observed 'reference'",
                )
            ],
        ),
        (
            compared("name = 'a'", "name = 'b'", "name = 'a'"),
            [
                (
                    "comparisons[2].name",
                    "expected a name of its own, observed 'a', the name of comparisons[0]",
                )
            ],
        ),
        (
            compared("name = 'a'\nresume-at = 100"),
            [
                (
                    "comparisons[0].resume-at",
                    "expected 0 to 99, for there are 100 steps, observed 100",
                )
            ],
        ),
        (
            compared("name = 'a'\nresume-at = 45"),
            [
                (
                    "comparisons[0].resume-at",
                    "expected a multiple of record.checkpoint-every (20), observed 45",
                )
            ],
        ),
        (
            compared("name = 'a'\nresume-at = 40", record=""),
            [
                (
                    "comparisons[0].resume-at",
                    "expected 0, or record.checkpoint-every to be given, observed 40",
                )
            ],
        ),
        (
            compared("name = 'a'\nreset = ['sampler']"),
            [("comparisons[0].reset", "expected resume-at beside it, observed none")],
        ),
        (
            compared("name = 'a'\nresume-at = 0\nreset = ['b', 'a', 'a']"),
            [("comparisons[0].reset", "expected each name once, observed 'a' twice")],
        ),
        (
            compared("name = 'a'\nexpect = { diverges-at = 101 }"),
            [
                (
                    "comparisons[0].expect.diverges-at",
                    "expected a step of this run, 1 to 100, observed 101",
                )
            ],
        ),
        (
            compared("name = 'a'\nexpect = { diverges-at = 0 }"),
            [("comparisons[0].expect.diverges-at", "expected at least 1, observed 0")],
        ),
        (
            compared("name = 'a'\nresume-at = 40\nexpect = { diverges-at = 40 }"),
            [
                (
                    "comparisons[0].expect.diverges-at",
                    "expected a step of this run, 41 to 100, observed 40",
                )
            ],
        ),
    ],
    ids=[
        "reference",
        "duplicate",
        "resume-past-end",
        "resume-without-checkpoint",
        "resume-without-checkpoints",
        "reset-without-resume",
        "reset-twice",
        "diverges-past-end",
        "diverges-at-zero",
        "diverges-before-resume",
    ],
)
def test_broken_rule(tmp_path, text, expected):
    """Each rule that joins several values has its own sentence."""
    assert faults(tmp_path, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        compared("name = 'a'\nresume-at = 0\nreset = ['sampler']", record=""),
        compared("name = 'a'\nresume-at = 80\nexpect = { diverges-at = 81 }"),
        compared("name = 'a'\nexpect = { diverges-at = 100 }"),
        compared("name = 'a'\nresume-at = 99", record="[record]\ncheckpoint-every = 1\n"),
    ],
    ids=["step-0", "first-step", "last-step", "every-step"],
)
def test_rules_allow_the_edges(tmp_path, text):
    """The first and last value that a rule allows is no fault."""
    assert len(load(tmp_path, text).plan().comparisons) == 1


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("when = 2026-11-29", "when", "2026-11-29"),
        ("at = [1, 07:30:00]", "at[1]", "07:30:00"),
        ("a = { b = 2026-11-29T07:30:00Z }", "a.b", "2026-11-29T07:30:00+00:00"),
    ],
)
def test_dates_in_a_configuration(tmp_path, line, key, value):
    """JSON has no dates: a configuration with one is refused, wherever it is."""
    problem = (
        "expected text, a number, true, false, an array or a table, "
        f"observed the date or time {value}"
    )
    text = MINIMAL + f"[experiment.config]\n{line}\n[[comparisons]]\nname = 'a'\n"
    assert faults(tmp_path, text + f"[comparisons.config]\n{line}\n") == [
        (f"experiment.config.{key}", problem),
        (f"comparisons[0].config.{key}", problem),
    ]


def test_marked_keys_in_a_configuration(tmp_path):
    """A key that starts with ``$`` would be taken for an encoded value."""
    assert faults(tmp_path, MINIMAL + "[experiment.config]\na = { '$int' = '1' }\n") == [
        (
            'experiment.config.a."$int"',
            "expected a key that does not start with '$', observed '$int'",
        )
    ]


def test_many_faults_at_once(tmp_path):
    """Faults of types, of keys and of rules are reported together, with one error."""
    text = (
        replaced("seed = 7", "sede = 7", MINIMAL)
        + "[experiment.config]\nday = 2026-11-29\n[record]\ncheckpoint-every = '20'\n"
        + "[[comparisons]]\nname = 'a'\nreset = ['x']\nexpect = { diverges-at = 101 }\n"
        + "[[comparisons]]\nname = 'a'\nresume-at = 100\n"
    )
    assert [key for key, _ in faults(tmp_path, text)] == [
        "experiment.sede",
        "record.checkpoint-every",
        "experiment.seed",
        "experiment.config.day",
        "comparisons[1].name",
        "comparisons[0].reset",
        "comparisons[0].expect.diverges-at",
        "comparisons[1].resume-at",
    ]


def test_rules_are_silent_where_their_values_are_at_fault(tmp_path):
    """A rule does not repeat what is said of a value that it needs."""
    text = replaced("steps = 100", "steps = '100'", FULL)
    assert faults(tmp_path, text) == [
        ("experiment.steps", "expected a whole number, observed '100'")
    ]
    text = replaced("resume-at = 40", "resume-at = -1", FULL)
    assert faults(tmp_path, text) == [
        ("comparisons[0].resume-at", "expected at least 0, observed -1")
    ]
    text = replaced('name = "full"', "name = 1", FULL)
    assert faults(tmp_path, text) == [("comparisons[0].name", "expected text, observed 1")]


# ---------------------------------------------------------------- source files


def test_default_source_is_every_python_file(tmp_path):
    """Python files at any depth; what tools leave behind is passed over."""
    touch(tmp_path, "b.py", "a/c.py", "a/d/e.py", "notes.txt")
    touch(tmp_path, "__pycache__/x.py", "a/__pycache__/x.py", "build/x.py", "dist/x.py")
    touch(tmp_path, "node_modules/x.py", "lab.egg-info/x.py", ".git/x.py", ".hidden.py")
    touch(tmp_path, "env/pyvenv.cfg", "env/lib/x.py")
    assert sources(tmp_path) == ["a/c.py", "a/d/e.py", "b.py"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("lab.py",), ["lab.py"]),
        (("./lab.py",), ["lab.py"]),
        (("*.py",), ["lab.py", "x.py"]),
        (("*",), ["data.csv", "lab.py", "repropack.toml", "x.py"]),
        (("parts/**",), ["parts/a.py", "parts/deep/b.py"]),
        (("parts/**/b.py",), ["parts/deep/b.py"]),
        (("parts/**/*.py",), ["parts/a.py", "parts/deep/b.py"]),
        (("parts/*",), ["parts/a.py"]),
        (("**/deep/*",), ["parts/deep/b.py"]),
        (("?.py",), ["x.py"]),
        (("[a-l]*.py",), ["lab.py"]),
        ((".dotted",), [".dotted"]),
        (("x.py", "*.csv", "x.*", "*.none"), ["data.csv", "x.py"]),
    ],
)
def test_patterns(tmp_path, patterns, expected):
    """Wildcards stay within a name, ``**`` spans folders, and a file is listed once."""
    touch(tmp_path, "lab.py", "x.py", "data.csv", "parts/a.py", "parts/deep/b.py", ".dotted")
    assert sources(tmp_path, *patterns) == expected


def test_files_are_sorted_by_bytes_with_their_places(tmp_path):
    """The order is that of the path's bytes, and each file's place is absolute."""
    touch(tmp_path, "b.py", "a/z.py", "a.py", "C.py", "\u00e9.py")
    found = load(tmp_path).source_files()
    assert [name for name, _ in found] == ["C.py", "a.py", "a/z.py", "b.py", "\u00e9.py"]
    assert all(place == tmp_path / name for name, place in found)


def test_root_may_lie_in_a_folder_that_would_be_skipped(tmp_path):
    """Only folders below the root are passed over."""
    root = tmp_path / "build"
    touch(root, "lab.py", "pyvenv.cfg")
    assert sources(root) == ["lab.py"]


@pytest.mark.parametrize(
    "pattern",
    ["../lab.py", "a/../../x.py", "/etc/*", "C:/x.py", "C:x.py", "a\\b.py", ".", "\\\\h/x"],
)
def test_pattern_that_leaves_the_root(tmp_path, pattern):
    """A pattern may not point outside the project folder, on any system."""
    text = MINIMAL + f"source = ['{pattern}']\n"
    assert faults(tmp_path, text) == [
        (
            "experiment.source[0]",
            f"expected a pattern inside the project folder, observed {pattern!r}",
        )
    ]


def test_no_file_at_all(tmp_path):
    """Patterns that select nothing are named."""
    assert source_faults(tmp_path, "*.py", "src/**") == [
        (
            "experiment.source",
            "expected at least one file, observed none that matches ['*.py', 'src/**']",
        )
    ]


def test_named_file_that_is_missing(tmp_path):
    """A path without wildcards is a promise, even where other patterns find files."""
    touch(tmp_path, "lab.py")
    assert source_faults(tmp_path, "*.py", "helper.py") == [
        ("experiment.source", "expected a regular file, observed none: 'helper.py'")
    ]


def test_links_are_refused(tmp_path):
    """A link that a pattern selects is a fault: it would not be packed, and might lead anywhere."""
    touch(tmp_path, "lab.py")
    (tmp_path / "link.py").symlink_to("lab.py")
    assert source_faults(tmp_path) == [
        ("experiment.source", "expected a regular file, observed a link: 'link.py'")
    ]
    assert sources(tmp_path, "lab.py") == ["lab.py"]


def test_linked_folders_are_not_entered(tmp_path):
    """What lies behind a link to a folder is not part of the project."""
    touch(tmp_path, "outside/secret.py", "project/lab.py")
    (tmp_path / "project" / "inner").symlink_to(tmp_path / "outside", target_is_directory=True)
    assert sources(tmp_path / "project") == ["lab.py"]
    assert source_faults(tmp_path / "project", "inner/secret.py") == [
        ("experiment.source", "expected a regular file, observed none: 'inner/secret.py'")
    ]


def test_special_files_are_refused(tmp_path):
    """A pipe is no file to pack."""
    os.mkfifo(tmp_path / "pipe.py")
    assert source_faults(tmp_path) == [
        ("experiment.source", "expected a regular file, observed something else: 'pipe.py'")
    ]


def test_unreadable_folder(tmp_path, monkeypatch):
    """A folder that cannot be listed ends the search: files in it may be missing."""
    project = load(tmp_path)

    def refuse(path: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(ProjectError) as caught:
        project.source_files()
    assert caught.value.issues == (
        ("experiment.source", "the project folder cannot be searched: Permission denied"),
    )


# ---------------------------------------------------------------- licence


def test_license_text_of_usual_files(tmp_path):
    """Without ``license-file`` the usual names are tried in order; none is not a fault."""
    project = load(tmp_path)
    assert project.license_text() is None
    for name in ("COPYING", "LICENSE.md", "LICENSE.txt", "LICENSE"):
        (tmp_path / name).write_bytes(name.encode())
        assert project.license_text() == name.encode()


def test_license_text_of_the_named_file(tmp_path):
    """``license-file`` goes before the usual names."""
    touch(tmp_path, "LICENSE", "legal/TERMS")
    (tmp_path / "legal/TERMS").write_bytes(b"terms\r\n")
    text = PACKAGE + "license-file = 'legal/TERMS'\n" + EXPERIMENT
    assert load(tmp_path, text).license_text() == b"terms\r\n"


@pytest.mark.parametrize("name", ["absent", "../LICENSE", "legal", "link", "x" * 400])
def test_license_file_that_cannot_be_used(tmp_path, name):
    """A named licence has to be a regular file inside the project."""
    touch(tmp_path, "LICENSE", "project/LICENSE", "project/legal/TERMS")
    (tmp_path / "project/link").symlink_to("LICENSE")
    text = PACKAGE + f"license-file = '{name}'\n" + EXPERIMENT
    ((key, problem),) = faults(tmp_path / "project", text)
    assert key == "package.license-file"
    assert problem == (
        f"expected a file in the project folder that is no link, observed {shown(name)}"
    )


def test_linked_license_is_passed_over(tmp_path):
    """A usual name that is a link does not count."""
    touch(tmp_path, "COPYING")
    (tmp_path / "LICENSE").symlink_to("COPYING")
    (tmp_path / "COPYING").write_bytes(b"copying")
    assert load(tmp_path).license_text() == b"copying"


def test_unreadable_license(tmp_path, monkeypatch):
    """A licence that is there and cannot be read is a fault, not an absence."""
    touch(tmp_path, "LICENSE")
    project = load(tmp_path)

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ProjectError) as caught:
        project.license_text()
    assert caught.value.issues == (
        ("package.license-file", "'LICENSE' cannot be read: Permission denied"),
    )


# ---------------------------------------------------------------- small parts


def test_dotted_keys():
    """Keys are quoted where TOML would quote them."""
    assert dotted(()) == ""
    assert dotted(("a", 0, "b-c")) == "a[0].b-c"
    assert dotted(("a.b",)) == '"a.b"'


def test_paths_inside():
    """Only relative paths with forward slashes and without ``..`` stay inside."""
    assert is_pattern_inside("a/b.py")
    assert is_pattern_inside("a..b/c.py")
    assert not is_pattern_inside("a\0b")
    assert not is_own_file(ROOT, "a\0b")
    assert is_own_file(ROOT, "pyproject.toml")


def test_document_types_are_the_projects(tmp_path):
    """Nested expectations are read by the kebab-case model too."""
    assert type(load(tmp_path, FULL).document.comparisons[1].expect) is ProjectDivergence


def test_fault_without_words_of_its_own():
    """A kind of error that no table lists is told in pydantic's words, with the value."""
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(bool).validate_python("x", strict=True)
    assert list(readable_faults(caught.value)) == [
        ((), "input should be a valid boolean, observed 'x'")
    ]


# ---------------------------------------------------------------- commands

COMMAND = """\
[experiment]
command = ["python", "train.py", "--seed={seed}", "--rate", "{config.rate}"]
seed = 3
inputs = ["data/*.csv", { path = "big.npz", include = false, location = "the archive" }]
outputs = ["results/*"]
timeout-seconds = 60
[experiment.environment]
MODE = "fast"
[experiment.config]
rate = 0.5
[[after]]
command = ["python", "plot.py"]
outputs = ["figures/*.png"]
"""


def test_a_command_in_a_plan(tmp_path):
    """A command without steps is one step; every key arrives in the plan, but the files."""
    plan = load(tmp_path, PACKAGE + COMMAND).plan()
    assert plan.experiment == ExperimentPlan(
        command=("python", "train.py", "--seed={seed}", "--rate", "{config.rate}"),
        config={"rate": 0.5},
        seed=3,
        steps=1,
        outputs=("results/*",),
        environment={"MODE": "fast"},
        timeout_seconds=60,
    )
    assert [(after.command, after.outputs) for after in plan.after] == [
        (("python", "plot.py"), ("figures/*.png",))
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "seed = 3",
            'seed = 3\nentry-point = "a:B"',
            [("experiment", "expected either entry-point or command, observed both")],
        ),
        (
            'command = ["python", "train.py"',
            'comand = ["python", "train.py"',
            [
                ("experiment.comand", "unknown key; did you mean 'command'?"),
                ("experiment", "expected either entry-point or command, observed neither"),
            ],
        ),
        (
            "{seed}",
            "{sed}",
            [
                (
                    "experiment.command[2]",
                    "expected {seed} or {config.NAME}, observed '{sed}'; did you mean '{seed}'?",
                )
            ],
        ),
        (
            "{config.rate}",
            "{config.rat}",
            [
                (
                    "experiment.command[4]",
                    (
                        "expected {seed} or {config.NAME}, observed '{config.rat}'; did you mean "
                        "'{config.rate}'?"
                    ),
                )
            ],
        ),
        (
            'outputs = ["results/*"]',
            'outputs = ["/tmp/x"]',
            [
                (
                    "experiment.outputs[0]",
                    "expected a pattern inside the working folder, observed '/tmp/x'",
                )
            ],
        ),
        (
            'outputs = ["results/*"]',
            "",
            [
                (
                    "experiment.outputs",
                    "expected at least one pattern of files that the command writes, observed none",
                )
            ],
        ),
        (
            "data/*.csv",
            "../data/*.csv",
            [
                (
                    "experiment.inputs[0]",
                    "expected a pattern inside the project folder, observed '../data/*.csv'",
                )
            ],
        ),
        (
            '"data/*.csv"',
            "4",
            [("experiment.inputs[0]", "expected text or a table with path, observed 4")],
        ),
        (
            "path =",
            "pth =",
            [
                ("experiment.inputs[1].path", "expected a value, observed none"),
                ("experiment.inputs[1].pth", "unknown key; did you mean 'path'?"),
            ],
        ),
        (
            ', location = "the archive"',
            "",
            [
                (
                    "experiment.inputs[1].location",
                    "expected words that say where to get it, for it is not packed; observed none",
                )
            ],
        ),
        (
            "MODE",
            '"a b"',
            [
                (
                    'experiment.environment."a b"',
                    "expected a name of letters, digits and '_', observed 'a b'",
                )
            ],
        ),
        (
            "MODE",
            "PYTHONPATH",
            [
                (
                    "experiment.environment.PYTHONPATH",
                    (
                        "expected a variable that repropack does not set or remove itself, "
                        "observed 'PYTHONPATH'"
                    ),
                )
            ],
        ),
        (
            'outputs = ["figures/*.png"]',
            "",
            [("after[0].outputs", "expected a value, observed none")],
        ),
    ],
)
def test_faults_of_commands(tmp_path, old, new, expected):
    """What an author may get wrong in a command: the key, what is expected, what is there."""
    assert faults(tmp_path, replaced(old, new, PACKAGE + COMMAND)) == expected


# ---------------------------------------------------------------- schema for editors


def test_the_schema_has_a_line_on_every_key():
    """An editor shows what a key means, in every table; no line is without its key."""
    schema = json.loads(schema_bytes("project"))
    tables = {"ProjectFile": schema, **schema["$defs"]}
    described = {
        name: {key for key, row in table["properties"].items() if row.get("description")}
        for name, table in tables.items()
    }
    assert described == {name: set(table["properties"]) for name, table in tables.items()}
    assert described == {name: set(words) for name, words in PROJECT_WORDS.items()}
    assert schema["properties"]["lint"]["description"] == (
        "Rules of lint whose findings do not stop a build."
    )


def test_an_output_of_an_earlier_run_is_no_source(tmp_path):
    """But a file that source or a command names is, whatever the patterns of outputs."""
    text = PACKAGE + "[experiment]\ncommand = ['python', 'plot.py']\noutputs = ['*.py']\n"
    text += "[[after]]\ncommand = ['python', 'after.py']\noutputs = ['made/**']\n"
    touch(tmp_path, "plot.py", "after.py", "old.py", "made/old.py", "src/kept.py")
    paths = [path for path, _ in load(tmp_path, text).source_files()]
    assert paths == ["after.py", "plot.py", "src/kept.py"]
    text = text.replace("outputs = ['*.py']", "outputs = ['*.py']\nsource = ['old.py', '*.py']")
    paths = [path for path, _ in load(tmp_path, text).source_files()]
    assert paths == ["after.py", "old.py", "plot.py"]
