"""The figure of an audit: which resumes go on exactly, and what each part of the state does.

What is shown is a frozen layout, made of the report alone; the cells are drawn as those of a
package's figures are. To be imported late where it draws: that brings matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from repropack._format.figure_seals import seal_png, seal_svg
from repropack._present.escape import escape_text
from repropack._present.figure_layout import Columns, MatrixRow, Strip, columns_for, strip_of
from repropack._present.figure_words import shown, wrapped
from repropack._present.rendered import load_painter
from repropack.errors import UsageError
from repropack.models.audit import AuditedReset, AuditReport

MAX_DRAWN = 40
"""Most parts of the state that are drawn."""
TITLE = "Which state determines the next step?"
_EFFECTS = {
    "itself": "nothing else differs",
    "none": "nothing differs",
}


@dataclass(frozen=True)
class AuditLayout:
    """The figure: rows for full resumes, rows for parts that were put back, and what is not drawn.

    ``untold`` are parts of the state of which nothing can be said, as sentences.
    """

    columns: Columns
    resumes: tuple[MatrixRow, ...]
    resets: tuple[MatrixRow, ...]
    untold: tuple[str, ...]


def figure_format(path: str) -> Literal["svg", "png"]:
    """The format that a file's name asks for.

    Args:
        path: The file.

    Returns:
        ``svg`` or ``png``.

    Raises:
        UsageError: it ends in neither.
    """
    ending = PurePath(path).suffix.lower()
    if ending == ".svg":
        return "svg"
    if ending == ".png":
        return "png"
    raise UsageError(
        f"--figure {path}: expected a name that ends in .svg or .png, observed {ending or 'none'}"
    )


def audit_layout(report: AuditReport) -> AuditLayout:
    """Lay out the figure of an audit.

    Args:
        report: The report.

    Returns:
        What it shows.
    """
    columns = columns_for(report.last_step)
    drawn = [one for one in report.resets if one.run is not None and one.compared]
    return AuditLayout(
        columns=columns,
        resumes=tuple(
            MatrixRow(
                number,
                wrapped(f"whole state, resumed after step {one.resume_at:,}", 60),
                one.resume_at,
                _strip(columns, one.resume_at, one.compared, one.differing_steps),
            )
            for number, one in enumerate(report.resumes, 1)
        ),
        resets=tuple(
            MatrixRow(
                number,
                _heading(one),
                one.resume_at,
                _strip(columns, one.resume_at or 0, one.compared, one.differing_steps),
            )
            for number, one in enumerate(drawn[:MAX_DRAWN], 1)
        ),
        untold=tuple(_untold(report, len(drawn))),
    )


def figure_bytes(report: AuditReport, path: str) -> bytes:
    """Draw an audit.

    Args:
        report: The report.
        path: The file that it goes to; its ending says the format.

    Returns:
        The file, with the seal by which it is known again.

    Raises:
        UsageError: it ends neither in .svg nor in .png.
        CouldNotRunError: matplotlib cannot be imported as it is configured here.

    Determinism:
        The bytes depend on the report and matplotlib's version, not on its configuration.
    """
    chosen = figure_format(path)
    load_painter()
    from repropack._present import figure_style as style  # noqa: PLC0415 - brings matplotlib
    from repropack._present.figures import draw_matrix  # noqa: PLC0415 - likewise

    layout = audit_layout(report)
    sheet = style.Sheet(TITLE)
    sheet.paragraph("Does a resume of the whole state go on exactly?", bold=True)
    sheet.y += 0.03
    sheet.paragraph(
        "Compared bit for bit at each step, with the run that was not interrupted: every stage, "
        "the complete state and every metric."
    )
    draw_matrix(sheet, layout.columns, layout.resumes)
    if layout.resets:
        sheet.y += 0.25
        sheet.paragraph(TITLE, bold=True)
        sheet.y += 0.03
        sheet.paragraph(
            "One part of the state after another is put back to its first value when the run is "
            "resumed. A step differs where anything but that part's own component does: compared "
            "with a resume of the whole state."
        )
        draw_matrix(sheet, layout.columns, layout.resets)
    for sentence in layout.untold:
        sheet.y += 0.05
        sheet.paragraph(sentence)
    with style.fixed_style():
        drawn = sheet.entries("audit")[f"audit.{chosen}"]
    return seal_svg(drawn) if chosen == "svg" else seal_png(drawn)


def _heading(one: AuditedReset) -> tuple[str, ...]:
    name = shown(one.value or one.component, 60)
    indent = "value " if one.value is not None else ""
    effect = _EFFECTS.get(one.effect) or f"matters from step {one.first_step:,}"
    return wrapped(f"{indent}{name}: {effect}", 60)


def _strip(
    columns: Columns, resume_at: int, compared: int, differing: Iterable[tuple[int, int]]
) -> Strip:
    steps = range(resume_at + 1, resume_at + 1 + compared)
    unequal = {step for first, last in differing for step in range(first, last + 1)}
    return strip_of(columns, resume_at + 1, steps, (step not in unequal for step in steps))


def _untold(report: AuditReport, drawn: int) -> Iterable[str]:
    words = {
        "unchanged": "Nothing can be told, the value never differs from the first",
        "not-run": "Not put back, to keep to the bound on runs",
        "fails": "The run raises an error",
    }
    for effect, text in words.items():
        names = [one.value or one.component for one in report.resets if one.effect == effect]
        if names:
            more = f" and {len(names) - 12} more" if len(names) > 12 else ""
            listed = ", ".join(escape_text(shown(name, 40), 80) for name in names[:12])
            yield f"{text}: {listed}{more}."
    if drawn > MAX_DRAWN:
        yield f"{drawn - MAX_DRAWN} more parts of the state are not drawn."
