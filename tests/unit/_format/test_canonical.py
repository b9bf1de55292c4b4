"""Canonical bytes, and everything that strict reading refuses."""

from __future__ import annotations

import resource
import time
from typing import Any

import pytest

from repropack._format.canonical import decode_strict, encode_canonical, is_unicode
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack.errors import LimitExceededError, PackageFormatError

ENCODED = {
    "null": (None, b"null\n"),
    "bools": ([True, False], b"[true,false]\n"),
    "one": (1, b"1\n"),
    "one-point-zero": (1.0, b"1.0\n"),
    "minus-zero": (-0.0, b"-0.0\n"),
    "largest-integer": (2**53 - 1, b"9007199254740991\n"),
    "smallest-integer": (-(2**53 - 1), b"-9007199254740991\n"),
    "subnormal": (5e-324, b"5e-324\n"),
    "shortest-float": (0.1, b"0.1\n"),
    "large-float": (1e16, b"1e+16\n"),
    "empty": ([{}, [], ""], b'[{},[],""]\n'),
    "sorted": ({"b": 1, "a": 2, "B": 3, "": 4}, b'{"":4,"B":3,"a":2,"b":1}\n'),
    "by-code-point": ({"\U0001f600": 1, "\uffff": 2}, b'{"\xef\xbf\xbf":2,"\xf0\x9f\x98\x80":1}\n'),
    "not-ascii": ("é€\U0001d11e", b'"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e"\n'),
    "escapes": ('"\\/\n\x00\x7f\u2028', b'"\\"\\\\/\\n\\u0000\x7f\xe2\x80\xa8"\n'),
}


@pytest.mark.parametrize(("value", "expected"), ENCODED.values(), ids=ENCODED.keys())
def test_canonical_bytes_are_literally_these(value: Any, expected: bytes) -> None:
    """Canonical JSON is the compact, sorted UTF-8 text that the format describes."""
    assert encode_canonical(value) == expected


@pytest.mark.parametrize(("value", "data"), ENCODED.values(), ids=ENCODED.keys())
def test_canonical_bytes_read_back(value: Any, data: bytes) -> None:
    """What was written is read back with its types."""
    decoded = decode_strict(data, where="a.json")
    assert repr(decoded) == repr(value) or decoded == value
    assert encode_canonical(decoded) == data


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), "\ud800", ["\udfff"]])
def test_what_json_cannot_hold_is_not_written(value: Any) -> None:
    """NaN, infinities and lone surrogates are refused on the way out."""
    with pytest.raises(ValueError, match=r"JSON compliant|surrogates not allowed"):
        encode_canonical(value)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object(), 1j])
def test_other_types_are_not_written(value: Any) -> None:
    """A value that JSON has no form for is a ``TypeError``."""
    with pytest.raises(TypeError):
        encode_canonical(value)


REFUSED = {
    "empty": (b"", "Expecting value"),
    "blank": (b" \n", "Expecting value"),
    "duplicate": (b'{"a":1,"a":1}', "the key 'a' twice in one object"),
    "duplicate-inner": (b'[{"b":{"a":1,"a":2}}]', "the key 'a' twice in one object"),
    "duplicate-escaped": (b'{"a":1,"\\u0061":2}', "the key 'a' twice in one object"),
    "duplicate-surrogates": (
        b'{"\xf0\x9d\x84\x9e":1,"\\ud834\\udd1e":2}',
        "twice in one object",
    ),
    "nan": (b"NaN", "the constant NaN"),
    "infinity": (b'{"a":Infinity}', "the constant Infinity"),
    "minus-infinity": (b"[-Infinity]", "the constant -Infinity"),
    "beyond-float": (b"1e999", "the number 1e999, beyond a 64-bit float"),
    "beyond-float-negative": (b"-1e999", "the number -1e999, beyond a 64-bit float"),
    "beyond-float-digits": (b"1" * 400 + b".5", "beyond a 64-bit float"),
    "integer": (b"9007199254740992", "the integer 9007199254740992, beyond 2^53-1"),
    "integer-negative": (b"-9007199254740992", "the integer -9007199254740992, beyond 2^53-1"),
    "integer-5000-digits": (b"1" * 5000, f"the integer {'1' * 40}, beyond 2^53-1"),
    "integer-minus-zero": (b"[-0]", "the integer -0"),
    "leading-zero": (b"01", "Extra data"),
    "plus": (b"+1", "Expecting value"),
    "bom": (b"\xef\xbb\xbf{}", "byte order mark"),
    "utf-16": ("{}".encode("utf-16"), "expected UTF-8, observed byte 0xff at 0"),
    "utf-16-le": ('{"a":1}'.encode("utf-16-le"), "expected strict JSON"),
    "utf-32-be": ("[]".encode("utf-32-be"), "expected strict JSON"),
    "latin-1": (b'"\xe9"', "expected UTF-8, observed byte 0xe9 at 1"),
    "overlong": (b'"\xc0\xaf"', "expected UTF-8, observed byte 0xc0 at 1"),
    "raw-surrogate": (b'"\xed\xa0\x80"', "expected UTF-8, observed byte 0xed at 1"),
    "lone-surrogate": (b'"\\ud800"', "observed a lone surrogate"),
    "lone-low-surrogate": (b'["x\\uDC00"]', "observed a lone surrogate"),
    "lone-surrogate-key": (b'{"a":{"\\ud800":1}}', "observed a lone surrogate"),
    "swapped-surrogates": (b'"\\udd1e\\ud834"', "observed a lone surrogate"),
    "trailing": (b"{} x", "Extra data"),
    "two-documents": (b"{}\n{}\n", "Extra data"),
    "nul": (b"{}\x00", "Extra data"),
    "control-character": (b'"a\nb"', "Invalid control character"),
    "single-quotes": (b"{'a':1}", "Expecting property name"),
    "comment": (b"[1] // one", "Extra data"),
    "trailing-comma": (b"[1,]", "expected strict JSON"),
    "form-feed": (b"[1,\x0c2]", "expected strict JSON"),
    "cut": (b'{"a":', "Expecting value"),
    "unterminated": (b'["a', "Unterminated string"),
    "unbalanced": (b"]" * 10, "Expecting value"),
    "bad-escape": (b'"\\x41"', "Invalid"),
}


