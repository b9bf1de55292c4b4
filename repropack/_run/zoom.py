"""The judge's end of a zoom: one step's arrays, taken over from the worker that made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from repropack._format.npz import NpzReader
from repropack._format.state import EncodedState
from repropack._run.handed import HandedFolder, TakenRows, nonsense
from repropack._run.state_files import read_state_files, write_state_files
from repropack._run.zoomed import AFTER, BEFORE
from repropack.errors import CouldNotRunError
from repropack.models.worker import Stepped, Zoomed

_Components = tuple[tuple[str, str], ...] | None


class SeenStep:
    """One step of a run, its stages and the states around it on the disk.

    Everything is held against the fingerprints that the log has, before it is taken over.

    Attributes:
        step: The step that is looked at.
        taken: Whether the worker made it and handed it over.
    """

    def __init__(self, step: int, folder: Path) -> None:
        """Prepare to look at a step.

        Args:
            step: Its number.
            folder: A folder of the judge's own, to be made.
        """
        self.step = step
        self.taken = False
        self._folder = folder

    def take(
        self, run: str, message: Zoomed, handed: HandedFolder, told: Stepped, before: _Components
    ) -> None:
        """Take over what the worker hands over.

        Args:
            run: The run's name, for error messages.
            message: What the worker says.
            handed: Where it lies; the files are removed.
            told: What the worker said of the step.
            before: The components of the state before it, ``None`` where it was not recorded.

        Raises:
            CouldNotRunError: it is missing, malformed, or not what was recorded.
            OSError: it cannot be written.
        """
        if self.taken or not message.step == self.step == told.step:
            raise self._nonsense(run, f"expected step {self.step}, once, observed {message.step}")
        self._folder.mkdir()
        for name, components in ((BEFORE, before), (AFTER, told.state)):
            stored, state = handed.read_stored(name)
            if components not in {None, stored.components}:
                raise self._nonsense(run, f"{name} does not hold the state that was recorded")
            write_state_files(self._folder, name, state)
            for suffix in ("npz", "json"):
                handed.remove(f"{name}.{suffix}")
        rows = TakenRows(run, self._folder)
        for stage, fingerprint in told.stages or ():
            rows.expect(stage, fingerprint)
        rows.take(message.stages, handed)
        rows.write(self._folder / "stages.npz", 1)
        rows.remove()
        self.taken = True

    def stage(self, name: str) -> npt.NDArray[Any] | None:
        """A stage of the step.

        Args:
            name: The stage.

        Returns:
            Its array; ``None`` where the step recorded no such stage.
        """
        path = self._folder / "stages.npz"
        if not path.exists():
            return None
        with path.open("rb") as stream:
            reader = NpzReader(stream, where=path.name)
            return reader.read(name)[0] if name in reader.arrays else None

    def state(self, *, after: bool) -> EncodedState:
        """The state before the step, or after it."""
        return read_state_files(self._folder, AFTER if after else BEFORE)

    @staticmethod
    def _nonsense(run: str, problem: str) -> CouldNotRunError:
        return nonsense(run, problem)
