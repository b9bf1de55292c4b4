"""What the figures say, stated literally before anything is drawn."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._compare.series import MetricSeries, RunSeries
from repropack._present.figure_layout import (
    MAX_COLUMNS,
    MAX_LINES,
    MAX_PANELS,
    MAX_ROWS,
    AgreementLayout,
    Columns,
    Curve,
    MatrixRow,
    PrintedLayout,
    PrintedPanel,
    Span,
    Strip,
    agreement_layout,
    columns_for,
    counted,
    curve_segments,
    decade_ticks,
    printed_layout,
    spread,
    step_ticks,
    strip_of,
)

SIX = Columns(6, 1)


def metric(run: tuple[float, ...], printed: tuple[Any, ...] = (), first: int = 1) -> MetricSeries:
    """A metric whose reference is 1 at every step and prints ``1.0``."""
    count = len(run)
    return MetricSeries(
        metric="loss",
        steps=tuple(range(first, first + count)),
        reference=(1.0,) * count,
        run=run,
        equal=tuple(value == 1.0 for value in run),
        reference_printed=("1.0",) * count if printed else (None,) * count,
        run_printed=printed or (None,) * count,
    )


def run_of(equal: tuple[bool, ...], first: int = 1, **changes: Any) -> RunSeries:
    """A run with a difference of 0.01 where it differs."""
    values: dict[str, Any] = {
        "run": "run",
        "first_step": first,
        "resume_at": first - 1 if first > 1 else None,
        "subject": "weights",
        "steps": tuple(range(first, first + len(equal))),
        "equal": equal,
        "largest_absolute": tuple(None if same else 0.01 for same in equal),
    }
    return RunSeries(**(values | changes))


# ---------------------------------------------------------------- the whole


def test_the_matrix_and_its_curves() -> None:
    """One row a comparison, one curve for each that differs, steps before a resume shared."""
    series = [
        run_of((True,) * 6, run="same"),
        run_of((True, False, False), 3, run="parts", largest_absolute=(None, 0.1, 0.001)),
    ]
    assert agreement_layout(series, 6) == AgreementLayout(
        columns=SIX,
        subject='"weights"',
        rows=(
            MatrixRow(1, ("1  same",), None, Strip((Span(1, 6, "equal"),), 6, 6)),
            MatrixRow(
                2,
                ("2  parts, resumed after step 2",),
                2,
                Strip(
                    (
                        Span(1, 2, "shared"),
                        Span(3, 3, "equal"),
                        Span(4, 5, "differs"),
                        Span(6, 6, "unrecorded"),
                    ),
                    1,
                    3,
                ),
            ),
        ),
        rows_left_out=0,
        curves=(Curve(0, "2 parts", (((4.0, -1.0), (5.0, -3.0)),)),),
        curves_left_out=0,
    )


def test_printed_equal_and_exactly_different() -> None:
    """What is printed, what is exact, how far apart, and what the last step printed."""
    run = run_of(
        (True, True, False), 2, metrics=(metric((1.0, 1.01, 1.5), ("1.0", "1.0", "1.5"), 2),)
    )
    assert printed_layout([run_of((True,) * 4), run], 4) == PrintedLayout(
        columns=Columns(4, 1),
        metrics=("loss",),
        panels=(
            PrintedPanel(
                heading=("2  run, resumed after step 1",),
                resume_at=1,
                printed=Strip(
                    (Span(1, 1, "shared"), Span(2, 3, "equal"), Span(4, 4, "differs")), 2, 3
                ),
                exact=Strip(
                    (Span(1, 1, "shared"), Span(2, 2, "equal"), Span(3, 4, "differs")), 1, 3
                ),
                example=("step 4 prints", "1.5 here", "1.0 reference"),
                curve=Curve(0, "", (((3.0, -2.0), (4.0, -0.301)),)),
            ),
        ),
        panels_left_out=0,
    )


@pytest.mark.parametrize(
    ("series", "last_step"),
    [([], 10), ([run_of((True,))], 0), ([run_of(())], 10)],
    ids=["no comparison", "no step", "nothing compared"],
)
def test_there_is_no_matrix_of_nothing(series: list[RunSeries], last_step: int) -> None:
    assert agreement_layout(series, last_step) is None


@pytest.mark.parametrize(
    ("series", "last_step"),
    [
        ([], 3),
        ([run_of((False,))], 3),
        ([run_of((False,), metrics=(metric((2.0,)),))], 3),
        ([run_of((False,), metrics=(metric((2.0,), (None,)),))], 3),
        ([run_of((True,), metrics=(metric((1.0,), ("1.0",)),))], 3),
        ([run_of((False,), metrics=(metric((2.0,), ("2.0",)),))], 0),
    ],
    ids=[
        "no comparison",
        "no metric",
        "not printed",
        "never by both",
        "nothing differs",
        "no step",
    ],
)
def test_there_is_no_figure_of_printed_values_without_any(
    series: list[RunSeries], last_step: int
) -> None:
    assert printed_layout(series, last_step) is None


def test_a_run_that_differs_though_its_metric_never_does_is_shown() -> None:
    """Equal printed, equal exactly, and another state all the same."""
    layout = printed_layout([run_of((False,), metrics=(metric((1.0,), ("1.0",)),))], 1)
    assert layout is not None
    assert layout.panels[0].exact == Strip((Span(1, 1, "equal"),), 1, 1)
    assert layout.panels[0].curve.segments == ()


def test_steps_at_which_one_run_prints_nothing_are_not_compared_as_printed() -> None:
    layout = printed_layout(
        [run_of((False,) * 3, metrics=(metric((2.0, 2.0, 2.0), ("2.0", None, None)),))], 3
    )
    assert layout is not None
    panel = layout.panels[0]
    assert panel.printed == Strip((Span(1, 1, "differs"), Span(2, 3, "unrecorded")), 0, 1)
    assert panel.exact.compared == 3
    assert panel.example[0] == "step 1 prints"


def test_of_several_metrics_each_panel_names_its_own() -> None:
    other = metric((2.0,), ("2.0",))
    both = (other, MetricSeries(**(vars(other) | {"metric": "error"})))
    layout = printed_layout([run_of((False,), metrics=both)], 1)
    assert layout is not None
    assert layout.metrics == ("loss", "error")
    assert [panel.heading for panel in layout.panels] == [("1  run: loss",), ("1  run: error",)]


def test_a_curve_looks_the_same_in_both_figures() -> None:
    """Looks go to the comparisons that differ in anything, in the plan's order."""
    exact, wrong = metric((1.0,), ("1.0",)), metric((2.0,), ("2.0",))
    series = [
        run_of((True,), metrics=(exact,)),
        run_of((True,), metrics=(wrong,)),
        run_of((False,)),
        run_of((False,), metrics=(wrong,)),
    ]
    agreement, printed = agreement_layout(series, 1), printed_layout(series, 1)
    assert agreement is not None
    assert printed is not None
    assert [(curve.look, curve.label) for curve in agreement.curves] == [(1, "3 run"), (2, "4 run")]
    assert [(panel.curve.look, *panel.heading) for panel in printed.panels] == [
        (0, "2  run"),
        (2, "4  run"),
    ]


