"""Two logs held against each other to their ends: where they part, how far, and if they meet again.

``logs`` finds the divergence; here is counted what comes of it. Memory does not grow with the logs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from repropack._compare.logs import (
    STATE_PREFIX,
    LogComparison,
    LogView,
    PrintedTally,
    StepPair,
    Tallies,
    as_stored,
    declared_in,
)
from repropack.models.log import StepLine
from repropack.models.results import Divergence
from repropack.models.run_difference import (
    RunCounts,
    Stretch,
    StructureDifference,
    WhyIncomparable,
)

MAX_NAMES = 1000
"""Stages, components and metrics that are counted; a log may have new ones at each step."""
_MAX_TOLD = 8
_MAX_SETTLING = 1000
"""Steps behind the divergence that are read where no name was on both sides so far."""


@dataclass
class RunWalk:
    """What comparing two logs finds, complete once ``walk`` has returned.

    Args:
        left: One side, from ``first_step`` on.
        right: The other.
        first_step: The first step that both have.
        known_equal: The last step before it known to be equal; the one before it where ``None``.

    Attributes:
        recorded_alike: Whether no step has stages or a state on one side only.
        chains_equal: Whether the chains are equal at the last step that was compared.
        last_step: The last step that was compared; the one before the first where none was.
    """

    left: LogView
    right: LogView
    first_step: int
    known_equal: int | None = None
    recorded_alike: bool = True
    chains_equal: bool = True
    last_step: int = 0
    _together: bool = False
    _compared: int = 0
    _differing: int = 0
    _unrecorded: int = 0
    _names: _Names = field(init=False)
    _structure: _Structure = field(init=False)
    _stretches: _Stretches = field(init=False)
    _metrics: Tallies = field(default_factory=lambda: Tallies(MAX_NAMES))
    _printed: PrintedTally = field(default_factory=lambda: PrintedTally(max_names=MAX_NAMES))
    _walk: LogComparison = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing found."""
        self._names, self._stretches = _Names(), _Stretches()
        self._structure = _Structure(self.left, self.right)
        self._walk = LogComparison(
            self.left,
            self.right,
            self.first_step,
            known_equal=self.known_equal,
            max_names=MAX_NAMES,
        )

    def walk(self, *, to_the_end: bool = True) -> None:
        """Read both logs side by side.

        Args:
            to_the_end: Whether to go on behind the divergence; there is nothing to count otherwise.
        """
        for pair in self._walk.pairs():
            self._add(pair)
            self.chains_equal = pair.left.chain == pair.right.chain
            if self.divergence is not None and not to_the_end and self._known_to_be_kin(pair):
                break
        self.last_step = self._walk.last_step

    def _known_to_be_kin(self, pair: StepPair) -> bool:
        """Whether a name is on both sides; where lines say too little, the next ones may."""
        step = pair.left.step if self.divergence is None else self.divergence.step
        return self._names.common or pair.left.step - step >= _MAX_SETTLING

    @property
    def divergence(self) -> Divergence | None:
        """The first place where they differ."""
        return self._walk.divergence

    @property
    def structure(self) -> StructureDifference | None:
        """Where the stages are first not the same."""
        return self._structure.found()

    def counts(self) -> RunCounts:
        """How much differs, in all that was walked."""
        meets_again, between = self._stretches.ended(self.last_step)
        return RunCounts(
            compared=self._compared,
            differing=self._differing,
            unrecorded=self._unrecorded,
            stages=self._walk.stage_counts(),
            components=self._walk.component_counts(),
            metrics=self._metrics.counts(in_order=True),
            printed=self._printed.agreement(),
            names_left_out=self._walk.names_left_out or self._metrics.left_out,
            meets_again=meets_again,
            equal_between=between,
        )

    def reasons(self) -> tuple[WhyIncomparable, ...]:
        """Why nothing follows from what was walked; empty where something does."""
        names = self._names
        if names.left and names.right and not names.common:
            left, right = (tuple(known)[:_MAX_TOLD] for known in (names.left, names.right))
            return (WhyIncomparable(reason="no-name-in-common", left=left, right=right),)
        telling = self.divergence is not None and self.divergence.kind != "length"
        if not self._together and not self.recorded_alike and not telling:
            return (WhyIncomparable(reason="never-recorded-together", left=(), right=()),)
        return ()

    def _add(self, pair: StepPair) -> None:
        left, right = pair.left, pair.right
        both_stages = left.stages is not None and right.stages is not None
        both = both_stages or pair.state is not None
        self._together = self._together or both
        self._unrecorded += not both
        self._compared += 1
        self._note_recording(left, right)
        self._names.add(left, right)
        differs = self._structure.add(left, right) if both_stages else False
        self._printed.add(pair)
        differs = self._tally_metrics(left, right) or differs or left.finish != right.finish
        differs = differs or bool(pair.differing_stages)
        differs = differs or (pair.state is not None and bool(pair.state.differing))
        self._differing += differs
        if self.divergence is not None:
            self._stretches.add(pair, differs=differs, both_stages=both_stages)
        elif pair.state is not None:
            self._stretches.with_state = True

    def _note_recording(self, left: StepLine, right: StepLine) -> None:
        if (left.stages is None) != (right.stages is None):
            self.recorded_alike = False
        if (left.state is None) != (right.state is None):
            self.recorded_alike = False

    def _tally_metrics(self, left: StepLine, right: StepLine) -> bool:
        """Count metrics; whether one of them, or a printed text, differs."""
        differ = False
        for name in dict.fromkeys((*left.metrics, *right.metrics)):
            differs = left is not right and _metric(left, name) != _metric(right, name)
            self._metrics.add(name, left.step, differs=differs)
            differ = differ or differs
        return differ or left.printed != right.printed


