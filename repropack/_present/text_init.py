"""What ``init`` wrote, as text for a terminal."""

from __future__ import annotations

from repropack._present.escape import escape_text
from repropack._present.layout import ended, field, listing, wrap
from repropack.models.reports import InitReport


def init_text(report: InitReport) -> str:
    """What ``init`` wrote and found, for people.

    Returns:
        The text; ends in a newline, after the next two commands.
    """
    lines = [*wrap(escape_text(report.path), first="begun  "), ""]
    lines += field("written", _joined(report.written))
    if report.kept:
        lines += field("left as it was", _joined(report.kept))
    if report.form == "command":
        lines += [
            *field("command", escape_text(" ".join(report.command))),
            *field("inputs", _joined(report.inputs) or "none found"),
            *field("outputs", _joined(report.outputs) or "none found"),
        ]
    if report.notes:
        lines += ["", "see to it in repropack.toml:"]
        lines += listing([escape_text(note) for note in report.notes])
    lines += ["", "next:", *(f"  {escape_text(command)}" for command in report.next)]
    return ended(lines)


def _joined(paths: tuple[str, ...]) -> str:
    return ", ".join(map(escape_text, paths))