def test_very_many_comparisons_are_cut_and_counted() -> None:
    series = [run_of((False,), metrics=(metric((2.0,), ("2.0",)),))] * 100
    agreement, printed = agreement_layout(series, 1), printed_layout(series, 1)
    assert agreement is not None
    assert printed is not None
    assert (len(agreement.rows), agreement.rows_left_out) == (MAX_ROWS, 100 - MAX_ROWS)
    assert (len(agreement.curves), agreement.curves_left_out) == (MAX_LINES, 100 - MAX_LINES)
    assert (len(printed.panels), printed.panels_left_out) == (MAX_PANELS, 100 - MAX_PANELS)


@pytest.mark.parametrize(
    ("subjects", "words"),
    [
        (("state",), "the complete state"),
        (("weights", "weights"), '"weights"'),
        (("weights", "state"), '"weights" or "state"'),
    ],
)
def test_the_subject_in_words(subjects: tuple[str, ...], words: str) -> None:
    layout = agreement_layout([run_of((True,), subject=subject) for subject in subjects], 1)
    assert layout is not None
    assert layout.subject == words


# ---------------------------------------------------------------- columns


@pytest.mark.parametrize(
    ("last_step", "width", "count"),
    [(1, 1, 1), (500, 1, 500), (501, 2, 251), (100_000, 200, 500), (999_999_999, 2_000_000, 500)],
)
def test_columns(last_step: int, width: int, count: int) -> None:
    """One a step while there is room, then a few steps each; the last ends with the run."""
    columns = columns_for(last_step)
    assert (columns.width, columns.count) == (width, count)
    assert columns.steps(0)[0] == 1
    assert columns.steps(count - 1)[1] == last_step


@given(st.integers(1, 3000), st.data())
def test_every_step_lies_in_its_column(last_step: int, data: Any) -> None:
    columns = columns_for(last_step)
    assert columns.count <= MAX_COLUMNS
    step = data.draw(st.integers(1, last_step))
    first, last = columns.steps(columns.of(step))
    assert first <= step <= last


def test_a_column_differs_where_any_step_in_it_does() -> None:
    """Whatever the order; and is equal where none does and one was compared."""
    columns = Columns(10, 2)
    strip = strip_of(columns, 4, (4, 5, 6, 7, 8), (True, True, False, False, True))
    assert strip == Strip(
        (
            Span(1, 2, "shared"),
            Span(3, 4, "equal"),
            Span(5, 8, "differs"),
            Span(9, 10, "unrecorded"),
        ),
        3,
        5,
    )


