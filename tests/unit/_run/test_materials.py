"""What runs are given: copied from a project, or out of a package and from its reader's disk."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from repropack._read.package import open_package
from repropack._read.project import load_project
from repropack._run.materials import Materials, copy_materials, unpack_materials
from repropack.errors import CouldNotRunError, ProjectError, UsageError
from tests.hostile.corpus.bases import Base, build_command
from tests.support.commands import files_below, write_files, write_script_project

BIG = b"too large to pack\n"
BIG_DIGEST = f"sha256:{hashlib.sha256(BIG).hexdigest()}"
HELD = '{ path = "data/big.bin", include = false, location = "ask" }'


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """A package with one input that it holds, and one that it does not."""
    return build_command(tmp_path_factory.mktemp("command"))


def copied(folder: Path, inputs: str) -> tuple[Materials, tuple[object, ...]]:
    """Copy the materials of a project with these inputs."""
    given = {"data/a.csv": "1\n", "data/big.bin": BIG.decode()}
    project = write_script_project(folder / "lab", experiment=f"inputs = [{inputs}]", files=given)
    loaded = load_project(project)
    (folder / "work").mkdir()
    return copy_materials(loaded, loaded.source_files(), folder / "work")


def test_source_and_inputs_are_copied(tmp_path: Path):
    """Inputs are no source; what is held elsewhere is copied as well, for the runs."""
    materials, references = copied(tmp_path, f'"data/*.csv", {HELD}')
    assert sorted(materials.source_paths()) == ["train.py"]
    assert sorted(materials.input_paths()) == ["data/a.csv", "data/big.bin"]
    assert [
        (row.path, row.size, row.digest, row.role, row.included, row.location)  # type: ignore[attr-defined]
        for row in references
    ] == [("inputs/data/big.bin", 18, BIG_DIGEST, "input", False, "ask")]


def test_a_project_without_inputs_has_none(tmp_path: Path):
    """Not an empty folder either."""
    materials, references = copied(tmp_path, "")
    assert (materials.inputs, materials.input_paths(), references) == (None, {}, ())
    assert not (tmp_path / "work" / "inputs").exists()


def test_modes_are_fixed(tmp_path: Path):
    """Whatever the project's are, but for what its owner may execute."""
    write_script_project(
        tmp_path / "lab", files={"data/a.sh": "x"}, experiment='inputs = ["data/*"]'
    )
    (tmp_path / "lab" / "data" / "a.sh").chmod(0o711)
    (tmp_path / "lab" / "train.py").chmod(0o600)
    loaded = load_project(tmp_path / "lab")
    (tmp_path / "work").mkdir()
    materials, _ = copy_materials(loaded, loaded.source_files(), tmp_path / "work")
    places = (*materials.source_paths().values(), *materials.input_paths().values())
    assert [place.stat().st_mode & 0o777 for place in places] == [0o644, 0o755]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            f'{{ path = "data/a.csv", digest = "{BIG_DIGEST}" }}',
            f"expected digest {BIG_DIGEST}, as it says there; the file has sha256:",
        ),
        (
            '{ path = "data/a.csv", size = 3 }',
            "expected size 3, as it says there; the file has 2",
        ),
    ],
    ids=["digest", "size"],
)
def test_an_input_is_what_the_project_file_says(tmp_path: Path, row: str, problem: str):
    """Also one that is packed."""
    with pytest.raises(ProjectError) as caught:
        copied(tmp_path, row)
    ((key, told),) = caught.value.issues
    assert key == "experiment.inputs 'data/a.csv'"
    assert told.startswith(problem)


# ---------------------------------------------------------------- out of a package


def test_what_is_held_elsewhere_comes_from_its_reader(command: Base, tmp_path: Path):
    """And the rest from the package, with the modes that it says."""
    place = write_files(tmp_path / "mine", {"x": BIG}) / "x"
    (tmp_path / "out").mkdir()
    with open_package(command.package) as package:
        materials = unpack_materials(package, tmp_path / "out", {"data/big.bin": place})
    assert files_below(tmp_path / "out") == {
        "inputs/data/big.bin": BIG,
        "inputs/data/rows.csv": b"1.5\n2.25\n",
        "source/fit.py": (materials.source / "fit.py").read_bytes(),
        "source/summary.py": (materials.source / "summary.py").read_bytes(),
        "source/tables/README": b"Tables are written here.\n",
    }
    assert place.read_bytes() == BIG


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data/big.bin": "other\n"}, "expected {big} (18 bytes), observed 6 bytes"),
        (
            {"data/big.bin": "too large to pick\n"},
            "expected {big} (18 bytes), observed {pick} (18 bytes)",
        ),
    ],
    ids=["size", "bytes"],
)
def test_another_file_is_refused(
    command: Base, given: dict[str, str], message: str, tmp_path: Path
):
    """By its size, which is looked at before it is copied, or by its digest."""
    (text,) = given.values()
    place = write_files(tmp_path / "mine", {"x": text}) / "x"
    (tmp_path / "out").mkdir()
    digests = {
        name: f"sha256:{hashlib.sha256(data).hexdigest()}"
        for name, data in {"big": BIG, "pick": b"too large to pick\n"}.items()
    }
    with open_package(command.package) as package, pytest.raises(UsageError) as caught:
        unpack_materials(package, tmp_path / "out", {"inputs/data/big.bin": place})
    assert caught.value.message == f"--input data/big.bin: {place}: {message.format(**digests)}"
    copied_bytes = (tmp_path / "out" / "inputs" / "data" / "big.bin").stat().st_size
    assert copied_bytes == (18 if len(text) == len(BIG) else 0)


@pytest.mark.parametrize(
    ("given", "observed"),
    [("pipe", "a fifo"), (os.devnull, "a device"), ("/dev/zero", "a device"), (".", "a folder")],
)
def test_what_is_no_file_is_neither_waited_for_nor_copied(
    command: Base, given: str, observed: str, tmp_path: Path
):
    """A pipe never ends, and neither do zeros."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "out").mkdir()
    place = tmp_path / given
    with open_package(command.package) as package, pytest.raises(UsageError) as caught:
        unpack_materials(package, tmp_path / "out", {"data/big.bin": place})
    said = f"expected a file, observed {observed}"
    assert caught.value.message == f"--input data/big.bin: {place}: {said}"


def test_without_it_there_is_no_run(command: Base, tmp_path: Path):
    """The message says which file, and where to get it."""
    (tmp_path / "out").mkdir()
    with open_package(command.package) as package, pytest.raises(CouldNotRunError) as caught:
        unpack_materials(package, tmp_path / "out", {})
    assert caught.value.message == (
        f"input 'data/big.bin' is held by reference ({BIG_DIGEST}, 18 bytes): expected the file, "
        "observed none given; where to get it: ask the institute"
    )
    assert caught.value.hint == "get it and give --input data/big.bin=PATH"


@pytest.mark.parametrize("name", ["data/rows.csv", "fit.py", "inputs/inputs/data/big.bin"])
def test_what_the_package_holds_is_not_taken_from_elsewhere(
    command: Base, name: str, tmp_path: Path
):
    """Neither an input that it holds nor its source nor a name that it does not know."""
    place = write_files(tmp_path / "mine", {"x": BIG}) / "x"
    (tmp_path / "out").mkdir()
    given = {"data/big.bin": place, name: place}
    with open_package(command.package) as package, pytest.raises(UsageError) as caught:
        unpack_materials(package, tmp_path / "out", given)
    assert caught.value.message == (
        f"--input {name.removeprefix('inputs/')}: expected an input that is held by reference "
        "(data/big.bin)"
    )
