"""Lines, columns and numbers, for a page of 100 columns.

Widths are counted in terminal cells, so that a title in a wide script does not break a table.
Everything handed in is escaped already; nothing here knows what it lays out.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from repropack._format.contents import read_output_stage
from repropack._format.placeholders import fill_placeholders, unknown_placeholders
from repropack._present.escape import escape_text
from repropack.models.plan import ExperimentPlan

WIDTH = 100
_LABEL = 18
_GAP = "  "

ENTRY = ("entry", "entries")
"""For ``plural``."""


def cells(text: str) -> int:
    """How many columns of a terminal ``text`` takes."""
    return sum(_cells_of(character) for character in text)


def wrap(text: str, *, first: str = "", rest: str | None = None) -> list[str]:
    """Break ``text`` at spaces into lines of at most ``WIDTH`` columns.

    Args:
        text: What to break; a word that is longer than a line is broken inside.
        first: What the first line begins with.
        rest: What every other line begins with; as many spaces as ``first`` has where ``None``.

    Returns:
        One line at least.
    """
    begin = " " * cells(first) if rest is None else rest
    lines = [first]
    empty = True
    for word in text.split():
        for piece in _pieces(word, WIDTH - max(cells(first), cells(begin))):
            gap = "" if empty else " "
            if not empty and cells(lines[-1]) + 1 + cells(piece) > WIDTH:
                lines.append(begin)
                gap = ""
            lines[-1] += gap + piece
            empty = False
    return lines


def field(label: str, text: str) -> list[str]:
    """A label and its text, which hangs beside it."""
    return wrap(text, first=f"{label:<{_LABEL}}", rest=" " * _LABEL)


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()
) -> list[str]:
    """Rows below their header, as columns where those fit, else one block a row.

    Args:
        header: A heading for each column, at the bottom where another has more lines.
        rows: As many texts a row.
        right: Columns that are aligned to the right.

    Returns:
        Lines of at most ``WIDTH`` columns.
    """
    headings = _stacked(header)
    widths = [max(cells(row[k]) for row in (*headings, *rows)) for k in range(len(header))]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > WIDTH:
        return _blocks(header, rows)
    return [_line(row, widths, right) for row in (*headings, *rows)]


def listing(items: Sequence[str], *, first: str = "- ", at_most: int = 20) -> list[str]:
    """One item a line, wrapped; what exceeds ``at_most`` is counted."""
    lines = [line for item in items[:at_most] for line in wrap(item, first=first)]
    if len(items) > at_most:
        lines.append(f"{first}and {len(items) - at_most} more")
    return lines


def join_names(names: Iterable[str], at_most: int = 8) -> str:
    """Names, escaped, in a row; what exceeds ``at_most`` is counted."""
    shown = [escape_text(name, 80) for name in names]
    if len(shown) > at_most:
        shown[at_most:] = [f"{len(shown) - at_most} more"]
    return ", ".join(shown)


def ended(lines: Iterable[str]) -> str:
    """Lines as one text."""
    return "\n".join(line.rstrip() for line in lines) + "\n"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """A number and its noun: ``1 step``, ``2 steps``, ``3 entries``."""
    return f"{count} {noun if count == 1 else nouns or noun + 's'}"


def number(value: object) -> str:
    """A number of a document in full; encoded ones as what they stand for."""
    if isinstance(value, dict):
        if set(value) == {"real", "imaginary"}:
            return escape_text(f"{value['real']} + {value['imaginary']} i", 120)
        return escape_text(" ".join(str(part) for part in value.values()), 80)
    return escape_text(str(value), 80)


def short_number(value: object) -> str:
    """A number to three digits where that is shorter; it is shown beside the one in full."""
    return f"{value:.3g}" if isinstance(value, float) else number(value)


def size(size_bytes: int) -> str:
    """A size in bytes, in decimal units."""
    if size_bytes < 1000:
        return plural(size_bytes, "byte")
    value, unit = size_bytes / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if value < 999.95:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit}"


def step_range(first_step: int, last_step: int) -> str:
    """A range of steps: ``41..100``; ``none`` where it is empty."""
    return f"{first_step}..{last_step}" if last_step >= first_step else "none"


def _cells_of(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _pieces(word: str, width: int) -> list[str]:
    pieces, used = [""], 0
    for character in word:
        if used + _cells_of(character) > max(width, 10):
            pieces.append("")
            used = 0
        pieces[-1] += character
        used += _cells_of(character)
    return pieces


def _stacked(header: Sequence[str]) -> list[list[str]]:
    """A header as lines, its texts at the bottom."""
    parts = [text.split("\n") for text in header]
    height = max(len(part) for part in parts)
    padded = [[""] * (height - len(part)) + part for part in parts]
    return [[part[line] for part in padded] for line in range(height)]


def _line(row: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    padded = []
    for column, (text, width) in enumerate(zip(row, widths, strict=True)):
        padding = " " * (width - cells(text))
        padded.append(padding + text if column in right else text + padding)
    return _GAP.join(padded).rstrip()


def _blocks(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    labels = [text.replace("\n", " ") for text in header]
    lines: list[str] = []
    for row in rows:
        lines += wrap(row[0], rest="    ")
        for label, text in zip(labels[1:], row[1:], strict=True):
            lines += wrap(f"{label}: {text}", first="  ", rest="    ")
    return lines


def experiment_text(experiment: ExperimentPlan) -> str:
    """Return what is run, in one line: an entry point, or a command as the reference runs it."""
    return experiment.entry_point or command_text(experiment.command or (), experiment)


def command_text(command: Iterable[str], experiment: ExperimentPlan) -> str:
    """Return a command in one line, its placeholders filled in as for the reference.

    Args:
        command: Words, of the experiment itself or of a command after its runs.
        experiment: Whose seed and configuration they stand for.

    Returns:
        The words as a shell reads them; one with a name that is not known stands as it is.
    """
    seed, config = experiment.seed, experiment.config
    return shlex.join(
        word if any(unknown_placeholders(word, config)) else fill_placeholders(word, seed, config)
        for word in command
    )


def is_command(experiment: ExperimentPlan) -> bool:
    """Whether it is a command that runs as a whole, without steps of its own."""
    return experiment.command is not None and not experiment.loop


def stage_text(stage: str) -> str:
    """Return a stage's name for people, escaped: an output as ``output out/a b.npz · loss``."""
    output = read_output_stage(stage)
    if output is None:
        return escape_text(stage, 80)
    path, array = output
    return f"output {escape_text(path, 80)}" + (f" · {escape_text(array, 40)}" if array else "")
