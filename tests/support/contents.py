"""Files as a command's libraries write them, and what the format says of them, in other words."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from repropack._compare.contents import compare_outputs
from repropack._format.content_kinds import CONTENT_LIMITS, ContentLimits
from repropack._format.contents import Contents, contents_of
from repropack.models.differences import OutputDifference

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def content(kind: str, data: bytes) -> str:
    """11.3 of docs/format.md."""
    return "sha256:" + hashlib.sha256(f"repropack.content.v1\n{kind}\n".encode() + data).hexdigest()


def array_print(dtype: str, shape: tuple[int, ...], elements: bytes) -> str:
    """4.3 of docs/format.md."""
    head = f"repropack.array.v1\n{dtype}\n{','.join(map(str, shape))}\n"
    return "sha256:" + hashlib.sha256(head.encode() + elements).hexdigest()


def listed_print(*rows: tuple[str, str]) -> str:
    """11.7 of docs/format.md, of arrays in ASCII."""
    return content("npz", json.dumps(rows, separators=(",", ":")).encode() + b"\n")


def read(path: str, data: bytes, limits: ContentLimits = CONTENT_LIMITS) -> Contents:
    return contents_of(path, io.BytesIO(data), len(data), limits)


def compare(path: str, expected: bytes, observed: bytes) -> OutputDifference | None:
    left, right = ((io.BytesIO(data), len(data)) for data in (expected, observed))
    return compare_outputs(path, left, right)


def differ(path: str, expected: bytes, observed: bytes) -> OutputDifference:
    """Compare files that are not equal in every byte."""
    found = compare(path, expected, observed)
    assert found is not None
    return found


def npy(array: Any, version: tuple[int, int] | None = None) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), version=version)
    return stream.getvalue()


def npz(*, compressed: bool = False, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


def zipped(members: dict[str, bytes] | list[tuple[str, bytes]], **options: Any) -> bytes:
    """A zip of members as they are given, twice one name too."""
    stream = io.BytesIO()
    rows = members.items() if isinstance(members, dict) else members
    with zipfile.ZipFile(stream, "w", **options) as archive:
        for name, data in rows:
            archive.writestr(zipfile.ZipInfo(name), data, archive.compression)
    return stream.getvalue()


def header(text: str, version: bytes = b"\x01\x00") -> bytes:
    """The beginning of an npy with a header text of any form."""
    width = "<H" if version == b"\x01\x00" else "<I"
    return b"\x93NUMPY" + version + struct.pack(width, len(text)) + text.encode("latin-1")


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(
    size: tuple[int, int],
    rows: bytes,
    *,
    depth: int = 8,
    colour: int = 2,
    before: bytes = b"",
    after: bytes = b"",
    level: int = 6,
    interlaced: bool = False,
) -> bytes:
    """A PNG by hand: ``rows`` with their filter bytes, chunks before and after the samples."""
    head = struct.pack(">2I5B", *size, depth, colour, 0, 0, interlaced)
    data = chunk(b"IDAT", zlib.compress(rows, level))
    return PNG_SIGNATURE + chunk(b"IHDR", head) + before + data + after + chunk(b"IEND", b"")


def rgb_png(pixels: list[list[tuple[int, int, int]]], **options: Any) -> bytes:
    """A PNG of colours, unfiltered."""
    rows = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in pixels)
    return png((len(pixels[0]), len(pixels)), rows, **options)


def jpeg(**options: Any) -> bytes:
    """A small JPEG by Pillow."""
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (9, 8), options.pop("colour", (200, 40, 20))).save(stream, "JPEG", **options)
    return stream.getvalue()
