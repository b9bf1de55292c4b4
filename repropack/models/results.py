"""The results: where each comparison parted from the reference, and how far."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import FailFast, Field

from repropack.models.base import (
    Count,
    Digest,
    Document,
    Model,
    Number,
    RecordedName,
    RunName,
    StageName,
    StepNumber,
)
from repropack.models.claims import MAX_CLAIMS, ClaimOutcome
from repropack.models.log import NamedDigest, StageInput
from repropack.models.plan import ExpectedDivergence

DivergenceKind = Literal["output", "state", "structure", "metric", "length", "undetermined"]
"""How two logs part (docs/format.md):

``output``        a stage differs while everything it was computed from is equal
``state``         a component differs: before the step, or after it with every stage equal
``structure``     other stages, in another order, or declared differently
``metric``        only a metric or its printed text differs
``length``        one log ends before the other
``undetermined``  a stage differs and some of its inputs were not recorded
"""


class Split(Model):
    """Names on either side of the question "equal?"."""

    equal: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()


class InputEquality(Model):
    """An input of the diverging stage; ``equal`` is null where it was not recorded."""

    name: StageInput
    equal: bool | None


class Divergence(Model):
    """The first place where two logs differ.

    Stages and metrics are those of ``step``; ``state_before`` and ``state_after`` are null where
    that state was not recorded. ``last_equal_step`` is the last step known to be equal, so that a
    difference lies in ``last_equal_step + 1 .. step``.
    """

    kind: DivergenceKind
    step: StepNumber
    last_equal_step: StepNumber
    stage: StageName | None = None
    inputs: tuple[InputEquality, ...] = ()
    stages: Split = Split()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    metrics: Split = Split()
    state_before: Split | None = None
    state_after: Split | None = None


class StepCount(Model):
    """At how many of the compared steps one stage or component differs, and first where."""

    name: StageName
    compared: Count
    differing: Count
    first_step: StepNumber | None = None


class Largest(Model):
    """A largest difference and the first step that attains it."""

    value: Number
    first_step: StepNumber


class KeptDifference(Model):
    """How far a kept stage parts, over all compared steps.

    ``largest_absolute`` in float64; ``largest_ulp`` in units in the last place, null for types
    without any. Both are null where no element differs in value, or none is comparable.
    """

    stage: RecordedName
    largest_absolute: Largest | None = None
    largest_ulp: Largest | None = None


class PrintedAgreement(Model):
    """At how many steps a metric prints the same text. Proves nothing; shown beside the exact."""

    metric: RecordedName
    compared: Count
    equal: Count


class FinalMetric(Model):
    """A metric at the last compared step, in full, in both runs."""

    metric: RecordedName
    reference: Number
    run: Number


class ComparisonOutcome(Model):
    """One comparison against the reference, from ``first_step`` to ``last_step``.

    ``start`` splits the components of the state before ``first_step``, after restore and reset;
    ``final_state`` those after the last step of both.
    """

    run: RunName
    first_step: StepNumber
    last_step: StepNumber
    identical: bool
    config_equal: bool
    constants: Split
    start: Split
    divergence: Divergence | None = None
    stages: tuple[StepCount, ...] = ()
    components: tuple[StepCount, ...] = ()
    kept: tuple[KeptDifference, ...] = ()
    printed: tuple[PrintedAgreement, ...] = ()
    final_metrics: tuple[FinalMetric, ...] = ()
    final_state: Split | None = None
    expected: Literal["identical"] | ExpectedDivergence | None = None
    held: bool | None = None


class ReferenceOutcome(Model):
    """How the reference ended.

    ``first_nan`` has the metrics that are not a number at some step, and the first such step;
    ``unchanged`` the components that are the same at the start and in every state recorded after
    it, sorted; none where no step was made.
    """

    last_step: StepNumber
    finish: str | None
    chain: Digest
    final_state: tuple[NamedDigest, ...] | None
    final_metrics: dict[RecordedName, Number]
    first_nan: dict[RecordedName, StepNumber] = Field(default_factory=dict)
    unchanged: tuple[RecordedName, ...] = ()


class Results(Document):
    """``results.json``: all of it follows from plan, logs, checkpoints and kept arrays."""

    schema_name: Literal["repropack/results/v1"] = Field(
        default="repropack/results/v1", alias="schema"
    )
    reference: ReferenceOutcome
    comparisons: Annotated[tuple[ComparisonOutcome, ...], FailFast()] = ()
    claims: Annotated[tuple[ClaimOutcome, ...], Field(max_length=MAX_CLAIMS)] = ()
