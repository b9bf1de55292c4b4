"""The notebooks of commands and of scripts with their own loop, their cells run one by one."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from repropack._present import notebook_outputs, notebook_recorded
from repropack.build import build_package
from tests.support.experiment_sources import updating, write_project
from tests.support.notebooks import notebook_of, play, playing
from tests.support.scripts import COMMAND, LOOP, LOOP_COMMAND, SCRIPT, write_script

pytestmark = pytest.mark.slow


def packed(folder: Path, script: str = SCRIPT, experiment: str = COMMAND) -> Path:
    """A package of a script, as a folder."""
    project = write_script(folder / "project", script, experiment)
    build_package(project, folder / "package", directory=True)
    return folder / "package"


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A command's package; never write to it."""
    folder = tmp_path_factory.mktemp("command")
    project = write_script(folder / "project")
    build_package(project, folder / "package", directory=True, unexecuted_notebook=True)
    return folder / "package"


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of a script with its own loop; never write to it."""
    folder = tmp_path_factory.mktemp("loop")
    project = write_script(folder / "project", LOOP, LOOP_COMMAND)
    build_package(project, folder / "package", directory=True, unexecuted_notebook=True)
    return folder / "package"


def markdown(folder: Path) -> str:
    cells = notebook_of(folder).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def altered(package: Path, folder: Path, path: str, change: Any) -> Path:
    """A copy of a package in which one file's bytes are others."""
    copy = folder / "altered"
    shutil.copytree(package, copy)
    data = (copy / path).read_bytes()
    assert change(data) != data
    (copy / path).write_bytes(change(data))
    return copy


def replaced(old: bytes, new: bytes) -> Any:
    return lambda data: data.replace(old, new, 1)


def other_chain(results: bytes) -> bytes:
    """Results whose chain has another first digit."""
    before, after = results.split(b'"chain":"sha256:', 1)
    return before + b'"chain":"sha256:' + (b"1" if after[:1] == b"0" else b"0") + after[1:]


def test_every_cell_fits_a_window_and_compiles() -> None:
    """No line of code is longer than 100 characters, and no cell needs a magic."""
    modules = (notebook_outputs, notebook_recorded)
    cells = [text for m in modules for name, text in vars(m).items() if name.isupper()]
    assert len(cells) >= 10
    for source in cells:
        compile(source, "cell", "exec")
        assert max(map(len, source.splitlines())) <= 100


