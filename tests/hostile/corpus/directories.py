"""T2, T4, T10 and T15 in a directory: links, devices, fifos, sockets, files more and less."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    DIRECTORY,
    FORMAT,
    INTEGRITY,
    LIMIT,
    UNSAFE,
    Case,
    Write,
    lie,
    placed,
    rows,
)

ROOT = "root"
"""What a machine must have for cases that make devices."""


def at(change: Callable[[Path], object]) -> Write:
    """Change the folder of an honest package."""
    return placed(lambda base, folder: change(folder))


def link(path: str, target: str) -> Write:
    """A link in place of a file, or where none was."""

    def change(folder: Path) -> None:
        (folder / path).unlink(missing_ok=True)
        (folder / path).symlink_to(target)

    return at(change)


def more(path: str, content: bytes = b"x = 1\n") -> Write:
    """A file more."""

    def change(folder: Path) -> None:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    return at(change)


def bytes_name(name: bytes) -> Write:
    """A file more whose name is bytes."""

    def change(folder: Path) -> None:
        handle = os.open(
            os.fsencode(folder / "source") + b"/" + name, os.O_CREAT | os.O_WRONLY, 0o644
        )
        os.close(handle)

    return at(change)


def changed(path: str, change: Callable[[bytes], bytes]) -> Write:
    """A file of another content."""
    return at(lambda folder: (folder / path).write_bytes(change((folder / path).read_bytes())))


def sparse(path: str, size: int) -> Write:
    """A file that is large and takes no room."""

    def change(folder: Path) -> None:
        with (folder / path).open("ab") as stream:
            stream.truncate(size)

    return at(change)


def node(kind: int) -> Write:
    """A fifo or device; a device is the one that swallows everything."""
    return at(lambda folder: os.mknod(folder / "source" / "zz", kind | 0o644, os.makedev(1, 3)))


def fifo(path: str) -> Write:
    def change(folder: Path) -> None:
        (folder / path).unlink(missing_ok=True)
        os.mkfifo(folder / path)

    return at(change)


def listening(folder: Path) -> None:
    """A socket; bound by a short name, for its path may be no longer than 107 bytes."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{handle}/zz")
    finally:
        os.close(handle)


def folder_for_file(path: str) -> Write:
    def change(folder: Path) -> None:
        (folder / path).unlink()
        (folder / path).mkdir()

    return at(change)


def file_for_folder(folder: Path) -> None:
    for path in sorted((folder / "figures").iterdir()):
        path.unlink()
    (folder / "figures").rmdir()
    (folder / "figures").write_bytes(b"x")


