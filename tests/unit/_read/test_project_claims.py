"""Claims of a project file: every fault at once, before anything runs."""

# ruff: noqa: E501 - one line a fault

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._read.project import load_project
from repropack.errors import ProjectError
from tests.support.experiments import write_project

COMPARISONS = (
    {"name": "resume", "resume-at": 4, "expect": "identical"},
    {"name": "faster", "config": {"factor": 2.0}},
)
GOOD = """
[[claims]]
id = "loss"
kind = "number"
sentence = "The loss is {value}."
expression = "results.reference.final_metrics[loss]"
states = "1.5"
rounding = ".1f"
[[claims]]
id = "resumes"
kind = "exact-resume"
run = "resume"
sentence = "It resumes."
"""


def project(folder: Path, claims: str) -> Path:
    path = write_project(
        folder / "p",
        record={"checkpoint-every": 2, "keep": ["x"], "printed": {"loss": ".2f"}},
        comparisons=COMPARISONS,
    )
    with (path / "repropack.toml").open("a") as stream:
        stream.write(claims)
    return path


def test_claims_become_those_of_the_plan(tmp_path: Path) -> None:
    """In their order, with the defaults filled in."""
    one, two = load_project(project(tmp_path, GOOD)).plan().claims
    assert (one.id, one.kind, one.states, one.rounding, one.run) == (
        "loss", "number", "1.5", ".1f", None,
    )  # fmt: skip
    assert (two.run, two.rounding, two.expression) == ("resume", "exact", None)


def test_every_fault_is_told_with_its_claim(tmp_path: Path) -> None:
    """Of types, names and expressions, beside each other."""
    claims = """
[[claims]]
id = "a"
kind = "numbr"
sentence = "x"
[[claims]]
id = "Not-An-Id"
kind = "count"
sentence = "x"
expresion = "1"
[[claims]]
id = "b"
kind = "count"
sentence = "x"
expression = "max(kept[faster][y])"
states = "3"
rounding = ".2q"
[[claims]]
id = "c"
kind = "count"
sentence = "x"
expression = "max(kept[faster][y])"
states = "3"
[[claims]]
id = "c"
kind = "repeated-outcome"
sentence = "x"
run = "fastr"
"""
    with pytest.raises(ProjectError) as caught:
        load_project(project(tmp_path, claims))
    assert set(caught.value.lines) == {
        "claims[0] ('a').kind: expected 'repeated-outcome', 'exact-resume', 'number', 'count', 'bound' or 'configuration-value', observed 'numbr'; did you mean 'number'?",
        "claims[1] ('Not-An-Id').id: expected an id of a-z, 0-9 and single '-', such as final-loss, observed 'Not-An-Id'",
        "claims[1] ('Not-An-Id').expresion: unknown key; did you mean 'expression'?",
        "claims[2] ('b').rounding: expected exact, d or a format such as '.4f', observed '.2q'",
        "claims[3] ('c').expression: character 17: expected a stage of record.keep (x), observed 'y'",
        "claims[4] ('c').id: expected an id of its own, observed 'c' twice",
        "claims[4] ('c').run: expected a comparison, observed 'fastr'; did you mean 'faster'?",
    }


@pytest.mark.parametrize("claims", ["claims = 3\n", 'claims = ["a"]\n'])
def test_claims_of_another_form_are_a_fault_and_no_more(tmp_path: Path, claims: str) -> None:
    """The rules say nothing where the types are at fault."""
    path = project(tmp_path, "")
    file = path / "repropack.toml"
    file.write_text(claims + file.read_text())
    with pytest.raises(ProjectError) as caught:
        load_project(path)
    assert all(line.startswith("claims") for line in caught.value.lines)


def test_a_command_has_one_step(tmp_path: Path) -> None:
    """So that a checkpoint after another is known not to be there."""
    path = tmp_path / "c"
    path.mkdir()
    (path / "run.py").write_text("")
    (path / "repropack.toml").write_text(
        '[package]\nname="c"\nversion="1"\ntitle="C"\nlicense="CC0-1.0"\nauthors=[{name="N"}]\n'
        '[experiment]\ncommand=["python","run.py"]\noutputs=["a.txt"]\nsource=["run.py"]\n'
        '[[claims]]\nid="a"\nkind="count"\nsentence="x"\nstates="1"\n'
        'expression="max(checkpoint[reference][2][a])"\n'
    )
    with pytest.raises(ProjectError, match="a step after which 'reference' stores its state"):
        load_project(path)
