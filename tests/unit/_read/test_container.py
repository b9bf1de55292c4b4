"""A package's files: from a zip, from a directory, and what is refused in both."""

from __future__ import annotations

import io
import os
import socket
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from repropack._format.archive_writer import ArchiveWriter
from repropack._format.limits import Limits
from repropack._format.npz import read_npz, write_npz
from repropack._read.container import (
    Container,
    DirectoryContainer,
    ZipContainer,
    open_container,
)
from repropack.errors import (
    LimitExceededError,
    PackageFormatError,
    RepropackError,
    UnsafeEntryError,
    UsageError,
)

FILES = {
    "manifest.json": b"{}",
    "README.md": b"read me",
    "runs/reference/kept.npz": b"npz",
    "source/bin/run": b"#!/bin/sh\n",
    "source/bin-old.py": b"",
    "source/données.py": b"x = 1\n",
}
ORDER = (
    "manifest.json",
    "README.md",
    "runs/reference/kept.npz",
    "source/bin-old.py",
    "source/bin/run",
    "source/données.py",
)


def make_zip(path: Path, names: tuple[str, ...] = ORDER, *, deflate: bool = False) -> Path:
    with path.open("wb") as stream:
        writer = ArchiveWriter(stream)
        for name in names:
            content = FILES.get(name, b"")
            writer.add(name, content, executable=name == "source/bin/run", deflate=deflate)
        writer.finish()
    return path


def make_directory(path: Path) -> Path:
    for name, content in FILES.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o755 if name == "source/bin/run" else 0o644)
    return path


@pytest.fixture(params=["zip", "directory"])
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "zip":
        return make_zip(tmp_path / "p.zip")
    return make_directory(tmp_path / "p")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_directory(tmp_path / "p")


