"""Packages of commands from the outside: built, interrupted, continued, verified, refused."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from repropack._cli.main import main
from repropack._read.package import open_package
from repropack._run.confinement.consent import Consent
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import CommandError, CouldNotRunError, ProjectError, UsageError
from repropack.models.reports import VerificationReport
from repropack.verify import verify_package
from tests.support.commands import WRITES, write_script_project
from tests.support.equal_files import assert_same_bytes
from tests.support.hostile import take_apart

pytestmark = pytest.mark.slow

HASH_SEEDS = """\
[[comparisons]]
name = "other-hash-seed"
hash-seed = 1
expect = "identical"
"""
TWICE = """\
import sys
open("out.txt", "w").write(sys.argv[1] + "\\n")
"""
LARGER = """\
[[comparisons]]
name = "larger"
config = { rate = 3 }
expect = { diverges-at = 1, stage = "output:out.txt" }
"""
AFTER = """\
[[after]]
command = ["python", "after.py"]
outputs = ["sum.txt"]
"""
SUMS = "open('sum.txt', 'w').write(open('runs/reference/outputs/out.txt').read() * 2)\n"


def build(folder: Path, *arguments: Any, **project: Any) -> Path:
    """Build a project around a script; ``arguments`` begin with the script."""
    write_script_project(folder / "lab", *arguments, **project)
    build_package(folder / "lab", folder / "built.zip", unexecuted_notebook=True)
    return folder / "built.zip"


def verify(path: Path, **options: Any) -> VerificationReport:
    """Verify as if the caller trusted the package, so that nothing has to be confined."""
    digest = check_package(path).package_digest
    return verify_package(path, consent=Consent(trust=digest), **options)


# ---------------------------------------------------------------- from a project to a verdict


def test_what_no_pattern_matches_is_told(tmp_path: Path) -> None:
    """A file that is written and not packed; the interpreter's own caches are none."""
    script = "import sys\nsys.dont_write_bytecode = False\nimport near\n" + WRITES
    script += "open('extra.txt', 'w').write('1')\n"
    write_script_project(tmp_path / "lab", script, files={"near.py": ""}, rest=HASH_SEEDS)
    report = build_package(tmp_path / "lab", tmp_path / "built.zip", unexecuted_notebook=True)
    assert report.not_compared == ("extra.txt",)
    assert verify(tmp_path / "built.zip").verdict == "identical"


def test_a_file_that_was_forgotten_is_named(tmp_path: Path) -> None:
    """It lies in the project, and the clean copy does not have it."""
    script = f"import numpy\ndef load(path): numpy.genfromtxt(path)\nload('patients.csv')\n{WRITES}"
    write_script_project(tmp_path / "lab", script, files={"patients.csv": "1\n"})
    with pytest.raises(CommandError) as caught:
        build_package(tmp_path / "lab", tmp_path / "built.zip")
    expected = "patients.csv is in the project and not packed: add it to inputs"
    assert caught.value.hint == expected


