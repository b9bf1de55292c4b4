"""A package gets to its target whole or not at all, and what stood there is never lost."""

from __future__ import annotations

import json
import os
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from repropack._run import assemble
from repropack._run.assemble import list_entries, publish, write_documents
from repropack.errors import UnsafeEntryError, UsageError
from repropack.models.manifest import Author, PackageMetadata

METADATA = PackageMetadata(
    name="tiny",
    version="1.0.0",
    title="Tiny",
    license="MIT",
    date=date(2026, 11, 30),
    authors=(Author(name="A. Tester"),),
)
FILES = {
    "plan.json": b"{}\n",
    "README.md": b"# Tiny\n",
    "source/tiny_lab.py": b"pass\n",
    "source/run.sh": b"#!/bin/sh\n",
}


class DiskError(OSError):
    """Stands for a disk that fails."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree, below a folder beside the target."""
    tree = tmp_path / ".work" / "tree"
    write_documents(tree, FILES)
    (tree / "source/run.sh").chmod(0o700)
    (tree / "source/tiny_lab.py").chmod(0o600)
    return tree


def put(tree: Path, target: Path, **options: bool) -> assemble.Published:
    return publish(tree, METADATA, target, **{"directory": False, "compress": False, **options})


def test_entries_are_sorted_and_described(tree: Path):
    """Every file but the manifest, by the bytes of its path, with role, type and executable."""
    (tree / "manifest.json").write_bytes(b"old")
    rows = [
        (entry.path, entry.size, entry.role, entry.media_type, entry.executable)
        for entry in list_entries(tree)
    ]
    assert rows == [
        ("README.md", 7, "readme", "text/markdown", False),
        ("plan.json", 3, "plan", "application/json", False),
        ("source/run.sh", 10, "source", "application/octet-stream", True),
        ("source/tiny_lab.py", 5, "source", "text/x-python", False),
    ]


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("other.txt", UsageError, "entry 'other.txt': no entry may stand at this path"),
        ("runs/a/b.txt", UsageError, "entry 'runs/a/b.txt': no entry may stand at this path"),
        ("source/aux.py", UnsafeEntryError, None),
        ("source/TINY_LAB.py", UnsafeEntryError, None),
    ],
)
def test_a_file_that_no_package_can_have_is_refused(
    tree: Path, path: str, error: type[Exception], message: str | None
):
    """Foreign places, reserved names and names that differ in case alone never get in."""
    write_documents(tree, {path: b""})
    with pytest.raises(error) as caught:
        list_entries(tree)
    assert message in (None, str(caught.value))


def test_a_zip_is_published_with_fixed_modes(tree: Path, tmp_path: Path):
    """The zip is 0644 whatever the umask; the manifest is its first entry and names the rest."""
    before = os.umask(0o077)
    try:
        published = put(tree, tmp_path / "tiny.zip")
    finally:
        os.umask(before)
    assert (tmp_path / "tiny.zip").stat().st_mode & 0o777 == 0o644
    assert published.size_bytes == (tmp_path / "tiny.zip").stat().st_size
    with zipfile.ZipFile(tmp_path / "tiny.zip") as package:
        names = package.namelist()
        manifest = json.loads(package.read("manifest.json"))
    assert names == [
        "manifest.json",
        "README.md",
        "plan.json",
        "source/run.sh",
        "source/tiny_lab.py",
    ]
    assert [entry["path"] for entry in manifest["entries"]] == names[1:]


def test_a_directory_is_published_with_fixed_modes(tree: Path, tmp_path: Path):
    """Folders are 0755, files 0644 or 0755, whatever the umask was."""
    (tree / "source").chmod(0o700)
    published = put(tree, tmp_path / "tiny", directory=True)
    modes = {
        path.relative_to(tmp_path / "tiny").as_posix(): path.stat().st_mode & 0o777
        for path in (tmp_path / "tiny").rglob("*")
    }
    assert modes == {
        "README.md": 0o644,
        "manifest.json": 0o644,
        "plan.json": 0o644,
        "source": 0o755,
        "source/run.sh": 0o755,
        "source/tiny_lab.py": 0o644,
    }
    assert (tmp_path / "tiny").stat().st_mode & 0o777 == 0o755
    assert not tree.exists()
    sizes = sum(path.stat().st_size for path in (tmp_path / "tiny").rglob("*") if path.is_file())
    assert published.size_bytes == sizes


def test_zip_and_directory_have_the_same_digests(tree: Path, tmp_path: Path):
    """The package digest names the tree, not the container, compressed or not."""
    plain = put(tree, tmp_path / "a.zip")
    compressed = put(tree, tmp_path / "b.zip", compress=True)
    directory = put(tree, tmp_path / "c", directory=True)
    digests = {(one.package_digest, one.evidence_digest) for one in (plain, compressed, directory)}
    assert len(digests) == 1
    assert (tmp_path / "a.zip").read_bytes() != (tmp_path / "b.zip").read_bytes()


def breaking(*arguments: Any, **options: Any) -> Any:
    raise DiskError("the disk is gone")


BREAKABLE = ["_write_zip", "list_entries", "encode_canonical", "ArchiveWriter", "Manifest"]


@pytest.mark.parametrize("name", [*BREAKABLE, "fsync", "chmod", "replace"])
def test_a_zip_that_cannot_be_published_leaves_the_old_one(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    """Whatever fails on the way, the target is what it was before."""
    (tmp_path / "tiny.zip").write_bytes(b"old")
    place: Any = {"fsync": os, "chmod": Path, "replace": Path}.get(name, assemble)
    monkeypatch.setattr(place, name, breaking)
    with pytest.raises(DiskError):
        put(tree, tmp_path / "tiny.zip")
    monkeypatch.undo()
    assert (tmp_path / "tiny.zip").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".work", "tiny.zip"]


@pytest.mark.parametrize("name", ["_fix_modes", "list_entries", "encode_canonical", "fsync"])
def test_a_directory_that_cannot_be_published_leaves_the_old_one(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    """Nothing is moved before everything is written."""
    write_documents(tmp_path / "tiny", {"manifest.json": b"old"})
    monkeypatch.setattr(os if name == "fsync" else assemble, name, breaking)
    with pytest.raises(DiskError):
        put(tree, tmp_path / "tiny", directory=True)
    monkeypatch.undo()
    assert (tmp_path / "tiny/manifest.json").read_bytes() == b"old"


@pytest.mark.parametrize("error", [DiskError, KeyboardInterrupt])
@pytest.mark.parametrize("failing", [1, 2])
def test_a_directory_that_cannot_be_moved_is_put_back(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, error: type
):
    """Between moving the old away and the new in place, a failure puts the old back."""
    write_documents(tmp_path / "tiny", {"manifest.json": b"old"})
    rename, calls = Path.rename, []

    def renaming(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == failing:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renaming)
    with pytest.raises(error):
        put(tree, tmp_path / "tiny", directory=True)
    monkeypatch.undo()
    assert (tmp_path / "tiny/manifest.json").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".work", "tiny"]


def test_a_package_replaces_what_stood_there(tree: Path, tmp_path: Path):
    """A new directory holds nothing of the old one."""
    write_documents(tmp_path / "tiny", {"manifest.json": b"old", "source/old.py": b""})
    put(tree, tmp_path / "tiny", directory=True)
    assert not (tmp_path / "tiny/source/old.py").exists()
    assert (tmp_path / "tiny/source/tiny_lab.py").is_file()
    assert not (tmp_path / ".work/former").exists()
