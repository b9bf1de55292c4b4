"""The fingerprint log: its bytes, its chain, and every way in which it can be cut or edited."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from repropack._format.limits import Limits
from repropack._format.log import (
    CHAIN_START,
    LogReader,
    chain_step,
    encode_line,
    read_line,
    step_record,
)
from repropack.errors import (
    LimitExceededError,
    PackageFormatError,
    StateError,
    UnsupportedVersionError,
)
from repropack.models.log import HeaderLine, StartLine, StepLine
from tests.support.handmade_logs import (
    canonical,
    chained,
    digest_of,
    fresh_chain,
    header,
    log_bytes,
    start,
    step,
)

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64


def read(data: bytes, limits: Limits | None = None) -> tuple[HeaderLine, StartLine, list[StepLine]]:
    reader = LogReader(BytesIO(data), where="l.jsonl", limits=limits or Limits())
    return reader.header, reader.start, list(reader.steps())


def refusal(data: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(PackageFormatError) as caught:
        read(data, limits)
    return caught.value.message


# ---------------------------------------------------------------- bytes and chain


def test_the_first_chain_is_the_digest_of_the_domain() -> None:
    """A fresh run starts from SHA-256 of ``repropack.chain.v1`` and a newline."""
    assert (
        CHAIN_START
        == fresh_chain()
        == "sha256:0c94987c9bce6fb99c7db8b4ea1711a6976727b5f199c989921639418903c40f"
    )


def test_a_small_log_is_literally_this() -> None:
    """Header, start line and two steps, byte for byte, and their chains by hand."""
    head = HeaderLine(
        run="reference",
        config=A,
        constants=(("x", B),),
        first_step=1,
        stages=(("g", ("state:w",)), ("w", None)),
    )
    begin = StartLine(chain=CHAIN_START, state=(("w", A),))
    assert encode_line(head).decode() == (
        '{"config":"' + A + '","constants":[["x","' + B + '"]],"first_step":1,"run":"reference",'
        '"schema":"repropack/fingerprint-log/v1","stages":[["g",["state:w"]],["w",null]]}\n'
    )
    assert encode_line(begin).decode() == (
        '{"chain":"' + fresh_chain() + '","state":[["w","' + A + '"]]}\n'
    )
    rest1 = (
        '"metrics":{"loss":0.5},"printed":{"loss":"0.5"},"stages":[["g","' + A + '"]],'
        '"state":[["w","' + B + '"]],"step":1}'
    )
    rest2 = '"finish":"done","metrics":{"loss":{"$float":"nan"}},"printed":{},"step":2}'
    start_hex = hashlib.sha256(b"repropack.chain.v1\n").hexdigest()
    chain1 = hashlib.sha256(f"repropack.chain.v1\n{start_hex}\n{{{rest1}".encode()).hexdigest()
    chain2 = hashlib.sha256(f"repropack.chain.v1\n{chain1}\n{{{rest2}".encode()).hexdigest()
    line1, observed1 = chain_step(
        CHAIN_START,
        {
            "step": 1,
            "metrics": {"loss": 0.5},
            "printed": {"loss": "0.5"},
            "stages": [["g", A]],
            "state": [["w", B]],
        },
    )
    line2, observed2 = chain_step(
        observed1,
        {"step": 2, "metrics": {"loss": {"$float": "nan"}}, "printed": {}, "finish": "done"},
    )
    assert line1.decode() == f'{{"chain":"sha256:{chain1}",{rest1}\n'
    assert line2.decode() == f'{{"chain":"sha256:{chain2}",{rest2}\n'
    assert (observed1, observed2) == (f"sha256:{chain1}", f"sha256:{chain2}")
    read_head, read_start, steps = read(encode_line(head) + encode_line(begin) + line1 + line2)
    assert (read_head, read_start) == (head, begin)
    assert [line.step for line in steps] == [1, 2]
    assert steps[0].stages == (("g", A),)
    assert (steps[1].stages, steps[1].state, steps[1].finish) == (None, None, "done")


def test_a_log_built_by_hand_is_read() -> None:
    """The support's own log writer and the reader agree on the chain."""
    data = log_bytes([step(1), step(2), step(3, finish="early")])
    head, begin, steps = read(data)
    assert (head.first_step, begin.chain) == (1, fresh_chain())
    assert steps[-1].chain == chained(steps[-2].chain, step(3, finish="early"))[1]
    assert steps[0].metrics == {"loss": 1.0}


