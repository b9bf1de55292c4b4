"""Commands on finished runs: what they see, what they may not do, whose an output is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repropack._run.after import run_after
from repropack._run.execute import Launcher
from repropack.errors import CommandError, CouldNotRunError, RepropackError
from repropack.models.plan import CommandPlan, ComparisonPlan
from tests.support.commands import files_below, make_command_launcher
from tests.support.experiment_sources import compare

pytestmark = pytest.mark.slow

AFTER = """\
import json, os, sys
seen = sorted(os.path.join(a, f) for a, _, b in os.walk(".") for f in b)
open("seen.json", "w").write(json.dumps([sys.argv[1:], seen]))
"""


def after(*lines: str, outputs: tuple[str, ...] = ("seen.json",), **members: Any) -> CommandPlan:
    """A command that tells what it sees, or a script of its own."""
    tells = ("after.py", "{seed}", "{config.name}")
    words = ("-c", "\n".join(lines)) if lines else tells
    return CommandPlan(command=("python", *words), outputs=outputs, **members)


def finished(folder: Path, *commands: CommandPlan) -> Launcher:
    """A launcher whose runs have ended: the reference, and a comparison that is equal to it."""
    launcher = make_command_launcher(
        folder, after=commands, inputs={"data.csv": "1\n"}, config={"name": "x"}
    )
    (folder / "source" / "after.py").write_text(AFTER, "utf-8")
    plan = launcher.plan.model_copy(
        update={"comparisons": (ComparisonPlan(name="other", hash_seed=1),)}
    )
    launcher = Launcher(plan, launcher.materials, launcher.tree, launcher.scratch)
    launcher.run_reference()
    compare(launcher, hash_seed=1)
    return launcher


def failure(tmp_path: Path, *commands: CommandPlan) -> RepropackError:
    with pytest.raises(RepropackError) as caught:
        run_after(finished(tmp_path, *commands), tmp_path / "derived")
    return caught.value


def test_it_sees_source_inputs_and_the_plans_runs(tmp_path: Path):
    """With the experiment's seed and configuration; a run that a verifier adds is not there."""
    launcher = finished(tmp_path, after())
    extra = launcher.tree / "runs" / "resume-at-1" / "fingerprints.jsonl"
    extra.parent.mkdir()
    extra.write_bytes(b"{}\n")
    run_after(launcher, tmp_path / "derived")
    (text,) = files_below(tmp_path / "derived").values()
    steps = [f"checkpoints/step-00000000{n}.{end}" for n in (0, 1) for end in ("json", "npz")]
    runs = [
        f"./runs/{run}/{path}"
        for run in ("other", "reference")
        for path in (*steps, "fingerprints.jsonl", "outputs/out.txt")
    ]
    listed = ", ".join(f'"{path}"' for path in ["./after.py", "./data.csv", *runs, "./train.py"])
    assert text.decode() == f'[["7", "x"], [{listed}]]'


def test_commands_do_not_see_each_other(tmp_path: Path):
    """Each has a clean copy, so that their order does not matter; both outputs are kept."""
    first = after("open('a.txt', 'w').write('a')", outputs=("a.txt",))
    second = after(
        "import os; open('b.txt', 'w').write(str(os.path.exists('a.txt')))", outputs=("b.txt",)
    )
    run_after(finished(tmp_path, first, second), tmp_path / "derived")
    assert files_below(tmp_path / "derived") == {"a.txt": b"a", "b.txt": b"False"}


def test_without_a_command_nothing_is_made(tmp_path: Path):
    """Not even the folder."""
    run_after(finished(tmp_path), tmp_path / "derived")
    assert not (tmp_path / "derived").exists()


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("open('runs/other/outputs/out.txt', 'w')", "runs/other/outputs/out.txt"),
        ("os.remove('runs/other/fingerprints.jsonl')", "runs/other/fingerprints.jsonl"),
        ("open('data.csv', 'w')", "data.csv"),
        ("open('train.py', 'w')", "train.py"),
    ],
)
def test_it_cannot_change_what_it_is_given(tmp_path: Path, line: str, path: str):
    """It changes a copy, which is an error, and the runs are as they were."""
    command = after(f"import os\nopen('seen.json', 'w')\n{line}")
    launcher = finished(tmp_path, command)
    before = files_below(tmp_path / "tree")
    with pytest.raises(CommandError) as caught:
        run_after(launcher, tmp_path / "derived")
    assert caught.value.message == (
        "run 'after-1': expected the files that it was given as they were, observed changes of "
        f"{path!r}"
    )
    assert files_below(tmp_path / "tree") == before
    assert not (tmp_path / "derived").exists()


@pytest.mark.parametrize(
    ("one", "other"), [("a.txt", "a.txt"), ("a/b", "a"), ("a", "a/b")], ids=["same", "up", "down"]
)
def test_an_output_belongs_to_one_command(tmp_path: Path, one: str, other: str):
    """Also where one's file is the other's folder."""
    write = "import os; os.makedirs(os.path.dirname({0!r}) or '.', exist_ok=True); open({0!r}, 'w')"
    commands = [after(write.format(path), outputs=(path,)) for path in (one, other)]
    error = failure(tmp_path, *commands)
    assert isinstance(error, CommandError)
    assert error.message == f"run 'after-2': expected outputs of its own, observed {other!r} again"


@pytest.mark.parametrize(
    ("one", "other", "problem"),
    [
        (
            "A.txt",
            "a.txt",
            "'after/a.txt': expected a path unique under case folding, observed 'after/A.txt'",
        ),
        (
            "X/a",
            "x/b",
            "'after/x/b': folder: expected one spelling of 'after/x', observed 'after/X/a'",
        ),
    ],
    ids=["file", "folder"],
)
def test_outputs_of_two_commands_that_some_systems_cannot_tell_apart(
    tmp_path: Path, one: str, other: str, problem: str
):
    """Told of the command that came second, and not as damage of a package."""
    write = "import os; os.makedirs(os.path.dirname({0!r}) or '.', exist_ok=True); open({0!r}, 'w')"
    error = failure(
        tmp_path, *(after(write.format(path), outputs=(path,)) for path in (one, other))
    )
    assert isinstance(error, CommandError)
    assert error.message == f"run 'after-2': outputs cannot be packed: entry {problem}"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (after("raise SystemExit(3)"), "expected the command to end with status 0, observed 3"),
        (after("pass"), "expected files that match the output 'seen.json', observed none"),
        (
            CommandPlan(command=("no-such-program",), outputs=("a",)),
            "'no-such-program' cannot be started: No such file or directory",
        ),
    ],
)
def test_a_command_that_fails_is_told_by_its_number(
    tmp_path: Path, command: CommandPlan, message: str
):
    """The first has done its part, and is not blamed."""
    error = failure(tmp_path, after(), command)
    assert error.message == f"run 'after-2': {message}"


def test_it_has_variables_and_a_time_of_its_own(tmp_path: Path):
    """Not those of the experiment's command."""
    command = after(
        "import os, time; open('seen.json', 'w').write(os.environ['MINE']); time.sleep(600)",
        environment={"MINE": "x"},
        timeout_seconds=1,
    )
    error = failure(tmp_path, command)
    assert type(error) is CouldNotRunError
    assert "limit timeout-seconds exceeded: allowed 1, observed" in error.message
