"""A forgiving look at a zip that was refused, so that the refusal can be put in words.

Nothing found here is ever trusted or handed on as content: it names the entry that a damaged
header belongs to, and tells a foreign format by its manifest.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import BinaryIO

from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.zip_layout import (
    DIRECTORY_SIGNATURE,
    DIRECTORY_STRUCT,
    END_SIGNATURE,
    END_STRUCT,
    LOCAL_STRUCT,
    SIZE_ELSEWHERE,
    STORED,
    ZIP64_END_SIGNATURE,
    ZIP64_END_STRUCT,
    ZIP64_LOCATOR_SIGNATURE,
    ZIP64_LOCATOR_STRUCT,
)

_MAX_COMMENT_BYTES = 0xFFFF


@dataclass(frozen=True, slots=True)
class ZipSketch:
    """What a directory seems to say, by offset of the local header; all numbers in bytes."""

    directory_offset: int = -1
    names: dict[int, str] = field(default_factory=dict)
    stored_sizes: dict[int, int] = field(default_factory=dict)


def sketch_directory(stream: BinaryIO, limits: Limits = DEFAULT_LIMITS) -> ZipSketch:
    """Read the directory of any zip as far as it can be made out.

    Args:
        stream: The whole file, seekable.
        limits: At most ``max_entries`` entries are looked at.

    Returns:
        What was found; empty where there is no end record.
    """
    offset = _directory_offset(stream)
    sketch = ZipSketch(offset)
    if offset < 0:
        return sketch
    stream.seek(offset)
    while len(sketch.names) < limits.max_entries:
        fixed = stream.read(DIRECTORY_STRUCT.size)
        if len(fixed) < DIRECTORY_STRUCT.size:
            break
        fields = DIRECTORY_STRUCT.unpack(fixed)
        name_length, extra_length, comment_length = fields[10:13]
        at = fields[16]
        rest = stream.read(name_length + extra_length + comment_length)
        if fixed[:4] != DIRECTORY_SIGNATURE and sketch.names:
            break
        if at == SIZE_ELSEWHERE and extra_length >= 8 and len(rest) >= name_length + extra_length:
            (at,) = struct.unpack_from("<Q", rest[name_length : name_length + extra_length][-8:])
        sketch.names[at] = rest[:name_length].decode("utf-8", "backslashreplace")
        sketch.stored_sizes[at] = fields[8]
    return sketch


def peek_member(
    stream: BinaryIO, name: str, *, max_bytes: int, limits: Limits = DEFAULT_LIMITS
) -> bytes | None:
    """Read a member of any zip, only to say what kind of file it belongs to.

    Args:
        stream: The whole file, seekable.
        name: Path of the member.
        max_bytes: At most as many bytes of its content are returned.
        limits: At most ``max_entries`` entries are looked at.

    Returns:
        The beginning of what seems to be its content; ``None`` where that cannot be made out.
    """
    sketch = sketch_directory(stream, limits)
    found = [at for at, other in sketch.names.items() if other == name]
    if not found:
        return None
    stream.seek(found[0])
    fixed = stream.read(LOCAL_STRUCT.size)
    if len(fixed) < LOCAL_STRUCT.size:
        return None
    _, _, _, method, *_, name_length, extra_length = LOCAL_STRUCT.unpack(fixed)
    stream.seek(found[0] + LOCAL_STRUCT.size + name_length + extra_length)
    data = stream.read(min(sketch.stored_sizes[found[0]], max_bytes))
    if method == STORED:
        return data
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, max_bytes)
    except zlib.error:
        return None


def _directory_offset(stream: BinaryIO) -> int:
    """Find where the directory seems to begin, or -1."""
    size = stream.seek(0, 2)
    tail_bytes = min(size, END_STRUCT.size + _MAX_COMMENT_BYTES + ZIP64_LOCATOR_STRUCT.size)
    stream.seek(size - tail_bytes)
    tail = stream.read(tail_bytes)
    end = tail.rfind(END_SIGNATURE)
    if end < 0 or len(tail) - end < END_STRUCT.size:
        return -1
    offset: int = END_STRUCT.unpack_from(tail, end)[6]
    locator = end - ZIP64_LOCATOR_STRUCT.size
    if locator >= 0 and tail.startswith(ZIP64_LOCATOR_SIGNATURE, locator):
        at = ZIP64_LOCATOR_STRUCT.unpack_from(tail, locator)[2]
        stream.seek(min(at, size))
        record = stream.read(ZIP64_END_STRUCT.size)
        if len(record) == ZIP64_END_STRUCT.size and record.startswith(ZIP64_END_SIGNATURE):
            offset = ZIP64_END_STRUCT.unpack(record)[-1]
    return offset if offset < size else -1
