"""Writes zips whose every byte follows from names, contents and modes alone.

Sizes and checksum are known before a header is written, so each source is read twice and the
output is never sought in. Memory is independent of sizes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from repropack._format.limits import DEFAULT_LIMITS, MEBIBYTE
from repropack._format.zip_layout import (
    ZipMember,
    directory_header,
    end_records,
    local_header,
)
from repropack.errors import IntegrityError, UnsafeEntryError
from repropack.refusals import refusal

BLOCK_BYTES = MEBIBYTE
_DEFLATE_LEVEL = 6

Blocks = Callable[[], Iterable[bytes | memoryview]]
"""Gives the content from its beginning each time it is called."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a pass over a source found: ``size`` and ``deflated_size`` in bytes."""

    size: int
    crc: int
    deflated_size: int | None


class ArchiveWriter:
    """Writes one zip, entry by entry, in the order in which they are added.

    Determinism:
        Equal entries in equal order give equal bytes on every system. Deflated bytes (only
        with ``deflate``) depend on the zlib build; contents never do.

    Example:
        >>> from io import BytesIO
        >>> stream = BytesIO()
        >>> writer = ArchiveWriter(stream)
        >>> writer.add("a.txt", b"hello").crc
        907060870
        >>> writer.finish()
        >>> len(stream.getvalue())
        113
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Begin a zip.

        Args:
            stream: Where the bytes go, from byte 0 of the zip; written in order, never sought.
        """
        self._stream = stream
        self._position = 0
        self._members: dict[str, ZipMember] = {}

    def add(
        self,
        name: str,
        source: BinaryIO | bytes,
        *,
        size: int | None = None,
        executable: bool = False,
        deflate: bool = False,
    ) -> ZipMember:
        """Add one entry.

        Args:
            name: The entry's path; rules beyond uniqueness and length are the caller's.
            source: Its content: bytes, or a seekable stream read from where it stands to its
                end, twice.
            size: Length that the content must have, in bytes; ``None`` where any will do.
            executable: Whether its mode is 0755 instead of 0644.
            deflate: Deflate it, unless that would not make it smaller or would exceed the
                ratio that a reader accepts.

        Returns:
            The entry as it was written.

        Raises:
            UnsafeEntryError: The name was added before, is empty, too long or not Unicode.
            IntegrityError: The content has another length, or changed between the two passes.
        """
        if isinstance(source, bytes):
            content = source

            def blocks() -> Iterable[bytes | memoryview]:
                return split_blocks(memoryview(content))

        else:
            stream, start = source, source.tell()

            def blocks() -> Iterable[bytes | memoryview]:
                stream.seek(start)
                return iter(lambda: stream.read(BLOCK_BYTES), b"")

        return self.add_blocks(name, blocks, size=size, executable=executable, deflate=deflate)

    def add_blocks(
        self,
        name: str,
        blocks: Blocks,
        *,
        size: int | None = None,
        executable: bool = False,
        deflate: bool = False,
    ) -> ZipMember:
        """Add one entry whose content comes in blocks; as ``add`` in all else.

        Args:
            name: The entry's path.
            blocks: Called twice; gives the content from its beginning, in blocks of any size.
            size: Length that the content must have, in bytes; ``None`` where any will do.
            executable: Whether its mode is 0755 instead of 0644.
            deflate: Deflate it where that helps.

        Returns:
            The entry as it was written.

        Raises:
            UnsafeEntryError: The name was added before, is empty, too long or not Unicode.
            IntegrityError: The content has another length, or changed between the two passes.
        """
        self._check_name(name)
        first = _measure(blocks(), deflate=deflate)
        if size is not None and first.size != size:
            expected = f"{size} bytes"
            raise IntegrityError(
                refusal("write.changed", name, "length differs", expected, first.size)
            )
        deflated = _worth_deflating(first)
        stored_size = first.deflated_size if deflated and first.deflated_size else first.size
        member = ZipMember(
            name, first.size, stored_size, first.crc, deflated, executable, self._position
        )
        self._write(local_header(member))
        self._write_content(member, blocks())
        self._members[name] = member
        return member

    def finish(self) -> None:
        """Write the directory and the end of the zip. Nothing can be added after it."""
        offset = self._position
        for member in self._members.values():
            self._write(directory_header(member))
        self._write(end_records(len(self._members), offset, self._position - offset))

    def _write_content(self, member: ZipMember, blocks: Iterable[bytes | memoryview]) -> None:
        """Write the content a second time read, and demand that it is still the same."""
        start, size, crc = self._position, 0, 0
        deflater = _deflater() if member.deflated else None
        for block in blocks:
            size += len(block)
            crc = zlib.crc32(block, crc)
            self._write(block if deflater is None else deflater.compress(block))
        if deflater is not None:
            self._write(deflater.flush())
        observed = (size, crc, self._position - start)
        if observed != (member.size, member.crc, member.stored_size):
            raise IntegrityError(
                refusal(
                    "write.changed",
                    member.name,
                    "changed while it was being packed",
                    f"{member.size} bytes with checksum {member.crc:08x}",
                    f"{size} with {crc:08x}",
                )
            )

    def _write(self, data: bytes | memoryview) -> None:
        """Write all of the bytes, also to a stream that takes them in parts."""
        written = self._stream.write(data)
        while written < len(data):
            written += self._stream.write(data[written:])
        self._position += len(data)

    def _check_name(self, name: str) -> None:
        if name in self._members:
            raise UnsafeEntryError(
                refusal("zip.name-twice", name, "", "one entry of this name", "another")
            )
        try:
            length = len(name.encode())
        except UnicodeEncodeError as error:
            observed = f"a surrogate at character {error.start}"
            raise UnsafeEntryError(
                refusal("path.encoding", name, "", "Unicode text", observed)
            ) from error
        if not 0 < length <= DEFAULT_LIMITS.max_name_bytes:
            allowed = DEFAULT_LIMITS.max_name_bytes
            raise UnsafeEntryError(
                refusal("path.length", name, "", f"1 to {allowed} bytes", length)
            )


def split_blocks(data: memoryview) -> Iterator[memoryview]:
    """Yield consecutive views of at most a mebibyte of a flat view of bytes."""
    for start in range(0, len(data), BLOCK_BYTES):
        yield data[start : start + BLOCK_BYTES]


def _measure(blocks: Iterable[bytes | memoryview], *, deflate: bool) -> _Measure:
    """Find size, checksum and, where wanted, the size after deflating."""
    size, crc, deflated_size = 0, 0, 0
    deflater = _deflater() if deflate else None
    for block in blocks:
        size += len(block)
        crc = zlib.crc32(block, crc)
        if deflater is not None:
            deflated_size += len(deflater.compress(block))
    if deflater is None:
        return _Measure(size, crc, None)
    return _Measure(size, crc, deflated_size + len(deflater.flush()))


def _worth_deflating(measure: _Measure) -> bool:
    """Whether an entry becomes smaller, and not so small that it looks like a bomb."""
    if measure.deflated_size is None or measure.deflated_size >= measure.size:
        return False
    ratio = DEFAULT_LIMITS.max_deflate_ratio
    return measure.size <= MEBIBYTE or measure.size <= ratio * measure.deflated_size


def _deflater() -> zlib._Compress:
    return zlib.compressobj(_DEFLATE_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
