"""The worker's end of a zoom: one step's arrays, whole, and the states before and after it.

They go into files of their own beside what is recorded, so that a run that is looked at tells the
same log as one that is not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from repropack._format.state import EncodedState
from repropack._run.kept import KeptArrays
from repropack._run.state_files import write_state_files
from repropack.models.worker import Zoomed

BEFORE, AFTER = "zoom-before", "zoom-after"


class ZoomedStep:
    """Hands over one step: ``before``, then ``keep`` for each stage, then ``after``."""

    def __init__(self, folder: Path, step: int) -> None:
        """Prepare to hand over.

        Args:
            folder: The worker's output folder.
            step: The step that is looked at.
        """
        self.step = step
        self._folder = folder
        self._stages = KeptArrays(folder, None, prefix="zoom")

    def before(self, state: EncodedState) -> None:
        """Write the state before the step."""
        write_state_files(self._folder, BEFORE, state)

    def keep(self, stage: str, array: npt.NDArray[Any]) -> None:
        """Write a stage of the step."""
        self._stages.add(stage, array)

    def after(self, state: EncodedState) -> Zoomed:
        """Write the state after the step.

        Returns:
            The message that says what was handed over.
        """
        write_state_files(self._folder, AFTER, state)
        return Zoomed(step=self.step, stages=self._stages.hand_over())
