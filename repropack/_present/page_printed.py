"""Printed values beside the full ones: what a log would show, and which digits it does not."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._compare.timeline import PrintedRow, PrintedRows, Timeline
from repropack._present.html import Content, Markup, element, join
from repropack._present.layout import number, plural
from repropack._present.page_parts import code, details, paragraph, section, table, term
from repropack._present.page_subject import PageSubject


def printed_section(subject: PageSubject) -> Markup | None:
    """A table for each comparison and printed metric that differs in the full value.

    Args:
        subject: The package.

    Returns:
        The section; ``None`` where nothing is printed by both of two runs.
    """
    pairs = [
        (run, name, rows) for run in subject.timelines.runs for name, rows in run.printed.items()
    ]
    if not pairs:
        return None
    differing = [pair for pair in pairs if pair[2].equal < pair[2].compared]
    equal = [(run, name) for run, name, rows in pairs if rows.equal == rows.compared]
    return section(
        "printed",
        "What a log would print, beside what was computed",
        paragraph(
            "A ",
            term("printed value"),
            " is rounded, so that two logs may agree where the runs do not. The digits that differ "
            "are marked.",
        ),
        _equal(equal),
        *(_run(subject, *pair, open_=pair is differing[0]) for pair in differing),
    )


def _equal(equal: list[tuple[Timeline, str]]) -> Markup | None:
    if not equal:
        return None
    names = join(
        [", " if k else "", code(f"{run.run}: {name}")] for k, (run, name) in enumerate(equal)
    )
    return paragraph("Equal in full at every step: ", names, ".")


def _run(
    subject: PageSubject, run: Timeline, metric: str, rows: PrintedRows, *, open_: bool
) -> Markup:
    outcome = next(one for one in subject.results.comparisons if one.run == run.run)
    told = next((row for row in outcome.printed if row.metric == metric), None)
    prints = f"prints the same at {told.equal:,} of {plural(told.compared, 'step')}" if told else ""
    spec = subject.plan.record.printed.get(metric, "")
    summary: Content = [
        code(run.run),
        f": {metric} {prints}; the full value is the same at {rows.equal:,} of {rows.compared:,}",
    ]
    every = "" if rows.width == 1 else f" Shown is one step of every {rows.width:,}."
    return details(
        summary,
        paragraph("Printed as ", code(spec), f".{every}"),
        table(
            f"{run.run}: {metric}, printed and in full",
            (
                "step",
                "reference prints",
                "this run prints",
                "reference in full",
                "this run in full",
            ),
            _rows(rows),
            class_="numbers printed",
        ),
        open_=open_,
    )


def _rows(rows: PrintedRows) -> Iterator[tuple[Content, ...]]:
    for _, row in sorted(rows.rows.items()):
        yield (
            f"{row.step:,}",
            row.reference_printed,
            marked(row.reference_printed, row.run_printed),
            number(row.reference),
            _full(row),
        )


def _full(row: PrintedRow) -> Content:
    if row.equal:
        return number(row.run)
    return marked(number(row.reference), number(row.run))


def marked(left: str, right: str) -> Content:
    """The right text with the digits marked from which on it is another than the left."""
    if left == right:
        return right
    same = _same(left, right)
    return (
        join([right[:same], element("mark", right[same:])])
        if right[same:]
        else element("mark", right)
    )


def _same(left: str, right: str) -> int:
    """How many first characters mean the same in both; none where the scale is another."""
    if _scale(left) != _scale(right):
        return 0
    pairs = zip(left, right, strict=False)
    return next(
        (k for k, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right))
    )


def _scale(text: str) -> tuple[int, str]:
    """Where the point stands, and the exponent."""
    digits, _, exponent = text.lower().partition("e")
    return digits.find(".") if "." in digits else len(digits), exponent
