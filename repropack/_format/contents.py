"""What a file that a command wrote is compared by: its content, and not how it was written.

The end of its path says what it is. Whatever cannot be read as that, is damaged, holds objects, or
is beyond a limit, is compared by its bytes, with the reason in words. Nothing here executes,
evaluates or unpickles anything (docs/format.md, chapter 11).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import quote, unquote

from repropack._format.canonical import encode_canonical
from repropack._format.content_arrays import ArrayFile, expanded_npz_bytes
from repropack._format.content_images import expanded_png_bytes, image_content
from repropack._format.content_kinds import (
    CONTENT_DOMAIN,
    CONTENT_LIMITS,
    ContentLimits,
    NotOfKindError,
    extension_of,
    kind_of,
)
from repropack._format.content_texts import encode_json, iter_rows, read_json
from repropack._format.digests import BLOCK_BYTES
from repropack.errors import UsageError
from repropack.models.base import OUTPUT_PREFIX
from repropack.models.differences import ContentKind

MAX_PART_CHARACTERS = 450
"""Longest path or array name in a stage, encoded: a stage has at most 1000 characters."""

_PIECE_CHARACTERS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds: as what it was read, and a fingerprint for each stage that it is.

    ``reason`` says why it was not read as what its name says; ``None`` where it was.
    """

    kind: ContentKind
    stages: tuple[tuple[str, str], ...]
    reason: str | None = None


def contents_of(
    path: str, file: BinaryIO, size: int, limits: ContentLimits = CONTENT_LIMITS
) -> Contents:
    """Fingerprint what a file holds.

    Args:
        path: Its path, relative; its end decides as what the file is read.
        file: The file, seekable; read from its beginning, and left open.
        size: Its size in bytes.
        limits: Limits on what is read as more than bytes. A package knows those of the format
            alone.

    Returns:
        The kind and the stages. The stage of the path itself is always there and comes last; an
        npz of up to 256 arrays has one for each of them before it, sorted by name.

    Raises:
        UsageError: the path is not Unicode.

    Determinism:
        A function of path and bytes, on every machine.

    Example:
        >>> from io import BytesIO
        >>> one, two = b'{"a": 1, "b": 2}', b'{"b":2,"a":1}'
        >>> contents_of("r.json", BytesIO(one), 16) == contents_of("r.json", BytesIO(two), 13)
        True
    """
    whole = output_stage(path)
    kind = kind_of(path)
    reason = None
    if kind != "bytes":
        file.seek(0)
        try:
            return Contents(kind, tuple(_stages(kind, path, (file, size), limits)))
        except NotOfKindError as error:
            reason = str(error)
    file.seek(0)
    return Contents("bytes", ((whole, _fingerprint("bytes", _blocks(file))),), reason)


@dataclass
class ContentBudget:
    """How much the files that are looked at may become together; no part of the format.

    A deflated npz may become a thousand times its size, and a package may hold thousands.
    """

    allowed: int
    spent: int = 0

    def take(self, path: str, file: BinaryIO, size: int) -> int | None:
        """Count a file before it is looked at.

        Args:
            path: Its path.
            file: The file, seekable.
            size: Its size in bytes.

        Returns:
            How much all of them become, where that is more than allowed; else ``None``.
        """
        kind = kind_of(path)
        if kind == "npz":
            self.spent += expanded_npz_bytes(file, size, CONTENT_LIMITS)
        elif kind == "image":
            self.spent += expanded_png_bytes(file, CONTENT_LIMITS)
        return self.spent if self.spent > self.allowed else None


