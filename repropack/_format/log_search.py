"""The first step at which two logs are not one history, found by their chains without reading them.

Equal chains mean equal histories, so that chains are equal up to some step and differ from it on:
bisection finds it. A line is found by its step, by interpolation between lines that are known. All
of this believes what the logs say; whoever needs to know recomputes the chains (``LogReader``).
"""

from __future__ import annotations

import io
from bisect import bisect_left
from dataclasses import dataclass
from typing import BinaryIO

from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.log import LogMark, LogReader, read_line
from repropack.errors import LimitExceededError, PackageFormatError
from repropack.models.log import StepLine
from repropack.refusals import refusal

BLOCK_BYTES = 4096
"""What is read at a time."""
_INTERPOLATED = 8
"""Guesses before the range is halved instead: lines of uneven length mislead."""
_ATTEMPTS = 64
_MAX_BACK_BYTES = 128 * 1024
"""How far back a recorded state is looked for."""


@dataclass(frozen=True)
class Place:
    """A step's line: where it begins and ends in the log, in bytes, and what it says."""

    begin: int
    end: int
    line: StepLine

    @property
    def step(self) -> int:
        """The line's step."""
        return self.line.step


class LogIndex:
    """Single lines of a log, wherever they lie.

    Attributes:
        header: The header line.
        start: The start line.
        last: The last step's line; ``None`` where the log has no step.
    """

    def __init__(self, stream: BinaryIO, *, where: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """Read the head and the last line of a log.

        Args:
            stream: The log, at no cost seekable; it does best to buffer ``BLOCK_BYTES``.
            where: The log's path, for error messages.
            limits: As of ``LogReader``.

        Raises:
            PackageFormatError: one of these lines is malformed, or the log is cut.
            LimitExceededError: a line longer or deeper than ``limits`` allow.
            UnsupportedVersionError: the header names a later version of its schema.
        """
        self._stream = stream
        self._where = where
        self._limits = limits
        reader = LogReader(self._stream, where=where, limits=limits)
        self.header, self.start = reader.header, reader.start
        self._begin = reader.mark().offset
        self._size = self._stream.seek(0, io.SEEK_END)
        self._places: list[Place] = []
        self.last = self._last()

    @property
    def last_step(self) -> int:
        """The last step; the one before the first where there is none."""
        return self.header.first_step - 1 if self.last is None else self.last.step

    def find(self, step: int) -> Place:
        """Find the line of a step.

        Args:
            step: A step of this log, ``header.first_step`` to ``last_step``.

        Returns:
            Where it lies, and the line.

        Raises:
            PackageFormatError: there is no such line, or one that was looked at is malformed.
            LimitExceededError: a line longer or deeper than the limits allow.
        """
        position = bisect_left(self._places, step, key=lambda place: place.step)
        if position < len(self._places) and self._places[position].step == step:
            return self._places[position]
        before = self._places[position - 1] if position else None
        after = self._places[position] if position < len(self._places) else None
        found = self._search(step, before, after)
        self._places.insert(position, found)
        return found

    def chain_before(self, step: int) -> str:
        """The chain that the line of ``step`` continues: of the line before, or of the start."""
        first = step == self.header.first_step
        return self.start.chain if first else self.find(step - 1).line.chain

    def state_before(self, step: int) -> dict[str, str] | None:
        """The recorded state before ``step``, by component; ``None`` where it was not recorded."""
        first = step == self.header.first_step
        rows = self.start.state if first else self.find(step - 1).line.state
        return None if rows is None else dict(rows)

    def mark(self, step: int) -> LogMark:
        """Mark the place before a step's line, so that a ``LogReader`` goes on there.

        Args:
            step: A step of this log, or the one after its last.

        Returns:
            The mark; it does not know how many rows lie before it and says 0.

        Raises:
            PackageError: as ``find``.
        """
        first = step == self.header.first_step
        offset = self._begin if first else self.find(step - 1).end
        chain = self.chain_before(step)
        return LogMark(self.header, self.start, step, offset, chain, rows=0)

    def last_state_before(self, step: int) -> int | None:
        """The last step before ``step`` whose state was recorded, if it lies near.

        Args:
            step: A step of this log, or the one after its last.

        Returns:
            The step; ``None`` where none of the lines in the 128 kB before it has a state.

        Raises:
            PackageError: a line that was looked at is malformed.
        """
        if step == self.header.first_step:
            return step - 1
        before = self.find(step - 1)
        if before.line.state is not None:
            return before.step
        begin = max(self._begin, before.begin - _MAX_BACK_BYTES)
        lines = self._read(begin, before.begin - begin).splitlines(keepends=True)
        for raw in reversed(lines if begin == self._begin else lines[1:]):
            line = self._parse(raw, "a line")
            if line.state is not None:
                return line.step
        return self.header.first_step - 1 if begin == self._begin else None

    def _search(self, step: int, before: Place | None, after: Place | None) -> Place:
        low = self._begin if before is None else before.end
        high = self._size if after is None else after.begin
        first = self.header.first_step if before is None else before.step + 1
        behind = self.last_step + 1 if after is None else after.step
        for attempt in range(2 * self._size.bit_length() + _ATTEMPTS):
            if high <= low or not first <= step < behind:
                break
            guess = low if high - low <= BLOCK_BYTES else (low + high) // 2
            if attempt < _INTERPOLATED:
                share = (high - low) / (behind - first)
                guess = low + max(0, int(share * (step - first) - share / 2))
            place = self._line_from(guess, low)
            if place is None or place.begin >= high:
                high = guess
            elif place.step == step:
                return place
            elif place.step < step:
                low, first = place.end, place.step + 1
            else:
                high, behind = place.begin, place.step
        expected = f"the line of step {step}"
        raise PackageFormatError(refusal("log.sequence", self._where, "", expected, "none"))

    def _line_from(self, offset: int, low: int) -> Place | None:
        """The first line that begins at ``offset`` or behind it; ``low`` is where one begins."""
        begin = offset
        if offset > low:
            skipped = self._line_at(offset - 1)
            begin = offset - 1 + len(skipped)
        if begin >= self._size:
            return None
        raw = self._line_at(begin)
        return Place(begin, begin + len(raw), self._parse(raw, f"the line at byte {begin}"))

    def _last(self) -> Place | None:
        """The last line, looked for from the end on."""
        end, begin = self._size, self._size
        tail = b""
        while begin > self._begin and b"\n" not in tail[:-1]:
            self._check_length(len(tail))
            count = min(max(BLOCK_BYTES, len(tail)), begin - self._begin)
            begin -= count
            tail = self._read(begin, count) + tail
        if not tail:
            return None
        raw = tail[tail.rfind(b"\n", 0, -1) + 1 :]
        self._check_length(len(raw))
        place = Place(end - len(raw), end, self._parse(raw, "the last line"))
        self._places.append(place)
        return place

    def _parse(self, raw: bytes, place: str) -> StepLine:
        if not raw.endswith(b"\n"):
            one = refusal("log.cut", self._where, place, "a newline at its end", "a cut line")
            raise PackageFormatError(one)
        return read_line(StepLine, raw, where=self._where, place=place, limits=self._limits)

    def _line_at(self, offset: int) -> bytes:
        """What follows ``offset`` up to the end of the line."""
        self._stream.seek(offset)
        raw = self._stream.readline(self._limits.max_log_line_bytes + 1)
        self._check_length(len(raw))
        return raw

    def _check_length(self, count: int) -> None:
        maximum = self._limits.max_log_line_bytes
        if count > maximum:
            bounds = (maximum, count)
            raise LimitExceededError("max_log_line_bytes", self._where, "a line", bounds)

    def _read(self, offset: int, count: int) -> bytes:
        self._stream.seek(offset)
        return self._stream.read(count)


def first_unequal(left: LogIndex, right: LogIndex) -> int:
    """Find the first step at which two logs are no longer one history, by their chains.

    Args:
        left: One log.
        right: Another; the two have a step in common.

    Returns:
        The first common step whose chains differ; the step after the last common one where none
        does. The chains may differ before the first common step already: then nothing is known of
        the lines, and they have to be read.

    Raises:
        PackageFormatError: a line that was looked at is malformed or not where it must be.
        LimitExceededError: a line longer or deeper than the limits allow.
    """
    low = max(left.header.first_step, right.header.first_step)
    high = min(left.last_step, right.last_step)
    if _equal_at(high, left, right):
        return high + 1
    while low < high:
        middle = (low + high) // 2
        if _equal_at(middle, left, right):
            low = middle + 1
        else:
            high = middle
    return low


def _equal_at(step: int, left: LogIndex, right: LogIndex) -> bool:
    return left.find(step).line.chain == right.find(step).line.chain
