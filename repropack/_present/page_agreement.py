"""Where every run agrees with the reference, step by step, and how far it parts.

Strips and plot share their columns, so that a step is at one place in all of them. Everything is
drawn here, as SVG without a script; ``page.js`` adds what hover and focus tell, from the same cells
(``page_timeline``). Positions are percent: nothing is distorted at any width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repropack._compare.timeline import Cell, Timeline
from repropack._present.figure_layout import Columns, Kind, Span, step_ticks, strip_of
from repropack._present.html import Content, Markup, element, join, lines
from repropack._present.layout import plural
from repropack._present.page_parts import code, details, paragraph, section, table, term
from repropack._present.page_plot import difference_plot
from repropack._present.page_subject import PageSubject
from repropack._present.page_timeline import ulp_text
from repropack.models.results import ComparisonOutcome, StepCount

_WORDS: dict[Kind, str] = {
    "equal": "equal",
    "differs": "differs",
    "shared": "the reference's own, before it resumed",
    "unrecorded": "not recorded",
}
_PAINTED: tuple[Kind, ...] = ("shared", "equal", "differs")
_MAX_TOLD = 6
_MAX_PARTS = 12
"""Most stages and components that have a strip of their own in one comparison."""
MAX_TABLE_RUNS = 8


def agreement_section(subject: PageSubject) -> Markup | None:
    """The matrix, the plot below it, and the same as a table.

    Args:
        subject: The package.

    Returns:
        The section; ``None`` where nothing was compared.
    """
    timelines = subject.timelines
    if not any(run.cells for run in timelines.runs):
        return None
    last = max([subject.results.reference.last_step, *(run.last_step for run in timelines.runs)])
    columns = Columns(last, timelines.ended(subject.results.reference.last_step))
    outcomes = {outcome.run: outcome for outcome in subject.results.comparisons}
    matrix = element(
        "table",
        element("caption", "Each run against the reference, step by step", class_="unseen"),
        element(
            "thead",
            element(
                "tr",
                element("th", "run", scope="col"),
                element("th", "step", _axis(columns), scope="col", class_="axis"),
                element("th", "equal", scope="col", class_="number"),
            ),
        ),
        "\n",
        lines(_rows(columns, k, run, outcomes[run.run]) for k, run in enumerate(timelines.runs)),
        class_="matrix",
    )
    plot = difference_plot(columns, timelines.runs)
    frame = element(
        "div",
        "\n",
        lines([matrix, plot]),
        class_="timeline",
        id="timeline",
        role="group",
        aria_label="Agreement and difference, step by step",
    )
    return section(
        "agreement",
        "Where each run is exactly the reference",
        _lead(columns, subject),
        frame,
        _legend(),
        _as_table(columns, timelines.runs),
    )


def columns_text(columns: Columns, column: int) -> str:
    """The steps of a column: ``step 41``, ``steps 1 to 256``."""
    first, last = columns.steps(column)
    return f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"


def _lead(columns: Columns, subject: PageSubject) -> Markup:
    parts: list[Content] = [
        "Equal means that every recorded ",
        term("fingerprint"),
        " of the ",
        term("step"),
        " is the same. Where a run differs, the thin strips below it say which ",
        term("stage", "stages"),
        " and which ",
        term("component", "components"),
        " of the ",
        term("state"),
        " do.",
    ]
    if columns.width > 1:
        parts.append(
            f" The run is long: each column stands for {columns.width:,} steps, and differs where "
            "any of them does."
        )
    left_out = subject.timelines.left_out
    if left_out:
        parts.append(f" {plural(left_out, 'more comparison')} without a strip: see above.")
    return paragraph(parts)


def _rows(columns: Columns, place: int, run: Timeline, outcome: ComparisonOutcome) -> Markup:
    """One comparison: its own row, and a thin one for each part that differs."""
    compared = sum(cell.compared for cell in run.cells.values())
    equal = compared - sum(cell.differing for cell in run.cells.values())
    resumed = "" if run.resume_at is None else f"resumed after step {run.resume_at:,}"
    whole = element(
        "tr",
        element(
            "th",
            element("span", run.run, class_="name"),
            element("span", resumed, class_="note") if resumed else None,
            scope="row",
        ),
        element(
            "td",
            _strip(_spans(columns, run, None)),
            class_="strip",
            data_run=place,
            data_label=run.run,
        ),
        element("td", f"{equal:,} of {compared:,}", class_="number"),
        class_="whole",
    )
    differing = [row for row in outcome.stages if row.name in run.stages and row.differing]
    parts = [(row.name, row, row.name) for row in outcome.stages if row.name in run.stages]
    parts += [
        (f"state:{row.name}", row, f"state: {row.name}")
        for row in outcome.components
        if row.name in run.components
    ]
    if not differing and not any(row.differing for _, row, _ in parts):
        parts = []
    thin = [_part(columns, run, *part) for part in parts[:_MAX_PARTS]]
    if len(parts) > _MAX_PARTS or run.names_left_out:
        text = "further stages and components have no strip; results.json counts them"
        thin.append(element("tr", element("td", text, colspan=3, class_="note"), class_="part"))
    return element("tbody", "\n", lines([whole, *thin]))


def _part(columns: Columns, run: Timeline, key: str, row: StepCount, shown: str) -> Markup:
    equal = row.compared - row.differing
    return element(
        "tr",
        element("th", shown, scope="row"),
        element("td", _strip(_spans(columns, run, key)), class_="strip"),
        element("td", f"{equal:,} of {row.compared:,}", class_="number"),
        class_="part",
    )


def _spans(columns: Columns, run: Timeline, name: str | None) -> tuple[Span, ...]:
    """What a run, or one name in it, is in each column."""

    def known(cell: Cell) -> bool:
        return bool(cell.compared) if name is None else name in cell.names

    def equal(cell: Cell) -> bool:
        return not cell.differing if name is None else name not in cell.differing_names

    cells = [(column, cell) for column, cell in sorted(run.cells.items()) if known(cell)]
    first = 1 if run.resume_at is None else run.resume_at + 1
    steps = [max(columns.steps(column)[0], 1) for column, _ in cells]
    return strip_of(columns, first, steps, [equal(cell) for _, cell in cells]).spans


def _strip(spans: Sequence[Span]) -> Markup:
    """A strip; equal is light, a difference dark and higher, so that it shows without colour."""
    last = spans[-1].last
    drawn = [
        element(
            "rect",
            element("title", _span_words(span)),
            x=_percent(span.first - 1, last),
            width=_percent(span.last - span.first + 1, last),
            y={"differs": "0", "equal": "20%", "shared": "46%"}[kind],
            height={"differs": "100%", "equal": "60%", "shared": "8%"}[kind],
            class_=kind,
        )
        for kind in _PAINTED
        for span in spans
        if span.kind == kind
    ]
    told = [_span_words(span) for span in spans[:_MAX_TOLD]]
    if len(spans) > _MAX_TOLD:
        told.append(f"and {len(spans) - _MAX_TOLD} more stretches")
    return element("svg", drawn, role="img", aria_label="; ".join(told), focusable="false")


def _span_words(span: Span) -> str:
    where = (
        f"step {span.first:,}"
        if span.first == span.last
        else f"steps {span.first:,} to {span.last:,}"
    )
    return f"{where}: {_WORDS[span.kind]}"


def _axis(columns: Columns) -> Markup:
    last = columns.last_step
    ticks: list[Markup] = []
    for step in step_ticks(last):
        anchor = "start" if step == 1 else "end" if step == last else "middle"
        place = {"start": "0", "end": "100%"}.get(anchor, _percent(step - 0.5, last))
        ticks.append(element("text", f"{step:,}", x=place, y="12", text_anchor=anchor))
        ticks.append(element("line", x1=place, x2=place, y1="16", y2="20"))
    return element("svg", ticks, class_="ticks", aria_hidden="true", focusable="false")


def _percent(part: float, whole: int) -> str:
    """A place in percent, in four decimals: finer than any screen."""
    return f"{part / whole * 100:.4f}".rstrip("0").rstrip(".") + "%"


def _legend() -> Markup:
    def key(kind: Kind) -> Markup:
        swatch = element(
            "svg",
            element("rect", width="100%", height="100%", class_=kind),
            class_="key",
            aria_hidden="true",
        )
        return element("span", swatch, " ", _WORDS[kind])

    return element("p", join(key(kind) for kind in ("equal", "differs", "shared")), class_="legend")


def _as_table(columns: Columns, runs: Sequence[Timeline]) -> Markup | None:
    """The same numbers as text: for whoever cannot see the plot, and for copying."""
    shown = [run for run in runs if any(cell.differing for cell in run.cells.values())]
    if not shown:
        return None
    shown = shown[:MAX_TABLE_RUNS]
    header: list[Content] = ["step" if columns.width == 1 else "steps"]
    header += [[code(run.run), ": what differs first, largest difference"] for run in shown]
    rows = [
        [columns_text(columns, column), *(_cell_words(columns, run, column) for run in shown)]
        for column in range(columns.count)
        if any(column in run.cells for run in shown)
    ]
    caption = "What differs at each step, and how far the first kept stage parts"
    whole = table(caption, header, rows, class_="numbers", identifier="difference-table")
    return details("The same as a table", whole)


def _cell_words(columns: Columns, run: Timeline, column: int) -> Content:
    cell = run.cells.get(column)
    if cell is None or not cell.compared:
        return "-"
    if not cell.differing:
        return "equal"
    return "; ".join(cell_lines(cell, columns.width, run.subject))


def cell_lines(cell: Cell, width: int, subject: str | None) -> Iterator[str]:
    """What one column of one run shows, where it differs: also what hover and focus say.

    Args:
        cell: The column.
        width: Its width in steps.
        subject: The first kept stage, whose difference is measured.

    Yields:
        What differs first, the largest difference, and the same in units in the last place.
    """
    what = (cell.first_name or "a metric").replace("state:", "state ")
    if width == 1:
        yield f"{what} differs first"
    else:
        counts = f"{cell.differing:,} of {cell.compared:,} differ"
        yield f"{counts}, first step {cell.first_step:,}: {what}"
    if cell.absolute_step:
        at = "" if width == 1 else f" at step {cell.absolute_step:,}"
        yield f"{subject} by {cell.absolute!r}{at}"
    if cell.ulp_step:
        yield ulp_text(cell.ulp)
