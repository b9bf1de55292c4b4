"""What follows where a part of the state was put back."""

from __future__ import annotations

from typing import Any

import numpy as np

from repropack._compare.influence import (
    differing_values,
    final_distances,
    measure_influence,
    patterns_between,
)
from repropack._format.state import encode_state
from repropack.models.audit import FinalDistance
from repropack.models.patterns import DrawDistance
from repropack.models.results import FinalMetric
from tests.support.logs import HandMadeRun, step


def run(first: int, *steps: Any, state: dict[str, str], name: str = "run") -> HandMadeRun:
    """A run from step ``first`` on; each step is stages, state and loss."""
    lines = tuple(
        step(first + k, stages, after, metrics={"loss": loss})
        for k, (stages, after, loss) in enumerate(steps)
    )
    return HandMadeRun(lines, state=state, first_step=first, name=name)


WHOLE = run(
    1,
    ({"batch": "a", "w": "p"}, {"ema": "1", "s": "1", "w": "p"}, 3.0),
    ({"batch": "b", "w": "q"}, {"ema": "2", "s": "2", "w": "q"}, 2.0),
    ({"batch": "c", "w": "r"}, {"ema": "3", "s": "3", "w": "r"}, 1.0),
    state={"ema": "0", "s": "0", "w": "o"},
)


def test_an_exact_resume_differs_in_nothing():
    """Every step of both is compared."""
    resumed = run(
        2,
        ({"batch": "b", "w": "q"}, {"ema": "2", "s": "2", "w": "q"}, 2.0),
        ({"batch": "c", "w": "r"}, {"ema": "3", "s": "3", "w": "r"}, 1.0),
        state={"ema": "1", "s": "1", "w": "p"},
    )
    found = measure_influence(WHOLE, resumed)
    assert found.identical
    assert (found.compared, found.first_step, found.differing_steps) == (2, None, ())


def test_a_state_that_does_not_come_back_is_no_exact_resume():
    """Also where every later step is equal."""
    resumed = run(
        3,
        ({"batch": "c", "w": "r"}, {"ema": "3", "s": "3", "w": "r"}, 1.0),
        state={"ema": "other", "s": "2", "w": "q"},
    )
    found = measure_influence(WHOLE, resumed)
    assert (found.identical, found.divergence, found.start.differing) == (False, None, ("ema",))


def test_a_component_that_differs_alone_matters_to_nothing_else():
    """Averages that nothing reads; the divergence is there all the same."""
    reset = run(
        2,
        ({"batch": "b", "w": "q"}, {"ema": "x", "s": "2", "w": "q"}, 2.0),
        ({"batch": "c", "w": "r"}, {"ema": "y", "s": "3", "w": "r"}, 1.0),
        state={"ema": "0", "s": "1", "w": "p"},
    )
    found = measure_influence(WHOLE, reset, ("ema",))
    assert (found.first_step, found.own_differs, found.differing_steps) == (None, True, ())
    assert found.divergence is not None


def test_a_component_matters_from_the_step_in_which_something_else_differs():
    """Stages in their order, other components and metrics of that step; then it meets again."""
    reset = run(
        2,
        ({"batch": "b", "w": "q"}, {"ema": "2", "s": "0", "w": "q"}, 2.0),
        ({"batch": "z", "w": "z"}, {"ema": "z", "s": "1", "w": "z"}, 9.0),
        state={"ema": "1", "s": "0", "w": "p"},
    )
    found = measure_influence(WHOLE, reset, ("s",))
    assert (found.first_step, found.differing_steps) == (3, ((3, 3),))
    assert (found.stages, found.components, found.metrics) == (
        ("batch", "w"),
        ("ema", "w"),
        ("loss",),
    )
    assert found.final_metrics == (FinalMetric(metric="loss", reference=1.0, run=9.0),)


def test_a_run_that_ends_earlier_matters_there():
    """The step that one of them lacks."""
    short = run(
        2,
        *[
            (
                (WHOLE.lines[1].stages and {"batch": "b", "w": "q"}),
                {"ema": "2", "s": "2", "w": "q"},
                2.0,
            )
        ],
        state={"ema": "1", "s": "1", "w": "p"},
    )
    found = measure_influence(WHOLE, short, ("ema",))
    assert (found.compared, found.first_step) == (1, 3)


def test_final_states_are_measured_by_component():
    """Arrays and numbers by their distance; generators only named; what is equal is left out."""
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    rng.random()
    expected = encode_state(
        {"w": np.array([1.0, 2.0]), "t": 3, "lr": 0.5, "same": 1, "rng": before, "o.a": [1, 2]}
    )
    observed = encode_state(
        {
            "w": np.array([1.0, np.nextafter(2.0, 3.0)]),
            "t": 7,
            "lr": 0.25,
            "same": 1,
            "rng": rng.bit_generator.state,
            "o.a": [1, 3],
        }
    )
    assert final_distances(expected, observed) == (
        FinalDistance(component="lr", values=("lr",), largest_absolute=0.25, largest_ulp=2**52),
        FinalDistance(component="o", values=("o.a",)),
        FinalDistance(component="rng", values=("rng",)),
        FinalDistance(component="t", values=("t",), largest_absolute=4.0),
        FinalDistance(component="w", values=("w",), largest_absolute=2.0**-51, largest_ulp=1),
    )


def test_values_are_compared_by_type_shape_and_every_bit():
    """-0.0 is not 0.0, and an array in a value counts."""
    left = {"a": np.zeros(2), "b": np.zeros(2), "c": {"x": np.zeros(1)}, "d": 1, "only": 1}
    right = {"a": -np.zeros(2), "b": np.zeros((2, 1)), "c": {"x": np.ones(1)}, "d": 1}
    assert differing_values(encode_state(left), encode_state(right)) == ("a", "b", "c")


def test_a_resume_that_differs_has_its_patterns():
    """The sampler moved on by one draw: a checkpoint that lacks something, and an extra draw."""
    resumed = run(
        2,
        ({"batch": "x", "w": "q"}, {"ema": "2", "s": "x", "w": "q"}, 2.0),
        ({"batch": "c", "w": "r"}, {"ema": "3", "s": "3", "w": "r"}, 1.0),
        state={"ema": "1", "s": "1", "w": "p"},
    )
    found = measure_influence(WHOLE, resumed)
    draws = (DrawDistance(generator="s", kind="PCG64", step=3, draws=1, word_bits=64),)
    patterns = patterns_between(found, 2, draws, repeats=True)
    assert {pattern.id: pattern.consistent for pattern in patterns} == {
        "incomplete-checkpoint": True,
        "extra-draws": True,
        "varying-operation": False,
    }


def test_an_exact_resume_has_no_patterns():
    assert patterns_between(measure_influence(WHOLE, WHOLE), 1) == ()


def test_a_second_run_that_differs_at_once_is_no_incomplete_checkpoint():
    other = run(
        1,
        ({"batch": "x", "w": "p"}, {"ema": "1", "s": "1", "w": "p"}, 3.0),
        state={"ema": "0", "s": "0", "w": "o"},
    )
    patterns = patterns_between(measure_influence(WHOLE, other), 1, repeats=False)
    assert {pattern.id: pattern.consistent for pattern in patterns} == {
        "varying-operation": True,
        "other-beginning": False,
    }