@pytest.fixture(autouse=True)
def open_files() -> object:
    """Every test closes what it opened, also where opening was refused."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def refusal(path: Path, limits: Limits = Limits()) -> RepropackError:  # noqa: B008
    with pytest.raises(RepropackError) as caught:
        open_container(path, limits)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


# ---------------------------------------------------------------- both forms


def test_same_tree(package: Path) -> None:
    """Zip and directory tell the same paths in the same order, sizes, modes and contents."""
    with open_container(package) as container:
        assert container.paths == ORDER
        assert [container.size(path) for path in ORDER] == [2, 7, 3, 0, 10, 6]
        assert [path for path in ORDER if container.executable(path)] == ["source/bin/run"]
        for path in ORDER:
            with container.open(path) as stream:
                assert stream.read() == FILES[path]
                stream.seek(1)
                assert stream.read() == FILES[path][1:]


def test_unknown_path(package: Path) -> None:
    """Asking for what is not there is wrong use, whatever is asked."""
    with open_container(package) as container:
        for ask in (container.size, container.executable, container.open):
            with pytest.raises(UsageError) as caught:
                ask("../p")
            assert str(caught.value) == (
                f"{package}: entry: expected one of its 6 entries, observed '../p'"
            )


def test_max_entries(package: Path) -> None:
    """A container of too many entries is refused."""
    error = refusal(package, Limits(max_entries=5))
    assert isinstance(error, LimitExceededError)
    assert error.limit == "max_entries"


def test_a_link_to_the_package_is_followed(package: Path, tmp_path: Path) -> None:
    """The path that the user names may be a link."""
    (tmp_path / "link").symlink_to(package)
    with open_container(tmp_path / "link") as container:
        assert container.paths == ORDER


def test_closing_twice(package: Path) -> None:
    """A container may be closed again."""
    container = open_container(package)
    assert isinstance(container, Container)
    container.close()
    container.close()


# ---------------------------------------------------------------- what is opened


@pytest.mark.parametrize("name", ["absent", "p.zip/below", "nul\0"])
def test_nothing_there(name: str, tmp_path: Path) -> None:
    """A path where nothing lies is wrong use."""
    make_zip(tmp_path / "p.zip")
    error = refusal(tmp_path / name)
    assert isinstance(error, UsageError)
    assert str(error) == (
        f"{tmp_path / name}: no such file or directory: expected a package (zip or directory)"
    )


def test_other_kinds(tmp_path: Path) -> None:
    """A fifo or a device is wrong use, and opening it does not wait."""
    os.mkfifo(tmp_path / "fifo")
    for path, observed in ((tmp_path / "fifo", "a fifo"), (Path("/dev/null"), "a device")):
        error = refusal(path)
        assert isinstance(error, UsageError)
        assert str(error) == f"{path}: expected a package (zip or directory), observed {observed}"


def test_unreadable(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that the system does not let be read is wrong use."""

    def deny(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    expected = f"{package}: expected a readable package, observed 'Permission denied'"
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", deny)
        assert str(refusal(package)) == expected
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", deny)
        assert str(refusal(package)) == expected


# ---------------------------------------------------------------- zip


def test_zip_that_is_none(tmp_path: Path) -> None:
    """A file that is no zip is told so."""
    path = tmp_path / "p.zip"
    path.write_bytes(b"hello")
    assert str(refusal(path)) == (
        f"{path}: not a zip archive: expected a local file header (504b0304) at byte 0, "
        "observed 68656c6c"
    )


def test_zip_made_again(tmp_path: Path) -> None:
    """A package that was unpacked and zipped again is refused, with a hint."""
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", b"{}")
    error = refusal(path)
    assert isinstance(error, PackageFormatError)
    assert "entry 'manifest.json': local header at byte 0 is not in the pinned form" in str(error)
    assert error.hint == "use the original file: this one is damaged or has been zipped again"


def test_zip_order(tmp_path: Path) -> None:
    """The manifest comes first and the rest is sorted."""
    for names, observed in ((("README.md", "manifest.json"), "README.md"), (("b", "a"), "b")):
        error = refusal(make_zip(tmp_path / "p.zip", names))
        assert isinstance(error, PackageFormatError)
        assert f"entry {observed!r}: expected entries sorted after manifest.json" in str(error)


@pytest.mark.hostile
@pytest.mark.parametrize("names", [("../x",), ("/x",), ("A", "a"), ("a", "a/b"), ("runs/x y",)])
def test_zip_refuses_paths(names: tuple[str, ...], tmp_path: Path) -> None:
    """Unsafe paths in a zip are refused."""
    assert isinstance(refusal(make_zip(tmp_path / "p.zip", names)), UnsafeEntryError)


def test_npz_inside_a_deflated_zip() -> None:
    """An npz can be read from within a package, also where the package deflates it."""
    arrays = {name: np.arange(100_000, dtype="<u4") // 9 + k for k, name in enumerate("abc")}
    inner, outer = io.BytesIO(), io.BytesIO()
    write_npz(inner, arrays)
    writer = ArchiveWriter(outer)
    writer.add("runs/kept.npz", inner.getvalue(), deflate=True)
    writer.finish()
    with ZipContainer(outer, where="p.zip") as container:
        assert len(outer.getvalue()) < 400_000
        with container.open("runs/kept.npz") as stream:
            loaded = read_npz(stream, where="runs/kept.npz")
    assert {name: array.tobytes() for name, array in loaded.items()} == {
        name: array.tobytes() for name, array in arrays.items()
    }


# ---------------------------------------------------------------- directory


@pytest.mark.hostile
@pytest.mark.parametrize("target", ["README.md", "runs", "/etc/passwd", "absent"])
def test_directory_refuses_links(target: str, folder: Path) -> None:
    """A link is refused wherever it points."""
    (folder / "source" / "link").symlink_to(target)
    error = refusal(folder)
    assert isinstance(error, UnsafeEntryError)
    assert (error.entry, error.refusals[0].problem) == (
        "source/link",
        "kind: expected a file or a folder, observed a link",
    )


@pytest.mark.hostile
def test_directory_refuses_other_kinds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifo or a socket is refused, and not opened."""
    os.mkfifo(folder / "fifo")
    assert str(refusal(folder)) == (
        "entry 'fifo': kind: expected a file or a folder, observed a fifo"
    )
    (folder / "fifo").unlink()
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert str(refusal(folder)) == (
            "entry 'socket': kind: expected a file or a folder, observed a socket"
        )


@pytest.mark.hostile
@pytest.mark.parametrize(
    "name", [b"source/a:b", b"source/nul", b"source/\xff", b"a b", b"README.MD"]
)
def test_directory_refuses_paths(name: bytes, folder: Path) -> None:
    """Unsafe names of files are refused as in a zip."""
    Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).touch()
    assert isinstance(refusal(folder), UnsafeEntryError)


@pytest.mark.hostile
def test_directory_depth(folder: Path) -> None:
    """Folders that lie too deep are refused before they are entered."""
    (folder / "/".join(["a"] * 40)).mkdir(parents=True)
    error = refusal(folder)
    assert isinstance(error, UnsafeEntryError)
    assert error.refusals[0].problem == "depth: expected at most 32 components, observed 33"


def test_directory_ignores_empty_folders(folder: Path) -> None:
    """A folder without files is no entry."""
    (folder / "source" / "empty").mkdir()
    with open_container(folder) as container:
        assert container.paths == ORDER


@pytest.mark.hostile
@pytest.mark.parametrize("replaced", ["source/bin/run", "source/bin", "source"])
def test_directory_is_changed_while_open(replaced: str, folder: Path) -> None:
    """A file or folder that is replaced by a link after it was listed is not followed."""
    with open_container(folder) as container:
        (folder / replaced).rename(folder / "moved")
        (folder / replaced).symlink_to(folder / "moved")
        with pytest.raises(UnsafeEntryError) as caught:
            container.open("source/bin/run")
    assert caught.value.refusals[0].problem == (
        "while it was read: expected what was listed, observed a link or another kind in its place"
    )


@pytest.mark.hostile
def test_directory_file_becomes_a_fifo(folder: Path) -> None:
    """A file that is replaced by a fifo after it was listed is refused without waiting."""
    with open_container(folder) as container:
        (folder / "README.md").unlink()
        os.mkfifo(folder / "README.md")
        with pytest.raises(UnsafeEntryError) as caught:
            container.open("README.md")
        assert (
            caught.value.refusals[0].problem
            == "while it was read: expected a file, observed a fifo"
        )
        (folder / "manifest.json").unlink()
        with pytest.raises(UnsafeEntryError) as gone:
            container.open("manifest.json")
    assert (gone.value.rule, gone.value.entry, gone.value.observed) == (
        "directory.changed",
        "manifest.json",
        "nothing",
    )


@pytest.mark.hostile
@pytest.mark.parametrize("change", ["append", "cut", "replace", "rewrite"])
def test_directory_file_changes_while_it_is_read(change: str, folder: Path) -> None:
    """From listing to its last byte a file is the one that was listed."""
    path = folder / "README.md"
    path.write_bytes(bytes(200_000))
    with open_container(folder) as container, container.open("README.md") as stream:
        stream.read(1)
        if change == "append":
            with path.open("ab") as more:
                more.write(b"x")
        elif change == "cut":
            os.truncate(path, 100_000)
        elif change == "rewrite":
            path.write_bytes(b"\1" * 200_000)
            os.utime(path, ns=(1, 1))
        else:
            path.rename(folder / "old")
            path.write_bytes(bytes(200_000))
            with pytest.raises(UnsafeEntryError, match="the file that was listed"):
                container.open("README.md")
            return
        with pytest.raises(UnsafeEntryError) as caught:
            stream.read()
    assert (caught.value.rule, caught.value.entry) == ("directory.changed", "README.md")


@pytest.mark.hostile
@pytest.mark.parametrize("change", ["come", "go", "change"])
def test_directory_is_the_same_at_the_end(change: str, folder: Path) -> None:
    """A file that came, went or changed after the listing is noticed when all was read."""
    with open_container(folder) as container:
        container.check_unchanged()
        if change == "come":
            (folder / "source" / "numpy.py").write_bytes(b"")
        elif change == "go":
            (folder / "README.md").unlink()
        else:
            (folder / "README.md").write_bytes(b"other")
        with pytest.raises(UnsafeEntryError) as caught:
            container.check_unchanged()
    assert caught.value.rule == "directory.changed"
    assert caught.value.entry == {"come": "source/numpy.py"}.get(change, "README.md")


@pytest.mark.hostile
def test_a_file_whose_time_was_set_back_is_not_the_same(folder: Path) -> None:
    """Who writes to a file can set the time of the write back, but not that of the change."""
    path = folder / "README.md"
    before = path.stat()
    with open_container(folder) as container:
        time.sleep(0.05)  # coarser than any clock of a file system that has one
        with path.open("r+b") as stream:
            stream.write(b"x")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        with pytest.raises(UnsafeEntryError, match="the file that was listed"):
            container.check_unchanged()
        with pytest.raises(UnsafeEntryError, match="the file that was listed"):
            container.open("README.md")


@pytest.mark.hostile
def test_zip_is_the_same_at_the_end(tmp_path: Path) -> None:
    """A zip that was written to after it was opened is noticed."""
    zipped = make_zip(tmp_path / "p.zip")
    with open_container(zipped) as container:
        container.check_unchanged()
        with zipped.open("ab") as more:
            more.write(b"x")
        with pytest.raises(PackageFormatError) as caught:
            container.check_unchanged()
    assert (caught.value.rule, caught.value.entry) == ("zip.changed", str(zipped))


def test_directory_folder_that_cannot_be_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that the system does not let be listed is wrong use."""

    def deny(_: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", deny)
    assert str(refusal(folder)) == (
        f"{folder}: entry '': expected to read it, observed 'Permission denied'"
    )


def test_directory_moves_with_its_handle(folder: Path, tmp_path: Path) -> None:
    """A directory is opened once: moved elsewhere it is still the same package."""
    with open_container(folder) as container:
        assert isinstance(container, DirectoryContainer)
        folder.rename(tmp_path / "elsewhere")
        with container.open("source/bin/run") as stream:
            assert stream.read() == b"#!/bin/sh\n"
