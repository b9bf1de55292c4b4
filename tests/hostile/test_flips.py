"""Every byte of a small package: flipped, cut off or added to, it is noticed, as zip and directory.

``tests/property`` shows it for the zip and the npz alone. Here it is a whole package, and what
notices may be the zip, the manifest or a digest.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pytest

from repropack._format.limits import DEFAULT_LIMITS
from repropack._read.container import ZipContainer
from repropack._read.findings import Findings
from repropack._read.integrity import check_entries
from repropack._read.package import Package
from repropack.check import check_package
from repropack.errors import PackageError, UnsupportedVersionError
from tests.fuzz.targets import slim
from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.raw_zip import from_forgery
from tests.support.thinning import EVERY_CASE

pytestmark = pytest.mark.hostile

FLIPS = (0x01, 0x80, 0xFF)
STEPS = [pytest.param(97, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)]


def is_noticed(data: bytes) -> bool:
    """Whether a zip is refused, or an entry of it does not have its digest."""
    findings = Findings()
    try:
        container = ZipContainer(io.BytesIO(data), where="f.zip")
        with Package(Path("f.zip"), container, DEFAULT_LIMITS) as package:
            check_entries(package, findings)
    except (PackageError, UnsupportedVersionError):
        return True
    return bool(findings.faults)


@pytest.fixture(scope="module")
def whole(bases: Mapping[str, Base]) -> bytes:
    """A small package as a zip; the largest texts, which a digest covers like all, are cut."""
    forgery = slim(bases["own"].forgery())
    forgery.files["notebook.ipynb"] = forgery.files["notebook.ipynb"][:2000]
    data = from_forgery(forgery).pack()
    assert not is_noticed(data)
    return data


def bodies(data: bytes) -> list[range]:
    """Where contents lie, but for the manifest's: between headers, a digest covers every byte."""
    container = ZipContainer(io.BytesIO(data), where="f.zip")
    found = []
    for path in container.paths[1:]:
        member = container._archive.member(path)
        start = member.offset + 30 + len(path.encode())
        found.append(range(start, start + member.stored_size))
    return found


def flipped(data: bytes, offset: int, flip: int) -> bytes:
    return data[:offset] + bytes([data[offset] ^ flip]) + data[offset + 1 :]


@pytest.mark.parametrize("step", STEPS)
def test_every_flip_in_a_content_is_noticed(whole: bytes, step: int) -> None:
    """One byte of any entry, in its first and last byte and in between."""
    for body in bodies(whole):
        offsets = {*body[:: 1 if EVERY_CASE else 127 * step], *body[:1], *body[-1:]}
        for offset in sorted(offsets):
            assert is_noticed(flipped(whole, offset, 0x01)), offset


@pytest.mark.parametrize("step", STEPS)
def test_every_flip_around_contents_is_noticed(whole: bytes, step: int) -> None:
    """One byte of any header, of the directory, the end record, or the manifest."""
    inside = {offset for body in bodies(whole) for offset in body}
    manifest = whole.index(b"{"), whole.index(b"PK\x03\x04", 4)
    for offset in (offset for offset in range(len(whole)) if offset not in inside):
        in_manifest = manifest[0] <= offset < manifest[1]
        if in_manifest and offset % (step if EVERY_CASE else 5 * step):
            continue
        every = FLIPS[:1] if in_manifest else FLIPS
        for flip in every if EVERY_CASE else every[offset % len(every) :][:1]:
            assert is_noticed(flipped(whole, offset, flip)), (offset, flip)


@pytest.mark.parametrize("step", STEPS)
def test_every_cut_is_noticed(whole: bytes, step: int) -> None:
    """A package that ends early, anywhere, is refused; so is one that goes on, or begins late."""
    for length in {*range(0, len(whole), 31 * step), *range(len(whole) - 200, len(whole))}:
        assert is_noticed(whole[:length]), length
    for more in (b"\0", b"\n", b"P", b"PK\x05\x06", whole):
        assert is_noticed(whole + more)
        assert is_noticed(more + whole)


@pytest.mark.parametrize("step", STEPS)
def test_every_flip_in_a_directory_is_noticed(
    bases: Mapping[str, Base], tmp_path: Path, step: int
) -> None:
    """One byte of the manifest, and one of every other file; and each file cut or added to.

    A directory has no checksum of its manifest: a letter in a title makes it the manifest of
    another package, which only the package digest that its author published can tell.
    """
    forgery = slim(bases["own"].forgery())
    folder = forgery.write_directory(tmp_path / "case")
    whole = check_package(folder)
    assert whole.verdict == "intact"
    for path in ["manifest.json", *forgery.files]:
        place = folder / path
        data = place.read_bytes()
        offsets = (
            range(0, len(data), 1 if EVERY_CASE else 37 * step)
            if path == "manifest.json"
            else [len(data) // 2]
        )
        changes = [flipped(data, offset, 0x01) for offset in offsets]
        for changed in [*changes, data[:-1], data + b"\n", b""]:
            place.write_bytes(changed)
            try:
                report = check_package(folder, fast=True, expect_digest=whole.package_digest)
                assert report.verdict == "damaged", path
            except UnsupportedVersionError:
                assert path == "manifest.json"
        place.write_bytes(data)
    assert check_package(folder).verdict == "intact"