def output_stage(path: str, array: str | None = None) -> str:
    """Name the stage that an output is, or one array of it.

    No two outputs and no two arrays have one name, and each name fits the log.

    Args:
        path: The output's path, relative.
        array: The array's name in an npz.

    Returns:
        ``output:<path>`` or ``output:<path>:<array>``, percent-encoded; ``%sha256-`` and the
        digest's digits in place of what would be longer than 450 characters.

    Raises:
        UsageError: a name is not Unicode.

    Example:
        >>> output_stage("out/a b.npz", "loss/train")
        'output:out/a%20b.npz:loss%2Ftrain'
    """
    try:
        stage = OUTPUT_PREFIX + _quote(path, "/")
        return stage if array is None else f"{stage}:{_quote(array, '')}"
    except UnicodeEncodeError as error:
        raise UsageError(f"output {path!a}: expected Unicode, observed a lone surrogate") from error


def read_output_stage(stage: str) -> tuple[str, str | None] | None:
    """Tell which output, and which array of it, a stage is: what ``output_stage`` was given.

    Args:
        stage: A stage's name.

    Returns:
        Path, and array or ``None``; of what was too long, its digest as the stage has it. ``None``
        where the stage is no output.

    Example:
        >>> read_output_stage("output:out/a%20b.npz:loss%2Ftrain")
        ('out/a b.npz', 'loss/train')
        >>> read_output_stage("gradient")
    """
    if not stage.startswith(OUTPUT_PREFIX):
        return None
    path, colon, array = stage.removeprefix(OUTPUT_PREFIX).partition(":")
    return unquote(path), unquote(array) if colon else None


def separator_of(path: str) -> str:
    """Return what stands between the cells of a table: a tab where its path ends in ``.tsv``."""
    return "\t" if extension_of(path) == "tsv" else ","


def _quote(text: str, safe: str) -> str:
    """Percent-encode; a digest begins as nothing that is encoded does."""
    quoted = quote(text, safe=safe, errors="strict").replace("~", "%7E")
    if len(quoted) <= MAX_PART_CHARACTERS:
        return quoted
    return f"%sha256-{hashlib.sha256(text.encode('utf-8')).hexdigest()}"


def _stages(
    kind: ContentKind, path: str, given: tuple[BinaryIO, int], limits: ContentLimits
) -> Iterator[tuple[str, str]]:
    whole = output_stage(path)
    file, size = given
    if kind == "npz":
        yield from _npz_stages(path, ArrayFile(file, size, limits, container=True), limits)
    elif kind == "npy":
        yield whole, ArrayFile(file, size, limits, container=False).fingerprint("")
    elif kind == "json":
        yield whole, _fingerprint(kind, [encode_json(read_json(file, limits))])
    elif kind == "csv":
        rows = iter_rows(file, separator_of(path), limits)
        yield whole, _fingerprint(kind, _listed(rows))
    else:
        yield whole, _fingerprint(kind, image_content(path, file, size, limits))


def _npz_stages(path: str, arrays: ArrayFile, limits: ContentLimits) -> Iterator[tuple[str, str]]:
    found = [(name, arrays.fingerprint(name)) for name in arrays.arrays]
    if len(found) <= limits.max_array_stages:
        for name, fingerprint in found:
            yield output_stage(path, name), fingerprint
    yield output_stage(path), _fingerprint("npz", [encode_canonical(found)])


def _listed(rows: Iterable[list[str]]) -> Iterator[bytes]:
    """Canonical JSON of the list of all rows, in pieces: an encoder is begun for many at once."""
    piece: list[list[str]] = []
    used = 0
    before = b"["
    for row in rows:
        piece.append(row)
        used += len(row) + sum(map(len, row))
        if used >= _PIECE_CHARACTERS:
            yield before + encode_canonical(piece)[1:-2]
            before, piece, used = b",", [], 0
    if piece:
        yield before + encode_canonical(piece)[1:-2]
        before = b","
    yield b"[]\n" if before == b"[" else b"]\n"


def _fingerprint(kind: ContentKind, pieces: Iterable[bytes]) -> str:
    hasher = hashlib.sha256(CONTENT_DOMAIN + f"{kind}\n".encode("ascii"))
    for piece in pieces:
        hasher.update(piece)
    return f"sha256:{hasher.hexdigest()}"


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(BLOCK_BYTES):
        yield block
