"""Whether bytes tell a text, in whatever spelling and however they are wrapped.

The search shares no code with repropack: a leak must not hide from both.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

PNG = b"\x89PNG\r\n\x1a\n"
BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")


def spellings(text: str) -> set[bytes]:
    """A text in encodings and escapes; the search ignores case."""
    plain = text.encode()
    found = {plain, text.encode("utf-16-le"), text.encode("utf-16-be"), text.encode("utf-32-le")}
    found |= {text.encode("utf-32-be"), plain.hex().encode(), plain[::-1]}
    found.add("".join(f"%{byte:02x}" for byte in plain).encode())
    found.add("".join(f"\\u{ord(letter):04x}" for letter in text).encode())
    found.add("".join(f"\\x{byte:02x}" for byte in plain).encode())
    found.add("".join(f"&#{ord(letter)};" for letter in text).encode())
    for shift in range(3):
        encoded = b64encode(bytes(shift) + plain)
        found.add(encoded[-(-shift * 4 // 3) + (shift > 0) : len(plain) * 4 // 3 - 2].lower())
    return {one for one in found if one}


def leaks_in(name: str, data: bytes, texts: tuple[str, ...]) -> list[str]:
    """Where bytes tell one of ``texts``: a line for each place."""
    wanted = {text: {one.lower() for one in spellings(text)} for text in texts}
    found = []
    for place, content in unwrapped(name, data):
        low = content.lower()
        found += [f"{place}: {text}" for text, forms in wanted.items()
                  if any(form in low for form in forms)]  # fmt: skip
    return found


def leaks_in_package(path: Path, texts: tuple[str, ...]) -> list[str]:
    """Where a package, zip or folder, tells one of ``texts``."""
    if path.is_file():
        return leaks_in(path.name, path.read_bytes(), texts)
    found = []
    for file in sorted(path.rglob("*")):
        if file.is_file():
            found += leaks_in(file.relative_to(path).as_posix(), file.read_bytes(), texts)
    return found


def unwrapped(name: str, data: bytes, depth: int = 0) -> Iterator[tuple[str, bytes]]:
    """The bytes themselves, their name, and everything that is wrapped in them."""
    yield f"name of {name}", name.encode()
    yield name, data
    if depth > 4:
        return
    if data.startswith(b"PK\x03\x04"):
        yield from _members(name, data, depth)
    elif data.startswith(PNG):
        yield from ((f"{name}: chunk {kind}", content) for kind, content in _chunks(data))
    elif data.startswith(b"\x1f\x8b"):
        yield from unwrapped(f"{name} inflated", gzip.decompress(data), depth + 1)
    elif name.endswith((".json", ".jsonl", ".ipynb", ".svg", ".md", ".csv", ".txt", ".py")):
        yield from _decoded(name, data, depth)


def _members(name: str, data: bytes, depth: int) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            yield f"{name}: fields of {info.filename}", info.comment + info.extra
            yield from unwrapped(f"{name}/{info.filename}", archive.read(info), depth + 1)


def _decoded(name: str, data: bytes, depth: int) -> Iterator[tuple[str, bytes]]:
    if name.endswith((".json", ".jsonl", ".ipynb")):
        for line in data.splitlines() if name.endswith(".jsonl") else [data]:
            yield f"{name}: decoded", "\n".join(_texts(json.loads(line))).encode()
    yield f"{name}: percent", unquote_to_bytes(data)
    for number, match in enumerate(BASE64.finditer(data)):
        encoded = match[0].rstrip(b"=")
        content = b64decode(encoded[: len(encoded) - len(encoded) % 4])
        yield from unwrapped(f"{name}: base64 {number}", content, depth + 2)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)


def _chunks(data: bytes) -> Iterator[tuple[str, bytes]]:
    at, pixels = len(PNG), b""
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + length]
        at += length + 12
        if kind == b"IDAT":
            pixels += content
            continue
        yield kind.decode(), content
        for begin in range(min(len(content), 200)):
            if content[begin : begin + 1] == b"\x78":
                inflater = zlib.decompressobj()
                try:
                    yield f"{kind.decode()} inflated", inflater.decompress(content[begin:])
                except zlib.error:
                    continue
    yield "pixels", zlib.decompress(pixels) if pixels else b""
    yield "behind its end", data[at:]
