"""Lies about what a command wrote: consistent ones, which running it again finds, and mild ones.

What contradicts the rest of a package is in the corpus (``corpus/forms.py``). Here everything
agrees: output, log, chain, results and digests.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._format.contents import contents_of
from repropack._read.package import open_package
from repropack._run.confinement.consent import Consent, is_shipped
from repropack._run.confinement.probing import probe_level
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import ConfinementUnavailableError
from repropack.lab import replay_lab
from repropack.models.differences import OutputDifference
from repropack.models.reports import VerificationReport
from repropack.verify import verify_package
from tests.support.commands import write_script_project
from tests.support.hostile import Forgery, take_apart

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

OUTPUTS = "runs/reference/outputs"
SCRIPT = """\
import json, os, struct, zlib
import numpy as np

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

os.mkdir("out")
np.savez("out/a.npz", w=np.arange(6.0).reshape(2, 3), n=np.array(["x", "y"]))
json.dump({"loss": 0.25, "steps": [1, 2, 3]}, open("out/b.json", "w"))
open("out/c.csv", "w").write("step,loss\\n1,0.5\\n2,0.25\\n")
head = struct.pack(">IIBBBBB", 2, 1, 8, 0, 0, 0, 0)
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head)
png += chunk(b"IDAT", zlib.compress(b"\\0\\x10\\x20")) + chunk(b"IEND", b"")
open("out/d.png", "wb").write(png)
open("out/e.log", "w").write("done\\n")
"""
COPIES = 'open("t.csv", "w").write(open("runs/reference/outputs/out/c.csv").read())'
AFTER = """
[[after]]
command = ["python", "after.py"]
outputs = ["t.csv"]
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A command that writes a file of each kind, and one command after it."""
    folder = tmp_path_factory.mktemp("command")
    files = {"after.py": COPIES}
    project = write_script_project(
        folder / "lab", SCRIPT, outputs=["out/*"], files=files, rest=AFTER
    )
    build_package(project, folder / "built.zip", unexecuted_notebook=True)
    return folder / "built.zip"


@pytest.fixture
def forgery(package: Path) -> Forgery:
    return take_apart(package)


def verify(path: Path, level: Any = None, **options: Any) -> VerificationReport:
    return verify_package(path, consent=Consent(sandbox=level), **options)


def rewritten(path: str, data: bytes) -> Callable[[Forgery], None]:
    """Another output; its log, chain and results follow."""

    def tell(forgery: Forgery) -> None:
        forgery.files[f"{OUTPUTS}/{path}"] = data
        stages: list[list[str]] = []
        for stored in sorted(name for name in forgery.files if name.startswith(f"{OUTPUTS}/")):
            content = forgery.files[stored]
            name = stored.removeprefix(f"{OUTPUTS}/")
            found = contents_of(name, io.BytesIO(content), len(content)).stages
            stages += [list(row) for row in found]
        log = forgery.log()
        log.steps[0]["stages"] = stages
        log.header["stages"] = [[name, []] for name, _ in stages]
        forgery.put_log("reference", log)
        forgery.rechain_all()
        forgery.recompute_results()

    return tell


def chunk(kind: bytes, data: bytes) -> bytes:
    sum_ = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", sum_)


def png(pixels: bytes, *texts: bytes) -> bytes:
    """Two grey pixels side by side, and texts before them."""
    head = struct.pack(">IIBBBBB", 2, 1, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", head), *(chunk(b"tEXt", text) for text in texts)]
    parts += [chunk(b"IDAT", zlib.compress(b"\0" + pixels)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def npz(date: tuple[int, int, int, int, int, int], change: float = 0.0) -> bytes:
    """The script's arrays in a zip of another date, deflated, in another order."""
    arrays = {"n": np.array(["x", "y"]), "w": np.arange(6.0).reshape(2, 3)}
    arrays["w"][1, 2] += change
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", date), member.getvalue())
    return stream.getvalue()


def tell(forgery: Forgery, change: Callable[[Forgery], None], folder: Path) -> Path:
    """Write the changed package, of which ``check`` says that it is intact."""
    change(forgery)
    path = forgery.write_zip(folder / "told.zip")
    assert check_package(path).faults == ()
    return path


