"""What ``diff`` reports of two runs: where the right one is another than the left one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Count, Digest, Document, Model, RunName, StageName, StepNumber
from repropack.models.differences import ArrayDifference
from repropack.models.patterns import DrawDistance, Pattern
from repropack.models.reports import Fault
from repropack.models.results import Divergence, PrintedAgreement, Split, StepCount
from repropack.models.zoom import Zoom

SideKind = Literal["log", "run"]
"""A fingerprint log on its own, or a run in a package."""

Incomparable = Literal["no-step-in-common", "no-name-in-common", "never-recorded-together"]
"""Why nothing can be said of two logs:

``no-step-in-common``        one ends before the other begins
``no-name-in-common``        neither a stage nor a component of one is in the other
``never-recorded-together``  there is no step of which both recorded stages, or both the state
"""


class RunSide(Model):
    """One of the two runs; what could not be read of it is null, and ``faults`` says why.

    ``path`` is that of the log or of the package, ``package_digest`` the package's. ``first_step``
    and ``last_step`` are those of the log; without a step the last lies before the first. ``chain``
    is that of the last step; ``finish`` the reason for which the experiment ended the run.
    """

    path: str
    kind: SideKind
    run: RunName | None = None
    package_digest: Digest | None = None
    first_step: StepNumber | None = None
    last_step: StepNumber | None = None
    chain: Digest | None = None
    finish: str | None = None
    faults: tuple[Fault, ...] = ()


class WhyIncomparable(Model):
    """A reason, with what each side has: its range of steps, or the first of its names."""

    reason: Incomparable
    left: tuple[str, ...]
    right: tuple[str, ...]


class StructureDifference(Model):
    """The first step at which the stages are not the same, and at how many steps they are not.

    ``missing`` are stages of the left alone, ``extra`` those of the right alone; ``reordered``
    those of both that stand at another place among the stages of both; ``redeclared`` those of both
    that are made of other inputs.
    """

    step: StepNumber
    missing: tuple[StageName, ...] = ()
    extra: tuple[StageName, ...] = ()
    reordered: tuple[StageName, ...] = ()
    redeclared: tuple[StageName, ...] = ()
    steps: Count


class FormChange(Model):
    """An array of another type or shape: a kept stage, or ``state:<name>`` of a stored state.

    ``left`` and ``right`` are such as ``<f4 (3, 2)``.
    """

    name: str
    left: str
    right: str


class Stretch(Model):
    """Steps one after the other, both ends included."""

    first_step: StepNumber
    last_step: StepNumber


class RunCounts(Model):
    """How far two runs part, over all steps that both have.

    A step differs where anything differs that both recorded of it; ``unrecorded`` counts the steps
    of which neither the stages nor the state were recorded by both. ``stages`` in order of first
    execution, ``components`` and ``metrics`` sorted; a metric differs where its number or its
    printed text does. ``names_left_out`` says whether a log had more names than are counted.

    ``meets_again`` are the steps after the divergence from which on everything is equal, to the
    last one that both have; ``equal_between`` the longest such stretch that ends before. A stretch
    begins with a step whose state was recorded by both, or its stages where no state ever was.
    """

    compared: Count
    differing: Count
    unrecorded: Count = 0
    stages: tuple[StepCount, ...] = ()
    components: tuple[StepCount, ...] = ()
    metrics: tuple[StepCount, ...] = ()
    printed: tuple[PrintedAgreement, ...] = ()
    names_left_out: bool = False
    meets_again: Stretch | None = None
    equal_between: Stretch | None = None


class RunDifference(Document):
    """What ``diff`` found of two runs, on the steps that both have: ``first_step..last_step``.

    ``identical`` means that every line of these steps is equal, and the states before them, the
    constants and the declared stages are. ``damaged`` means that a log cannot be trusted, and then
    nothing is compared. Where the runs are not ``comparable``, ``reasons`` says why, and nothing of
    what follows from comparing is told.

    ``chains_believed`` says that the divergence was searched for by the recorded chains, which were
    not computed again; then there are no ``counts``, and ``structure`` is told of the diverging
    step alone. ``start`` splits the components of the state before ``first_step``, null where a
    side did not record it; ``declared`` the stages of the headers, null where the runs begin at
    different steps. ``recorded_alike`` is false where a compared step has stages or a state on one
    side only. ``chains_equal`` says whether the chains are equal at the last of the steps, so that
    all that was recorded up to there is one history. ``configurations_equal`` is told and decides
    nothing. ``forms`` are told of runs in packages that part, by what both stored: at most 100.
    ``draws`` says how far the generators are apart in the first checkpoints that both have from the
    divergence on; ``decided`` how the first kept stage of integers or truth values that differs
    does, and the kept floats before it in its step. ``patterns`` are those that the evidence fits
    or excludes. ``zoom`` holds the elements of the diverging step, where it was asked for.
    """

    schema_name: Literal["repropack/run-difference/v1"] = Field(
        default="repropack/run-difference/v1", alias="schema"
    )
    verdict: Literal["identical", "differs", "damaged"]
    left: RunSide
    right: RunSide
    chains_believed: bool = False
    comparable: bool = True
    reasons: tuple[WhyIncomparable, ...] = ()
    first_step: StepNumber | None = None
    last_step: StepNumber | None = None
    configurations_equal: bool | None = None
    constants: Split = Split()
    start: Split | None = None
    declared: Split | None = None
    recorded_alike: bool | None = None
    chains_equal: bool | None = None
    divergence: Divergence | None = None
    structure: StructureDifference | None = None
    forms: tuple[FormChange, ...] = ()
    counts: RunCounts | None = None
    zoom: Zoom | None = None
    draws: tuple[DrawDistance, ...] = ()
    decided: tuple[ArrayDifference, ...] = ()
    patterns: tuple[Pattern, ...] = ()