@pytest.mark.hostile
@pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_readers_disagree_on_is_refused(data: bytes, reason: str) -> None:
    """Everything that two readers could read differently is an error that says where and what."""
    with pytest.raises(PackageFormatError) as caught:
        decode_strict(data, where="runs/x.json", place="line 3")
    assert not isinstance(caught.value, LimitExceededError)
    assert caught.value.message.startswith("runs/x.json: line 3: expected ")
    assert reason in caught.value.message
    assert "\n" not in caught.value.message


def test_whitespace_of_json_is_accepted() -> None:
    """A document need not be canonical to be read; its digest covers its bytes."""
    assert decode_strict(b' {\t"a" :\r\n[ 1 ] } \n', where="a") == {"a": [1]}


def test_a_pair_of_surrogates_is_one_character() -> None:
    """An escaped character beyond the basic plane is text like any other."""
    assert decode_strict(b'"\\ud834\\udd1e"', where="a") == "\U0001d11e"


def test_an_escaped_backslash_before_u_is_no_surrogate() -> None:
    """The text ``\\ud800`` itself may be stored."""
    assert decode_strict(b'"\\\\ud800"', where="a") == "\\ud800"


@pytest.mark.parametrize(
    ("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")], ids=["array", "object"]
)
def test_depth_is_limited_exactly(opening: bytes, closing: bytes) -> None:
    """64 levels are read, 65 are not."""
    inside = b"1"
    decode_strict(opening * 64 + inside + closing * 64, where="a")
    with pytest.raises(LimitExceededError) as caught:
        decode_strict(opening * 65 + inside + closing * 65, where="a")
    assert (caught.value.entry, caught.value.limit) == ("a", "max_json_depth")
    assert (caught.value.allowed, caught.value.observed) == (64, "65")


@pytest.mark.hostile
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"":'])
def test_a_hundred_thousand_levels_end_in_an_error(opening: bytes) -> None:
    """Deep nesting meets the limit, never the interpreter's stack."""
    with pytest.raises(LimitExceededError, match="max_json_depth"):
        decode_strict(opening * 100_000, where="a")


def test_brackets_in_texts_do_not_count() -> None:
    """Depth is that of the document, whatever its texts hold."""
    text = '[{"' * 500 + '\\"'
    assert decode_strict(encode_canonical([text, {text: 1}]), where="a") == [text, {text: 1}]


def test_sibling_brackets_do_not_add_up() -> None:
    """A long flat document is not a deep one."""
    assert decode_strict(b"[" + b"[],{}," * 500 + b"[]]", where="a")[-1] == []


def test_size_is_limited_exactly() -> None:
    """A document of exactly the limit is read, one byte more is not."""
    limits = Limits(max_document_bytes=4)
    assert decode_strict(b"[12]", where="a", limits=limits) == [12]
    with pytest.raises(LimitExceededError) as caught:
        decode_strict(b"[12] ", where="a", limits=limits)
    assert (caught.value.limit, caught.value.allowed, caught.value.observed) == (
        "max_document_bytes",
        4,
        "5",
    )


SLOW_BEFORE = {
    "unterminated-escapes": b'"' + b'\\"' * 60_000,
    "long-text": b'["' + b"a" * 4_000_000 + b'"]',
    "escapes": b'["' + b"\\n" * 2_000_000 + b'"]',
    "many-quotes": b'"' * 2_000_001,
    "long-number": b"0." + b"1" * 2_000_000,
    "long-integer": b"1" * 4_000_000,
    "long-key-twice": b'{"' + b"k" * 999_999 + b'":1,"' + b"k" * 999_999 + b'":1}',
}


@pytest.mark.hostile
@pytest.mark.parametrize("data", SLOW_BEFORE.values(), ids=SLOW_BEFORE.keys())
def test_time_and_memory_are_in_proportion_to_length(data: bytes) -> None:
    """No text makes reading quadratic, or takes a hundred times its size in memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    try:
        decode_strict(data, where="a")
    except PackageFormatError as error:
        assert len(error.message) < 300  # noqa: PT017 - most of these are refused, some are not
    assert time.process_time() - start < 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kibibytes"


def test_default_limits_are_those_of_the_format() -> None:
    """The limits that apply to documents are 16 MiB and 64 levels."""
    assert (DEFAULT_LIMITS.max_document_bytes, DEFAULT_LIMITS.max_json_depth) == (16 << 20, 64)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", True), ("aé€\U0001f600", True), ("\ud7ff\ue000", True), ("a\ud800", False)],
)
def test_only_lone_surrogates_are_not_unicode(text: str, expected: bool) -> None:
    """Everything but surrogates can be written as UTF-8."""
    assert is_unicode(text) is expected
