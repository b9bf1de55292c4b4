"""Compare two fingerprint logs step by step: the first divergence, and how often each part differs.

The finding is decided, not guessed: a stage that differs while everything it was computed from is
equal is an ``output`` divergence; one whose named component differs is a ``state`` divergence.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from repropack._format.canonical import encode_canonical
from repropack.models.log import HeaderLine, StartLine, StepLine
from repropack.models.results import (
    Divergence,
    DivergenceKind,
    InputEquality,
    PrintedAgreement,
    Split,
    StepCount,
)

STATE_PREFIX = "state:"
_Digests = Mapping[str, str]
_Declared = Mapping[str, tuple[str, ...] | None]


@dataclass(frozen=True)
class LogView:
    """One side of a comparison: the lines of a log from some step on.

    ``before`` is the recorded state before the first of ``steps``; ``None`` where unknown.
    ``declared`` are the header's declarations, in force in every line that has none of its own.
    """

    declared: dict[str, tuple[str, ...] | None]
    before: _Digests | None
    steps: Iterator[StepLine]


@dataclass(frozen=True)
class StepPair:
    """The same step of both logs, which of its stages differ, and the components after it.

    ``state`` is ``None`` where one of them did not record it.
    """

    left: StepLine
    right: StepLine
    differing_stages: frozenset[str]
    state: Split | None = None


def split(left: _Digests, right: _Digests) -> Split:
    """Sort names into equal and differing; a name that one side lacks differs."""
    equal: list[str] = []
    differing: list[str] = []
    for name in sorted({*left, *right}):
        (equal if left.get(name) == right.get(name) else differing).append(name)
    return Split(equal=tuple(equal), differing=tuple(differing))


def view_from(
    header: HeaderLine, start: StartLine, steps: Iterable[StepLine], first_step: int
) -> LogView:
    """View a log from ``first_step`` on, skipping what lies before.

    Args:
        header: The log's header.
        start: The log's start line.
        steps: Its steps in order: all of them, or from the one before ``first_step`` on.
        first_step: Where the view begins; not before the log's own first step.

    Returns:
        The view; its state is unknown where the step before was recorded without it.
    """
    before: tuple[tuple[str, str], ...] | None = start.state
    iterator = iter(steps)
    for line in iterator:
        if line.step >= first_step:
            iterator = chain((line,), iterator)
            break
        before = line.state
    return LogView(dict(header.stages), None if before is None else dict(before), iterator)


@dataclass(slots=True)
class _Tally:
    compared: int = 0
    differing: int = 0
    first: int | None = None


@dataclass
class Tallies:
    """At how many steps each name differs, in the order in which the names came.

    Attributes:
        max_names: How many names are counted; all where ``None``. Names come from logs, and a log
            may have new ones at every step.
        left_out: Whether there were more.
    """

    max_names: int | None = None
    left_out: bool = False
    _by_name: dict[str, _Tally] = field(default_factory=dict)

    def add(self, name: str, step: int, *, differs: bool) -> None:
        """Count one step at which both sides could have had ``name``."""
        tally = self._by_name.get(name)
        if tally is None:
            if self.max_names is not None and len(self._by_name) >= self.max_names:
                self.left_out = True
                return
            tally = self._by_name[name] = _Tally()
        tally.compared += 1
        if differs:
            tally.differing += 1
            tally.first = step if tally.first is None else tally.first

    def counts(self, *, in_order: bool = False) -> tuple[StepCount, ...]:
        """What was counted: as the names came, or sorted by name where ``in_order``."""
        names = sorted(self._by_name) if in_order else self._by_name
        return tuple(
            StepCount(
                name=name, compared=one.compared, differing=one.differing, first_step=one.first
            )
            for name, one in ((name, self._by_name[name]) for name in names)
        )


@dataclass
class LogComparison:
    """Walks two logs together. Consume ``pairs`` once; then the other attributes are final.

    Args:
        left: What is expected: the reference, or the recorded run.
        right: What is held against it.
        first_step: Where both views begin.
        known_equal: The last step before ``first_step`` known to be equal; the one before it where
            ``None``.
        max_names: How many stages, and how many components, are counted; all where ``None``.

    Attributes:
        divergence: The first place where they differ, or ``None``.
        last_step: The last step that both have.
    """

    left: LogView
    right: LogView
    first_step: int
    known_equal: int | None = None
    max_names: int | None = None
    divergence: Divergence | None = None
    last_step: int = 0
    last_equal: int = 0
    _stages: Tallies = field(init=False)
    _components: Tallies = field(init=False)

    def __post_init__(self) -> None:
        """Begin to count."""
        self._stages, self._components = Tallies(self.max_names), Tallies(self.max_names)

    def pairs(self) -> Iterator[StepPair]:
        """Every step that both logs have, in order.

        Yields:
            The pair, after it was compared.
        """
        self.last_step = self.last_equal = self.first_step - 1
        if self.known_equal is not None:
            self.last_equal = self.known_equal
        declared_alike = self.left.declared == self.right.declared
        before = None
        if self.left.before is not None and self.right.before is not None:
            before = split(self.left.before, self.right.before)
        while True:
            left, right = next(self.left.steps, None), next(self.right.steps, None)
            if left is None or right is None:
                self._note_length(left, right, before)
                return
            after = self._split_after(left, right)
            pair = StepPair(left, right, self._tally_stages(left, right), after)
            if self.divergence is None:
                if left is not right or not declared_alike:  # one line read from both is equal
                    declared = declared_in(self.left, left), declared_in(self.right, right)
                    walk = _StepWalk(left, right, *declared, before, after)
                    self.divergence = walk.divergence(self.last_equal)
                if self.divergence is None and after is not None:
                    self.last_equal = left.step
            before = after
            self.last_step = left.step
            yield pair

    def stage_counts(self) -> tuple[StepCount, ...]:
        """Of each stage, in order of first execution: steps compared and differing."""
        return self._stages.counts()

    def component_counts(self) -> tuple[StepCount, ...]:
        """Of each component, sorted: steps compared and differing, in the state after a step."""
        return self._components.counts(in_order=True)

    @property
    def names_left_out(self) -> bool:
        """Whether there were more names than are counted."""
        return self._stages.left_out or self._components.left_out

    def _split_after(self, left: StepLine, right: StepLine) -> Split | None:
        if left.state is None or right.state is None:
            return None
        after = split(dict(left.state), dict(right.state))
        for names, differs in ((after.equal, False), (after.differing, True)):
            for name in names:
                self._components.add(name, left.step, differs=differs)
        return after

    def _tally_stages(self, left: StepLine, right: StepLine) -> frozenset[str]:
        if left.stages is None or right.stages is None:
            return frozenset()
        lefts, rights = dict(left.stages), dict(right.stages)
        differing = []
        for name in {**lefts, **rights}:
            differs = lefts.get(name) != rights.get(name)
            self._stages.add(name, left.step, differs=differs)
            if differs:
                differing.append(name)
        return frozenset(differing)

    def _note_length(
        self, left: StepLine | None, right: StepLine | None, before: Split | None
    ) -> None:
        longer = left or right
        if longer is not None and self.divergence is None:
            self.divergence = Divergence(
                kind="length",
                step=longer.step,
                last_equal_step=self.last_equal,
                missing=(f"step {longer.step}",) if left is not None else (),
                unexpected=(f"step {longer.step}",) if right is not None else (),
                state_before=before,
            )


class PrintedTally:
    """At how many steps the two logs print the same text of each metric."""

    def __init__(
        self, metrics: Iterable[str] | None = None, *, max_names: int | None = None
    ) -> None:
        """Begin to count.

        Args:
            metrics: Those that are counted; all that both logs print where ``None``.
            max_names: How many metrics are counted; all where ``None``.
        """
        self._rows = {name: [0, 0] for name in metrics or ()}
        self._most = len(self._rows) if metrics is not None else max_names

    def add(self, pair: StepPair) -> None:
        """Count one step."""
        for name in pair.left.printed.keys() & pair.right.printed.keys():
            if name not in self._rows and self._most is not None and len(self._rows) >= self._most:
                continue
            row = self._rows.setdefault(name, [0, 0])
            row[0] += 1
            row[1] += pair.left.printed[name] == pair.right.printed[name]

    def agreement(self) -> tuple[PrintedAgreement, ...]:
        """The counts, sorted by metric."""
        return tuple(
            PrintedAgreement(metric=name, compared=compared, equal=equal)
            for name, (compared, equal) in sorted(self._rows.items())
        )


@dataclass(frozen=True)
class _StepWalk:
    """Finds the first difference inside one step."""

    left: StepLine
    right: StepLine
    declared_left: _Declared
    declared_right: _Declared
    before: Split | None
    after: Split | None

    def divergence(self, last_equal: int) -> Divergence | None:
        """The divergence of this step, or ``None`` where it is equal."""
        lefts, rights = self.left.stages or (), self.right.stages or ()
        if self.left.stages is not None and self.right.stages is not None:
            for position in range(max(len(lefts), len(rights))):
                found = self._at(position, lefts, rights, last_equal)
                if found is not None:
                    return found
        if self.after is not None and self.after.differing:
            return self._found("state", last_equal)
        if as_stored(self.left.metrics, self.left.printed) != as_stored(
            self.right.metrics, self.right.printed
        ):
            return self._found("metric", last_equal)
        if self.left.finish != self.right.finish:
            return self._found("length", last_equal)
        return None

    def _at(
        self,
        position: int,
        lefts: tuple[tuple[str, str], ...],
        rights: tuple[tuple[str, str], ...],
        last_equal: int,
    ) -> Divergence | None:
        left = lefts[position] if position < len(lefts) else None
        right = rights[position] if position < len(rights) else None
        stage = left[0] if left is not None else right[0] if right is not None else ""
        same_stage = left is not None and right is not None and left[0] == right[0]
        if not same_stage or self.declared_left.get(stage) != self.declared_right.get(stage):
            return self._found("structure", last_equal, stage)
        if left == right:
            return None
        inputs = self._inputs(stage, [name for name, _ in lefts[:position]])
        kind: DivergenceKind = "output"
        if any(item.equal is False for item in inputs):
            kind = "state"
        elif any(item.equal is None for item in inputs):
            kind = "undetermined"
        return self._found(kind, last_equal, stage, inputs)

    def _inputs(self, stage: str, earlier: list[str]) -> tuple[InputEquality, ...]:
        """Whether what ``stage`` was made of is equal; earlier stages are, or it were not first."""
        names = self.declared_left.get(stage)
        if names is None:
            state = () if self.before is None else (*self.before.equal, *self.before.differing)
            names = (*earlier, *(f"{STATE_PREFIX}{component}" for component in sorted(state)))
            if self.before is None:
                names = (*names, f"{STATE_PREFIX}*")
        known = dict.fromkeys(earlier, True)
        if self.before is not None:
            known |= {f"{STATE_PREFIX}{component}": True for component in self.before.equal}
            known |= {f"{STATE_PREFIX}{component}": False for component in self.before.differing}
        # nothing is known of what was not recorded under its name
        return tuple(InputEquality(name=name, equal=known.get(name)) for name in names)

    def _found(
        self,
        kind: DivergenceKind,
        last_equal: int,
        stage: str | None = None,
        inputs: tuple[InputEquality, ...] = (),
    ) -> Divergence:
        lefts, rights = dict(self.left.stages or ()), dict(self.right.stages or ())
        return Divergence(
            kind=kind,
            step=self.left.step,
            last_equal_step=last_equal,
            stage=stage,
            inputs=inputs,
            stages=_in_order(lefts, rights),
            missing=tuple(name for name in lefts if name not in rights),
            unexpected=tuple(name for name in rights if name not in lefts),
            metrics=split(
                {
                    name: as_stored(value, self.left.printed.get(name))
                    for name, value in self.left.metrics.items()
                },
                {
                    name: as_stored(value, self.right.printed.get(name))
                    for name, value in self.right.metrics.items()
                },
            ),
            state_before=self.before,
            state_after=self.after,
        )


def declared_in(view: LogView, line: StepLine) -> Mapping[str, tuple[str, ...] | None]:
    """The declarations in force in a line; no copy, for a header may hold thousands."""
    return ChainMap(dict(line.declares or ()), view.declared)


def _in_order(lefts: _Digests, rights: _Digests) -> Split:
    both = [name for name in lefts if name in rights]
    return Split(
        equal=tuple(name for name in both if lefts[name] == rights[name]),
        differing=tuple(name for name in both if lefts[name] != rights[name]),
    )


def as_stored(*values: object) -> str:
    """Values as canonical JSON. Compared as stored: -0.0 is not 0.0 and 1 is not 1.0."""
    return encode_canonical(list(values)).decode("utf-8")
