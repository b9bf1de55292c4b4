"""The judge's side of a run: checks what a worker says and writes it as a package does.

The log is written here, line by line with its chain and flushed, from messages. At each checkpoint
the judge takes over everything so far: the state and the rows of kept stages are read back from
the worker's files, held against the log, and only then written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import checkpoint_bytes, checkpoint_name, write_state
from repropack._format.digests import digest_bytes
from repropack._format.layout import checkpoint_folder, kept_path, log_path
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.log import CHAIN_START, chain_step, encode_line
from repropack._run.continuing import Continuation, RunJournal
from repropack._run.durable import sync_path
from repropack._run.handed import HandedFolder, TakenRows, nonsense
from repropack._run.zoom import SeenStep
from repropack.errors import CouldNotRunError
from repropack.models.log import Declaration, HeaderLine, StartLine
from repropack.models.work import KeptForm, RecordedRun
from repropack.models.worker import Checkpointed, Finished, Message, Ready, Stepped, Zoomed

__all__ = ["RecordedRun", "Recorder"]


@dataclass
class Recorder:
    """Writes one run under ``tree`` as ``runs/<run>/...`` from a worker's messages.

    Args:
        name: The run's name.
        tree: Root of the package tree being written.
        handed: The worker's output folder.
        own: An existing folder for the judge's own files of this run.
        first_step: The first step of the run, also where it is continued at a later one.
        keep: Stages that are kept whole.
        chain: The chain that the run continues.
        declared: What the log's header declares: the reference's own where a run resumes, so
            that an exact resume writes the reference's lines; ``None``: what the first step does.
        last_step: The last step planned; ``None``: the worker is not held to any.
        journal: Where a build notes how far the run is; then all that is written is synced at
            each checkpoint.
        continued: Where the run goes on after an interruption.
        zoom: The step that the worker hands over whole.
    """

    name: str
    tree: Path
    handed: Path
    own: Path
    first_step: int
    keep: tuple[str, ...] = ()
    chain: str = CHAIN_START
    declared: tuple[Declaration, ...] | None = None
    last_step: int | None = None
    journal: RunJournal | None = None
    continued: Continuation | None = None
    zoom: SeenStep | None = None
    _ready: Ready | None = None
    _finished: Finished | None = None
    _log: BinaryIO | None = None
    _declared: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    _state: tuple[tuple[str, str], ...] | None = None
    _rows: int = 0
    _step: int = 0
    _last: tuple[Stepped, tuple[tuple[str, str], ...] | None] | None = None
    _stored_step: int | None = None
    _noted: bool = False
    _finish: str | None = None
    _header_written: bool = False

    def __post_init__(self) -> None:
        """Begin where the run begins, or where it is continued."""
        self._folder = HandedFolder(self.name, self.handed)
        self._step = self.first_step - 1
        forms: tuple[KeptForm, ...] = ()
        if self.continued is not None:
            self._step, self._rows = self.continued.step, self.continued.rows
            self.chain, forms = self.continued.chain, self.continued.progress.kept
            self._declared = dict(self.continued.declared)
            self._header_written = self._noted = True
        self._taken = TakenRows(self.name, self.own, forms, durable=self.journal is not None)

    def record(self, messages: Iterator[Message]) -> Iterator[int]:
        """Consume a run's messages.

        Args:
            messages: First ``Ready``, then ``Checkpointed`` for the state before the first step,
                then ``Stepped`` once a step, each with ``Checkpointed`` after it or not, last
                ``Finished``.

        Yields:
            The number of each step once it stands in the log.

        Raises:
            CouldNotRunError: messages out of order, files that contradict them, or more than
                the limits of a package allow.
            InexactResumeError: a continued run gives other lines than it gave before.
            OSError: something cannot be written.
        """
        (self.tree / checkpoint_folder(self.name)).mkdir(parents=True, exist_ok=True)
        path = self.tree / log_path(self.name)
        with path.open("wb" if self.continued is None else "ab") as self._log:
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
                    self._adopt(message)
                elif isinstance(message, Zoomed):
                    self._look(message)
                elif isinstance(message, Finished):
                    self._note_end(message)
                else:
                    raise self._nonsense(f"expected a step or an end, observed {message.kind}")
            if self._finished is None:
                raise self._nonsense("expected an end, observed none")
        self._taken.write(self.tree / kept_path(self.name), self._rows)

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
            continued_after=()
            if self.continued is None
            else self.continued.progress.continued_after,
        )

    def _begin(self, message: Ready) -> None:
        if self._ready is not None:
            raise self._nonsense("expected one first state, observed a second")
        self._check_names("constants", message.constants)
        self._check_names("state", message.state)
        self._state = message.state
        if self.continued is not None:
            self.continued.check_start(message)
            message = self.continued.progress.ready
        self._ready = message

    def _note_end(self, message: Finished) -> None:
        if self._stored_step != self._step:
            raise self._nonsense(f"expected a checkpoint after step {self._step}, observed an end")
        if self._finish is None and self.last_step not in {None, self._step}:
            raise self._nonsense(
                f"expected {self.last_step} steps, observed an end after step {self._step}"
            )
        zoom = self.zoom
        if zoom is not None and self.first_step <= zoom.step <= self._step and not zoom.taken:
            raise self._nonsense(f"expected what step {zoom.step} recorded, observed an end")
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
        if self.continued is not None:
            self.continued.check_line(message.step, line)
        self._write(line)
        self._last = message, self._state
        self._step, self._state, self._finish = message.step, message.state, message.finish
        if message.stages is not None:
            stages = dict(message.stages)
            self._rows += 1
            for stage in set(self.keep):
                self._taken.expect(stage, stages[stage])

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

    def _adopt(self, message: Checkpointed) -> None:
        """Take over everything up to a checkpoint, so that no interruption loses more than since.

        Both files are written anew from what was read: the worker may still hold its own.
        """
        step, name = message.step, checkpoint_name(message.step)
        if step != self._step or self._stored_step == step:
            raise self._nonsense(f"expected a step after {self._step}, observed checkpoint {name}")
        stored, state = self._folder.read_checkpoint(step)
        if stored.components != self._state:
            raise self._nonsense(f"checkpoint {name} does not hold the state that was recorded")
        grown = self._taken.take(message.kept, self._folder)
        if self.continued is None or step > self.continued.step:
            document = checkpoint_bytes(stored, step=step, chain=self.chain)
            self._check_size(f"checkpoint {name}", "max_document_bytes", document)
            self._note_progress(grown)
            folder = self.tree / checkpoint_folder(self.name)
            with (folder / f"{name}.npz").open("wb") as stream:
                write_state(stream, state)
            (folder / f"{name}.json").write_bytes(document)
            if self.journal is not None:
                for path in (folder / f"{name}.npz", folder / f"{name}.json", folder):
                    sync_path(path)
        for suffix in ("npz", "json"):
            self._folder.remove(f"{name}.{suffix}")
        self._stored_step = step

    def _look(self, message: Zoomed) -> None:
        """Take over the step that is looked at, which is the one just made."""
        if self.zoom is None or self._last is None:
            raise self._nonsense(f"expected no step to look at, observed step {message.step}")
        told, before = self._last
        self.zoom.take(self.name, message, self._folder, told, before)

    def _note_progress(self, grown: bool) -> None:  # noqa: FBT001 - what ``take`` says
        """Sync the log, and note what a checkpoint needs beside itself to be continued from."""
        if self.journal is None or self._ready is None or self._log is None:
            return
        os.fsync(self._log.fileno())
        if grown or not self._noted:
            forms = tuple(self._taken.forms.values())
            self.journal.note(self._ready, forms, self.continued)
            self._noted = True

    def _check_size(self, what: str, limit: str, data: bytes) -> None:
        """What readers refuse is not written."""
        allowed: int = getattr(DEFAULT_LIMITS, limit)
        if len(data) > allowed:
            raise CouldNotRunError(
                f"run {self.name!r}: {what}: limit {limit} exceeded: allowed {allowed}, "
                f"observed {len(data)}"
            )

    def _nonsense(self, problem: str) -> CouldNotRunError:
        return nonsense(self.name, problem)
