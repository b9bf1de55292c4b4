"""Standard output and error: what is written where, in which colours, and who may stop reading.

A reader that leaves early (``| head``) does not change the answer. A stream that cannot be written
does: an answer that nobody got is no answer.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

from repropack._cli.status import COULD_NOT_RUN

_LAST_STANDARD = 2
_RESET = "\x1b[0m"
_GREEN, _RED, _YELLOW = "\x1b[1;32m", "\x1b[1;31m", "\x1b[1;33m"
_COLOURS = {
    "begun": _GREEN,
    "built": _GREEN,
    "intact": _GREEN,
    "identical": _GREEN,
    "unpacked": _GREEN,
    "exported": _GREEN,
    "clean": _GREEN,
    "warnings": _YELLOW,
    "errors": _RED,
    "incomplete": _RED,
    "differs": _RED,
    "damaged": _RED,
    "could-not-run": _YELLOW,
}


def fill_standard_descriptors() -> None:
    """Open what a process was started without: else a pipe to a worker would take its number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD:
        continue
    os.close(descriptor)


def write_output(output: str | bytes, status: int) -> int:
    """Write a verb's answer to standard output.

    Args:
        output: Text whose first word may be a verdict, or bytes that go out as they are.
        status: The status of the answer.

    Returns:
        ``status``, or ``COULD_NOT_RUN`` where the answer could not be written.
    """
    stream = standard_stream("stdout")
    if stream is None:
        return status
    try:
        if isinstance(output, bytes):
            _write_bytes(stream, output)
        else:
            colours = is_terminal(stream) and not os.environ.get("NO_COLOR")
            _write_text(stream, _colour_verdict(output) if colours else output)
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
    except OSError as error:
        _discard(stream)
        write_message(f"repropack: error: standard output: {error.strerror or error}")
        return COULD_NOT_RUN
    return status


def write_message(text: str) -> None:
    """Write lines for people to standard error; nobody there to read them is no error."""
    stream = standard_stream("stderr")
    if stream is None:
        return
    try:
        _write_text(stream, f"{text}\n")
        stream.flush()
    except OSError:
        _discard(stream)


def standard_stream(name: str) -> TextIO | None:
    """``stdout`` or ``stderr``; ``None`` where the process was started without it."""
    stream: TextIO | None = getattr(sys, name)
    return stream


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that can do more than print lines."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _colour_verdict(text: str) -> str:
    """Colour the verdict, and nothing else; its word says the same without."""
    verdict = text.split(maxsplit=1)[0] if text.strip() else ""
    colour = _COLOURS.get(verdict)
    if colour is None or not text.startswith(verdict):
        return text
    return f"{colour}{verdict}{_RESET}{text.removeprefix(verdict)}"


def _write_text(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _write_bytes(stream: TextIO, data: bytes) -> None:
    stream.flush()
    stream.buffer.write(data)


def _discard(stream: TextIO) -> None:
    """Point a broken stream nowhere, so that closing it at exit cannot fail again."""
    try:
        handle = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, handle)
    os.close(nowhere)
