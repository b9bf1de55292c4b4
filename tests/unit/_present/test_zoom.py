"""The elements of a step in words, and what repeating it showed."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._present.text_verify import verify_text
from repropack._present.zoom import repetition_lines, seen_difference, what_ran, zoom_lines
from repropack.models.differences import ValueDifference
from repropack.models.results import Divergence
from repropack.models.zoom import (
    RanCode,
    RepeatedGroup,
    RepeatedResult,
    Repetition,
    Zoom,
    ZoomedArray,
    ZoomedValue,
    ZoomSide,
)
from tests.support import reports

MADE_AGAIN = "reference, its step 41 made again from the state after step 40: as recorded"
SHIPPED = "not confined (repropack ships the source)"
BOTH = ("expected", "observed")
STATE_LEFT = (
    "varies within a process and not between fresh ones: consistent with state that restoring does "
    "not put back"
)
VARYING_WITHIN = (
    "varies within one process and from process to process: consistent with an operation whose "
    "result varies, so that a difference here needs no other code, data or state"
)
VARYING = (
    "varies from process to process: consistent with an operation whose result varies, so that a "
    "difference here needs no other code, data or state"
)


def side(run: str = "reference", **changes: Any) -> ZoomSide:
    fields: dict[str, Any] = {"origin": "replay", "from_checkpoint": 40, "reproduced": True}
    return ZoomSide(run=run, **(fields | changes))


def ran(level: Any, *sides: Any, reason: Any = None) -> RanCode:
    return RanCode(sides=sides, level=level, reason=reason)


def zoom(**changes: Any) -> Zoom:
    """The gradient of two orders of addition, at step 41."""
    gradient = reports.gradient_array(array="gradient", step=41)
    fields: dict[str, Any] = {
        "step": 41,
        "name": "gradient",
        "expected": side(),
        "observed": side("other", origin="stored", from_checkpoint=None, reproduced=None),
        "arrays": (
            ZoomedArray(name="gradient", role="diverging", equal=False, difference=gradient),
            ZoomedArray(name="batch", role="input", equal=True),
        ),
    }
    return Zoom(**(fields | changes))


def test_where_the_arrays_come_from_is_said_before_them() -> None:
    assert zoom_lines(zoom()) == [
        f"expected from:    {MADE_AGAIN}",
        "observed from:    other, as it is stored",
        "elements:         gradient: 19 of 24 elements, at most 5 ulp",
        f"{'':18}gradient[0]   expected -0.55355924 (0xbf0db60f)  observed -0.5535591 (0xbf0db60d)",
        f"{'':18}gradient[12]  expected 0.25 (0x3e800000)         observed 0.25000003 (0x3e800001)",
        "equal inputs:     batch",
    ]


def test_elements_of_a_replay_alone_are_called_so() -> None:
    """They are not those that were recorded, and do not stand beside the divergence."""
    other = zoom(expected=side(reproduced=False, from_checkpoint=0))
    assert seen_difference(other) is None
    text = " ".join(" ".join(zoom_lines(other)).split())
    assert "from its first state: NOT as recorded, so that these are elements" in text
    kept = "to have those: keep, in [record], stores gradient as it was when recorded"
    assert kept in text
    assert "to have those:" not in " ".join(zoom_lines(zoom()))
    for name in (None, "output:a.csv"):
        unnamed = other.model_copy(update={"name": name})
        assert "to have those:" not in " ".join(zoom_lines(unnamed))
    assert seen_difference(zoom()) == zoom().arrays[0].difference
    assert seen_difference(None) is None
    assert seen_difference(zoom(expected=None)) is None


def test_inputs_and_values_that_differ_are_told() -> None:
    """An array that one side lacks, an array that came out equal, a value, and what is left out."""
    value = ValueDifference(pointer="/state/1", expected="2", observed=None)
    lines = zoom_lines(
        zoom(
            arrays=(
                ZoomedArray(name="state:w", role="input", equal=False, missing="observed"),
                ZoomedArray(name="state:adam", role="state-after", equal=True),
            ),
            values=(ZoomedValue(name="state:rng", role="state-after", difference=value),),
            left_out=8,
            problem="not recorded: x",
        )
    )
    assert lines[2:] == [
        "elements:         state:adam: equal as it was made again on both sides",
        "made of:          state:w: observed has no such array",
        "value:            state:rng/state/1: expected 2, observed nothing",
        "                  and 1 more",
        "no elements:      not recorded: x",
    ]


def test_a_verification_ends_with_the_elements() -> None:
    """Beside the divergence where they are those that were recorded; else below it."""
    gradient = reports.gradient_array(step=1)
    arrays = (ZoomedArray(name="gradient", role="diverging", equal=False, difference=gradient),)
    seen = zoom(step=1, arrays=arrays)
    run = reports.differing_run(arrays=(), zoom=seen)
    shown = verify_text(reports.verification(verdict="differs", runs=(run,)))
    assert "output differs: 19 of 24 elements, at most 5 ulp" in " ".join(shown.split())
    assert "elements:" not in shown
    assert "observed from:    other, as it is stored\n" in shown
    replayed = seen.model_copy(update={"observed": side(reproduced=False)})
    run = reports.differing_run(arrays=(), zoom=replayed)
    shown = verify_text(reports.verification(verdict="differs", runs=(run,)))
    assert "elements:         gradient: 19 of 24 elements, at most 5 ulp\n" in shown


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((ran("bubblewrap", *BOTH),), "confined by bubblewrap"),
        ((ran("bubblewrap", BOTH[0]), ran("bubblewrap", BOTH[1])), "confined by bubblewrap"),
        ((ran("none", *BOTH, reason="shipped-source"),), SHIPPED),
        ((ran("landlock", BOTH[1]),), "on the right confined by landlock"),
        (
            (ran("none", BOTH[0], reason="trusted"), ran("landlock", BOTH[1])),
            "on the left NOT CONFINED (--trust allows it) and on the right confined by landlock",
        ),
    ],
)
def test_what_ran_is_said(rows: tuple[RanCode, ...], said: str) -> None:
    """Of each package, where they were confined otherwise."""
    assert what_ran(zoom(ran=rows)) == f"what is not stored was made again, {said}"
    assert what_ran(None) == what_ran(zoom()) == "nothing was run"


def repetition(*found: tuple[Any, Any, int, bool], **changes: Any) -> Repetition:
    """Groups as variation, setting, distinct results, and whether the first is the first of all."""
    groups = tuple(
        RepeatedGroup(
            variation=variation,
            setting=setting,
            times=5,
            results=(
                RepeatedResult(name="batch", distinct=5, as_first=False),
                RepeatedResult(name="gradient", distinct=distinct, as_first=as_first),
            ),
        )
        for variation, setting, distinct, as_first in found
    )
    fields: dict[str, Any] = {"run": "reference", "side": "expected", "step": 41}
    return Repetition(**(fields | {"name": "gradient", "groups": groups} | changes))


STABLE = (("one-process", None, 1, True), ("fresh-processes", None, 1, True))
THREADS = (("threads", 1, 1, True), ("threads", 2, 1, True))
SEEDS = (("hash-seed", 1, 1, True),)


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (
            (*STABLE, *THREADS, *SEEDS),
            [
                "in one process: bitwise stable in 5 of 5",
                "in fresh processes: bitwise stable in 5 of 5",
                "with 1 thread: bitwise stable in 5 of 5",
                "with 2 threads: bitwise stable in 5 of 5",
                "with hash seed 1: bitwise stable in 5 of 5",
                "stable under all of these: not consistent with an operation that varies by itself",
            ],
        ),
        (
            (*STABLE, THREADS[0], ("threads", 2, 1, False), ("hash-seed", 1, 2, True)),
            [
                "in one process: bitwise stable in 5 of 5",
                "in fresh processes: bitwise stable in 5 of 5",
                "with 1 thread: bitwise stable in 5 of 5",
                "with 2 threads: bitwise stable in 5 of 5, with another result than without",
                "with hash seed 1: 2 different results in 5 times",
                "varies with the number of threads and the hash seed",
            ],
        ),
        (
            (("one-process", None, 5, True), STABLE[1], ("threads", 1, 5, True)),
            [
                "in one process: 5 different results in 5 times",
                "in fresh processes: bitwise stable in 5 of 5",
                "with 1 thread: 5 different results in 5 times",
                STATE_LEFT,
            ],
        ),
        (
            (STABLE[0], ("fresh-processes", None, 1, False)),
            [
                "in one process: bitwise stable in 5 of 5",
                "in fresh processes: bitwise stable in 5 of 5, with another result than without",
                VARYING,
            ],
        ),
        (
            (("one-process", None, 4, True), ("fresh-processes", None, 4, True)),
            [
                "in one process: 4 different results in 5 times",
                "in fresh processes: 4 different results in 5 times",
                VARYING_WITHIN,
            ],
        ),
    ],
    ids=["stable", "threads-and-seed", "state-not-restored", "between-processes", "everywhere"],
)
def test_what_repeating_shows(found: Any, lines: list[str]) -> None:
    """A line for each variation, then what they show together; what other stages do is not told."""
    text = " ".join(" ".join(repetition_lines(repetition(*found))).split())
    head = "repeated: step 41 of reference from the same state and inputs, gradient: "
    assert text == head + " ".join(lines)


@pytest.mark.parametrize(
    ("as_recorded", "as_first", "said"),
    [
        (True, True, "bitwise stable in 5 of 5, as recorded"),
        (False, True, "bitwise stable in 5 of 5, NOT as recorded"),
        (
            True,
            False,
            "bitwise stable in 5 of 5, as recorded, with another result than without",
        ),
    ],
)
def test_a_stable_result_is_held_against_the_record(
    as_recorded: bool, as_first: bool, said: str
) -> None:
    result = RepeatedResult(name="gradient", distinct=1, as_first=as_first, as_recorded=as_recorded)
    group = RepeatedGroup(variation="threads", setting=2, times=5, results=(result,))
    text = " ".join(" ".join(repetition_lines(repetition(groups=(group,)))).split())
    assert f"with 2 threads: {said} " in text


def test_a_step_that_could_not_be_repeated_says_why() -> None:
    lines = repetition_lines(repetition(problem="the step raised"))
    assert lines[-1] == "                  not repeated: the step raised"


def test_what_cannot_be_told_is_not_told() -> None:
    """Where a result varies by itself, threads and hash seed show nothing."""
    stable = repetition(*STABLE, ("threads", 2, 1, False))
    assert stable.varies("threads") is True
    assert (stable.varies("hash-seed"), stable.varies("one-process")) == (None, False)
    varying = repetition(("one-process", None, 2, True), STABLE[1], ("threads", 2, 1, False))
    assert (varying.varies("one-process"), varying.varies("threads")) == (True, None)


def test_a_narrowed_place_is_told_by_itself() -> None:
    """Elements of an earlier step do not stand beside the recorded divergence."""
    earlier = Divergence(kind="output", step=39, last_equal_step=38, stage="gradient")
    assert seen_difference(zoom(step=39, divergence=earlier)) is None
    assert zoom_lines(zoom(step=39, divergence=earlier))[0] == (
        "parted before:    made again with every step recorded, they part at step 39 · gradient"
    )


def test_later_stages_are_told_with_one_element() -> None:
    gradient = reports.gradient_array(array="update", step=41)
    later = ZoomedArray(name="update", role="later", equal=False, difference=gradient)
    equal = ZoomedArray(name="norm", role="later", equal=True)
    lines = zoom_lines(zoom(arrays=(*zoom().arrays, later, equal)))
    told = [line for line in lines if line not in zoom_lines(zoom())]
    assert told == [
        "later there:      update: 19 of 24 elements, at most 5 ulp",
        (
            "                  update[0]  expected -0.55355924 (0xbf0db60f)  observed -0.5535591 "
            "(0xbf0db60d)"
        ),
    ]
