"""What the figures show, before anything is drawn: columns, cells, points, ticks and words.

Pure, and free of matplotlib, so that a test can state literally what a figure says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from repropack._compare.series import MetricSeries, RunSeries
from repropack._present.figure_words import heading_of, label_of, shown, subject_words

MAX_COLUMNS = 500
"""Most columns of a strip; where a run has more steps, several share one."""
MAX_ROWS = 60
"""Most comparisons in the matrix."""
MAX_LINES = 20
"""Most curves in one plot."""
MAX_PANELS = 24
"""Most comparisons in the figure of printed values."""

Kind = Literal["equal", "differs", "shared", "unrecorded"]
Point = tuple[float, float]
"""A step and the decimal logarithm of a difference."""


@dataclass(frozen=True)
class Columns:
    """How the steps ``1..last_step`` are divided into columns of ``width`` steps each."""

    last_step: int
    width: int

    @property
    def count(self) -> int:
        """How many columns there are."""
        return -(-self.last_step // self.width)

    def of(self, step: int) -> int:
        """The column of a step, counted from 0."""
        return (step - 1) // self.width

    def steps(self, column: int) -> tuple[int, int]:
        """First and last step of a column."""
        return column * self.width + 1, min((column + 1) * self.width, self.last_step)


@dataclass(frozen=True)
class Span:
    """Neighbouring columns of one kind, by their first and last step."""

    first: int
    last: int
    kind: Kind


@dataclass(frozen=True)
class Strip:
    """One row of cells, and at how many of the compared steps it is equal."""

    spans: tuple[Span, ...]
    equal: int
    compared: int


@dataclass(frozen=True)
class Curve:
    """Differences above zero as connected runs of points; a gap is a step that has none.

    ``look`` numbers the comparisons that differ, from 0: the same in both figures.
    """

    look: int
    label: str
    segments: tuple[tuple[Point, ...], ...]


@dataclass(frozen=True)
class MatrixRow:
    """One comparison in the matrix. ``heading`` is one line or more."""

    number: int
    heading: tuple[str, ...]
    resume_at: int | None
    strip: Strip


@dataclass(frozen=True)
class AgreementLayout:
    """The figure of exact agreement."""

    columns: Columns
    subject: str
    rows: tuple[MatrixRow, ...]
    rows_left_out: int
    curves: tuple[Curve, ...]
    curves_left_out: int


@dataclass(frozen=True)
class PrintedPanel:
    """One comparison and metric: what is printed against what is computed.

    ``example`` is what both print at the last step that has a text of both.
    """

    heading: tuple[str, ...]
    resume_at: int | None
    printed: Strip
    exact: Strip
    example: tuple[str, ...]
    curve: Curve


@dataclass(frozen=True)
class PrintedLayout:
    """The figure of printed values."""

    columns: Columns
    metrics: tuple[str, ...]
    panels: tuple[PrintedPanel, ...]
    panels_left_out: int


def columns_for(last_step: int) -> Columns:
    """Columns for a run of ``last_step`` steps: one a step as long as there is room."""
    return Columns(last_step, -(-last_step // MAX_COLUMNS))


def agreement_layout(series: Sequence[RunSeries], last_step: int) -> AgreementLayout | None:
    """Lay out the figure of exact agreement.

    Args:
        series: The comparisons, in the plan's order.
        last_step: The reference's last step.

    Returns:
        The layout, or ``None`` where no step of any comparison could be compared.
    """
    if last_step < 1 or not any(run.steps for run in series):
        return None
    columns, looks = columns_for(last_step), looks_of(series)
    curves = [
        Curve(looks[number], label_of(number, run.run), segments)
        for number, run in enumerate(series, 1)
        if (segments := curve_segments(columns, run.steps, run.largest_absolute))
    ]
    return AgreementLayout(
        columns=columns,
        subject=subject_words(series),
        rows=tuple(
            MatrixRow(
                number,
                heading_of(number, run),
                run.resume_at,
                strip_of(columns, run.first_step, run.steps, run.equal),
            )
            for number, run in enumerate(series[:MAX_ROWS], 1)
        ),
        rows_left_out=max(0, len(series) - MAX_ROWS),
        curves=tuple(curves[:MAX_LINES]),
        curves_left_out=max(0, len(curves) - MAX_LINES),
    )


def printed_layout(series: Sequence[RunSeries], last_step: int) -> PrintedLayout | None:
    """Lay out the figure of printed values, of the comparisons that differ in anything.

    Args:
        series: The comparisons, in the plan's order.
        last_step: The reference's last step.

    Returns:
        The layout, or ``None`` where nothing differs or nothing is printed.
    """
    if last_step < 1:
        return None
    columns, looks = columns_for(last_step), looks_of(series)
    chosen = [
        (number, run, metric)
        for number, run in enumerate(series, 1)
        for metric in run.metrics
        if _is_printed(metric) and not (all(run.equal) and all(metric.equal))
    ]
    if not chosen:
        return None
    names = tuple(dict.fromkeys(shown(metric.metric, 40) for _, _, metric in chosen))
    return PrintedLayout(
        columns=columns,
        metrics=names,
        panels=tuple(
            _panel(
                columns,
                heading_of(number, run, metric.metric if len(names) > 1 else None),
                looks[number],
                run,
                metric,
            )
            for number, run, metric in chosen[:MAX_PANELS]
        ),
        panels_left_out=max(0, len(chosen) - MAX_PANELS),
    )


def looks_of(series: Sequence[RunSeries]) -> dict[int, int]:
    """Number the comparisons that differ in anything, from 0, by their number in the plan."""
    differing = [
        number
        for number, run in enumerate(series, 1)
        if not all(run.equal) or not all(all(metric.equal) for metric in run.metrics)
    ]
    return {number: look for look, number in enumerate(differing)}


def strip_of(
    columns: Columns, first_step: int, steps: Iterable[int], equal: Iterable[bool]
) -> Strip:
    """One row of cells.

    Args:
        columns: The division of the steps.
        first_step: The run's first step; what lies before is shared with the reference.
        steps: The compared steps, ascending.
        equal: Whether each of them is equal.

    Returns:
        Spans from the first to the last step. A column differs where any step in it does, and is
        equal where any was compared and none differs.
    """
    kinds: list[Kind] = [
        "shared" if columns.steps(column)[1] < first_step else "unrecorded"
        for column in range(columns.count)
    ]
    equals = compared = 0
    for step, same in zip(steps, equal, strict=True):
        compared += 1
        equals += same
        column = columns.of(step)
        if column < columns.count and kinds[column] != "differs":
            kinds[column] = "equal" if same else "differs"
    return Strip(tuple(_merged(columns, kinds)), equals, compared)


def curve_segments(
    columns: Columns, steps: Iterable[int], differences: Iterable[float | None]
) -> tuple[tuple[Point, ...], ...]:
    """Differences as connected points.

    Args:
        columns: The division of the steps; of each column the largest difference is shown, in
            its middle.
        steps: The compared steps, ascending.
        differences: At each of them; ``None``, zero and what is not finite is left out.

    Returns:
        Runs of points without a compared column between them that has no difference. Logarithms
        are rounded to 4 decimals: far below a pixel, and the same whatever the C library.
    """
    largest: dict[int, float] = {}
    for step, value in zip(steps, differences, strict=True):
        column = columns.of(step)
        drawn = value if value is not None and math.isfinite(value) else 0.0
        if column < columns.count:
            largest[column] = max(drawn, largest.get(column, 0.0))
    segments: list[list[Point]] = [[]]
    for column, value in largest.items():
        if value > 0:
            middle = sum(columns.steps(column)) / 2
            segments[-1].append((middle, round(math.log10(value), 4)))
        elif segments[-1]:
            segments.append([])
    return tuple(tuple(points) for points in segments if points)


def decade_ticks(curves: Iterable[Curve], at_most: int = 6) -> tuple[int, ...]:
    """Powers of ten that enclose all points, evenly spaced; none where there are no points.

    Args:
        curves: What is drawn over them.
        at_most: How many there may be, 2 or more.

    Returns:
        Exponents, ascending; the scale reaches from the first to the last.
    """
    values = [value for curve in curves for points in curve.segments for _, value in points]
    if not values:
        return ()
    low, high = math.floor(min(values)), math.ceil(max(values))
    stride = max(1, -(-(high - low) // (at_most - 1)))
    high = -(-high // stride) * stride
    low = min(low // stride * stride, high - stride)
    return tuple(range(low, high + 1, stride))


def step_ticks(last_step: int) -> tuple[int, ...]:
    """Steps to label: the first and the last, and round numbers between that leave them room."""
    if last_step == 1:
        return (1,)
    at_most = max(2, min(5, 36 // len(f"{last_step:,}")))
    size = 10 ** (len(str(last_step)) - 1)
    strides = (size // 10, size // 5, size // 2, size, size * 2, size * 5)
    stride = next(k for k in strides if k > 0 and last_step / k <= at_most)
    room = last_step / at_most * 0.9
    inner = range(stride, last_step, stride)
    return (1, *(k for k in inner if k - 1 >= room and last_step - k >= room), last_step)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> tuple[float, ...]:
    """Move positions apart so that labels do not cover each other, their order kept.

    Args:
        wanted: Where each label would stand.
        gap: Least distance between two.
        low: Where the lowest may stand.
        high: Where the highest may stand; ``high - low`` holds all of them.

    Returns:
        A position for each, in the order given.
    """
    order = sorted(range(len(wanted)), key=lambda k: (wanted[k], k))
    placed = dict.fromkeys(order, low)
    floor = low
    for k in order:
        placed[k] = max(wanted[k], floor)
        floor = placed[k] + gap
    ceiling = high
    for k in reversed(order):
        placed[k] = min(placed[k], ceiling)
        ceiling = placed[k] - gap
    return tuple(placed[k] for k in range(len(wanted)))


def counted(strip: Strip) -> tuple[str, ...]:
    """At how many steps a strip is equal, in one line or two."""
    if not strip.compared:
        return ("not recorded",)
    text = f"{strip.equal:,} of {strip.compared:,}"
    return (f"{text} equal",) if len(text) <= 12 else (text, "equal")


def _panel(
    columns: Columns, heading: tuple[str, ...], look: int, run: RunSeries, metric: MetricSeries
) -> PrintedPanel:
    texts = list(zip(metric.reference_printed, metric.run_printed, strict=True))
    both = [None not in pair for pair in texts]
    differences = [
        None if same else abs(left - right)
        for same, left, right in zip(metric.equal, metric.reference, metric.run, strict=True)
    ]
    return PrintedPanel(
        heading=heading,
        resume_at=run.resume_at,
        printed=strip_of(
            columns,
            run.first_step,
            (step for step, known in zip(metric.steps, both, strict=True) if known),
            (left == right for (left, right), known in zip(texts, both, strict=True) if known),
        ),
        exact=strip_of(columns, run.first_step, metric.steps, metric.equal),
        example=_example(metric),
        curve=Curve(look, "", curve_segments(columns, metric.steps, differences)),
    )


def _is_printed(metric: MetricSeries) -> bool:
    texts = zip(metric.reference_printed, metric.run_printed, strict=True)
    return any(left is not None and right is not None for left, right in texts)


def _example(metric: MetricSeries) -> tuple[str, ...]:
    step, left, right = next(
        (step, left, right)
        for step, left, right in zip(
            reversed(metric.steps),
            reversed(metric.reference_printed),
            reversed(metric.run_printed),
            strict=True,
        )
        if left is not None and right is not None
    )
    return (f"step {step:,} prints", f"{shown(right, 14)} here", f"{shown(left, 9)} reference")


def _merged(columns: Columns, kinds: Sequence[Kind]) -> Iterator[Span]:
    begin = 0
    for column in range(1, len(kinds) + 1):
        if column == len(kinds) or kinds[column] != kinds[begin]:
            first, last = columns.steps(begin)[0], columns.steps(column - 1)[1]
            yield Span(first, last, kinds[begin])
            begin = column
