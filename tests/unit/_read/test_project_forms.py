"""The three forms of an experiment: every fault of a project file that follows from the form."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from repropack._read.project_faults import dotted
from repropack._read.project_forms import broken_forms

ENTRY = 'entry-point = "a:b"\nseed = 7\nsteps = 3\n'
COMMAND = 'command = ["python", "a.py"]\noutputs = ["out.csv"]\n'
LOOP = 'command = ["python", "a.py"]\nsteps = 3\n'
OUTSIDE = "expected a pattern inside the working folder, observed "
AS_A_WHOLE = "expected experiment.steps, for a command without steps records none; observed none"
RESUMES = (
    "expected experiment.steps, for a command resumes only through repropack.attach; observed none"
)
FIXED = "expected a variable that repropack does not set or remove itself, observed "


def faults(experiment: str, rest: str = "") -> list[tuple[str, str]]:
    """Key and problem of each fault."""
    data = tomllib.loads(f"[experiment]\n{experiment}\n{rest}")
    return [(dotted(key), problem) for key, problem in broken_forms(data)]


@pytest.mark.parametrize(
    "experiment",
    [
        ENTRY,
        COMMAND,
        f"{COMMAND}seed = 7\ntimeout-seconds = 5\n",
        LOOP,
        f'{LOOP}outputs = ["a/**"]\n',
        f'{COMMAND}environment = {{ OMP_NUM_THREADS = "1", PATHS = "x", MY_HOME = "x" }}\n',
        f'{COMMAND}inputs = ["a/*", {{ path = "big", include = false, location = "ask" }}]\n',
        f'{ENTRY}environment = {{ A = "1" }}\ninputs = ["a.csv"]\n',
    ],
)
def test_each_form_stands_alone(experiment: str):
    """An entry point, a command with outputs, a loop with or without them."""
    assert faults(experiment) == []


@pytest.mark.parametrize(
    ("experiment", "expected"),
    [
        ("seed = 7\nsteps = 3\n", [("experiment", "neither")]),
        (f'{ENTRY}command = ["sh"]\n', [("experiment", "both")]),
    ],
)
def test_it_is_one_of_two(experiment: str, expected: list[tuple[str, str]]):
    """Neither and both are told as such."""
    assert faults(experiment) == [
        (key, f"expected either entry-point or command, observed {observed}")
        for key, observed in expected
    ]


@pytest.mark.parametrize("name", ["seed", "steps"])
def test_an_entry_point_needs_seed_and_steps(name: str):
    """A command has defaults for them, an entry point none."""
    text = "\n".join(line for line in ENTRY.splitlines() if not line.startswith(name))
    assert faults(text) == [(f"experiment.{name}", "expected a value, observed none")]


def test_an_entry_point_has_no_outputs():
    """Its steps are compared; a pattern that nothing would be compared by is a mistake."""
    assert faults(f'{ENTRY}outputs = ["a"]\n') == [
        (
            "experiment.outputs",
            "expected none beside entry-point, whose steps are compared; observed some",
        )
    ]


@pytest.mark.parametrize("outputs", ["", "outputs = []\n"])
def test_a_command_without_steps_has_outputs(outputs: str):
    """They are all there is to compare."""
    assert faults(f'command = ["a"]\n{outputs}') == [
        (
            "experiment.outputs",
            "expected at least one pattern of files that the command writes, observed none",
        )
    ]


@pytest.mark.parametrize(
    "line",
    [
        "checkpoint-every = 2",
        "stages-every = 2",
        "state-every = 2",
        'keep = ["w"]',
        'printed = { loss = ".2f" }',
    ],
)
def test_a_command_without_steps_records_none(line: str):
    """Whatever is said of steps is a fault, also where it says nothing new."""
    key = line.partition(" ")[0]
    assert faults(COMMAND, f"[record]\n{line}\n") == [(f"record.{key}", AS_A_WHOLE)]
    assert faults(LOOP, f"[record]\n{line}\n") == []


def test_a_command_without_steps_does_not_resume():
    """Of each comparison that would."""
    rest = "[[comparisons]]\nname = 'a'\nhash-seed = 1\n"
    rest += "[[comparisons]]\nname = 'b'\nresume-at = 1\n"
    assert faults(COMMAND, rest) == [("comparisons[1].resume-at", RESUMES)]
    assert faults(LOOP, rest) == []


def test_unknown_names_in_words():
    """In the experiment's command and in those after the runs, by the place of the word."""
    rest = '[[after]]\ncommand = ["x", "{nme}"]\noutputs = ["a"]\n'
    text = 'command = ["x", "{sed}", "{config.rate}"]\noutputs = ["a"]\nconfig = { rate = 1 }\n'
    assert faults(text, rest) == [
        (
            "experiment.command[1]",
            "expected {seed} or {config.NAME}, observed '{sed}'; did you mean '{seed}'?",
        ),
        ("after[0].command[1]", "expected {seed} or {config.NAME}, observed '{nme}'"),
    ]