def test_a_script_with_everything(tmp_path: Path) -> None:
    """Configuration, comparisons, inputs, variables and a command after: built and verified."""
    script = f"import os\nprint(os.environ['LEVEL'], open('data/a.csv').read())\n{TWICE}"
    path = build(
        tmp_path,
        script,
        command=["python", "train.py", "{config.rate}"],
        files={"data/a.csv": "secret-looking print\n", "after.py": SUMS, "notes.txt": "left out\n"},
        experiment='inputs = ["data/*"]\nconfig = { rate = 2 }\nenvironment = { LEVEL = "7" }',
        rest=f"{HASH_SEEDS}{LARGER}{AFTER}",
    )
    assert check_package(path).faults == ()
    forgery = take_apart(path)
    assert {name for name in forgery.files if not name.startswith(("schemas/", "figures/"))} == {
        "CITATION.cff", "LICENSE", "README.md", "__main__.py", "ro-crate-metadata.json",
        "index.html", "environment.json", "notebook.ipynb", "plan.json",
        "results.json", "source/after.py", "source/train.py", "inputs/data/a.csv", "after/sum.txt",
        "runs/reference/fingerprints.jsonl", "runs/reference/outputs/out.txt",
        "runs/reference/checkpoints/step-000000000.json",
        "runs/reference/checkpoints/step-000000000.npz",
        "runs/reference/checkpoints/step-000000001.json",
        "runs/reference/checkpoints/step-000000001.npz",
        "runs/other-hash-seed/fingerprints.jsonl",
        "runs/larger/fingerprints.jsonl", "runs/larger/outputs/out.txt",
        "runs/larger/checkpoints/step-000000000.json",
        "runs/larger/checkpoints/step-000000000.npz",
        "runs/larger/checkpoints/step-000000001.json",
        "runs/larger/checkpoints/step-000000001.npz",
    }  # fmt: skip
    assert forgery.files["runs/larger/outputs/out.txt"] == b"3\n"
    assert forgery.files["after/sum.txt"] == b"2\n2\n"
    plan = forgery.read("plan.json")
    assert plan["experiment"] == {
        "command": ["python", "train.py", "{config.rate}"],
        "config": {"rate": 2},
        "entry_point": None,
        "environment": {"LEVEL": "7"},
        "import_from": [],
        "loop": False,
        "outputs": ["out.txt"],
        "seed": 0,
        "steps": 1,
        "timeout_seconds": None,
    }
    assert [row["held"] for row in forgery.read("results.json")["comparisons"]] == [True, True]
    printed = b"7 secret-looking print"
    assert not any(printed in data for data in forgery.files.values())
    report = verify(path)
    assert report.verdict == "identical"
    found = [(run.run, run.claim, run.outputs.compared) for run in report.runs]
    assert found == [
        ("reference", "independent-replay", 1),
        ("other-hash-seed", "independent-replay", 1),
        ("larger", "comparison", 1),
    ]
    assert report.after is not None
    assert (report.after.compared, report.after.equal) == (1, True)


def test_it_is_the_same_file_twice(tmp_path: Path) -> None:
    """Also where the project lies elsewhere and was written in another order."""
    one = build(tmp_path / "one", files={"a.py": "", "b.py": ""}).read_bytes()
    two = build(tmp_path / "two", files={"b.py": "", "a.py": ""}).read_bytes()
    assert one == two


def test_a_set_that_is_written_in_its_order_is_found(tmp_path: Path) -> None:
    """By the comparison with another hash seed: the build says so, and packs it all the same."""
    script = "open('out.txt', 'w').write(str(list({'a', 'b', 'c', 'd', 'e'})))"
    write_script_project(tmp_path / "lab", script, rest=HASH_SEEDS)
    report = build_package(tmp_path / "lab", tmp_path / "built.zip")
    assert not report.expectations_held
    (outcome,) = report.results.comparisons
    assert outcome.divergence is not None
    assert (outcome.divergence.stage, outcome.divergence.kind) == ("output:out.txt", "output")
    assert verify(tmp_path / "built.zip").verdict == "identical"


def test_an_undeclared_input_shows_at_build_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lint sees it; let pass, the run fails by the script's own error. Nothing is published."""
    lint = '[lint]\nallow = ["input-missing"]\n'
    build = ["build", str(tmp_path / "lab"), "-o", str(tmp_path / "x.zip")]
    script = f"{WRITES}open('data.csv')\n"
    write_script_project(tmp_path / "lab", script, files={"data.csv": "1"})
    assert main(build) == 1
    assert "[input-missing]" in capsys.readouterr().err
    write_script_project(tmp_path / "lab", script, rest=lint)
    assert main(build) == 4
    shown = capsys.readouterr().err
    assert "No such file or directory: 'data.csv'" in shown
    assert "expected the command to end with status 0, observed 1" in shown
    assert [place.name for place in tmp_path.iterdir()] == ["lab"]


def test_a_run_that_takes_too_long_here_could_not_run(tmp_path: Path) -> None:
    """The limit is the author's, and holds for whoever verifies: no difference, no answer."""
    path = build(tmp_path, experiment="timeout-seconds = 60")
    forgery = take_apart(path)
    forgery.files["source/train.py"] = f"import time\ntime.sleep(60)\n{WRITES}".encode()
    forgery.edit("plan.json", lambda plan: plan["experiment"].update(timeout_seconds=1))
    report = verify(forgery.write_zip(tmp_path / "slow.zip"))
    assert report.verdict == "could-not-run"
    assert report.problem is not None
    assert "limit timeout-seconds exceeded: allowed 1, observed " in report.problem.message


