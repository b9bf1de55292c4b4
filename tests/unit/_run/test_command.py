"""A command as an experiment: what it is given, what becomes of what it does, how it fails."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from repropack._format.layout import outputs_folder
from repropack._read.equality import hold_against
from repropack._run.command import command_words
from repropack.errors import CommandError, CouldNotRunError, RepropackError
from repropack.models.plan import ExperimentPlan
from tests.support.commands import WRITES, files_below, make_command_launcher
from tests.support.experiment_sources import compare, opened

pytestmark = pytest.mark.slow

TELLS = """\
import os, sys, json
told = json.dumps({told})
open("out.txt", "w").write(told)
"""


def told(tmp_path: Path, expression: str, **options: Any) -> str:
    """What an expression is in a run of the command, as JSON."""
    launcher = make_command_launcher(tmp_path, TELLS.format(told=expression), **options)
    launcher.run_reference()
    return (launcher.tree / outputs_folder("reference") / "out.txt").read_text("utf-8")


def failure(tmp_path: Path, script: str = WRITES, **options: Any) -> RepropackError:
    """The error that a run ends with; nothing of an output is left."""
    launcher = make_command_launcher(tmp_path, script, **options)
    with pytest.raises(RepropackError) as caught:
        launcher.run_reference()
    assert not (launcher.tree / outputs_folder("reference")).exists()
    assert list(launcher.scratch.iterdir()) == []
    return caught.value


# ---------------------------------------------------------------- what it is given


@pytest.mark.parametrize("word", ["python", "python3"])
def test_the_first_word_python_is_the_interpreter_in_use(word: str):
    """And no other word is touched, nor a path that ends so."""
    plan = ExperimentPlan(command=(word, "python", "{seed}"), outputs=("a",), seed=7, steps=1)
    assert command_words(plan) == [sys.executable, "python", "7"]
    other = plan.model_copy(update={"command": (f"/usr/bin/{word}", "x")})
    assert command_words(other) == [f"/usr/bin/{word}", "x"]


def test_words_get_seed_and_configuration(tmp_path: Path):
    """Of the run: text as it is, anything else as canonical JSON."""
    words = ("python", "train.py", "{seed}", "{config.a}", "{config.b}", "{{x}}", "")
    found = told(tmp_path, "sys.argv[1:]", command=words[:-1], config={"a": "x y", "b": [1.5]})
    assert found == '["7", "x y", "[1.5]", "{x}"]'


def test_it_sees_source_and_inputs_and_nothing_else(tmp_path: Path):
    """At their paths in the project, in a folder of its own."""
    expression = 'sorted(os.path.join(a, f) for a, _, b in os.walk(".") for f in b)'
    found = told(tmp_path, expression, inputs={"data/a.csv": "1\n"})
    assert found == '["./data/a.csv", "./train.py"]'


def test_standard_input_is_empty(tmp_path: Path):
    """A script that asks gets an end of file, and does not wait."""
    assert told(tmp_path, "sys.stdin.read()") == '""'


def test_its_own_variables_reach_it(tmp_path: Path):
    """Beside those that every run has; nothing of the caller's."""
    expression = '[os.environ.get(n) for n in ("MINE", "TZ", "PYTHONHASHSEED", "HOME", "USER")]'
    found = told(tmp_path, expression, environment={"MINE": "a b", "OMP_NUM_THREADS": "1"})
    assert found == '["a b", "UTC", "0", null, null]'


def test_a_comparison_has_its_own_hash_seed_and_configuration(tmp_path: Path):
    """The command is given both, and its stages show it."""
    script = TELLS.format(told='[os.environ["PYTHONHASHSEED"], sys.argv[1]]')
    command = ("python", "train.py", "{config.rate}")
    launcher = make_command_launcher(tmp_path, script, command=command, config={"rate": 2})
    launcher.run_reference()
    found = {}
    interventions: dict[str, dict[str, Any]] = {
        "seed": {"hash_seed": 5},
        "rate": {"config": {"rate": 3}},
    }
    for name, intervention in interventions.items():
        compare(launcher, **intervention)
        found[name] = (launcher.tree / outputs_folder("other") / "out.txt").read_text("utf-8")
    assert found == {"seed": '["5", "2"]', "rate": '["0", "3"]'}


# ---------------------------------------------------------------- what is recorded


