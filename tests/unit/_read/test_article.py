"""Articles are read by their extension, as text, and under limits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repropack._read import article
from repropack._read.article import read_article
from repropack.errors import UsageError

MARK = "<!-- claim: a -->1<!-- /claim -->"


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "form", "text"),
    [
        ("a.md", "markdown", MARK),
        ("a.QMD", "markdown", MARK),
        ("a.html", "html", MARK),
        ("a.tex", "latex", r"\claim{a}{1}"),
    ],
)
def test_the_extension_says_what_it_is(tmp_path: Path, name: str, form: str, text: str) -> None:
    """In capitals too; a byte order mark is no text."""
    found, (piece,) = read_article(written(tmp_path, name, b"\xef\xbb\xbf" + text.encode()))
    assert found == form
    assert [(mark.claim, mark.content) for mark in piece.scan.marks] == [("a", "1")]
    assert piece.cell is None


def test_the_markdown_cells_of_a_notebook_are_read(tmp_path: Path) -> None:
    """By their number; source as one text or as lines, and code is not looked at."""
    cells = [
        {"cell_type": "markdown", "source": ["---\n", "x\n", MARK, "\n\n---\n"]},
        {"cell_type": "code", "source": MARK},
        {"cell_type": "markdown", "source": MARK},
        {"cell_type": "markdown"},
        7,
    ]
    form, pieces = read_article(written(tmp_path, "a.ipynb", json.dumps({"cells": cells})))
    assert form == "notebook"
    assert [(piece.cell, len(piece.scan.marks)) for piece in pieces] == [(1, 1), (3, 1), (4, 0)]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.docx", b"", "expected one of .htm, .html, .ipynb"),
        ("a", b"", "observed none"),
        ("a.md", b"\xff", "expected UTF-8, observed the byte 0xff at 0"),
        ("a.ipynb", b"{", "expected a notebook, observed other JSON"),
        ("a.ipynb", b"[1]", "expected a notebook of format 4 with cells, observed none"),
        ("a.ipynb", b"[" * 5000, "expected a notebook, observed other JSON"),
    ],
)
def test_what_cannot_be_read_is_wrong_use(
    tmp_path: Path, name: str, text: bytes, problem: str
) -> None:
    """With what was expected."""
    with pytest.raises(UsageError) as caught:
        read_article(written(tmp_path, name, text))
    assert problem in str(caught.value)


def test_a_large_article_and_one_of_marks_alone_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their bytes, and by their marks; no file is none."""
    monkeypatch.setattr(article, "MAX_ARTICLE_BYTES", 40)
    with pytest.raises(UsageError, match="expected an article of at most 40 bytes, observed more"):
        read_article(written(tmp_path, "a.md", "x" * 41))
    monkeypatch.setattr("repropack._format.scans.MAX_MARKS", 0)
    with pytest.raises(UsageError, match="expected at most 0 marks, observed more"):
        read_article(written(tmp_path, "a.md", MARK))
    with pytest.raises(
        UsageError, match="expected an article, observed 'No such file or directory'"
    ):
        read_article(tmp_path / "b.md")
