"""The zip container: its pinned bytes, and everything that the strict reader refuses."""

from __future__ import annotations

import hashlib
import io
import struct
import threading
import zipfile
import zlib
from pathlib import Path

import pytest

from repropack._format import zip_layout
from repropack._format.archive_reader import ArchiveReader
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.limits import Limits
from repropack._format.zip_layout import (
    ZipMember,
    directory_header,
    end_records,
    local_header,
)
from repropack._format.zip_peek import peek_member, sketch_directory
from repropack.errors import (
    IntegrityError,
    LimitExceededError,
    PackageFormatError,
    UnsafeEntryError,
    UsageError,
)

RE_ZIPPED = "use the original file: this one is damaged or has been zipped again"


def member(name: str, content: bytes, offset: int, *, executable: bool = False) -> ZipMember:
    return ZipMember(
        name, len(content), len(content), zlib.crc32(content), False, executable, offset
    )


def build(*files: tuple[str, bytes], deflate: bool = False) -> bytes:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for name, content in files:
        writer.add(name, content, executable=name.endswith(".sh"), deflate=deflate)
    writer.finish()
    return stream.getvalue()


def forge(*parts: tuple[ZipMember, bytes], count: int | None = None) -> bytes:
    """A zip whose headers are in the pinned form, whatever they say."""
    body = b"".join(local_header(one) + content for one, content in parts)
    directory = b"".join(directory_header(one) for one, _ in parts)
    return body + directory + end_records(len(parts), len(body), len(directory))


def read(data: bytes, limits: Limits = Limits()) -> dict[str, bytes]:  # noqa: B008
    reader = ArchiveReader(io.BytesIO(data), where="p.zip", limits=limits)
    return {name: reader.open(name).read() for name in reader.members}


def refusal(data: bytes) -> PackageFormatError:
    with pytest.raises(PackageFormatError) as caught:
        read(data)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


PAIR = build(("a.txt", b"hello"), ("b.sh", b"#!/bin/sh\n"))


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
    data = build()
    assert data.hex() == "504b0506" + 36 * "0"
    assert read(data) == {}


def test_deflated_round_trip() -> None:
    """Deflating changes the stored bytes and never the content."""
    files = (("a.txt", b"abc" * 5000), ("b.bin", bytes(range(256))), ("c", b""))
    data = build(*files, deflate=True)
    reader = ArchiveReader(io.BytesIO(data), where="p.zip")
    assert [one.deflated for one in reader.members.values()] == [True, False, False]
    assert read(data) == dict(files)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None


def test_bombs_are_stored() -> None:
    """Content that deflates to less than a reader would accept is stored as it is."""
    data = build(("zeros", bytes(2 * 2**20)), deflate=True)
    assert read(data) == {"zeros": bytes(2 * 2**20)}
    assert not ArchiveReader(io.BytesIO(data), where="p.zip").member("zeros").deflated


class Pipe(io.RawIOBase):
    """An output that cannot be sought in, and takes at most seven bytes at once."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:  # type: ignore[no-untyped-def]
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
    data = build(("a", content), ("b", content[::-1]), deflate=deflate)
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
        left.raw.seek(-1)


def test_threads_share_a_file() -> None:
    """Entries may be read from several threads at once."""
    files = {f"f{k}": bytes([k]) * 3_000_000 for k in range(4)}
    reader = ArchiveReader(io.BytesIO(build(*files.items())), where="p.zip")
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


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("data", "observed"),
    [(b"", "an empty file"), (b"\x93NUMPY", "934e554d"), (b"PK", "504b"), (b"\0" + PAIR, "00504b03")],
    ids=["empty", "npy", "short", "prefix"],
)
def test_not_a_zip(data: bytes, observed: str) -> None:
    """A file that is no zip is told so, with what it begins with."""
    assert str(refusal(data)) == (
        "p.zip: not a zip archive: expected a local file header (504b0304) at byte 0, "
        f"observed {observed}"
    )


def test_ordinary_zip() -> None:
    """A zip made by other means is told that it is not in the pinned form, and what to do."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(zipfile.ZipInfo("manifest.json"), b"{}")
    error = refusal(stream.getvalue())
    assert str(error) == (
        "p.zip: entry 'manifest.json': local header at byte 0 is not in the pinned form: "
        "flags: expected 0x0800, observed 0x0000"
    )
    assert error.hint == RE_ZIPPED


