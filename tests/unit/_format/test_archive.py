"""The zip container: its pinned bytes, its writer, and the streams of its entries."""

from __future__ import annotations

import hashlib
import io
import struct
import threading
import zipfile

import pytest

from repropack._format.archive_reader import ArchiveReader
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.zip_layout import ZipMember
from repropack.errors import IntegrityError, PackageFormatError, UnsafeEntryError, UsageError
from tests.support.archives import PAIR, build_zip, read_zip

# ---------------------------------------------------------------- the bytes


def test_pinned_bytes() -> None:
    """A zip of two files has these bytes, on every system and for ever."""
    expected = (
        "504b0304 1400 0008 0000 0000 2100 86a61036 05000000 05000000 0500 0000 612e747874"
        "68656c6c6f"
        "504b0304 1400 0008 0000 0000 2100 1d9dfb04 0a000000 0a000000 0400 0000 622e7368"
        "23212f62696e2f73680a"
        "504b0102 1403 1400 0008 0000 0000 2100 86a61036 05000000 05000000 0500 0000 0000 0000 0000"
        "0000a481 00000000 612e747874"
        "504b0102 1403 1400 0008 0000 0000 2100 1d9dfb04 0a000000 0a000000 0400 0000 0000 0000 0000"
        "0000ed81 28000000 622e7368"
        "504b0506 0000 0000 0200 0200 65000000 54000000 0000"
    )
    assert PAIR.hex() == expected.replace(" ", "")
    assert hashlib.sha256(PAIR).hexdigest() == (
        "0e01f3b1acf16f8a361d0367b70380b20d798f800af23769698ed3b40c546f05"
    )


def test_stdlib_reads_it() -> None:
    """The standard library's zipfile finds nothing wrong and the same content."""
    with zipfile.ZipFile(io.BytesIO(PAIR)) as archive:
        assert archive.testzip() is None
        infos = archive.infolist()
        assert [(i.filename, i.date_time, i.external_attr >> 16) for i in infos] == [
            ("a.txt", (1980, 1, 1, 0, 0, 0), 0o100644),
            ("b.sh", (1980, 1, 1, 0, 0, 0), 0o100755),
        ]
        assert archive.read("b.sh") == b"#!/bin/sh\n"


def test_members() -> None:
    """The reader tells every entry, in stored order, with its mode from the directory."""
    reader = ArchiveReader(io.BytesIO(PAIR), where="p.zip")
    assert list(reader.members.values()) == [
        ZipMember("a.txt", 5, 5, 0x3610A686, False, False, 0),
        ZipMember("b.sh", 10, 10, 0x04FB9D1D, False, True, 40),
    ]
    assert reader.member("b.sh").size == 10


def test_empty_archive() -> None:
    """A zip without entries is an end record, and can be read."""
    data = build_zip()
    assert data.hex() == "504b0506" + 36 * "0"
    assert read_zip(data) == {}


def test_deflated_round_trip() -> None:
    """Deflating changes the stored bytes and never the content."""
    files = (("a.txt", b"abc" * 5000), ("b.bin", bytes(range(256))), ("c", b""))
    data = build_zip(*files, deflate=True)
    reader = ArchiveReader(io.BytesIO(data), where="p.zip")
    assert [one.deflated for one in reader.members.values()] == [True, False, False]
    assert read_zip(data) == dict(files)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None


def test_bombs_are_stored() -> None:
    """Content that deflates to less than a reader would accept is stored as it is."""
    data = build_zip(("zeros", bytes(2 * 2**20)), deflate=True)
    assert read_zip(data) == {"zeros": bytes(2 * 2**20)}
    assert not ArchiveReader(io.BytesIO(data), where="p.zip").member("zeros").deflated


