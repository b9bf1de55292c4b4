"""Reading a document in its one spelling: quick where it is exact, and never laxer for it."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._format.canonical import check_bounds, decode_exactly, encode_canonical
from repropack._format.limits import Limits
from repropack.errors import LimitExceededError
from repropack.models.plan import Plan

PLAN: dict[str, Any] = {
    "schema": "repropack/plan/v1",
    "experiment": {
        "entry_point": "a:b",
        "command": None,
        "loop": False,
        "config": {"n": 1, "x": 0.5},
        "outputs": [],
        "environment": {},
        "import_from": [],
        "timeout_seconds": None,
        "seed": 7,
        "steps": 2,
    },
    "record": {
        "checkpoint_every": None,
        "stages_every": 1,
        "state_every": 1,
        "keep": [],
        "printed": {},
    },
    "comparisons": [],
    "after": [],
    "claims": [],
    "notebook": "executed",
}
EXACT = encode_canonical(PLAN)


def exactly(data: bytes) -> Plan | None:
    return decode_exactly(Plan, data, lambda members: members)


def test_an_exact_document_is_read() -> None:
    """The model of the very bytes, which are its canonical form."""
    found = exactly(EXACT)
    assert found is not None
    assert encode_canonical(found.model_dump(mode="json")) == EXACT


@pytest.mark.hostile
@pytest.mark.parametrize(
    "data",
    [
        EXACT[:-1],
        EXACT + b"\n",
        b"\xef\xbb\xbf" + EXACT,
        EXACT.replace(b'"n":1', b'"n":1,"n":1'),
        EXACT.replace(b'"n":1', b'"n":-0'),
        EXACT.replace(b'"n":1', b'"n":NaN'),
        EXACT.replace(b'"n":1', b'"n":1e0'),
        EXACT.replace(b'"n":1', b'"n":9007199254740993'),
        EXACT.replace(b'"n":1', b'"n":-9007199254740993'),
        EXACT.replace(b'"n":1', b'"n":"\\ud800"'),
        EXACT.replace(b'"n":1', b'"n":"\\u0041"'),
        EXACT.replace(b'"n":1', b'"n": 1'),
        EXACT.replace(b'"seed":7', b'"seed":7.0'),
        EXACT.replace(b'"seed":7', b'"seed":true'),
        EXACT.replace(b"executed", b"performed"),
        EXACT.replace(b'"n":1', b'"n":' + b"[" * 5000 + b"]" * 5000),
        b"",
        b"null\n",
        b"\xff\n",
    ],
    ids=str,
)
def test_whatever_is_unusual_is_left_to_the_strict_reader(data: bytes) -> None:
    """A second spelling, a repeated key, a number that readers disagree on, no document at all."""
    assert exactly(data) is None


@pytest.mark.hostile
def test_members_are_counted_outside_of_texts() -> None:
    """Before anything is parsed; a comma in a text parts nothing."""
    limits = Limits(max_json_items=3)
    check_bounds(b'["a,b,c,d,\\",e",1,2,3]', where="a", limits=limits)
    with pytest.raises(LimitExceededError) as caught:
        check_bounds(b"[1,2,3,4,5]", where="a", place="line 3", limits=limits)
    assert (caught.value.rule, caught.value.observed) == ("limit.max_json_items", "4")
    assert caught.value.message.startswith("a: line 3: limit max_json_items")
