"""Where an audit resumes, what it puts back, and what it looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repropack._format.state import encode_state
from repropack._run.auditing import (
    Reset,
    audited_plan,
    find_boundaries,
    plan_resets,
    reset_name,
    resume_points,
    steps_to_watch,
)
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan
from tests.support.logs import step


@pytest.mark.parametrize(
    ("last_step", "boundaries", "expected"),
    [
        (1, (), (0,)),
        (2, (), (1,)),
        (3, (), (1, 2)),
        (12, (), (1, 6, 11)),
        (20, (), (7, 10, 13)),
        (100, (), (13, 50, 87)),
        (100, (25, 50, 75), (13, 25, 51, 87)),
        (40, (7, 14, 21, 28, 35), (7, 8, 20, 32)),
        (1000, (), (127, 500, 873)),
    ],
)
def test_a_run_is_resumed_early_in_the_middle_late_and_at_an_end(
    last_step: int, boundaries: tuple[int, ...], expected: tuple[int, ...]
):
    """Three steps that are no boundary where that can be, and the first boundary."""
    assert resume_points(last_step, boundaries) == expected


def test_a_component_that_seldom_changes_marks_its_steps():
    """One that changes in each step, never, or at the very end says nothing."""
    lines = [
        step(k, {}, {"often": str(k), "never": "n", "epoch": str(k // 4), "end": str(k == 12)})
        for k in range(1, 13)
    ]
    assert find_boundaries(lines) == (4, 8)


def test_short_runs_are_watched_at_every_step_and_long_ones_here_and_there():
    """Resume points are always among them, and never more than the run has."""
    assert steps_to_watch(4, (2,)) == (0, 1, 2, 3, 4)
    watched = steps_to_watch(1000, (127, 500))
    assert watched[:4] == (0, 1, 2, 21)
    assert {127, 500, 1000} <= set(watched)
    assert len(watched) == 53


def test_parts_are_put_back_where_they_first_differ_from_the_first_state():
    """Components first, then the values of those that have several; a constant nowhere."""

    def state(t: int, m: Any, w: Any, fixed: int = 3) -> Any:
        return encode_state({"adam.t": t, "adam.m": np.array(m), "w": np.array(w), "fixed": fixed})

    states = [(2, state(1, [0.0], [0.0])), (5, state(2, [1.0], [0.5]))]
    assert plan_resets(states, state(0, [0.0], [0.0])) == [
        Reset("adam", None, 2),
        Reset("fixed", None, None),
        Reset("w", None, 5),
        Reset("adam", "adam.m", 5),
        Reset("adam", "adam.t", 2),
    ]


def test_a_value_that_alone_changed_of_its_component_needs_no_run_of_its_own():
    """Putting the component back is the same."""
    first, later = (encode_state({"c.a": k, "c.b": 1}) for k in (0, 4))
    assert plan_resets([(1, later)], first) == [
        Reset("c", None, 1),
        Reset("c", "c.a", 1, alone=True),
        Reset("c", "c.b", None, alone=True),
    ]


def test_the_plan_of_an_audit_records_everything_and_compares_nothing():
    """Whatever the project records; the experiment stays as it is."""
    plan = Plan(
        experiment=ExperimentPlan(entry_point="a:B", seed=1, steps=9),
        record=RecordPlan(stages_every=3, keep=("w",)),
        comparisons=(ComparisonPlan(name="x", resume_at=3),),
    )
    assert audited_plan(plan) == Plan(experiment=plan.experiment, record=RecordPlan())


def test_a_run_is_named_after_what_it_puts_back():
    """Within the letters and the length of a run's name."""
    assert reset_name(3, Reset("adam", "adam.First_moment", 1)) == "reset-3-adam-first-moment"
    assert reset_name(4, Reset("x", None, 1)) == "reset-4-x"
    assert len(reset_name(5, Reset("a", f"a.{'b' * 200}", 1))) == 64
