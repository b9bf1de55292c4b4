"""The lines of a fingerprint log: one header, one start line, then one line a step."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repropack.models.base import (
    Digest,
    Document,
    Model,
    Name,
    Number,
    RecordedName,
    RunName,
    StageName,
    StepNumber,
)

StageInput = Annotated[str, Field(min_length=1, max_length=220)]
"""A stage of the same step, or ``state:<component>`` of the state before it."""
Declaration = tuple[StageName, tuple[StageInput, ...] | None]
"""A stage and what it is made of; ``null`` means all earlier stages and the whole state."""
NamedDigest = tuple[Name, Digest]
StageDigest = tuple[StageName, Digest]
Printed = Annotated[str, Field(max_length=512)]


class HeaderLine(Document):
    """First line: which run this is and what it ran with; outside the chain."""

    schema_name: Literal["repropack/fingerprint-log/v1"] = Field(
        default="repropack/fingerprint-log/v1", alias="schema"
    )
    run: RunName
    config: Digest
    constants: tuple[NamedDigest, ...]
    first_step: Annotated[int, Field(ge=1)]
    stages: tuple[Declaration, ...]


class StartLine(Model):
    """Second line: the state before the first step, after restore and reset.

    ``chain`` is what the first step's chain continues: the fresh start, or the checkpoint's.
    """

    chain: Digest
    state: tuple[NamedDigest, ...]


class StepLine(Model):
    """One step. A member that was not recorded is absent from the stored line.

    ``stages`` in order of execution; ``state`` after the step, sorted by component; ``declares``
    stages that the header does not declare or declares differently; ``finish`` the reason for
    which the experiment ended the run.
    """

    chain: Digest
    step: StepNumber
    stages: tuple[StageDigest, ...] | None = None
    state: tuple[NamedDigest, ...] | None = None
    metrics: dict[RecordedName, Number]
    printed: dict[RecordedName, Printed]
    declares: tuple[Declaration, ...] | None = None
    finish: Annotated[str, Field(min_length=1, max_length=400)] | None = None