def test_the_reader_offers_the_last_chain() -> None:
    """``chain`` is the start's at first, then that of the last step read."""
    reader = LogReader(BytesIO(log_bytes([step(1), step(2)])), where="l.jsonl")
    assert reader.chain == reader.start.chain
    for line in reader.steps():
        assert reader.chain == line.chain


def test_a_resumed_log_continues_its_checkpoint() -> None:
    """A resume with equal steps ends with the reference's own chain."""
    steps = [step(number) for number in range(1, 6)]
    whole = read(log_bytes(steps))[2]
    resumed = log_bytes(steps[3:], header(first_step=4), start(whole[2].chain))
    assert read(resumed)[2] == whole[3:]


@pytest.mark.parametrize(
    "members",
    [
        step(1),
        step(1, stages=None),
        step(1, state=None),
        step(1, finish="x", declares=[["w", ["gradient"]]]),
        step(1, metrics={"a": -0.0, "b": 1, "c": {"$int": "-9007199254740992"}}),
        step(1, stages=[], state=[], metrics={}, printed={}),
    ],
    ids=["full", "no-stages", "no-state", "finish-and-declares", "numbers", "empty"],
)
def test_a_line_is_written_again_as_it_was_read(members: dict[str, Any]) -> None:
    """Reading and writing a line gives its bytes, so that nothing in it is without a meaning."""
    raw, chain = chained(fresh_chain(), members)
    line = read_line(StepLine, raw, where="l")
    assert canonical(step_record(line)) == canonical(members)
    assert chain_step(fresh_chain(), step_record(line)) == (raw, chain)


def test_lines_that_nobody_could_read_are_not_written() -> None:
    """A line past the readers' limit is refused when it is written, naming its step."""
    with pytest.raises(StateError) as caught:
        chain_step(CHAIN_START, step(7, printed={"a": "x" * (1 << 20)}))
    assert str(caught.value).startswith(
        '"the log\'s line of step 7": expected at most 1048576 bytes, observed '
    )
    stages = tuple((f"stage{number}", None) for number in range(60_000))
    head = HeaderLine(run="r", config=A, constants=(), first_step=1, stages=stages)
    with pytest.raises(StateError, match="the log's header"):
        encode_line(head)


