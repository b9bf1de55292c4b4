"""A forgiving look at zips that were refused."""

from __future__ import annotations

import io
import zipfile

import pytest

from repropack._format import zip_layout
from repropack._format.limits import Limits
from repropack._format.zip_peek import peek_member, sketch_directory
from tests.support.archives import PAIR, build_zip, patched


def test_peek_ordinary_zips() -> None:
    """The manifest of a zip made by other means can be looked at, to say what it is."""
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as archive:
            archive.comment = b"a comment"
            archive.writestr("other", b"x" * 100)
            archive.writestr("manifest.json", b'{"format": "repropack"}')
        assert peek_member(stream, "manifest.json", max_bytes=99) == b'{"format": "repropack"}'
        assert (peek_member(stream, "other", max_bytes=14) or b"")[:9] == b"x" * 9
        assert peek_member(stream, "absent", max_bytes=14) is None


def test_peek_never_fails() -> None:
    """Whatever is damaged or cut, a look finds something or nothing."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b'{"format": "repropack"}')
        archive.writestr("b", b"x")
    data = stream.getvalue()
    for offset in range(len(data)):
        for changed in (patched(data, offset, b"\xff"), data[:offset], data[offset:]):
            peek_member(io.BytesIO(changed), "manifest.json", max_bytes=100)


def test_sketch_of_nothing() -> None:
    """A file that is no zip has no directory."""
    assert sketch_directory(io.BytesIO(b"nothing")).names == {}


def test_sketch_is_limited() -> None:
    """No more entries are looked at than a reader would accept."""
    assert sketch_directory(io.BytesIO(PAIR)).names == {0: "a.txt", 40: "b.sh"}
    assert sketch_directory(io.BytesIO(PAIR), Limits(max_entries=1)).names == {0: "a.txt"}


def test_sketch_of_damaged_zip64(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the zip64 end record is damaged too, the end record's own offset is tried."""
    monkeypatch.setattr(zip_layout, "ZIP64_FROM_ENTRIES", 2)
    data = build_zip(("a.txt", b"hello"), ("b.sh", b""))
    assert sketch_directory(io.BytesIO(data)).names == {0: "a.txt", 40: "b.sh"}
    damaged = data.replace(b"PK\x06\x06", b"XX\x06\x06")
    assert sketch_directory(io.BytesIO(damaged)).names == {0: "a.txt", 40: "b.sh"}
