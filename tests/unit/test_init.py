"""A project is begun: everything of it or nothing, and nothing that is there is changed."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from repropack._present.text_init import init_text
from repropack._read.project import load_project
from repropack.errors import CouldNotRunError, UsageError
from repropack.init import init_project
from repropack.models.reports import InitReport

SCRIPT = """\
import argparse
import numpy as np
from helpers import load
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=5)
arguments = parser.parse_args()
np.save("out/weights", load(open("data/x.csv")))
"""


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def listed(folder: Path) -> list[str]:
    return sorted(
        place.relative_to(folder).as_posix() for place in folder.rglob("*") if place.is_file()
    )


def begin(folder: Path, **values: object) -> InitReport:
    return init_project(folder, **{"author": "Ada", "license": "MIT", **values})  # type: ignore[arg-type]


# ---------------------------------------------------------------- without a script


def test_a_small_project(tmp_path):
    """Five files, a project without fault, and the two commands that follow."""
    report = begin(tmp_path / "a b/My Study")
    files = [".gitignore", "LICENSE", "README.md", "line_fit.py", "repropack.toml"]
    assert listed(tmp_path / "a b/My Study") == files
    assert report == InitReport(
        path=str(tmp_path / "a b/My Study"),
        name="my-study",
        form="stepwise",
        written=tuple(files),
        next=(
            f"repropack build '{tmp_path}/a b/My Study'",
            "repropack verify my-study-1.0.0.zip",
        ),
    )
    project = load_project(tmp_path / "a b/My Study")
    assert [path for path, _ in project.source_files()] == ["line_fit.py"]
    metadata = project.metadata()
    assert (metadata.name, metadata.title, metadata.license) == ("my-study", "My study", "MIT")
    assert [author.name for author in metadata.authors] == ["Ada"]
    assert [row.expect is not None for row in project.plan().comparisons] == [True, True, True]


def test_texts_that_are_hard_to_quote(tmp_path):
    """What was typed arrives as it was typed, in TOML and in Markdown."""
    title, author = 'The "best" \\ of *all* \u00e9', "O'Brien \U0001f600"
    begin(tmp_path, name="x", title=title, author=author, license="LicenseRef-own")
    metadata = load_project(tmp_path).metadata()
    assert (metadata.title, metadata.authors[0].name) == (title, author)
    assert (tmp_path / "LICENSE").read_text("utf-8") == "SPDX-License-Identifier: LicenseRef-own\n"
    assert r"\*all\*" in (tmp_path / "README.md").read_text("utf-8").splitlines()[0]


@pytest.mark.parametrize(
    ("name", "first", "inside"),
    [
        ("MIT", "MIT License", "Copyright (c) Ada\n"),
        ("BSD-3-Clause", "BSD 3-Clause License", "Copyright (c) Ada\n"),
        ("CC0-1.0", "SPDX-License-Identifier: CC0-1.0", "Ada gives up all rights"),
    ],
)
def test_licences(tmp_path, name, first, inside):
    """Short licences are written out."""
    begin(tmp_path, license=name)
    text = (tmp_path / "LICENSE").read_text("utf-8")
    assert text.splitlines()[0] == first
    assert inside in text


@pytest.mark.parametrize(
    ("given", "written", "first"),
    [
        ("Mit", "MIT", "MIT License"),
        ("bsd-3-clause", "BSD-3-Clause", "BSD 3-Clause License"),
        (
            "mit or apache-2.0",
            "MIT OR Apache-2.0",
            "SPDX-License-Identifier: MIT OR Apache-2.0",
        ),
        ("my own", "my own", "SPDX-License-Identifier: my own"),
    ],
)
def test_licences_in_another_spelling(tmp_path, given, written, first):
    """Identifiers are written as SPDX spells them; what is none stays as it was given."""
    begin(tmp_path, name="x", license=given)
    assert load_project(tmp_path).metadata().license == written
    assert (tmp_path / "LICENSE").read_text("utf-8").splitlines()[0] == first


def test_what_is_there_is_kept(tmp_path):
    """A README, a licence and a .gitignore stay as they are."""
    write(tmp_path, {"README.md": "mine", ".gitignore": "x"})
    report = begin(tmp_path, name="x")
    assert (report.kept, report.written) == (
        ("README.md", ".gitignore"),
        ("LICENSE", "line_fit.py", "repropack.toml"),
    )
    assert (tmp_path / "README.md").read_text("utf-8") == "mine"


@pytest.mark.parametrize("taken", ["repropack.toml", "line_fit.py"])
def test_nothing_is_replaced(tmp_path, taken):
    """A file in the way is named, and nothing else is written."""
    write(tmp_path, {taken: "mine"})
    with pytest.raises(UsageError) as caught:
        begin(tmp_path, name="x")
    assert caught.value.message == (
        f"{tmp_path}: expected none of these files to be there, observed {taken}"
    )
    assert listed(tmp_path) == [taken]
    assert (tmp_path / taken).read_text("utf-8") == "mine"


def test_a_link_to_nowhere_is_in_the_way(tmp_path):
    """Nothing is written through a link."""
    (tmp_path / "repropack.toml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError):
        begin(tmp_path, name="x")
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_in_the_place_of_the_folder(tmp_path):
    """DIR is a folder or nothing."""
    write(tmp_path, {"x": ""})
    with pytest.raises(UsageError) as caught:
        begin(tmp_path / "x")
    assert caught.value.message == f"{tmp_path}/x: expected a folder, observed a file"


def test_all_or_nothing(tmp_path, monkeypatch):
    """A disk that fails leaves the folder as it was, and folders that were made are gone."""
    write(tmp_path / "there", {"README.md": "mine"})
    real = Path.open

    def fail(self: Path, *given: object, **named: object) -> object:
        if self.name == "repropack.toml" or self.name == ".gitignore":
            raise OSError(28, "No space left on device", str(self))
        return real(self, *given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", fail)
    for folder in ("there", "new/deep"):
        with pytest.raises(CouldNotRunError) as caught:
            begin(tmp_path / folder)
        assert caught.value.message.endswith(": No space left on device")
    assert listed(tmp_path) == ["there/README.md"]
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"name": "My Study"},
            "--name: expected lower-case letters, digits and '-', at most 64, observed 'My Study'",
        ),
        ({"title": ""}, "--title: expected one line of text, observed ''"),
        ({"author": "a\nb"}, "--author: expected a name, observed 'a\\nb'"),
        (
            {"license": "", "author": ""},
            (
                "--license: expected an SPDX expression such as MIT, observed ''; --author: "
                "expected a name, observed ''"
            ),
        ),
    ],
)
def test_values_that_a_project_cannot_have(tmp_path, values, expected):
    """The flag, what is expected and what was given; all at once."""
    with pytest.raises(UsageError) as caught:
        begin(tmp_path / "x", **values)
    assert caught.value.message == expected
    assert not (tmp_path / "x").exists()


def test_a_folder_whose_name_gives_none(tmp_path):
    """A name of signs alone makes no package's name: it has to be given."""
    with pytest.raises(UsageError) as caught:
        begin(tmp_path / "___")
    assert caught.value.message.startswith("--name: expected ")


