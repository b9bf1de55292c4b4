"""Everything that the strict zip reader refuses, and in which words."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest

from repropack._format.archive_reader import ArchiveReader
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.limits import Limits
from repropack._format.zip_layout import ZipMember, directory_header, end_records, local_header
from repropack.errors import LimitExceededError, UnsafeEntryError
from tests.support.archives import PAIR, forge_zip, make_member, patched, read_zip, refuse_zip


@pytest.mark.parametrize(
    ("data", "observed"),
    [
        (b"", "an empty file"),
        (b"\x93NUMPY", "934e554d"),
        (b"PK", "504b"),
        (b"\0" + PAIR, "00504b03"),
    ],
    ids=["empty", "npy", "short", "prefix"],
)
def test_not_a_zip(data: bytes, observed: str) -> None:
    """A file that is no zip is told so, with what it begins with."""
    assert str(refuse_zip(data)) == (
        "p.zip: not a zip archive: expected a local file header (504b0304) at byte 0, "
        f"observed {observed}"
    )


def test_ordinary_zip() -> None:
    """A zip made by other means is told that it is not in the pinned form, and what to do."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(zipfile.ZipInfo("manifest.json"), b"{}")
    error = refuse_zip(stream.getvalue())
    assert str(error) == (
        "p.zip: entry 'manifest.json': local header at byte 0 is not in the pinned form: "
        "flags: expected 0x0800, observed 0x0000"
    )
    assert error.hint == "use the original file: this one is damaged or has been zipped again"


HELLO = make_member("a.txt", b"hello", 0)
LATER = make_member("b.sh", b"#!/bin/sh\n", 40, executable=True)

