"""The limits on reading and running, as ``check --show-limits`` prints them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Count, Document, Model


class LimitRow(Model):
    """One limit on reading or running; the unit stands in its name."""

    name: str
    value: Count
    meaning: str


class LimitList(Document):
    """The limits that apply: what ``check --show-limits`` prints."""

    schema_name: Literal["repropack/limits/v1"] = Field(
        default="repropack/limits/v1", alias="schema"
    )
    limits: tuple[LimitRow, ...]
