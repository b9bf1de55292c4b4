"""A bag, a folder, a figure or saved arrays are replaced only as repropack wrote them."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack import export_package
from repropack._cli.main import main
from repropack._export.bagit import ALGORITHMS, manifest_bytes, payload_manifest, tag_manifest
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.canonical import encode_canonical
from repropack._format.figure_seals import seal_png, seal_svg
from repropack._format.npz import write_npz
from repropack._run.documents import ARRAYS, FIGURES, DocumentKind, check_document
from repropack.errors import UsageError
from repropack.unpack import unpack_package
from tests.support.commands import files_below

Edit = Callable[[dict[str, bytes]], None]
PIXEL = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU"
    b"\x00\x00\x00\nIDATx\x9cc\xf8\x0f\x00\x01\x01\x01\x00\x1b\xb6\xeeV\x00\x00\x00\x00IEND\xaeB`\x82"
)
SVG = b'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n<!DOCTYPE svg PUBLIC "x">\n<svg/>\n'


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory, lake_package: Path) -> Path:
    """A bag of the lake; look at it, never write to it."""
    place = tmp_path_factory.mktemp("bags") / "bag"
    export_package(lake_package, "bagit", place)
    return place


def append(path: str, data: bytes = b"mine\n") -> Edit:
    def edit(files: dict[str, bytes]) -> None:
        files[path] = files.get(path, b"") + data

    return edit


def sealed_again(files: dict[str, bytes]) -> None:
    """Write every manifest of a bag anew, as the user of another tool would."""
    for name in ALGORITHMS:
        payload = {path: data for path, data in files.items() if path.startswith("data/")}
        files[payload_manifest(name)] = manifest_bytes(hashed(payload, name))
    for name in ALGORITHMS:
        tags = {path: files[path] for path in files if not path.startswith(("data/", "tagmani"))}
        files[tag_manifest(name)] = manifest_bytes(hashed(tags, name))


def hashed(files: dict[str, bytes], name: str) -> dict[str, str]:
    return {path: hashlib.new(name, data).hexdigest() for path, data in files.items()}


def listed_payload(files: dict[str, bytes]) -> None:
    """A note in the payload that all the bag's manifests list."""
    files["data/notes.md"] = b"mine\n"
    sealed_again(files)


def listed_edit(files: dict[str, bytes]) -> None:
    """An entry that was edited, with all the bag's manifests after it."""
    files["data/README.md"] += b"mine\n"
    sealed_again(files)


def another_package(files: dict[str, bytes]) -> None:
    """A manifest of a package by hand, with all the bag's manifests after it."""
    files["data/manifest.json"] += b" "
    sealed_again(files)


def another_tool(files: dict[str, bytes]) -> None:
    """An element that another tool knows, with all the bag's manifests after it."""
    files["bag-info.txt"] += b"Source-Organization: ours\n"
    sealed_again(files)


def added_line(files: dict[str, bytes]) -> None:
    files["tagmanifest-sha512.txt"] += b"\n"


def lost(files: dict[str, bytes]) -> None:
    del files["data/README.md"]


EDITS: dict[str, tuple[Edit, str]] = {
    "info": (
        append("bag-info.txt", b"Source-Organization: ours\n"),
        "'bag-info.txt' in it, edited",
    ),
    "payload": (append("data/README.md"), "'data/README.md' in it, edited since"),
    "manifest": (append("manifest-sha512.txt"), "'manifest-sha512.txt' in it, edited since"),
    "tags": (added_line, "'tagmanifest-sha512.txt' in it, edited since"),
    "declaration": (append("bagit.txt"), "another bag"),
    "unlisted": (append("data/notes.md"), "'data/notes.md' in it, which its manifest"),
    "beside": (append("notes.txt"), "'notes.txt' in it, which its manifest does not list"),
    "lost": (lost, "one without 'data/README.md', which its manifest lists"),
    "listed": (listed_payload, "'data/notes.md' in it, which the manifest of its package"),
    "listed-edit": (listed_edit, "'data/README.md' in it, which the manifest of its package"),
    "another-package": (another_package, "another bag"),
    "another-tool": (another_tool, "another bag"),
}


def zip_of(files: dict[str, bytes], folder: str, *, deflate: bool = False) -> bytes:
    """A zip in the form of ours."""
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for path in sorted(files, key=str.encode):
        writer.add(f"{folder}/{path}" if folder else path, files[path], deflate=deflate)
    writer.finish()
    return stream.getvalue()


