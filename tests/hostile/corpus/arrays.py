"""T7: arrays whose header tricks, pickles, hides bytes or asks for memory."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from io import BytesIO

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    FORMAT,
    INTEGRITY,
    LIMIT,
    UNSAFE,
    Case,
    Write,
    lie,
    rows,
    told,
)
from tests.hostile.corpus.raw_zip import Raw, RawZip, deflate
from tests.support.hostile import Forgery

MAGIC = b"\x93NUMPY"
KEPT = "runs/reference/kept.npz"
PICKLE = b"cos\nsystem\n(S'id'\ntR."
"""What runs ``id`` when it is unpickled; nothing here ever does that."""


def npz_of(data: bytes) -> RawZip:
    """An npz as members."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return RawZip([Raw(name.encode(), archive.read(name)) for name in archive.namelist()])


def checkpoint(base: Base) -> str:
    """Path of a checkpoint's arrays in the middle of the reference."""
    return f"runs/reference/checkpoints/step-{base.middle:09d}.npz"


def in_npz(change: Callable[[Base, RawZip], object], path: str | None = None) -> Write:
    """Change the zip of a checkpoint's arrays; every digest above it is right."""

    def tell(base: Base, forgery: Forgery) -> None:
        place = path or checkpoint(base)
        archive = npz_of(forgery.files[place])
        change(base, archive)
        forgery.files[place] = archive.pack()

    return told(tell)


def in_npy(change: Callable[[bytes], bytes]) -> Write:
    """Change one array's file, header and elements."""

    def alter(base: Base, archive: RawZip) -> None:
        one = archive.member(f"{base.array}.npy")
        one.content = change(one.content)

    return in_npz(alter)


def elements(data: bytes) -> bytes:
    """What follows a header."""
    return data[10 + struct.unpack_from("<H", data, 8)[0] :]


def header(text: str, version: bytes = b"\x01\x00") -> Callable[[bytes], bytes]:
    """The same elements behind a header of this text; ``{old}`` is the honest one's."""

    def change(data: bytes) -> bytes:
        old = data[10:].split(b"\n", 1)[0].decode("latin-1").rstrip(" ")
        body = text.replace("{old}", old)
        width = 2 if version == b"\x01\x00" else 4
        body += " " * (-(len(MAGIC) + 2 + width + len(body) + 1) % 64) + "\n"
        packed = body.encode("utf-8")
        return MAGIC + version + len(packed).to_bytes(width, "little") + packed + elements(data)

    return change


def descr(dtype: str, shape: str = "(3,)", order: str = "False") -> Callable[[bytes], bytes]:
    """A header of a type and shape."""
    return header(f"{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape}, }}")


def replacing(old: str, new: str) -> Callable[[bytes], bytes]:
    """Another spelling of the honest header, padded as that one is."""

    def change(data: bytes) -> bytes:
        text = data[10:].split(b"\n", 1)[0].decode("latin-1").rstrip(" ")
        assert old in text, text
        return header(text.replace(old, new, 1))(data)

    return change


def shaped(axes: str) -> Callable[[bytes], bytes]:
    """The honest type under another shape."""

    def change(data: bytes) -> bytes:
        text = data[10:].split(b"\n", 1)[0].decode("latin-1").rstrip(" ")
        dtype = text.split("'")[3]
        return descr(f"'{dtype}'", axes)(data)

    return change


def longer(data: bytes) -> bytes:
    """The honest header with 64 blanks more."""
    length = struct.unpack_from("<H", data, 8)[0] + 64
    return with_length(length)(data[:10] + data[10:].replace(b"\n", b" " * 64 + b"\n", 1))


def with_length(length: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:8] + struct.pack("<H", length) + data[10:]


def unsorted(base: Base, archive: RawZip) -> None:
    archive.members.reverse()


def twice(base: Base, archive: RawZip) -> None:
    archive.members.append(Raw(archive.members[-1].name, archive.members[-1].content))


def member(name: bytes, content: bytes | None = None) -> Callable[[Base, RawZip], object]:
    """One more member, behind the others or before them, as its name sorts."""

    def change(base: Base, archive: RawZip) -> None:
        archive.members.append(
            Raw(name, archive.members[0].content if content is None else content)
        )
        archive.members.sort(key=lambda one: one.name)

    return change


def deflated(base: Base, archive: RawZip) -> None:
    one = archive.members[0]
    one.content += bytes(1000)
    one.stored = deflate(one.content)


