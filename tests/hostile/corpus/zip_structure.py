"""T2, T3 and T6: modes that are no file's, two trees in one zip, features that nobody needs."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Callable

from repropack._format.canonical import encode_canonical
from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    FORMAT,
    INTEGRITY,
    UNSAFE,
    Case,
    Write,
    lie,
    raw,
    rows,
    told,
)
from tests.hostile.corpus.raw_zip import Raw, RawZip, deflate, unpinned
from tests.support.hostile import Forgery

LICENSE, README = "LICENSE", "README.md"


def zipped(change: Callable[[RawZip], object]) -> Write:
    """Change the zip around an honest package."""

    def make(base: Base) -> bytes:
        archive = unpinned(base)
        change(archive)
        return archive.pack()

    return raw(make)


def patched(change: Callable[[bytes], bytes]) -> Write:
    """Change the bytes of an honest zip."""
    return raw(lambda base: change(base.package.read_bytes()))


def mode(attributes: int) -> Write:
    """Another mode of the license, in the directory, where modes are."""
    return zipped(lambda z: z.member(LICENSE).listed.update({"external attributes": attributes}))


def both(name: str = LICENSE, **fields: int) -> Write:
    """Other values in both headers of an entry."""
    return zipped(lambda z: z.member(name).both(**fields))


def local(name: str = LICENSE, **fields: int) -> Write:
    """Other values in the local header of an entry alone."""
    named = {key.replace("_", " "): value for key, value in fields.items()}
    return zipped(lambda z: z.member(name).local.update(named))


def listed(name: str = LICENSE, **fields: int) -> Write:
    """Other values in the directory alone."""
    named = {key.replace("_", " "): value for key, value in fields.items()}
    return zipped(lambda z: z.member(name).listed.update(named))


def end(**fields: int) -> Write:
    """Other values in the end record."""
    return zipped(lambda z: z.end.update({k.replace("_", " "): v for k, v in fields.items()}))


def extra(identity: int, content: bytes) -> bytes:
    """An extra field."""
    return struct.pack("<2H", identity, len(content)) + content


# ---------------------------------------------------------------- modes


def made_executable(base: Base, forgery: Forgery) -> None:
    forgery.executables.add(LICENSE)
    forgery.rows[LICENSE] = {"executable": False}


def commented(comment: bytes, length: int) -> Callable[[RawZip], None]:
    """A comment of another length than the end record says."""

    def change(z: RawZip) -> None:
        z.comment = comment
        z.end["comment length"] = length

    return change


MODES = rows(
    "T2",
    "zip-mode",
    lie("link", "An entry is a symbolic link.", mode((stat.S_IFLNK | 0o777) << 16), FORMAT, "external attributes"),
    lie("folder", "An entry is a folder.", mode((stat.S_IFDIR | 0o755) << 16 | 0x10), FORMAT, "external attributes"),
    lie("fifo", "An entry is a fifo.", mode((stat.S_IFIFO | 0o644) << 16), FORMAT, "external attributes"),
    lie("socket", "An entry is a socket.", mode((stat.S_IFSOCK | 0o644) << 16), FORMAT, "external attributes"),
    lie("character-device", "An entry is a device.", mode((stat.S_IFCHR | 0o644) << 16), FORMAT, "external attributes"),
    lie("block-device", "An entry is a disk.", mode((stat.S_IFBLK | 0o644) << 16), FORMAT, "external attributes"),
    lie("set-user", "An entry runs as its owner.", mode((stat.S_IFREG | 0o4755) << 16), FORMAT, "external attributes"),
    lie("set-group", "An entry runs as its group.", mode((stat.S_IFREG | 0o2755) << 16), FORMAT, "external attributes"),
    lie("sticky", "An entry has the sticky bit.", mode((stat.S_IFREG | 0o1644) << 16), FORMAT, "external attributes"),
    lie("world-writable", "Everybody may write an entry.", mode((stat.S_IFREG | 0o666) << 16), FORMAT, "external attributes"),
    lie("unreadable", "Nobody may read an entry.", mode(stat.S_IFREG << 16), FORMAT, "external attributes"),
    lie("no-kind", "An entry is of no kind.", mode(0o644 << 16), FORMAT, "external attributes"),
    lie("hidden", "An entry is hidden on Windows.", mode((stat.S_IFREG | 0o644) << 16 | 0x02), FORMAT, "external attributes"),
    lie("folder-bit", "An entry is a folder on Windows alone.", mode((stat.S_IFREG | 0o644) << 16 | 0x10), FORMAT, "external attributes"),
    lie("none", "An entry has no attributes.", mode(0), FORMAT, "external attributes"),
    lie("executable", "A text is executable, against the manifest.", told(made_executable), INTEGRITY, "executable", forms=BOTH),
    lie("not-executable", "The manifest lists a text as executable.", told(lambda b, f: f.rows.update({LICENSE: {"executable": True}})), INTEGRITY, "executable", forms=BOTH),
    lie("made-by", "An entry was made on another system.", listed(version_made_by=20), FORMAT, "version made by"),
    lie("made-by-mac", "An entry was made on a Mac, where modes mean the same.", listed(version_made_by=19 << 8 | 20), FORMAT, "version made by"),
    lie("internal", "An entry says that it is text.", listed(internal_attributes=1), FORMAT, "internal attributes"),
)  # fmt: skip

# ---------------------------------------------------------------- two trees in one zip


def twice(z: RawZip) -> None:
    """A second README, other content, same name."""
    index = z.members.index(z.member(README))
    z.members.insert(index + 1, Raw(README.encode(), b"# Another\n"))


def twice_hidden(z: RawZip) -> None:
    twice(z)
    z.members[z.members.index(z.member(README)) + 1].hidden = True


def twice_listed(z: RawZip) -> None:
    """The directory names one local entry twice."""
    one = z.member(README)
    z.members.append(Raw(one.name, one.content, present=False))
    z.pack()
    z.members[-1].listed["offset"] = one.offset


def hidden(z: RawZip) -> None:
    z.members.insert(3, Raw(b"source/hidden.py", b"x = 1\n", hidden=True))


def absent(z: RawZip) -> None:
    z.members.append(Raw(b"source/zz.py", b"x = 1\n", present=False))


def nested(z: RawZip) -> None:
    """An entry whose local header lies inside another entry's content."""
    inner = Raw(b"source/zz.py", b"x = 1\n")
    bytes_of = RawZip([inner]).pack()
    carrier = z.member(README)
    carrier.content = bytes_of[: bytes_of.index(b"PK\x01\x02")]
    z.pack()
    header = 30 + len(carrier.name)
    lying = Raw(inner.name, inner.content, present=False)
    lying.listed["offset"] = carrier.offset + header
    z.members.append(lying)