@pytest.mark.parametrize("edit", EDITS)
def test_a_bag_that_was_edited_is_never_replaced(
    edit: str, bag: Path, lake_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a folder and as a zip; the message names the first file that is another."""
    files = files_below(bag)
    change, told = EDITS[edit]
    change(files)
    mine = tmp_path / "mine"
    for path, data in files.items():
        (mine / path).parent.mkdir(parents=True, exist_ok=True)
        (mine / path).write_bytes(data)
    zipped = tmp_path / "mine.zip"
    zipped.write_bytes(zip_of(files, "lake-1.0.0"))
    line = ["export", str(lake_package), "--to", "bagit", "--force", "-o"]
    for target in (mine, zipped):
        assert main([*line, str(target)]) == 2
        assert f"observed {told}" in capsys.readouterr().err
    assert files_below(mine) == files
    assert zipped.read_bytes() == zip_of(files, "lake-1.0.0")


def test_a_zip_is_replaced_only_as_a_bag_of_a_package(
    bag: Path, lake_package: Path, tmp_path: Path
) -> None:
    """Not one that begins like it, one zipped again, deflated, or in a folder of another name."""
    target = tmp_path / "mine.zip"
    line = ["export", str(lake_package), "--to", "bagit", "-o", str(target), "--force"]
    assert main(line) == 0
    made = target.read_bytes()
    assert main(line) == 0
    assert target.read_bytes() == made
    files = files_below(bag)
    again = io.BytesIO()
    with zipfile.ZipFile(again, "w") as archive:
        for path, data in files.items():
            archive.writestr(f"lake-1.0.0/{path}", data)
    thesis = {"bag-info.txt": b"mine\n", "thesis.txt": b"mine\n"}
    for data in (
        zip_of(thesis, "mine"),
        again.getvalue(),
        zip_of(files, "lake-1.0.0", deflate=True),
        zip_of(files, "lake"),
        zip_of(files, ""),
        zip_of({}, ""),
        made[:-1],
        made + b"mine",
        made.replace(b"BagIt-Version: 1.0", b"BagIt-Version: 9.0"),
        b"",
    ):
        target.write_bytes(data)
        assert main(line) == 2
        assert target.read_bytes() == data


def test_an_unpacked_folder_that_was_edited_is_never_replaced(
    lake_package: Path, tmp_path: Path
) -> None:
    """The manifest says what each file was; a manifest by hand says nothing."""
    target = tmp_path / "un"
    unpack_package(lake_package, target)
    unpack_package(lake_package, target, force=True)
    before = files_below(target)
    manifest = json.loads(before["manifest.json"])
    listed = encode_canonical(manifest | {"entries": "mine"})
    for path, data, told in (
        ("README.md", before["README.md"] + b"mine", "'README.md' in it, edited since: its manif"),
        ("notes.md", b"mine", "'notes.md' in it, which its manifest does not list"),
        ("manifest.json", before["manifest.json"] + b"\n", "'manifest.json' in it, edited since"),
        ("manifest.json", listed, "'manifest.json' in it, edited since"),
    ):
        (target / path).write_bytes(data)
        with pytest.raises(UsageError, match=f"un: .* observed {told}"):
            unpack_package(lake_package, target, force=True)
        assert files_below(target) == before | {path: data}
        (target / path).unlink()
        if path in before:
            (target / path).write_bytes(before[path])
    (target / "README.md").unlink()
    (target / "README.md").symlink_to("LICENSE")
    with pytest.raises(UsageError, match=r"'README\.md' in it, which its manifest does not list"):
        unpack_package(lake_package, target, force=True)
    (target / "README.md").unlink()
    unpack_package(lake_package, target, force=True)
    assert files_below(target) == before


def npz(*names: str, end: bytes = b"") -> bytes:
    stream = io.BytesIO()
    write_npz(stream, {name: np.arange(5.0) for name in names})
    return stream.getvalue() + end


def numpy_npz() -> bytes:
    stream = io.BytesIO()
    sides: dict[str, Any] = {"left.a": np.arange(5.0)}
    np.savez(stream, **sides)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("kind", "made", "others"),
    [
        (FIGURES[".png"], seal_png(PIXEL), (PIXEL, PIXEL[:20], seal_svg(PIXEL))),
        (FIGURES[".svg"], seal_svg(SVG), (SVG, SVG + SVG, seal_png(SVG))),
        (
            ARRAYS,
            npz("left.a", "right.before.a"),
            (npz("a"), npz("left.a", "mine"), npz(), numpy_npz(), npz("left.a", end=b"mine")),
        ),
    ],
)
def test_what_others_draw_and_save_is_never_replaced(
    kind: DocumentKind, made: bytes, others: tuple[bytes, ...], tmp_path: Path
) -> None:
    """Nor what we did, with any byte of it changed."""
    target = tmp_path / "mine"
    target.write_bytes(made)
    check_document(target, kind, force=True)
    changed = [made[:at] + bytes([made[at] ^ 1]) + made[at + 1 :] for at in range(len(made))]
    for data in (*others, *changed, made[:-1], made + b"\n", b""):
        target.write_bytes(data)
        with pytest.raises(UsageError, match="observed something else"):
            check_document(target, kind, force=True)


def test_a_seal_leaves_the_picture_as_it_is(tmp_path: Path) -> None:
    """A reader of pictures finds it as a text, and the same pixels."""
    from PIL import Image

    with Image.open(io.BytesIO(seal_png(PIXEL))) as sealed, Image.open(io.BytesIO(PIXEL)) as bare:
        assert sealed.tobytes() == bare.tobytes() == b"\xff"
        digest = hashlib.sha256(PIXEL).hexdigest()
        assert sealed.info["Software"] == f"repropack sha256:{digest}"
