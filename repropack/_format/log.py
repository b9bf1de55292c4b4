"""The fingerprint log: its lines as bytes, their chain, and a strict streaming reader.

A log is UTF-8 JSON lines: one header, one start line, then one line a step. Only the judging side
writes it; a worker hands over raw records (``_run``), never chained lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, TypeVar

from pydantic import ValidationError

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.values import is_encoded_number
from repropack.errors import LimitExceededError, PackageFormatError, StateError
from repropack.models.base import Model
from repropack.models.log import HeaderLine, StartLine, StepLine

CHAIN_DOMAIN = b"repropack.chain.v1\n"
CHAIN_START = digest_bytes(CHAIN_DOMAIN)
"""The chain before step 1 of a fresh run."""

_PREFIX = b'{"chain":"sha256:'
_PREFIX_BYTES = len(_PREFIX) + 64 + len(b'",')
_OPTIONAL = ("stages", "state", "declares", "finish")
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


class LogReader:
    """Reads a log line by line, checking form, order and chain as it goes.

    What it cannot see: lines cut from the end of a log that no ``finish`` ends, and edits of the
    header or of the start line's state. Those are held against plan and checkpoints (``_read``).

    Attributes:
        header: The header line.
        start: The start line.
        chain: Chain of the last step read; at first the start line's.
    """

    def __init__(self, stream: BinaryIO, *, where: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """Read header and start line of ``stream``.

        Args:
            stream: The log from byte 0.
            where: The log's path, for error messages.
            limits: ``max_log_line_bytes`` and ``max_json_depth`` apply.

        Raises:
            PackageFormatError: a missing, malformed or non-canonical line.
            LimitExceededError: a line longer or deeper than ``limits`` allow.
        """
        self._stream = stream
        self._where = where
        self._limits = limits
        self._line_number = 0
        self.header = self._read_model(HeaderLine, self._required_line("a header"))
        self.start = self._read_model(StartLine, self._required_line("a start line"))
        self.chain = self.start.chain

    def steps(self) -> Iterator[StepLine]:
        """Every step, once, in order.

        Yields:
            The step lines, each after its step number and chain were found right.

        Raises:
            PackageFormatError: a malformed line, a step out of order, or a chain that does not
                follow from the line before: the log was cut or edited.
            LimitExceededError: a line longer or deeper than ``limits`` allow.
        """
        expected = self.header.first_step
        finished: str | None = None
        while raw := self._next_line():
            place = f"{self._where} line {self._line_number}"
            line = self._read_model(StepLine, raw)
            if finished is not None:
                raise PackageFormatError(f"{place}: expected no line after finish, observed one")
            if line.step != expected:
                raise PackageFormatError(
                    f"{place}: expected step {expected}, observed step {line.step}"
                )
            computed = _chain(self.chain, b"{" + raw[_PREFIX_BYTES:-1])
            if computed != line.chain:
                raise PackageFormatError(
                    f"{place} (step {line.step}): the chain is broken here: "
                    f"expected {computed}, observed {line.chain}"
                )
            self.chain = line.chain
            finished = line.finish
            expected += 1
            yield line

    def _next_line(self) -> bytes:
        maximum = self._limits.max_log_line_bytes
        raw = self._stream.readline(maximum + 1)
        if not raw:
            return b""
        self._line_number += 1
        place = f"{self._where} line {self._line_number}"
        if len(raw) > maximum:
            raise LimitExceededError(place, "max_log_line_bytes", maximum, len(raw))
        if not raw.endswith(b"\n"):
            raise PackageFormatError(f"{place}: expected a newline at its end, observed a cut line")
        return raw

    def _required_line(self, what: str) -> bytes:
        raw = self._next_line()
        if not raw:
            place = f"{self._where} line {self._line_number + 1}"
            raise PackageFormatError(f"{place}: expected {what}, observed the end of the log")
        return raw

    def _read_model(self, model: type[_Line], raw: bytes) -> _Line:
        place = f"{self._where} line {self._line_number}"
        return read_line(model, raw, where=place, limits=self._limits)


def read_line(
    model: type[_Line], raw: bytes, *, where: str, limits: Limits = DEFAULT_LIMITS
) -> _Line:
    """Read one log line strictly: there is one spelling of each line, and no other is read.

    Args:
        model: ``HeaderLine``, ``StartLine`` or ``StepLine``.
        raw: The stored line with its newline.
        where: The log's path and the line's number, for error messages.
        limits: Limits on size and depth.

    Returns:
        The frozen model; writing it again gives ``raw``.

    Raises:
        PackageFormatError: the line is not canonical JSON, does not fit the model, names a stage,
            component or constant twice or out of order, or holds a malformed number.
        LimitExceededError: longer or deeper than ``limits`` allow.
    """
    value = decode_strict(raw, where=where, limits=limits)
    if isinstance(value, dict) and any(value.get(key, "") is None for key in _OPTIONAL):
        raise PackageFormatError(
            f"{where}: expected an unrecorded member to be absent, observed null"
        )
    try:
        line = model.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(map(str, first["loc"]))
        raise PackageFormatError(f"{where}: {place or 'line'}: {first['msg']}") from error
    if encode_canonical(_stored(line.model_dump(mode="json"))) != raw:
        raise PackageFormatError(f"{where}: expected canonical JSON, observed another spelling")
    _check_names(line, where)
    return line


def _check_names(line: Model, where: str) -> None:
    """Refuse rows that a mapping would swallow, and numbers that mean nothing."""
    if isinstance(line, HeaderLine):
        _check_rows(line.constants, f"{where}: constants", in_order=True)
        _check_rows(line.stages, f"{where}: stages")
    if isinstance(line, StartLine):
        _check_rows(line.state, f"{where}: state", in_order=True)
    if isinstance(line, StepLine):
        _check_rows(line.state or (), f"{where}: state", in_order=True)
        _check_rows(line.stages or (), f"{where}: stages")
        _check_rows(line.declares or (), f"{where}: declares")
        if line.declares == ():
            raise PackageFormatError(f"{where}: declares: expected it to be absent, observed none")
        for name, number in line.metrics.items():
            if isinstance(number, dict) and not is_encoded_number(number):
                raise PackageFormatError(
                    f"{where}: metrics/{name}: expected a number, observed {number!r:.80}"
                )


def _check_rows(rows: Sequence[tuple[str, object]], place: str, *, in_order: bool = False) -> None:
    names = [name for name, _ in rows]
    if len(set(names)) != len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise PackageFormatError(f"{place}: expected each name once, observed {twice!r} twice")
    if in_order and names != sorted(names):
        raise PackageFormatError(f"{place}: expected names sorted, observed another order")


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
