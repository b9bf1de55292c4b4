"""Laws of the fingerprint log (docs/format.md, the chapter on logs)."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from repropack._format.log import CHAIN_START, LogReader, chain_step, step_record
from repropack._format.values import encode_value
from repropack.errors import PackageFormatError
from repropack.models.log import StepLine
from tests.strategies import any_floats, texts
from tests.support.handmade_logs import chained, digest_of, header, log_bytes, start

NAMES = st.from_regex(r"[a-c](\.[a-z]{1,2})?", fullmatch=True)
COMPONENTS = st.from_regex(r"[a-c][a-z]{0,2}", fullmatch=True)
DIGESTS = st.sampled_from([digest_of(text) for text in "abc"])
NUMBERS = (any_floats() | st.integers() | st.integers(-(10**30), 10**30)).map(
    lambda number: encode_value("m", number)
)


def named(
    values: st.SearchStrategy[Any], names: st.SearchStrategy[str] = NAMES
) -> st.SearchStrategy[list[list[Any]]]:
    return st.dictionaries(names, values, max_size=3).map(
        lambda rows: [list(row) for row in rows.items()]
    )


@st.composite
def histories(draw: st.DrawFn, min_steps: int = 1) -> list[dict[str, Any]]:
    """The members of the step lines of a run."""
    count = draw(st.integers(min_steps, 6))
    steps = []
    for number in range(1, count + 1):
        members: dict[str, Any] = {
            "step": number,
            "metrics": draw(st.dictionaries(NAMES, NUMBERS, max_size=2)),
            "printed": draw(st.dictionaries(NAMES, texts(), max_size=1)),
        }
        if draw(st.booleans()):
            members["stages"] = draw(named(DIGESTS))
        if draw(st.booleans()):
            members["state"] = sorted(draw(named(DIGESTS, COMPONENTS)))
        declares = draw(named(st.none() | st.lists(NAMES, max_size=2)))
        if declares:
            members["declares"] = declares
        if number == count and draw(st.booleans()):
            members["finish"] = draw(texts().filter(bool))
        steps.append(members)
    return steps


def read(data: bytes) -> list[StepLine]:
    return list(LogReader(BytesIO(data), where="l").steps())


def chains(steps: list[dict[str, Any]], chain: str = CHAIN_START) -> list[str]:
    found = []
    for members in steps:
        chain = chain_step(chain, members)[1]
        found.append(chain)
    return found


@given(histories())
def test_what_was_written_is_read(steps: list[dict[str, Any]]) -> None:
    """Every step comes back with its members, and writing it again gives its line."""
    lines = read(log_bytes(steps))
    assert [step_record(line) for line in lines] == steps
    chain = CHAIN_START
    for line, members in zip(lines, steps, strict=True):
        raw, chain = chain_step(chain, step_record(line))
        assert (raw, chain) == (chained(_before(lines, line), members)[0], line.chain)


def _before(lines: list[StepLine], line: StepLine) -> str:
    position = lines.index(line)
    return lines[position - 1].chain if position else CHAIN_START


@given(histories(), st.data())
def test_the_chain_changes_from_the_altered_step_on(
    steps: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Chains are equal before the altered step, and differ at it and at every later one."""
    position = data.draw(st.integers(0, len(steps) - 1))
    other = data.draw(histories())[0]
    other["step"] = steps[position]["step"]
    altered = [*steps[:position], other, *steps[position + 1 :]]
    pairs = list(zip(chains(steps), chains(altered), strict=True))
    equal = [left == right for left, right in pairs]
    changed = chained(CHAIN_START, other) != chained(CHAIN_START, steps[position])
    assert equal == [number < position or not changed for number in range(len(steps))]


@given(histories(), histories())
def test_equal_chains_mean_equal_histories(
    left: list[dict[str, Any]], right: list[dict[str, Any]]
) -> None:
    """The last chain decides whether two runs were the same."""
    same = chains(left)[-1] == chains(right)[-1]
    assert same == (log_bytes(left) == log_bytes(right))


@given(histories(min_steps=2), st.data())
def test_an_exact_resume_ends_with_the_reference_s_chain(
    steps: list[dict[str, Any]], data: st.DataObject
) -> None:
    """A log that continues from a checkpoint's chain goes on with the reference's own chains."""
    at = data.draw(st.integers(1, len(steps) - 1))
    whole = read(log_bytes(steps))
    resumed = log_bytes(steps[at:], header(first_step=at + 1), start(whole[at - 1].chain))
    assert read(resumed) == whole[at:]


@given(histories(), st.data())
def test_a_changed_byte_is_noticed(steps: list[dict[str, Any]], data: st.DataObject) -> None:
    """No byte of a step line changes unnoticed."""
    log = log_bytes(steps)
    body = len(log_bytes([]))
    position = data.draw(st.integers(body, len(log) - 1))
    bad = bytearray(log)
    bad[position] ^= data.draw(st.integers(1, 255))
    assert _is_refused(bytes(bad))


@given(histories(min_steps=2), st.data())
def test_missing_and_moved_lines_are_noticed(
    steps: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Lines cut out, doubled or moved are an error; only a log cut at its end is a shorter log."""
    lines = log_bytes(steps).splitlines(keepends=True)
    order = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=len(lines) + 1))
    assume(order != list(range(len(order))) or len(order) < 2)
    assert _is_refused(b"".join(lines[position] for position in order))


@given(histories(), st.data())
def test_a_log_cut_within_a_line_is_noticed(
    steps: list[dict[str, Any]], data: st.DataObject
) -> None:
    """A log whose last line has no end is an error."""
    log = log_bytes(steps)
    size = data.draw(st.integers(0, len(log) - 1))
    assume(size == 0 or log[size - 1 : size] != b"\n")
    assert _is_refused(log[:size])


def _is_refused(data: bytes) -> bool:
    try:
        read(data)
    except PackageFormatError:
        return True
    return False
