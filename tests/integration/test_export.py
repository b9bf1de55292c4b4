"""``repropack export``: what it writes, what it refuses, and with which status."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from repropack import export_package
from repropack._cli.answers import encode_document
from repropack._cli.main import main
from repropack._format.schemas import schema_bytes
from repropack.check import check_package
from repropack.errors import IntegrityError, UsageError
from repropack.inspect import inspect_package
from repropack.models.reports import VerificationReport
from repropack.unpack import unpack_package
from tests.support.hostile import take_apart

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """One call of ``repropack export``: status, standard output and error."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        status = main(["export", *map(str, arguments)])
        told = capsys.readouterr()
        return status, told.out, told.err

    return call


def bag_of(package: Path, folder: Path) -> Path:
    bag = folder / "bag"
    export_package(package, "bagit", bag)
    return bag


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder: its bytes and its mode."""
    return {
        place.relative_to(folder).as_posix(): (place.read_bytes(), place.stat().st_mode & 0o777)
        for place in folder.rglob("*")
        if place.is_file()
    }


# ---------------------------------------------------------------- bags


def test_a_bag_holds_the_package_as_it_is(lake_package: Path, tmp_path: Path) -> None:
    """Its payload is the tree, byte for byte and mode for mode, and is a package itself."""
    bag = bag_of(lake_package, tmp_path)
    unpack_package(lake_package, tmp_path / "tree")
    assert contents(bag / "data") == contents(tmp_path / "tree")
    assert check_package(bag / "data").verdict == "intact"
    done = subprocess.run(
        [sys.executable, bag / "data" / "__main__.py"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split()[0]) == (0, "intact")


def test_a_bag_has_the_tag_files_of_its_specification(lake_package: Path, tmp_path: Path) -> None:
    """Two manifests of every file, two of every tag file, and no time of a clock."""
    bag = bag_of(lake_package, tmp_path)
    tags = {place.name: place.read_bytes() for place in bag.iterdir() if place.is_file()}
    assert tags["bagit.txt"] == b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
    payload = contents(bag / "data")
    for name in ("sha256", "sha512"):
        rows = dict(
            line.split("  ", 1)[::-1] for line in tags[f"manifest-{name}.txt"].decode().splitlines()
        )
        assert rows == {
            f"data/{path}": hashlib.new(name, data).hexdigest()
            for path, (data, _) in payload.items()
        }
        sealed = dict(
            line.split("  ", 1)[::-1]
            for line in tags[f"tagmanifest-{name}.txt"].decode().splitlines()
        )
        assert sealed == {
            tag: hashlib.new(name, data).hexdigest()
            for tag, data in tags.items()
            if not tag.startswith("tagmanifest")
        }
    info = dict(line.split(": ", 1) for line in tags["bag-info.txt"].decode().splitlines())
    octets = sum(len(data) for data, _ in payload.values())
    assert info["Payload-Oxum"] == f"{octets}.{len(payload)}"
    assert info["Bagging-Date"] == "2026-11-29"


def test_a_zipped_bag_is_the_same_file_each_time(
    lake_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the umask, the folder and the form of the package; with one folder at its top."""
    export_package(lake_package, "bagit", tmp_path / "one.zip")
    unpack_package(lake_package, tmp_path / "tree")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    before = os.umask(0o077)
    try:
        export_package(tmp_path / "tree", "bagit", "two.zip")
    finally:
        os.umask(before)
    second = tmp_path / "elsewhere" / "two.zip"
    assert (tmp_path / "one.zip").read_bytes() == second.read_bytes()
    assert second.stat().st_mode & 0o777 == 0o644
    bag = bag_of(lake_package, tmp_path)
    with zipfile.ZipFile(second) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert held == {f"lake-1.2.0/{path}": data for path, (data, _) in contents(bag).items()}