def test_a_line_of_exactly_the_limit_is_written_and_read() -> None:
    """The limit is inclusive on both sides."""

    def line_of(size: int) -> bytes:
        rows = [[f"s{number:06d}", None] for number in range((size - 2000) // 17)]
        bare = len(chained(fresh_chain(), step(1, declares=[*rows, ["x", ["y"]]]))[0])
        inputs = ["y" * (1 + (size - bare))]
        return chain_step(CHAIN_START, step(1, declares=[*rows, ["x", inputs]]))[0]

    assert len(line_of(1 << 20)) == 1 << 20
    with pytest.raises(StateError, match="expected at most 1048576 bytes, observed 1048577"):
        line_of((1 << 20) + 1)
    line = chain_step(CHAIN_START, step(1))[0]
    head = canonical(header()) + b"\n" + canonical(start()) + b"\n"
    longest = max(len(line), len(canonical(header())) + 1)
    assert read(head + line, Limits(max_log_line_bytes=longest))[2][0].step == 1
    assert "max_log_line_bytes" in refusal(head + line, Limits(max_log_line_bytes=longest - 1))


# ---------------------------------------------------------------- cut, swapped, edited

FIVE = log_bytes([step(number) for number in range(1, 5)] + [step(5, finish="done")])
LINES = FIVE.splitlines(keepends=True)


@pytest.mark.hostile
@pytest.mark.parametrize("position", range(2, 6))
def test_a_line_cut_out_is_noticed(position: int) -> None:
    """A missing step shows where it is missing."""
    message = refusal(b"".join(LINES[:position] + LINES[position + 1 :]))
    assert message == (
        f"l.jsonl: line {position + 1}: expected step {position - 1}, observed step {position}"
    )


@pytest.mark.hostile
@pytest.mark.parametrize("position", range(2, 6))
def test_a_line_cut_out_and_renumbered_is_noticed(position: int) -> None:
    """Numbering the later steps anew breaks the chain at the first of them."""
    kept = LINES[:position] + [
        line.replace(b'"step":%d}' % number, b'"step":%d}' % (number - 1))
        for number, line in enumerate(LINES[position + 1 :], position)
    ]
    assert f"line {position + 1} (step {position - 1}): the chain is broken here" in refusal(
        b"".join(kept)
    )


@pytest.mark.hostile
@pytest.mark.parametrize("position", range(1, 6))
def test_swapped_lines_are_noticed(position: int) -> None:
    """Two neighbouring lines in the other order are an error."""
    swapped = list(LINES)
    swapped[position], swapped[position + 1] = swapped[position + 1], swapped[position]
    assert refusal(b"".join(swapped)).startswith(f"l.jsonl: line {position + 1}")


@pytest.mark.hostile
@pytest.mark.parametrize("position", range(2, 7))
def test_a_doubled_line_is_noticed(position: int) -> None:
    """The same step twice is an error."""
    assert f"line {position + 2}: " in refusal(
        b"".join([*LINES[: position + 1], LINES[position], *LINES[position + 1 :]])
    )


@pytest.mark.hostile
def test_an_edited_step_is_named() -> None:
    """The message says which step was edited, and shows both chains."""
    edited = LINES[3].replace(b'"0.5000"', b'"0.5001"')
    observed = edited[10:81].decode()
    body = edited[edited.index(b',"metrics"') + 1 : -1]
    before = LINES[2][17:81]
    expected = hashlib.sha256(b"repropack.chain.v1\n" + before + b"\n{" + body).hexdigest()
    message = refusal(b"".join([*LINES[:3], edited, *LINES[4:]]))
    assert message == (
        "l.jsonl: line 4 (step 2): the chain is broken here: "
        f"expected sha256:{expected}, observed {observed}"
    )


@pytest.mark.hostile
def test_a_step_edited_with_its_chain_breaks_the_next() -> None:
    """Making one line consistent moves the break to the line after it."""
    line, _ = chained(LINES[2][10:81].decode(), step(2, metrics={"loss": 0.25}))
    assert "line 5 (step 3): the chain is broken here" in refusal(
        b"".join([*LINES[:3], line, *LINES[4:]])
    )


@pytest.mark.hostile
@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80])
def test_every_changed_byte_is_noticed(mask: int) -> None:
    """No byte of a log can change unnoticed; only header and start line are outside the chain."""
    good = read(FIVE)
    outside = len(LINES[0]) + len(LINES[1])
    unnoticed = []
    for position in range(len(FIVE)):
        data = bytearray(FIVE)
        data[position] ^= mask
        try:
            observed = read(bytes(data))
        except PackageFormatError:
            continue
        if position >= outside or observed[:2] == good[:2] or observed[2] != good[2]:
            unnoticed.append(position)
    assert unnoticed == []


@pytest.mark.hostile
def test_every_cut_is_noticed_but_that_between_lines() -> None:
    """A log cut within a line is an error; one cut between lines is a shorter log."""
    ends = {sum(map(len, LINES[: count + 1])): count - 1 for count in range(1, 7)}
    for size in range(len(FIVE)):
        if size in ends:
            assert len(read(FIVE[:size])[2]) == ends[size]
        else:
            message = refusal(FIVE[:size])
            assert "observed a cut line" in message or "observed the end of the log" in message


@pytest.mark.hostile
def test_nothing_follows_a_finish() -> None:
    """A line after the one that ends the run is an error, even with its chain right."""
    data = log_bytes([step(1), step(2, finish="x"), step(3)])
    assert refusal(data) == "l.jsonl: line 5: expected no line after finish, observed one"


