"""The judge's side of a run: checks what a worker hands over and writes it as a package does.

The log is written here, line by line with its chain and flushed, from messages; checkpoints and
kept arrays are read back from the worker's files, held against the log, and only then adopted.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import checkpoint_bytes, checkpoint_name, read_state
from repropack._format.digests import digest_bytes
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.layout import checkpoint_folder, kept_path, log_path
from repropack._format.log import CHAIN_START, chain_step, encode_line
from repropack._format.npz import NpzWriter
from repropack.errors import CouldNotRunError, PackageError
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
    """

    name: str
    tree: Path
    handed: Path
    first_step: int
    keep: tuple[str, ...] = ()
    chain: str = CHAIN_START
    _ready: Ready | None = None
    _log: BinaryIO | None = None
    _declared: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    _states: dict[int, dict[str, str]] = field(default_factory=dict)
    _kept: dict[str, list[str]] = field(default_factory=dict)
    _last_step: int = 0
    _header_written: bool = False

    def record(self, messages: Iterator[Message]) -> Iterator[int]:
        """Consume a run's messages.

        Yields:
            The number of each step once it stands in the log.

        Raises:
            CouldNotRunError: messages out of order, or files that contradict them.
        """
        path = self.tree / log_path(self.name)
        (self.tree / checkpoint_folder(self.name)).mkdir(parents=True)
        self._last_step = self.first_step - 1
        with path.open("wb") as self._log:
            for message in messages:
                if self._ready is None and not isinstance(message, Ready):
                    raise self._nonsense("expected a first state before anything else")
                if isinstance(message, Ready):
                    self._begin(message)
                elif isinstance(message, Stepped):
                    self._write_step(message)
                    yield message.step
                elif isinstance(message, Checkpointed):
                    self._adopt_checkpoint(message.step)
                elif isinstance(message, Finished):
                    self._adopt_kept(message.kept)
            os.fsync(self._log.fileno())

    def result(self) -> RecordedRun:
        """What the run told, after ``record`` was consumed.

        Returns:
            Its configuration, its environment and where it ended.

        Raises:
            CouldNotRunError: the run made no step.
        """
        if self._ready is None or not self._header_written:
            raise self._nonsense("expected at least one step")
        return RecordedRun(
            name=self.name,
            first_step=self.first_step,
            last_step=self._last_step,
            config=self._ready.config,
            config_schema=self._ready.config_schema,
            environment=self._ready.environment,
        )

    def _begin(self, message: Ready) -> None:
        if self._ready is not None:
            raise self._nonsense("a second first state")
        self._ready = message
        self._states = {self.first_step - 1: dict(message.state)}

    def _write(self, line: bytes) -> None:
        if self._log is None:
            raise self._nonsense("nothing to write to")
        self._log.write(line)
        self._log.flush()

    def _write_head(self, ready: Ready, declarations: tuple[Declaration, ...]) -> None:
        """The header names the stages of the first step, so it is written with that step."""
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
        if message.step != self._last_step + 1:
            raise self._nonsense(f"expected step {self._last_step + 1}, observed {message.step}")
        if not self._header_written and self._ready is not None:
            self._write_head(self._ready, message.declarations or ())
        line, self.chain = chain_step(self.chain, self._step_record(message))
        self._write(line)
        self._last_step = message.step
        if message.state is not None:
            self._states = {message.step: dict(message.state)}
        for stage, fingerprint in message.stages or ():
            if stage in self.keep:
                self._kept.setdefault(stage, []).append(fingerprint)

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
        """Re-read what the worker stored, hold it against the log, and write it with its chain."""
        name = checkpoint_name(step)
        npz, companion = self.handed / f"{name}.npz", self.handed / f"{name}.json"
        try:
            stored = StoredState.model_validate_json(companion.read_bytes())
            with npz.open("rb") as stream:
                read_state(stream, stored, where=f"{name}.npz")
        except (OSError, ValueError, PackageError) as error:
            raise self._nonsense(f"checkpoint {name} cannot be adopted: {error}") from error
        if dict(stored.components) != self._states.get(step):
            raise self._nonsense(f"checkpoint {name} does not hold the state that was recorded")
        folder = self.tree / checkpoint_folder(self.name)
        shutil.move(npz, folder / npz.name)
        document = checkpoint_bytes(stored, step=step, chain=self.chain)
        (folder / companion.name).write_bytes(document)

    def _adopt_kept(self, kept: tuple[KeptStage, ...]) -> None:
        if not kept:
            return
        with (self.tree / kept_path(self.name)).open("wb") as stream:
            writer = NpzWriter(stream)
            for stage in sorted(kept, key=lambda item: item.stage.encode()):
                path = self.handed / stage.file
                self._check_kept(stage, path)
                with path.open("rb") as source:
                    writer.add_raw(stage.stage, stage.dtype, (stage.rows, *stage.shape), source)
            writer.finish()

    def _check_kept(self, kept: KeptStage, path: Path) -> None:
        recorded = self._kept.get(kept.stage, [])
        size = int(np.prod(kept.shape, dtype=object)) * np.dtype(kept.dtype).itemsize
        if kept.rows != len(recorded) or path.stat().st_size != size * kept.rows:
            raise self._nonsense(f"kept stage {kept.stage!r} has not the recorded number of rows")
        with path.open("rb") as source:
            for row, expected in enumerate(recorded):
                array = np.frombuffer(source.read(size), kept.dtype).reshape(kept.shape)
                if fingerprint_canonical(array) != expected:
                    raise self._nonsense(
                        f"kept stage {kept.stage!r}, row {row}, is not what was recorded"
                    )

    def _nonsense(self, problem: str) -> CouldNotRunError:
        return CouldNotRunError(f"run {self.name!r}: the worker handed over nonsense: {problem}")
