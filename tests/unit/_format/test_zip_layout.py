"""Zip64 forms, where sizes, offsets or counts need them and only there."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from repropack._format import zip_layout
from repropack._format.archive_reader import ArchiveReader
from repropack._format.limits import Limits
from repropack._format.zip_layout import ZipMember, directory_header, end_records, local_header
from repropack.errors import PackageFormatError
from tests.support.archives import build_zip, make_member, patched, read_zip, refuse_zip

BIG = ZipMember("big", 2**33, 2**33, 7, False, False, 2**32 - 1)


def test_zip64_headers() -> None:
    """Sizes and offsets of 0xffffffff and more move to the extra field, and only those."""
    assert local_header(BIG).hex() == (
        "504b03042d0000080000000021000700" + "0000ffffffffffffffff0300140062696701001000"
        "00000000020000000000000002000000"
    )
    assert directory_header(BIG).hex() == (
        "504b01022d032d0000080000000021000700" + "0000ffffffffffffffff03001c000000000000000000a481"
        "ffffffff62696701001800" + "00000000020000000000000002000000" + "ffffffff00000000"
    )
    below = ZipMember("big", 2**32 - 2, 2**32 - 2, 7, False, False, 2**32 - 2)
    assert len(local_header(below)) == 33
    assert len(directory_header(below)) == 49
    later = ZipMember("big", 1, 1, 7, False, False, 2**32 - 1)
    assert len(local_header(later)) == 33
    assert directory_header(later)[-12:].hex() == "01000800ffffffff00000000"


def test_zip64_end_records() -> None:
    """Zip64 end records come from 65,535 entries or 0xffffffff bytes on, and only then."""
    assert len(end_records(0xFFFE, 2**32 - 2, 2**32 - 2)) == 22
    assert end_records(0xFFFF, 3, 4).hex() == (
        "504b06062c000000000000002d032d000000000000000000"
        "ffff000000000000ffff00000000000004000000000000000300000000000000"
        "504b060700000000070000000000000001000000"
        "504b050600000000ffffffff04000000030000000000"
    )
    assert (
        end_records(1, 2**32, 5)[-22:].hex() == "504b050600000000" + "0100010005000000ffffffff0000"
    )


def test_zip64_sparse_file(tmp_path: Path) -> None:
    """An entry of 5 GiB, and one behind it, are found here and by the standard library."""
    path = tmp_path / "big.zip"
    first = ZipMember("big", 5 * 2**30, 5 * 2**30, 0, False, False, 0)
    second = make_member("b", b"hello", len(local_header(first)) + first.size)
    directory = directory_header(first) + directory_header(second)
    with path.open("wb") as stream:
        stream.write(local_header(first))
        stream.seek(second.offset)
        stream.write(local_header(second) + b"hello" + directory)
        stream.write(end_records(2, stream.tell() - len(directory), len(directory)))
    with path.open("rb") as stream:
        reader = ArchiveReader(stream, where="big.zip")
        assert list(reader.members.values()) == [first, second]
        assert reader.open("b").read() == b"hello"
    with zipfile.ZipFile(path) as archive:
        assert [one.file_size for one in archive.infolist()] == [5 * 2**30, 5]
        assert archive.read("b") == b"hello"
    with path.open("r+b") as stream:
        stream.seek(second.offset)
        stream.write(b"XX")
    with path.open("rb") as stream, pytest.raises(PackageFormatError, match="entry 'b': local"):
        ArchiveReader(stream, where="big.zip")


def test_zip64_many_entries() -> None:
    """65,535 entries are written, and read here and by the standard library."""
    names = [f"{k:05}" for k in range(65_535)]
    data = build_zip(*((name, b"") for name in names))
    limits = Limits(max_entries=65_535)
    assert data[-98:-94] == b"PK\x06\x06"
    assert list(ArchiveReader(io.BytesIO(data), where="p.zip", limits=limits).members) == names
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == names


@pytest.mark.parametrize("deflate", [False, True], ids=["stored", "deflated"])
def test_zip64_forms_round_trip(monkeypatch: pytest.MonkeyPatch, deflate: bool) -> None:
    """With lower thresholds every zip64 form is written, and read here and elsewhere."""
    monkeypatch.setattr(zip_layout, "ZIP64_FROM_BYTES", 100)
    monkeypatch.setattr(zip_layout, "ZIP64_FROM_ENTRIES", 3)
    files = {"a": b"x" * 99, "b": b"y" * 100, "c": b"", "d": b"z" * 1000}
    data = build_zip(*files.items(), deflate=deflate)
    assert read_zip(data) == files
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == files
    for offset in range(len(data)):
        try:
            assert read_zip(patched(data, offset, bytes([data[offset] ^ 1]))) == files
            assert deflate
        except PackageFormatError:
            pass
    monkeypatch.undo()
    refuse_zip(data)
