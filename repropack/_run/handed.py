"""What a worker handed over, read with suspicion: states and kept rows in its output folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

import numpy as np

from repropack._format.canonical import decode_strict
from repropack._format.checkpoints import checkpoint_name, read_state
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.npy import STORABLE_TYPES, array_size
from repropack._format.npz import NpzWriter, npz_order
from repropack._format.state import EncodedState
from repropack._run.durable import sync_path
from repropack.errors import CouldNotRunError, PackageError, UnsupportedVersionError
from repropack.models.checkpoint import StoredState
from repropack.models.work import KeptForm
from repropack.models.worker import KeptStage


def nonsense(run: str, problem: str) -> CouldNotRunError:
    """The error for what no worker says or hands over."""
    return CouldNotRunError(f"run {run!r}: the worker handed over nonsense: {problem}")


class HandedFolder:
    """The output folder of a run's worker, which may hold anything."""

    def __init__(self, run: str, folder: Path) -> None:
        """Name a folder; nothing is read yet.

        Args:
            run: The run's name, for error messages.
            folder: The worker's output folder.
        """
        self._run = run
        self._folder = folder

    def read_checkpoint(self, step: int) -> tuple[StoredState, EncodedState]:
        """Read the state after ``step``, every array held against its description.

        Args:
            step: The step that the worker named.

        Returns:
            Its description and the state.

        Raises:
            CouldNotRunError: it is missing, malformed, or contradicts itself.
        """
        return self.read_stored(checkpoint_name(step))

    def read_stored(self, name: str) -> tuple[StoredState, EncodedState]:
        """Read a state that lies there under ``name``, every array held against its description.

        Args:
            name: The name of its two files, without their suffixes.

        Returns:
            Its description and the state.

        Raises:
            CouldNotRunError: it is missing, malformed, or contradicts itself.
        """
        try:
            with self.open(f"{name}.json") as stream:
                data = stream.read(DEFAULT_LIMITS.max_document_bytes + 1)
            decode_strict(data, where=f"{name}.json")
            stored = StoredState.model_validate_json(data)
            with self.open(f"{name}.npz") as stream:
                return stored, read_state(stream, stored, where=f"{name}.npz")
        except (OSError, ValueError, PackageError, UnsupportedVersionError) as error:
            problem = f"checkpoint {name} cannot be adopted: {error}"
            raise self._nonsense(problem) from error

    def open_kept(self, kept: KeptStage) -> BinaryIO:
        """Open the raw file of a kept stage.

        Args:
            kept: As the worker described it.

        Returns:
            The open file.

        Raises:
            CouldNotRunError: it is missing, or anything but a regular file.
        """
        try:
            return self.open(kept.file)
        except OSError as error:
            problem = f"kept stage {kept.stage!r} cannot be adopted: {error}"
            raise self._nonsense(problem) from error

    def remove(self, name: str) -> None:
        """Remove a file that was taken over.

        Raises:
            CouldNotRunError: the worker has put something else in its place.
        """
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise self._nonsense(f"{name} cannot be removed: {error.strerror}") from error

    def _nonsense(self, problem: str) -> CouldNotRunError:
        return nonsense(self._run, problem)

    def open(self, name: str) -> BinaryIO:
        """Open a file of the worker's folder: a regular one, never a link, a pipe or a device.

        Args:
            name: Its name there.

        Returns:
            The open file.

        Raises:
            OSError: there is no such file, or it is something else.
        """
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(self._folder / name, flags)
        stream = os.fdopen(descriptor, "rb")
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            stream.close()
            raise OSError(f"{name}: expected a regular file")
        return stream


