"""Stages kept whole: the worker's raw files, one a stage, appended to step by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from repropack._format.npy import array_type
from repropack.errors import StateError
from repropack.models.worker import KeptStage


class KeptArrays:
    """Appends the arrays of kept stages to one raw file a stage."""

    def __init__(self, folder: Path, stages: Sequence[str]) -> None:
        self._files = {stage: folder / f"kept-{k}.raw" for k, stage in enumerate(stages)}
        self._forms: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._rows = dict.fromkeys(stages, 0)
        self._seen: set[str] = set()

    def add(self, stage: str, array: npt.NDArray[Any]) -> None:
        """Append one canonical array of a kept stage; others are ignored."""
        if stage not in self._files:
            return
        form = (array_type(array), array.shape)
        known = self._forms.setdefault(stage, form)
        if form != known:
            raise StateError(
                stage,
                f"is kept at every step: expected {_form(known)} as before, observed {_form(form)}",
            )
        with self._files[stage].open("ab") as stream:
            stream.write(array.tobytes())
        self._rows[stage] += 1
        self._seen.add(stage)

    def end_step(self) -> None:
        """Check that every kept stage was recorded in the step that ends."""
        for stage in self._files:
            if stage not in self._seen:
                raise StateError(
                    stage, "is to be kept: expected a stage of every step, observed none"
                )
        self._seen.clear()

    def stages(self) -> tuple[KeptStage, ...]:
        return tuple(
            KeptStage(
                stage=stage,
                file=self._files[stage].name,
                dtype=dtype,
                shape=shape,
                rows=self._rows[stage],
            )
            for stage, (dtype, shape) in sorted(self._forms.items())
        )


def _form(form: tuple[str, tuple[int, ...]]) -> str:
    return f"{form[0]} {list(form[1])}"
