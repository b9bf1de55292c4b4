"""The clean copy: what is laid out, and what is taken over from it afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repropack._run.clean_copy import (
    check_unchanged,
    find_others,
    find_outputs,
    lay_out,
    output_stages,
    take_outputs,
)
from repropack.errors import CommandError, CouldNotRunError
from tests.support.commands import files_below, write_files


def test_files_are_laid_out_with_their_modes(tmp_path: Path):
    """As copies: writing to one does not reach the original."""
    given = write_files(tmp_path / "given", {"run.sh": "#!/bin/sh\n", "b": "1"})
    (given / "run.sh").chmod(0o755)
    lay_out({"run.sh": given / "run.sh", "deep/er/b": given / "b"}, tmp_path / "copy")
    assert files_below(tmp_path / "copy") == {"run.sh": b"#!/bin/sh\n", "deep/er/b": b"1"}
    assert os.access(tmp_path / "copy" / "run.sh", os.X_OK)
    assert not os.access(tmp_path / "copy" / "deep" / "er" / "b", os.X_OK)
    (tmp_path / "copy" / "deep" / "er" / "b").write_text("2")
    assert (given / "b").read_text() == "1"


def test_outputs_are_found_in_the_order_of_their_bytes(tmp_path: Path):
    """Once each, whatever patterns they match; what was given is none."""
    copy = write_files(tmp_path, {"b/x": "", "b-x": "", "a": "", "given": "", "other": ""})
    patterns = ("b*", "**/x", "a", "[abg]*")
    found = find_outputs("reference", patterns, copy, ["given"])
    assert list(found) == ["a", "b-x", "b/x"]
    assert found["b/x"] == copy / "b" / "x"


def test_what_is_written_besides_outputs_is_found(tmp_path: Path):
    """Sorted; neither outputs and what was given, nor caches and names that begin with a dot."""
    names = ("out/a.csv", "extra.txt", "deep/er/b.txt", "given", "__pycache__/x.pyc", ".hidden/c")
    copy = write_files(tmp_path, {**dict.fromkeys(names, ""), "m/__pycache__/y.pyc": ""})
    (copy / os.fsdecode(b"odd\xff")).write_text("")
    (copy / "link").symlink_to("given")
    expected = ["deep/er/b.txt", "extra.txt", "link", "odd\\xff"]
    assert find_others(["out/**"], copy, ["given"]) == expected
    assert find_others(["**"], copy, ["given"]) == []


def test_outputs_are_told_by_content_and_copied_by_bytes(tmp_path: Path):
    """The stage of a table does not know its line ends; the copy has them."""
    copy = write_files(tmp_path / "copy", {"a.csv": "1,2\r\n"})
    other = write_files(tmp_path / "other", {"a.csv": "1,2\n"})
    stages = [
        output_stages("reference", find_outputs("reference", ["a.csv"], folder, ()), folder)
        for folder in (copy, other)
    ]
    assert stages[0] == stages[1]
    assert [name for name, _ in stages[0]] == ["output:a.csv"]
    take_outputs("reference", {"a.csv": copy / "a.csv"}, copy, tmp_path / "tree")
    assert files_below(tmp_path / "tree") == {"runs/reference/outputs/a.csv": b"1,2\r\n"}


@pytest.mark.hostile
def test_an_output_that_becomes_something_else_is_not_read(tmp_path: Path):
    """Between finding and reading: neither a link nor a pipe is followed or waited for."""
    copy = write_files(tmp_path / "copy", {"a": "1", "b": "2"})
    found = find_outputs("reference", ["*"], copy, ())
    (copy / "a").unlink()
    (copy / "a").symlink_to("b")
    with pytest.raises(CouldNotRunError, match="run 'reference': output 'a' cannot be read: "):
        output_stages("reference", found, copy)
    (copy / "a").unlink()
    os.mkfifo(copy / "a")
    with pytest.raises(CouldNotRunError, match="run 'reference': output 'a' cannot be copied: "):
        take_outputs("reference", found, copy, tmp_path / "tree")


@pytest.mark.hostile
def test_folders_that_are_links_are_not_looked_into(tmp_path: Path):
    """What lies outside is no output, and a circle has an end."""
    write_files(tmp_path / "outside", {"secret": "1"})
    copy = write_files(tmp_path / "copy", {"a": "1"})
    (copy / "link").symlink_to(tmp_path / "outside")
    (copy / "circle").symlink_to(copy)
    assert list(find_outputs("reference", ["a"], copy, ())) == ["a"]
    with pytest.raises(CommandError, match="expected files that match the output 'link/"):
        find_outputs("reference", ["link/secret"], copy, ())
    with pytest.raises(CommandError, match="output 'circle': expected a regular file"):
        find_outputs("reference", ["*"], copy, ())


def test_only_changes_are_told(tmp_path: Path):
    """Other times, modes and further files are none."""
    files = {path: tmp_path / "given" / path for path in ("a", "b")}
    write_files(tmp_path / "given", {"a": "1", "b": "2"})
    lay_out(files, tmp_path / "copy")
    os.utime(tmp_path / "copy" / "a", (0, 0))
    (tmp_path / "copy" / "a").chmod(0o600)
    (tmp_path / "copy" / "more").write_text("3")
    check_unchanged("reference", files, tmp_path / "copy")
    (tmp_path / "copy" / "b").write_text("3")
    with pytest.raises(CommandError, match=r"observed changes of 'b'$"):
        check_unchanged("reference", files, tmp_path / "copy")
