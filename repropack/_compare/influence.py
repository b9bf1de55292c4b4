"""What follows in a run where a part of its state was put back: from which step, and how far.

A component that was put back differs itself, for a while or to the end. It matters where something
else differs: a stage, a metric, another component.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from repropack._compare.arrays import same_bytes
from repropack._compare.distances import absolute_difference, largest, largest_distance
from repropack._compare.evidence import Evidence
from repropack._compare.logs import LogComparison, LogView, StepPair, split, view_from
from repropack._compare.patterns import patterns_of
from repropack._compare.rows import RunEvidence
from repropack._format.canonical import encode_canonical
from repropack._format.state import EncodedState, component_of, decode_value, encode_value
from repropack.models.audit import FinalDistance
from repropack.models.patterns import DrawDistance, Pattern
from repropack.models.results import Divergence, FinalMetric, Split, StepCount

Ranges = tuple[tuple[int, int], ...]
_Entry = tuple[bytes | None, Mapping[str, np.ndarray[Any, Any]]]
"""A value that is no array as it is stored, and arrays by their full names."""


@dataclass
class Influence:
    """One run against another over the steps that both have.

    Attributes:
        start: The state before the first step.
        divergence: The first place where they differ, or ``None``.
        first_step: The first step in which something besides ``own`` differs.
        stages: Stages that differ in that step, in their order.
        components: Components besides ``own`` that differ after that step.
        metrics: Metrics that differ in that step.
        own_differs: Whether ``own`` differs in any state after a step.
        differing_steps: Steps in which something besides ``own`` differs, as ranges.
        compared: How many steps both have.
        constants: Names of constants, equal and differing.
        counts: At how many steps each stage differs, then each component.
        final_metrics: Metrics of the last step of both.
    """

    start: Split
    own: frozenset[str] = frozenset()
    divergence: Divergence | None = None
    first_step: int | None = None
    stages: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    own_differs: bool = False
    compared: int = 0
    constants: Split = field(default_factory=Split)
    counts: tuple[tuple[StepCount, ...], tuple[StepCount, ...]] = ((), ())
    final_metrics: tuple[FinalMetric, ...] = ()
    _steps: list[list[int]] = field(default_factory=list)

    @property
    def differing_steps(self) -> Ranges:
        """Steps in which something besides ``own`` differs, as ranges."""
        return tuple((first, last) for first, last in self._steps)

    @property
    def identical(self) -> bool:
        """Whether nothing differs, the state before the first step included."""
        return self.divergence is None and not self.start.differing

    def add(self, pair: StepPair) -> None:
        """Look at one step of both."""
        stages = tuple(name for name, _ in _stages(pair) if name in pair.differing_stages)
        states = {} if pair.left.state is None else dict(pair.left.state)
        others = {} if pair.right.state is None else dict(pair.right.state)
        differing = split(states, others).differing if states or others else ()
        components = tuple(name for name in differing if name not in self.own)
        self.own_differs |= len(components) < len(differing)
        metrics = tuple(
            name
            for name in sorted({*pair.left.metrics, *pair.right.metrics})
            if _metric(pair.left.metrics, name) != _metric(pair.right.metrics, name)
        )
        self.compared += 1
        if not (stages or components or metrics or pair.left.finish != pair.right.finish):
            return
        step = pair.left.step
        if self.first_step is None:
            self.first_step = step
            self.stages, self.components, self.metrics = stages, components, metrics
        if self._steps and self._steps[-1][1] == step - 1:
            self._steps[-1][1] = step
        else:
            self._steps.append([step, step])


def measure_influence(
    expected: RunEvidence, run: RunEvidence, own: Iterable[str] = ()
) -> Influence:
    """Hold a run against the one that it should be equal to.

    Args:
        expected: A run that begins no later.
        run: A run that resumes, or a whole one.
        own: Components that were put back in ``run`` and may differ by themselves.

    Returns:
        What differs besides them, and from which step.
    """
    first = run.header.first_step
    left = view_from(expected.header, expected.start, expected.steps(first - 1), first)
    right = LogView(dict(run.header.stages), dict(run.start.state), run.steps())
    found = Influence(split(left.before or {}, right.before or {}), frozenset(own))
    walk = LogComparison(left, right, first)
    last: StepPair | None = None
    for last in walk.pairs():
        found.add(last)
    found.divergence = walk.divergence
    found.constants = split(dict(expected.header.constants), dict(run.header.constants))
    found.counts = walk.stage_counts(), walk.component_counts()
    ended = walk.divergence is not None and walk.divergence.kind == "length"
    if ended and walk.divergence is not None and found.first_step is None:
        found.first_step = walk.divergence.step
    if last is not None:
        found.final_metrics = tuple(
            FinalMetric(metric=name, reference=value, run=last.right.metrics[name])
            for name, value in sorted(last.left.metrics.items())
            if name in last.right.metrics
        )
    return found


def patterns_between(
    found: Influence,
    first_step: int,
    draws: tuple[DrawDistance, ...] = (),
    *,
    repeats: bool | None = None,
    reference: Divergence | None = None,
) -> tuple[Pattern, ...]:
    """Which patterns the evidence of two runs fits or excludes.

    Args:
        found: What was measured of them.
        first_step: The first step of the second, which resumes where that is not 1.
        draws: How far the generators of their last states are apart.
        repeats: Whether a run like the second equals it.
        reference: Where a second run from the beginning parts from the first, if it does.

    Returns:
        Those that fit first; none where the runs are equal.
    """
    stages, components = found.counts
    return patterns_of(
        Evidence(
            divergence=found.divergence,
            first_step=first_step,
            resumed=first_step > 1,
            config_equal=True,
            constants=found.constants,
            start=found.start,
            stages=stages,
            components=components,
            draws=draws,
            repeats=repeats,
            reference=reference,
        )
    )


def final_distances(expected: EncodedState, observed: EncodedState) -> tuple[FinalDistance, ...]:
    """How far two states part, by component.

    Args:
        expected: The state that was to be reached.
        observed: The one that was.

    Returns:
        One for each component that differs, sorted.
    """
    left, right = _entries(expected), _entries(observed)
    differing = [
        name for name in sorted({*left, *right}) if not _equal(left.get(name), right.get(name))
    ]
    by_component: dict[str, list[str]] = {}
    for name in differing:
        by_component.setdefault(component_of(name), []).append(name)
    return tuple(
        _distance(component, names, expected, observed) for component, names in by_component.items()
    )


def differing_values(left: EncodedState, right: EncodedState) -> tuple[str, ...]:
    """Names that both states have and whose values differ.

    Args:
        left: A state.
        right: Another.

    Returns:
        The names, sorted.
    """
    one, other = _entries(left), _entries(right)
    both = sorted(one.keys() & other.keys())
    return tuple(name for name in both if not _equal(one[name], other[name]))


def _distance(
    component: str, names: list[str], expected: EncodedState, observed: EncodedState
) -> FinalDistance:
    absolutes, ulps = [0.0], [0]
    for name in names:
        for left, right in _pairs(name, expected, observed):
            absolute = largest(absolute_difference(left, right))
            if absolute is not None:
                absolutes.append(float(decode_value("largest", absolute)))
            ulps.append(largest_distance(left, right))
    return FinalDistance(
        component=component,
        values=tuple(names),
        largest_absolute=encode_value("absolute", max(absolutes)) if max(absolutes) > 0 else None,
        largest_ulp=encode_value("ulp", max(ulps)) if max(ulps) > 0 else None,
    )


def _pairs(
    name: str, expected: EncodedState, observed: EncodedState
) -> Iterable[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Arrays and numbers of a name that can be measured against each other."""
    values = [state.values.get(name) for state in (expected, observed)]
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        if all(type(value) is kind for value in values):
            yield np.array(values[0], dtype), np.array(values[1], dtype)
            return
    if values[0] is not None:  # arrays in a value are states of generators, whose size says nothing
        return
    left, right = expected.arrays.get(name), observed.arrays.get(name)
    if left is None or right is None:
        return
    if (left.dtype, left.shape) == (right.dtype, right.shape):
        yield left, right


def _entries(state: EncodedState) -> dict[str, _Entry]:
    """Each value of a state with all its arrays, by name."""
    values = {name: encode_canonical(value) for name, value in state.values.items()}
    arrays: dict[str, dict[str, np.ndarray[Any, Any]]] = {name: {} for name in state.names()}
    for key, array in state.arrays.items():
        arrays[key.split("#", 1)[0]][key] = array
    return {name: (values.get(name), own) for name, own in arrays.items()}


def _equal(left: _Entry | None, right: _Entry | None) -> bool:
    if left is None or right is None or left[0] != right[0] or left[1].keys() != right[1].keys():
        return False
    return all(same_bytes(array, right[1][key]) for key, array in left[1].items())


def _stages(pair: StepPair) -> tuple[tuple[str, str], ...]:
    left, right = pair.left.stages or (), pair.right.stages or ()
    known = {name for name, _ in left}
    return (*left, *(row for row in right if row[0] not in known))


def _metric(metrics: Mapping[str, Any], name: str) -> bytes | None:
    return encode_canonical(metrics[name]) if name in metrics else None