class Pipe(io.RawIOBase):
    """An output that cannot be sought in, and takes at most seven bytes at once."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.data += data[:7]
        return len(data[:7])


def test_output_need_not_be_seekable() -> None:
    """The writer only ever appends, and finishes what a stream takes in parts."""
    pipe = Pipe()
    writer = ArchiveWriter(pipe)  # type: ignore[arg-type]
    writer.add("a.txt", io.BytesIO(b"hello"), size=5)
    source = io.BytesIO(b"not this#!/bin/sh\n")
    source.seek(8)
    writer.add("b.sh", source, executable=True)
    writer.finish()
    assert bytes(pipe.data) == PAIR


def test_writer_refuses_names() -> None:
    """A name that was added, is empty, too long or not Unicode is refused."""
    writer = ArchiveWriter(io.BytesIO())
    writer.add("a", b"")
    for name in ("a", "", "x" * 1025, "\ud800"):
        with pytest.raises(UnsafeEntryError):
            writer.add(name, b"")


def test_writer_notices_another_length() -> None:
    """A stated size that is not the source's is refused."""
    with pytest.raises(IntegrityError, match=r"entry 'a': length differs: expected 4 bytes, obs"):
        ArchiveWriter(io.BytesIO()).add("a", b"hello", size=4)


@pytest.mark.parametrize("deflate", [False, True], ids=["stored", "deflated"])
def test_writer_notices_change(deflate: bool) -> None:
    """A source that changes between the two passes is refused."""
    versions = iter([b"a" * 100, b"b" * 100])
    with pytest.raises(IntegrityError, match="entry 'a': changed while it was being packed"):
        ArchiveWriter(io.BytesIO()).add_blocks("a", lambda: [next(versions)], deflate=deflate)


# ---------------------------------------------------------------- streams


@pytest.mark.parametrize("deflate", [False, True], ids=["stored", "deflated"])
def test_streams_seek(deflate: bool) -> None:
    """An entry can be read from any place, back and forth, also while others are read."""
    content = b"".join(struct.pack("<I", k // 7) for k in range(300_000))
    data = build_zip(("a", content), ("b", content[::-1]), deflate=deflate)
    reader = ArchiveReader(io.BytesIO(data), where="p.zip")
    left, right = reader.open("a"), reader.open("b")
    assert reader.member("a").deflated is deflate
    for offset in (1_000_000, 3, 0, 1_199_990, 500_000):
        left.seek(offset)
        assert left.tell() == offset
        assert left.read(10) == content[offset : offset + 10]
        assert right.read(10) == content[::-1][right.tell() - 10 : right.tell()]
    left.seek(-4, io.SEEK_END)
    assert left.read() == content[-4:]
    assert left.seek(5_000_000) == 5_000_000
    assert left.read() == b""
    with pytest.raises(ValueError, match="negative seek"):
        left.raw.seek(-1, io.SEEK_SET)


def test_threads_share_a_file() -> None:
    """Entries may be read from several threads at once."""
    files = {f"f{k}": bytes([k]) * 3_000_000 for k in range(4)}
    reader = ArchiveReader(io.BytesIO(build_zip(*files.items())), where="p.zip")
    seen: dict[str, bytes] = {}

    def load(name: str) -> None:
        seen[name] = reader.open(name).read()

    threads = [threading.Thread(target=load, args=[name]) for name in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == files


def test_checksum_is_verified_before_the_last_bytes() -> None:
    """Damaged content is refused by whoever reads all of it, and again when read again."""
    reader = ArchiveReader(io.BytesIO(PAIR.replace(b"hello", b"hellp")), where="p.zip")
    stream = reader.open("a.txt").raw
    assert stream.read(4) == b"hell"
    for _ in range(2):
        with pytest.raises(PackageFormatError) as caught:
            stream.read(1)
        assert str(caught.value) == (
            "p.zip: entry 'a.txt': checksum differs: expected 3610a686, observed bb18ab73"
        )


def test_unknown_entry() -> None:
    """Asking for an entry that is not there is wrong use."""
    with pytest.raises(UsageError, match=r"expected one of its 2 entries, observed 'c'"):
        ArchiveReader(io.BytesIO(PAIR), where="p.zip").open("c")
