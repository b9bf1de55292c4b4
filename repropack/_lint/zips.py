"""The members of any zip, streamed under limits, to be searched and for nothing else.

Arrays that an author saved come in zips that other programs wrote, so the strict reader of packages
cannot read them. Nothing here is trusted: what cannot be made out is passed over.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import BinaryIO

from repropack._format.limits import MEBIBYTE, Limits
from repropack._format.zip_layout import DEFLATED, LOCAL_STRUCT, STORED
from repropack._format.zip_peek import sketch_directory

ZIP_MAGIC = b"PK\x03\x04"


def iter_members(stream: BinaryIO, limits: Limits) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield every member's name and its content in blocks of at most a mebibyte.

    A block is read when it is asked for; the next member ends the one before.

    Args:
        stream: The whole file, seekable.
        limits: ``max_entries`` bounds members, ``max_inflated_bytes`` what each becomes.
    """
    sketch = sketch_directory(stream, limits)
    for offset, name in sorted(sketch.names.items()):
        yield name, _content(stream, offset, sketch.stored_sizes[offset], limits)


def _content(stream: BinaryIO, offset: int, stored_bytes: int, limits: Limits) -> Iterator[bytes]:
    stream.seek(offset)
    fixed = stream.read(LOCAL_STRUCT.size)
    if len(fixed) < LOCAL_STRUCT.size:
        return
    _, _, _, method, *_, name_length, extra_length = LOCAL_STRUCT.unpack(fixed)
    stream.seek(offset + LOCAL_STRUCT.size + name_length + extra_length)
    blocks = _blocks(stream, stored_bytes)
    if method == STORED:
        yield from blocks
    elif method == DEFLATED:
        yield from inflate(blocks, -zlib.MAX_WBITS, limits.max_inflated_bytes)


def _blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0 and (block := stream.read(min(size, MEBIBYTE))):
        size -= len(block)
        yield block


def inflate(blocks: Iterator[bytes], window_bits: int, max_bytes: int) -> Iterator[bytes]:
    """Inflate deflated blocks, as far as they can be.

    Args:
        blocks: The deflated content.
        window_bits: As ``zlib.decompressobj`` wants them: they say which form it has.
        max_bytes: Where to stop.

    Yields:
        Blocks of at most a mebibyte.
    """
    inflater = zlib.decompressobj(window_bits)
    made = 0
    try:
        for block in blocks:
            rest = block
            while rest and made < max_bytes:
                data = inflater.decompress(rest, MEBIBYTE)
                rest = inflater.unconsumed_tail
                made += len(data)
                if data:
                    yield data
    except zlib.error:
        return
