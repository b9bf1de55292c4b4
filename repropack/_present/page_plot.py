"""The plot of how far runs part, on a logarithmic scale, over the same columns as the strips."""

from __future__ import annotations

from collections.abc import Sequence

from repropack._compare.timeline import Timeline
from repropack._present.figure_layout import Columns, Curve, curve_segments, decade_ticks
from repropack._present.html import Markup, element, lines
from repropack._present.layout import short_number
from repropack._present.page_parts import code

MAX_CURVES = 8
"""Most curves: more cannot be told apart."""
_HEIGHT = 1000
"""Units of the drawing from the highest tick to the lowest."""


def difference_plot(columns: Columns, runs: Sequence[Timeline]) -> Markup | None:
    """Curves of the largest difference of the first kept stage.

    Args:
        columns: The division of the steps.
        runs: The comparisons, brought to its width.

    Returns:
        The plot with its key; ``None`` where no difference was measured.
    """
    found = [(k, run, _segments(columns, run)) for k, run in enumerate(runs)]
    curves = [
        (k, run, Curve(look, run.run, segments))
        for look, (k, run, segments) in enumerate(row for row in found if row[2])
    ]
    if not curves:
        return None
    shown = curves[:MAX_CURVES]
    ticks = decade_ticks(curve for _, _, curve in shown)
    subject = shown[0][1].subject or ""
    title = [
        element("span", "largest difference", class_="name"),
        element("span", f"of {subject}, absolute", class_="note"),
    ]
    drawing = element(
        "svg",
        "\n",
        lines(
            [
                _grid(ticks),
                _curves(columns, [curve for _, _, curve in shown], ticks),
                _scale(ticks),
            ]
        ),
        role="img",
        aria_label=f"Largest absolute difference of {subject} at each step, on a logarithmic scale",
        focusable="false",
    )
    key = element(
        "ul", "\n", lines(_key(run, curve) for _, run, curve in shown), class_="curve-key"
    )
    more = len(curves) - len(shown)
    return element(
        "div",
        "\n",
        lines(
            [
                element("div", title, class_="plot-title"),
                element(
                    "div",
                    drawing,
                    class_="plot",
                    data_plot="",
                    data_label=f"largest difference of {subject}",
                ),
                element(
                    "div",
                    key,
                    element("p", f"and {more} more runs", class_="note") if more else None,
                    class_="plot-key",
                ),
            ]
        ),
        class_="plot-row",
    )


def _segments(columns: Columns, run: Timeline) -> tuple[tuple[tuple[float, float], ...], ...]:
    cells = [(column, cell) for column, cell in sorted(run.cells.items()) if cell.compared]
    steps = [columns.steps(column)[0] for column, _ in cells]
    return curve_segments(columns, steps, [cell.absolute or None for _, cell in cells])


def _grid(ticks: Sequence[int]) -> Markup:
    drawn = []
    for power in ticks:
        place = _height(ticks, power)
        drawn.append(element("line", x1="0", x2="100%", y1=place, y2=place))
    return element("g", drawn, class_="grid")


def _scale(ticks: Sequence[int]) -> Markup:
    """Numbers of the grid, left of it, so that no curve meets them."""
    drawn = []
    for power in ticks:
        label = "1" if power == 0 else f"1e{power}"
        place = _height(ticks, power)
        drawn.append(element("text", label, x="-6", y=place, dy="4", text_anchor="end"))
    return element("g", drawn, class_="grid")


def _height(ticks: Sequence[int], power: int) -> str:
    place = (ticks[-1] - power) / (ticks[-1] - ticks[0]) * 100
    return f"{place:.4f}".rstrip("0").rstrip(".") + "%"


def _curves(columns: Columns, curves: Sequence[Curve], ticks: Sequence[int]) -> Markup:
    low, high = ticks[0], ticks[-1]

    def place(step: float, value: float) -> str:
        y = (high - value) / (high - low) * _HEIGHT
        return f"{_short(step - 0.5)} {_short(y)}"

    drawn = []
    for curve in curves:
        paths = []
        for points in curve.segments:
            first, *rest = (place(*point) for point in points)
            paths.append(f"M{first}" + ("".join(f"L{point}" for point in rest) or "h0"))
        drawn.append(element("path", d="".join(paths), class_=f"curve c{curve.look}"))
    return element(
        "svg",
        drawn,
        viewBox=f"0 0 {columns.last_step} {_HEIGHT}",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _key(run: Timeline, curve: Curve) -> Markup:
    sample = element(
        "svg",
        element("path", d="M0 6h28", class_=f"curve c{curve.look}"),
        viewBox="0 0 28 12",
        class_="sample",
        aria_hidden="true",
    )
    far = max(run.cells.values(), key=lambda cell: cell.absolute)
    largest = f"at most {short_number(far.absolute)}, step {far.absolute_step:,}"
    return element("li", sample, code(run.run), element("span", largest, class_="note"))