def patched(data: bytes, offset: int, replacement: bytes) -> bytes:
    return data[:offset] + replacement + data[offset + len(replacement) :]


HELLO = member("a.txt", b"hello", 0)
LATER = member("b.sh", b"#!/bin/sh\n", 40, executable=True)

REFUSED = {
    "encrypted": (
        patched(PAIR, 6, b"\x01\x08"),
        "entry 'a.txt': local header at byte 0 is not in the pinned form: flags: expected 0x0800, "
        "observed 0x0801",
    ),
    "descriptor": (
        patched(PAIR, 46, b"\x08\x08"),
        "entry 'b.sh': local header at byte 40 is not in the pinned form: flags: expected 0x0800, "
        "observed 0x0808",
    ),
    "method": (
        patched(PAIR, 8, b"\x0c"),
        "entry 'a.txt': local header at byte 0 is not in the pinned form: method: expected 0 "
        "(stored) or 8 (deflated), observed 12",
    ),
    "time": (
        patched(PAIR, 10, b"\x01"),
        "entry 'a.txt': local header at byte 0 is not in the pinned form: time: expected 0x0000, "
        "observed 0x0001",
    ),
    "lying-size": (
        patched(PAIR, 22, b"\x04"),
        "entry 'a.txt': local header at byte 0 is not in the pinned form: stored size: expected "
        "4, observed 5",
    ),
    "deflated-not-smaller": (
        patched(PAIR, 8, b"\x08"),
        "entry 'a.txt': local header at byte 0 is not in the pinned form: stored size: expected "
        "less than 5, observed 5",
    ),
    "signature": (
        patched(PAIR, 40, b"XX"),
        "entry 'b.sh': local header at byte 40 is not in the pinned form: signature: expected "
        "504b0304, observed 58580304",
    ),
    "directory-signature": (
        patched(PAIR, 84, b"XX"),
        "entry 'a.txt': directory header at byte 84 is not in the pinned form: signature: expected "
        "504b0102, observed 0x02015858",
    ),
    "directory-name": (
        patched(PAIR, 84 + 46, b"z"),
        "entry 'a.txt': directory header at byte 84 is not in the pinned form: name or extra "
        "field: expected b'a.txt', observed b'z.txt'",
    ),
    "directory-checksum": (
        patched(PAIR, 14, b"\x00"),
        "entry 'a.txt': directory header at byte 84 is not in the pinned form: checksum: expected "
        "0x3610a600, observed 0x3610a686",
    ),
    "mode": (
        patched(PAIR, 84 + 40, b"\xff\xa1"),
        "entry 'a.txt': directory header at byte 84 is not in the pinned form: external "
        "attributes: expected 0x81a40000, observed 0xa1ff0000",
    ),
    "name-not-utf-8": (
        patched(PAIR, 30, b"\xff"),
        "entry 'a.txt': local header at byte 0 is not in the pinned form: name: expected UTF-8, "
        "observed b'\\xff.txt'",
    ),
    "size-beyond-the-end": (
        forge((ZipMember("a", 10**6, 10**6, 0, False, False, 0), b"")),
        "entry 'a': expected 1000000 bytes of content, observed the end of the file 999931 bytes "
        "earlier",
    ),
    "gap": (
        PAIR[:40] + b"\0" + PAIR[40:],
        "entry 'a.txt': expected another entry or the directory at byte 40, where this one ends, "
        "observed 00504b03",
    ),
    "cut-in-header": (
        PAIR[:60],
        "entry at byte 40: expected a whole local header, observed the end of the file at byte 60",
    ),
    "cut-in-name": (
        PAIR[:72],
        "entry at byte 40: expected a whole local header, observed the end of the file at byte 72",
    ),
    "cut-after-entry": (
        PAIR[:84],
        "entry 'b.sh': expected another entry or the directory at byte 84, where this one ends, "
        "observed the end of the file",
    ),
    "cut-in-directory": (
        PAIR[:90],
        "entry 'a.txt': directory header at byte 84 is not in the pinned form: version needed: "
        "expected 0x0014, observed the end of the file",
    ),
    "cut-at-the-end": (
        PAIR[:-1],
        "end of the zip at byte 185 is not in the pinned form: comment length: expected 0x0000, "
        "observed 0x00",
    ),
    "comment": (
        PAIR[:-2] + b"\x03\x00abc",
        "end of the zip at byte 185 is not in the pinned form: comment length: expected 0x0000, "
        "observed 0x0003",
    ),
    "suffix": (
        PAIR + b"abc",
        "expected the end of the file at byte 207, observed 3 bytes more",
    ),
    "entry-count": (
        patched(PAIR, 185 + 8, b"\x01"),
        "end of the zip at byte 185 is not in the pinned form: entries on disk: expected 0x0002, "
        "observed 0x0001",
    ),
    "entry-not-listed": (
        local_header(HELLO) + b"hello" + end_records(0, 40, 0),
        "entry 'a.txt': directory header at byte 40 is not in the pinned form: signature: expected "
        "504b0102, observed 504b0506",
    ),
    "no-entry-but-listed": (
        directory_header(HELLO) + end_records(1, 0, 51),
        "entry 'a.txt': local header at byte 0 is not in the pinned form: signature: expected "
        "504b0304, observed 504b0102",
    ),
    "overlap": (
        local_header(HELLO) + b"hello" + 2 * directory_header(HELLO) + end_records(2, 40, 102),
        "end of the zip at byte 91 is not in the pinned form: end signature: expected 504b0506, "
        "observed 504b0102",
    ),
    "zip64-without-need": (
        local_header(HELLO) + b"hello" + directory_header(HELLO)
        + struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 0x32D, 45, 0, 0, 1, 1, 51, 40)
        + struct.pack("<4sIQI", b"PK\x06\x07", 0, 91, 1) + end_records(1, 40, 51),
        "end of the zip at byte 91 is not in the pinned form: end signature: expected 504b0506, "
        "observed 504b0606",
    ),
}  # fmt: skip


