"""Files that would keep ``lint`` busy for ever, or break it: each is looked at, and answered.

None of these tests measures time. Where a search took the square of a file's length, a mebibyte
would take hours.
"""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from tests.support.lint import file, found, subject

pytestmark = pytest.mark.hostile

MEBIBYTE = 1 << 20


def test_empty_lines_in_settings() -> None:
    """The search for unquoted passwords begins anew at each line, and no further than its end."""
    data = b"\n" * MEBIBYTE + b"  password = kq8vz7Lw3\n"
    assert found(subject({"train.py": "pass\n"}, file("run.yaml", data))) == [
        ("secret", "run.yaml", MEBIBYTE + 1)
    ]


@pytest.mark.parametrize("text", ["1." * (MEBIBYTE // 3), "1" * (MEBIBYTE // 2)])
def test_numbers_without_end_in_a_readme(text: str) -> None:
    """A time begins with a number that people write."""
    readme = f"Expected: 0.1. {text}"
    assert found(subject(readme=readme)) == [("readme-time", "README.md", None)]
    assert found(subject(readme=f"{readme} 2.5 hours")) == []


@pytest.mark.parametrize("parts", [990, 2500])
def test_a_path_of_more_parts_than_a_recursion_has_levels(parts: int) -> None:
    """No path is that deep, so its name is not known."""
    source = f"open({'/'.join([repr('a')] * parts)})\n"
    assert found(subject({"train.py": source})) == []


def test_a_text_of_gibibytes_in_an_array() -> None:
    """One element that is never held whole; what it says is found."""
    head = b"{'descr': '<U999999999', 'fortran_order': False, 'shape': (1,), }\n"
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w") as member,
    ):
        member.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        for _ in range(256):
            member.write(bytes(MEBIBYTE))
        member.write(" /home/jvdoe/data ".encode("utf-32-le"))
    array = file("a.npz", stream.getvalue(), "output")
    assert found(subject({"train.py": "pass\n"}, array)) == [("personal-path", "a.npz", None)]