def test_an_edited_header_is_another_header() -> None:
    """The header is outside the chain: the reader hands out what is there."""
    data = b"".join([LINES[0].replace(b'"run":"reference"', b'"run":"referenca"'), *LINES[1:]])
    assert read(data)[0].run == "referenca"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "l.jsonl: line 1: expected a header, observed the end of the log"),
        (LINES[0], "l.jsonl: line 2: expected a start line, observed the end of the log"),
        (LINES[0][:-1], "l.jsonl: line 1: expected a newline at its end, observed a cut line"),
        (b"\n" + FIVE, "l.jsonl: line 1: expected strict JSON"),
        (LINES[1] + LINES[0], "l.jsonl: line 1: "),
        (FIVE + b"\n", "l.jsonl: line 8: expected strict JSON"),
        (FIVE + b" ", "l.jsonl: line 8: expected a newline at its end"),
        (FIVE.replace(b"\n", b"\r\n"), "l.jsonl: line 1: expected canonical JSON"),
        (b"\xef\xbb\xbf" + FIVE, "l.jsonl: line 1: expected UTF-8 without a byte order mark"),
        (b"PK\x03\x04\n", "l.jsonl: line 1: expected strict JSON"),
    ],
    ids=[
        "empty",
        "no-start",
        "cut-header",
        "blank-first",
        "swapped",
        "blank-last",
        "space-last",
        "crlf",
        "bom",
        "zip",
    ],
)
def test_a_log_begins_and_ends_as_it_must(data: bytes, message: str) -> None:
    """What is no log is told so with its line."""
    assert refusal(data).startswith(message)


# ---------------------------------------------------------------- one spelling of each line


def refuse_line(raw: bytes, model: Any = StepLine) -> str:
    with pytest.raises(PackageFormatError) as caught:
        read_line(model, raw, where="l", place="line 3")
    return caught.value.message


GOOD = chained(fresh_chain(), step(1, finish="x"))[0]
SPELLING = "l: line 3: expected canonical JSON, observed another spelling"
SPELLED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "space": (lambda raw: raw.replace(b'":', b'": ', 1), SPELLING),
    "no-newline": (lambda raw: raw[:-1], SPELLING),
    "two-newlines": (lambda raw: raw + b"\n", SPELLING),
    "order": (lambda raw: b'{"step":1,' + raw[1:].replace(b',"step":1', b""), SPELLING),
    "escape": (lambda raw: raw.replace(b'"finish":"x"', b'"finish":"\\u0078"'), SPELLING),
    "escaped-key": (lambda raw: raw.replace(b'"finish"', b'"f\\u0069nish"'), SPELLING),
    "exponent": (lambda raw: raw.replace(b'"loss":1.0', b'"loss":1e0'), SPELLING),
    "digits": (lambda raw: raw.replace(b'"loss":1.0', b'"loss":1.00'), SPELLING),
    "integer": (lambda raw: raw.replace(b'"step":1', b'"step":1.0'), "l: line 3: step: "),
    "bool": (lambda raw: raw.replace(b'"step":1', b'"step":true'), "l: line 3: step: "),
    "twice": (lambda raw: raw.replace(b"{", b'{"step":1,', 1), "the key 'step' twice"),
    "null-finish": (
        lambda raw: raw.replace(b'"finish":"x"', b'"finish":null'),
        "l: line 3: expected an unrecorded member to be absent, observed null",
    ),
    "null-stages": (
        lambda raw: raw.replace(canonical(step(1)["stages"]), b"null"),
        "l: line 3: expected an unrecorded member to be absent, observed null",
    ),
    "null-declares": (
        lambda raw: raw.replace(b'"finish"', b'"declares":null,"finish"'),
        "l: line 3: expected an unrecorded member to be absent, observed null",
    ),
    "null-metrics": (lambda raw: raw.replace(b'{"loss":1.0}', b"null"), "l: line 3: metrics: "),
    "no-declares": (
        lambda raw: raw.replace(b'"finish"', b'"declares":[],"finish"'),
        "l: line 3: declares: expected it to be absent, observed none",
    ),
    "extra": (lambda raw: raw.replace(b',"step"', b',"state2":1,"step"'), "l: line 3: state2: "),
    "capitals": (lambda raw: raw[:17] + raw[17:81].upper() + raw[81:], "l: line 3: chain: "),
    "no-chain": (lambda raw: b"{" + raw[83:], "l: line 3: chain: "),
    "list": (lambda _: b"[]\n", "l: line 3: "),
    "null": (lambda _: b"null\n", "l: line 3: all of it: "),
    "number": (lambda _: b"1\n", "l: line 3: all of it: "),
}


