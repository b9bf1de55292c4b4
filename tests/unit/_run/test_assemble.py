"""A package gets to its target whole or not at all, and what stood there is never lost."""

from __future__ import annotations

import json
import os
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from repropack._format.canonical import encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.zip_layout import ZipMember, local_header
from repropack._read.package import open_package
from repropack._run import assemble
from repropack._run.assemble import (
    Supplement,
    Written,
    check_written,
    link_files,
    list_entries,
    publish,
    write_documents,
    write_package,
)
from repropack.errors import CouldNotRunError, UnsafeEntryError, UsageError
from repropack.models.authored import Author
from repropack.models.manifest import PackageMetadata

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


def put(
    tree: Path,
    target: Path,
    *,
    directory: bool = False,
    compress: bool = False,
    force: bool = False,
) -> Written:
    """Write and publish a tree, without reading it back: it is no package."""
    written = write_package(tree, Supplement(METADATA), directory=directory, compress=compress)
    publish(written, target, force=force, directory=directory)
    return written


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


def old_zip(path: Path) -> bytes:
    """Something at ``path`` that begins like a package, and may be replaced."""
    manifest = b'{"format": "replay-package"}'
    size = len(manifest)
    member = ZipMember("manifest.json", size, size, 0, deflated=False, executable=False, offset=0)
    path.write_bytes(local_header(member) + manifest)
    return path.read_bytes()


def old_directory(path: Path) -> None:
    row = {"digest": digest_bytes(b""), "path": "source/old.py"}
    manifest = encode_canonical({"entries": [row], "format": "replay-package"})
    write_documents(path, {"manifest.json": manifest, "source/old.py": b""})


BREAKABLE = ["_write_zip", "list_entries", "encode_canonical", "ArchiveWriter", "Manifest"]


@pytest.mark.parametrize("name", [*BREAKABLE, "fsync", "fchmod", "replace"])
def test_a_zip_that_cannot_be_published_leaves_the_old_one(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    """Whatever fails on the way, the target is what it was before."""
    old = old_zip(tmp_path / "tiny.zip")
    place: Any = {"fsync": os, "fchmod": os, "replace": Path}.get(name, assemble)
    monkeypatch.setattr(place, name, breaking)
    with pytest.raises(DiskError):
        put(tree, tmp_path / "tiny.zip", force=True)
    monkeypatch.undo()
    assert (tmp_path / "tiny.zip").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == [".work", "tiny.zip"]


@pytest.mark.parametrize("name", ["_fix_modes", "list_entries", "encode_canonical", "fsync"])
def test_a_directory_that_cannot_be_published_leaves_the_old_one(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    """Nothing is moved before everything is written."""
    old_directory(tmp_path / "tiny")
    monkeypatch.setattr(os if name == "fsync" else assemble, name, breaking)
    with pytest.raises(DiskError):
        put(tree, tmp_path / "tiny", directory=True, force=True)
    monkeypatch.undo()
    assert (tmp_path / "tiny/source/old.py").is_file()


def test_a_package_replaces_what_stood_there(tree: Path, tmp_path: Path):
    """A new directory holds nothing of the old one, of which nothing is left."""
    old_directory(tmp_path / "tiny")
    put(tree, tmp_path / "tiny", directory=True, force=True)
    assert not (tmp_path / "tiny/source/old.py").exists()
    assert (tmp_path / "tiny/source/tiny_lab.py").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".work", "tiny"]
    assert list((tmp_path / ".work").iterdir()) == []


def test_files_are_linked_into_a_tree_and_nothing_is_changed(tree: Path, tmp_path: Path):
    """The same files under the same paths; what is not wanted is left out."""
    other = tmp_path / ".work/assembled"
    link_files(tree, other, lambda path: not path.startswith("source/run"))
    assert sorted(p.relative_to(other).as_posix() for p in other.rglob("*") if p.is_file()) == [
        "README.md",
        "plan.json",
        "source/tiny_lab.py",
    ]
    assert (other / "plan.json").samefile(tree / "plan.json")
    assert {path: (tree / path).read_bytes() for path in FILES} == FILES


def test_files_are_copied_where_they_cannot_be_linked(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Bytes and executable bit come along."""
    monkeypatch.setattr(os, "link", breaking)
    other = tmp_path / ".work/assembled"
    link_files(tree, other)
    assert {path: (other / path).read_bytes() for path in FILES} == FILES
    assert (other / "source/run.sh").stat().st_mode & 0o777 == 0o700
    assert not (other / "plan.json").samefile(tree / "plan.json")


def test_a_package_that_is_not_what_was_written_is_not_published(lab_package: Path, tmp_path: Path):
    """One byte that the disk has not kept is seen when the package is read back."""
    aside = tmp_path / "package.zip"
    data = bytearray(lab_package.read_bytes())
    with open_package(lab_package) as package:
        digest = package.package_digest
    aside.write_bytes(data)
    check_written(Written(aside, digest, digest, len(data)))
    data[len(data) // 2] ^= 1
    aside.write_bytes(data)
    with pytest.raises(CouldNotRunError, match=r"^read back before it was published: entry '"):
        check_written(Written(aside, digest, digest, len(data)))


@pytest.mark.parametrize("kept", [0, 1, 100, -5], ids=["nothing", "a-byte", "some", "all-but-5"])
def test_a_write_that_was_cut_is_seen(lab_package: Path, tmp_path: Path, kept: int):
    """A file that is shorter than it was written is no package."""
    aside = tmp_path / "package.zip"
    with open_package(lab_package) as package:
        digest = package.package_digest
    aside.write_bytes(lab_package.read_bytes()[:kept])
    with pytest.raises(CouldNotRunError, match=r"^read back before it was published"):
        check_written(Written(aside, digest, digest, 1))
