"""The fingerprint log: its lines as bytes, their chain, and a strict streaming reader.

A log is UTF-8 JSON lines: one header, one start line, then one line a step. Only the judging side
writes it; a worker hands over raw records (``_run``), never chained lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn, TypeVar

from pydantic import ValidationError

from repropack._format.canonical import (
    check_bounds,
    decode_exactly,
    decode_strict,
    encode_canonical,
)
from repropack._format.digests import digest_bytes
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.values import is_encoded_number
from repropack._format.versions import refuse_later_version
from repropack.errors import LimitExceededError, PackageFormatError, StateError
from repropack.models.base import Model
from repropack.models.log import HeaderLine, StartLine, StepLine
from repropack.refusals import refusal

CHAIN_DOMAIN = b"repropack.chain.v1\n"
CHAIN_START = digest_bytes(CHAIN_DOMAIN)
"""The chain before step 1 of a fresh run."""

_PREFIX = b'{"chain":"sha256:'
_PREFIX_BYTES = len(_PREFIX) + 64 + len(b'",')
_OPTIONAL = ("stages", "state", "declares", "finish")
_LONG_BYTES = 64 * 1024
"""A shorter line cannot hold more than can be parsed at once."""
_DEPTH = 8
"""More than a line that fits its model can have; a lower limit has to be looked at."""
_Line = TypeVar("_Line", bound=Model)


def encode_line(line: HeaderLine | StartLine) -> bytes:
    """Encode a header or start line.

    Args:
        line: The line.

    Returns:
        Canonical JSON with its newline.

    Raises:
        StateError: the line is longer than readers accept.
    """
    what = "the log's header" if isinstance(line, HeaderLine) else "the log's start line"
    return _limited(encode_canonical(line.model_dump(mode="json")), what)


def chain_step(previous: str, record: dict[str, Any]) -> tuple[bytes, str]:
    """Link one step to the chain before it.

    Args:
        previous: Chain of the line before, ``sha256:<64 hex>``.
        record: The step line's members except ``chain``; members that were not recorded absent.

    Returns:
        The stored line with its newline, and its chain: SHA-256 of ``repropack.chain.v1``,
        a newline, the chain before as hex, a newline, ``{`` and the line after its chain member.

    Raises:
        StateError: the line is longer than readers accept.

    Determinism:
        Equal histories give equal chains; a change in one step changes its chain and every later.
    """
    body = encode_canonical(record)[:-1]
    chain = _chain(previous, body)
    line = _PREFIX + chain.removeprefix("sha256:").encode("ascii") + b'",' + body[1:] + b"\n"
    return _limited(line, f"the log's line of step {record.get('step')}"), chain


def step_record(line: StepLine) -> dict[str, Any]:
    """The members of a step line except its chain, as they are stored.

    Args:
        line: The line.

    Returns:
        What ``chain_step`` takes; members that were not recorded are absent.
    """
    return _stored(line.model_dump(mode="json", exclude={"chain"}))


@dataclass(frozen=True)
class LogMark:
    """A place between two lines of a log up to which it was read and found right.

    Attributes:
        header: The header line.
        start: The start line.
        step: The step whose line follows.
        offset: Where it begins, in bytes.
        chain: The chain before it.
        rows: How many lines before it have ``stages``.
    """

    header: HeaderLine
    start: StartLine
    step: int
    offset: int
    chain: str
    rows: int


class LogReader:
    """Reads a log line by line, checking form, order and chain as it goes.

    What it cannot see: lines cut from the end of a log that no ``finish`` ends, and edits of the
    header or of the start line's state. Those are held against plan and checkpoints (``_read``).

    Attributes:
        header: The header line.
        start: The start line.
        chain: Chain of the last step read; at first the start line's.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        where: str,
        limits: Limits = DEFAULT_LIMITS,
        after: LogMark | None = None,
        twin: LogReader | None = None,
    ) -> None:
        """Read header and start line of ``stream``, or go on at a mark that was set before.

        Args:
            stream: The log from byte 0.
            where: The log's path, for error messages.
            limits: ``max_log_line_bytes`` and ``max_json_depth`` apply.
            after: A mark that another reader of the same bytes set.
            twin: A reader of another log, which reads each step before this one does; a line that
                is its last one byte by byte is not parsed a second time.

        Raises:
            PackageFormatError: a missing, malformed or non-canonical line.
            LimitExceededError: a line longer or deeper than ``limits`` allow.
            UnsupportedVersionError: the header names a later version of its schema.
        """
        self._stream = stream
        self._where = where
        self._limits = limits
        self._line_number = 0
        self._rows = 0
        self._twin = twin
        self._last: tuple[bytes, StepLine] | None = None
        if after is not None:
            stream.seek(after.offset)
            self.header, self.start, self.chain = after.header, after.start, after.chain
            self._expected, self._rows = after.step, after.rows
            self._line_number = 2 + after.step - after.header.first_step
            return
        self.header = self._read_model(HeaderLine, self._required_line("a header"))
        self.start = self._read_model(StartLine, self._required_line("a start line"))
        self.chain = self.start.chain
        self._expected = self.header.first_step

    def mark(self) -> LogMark:
        """Mark the place behind the last line that was read."""
        offset = self._stream.tell()
        return LogMark(self.header, self.start, self._expected, offset, self.chain, self._rows)

    def steps(self) -> Iterator[StepLine]:
        """Every step, once, in order.

        Yields:
            The step lines, each after its step number and chain were found right.

        Raises:
            PackageFormatError: a malformed line, a step out of order, or a chain that does not
                follow from the line before: the log was cut or edited.
            LimitExceededError: a line longer or deeper than ``limits`` allow.
        """
        finished: str | None = None
        while raw := self._next_line():
            line = self._read_step(raw)
            if finished is not None:
                self._refuse("log.finish", "", "no line after finish", "one")
            if line.step != self._expected:
                self._refuse("log.sequence", "", f"step {self._expected}", f"step {line.step}")
            computed = _chain(self.chain, b"{" + raw[_PREFIX_BYTES:-1])
            if computed != line.chain:
                place = f" (step {line.step}): the chain is broken here"
                self._refuse("log.chain", place, computed, line.chain)
            self.chain = line.chain
            finished = line.finish
            self._expected += 1
            self._rows += line.stages is not None
            yield line

    def _read_step(self, raw: bytes) -> StepLine:
        """Parse a line, unless the twin just has."""
        known = None if self._twin is None else self._twin._last  # noqa: SLF001 - its own kind
        if known is None or known[0] != raw:
            known = raw, self._read_model(StepLine, raw)
        self._last = known
        return known[1]

    def _next_line(self) -> bytes:
        maximum = self._limits.max_log_line_bytes
        raw = self._stream.readline(maximum + 1)
        if not raw:
            return b""
        self._line_number += 1
        if len(raw) > maximum:
            place, bounds = f"line {self._line_number}", (maximum, len(raw))
            raise LimitExceededError("max_log_line_bytes", self._where, place, bounds)
        if not raw.endswith(b"\n"):
            self._refuse("log.cut", "", "a newline at its end", "a cut line")
        return raw

    def _required_line(self, what: str) -> bytes:
        raw = self._next_line()
        if not raw:
            self._line_number += 1
            self._refuse("log.cut", "", what, "the end of the log")
        return raw

    def _read_model(self, model: type[_Line], raw: bytes) -> _Line:
        place = f"line {self._line_number}"
        return read_line(model, raw, where=self._where, place=place, limits=self._limits)

    def _refuse(self, rule: str, what: str, expected: object, observed: object) -> NoReturn:
        place = f"line {self._line_number}{what}"
        raise PackageFormatError(refusal(rule, self._where, place, expected, observed))