def test_a_run_is_one_step_with_its_outputs_as_stages(tmp_path: Path):
    """An empty state before and after, stages made of nothing, in the order of the paths."""
    script = """\
import os
os.mkdir("b")
for path in ("b/c d.txt", "a.json", "left-out.txt"):
    open(path, "w").write("[1]")
print("what is printed is not recorded")
"""
    launcher = make_command_launcher(tmp_path, script, outputs=("b/*", "a.json", "*.json"))
    launcher.run_reference()
    with opened(launcher) as (run,):
        (line,) = run.steps()
        assert (run.header.first_step, run.start.state, run.header.constants) == (1, (), ())
        assert (line.step, line.state, line.metrics, line.finish) == (1, (), {}, None)
        names = ("output:a.json", "output:b/c%20d.txt")
        assert run.header.stages == tuple((name, ()) for name in names)
        assert tuple(name for name, _ in line.stages or ()) == names
        assert run.checkpoint_steps() == (0, 1)
    stored = files_below(launcher.tree / outputs_folder("reference"))
    assert stored == {"a.json": b"[1]", "b/c d.txt": b"[1]"}
    everything = b"".join(files_below(launcher.tree).values())
    assert b"what is printed" not in everything


def test_a_calm_command_is_repeated_exactly(tmp_path: Path):
    """In another process, with another hash seed."""
    launcher = make_command_launcher(tmp_path)
    launcher.run_reference()
    compare(launcher, hash_seed=1)
    with opened(launcher, "other") as (reference, other):
        found = hold_against(reference, reference, other, "independent-replay")
    assert (found.equal, found.divergence) == (True, None)


@pytest.mark.parametrize(
    ("script", "intervention"),
    [
        ("import time; open('out.txt', 'w').write(str(time.perf_counter_ns()))", {}),
        ("open('out.txt', 'w').write(str(list({'a', 'b', 'c', 'd'})))", {"hash_seed": 1}),
        ("import os; open('out.txt', 'wb').write(os.urandom(8))", {}),
    ],
    ids=["clock", "set-order", "random"],
)
def test_a_command_that_cannot_be_repeated_is_caught(
    tmp_path: Path, script: str, intervention: dict[str, Any]
):
    """At its output."""
    launcher = make_command_launcher(tmp_path, script)
    launcher.run_reference()
    compare(launcher, **intervention)
    with opened(launcher, "other") as (reference, other):
        found = hold_against(reference, reference, other, "independent-replay")
    assert found.divergence is not None
    assert (found.divergence.step, found.divergence.stage) == (1, "output:out.txt")


# ---------------------------------------------------------------- how it fails


@pytest.mark.parametrize(
    ("script", "observed"),
    [
        (f"{WRITES}raise SystemExit(3)", "3"),
        ("raise ValueError('no')", "1"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 2)", "signal 36"),
    ],
    ids=["status", "raises", "killed", "nameless"],
)
def test_a_command_that_does_not_end_well(tmp_path: Path, script: str, observed: str):
    """Its status, or the signal by name; outputs that are there already do not help."""
    error = failure(tmp_path, script)
    assert isinstance(error, CommandError)
    assert error.message == (
        f"run 'reference': expected the command to end with status 0, observed {observed}"
    )
    assert error.hint == (
        "try it by hand in a folder that holds its source and its inputs, and nothing else"
    )


def test_what_it_printed_is_told_with_the_error(tmp_path: Path):
    """The traceback, without our folders."""
    error = failure(tmp_path, "print('before')\nraise ValueError('no')")
    assert error.printed[0] == "before"
    assert error.printed[-1] == "ValueError: no"
    assert not any("scratch" in line for line in error.printed)


MISSING = "name a program of PATH, or a file of the source as './NAME'"
FORBIDDEN = "make the file executable, or name its interpreter before it"


@pytest.mark.parametrize(
    ("word", "cause", "hint"),
    [
        ("no-such-program-here", "No such file or directory", MISSING),
        ("./train.py", "Permission denied", FORBIDDEN),
        ("./none.py", "No such file or directory", MISSING),
    ],
)
def test_a_command_that_cannot_be_started(tmp_path: Path, word: str, cause: str, hint: str):
    """The program is named, why, and what to do; nothing of ours counts as printed."""
    error = failure(tmp_path, command=(word,))
    assert error.message == f"run 'reference': {word!r} cannot be started: {cause}"
    assert error.hint == hint
    assert error.printed == ()


