"""The end of what a run printed, as its author is shown it: whole tracebacks, and no code of ours.

A traceback that was cut off says nothing and is left out. Frames in repropack's own files are left
out too, and so is the last line of one that the error itself says again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from repropack.errors import RepropackError

_BEGINS = "Traceback (most recent call last):"
_FRAME = re.compile(r'  File "(?P<file>[^"\n]*)", line [0-9]+')
_OURS = re.compile(r"repropack\.errors\.[A-Za-z]+: (?P<message>.*)")
_PACKAGE = str(Path(__file__).resolve().parents[1])
_LINKED = "/modules/repropack/"
"""In the path of this package's files, as a script that attaches imports them."""


def shown_lines(lines: Sequence[str], error: RepropackError) -> tuple[str, ...]:
    """What is shown of the lines that a run printed.

    Args:
        lines: All of them.
        error: The error that is told below them.

    Returns:
        The lines without tracebacks that were cut off, without frames in repropack's own files,
        and without the message of ``error`` at the end of a traceback.
    """
    shown: list[str] = []
    place = 0
    while place < len(lines):
        if lines[place] != _BEGINS:
            shown.append(lines[place])
            place += 1
            continue
        end = _end_of(lines, place)
        shown += _without_ours(lines[place:end], error)
        place = end
    return tuple(shown)


def _end_of(lines: Sequence[str], begin: int) -> int:
    """The place after a traceback: after the line that names the exception, if it has one."""
    place = begin + 1
    while place < len(lines) and lines[place].startswith("  "):
        place += 1
    whole = place < len(lines) and lines[place] != "" and lines[place] != _BEGINS
    return place + whole


def _without_ours(traceback: Sequence[str], error: RepropackError) -> Iterator[str]:
    """A traceback as it is shown; nothing of one that was cut off."""
    last = traceback[-1]
    if last == _BEGINS or last.startswith("  "):
        return
    frames: list[str] = []
    ours = False
    for line in traceback[1:-1]:
        frame = _FRAME.match(line)
        if frame is not None:
            ours = _LINKED in frame["file"] or frame["file"].startswith(f"{_PACKAGE}/")
        if not ours:
            frames.append(line)
    told = _OURS.fullmatch(last)
    again = told is not None and told["message"] in error.message
    if frames or not again:
        yield from (_BEGINS, *frames)
    if not again:
        yield last