def read_line(
    model: type[_Line],
    raw: bytes,
    *,
    where: str,
    place: str = "line",
    limits: Limits = DEFAULT_LIMITS,
) -> _Line:
    """Read one log line strictly: there is one spelling of each line, and no other is read.

    Args:
        model: ``HeaderLine``, ``StartLine`` or ``StepLine``.
        raw: The stored line with its newline.
        where: The log's path, for error messages.
        place: Which line of it, for error messages.
        limits: Limits on size and depth.

    Returns:
        The frozen model; writing it again gives ``raw``.

    Raises:
        PackageFormatError: the line is not canonical JSON, does not fit the model, names a stage,
            component or constant twice or out of order, or holds a malformed number.
        LimitExceededError: longer or deeper than ``limits`` allow.
        UnsupportedVersionError: a header that names a later version of its schema.
    """
    if len(raw) > _LONG_BYTES:
        check_bounds(raw, where=where, place=place, limits=limits)
    line = decode_exactly(model, raw, _stored) if limits.max_json_depth >= _DEPTH else None
    if line is None:
        line = _read_strictly(model, raw, where, place, limits)
    for rule, member, expected, observed in _misnamed(line):
        raise PackageFormatError(refusal(rule, where, f"{place}: {member}", expected, observed))
    return line


