"""The figures: where each comparison is exactly the reference, how far it parts, what is printed.

What is shown is decided in ``figure_layout``; here it gets a place on a ``Sheet``, in inches from
the top left. Titles ask a question; nothing here passes a verdict. To be imported late: it brings
matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from repropack._compare.series import RunSeries
from repropack._present import figure_style as style
from repropack._present.figure_layout import (
    AgreementLayout,
    Columns,
    Curve,
    Kind,
    MatrixRow,
    PrintedLayout,
    PrintedPanel,
    Span,
    Strip,
    agreement_layout,
    counted,
    decade_ticks,
    printed_layout,
    spread,
    step_ticks,
)

AGREEMENT = "figures/agreement"
PRINTED = "figures/printed"

_LEFT = 0.64
_RIGHT = 3.42
"""Cells and curves lie between these, so that a step is at one place in the whole figure."""
_BESIDE = _RIGHT + 0.1
_BAR = 0.22
_PAINTED: tuple[Kind, ...] = ("shared", "equal", "differs")
"""In this order, so that a difference covers and is never covered."""
_NARROWEST = 0.014
"""Least width of a difference: one step among very many is still a pixel of a narrow screen."""
_MARKER_SIZE = 4.2
_RESUME: dict[str, Any] = {"linewidth": 2.4, "solid_capstyle": "butt"}


def draw_figures(series: Sequence[RunSeries], *, last_step: int) -> dict[str, bytes]:
    """Draw what the comparisons found.

    Args:
        series: One for each comparison, in the plan's order.
        last_step: The reference's last step.

    Returns:
        Entry path to bytes, each figure as SVG and as PNG. A figure that would show nothing is
        left out: ``figures/agreement`` where no step was compared, ``figures/printed`` where
        nothing differs or nothing is printed.

    Determinism:
        The bytes depend on the arguments and matplotlib's version; not on its configuration,
        backend or cache, nor on installed fonts, locale, time zone, hash seed or clock.
    """
    entries: dict[str, bytes] = {}
    agreement = agreement_layout(series, last_step)
    printed = printed_layout(series, last_step)
    with style.fixed_style():
        if agreement is not None:
            entries |= _draw_agreement(agreement).entries(AGREEMENT)
        if printed is not None:
            entries |= _draw_printed(printed).entries(PRINTED)
    return entries


def _draw_agreement(layout: AgreementLayout) -> style.Sheet:
    title = "Which steps are exactly equal to the reference?"
    sheet = style.Sheet(title)
    sheet.paragraph(title, bold=True)
    sheet.y += 0.03
    sheet.paragraph(f"Compared bit for bit at each step: {layout.subject}.")
    draw_matrix(sheet, layout.columns, layout.rows)
    if layout.rows_left_out:
        sheet.paragraph(f"{layout.rows_left_out} more comparisons are not drawn.")
    ticks = decade_ticks(layout.curves)
    if ticks:
        sheet.y += 0.22
        sheet.paragraph("How far apart are they where they differ?", bold=True)
        sheet.y += 0.03
        sheet.paragraph(
            f"Largest absolute difference within {layout.subject} at each step, on a logarithmic "
            "scale, where 1e-3 is 0.001. Steps without a difference are left out."
        )
        if layout.curves_left_out:
            sheet.paragraph(f"{layout.curves_left_out} more comparisons are not drawn.")
        sheet.y += 0.08
        height = max(1.9, 0.19 * len(layout.curves))
        _plot(sheet, layout.columns, layout.curves, ticks, height)
        _step_axis(sheet, layout.columns)
    return sheet


def draw_matrix(sheet: style.Sheet, columns: Columns, rows: Sequence[MatrixRow]) -> None:
    """Draw one row of cells for each run, below what is there already.

    Args:
        sheet: What is drawn on.
        columns: The division of the steps, common to all rows.
        rows: The runs, from the top down.
    """
    _binning(sheet, columns)
    _key(sheet, ((row.strip, row.resume_at) for row in rows))
    for row in rows:
        sheet.y += 0.09
        _heading(sheet, row.heading)
        _strip(sheet, columns, row.strip, row.resume_at)
    _step_axis(sheet, columns)


def _draw_printed(layout: PrintedLayout) -> style.Sheet:
    title = "Would printing have shown the difference?"
    names = " and ".join(f'"{name}"' for name in layout.metrics[:4])
    ticks = decade_ticks((panel.curve for panel in layout.panels), at_most=4)
    sheet = style.Sheet(title)
    sheet.paragraph(title, bold=True)
    sheet.y += 0.03
    sheet.paragraph(
        f"Runs that differ from the reference: is {names} equal as printed, is it exactly equal, "
        "and how far apart are the exact values? The curve is their absolute difference, on a "
        "logarithmic scale, where 1e-3 is 0.001."
    )
    _binning(sheet, layout.columns)
    _key(
        sheet,
        (
            (strip, panel.resume_at)
            for panel in layout.panels
            for strip in (panel.printed, panel.exact)
        ),
    )
    for panel in layout.panels:
        _draw_panel(sheet, layout.columns, panel, ticks)
    if layout.panels_left_out:
        sheet.paragraph(f"{layout.panels_left_out} more are not drawn.")
    return sheet


def _draw_panel(
    sheet: style.Sheet, columns: Columns, panel: PrintedPanel, ticks: Sequence[int]
) -> None:
    sheet.y += 0.16
    _heading(sheet, panel.heading)
    for name, strip in (("printed", panel.printed), ("exact", panel.exact)):
        sheet.text(_LEFT - 0.07, sheet.y + _BAR / 2, name, ha="right")
        _strip(sheet, columns, strip, panel.resume_at)
        sheet.y += 0.03
    for k, text in enumerate(panel.example):
        sheet.text(_BESIDE, sheet.y + 0.16 + k * style.LINE_INCHES, text)
    if panel.curve.segments:
        sheet.y += 0.1
        _plot(sheet, columns, (panel.curve,), ticks, 0.75, labels=False)
    else:
        sheet.text(_LEFT + 0.08, sheet.y + 0.16, "no difference that can be drawn")
        sheet.y += 0.5
    _step_axis(sheet, columns)


def _binning(sheet: style.Sheet, columns: Columns) -> None:
    if columns.width > 1:
        sheet.paragraph(
            f"Each column stands for {columns.width:,} steps: it differs if any of them does, and "
            "shows their largest difference."
        )


_KEY: dict[Kind, str] = {
    "equal": "equal",
    "differs": "differs",
    "shared": "before the resume, not run again",
    "unrecorded": "not recorded, or past the end of the run",
}


def _key(sheet: style.Sheet, rows: Iterable[tuple[Strip, int | None]]) -> None:
    """What cells and bars mean; only those that are there."""
    rows = list(rows)
    present = {span.kind for strip, _ in rows for span in strip.spans}
    words: list[tuple[Kind | None, str]] = [(k, w) for k, w in _KEY.items() if k in present]
    if any(resume_at is not None for _, resume_at in rows):
        words.append((None, "resume from a checkpoint"))
    sheet.y += 0.07
    x = style.EDGE
    for kind, text in words:
        width = 0.36 + len(text) * 0.075
        if x + width > style.WIDTH_INCHES and x > style.EDGE:
            x = style.EDGE
            sheet.y += 0.21
        box = (x, sheet.y + 0.02, x + 0.26, sheet.y + 0.17)
        if kind is None:
            sheet.line([(x + 0.13, box[1] - 0.02), (x + 0.13, box[3] + 0.02)], **_RESUME)
        else:
            _fill(sheet, kind, [box])
            _frame(sheet, box)
        sheet.text(x + 0.33, sheet.y + 0.095, text)
        x += width + 0.12
    sheet.y += 0.22


def _heading(sheet: style.Sheet, lines: Iterable[str]) -> None:
    for line in lines:
        sheet.text(style.EDGE, sheet.y + style.LINE_INCHES / 2, line)
        sheet.y += style.LINE_INCHES
    sheet.y += 0.035


def _strip(sheet: style.Sheet, columns: Columns, strip: Strip, resume_at: int | None) -> None:
    top, bottom = sheet.y, sheet.y + _BAR
    for kind in _PAINTED:
        _fill(sheet, kind, [_box(columns, s, top, bottom) for s in strip.spans if s.kind == kind])
    _frame(sheet, (_LEFT, top, _RIGHT, bottom))
    if resume_at is not None and resume_at <= columns.last_step:
        x = _x(columns, resume_at + 0.5)
        sheet.line([(x, top - 0.035), (x, bottom + 0.035)], **_RESUME)
    lines = counted(strip)
    for k, text in enumerate(lines):
        sheet.text(_BESIDE, top + _BAR / 2 + (k - (len(lines) - 1) / 2) * 0.14, text)
    sheet.y = bottom


def _fill(sheet: style.Sheet, kind: Kind, boxes: Sequence[style.Box]) -> None:
    if kind == "equal":
        sheet.boxes(boxes, facecolor=style.EQUAL)
    elif kind == "differs":
        sheet.boxes(boxes, facecolor=style.DIFFERS, edgecolor=style.DIFFERS_HATCH, hatch="//////")
    elif kind == "shared":
        sheet.boxes(boxes, facecolor=style.PAPER, edgecolor=style.SHARED_HATCH, hatch="\\\\\\\\")


def _frame(sheet: style.Sheet, box: style.Box) -> None:
    left, top, right, bottom = box
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    sheet.line(corners, color=style.FAINT, linewidth=0.6)


def _step_axis(sheet: style.Sheet, columns: Columns) -> None:
    """Ticks, their numbers and the word, below what was drawn last."""
    y = sheet.y + 0.05
    sheet.line([(_LEFT, y), (_RIGHT, y)], linewidth=0.6)
    for step in step_ticks(columns.last_step):
        x = _x(columns, step)
        sheet.line([(x, y), (x, y + 0.05)], linewidth=0.6)
        sheet.text(x, y + 0.13, f"{step:,}", ha="center")
    sheet.text(_LEFT - 0.07, y + 0.13, "step", ha="right")
    sheet.y = y + 0.22


def _plot(
    sheet: style.Sheet,
    columns: Columns,
    curves: Sequence[Curve],
    ticks: Sequence[int],
    height: float,
    *,
    labels: bool = True,
) -> None:
    """Curves over a grid of powers of ten, each named where it ends."""
    low, high = ticks[0], ticks[-1]
    top = sheet.y

    def y_of(value: float) -> float:
        return top + (high - value) / (high - low) * height

    for power in ticks:
        sheet.line([(_LEFT, y_of(power)), (_RIGHT, y_of(power))], color=style.GRID)
        text = "1" if power == 0 else f"1e{power}"
        sheet.text(_LEFT - 0.07, y_of(power), text, ha="right")
    ends = [y_of(curve.segments[-1][-1][1]) for curve in curves]
    places = spread(ends, 0.18, top, top + height)
    for curve, place in zip(curves, places, strict=True):
        look = _look(curve.look)
        _curve(sheet, columns, curve, y_of, look)
        if labels:
            end = (_x(columns, curve.segments[-1][-1][0]), y_of(curve.segments[-1][-1][1]))
            _label(sheet, curve.label, end, place, look)
    sheet.y = top + height


def _curve(
    sheet: style.Sheet,
    columns: Columns,
    curve: Curve,
    y_of: Callable[[float], float],
    look: dict[str, Any],
) -> None:
    total = sum(len(points) for points in curve.segments)
    every = max(1, total // 8)
    for points in curve.segments:
        sheet.line(
            [(_x(columns, step), y_of(value)) for step, value in points],
            linewidth=1.2,
            markersize=_MARKER_SIZE,
            markevery=(min(curve.look * 2 % every, len(points) - 1), every),
            markeredgewidth=0.4,
            markeredgecolor=style.PAPER,
            **look,
        )


def _label(
    sheet: style.Sheet, text: str, end: tuple[float, float], y: float, look: dict[str, Any]
) -> None:
    x = _BESIDE + 0.03
    sheet.line([end, (x, y)], color=style.FAINT, linewidth=0.6, linestyle=(0, (1, 2)))
    sheet.line([(x, y)], color=look["color"], marker=look["marker"], markersize=5)
    sheet.text(x + 0.08, y, text)


def _look(look: int) -> dict[str, Any]:
    """Colour, marker and dashes of a curve; any two of twenty differ in two of them at least."""
    colours, markers, dashes = style.LINE_COLOURS, style.LINE_MARKERS, style.LINE_DASHES
    return {
        "color": colours[look % len(colours)],
        "marker": markers[(look + 4 * (look // len(colours))) % len(markers)],
        "linestyle": dashes[look % len(dashes)],
    }


def _x(columns: Columns, step: float) -> float:
    """Where the middle of a step lies."""
    return _LEFT + (step - 0.5) / columns.last_step * (_RIGHT - _LEFT)


def _box(columns: Columns, span: Span, top: float, bottom: float) -> style.Box:
    """A span on the sheet; a difference is never narrower than can be seen."""
    left, right = _x(columns, span.first - 0.5), _x(columns, span.last + 0.5)
    missing = _NARROWEST - (right - left)
    if span.kind == "differs" and missing > 0:
        left = min(max(_LEFT, left - missing / 2), _RIGHT - _NARROWEST)
        right = left + _NARROWEST
    return left, top, right, bottom