def overlapping(z: RawZip) -> None:
    """Two directory entries that share their bytes, as in the bombs that quote headers."""
    one = z.member(README)
    z.members.append(Raw(b"source/zz.md", one.content, present=False))
    z.pack()
    z.members[-1].listed["offset"] = one.offset


def two_ends(z: RawZip) -> None:
    """A whole second zip behind the first: readers that look from the end see that one."""
    z.suffix = RawZip([Raw(b"manifest.json", b"{}")]).pack()


def end_in_comment(z: RawZip) -> None:
    """A comment that holds another directory and another end record."""
    z.comment = RawZip([Raw(b"manifest.json", b"{}")], shift=0).pack()


def moved(z: RawZip) -> None:
    """A prefix that offsets know of, as in a self-extracting file."""
    z.prefix = b"#!/usr/bin/env python3\n"


def moved_unknown(z: RawZip) -> None:
    """A prefix that offsets know nothing of."""
    z.prefix, z.shift = b"#!/bin/sh\nexit\n", -15


def reordered(z: RawZip) -> None:
    """The directory lists the entries in another order than they lie in."""
    order = list(range(len(z.members)))
    order[1], order[2] = order[2], order[1]
    z.directory_order = order


def manifest_last(z: RawZip) -> None:
    z.members.append(z.members.pop(0))


def unsorted(z: RawZip) -> None:
    z.members[2], z.members[3] = z.members[3], z.members[2]


def manifest_twice(z: RawZip) -> None:
    z.members.append(Raw(b"manifest.json", z.members[0].content))