def test_steps_past_the_last_are_counted_and_not_drawn() -> None:
    assert strip_of(Columns(1, 1), 1, (1, 2), (True, False)) == Strip((Span(1, 1, "equal"),), 1, 2)
    assert curve_segments(Columns(1, 1), (1, 2), (1.0, 10.0)) == (((1.0, 0.0),),)


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 5), st.integers(1, 60))
def test_spans_cover_every_step_once(equal: list[bool], width: int, last_step: int) -> None:
    """From the first step to the last, neighbours of different kinds, no step twice."""
    columns = Columns(last_step, width)
    spans = strip_of(columns, 1, range(1, len(equal) + 1), equal).spans
    assert spans[0].first == 1
    assert spans[-1].last == last_step
    assert all(left.last + 1 == right.first for left, right in pairwise(spans))
    assert all(left.kind != right.kind for left, right in pairwise(spans))
    differing = {step for step, same in enumerate(equal, 1) if not same and step <= last_step}
    shown_differing = [span for span in spans if span.kind == "differs"]
    assert all(any(s.first <= step <= s.last for s in shown_differing) for step in differing)


# ---------------------------------------------------------------- curves


def test_what_is_no_difference_above_zero_leaves_a_gap() -> None:
    values = (0.1, None, 0.01, 0.0, math.inf, 1.0)
    assert curve_segments(SIX, range(1, 7), values) == (
        ((1.0, -1.0),),
        ((3.0, -2.0),),
        ((6.0, 0.0),),
    )


def test_steps_that_were_not_recorded_leave_none() -> None:
    assert curve_segments(Columns(9, 1), (3, 6, 9), (1.0, 10.0, 0.1)) == (
        ((3.0, 0.0), (6.0, 1.0), (9.0, -1.0)),
    )


def test_a_column_shows_its_largest_difference_in_its_middle() -> None:
    assert curve_segments(Columns(4, 2), (1, 2, 3, 4), (0.1, 1.0, None, 0.01)) == (
        ((1.5, 0.0), (3.5, -2.0)),
    )


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((), ()),
        ((0.0,), (-1, 0)),
        ((-2.5, -2.1), (-3, -2)),
        ((-8.0, -0.8), (-8, -6, -4, -2, 0)),
        ((-7.1, 0.5), (-8, -6, -4, -2, 0, 2)),
        ((-323.3, 308.2), (-381, -254, -127, 0, 127, 254, 381)),
    ],
)
def test_powers_of_ten_enclose_what_is_drawn(
    values: tuple[float, ...], ticks: tuple[int, ...]
) -> None:
    curve = Curve(0, "", (tuple((1.0, value) for value in values),))
    assert decade_ticks([curve]) == ticks


@given(st.lists(st.floats(-330, 310), min_size=1, max_size=9), st.integers(2, 9))
def test_ticks_are_even_and_not_too_many(values: list[float], at_most: int) -> None:
    ticks = decade_ticks([Curve(0, "", (tuple((1.0, value) for value in values),))], at_most)
    assert 2 <= len(ticks) <= at_most + 1
    assert len({right - left for left, right in pairwise(ticks)}) == 1
    assert ticks[0] <= min(values)
    assert max(values) <= ticks[-1]


@pytest.mark.parametrize(
    ("last_step", "ticks"),
    [
        (1, (1,)),
        (2, (1, 2)),
        (7, (1, 4, 7)),
        (40, (1, 10, 20, 30, 40)),
        (100, (1, 20, 40, 60, 80, 100)),
        (110, (1, 50, 110)),
        (100_000, (1, 20_000, 40_000, 60_000, 80_000, 100_000)),
        (999_999_999, (1, 500_000_000, 999_999_999)),
    ],
)
def test_steps_that_are_labelled(last_step: int, ticks: tuple[int, ...]) -> None:
    assert step_ticks(last_step) == ticks


@given(st.integers(1, 999_999_999))
def test_labels_of_steps_have_room(last_step: int) -> None:
    """First and last are there; between two labels there is room for one."""
    ticks = step_ticks(last_step)
    assert (ticks[0], ticks[-1]) == (1, last_step)
    if last_step > 1:
        at_most = max(2, min(5, 36 // len(f"{last_step:,}")))
        assert all(b - a >= last_step / at_most * 0.9 for a, b in pairwise(ticks))


@given(st.lists(st.floats(0, 1), max_size=20))
def test_labels_are_moved_apart_in_their_order(wanted: list[float]) -> None:
    gap = 1 / max(1, len(wanted))
    placed = spread(wanted, gap, 0.0, 1.0)
    order = sorted(range(len(wanted)), key=lambda k: (wanted[k], k))
    assert all(placed[b] - placed[a] >= gap - 1e-9 for a, b in pairwise(order))
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in placed)


def test_labels_with_room_stay_where_they_are() -> None:
    assert spread((0.5, 0.1, 0.9), 0.2, 0.0, 1.0) == (0.5, 0.1, 0.9)
    assert spread((), 0.2, 0.0, 1.0) == ()


@pytest.mark.parametrize(
    ("strip", "lines"),
    [
        (Strip((), 0, 0), ("not recorded",)),
        (Strip((), 6, 60), ("6 of 60 equal",)),
        (Strip((), 99_998, 100_000), ("99,998 of 100,000", "equal")),
    ],
)
def test_counts_beside_a_strip(strip: Strip, lines: tuple[str, ...]) -> None:
    assert counted(strip) == lines
