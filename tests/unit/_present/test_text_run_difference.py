"""The difference of two runs as text, word for word."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._present.layout import WIDTH, cells
from repropack._present.text_run_difference import run_difference_text
from repropack.models.patterns import Pattern
from repropack.models.results import Divergence, Split, StepCount
from repropack.models.run_difference import (
    FormChange,
    RunCounts,
    RunDifference,
    Stretch,
    StructureDifference,
    WhyIncomparable,
)
from tests.support.run_differences import (
    AT_GRADIENT,
    COUNTS,
    LAB,
    damaged,
    difference,
    identical,
    side,
)

DIFFERS = """\
differs  a.jsonl and lab.zip::sampler-reset
They part at step 41 · gradient; 7 of 60 steps differ, in 2 of 3 stages and 1 of 1 component.

left:             run reference, steps 1..100; a log on its own
right:            run sampler-reset, steps 41..100; in a package
compared:         60 steps that both have, 41..100
configuration:    they ran with another configuration
first state:      differing: adam; equal: weights

first divergence: step 41 · gradient      inputs equal (batch), output differs
stages there:     differing: gradient, weights; equal: batch
state before it:  equal: adam, weights
state after it:   differing: weights; equal: adam
other stages:     from step 50 on, at 2 steps: missing on the right: a; extra on the right: b; in
                  another order: c, d; made of other inputs: e
other form:       state:adam.first: <f4 (3,) on the left, <f8 (3,) on the right

differing:        7 of 60 steps; of 3 of them neither stages nor state were recorded by both
meet again:       yes: all that both recorded is equal at steps 60..100, to the end
printed alike:    loss at every step; proves nothing
equal stages:     batch
equal metrics:    loss

what       name      differs at  first at
stage      gradient  7 of 57      step 41
stage      weights   2 of 57      step 41
component  adam      1 of 60      step 44

consistent with:  another order or rounding of an operation (gradient) [other-order]: for a reason

Both logs were read whole and every chain computed again; nothing was run. A first difference is
evidence of where, not of why.
"""
FAST = """\
differs  a.jsonl and lab.zip::sampler-reset
They part at step 41 · gradient.

left:             run reference, steps 1..100; a log on its own
right:            run sampler-reset, steps 41..100; in a package
compared:         60 steps that both have, 41..100

first divergence: step 41 · gradient      inputs equal (batch), output differs
stages there:     differing: gradient, weights; equal: batch
state before it:  equal: adam, weights
state after it:   differing: weights; equal: adam

The recorded chains were believed and not computed again (--fast): nothing is counted; without
--fast both logs are read whole.
"""
IDENTICAL = """\
identical  a.jsonl and b.jsonl
On all the steps that both have they are one history.

left:             run reference, steps 1..100; a log on its own
right:            run reference, steps 1..100, ended by itself (converged); a log on its own
compared:         100 steps that both have, 1..100

Both logs were read whole and every chain computed again; nothing was run. A first difference is
evidence of where, not of why.
"""
DAMAGED = """\
damaged  b.jsonl