# ---------------------------------------------------------------- mild: other bytes, equal content

MILD = {
    "out/a.npz": npz((2001, 2, 3, 4, 5, 6)),
    "out/b.json": b'{"steps" : [1,2,3],\n "loss": 2.5e-1}\n',
    "out/c.csv": b'step,loss\r\n1,"0.5"\r\n2,0.25',
    "out/d.png": png(b"\x10\x20", b"Software\0another"),
}


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_other_containers_of_equal_content_are_told_and_change_no_verdict(
    forgery: Forgery, level: Any, tmp_path: Path
) -> None:
    """Other zip times, order of keys, line ends and texts of an image, at either level."""
    found = probe_level(level)
    if isinstance(found, ConfinementUnavailableError):
        pytest.skip(f"needs {level}: {found.message}")

    def change(forged: Forgery) -> None:
        forged.files.update({f"{OUTPUTS}/{path}": data for path, data in MILD.items()})

    report = verify(tell(forgery, change, tmp_path), level)
    assert report.verdict == "identical"
    (run,) = report.runs
    assert (run.run, run.equal, run.divergence) == ("reference", True, None)
    assert run.outputs.compared == 5
    assert [(one.path, one.content_equal, one.kind) for one in run.outputs.differences] == [
        ("out/a.npz", True, "npz"),
        ("out/b.json", True, "json"),
        ("out/c.csv", True, "csv"),
        ("out/d.png", True, "image"),
    ]
    assert report.after is not None
    assert (report.after.compared, report.after.differences) == (1, ())
    assert report.confinement is not None
    assert (report.confinement.level, report.confinement.reason) == (level, None)


# ---------------------------------------------------------------- consistent lies


def differing(forgery: Forgery, path: str, data: bytes, folder: Path) -> OutputDifference:
    """The one difference that verifying finds."""
    report = verify(tell(forgery, rewritten(path, data), folder))
    assert report.verdict == "differs"
    (run,) = report.runs
    assert (run.equal, run.repeats) == (False, True)
    assert run.divergence is not None
    assert run.divergence.step == 1
    assert run.divergence.stage == f"output:{path}" + (":w" if path.endswith("npz") else "")
    assert report.after is not None
    assert report.after.reason == "not every run is there and equal"
    (difference,) = run.outputs.differences
    assert (difference.path, difference.content_equal) == (path, False)
    return difference


def test_another_element(forgery: Forgery, tmp_path: Path) -> None:
    """The array and the element, by value and bits."""
    data = npz((1980, 1, 1, 0, 0, 0), change=0.5)
    difference = differing(forgery, "out/a.npz", data, tmp_path)
    (array,) = difference.arrays
    assert (array.array, array.elements, array.elements_differing) == ("w", 6, 1)
    (first,) = array.first
    assert (first.index, first.expected, first.observed) == ((1, 2), 5.5, 5.0)


def test_another_value(forgery: Forgery, tmp_path: Path) -> None:
    """By its place in the JSON."""
    data = json.dumps({"loss": 0.25, "steps": [1, 7, 3]}).encode()
    value = differing(forgery, "out/b.json", data, tmp_path).value
    assert value is not None
    assert (value.pointer, value.expected, value.observed) == ("/steps/1", "7", "2")


def test_another_cell(forgery: Forgery, tmp_path: Path) -> None:
    """By row, column and the cell above it."""
    data = b"step,loss\n1,0.5\n2,0.24\n"
    table = differing(forgery, "out/c.csv", data, tmp_path).table
    assert table is not None
    assert table.first is not None
    assert table.first.model_dump() == {
        "row": 3,
        "column": 2,
        "header": "loss",
        "expected": "0.24",
        "observed": "0.25",
    }


def test_another_pixel(forgery: Forgery, tmp_path: Path) -> None:
    """By its place, counted from the corner."""
    image = differing(forgery, "out/d.png", png(b"\x10\x21"), tmp_path).image
    assert image is not None
    assert image.first is not None
    assert (image.first.x, image.first.y, image.pixels_differing) == (1, 0, 1)
    assert (image.first.expected, image.first.observed) == (
        (0x21, 0x21, 0x21, 255),
        (0x20, 0x20, 0x20, 255),
    )