# ---------------------------------------------------------------- around a script


def script_project(folder: Path) -> None:
    files = {
        "train.py": SCRIPT,
        "helpers.py": "import tools.deep\n",
        "tools/__init__.py": "",
        "tools/deep.py": "",
        "unrelated.py": "",
        "data/x.csv": "1\n",
        "data/y.csv": "2\n",
    }
    write(folder, files)


def experiment(folder: Path) -> dict[str, object]:
    text = (folder / "repropack.toml").read_text("utf-8")
    table: dict[str, object] = tomllib.loads(text)["experiment"]
    return table


def test_around_a_script_in_the_folder(tmp_path):
    """The script stays; command, seed, source, inputs and outputs are found."""
    script_project(tmp_path)
    report = begin(tmp_path, name="x", script=tmp_path / "train.py")
    assert report.form == "command"
    assert report.written == (".gitignore", "LICENSE", "README.md", "repropack.toml")
    assert experiment(tmp_path) == {
        "command": ["python", "train.py", "--seed", "{seed}"],
        "seed": 5,
        "source": ["train.py", "helpers.py", "tools/**/*.py"],
        "inputs": ["data/x.csv"],
        "outputs": ["out/weights.npy"],
    }
    assert (report.command, report.inputs, report.outputs, report.notes) == (
        ("python", "train.py", "--seed", "{seed}"),
        ("data/x.csv",),
        ("out/weights.npy",),
        (),
    )
    assert (tmp_path / "train.py").read_text("utf-8") == SCRIPT
    assert load_project(tmp_path).plan().experiment.outputs == ("out/weights.npy",)
    assert "`out/weights.npy`" in (tmp_path / "README.md").read_text("utf-8")


