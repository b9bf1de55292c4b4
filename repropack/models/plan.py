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
    RecordedName,
    RunName,
    StageName,
)
from repropack.models.claims import MAX_CLAIMS, ClaimPlan

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
CommandWord = Annotated[
    str, StringConstraints(pattern=r"^[^\x00]*$", min_length=1, max_length=4000)
]
ImportFolder = Annotated[
    str, StringConstraints(pattern=r"^[^\x00*?\[]+$", min_length=1, max_length=400)
]
OutputPattern = Annotated[str, Field(min_length=1, max_length=400)]
MAX_PATTERNS, MAX_AFTER = 100, 20
"""A pattern of relative paths; ``**`` stands for any number of folders."""
VariableName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)
]
VariableValue = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=4000)]
PrintFormat = Annotated[
    str, StringConstraints(pattern=r"^[+ -]?[0-9]{0,2}(\.[0-9]{1,2})?[eEfFgG]$", max_length=8)
]
"""How a log would print a metric, in Python's format language, such as ``.4f``."""


class CommandPlan(Model):
    """A command that runs in a clean copy of source and inputs, and the files that it writes.

    In each word of ``command``, ``{seed}`` and ``{config.NAME}`` stand for those of the run; a
    first word ``python`` is the interpreter in use. ``outputs`` are patterns of paths.
    ``environment`` holds variables beside those that every run has.
    """

    command: tuple[CommandWord, ...] = Field(min_length=1, max_length=1000)
    outputs: Annotated[tuple[OutputPattern, ...], Field(max_length=MAX_PATTERNS)] = ()
    environment: dict[VariableName, VariableValue] = Field(default_factory=dict)
    timeout_seconds: PositiveInteger | None = None


class AuthoredExperiment(Model):
    """What an author says of the experiment; exactly one of ``entry_point`` and ``command``.

    ``import_from`` are folders of the source in which modules are looked for, as in its root.
    """

    entry_point: EntryPoint | None = None
    import_from: Annotated[tuple[ImportFolder, ...], Field(max_length=MAX_PATTERNS)] = ()
    command: Annotated[tuple[CommandWord, ...], Field(min_length=1, max_length=1000)] | None = None
    config: JsonObject = Field(default_factory=dict)
    outputs: Annotated[tuple[OutputPattern, ...], Field(max_length=MAX_PATTERNS)] = ()
    environment: dict[VariableName, VariableValue] = Field(default_factory=dict)
    timeout_seconds: PositiveInteger | None = None


class ExperimentPlan(AuthoredExperiment):
    """The experiment, in one of three forms.

    ``entry_point(config, seed)`` is advanced ``steps`` times. A command whose ``loop`` is true
    makes ``steps`` steps through ``repropack.attach``. Any other command is an experiment of one
    step, with an empty state, whose stages are its outputs.
    """

    loop: bool = False
    seed: Seed
    steps: Steps


class RecordPlan(Model):
    """What is recorded, in steps. Checkpoints are also made at the first state and at the end."""

    checkpoint_every: PositiveInteger | None = None
    stages_every: PositiveInteger = 1
    state_every: PositiveInteger = 1
    keep: tuple[RecordedName, ...] = ()
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
    """``plan.json``: experiment, recording, comparisons and claims, the configuration in full.

    The commands of ``after`` run on the finished runs, in order. ``notebook`` says whether the
    package's notebook was executed when it was built.
    """

    schema_name: Literal["repropack/plan/v1"] = Field(default="repropack/plan/v1", alias="schema")
    experiment: ExperimentPlan
    record: RecordPlan
    comparisons: Annotated[tuple[ComparisonPlan, ...], FailFast()] = ()
    after: Annotated[tuple[CommandPlan, ...], Field(max_length=MAX_AFTER)] = ()
    claims: Annotated[tuple[ClaimPlan, ...], Field(max_length=MAX_CLAIMS)] = ()
    notebook: Literal["executed", "unexecuted"] = "executed"
