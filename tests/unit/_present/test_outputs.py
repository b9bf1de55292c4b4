"""How an output differs, as text: every kind, literally, and nothing unescaped."""

from __future__ import annotations

import numpy as np
import pytest

from repropack._present.layout import WIDTH, cells
from repropack._present.outputs import output_lines
from tests.support.contents import chunk, differ, npy, npz, png, rgb_png

W = np.arange(6, dtype="<f4").reshape(2, 3)
X = W.copy()
X[0, 1] = np.nextafter(X[0, 1], np.float32(2))
SHOWN_ALIKE = [
    png((1, 1), sample, colour=3, before=chunk(b"PLTE", palette))
    for sample, palette in ((b"\0\0", b"abcdef"), (b"\0\1", b"defabc"))
]


@pytest.mark.parametrize(
    ("path", "expected", "observed", "text"),
    [
        pytest.param(
            "out/r.npz", npz(w=W, a=W, s=np.array(["x"])), npz(w=X, b=W, s=np.array(["y"])),
            """\
output out/r.npz differs in its arrays
array:            s: 1 of 1 element
                  s[0]  expected 'x'  observed 'y'
array:            w: 1 of 6 elements, at most 1 ulp, at most 1.1920928955078125e-07
                  w[0, 1]  expected 1.0 (0x3f800000)  observed 1.0000001 (0x3f800001)
missing:          a
unexpected:       b""",
            id="npz",
        ),
        pytest.param(
            "w.npy", npy(W), npy(W.T),
            """\
output w.npy differs in its array
array:            type or shape: expected <f4 (2, 3), observed <f4 (3, 2)""",
            id="npy",
        ),
        pytest.param(
            "r.json", b'{"a": [1, 2]}', b'{"a": [1, 2, 3]}',
            """\
output r.json differs in its values
first difference: /a/2: expected nothing, observed 3 (a list of 2, observed 3)""",
            id="json",
        ),
        pytest.param(
            "r.json", b"1", b"2",
            """\
output r.json differs in its values
first difference: the whole: expected 1, observed 2""",
            id="json-whole",
        ),
        pytest.param(
            "t.csv", b"step,loss\n1,0.5\n", b"step,loss\n1,0.25\n2,0\n",
            """\
output t.csv differs in its cells
first difference: row 2, column 2 (loss): expected '0.5', observed '0.25'
rows:             expected 2, observed 3""",
            id="csv",
        ),
        pytest.param(
            "t.csv", b"a\n", b"a\n\n",
            """\
output t.csv differs in its cells
rows:             expected 1, observed 2""",
            id="csv-empty-row",
        ),
        pytest.param(
            "t.csv", b"a,b\n", b"a\n",
            """\
output t.csv differs in its cells
first difference: row 1, column 2: expected 'b', observed no cell""",
            id="csv-no-cell",
        ),
        pytest.param(
            "f.png", rgb_png([[(0, 0, 0), (1, 1, 1)]]), rgb_png([[(0, 0, 0), (1, 1, 4)]]),
            """\
output f.png differs in its pixels
pixels:           1 of 2 pixels, at most 3 of 255
first difference: x 1, y 0: expected (1, 1, 1, 255), observed (1, 1, 4, 255)""",
            id="png",
        ),
        pytest.param(
            "f.png", rgb_png([[(0, 0, 0)]]), rgb_png([[(0, 0, 0)] * 2]),
            """\
output f.png differs in its pixels
form:             expected RGB 1 x 1, observed RGB 2 x 1""",
            id="png-size",
        ),
        pytest.param(
            "f.png", *SHOWN_ALIKE,
            """\
output f.png differs in its pixels
pixels:           every pixel is equal as it is decoded here; the file means it in another way""",
            id="png-shown-alike",
        ),
        pytest.param(
            "f.jpg", b"\xff\xd8\xff\xdaab", b"\xff\xd8\xff\xdaac",
            """\
output f.jpg differs in its pixels
as bytes:         its pixels cannot be shown: it cannot be decoded as JPEG
first byte:       at offset 5 (line 1): expected 62, observed 63""",
            id="jpeg-not-decoded",
        ),
        pytest.param(
            "t.txt", b"abc\nde", b"abc\ndf\n",
            """\
output t.txt differs in its bytes
first byte:       at offset 5 (line 2): expected 65, observed 660a
size:             expected 6 bytes, observed 7""",
            id="bytes",
        ),
        pytest.param(
            "t.json", b"{}", b"[",
            """\
output t.json differs in its bytes
as bytes:         it is not compared as what its name says: observed: it is no JSON
first byte:       at offset 0 (line 1): expected 7b7d, observed 5b
size:             expected 2 bytes, observed 1""",
            id="no-json",
        ),
        pytest.param(
            "t.json", b"[1]", b"[ 1]",
            """\
output t.json: equal in its values, written in other bytes
first byte:       at offset 1 (line 1): expected 315d, observed 20315d
size:             expected 3 bytes, observed 4
                  This changes no verdict.""",
            id="content-equal",
        ),
    ],
)  # fmt: skip
def test_each_kind(path: str, expected: bytes, observed: bytes, text: str) -> None:
    """Where, what was expected, what was observed."""
    assert "\n".join(output_lines(differ(path, expected, observed))) == text


def test_many_arrays_are_counted() -> None:
    """Five are shown."""
    names = {f"a{k}": W for k in range(8)}
    others = dict.fromkeys(names, W + 1)
    lines = output_lines(differ("r.npz", npz(**names), npz(**others)))  # type: ignore[arg-type]
    assert [line for line in lines if line.startswith("array:")][-1].startswith(
        "array:            a4: all 6 elements"
    )
    assert lines[-1] == "                  and 3 more arrays"


def test_nothing_of_a_file_is_shown_unescaped() -> None:
    """Neither names, cells, members nor paths reach the terminal as they are, nor break lines."""
    evil = "\x1b[31m\u202e\n"
    found = [
        differ(f"{evil}.json", f'{{"{chr(0x202E)}": 1}}'.encode(), b"{}"),
        differ("a.json", b'"\\u001b[31m"', b"1"),
        differ("a.csv", f'"{evil}"\n"{evil}"\n'.encode(), f'"{evil}"\nb\n'.encode()),
        differ("a.npy", npy(np.array([evil])), npy(np.array([evil[::-1]]))),
        differ("a.npz", npz(**{evil: W}), npz(**{evil: W + 1, f"{evil}2": W})),  # type: ignore[arg-type]
        differ("a.npz", npz(**{evil: np.array([None])}), npz()),  # type: ignore[arg-type]
    ]
    for difference in found:
        for line in output_lines(difference):
            assert line.isprintable()
            assert cells(line) <= WIDTH


def test_long_texts_are_wrapped() -> None:
    """A path and a member may be long."""
    path = f"{'long/' * 40}a.json"
    member = "member " * 60
    lines = output_lines(differ(path, f'{{"{member}": "{member}"}}'.encode(), b"{}"))
    assert max(map(cells, lines)) <= WIDTH
    assert "more characters" in " ".join(lines)
