"""Small files beside a package: which they are, and how they are read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from repropack._read.beside import (
    begin_of,
    next_signature,
    read_beside,
    read_unnamed,
    signature_files,
    statement_place,
)
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


def test_what_is_no_small_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None, too large, a folder, a pipe without a writer, a device, a socket: each by its name."""
    (tmp_path / "large").write_bytes(b"x" * 11)
    os.mkfifo(tmp_path / "pipe")
    listening = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(tmp_path)
    listening.bind("socket")
    listening.close()
    for name, said in (
        ("none", "No such file"),
        ("large", "at most 10 bytes"),
        ("pipe", "expected a thing, observed a fifo"),
        ("socket", "expected a thing, observed a socket"),
        (os.devnull, "expected a thing, observed a device"),
        (".", "a thing, observed a folder"),
        ("a\0b", "a path that cannot be"),
    ):
        with pytest.raises(UsageError, match=said):
            read_beside(tmp_path / name, "a thing", 10)
        with pytest.raises(ValueError, match=said) as caught:
            read_unnamed(tmp_path / name, "a thing", 10)
        assert str(tmp_path) not in str(caught.value)
        assert begin_of(tmp_path / name, 4) == (b"xxxx" if name == "large" else b"")
    (tmp_path / "link").symlink_to("large")
    assert read_beside(tmp_path / "link", "a thing", 11) == b"x" * 11
