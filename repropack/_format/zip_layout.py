"""The pinned bytes of a zip: every header as a pure function of what an entry is.

Writer and reader share these functions. The reader parses a header only to build it again and
demand equality, so no field can say anything that the writer would not have said.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

Fields = tuple[tuple[str, int], ...]

LOCAL_SIGNATURE = b"PK\x03\x04"
DIRECTORY_SIGNATURE = b"PK\x01\x02"
ZIP64_END_SIGNATURE = b"PK\x06\x06"
ZIP64_LOCATOR_SIGNATURE = b"PK\x06\x07"
END_SIGNATURE = b"PK\x05\x06"

LOCAL_STRUCT = struct.Struct("<4s5H3I2H")
DIRECTORY_STRUCT = struct.Struct("<4s6H3I5H2I")
ZIP64_END_STRUCT = struct.Struct("<4sQ2H2I4Q")
ZIP64_LOCATOR_STRUCT = struct.Struct("<4sIQI")
END_STRUCT = struct.Struct("<4s4H2IH")

STORED, DEFLATED = 0, 8
SIZE_ELSEWHERE = 0xFFFFFFFF
"""What a 32-bit size or offset says when the zip64 extra field holds it."""
COUNT_ELSEWHERE = 0xFFFF
ZIP64_FROM_BYTES = 0xFFFFFFFF
"""Smallest size or offset that is held in zip64 form."""
ZIP64_FROM_ENTRIES = 0xFFFF
"""Smallest number of entries that is held in zip64 form."""

_PLAIN_VERSION, _ZIP64_VERSION = 20, 45
_MADE_BY_UNIX = 3 << 8
_UTF8_FLAG = 0x0800
_TIME = 0
_DATE = 1 << 5 | 1  # 1980-01-01
_FILE_MODE, _EXECUTABLE_MODE = 0o100644, 0o100755
_ZIP64_EXTRA_ID = 1

LOCAL_FIELDS: Fields = (
    ("signature", 4),
    ("version needed", 2),
    ("flags", 2),
    ("method", 2),
    ("time", 2),
    ("date", 2),
    ("checksum", 4),
    ("stored size", 4),
    ("size", 4),
    ("name length", 2),
    ("extra length", 2),
)
DIRECTORY_FIELDS: Fields = (
    ("signature", 4),
    ("version made by", 2),
    *LOCAL_FIELDS[1:],
    ("comment length", 2),
    ("disk", 2),
    ("internal attributes", 2),
    ("external attributes", 4),
    ("offset", 4),
)
_ZIP64_END_FIELDS: Fields = (
    ("zip64 end signature", 4),
    ("zip64 end length", 8),
    ("version made by", 2),
    ("version needed", 2),
    ("disk", 4),
    ("directory disk", 4),
    ("entries on disk", 8),
    ("entries", 8),
    ("directory size", 8),
    ("directory offset", 8),
    ("zip64 locator signature", 4),
    ("zip64 end disk", 4),
    ("zip64 end offset", 8),
    ("disks", 4),
)
_END_FIELDS: Fields = (
    ("end signature", 4),
    ("disk", 2),
    ("directory disk", 2),
    ("entries on disk", 2),
    ("entries", 2),
    ("directory size", 4),
    ("directory offset", 4),
    ("comment length", 2),
)


RULE_OF_FIELD = {
    "version needed": "zip.version",
    "version made by": "zip.version",
    "flags": "zip.flags",
    "method": "zip.method",
    "time": "zip.time",
    "date": "zip.time",
    "stored size": "zip.sizes",
    "size": "zip.sizes",
    "name": "zip.name",
    "name length": "zip.name",
    "extra length": "zip.extra-field",
    "comment length": "zip.comment",
    "disk": "zip.disk",
    "internal attributes": "zip.attributes",
    "external attributes": "zip.mode",
    "offset": "zip.offset",
}
"""The rule that a header breaks by a field; by any other it breaks that of its kind of header."""

Difference = tuple[str, str, str]
"""A field, and its value as expected and as observed."""


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One entry of a zip.

    ``size`` and ``stored_size`` in bytes, before and after deflating, equal when it is stored;
    ``crc`` is the CRC-32 of the content; ``offset`` is where its local header begins, in bytes.
    """

    name: str
    size: int
    stored_size: int
    crc: int
    deflated: bool
    executable: bool
    offset: int

    @property
    def zip64_sizes(self) -> bool:
        """Whether the sizes are held in the zip64 extra field."""
        return max(self.size, self.stored_size) >= ZIP64_FROM_BYTES

    @property
    def zip64_offset(self) -> bool:
        """Whether the offset is held in the zip64 extra field of the directory."""
        return self.offset >= ZIP64_FROM_BYTES


