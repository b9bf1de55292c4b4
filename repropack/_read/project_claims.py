"""Rules of the claims of a project file, found before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from repropack._compare.claim_rules import claim_faults, repeated_names
from repropack._compare.pointers import PlanNames, RunRow
from repropack._format.layout import REFERENCE_RUN
from repropack._read.project_faults import Key
from repropack._read.project_forms import table_of
from repropack.models.project import ProjectClaim

Table = Mapping[str, Any]


def broken_claims(data: Table, comparisons: list[tuple[Key, Table]]) -> Iterator[tuple[Key, str]]:
    """Yield what is wrong with the claims.

    Args:
        data: The file's tables, of any form.
        comparisons: Its comparisons with their keys.
    """
    rows = [row if isinstance(row, Mapping) else {} for row in _array(data.get("claims"))]
    named = [(place, row["id"]) for place, row in enumerate(rows) if isinstance(row.get("id"), str)]
    for place, problem in repeated_names(name for _, name in named):
        yield ("claims", named[place][0], "id"), problem
    names = _names(data, comparisons)
    for place, row in enumerate(rows):
        try:
            claim = ProjectClaim.model_validate(row)
        except ValidationError:  # told by whoever reads the whole file
            continue
        for member, problem in claim_faults(claim, names):
            yield ("claims", place, member), problem


def _names(data: Table, comparisons: list[tuple[Key, Table]]) -> PlanNames:
    record, experiment = table_of(data, "record"), table_of(data, "experiment")
    runs = {REFERENCE_RUN: RunRow()}
    for _, row in comparisons:
        name, resume_at = row.get("name"), row.get("resume-at")
        if isinstance(name, str):
            changed = bool(row.get("reset") or row.get("config"))
            runs[name] = RunRow(resume_at if type(resume_at) is int else None, changed=changed)
    steps = experiment.get("steps", 1 if "command" in experiment else None)
    every = record.get("checkpoint-every")
    return PlanNames(
        runs=runs,
        keep=tuple(name for name in _array(record.get("keep")) if isinstance(name, str)),
        printed=tuple(table_of(record, "printed")),
        steps=steps if type(steps) is int and steps > 0 else None,
        checkpoint_every=every if type(every) is int and every > 0 else None,
    )


def _array(value: object) -> list[Any] | tuple[Any, ...]:
    return value if isinstance(value, list | tuple) else ()
