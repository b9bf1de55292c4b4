"""A file as pieces of bytes in which a name can be found, however the file wraps them.

Plain files are pieces of themselves. The members of npz and other zips, compressed and plain text
chunks of PNG, what gzip holds, texts and images of a notebook come unwrapped. Elements of numeric
arrays and pixels are passed over. Files of any size are streamed.
"""

from __future__ import annotations

import re
import struct
import zlib
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO

from repropack._format.canonical import decode_strict
from repropack._format.limits import MEBIBYTE, Limits
from repropack._lint.subject import LintedFile
from repropack._lint.zips import ZIP_MAGIC, inflate, iter_members
from repropack.errors import PackageFormatError

OVERLAP_BYTES = 8192
"""What two blocks share, so that nothing is cut in two."""

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
GZIP_MAGIC = b"\x1f\x8b"
NPY_MAGIC = b"\x93NUMPY"
_NPY_TYPE = re.compile(rb"'descr': *'([<>|=]?)([a-zA-Z])([0-9]{0,9})'")
_OPAQUE_TYPES = (b"O", b"V")
_BYTES_A_CHARACTER = {b"S": 1, b"a": 1, b"U": 4}
_NPY_HEADER_BYTES = 4096
_PNG_TEXTS = (b"tEXt", b"zTXt", b"iTXt", b"eXIf")
_ANSI = re.compile(rb"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Piece:
    """Some bytes of a file.

    ``place`` says where in words, empty for the file itself; ``first_line`` is the line at which
    they begin, ``None`` where lines mean nothing; ``ends`` is false where the next piece goes on.
    """

    data: bytes
    place: str = ""
    first_line: int | None = None
    ends: bool = True

    @property
    def is_text(self) -> bool:
        """Whether it looks like text: names are searched there alone, for bytes spell anything."""
        return b"\0" not in self.data and b"\xff" not in self.data

    def line_at(self, offset: int) -> int | None:
        """Line of a byte, or ``None``."""
        if self.first_line is None:
            return None
        return self.first_line + self.data.count(b"\n", 0, offset)


def pieces_of(file: LintedFile, limits: Limits) -> Iterator[Piece]:
    """Yield a file's pieces: its own bytes where they are text, and what it wraps.

    Args:
        file: The file.
        limits: Bounds on documents, members and what deflated bytes may become.
    """
    yield Piece(file.path.encode("utf-8", "backslashreplace"), "its name")
    with file.open() as stream:
        yield from _unwrapped(stream, file.suffix, limits)


def _unwrapped(stream: BinaryIO, suffix: str, limits: Limits) -> Iterator[Piece]:
    head = stream.read(16)
    stream.seek(0)
    if head.startswith(ZIP_MAGIC):
        yield from _zip_pieces(stream, limits)
    elif head.startswith(NPY_MAGIC):
        yield from _npy_pieces(_stream_blocks(stream), "")
    elif head.startswith(PNG_MAGIC):
        yield from _png_pieces(stream, limits)
    elif head.startswith(GZIP_MAGIC):
        yield Piece(stream.read(OVERLAP_BYTES), "its gzip header")
        stream.seek(0)
        inflated = inflate(_stream_blocks(stream), zlib.MAX_WBITS | 16, limits.max_inflated_bytes)
        yield from _joined(inflated, "what it deflates", 1)
    else:
        yield from _joined(_stream_blocks(stream), "", 1)
        if suffix == ".ipynb":
            stream.seek(0)
            yield from _notebook_pieces(stream.read(limits.max_document_bytes + 1), limits)


def _stream_blocks(stream: BinaryIO) -> Iterator[bytes]:
    while block := stream.read(MEBIBYTE):
        yield block


def _joined(blocks: Iterator[bytes], place: str, first_line: int | None) -> Iterator[Piece]:
    """Yield blocks as pieces that overlap; escape sequences of terminals are left out."""
    tail, line = b"", first_line
    block = next(blocks, None)
    while block is not None:
        following = next(blocks, None)
        data = tail + (_ANSI.sub(b"", block) if b"\x1b" in block else block)
        yield Piece(data, place, line, ends=following is None)
        tail = data[-OVERLAP_BYTES:]
        if line is not None:
            line += data.count(b"\n", 0, len(data) - len(tail))
        block = following


def _zip_pieces(stream: BinaryIO, limits: Limits) -> Iterator[Piece]:
    for name, content in iter_members(stream, limits):
        place = f"member {name[:80]!r}"
        yield Piece(name.encode("utf-8", "backslashreplace"), f"the name of {place}")
        yield from _npy_pieces(content, place)


def _npy_pieces(blocks: Iterator[bytes], place: str) -> Iterator[Piece]:
    """Yield what an array may tell: texts one a line, raw bytes; other content as it is."""
    first = next(blocks, b"")
    line = None if place else 1
    head = first[:_NPY_HEADER_BYTES]
    kind = _NPY_TYPE.search(head) if first.startswith(NPY_MAGIC) else None
    if kind is None or kind[2] in _OPAQUE_TYPES:
        yield from _joined(_chained(first, blocks), place, line)
        return
    header, _, begin = first.partition(b"\n")
    yield Piece(header[:_NPY_HEADER_BYTES], place)
    size = int(kind[3] or b"0") * _BYTES_A_CHARACTER.get(kind[2], 0)
    if size > MEBIBYTE:  # no name is that long: its characters without what pads them
        bare = (block.replace(b"\0", b"") for block in _chained(begin, blocks))
        yield from _joined(bare, place, None)
    elif size:
        yield from _joined(_texts(_chained(begin, blocks), size), place, None)
    elif kind[3] == b"1":
        yield from _joined(_chained(begin, blocks), place, None)


def _texts(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield the texts of an array, each of ``size`` bytes, one a line, as far as they are ASCII."""
    rest = b""
    for block in blocks:
        data = rest + block
        whole = len(data) - len(data) % size
        lines = (data[at : at + size].replace(b"\0", b"") for at in range(0, whole, size))
        yield b"".join(line + b"\n" for line in lines)
        rest = data[whole:]


def _chained(first: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from blocks


def _png_pieces(stream: BinaryIO, limits: Limits) -> Iterator[Piece]:
    """Yield the chunks of a PNG that hold words, and whatever stands behind its end."""
    stream.seek(len(PNG_MAGIC))
    while len(fixed := stream.read(8)) == 8:
        length, kind = struct.unpack(">I4s", fixed)
        if kind in _PNG_TEXTS and length <= limits.max_document_bytes:
            yield from _png_text(kind, stream.read(length))
            stream.seek(4, 1)
        else:
            stream.seek(length + 4, 1)
        if kind == b"IEND":
            break
    yield from _joined(_stream_blocks(stream), "behind its end", None)


def _png_text(kind: bytes, data: bytes) -> Iterator[Piece]:
    place = f"chunk {kind.decode('ascii')}"
    keyword, _, rest = data.partition(b"\0")
    packed = b""
    if kind == b"zTXt":
        packed = rest[1:]
    elif kind == b"iTXt" and rest[:1] == b"\1":
        packed = b"\0".join(rest[2:].split(b"\0")[2:])
    yield Piece((keyword if packed else data).replace(b"\0", b"\n"), place)
    if packed:
        yield from _joined(inflate(iter((packed,)), zlib.MAX_WBITS, MEBIBYTE), place, None)


def _notebook_pieces(data: bytes, limits: Limits) -> Iterator[Piece]:
    """Yield the texts of a notebook as they read, and the images in it."""
    try:
        value = decode_strict(data, where="notebook", limits=limits)
    except PackageFormatError:
        return
    for kind, text in _leaves(value, ""):
        data = text.encode("utf-8", "surrogatepass")
        if kind != "image/png":
            yield from _joined(iter((data,)), "a text of it", None)
            continue
        try:
            image = b64decode(data)
        except (Base64Error, ValueError):
            continue
        if image.startswith(PNG_MAGIC):
            yield from _png_pieces(BytesIO(image), limits)


def _leaves(value: Any, kind: str) -> Iterator[tuple[str, str]]:
    """Yield each text with the key it stands under; lines of one text are joined."""
    if isinstance(value, str):
        yield kind, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield kind, "".join(value)
        else:
            for inner in value:
                yield from _leaves(inner, kind)