@pytest.mark.parametrize(
    ("script", "pattern", "hint"),
    [
        ("", "out.txt", "it wrote no file into its working folder"),
        ("open('other.txt', 'w')", "out.txt", "it wrote 'other.txt'"),
        (WRITES, "figures/**", "it wrote 'out.txt'"),
        (
            "for k in range(10): open(f'{k}.txt', 'w')",
            "out.txt",
            f"it wrote {str([f'{k}.txt' for k in range(8)])[1:-1]} and more",
        ),
        ("import os; os.mkdir('out.txt')", "out.txt", "it wrote no file into its working folder"),
    ],
    ids=["nothing", "another", "one-of-two", "many", "folder"],
)
def test_a_command_that_does_not_write_an_output(
    tmp_path: Path, script: str, pattern: str, hint: str
):
    """Each pattern needs a file; the hint says what was written instead."""
    patterns = ("out.txt",) if pattern == "out.txt" else ("out.txt", pattern)
    error = failure(tmp_path, script, outputs=patterns)
    assert isinstance(error, CommandError)
    assert error.problem == f"expected files that match the output {pattern!r}, observed none"
    assert error.hint == hint


def test_a_file_that_was_given_is_no_output(tmp_path: Path):
    """A pattern that only the source matches has no output."""
    error = failure(tmp_path, "", outputs=("*.py",))
    assert error.message == (
        "run 'reference': expected files that match the output '*.py', observed none"
    )
    assert error.hint == (
        "it wrote no file into its working folder; 'train.py' was there before, and is no output"
    )


def test_a_script_that_reads_what_is_not_declared_fails(tmp_path: Path):
    """The file lies beside the project and is not in the clean copy."""
    (tmp_path / "data.csv").write_text("1\n", "utf-8")
    error = failure(tmp_path / "lab", "open('data.csv')")
    assert error.printed[-1].startswith("FileNotFoundError:")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        ("os.symlink('train.py', 'out.txt')", "observed another kind"),
        ("os.symlink('/etc/passwd', 'out.txt')", "observed another kind"),
        ("os.symlink('nowhere', 'out.txt')", "observed another kind"),
        ("os.mkfifo('out.txt')", "observed another kind"),
        ("import socket; socket.socket(socket.AF_UNIX).bind('out.txt')", "observed another kind"),
    ],
    ids=["link", "link-outside", "link-to-nothing", "fifo", "socket"],
)
def test_an_output_is_a_regular_file(tmp_path: Path, make: str, problem: str):
    """What else stands at its place is refused, and never opened."""
    error = failure(tmp_path, f"import os; {make}")
    assert isinstance(error, CommandError)
    assert error.problem == f"output 'out.txt': expected a regular file, {problem}"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("b'a\\xff.txt'", "'a\\udcff.txt'"),
        ("'aux.txt'", "'aux.txt'"),
        ("'a:b.txt'", "'a:b.txt'"),
        ("'a\\n.txt'", "'a\\n.txt'"),
        ("'a\\u202e.txt'", "'a\\u202e.txt'"),
        ("'x' * 201 + '.txt'", "'" + "x" * 201 + ".txt'"),
    ],
    ids=["not-utf-8", "device", "colon", "newline", "bidirectional", "long"],
)
def test_a_path_that_no_package_can_have(tmp_path: Path, name: str, shown: str):
    """Named with escapes: it could not be run, for nothing differs."""
    error = failure(tmp_path, f"open({name}, 'w')", outputs=("*.txt",))
    assert type(error) is CouldNotRunError
    assert error.message.startswith(f"run 'reference': output {shown} cannot be packed: ")
    assert error.message.isascii()
    assert error.hint == "let it write under another name, or leave the file out of outputs"
    assert error.printed == ()