@pytest.mark.hostile
@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(data: bytes, message: str) -> None:
    """Whatever the writer would not have written is refused, with the entry, byte and field."""
    assert str(refusal(data)) == f"p.zip: {message}"


@pytest.mark.hostile
def test_refuses_names_twice() -> None:
    """Two entries of one name are refused where the second begins."""
    data = forge((HELLO, b"hello"), (member("a.txt", b"other", 40), b"other"))
    with pytest.raises(UnsafeEntryError) as caught:
        read(data)
    assert caught.value.path == "a.txt"
    assert "expected one entry of this name, observed another at byte 40" in str(caught.value)


@pytest.mark.hostile
def test_empty_entry_with_a_checksum() -> None:
    """An empty entry has the checksum of nothing."""
    error = refusal(forge((ZipMember("a", 0, 0, 1, False, False, 0), b"")))
    assert str(error) == (
        "p.zip: entry 'a': checksum differs: expected 00000001, observed 00000000"
    )


def deflated(content: bytes, claimed: int, stored: bytes | None = None) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(content) + packer.flush() if stored is None else stored
    one = ZipMember("a", claimed, len(data), zlib.crc32(content[:claimed]), True, False, 0)
    return forge((one, data))


RAW = zlib.compress(bytes(1000), 9, wbits=-15)


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (deflated(bytes(1000), 999), "size: expected 999 bytes, observed more"),
        (deflated(bytes(1000), 1001), "size: expected 1001 bytes, observed 1000 bytes"),
        (deflated(bytes(1000), 1000, RAW[:-1]),
         "size: expected 1000 bytes, observed a deflate stream cut off after 1000"),
        (deflated(bytes(1000), 1000, RAW + b"\0"), "deflated size: expected 12 bytes, observed 11"),
        (deflated(bytes(1000), 1000, b"\xff" * 9),
         "damaged deflate stream: Error -3 while decompressing data: invalid block type"),
        (deflated(bytes(1000), 1000, zlib.compress(b"\1" + bytes(999), 9, wbits=-15)),
         "checksum differs: expected 060b1780, observed f7927f10"),
    ],
    ids=["longer", "shorter", "cut", "surplus", "damaged", "other"],
)  # fmt: skip
def test_refuses_lying_deflate(data: bytes, problem: str) -> None:
    """A deflated entry ends exactly where its header says, in both sizes."""
    assert str(refusal(data)) == f"p.zip: entry 'a': {problem}"


