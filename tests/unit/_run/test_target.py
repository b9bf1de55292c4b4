"""What gets to a target gets there whole, over nothing that was not to be replaced."""

from __future__ import annotations

import errno
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repropack._run import moves
from repropack._run.target import check_target, publish_directory, publish_file
from repropack.errors import UsageError


@pytest.fixture(params=["renameat2", "without"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the system call, where there is one, and as on a file system that lacks it."""
    if request.param == "without":
        monkeypatch.setattr(moves, "_rename", lambda *_: False)
    return str(request.param)


def folder(path: Path, name: str) -> Path:
    path.mkdir(parents=True)
    (path / name).write_text(name, "utf-8")
    return path


def names(path: Path) -> list[str]:
    return sorted(p.relative_to(path).as_posix() for p in path.rglob("*"))


def test_a_file_goes_where_nothing_is(system: str, tmp_path: Path):
    """It is moved: nothing is left aside."""
    (tmp_path / "aside").write_bytes(b"new")
    publish_file(tmp_path / "aside", tmp_path / "target", force=False)
    assert names(tmp_path) == ["target"]
    assert (tmp_path / "target").read_bytes() == b"new"
    assert (tmp_path / "target").stat().st_nlink == 1


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_file_never_goes_over_something(system: str, tmp_path: Path, kind: str):
    """Whatever came meanwhile stays, a dangling link as well; the new file stays aside."""
    (tmp_path / "aside").write_bytes(b"new")
    target = tmp_path / "target"
    make: dict[str, Callable[[], Any]] = {
        "file": lambda: target.write_bytes(b"mine"),
        "folder": target.mkdir,
        "link": lambda: target.symlink_to("nowhere"),
    }
    make[kind]()
    with pytest.raises(UsageError, match=r"^target: expected a path that does not exist"):
        publish_file(tmp_path / "aside", target, force=False)
    assert names(tmp_path) == ["aside", "target"]
    assert (target.is_symlink(), target.is_dir()) == (kind == "link", kind == "folder")


def test_a_file_replaces_another_with_force(tmp_path: Path):
    """In one move."""
    (tmp_path / "aside").write_bytes(b"new")
    (tmp_path / "target").write_bytes(b"old")
    publish_file(tmp_path / "aside", tmp_path / "target", force=True)
    assert names(tmp_path) == ["target"]
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_file_goes_where_links_are_impossible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The last way is a rename, after a look; what stands there is still not replaced."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(moves, "_rename", lambda *_: False)
    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "aside").write_bytes(b"new")
    publish_file(tmp_path / "aside", tmp_path / "target", force=False)
    (tmp_path / "aside").write_bytes(b"newer")
    with pytest.raises(UsageError):
        publish_file(tmp_path / "aside", tmp_path / "target", force=False)
    assert (tmp_path / "target").read_bytes() == b"new"


@pytest.mark.parametrize("made", [True, False], ids=["empty-folder", "nothing"])
def test_a_directory_never_goes_over_a_folder_that_came(system: str, tmp_path: Path, made: bool):
    """Not even over an empty one, which a plain rename would replace without a word."""
    tree, target = folder(tmp_path / "work/tree", "new"), tmp_path / "target"
    if not made:
        publish_directory(tree, target, force=False)
        assert names(tmp_path) == ["target", "target/new", "work"]
        return
    target.mkdir()
    with pytest.raises(UsageError, match=r"^target: expected a folder that does not exist"):
        publish_directory(tree, target, force=False)
    assert names(tmp_path) == ["target", "work", "work/tree", "work/tree/new"]


def test_directories_are_exchanged(system: str, tmp_path: Path):
    """The new one stands there, and nothing is left of the old."""
    tree = folder(tmp_path / "work/tree", "new")
    folder(tmp_path / "target", "old")
    publish_directory(tree, tmp_path / "target", force=True)
    assert names(tmp_path) == ["target", "target/new", "work"]


def test_with_the_system_call_the_target_is_never_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """One exchange, and no rename that could leave a gap."""
    if sys.platform != "linux":
        pytest.skip("needs renameat2, which only Linux has")
    monkeypatch.setattr(Path, "rename", lambda *_: pytest.fail("renamed in two steps"))
    tree = folder(tmp_path / "work/tree", "new")
    folder(tmp_path / "target", "old")
    publish_directory(tree, tmp_path / "target", force=True)
    assert names(tmp_path / "target") == ["new"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("failing", [1, 2])
def test_a_directory_that_cannot_be_moved_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, error: type
):
    """Between moving the old away and the new in place, a failure puts the old back."""
    tree = folder(tmp_path / "work/tree", "new")
    folder(tmp_path / "target", "old")
    rename, calls = Path.rename, []

    def renaming(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == failing:
            raise error
        return rename(self, target)

    monkeypatch.setattr(moves, "_rename", lambda *_: False)
    monkeypatch.setattr(Path, "rename", renaming)
    with pytest.raises(error):
        publish_directory(tree, tmp_path / "target", force=True)
    monkeypatch.undo()
    assert names(tmp_path) == ["target", "target/old", "work", "work/tree", "work/tree/new"]


def test_another_error_of_the_system_call_is_no_fallback(tmp_path: Path):
    """What is not there cannot be moved, by whatever call."""
    with pytest.raises(FileNotFoundError):
        publish_file(tmp_path / "none", tmp_path / "target", force=False)
    assert names(tmp_path) == []


def test_a_name_that_is_too_long_is_wrong_use(tmp_path: Path):
    """Before anything runs."""
    with pytest.raises(UsageError, match="cannot be written there: File name too long"):
        check_target(tmp_path / ("x" * 300), force=False, directory=False)


OURS, OTHER = '{"entries":[],"format":"replay-package"}\n', '{"manifest_version": 3}'


def zipped(path: Path, name: str, text: str, method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(name, text)
        archive.writestr("more", "x" * 1000)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_package_may_be_replaced_also_a_torn_one(tmp_path: Path, method: int):
    """Its manifest comes first and tells what it is."""
    package = zipped(tmp_path / "p.zip", "manifest.json", OURS, method)
    check_target(package, force=True, directory=False)
    os.truncate(package, 200)
    check_target(package, force=True, directory=False)


@pytest.mark.parametrize(
    ("name", "text", "method"),
    [
        ("manifest.json", OTHER, zipfile.ZIP_STORED),
        ("manifest.json", OTHER, zipfile.ZIP_DEFLATED),
        ("manifest.json", "[" * 100_000, zipfile.ZIP_STORED),
        ("manifest.json", OURS, zipfile.ZIP_BZIP2),
        ("manifest.json.bak", OURS, zipfile.ZIP_STORED),
        ("0", OURS, zipfile.ZIP_STORED),
    ],
)
def test_a_zip_of_others_is_never_replaced(tmp_path: Path, name: str, text: str, method: int):
    """Browser extensions and others begin with a manifest.json as well."""
    other = zipped(tmp_path / "p.zip", name, text, method)
    with pytest.raises(UsageError, match="expected a package's zip to replace, observed something"):
        check_target(other, force=True, directory=False)


def test_a_file_that_begins_like_a_zip_is_never_replaced(tmp_path: Path):
    (tmp_path / "mine").write_bytes(b"PK\3\4" + bytes(26) + b"manifest.json and what I wrote")
    with pytest.raises(UsageError, match="expected a package's zip to replace"):
        check_target(tmp_path / "mine", force=True, directory=False)


@pytest.mark.parametrize("own", ["notes.txt", ".git/HEAD", "source/mine.py"])
def test_a_package_with_files_of_the_user_is_never_replaced(tmp_path: Path, own: str):
    """They would be gone with it."""
    package = folder(tmp_path / "lab", "manifest.json")
    (package / "manifest.json").write_text(OURS, "utf-8")
    check_target(package, force=True, directory=True)
    (package / own).parent.mkdir(exist_ok=True)
    (package / own).write_text("mine", "utf-8")
    with pytest.raises(UsageError) as caught:
        check_target(package, force=True, directory=True)
    assert caught.value.message == (
        f"lab: expected a package directory to replace, observed {own!r} in it, which its manifest "
        "does not list"
    )


@pytest.mark.parametrize("path", ["new/..", "/"])
def test_a_target_has_a_name(path: str):
    """Else the work is done before it turns out that there is no place for it."""
    with pytest.raises(UsageError, match="expected a path that ends in a name"):
        check_target(Path(path), force=True, directory=True)