b.jsonl
The log is damaged or unsafe, and nothing of it was executed: 1 fault.
- b.jsonl: line 7: a cut line [log.cut]
"""
ALL = difference(
    configurations_equal=False,
    start=Split(equal=("weights",), differing=("adam",)),
    structure=StructureDifference(
        step=50, missing=("a",), extra=("b",), reordered=("c", "d"), redeclared=("e",), steps=2
    ),
    forms=(FormChange(name="state:adam.first", left="<f4 (3,)", right="<f8 (3,)"),),
    patterns=(
        Pattern(id="other-order", consistent=True, names=("gradient",), because=("for a reason",)),
    ),
)


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (ALL, DIFFERS),
        (difference(chains_believed=True, counts=None), FAST),
        (identical(), IDENTICAL),
        (damaged(), DAMAGED),
    ],
    ids=["differs", "fast", "identical", "damaged"],
)
def test_a_difference_of_runs_reads_like_this(report: RunDifference, text: str) -> None:
    """The verdict, where it began, how far it goes, and what that is consistent with."""
    assert run_difference_text(report) == text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"meets_again": None}, "for a while: all that both recorded is equal at steps 50..51\n"),
        (
            {"meets_again": None, "equal_between": Stretch(first_step=50, last_step=50)},
            "for a while: all that both recorded is equal at step 50\n",
        ),
        (
            {"meets_again": None, "equal_between": None},
            "no: there is no later step at which all that both recorded is equal\n",
        ),
        ({"names_left_out": True}, "\nThere are more names than are counted; "),
        (
            {"stages": tuple(
                StepCount(name=f"s{k}", compared=1, differing=1, first_step=41) for k in range(40)
            )},
            "\nand 11 more\n",
        ),
    ],
    ids=["for-a-while", "one-step", "never", "names-left-out", "many"],
)  # fmt: skip
def test_what_is_counted_is_told(changes: dict[str, Any], sentence: str) -> None:
    """Whether the runs meet again, and what found no room."""
    report = difference(counts=COUNTS.model_copy(update=changes))
    assert sentence in run_difference_text(report)


def test_runs_that_end_apart_are_not_asked_to_meet() -> None:
    """There are no steps behind the end."""
    end = Divergence(kind="length", step=101, last_equal_step=100, unexpected=("step 101",))
    text = run_difference_text(
        difference(divergence=end, counts=RunCounts(compared=60, differing=0))
    )
    assert "They part at step 101 · end of the run; 0 of 60 steps differ" in text
    assert "meet again" not in text


def test_outputs_of_a_command_are_told_as_such() -> None:
    """One step, no components, and nothing later."""
    names = ("output:a.npz:w", "output:b.csv")
    found = Divergence(
        kind="output",
        step=1,
        last_equal_step=0,
        stage=names[0],
        stages=Split(equal=names[1:], differing=names[:1]),
    )
    stages = (StepCount(name=names[0], compared=1, differing=1, first_step=1),)
    counts = RunCounts(compared=1, differing=1, stages=stages)
    text = run_difference_text(
        difference(divergence=found, counts=counts, first_step=1, last_step=1)
    )
    assert "They part at output a.npz · w; 1 of 2 outputs and arrays differs.\n" in text
    assert "differing:        1 of 1 step\n" in text
    assert "meet again" not in text


@pytest.mark.parametrize(
    ("reason", "left", "right", "lines"),
    [
        (
            "no-step-in-common",
            ("1..40",),
            ("50..59",),
            "no comparison:    they have no step in common: left has steps 1..40, right 50..59\n",
        ),
        (
            "no-name-in-common",
            ("batch", "state:w"),
            ("q",),
            "experiments: left has batch, state:w; right q\n",
        ),
        (
            "never-recorded-together",
            (),
            (),
            "they were\n                  recorded at different steps\n",
        ),
    ],
    ids=["steps", "names", "recording"],
)
def test_runs_that_cannot_be_compared_say_why(
    reason: Any, left: tuple[str, ...], right: tuple[str, ...], lines: str
) -> None:
    """And nothing else is said of them."""
    why = WhyIncomparable(reason=reason, left=left, right=right)
    text = run_difference_text(
        RunDifference(verdict="differs", left=side(), right=LAB, comparable=False, reasons=(why,))
    )
    assert text.startswith(
        "differs  a.jsonl and lab.zip::sampler-reset\n"
        "These two cannot be compared, so this says nothing of where they part.\n"
    )
    assert text.endswith(lines)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"chains_equal": True, "verdict": "identical"}, "they are one history."),
        ({"verdict": "identical"}, "they are equal line by line."),
        ({"recorded_alike": False}, "so that this\nis less than identical."),
        ({}, "No step differs that both have; what was there before them does."),
    ],
    ids=["one-history", "line-by-line", "recording", "before"],
)  # fmt: skip
def test_runs_without_a_divergence_are_told_apart(changes: dict[str, Any], sentence: str) -> None:
    """Identical, equal with another history, recorded otherwise, or begun otherwise."""
    assert sentence in run_difference_text(difference(**{"divergence": None, **changes}))


@pytest.mark.hostile
def test_names_and_reasons_are_harmless() -> None:
    """What others wrote moves no cursor, and no line is longer than the page."""
    evil = "\x1b[31m\u202e" + "x" * 300
    names = tuple(f"{'n' * 200}{k}" for k in range(40))
    report = difference(
        left=side(evil, finish=evil),
        divergence=AT_GRADIENT.model_copy(update={"stages": Split(equal=names, differing=names)}),
        structure=StructureDifference(step=1, missing=names, reordered=names, steps=1),
        forms=tuple(FormChange(name=evil, left=evil, right=evil) for _ in range(20)),
        counts=COUNTS.model_copy(
            update={
                "stages": tuple(
                    StepCount(name=name, compared=9, differing=9, first_step=41) for name in names
                )
            }
        ),
    )
    text = run_difference_text(report)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(cells(line) for line in text.splitlines()) <= WIDTH
    assert len(text.splitlines()) < 300
