"""The plan: what is run, what is recorded, and what is compared with the reference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import FailFast, Field, StringConstraints

from repropack.models.base import (
    MAX_SAFE_INTEGER,
    MAX_STEPS,
    Document,
    JsonObject,
    Model,
    Name,
    RunName,
    StageName,
)

EntryPoint = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$",
        max_length=200,
    ),
]
PositiveInteger = Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER)]
Steps = Annotated[int, Field(ge=1, le=MAX_STEPS)]
Seed = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
PrintFormat = Annotated[
    str, StringConstraints(pattern=r"^[+ -]?[0-9]{0,2}(\.[0-9]{1,2})?[eEfFgG]$", max_length=8)
]
"""How a log would print a metric, in Python's format language, such as ``.4f``."""


class ExperimentPlan(Model):
    """The experiment: ``entry_point(config, seed)``, advanced ``steps`` times."""

    entry_point: EntryPoint
    config: JsonObject = Field(default_factory=dict)
    seed: Seed
    steps: Steps


class RecordPlan(Model):
    """What is recorded, in steps. Checkpoints are also made at the first state and at the end."""

    checkpoint_every: PositiveInteger | None = None
    stages_every: PositiveInteger = 1
    state_every: PositiveInteger = 1
    keep: tuple[StageName, ...] = ()
    printed: dict[Name, PrintFormat] = Field(default_factory=dict)


class ExpectedDivergence(Model):
    """Where a comparison is expected to part from the reference, and through which component."""

    diverges_at: PositiveInteger
    stage: StageName | None = None
    component: Name | None = None


class ComparisonPlan(Model):
    """A second run under one stated intervention.

    ``resume_at`` starts from the reference's checkpoint after that step; ``reset`` puts components
    back to their value at step 0; ``config`` overrides single values; ``hash_seed`` sets
    ``PYTHONHASHSEED`` of the process.
    """

    name: RunName
    resume_at: Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)] | None = None
    reset: tuple[Name, ...] = ()
    config: JsonObject = Field(default_factory=dict)
    hash_seed: Annotated[int, Field(ge=0, le=2**32 - 1)] | None = None
    expect: Literal["identical"] | ExpectedDivergence | None = None


class Plan(Document):
    """``plan.json``: experiment, recording and comparisons, the configuration in full.

    ``notebook`` says whether the package's notebook was executed when it was built.
    """

    schema_name: Literal["repropack/plan/v1"] = Field(default="repropack/plan/v1", alias="schema")
    experiment: ExperimentPlan
    record: RecordPlan
    comparisons: Annotated[tuple[ComparisonPlan, ...], FailFast()] = ()
    notebook: Literal["executed", "unexecuted"] = "executed"
