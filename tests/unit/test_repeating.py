"""What repeating a step under each variation comes to; no process is started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from repropack._format.state import encode_state
from repropack._repeating import repeat_apart
from repropack._run.repeat import RepeatedStep
from repropack.models.plan import ComparisonPlan
from repropack.models.worker import Repeated
from repropack.models.zoom import Repetition

REPETITION = Repetition(run="other", side="expected", step=3, name="sum")
LAUNCHER: Any = SimpleNamespace(plan=SimpleNamespace(experiment=SimpleNamespace(config={"a": 1})))
RECORDED: Any = SimpleNamespace(stages=(("sum", "one"),), state=(("weights", "w"),))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[RepeatedStep, int, dict[str, int]]]:
    """What was asked of workers; with two threads the sum is another."""
    found: list[tuple[RepeatedStep, int, dict[str, int]]] = []

    def repeat_step(launcher: Any, repeated: RepeatedStep, times: int, **how: int) -> list[Any]:
        found.append((repeated, times, how))
        total = "two" if how.get("threads") == 2 else "one"
        return [
            Repeated.model_construct(
                number=k + 1, stages=(("sum", total), ("free", "f")), state=(("weights", "w"),)
            )
            for k in range(times)
        ]

    monkeypatch.setattr("repropack._repeating.repeat_step", repeat_step)
    monkeypatch.setattr("repropack._repeating.os.cpu_count", lambda: 2)
    return found


def test_each_variation_is_tried_and_held_against_the_record(asked: list[Any]) -> None:
    """One thing varies at a time, and each result is told beside the first and the recorded."""
    comparison = ComparisonPlan(name="other", hash_seed=7)
    before = encode_state({"weights": 0})
    found = repeat_apart(REPETITION, LAUNCHER, comparison, before, RECORDED, 2)
    assert [(times, how) for _, times, how in asked] == [
        (2, {}),
        (1, {}),
        (1, {}),
        (2, {"threads": 1}),
        (2, {"threads": 2}),
        (2, {"hash_seed": 1}),
        (2, {"hash_seed": 2}),
    ]
    assert {repeated.hash_seed for repeated, _, _ in asked} == {7}
    told = [
        (row.name, row.distinct, row.as_first, row.as_recorded)
        for group in found.groups
        if group.setting in {None, 2}
        for row in group.results
        if row.name != "state:weights"
    ]
    assert told == [
        ("sum", 1, True, True),
        ("free", 1, True, None),
        ("sum", 1, True, True),
        ("free", 1, True, None),
        ("sum", 1, False, False),
        ("free", 1, True, None),
        ("sum", 1, True, True),
        ("free", 1, True, None),
    ]
    assert (found.varies("threads"), found.varies("hash-seed")) == (True, False)


def test_nothing_is_held_against_a_step_that_is_not_recorded(asked: list[Any]) -> None:
    found = repeat_apart(REPETITION, LAUNCHER, None, encode_state({}), None, 1)
    assert {row.as_recorded for group in found.groups for row in group.results} == {None}
    assert {repeated.hash_seed for repeated, _, _ in asked} == {0}