class TestCommand:
    """A command is started again, and what it writes stands beside the packaged files."""

    def test_it_is_told_as_a_command(self, command: Path) -> None:
        """No steps, no checkpoints, no stages; the words as the reference runs them."""
        notebook = notebook_of(command)
        nbformat.validate(notebook)
        told = markdown(command)
        assert "Does this command write the same files again, and which ones do not" in told
        assert "`python script.py 3 0.5 '{}a b'`" in told
        assert "It makes\n3 runs." in told
        assert "step" not in told.replace("steps in all", "")
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        assert "repropack" not in re.sub(r'b"repropack\.[a-z.0-9]*|f"repropack\.[a-z]*', "", code
            .replace("repropack unpack FILE DIR", "").replace("repropack.state", "")
            .replace("repropack.array", ""))  # fmt: skip
        assert "allow_pickle=True" not in code

    def test_its_outputs_are_found_again(self, command: Path) -> None:
        """Byte for byte, by the packaged ones; the comparison is what results.json says."""
        played = play(command)
        assert "All assertions hold: 3 runs wrote 12 outputs again" in played.printed
        size = (command / "runs/reference/outputs/out/found.npz").stat().st_size
        assert played.tables[0] == (
            "| output of reference | bytes in the package | made here      |\n"
            "| ------------------- | -------------------- | -------------- |\n"
            "| `out/found.csv`     | 15                   | the same bytes |\n"
            "| `out/found.json`    | 42                   | the same bytes |\n"
            f"| `out/found.npz`     | {size}                  | the same bytes |\n"
            "| `out/found.txt`     | 2                    | the same bytes |"
        )
        assert played.tables[-1] == (
            "| comparison | outputs equal | different                                          "
            "| as expected |\n"
            "| ---------- | ------------- | -------------------------------------------------- "
            "| ----------- |\n"
            "| **again**  | 4 of 4        | none                                               "
            "| yes         |\n"
            "| **faster** | 1 of 4        | `out/found.csv`, `out/found.json`, `out/found.npz` "
            "| -           |"
        )
        assert "1 of 4 outputs that do not vary are equal to the reference's." in played.printed

    def test_nothing_is_written_into_the_package(self, command: Path) -> None:
        """After the notebook the folder holds the same files."""
        before = sorted(path.relative_to(command) for path in command.rglob("*"))
        play(command)
        assert sorted(path.relative_to(command) for path in command.rglob("*")) == before

    @pytest.mark.parametrize(
        ("path", "change", "told"),
        [
            ("source/script.py", replaced(b"* rate", b"* 2 * rate"), "run reference: output out/"),
            ("inputs/data/table.csv", replaced(b"1.5", b"3.5"), "run reference: output out/"),
            ("runs/reference/outputs/out/found.txt", replaced(b"3", b"4"), "output out/found.txt"),
            ("runs/faster/outputs/out/found.json", replaced(b"1.0", b"2.0"), "run faster: output"),
            ("runs/reference/fingerprints.jsonl", replaced(b'"step":1', b'"step":2'), "chain"),
            ("results.json", replaced(b'"differing":1', b'"differing":0'), "faster: results.json"),
        ],
        ids=["source", "input", "output", "comparison", "log", "results"],
    )
    def test_what_was_altered_fails(
        self, command: Path, tmp_path: Path, path: str, change: Any, told: str
    ) -> None:
        """The assertions name the run, the output or the log."""
        with pytest.raises(AssertionError, match=re.escape(told)):
            play(altered(command, tmp_path, path, change))

    def test_a_command_that_fails_ends_with_its_last_line(
        self, command: Path, tmp_path: Path
    ) -> None:
        """As it was said on standard error."""
        copy = altered(command, tmp_path, "source/script.py", lambda data: b"raise OSError('no')\n")
        with pytest.raises(RuntimeError, match="run reference ended with status 1: OSError: no"):
            play(copy)

    def test_an_output_that_varies_is_said_to_and_not_compared(self, tmp_path: Path) -> None:
        """Where a plain second run shows it in the recording, nothing is insisted on."""
        script = SCRIPT + 'open("out/found.log", "w").write(str(os.times()) + str(os.getpid()))\n'
        folder = packed(tmp_path, script, COMMAND.replace('expect = "identical"', ""))
        played = play(folder)
        assert "not compared: it varies from run to run, as results.json says" in played.tables[0]
        assert "All assertions hold: 3 runs wrote 12 outputs again" in played.printed

    def test_a_plan_without_comparisons_says_so(self, tmp_path: Path) -> None:
        """One run, and nothing to compare it with but the package."""
        folder = packed(tmp_path, experiment=COMMAND.partition("[[comparisons]]")[0])
        assert "Does this command write the same files again?" in markdown(folder)
        assert "The plan of this package makes no comparison" in markdown(folder)
        assert "All assertions hold: 1 runs wrote 4 outputs again" in play(folder).printed

    def test_an_input_that_is_held_elsewhere_has_to_be_put_in_its_place(
        self, tmp_path: Path
    ) -> None:
        """The notebook says which, and where to look; with it everything holds."""
        held = '[{ path = "data/table.csv", include = false, location = "on request" }]'
        folder = packed(tmp_path, experiment=COMMAND.replace('["data/*.csv"]', held))
        assert not (folder / "inputs").exists()
        with pytest.raises(FileNotFoundError, match=r"inputs/data/table\.csv: not in the package"):
            play(folder)
        (folder / "inputs" / "data").mkdir(parents=True)
        shutil.copy(tmp_path / "project/data/table.csv", folder / "inputs/data/table.csv")
        assert "All assertions hold: 3 runs" in play(folder).printed

    def test_commands_after_the_runs_are_named(self, tmp_path: Path) -> None:
        """They are not made again here."""
        after = '[[after]]\ncommand = ["python", "script.py"]\noutputs = ["table.txt"]\n'
        script = SCRIPT.replace("seed, rate", 'len(sys.argv) > 1 or (open("table.txt", "w").'
                                'write("t"), sys.exit(0))\nseed, rate', 1)  # fmt: skip
        told = markdown(packed(tmp_path, script, COMMAND + after))
        assert "They are in\n`after/`, and are not made again here:\n\n- `python script.py`" in told


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def png(colour: str, compress_level: int) -> bytes:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow").new("RGB", (2, 2), colour)
    stream = io.BytesIO()
    image.save(stream, format="png", compress_level=compress_level)
    return stream.getvalue()