REFUSED = {
    "encrypted": (
        patched(PAIR, 6, b"\x01\x08"),
        ("entry 'a.txt': local header at byte 0 is not in the pinned form: flags: expected 0x0800, "
        "observed 0x0801"),
    ),
    "descriptor": (
        patched(PAIR, 46, b"\x08\x08"),
        ("entry 'b.sh': local header at byte 40 is not in the pinned form: flags: expected 0x0800, "
        "observed 0x0808"),
    ),
    "method": (
        patched(PAIR, 8, b"\x0c"),
        ("entry 'a.txt': local header at byte 0 is not in the pinned form: method: expected 0 "
        "(stored) or 8 (deflated), observed 12"),
    ),
    "time": (
        patched(PAIR, 10, b"\x01"),
        ("entry 'a.txt': local header at byte 0 is not in the pinned form: time: expected 0x0000, "
        "observed 0x0001"),
    ),
    "lying-size": (
        patched(PAIR, 22, b"\x04"),
        ("entry 'a.txt': local header at byte 0 is not in the pinned form: stored size: expected "
        "4, observed 5"),
    ),
    "deflated-not-smaller": (
        patched(PAIR, 8, b"\x08"),
        ("entry 'a.txt': local header at byte 0 is not in the pinned form: stored size: expected "
        "less than 5, observed 5"),
    ),
    "signature": (
        patched(PAIR, 40, b"XX"),
        ("entry 'b.sh': local header at byte 40 is not in the pinned form: signature: expected "
        "504b0304, observed 58580304"),
    ),
    "directory-signature": (
        patched(PAIR, 84, b"XX"),
        ("entry 'a.txt': directory header at byte 84 is not in the pinned form: signature: "
        "expected 504b0102, observed 0x02015858"),
    ),
    "directory-name": (
        patched(PAIR, 84 + 46, b"z"),
        ("entry 'a.txt': directory header at byte 84 is not in the pinned form: name or extra "
        "field: expected b'a.txt', observed b'z.txt'"),
    ),
    "directory-checksum": (
        patched(PAIR, 14, b"\x00"),
        ("entry 'a.txt': directory header at byte 84 is not in the pinned form: checksum: expected "
        "0x3610a600, observed 0x3610a686"),
    ),
    "mode": (
        patched(PAIR, 84 + 40, b"\xff\xa1"),
        ("entry 'a.txt': directory header at byte 84 is not in the pinned form: external "
        "attributes: expected 0x81a40000, observed 0xa1ff0000"),
    ),
    "name-not-utf-8": (
        patched(PAIR, 30, b"\xff"),
        ("entry 'a.txt': local header at byte 0 is not in the pinned form: name: expected UTF-8, "
        "observed b'\\xff.txt'"),
    ),
    "size-beyond-the-end": (
        forge_zip((ZipMember("a", 10**6, 10**6, 0, False, False, 0), b"")),
        ("entry 'a': expected 1000000 bytes of content, observed the end of the file 999931 bytes "
        "earlier"),
    ),
    "gap": (
        PAIR[:40] + b"\0" + PAIR[40:],
        ("entry 'a.txt': expected another entry or the directory at byte 40, where this one ends, "
        "observed 00504b03"),
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
        ("entry 'b.sh': expected another entry or the directory at byte 84, where this one ends, "
        "observed the end of the file"),
    ),
    "cut-in-directory": (
        PAIR[:90],
        ("entry 'a.txt': directory header at byte 84 is not in the pinned form: version needed: "
        "expected 0x0014, observed the end of the file"),
    ),
    "cut-at-the-end": (
        PAIR[:-1],
        ("end of the zip at byte 185 is not in the pinned form: comment length: expected 0x0000, "
        "observed 0x00"),
    ),
    "comment": (
        PAIR[:-2] + b"\x03\x00abc",
        ("end of the zip at byte 185 is not in the pinned form: comment length: expected 0x0000, "
        "observed 0x0003"),
    ),
    "suffix": (
        PAIR + b"abc",
        "expected the end of the file at byte 207, observed 3 bytes more",
    ),
    "entry-count": (
        patched(PAIR, 185 + 8, b"\x01"),
        ("end of the zip at byte 185 is not in the pinned form: entries on disk: expected 0x0002, "
        "observed 0x0001"),
    ),
    "entry-not-listed": (
        local_header(HELLO) + b"hello" + end_records(0, 40, 0),
        ("entry 'a.txt': directory header at byte 40 is not in the pinned form: signature: "
        "expected 504b0102, observed 504b0506"),
    ),
    "no-entry-but-listed": (
        directory_header(HELLO) + end_records(1, 0, 51),
        ("entry 'a.txt': local header at byte 0 is not in the pinned form: signature: expected "
        "504b0304, observed 504b0102"),
    ),
    "overlap": (
        local_header(HELLO) + b"hello" + 2 * directory_header(HELLO) + end_records(2, 40, 102),
        ("end of the zip at byte 91 is not in the pinned form: end signature: expected 504b0506, "
        "observed 504b0102"),
    ),
    "zip64-without-need": (
        local_header(HELLO) + b"hello" + directory_header(HELLO)
        + struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 0x32D, 45, 0, 0, 1, 1, 51, 40)
        + struct.pack("<4sIQI", b"PK\x06\x07", 0, 91, 1) + end_records(1, 40, 51),
        ("end of the zip at byte 91 is not in the pinned form: end signature: expected 504b0506, "
        "observed 504b0606"),
    ),
}  # fmt: skip


@pytest.mark.hostile
@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(data: bytes, message: str) -> None:
    """Whatever the writer would not have written is refused, with the entry, byte and field."""
    assert str(refuse_zip(data)) == f"p.zip: {message}"


@pytest.mark.hostile
def test_refuses_names_twice() -> None:
    """Two entries of one name are refused where the second begins."""
    data = forge_zip((HELLO, b"hello"), (make_member("a.txt", b"other", 40), b"other"))
    with pytest.raises(UnsafeEntryError) as caught:
        read_zip(data)
    assert caught.value.entry == "a.txt"
    assert "expected one entry of this name, observed another at byte 40" in str(caught.value)


