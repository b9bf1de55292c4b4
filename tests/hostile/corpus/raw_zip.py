"""Zips of any form: every field of every header can be made to lie, the rest is right."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from repropack._format.zip_layout import DIRECTORY_FIELDS, LOCAL_FIELDS
from tests.hostile.corpus.bases import Base
from tests.support.hostile import Forgery

MODE, EXECUTABLE = 0o100644 << 16, 0o100755 << 16


@dataclass
class Raw:
    """One member; ``local`` and ``listed`` override fields of its headers by name.

    ``before`` are bytes ahead of the local header, ``after`` bytes behind the content, both in no
    header. ``stored`` is what lies there, where it is not the content itself. A member that is not
    ``present`` has no local header; one that is ``hidden`` is not in the directory.
    """

    name: bytes
    content: bytes
    stored: bytes | None = None
    local: dict[str, int] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)
    local_name: bytes | None = None
    local_extra: bytes = b""
    listed_extra: bytes = b""
    comment: bytes = b""
    before: bytes = b""
    after: bytes = b""
    present: bool = True
    hidden: bool = False
    executable: bool = False
    offset: int = 0

    def both(self, **fields: int) -> None:
        """Override a field in both headers; ``_`` in a name stands for a blank."""
        for name, value in fields.items():
            self.local[name.replace("_", " ")] = self.listed[name.replace("_", " ")] = value


@dataclass
class RawZip:
    """Members and what lies around them; ``end`` overrides fields of the end record."""

    members: list[Raw]
    prefix: bytes = b""
    before_directory: bytes = b""
    before_end: bytes = b""
    comment: bytes = b""
    suffix: bytes = b""
    end: dict[str, int] = field(default_factory=dict)
    directory_order: list[int] | None = None
    shift: int = 0

    def member(self, name: str) -> Raw:
        """The member of a name."""
        return next(one for one in self.members if one.name == name.encode())

    def pack(self) -> bytes:
        """The bytes of the zip."""
        body = self.prefix
        for one in self.members:
            body += one.before
            if one.present:
                one.offset = len(body) + self.shift
                body += _local(one) + _stored(one) + one.after
        order = range(len(self.members)) if self.directory_order is None else self.directory_order
        listed = [self.members[k] for k in order if not self.members[k].hidden]
        directory = b"".join(map(_listed, listed))
        body += self.before_directory
        values = {
            "entries on disk": len(listed) & 0xFFFF,
            "entries": len(listed) & 0xFFFF,
            "directory size": len(directory),
            "directory offset": len(body) + self.shift,
            "comment length": len(self.comment),
            "disk": 0,
            "directory disk": 0,
        } | self.end
        end = struct.pack(
            "<4s4H2IH",
            b"PK\x05\x06",
            values["disk"],
            values["directory disk"],
            values["entries on disk"],
            values["entries"],
            values["directory size"],
            values["directory offset"],
            values["comment length"],
        )
        return body + directory + self.before_end + end + self.comment + self.suffix


def unpinned(base: Base) -> RawZip:
    """The base as members whose headers can be made to lie; as it is, the honest package."""
    return from_forgery(base.forgery())


def from_forgery(forgery: Forgery, manifest: bytes | None = None) -> RawZip:
    """A forged package as members, sealed."""
    members = [Raw(b"manifest.json", manifest or forgery.seal())]
    for name in sorted(forgery.files, key=str.encode):
        one = Raw(name.encode("utf-8", "surrogateescape"), forgery.files[name])
        one.executable = name in forgery.executables
        members.append(one)
    return RawZip(members)


def deflate(content: bytes) -> bytes:
    """The raw deflate stream of a content."""
    return zlib.compress(content, 9, wbits=-15)


def _stored(one: Raw) -> bytes:
    return one.content if one.stored is None else one.stored


def _common(one: Raw) -> dict[str, int]:
    stored = _stored(one)
    return {
        "version needed": 20,
        "flags": 0x0800,
        "method": 0 if one.stored is None else 8,
        "time": 0,
        "date": 0x21,
        "checksum": zlib.crc32(one.content),
        "stored size": len(stored),
        "size": len(one.content),
    }


def _local(one: Raw) -> bytes:
    name = one.name if one.local_name is None else one.local_name
    values = _common(one) | {"name length": len(name), "extra length": len(one.local_extra)}
    fixed = _packed(LOCAL_FIELDS, b"PK\x03\x04", values | one.local)
    return fixed + name + one.local_extra


def _listed(one: Raw) -> bytes:
    values = _common(one) | {
        "version made by": 0x314,
        "name length": len(one.name),
        "extra length": len(one.listed_extra),
        "comment length": len(one.comment),
        "disk": 0,
        "internal attributes": 0,
        "external attributes": EXECUTABLE if one.executable else MODE,
        "offset": one.offset,
    }
    fixed = _packed(DIRECTORY_FIELDS, b"PK\x01\x02", values | one.listed)
    return fixed + one.name + one.listed_extra + one.comment


def _packed(
    fields: tuple[tuple[str, int], ...], signature: bytes, values: Mapping[str, int]
) -> bytes:
    parts = [values[name].to_bytes(width, "little") for name, width in fields[1:]]
    return signature + b"".join(parts)
