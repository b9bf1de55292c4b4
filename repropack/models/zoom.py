"""What was seen in one step that was made again: its arrays, and how stable they are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repropack.models.base import Count, Model, RunName, StepNumber
from repropack.models.differences import ArrayDifference, ValueDifference
from repropack.models.log import StageInput
from repropack.models.patterns import DrawDistance
from repropack.models.results import Divergence

ZoomOrigin = Literal["stored", "replay"]
"""Where the arrays of a side come from: a package or a run holds them; the step was made again."""

SandboxLevel = Literal["bubblewrap", "landlock", "none"]
ZoomSideName = Literal["expected", "observed"]

ZoomRole = Literal["diverging", "input", "state-after", "later"]
"""What diverged, what it was made of, the state after the step where no stage differs, or a stage
of the same step that differs after the one that diverged."""


class ZoomSide(Model):
    """Where one side's arrays come from.

    ``from_checkpoint`` is the step after which the replay began, null where nothing was replayed;
    0 is the first state. ``reproduced`` says whether the replay gave the recorded fingerprints of
    the step: where it is false, elements are of the replay and not of the record. It is null where
    nothing was replayed, for what is stored has its recorded fingerprint.
    """

    run: RunName
    origin: ZoomOrigin
    from_checkpoint: StepNumber | None = None
    reproduced: bool | None = None


class RanCode(Model):
    """A package whose code was run to look at a step, and how it was confined.

    ``sides`` are those that lie in it. ``reason`` says why the level is ``none``: the source is one
    that repropack ships, or the caller trusts this very package by its digest.
    """

    sides: Annotated[tuple[ZoomSideName, ...], Field(min_length=1, max_length=2)]
    level: SandboxLevel
    reason: Literal["shipped-source", "trusted"] | None = None


class ZoomedArray(Model):
    """One array of the step in both runs.

    ``name`` is a stage, or ``state:`` and the name of a state's array. ``difference`` is null where
    the arrays are equal, and where ``missing`` says which side has none.
    """

    name: str
    role: ZoomRole
    equal: bool
    difference: ArrayDifference | None = None
    missing: ZoomSideName | None = None


class ZoomedValue(Model):
    """A value of the state that is no array, and the first place in it that differs."""

    name: str
    role: ZoomRole
    difference: ValueDifference


RepeatVariation = Literal["one-process", "fresh-processes", "threads", "hash-seed"]
"""What changes between repetitions of a step:

``one-process``      nothing: again and again in one process, the state restored each time
``fresh-processes``  the process
``threads``          how many threads numeric libraries may use, in a process of its own
``hash-seed``        Python's hash seed, in a process of its own
"""


class RepeatedResult(Model):
    """How many distinct results a stage or component had.

    ``as_first``: the first of them is the first result of all groups. ``as_recorded``: it has the
    fingerprint that is recorded of the step; null where none is. ``name`` is a stage, or ``state:``
    and a component of the state after the step.
    """

    name: StageInput
    distinct: Count
    as_first: bool
    as_recorded: bool | None = None


class RepeatedGroup(Model):
    """The step made ``times`` times under one variation; ``setting`` is that of threads or seed.

    In ``fresh-processes`` each time is in a process of its own, else all are in one.
    """

    variation: RepeatVariation
    setting: Count | None = None
    times: Count
    results: tuple[RepeatedResult, ...]


class Repetition(Model):
    """One run's step, made again and again from the same state and inputs.

    ``side`` says which of the two runs it is.

    ``name`` is what diverged: a stage, or ``state:`` and a component. Results are in order of
    execution, components after stages. ``problem`` says why a group is missing.
    """

    run: RunName
    side: ZoomSideName
    step: StepNumber
    name: StageInput
    groups: tuple[RepeatedGroup, ...] = ()
    problem: str | None = None

    def varies(self, variation: RepeatVariation) -> bool | None:
        """Whether what diverged had other results under a variation.

        What varies within a process as it is, or from one process to the next, says nothing of
        threads and hash seed.

        Returns:
            Whether its results are not all the same; of threads and hash seed, whether one is
            another than without. ``None`` where that was not tried, or cannot be told.
        """
        found = self._found(variation)
        if not found:
            return None
        if variation == "one-process":
            return found[0].distinct > 1
        if variation == "fresh-processes":
            return any(result.distinct > 1 or not result.as_first for result in found)
        if self.varies("one-process") or self.varies("fresh-processes"):
            return None
        return any(result.distinct > 1 or not result.as_first for result in found)

    def _found(self, variation: RepeatVariation) -> list[RepeatedResult]:
        return [
            result
            for group in self.groups
            if group.variation == variation
            for result in group.results
            if result.name == self.name
        ]


class Zoom(Model):
    """The elements of the step at which two runs part.

    ``name`` is the diverging stage, or null where the state alone differs. ``divergence`` is given
    where steps between were not recorded and making them again showed that the runs part earlier
    than recorded; ``step`` is that step. ``arrays`` begin with what diverged, then what it was made
    of, then later stages of the step; ``values`` are those of the state that are no arrays and
    differ; ``left_out`` counts what is not told of both. ``draws`` says how far the generators are
    apart before the step, or, where they are equal there, after it. ``ran`` tells what code was run
    for this, also where it gave no array and to repeat the step; empty where nothing was, and in a
    verification, whose report says it. ``problem`` says why there are no arrays, or not all.
    """

    step: StepNumber
    name: str | None = None
    divergence: Divergence | None = None
    expected: ZoomSide | None = None
    observed: ZoomSide | None = None
    arrays: tuple[ZoomedArray, ...] = ()
    values: tuple[ZoomedValue, ...] = ()
    left_out: Count = 0
    draws: tuple[DrawDistance, ...] = ()
    repetition: Repetition | None = None
    ran: tuple[RanCode, ...] = ()
    problem: str | None = None
