"""Small files beside a package: which they are, and how they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repropack._read.beside import next_signature, read_beside, signature_files, statement_place
from repropack.errors import UsageError


def test_a_statement_is_named_after_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside it, also where it is a folder and named by a dot."""
    assert statement_place(Path("/a/lab.zip")) == Path("/a/lab.zip.intoto.json")
    assert statement_place(Path("/a/lab/")) == Path("/a/lab.intoto.json")
    (tmp_path / "lab").mkdir()
    monkeypatch.chdir(tmp_path / "lab")
    assert statement_place(Path()) == tmp_path / "lab.intoto.json"


def test_signature_files_are_found_in_order(tmp_path: Path) -> None:
    """The first, numbers by their value, other labels; nothing else."""
    names = (".sig", ".2.sig", ".10.sig", ".ann.sig", ".sig.sig", ".a b.sig", ".x/y", "x.sig", "")
    for name in names:
        if "/" not in name:
            (tmp_path / f"s.json{name}").touch()
    found = [place.name for place in signature_files(tmp_path / "s.json")]
    assert found == ["s.json.sig", "s.json.2.sig", "s.json.10.sig", "s.json.ann.sig",
                     "s.json.sig.sig"]  # fmt: skip
    assert next_signature(tmp_path / "s.json").name == "s.json.3.sig"
    assert next_signature(tmp_path / "t.json").name == "t.json.sig"
    assert signature_files(tmp_path / "none" / "s.json") == ()


def test_no_more_than_64_are_looked_at(tmp_path: Path) -> None:
    """A folder of a million signature files costs no more."""
    for number in range(70):
        (tmp_path / f"s.json.{number}.sig").touch()
    assert len(signature_files(tmp_path / "s.json")) == 64


def test_what_is_no_small_file_is_refused(tmp_path: Path) -> None:
    """None, too large, a folder, a pipe without a writer."""
    (tmp_path / "large").write_bytes(b"x" * 11)
    os.mkfifo(tmp_path / "pipe")
    for name, said in (
        ("none", "No such file"),
        ("large", "at most 10 bytes"),
        ("pipe", "no file"),
        (".", "a thing, observed"),
        ("a\0b", "a path that cannot be"),
    ):
        with pytest.raises(UsageError, match=said):
            read_beside(tmp_path / name, "a thing", 10)
    (tmp_path / "link").symlink_to("large")
    assert read_beside(tmp_path / "link", "a thing", 11) == b"x" * 11