@pytest.mark.parametrize(
    ("one", "other", "observed"),
    [
        ("A.txt", "a.txt", "'a.txt': expected a path unique under case folding, observed 'A.txt'"),
        (
            "X/a.txt",
            "x/b.txt",
            "'x/b.txt': folder: expected one spelling of 'x', observed 'X/a.txt'",
        ),
    ],
    ids=["file", "folder"],
)
def test_outputs_that_some_systems_cannot_tell_apart(
    tmp_path: Path, one: str, other: str, observed: str
):
    """Told of the run, and not as damage of a package."""
    write = "import os\nfor n in {!r}:\n os.makedirs(os.path.dirname(n) or '.', exist_ok=True)\n"
    error = failure(tmp_path, f"{write.format((one, other))} open(n, 'w')", outputs=("**/*.txt",))
    assert type(error) is CouldNotRunError
    assert error.message == f"run 'reference': outputs cannot be packed: entry {observed}"
    assert error.hint == "let it write under another name, or leave the file out of outputs"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("open('data.csv', 'a').write('2')", "'data.csv'"),
        ("os.remove('data.csv')", "'data.csv'"),
        ("os.remove('data.csv'); os.symlink('copy', 'data.csv')", "'data.csv'"),
        ("os.remove('data.csv'); os.mkfifo('data.csv')", "'data.csv'"),
        ("os.remove('data.csv'); os.mkdir('data.csv')", "'data.csv'"),
        ("open('train.py', 'a').write('#')", "'train.py'"),
        ("os.remove('train.py'); os.remove('data.csv')", "'train.py', 'data.csv'"),
    ],
    ids=["changed", "deleted", "link", "fifo", "folder", "source", "both"],
)
def test_what_it_was_given_stays_as_it_was(tmp_path: Path, change: str, name: str):
    """A link to a file of the same bytes is a change, too."""
    script = f"import os\nopen('copy', 'w').write('1\\n')\n{WRITES}{change}\n"
    error = failure(tmp_path, script, inputs={"data.csv": "1\n"})
    assert isinstance(error, CommandError)
    assert error.problem == (
        f"expected the files that it was given as they were, observed changes of {name}"
    )
    assert error.hint == "let it write to files of its own, and name them in outputs"


def test_many_changes_are_not_all_named(tmp_path: Path):
    """Ten of them."""
    script = f"import os\n{WRITES}for k in range(12): os.remove(f'{{k:02}}.csv')\n"
    error = failure(tmp_path, script, inputs={f"{k:02}.csv": "" for k in range(12)})
    assert error.message.endswith("'08.csv', '09.csv' and more")


def test_an_entry_point_keeps_its_inputs_too(tmp_path: Path):
    """They lie in its working folder; the source is elsewhere."""
    source = (
        "import os\nclass Lab:\n"
        "    def __init__(self, config, seed): self.text = open('data.csv').read()\n"
        "    def step(self, trace): os.remove('data.csv')\n"
        "    def state_dict(self): return {'text': self.text, 'all': sorted(os.listdir())}\n"
        "    def load_state_dict(self, state): pass\n"
    )
    error = failure(
        tmp_path,
        source,
        inputs={"data.csv": "1\n"},
        command=None,
        entry_point="train:Lab",
        outputs=(),
    )
    assert "observed changes of 'data.csv'" in error.message


def test_it_is_ended_after_its_time(tmp_path: Path):
    """The limit is named; raising it is a matter of the project file."""
    script = f"import time\n{WRITES}time.sleep(600)\n"
    error = failure(tmp_path, script, timeout_seconds=1)
    assert type(error) is CouldNotRunError
    assert error.message.startswith(
        "run 'reference': after step 0: limit timeout-seconds exceeded: allowed 1, observed "
    )
    assert error.hint == "raise it in the project file if the run may take that long"


def test_processes_that_it_leaves_end_with_it(tmp_path: Path):
    """One in a session of its own neither goes on nor holds up the run."""
    late = f"import time; time.sleep(1); open({str(tmp_path / 'late')!r}, 'w')"
    script = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', {late!r}], start_new_session=True)\n{WRITES}"
    )
    launcher = make_command_launcher(tmp_path / "lab", script)
    launcher.run_reference()
    time.sleep(2)
    assert not (tmp_path / "late").exists()


def test_too_many_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The judge counts for itself."""
    monkeypatch.setattr("repropack._run.clean_copy.MAX_OUTPUTS", 2)
    script = "for k in range(3): open(f'{k}.txt', 'w')"
    error = failure(tmp_path, script, outputs=("*.txt",))
    assert type(error) is CouldNotRunError
    assert error.message == "run 'reference': outputs: expected at most 2 files, observed 3"