def test_around_a_script_elsewhere(tmp_path):
    """What belongs to it is copied, and only that; the modes come along."""
    script_project(tmp_path / "old")
    (tmp_path / "old/train.py").chmod(0o755)
    begin(tmp_path / "new", script=tmp_path / "old/train.py")
    assert listed(tmp_path / "new") == [
        *(".gitignore", "LICENSE", "README.md", "data/x.csv", "helpers.py", "repropack.toml"),
        *("tools/__init__.py", "tools/deep.py", "train.py"),
    ]
    assert (tmp_path / "new/train.py").read_text("utf-8") == SCRIPT
    assert os.access(tmp_path / "new/train.py", os.X_OK)
    assert len(listed(tmp_path / "old")) == 7


def test_a_script_in_a_folder_of_the_project(tmp_path):
    """Paths are the project's; a module beside the script is found beside it."""
    write(tmp_path, {"scripts/run.py": "import near\nopen('a.txt', 'w')", "scripts/near.py": ""})
    begin(tmp_path, name="x", script=tmp_path / "scripts/run.py")
    assert experiment(tmp_path) == {
        "command": ["python", "scripts/run.py"],
        "seed": 0,
        "source": ["scripts/run.py", "scripts/near.py"],
        "inputs": [],
        "outputs": ["a.txt"],
    }


def test_inputs_and_outputs_that_are_named(tmp_path):
    """What is given is taken, and nothing is guessed beside it."""
    script_project(tmp_path)
    report = begin(
        tmp_path, name="x", script=tmp_path / "train.py", inputs=["data/*.csv"], outputs=["o/**"]
    )
    assert (report.inputs, report.outputs) == (("data/*.csv",), ("o/**",))
    assert experiment(tmp_path)["inputs"] == ["data/*.csv"]


def test_inputs_that_only_a_name_tells(tmp_path):
    """A file that a function of one's own opens, a default, and what a configuration names."""
    text = (
        '"notes.txt"\nfrom pathlib import Path\nHERE = find()\n'
        "def load(path='d.csv'):\n    return np.genfromtxt(path)\n"
        "load(HERE / 'patients.csv')\nload(HERE / 'conf' / 'a.json')\n"
        "save(HERE / 'old.csv')\nnp.save('out', 1)\n"
    )
    files = {"a.json": '{"levels": "data/levels.txt", "near": "near.txt"}', "near.txt": "deep.txt"}
    write(tmp_path / "conf", files)
    names = ("notes.txt", "d.csv", "patients.csv", "old.csv", "data/levels.txt", "deep.txt", "e")
    write(tmp_path, {"run.py": text, **dict.fromkeys(names, "1\n")})
    report = begin(tmp_path, name="x", script=tmp_path / "run.py")
    expected = ("conf/a.json", "conf/near.txt", "d.csv", "data/levels.txt", "patients.csv")
    assert report.inputs == expected
    assert report.notes == ("no option for a seed was found: the script has to fix its own",)
    assert experiment(tmp_path)["inputs"] == list(expected)