def _metric(line: StepLine, name: str) -> str:
    """A metric's number and text, as they are stored."""
    return as_stored(line.metrics.get(name), line.printed.get(name))


@dataclass
class _Names:
    """Whether any name is on both sides, at whatever step, and the names of each."""

    left: dict[str, None] = field(default_factory=dict)
    right: dict[str, None] = field(default_factory=dict)
    common: bool = False

    def add(self, left: StepLine, right: StepLine) -> None:
        if self.common:
            return
        for known, line in ((self.left, left), (self.right, right)):
            if len(known) < MAX_NAMES:
                known.update(dict.fromkeys(name for name, _ in line.stages or ()))
                known.update(dict.fromkeys(f"{STATE_PREFIX}{name}" for name, _ in line.state or ()))
        self.common = not self.left.keys().isdisjoint(self.right)


@dataclass
class _Structure:
    """The stages of each step: missing, extra, in another order, or made of other inputs."""

    left: LogView
    right: LogView
    _steps: int = 0
    _first: StructureDifference | None = None

    def add(self, left: StepLine, right: StepLine) -> bool:
        """Compare one step; whether its stages are not the same."""
        lefts, rights = _names_of(left), _names_of(right)
        redeclared = self._redeclared(left, right, lefts)
        if lefts == rights and not redeclared:
            return False
        self._steps += 1
        if self._first is None:
            self._first = _structure(left.step, lefts, rights, redeclared)
        return True

    def found(self) -> StructureDifference | None:
        return (
            None if self._first is None else self._first.model_copy(update={"steps": self._steps})
        )

    def _redeclared(
        self, left: StepLine, right: StepLine, names: tuple[str, ...]
    ) -> tuple[str, ...]:
        if left.declares == right.declares and self.left.declared == self.right.declared:
            return ()
        lefts, rights = declared_in(self.left, left), declared_in(self.right, right)
        others = {name for name, _ in right.stages or ()}
        return tuple(
            name for name in names if name in others and lefts.get(name) != rights.get(name)
        )


def _names_of(line: StepLine) -> tuple[str, ...]:
    return tuple(name for name, _ in line.stages or ())


def _structure(
    step: int, lefts: tuple[str, ...], rights: tuple[str, ...], redeclared: tuple[str, ...]
) -> StructureDifference:
    known, others = set(lefts), set(rights)
    common_left = [name for name in lefts if name in others]
    common_right = [name for name in rights if name in known]
    pairs = zip(common_left, common_right, strict=True)
    return StructureDifference(
        step=step,
        missing=tuple(name for name in lefts if name not in others),
        extra=tuple(name for name in rights if name not in known),
        reordered=tuple(right for left, right in pairs if left != right),
        redeclared=redeclared,
        steps=1,
    )


@dataclass
class _Stretches:
    """Equal steps after the divergence, one after the other."""

    with_state: bool = False
    _begin: int | None = None
    _longest: Stretch | None = None

    def add(self, pair: StepPair, *, differs: bool, both_stages: bool) -> None:
        self.with_state = self.with_state or pair.state is not None
        if differs:
            self._keep(pair.left.step - 1)
        elif self._begin is None and (
            pair.state is not None or (both_stages and not self.with_state)
        ):
            self._begin = pair.left.step

    def ended(self, last_step: int) -> tuple[Stretch | None, Stretch | None]:
        """The stretch that goes on to the end, and the longest that does not."""
        if self._begin is None:
            return None, self._longest
        return Stretch(first_step=self._begin, last_step=last_step), self._longest

    def _keep(self, last_step: int) -> None:
        if self._begin is None:
            return
        found = Stretch(first_step=self._begin, last_step=last_step)
        best = self._longest
        if best is None or _length(found) > _length(best):
            self._longest = found
        self._begin = None


def _length(stretch: Stretch) -> int:
    return stretch.last_step - stretch.first_step + 1