@pytest.mark.hostile
@pytest.mark.parametrize(("edit", "message"), SPELLED.values(), ids=SPELLED.keys())
def test_another_spelling_of_a_line_is_refused(
    edit: Callable[[bytes], bytes], message: str
) -> None:
    """Each line has one spelling; whatever else says the same is refused."""
    assert read_line(StepLine, GOOD, where="l").step == 1
    raw = edit(GOOD)
    assert raw != GOOD
    assert message in refuse_line(raw)


METRICS: dict[str, Any] = {
    "small-int": {"$int": "1"},
    "finite": {"$float": "1.0"},
    "unknown": {"kind": "nan"},
    "empty": {},
    "array": {"$array": "loss#1"},
    "two": {"$float": "nan", "x": "y"},
}


@pytest.mark.hostile
@pytest.mark.parametrize("number", METRICS.values(), ids=METRICS.keys())
def test_a_metric_is_a_number(number: Any) -> None:
    """An object that encodes no number is refused where it stands, not where it is used."""
    raw = chained(fresh_chain(), step(1, metrics={"loss": number}))[0]
    assert refuse_line(raw) == f"l: line 3: metrics/loss: expected a number, observed {number!r}"


@pytest.mark.parametrize("number", [True, "1", None, [1]], ids=repr)
def test_a_metric_is_of_no_other_type(number: Any) -> None:
    """Neither true nor text is a number."""
    raw = chained(fresh_chain(), step(1, metrics={"loss": number}))[0]
    assert "metrics/loss" in refuse_line(raw)


TWICE = [["w", A], ["w", B]]
UNSORTED = [["w", A], ["s", B]]
ROWS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "state-twice": (
        StepLine,
        step(1, state=TWICE),
        "state: expected each name once, observed 'w' twice",
    ),
    "state-order": (
        StepLine,
        step(1, state=UNSORTED),
        "state: expected names sorted, observed another order",
    ),
    "stages-twice": (
        StepLine,
        step(1, stages=TWICE),
        "stages: expected each name once, observed 'w' twice",
    ),
    "declares-twice": (
        StepLine,
        step(1, declares=[["w", None], ["w", []]]),
        "declares: expected each name once, observed 'w' twice",
    ),
    "start-twice": (
        StartLine,
        start(state=TWICE),
        "state: expected each name once, observed 'w' twice",
    ),
    "start-order": (
        StartLine,
        start(state=UNSORTED),
        "state: expected names sorted, observed another order",
    ),
    "constants-twice": (
        HeaderLine,
        header(constants=TWICE),
        "constants: expected each name once, observed 'w' twice",
    ),
    "constants-order": (
        HeaderLine,
        header(constants=UNSORTED),
        "constants: expected names sorted, observed another order",
    ),
    "header-stages-twice": (
        HeaderLine,
        header(stages=[["w", None], ["w", []]]),
        "stages: expected each name once, observed 'w' twice",
    ),
}


@pytest.mark.hostile
@pytest.mark.parametrize(("model", "members", "message"), ROWS.values(), ids=ROWS.keys())
def test_rows_that_a_mapping_would_swallow_are_refused(
    model: Any, members: dict[str, Any], message: str
) -> None:
    """A name twice could show one fingerprint to one reader and another to the next."""
    raw = canonical(members) + b"\n"
    if model is StepLine:
        raw = chained(fresh_chain(), members)[0]
    assert refuse_line(raw, model) == f"l: line 3: {message}"


def test_stages_need_not_be_sorted() -> None:
    """Stages stand in the order of execution."""
    raw = chained(fresh_chain(), step(1, stages=UNSORTED))[0]
    assert read_line(StepLine, raw, where="l").stages == (("w", A), ("s", B))


HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "no-schema": ({"schema": None}, "expected canonical JSON, observed another spelling"),
    "other-schema": ({"schema": "repropack/fingerprint-log/v0"}, "schema: "),
    "python-name": (
        {"schema": None, "schema_name": "repropack/fingerprint-log/v1"},
        "expected canonical JSON, observed another spelling",
    ),
    "step-zero": ({"first_step": 0}, "first_step: "),
    "step-float": ({"first_step": 1.0}, "first_step: "),
    "run": ({"run": "Reference"}, "run: "),
    "run-newline": ({"run": "reference\n"}, "run: "),
    "digest-newline": ({"config": A + "\n"}, "config: "),
    "digest-capitals": ({"config": A.upper()}, "config: "),
    "extra": ({"host": "me"}, "host: "),
    "stage-name": ({"stages": [["a b", None]]}, "stages/0/0: "),
    "stage-row": ({"stages": [["a", None, 1]]}, "stages/0"),
    "input-empty": ({"stages": [["a", [""]]]}, "stages/0/1/0: "),
}


def test_a_header_of_a_later_release_is_not_damaged() -> None:
    """A log of a later schema version is told apart: this release cannot read it."""
    raw = canonical(header(schema="repropack/fingerprint-log/v2")) + b"\n"
    with pytest.raises(UnsupportedVersionError) as caught:
        read_line(HeaderLine, raw, where="l")
    assert (caught.value.rule, caught.value.found) == (
        "version.document",
        "repropack/fingerprint-log/v2",
    )


@pytest.mark.hostile
@pytest.mark.parametrize(("changes", "message"), HEADERS.values(), ids=HEADERS.keys())
def test_headers_are_read_strictly(changes: dict[str, Any], message: str) -> None:
    """A header names its schema and holds exactly its members, each in its form."""
    members = {name: value for name, value in header(**changes).items() if value is not None}
    assert refuse_line(canonical(members) + b"\n", HeaderLine).startswith(f"l: line 3: {message}")


# ---------------------------------------------------------------- limits


@pytest.mark.hostile
@pytest.mark.parametrize("position", [0, 1, 2, 4])
def test_an_over_long_line_is_refused_before_it_is_read(position: int) -> None:
    """A line without an end costs no more than the limit."""
    endless = b"".join(LINES[:position]) + b'{"x":"' + b"a" * (3 << 20)
    with pytest.raises(LimitExceededError) as caught:
        read(endless)
    assert (caught.value.entry, caught.value.limit) == (
        "l.jsonl",
        "max_log_line_bytes",
    )
    assert (caught.value.allowed, caught.value.observed) == (1 << 20, str((1 << 20) + 1))
    assert caught.value.message.startswith(f"l.jsonl: line {position + 1}: limit ")


@pytest.mark.hostile
def test_a_deep_line_is_refused() -> None:
    """Depth is limited in lines as in documents, by the caller's limits."""
    deep = b"".join(LINES[:2]) + b'{"chain":' + b"[" * 100_000 + b"\n"
    with pytest.raises(LimitExceededError, match="max_json_depth"):
        read(deep)
    assert "allowed 2" in refusal(FIVE, Limits(max_json_depth=2))


def test_ten_thousand_lines_are_read_in_seconds() -> None:
    """Reading is fast enough for long runs."""
    data = log_bytes([step(number) for number in range(1, 10_001)])
    begin = time.process_time()
    assert sum(1 for _ in LogReader(BytesIO(data), where="l").steps()) == 10_000
    assert time.process_time() - begin < 10


def test_digests_in_this_test_are_digests() -> None:
    """The support's digests have the form that the models ask for."""
    assert digest_of("x").startswith("sha256:")
    assert len(digest_of("x")) == 71


@pytest.mark.hostile
def test_a_long_line_is_looked_at_before_it_is_parsed() -> None:
    """A line of many empty lists costs no memory."""
    bad = b'{"chain":[' + b"[]," * 150_000 + b"1]}\n"
    with pytest.raises(LimitExceededError) as caught:
        read(b"".join(LINES[:2]) + bad)
    assert (caught.value.limit, caught.value.observed) == ("max_json_containers", "100001")
