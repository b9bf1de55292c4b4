"""Zips in memory for the tests: well formed ones, and ones whose headers lie in the pinned form."""

from __future__ import annotations

import io
import zlib

import pytest

from repropack._format.archive_reader import ArchiveReader
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.zip_layout import ZipMember, directory_header, end_records, local_header
from repropack.errors import PackageFormatError


def make_member(name: str, content: bytes, offset: int, *, executable: bool = False) -> ZipMember:
    return ZipMember(
        name, len(content), len(content), zlib.crc32(content), False, executable, offset
    )


def build_zip(*files: tuple[str, bytes], deflate: bool = False) -> bytes:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for name, content in files:
        writer.add(name, content, executable=name.endswith(".sh"), deflate=deflate)
    writer.finish()
    return stream.getvalue()


def forge_zip(*parts: tuple[ZipMember, bytes]) -> bytes:
    """A zip whose headers are in the pinned form, whatever they say."""
    body = b"".join(local_header(one) + content for one, content in parts)
    directory = b"".join(directory_header(one) for one, _ in parts)
    return body + directory + end_records(len(parts), len(body), len(directory))


def patched(data: bytes, offset: int, replacement: bytes) -> bytes:
    return data[:offset] + replacement + data[offset + len(replacement) :]


def read_zip(data: bytes, limits: Limits = DEFAULT_LIMITS) -> dict[str, bytes]:
    reader = ArchiveReader(io.BytesIO(data), where="p.zip", limits=limits)
    return {name: reader.open(name).read() for name in reader.members}


def refuse_zip(data: bytes) -> PackageFormatError:
    with pytest.raises(PackageFormatError) as caught:
        read_zip(data)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


PAIR = build_zip(("a.txt", b"hello"), ("b.sh", b"#!/bin/sh\n"))
