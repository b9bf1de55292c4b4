"""What all documents share: strict frozen models, and the small types they are made of.

A JSON Schema is generated from every ``Document`` (``schemas/v1``). Patterns are written so that
jsonschema and pydantic agree on them; lengths close the gap left by ``$`` before a newline.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_SAFE_INTEGER = 2**53 - 1
"""Largest integer stored as a plain JSON number; beyond it ``{"$int": "..."}`` is used."""

MAX_STEPS = 999_999_999
"""Most steps of a run: a checkpoint's name has nine digits."""

NAME_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*$"
RECORDED_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*(#[1-9][0-9]*)?$"
OUTPUT_PREFIX = "output:"
STAGE_PATTERN = (
    r"^([A-Za-z0-9_][A-Za-z0-9_.+-]*(#[1-9][0-9]*)?"
    r"|output:[A-Za-z0-9_.%/-]+(:[A-Za-z0-9_.%-]*)?)$"
)

Digest = Annotated[
    str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$", min_length=71, max_length=71)
]
"""SHA-256 as ``sha256:`` and 64 lower-case hexadecimal digits."""

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN, min_length=1, max_length=200)]
"""Name of a state value, component, stage or metric as an author writes it."""

RecordedName = Annotated[
    str, StringConstraints(pattern=RECORDED_PATTERN, min_length=1, max_length=210)
]
"""Name of a stage that a step recorded; recorded again within the step it becomes ``name#2``."""

StageName = Annotated[str, StringConstraints(pattern=STAGE_PATTERN, min_length=1, max_length=1000)]
"""A stage: a recorded one, or an output of a command, ``output:<path>`` or, of an array in it,
``output:<path>:<array>``, both percent-encoded."""

RunName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
"""Name of a run: the reference's is ``reference``, every other is its comparison's."""

Count = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
StepNumber = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
"""A step, numbered from 1; 0 is the state before the first."""

JsonObject = dict[str, Any]
Number = int | float | dict[str, str]
"""A number in a document: plain, or ``{"$int": ...}`` or ``{"$float": ...}`` (docs/format.md)."""


class Model(BaseModel):
    """A frozen, strict, closed part of a document."""

    model_config = ConfigDict(
        frozen=True,
        defer_build=True,
        strict=True,
        extra="forbid",
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
    )


class Document(Model):
    """A document of its own: its first duty is to name its schema."""