class TakenRows:
    """Rows of kept stages, taken over at each checkpoint: one raw file a stage of the judge's own.

    Attributes:
        forms: Type, shape and file of every stage of which a row was taken over, by stage.
    """

    def __init__(
        self, run: str, folder: Path, forms: tuple[KeptForm, ...] = (), *, durable: bool = False
    ) -> None:
        """Begin, or go on where ``forms`` describe rows that lie in ``folder`` already.

        Args:
            run: The run's name, for error messages.
            folder: An existing folder of the judge's own.
            forms: What was taken over before.
            durable: Sync what is taken over.
        """
        self.forms = {form.stage: form for form in forms}
        self._run = run
        self._folder = folder
        self._durable = durable
        self._expected: dict[str, list[str]] = {}

    def expect(self, stage: str, fingerprint: str) -> None:
        """Note what the log says of the next row of a stage."""
        self._expected.setdefault(stage, []).append(fingerprint)

    def take(self, kept: tuple[KeptStage, ...], handed: HandedFolder) -> bool:
        """Take over all rows since the last time, each held against its fingerprint in the log.

        Args:
            kept: What the worker says it hands over.
            handed: Where it lies; the files are removed.

        Returns:
            Whether a stage is new in ``forms``.

        Raises:
            CouldNotRunError: stages, types, shapes or rows are not what was recorded.
            OSError: a row cannot be written.
        """
        observed = sorted(row.stage for row in kept)
        if observed != sorted(self._expected):
            raise self._nonsense(
                f"kept stages: expected {sorted(self._expected)}, observed {observed}"
            )
        known = len(self.forms)
        for row in kept:
            with handed.open_kept(row) as source:
                self._append(row, source)
            handed.remove(row.file)
        self._expected.clear()
        return len(self.forms) > known

    def write(self, path: Path, rows: int) -> None:
        """Write the kept arrays as a package holds them, and remove the raw files.

        Args:
            path: The npz; not written where no stage is kept.
            rows: How many rows each stage has.

        Raises:
            OSError: it cannot be written.
        """
        if not self.forms:
            return
        with path.open("wb") as stream:
            writer = NpzWriter(stream)
            for stage in npz_order(self.forms):
                form = self.forms[stage]
                with (self._folder / form.file).open("rb") as source:
                    writer.add_raw(stage, form.dtype, (rows, *form.shape), source)
            writer.finish()
        if self._durable:
            sync_path(path)

    def remove(self) -> None:
        """Remove the raw files, which ``write`` has made something of."""
        for form in self.forms.values():
            (self._folder / form.file).unlink(missing_ok=True)

    def _append(self, kept: KeptStage, source: BinaryIO) -> None:
        size = self._check_form(kept, source)
        form = self.forms.get(kept.stage) or KeptForm(
            stage=kept.stage,
            file=f"kept-{len(self.forms)}.raw",
            dtype=kept.dtype,
            shape=kept.shape,
        )
        place = f"kept stage {kept.stage!r}"
        if (form.dtype, form.shape) != (kept.dtype, kept.shape):
            raise self._nonsense(
                f"{place}: expected rows of {form.dtype} {list(form.shape)} as before, "
                f"observed {kept.dtype} {list(kept.shape)}"
            )
        path = self._folder / form.file
        with path.open("ab" if kept.stage in self.forms else "wb") as target:
            for row, expected in enumerate(self._expected[kept.stage]):
                data = source.read(size)
                whole = len(data) == size  # the worker may still hold the file open
                array = np.frombuffer(data, kept.dtype).reshape(kept.shape) if whole else None
                if array is None or fingerprint_canonical(array) != expected:
                    raise self._nonsense(f"{place}, row {row}, is not what was recorded")
                target.write(data)
            target.flush()
            if self._durable:
                os.fsync(target.fileno())
        self.forms[kept.stage] = form

    def _check_form(self, kept: KeptStage, source: BinaryIO) -> int:
        """Size of a row in bytes, where type, shape, rows and the file's size agree."""
        recorded = self._expected[kept.stage]
        place = f"kept stage {kept.stage!r}"
        if kept.dtype not in STORABLE_TYPES:
            raise self._nonsense(f"{place}: expected a type that is stored, observed {kept.dtype}")
        if kept.rows != len(recorded):
            raise self._nonsense(f"{place}: expected {len(recorded)} rows, observed {kept.rows}")
        try:
            size = array_size("", place, kept.dtype, kept.shape)
        except PackageError as error:
            raise self._nonsense(str(error)) from error
        observed = os.fstat(source.fileno()).st_size
        if observed != size * kept.rows:
            raise self._nonsense(f"{place}: expected {size * kept.rows} bytes, observed {observed}")
        return size

    def _nonsense(self, problem: str) -> CouldNotRunError:
        return nonsense(self._run, problem)
