"""One run as a package holds it: its log, checkpoints and kept arrays, read strictly and streamed.

The same reader serves stored runs and runs just executed by a worker, so that both are read with
the same suspicion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import numpy.typing as npt

from repropack._format.canonical import check_bounds, decode_exactly, encode_canonical
from repropack._format.checkpoints import check_state, checkpoint_name, read_state
from repropack._format.layout import checkpoint_folder, kept_path, log_path
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.log import LogMark, LogReader
from repropack._format.npz_reader import NpzIndex, NpzReader
from repropack._format.schemas import read_document
from repropack._format.state import EncodedState
from repropack._read.container import Container
from repropack.errors import IntegrityError, PackageFormatError, UsageError
from repropack.models.base import Document
from repropack.models.checkpoint import Checkpoint
from repropack.models.log import HeaderLine, StartLine, StepLine
from repropack.refusals import refusal

_ALL_BLOCKS_BYTES = 16 * 1024 * 1024
_LEAST_BLOCK_BYTES = 16 * 1024
_MARKED_STEPS = 64
"""Lines of a log between two marks. Who begins in the middle reads at most so many before."""
_COMPANION = re.compile(r"step-([0-9]{9})\.json")
_Document = TypeVar("_Document", bound=Document)


def read_stored(
    model: type[_Document], data: bytes, *, where: str, limits: Limits = DEFAULT_LIMITS
) -> _Document:
    """Read one of a package's own documents, which has exactly one spelling.

    Args:
        model: The document's model.
        data: The stored bytes.
        where: The entry's path, for error messages.
        limits: Limits on size and depth.

    Returns:
        The frozen model.

    Raises:
        PackageFormatError: not strict JSON, or not canonical JSON of all the model's members.
        LimitExceededError: larger or deeper than allowed.
        SchemaError: the document breaks its schema.
    """
    check_bounds(data, where=where, limits=limits)
    exact = decode_exactly(model, data, lambda members: members)
    if exact is not None:
        return exact
    document = read_document(model, data, where=where, limits=limits)
    if encode_canonical(document.model_dump(mode="json")) != data:
        expected = "canonical JSON with every member"
        raise PackageFormatError(refusal("json.canonical", where, "", expected, "another spelling"))
    return document


class RunReader:
    """Reads one run of a container.

    Attributes:
        limits: The limits on reading.
    """

    def __init__(self, container: Container, name: str, *, limits: Limits = DEFAULT_LIMITS) -> None:
        """Open the run ``name``; reads its header and start line.

        Args:
            container: The package, or the tree that a run was recorded in; must stay open.
            name: The run's name, which its header must have too.
            limits: Limits on reading.

        Raises:
            UsageError: the container holds no such run.
            PackageFormatError: the log does not begin as a log must.
            IntegrityError: the log is another run's.
        """
        if log_path(name) not in container:
            raise UsageError(f"no run named {name!r} in this package")
        self.container = container
        self.limits = limits
        self.name = name
        self._marks: list[LogMark] = []
        self._document: Checkpoint | None = None  # the last one that was asked for
        with container.open(self.log_path) as stream:
            reader = LogReader(stream, where=self.log_path, limits=limits)
        self.header: HeaderLine = reader.header
        self.start: StartLine = reader.start
        if self.header.run != name:
            observed = repr(self.header.run)
            raise IntegrityError(refusal("run.name", self.log_path, "run", repr(name), observed))

    @property
    def log_path(self) -> str:
        """Path of the fingerprint log."""
        return log_path(self.name)

    @property
    def kept_path(self) -> str:
        """Path of the kept arrays, whether or not the run has any."""
        return kept_path(self.name)

    def steps(self, first_step: int = 0) -> Iterator[StepLine]:
        """Step lines in order, their numbers and chain found right.

        A package may have thousands of runs that resume late in one long log, so that what was read
        once is not read again for each of them.

        Args:
            first_step: The first step that is asked for; all of them where the log begins later.

        Yields:
            The step lines.

        Raises:
            PackageError: a line is malformed, out of order or off its chain.
        """
        for _, line in self._lines(first_step):
            if line.step >= first_step:
                yield line

    def _lines(self, first_step: int) -> Iterator[tuple[int, StepLine]]:
        """Lines from the last mark before a step on, each with the rows recorded before it."""
        begin, every = self.header.first_step, _MARKED_STEPS
        place = max(0, first_step - begin) // every
        mark = self._marks[min(place, len(self._marks)) - 1] if place and self._marks else None
        with self.container.open(self.log_path) as stream:
            reader = LogReader(stream, where=self.log_path, limits=self.limits, after=mark)
            rows = mark.rows if mark is not None else 0
            for line in reader.steps():
                if line.step + 1 - begin == (len(self._marks) + 1) * every:
                    self._marks.append(reader.mark())
                yield rows, line
                rows += line.stages is not None

    def checkpoint_steps(self) -> tuple[int, ...]:
        """The steps after which a state is stored, ascending."""
        return self._checkpoint_steps

    @cached_property
    def _checkpoint_steps(self) -> tuple[int, ...]:
        folder = checkpoint_folder(self.name)
        names = self.container.names_in(folder)
        return tuple(sorted(int(m.group(1)) for name in names if (m := _COMPANION.fullmatch(name))))

    def checkpoint_paths(self, step: int) -> tuple[str, str]:
        """Paths of a checkpoint's JSON companion and of its npz."""
        base = f"{checkpoint_folder(self.name)}/{checkpoint_name(step)}"
        return f"{base}.json", f"{base}.npz"

    def checkpoint_document(self, step: int) -> Checkpoint:
        """The JSON companion of the checkpoint after ``step``.

        Args:
            step: One of ``checkpoint_steps()``.

        Returns:
            The document; whether arrays and log agree with it is not looked at here.

        Raises:
            UsageError: no state is stored after that step.
            PackageFormatError: the document is malformed.
            SchemaError: the document breaks its schema.
            IntegrityError: the document is another step's.
        """
        if self._document is not None and self._document.step == step:
            return self._document
        companion, _ = self.checkpoint_paths(step)
        if companion not in self.container:
            stored = ", ".join(map(str, self.checkpoint_steps())) or "none"
            raise UsageError(
                f"run {self.name!r}: no checkpoint after step {step}: expected one of {stored}"
            )
        with self.container.open(companion) as stream:
            data = stream.read(self.limits.max_document_bytes + 1)
        document = read_stored(Checkpoint, data, where=companion, limits=self.limits)
        if document.step != step:
            raise IntegrityError(
                refusal("checkpoint.step", companion, "", f"step {step}", document.step)
            )
        self._document = document
        return document

    def checkpoint(self, step: int) -> tuple[Checkpoint, EncodedState]:
        """The stored state after ``step``, every array held against its description.

        Args:
            step: One of ``checkpoint_steps()``.

        Returns:
            The document and the state, the fingerprints of its arrays and components recomputed.

        Raises:
            UsageError: no state is stored after that step.
            PackageFormatError: the document or the npz is malformed.
            SchemaError: the document breaks its schema.
            IntegrityError: document and npz contradict each other.
            UnsupportedVersionError: the document uses a member reserved for later releases.
        """
        document, npz = self._checkpoint_pair(step)
        with self.container.open(npz) as stream:
            return document, read_state(stream, document, where=npz, limits=self.limits)

    def check_checkpoint(self, step: int) -> Checkpoint:
        """Hold every array of a checkpoint against its description, and keep none in memory.

        Args:
            step: One of ``checkpoint_steps()``.

        Returns:
            The document, whose fingerprints were recomputed.

        Raises:
            UsageError: no state is stored after that step.
            PackageError: as ``checkpoint`` raises it.
            UnsupportedVersionError: the document uses a member reserved for later releases.
        """
        document, npz = self._checkpoint_pair(step)
        with self.container.open(npz) as stream:
            check_state(stream, document, where=npz, limits=self.limits)
        return document

    def _checkpoint_pair(self, step: int) -> tuple[Checkpoint, str]:
        """The companion of a checkpoint and the path of its npz, which is there."""
        document = self.checkpoint_document(step)
        _, npz = self.checkpoint_paths(step)
        if npz not in self.container:
            expected = "it, for the companion beside it describes its arrays"
            raise IntegrityError(refusal("checkpoint.pair", npz, "missing", expected, "none"))
        return document, npz

    @property
    def has_kept(self) -> bool:
        """Whether there is a file of kept arrays, which may hold none."""
        return self.kept_path in self.container

    def kept_stages(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Type string and shape, ``(recorded steps, ...)``, of every kept stage, by name.

        Returns:
            Empty where the run has no kept arrays.

        Raises:
            PackageFormatError: the npz is malformed.
            IntegrityError: an array in it has no rows.
        """
        if not self.has_kept:
            return {}
        stages = {name: (a.dtype, a.shape) for name, a in self._kept_index.stored.items()}
        for stage, (_, shape) in stages.items():
            if not shape:
                place, expected = f"array {stage!r}", "a row for each recorded step"
                raise IntegrityError(
                    refusal("kept.rows", self.kept_path, place, expected, "rank 0")
                )
        return stages

    def kept_rows(self, stage: str, first_step: int = 0) -> Iterator[npt.NDArray[Any]] | None:
        """One array a recorded step of a kept stage, in order of the steps.

        Args:
            stage: Name of the stage.
            first_step: The first step whose row is asked for, if it was recorded.

        Returns:
            New arrays of the stage's own shape, or ``None`` where the run keeps none of it.

        Raises:
            PackageFormatError: the npz is malformed; its elements are read with the rows.
            IntegrityError: an array in it has no rows.
        """
        if stage not in self.kept_stages():
            return None
        return self._rows(stage, self._rows_before(first_step))

    def _rows_before(self, first_step: int) -> int:
        """How many steps before a step have rows."""
        if first_step <= self.header.first_step:
            return 0
        count = 0
        for rows, line in self._lines(first_step):
            if line.step >= first_step:
                return rows
            count = rows + (line.stages is not None)
        return count

    def kept_elements(self, stage: str, first_row: int, rows: int) -> Iterator[npt.NDArray[Any]]:
        """Elements of some rows of a kept stage, in order, block by block.

        Args:
            stage: One of ``kept_stages()``.
            first_row: The first row, from 0.
            rows: How many.

        Yields:
            New flat arrays; the memory does not depend on how many elements a row has.

        Raises:
            PackageFormatError: an element is damaged.
        """
        with self._open_kept() as (reader, _):
            yield from reader.iter_elements(stage, (first_row, first_row + rows))

    def checkpoint_elements(self, step: int, name: str) -> Iterator[npt.NDArray[Any]]:
        """Elements of one array of a checkpoint, in order, block by block.

        Args:
            step: One of ``checkpoint_steps()``.
            name: One of the arrays of its document.

        Yields:
            New flat arrays.

        Raises:
            PackageError: document or npz is malformed.
        """
        _, npz = self._checkpoint_pair(step)
        with self.container.open(npz) as stream:
            reader = NpzReader(stream, where=npz, limits=self.limits)
            yield from reader.iter_elements(name)

    def kept_fingerprints(self, stage: str) -> Iterator[str]:
        """Fingerprint of each row of a kept stage, in order of the steps.

        Args:
            stage: One of ``kept_stages()``.

        Yields:
            The rows' fingerprints; no row is kept in memory.

        Raises:
            PackageFormatError: an element is damaged.
        """
        with self._open_kept() as (reader, _):
            yield from reader.iter_row_fingerprints(stage)

    def _rows(self, stage: str, first_row: int) -> Iterator[npt.NDArray[Any]]:
        with self._open_kept() as (reader, block_bytes):
            for block in reader.iter_rows(stage, block_bytes, first_row):
                yield from block

    @contextmanager
    def _open_kept(self) -> Iterator[tuple[NpzReader, int]]:
        """The kept arrays, and how much of one may be held where all are read side by side."""
        index = self._kept_index
        with self.container.open(self.kept_path) as stream:
            reader = NpzReader(stream, where=self.kept_path, limits=self.limits, index=index)
            yield reader, max(_LEAST_BLOCK_BYTES, _ALL_BLOCKS_BYTES // max(1, len(index.stored)))

    @cached_property
    def _kept_index(self) -> NpzIndex:
        with self.container.open(self.kept_path) as stream:
            return NpzReader(stream, where=self.kept_path, limits=self.limits).index
