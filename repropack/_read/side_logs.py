"""One side of a comparison of runs, as far as it was read: what is malformed is a fault of its own.

Which of two logs is damaged has to be said, and both may have one path in their packages.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from repropack._format.limits import Limits
from repropack._format.log import LogMark, LogReader
from repropack._format.log_search import BLOCK_BYTES, LogIndex, Place
from repropack._format.paths import shown_path
from repropack._read.findings import Findings
from repropack._read.run import RunReader
from repropack._read.sides import OpenLog, Side, check_listed, check_run, open_log
from repropack.errors import PackageError
from repropack.models.log import HeaderLine, StepLine
from repropack.models.run_difference import RunSide

_BUFFER_BYTES = 256 * 1024


class DamagedError(Exception):
    """A side cannot be trusted; its findings say why."""


class NotedIndex(LogIndex):
    """Lines found one by one, of which a malformed one is a fault of its side."""

    def __init__(self, log: OpenLog, side: SideLog) -> None:
        self._side = side
        super().__init__(side.buffered(log, BLOCK_BYTES), where=log.where, limits=side.limits)

    def find(self, step: int) -> Place:
        with self._side.noting():
            return super().find(step)

    def last_state_before(self, step: int) -> int | None:
        with self._side.noting():
            return super().last_state_before(step)


@dataclass
class SideLog:
    """One of the two, as far as it was read."""

    side: Side
    limits: Limits
    findings: Findings
    stack: ExitStack
    log: OpenLog | None = None
    header: HeaderLine | None = None
    last_step: int | None = None
    chain: str | None = None
    finish: str | None = None

    def open(self, *, check: bool) -> OpenLog:
        """Open the log; a package that cannot be opened is a fault."""
        with self.noting():
            self.log = open_log(self.side, self.stack, limits=self.limits)
            if check:
                check_listed(self.log)
        return self.log

    def reader(
        self, log: OpenLog, *, twin: LogReader | None = None, after: LogMark | None = None
    ) -> LogReader:
        """Begin to read the log, or go on at a mark."""
        stream = self.buffered(log, _BUFFER_BYTES if after is None else BLOCK_BYTES)
        with self.noting():
            found = LogReader(stream, where=log.where, limits=self.limits, twin=twin, after=after)
        if after is None:
            self._begin(log, found.header, found.chain)
        return found

    def buffered(self, log: OpenLog, buffer_bytes: int) -> io.BufferedReader:
        """The log from byte 0; closed with everything else, for then the log is."""
        log.stream.seek(0)
        return self.stack.enter_context(io.BufferedReader(log.stream, buffer_bytes))

    def index(self, log: OpenLog) -> NotedIndex:
        """Read the head and the last line of the log."""
        with self.noting():
            found = NotedIndex(log, self)
        self._begin(log, found.header, found.start.chain)
        if found.last is not None:
            self._note(found.last.line)
        return found

    def steps(self, reader: LogReader) -> Iterator[StepLine]:
        """The lines of a log from its beginning; the last that was read is the last known."""
        for line in self.guarded(reader.steps()):
            self._note(line)
            yield line

    def guarded(self, lines: Iterator[StepLine]) -> Iterator[StepLine]:
        """Lines, of which a malformed one is a fault."""
        with self.noting():
            yield from lines

    def stored_run(self) -> RunReader | None:
        """What the package stores of this run; ``None`` for a log on its own."""
        if self.log is None or self.log.package is None or self.log.run is None:
            return None
        with self.noting():
            return RunReader(self.log.package.container, self.log.run, limits=self.limits)

    def read_stored(self) -> None:
        """Read all checkpoints and kept stages of this run; what is malformed is a fault."""
        run = self.stored_run()
        if run is None:
            return
        with self.noting():
            for step in run.checkpoint_steps():
                run.checkpoint(step)
            for stage in run.kept_stages():
                deque(run.kept_rows(stage) or (), maxlen=0)

    def described(self) -> RunSide:
        """What the report says of this side."""
        package = None if self.log is None else self.log.package
        return RunSide(
            path=shown_path(self.side.path),
            kind="log" if self.side.kind == "log" else "run",
            run=self.side.run if self.header is None else self.header.run,
            package_digest=None if package is None else package.package_digest,
            first_step=None if self.header is None else self.header.first_step,
            last_step=self.last_step,
            chain=self.chain,
            finish=self.finish,
            faults=tuple(self.findings.faults),
        )

    def _begin(self, log: OpenLog, header: HeaderLine, chain: str) -> None:
        with self.noting():
            check_run(log, header)
        self.header, self.chain, self.last_step = header, chain, header.first_step - 1

    def _note(self, line: StepLine) -> None:
        self.last_step, self.chain, self.finish = line.step, line.chain, line.finish

    def forget_end(self) -> None:
        """Say nothing of an end that was not read."""
        self.last_step = self.chain = self.finish = None

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Make a package error a fault of this side, and end the comparison."""
        try:
            yield
        except PackageError as error:
            path = shown_path(self.side.path)
            self.findings.add_error(error, path, container=str(self.side.path))
            raise DamagedError from error
