"""The step at which two runs part, array by array: what diverged, and what it was made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy.typing as npt

from repropack._compare.arrays import describe_difference, same_bytes
from repropack._compare.contents import first_unequal_value
from repropack._compare.logs import STATE_PREFIX
from repropack._format.state import EncodedState, component_of
from repropack.models.base import OUTPUT_PREFIX
from repropack.models.results import Divergence, InputEquality
from repropack.models.zoom import ZoomedArray, ZoomedValue, ZoomRole

Array = npt.NDArray[Any]
MAX_ROWS = 100
"""Arrays and values of a state that are told of."""
MAX_LATER = 8
"""Stages after the diverging one that are told of."""


class StepArrays(Protocol):
    """What one side has of a step; ``None`` where it has it not."""

    def stage(self, name: str) -> Array | None:
        """A stage of the step."""

    def state(self, *, after: bool) -> EncodedState | None:
        """The state before the step, or after it."""


@dataclass(frozen=True)
class Wanted:
    """What is to be looked at.

    Attributes:
        stage: The diverging stage.
        inputs: What it was made of, with whether the logs say that it is equal.
        after: Components of the state after the step that differ, where no stage does.
        later: Stages after the diverging one that differ in the same step.

    It is empty where a metric alone was recorded of the step: what diverged can only be found by
    making the step again.
    """

    stage: str | None = None
    inputs: tuple[InputEquality, ...] = ()
    after: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it is not known yet what to look at."""
        return self.stage is None and not self.after

    @property
    def stages(self) -> tuple[str, ...]:
        """The diverging stage, where one is."""
        return () if self.stage is None else (self.stage,)

    @property
    def input_stages(self) -> tuple[str, ...]:
        """Stages that the diverging one was made of."""
        names = (item.name for item in self.inputs)
        return tuple(name for name in names if not name.startswith(STATE_PREFIX))

    @property
    def before(self) -> tuple[str, ...]:
        """Components of the state before the step that are not known to be equal."""
        return tuple(
            item.name.removeprefix(STATE_PREFIX)
            for item in self.inputs
            if item.name.startswith(STATE_PREFIX) and item.equal is not True
        )


def wanted_of(divergence: Divergence) -> Wanted | str:
    """What to look at where two logs part.

    Args:
        divergence: The first place where they differ.

    Returns:
        It, or why there is no array to look at.
    """
    if divergence.kind == "structure":
        return "the stages are not the same on both sides, so that there is no pair of arrays"
    if divergence.kind == "length":
        return "one run has ended there, so that there is nothing to compare"
    if divergence.kind == "metric":
        unrecorded = divergence.state_after is None and not divergence.stages.equal
        return Wanted() if unrecorded else METRIC_ALONE
    if divergence.stage is not None and divergence.stage.startswith(OUTPUT_PREFIX):
        return "a command is run as a whole; its outputs are compared by what they hold"
    if divergence.stage is not None:
        later = tuple(name for name in divergence.stages.differing if name != divergence.stage)
        return Wanted(divergence.stage, divergence.inputs, later=later[:MAX_LATER])
    after = divergence.state_after.differing if divergence.state_after is not None else ()
    return Wanted(after=after)


METRIC_ALONE = "no stage and no component differs there; both numbers stand in the logs"


@dataclass
class Looked:
    """What two sides have of it."""

    arrays: list[ZoomedArray] = field(default_factory=list)
    values: list[ZoomedValue] = field(default_factory=list)
    left_out: int = 0
    lacking: list[str] = field(default_factory=list)


def look(wanted: Wanted, step: int, expected: StepArrays, observed: StepArrays) -> Looked:
    """Compare what was wanted of a step.

    Args:
        wanted: What to look at.
        step: The step.
        expected: One side.
        observed: The other.

    Returns:
        What diverged first, then its inputs, then later stages where both sides have them. Inputs
        that the logs say are equal are not read.
    """
    found = Looked()
    if wanted.stage is not None:
        left, right = expected.stage(wanted.stage), observed.stage(wanted.stage)
        if left is None or right is None:
            found.lacking.append(wanted.stage)
        else:
            found.arrays.append(_array(wanted.stage, "diverging", step, left, right))
    for item in wanted.inputs:
        if item.equal is True:
            found.arrays.append(ZoomedArray(name=item.name, role="input", equal=True))
    for components, after in ((wanted.before, False), (wanted.after, True)):
        if components:
            _look_at_state(found, components, step, (expected, observed), after=after)
    for name in wanted.later:
        left, right = expected.stage(name), observed.stage(name)
        if left is not None and right is not None:
            found.arrays.append(_array(name, "later", step, left, right))
    return found


def _look_at_state(
    found: Looked,
    components: tuple[str, ...],
    step: int,
    sides: tuple[StepArrays, StepArrays],
    *,
    after: bool,
) -> None:
    """Compare the components of the state before or after a step, name by name."""
    left, right = (side.state(after=after) for side in sides)
    if left is None or right is None:
        found.lacking.append(f"the state {'after' if after else 'before'} the step")
        return
    role: ZoomRole = "state-after" if after else "input"
    for name in _names(left.arrays, right.arrays, components):
        one, two = left.arrays.get(name), right.arrays.get(name)
        shown = f"{STATE_PREFIX}{name}"
        if one is None or two is None:
            missing = "expected" if one is None else "observed"
            row = ZoomedArray.model_validate(
                {"name": shown, "role": role, "equal": False, "missing": missing}
            )
        else:
            row = _array(shown, role, step, one, two)
        if len(found.arrays) < MAX_ROWS:
            found.arrays.append(row)
        else:
            found.left_out += 1
    for value in _values(left, right, components, role):
        if len(found.values) < MAX_ROWS:
            found.values.append(value)
        else:
            found.left_out += 1


def _names(left: Any, right: Any, components: tuple[str, ...]) -> list[str]:
    return [name for name in sorted({*left, *right}) if component_of(name) in components]


def _array(name: str, role: ZoomRole, step: int, left: Array, right: Array) -> ZoomedArray:
    if same_bytes(left, right):
        return ZoomedArray(name=name, role=role, equal=True)
    difference = describe_difference(name, step, left, right)
    return ZoomedArray(name=name, role=role, equal=False, difference=difference)


def _values(
    left: EncodedState, right: EncodedState, components: tuple[str, ...], role: ZoomRole
) -> Iterator[ZoomedValue]:
    for name in _names(left.values, right.values, components):
        one, two = (
            {name: side.values[name]} if name in side.values else {} for side in (left, right)
        )
        difference = first_unequal_value(one, two)
        if difference is not None:
            pointer = difference.pointer.removeprefix(f"/{name}")
            difference = difference.model_copy(update={"pointer": pointer})
            yield ZoomedValue(name=f"{STATE_PREFIX}{name}", role=role, difference=difference)
