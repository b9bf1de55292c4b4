"""``diff``: what changed from one package to another, of packages that were built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repropack._cli.main import main
from repropack._format.schemas import read_document
from repropack.build import build_package
from repropack.diff import diff_packages
from repropack.errors import UnsupportedVersionError, UsageError
from repropack.models.package_difference import PackageDifference
from repropack.models.reports import BuildReport
from repropack.models.results import Split
from repropack.models.run_difference import RunDifference
from tests.support.experiments import TINY, write_project
from tests.support.hostile import Forgery, take_apart

SECOND = {"name": "other-factor", "config": {"factor": 2.5}}
RESUME = {"name": "resume", "resume-at": 4, "expect": "identical"}


def built(
    folder: Path, *, old: Path | None = None, factor: float = 1.5, source: str = TINY
) -> BuildReport:
    """A package; a version that supersedes ``old`` where that is given."""
    project = write_project(
        folder / "project",
        source=source,
        config={"factor": factor, "end": 0},
        record={"checkpoint-every": 4},
        comparisons=(RESUME, SECOND)[: 1 if old is None else 2],
    )
    if old is not None:
        digest = diff_packages(old, old).old.package_digest
        file = project / "repropack.toml"
        text = file.read_text().replace('"1.0.0"', f'"1.1.0", supersedes = "{digest}"')
        file.write_text(text)
    return build_package(project, folder / "tiny.zip", unexecuted_notebook=True)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A package, and a later version of it with another factor and another line of source."""
    folder = tmp_path_factory.mktemp("pair")
    old = built(folder / "old").path
    source = TINY.replace("three numbers", "three numbers, or so,")
    new = built(folder / "new", old=Path(old), factor=1.25, source=source).path
    return Path(old), Path(new)


def without(package: Path, place: Path, *paths: str) -> Path:
    """A package without some of its files, which its manifest lists no longer."""
    forgery = take_apart(package)
    for path in paths:
        del forgery.files[path]
    return forgery.write_zip(place)


def edited(package: Path, place: Path, path: str, data: bytes) -> Path:
    forgery = take_apart(package)
    forgery.files[path] = data
    return forgery.write_zip(place)


def test_everything_that_changed_is_told_in_its_section(pair: tuple[Path, Path]) -> None:
    """Source with its lines, values by key, the first divergence, comparisons, files."""
    found = diff_packages(*pair)
    assert (found.verdict, found.succession) == ("differs", "named")
    assert [row.key for row in found.metadata] == ["version", "supersedes"]
    assert found.source is not None
    assert [row.path for row in found.source.changed] == ["tiny.py"]
    text = found.source.changed[0].text
    assert text is not None
    assert text.lines[:3] == (
        "@@ -1,4 +1,4 @@",
        '-"""Multiplies three numbers by a factor; ends where it is told to."""',
        '+"""Multiplies three numbers, or so, by a factor; ends where it is told to."""',
    )
    assert found.inputs is not None
    assert (found.inputs.unchanged, found.inputs.changed) == (0, ())
    assert [(row.key, row.old, row.new) for row in found.configuration] == [
        ("experiment.config.factor", "1.5", "1.25"),
        ("comparisons.other-factor", None, '{"config":{"factor":2.5},"reset":[]}'),
    ]
    assert found.environment is not None
    assert found.environment.differences == ()
    results = found.results
    assert results is not None
    reference = results.reference
    assert (reference.chain_equal, reference.config_equal) == (False, False)
    assert reference.start == Split(equal=("updates", "x"))
    assert reference.divergence is not None
    assert (reference.divergence.step, reference.divergence.stage) == (1, "x")
    assert [(row.metric, row.old, row.new) for row in reference.metrics] == [
        ("loss", 3 * 1.5**10, 3 * 1.25**10)
    ]
    assert [(row.run, row.old is None) for row in results.comparisons] == [
        ("resume", False),
        ("other-factor", True),
    ]
    assert found.others is not None
    told = {row.path for row in found.others.changed}
    assert {"README.md", "notebook.ipynb"} <= told
    assert not told & {"plan.json", "results.json", "environment.json", "source/tiny.py"}


def test_the_other_way_round_says_so(pair: tuple[Path, Path]) -> None:
    """The package that supersedes is the new one, whichever is named first."""
    assert diff_packages(pair[1], pair[0]).succession == "reversed"