def test_a_bag_replaces_a_bag_and_nothing_else(
    run: Run, lake_package: Path, tmp_path: Path
) -> None:
    """Only where --force says so, and never over a file that no manifest lists."""
    bag = bag_of(lake_package, tmp_path)
    before = contents(bag)
    status, _, told = run(lake_package, "--to", "bagit", "-o", bag)
    assert (status, "observed one that does" in told, "--force to replace a bag" in told) == (
        2, True, True,
    )  # fmt: skip
    assert run(lake_package, "--to", "bagit", "-o", bag, "--force")[0] == 0
    assert contents(bag) == before
    (bag / "data" / "notes.md").write_text("mine\n")
    status, _, told = run(lake_package, "--to", "bagit", "-o", bag, "--force")
    assert (status, "'data/notes.md' in it" in told) == (2, True)
    assert (bag / "data" / "notes.md").read_text() == "mine\n"
    other = tmp_path / "other"
    (other / "data").mkdir(parents=True)
    (other / "data" / "thesis.tex").write_text("mine\n")
    assert run(lake_package, "--to", "bagit", "-o", other, "--force")[0] == 2
    foreign = tmp_path / "foreign"
    (foreign / "data").mkdir(parents=True)
    (foreign / "bagit.txt").write_text("BagIt-Version: 1.0\n")
    (foreign / "data" / "manifest.json").write_text("hi")
    (foreign / "manifest-sha256.txt").write_text(f"{'0' * 64}  data/manifest.json\n")
    assert run(lake_package, "--to", "bagit", "-o", foreign, "--force")[0] == 2
    shutil.rmtree(foreign)
    (bag / "data" / "notes.md").unlink()
    (bag / "notes.txt").write_text("mine\n")
    status, _, told = run(lake_package, "--to", "bagit", "-o", bag, "--force")
    assert (status, "'notes.txt' in it" in told) == (2, True)
    zipped = tmp_path / "mine.zip"
    shutil.copyfile(lake_package, zipped)
    assert run(lake_package, "--to", "bagit", "-o", zipped, "--force")[0] == 2
    assert zipped.read_bytes() == lake_package.read_bytes()
    assert sorted(place.name for place in tmp_path.iterdir()) == ["bag", "mine.zip", "other"]


# ---------------------------------------------------------------- documents


def test_a_deposit_that_lacks_something_is_not_written(
    run: Run, lake_package: Path, tmp_path: Path
) -> None:
    """Status 1, and each missing field with the key that gives it."""
    target = tmp_path / ".zenodo.json"
    status, told, _ = run(lake_package, "--to", "zenodo", "-o", target)
    assert status == 1
    assert told.startswith("incomplete  ")
    assert "license in [package], for license" in told
    assert not target.exists()
    status, told, _ = run(lake_package, "--to", "zenodo", "-o", target, "--format", "json")
    report = json.loads(told)
    assert (status, report["written"], [row["key"] for row in report["lacking"]]) == (
        1, None, ["license"],
    )  # fmt: skip


def test_the_deposit_of_the_lab(run: Run, lab_package: Path, tmp_path: Path) -> None:
    """What its project file says, and nothing else."""
    target = tmp_path / ".zenodo.json"
    status, told, _ = run(lab_package, "--to", "zenodo", "-o", target)
    assert (status, told.split()[0]) == (0, "exported")
    assert json.loads(target.read_bytes()) == {
        "access_right": "open",
        "creators": [{"name": "The repropack authors"}],
        "description": "A small regression trained step by step, and what five changes do to its "
        "bytes.",
        "keywords": ["reproducibility", "checkpoint", "determinism", "floating point"],
        "license": "BSD-3-Clause",
        "publication_date": "2026-11-30",
        "title": "Identical printed losses, different weights",
        "upload_type": "software",
        "version": "1.0.0",
    }


def verification(package: Path, folder: Path, **changes: Any) -> Path:
    """What ``verify --report`` would keep of a package."""
    digest = inspect_package(package).package_digest
    told: dict[str, Any] = {"path": "x.zip", "verdict": "identical", "package_digest": digest}
    report = VerificationReport(**(told | changes))
    file = folder / "verification.json"
    file.write_bytes(encode_document(report))
    return file


