"""What is known of how two runs part: the one value that the rules of ``patterns`` look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repropack._compare.logs import STATE_PREFIX
from repropack._format.state import decode_value
from repropack.models.base import OUTPUT_PREFIX, Number
from repropack.models.differences import CHECKPOINT_PREFIX, KEPT_PREFIX, ArrayDifference
from repropack.models.package_difference import ReferenceDifference
from repropack.models.patterns import DrawDistance
from repropack.models.reports import RunVerification
from repropack.models.results import (
    Divergence,
    PrintedAgreement,
    Split,
    StepCount,
)
from repropack.models.run_difference import FormChange, RunCounts, RunDifference
from repropack.models.zoom import SandboxLevel, Zoom

LAST_BITS_ULP = 64
"""Up to so many units in the last place a difference counts as one of the last bits."""


@dataclass(frozen=True)
class Evidence:
    """Two runs held against each other. ``None`` and empty tuples mean that it is not known.

    Attributes:
        divergence: Where they part; ``None`` where every step is equal.
        first_step: The first step that was compared.
        resumed: Whether a run began from a stored state.
        left_resumed: Whether that is the left one alone.
        config_equal: Whether both ran with the same configuration.
        constants: Names of constants, equal and differing.
        start: Components of the state before ``first_step``.
        stages: At how many steps each stage differs, in order of execution.
        components: The same of each component of the state after a step.
        metrics: The same of each metric.
        printed: At how many steps each metric prints the same text.
        arrays: What is known of elements, from kept rows or checkpoints.
        draws: How far apart each generator of the state is.
        forms: Arrays of another type or shape in what both stored.
        zoom: The diverging step made again, and perhaps repeated.
        repeats: Whether a second run of the right side, made here, equals the first.
        reference: Where the reference parts, run again beside a run that was resumed.
        same_process_id: Whether both of these saw one process id, as every run does that has
            processes of its own: what is made of the id then repeats there, and nowhere else.
    """

    divergence: Divergence | None
    first_step: int
    resumed: bool = False
    left_resumed: bool = False
    config_equal: bool | None = None
    constants: Split | None = None
    start: Split | None = None
    stages: tuple[StepCount, ...] = ()
    components: tuple[StepCount, ...] = ()
    metrics: tuple[StepCount, ...] = ()
    printed: tuple[PrintedAgreement, ...] = ()
    arrays: tuple[ArrayDifference, ...] = ()
    draws: tuple[DrawDistance, ...] = ()
    forms: tuple[FormChange, ...] = ()
    zoom: Zoom | None = None
    repeats: bool | None = None
    reference: Divergence | None = None
    same_process_id: bool = False

    @property
    def in_first_step(self) -> bool:
        """Whether the divergence may lie in the first step that was compared."""
        found = self.divergence
        return found is not None and found.last_equal_step + 1 <= self.first_step

    @property
    def of_a_command(self) -> bool:
        """Whether it lies in an output of a command, whose order of writing is not known."""
        found = self.divergence
        return found is not None and (found.stage or "").startswith(OUTPUT_PREFIX)

    @property
    def start_differs(self) -> tuple[str, ...]:
        """Components that are not the same before the first compared step."""
        return self.start.differing if self.start is not None else ()

    @property
    def constants_differ(self) -> tuple[str, ...]:
        """Constants that are not the same."""
        return self.constants.differing if self.constants is not None else ()

    @property
    def made_otherwise(self) -> bool:
        """Whether what every step is made of differs: the configuration or a constant."""
        return self.config_equal is False or bool(self.constants_differ)

    @property
    def execution_order(self) -> tuple[str, ...]:
        """Stages in the order in which a step records them, as far as it is known."""
        if self.stages:
            return tuple(row.name for row in self.stages)
        found = self.divergence
        if found is None or found.stage is None:
            return ()
        return (found.stage, *(name for name in found.stages.differing if name != found.stage))

    @property
    def distances(self) -> tuple[DrawDistance, ...]:
        """How far generators are apart, as near to the divergence as it is known."""
        return self.zoom.draws if self.zoom is not None and self.zoom.draws else self.draws

    @property
    def elements(self) -> tuple[ArrayDifference, ...]:
        """Every array of which elements are known, by the name of its stage; zoomed ones first."""
        zoomed = self.zoom.arrays if self.zoom is not None else ()
        own = [
            row.difference.model_copy(update={"array": row.name})
            for row in zoomed
            if row.difference is not None
        ]
        stored = [
            array.model_copy(update={"array": array.array.removeprefix(KEPT_PREFIX)})
            for array in self.arrays
        ]
        return (*own, *stored)

    @property
    def stage_array(self) -> ArrayDifference | None:
        """The elements of the diverging stage at the diverging step, where they are known."""
        found = self.divergence
        if found is None or found.stage is None:
            return None
        for array in self.elements:
            if array.step == found.step and array.array == found.stage:
                return array
        return None

    @property
    def diverging_arrays(self) -> tuple[ArrayDifference, ...]:
        """The diverging stage's array, or those of the state where no stage differs."""
        found, own = self.divergence, self.stage_array
        if own is not None:
            return (own,)
        if found is None or found.kind != "state" or found.stage is not None:
            return ()
        return tuple(
            array
            for array in self.elements
            if array.step == found.step
            and array.array.startswith((STATE_PREFIX, CHECKPOINT_PREFIX))
        )


