"""The stable form of an executed notebook, and what an output may not hold.

Nothing is replaced in a text: a path, or an address, that got into an output is refused, so that
the notebook that a package holds is what the kernel said.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from repropack.errors import CouldNotRunError

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,16}\b")
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_TEXTS = (b"tEXt", b"zTXt", b"iTXt", b"tIME", b"eXIf")
_METADATA = ("kernelspec", "language_info")
_LANGUAGE = ("file_extension", "mimetype", "name", "pygments_lexer")


def notebook_bytes(notebook: NotebookNode) -> bytes:
    """Write a notebook in its stable form.

    Args:
        notebook: A valid notebook of format 4.

    Returns:
        JSON with sorted members, one blank a level, texts as lists of lines, a final newline.

    Raises:
        ValidationError: it is not valid.

    Determinism:
        Equal notebooks give equal bytes.
    """
    nbformat.validate(notebook)
    write: Any = nbformat.writes
    text: str = write(notebook)
    return text.rstrip("\n").encode("utf-8") + b"\n"


def normalise_notebook(notebook: NotebookNode, paths: Collection[Path]) -> bytes:
    """Take from an executed notebook what is not its content, and write it.

    Args:
        notebook: The executed notebook; it is changed.
        paths: Folders of this machine that no output may name.

    Returns:
        Its stable form; see ``notebook_bytes``.

    Raises:
        CouldNotRunError: an output names one of ``paths`` or an address in memory; the message
            says which cell.
        ValidationError: it is not valid.
    """
    kept = {name: notebook.metadata[name] for name in _METADATA if name in notebook.metadata}
    if "language_info" in kept:
        language = kept["language_info"]
        kept["language_info"] = {name: language[name] for name in _LANGUAGE if name in language}
    notebook.metadata = kept
    for number, cell in enumerate(notebook.cells, start=1):
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("metadata", {}).pop("transient", None)
            _strip_images(output, number)
            for text in _texts(output):
                _refuse(text, paths, number)
    return notebook_bytes(notebook)


def _texts(output: Any) -> Iterator[str]:
    """Every text of an output, apart from images."""
    if isinstance(output, str):
        yield output
    elif isinstance(output, list):
        for part in output:
            yield from _texts(part)
    elif isinstance(output, dict):
        for name, part in output.items():
            if name != "image/png":
                yield from _texts(part)


def _refuse(text: str, paths: Collection[Path], cell: int) -> None:
    address = _ADDRESS.search(text)
    if address is not None:
        raise CouldNotRunError(
            f"notebook: cell {cell}: expected an output that is the same every time, observed an "
            f"address in memory ({address.group()})"
        )
    for path in paths:
        if _names(text, str(path)):
            raise CouldNotRunError(
                f"notebook: cell {cell}: expected an output without a path of this machine, "
                f"observed one ({path})"
            )


def _names(text: str, path: str) -> bool:
    """Whether a text names a folder or something below it, and not another that begins alike."""
    return len(path) > 1 and re.search(rf"{re.escape(path)}(?![\w.-])", text) is not None


def _strip_images(output: Any, cell: int) -> None:
    data = output.get("data", {})
    if "image/png" in data:
        try:
            image = base64.b64decode("".join(data["image/png"]), validate=False)
        except ValueError as error:  # other characters, or no whole number of bytes
            raise CouldNotRunError(f"notebook: cell {cell}: its image is not base64") from error
        data["image/png"] = base64.b64encode(_without_texts(image)).decode("ascii")


def _without_texts(image: bytes) -> bytes:
    """A PNG without the chunks that tell of software and time; anything else as it is."""
    if not image.startswith(_PNG):
        return image
    kept, place = [_PNG], len(_PNG)
    while place < len(image):
        end = place + 12 + int.from_bytes(image[place : place + 4], "big")
        if image[place + 4 : place + 8] not in _PNG_TEXTS:
            kept.append(image[place:end])
        place = end
    return b"".join(kept)
