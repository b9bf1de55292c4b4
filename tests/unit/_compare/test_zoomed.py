"""The step at which two runs part, array by array, on values made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from repropack._compare.zoomed import MAX_ROWS, Wanted, look, wanted_of
from repropack._format.state import EncodedState, encode_state
from repropack.models.differences import ValueDifference
from repropack.models.results import Divergence, InputEquality, Split
from repropack.models.zoom import ZoomedArray, ZoomedValue

INPUTS = (
    InputEquality(name="batch", equal=True),
    InputEquality(name="state:adam", equal=False),
    InputEquality(name="state:sampler", equal=None),
    InputEquality(name="state:weights", equal=True),
)


class Step:
    """What one side has of a step."""

    def __init__(
        self,
        stages: Mapping[str, Any] | None = None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        self._stages = dict(stages or {})
        self._states = (before, after)

    def stage(self, name: str) -> Any:
        return self._stages.get(name)

    def state(self, *, after: bool) -> EncodedState | None:
        found = self._states[after]
        return None if found is None else encode_state(found)


def divergence(**changes: Any) -> Divergence:
    fields: dict[str, Any] = {"kind": "output", "step": 7, "last_equal_step": 6}
    return Divergence(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"stage": "gradient", "inputs": INPUTS}, Wanted("gradient", INPUTS)),
        (
            {"kind": "state", "state_after": Split(equal=("a",), differing=("adam", "b"))},
            Wanted(after=("adam", "b")),
        ),
        ({"kind": "undetermined", "stage": "gradient"}, Wanted("gradient")),
        ({"kind": "metric"}, Wanted()),
    ],
)
def test_what_is_looked_at(changes: Any, wanted: Wanted) -> None:
    """The diverging stage and what it was made of, or the state after the step."""
    assert wanted_of(divergence(**changes)) == wanted


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "structure"}, "the stages are not the same on both sides"),
        ({"kind": "length"}, "one run has ended there"),
        (
            {"kind": "metric", "state_after": Split(equal=("w",))},
            "no stage and no component differs there",
        ),
        (
            {"kind": "metric", "stages": Split(equal=("w",))},
            "no stage and no component differs there",
        ),
        ({"stage": "output:out/loss.csv"}, "a command is run as a whole"),
    ],
)
def test_where_no_array_diverges(changes: Any, reason: str) -> None:
    """Why there is nothing to look at is said instead."""
    found = wanted_of(divergence(**changes))
    assert isinstance(found, str)
    assert found.startswith(reason)


def test_components_that_are_not_known_to_be_equal_are_wanted() -> None:
    wanted = Wanted("gradient", INPUTS)
    assert wanted.before == ("adam", "sampler")
    assert (wanted.stages, wanted.input_stages) == (("gradient",), ("batch",))
    assert Wanted().stages == ()
    assert (Wanted().empty, wanted.empty, Wanted(after=("a",)).empty) == (True, False, False)


def test_what_diverged_comes_first() -> None:
    """Then inputs that are equal by the logs, then the components that differ, name by name."""
    left = Step({"gradient": np.zeros(3)}, {"adam.m": np.zeros(2), "adam.t": 5, "weights": 1})
    right = Step({"gradient": np.ones(3)}, {"adam.m": np.zeros(2), "adam.t": 0, "weights": 2})
    found = look(Wanted("gradient", INPUTS), 7, left, right)
    first, *others = found.arrays
    assert (first.name, first.role, first.equal) == ("gradient", "diverging", False)
    assert first.difference is not None
    assert (first.difference.kind, first.difference.step) == ("everything", 7)
    assert others == [
        ZoomedArray(name="batch", role="input", equal=True),
        ZoomedArray(name="state:weights", role="input", equal=True),
        ZoomedArray(name="state:adam.m", role="input", equal=True),
    ]
    assert found.values == [
        ZoomedValue(
            name="state:adam.t",
            role="input",
            difference=ValueDifference(pointer="", expected="5", observed="0"),
        )
    ]
    assert (found.lacking, found.left_out) == ([], 0)


def test_the_first_place_in_a_value_is_named() -> None:
    """A generator's state is a nested value; names and arrays of one side alone are told."""
    left = Step(after={"rng": {"inc": 3, "state": [1, 2]}, "w": np.zeros(1)})
    right = Step(after={"rng": {"inc": 3, "state": [1, 9]}, "w": 3, "new": 1})
    found = look(Wanted(after=("new", "rng", "w")), 7, left, right)
    assert found.arrays == [
        ZoomedArray(name="state:w", role="state-after", equal=False, missing="observed")
    ]
    assert [
        (one.name, one.difference.pointer, one.difference.observed) for one in found.values
    ] == [
        ("state:new", "", "1"),
        ("state:rng", "/state/1", "9"),
        ("state:w", "", "3"),
    ]
    mirrored = look(Wanted(after=("w",)), 7, right, left)
    assert mirrored.arrays[0].missing == "expected"


def test_what_a_side_lacks_is_named() -> None:
    """A stage that was not recorded, and a state that was not stored."""
    found = look(Wanted("gradient", INPUTS), 7, Step({"gradient": np.zeros(1)}), Step())
    assert found.lacking == ["gradient", "the state before the step"]
    assert look(Wanted(after=("w",)), 7, Step(), Step()).lacking == ["the state after the step"]


def test_so_many_are_told_and_the_rest_is_counted() -> None:
    many = {f"w.{k}": np.zeros(1) for k in range(MAX_ROWS + 3)}
    values = {f"v.{k}": k for k in range(MAX_ROWS + 2)}
    others = {name: value + 1 for name, value in (many | values).items()}
    found = look(Wanted(after=("v", "w")), 7, Step(after=many | values), Step(after=others))
    assert (len(found.arrays), len(found.values), found.left_out) == (MAX_ROWS, MAX_ROWS, 5)


def test_later_stages_of_the_step_are_seen_where_both_sides_have_them() -> None:
    """Floats that differ in a last bit, the choice made of them, and a stage that was not kept."""
    differing = Split(equal=("batch",), differing=("scores", "best", "weights"))
    wanted = wanted_of(divergence(stage="scores", stages=differing))
    assert wanted == Wanted("scores", later=("best", "weights"))
    left = Step({"scores": np.array([0.6, 0.5]), "best": np.array(0), "weights": np.ones(2)})
    right = Step({"scores": np.array([0.6, 0.75]), "best": np.array(1)})
    found = look(wanted, 7, left, right)
    assert [(row.name, row.role, row.equal) for row in found.arrays] == [
        ("scores", "diverging", False),
        ("best", "later", False),
    ]
    assert found.lacking == []