@pytest.mark.hostile
def test_empty_entry_with_a_checksum() -> None:
    """An empty entry has the checksum of nothing."""
    error = refuse_zip(forge_zip((ZipMember("a", 0, 0, 1, False, False, 0), b"")))
    assert str(error) == (
        "p.zip: entry 'a': checksum differs: expected 00000001, observed 00000000"
    )


def deflated(content: bytes, claimed: int, stored: bytes | None = None) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(content) + packer.flush() if stored is None else stored
    one = ZipMember("a", claimed, len(data), zlib.crc32(content[:claimed]), True, False, 0)
    return forge_zip((one, data))


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
         ("damaged deflate stream: expected what zlib can inflate, "
          "observed Error -3 while decompressing data: invalid block type")),
        (deflated(bytes(1000), 1000, zlib.compress(b"\1" + bytes(999), 9, wbits=-15)),
         "checksum differs: expected 060b1780, observed f7927f10"),
    ],
    ids=["longer", "shorter", "cut", "surplus", "damaged", "other"],
)  # fmt: skip
def test_refuses_lying_deflate(data: bytes, problem: str) -> None:
    """A deflated entry ends exactly where its header says, in both sizes."""
    assert str(refuse_zip(data)) == f"p.zip: entry 'a': {problem}"


def test_deflate_that_ends_late() -> None:
    """A deflate stream may go on without content, and is followed to its end."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(bytes(200_000))
    data += b"".join(packer.flush(zlib.Z_FULL_FLUSH) + b"\0\0\0\xff\xff" for _ in range(20_000))
    assert read_zip(deflated(bytes(200_000), 200_000, data + packer.flush()))
    error = refuse_zip(deflated(bytes(200_000), 200_000, data + b"\x4b\x04\x00"))
    assert str(error) == "p.zip: entry 'a': size: expected 200000 bytes, observed more"


@pytest.mark.hostile
def test_deflate_ratio() -> None:
    """Above a mebibyte an entry may not expand by more than 200, and nothing is inflated."""
    data = deflated(bytes(2**20 + 1), 2**20 + 1)
    with pytest.raises(LimitExceededError) as caught:
        read_zip(data)
    assert caught.value.limit == "max_deflate_ratio"
    assert caught.value.allowed == 200
    assert read_zip(data, Limits(max_deflate_ratio=2000)) == {"a": bytes(2**20 + 1)}
    assert read_zip(deflated(bytes(2**20), 2**20)) == {"a": bytes(2**20)}


@pytest.mark.hostile
def test_limits() -> None:
    """Too many entries and too long names are refused by the limit's name."""
    with pytest.raises(LimitExceededError) as caught:
        read_zip(PAIR, Limits(max_entries=1))
    assert str(caught.value) == "p.zip: limit max_entries exceeded: allowed 1, observed 2"
    with pytest.raises(LimitExceededError) as caught:
        read_zip(PAIR, Limits(max_name_bytes=4))
    assert caught.value.limit == "max_name_bytes"
    assert read_zip(PAIR, Limits(max_entries=2, max_name_bytes=5))


@pytest.mark.hostile
def test_what_all_entries_inflate_to_is_limited() -> None:
    """Together, before any is inflated; what is stored does not count."""
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for name in ("a", "b"):
        writer.add(name, bytes(1000), deflate=True)
    writer.add("c", b"x" * 5000)
    writer.finish()
    limits = Limits(max_inflated_bytes=2000)
    assert set(ArchiveReader(stream, where="p.zip", limits=limits).members) == {"a", "b", "c"}
    with pytest.raises(LimitExceededError) as caught:
        ArchiveReader(stream, where="p.zip", limits=Limits(max_inflated_bytes=1999))
    assert (caught.value.rule, caught.value.entry) == ("limit.max_inflated_bytes", "p.zip")
    assert caught.value.observed == "2000"