def test_zip_and_directory_of_one_package_are_identical(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """One manifest is one package."""
    folder = take_apart(pair[0]).write_directory(tmp_path / "tiny")
    found = diff_packages(pair[0], folder)
    assert (found.verdict, found.source, found.results) == ("identical", None, None)


def test_a_document_whose_bytes_alone_differ_is_among_the_others(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """An entry is never passed over in silence; the runs' files have a list of their own."""
    readme = edited(pair[0], tmp_path / "readme.zip", "README.md", b"other\n")
    found = diff_packages(pair[0], readme)
    assert found.others is not None
    changed = [row.path for row in found.others.changed]
    assert changed == ["README.md", "index.html", "ro-crate-metadata.json"]  # that hold its digest
    checkpoint = "runs/reference/checkpoints/step-000000008.npz"
    without_one = diff_packages(pair[0], without(pair[0], tmp_path / "less.zip", checkpoint))
    assert without_one.results is not None
    assert without_one.results.reference.chain_equal
    assert [row.path for row in without_one.results.files.changed] == [
        "reference/checkpoints/step-000000008.npz"
    ]


@pytest.mark.parametrize("place", [0, 1], ids=["old", "new"])
@pytest.mark.hostile
def test_a_side_that_is_damaged_is_named(
    pair: tuple[Path, Path], tmp_path: Path, place: int
) -> None:
    """An entry without its digest, a log that cannot be read, no zip at all."""
    forgery = take_apart(pair[place])
    manifest = forgery.seal()
    forgery.files["source/tiny.py"] = b"other"
    bent = forgery.write_zip(tmp_path / "bent.zip", manifest)
    log = edited(pair[place], tmp_path / "log.zip", "runs/reference/fingerprints.jsonl", b"{}\n")
    none = tmp_path / "none.zip"
    none.write_bytes(b"no zip")
    for path, entry in (
        (bent, "source/tiny.py"),
        (log, "runs/reference/fingerprints.jsonl"),
        (none, "none.zip"),
    ):
        sides = [*pair]
        sides[place] = path
        found = diff_packages(*sides)
        faults = (found.old.faults, found.new.faults)
        assert (found.verdict, found.results) == ("damaged", None)
        assert [fault.entry for fault in faults[place]] == [entry]
        assert faults[1 - place] == ()


SCRIPT = """\
import json, sys
import numpy as np

data = np.loadtxt("data.csv", delimiter=",", skiprows=1)
np.savez("found.npz", twice=data * 2, sum=data.sum())
open("found.json", "w").write(json.dumps({"seed": int(sys.argv[1]), "mean": data.mean()}))
"""
COMMAND = """\
[package]
name = "script"
version = "1.0.0"
title = "A script"
license = "CC0-1.0"
authors = [{ name = "Nobody" }]
[experiment]
command = ["python", "script.py", "{seed}"]
inputs = ["data.csv", { path = "note.txt", include = false, location = "on request" }]
outputs = ["found.*"]
seed = 3
[[comparisons]]
name = "again"
hash-seed = 1
expect = "identical"
"""


def test_inputs_and_outputs_of_a_command_are_told_by_what_they_are(tmp_path: Path) -> None:
    """A cell, an array, a value; an input that is held elsewhere by its digest alone."""
    for name, cell, seed, note in (("old", "2.0", 3, "a"), ("new", "4.0", 4, "b")):
        project = tmp_path / name
        project.mkdir()
        (project / "script.py").write_text(SCRIPT)
        (project / "repropack.toml").write_text(COMMAND.replace("seed = 3", f"seed = {seed}"))
        (project / "data.csv").write_text(f"x,y\n1.0,{cell}\n")
        (project / "note.txt").write_text(note)
        build_package(project, tmp_path / f"{name}.zip", unexecuted_notebook=True)
    found = diff_packages(tmp_path / "old.zip", tmp_path / "new.zip")
    assert found.inputs is not None
    data, note_row = found.inputs.changed
    assert data.content is not None
    assert data.content.table is not None
    cell_row = data.content.table.first
    assert cell_row is not None
    assert (cell_row.row, cell_row.header, cell_row.expected, cell_row.observed) == (
        2,
        "y",
        "2.0",
        "4.0",
    )
    assert (note_row.path, note_row.content) == ("note.txt", None)
    assert note_row.new is not None
    assert (note_row.new.included, note_row.new.location) == (False, "on request")
    assert found.results is not None
    told = {row.path: row.content for row in found.results.files.changed if row.content}
    assert sorted(told) == ["reference/outputs/found.json", "reference/outputs/found.npz"]
    value = told["reference/outputs/found.json"].value
    assert value is not None
    assert (value.pointer, value.expected, value.observed) == ("/mean", "1.5", "2.5")
    arrays = told["reference/outputs/found.npz"].arrays
    assert [(array.array, array.elements_differing) for array in arrays] == [
        ("sum", 1),
        ("twice", 1),
    ]
    divergence = found.results.reference.divergence
    assert divergence is not None
    assert divergence.stage == "output:found.json"


def later_version(package: Path, place: Path) -> Path:
    forgery: Forgery = take_apart(package)
    forgery.manifest["format_version"] = 2
    return forgery.write_zip(place)


def test_a_later_format_cannot_be_compared(pair: tuple[Path, Path], tmp_path: Path) -> None:
    """That is no answer, and no damage."""
    later = later_version(pair[0], tmp_path / "later.zip")
    with pytest.raises(UnsupportedVersionError):
        diff_packages(pair[0], later)
    with pytest.raises(UsageError, match=r"nowhere\.zip: no such file"):
        diff_packages(pair[0], tmp_path / "nowhere.zip")


def test_every_status_of_the_verb(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 nothing changed, 1 changed, 2 no such path, 3 damaged, 4 a later format."""
    old, new = map(str, pair)
    later = str(later_version(pair[0], tmp_path / "later.zip"))
    (tmp_path / "none.zip").write_bytes(b"no zip")
    assert main(["diff", old, old]) == 0
    assert capsys.readouterr().out.startswith(f"identical  {old}")
    assert main(["diff", old, new, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "repropack/package-difference/v1"
    assert PackageDifference.model_validate_json(json.dumps(document)).verdict == "differs"
    assert main(["diff", old, str(tmp_path / "nowhere.zip")]) == 2
    assert main(["diff", old, str(tmp_path / "none.zip")]) == 3
    assert main(["diff", later, old]) == 4


def test_references_that_part_are_counted(pair: tuple[Path, Path]) -> None:
    """How far two packages' references part is told beside where."""
    results = diff_packages(*pair).results
    assert results is not None
    counts = results.reference.counts
    assert counts is not None
    assert (counts.compared, counts.differing) == (10, 10)
    assert (counts.meets_again, results.reference.structure) == (None, None)


def test_every_status_of_runs_and_logs(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 equal, 1 differ or cannot be compared, 2 no such run, 3 damaged, 4 a later format."""
    old, new = map(str, pair)
    log = take_apart(pair[0]).files["runs/reference/fingerprints.jsonl"]
    bare, cut, later = (tmp_path / name for name in ("bare.jsonl", "cut.jsonl", "later.jsonl"))
    bare.write_bytes(log)
    cut.write_bytes(log[:-9])
    later.write_bytes(log.replace(b"fingerprint-log/v1", b"fingerprint-log/v2"))
    for fast in ([], ["--fast"]):
        capsys.readouterr()
        assert main(["diff", f"{old}::reference", f"{old}::runs/resume", *fast]) == 0
        assert capsys.readouterr().out.startswith("identical  ")
        assert main(["diff", old, str(bare), *fast]) == 0
        assert main(["diff", str(bare), new, *fast]) == 1
        assert "They part at step 1 · " in capsys.readouterr().out
        assert main(["diff", f"{new}::other-factor", str(bare), *fast, "--format", "json"]) == 1
        document = json.loads(capsys.readouterr().out)
        assert document["schema"] == "repropack/run-difference/v1"
        read = read_document(RunDifference, json.dumps(document).encode(), where="output")
        assert (read.verdict, read.chains_believed) == ("differs", bool(fast))
        assert main(["diff", f"{old}::nobody", str(bare), *fast]) == 2
        assert main(["diff", str(bare), str(cut), *fast]) == 3
        assert main(["diff", str(later), old, *fast]) == 4
    assert main(["diff", old, new, "--fast"]) == 2


@pytest.mark.hostile
def test_hostile_sources_take_little_time(pair: tuple[Path, Path], tmp_path: Path) -> None:
    """Lines that repeat make a search for common ones slow; what is searched is bounded."""
    sides = []
    for place, package in enumerate(pair):
        forgery = take_apart(package)
        for number in range(60):
            lines = [f"{(line * (7 + place)) % 97}" for line in range(990)]
            forgery.files[f"source/f{number}.py"] = "\n".join([*lines, str(place)]).encode()
        sides.append(forgery.write_zip(tmp_path / f"{place}.zip"))
    found = diff_packages(*sides)
    assert found.source is not None
    rows = [row for row in found.source.changed if row.path != "tiny.py"]
    assert len(rows) == 60
    assert sum(len(row.text.lines) for row in rows if row.text is not None) <= 400
    assert sum(row.text is not None for row in rows) == 20
