"""What gets to a target gets there whole, over nothing that was not to be replaced."""

from __future__ import annotations

import errno
import os
import sys
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