def _read_strictly(model: type[_Line], raw: bytes, where: str, place: str, limits: Limits) -> _Line:
    """Read a line step by step, so that a refusal says what is wrong with it."""
    value = decode_strict(raw, where=where, place=place, limits=limits)
    if isinstance(value, dict) and any(value.get(key, "") is None for key in _OPTIONAL):
        raise PackageFormatError(
            refusal("log.null", where, place, "an unrecorded member to be absent", "null")
        )
    if model is HeaderLine:
        refuse_later_version(value, str(HeaderLine.model_fields["schema_name"].default), where)
    try:
        line = model.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        member = "/".join(map(str, first["loc"])) or "all of it"
        observed = f"{first['msg']} ({first['input']!r:.80})"
        raise PackageFormatError(
            refusal("log.member", where, f"{place}: {member}", "what its schema says", observed)
        ) from error
    if encode_canonical(_stored(line.model_dump(mode="json"))) != raw:
        observed = "a line that ends in CR LF" if raw.endswith(b"\r\n") else "another spelling"
        raise PackageFormatError(
            refusal("json.canonical", where, place, "canonical JSON", observed)
        )
    return line


_Fault = tuple[str, str, str, str]


def _misnamed(line: Model) -> Iterator[_Fault]:
    """Rows that a mapping would swallow, and members that mean nothing."""
    if isinstance(line, HeaderLine):
        yield from _row_faults(line.constants, "constants", in_order=True)
        yield from _row_faults(line.stages, "stages")
        yield from _repeat_faults([name for name, _ in line.stages], "stages")
    if isinstance(line, StartLine):
        yield from _state_faults(line.state)
    if isinstance(line, StepLine):
        yield from _state_faults(line.state or ())
        yield from _row_faults(line.stages or (), "stages")
        yield from _repeat_faults([name for name, _ in line.stages or ()], "stages")
        yield from _repeat_faults(sorted(line.metrics, key=_repeat), "metrics")
        yield from _row_faults(line.declares or (), "declares")
        if line.declares == ():
            yield "log.empty", "declares", "it to be absent", "none"
        for name, number in line.metrics.items():
            if isinstance(number, dict) and not is_encoded_number(number):
                yield "log.number", f"metrics/{name}", "a number", f"{number!r:.80}"


def _row_faults(
    rows: Sequence[tuple[str, object]], place: str, *, in_order: bool = False
) -> Iterator[_Fault]:
    names = [name for name, _ in rows]
    if len(set(names)) != len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        yield "log.name-twice", place, "each name once", f"{twice!r} twice"
    if in_order and names != sorted(names):
        yield "log.name-order", place, "names sorted", "another order"


def _state_faults(rows: Sequence[tuple[str, object]]) -> Iterator[_Fault]:
    yield from _row_faults(rows, "state", in_order=True)
    for name, _ in rows:
        if "." in name:
            yield "log.component", "state", "a component, without a dot", repr(name)
            return


def _repeat(name: str) -> tuple[str, int]:
    """The author's name, and which time it came within the step."""
    own, _, number = name.partition("#")
    return own, int(number or "1")


def _repeat_faults(names: Sequence[str], place: str) -> Iterator[_Fault]:
    """What comes again within a step is ``name#2``, then ``name#3``, behind the one before."""
    times: dict[str, int] = {}
    for name in names:
        own, number = _repeat(name)
        expected = times.get(own, 0) + 1
        if number != expected or name == f"{own}#1":
            told = own if expected == 1 else f"{own}#{expected}"
            yield "log.repeat", place, repr(told), repr(name)
            return
        times[own] = number


def _stored(members: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in members.items() if name not in _OPTIONAL or value is not None
    }


def _limited(line: bytes, what: str) -> bytes:
    """Refuse to write what no reader would accept."""
    maximum = DEFAULT_LIMITS.max_log_line_bytes
    if len(line) > maximum:
        raise StateError(
            what,
            f"expected at most {maximum} bytes, observed {len(line)}",
            hint="record fewer stages in a step, or give them shorter names",
        )
    return line


def _chain(previous: str, body: bytes) -> str:
    hexadecimal = previous.removeprefix("sha256:").encode("ascii")
    return digest_bytes(CHAIN_DOMAIN + hexadecimal + b"\n" + body)
