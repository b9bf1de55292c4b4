"""The JSON companion of a checkpoint's npz: everything of the state that is not array bytes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repropack.models.base import (
    Count,
    Digest,
    Document,
    JsonObject,
    Model,
    RecordedName,
    StepNumber,
)
from repropack.models.log import NamedDigest

ArrayType = Annotated[
    str, StringConstraints(pattern=r"^(\|[biu]1|<[iufc][0-9]{1,2})$", max_length=4)
]
"""NumPy type string of the little-endian form, such as ``<f4`` or ``|b1``."""
LogicalType = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$", max_length=32)]
CheckpointName = Annotated[str, StringConstraints(pattern=r"^step-[0-9]{9}$", max_length=14)]


class ArrayRow(Model):
    """One array. ``shape`` in elements; the reserved members are null in this release."""

    dtype: ArrayType
    shape: tuple[Count, ...]
    fingerprint: Digest
    logical_type: LogicalType | None = None
    same_as: CheckpointName | None = None


class StoredState(Model):
    """A state apart from its arrays' bytes, as it travels between judge and worker.

    ``arrays`` describes the npz beside it, ``values`` holds the rest, encoded (docs/format.md):
    ``{"$int"}``, ``{"$float"}``, and ``{"$array": name}`` where a value contains an array.
    """

    components: tuple[NamedDigest, ...]
    arrays: dict[RecordedName, ArrayRow]
    values: JsonObject


class Checkpoint(StoredState, Document):
    """A stored state and its place: ``chain`` is the log's up to and including ``step``."""

    schema_name: Literal["repropack/checkpoint/v1"] = Field(
        default="repropack/checkpoint/v1", alias="schema"
    )
    step: StepNumber
    chain: Digest