def bool_of(value: int) -> Callable[[Base, RawZip], object]:
    """A truth that is neither 0 nor 1."""

    def change(base: Base, archive: RawZip) -> None:
        one = archive.member("passed.npy")
        one.content = one.content[:-1] + bytes([value])

    return change


NUMPY = rows(
    "T7",
    "npy",
    lie("object", "An array of pickled objects.", in_npy(lambda data: descr("'|O'")(data[: -len(elements(data))] + PICKLE)), FORMAT, "array header", forms=BOTH),
    lie("big-endian", "Elements in the other byte order.", in_npy(lambda d: d.replace(b"'<", b"'>", 1)), FORMAT, "array header"),
    lie("native-order", "Elements in the order of whoever reads.", in_npy(lambda d: d.replace(b"'<", b"'=", 1)), FORMAT, "array header"),
    lie("fortran", "Elements in the order of columns.", in_npy(replacing("False", "True")), FORMAT, "array header"),
    lie("long-double", "A type whose size depends on the machine.", in_npy(descr("'<f16'")), FORMAT, "array header"),
    lie("unknown-float", "A float of three bytes.", in_npy(descr("'<f3'")), FORMAT, "array header"),
    lie("nothing", "Nine billion elements of no size.", in_npy(descr("'|V0'", "(9000000000,)")), FORMAT, "array header"),
    lie("void", "Elements without a type.", in_npy(descr("'|V4'")), FORMAT, "array header"),
    lie("text", "An array of text.", in_npy(descr("'<U4'")), FORMAT, "array header"),
    lie("bytes", "An array of bytes.", in_npy(descr("'|S4'")), FORMAT, "array header"),
    lie("date", "An array of dates.", in_npy(descr("'<M8[ns]'")), FORMAT, "array header"),
    lie("structure", "An array of structures.", in_npy(descr("[('a', '<f4')]")), FORMAT, "array header"),
    lie("aligned", "A type of bits, in the form of another.", in_npy(descr("'<b1'")), FORMAT, "array header"),
    lie("upper-case", "A type in capitals.", in_npy(descr("'<F4'")), FORMAT, "array header"),
    lie("version-2", "A header of version 2.", in_npy(header("{old}", b"\x02\x00")), FORMAT, "array header"),
    lie("version-3", "A header of version 3.", in_npy(header("{old}", b"\x03\x00")), FORMAT, "array header"),
    lie("version-0", "A header of no version.", in_npy(lambda d: d[:6] + b"\0\0" + d[8:]), FORMAT, "array header"),
    lie("magic", "No array at all.", in_npy(lambda d: b"\x94" + d[1:]), FORMAT, "array header"),
    lie("code", "A header that is a program.", in_npy(header("__import__('os').system('id')")), FORMAT, "array header"),
    lie("code-in-shape", "A shape that is a program.", in_npy(shaped("(len('abc'),)")), FORMAT, "array header"),
    lie("parentheses", "A header of two thousand brackets.", in_npy(header("(" * 2000)), FORMAT, "array header"),
    lie("minus", "A header of three thousand signs.", in_npy(header("-" * 3000 + "1")), FORMAT, "array header"),
    lie("key-more", "A header with a key more.", in_npy(replacing("{", "{'a': 1, ")), FORMAT, "array header"),
    lie("key-less", "A header with a key less.", in_npy(replacing("'fortran_order': False, ", "")), FORMAT, "array header"),
    lie("key-twice", "A header with a key twice.", in_npy(replacing("{", "{'shape': (1,), ")), FORMAT, "array header"),
    lie("key-order", "A header with its keys in another order.", in_npy(header("{'fortran_order': False, 'descr': '<f4', 'shape': (3,), }")), FORMAT, "array header"),
    lie("quotes", "A header in other quotes.", in_npy(replacing("'descr'", '"descr"')), FORMAT, "array header"),
    lie("comment", "A header with a comment.", in_npy(replacing("}", "} # ok")), FORMAT, "array header"),
    lie("blanks", "A header with blanks inside.", in_npy(replacing("'descr': ", "'descr':  ")), FORMAT, "array header"),
    lie("padding", "A header padded to another length.", in_npy(longer), FORMAT, "array header"),
    lie("padding-tab", "A header padded with tabs.", in_npy(lambda d: d.replace(b"  \n", b"\t \n", 1)), FORMAT, "array header"),
    lie("no-newline", "A header without its line end.", in_npy(lambda d: d.replace(b" \n", b"  ", 1)), FORMAT, "array header"),
    lie("two-lines", "A header of two lines.", in_npy(lambda d: d.replace(b"  \n", b"\n \n", 1)), FORMAT, "array header"),
    lie("length-more", "A header longer than the file.", in_npy(with_length(4000)), FORMAT, "array header"),
    lie("length-limit", "A header of 64 kilobytes.", in_npy(with_length(65535)), LIMIT, "max_npy_header_bytes"),
    lie("length-none", "A header of no length.", in_npy(with_length(0)), FORMAT, "array header"),
    lie("shape-negative", "A negative length.", in_npy(shaped("(-1,)")), FORMAT, "array header"),
    lie("shape-plus", "A length with a sign.", in_npy(shaped("(+3,)")), FORMAT, "array header"),
    lie("shape-float", "A length with a point.", in_npy(shaped("(3.0,)")), FORMAT, "array header"),
    lie("shape-true", "A length that is true.", in_npy(shaped("(True,)")), FORMAT, "array header"),
    lie("shape-long", "A length as Python 2 wrote it.", in_npy(shaped("(3L,)")), FORMAT, "array header"),
    lie("shape-hexadecimal", "A length in hexadecimal.", in_npy(shaped("(0x3,)")), FORMAT, "array header"),
    lie("shape-octal", "A length with a zero in front.", in_npy(shaped("(03,)")), FORMAT, "array header"),
    lie("shape-underscore", "A length with an underscore.", in_npy(shaped("(1_0,)")), FORMAT, "array header"),
    lie("shape-script", "A length in the digits of another script.", in_npy(shaped("(\u0663,)")), FORMAT, "array header"),
    lie("shape-list", "A shape that is a list.", in_npy(shaped("[3]")), FORMAT, "array header"),
    lie("shape-number", "A shape that is a number.", in_npy(shaped("3")), FORMAT, "array header"),
    lie("shape-no-comma", "A shape of one axis without its comma.", in_npy(shaped("(3)")), FORMAT, "array header"),
    lie("shape-wraps", "Lengths whose product wraps to the right one.", in_npy(shaped("(4294967296, 4294967296)")), FORMAT, "array shape"),
    lie("shape-huge", "A claim of 2^62 elements.", in_npy(shaped("(4611686018427387904,)")), FORMAT, "array shape"),
    lie("shape-large", "A claim of a terabyte.", in_npy(shaped("(274877906944,)")), FORMAT, "length: expected"),
    lie("shape-empty-huge", "No element, and an axis that no array can have.", in_npy(shaped("(0, 4611686018427387904)")), FORMAT, "array shape"),
    lie("shape-rank", "More axes than an array may have.", in_npy(shaped("(" + "1, " * 32 + "1)")), LIMIT, "max_array_rank"),
    lie("trailing", "Bytes behind the elements.", in_npy(lambda d: d + b"hidden"), FORMAT, "length: expected"),
    lie("short", "An element is missing.", in_npy(lambda d: d[:-2]), FORMAT, "length: expected"),
    lie("empty", "A member of nothing.", in_npy(lambda d: b""), FORMAT, "array header"),
    lie("cut", "A member cut in its header.", in_npy(lambda d: d[:20]), FORMAT, "array header"),
    lie("bool", "A truth that is 2.", in_npz(bool_of(2), KEPT), FORMAT, "expected bool bytes", bases=("own",), forms=BOTH),
    lie("bool-255", "A truth that is 255.", in_npz(bool_of(255), KEPT), FORMAT, "expected bool bytes", bases=("own",)),
    lie("type", "Elements of another type of the same size.", in_npy(lambda d: d.replace(b"'<i2'", b"'<u2'").replace(b"'<f4'", b"'<i4'")), INTEGRITY, "array '"),
    lie("shape", "The same elements in another shape.", in_npy(lambda d: shaped("(3, 2)" if b"(2, 3)" in d else "(4, 6)")(d)), INTEGRITY, "array '"),
    lie("elements", "One element is another.", in_npy(lambda d: d[:-1] + bytes([d[-1] ^ 1])), INTEGRITY, "array '"),
)  # fmt: skip

