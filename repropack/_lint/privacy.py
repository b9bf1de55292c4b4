"""Secrets, personal paths and names, in every packed file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from repropack._lint.person import Person
from repropack._lint.pieces import OVERLAP_BYTES, Piece, pieces_of
from repropack._lint.spelled import UNQUOTED_SECRET, Shape, shapes_of
from repropack._lint.subject import LintedFile, Subject, found, texts_of
from repropack.models.authored import AuthoredMetadata
from repropack.models.lint import LintFinding

_SETTINGS = frozenset(
    {".env", ".ini", ".cfg", ".conf", ".yaml", ".yml", ".properties", ".sh", ".bash"}
)
_RUN = re.compile(rb"[\t\x20-\x7e]{6,}")
_MAX_A_FILE = 10
"""Findings of one rule in one file; a file that has more is to be made again anyhow."""


def check_privacy(subject: Subject, person: Person) -> Iterator[LintFinding]:
    """Yield what must not be published, once for each file and thing.

    Args:
        subject: What is looked at.
        person: The account and machine whose names are looked for.
    """
    said = set(AuthoredMetadata.model_fields)
    told = " ".join(texts_of(subject.metadata.model_dump(mode="json", include=said)))
    shapes = shapes_of(person, told)
    for file in subject.files:
        if file.packed:
            yield from _look_into(file, _shapes_for(file, shapes), subject)


def _shapes_for(file: LintedFile, shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    name = file.path.rpartition("/")[2]
    settings = file.suffix in _SETTINGS or name.startswith(".env")
    return (*shapes, UNQUOTED_SECRET) if settings else shapes


def _look_into(
    file: LintedFile, shapes: tuple[Shape, ...], subject: Subject
) -> Iterator[LintFinding]:
    seen: set[tuple[str, str]] = set()
    for piece in pieces_of(file, subject.limits):
        views = _views(piece)
        for shape in shapes:
            for problem, line in _in_views(views, shape):
                same = {known for known in seen if known[0] == shape.rule}
                if (shape.rule, problem) in seen or len(same) >= _MAX_A_FILE:
                    continue
                seen.add((shape.rule, problem))
                told = f"{problem} ({piece.place})" if piece.place else problem
                yield found(shape.rule, file.path, told, line)


def _views(piece: Piece) -> tuple[Piece, ...]:
    """A piece as it is where it is text; else its runs of printable characters.

    Returns:
        Of bytes two views: the second is that of UTF-16 and UTF-32, as far as that is ASCII.
    """
    if piece.is_text:
        return (piece,)
    plain, wide = piece.data, piece.data.translate(None, b"\0")
    runs = (b"\n".join(_RUN.findall(data)) for data in (plain, wide))
    return tuple(replace(piece, data=data, first_line=None) for data in runs)


def _in_views(views: tuple[Piece, ...], shape: Shape) -> Iterator[tuple[str, int | None]]:
    if shape.text_only and len(views) > 1:
        return
    for view in views:
        yield from _in_bytes(view, shape)


def _in_bytes(piece: Piece, shape: Shape) -> Iterator[tuple[str, int | None]]:
    data = piece.data
    # what stands in the overlap stands in the next piece as well, and whole
    end = len(data) if piece.ends else len(data) - OVERLAP_BYTES // 2
    for match in shape.find(data):
        if match.end() > end:
            continue
        words = shape.words
        if shape.group is not None:
            name = match[shape.group].decode("ascii", "backslashreplace")
            words = f"{words} {re.sub(r'[.]+$', '', name)!r}"
        yield words, piece.line_at(match.start())