def test_old_outputs_are_no_inputs(tmp_path):
    """A file that matches what the author says is written is left out."""
    write(tmp_path, {"run.py": "go('a.csv', 'b.csv')", "a.csv": "", "b.csv": ""})
    report = begin(tmp_path, name="x", script=tmp_path / "run.py", outputs=["b.csv"])
    assert report.inputs == ("a.csv",)


def test_what_a_shell_script_names(tmp_path):
    """Files that it reads are inputs, scripts that it runs are source, with what they import."""
    text = (
        "#!/bin/bash\n# see notes.txt\nset -e\n"
        'python3 summarize.py "$HERE/measurements.csv" --out result.csv\n'
        "sort names.txt > sorted.txt\n"
    )
    names = ("notes.txt", "measurements.csv", "result.csv", "names.txt", "sorted.txt", "helper.py")
    write(tmp_path, {"run.sh": text, **dict.fromkeys(names, "")})
    write(tmp_path, {"summarize.py": "import helper\nload('table.txt')", "table.txt": ""})
    report = begin(tmp_path, name="x", script=tmp_path / "run.sh", outputs=["sorted.txt"])
    assert experiment(tmp_path)["source"] == ["run.sh", "summarize.py", "helper.py"]
    assert report.inputs == ("measurements.csv", "names.txt", "table.txt")


def test_where_nothing_that_is_read_is_found(tmp_path):
    """It is said, for a forgotten input shows only when the project is built."""
    write(tmp_path, {"run.py": "open('a.txt', 'w')"})
    report = begin(tmp_path, name="x", script=tmp_path / "run.py")
    assert report.notes == (
        "no option for a seed was found: the script has to fix its own",
        "no file that it reads was found: name what it reads under inputs",
    )


def test_a_script_with_a_loop_and_words_by_place(tmp_path):
    """What is missing of its command, and what makes it a loop, is said."""
    text = (
        "import sys, repropack\nx = sys.argv[1]\nrun = repropack.attach(state={})\nopen('a', 'w')"
    )
    write(tmp_path, {"run.py": text})
    report = begin(tmp_path, name="x", script=tmp_path / "run.py")
    assert report.notes[:2] == (
        'it takes words of sys.argv by their place: add them to command, as "{seed}"',
        "it calls repropack.attach: add steps, or no step is compared or resumed",
    )


def test_a_loop_without_files_is_compared_by_its_steps(tmp_path):
    """The number of steps is found, with a resume in the middle; outputs are not asked for."""
    text = "import repropack\nrun = repropack.attach(state={})\nfor step in run.steps(10): pass\n"
    write(tmp_path, {"run.py": text})
    report = begin(tmp_path, name="x", script=tmp_path / "run.py")
    assert not any("steps" in note for note in report.notes)
    plan = load_project(tmp_path).plan()
    assert plan.experiment.steps == 10
    assert plan.record.checkpoint_every == 2
    assert [row.resume_at for row in plan.comparisons] == [None, 4]


@pytest.mark.hostile
def test_names_that_lead_nowhere(tmp_path):
    """Links, hidden files, other folders, patterns and impossible names are no inputs."""
    words = ["link", ".env", "../out.txt", "[a]", "\\ud800", "a\\0b", "x" * 5000, "build/b", "d"]
    write(tmp_path, {"out.txt": "", "p/.env": "", "p/[a]": "", "p/build/b": "", "p/d/e": ""})
    (tmp_path / "p/link").symlink_to(tmp_path / "out.txt")
    calls = "".join(f'load("{word}")\n' for word in words)
    write(tmp_path / "p", {"run.py": calls + "open('o', 'w')"})
    assert begin(tmp_path / "p", script=tmp_path / "p/run.py").inputs == ()