def deep(levels: int) -> Callable[[Path], None]:
    """Folders in folders, made one from inside the other: no path can be that long."""

    def change(folder: Path) -> None:
        handle = os.open(folder / "source", os.O_RDONLY)
        for _ in range(levels):
            os.mkdir("d", dir_fd=handle)
            inner = os.open("d", os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle = inner
        os.close(handle)

    return change


def looped(folder: Path) -> None:
    (folder / "source" / "loop").symlink_to("..")


def moved_away(base: Base, folder: Path) -> None:
    """A folder that is a link to where its files went."""
    (folder / "runs").rename(folder.parent / "elsewhere")
    (folder / "runs").symlink_to("../elsewhere")


def linked_copy(base: Base, folder: Path) -> None:
    """A link to a file outside that has the very same content."""
    (folder.parent / "copy").write_bytes((folder / "LICENSE").read_bytes())
    (folder / "LICENSE").unlink()
    (folder / "LICENSE").symlink_to("../copy")


def swapped(folder: Path) -> None:
    one, other = folder / "LICENSE", folder / "README.md"
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def emptied(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


FOLDERS = rows(
    "T2",
    "directory",
    lie("link-inside", "A file is a link to another one of the package.", link("LICENSE", "README.md"), UNSAFE, "a link"),
    lie("link-same-content", "A file is a link to a copy of itself.", placed(linked_copy), UNSAFE, "a link"),
    lie("link-outside", "A file is a link to the reader's files.", link("README.md", "/etc/passwd"), UNSAFE, "a link"),
    lie("link-dangling", "A link to nothing.", link("source/zz.py", "/nowhere"), UNSAFE, "a link"),
    lie("link-itself", "A link to itself.", link("source/zz.py", "zz.py"), UNSAFE, "a link"),
    lie("link-memory", "A file is a link to the reader's memory.", link("README.md", "/proc/self/mem"), UNSAFE, "a link"),
    lie("link-endless", "A file is a link to a file that never ends.", link("README.md", "/dev/zero"), UNSAFE, "a link"),
    lie("link-manifest", "The manifest is a link.", link("manifest.json", "plan.json"), UNSAFE, "a link"),
    lie("link-folder", "A folder is a link to where its files went.", placed(moved_away), UNSAFE, "a link"),
    lie("link-loop", "A folder holds itself.", at(looped), UNSAFE, "a link"),
    lie("fifo", "A fifo that waits for ever.", fifo("source/zz"), UNSAFE, "a fifo"),
    lie("fifo-listed", "A listed file is a fifo.", fifo("README.md"), UNSAFE, "a fifo"),
    lie("fifo-manifest", "The manifest is a fifo.", fifo("manifest.json"), UNSAFE, "a fifo"),
    lie("socket", "A socket.", at(listening), UNSAFE, "a socket"),
    lie("device", "A device.", node(stat.S_IFCHR), UNSAFE, "a device", needs=ROOT),
    lie("more", "A file that no row lists.", more("source/numpy.py"), INTEGRITY, "unexpected", threat="T10"),
    lie("more-top", "A file beside the documents.", more("notes.txt"), INTEGRITY, "unexpected", threat="T10"),
    lie("more-bytecode", "Bytecode that Python left.", more("__pycache__/__main__.cpython-311.pyc"), INTEGRITY, "unexpected", threat="T10"),
    lie("more-hidden", "A file that folders of a desk leave.", more(".DS_Store"), INTEGRITY, "unexpected", threat="T10"),
    lie("more-backup", "A file that an editor left.", more("plan.json~"), UNSAFE, "U+007E", threat="T10"),
    lie("more-git", "The package is in a repository.", more(".git/config"), UNSAFE, "folder of git's", threat="T10"),
    lie("more-empty", "A file of nothing.", more("source/__init__.py", b""), INTEGRITY, "unexpected", threat="T10"),
    lie("less", "A listed file is missing.", at(lambda f: (f / "LICENSE").unlink()), INTEGRITY, "missing", threat="T10"),
    lie("less-manifest", "The manifest is missing.", at(lambda f: (f / "manifest.json").unlink()), FORMAT, "manifest.json", threat="T10"),
    lie("less-all", "An empty folder.", at(emptied), FORMAT, "manifest.json", threat="T10"),
    lie("edited", "A file was edited.", changed("README.md", lambda d: d + b"\n"), INTEGRITY, "differs", threat="T10"),
    lie("edited-same-size", "A file was edited and kept its size.", changed("README.md", lambda d: d[:-2] + b"!\n"), INTEGRITY, "differs", threat="T10"),
    lie("cut", "A file was cut.", changed("plan.json", lambda d: d[:-1]), INTEGRITY, "differs", threat="T10"),
    lie("emptied", "A file is empty.", changed("results.json", lambda d: b""), INTEGRITY, "differs", threat="T10"),
    lie("zeros", "A file never reached the disk.", changed("results.json", lambda d: bytes(len(d))), INTEGRITY, "differs", threat="T10"),
    lie("swapped", "Two files have each other's content.", at(swapped), INTEGRITY, "differs", threat="T10", faults=2),
    lie("executable", "A text can be executed.", at(lambda f: (f / "LICENSE").chmod(0o755)), INTEGRITY, "executable"),
    lie("not-executable", "A script cannot be executed.", at(lambda f: (f / "source/tools/plot.sh").chmod(0o644)), INTEGRITY, "executable", bases=("own",)),
    lie("folder-for-file", "A listed file is a folder.", folder_for_file("LICENSE"), INTEGRITY, "missing"),
    lie("file-for-folder", "A folder is a file.", at(file_for_folder), INTEGRITY, "figures", faults=None),
    lie("manifest-folder", "The manifest is a folder.", folder_for_file("manifest.json"), FORMAT, "manifest.json"),
    lie("deep", "Folders deeper than is allowed.", at(deep(40)), UNSAFE, "depth"),
    lie("very-deep", "Four hundred folders in each other.", at(deep(400)), UNSAFE, "depth", threat="T5"),
    lie("name-bytes", "A name that is no text.", bytes_name(b"a\xff.py"), UNSAFE, "encoding", threat="T1"),
    lie("name-escape", "A name that clears the screen.", bytes_name(b"\x1b[2J.py"), UNSAFE, "U+001B", threat="T12"),
    lie("name-line", "A name of two lines, the second a verdict.", bytes_name(b"a\nidentical"), UNSAFE, "U+000A", threat="T12"),
    lie("name-backslash", "A name that is a path elsewhere.", bytes_name(b"..\\..\\evil.py"), UNSAFE, "U+005C", threat="T1"),
    lie("name-option", "A name that is an option.", bytes_name(b"-rf"), INTEGRITY, "unexpected", threat="T1"),
    lie("name-device", "A name that is a device elsewhere.", bytes_name(b"aux.py"), UNSAFE, "Windows device name", threat="T1"),
    lie("name-decomposed", "A name in another form of Unicode.", bytes_name("e\u0301.py".encode()), UNSAFE, "NFC", threat="T4"),
    lie("case-files", "Two files differ in case alone.", more("LICENCE/a", b""), INTEGRITY, "unexpected", threat="T4"),
    lie("case-documents", "A second README in another case.", more("Readme.md"), UNSAFE, "unique under case folding", threat="T4"),
    lie("sparse", "A terabyte that takes no room, listed nowhere.", sparse("source/zz.bin", 2**40), INTEGRITY, "unexpected", threat="T5"),
    lie("sparse-manifest", "A manifest of a terabyte.", sparse("manifest.json", 2**40), LIMIT, "max_manifest_bytes", threat="T5"),
    lie("sparse-document", "A document of a terabyte.", sparse("plan.json", 2**40), INTEGRITY, "plan.json", threat="T5"),
)  # fmt: skip

CASES: tuple[Case, ...] = tuple(replace(case, forms=DIRECTORY) for case in FOLDERS)