def in_folder(z: RawZip) -> None:
    """Everything lies one folder down, as a zip of a folder has it."""
    for one in z.members:
        one.name = b"package/" + one.name


def zip64_end(z: RawZip, *, lie_about_offset: int = 0) -> None:
    """Zip64 records that nothing needs; the locator may point elsewhere."""
    data = z.pack()
    directory = data.index(b"PK\x01\x02")
    at = data.rindex(b"PK\x05\x06")
    count = len(z.members)
    record = struct.pack(
        "<4sQ2H2I4Q", b"PK\x06\x06", 44, 0x32D, 45, 0, 0, count, count, at - directory, directory
    )
    z.before_end = record + struct.pack("<4sIQI", b"PK\x06\x07", 0, at + lie_about_offset, 1)


def zip64_masked(z: RawZip) -> None:
    """As before, and the plain end record leaves everything to them."""
    zip64_end(z)
    z.end.update({"entries": 0xFFFF, "entries on disk": 0xFFFF, "directory offset": 0xFFFFFFFF})


def zip64_sizes(z: RawZip) -> None:
    """Sizes in a zip64 field of an entry that needs none."""
    one = z.member(LICENSE)
    size = len(one.content)
    field = extra(1, struct.pack("<2Q", size, size))
    one.both(stored_size=0xFFFFFFFF, size=0xFFFFFFFF, version_needed=45)
    one.local_extra = one.listed_extra = field


def zip64_beside(z: RawZip) -> None:
    """A zip64 field that contradicts the plain sizes."""
    one = z.member(LICENSE)
    one.local_extra = one.listed_extra = extra(1, struct.pack("<2Q", 1, 1))


def zip64_huge(z: RawZip) -> None:
    """A zip64 size near the end of 64 bits."""
    one = z.member(LICENSE)
    field = extra(1, struct.pack("<2Q", 2**64 - 1, 2**64 - 1))
    one.both(stored_size=0xFFFFFFFF, size=0xFFFFFFFF, version_needed=45)
    one.local_extra = one.listed_extra = field


def unicode_path(z: RawZip) -> None:
    """Info-ZIP's second name, which some readers prefer."""
    one = z.member(LICENSE)
    body = b"\x01" + struct.pack("<I", zlib.crc32(one.name)) + b"../evil"
    one.local_extra = one.listed_extra = extra(0x7075, body)


def local_extra(content: bytes) -> Write:
    return zipped(lambda z: setattr(z.member(LICENSE), "local_extra", content))


def listed_extra(content: bytes) -> Write:
    return zipped(lambda z: setattr(z.member(LICENSE), "listed_extra", content))


def descriptor(z: RawZip) -> None:
    """Sizes after the content instead of before it."""
    one = z.member(LICENSE)
    one.after = struct.pack(
        "<4s3I", b"PK\x07\x08", zlib.crc32(one.content), len(one.content), len(one.content)
    )
    one.both(flags=0x0808)
    one.local.update({"checksum": 0, "stored size": 0, "size": 0})


def wrong_content(z: RawZip) -> None:
    """A license of another content, and a checksum of the one that the manifest lists."""
    one = z.member(LICENSE)
    one.both(checksum=zlib.crc32(one.content))
    one.content = bytes(reversed(one.content))


def decrypted(z: RawZip) -> None:
    z.member(LICENSE).after = struct.pack("<4sI", b"PK\x06\x08", 0)


