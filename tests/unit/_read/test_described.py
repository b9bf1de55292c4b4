"""Crate, citation and identifiers of a package, made again and held against the packed ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._read.described import check_described
from repropack._read.package import open_package
from repropack._read.swhids import content_swhid, hash_entry, source_swhid
from repropack.errors import PackageFormatError
from tests.support.hostile import Forgery, take_apart

CRATE, CITATION = "ro-crate-metadata.json", "CITATION.cff"
Fault = tuple[str, str, str, str, str]


@pytest.fixture(scope="module")
def whole(lake_package: Path) -> Forgery:
    """The lake's files; copy them, never change them."""
    return take_apart(lake_package)


def faults(whole: Forgery, folder: Path, changed: dict[str, bytes]) -> list[Fault]:
    """What is found where files are others, every digest right and no description made again."""
    files = {**whole.files, **changed}
    forgery = Forgery(
        files, whole.manifest, whole.executables, whole.rows, whole.elsewhere, described=False
    )
    found: list[Fault] = []
    with open_package(forgery.write_directory(folder / "forged")) as package:
        check_described(package, lambda *one: found.append(tuple(map(str, one))))  # type: ignore[arg-type]
    return found


def test_what_follows_is_accepted(whole: Forgery, tmp_path: Path) -> None:
    """An honest package has no fault."""
    assert faults(whole, tmp_path, {}) == []


def test_a_changed_line_of_a_citation(whole: Forgery, tmp_path: Path) -> None:
    """The first line that differs, on both sides; the crate has its digest and is none either."""
    other = whole.files[CITATION].replace(b'title: "A lake', b'title: "No lake', 1)
    first, second = faults(whole, tmp_path, {CITATION: other})
    assert first[:3] == ("citation.differs", CITATION, "line 4")
    assert "A lake" in first[3]
    assert "No lake" in first[4]
    assert second[:2] == ("crate.differs", CRATE)
    assert second[2].startswith("entity 'CITATION.cff': ")


def test_a_citation_that_ends_early(whole: Forgery, tmp_path: Path) -> None:
    """A line that is not there is none."""
    cut = b"".join(whole.files[CITATION].splitlines(keepends=True)[:3])
    first = faults(whole, tmp_path, {CITATION: cut})[0]
    assert first[2:] == ("line 4", ascii(whole.files[CITATION].splitlines()[3].decode()), "''")


@pytest.mark.parametrize(
    ("old", "new", "place", "observed"),
    [
        (b'"name":"LICENSE"', b'"name":"LIZENZ"', "entity 'LICENSE': 'name'", "'LIZENZ'"),
        (b'"@id":"#grant/1"', b'"@id":"#grant/2"', "entity '#grant/1'", "none"),
        (b'{"@context"', b' {"@context"', "", "another spelling"),
    ],
)
def test_a_changed_crate(
    whole: Forgery, tmp_path: Path, old: bytes, new: bytes, place: str, observed: str
) -> None:
    """The first entity and member that differs; else it is only spelled otherwise."""
    assert old in whole.files[CRATE]
    other = whole.files[CRATE].replace(old, new)
    ((rule, entry, where, _, told),) = faults(whole, tmp_path, {CRATE: other})
    assert (rule, entry) == ("crate.differs", CRATE)
    assert where == place
    assert told == observed


@pytest.mark.parametrize("data", [b"", b"[]\n", b"{}\n", b'{"@graph":[1]}\n', b"[" * 99_999])
def test_what_is_no_crate(whole: Forgery, tmp_path: Path, data: bytes) -> None:
    """It has none of the entities."""
    ((rule, _, where, expected, observed),) = faults(whole, tmp_path, {CRATE: data})
    assert (rule, where) == ("crate.differs", "entity '#after'")
    assert (expected, observed) == ("this entity", "none")


def test_a_wrong_check_digit(whole: Forgery, tmp_path: Path) -> None:
    """Of an author, and of one of the article."""
    text = whole.manifest["package"]
    for authors in (text["authors"], text["article"]["authors"]):
        before = authors[0]["orcid"]
        authors[0]["orcid"] = "0000-0002-1825-0098"
        found = faults(whole, tmp_path / authors[0]["name"] / str(len(authors)), {})
        authors[0]["orcid"] = before
        assert found[0][:4] == ("manifest.orcid", "manifest.json", "orcid", "the check digit 7")


def test_identifiers_change_with_what_they_name(whole: Forgery, tmp_path: Path) -> None:
    """The source's with the source alone, the whole tree's with every file."""
    told = set()
    for name, changed in (("a", {}), ("b", {"LICENSE": b"x\n"}), ("c", {"source/draw.py": b"\n"})):
        forgery = Forgery({**whole.files, **changed}, whole.manifest, whole.executables,
                          whole.rows, whole.elsewhere, described=False)  # fmt: skip
        with open_package(forgery.write_directory(tmp_path / name)) as package:
            entries = package.manifest.entries
            told.add((source_swhid(package.container, entries), content_swhid(package)))
    sources, contents = zip(*told, strict=True)
    assert (len(set(sources)), len(set(contents))) == (2, 3)


def test_identifiers_of_what_is_not_there(whole: Forgery, tmp_path: Path) -> None:
    """No source has none; a file that is listed and not there is damage."""
    path = whole.write_directory(tmp_path / "case")
    with open_package(path) as package:
        assert source_swhid(package.container, ()) is None
        with pytest.raises(PackageFormatError, match="missing"):
            hash_entry(package.container, "source/none.py", executable=False)