def test_another_byte(forgery: Forgery, tmp_path: Path) -> None:
    """By its offset."""
    byte = differing(forgery, "out/e.log", b"gone\n", tmp_path).first_byte
    assert (byte.offset, byte.line) == (0, 1)
    assert (byte.expected[:2], byte.observed[:2]) == ("67", "64")


def test_an_output_too_many(forgery: Forgery, tmp_path: Path) -> None:
    """One that no run writes."""
    report = verify(tell(forgery, rewritten("out/f.txt", b"more\n"), tmp_path))
    assert report.verdict == "differs"
    (run,) = report.runs
    assert run.outputs.missing == ("out/f.txt",)
    assert run.divergence is not None
    assert (run.divergence.kind, run.divergence.missing) == ("structure", ("output:out/f.txt",))


def test_an_output_too_few(forgery: Forgery, tmp_path: Path) -> None:
    """One that the run writes and the package has left out of everything."""
    del forgery.files[f"{OUTPUTS}/out/e.log"]
    report = verify(tell(forgery, rewritten("out/d.png", png(b"\x10\x20")), tmp_path))
    assert report.verdict == "differs"
    assert report.runs[0].outputs.unexpected == ("out/e.log",)


@pytest.mark.parametrize(
    ("data", "equal"),
    [(b"step,loss\n1,0.5\n2,0.2\n", False), (b"step,loss\r\n1,0.5\r\n2,0.25\r\n", True)],
    ids=["value", "line-ends"],
)
def test_what_came_after_the_runs_is_compared(
    forgery: Forgery, data: bytes, equal: bool, tmp_path: Path
) -> None:
    """It follows from the runs; running the command again finds another, by its content."""

    def change(forged: Forgery) -> None:
        forged.files["after/t.csv"] = data

    report = verify(tell(forgery, change, tmp_path))
    assert report.verdict == ("identical" if equal else "differs")
    assert report.runs[0].equal
    assert report.after is not None
    (difference,) = report.after.differences
    assert (difference.path, difference.content_equal) == ("t.csv", equal)


# ---------------------------------------------------------------- whose code it is


def foreign_command(forgery: Forgery) -> None:
    forgery.edit(
        "plan.json",
        lambda plan: plan["experiment"].update(
            entry_point=None, command=["python", "replay_lab.py"], loop=True
        ),
    )


def foreign_variable(forgery: Forgery) -> None:
    forgery.edit(
        "plan.json",
        lambda plan: plan["experiment"].update(environment={"PYTHONPATH": "/tmp"}),
    )


def foreign_after(forgery: Forgery) -> None:
    row: dict[str, Any] = {"command": ["sh", "-c", "echo a > a"], "outputs": ["a"]}
    row |= {"environment": {}, "timeout_seconds": None}
    forgery.edit("plan.json", lambda plan: plan.update(after=[row]))
    forgery.files["after/a"] = b"a\n"


def foreign_input(forgery: Forgery) -> None:
    forgery.files["inputs/sitecustomize.py"] = b"pass\n"


def foreign_reference(forgery: Forgery) -> None:
    foreign_input(forgery)
    forgery.elsewhere.add("inputs/sitecustomize.py")
    forgery.rows["inputs/sitecustomize.py"] = {"included": False, "location": "ask"}


@pytest.mark.parametrize(
    "change",
    [foreign_command, foreign_variable, foreign_after, foreign_input, foreign_reference],
    ids=lambda change: change.__name__.removeprefix("foreign_"),
)
def test_the_labs_source_in_a_foreign_form_is_confined(
    lab_package: Path, change: Callable[[Forgery], None], tmp_path: Path
) -> None:
    """What repropack ships is the source with its entry point, and nothing beside it."""
    forgery = take_apart(lab_package)
    assert forgery.files["source/replay_lab.py"] == Path(replay_lab.__file__).read_bytes()
    change(forgery)
    with open_package(tell(forgery, lambda _: None, tmp_path)) as package:
        assert not is_shipped(package)