@pytest.mark.hostile
def test_deflate_ratio() -> None:
    """Above a mebibyte an entry may not expand by more than 200, and nothing is inflated."""
    data = deflated(bytes(2**20 + 1), 2**20 + 1)
    with pytest.raises(LimitExceededError) as caught:
        read(data)
    assert caught.value.limit == "max_deflate_ratio"
    assert caught.value.allowed == 200
    assert read(data, Limits(max_deflate_ratio=2000)) == {"a": bytes(2**20 + 1)}
    assert read(deflated(bytes(2**20), 2**20)) == {"a": bytes(2**20)}


@pytest.mark.hostile
def test_limits() -> None:
    """Too many entries and too long names are refused by the limit's name."""
    with pytest.raises(LimitExceededError) as caught:
        read(PAIR, Limits(max_entries=1))
    assert str(caught.value) == "p.zip: limit max_entries exceeded: allowed 1, observed 2"
    with pytest.raises(LimitExceededError) as caught:
        read(PAIR, Limits(max_name_bytes=4))
    assert caught.value.limit == "max_name_bytes"
    assert read(PAIR, Limits(max_entries=2, max_name_bytes=5))


# ---------------------------------------------------------------- zip64

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
    assert end_records(1, 2**32, 5)[-22:].hex() == "504b050600000000" + "0100010005000000ffffffff0000"


def test_zip64_sparse_file(tmp_path: Path) -> None:
    """An entry of 5 GiB, and one behind it, are found here and by the standard library."""
    path = tmp_path / "big.zip"
    first = ZipMember("big", 5 * 2**30, 5 * 2**30, 0, False, False, 0)
    second = member("b", b"hello", len(local_header(first)) + first.size)
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
    data = build(*((name, b"") for name in names))
    assert data[-98:-94] == b"PK\x06\x06"
    assert list(ArchiveReader(io.BytesIO(data), where="p.zip").members) == names
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == names


@pytest.mark.parametrize("deflate", [False, True], ids=["stored", "deflated"])
def test_zip64_forms_round_trip(monkeypatch: pytest.MonkeyPatch, deflate: bool) -> None:
    """With lower thresholds every zip64 form is written, and read here and elsewhere."""
    monkeypatch.setattr(zip_layout, "ZIP64_FROM_BYTES", 100)
    monkeypatch.setattr(zip_layout, "ZIP64_FROM_ENTRIES", 3)
    files = {"a": b"x" * 99, "b": b"y" * 100, "c": b"", "d": b"z" * 1000}
    data = build(*files.items(), deflate=deflate)
    assert read(data) == files
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == files
    for offset in range(len(data)):
        try:
            assert read(patched(data, offset, bytes([data[offset] ^ 1]))) == files
            assert deflate
        except PackageFormatError:
            pass
    monkeypatch.undo()
    refusal(data)


# ---------------------------------------------------------------- a forgiving look


def test_peek_ordinary_zips() -> None:
    """The manifest of a zip made by other means can be looked at, to say what it is."""
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as archive:
            archive.comment = b"a comment"
            archive.writestr("other", b"x" * 100)
            archive.writestr("manifest.json", b'{"format": "repropack"}')
        assert peek_member(stream, "manifest.json", max_bytes=99) == b'{"format": "repropack"}'
        assert peek_member(stream, "other", max_bytes=14)[:9] == b"x" * 9
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
