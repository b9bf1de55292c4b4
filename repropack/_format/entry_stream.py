"""The content of one zip entry as a read-only stream that checks itself while it is read.

A stored entry is read where it lies; a deflated one is inflated as it is asked for, never beyond
its stated size. Several streams may share one file, also from several threads.
"""

from __future__ import annotations

import io
import threading
import zlib
from typing import TYPE_CHECKING, BinaryIO, NoReturn, cast

from repropack._format.limits import MEBIBYTE, Limits
from repropack._format.zip_layout import ZipMember, local_header
from repropack._format.zip_origin import Origin
from repropack.errors import PackageFormatError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_COMPRESSED_BLOCK_BYTES = 64 * 1024
_SKIP_BLOCK_BYTES = 64 * 1024
MAX_BUFFER_BYTES = 256 * 1024


class SharedFile:
    """A seekable file that several streams read from, each at a place of its own."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = cast("io.BufferedIOBase", stream)
        self._lock = threading.Lock()

    def readinto_at(self, offset: int, view: memoryview) -> int:
        """Read bytes from ``offset`` on into ``view`` and return how many; 0 at the end."""
        with self._lock:
            self._stream.seek(offset)
            return self._stream.readinto(view)


def open_entry(
    file: SharedFile,
    member: ZipMember,
    origin: Origin,
    limits: Limits,
    buffer_bytes: int = MAX_BUFFER_BYTES,
) -> io.BufferedReader:
    """Open the content of an entry whose header was verified.

    Sizes hold always. The checksum is verified as soon as every byte has been read in order,
    before the last of them are handed out; whoever seeks past bytes of a stored entry must
    have verified it by other means.

    Args:
        file: The zip.
        member: The entry.
        origin: Names the file; used in errors only.
        limits: Limit on the deflate ratio.
        buffer_bytes: Size of the stream's buffer, in bytes.

    Returns:
        A seekable read-only stream of exactly ``member.size`` bytes, which raises
        ``PackageFormatError`` while it is read where the content is damaged. Seeking
        backwards in a deflated entry inflates it again from its beginning.

    Raises:
        LimitExceededError: The entry would expand too much.
        PackageFormatError: The entry is empty, and its checksum is not.
    """
    if member.deflated and member.size > MEBIBYTE:
        ratio = -(-member.size // max(member.stored_size, 1))
        if ratio > limits.max_deflate_ratio:
            bounds = (limits.max_deflate_ratio, ratio)
            raise origin.limit("max_deflate_ratio", member.name, "", bounds)
    kind = _InflatedEntry if member.deflated else _StoredEntry
    return io.BufferedReader(kind(file, member, origin), max(1, min(member.size, buffer_bytes)))


class _StoredEntry(io.RawIOBase):
    """The content of a stored entry."""

    def __init__(self, file: SharedFile, member: ZipMember, origin: Origin) -> None:
        super().__init__()
        self._file = file
        self._member = member
        self._origin = origin
        self._data_offset = member.offset + len(local_header(member))
        self._position = 0
        self._checked = 0  # so many bytes from the beginning are in the checksum
        self._crc = 0
        if member.size == 0:
            self._verify(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = (0, self._position, self._member.size)[whence]
        if base + offset < 0:
            raise ValueError(f"{self._member.name}: negative seek position {base + offset}")
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        view = view[: max(0, self._member.size - self._position)]
        if not view:
            return 0
        count = self._fill(view)
        self._account(self._position, view[:count])
        self._position += count
        return count

    def _fill(self, view: memoryview) -> int:
        """Read content from the present position on; at least one byte."""
        count = self._file.readinto_at(self._data_offset + self._position, view)
        if not count:
            observed = f"the end of the file after {self._position}"
            self._refuse("zip.cut", "", f"{self._member.size} bytes", observed)
        return count

    def _account(self, position: int, data: memoryview) -> None:
        """Take bytes into the checksum where they continue it, and verify it at the end."""
        end = position + len(data)
        if not position <= self._checked < end:
            return
        crc = zlib.crc32(data[self._checked - position :], self._crc)
        if end == self._member.size:
            self._verify(crc)
        self._checked, self._crc = end, crc

    def _verify(self, crc: int) -> None:
        if crc != self._member.crc:
            expected, observed = f"{self._member.crc:08x}", f"{crc:08x}"
            self._refuse("zip.checksum", "checksum differs", expected, observed)

    def _refuse(self, rule: str, place: str, expected: str, observed: str) -> NoReturn:
        one = self._origin.refusal(rule, self._member.name, place, expected, observed)
        raise PackageFormatError(one, container=self._origin.where)


class _InflatedEntry(_StoredEntry):
    """The content of a deflated entry, inflated from its beginning on."""

    def __init__(self, file: SharedFile, member: ZipMember, origin: Origin) -> None:
        super().__init__(file, member, origin)
        self._rewind()

    def _rewind(self) -> None:
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._consumed = 0
        self._inflated = 0

    def _fill(self, view: memoryview) -> int:
        if self._position < self._inflated:
            self._rewind()
        while self._inflated < self._position:
            start = self._inflated
            skipped = self._inflate(min(self._position - start, _SKIP_BLOCK_BYTES))
            self._account(start, memoryview(skipped))
        data = self._inflate(len(view))
        view[: len(data)] = data
        return len(data)

    def _inflate(self, max_bytes: int) -> bytes:
        """Return at least one byte of the content that follows what was inflated before."""
        data = b""
        while not data:
            if self._inflater.eof:
                self._refuse_size(f"{self._inflated} bytes")
            data = self._step(max_bytes)
        self._inflated += len(data)
        if self._inflated == self._member.size:
            self._verify_end()
        return data

    def _verify_end(self) -> None:
        """Demand that the deflated stream ends here, and exactly at its stated size."""
        while not self._inflater.eof:
            if self._step(1):
                self._refuse_size("more")
        surplus = len(self._inflater.unused_data) + self._member.stored_size - self._consumed
        if surplus:
            stored = self._member.stored_size
            self._refuse("zip.deflate", "deflated size", f"{stored} bytes", f"{stored - surplus}")

    def _step(self, max_bytes: int) -> bytes:
        """Feed the inflater once; raise where its input is damaged or ends too early."""
        block = self._inflater.unconsumed_tail or self._next_block()
        try:
            data = self._inflater.decompress(block, max_bytes)
        except zlib.error as error:
            one = self._origin.refusal(
                "zip.deflate",
                self._member.name,
                "damaged deflate stream",
                "what zlib can inflate",
                error,
            )
            raise PackageFormatError(one, container=self._origin.where) from error
        if not data and not block and not self._inflater.eof:
            self._refuse_size(f"a deflate stream cut off after {self._inflated}")
        return data

    def _next_block(self) -> bytes:
        view = memoryview(
            bytearray(min(_COMPRESSED_BLOCK_BYTES, self._member.stored_size - self._consumed))
        )
        if not view:
            return b""
        count = self._file.readinto_at(self._data_offset + self._consumed, view)
        self._consumed += count
        return bytes(view[:count])

    def _refuse_size(self, observed: str) -> NoReturn:
        self._refuse("zip.deflate", "size", f"{self._member.size} bytes", observed)