NPZ = rows(
    "T7",
    "npz",
    lie("array-alone", "An array instead of an npz.", told(lambda b, f: f.files.update({checkpoint(b): npz_of(f.files[checkpoint(b)]).members[0].content})), FORMAT, "not a zip archive"),
    lie("empty", "A file of nothing.", told(lambda b, f: f.files.update({checkpoint(b): b""})), FORMAT, "not a zip archive"),
    lie("pickle", "A pickle instead of an npz.", told(lambda b, f: f.files.update({checkpoint(b): b"\x80\x04" + PICKLE})), FORMAT, "not a zip archive", forms=BOTH),
    lie("no-array", "An npz of nothing.", told(lambda b, f: f.files.update({checkpoint(b): RawZip([]).pack()})), INTEGRITY, "array '", faults=None),
    lie("deflated", "A member is deflated.", in_npz(deflated), FORMAT, "stored plain member"),
    lie("executable", "A member is executable.", in_npz(lambda b, z: setattr(z.members[0], "executable", True)), FORMAT, "stored plain member"),
    lie("unsorted", "Members are not sorted.", in_npz(unsorted), FORMAT, "members sorted"),
    lie("twice", "Two members of one name.", in_npz(twice), UNSAFE, "one entry of this name"),
    lie("parent", "A member beside the folder.", in_npz(member(b"../b.npy")), FORMAT, "<array name>.npy"),
    lie("folder", "A member in a folder.", in_npz(member(b"a/b.npy")), FORMAT, "<array name>.npy"),
    lie("no-name", "A member without a name.", in_npz(member(b".npy")), FORMAT, "<array name>.npy"),
    lie("no-array-name", "A member that is no array.", in_npz(member(b"notes.txt", b"hello")), FORMAT, "<array name>.npy"),
    lie("script-name", "A member named in another script.", in_npz(member("\u0430.npy".encode())), FORMAT, "<array name>.npy"),
    lie("control-name", "A member that clears the screen.", in_npz(member(b"\x1b[2J.npy")), FORMAT, "<array name>.npy"),
    lie("extension-twice", "A member that numpy gives under another name.", in_npz(member(b"zz.npy.npy")), INTEGRITY, "array 'zz.npy'"),
    lie("long-name", "A member with a name longer than names may be.", in_npz(member(b"z" * 300 + b".npy")), FORMAT, "<array name>.npy"),
    lie("comment", "An npz with a comment.", in_npz(lambda b, z: setattr(z, "comment", b"hi")), FORMAT, "comment length"),
    lie("prefix", "Bytes before an npz.", in_npz(lambda b, z: setattr(z, "prefix", b"GIF89a")), FORMAT, "not a zip archive"),
    lie("suffix", "Bytes behind an npz.", in_npz(lambda b, z: setattr(z, "suffix", b"\0")), FORMAT, "bytes more"),
    lie("hidden", "A member that is not in the directory.", in_npz(lambda b, z: z.members.append(Raw(b"zz.npy", z.members[0].content, hidden=True))), FORMAT, "signature: expected"),
    lie("checksum", "A member's checksum is another's.", in_npz(lambda b, z: z.member(f"{b.array}.npy").both(checksum=1)), FORMAT, "checksum differs"),
    lie("extra", "An extra field, as numpy writes it.", in_npz(lambda b, z: setattr(z.members[0], "local_extra", struct.pack("<2H2Q", 1, 16, 1, 1))), FORMAT, "extra length"),
    lie("nested", "An npz inside an npz.", in_npz(lambda b, z: setattr(z.members[0], "content", RawZip([Raw(b"a.npy", b"x")]).pack())), FORMAT, "array header"),
    lie("array-more", "An array that nothing describes.", in_npz(member(b"zz.npy")), INTEGRITY, "array 'zz'"),
    lie("array-less", "An array that is described, and absent.", in_npz(lambda b, z: z.members.remove(z.member(f"{b.array}.npy"))), INTEGRITY, "array '"),
    lie("kept-stage", "A kept stage that the plan does not keep.", in_npz(member(b"zz.npy"), KEPT), INTEGRITY, "expected stages that the plan keeps"),
    lie("swapped", "The arrays of another step.", told(lambda b, f: f.files.update({checkpoint(b): f.files[f"runs/reference/checkpoints/step-{b.steps:09d}.npz"]})), INTEGRITY, "array '", faults=None),
)  # fmt: skip

CASES: tuple[Case, ...] = (*NUMPY, *NPZ)
