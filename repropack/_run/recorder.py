"""The judge's side of a run: checks what a worker hands over and writes it as a package does.

The log is written here, line by line with its chain and flushed, from messages; checkpoints and
kept arrays are read back from the worker's files, held against the log, and only then adopted.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.checkpoints import (
    checkpoint_bytes,
    checkpoint_name,
    read_state,
    write_state,
)
from repropack._format.digests import digest_bytes
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.layout import checkpoint_folder, kept_path, log_path
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.log import CHAIN_START, chain_step, encode_line
from repropack._format.npy import STORABLE_TYPES, array_size
from repropack._format.npz import NpzWriter, npz_order
from repropack._format.state import EncodedState
from repropack.errors import CouldNotRunError, PackageError, UnsupportedVersionError
from repropack.models.base import JsonObject
from repropack.models.checkpoint import StoredState
from repropack.models.environment import EnvironmentRecord
from repropack.models.log import Declaration, HeaderLine, StartLine
from repropack.models.worker import (
    Checkpointed,
    Finished,
    KeptStage,
    Message,
    Ready,
    Stepped,
)


@dataclass(frozen=True)
class RecordedRun:
    """What a run told besides its files.

    ``config`` is complete and encoded; ``last_step`` is where the run ended.
    """

    name: str
    first_step: int
    last_step: int
    config: JsonObject
    config_schema: JsonObject | None
    environment: EnvironmentRecord


@dataclass
class Recorder:
    """Writes one run under ``tree`` as ``runs/<run>/...`` from a worker's messages.

    Args:
        name: The run's name.
        tree: Root of the package tree being written.
        handed: The worker's output folder.
        first_step: The first step of the run.
        keep: Stages that are kept whole.
        chain: The chain that the run continues.
        declared: What the log's header declares: the reference's own where a run resumes, so
            that an exact resume writes the reference's lines; ``None``: what the first step does.
        last_step: The last step planned; ``None``: the worker is not held to any.
    """

    name: str
    tree: Path
    handed: Path
    first_step: int
    keep: tuple[str, ...] = ()
    chain: str = CHAIN_START
    declared: tuple[Declaration, ...] | None = None
    last_step: int | None = None
    _ready: Ready | None = None
    _finished: Finished | None = None
    _log: BinaryIO | None = None
    _declared: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    _state: tuple[tuple[str, str], ...] | None = None
    _kept: dict[str, list[str]] = field(default_factory=dict)
    _step: int = 0
    _stored_step: int | None = None
    _finish: str | None = None
    _header_written: bool = False

    def record(self, messages: Iterator[Message]) -> Iterator[int]:
        """Consume a run's messages.

        Kept arrays are adopted after the last message, when the worker has ended.

        Args:
            messages: First ``Ready``, then ``Checkpointed`` for the state before the first step,
                then ``Stepped`` once a step, each with ``Checkpointed`` after it or not, last
                ``Finished``.

        Yields:
            The number of each step once it stands in the log.

        Raises:
            CouldNotRunError: messages out of order, files that contradict them, or more than
                the limits of a package allow.
        """
        path = self.tree / log_path(self.name)
        (self.tree / checkpoint_folder(self.name)).mkdir(parents=True)
        self._step = self.first_step - 1
        with path.open("wb") as self._log:
            for message in messages:
                if self._finished is not None:
                    raise self._nonsense(f"expected nothing after its end, observed {message.kind}")
                if isinstance(message, Ready):
                    self._begin(message)
                elif self._ready is None:
                    raise self._nonsense(f"expected a first state, observed {message.kind}")
                elif isinstance(message, Stepped):
                    self._write_step(message)
                    yield message.step
                elif isinstance(message, Checkpointed):
                    self._adopt_checkpoint(message.step)
                elif isinstance(message, Finished):
                    self._note_end(message)
                else:
                    raise self._nonsense(f"expected a step or an end, observed {message.kind}")
            if self._finished is None:
                raise self._nonsense("expected an end, observed none")
            os.fsync(self._log.fileno())
        self._adopt_kept(self._finished.kept)

    def result(self) -> RecordedRun:
        """What the run told, after ``record`` was consumed.

        Returns:
            Its configuration, its environment and where it ended.

        Raises:
            CouldNotRunError: the run made no step, or did not end.
        """
        if self._ready is None or not self._header_written or self._finished is None:
            raise self._nonsense("expected at least one step and an end")
        return RecordedRun(
            name=self.name,
            first_step=self.first_step,
            last_step=self._step,
            config=self._ready.config,
            config_schema=self._ready.config_schema,
            environment=self._ready.environment.model_copy(
                update={"probe_card_at_end": self._finished.changed_families}
            ),
        )

    def _begin(self, message: Ready) -> None:
        if self._ready is not None:
            raise self._nonsense("expected one first state, observed a second")
        self._check_names("constants", message.constants)
        self._check_names("state", message.state)
        self._ready = message
        self._state = message.state

    def _note_end(self, message: Finished) -> None:
        if self._stored_step != self._step:
            raise self._nonsense(f"expected a checkpoint after step {self._step}, observed an end")
        if self._finish is None and self.last_step not in {None, self._step}:
            raise self._nonsense(
                f"expected {self.last_step} steps, observed an end after step {self._step}"
            )
        self._finished = message

    def _check_names(self, what: str, rows: tuple[tuple[str, str], ...]) -> None:
        names = [name for name, _ in rows]
        if names != sorted(set(names)):
            raise self._nonsense(f"{what}: expected sorted names, each once, observed {names}")

    def _write(self, line: bytes) -> None:
        if self._log is None:
            raise self._nonsense("nothing to write to")
        self._check_size(f"log line after step {self._step}", "max_log_line_bytes", line)
        self._log.write(line)
        self._log.flush()

    def _write_head(self, ready: Ready, declarations: tuple[Declaration, ...]) -> None:
        """The header may name the stages of the first step, so it is written with that step."""
        self._write(
            encode_line(
                HeaderLine(
                    run=self.name,
                    config=digest_bytes(encode_canonical(ready.config)),
                    constants=ready.constants,
                    first_step=self.first_step,
                    stages=declarations,
                )
            )
        )
        self._write(encode_line(StartLine(chain=self.chain, state=ready.state)))
        self._declared = dict(declarations)
        self._header_written = True

    def _write_step(self, message: Stepped) -> None:
        self._check_step(message)
        if not self._header_written and self._ready is not None:
            declared = message.declarations or () if self.declared is None else self.declared
            self._write_head(self._ready, declared)
        line, self.chain = chain_step(self.chain, self._step_record(message))
        self._write(line)
        self._step, self._state, self._finish = message.step, message.state, message.finish
        stages = dict(message.stages or ())
        for stage in set(self.keep) if message.stages is not None else ():
            self._kept.setdefault(stage, []).append(stages[stage])

    def _check_step(self, message: Stepped) -> None:
        if self._stored_step is None:
            raise self._nonsense("expected a checkpoint of the first state, observed a step")
        if self._finish is not None:
            raise self._nonsense(f"expected no step after finish, observed step {message.step}")
        if message.step != self._step + 1:
            raise self._nonsense(f"expected step {self._step + 1}, observed step {message.step}")
        if self.last_step is not None and message.step > self.last_step:
            raise self._nonsense(f"expected {self.last_step} steps, observed step {message.step}")
        if message.state is not None:
            self._check_names("state", message.state)
        stages = None if message.stages is None else [name for name, _ in message.stages]
        declared = (
            None if message.declarations is None else [name for name, _ in message.declarations]
        )
        if stages != declared or len(set(stages or ())) != len(stages or ()):
            raise self._nonsense(
                f"step {message.step}: expected stages and their declarations, each once, "
                f"observed {stages} and {declared}"
            )
        missing = sorted(set(self.keep) - set(stages)) if stages is not None else []
        if missing:
            raise self._nonsense(
                f"step {message.step}: expected kept stages, observed no {missing}"
            )

    def _step_record(self, message: Stepped) -> dict[str, Any]:
        record: dict[str, Any] = {
            "step": message.step,
            "metrics": message.metrics,
            "printed": message.printed,
        }
        if message.stages is not None:
            record["stages"] = [list(row) for row in message.stages]
        if message.state is not None:
            record["state"] = [list(row) for row in message.state]
        news = [
            [stage, None if of is None else list(of)]
            for stage, of in message.declarations or ()
            if stage not in self._declared or self._declared[stage] != of
        ]
        if news:
            record["declares"] = news
        if message.finish is not None:
            record["finish"] = message.finish
        return record

    def _adopt_checkpoint(self, step: int) -> None:
        """Both files are written anew from what was read: the worker may still hold its own."""
        name = checkpoint_name(step)
        if step != self._step or self._stored_step == step:
            raise self._nonsense(f"expected a step after {self._step}, observed checkpoint {name}")
        stored, state = self._read_checkpoint(name)
        if stored.components != self._state:
            raise self._nonsense(f"checkpoint {name} does not hold the state that was recorded")
        document = checkpoint_bytes(stored, step=step, chain=self.chain)
        self._check_size(f"checkpoint {name}", "max_document_bytes", document)
        folder = self.tree / checkpoint_folder(self.name)
        (folder / f"{name}.json").write_bytes(document)
        with (folder / f"{name}.npz").open("wb") as stream:
            write_state(stream, state)
        for suffix in ("npz", "json"):
            (self.handed / f"{name}.{suffix}").unlink()
        self._stored_step = step

    def _check_size(self, what: str, limit: str, data: bytes) -> None:
        """What readers refuse is not written."""
        allowed: int = getattr(DEFAULT_LIMITS, limit)
        if len(data) > allowed:
            raise CouldNotRunError(
                f"run {self.name!r}: {what}: limit {limit} exceeded: allowed {allowed}, "
                f"observed {len(data)}"
            )

    def _read_checkpoint(self, name: str) -> tuple[StoredState, EncodedState]:
        try:
            with self._open(f"{name}.json") as stream:
                data = stream.read(DEFAULT_LIMITS.max_document_bytes + 1)
            decode_strict(data, where=f"{name}.json")
            stored = StoredState.model_validate_json(data)
            with self._open(f"{name}.npz") as stream:
                return stored, read_state(stream, stored, where=f"{name}.npz")
        except (OSError, ValueError, PackageError, UnsupportedVersionError) as error:
            raise self._nonsense(f"checkpoint {name} cannot be adopted: {error}") from error

    def _open(self, name: str) -> BinaryIO:
        """Open a file of the worker's folder: a regular one, never a link, a pipe or a device."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(self.handed / name, flags)
        stream = os.fdopen(descriptor, "rb")
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            stream.close()
            raise OSError(f"{name}: expected a regular file")
        return stream

    def _adopt_kept(self, kept: tuple[KeptStage, ...]) -> None:
        observed = sorted(row.stage for row in kept)
        if observed != sorted(self._kept):
            raise self._nonsense(f"kept stages: expected {sorted(self._kept)}, observed {observed}")
        if not kept:
            return
        by_stage = {row.stage: row for row in kept}
        with (self.tree / kept_path(self.name)).open("wb") as stream:
            writer = NpzWriter(stream)
            for stage in npz_order(by_stage):
                row = by_stage[stage]
                with self._open_kept(row) as source:
                    self._check_kept(row, source)
                    source.seek(0)
                    writer.add_raw(stage, row.dtype, (row.rows, *row.shape), source)
            writer.finish()

    def _open_kept(self, kept: KeptStage) -> BinaryIO:
        try:
            return self._open(kept.file)
        except OSError as error:
            raise self._nonsense(f"kept stage {kept.stage!r} cannot be adopted: {error}") from error

    def _check_kept(self, kept: KeptStage, source: BinaryIO) -> None:
        """Hold every row of a kept stage against the log."""
        recorded = self._kept[kept.stage]
        place = f"kept stage {kept.stage!r}"
        if kept.dtype not in STORABLE_TYPES:
            raise self._nonsense(f"{place}: expected a type that is stored, observed {kept.dtype}")
        if kept.rows != len(recorded):
            raise self._nonsense(f"{place}: expected {len(recorded)} rows, observed {kept.rows}")
        try:
            size = array_size(place, kept.dtype, kept.shape)
        except PackageError as error:
            raise self._nonsense(str(error)) from error
        observed = os.fstat(source.fileno()).st_size
        if observed != size * kept.rows:
            raise self._nonsense(f"{place}: expected {size * kept.rows} bytes, observed {observed}")
        for row, expected in enumerate(recorded):
            array = np.frombuffer(source.read(size), kept.dtype).reshape(kept.shape)
            if fingerprint_canonical(array) != expected:
                raise self._nonsense(f"{place}, row {row}, is not what was recorded")

    def _nonsense(self, problem: str) -> CouldNotRunError:
        return CouldNotRunError(f"run {self.name!r}: the worker handed over nonsense: {problem}")