def test_a_command_that_fails_here_could_not_run(tmp_path: Path) -> None:
    """A reviewer without the program gets no answer rather than a no."""
    forgery = take_apart(build(tmp_path))
    forgery.edit("plan.json", lambda plan: plan["experiment"].update(command=["no-such-program"]))
    report = verify(forgery.write_zip(tmp_path / "other.zip"))
    assert (report.verdict, report.runs) == ("could-not-run", ())
    assert report.problem is not None
    assert report.problem.message == (
        "run 'reference': 'no-such-program' cannot be started: No such file or directory"
    )
    assert report.problem.code == "experiment.command"


@pytest.mark.hostile
@pytest.mark.parametrize(
    "source", ["open('sum.txt/x', 'w')", "import os; os.mkdir('sum.txt')", "raise SystemExit(9)"]
)
def test_a_command_after_the_runs_that_fails_here(tmp_path: Path, source: str) -> None:
    """What was found before is reported with it."""
    forgery = take_apart(build(tmp_path, files={"after.py": SUMS}, rest=AFTER))
    forgery.files["source/after.py"] = source.encode()
    report = verify(forgery.write_zip(tmp_path / "other.zip"))
    assert report.verdict == "could-not-run"
    assert [(run.run, run.equal) for run in report.runs] == [("reference", True)]
    assert report.problem is not None
    assert report.problem.message.startswith("run 'after-1': ")


@pytest.mark.hostile
def test_commands_after_the_runs_that_meet_at_one_path_here(tmp_path: Path) -> None:
    """One's file is the other's folder: an error like any other, and no traceback."""
    second = AFTER.replace("after.py", "second.py").replace("sum.txt", "t*")
    files = {"after.py": SUMS, "second.py": "open('t.txt', 'w')"}
    forgery = take_apart(build(tmp_path, files=files, rest=AFTER + second))
    turned = b"import os\nos.mkdir('sum.txt')\nopen('sum.txt/t', 'w')\nopen('t.txt', 'w')\n"
    forgery.files["source/second.py"] = turned
    forgery.edit("plan.json", lambda plan: plan["after"][1].update(outputs=["t*", "**/t*"]))
    report = verify(forgery.write_zip(tmp_path / "other.zip"))
    assert report.verdict == "could-not-run"
    assert report.problem is not None
    assert report.problem.message == (
        "run 'after-2': expected outputs of its own, observed 'sum.txt/t' again"
    )


# ---------------------------------------------------------------- steps, and a command after


STEPWISE = """\
import numpy as np

class Lab:
    def __init__(self, config, seed): self.x = np.zeros(2)
    def step(self, trace):
        self.x = self.x + 1
        trace.record("x", self.x)
    def state_dict(self): return {"x": self.x}
    def load_state_dict(self, state): self.x = state["x"]
"""


def test_a_command_after_sees_the_same_runs_here(tmp_path: Path) -> None:
    """A verifier adds a resume where the plan has none, and the command does not meet it."""
    folder = write_script_project(tmp_path / "lab", STEPWISE, files={
        "after.py": "import os\nopen('sum.txt', 'w').write(str(sorted(os.listdir('runs'))))\n"
    })  # fmt: skip
    text = (folder / "repropack.toml").read_text("utf-8")
    text = text.replace('command = ["python", "train.py"]\noutputs = ["out.txt"]', "", 1)
    text = text.replace(
        "[experiment]", '[experiment]\nentry-point = "train:Lab"\nseed = 1\nsteps = 4'
    )
    (folder / "repropack.toml").write_text(
        f"{text}[record]\ncheckpoint-every = 2\n{AFTER}", "utf-8"
    )
    build_package(folder, tmp_path / "built.zip", unexecuted_notebook=True)
    assert take_apart(tmp_path / "built.zip").files["after/sum.txt"] == b"['reference']"
    report = verify(tmp_path / "built.zip")
    assert [run.run for run in report.runs] == ["reference", "resume-at-2"]
    assert report.verdict == "identical"


# ---------------------------------------------------------------- a build that was interrupted

WAITS = """\
import os, time
if os.environ["PYTHONHASHSEED"] == {seed!r} and not os.path.exists({flag!r}):
    open("out.txt", "w").write("half")
    open({flag!r}, "w").close()
    time.sleep(600)
open("out.txt", "w").write("done\\n")
"""


