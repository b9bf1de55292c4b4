"""Whatever a program has made of a folder, it can be removed; and a change in one is noticed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from repropack._run.folders import digest_tree, new_folder, new_socket_folder, remove_tree
from repropack.errors import CouldNotRunError


def make_deep(folder: Path, depth: int) -> None:
    """Folders within each other, deeper than any path may be long."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 20, dir_fd=here)
        below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("last", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_folders_deeper_than_a_path_is_long_are_removed(tmp_path: Path) -> None:
    """Neither recursion nor the length of a path ends it."""
    root = tmp_path / "root"
    root.mkdir()
    make_deep(root, 3000)
    assert remove_tree(root)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_in_the_way_do_not_matter(tmp_path: Path) -> None:
    """What is moved up gets a name that is free, also beside names like it."""
    root = tmp_path / "root"
    for path in ("a/b/c", ".removed-1/b", ".removed-2", "3", "-1/x", "\udcff/y", "new\nline/z"):
        (root / path).mkdir(parents=True)
        (root / path / "file").touch()
    assert remove_tree(root)
    assert list(tmp_path.iterdir()) == []


def test_locked_folders_and_odd_files_are_removed(tmp_path: Path) -> None:
    """Folders without rights, pipes, sockets' places, sparse files."""
    root = tmp_path / "root"
    (root / "locked" / "in").mkdir(parents=True)
    (root / "locked" / "in" / "file").touch()
    os.mkfifo(root / "pipe")
    with (root / "sparse").open("wb") as stream:
        stream.truncate(1 << 40)
    for folder in ("locked/in", "locked"):
        (root / folder).chmod(0)
    root.chmod(0)
    assert remove_tree(root)
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed(tmp_path: Path) -> None:
    """A link is removed, and what it points to stays as it is."""
    kept = tmp_path / "kept"
    (kept / "below").mkdir(parents=True)
    (kept / "file").write_text("kept", "utf-8")
    kept.chmod(0o500)
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    for name in ("folder", "in/folder"):
        (root / name).symlink_to(kept)
    (root / "file").symlink_to(kept / "file")
    (root / "dangling").symlink_to("nowhere")
    assert remove_tree(root)
    assert (kept / "file").read_text("utf-8") == "kept"
    assert sorted(path.name for path in kept.iterdir()) == ["below", "file"]
    assert kept.stat().st_mode & 0o777 == 0o500


def test_what_is_no_folder_is_unlinked(tmp_path: Path) -> None:
    """A link to a folder is a link; what is absent is gone already."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to("kept")
    assert remove_tree(tmp_path / "link")
    assert remove_tree(tmp_path / "absent")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_what_cannot_be_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is raised: whoever clears away goes on."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").touch()

    def refuse(name: str, *, dir_fd: int) -> None:
        raise PermissionError(name)

    monkeypatch.setattr(os, "unlink", refuse)
    assert not remove_tree(root)
    assert (root / "file").exists()


def _fill(folder: Path) -> Path:
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "b.py").write_text("x = 1\n", "utf-8")
    (folder / "link").symlink_to("a")
    return folder


def test_equal_folders_have_equal_digests(tmp_path: Path) -> None:
    """Wherever they lie, and whatever times they have."""
    first, second = _fill(tmp_path / "first"), _fill(tmp_path / "second")
    os.utime(second / "a" / "b.py", (1, 1))
    assert digest_tree(first) == digest_tree(second)
    assert digest_tree(tmp_path / "first" / "a") != digest_tree(first)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "a" / "b.py").write_text("x = 2\n", "utf-8"),
        lambda folder: (folder / "a" / "b.py").rename(folder / "a" / "c.py"),
        lambda folder: (folder / "a" / "new.py").touch(),
        lambda folder: (folder / "empty").mkdir(),
        lambda folder: ((folder / "link").unlink(), (folder / "link").symlink_to("b")),
        lambda folder: ((folder / "link").unlink(), (folder / "link").write_text("a", "utf-8")),
    ],
    ids=["bytes", "name", "file", "folder", "link", "kind"],
)
def test_a_change_changes_the_digest(tmp_path: Path, change) -> None:
    """Bytes, names, links and kinds of entries."""
    first, second = _fill(tmp_path / "first"), _fill(tmp_path / "second")
    change(second)
    assert digest_tree(first) != digest_tree(second)


def test_a_new_folder_is_for_one_user_and_has_no_link_in_its_path(tmp_path: Path) -> None:
    """Its name begins as asked for, and is another each time."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    first, second = (new_folder("lab-", tmp_path / "link") for _ in range(2))
    assert first.parent == tmp_path.resolve() / "real"
    assert first.name.startswith("lab-")
    assert first != second
    assert first.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_no_worker_can_be_told_of_is_refused(tmp_path: Path) -> None:
    """Before anything is made in it, with the way out."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    odd.mkdir()
    with pytest.raises(CouldNotRunError, match=r"\\xff: expected a folder .* UTF-8") as caught:
        new_folder("lab-", odd)
    assert caught.value.hint is not None
    assert "TMPDIR" in caught.value.hint
    assert list(odd.iterdir()) == []


@pytest.mark.slow
def test_verbs_say_so_in_one_line(lab_package: Path, tmp_path: Path) -> None:
    """A temporary folder or a target that is not UTF-8 ends with a line and no traceback."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    odd.mkdir()
    for arguments in (["verify", str(lab_package)], ["build", "-o", str(odd / "lab.zip")]):
        done = subprocess.run(
            [sys.executable, "-m", "repropack", *arguments],
            env=os.environ | {"TMPDIR": str(odd)},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 4
        shown = done.stderr + done.stdout
        assert b"expected a folder to work in whose path is UTF-8" in b" ".join(shown.split())
        assert b"Traceback" not in shown
    assert list(odd.iterdir()) == []


def test_a_folder_for_sockets_has_a_short_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deep folder for temporary files is not used for it; a socket fits in either."""
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    folder = new_socket_folder("lab-")
    try:
        assert len(str(folder)) < 90
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "named"))
    finally:
        assert remove_tree(folder)
    assert list(deep.iterdir()) == []


def test_an_interrupt_waits_until_a_folder_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever presses Ctrl-C while it is removed is not left with half of it."""
    root = tmp_path / "root"
    for name in ("a", "b"):
        (root / name).mkdir(parents=True)
    rmdir, calls = os.rmdir, []

    def interrupted(*given: Any, **named: Any) -> None:
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        rmdir(*given, **named)

    monkeypatch.setattr(os, "rmdir", interrupted)
    with pytest.raises(KeyboardInterrupt):
        remove_tree(root)
    assert list(tmp_path.iterdir()) == []