def evidence_of_run(
    run: RunVerification, reference: Divergence | None = None, level: SandboxLevel | None = None
) -> Evidence:
    """What verifying one run found; the recorded run is on the left, ``level`` is the right's."""
    return Evidence(
        divergence=_where(run.divergence, run.zoom),
        first_step=run.first_step,
        resumed=run.first_step > 1,
        config_equal=run.config_equal,
        constants=run.constants,
        start=run.start,
        stages=run.stages,
        components=run.components,
        printed=run.printed,
        arrays=(*run.decided, *run.arrays),
        draws=run.draws,
        zoom=run.zoom,
        repeats=run.repeats,
        reference=reference,
        same_process_id=level == "bubblewrap",
    )


def evidence_of_difference(difference: RunDifference) -> Evidence:
    """What ``diff`` found of two runs."""
    counts = difference.counts or RunCounts(compared=0, differing=0)
    begins = [side.first_step or 1 for side in (difference.left, difference.right)]
    return Evidence(
        divergence=_where(difference.divergence, difference.zoom),
        first_step=difference.first_step or max(begins),
        resumed=max(begins) > 1,
        left_resumed=begins[0] > begins[1],
        config_equal=difference.configurations_equal,
        constants=difference.constants,
        start=difference.start,
        stages=counts.stages,
        components=counts.components,
        metrics=counts.metrics,
        printed=counts.printed,
        arrays=difference.decided,
        draws=difference.draws,
        forms=difference.forms,
        zoom=difference.zoom,
    )


def evidence_of_references(difference: ReferenceDifference, zoom: Zoom | None = None) -> Evidence:
    """What ``diff`` found of the references of two packages; both began at their beginning."""
    counts = difference.counts or RunCounts(compared=0, differing=0)
    return Evidence(
        divergence=_where(difference.divergence, zoom),
        first_step=1,
        config_equal=difference.config_equal,
        constants=difference.constants,
        start=difference.start,
        stages=counts.stages,
        components=counts.components,
        metrics=counts.metrics,
        printed=counts.printed,
        zoom=zoom,
    )


def _where(recorded: Divergence | None, zoom: Zoom | None) -> Divergence | None:
    """Where two runs part; making steps again may show an earlier place than the logs."""
    return recorded if zoom is None or zoom.divergence is None else zoom.divergence


def blamed_components(divergence: Divergence) -> tuple[str, ...]:
    """Components that differ: those that the stage was made of, else those of the whole state."""
    if divergence.stage is not None:
        return tuple(
            item.name.removeprefix(STATE_PREFIX)
            for item in divergence.inputs
            if item.equal is False and item.name.startswith(STATE_PREFIX)
        )
    split = divergence.state_after
    return split.differing if split is not None else ()


def plain_number(value: Number | None) -> float | None:
    """A distance of a report as a number, however large."""
    if value is None:
        return None
    decoded = decode_value("distance", value) if isinstance(value, Mapping) else value
    return float(decoded)
