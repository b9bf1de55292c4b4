"""What repropack writes for archives, judged by their own public validators, without a network.

The judges live in an environment of their own (``make judges``) and run as processes. None of them
compares a digest with a file: ``check`` does, and tests/hostile/corpus/descriptions.py shows it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repropack._export.cff_licenses import CFF_LICENSES
from repropack._export.citation import citation_bytes
from repropack.export import export_package
from repropack.models.authored import Article, Author, Contact
from repropack.models.manifest import PackageMetadata
from repropack.unpack import unpack_package

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
JUDGES = ROOT / ".venv-judges" / "bin" / "python"
JUDGE = ROOT / "tests" / "support" / "judge.py"
PROFILES = ("process-run-crate-0.5", "ro-crate-1.2")
"""The first builds on RO-Crate 1.1 and judges by its rules as well."""
NOTHING: dict[str, list[Any]] = {profile: [] for profile in PROFILES}
EVIDENCE, SOURCE = f"sha256:{'0' * 64}", f"swh:1:dir:{'0' * 40}"


def judge(what: str, *arguments: str | Path) -> Any:
    """A judge's verdict."""
    if not JUDGES.is_file():
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("the judges are not installed: run `make judges`")
        pytest.skip("the judges are not installed: run `make judges`")
    done = subprocess.run(
        [JUDGES, JUDGE, what, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@dataclass(frozen=True)
class Lake:
    """A package whose author says everything, its tree, and its bags."""

    package: Path
    tree: Path
    bag: Path
    zipped: Path


@pytest.fixture(scope="module")
def lake(lake_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Made once; read it, never write to it."""
    folder = tmp_path_factory.mktemp("lake")
    made = Lake(lake_package, *(folder / name for name in ("tree", "bag", "bag.zip")))
    unpack_package(made.package, made.tree)
    export_package(made.package, "bagit", made.bag)
    export_package(made.package, "bagit", made.zipped)
    return made


@pytest.fixture(scope="module")
def lab_tree(lab_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The replay lab's package as a folder."""
    tree = tmp_path_factory.mktemp("judged") / "lab"
    unpack_package(lab_package, tree)
    return tree


def test_the_lab_is_a_crate_of_all_three_profiles(lab_tree: Path) -> None:
    """RO-Crate 1.1 and 1.2 and Process Run Crate 0.5: nothing that they require is missing."""
    assert judge("crate", lab_tree, *PROFILES) == NOTHING


def test_a_package_with_everything_is_a_crate(lake: Lake) -> None:
    """Authors of each kind, an expression of licences, an article, an input held elsewhere."""
    assert judge("crate", lake.tree, *PROFILES) == NOTHING


def test_the_judge_of_crates_sees_what_is_missing(lake: Lake, tmp_path: Path) -> None:
    """A crate without a description and with a program without a version is refused."""
    tree = shutil.copytree(lake.tree, tmp_path / "tree")
    place = tree / "ro-crate-metadata.json"
    crate = json.loads(place.read_text("utf-8"))
    for entity in crate["@graph"]:
        if entity["@id"] == "./":
            del entity["description"]
    place.write_text(json.dumps(crate), "utf-8")
    found = judge("crate", tree, "ro-crate-1.1")["ro-crate-1.1"]
    assert [message for _, message in found if "`description`" in message] != []


def variants() -> Iterator[PackageMetadata]:
    """Metadata of every shape that a citation can take."""
    one = Author(name="A. Author")
    plain: dict[str, Any] = {
        "name": "a", "version": "1.0", "title": "T", "license": "MIT", "authors": (one,),
    }  # fmt: skip
    yield PackageMetadata(**plain)
    yield PackageMetadata(**plain | {"license": "LicenseRef-mine"})
    yield PackageMetadata(**plain | {"license": "MIT AND ISC"})
    yield PackageMetadata(**plain | {"license": "GPL-2.0-only WITH Classpath-exception-2.0"})
    yield PackageMetadata(**plain | {"license": "MIT OR ISC OR MIT"})
    yield PackageMetadata(**plain | {"license": "no such licence"})
    yield PackageMetadata(**plain | {"authors": (one, one), "keywords": ("a", "a", "- b")})
    yield PackageMetadata(**plain | {"title": "'\": {[ # \\ \ufffe \ud7ff \U0001f600 é"})
    yield PackageMetadata(**plain | {"title": "2026-11-30", "version": "1.0"})
    yield PackageMetadata(**plain | {"title": "null", "description": "yes"})
    yield PackageMetadata(**plain | {"contact": Contact(name="C", url="https://example.org/")})
    yield PackageMetadata(**plain | {"article": Article(title="No authors", doi="10.1000/182")})
    person = Author(name="Lovelace", family_names="Lovelace", orcid="0000-0002-1825-0097")
    group = Author(name="G", kind="organization", affiliation="Somewhere")
    written = Article(title="B", url="https://example.org/b", authors=(person, group))
    yield PackageMetadata(**plain | {"authors": (person, group, one), "article": written})


def test_citations_are_valid(lab_tree: Path, lake: Lake, tmp_path: Path) -> None:
    """The lab's, one with everything, and one of each shape; a citation without title is not."""
    files = [lab_tree / "CITATION.cff", lake.tree / "CITATION.cff"]
    for place, metadata in enumerate(variants()):
        file = tmp_path / f"{place}.cff"
        file.write_bytes(citation_bytes(metadata, EVIDENCE, SOURCE if place % 2 else None))
        files.append(file)
    untitled = tmp_path / "untitled.cff"
    text = files[0].read_text("utf-8")
    untitled.write_text("".join(f"{k}\n" for k in text.splitlines() if not k.startswith("title")))
    *honest, refused = judge("citation", *files, untitled)
    assert honest == [""] * len(files)
    assert "'title' is a required property" in refused


def test_the_licences_of_citations_are_those_of_the_schema() -> None:
    """The schema of 1.2.0 is frozen, and so is the list."""
    assert set(judge("licenses")) == CFF_LICENSES


def test_bags_are_complete_and_valid(lake: Lake, tmp_path: Path) -> None:
    """As a folder, and as a zip with one folder in it; not with a byte changed."""
    assert judge("bag", lake.bag) == ""
    with zipfile.ZipFile(lake.zipped) as archive:
        archive.extractall(tmp_path)
    assert [place.name for place in tmp_path.iterdir()] == ["lake-1.2.0"]
    assert judge("bag", tmp_path / "lake-1.2.0") == ""
    with (tmp_path / "lake-1.2.0" / "data" / "LICENSE").open("ab") as stream:
        stream.write(b"!")
    assert "Payload-Oxum validation failed" in judge("bag", tmp_path / "lake-1.2.0")


def test_identifiers_are_those_of_software_heritage(lake: Lake) -> None:
    """Of the source, in which a file may be executed, and of the whole tree."""
    report = export_package(lake.package, "swhid")
    assert judge("tree", lake.tree / "source") == report.source_swhid
    assert judge("tree", lake.tree) == report.content_swhid