def test_notes(tmp_path):
    """What only the author can mend is said, in the report and beside the keys."""
    text = "p.add_argument('model')\nopen('gone.csv')\nopen('/data/big.csv')\nopen('a.txt', 'w')\n"
    write(tmp_path, {"run.py": text})
    report = begin(tmp_path, name="x", script=tmp_path / "run.py")
    assert report.notes == (
        "it does not run without model: add what is needed to command",
        "no option for a seed was found: the script has to fix its own",
        "it seems to read gone.csv, and nothing there has that path",
        "it names absolute paths, which no reader has: /data/big.csv",
    )
    assert '# not found here: "gone.csv"\n' in (tmp_path / "repropack.toml").read_text("utf-8")
    assert experiment(tmp_path)["inputs"] == []
    shown = init_text(report)
    assert shown.startswith("begun  ")
    assert "see to it in repropack.toml:\n" in shown
    assert shown.endswith(f"next:\n  {report.next[0]}\n  repropack verify x-1.0.0.zip\n")


def test_outputs_that_are_neither_given_nor_found(tmp_path):
    """Nothing would be compared, so it is asked for."""
    write(tmp_path, {"run.py": "print(1)"})
    with pytest.raises(UsageError) as caught:
        begin(tmp_path, name="x", script=tmp_path / "run.py")
    assert caught.value.message == (
        "--output: expected a pattern of files that run.py writes, for none was found by looking "
        "at it; observed none"
    )
    assert listed(tmp_path) == ["run.py"]


def test_a_script_that_is_no_python(tmp_path):
    """That nothing was found has a reason then, and it is told."""
    write(tmp_path, {"run.py": "import numpy\n%matplotlib inline\n"})
    with pytest.raises(UsageError) as caught:
        begin(tmp_path, name="x", script=tmp_path / "run.py")
    assert caught.value.message == (
        "--script: expected Python, observed in run.py: line 2: invalid syntax"
    )
    assert caught.value.hint == "mend it, or name what it writes by --output"
    assert listed(tmp_path) == ["run.py"]


@pytest.mark.parametrize(
    ("name", "word"), [("s{x}.py", "s{{x}}.py"), ("-x.py", "./-x.py"), ("a b.py", "a b.py")]
)
def test_the_name_of_a_script_is_a_word_of_its_command(tmp_path, name, word):
    """Its braces are no placeholders, and it is no option of the interpreter."""
    write(tmp_path, {name: "open('a.txt', 'w')"})
    begin(tmp_path, name="x", script=tmp_path / name)
    assert experiment(tmp_path)["command"] == ["python", word]
    assert [path for path, _ in load_project(tmp_path).source_files()] == [name]


def test_a_shell_script(tmp_path):
    """It is run by bash, and what it writes has to be named."""
    write(tmp_path, {"run.sh": "echo 1 > a.txt"})
    report = begin(tmp_path, name="x", script=tmp_path / "run.sh", outputs=["a.txt"])
    assert report.command == ("bash", "run.sh")
    assert experiment(tmp_path)["source"] == ["run.sh"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone.py", "--script: expected a file, observed no such file: '{}/gone.py'"),
        ("run.R", "--script: expected a file that ends in .py or .sh, observed 'run.R'"),
    ],
)
def test_scripts_that_are_none(tmp_path, name, message):
    """A script that is not there, or of another language."""
    write(tmp_path, {"run.R": ""})
    with pytest.raises(UsageError) as caught:
        begin(tmp_path / "x", script=tmp_path / name)
    assert caught.value.message == message.format(tmp_path)
    assert not (tmp_path / "x").exists()


def test_a_script_through_a_link(tmp_path):
    """The file itself is what is copied."""
    write(tmp_path / "real", {"train.py": "open('a.txt', 'w')"})
    (tmp_path / "link.py").symlink_to(tmp_path / "real/train.py")
    begin(tmp_path / "x", script=tmp_path / "link.py")
    assert not (tmp_path / "x/train.py").is_symlink()
    shutil.rmtree(tmp_path / "real")
    assert (tmp_path / "x/train.py").read_text("utf-8") == "open('a.txt', 'w')"
