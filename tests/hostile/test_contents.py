"""Outputs that are made to hurt whoever reads them: nothing runs, and memory stays bounded."""

from __future__ import annotations

import io
import pickle
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.support.contents import PNG_SIGNATURE, chunk, content, npy, npz, png, read, zipped

pytestmark = pytest.mark.hostile

ROOT = Path(__file__).resolve().parents[2]


class Touches:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def object_header(shape: str) -> bytes:
    text = f"{{'descr': '|O', 'fortran_order': False, 'shape': {shape}, }}\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    """Objects in an npy or npz, or a pickle in place of one, are bytes and stay so."""
    mark = tmp_path / "mark"
    evil = Touches(mark)
    array = np.array([evil], object)
    pickled = pickle.dumps(evil)
    for path, data in (
        ("a.npy", npy(array)),
        ("a.npz", npz(o=array)),
        ("a.npy", pickled),
        ("a.npy", object_header("(1,)") + pickled),
        ("a.npz", zipped({"o.npy": pickled})),
        ("a.npz", zipped({"o.npy": npy(np.int8(1)), "p.pkl": pickled})),
        ("a.json", pickled),
    ):
        found = read(path, data)
        assert found.kind == "bytes", data
        assert found.stages == ((f"output:{path}", content("bytes", data)),)
    assert not mark.exists()
    pickle.loads(pickled)
    assert mark.exists()


def test_headers_are_not_evaluated(tmp_path: Path) -> None:
    """A header is text that fits a pattern or does not."""
    mark = tmp_path / "mark"
    text = (
        "{'descr': '<f8', 'fortran_order': False, 'shape': "
        f"(__import__('pathlib').Path({str(mark)!r}).touch() or 1,), }}\n"
    )
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + bytes(8)
    assert read("a.npy", data).kind == "bytes"
    assert not mark.exists()


def bomb_member(size: int) -> bytes:
    """An npy of zero bytes, deflated to a thousandth."""
    array = np.lib.format.header_data_from_array_1_0(np.zeros(0, "u1")) | {"shape": (size,)}
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, array)
    return stream.getvalue()


def deflated_npz(size: int, name: str = "z.npy") -> bytes:
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w") as member,
    ):
        member.write(bomb_member(size))
        for _ in range(size >> 20):
            member.write(bytes(1 << 20))
    return stream.getvalue()


def lying_npz() -> bytes:
    """A member that declares 10 bytes and inflates to 64 MiB."""
    data = bytearray(deflated_npz(64 << 20))
    directory = data.index(b"PK\x01\x02")
    for place in (22, directory + 24):
        data[place : place + 4] = struct.pack("<I", 200)
    return bytes(data)


def overlapping_npz() -> bytes:
    """Ten members that are all the same bytes of the file."""
    one = deflated_npz(8 << 20)
    start = one.index(b"PK\x01\x02")
    end = one.index(b"PK\x05\x06")
    entry = one[start:end]
    names = [f"{k}.npy" for k in range(10)]
    directory = b"".join(entry.replace(b"z.npy", name.encode()) for name in names)
    record = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 10, 10, len(directory), start, 0)
    return one[:start] + directory + record


def many_members() -> bytes:
    """A directory of 100,000 members in a small file."""
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<H", 1) + bytes(16) + b"a"
    directory = entry * 100_000
    return directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), 0, 0)


def zip64_npz() -> bytes:
    """An end record in zip64 form that declares a directory of an exbibyte."""
    record = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, 1 << 60, 0)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, 0, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 0, 0, 0)
    return record + locator + end


def huge_png(size: tuple[int, int]) -> bytes:
    return png(size, b"")


def inflating_png() -> bytes:
    """A small picture whose samples inflate to a quarter of a gibibyte."""
    packer = zlib.compressobj(9)
    samples = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    head = chunk(b"IHDR", struct.pack(">2I5B", 2, 2, 8, 2, 0, 0, 0))
    return PNG_SIGNATURE + head + chunk(b"IDAT", samples) + chunk(b"IEND", b"")


def text_png() -> bytes:
    """A picture with a text that inflates to a quarter of a gibibyte: it is not looked at."""
    packer = zlib.compressobj(9)
    text = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    profile = chunk(b"iCCP", b"p\0\0" + text)
    return png((1, 1), b"\0abc", before=profile + chunk(b"zTXt", b"t\0\0" + text))


def npy_of(descr: str, shape: str, fortran: bool = False) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


CASES = {
    "bomb.npz": (lambda: deflated_npz(256 << 20), "npz"),
    "lying.npz": (lying_npz, "bytes"),
    "overlapping.npz": (overlapping_npz, None),
    "members.npz": (many_members, "bytes"),
    "zip64.npz": (zip64_npz, "bytes"),
    "elements.npy": (lambda: npy_of("<f8", "(1000000000,)"), "bytes"),
    "fortran.npy": (lambda: npy_of("<f8", "(100000, 100000)", True), "bytes"),
    "numbers.npy": (lambda: npy_of("<f8", f"({'9' * 19}, {'9' * 19})"), "bytes"),
    "none.npy": (lambda: npy_of("|S0", "(1000000000,)"), "bytes"),
    "wide.npy": (lambda: npy_of("<U500000000", "(0,)"), "bytes"),
    "deep.json": (lambda: b'{"a":' * 1_000_000, "bytes"),
    "lists.json": (lambda: b"[" + b"[]," * 5_000_000 + b"0]", "bytes"),
    "long.json": (lambda: b"9" * 30_000_000, "bytes"),
    "zeros.json": (lambda: b"[" + b"0," * 8_000_000 + b"0]", "bytes"),
    "open.csv": (lambda: b'"' + b"x" * 50_000_000, "bytes"),
    "wide.csv": (lambda: b"," * 50_000_000, "bytes"),
    "lines.csv": (lambda: b'"\n",' * 10_000_000, "bytes"),
    "huge.png": (lambda: huge_png((2**31 - 1, 2**31 - 1)), "bytes"),
    "large.png": (lambda: huge_png((2**13, 2**13 + 1)), "bytes"),
    "inflating.png": (inflating_png, "bytes"),
    "text.png": (text_png, "image"),
    "huge.jpg": (lambda: b"\xff\xd8\xff\xc0\x00\x11\x08" + b"\xff" * 50 + b"\xff\xda", "bytes"),
}
MEMORY = 128 << 20
"""What reading may take beyond the interpreter and the libraries, in bytes."""

READ = r"""
import re, sys
from pathlib import Path
import numpy
from PIL import Image, PngImagePlugin
from repropack._format.contents import contents_of

def peak():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])

path = Path(sys.argv[1])
with path.open("rb") as file:
    before = peak()
    kind = contents_of(path.name, file, path.stat().st_size).kind
    after = peak()
print(kind, (after - before) * 1024)
"""


@pytest.mark.parametrize("name", CASES)
def test_memory_is_bounded(name: str, tmp_path: Path) -> None:
    """Declared sizes cost nothing, and what inflates is never held whole."""
    make, expected = CASES[name]
    path = tmp_path / name
    path.write_bytes(make())
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kind, grown = done.stdout.split()
    assert expected in {kind, None}
    assert int(grown) < MEMORY