def killed(folder: Path, flag: Path) -> None:
    """Start a build, wait until its command has begun, and kill the build."""
    command = [sys.executable, "-P", "-m", "repropack", "build", "lab", "-o", "built.zip"]
    command += ["--unexecuted-notebook"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not flag.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize(
    ("place", "seen"),
    [
        ("reference", ["reference", "other-hash-seed", "after-1"]),
        ("comparison", ["other-hash-seed", "after-1"]),
        ("after", ["after-1"]),
    ],
)
def test_a_build_that_was_killed_goes_on(tmp_path: Path, place: str, seen: list[str]) -> None:
    """Nothing of half a command is taken; the file is that of a build that nothing stopped."""
    flag = tmp_path / "begun"
    waits = WAITS.format(flag=str(flag), seed="1" if place == "comparison" else "0")
    script, after = (WRITES, f"{waits}{SUMS}") if place == "after" else (waits, SUMS)
    write_script_project(
        tmp_path / "lab", script, files={"after.py": after}, rest=f"{HASH_SEEDS}{AFTER}"
    )
    killed(tmp_path, flag)
    assert not (tmp_path / "built.zip").exists()
    if place != "reference":  # of which nothing is worth keeping
        with pytest.raises(UsageError, match="an interrupted build of it is in"):
            build_package(tmp_path / "lab", tmp_path / "built.zip")
    made: list[str] = []
    build_package(
        tmp_path / "lab",
        tmp_path / "built.zip",
        unexecuted_notebook=True,
        left_over="resume",
        on_step=lambda run, step, last: made.append(run),
    )
    assert made == seen
    build_package(tmp_path / "lab", tmp_path / "whole.zip", unexecuted_notebook=True)
    assert_same_bytes((tmp_path / "built.zip"), (tmp_path / "whole.zip"))
    files_of = take_apart(tmp_path / "built.zip").files
    assert files_of["runs/reference/outputs/out.txt"] == b"done\n"
    assert files_of["after/sum.txt"] == b"done\ndone\n"


def test_an_input_that_was_changed_meanwhile_is_not_continued_with(tmp_path: Path) -> None:
    """A build goes on with what it began with, or not at all."""
    write_script_project(
        tmp_path / "lab", files={"data.csv": "1"}, experiment='inputs = ["data.csv"]',
        rest=HASH_SEEDS,
    )  # fmt: skip

    def interrupt(run: str, step: int, last: int) -> None:
        if run == "other-hash-seed":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_package(tmp_path / "lab", tmp_path / "built.zip", on_step=interrupt)
    (tmp_path / "lab" / "data.csv").write_text("2", "utf-8")
    with pytest.raises(UsageError, match="input"):
        build_package(tmp_path / "lab", tmp_path / "built.zip", left_over="resume")


# ---------------------------------------------------------------- inputs that are held elsewhere

HELD = 'inputs = [{ path = "data/big.bin", include = false, location = "ask the institute" }]'
READS = "open('out.txt', 'w').write(open('data/big.bin').read())"
BYTES = "a text that no other file holds\n"


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A package with an input that is held by reference; the input lies in the project."""
    script = "open('out.txt', 'w').write(str(len(open('data/big.bin').read())))"
    return build(tmp_path, script, files={"data/big.bin": BYTES}, experiment=HELD)


def test_the_package_does_not_hold_it(held: Path) -> None:
    """Its row has size, digest and place; checking needs no more."""
    forgery = take_apart(held)
    with zipfile.ZipFile(held) as archive:
        assert "inputs/data/big.bin" not in archive.namelist()
        assert not any(BYTES.encode() in archive.read(name) for name in archive.namelist())
    assert forgery.rows["inputs/data/big.bin"] == {
        "path": "inputs/data/big.bin",
        "size": 32,
        "digest": "sha256:" + hashlib.sha256(BYTES.encode()).hexdigest(),
        "role": "input",
        "media_type": "application/octet-stream",
        "executable": False,
        "included": False,
        "location": "ask the institute",
    }
    assert check_package(held).faults == ()


def test_verify_without_it_says_where_to_get_it(
    held: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 4: no answer, and what to do."""
    digest = check_package(held).package_digest
    trust = ["--no-sandbox", "--trust", str(digest)]
    assert main(["verify", str(held), *trust]) == 4
    shown = " ".join(capsys.readouterr().out.split())
    assert "input 'data/big.bin' is held by reference" in shown
    assert "where to get it: ask the institute" in shown
    assert "get it and give --input data/big.bin=PATH" in shown


@pytest.mark.parametrize("name", ["data/big.bin", "inputs/data/big.bin"])
def test_verify_with_it_is_as_with_any_other(held: Path, name: str, tmp_path: Path) -> None:
    """By its path in the project or in the package; with the notebook, too."""
    place = tmp_path / "lab" / "data" / "big.bin"
    report = verify(held, inputs={name: place}, notebook=name == "data/big.bin")
    assert report.verdict == "identical", report
    assert place.read_text("utf-8") == BYTES


@pytest.mark.parametrize(
    ("content", "words"),
    [("other\n", "expected sha256:"), (None, "cannot be read: No such file or directory")],
    ids=["another", "missing"],
)
def test_another_file_is_wrong_use(
    held: Path, content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 2: nothing is run with it."""
    place = tmp_path / "given.bin"
    if content is not None:
        place.write_text(content, "utf-8")
    digest = check_package(held).package_digest
    trust = ["--no-sandbox", "--trust", str(digest)]
    assert main(["verify", str(held), *trust, "--input", f"data/big.bin={place}"]) == 2
    assert words in capsys.readouterr().err


def test_a_name_that_is_not_held_by_reference(held: Path, tmp_path: Path) -> None:
    """A source, or a mistake: the message lists what is."""
    big = tmp_path / "lab" / "data" / "big.bin"
    for name in ("train.py", "data/bog.bin", "source/train.py"):
        with pytest.raises(UsageError) as caught:
            verify(held, inputs={"data/big.bin": big, name: big})
        assert caught.value.message == (
            f"--input {name}: expected an input that is held by reference (data/big.bin)"
        )


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('digest = "sha256:' + "0" * 64 + '"', "expected digest sha256:000"),
        ("size = 31", "expected size 31, as it says there; the file has 32"),
    ],
)
def test_an_input_is_the_one_that_the_project_file_says(
    tmp_path: Path, row: str, problem: str
) -> None:
    """Found before anything runs, by the input's name."""
    write_script_project(
        tmp_path / "lab", READS, files={"data/big.bin": BYTES},
        experiment=HELD.replace("include", f"{row}, include"),
    )  # fmt: skip
    with pytest.raises(ProjectError) as caught:
        build_package(tmp_path / "lab", tmp_path / "built.zip")
    ((key, told),) = caught.value.issues
    assert key == "experiment.inputs 'data/big.bin'"
    assert told.startswith(problem)


# ---------------------------------------------------------------- at the edges


def test_nothing_is_published_where_a_command_fails(tmp_path: Path) -> None:
    """And an older package stays as it was."""
    path = build(tmp_path)
    before = path.read_bytes()
    write_script_project(tmp_path / "lab", "raise SystemExit(3)\n")
    project = tmp_path / "lab" / "repropack.toml"
    project.write_text(project.read_text("utf-8").replace("1.0.0", "1.0.1"), "utf-8")
    with pytest.raises(CommandError):
        build_package(tmp_path / "lab", path, force=True)
    assert_same_bytes(path, before)


def test_a_package_of_a_command_can_be_a_folder(tmp_path: Path) -> None:
    """With the same digests; reading it is the same."""
    path = build(tmp_path)
    folder = tmp_path / "built"
    build_package(tmp_path / "lab", folder, directory=True, unexecuted_notebook=True)
    with open_package(path) as one, open_package(folder) as other:
        assert one.package_digest == other.package_digest
        assert one.evidence_digest == other.evidence_digest
    shutil.rmtree(folder / "runs" / "reference" / "outputs")
    assert {fault.rule for fault in check_package(folder).faults} == {"manifest.file-missing"}


def test_an_output_that_cannot_be_packed_could_not_run(tmp_path: Path) -> None:
    """A name that is not UTF-8 is told with escapes, in text and in the document."""
    write_script_project(tmp_path / "lab", "open(b'a\\xff.txt', 'w')", outputs=["*.txt"])
    with pytest.raises(CouldNotRunError) as caught:
        build_package(tmp_path / "lab", tmp_path / "built.zip")
    assert caught.value.message.isascii()
    json.dumps(caught.value.message).encode("ascii")
