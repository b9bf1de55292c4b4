"""Stages kept whole: the worker's raw files, one a stage and checkpoint, appended to by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from repropack._format.npy import array_type
from repropack.errors import StateError
from repropack.models.worker import KeptStage

_MAX_NAMED = 20


class KeptArrays:
    """Appends the arrays of kept stages to raw files that the judge takes over one by one."""

    def __init__(self, folder: Path, stages: Sequence[str] | None, *, prefix: str = "kept") -> None:
        """Begin without a file.

        Args:
            folder: Where the files go.
            stages: The stages that are kept; ``None``: all of them, of one step.
            prefix: Beginning of the files' names.
        """
        self._folder = folder
        self._stages = None if stages is None else tuple(stages)
        self._prefix = prefix
        self._forms: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._files: dict[str, Path] = {}
        self._rows: dict[str, int] = {}
        self._seen: set[str] = set()
        self._made = 0

    def add(self, stage: str, array: npt.NDArray[Any]) -> None:
        """Append one canonical array of a kept stage; others are ignored."""
        if self._stages is not None and stage not in self._stages:
            return
        form = (array_type(array), array.shape)
        known = self._forms.setdefault(stage, form)
        if form != known:
            raise StateError(
                stage,
                f"is kept at every step: expected {_form(known)} as before, observed {_form(form)}",
            )
        if stage not in self._files:
            self._files[stage] = self._folder / f"{self._prefix}-{self._made}.raw"
            self._rows[stage] = 0
            self._made += 1
        with self._files[stage].open("ab") as stream:
            stream.write(array.tobytes())
        self._rows[stage] += 1
        self._seen.add(stage)

    def end_step(self, recorded: Sequence[str]) -> None:
        """Check that every kept stage was among those that the step which ends recorded."""
        for stage in self._stages or ():
            if stage not in self._seen:
                named = ", ".join(recorded[:_MAX_NAMED]) or "none"
                left = len(recorded) - _MAX_NAMED
                more = f" and {left} more" if left > 0 else ""
                raise StateError(
                    stage,
                    "is in record.keep: expected a stage of that name in every step, observed the "
                    f"stages {named}{more}",
                )
        self._seen.clear()

    def hand_over(self) -> tuple[KeptStage, ...]:
        """Describe the rows since the last time, and begin new files for those to come."""
        handed = tuple(
            KeptStage(
                stage=stage,
                file=file.name,
                dtype=self._forms[stage][0],
                shape=self._forms[stage][1],
                rows=self._rows[stage],
            )
            for stage, file in sorted(self._files.items())
        )
        self._files.clear()
        return handed


def _form(form: tuple[str, tuple[int, ...]]) -> str:
    return f"{form[0]} {list(form[1])}"
