"""The fingerprint log: its lines as bytes, their chain, and a strict streaming reader.

A log is UTF-8 JSON lines: one header, one start line, then one line a step. Only the judging side
writes it; a worker hands over raw records (``_run``), never chained lines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, BinaryIO, TypeVar

from pydantic import ValidationError

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack.errors import LimitExceededError, PackageFormatError
from repropack.models.base import Model
from repropack.models.log import HeaderLine, StartLine, StepLine

CHAIN_DOMAIN = b"repropack.chain.v1\n"
CHAIN_START = f"sha256:{hashlib.sha256(CHAIN_DOMAIN).hexdigest()}"
"""The chain before step 1 of a fresh run."""

_PREFIX = b'{"chain":"sha256:'
_PREFIX_BYTES = len(_PREFIX) + 64 + len(b'",')
_OPTIONAL = ("stages", "state", "declares", "finish")
_Line = TypeVar("_Line", bound=Model)


def encode_line(line: HeaderLine | StartLine) -> bytes:
    """Header or start line as canonical JSON with its newline."""
    return encode_canonical(line.model_dump(mode="json"))


def chain_step(previous: str, record: dict[str, Any]) -> tuple[bytes, str]:
    """Link one step to the chain before it.

    Args:
        previous: Chain of the line before, ``sha256:<64 hex>``.
        record: The step line's members except ``chain``; members that were not recorded absent.

    Returns:
        The stored line with its newline, and its chain: SHA-256 of ``repropack.chain.v1``,
        a newline, the chain before as hex, a newline, ``{`` and the line after its chain member.
    """
    body = encode_canonical(record)[:-1]
    chain = _chain(previous, body)
    return _PREFIX + chain.removeprefix("sha256:").encode("ascii") + b'",' + body[1:] + b"\n", chain


def step_record(line: StepLine) -> dict[str, Any]:
    """The members of a step line except its chain, as they are stored."""
    record = line.model_dump(mode="json", exclude={"chain"})
    return {key: value for key, value in record.items() if key not in _OPTIONAL or value is not None}


class LogReader:
    """Reads a log line by line, checking form, order and chain as it goes.

    Attributes:
        header: The header line.
        start: The start line.
        chain: Chain of the last step read; at first the start line's.
    """

    def __init__(self, stream: BinaryIO, *, where: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """Read header and start line of ``stream``.

        Raises:
            PackageFormatError: a missing, malformed or non-canonical line.
            LimitExceededError: a line longer than ``limits.max_log_line_bytes``.
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
            LimitExceededError: a line longer than ``limits.max_log_line_bytes``.
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
        return read_line(model, raw, where=f"{self._where} line {self._line_number}")


def read_line(model: type[_Line], raw: bytes, *, where: str) -> _Line:
    """Read one log line strictly: canonical JSON of exactly the model's members.

    Raises:
        PackageFormatError: the line is not canonical JSON or does not fit the model.
    """
    value = decode_strict(raw, where=where)
    if encode_canonical(value) != raw:
        raise PackageFormatError(f"{where}: expected canonical JSON, observed another spelling")
    if isinstance(value, dict) and any(value.get(key, "") is None for key in _OPTIONAL):
        raise PackageFormatError(f"{where}: expected an unrecorded member to be absent, observed null")
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(map(str, first["loc"]))
        raise PackageFormatError(f"{where}: {place or 'line'}: {first['msg']}") from error


def _chain(previous: str, body: bytes) -> str:
    hasher = hashlib.sha256(CHAIN_DOMAIN)
    hasher.update(previous.removeprefix("sha256:").encode("ascii") + b"\n" + body)
    return f"sha256:{hasher.hexdigest()}"
