"""The first kept stage of integers at which two runs part, and the floats before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

from repropack._read.decisions import measure_decision
from repropack._read.run import RunReader
from repropack.models.results import StepCount

ONE = np.float32(1)
NEXT = np.nextafter(ONE, np.float32(2))


@dataclass(frozen=True)
class Kept:
    """The kept stages of a run of three steps."""

    rows: dict[str, list[Any]]

    def kept_stages(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        return {name: (np.asarray(rows).dtype.str, (3,)) for name, rows in self.rows.items()}

    def kept_rows(self, stage: str, first_step: int = 0) -> Iterator[Any] | None:
        rows = self.rows.get(stage)
        return None if rows is None else iter(map(np.asarray, rows[first_step - 1 :]))


def run(**rows: list[Any]) -> RunReader:
    return cast("RunReader", Kept(rows))


def counted(**firsts: int | None) -> tuple[StepCount, ...]:
    return tuple(
        StepCount(name=name, compared=3, differing=int(first is not None), first_step=first)
        for name, first in firsts.items()
    )


LEFT = run(scores=[ONE, ONE, ONE], choice=[0, 0, 0], after=[ONE, ONE, ONE], flag=[True, True, True])
RIGHT = run(
    scores=[NEXT, NEXT, NEXT], choice=[0, 1, 1], after=[ONE, NEXT, NEXT], flag=[True, True, False]
)
COUNTS = counted(scores=1, choice=2, after=2, flag=3)


def test_floats_before_the_choice_are_measured_at_the_step_of_the_choice() -> None:
    """In order of execution, the choice last; what comes after it is no evidence."""
    scores, choice = measure_decision(LEFT, RIGHT, COUNTS)
    assert (scores.array, scores.step, scores.largest_ulp) == ("scores", 2, 1)
    assert (choice.array, choice.step, choice.expected_type) == ("choice", 2, "<i8 ()")


def test_truth_values_are_choices_too() -> None:
    """A threshold gives them; floats that are equal at that step are left out."""
    left, right = (
        run(scores=[ONE, ONE, value], flag=[True, True, value > ONE]) for value in (ONE, NEXT)
    )
    scores, flag = measure_decision(left, right, counted(scores=3, flag=3))
    assert (scores.step, flag.step, flag.expected_type) == (3, 3, "|b1 ()")
    same = run(scores=[ONE, ONE, ONE], flag=[True, True, True])
    (alone,) = measure_decision(left, same, counted(scores=None, flag=3))
    assert alone.array == "flag"


@pytest.mark.parametrize(
    ("left", "right", "stages"),
    [
        (LEFT, RIGHT, counted(scores=1, choice=None)),
        (LEFT, RIGHT, counted(scores=1, after=2)),
        (LEFT, run(scores=[ONE, NEXT, NEXT]), COUNTS),
        (run(), run(), COUNTS),
        (LEFT, RIGHT, ()),
    ],
)
def test_without_kept_integers_that_differ_there_is_nothing(
    left: RunReader, right: RunReader, stages: tuple[StepCount, ...]
) -> None:
    """No integers, none that differ, or none that both keep."""
    assert measure_decision(left, right, stages) == ()
