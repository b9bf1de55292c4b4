"""What a verb ends with, and how a report becomes that."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from repropack._cli.status import COULD_NOT_RUN
from repropack.errors import CouldNotRunError

if TYPE_CHECKING:
    from repropack._cli.report_file import ReportFile
    from repropack.models.base import Document

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")
_Report = TypeVar("_Report", bound="Document")


@dataclass(frozen=True)
class Answer:
    """What a verb ends with: text for people, or bytes that go out as they are.

    ``complaint`` is what went wrong besides, ``warning`` what a reader of the output alone could
    miss; each goes to standard error on one line.
    """

    output: str | bytes
    status: int
    complaint: str | None = None
    warning: str | None = None


def answer(
    arguments: Namespace, report: _Report, text: Callable[[_Report], str], status: int
) -> Answer:
    """A report in the format that was asked for.

    Args:
        arguments: Those of the verb; ``format`` is looked at.
        report: What the verb found.
        text: Makes text for people of it.
        status: Exit status.

    Returns:
        The answer.
    """
    if arguments.format == "json":
        return Answer(ascii_document(report), status)
    return Answer(text(report), status)


def keep(told: Answer, kept: ReportFile | None, content: Callable[[], bytes]) -> Answer:
    """Write a file beside an answer, which is told all the same where that fails.

    Args:
        told: The answer.
        kept: Where to; nothing is written where it is ``None``.
        content: Makes what to write.

    Returns:
        The answer, with a complaint and status 4 where the file could not be written.
    """
    if kept is None:
        return told
    try:
        kept.write(content())
    except CouldNotRunError as error:
        return replace(told, status=COULD_NOT_RUN, complaint=error.message)
    return told


def encode_document(document: Document) -> bytes:
    """A report as canonical JSON."""
    from repropack._format.canonical import encode_canonical

    return encode_canonical(document.model_dump(mode="json"))


def ascii_document(document: Document) -> bytes:
    """A report as JSON of ASCII alone: nothing in it can move a cursor or turn a line around."""
    return _NOT_ASCII.sub(_escaped, encode_document(document).decode("utf-8")).encode("ascii")


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[k : k + 2].hex()}" for k in range(0, len(units), 2))
