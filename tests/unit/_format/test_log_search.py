"""Single lines of a log found where they lie, and the first step that is no longer one history."""

from __future__ import annotations

import io
from typing import Any

import pytest

from repropack._format.limits import Limits
from repropack._format.log import LogReader
from repropack._format.log_search import BLOCK_BYTES, LogIndex, first_unequal
from repropack.errors import LimitExceededError, PackageFormatError
from tests.support.handmade_logs import digest_of, fresh_chain, header, log_bytes, start, step


class Counted(io.RawIOBase):
    """Bytes in memory that count what is read of them."""

    def __init__(self, data: bytes) -> None:
        self._inner = io.BytesIO(data)
        self.bytes_read = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()

    def readinto(self, buffer: Any, /) -> int:
        count = self._inner.readinto(buffer)
        self.bytes_read += count
        return count


def index(data: bytes, **limits: int) -> LogIndex:
    return LogIndex(io.BytesIO(data), where="a.jsonl", limits=Limits(**limits))


def uneven(number: int) -> str:
    """Texts of very different lengths, so that no line lies where an average puts it."""
    return "x" * (400 if number % 17 == 0 else number % 5)


def log_of(last: int, parts_at: int = 10**9, first: int = 1) -> bytes:
    """A log that is another one from a step on."""
    steps = (
        step(number, printed={"loss": uneven(number) + ("!" if number >= parts_at else "")})
        for number in range(first, last + 1)
    )
    return log_bytes(steps, header(first))


@pytest.mark.parametrize("first", [1, 41])
def test_every_line_is_found_by_its_step(first: int) -> None:
    """In any order, and with what the line says."""
    data = log_of(first + 299, first=first)
    places = index(data)
    assert (places.header.first_step, places.last_step) == (first, first + 299)
    for number in [first + 150, first, first + 299, *range(first, first + 300)]:
        place = places.find(number)
        assert place.line.step == number
        assert place.line.printed == {"loss": uneven(number)}
        assert data[place.begin : place.end].endswith(b'"step":%d}\n' % number)


@pytest.mark.parametrize("parts_at", [1, 2, 3, 150, 299, 300])
def test_the_first_step_that_differs_is_found(parts_at: int) -> None:
    """Wherever it is, from either side."""
    left, right = index(log_of(300)), index(log_of(300, parts_at))
    assert first_unequal(left, right) == parts_at
    assert first_unequal(index(log_of(300, parts_at)), index(log_of(300))) == parts_at


def test_equal_logs_are_equal_to_the_end_of_the_shorter() -> None:
    """What only one of them has is not looked at."""
    assert first_unequal(index(log_of(300)), index(log_of(300))) == 301
    assert first_unequal(index(log_of(300)), index(log_of(120))) == 121


def test_a_resumed_run_is_searched_from_its_first_step_on() -> None:
    """Its start line has the chain that it continues."""
    whole = index(log_of(100))
    chain = whole.find(40).line.chain
    steps = [step(number, printed={"loss": uneven(number)}) for number in range(41, 101)]
    exact = log_bytes(steps, header(41), start(chain))
    assert first_unequal(index(log_of(100)), index(exact)) == 101
    steps[19] = step(60)
    assert (
        first_unequal(index(log_of(100)), index(log_bytes(steps, header(41), start(chain)))) == 60
    )
    other = log_bytes(steps, header(41), start(digest_of("another history")))
    assert first_unequal(index(log_of(100)), index(other)) == 41


def test_little_is_read_of_a_long_log() -> None:
    """Some thirty blocks of 4 kB, of two logs of 1.6 MB."""
    logs = [Counted(log_of(2500)), Counted(log_of(2500, 1700))]
    left, right = (LogIndex(io.BufferedReader(log, BLOCK_BYTES), where="a.jsonl") for log in logs)
    assert first_unequal(left, right) == 1700
    assert all(log.bytes_read < 200_000 for log in logs)


def test_a_reader_goes_on_where_the_search_ended() -> None:
    """From any step, with the chain before it; behind the last line is the end."""
    data = log_of(30)
    places = index(data)
    for number in (1, 2, 17, 30):
        reader = LogReader(io.BytesIO(data), where="a.jsonl", after=places.mark(number))
        assert [line.step for line in reader.steps()] == list(range(number, 31))
    assert list(LogReader(io.BytesIO(data), where="a", after=places.mark(31)).steps()) == []
    assert places.chain_before(1) == fresh_chain()
    assert places.chain_before(18) == places.find(17).line.chain


def test_the_state_before_a_step_is_known_where_it_was_recorded() -> None:
    """Of the first step it is the start line's; the last recorded one before it is found."""
    steps = [
        step(number, **({} if number % 10 == 0 else {"state": None})) for number in range(1, 41)
    ]
    places = index(log_bytes(steps))
    assert places.state_before(1) == {"s": digest_of("s0"), "w": digest_of("w0")}
    assert places.state_before(31) == {"s": digest_of("s30"), "w": digest_of("w30")}
    assert places.state_before(32) is None
    assert [places.last_state_before(number) for number in (1, 5, 11, 35, 40, 41)] == [
        0,
        0,
        10,
        30,
        30,
        40,
    ]


def test_a_state_that_lies_far_back_is_not_looked_for() -> None:
    """128 kB before the line are read, and then nothing is claimed."""
    steps = [step(number, **({"state": None} if number > 1 else {})) for number in range(1, 401)]
    assert index(log_bytes(steps)).last_state_before(401) is None


def test_a_log_without_a_step_has_none() -> None:
    """Its last step is the one before its first."""
    empty = index(log_bytes([], header(7)))
    assert (empty.last, empty.last_step) == (None, 6)


def test_a_line_longer_than_a_block_is_read_whole() -> None:
    """Also where it is the last one."""
    names = [[f"stage-{number}", digest_of("a")] for number in range(200)]
    data = log_bytes([step(1), step(2, stages=names), step(3), step(4, stages=names)])
    places = index(data)
    assert [len(places.find(number).line.stages or ()) for number in (4, 2, 3)] == [200, 200, 3]


@pytest.mark.hostile
def test_what_is_looked_at_has_to_be_right() -> None:
    """A cut end, a line that is none, a step that is not there, a line without an end."""
    data = log_of(50)
    with pytest.raises(PackageFormatError, match="the last line: expected a newline at its end"):
        index(data[:-1])
    with pytest.raises(PackageFormatError, match="the last line"):
        index(data + b"{}\n")
    lines = data.splitlines(keepends=True)
    with pytest.raises(PackageFormatError, match="expected the line of step 20, observed none"):
        index(b"".join(lines[:21] + lines[22:])).find(20)
    with pytest.raises(PackageFormatError, match=r"the line at byte \d+"):
        index(b"".join([*lines[:20], b'{"step":19}\n' * 3, *lines[23:]])).find(20)
    with pytest.raises(LimitExceededError, match="max_log_line_bytes"):
        index(data + b"x" * 70_000, max_log_line_bytes=10_000)
    with pytest.raises(LimitExceededError, match="max_log_line_bytes"):
        index(data, max_log_line_bytes=700).find(17)


@pytest.mark.hostile
def test_steps_in_another_order_end_the_search() -> None:
    """Lines that mislead it are refused, and it always ends."""
    lines = log_of(60).splitlines(keepends=True)
    shuffled = b"".join([*lines[:2], *reversed(lines[2:-1]), lines[-1]])
    places = index(shuffled)
    refused = 0
    for number in range(1, 60):
        try:
            assert places.find(number).line.step == number
        except PackageFormatError:
            refused += 1
    assert refused > 40
