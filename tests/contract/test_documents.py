"""Text that shows the program is checked against the program.

Every fenced ``console``, ``toml`` and ``python`` block of ``README.md``, ``docs/`` and the
examples' READMEs says in its info string what it is; one that is silent fails:

=========================  =====================================================================
``console runs``           the commands after ``$`` are run and their output compared;
                           ``runs needs=bubblewrap``: only where programs can be confined by it
``python runs``            the block is run as a script and has to end with status 0
``toml parses``            the block is read as TOML
``<any> file=NAME``        the block is written to ``NAME``, for the blocks after it
``<any> not-run: reason``  nothing is done, for the reason given
=========================  =====================================================================

The blocks of one document run in order in one folder. It is empty, but for an example it holds a
copy of the example at its place in the repository, and for ``README.md`` the examples in a clone
named ``repropack``. In a console block ``...`` stands for
any text, also over several lines. A command is ``repropack``, ``python``, ``cd FOLDER`` or
``echo $?``, or a line for the shell that begins with ``echo``, ``ssh-keygen`` or ``sha256sum``;
output is what a terminal would show. A command whose status is not 0 is followed by ``echo $?``.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from repropack._format.limits import DEFAULT_RUN_LIMITS
from repropack._run.confinement.probing import choose_sandbox
from repropack.errors import ConfinementUnavailableError
from tests.support.thinning import EVERY_CASE

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
DOCUMENTS = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *EXAMPLES]
    if path.is_file()
]
RUN = [path for path in DOCUMENTS if EVERY_CASE or path not in EXAMPLES]
"""Documents whose blocks are run; the examples have tests of their own."""
MUST_SAY = {"console", "python", "toml"}
RUNS = {"console", "python"}
SHELL = {"echo", "ssh-keygen", "sha256sum"}
NEEDS_BUBBLEWRAP = "runs needs=bubblewrap"
FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
TIMEOUT_SECONDS = 300

# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language, what it says of itself, its text."""

    line: int
    language: str
    marker: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command of a console block and the output that is shown below it."""

    text: str
    output: str


def read_blocks(document: str) -> list[Block]:
    """All fenced blocks, in order; a fence that is never closed is an error."""
    blocks: list[Block] = []
    lines = iter(enumerate(document.splitlines(), start=1))
    for number, line in lines:
        opening = FENCE.match(line)
        if not opening:
            continue
        language, _, marker = opening["info"].strip().partition(" ")
        text: list[str] = []
        for _, inner in lines:
            if re.fullmatch(rf" {{0,3}}{opening['fence'][0]}{{{len(opening['fence'])},}} *", inner):
                break
            text.append(inner)
        else:
            raise AssertionError(f"line {number}: this block is never closed")
        blocks.append(Block(number, language, marker.strip(), "\n".join([*text, ""])))
    return blocks


def find_fault(block: Block) -> str | None:
    """What is wrong with what a block says of itself, or None."""
    if block.marker.startswith("not-run:"):
        return None if block.marker.partition(":")[2].strip() else "gives no reason"
    if block.marker.startswith("file="):
        name = block.marker.removeprefix("file=")
        return None if re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)*", name) else "names no plain file"
    if block.marker in {"runs", NEEDS_BUBBLEWRAP}:
        return None if block.language in RUNS else "cannot be run"
    if block.marker == "parses":
        return None if block.language == "toml" else "cannot be parsed"
    if block.language in MUST_SAY or block.marker:
        return "must say: runs, parses, file=NAME or not-run: reason"
    return None


def read_commands(text: str) -> list[Command]:
    """The commands of a console block, each with its output; a backslash continues a command."""
    commands: list[Command] = []
    current: str | None = None
    output: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            assert current is not None, f"output before the first command: {line}"
            output.append(line + "\n")
            continue
        if current is not None:
            commands.append(Command(current, "".join(output)))
        current, output = line.removeprefix("$ "), []
        while current.endswith("\\"):
            current = current[:-1] + next(lines).strip()
    if current is not None:
        commands.append(Command(current, "".join(output)))
    return commands


# ---------------------------------------------------------------- running


def confines_by_bubblewrap() -> bool:
    """Whether a program can be confined by bubblewrap on this machine."""
    try:
        choose_sandbox("bubblewrap", DEFAULT_RUN_LIMITS)
    except ConfinementUnavailableError:
        return False
    return True


class Session:
    """One document's blocks, run in order in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder
        self.status: int | None = 0
        self.left_out: list[int] = []

    def take(self, block: Block) -> None:
        """Do what the block says of itself."""
        if block.marker.startswith("file="):
            target = self.folder / block.marker.removeprefix("file=")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
        elif block.marker == "parses":
            tomllib.loads(block.text)
        elif block.marker == NEEDS_BUBBLEWRAP and not confines_by_bubblewrap():
            self.left_out.append(block.line)
        elif block.marker == "runs" and block.language == "python":
            status, output = self.run([sys.executable, "-c", block.text])
            assert status == 0, f"line {block.line}: {output}"
        elif block.marker in {"runs", NEEDS_BUBBLEWRAP}:
            for command in read_commands(block.text):
                self.enter(command, block.line)
            self.expect_success(block.line)

    def enter(self, command: Command, line: int) -> None:
        """Run one command as a reader would type it, and compare what it shows."""
        words = shlex.split(command.text)
        if command.text == "echo $?":
            output, self.status = f"{self.status}\n", 0
        else:
            self.expect_success(line)
            if words[0] == "cd" and len(words) == 2:
                self.place, output = (self.place / words[1]).resolve(strict=True), ""
            elif words[0] in {"repropack", "python"}:
                program = ["-m", "repropack"] if words[0] == "repropack" else []
                self.status, output = self.run([sys.executable, *program, *words[1:]])
            elif words[0] in SHELL:
                self.status, output = self.run(["sh", "-c", command.text])
            else:
                raise AssertionError(f"line {line}: cannot run {command.text!r}: mark it not-run")
        assert matches(command.output, output), (
            f"line {line}: $ {command.text}\nexpected:\n{command.output}\nobserved:\n{output}"
        )

    def expect_success(self, line: int) -> None:
        """A status other than 0 has to be shown with ``echo $?`` before anything else."""
        assert self.status == 0, f"line {line}: a command ended with status {self.status}"

    def run(self, command: list[str]) -> tuple[int, str]:
        done = subprocess.run(
            command,
            cwd=self.place,
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout


def matches(expected: str, observed: str) -> bool:
    """Equality of text, where ``...`` in what is expected stands for anything."""
    return doctest.OutputChecker().check_output(expected, observed, doctest.ELLIPSIS)


# ---------------------------------------------------------------- the documents


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_block_says_whether_it_runs(path: Path) -> None:
    """No block that shows the program is silent on whether it is checked."""
    faults = [
        f"{name_of(path)}:{block.line}: this {block.language} block {fault}"
        for block in read_blocks(path.read_text("utf-8"))
        if (fault := find_fault(block))
    ]
    assert faults == []


@pytest.mark.slow
@pytest.mark.parametrize("path", RUN, ids=name_of)
def test_every_block_does_what_it_shows(path: Path, tmp_path: Path) -> None:
    """A reader who types what a document shows sees what it shows."""
    session = Session(tmp_path)
    if path in EXAMPLES:
        shutil.copytree(path.parent, tmp_path / path.parent.relative_to(ROOT))
    elif path == ROOT / "README.md":
        shutil.copytree(ROOT / "examples", tmp_path / "repropack" / "examples")
    for block in read_blocks(path.read_text("utf-8")):
        session.take(block)
    if session.left_out:
        pytest.skip(f"bubblewrap confines no program here: blocks in lines {session.left_out}")


# ---------------------------------------------------------------- the mechanism itself


def console(text: str) -> Block:
    return Block(1, "console", "runs", text)


def test_blocks_are_read_with_their_language_marker_and_line() -> None:
    """Fences of any length and both characters are understood."""
    document = "a\n```console runs\n$ x\n```\n~~~~ toml  file=a.toml\n~~~\n~~~~\n```\ny\n```\n"
    assert read_blocks(document) == [
        Block(2, "console", "runs", "$ x\n"),
        Block(5, "toml", "file=a.toml", "~~~\n"),
        Block(8, "", "", "y\n"),
    ]


def test_a_block_that_is_never_closed_is_an_error() -> None:
    """The rest of a document must not vanish into a block."""
    with pytest.raises(AssertionError, match="line 2"):
        read_blocks("a\n```text\nb\n")


@pytest.mark.parametrize(
    ("language", "marker", "accepted"),
    [
        ("console", "runs", True),
        ("console", "", False),
        ("console", "parses", False),
        ("console", "not-run: shows another machine", True),
        ("console", "not-run:", False),
        ("console", "perhaps", False),
        ("python", "runs", True),
        ("python", "", False),
        ("python", "file=drift/model.py", True),
        ("python", "file=../model.py", False),
        ("python", "file=", False),
        ("toml", "parses", True),
        ("toml", "runs", False),
        ("toml", "", False),
        ("text", "", True),
        ("", "", True),
        ("text", "runs", False),
        ("json", "file=a.json", True),
    ],
)
def test_a_block_is_accepted_where_it_says_what_it_is(
    language: str, marker: str, accepted: bool
) -> None:
    """Silence fails, and so does a word that means nothing."""
    assert (find_fault(Block(1, language, marker, "")) is None) is accepted


def test_commands_are_read_with_their_output() -> None:
    """Output belongs to the command above it; a backslash continues a line."""
    assert read_commands("$ a\n1\n2\n$ b \\\n    -c\n$ d\n") == [
        Command("a", "1\n2\n"),
        Command("b -c", ""),
        Command("d", ""),
    ]
    with pytest.raises(AssertionError, match="before the first command"):
        read_commands("1\n$ a\n")


@pytest.mark.parametrize(
    ("expected", "observed", "equal"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n", "a\nb\n", False),
        ("", "a\n", False),
        ("size ... bytes\n", "size 17 bytes\n", True),
        ("a\n...\nz\n", "a\nb\nc\nz\n", True),
        ("a\n...\nz\n", "a\nb\n", False),
    ],
)
def test_an_ellipsis_stands_for_anything_and_nothing_else_does(
    expected: str, observed: str, equal: bool
) -> None:
    """Only the parts that are marked as variable may vary."""
    assert matches(expected, observed) is equal


def test_commands_share_the_folder_and_their_output_is_compared(tmp_path: Path) -> None:
    """Files and the place carry over from block to block, as they do for a reader."""
    session = Session(tmp_path)
    session.take(Block(1, "python", "file=in/hello.py", "print('hello', 1 + 1)\n"))
    session.take(console("$ cd in\n$ python hello.py\nhello 2\n"))
    session.take(Block(9, "python", "runs", "assert __import__('os').path.isfile('hello.py')\n"))
    with pytest.raises(AssertionError, match="hello 2"):
        session.take(console("$ python hello.py\nhello 3\n"))


def test_a_failing_command_has_to_show_its_status(tmp_path: Path) -> None:
    """A status that is not 0 is part of what a reader sees, and has to be the one shown."""
    failing = "$ python -c 'raise SystemExit(3)'\n"
    Session(tmp_path).take(console(failing + "$ echo $?\n3\n"))
    with pytest.raises(AssertionError, match="status 3"):
        Session(tmp_path).take(console(failing))
    with pytest.raises(AssertionError, match="status 3"):
        Session(tmp_path).take(console(failing + "$ python -c 0\n"))
    with pytest.raises(AssertionError, match="observed"):
        Session(tmp_path).take(console(failing + "$ echo $?\n1\n"))


def test_errors_and_output_are_shown_together(tmp_path: Path) -> None:
    """What goes to the error stream is shown on a terminal too, so it is compared."""
    Session(tmp_path).take(console("$ python -c 'import sys; sys.stderr.write(\"e\\n\")'\ne\n"))


def test_a_command_of_another_program_is_not_run(tmp_path: Path) -> None:
    """Documents start nothing but this project's program and Python."""
    with pytest.raises(AssertionError, match="mark it not-run"):
        Session(tmp_path).take(console("$ make demo\n"))


def test_a_python_or_toml_block_with_a_fault_fails(tmp_path: Path) -> None:
    """A block that is said to run or to parse is held to it."""
    with pytest.raises(AssertionError, match="line 5"):
        Session(tmp_path).take(Block(5, "python", "runs", "raise SystemExit(1)\n"))
    with pytest.raises(tomllib.TOMLDecodeError):
        Session(tmp_path).take(Block(1, "toml", "parses", "a = \n"))
    Session(tmp_path).take(Block(1, "toml", "parses", "a = 1\n"))
    Session(tmp_path).take(Block(1, "python", "not-run: needs a card", "raise SystemExit(1)\n"))