def test_a_draft_takes_a_verification_of_this_package_alone(
    run: Run, lake_package: Path, tmp_path: Path
) -> None:
    """One of another package, and what is no report, are wrong use."""
    target = tmp_path / "codecheck.yml"
    arguments = [lake_package, "--to", "codecheck", "-o", target, "--verification"]
    assert run(*arguments, verification(lake_package, tmp_path))[0] == 0
    assert 'repropack_verdict: "identical"' in target.read_text()
    target.unlink()
    other = verification(lake_package, tmp_path, package_digest=f"sha256:{'0' * 64}")
    status, _, told = run(*arguments, other)
    assert (status, "observed one of sha256:0000" in told) == (2, True)
    for text in ("{}", "no JSON", '{"schema":"repropack/plan/v1"}'):
        other.write_text(text)
        assert run(*arguments, other)[0] == 2
    assert run(*arguments, tmp_path / "none.json")[0] == 2
    assert not target.exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_identifiers_are_those_of_git(run: Run, lake_package: Path, tmp_path: Path) -> None:
    """Of the source and of the whole tree; ``inspect`` shows the same two."""
    unpack_package(lake_package, tmp_path / "tree")
    trees = []
    for folder in (tmp_path / "tree" / "source", tmp_path / "tree"):
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        subprocess.run(["git", "add", "-f", "-A"], cwd=folder, check=True)
        told = subprocess.run(
            ["git", "write-tree"], cwd=folder, check=True, capture_output=True, text=True
        )
        trees.append(f"swh:1:dir:{told.stdout.strip()}")
        shutil.rmtree(folder / ".git")
    target = tmp_path / "swhids.txt"
    assert run(lake_package, "--to", "swhid", "-o", target)[0] == 0
    assert target.read_text() == f"{trees[0]}  source/\n{trees[1]}  ./\n"
    shown = inspect_package(lake_package)
    assert [shown.source_swhid, shown.content_swhid] == trees


def test_every_report_fits_its_schema(run: Run, lake_package: Path, tmp_path: Path) -> None:
    """One JSON document, whatever is exported."""
    validator = jsonschema.Draft202012Validator(json.loads(schema_bytes("export-report")))
    for to in ("bagit", "codecheck", "swhid"):
        status, told, _ = run(lake_package, "--to", to, "-o", tmp_path / to, "--format", "json")
        report = json.loads(told)
        validator.validate(report)
        assert (status, report["schema"], report["to"]) == (0, "repropack/export-report/v1", to)


# ---------------------------------------------------------------- wrong use and damage


def test_wrong_use(run: Run, lake_package: Path, tmp_path: Path) -> None:
    """Nothing is written where it is not said where, or into the package."""
    assert run(lake_package, "--to", "bagit")[0] == 2
    assert run(lake_package, "--to", "paper", "-o", tmp_path / "x")[0] == 2
    assert run(lake_package)[0] == 2
    assert run(tmp_path / "none.zip", "--to", "swhid")[0] == 2
    assert run(lake_package, "--to", "swhid", "--verification", "x.json")[0] == 2
    unpack_package(lake_package, tmp_path / "tree")
    status, _, told = run(tmp_path / "tree", "--to", "swhid", "-o", tmp_path / "tree" / "x.txt")
    assert (status, "observed one inside" in told) == (2, True)
    assert run(tmp_path / "tree", "--to", "bagit", "-o", tmp_path, "--force")[0] == 2
    for to in ("swhid", "bagit"):
        with pytest.raises(UsageError, match="observed one inside"):
            export_package(tmp_path / "tree", to, tmp_path / "tree", force=True)


@pytest.mark.parametrize("to", ["bagit", "zenodo", "codecheck", "swhid"])
def test_a_damaged_package_is_not_exported(
    run: Run, lake_package: Path, tmp_path: Path, to: str
) -> None:
    """Status 3, and nothing is written: not even where every digest is right."""
    forgery = take_apart(lake_package)
    forgery.described = False
    forgery.files["LICENSE"] = b"all rights reserved\n"
    forged = forgery.write_zip(tmp_path / "forged.zip")
    with pytest.raises(IntegrityError):
        export_package(forged, to, tmp_path / "x")  # type: ignore[arg-type]
    assert run(forged, "--to", to, "-o", tmp_path / "x")[0] == 3
    assert [place.name for place in tmp_path.iterdir()] == ["forged.zip"]