@pytest.mark.parametrize("pattern", ["/abs", "../up", "a/../b", "C:/x", "a\\b", "."])
def test_patterns_stay_inside(pattern: str):
    """Of outputs and of inputs, packed or not; on any system."""
    text = pattern.replace("\\", "\\\\")
    rest = f'[[after]]\ncommand = ["x"]\noutputs = ["a", "{text}"]\n'
    assert faults(f'command = ["x"]\noutputs = ["{text}"]\ninputs = ["{text}"]\n', rest) == [
        ("experiment.outputs[0]", f"{OUTSIDE}{pattern!r}"),
        (
            "experiment.inputs[0]",
            f"expected a pattern inside the project folder, observed {pattern!r}",
        ),
        ("after[0].outputs[1]", f"{OUTSIDE}{pattern!r}"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "PATH", "HOME", "TMPDIR", "TZ", "LANG", "LC_ALL", "SHELL", "USER", "LOGNAME", "IFS",
        "BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES",
        "PYTHONHASHSEED", "PYTHONPATH", "PYTHON_GIL", "REPROPACK_JOB", "RANK", "WORLD_SIZE",
        "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT",
    ],
)  # fmt: skip
def test_variables_that_are_not_the_authors(name: str):
    """What repropack sets or removes itself; in either kind of command."""
    rest = f'[[after]]\ncommand = ["x"]\noutputs = ["a"]\nenvironment = {{ {name} = "x" }}\n'
    assert faults(f'{COMMAND}environment = {{ {name} = "x" }}\n', rest) == [
        (f"experiment.environment.{name}", f"{FIXED}{name!r}"),
        (f"after[0].environment.{name}", f"{FIXED}{name!r}"),
    ]


def test_an_input_that_is_not_packed_says_where_it_is():
    """And one that is packed has no other place."""
    rows = '{ path = "a", include = false }, { path = "b", location = "there" }'
    assert faults(f"{COMMAND}inputs = [{rows}]\n") == [
        (
            "experiment.inputs[0].location",
            "expected words that say where to get it, for it is not packed; observed none",
        ),
        (
            "experiment.inputs[1].location",
            "expected include = false beside it, observed none",
        ),
    ]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"experiment": []},
        {"experiment": {"command": 3, "outputs": "x", "environment": [], "config": 1}},
        {"experiment": {"command": [3, ""], "outputs": [1, ""], "inputs": [1, "", {"path": 3}]}},
        {"experiment": {"command": ["a"], "inputs": "x"}, "after": [1, {"command": 3}]},
        {"experiment": {"command": ["a"], "outputs": ["b"]}, "record": 1, "comparisons": {}},
        {"experiment": {"command": ["a"]}, "after": "x", "comparisons": [1, {"resume-at": "x"}]},
        {"experiment": {"entry-point": 3, "seed": "x", "steps": []}},
    ],
)
def test_values_of_other_types_are_left_to_the_types(data: dict[str, Any]):
    """The rules look at raw tables, so nothing in them may surprise one."""
    found = list(broken_forms(data))
    assert all(isinstance(problem, str) for _, problem in found)
    assert len(found) <= 2