ARRAY = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("path", "one", "two", "equal"),
    [
        ("a.npz", npz(x=ARRAY, y=ARRAY), npz(y=ARRAY, x=np.asfortranarray(ARRAY)), True),
        ("a.npz", npz(x=ARRAY), npz(x=ARRAY.astype(">f8")), True),
        ("a.npz", npz(x=ARRAY), npz(x=ARRAY.astype("f4")), False),
        ("a.npz", npz(x=ARRAY), npz(x=ARRAY.ravel()), False),
        ("a.npz", npz(x=np.array(0.0)), npz(x=np.array(-0.0)), False),
        ("a.NPZ", npz(x=ARRAY), npz(z=ARRAY), False),
        ("a.json", b'{"a": 1, "b": [2.0]}', b'{"b":[2.0],"a":1}\n', True),
        ("a.json", b"1", b"1.0", False),
        ("a.json", b'{"a": 1, "a": 1}', b'{"a":1,"a":1}', False),
        ("a.csv", b"a,b\r\n1,2\r\n", b'a,"b"\n1,2\n', True),
        ("a.csv", b"a,b\n1,2\n", b"a,b\n1,2.0\n", False),
        ("a.tsv", b"a\tb\n", b'a\t"b"\n', True),
        ("a.png", png("red", 0), png("red", 9), True),
        ("a.png", png("red", 0), png("blue", 0), False),
        ("a.txt", b"a\n", b"a\r\n", False),
    ],
)
def test_files_are_compared_by_what_they_are(
    path: str, one: bytes, two: bytes, equal: bool, tmp_path: Path
) -> None:
    """As a package's outputs are, by a second implementation."""
    with playing(tmp_path) as played:
        for cell in ("import json\nimport numpy as np\n", notebook_outputs.CONTENT):
            played.run(cell)
        played.names["canonical"] = lambda value: json.dumps(value, sort_keys=True).encode()
        content = played.names["content"]
    assert (content(path, one) == content(path, two)) is equal


class TestLoop:
    """What was recorded of a script with its own loop is read, and held against itself."""

    def test_it_is_told_as_a_script(self, loop: Path) -> None:
        """It makes no run again, and says who does."""
        nbformat.validate(notebook_of(loop))
        told = markdown(loop)
        assert "It reads what was recorded of the script" in told
        assert "It does not make them again: `repropack verify` does." in told
        assert "A separate process repeats" not in told

    def test_its_record_agrees_with_itself(self, loop: Path) -> None:
        """Chains, kept arrays, stored states, comparisons; and the script as it stands."""
        played = play(loop)
        assert "reference: steps 1 to 6, 12 fingerprints of stages.\n" in played.printed
        assert "6 kept arrays and 4 stored states have the recorded" in played.printed
        assert "First divergence from the reference: step 5 · draw." in played.printed
        assert "All assertions hold: 3 recorded logs with 12 steps agree with" in played.printed
        assert len(played.figures) == 2
        script = next(table for table in played.tables if "output of the script" in table)
        assert "| `end.npy`            | 152                  | the same bytes |" in script

    def test_without_repropack_the_script_is_not_started(
        self, loop: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It says why; everything else is read all the same."""
        find = __import__("importlib.util").util.find_spec
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda name: None if name == "repropack" else find(name)
        )
        played = play(loop)
        assert "Not started: the script imports repropack, which is not" in played.printed
        assert "All assertions hold" in played.printed

    @pytest.mark.parametrize(
        ("path", "change", "told"),
        [
            ("runs/reference/fingerprints.jsonl", replaced(b'"1', b'"2'), "is off its chain"),
            ("runs/resume/fingerprints.jsonl", replaced(b'"step":4', b'"step":5'), "run resume: "),
            ("results.json", replaced(b'"first_step":5', b'"first_step":4'), "generator-reset: "),
            ("results.json", other_chain, "another chain"),
        ],
        ids=["metric", "step", "comparison", "chain"],
    )
    def test_what_was_altered_fails(
        self, loop: Path, tmp_path: Path, path: str, change: Any, told: str
    ) -> None:
        """The record is held against its chains, the results against the record."""
        with pytest.raises(AssertionError, match=re.escape(told)):
            play(altered(loop, tmp_path, path, change))

    def test_an_altered_kept_array_or_state_fails(self, loop: Path, tmp_path: Path) -> None:
        """Each is held against its fingerprint in the log."""
        rows = np.load(loop / "runs/reference/kept.npz")["x"]
        assert rows.shape == (6, 3)
        rows[3, 1] += 1
        copy = altered(loop, tmp_path, "runs/reference/kept.npz", lambda data: npz(x=rows))
        with pytest.raises(AssertionError, match="run reference: x, step 4"):
            play(copy)
        shutil.rmtree(copy)
        state = "runs/reference/checkpoints/step-000000002.json"
        copy = altered(loop, tmp_path, state, replaced(b'"state":{', b'"other":{'))
        with pytest.raises(AssertionError, match="run reference: 2"):
            play(copy)


def test_an_entry_point_finds_its_inputs(tmp_path: Path) -> None:
    """As in the recording, in the working folder."""
    source = updating('trace.record("read", np.loadtxt("data.txt"))')
    project = write_project(tmp_path / "project", source)
    (project / "data.txt").write_text("1.5\n2.5\n")
    file = project / "repropack.toml"
    lines = 'seed = 7\ninputs = ["data.txt"]\n'
    file.write_text(file.read_text().replace("seed = 7\n", lines))
    build_package(project, tmp_path / "package", directory=True)
    assert "All assertions hold: 1 logs" in play(tmp_path / "package").printed
