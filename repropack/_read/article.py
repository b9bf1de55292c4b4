"""Read an article: which form it has, and the texts in it that may hold marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from repropack._compare.proofreading import Piece
from repropack._format.canonical import decode_strict
from repropack._format.limits import DEFAULT_LIMITS, MEBIBYTE
from repropack._format.marks import scan_text
from repropack._format.paths import shown_path
from repropack._format.scans import Form, TooManyMarksError
from repropack._read.beside import read_beside
from repropack.errors import PackageFormatError, UsageError
from repropack.models.proofreading import ArticleForm

MAX_ARTICLE_BYTES: Final = 16 * MEBIBYTE
_FORMS: Final[dict[str, ArticleForm]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".qmd": "markdown",
    ".rmd": "markdown",
    ".html": "html",
    ".htm": "html",
    ".tex": "latex",
    ".ltx": "latex",
    ".ipynb": "notebook",
}


def read_article(path: str | Path) -> tuple[ArticleForm, tuple[Piece, ...]]:
    """Read an article and scan it for marks.

    Args:
        path: The file; its extension says what it is written in.

    Returns:
        The form, and the scanned texts: the article, or each Markdown cell of a notebook.

    Raises:
        UsageError: no such file or no regular one, another extension, too large, not UTF-8, no
            notebook, or more marks than an article has.
    """
    place, shown = Path(path), shown_path(path)
    form = _FORMS.get(place.suffix.lower())
    if form is None:
        known = ", ".join(sorted(_FORMS))
        raise UsageError(f"{shown}: expected one of {known}, observed {place.suffix or 'none'}")
    data = read_beside(place, "an article", MAX_ARTICLE_BYTES)
    try:
        if form == "notebook":
            return form, tuple(_cells(data, shown))
        return form, (Piece(scan_text(_decoded(data, shown), form)),)
    except TooManyMarksError as error:
        raise UsageError(f"{shown}: {error}") from error


def _decoded(data: bytes, shown: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        observed = f"the byte {data[error.start]:#04x} at {error.start}"
        raise UsageError(f"{shown}: expected UTF-8, observed {observed}") from error


def _cells(data: bytes, shown: str) -> Iterator[Piece]:
    limits = replace(DEFAULT_LIMITS, max_document_bytes=MAX_ARTICLE_BYTES)
    try:
        notebook = decode_strict(data, where=shown, limits=limits)
    except PackageFormatError as error:
        raise UsageError(f"{shown}: expected a notebook, observed other JSON: {error}") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise UsageError(f"{shown}: expected a notebook of format 4 with cells, observed none")
    markdown: Form = "markdown"
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            yield Piece(
                scan_text(_source(cell.get("source")), markdown, metadata=False), cell=number
            )


def _source(source: Any) -> str:
    """A cell's source: one text, or its lines."""
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))