STRUCTURE = rows(
    "T3",
    "zip-structure",
    lie("name-twice", "Two entries have one name.", zipped(twice), UNSAFE, "one entry of this name"),
    lie("name-twice-hidden", "The second of two entries is not in the directory.", zipped(twice_hidden), UNSAFE, "one entry of this name"),
    lie("listed-twice", "The directory lists an entry twice.", zipped(twice_listed), FORMAT, "end signature"),
    lie("hidden", "An entry is not in the directory.", zipped(hidden), FORMAT, "source/hidden.py"),
    lie("absent", "The directory lists what is not there.", zipped(absent), FORMAT, "end signature"),
    lie("nested", "An entry lies inside another one.", zipped(nested), FORMAT, "end signature"),
    lie("overlap", "Two entries share their bytes.", zipped(overlapping), FORMAT, "end signature"),
    lie("local-name", "Local header and directory name it differently.", zipped(lambda z: setattr(z.member(LICENSE), "local_name", b"LICENCE")), FORMAT, "LICEN"),
    lie("local-name-longer", "The local name is longer.", zipped(lambda z: setattr(z.member(LICENSE), "local_name", b"LICENSE.txt")), FORMAT, "name length"),
    lie("local-checksum", "The local header has another checksum.", local(checksum=1), FORMAT, "checksum"),
    lie("listed-checksum", "The directory has another checksum.", listed(checksum=1), FORMAT, "checksum"),
    lie("listed-size", "The directory has another size.", listed(size=1, stored_size=1), FORMAT, "stored size"),
    lie("listed-method", "The directory has another method.", listed(method=8), FORMAT, "method"),
    lie("listed-flags", "The directory has other flags.", listed(flags=0), FORMAT, "flags"),
    lie("listed-offset", "The directory points elsewhere.", listed(offset=7), FORMAT, "offset"),
    lie("listed-time", "The directory has a time.", listed(time=1), FORMAT, "time"),
    lie("local-size-more", "The local header reaches into the next entry.", local(size=50, stored_size=50), FORMAT, "LICENSE"),
    lie("local-size-less", "The local header leaves bytes behind.", local(size=5, stored_size=5), FORMAT, "LICENSE"),
    lie("size-beyond-file", "An entry ends behind the file.", both(size=2**31, stored_size=2**31), FORMAT, "the end of the file"),
    lie("sizes-differ", "A stored entry has two sizes.", both(size=5), FORMAT, "stored size"),
    lie("checksum", "Both headers have the checksum of another content.", zipped(wrong_content), FORMAT, "checksum differs"),
    lie("gap-first", "Bytes before the second entry.", zipped(lambda z: setattr(z.members[1], "before", b"\0" * 7)), FORMAT, "another entry or the directory"),
    lie("gap-hidden-file", "A whole file between two entries.", zipped(lambda z: setattr(z.members[4], "before", b"#!/bin/sh\nid\n")), FORMAT, "another entry or the directory"),
    lie("gap-directory", "Bytes before the directory.", zipped(lambda z: setattr(z, "before_directory", b"\0" * 9)), FORMAT, "another entry or the directory"),
    lie("gap-end", "Bytes before the end record.", zipped(lambda z: setattr(z, "before_end", b"\0" * 9)), FORMAT, "end signature"),
    lie("prefix", "A script before the zip, offsets counted with it.", zipped(moved), FORMAT, "not a zip archive"),
    lie("prefix-unknown", "A script before the zip, offsets counted without.", zipped(moved_unknown), FORMAT, "not a zip archive"),
    lie("suffix", "Bytes behind the end.", zipped(lambda z: setattr(z, "suffix", b"\0")), FORMAT, "1 bytes more"),
    lie("suffix-newline", "A text tool added a line end.", zipped(lambda z: setattr(z, "suffix", b"\n")), FORMAT, "1 bytes more"),
    lie("two-ends", "A second zip behind the first.", zipped(two_ends), FORMAT, "bytes more"),
    lie("two-zips", "The same zip twice.", patched(lambda data: data + data), FORMAT, "bytes more"),
    lie("comment", "The zip has a comment.", zipped(lambda z: setattr(z, "comment", b"hello")), FORMAT, "comment length"),
    lie("comment-end-record", "The comment holds another zip.", zipped(end_in_comment), FORMAT, "comment length"),
    lie("comment-cut", "The comment is shorter than it says.", zipped(commented(b"ab", 5)), FORMAT, "comment length"),
    lie("comment-unsaid", "A comment that the end record does not mention.", zipped(commented(b"ab", 0)), FORMAT, "2 bytes more"),
    lie("count-less", "The end record counts one entry less.", patched(lambda data: _count(data, -1)), FORMAT, "entries"),
    lie("count-more", "The end record counts one entry more.", patched(lambda data: _count(data, 1)), FORMAT, "entries"),
    lie("count-none", "The end record counts none.", end(entries=0, entries_on_disk=0), FORMAT, "entries"),
    lie("directory-offset", "The end record points elsewhere.", end(directory_offset=0), FORMAT, "directory offset"),
    lie("directory-size", "The directory is shorter than it is.", end(directory_size=46), FORMAT, "directory size"),
    lie("disk", "The zip is the second of several.", end(disk=1), FORMAT, "disk"),
    lie("directory-disk", "The directory lies on another disk.", end(directory_disk=1), FORMAT, "directory disk"),
    lie("entry-disk", "An entry lies on another disk.", listed(disk=1), FORMAT, "disk"),
    lie("spanned", "The mark of a split zip.", patched(lambda data: b"PK\x07\x08" + data), FORMAT, "not a zip archive"),
    lie("directory-order", "The directory has another order.", zipped(reordered), FORMAT, "directory header"),
    lie("manifest-last", "The manifest comes last.", zipped(manifest_last), FORMAT, "manifest.json"),
    lie("manifest-twice", "There are two manifests.", zipped(manifest_twice), UNSAFE, "one entry of this name"),
    lie("unsorted", "Two entries are not in order.", zipped(unsorted), FORMAT, "sorted"),
    lie("one-folder-down", "Everything lies in a folder.", zipped(in_folder), FORMAT, "manifest.json"),
    lie("no-entry", "A zip of nothing.", raw(lambda base: RawZip([]).pack()), FORMAT, "manifest.json"),
    lie("no-manifest", "Everything but the manifest.", zipped(lambda z: z.members.pop(0)), FORMAT, "manifest.json"),
    lie("zip64-end", "Zip64 records that nothing needs.", zipped(zip64_end), FORMAT, "end signature"),
    lie("zip64-locator", "A zip64 locator that points elsewhere.", zipped(lambda z: zip64_end(z, lie_about_offset=-20)), FORMAT, "end signature"),
    lie("zip64-masked", "The end record leaves all to zip64.", zipped(zip64_masked), FORMAT, "end signature"),
    lie("zip64-sizes", "Zip64 sizes of a small entry.", zipped(zip64_sizes), FORMAT, "LICENSE"),
    lie("zip64-beside", "Zip64 sizes beside plain ones.", zipped(zip64_beside), FORMAT, "extra length"),
    lie("zip64-huge", "A zip64 size of 2^64 - 1.", zipped(zip64_huge), FORMAT, "LICENSE"),
    lie("cut-half", "The download was cut.", patched(lambda data: data[: len(data) // 2]), FORMAT, "the end of the file"),
    lie("cut-directory", "The directory is missing.", patched(lambda data: data[: data.index(b"PK\x01\x02")]), FORMAT, "the end of the file"),
    lie("cut-end", "The end record is cut.", patched(lambda data: data[:-1]), FORMAT, "comment length"),
    lie("zeros", "The second half never reached the disk.", patched(lambda data: data[: len(data) // 2] + bytes(len(data) - len(data) // 2)), FORMAT, ""),
    lie("text-mode", "A text tool changed the line ends.", patched(lambda data: data.replace(b"\n", b"\r\n")), FORMAT, ""),
)  # fmt: skip

FEATURES = rows(
    "T6",
    "zip-feature",
    lie("encrypted", "An entry says that it is encrypted.", both(flags=0x0801), FORMAT, "flags"),
    lie("strongly-encrypted", "An entry says that it is strongly encrypted.", both(flags=0x0841), FORMAT, "flags"),
    lie("masked-headers", "The directory is encrypted.", both(flags=0x2800), FORMAT, "flags"),
    lie("patched-data", "An entry is a patch.", both(flags=0x0820), FORMAT, "flags"),
    lie("descriptor", "Sizes come after the content.", zipped(descriptor), FORMAT, "flags"),
    lie("reserved-flag", "A flag that means nothing.", both(flags=0x0880), FORMAT, "flags"),
    lie("method-shrink", "A method of 1989.", both(method=1), FORMAT, "method"),
    lie("method-deflate64", "A method that few know.", both(method=9), FORMAT, "method"),
    lie("method-bzip2", "Another method.", both(method=12), FORMAT, "method"),
    lie("method-lzma", "Another method.", both(method=14), FORMAT, "method"),
    lie("method-zstd", "Another method.", both(method=93), FORMAT, "method"),
    lie("method-encrypted", "The method of encrypted entries.", both(method=99), FORMAT, "method"),
    lie("method-unknown", "A method that does not exist.", both(method=0xFFFF), FORMAT, "method"),
    lie("version-needed", "An entry needs a reader of the future.", both(version_needed=255), FORMAT, "version needed"),
    lie("time", "An entry was made at a time.", both(time=0x6000), FORMAT, "time"),
    lie("date", "An entry was made on a day.", both(date=0x5D7E), FORMAT, "date"),
    lie("date-none", "An entry was made on no day.", both(date=0), FORMAT, "date"),
    lie("entry-comment", "An entry has a comment.", zipped(lambda z: setattr(z.member(LICENSE), "comment", b"psst")), FORMAT, "comment length"),
    lie("extra-local", "A time in an extra field of the local header.", local_extra(extra(0x5455, b"\x01\0\0\0\0")), FORMAT, "extra length"),
    lie("extra-listed", "A time in an extra field of the directory.", listed_extra(extra(0x5455, b"\x01\0\0\0\0")), FORMAT, "extra length"),
    lie("extra-owner", "An owner in an extra field.", local_extra(extra(0x7875, b"\x01\x04\0\0\0\0\x04\0\0\0\0")), FORMAT, "extra length"),
    lie("extra-broken", "An extra field longer than it is.", local_extra(b"\x55\x54\xff\xff\0"), FORMAT, "extra length"),
    lie("extra-large", "Sixty kilobytes in an extra field.", local_extra(extra(0x6375, bytes(60_000))), FORMAT, "extra length"),
    lie("unicode-path", "A second name in an extra field.", zipped(unicode_path), FORMAT, "extra length"),
    lie("decryption-header", "An archive decryption record.", zipped(decrypted), FORMAT, "another entry or the directory"),
    lie("signature-record", "A digital signature behind the directory.", zipped(lambda z: setattr(z, "before_end", b"PK\x05\x05\x04\0sign")), FORMAT, "end signature"),
)  # fmt: skip


# ---------------------------------------------------------------- deflate


def deflated(change: Callable[[Raw], object], name: str = README) -> Write:
    """An entry that is deflated, and lies about it."""

    def alter(z: RawZip) -> None:
        one = z.member(name)
        one.stored = deflate(one.content)
        change(one)

    return zipped(alter)


def stored_as(change: Callable[[bytes], bytes]) -> Write:
    return deflated(lambda one: setattr(one, "stored", change(one.stored or b"")))


def claiming(more: int) -> Write:
    return deflated(lambda one: one.both(size=len(one.content) + more))


def another_content(one: Raw) -> None:
    one.both(checksum=zlib.crc32(one.content))
    one.stored = deflate(one.content[::-1])


def with_dictionary(one: Raw) -> None:
    """A zlib stream with a preset dictionary, which no reader of a zip has."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 15, zdict=one.content[:200])
    one.stored = packer.compress(one.content) + packer.flush()


DEFLATE = rows(
    "T3",
    "deflate",
    lie("longer", "A stream gives more than it says.", claiming(-1), FORMAT, "observed more"),
    lie("shorter", "A stream gives less than it says.", claiming(1), FORMAT, "size: expected"),
    lie("cut", "A stream has no end.", stored_as(lambda data: data[:-2]), FORMAT, "README.md"),
    lie("surplus", "Bytes behind the stream's end.", stored_as(lambda data: data + b"hidden"), FORMAT, "deflated size"),
    lie("two-streams", "A second stream behind the first.", stored_as(lambda data: data + deflate(b"more")), FORMAT, "deflated size"),
    lie("noise", "The stream is noise.", stored_as(lambda data: b"\xff" * len(data)), FORMAT, "damaged deflate stream"),
    lie("flipped", "Bits of the stream are flipped: its first block has no known kind.", stored_as(lambda data: bytes([data[0] | 6]) + data[1:]), FORMAT, "README.md"),
    lie("wrapped", "The stream is zlib's, not raw.", deflated(lambda one: setattr(one, "stored", zlib.compress(one.content, 9))), FORMAT, "README.md"),
    lie("dictionary", "The stream needs a dictionary.", deflated(with_dictionary), FORMAT, "README.md"),
    lie("not-smaller", "Deflated, and no smaller for it.", deflated(lambda one: setattr(one, "stored", zlib.compress(one.content, 0, wbits=-15))), FORMAT, "stored size"),
    lie("other-content", "The stream gives another content.", deflated(another_content), FORMAT, "checksum"),
    lie("method-stored", "A deflate stream is called stored.", deflated(lambda one: one.both(method=0)), FORMAT, "stored size"),
)  # fmt: skip

# ---------------------------------------------------------------- no zip at all

FOREIGN_MANIFEST = encode_canonical({"format": "repropack", "version": "1"})


def foreign(base: Base) -> bytes:
    return RawZip([Raw(b"manifest.json", FOREIGN_MANIFEST), Raw(b"run.sh", b"id\n")]).pack()


def inside(base: Base) -> bytes:
    """The package in a zip."""
    return RawZip([Raw(b"package.zip", base.package.read_bytes())]).pack()


FOREIGN = rows(
    "T3",
    "foreign",
    lie("empty", "A file of nothing.", raw(lambda base: b""), FORMAT, "not a zip archive"),
    lie("text", "A page that says the file was not found.", raw(lambda base: b"<html><h1>404 Not Found</h1></html>"), FORMAT, "not a zip archive"),
    lie("gzip", "A file that was packed again.", raw(lambda base: b"\x1f\x8b\x08\0" + bytes(60)), FORMAT, "not a zip archive"),
    lie("tar", "A tar.", raw(lambda base: b"manifest.json".ljust(257, b"\0") + b"ustar\x0000".ljust(255, b"\0") + bytes(1024)), FORMAT, "not a zip archive"),
    lie("seven-zip", "Another archive.", raw(lambda base: b"7z\xbc\xaf\x27\x1c" + bytes(60)), FORMAT, "not a zip archive"),
    lie("pointer", "The pointer to a file in large file storage.", raw(lambda base: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"), FORMAT, "not a zip archive"),
    lie("array", "An array.", raw(lambda base: b"\x93NUMPY\x01\x00"), FORMAT, "not a zip archive"),
    lie("manifest-alone", "The manifest instead of the package.", raw(lambda base: base.forgery().seal()), FORMAT, "not a zip archive"),
    lie("package-in-zip", "A package inside a zip.", raw(inside), FORMAT, "manifest.json"),
    lie("other-tool", "A package of another tool of this name.", raw(foreign), FORMAT, "another tool"),
    lie("npz", "A checkpoint's arrays instead of the package.", raw(lambda base: base.forgery().files["runs/reference/kept.npz"]), FORMAT, "manifest.json"),
    lie("end-record", "An end record and nothing else, with a count.", raw(lambda base: b"PK\x05\x06" + b"\0" * 4 + b"\x01\0\x01\0" + b"\0" * 10), FORMAT, ""),
    lie("local-signature", "Four bytes of a zip.", raw(lambda base: b"PK\x03\x04"), FORMAT, "whole local header"),
    lie("masked-offset", "An offset that the file does not hold.", raw(lambda base: masked_offset()), FORMAT, "not a zip archive"),
)  # fmt: skip


def masked_offset() -> bytes:
    """A directory entry whose offset is in an extra field that is cut off."""
    fixed = struct.pack(
        "<4s6H3I5H2I", b"PK\x01\x02", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0xFFFFFFFF
    )
    ending = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, 46, 23, 0)
    return b"?" + ending + fixed


def _count(data: bytes, more: int) -> bytes:
    at = data.rindex(b"PK\x05\x06")
    one, two = struct.unpack_from("<2H", data, at + 8)
    return data[: at + 8] + struct.pack("<2H", one + more, two + more) + data[at + 12 :]


CASES: tuple[Case, ...] = (*MODES, *STRUCTURE, *FEATURES, *DEFLATE, *FOREIGN)