def local_header(member: ZipMember) -> bytes:
    """Return the header that stands before the entry's bytes.

    Args:
        member: The entry; ``executable`` has no part in this header.

    Returns:
        Fixed part of 30 bytes, name, and the zip64 extra field where a size needs it.
    """
    name = member.name.encode()
    extra = _zip64_extra((member.size, member.stored_size) if member.zip64_sizes else ())
    common = _common_fields(member, name, extra)
    return LOCAL_STRUCT.pack(LOCAL_SIGNATURE, *common) + name + extra


def directory_header(member: ZipMember) -> bytes:
    """Return the entry's record in the directory.

    Args:
        member: The entry, its offset included.

    Returns:
        Fixed part of 46 bytes, name, and the zip64 extra field where a size or the offset
        needs it.
    """
    name = member.name.encode()
    values = (member.size, member.stored_size) if member.zip64_sizes else ()
    extra = _zip64_extra((*values, member.offset) if member.zip64_offset else values)
    common = _common_fields(member, name, extra)
    mode = _EXECUTABLE_MODE if member.executable else _FILE_MODE
    offset = SIZE_ELSEWHERE if member.zip64_offset else member.offset
    fixed = DIRECTORY_STRUCT.pack(
        DIRECTORY_SIGNATURE, _MADE_BY_UNIX | common[0], *common, 0, 0, 0, mode << 16, offset
    )
    return fixed + name + extra


def end_records(count: int, directory_offset: int, directory_size: int) -> bytes:
    """Return what follows the directory: zip64 records only where needed, then the end record.

    Args:
        count: Number of entries.
        directory_offset: Where the directory begins, in bytes.
        directory_size: Length of the directory, in bytes.

    Returns:
        22 bytes, or 98 where one of the three does not fit a plain end record.
    """
    zip64 = needs_zip64_end(count, directory_offset, directory_size)
    records = b""
    if zip64:
        records = ZIP64_END_STRUCT.pack(
            ZIP64_END_SIGNATURE,
            ZIP64_END_STRUCT.size - 12,
            _MADE_BY_UNIX | _ZIP64_VERSION,
            _ZIP64_VERSION,
            0,
            0,
            count,
            count,
            directory_size,
            directory_offset,
        ) + ZIP64_LOCATOR_STRUCT.pack(
            ZIP64_LOCATOR_SIGNATURE, 0, directory_offset + directory_size, 1
        )
    short_count = COUNT_ELSEWHERE if count >= ZIP64_FROM_ENTRIES else count
    short_size, short_offset = (
        SIZE_ELSEWHERE if value >= ZIP64_FROM_BYTES else value
        for value in (directory_size, directory_offset)
    )
    return records + END_STRUCT.pack(
        END_SIGNATURE, 0, 0, short_count, short_count, short_size, short_offset, 0
    )


def needs_zip64_end(count: int, directory_offset: int, directory_size: int) -> bool:
    """Whether the number of entries, or where the directory lies, needs zip64 records."""
    return count >= ZIP64_FROM_ENTRIES or max(directory_offset, directory_size) >= ZIP64_FROM_BYTES


def end_fields(records: bytes) -> Fields:
    """Return the fields of what ``end_records`` returned."""
    return _END_FIELDS if len(records) == END_STRUCT.size else _ZIP64_END_FIELDS + _END_FIELDS


def first_difference(expected: bytes, observed: bytes, fields: Fields) -> Difference:
    """Say which field of a header differs first, for error messages.

    Args:
        expected: The header as it is pinned.
        observed: As many bytes of the file, or fewer where the file ends; not equal.
        fields: Names and widths in bytes of the fixed part; name and extra field follow it.

    Returns:
        The field, and both its values as text.
    """
    start = 0
    for field, width in fields:
        left, right = expected[start : start + width], observed[start : start + width]
        if left != right:
            return field, _shown(left), _shown(right)
        start += width
    left, right = expected[start:], observed[start:]
    return "name or extra field", repr(left[:100]), repr(right[:100])


def _shown(field: bytes) -> str:
    """Show a little-endian field: a signature as its bytes, any other as a number."""
    if not field:
        return "the end of the file"
    if field.startswith(b"PK"):
        return field.hex()
    return f"0x{int.from_bytes(field, 'little'):0{2 * len(field)}x}"


def _zip64_extra(values: tuple[int, ...]) -> bytes:
    if not values:
        return b""
    return struct.pack(f"<2H{len(values)}Q", _ZIP64_EXTRA_ID, 8 * len(values), *values)


def _common_fields(member: ZipMember, name: bytes, extra: bytes) -> tuple[int, ...]:
    """Return the fields that both headers share, from version needed to extra length."""
    zip64 = member.zip64_sizes or member.zip64_offset
    return (
        _ZIP64_VERSION if zip64 else _PLAIN_VERSION,
        _UTF8_FLAG,
        DEFLATED if member.deflated else STORED,
        _TIME,
        _DATE,
        member.crc,
        SIZE_ELSEWHERE if member.zip64_sizes else member.stored_size,
        SIZE_ELSEWHERE if member.zip64_sizes else member.size,
        len(name),
        len(extra),
    )
