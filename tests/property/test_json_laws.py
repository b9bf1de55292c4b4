"""Laws of canonical JSON (docs/format.md, the chapter on JSON)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from repropack._format.canonical import decode_strict, encode_canonical
from repropack.errors import PackageFormatError
from tests.strategies import json_values, texts
from tests.support.exact import is_exactly


@given(json_values())
def test_decoding_undoes_encoding(value: Any) -> None:
    """A value comes back with its types: 1 is not 1.0, and -0.0 keeps its sign."""
    assert is_exactly(decode_strict(encode_canonical(value), where="x"), value)


@given(json_values())
def test_encoding_again_gives_the_same_bytes(value: Any) -> None:
    """Canonical bytes are a fixed point."""
    data = encode_canonical(value)
    assert encode_canonical(decode_strict(data, where="x")) == data


@given(json_values(), json_values())
def test_different_values_have_different_bytes(left: Any, right: Any) -> None:
    """Bytes are equal exactly where values are."""
    same = encode_canonical(left) == encode_canonical(right)
    assert same == is_exactly(left, right)


@given(st.dictionaries(texts(), json_values(max_leaves=3), max_size=5), st.randoms())
def test_the_order_of_keys_leaves_no_trace(value: dict[str, Any], random: Any) -> None:
    """Objects that were filled in another order are written alike, sorted by code point."""
    keys = list(value)
    random.shuffle(keys)
    data = encode_canonical({key: value[key] for key in keys})
    assert data == encode_canonical(value)
    assert list(decode_strict(data, where="x")) == sorted(value)


@given(json_values())
def test_canonical_bytes_are_json_for_everyone(value: Any) -> None:
    """Another parser reads the same value; the text is one line of UTF-8."""
    data = encode_canonical(value)
    assert is_exactly(json.loads(data), value)
    assert data.count(b"\n") == 1
    assert data.endswith(b"\n")


@given(json_values(), st.integers(0, 3))
def test_spelling_does_not_matter_to_reading(value: Any, indent: int) -> None:
    """White space and escapes are read past; the value is the same."""
    spelled = json.dumps(value, indent=indent, ensure_ascii=True)
    assert is_exactly(decode_strict(spelled.encode(), where="x"), value)


@given(st.binary(max_size=40) | json_values().map(encode_canonical), st.data())
def test_any_bytes_are_read_or_refused(data: bytes, draw: st.DataObject) -> None:
    """Reading never fails in another way than by its own errors, and what it reads it can write."""
    changed = bytearray(data)
    for _ in range(draw.draw(st.integers(0, 3))):
        if changed:
            position = draw.draw(st.integers(0, len(changed) - 1))
            changed[position] = draw.draw(st.integers(0, 255))
    try:
        value = decode_strict(bytes(changed), where="x")
    except PackageFormatError as error:
        assert error.message.startswith("x: ")  # noqa: PT017 - either outcome is lawful
        return
    assert is_exactly(decode_strict(encode_canonical(value), where="x"), value)


@given(json_values(), st.binary(min_size=1, max_size=3))
def test_nothing_may_follow_a_document(value: Any, more: bytes) -> None:
    """Bytes after the value are refused unless they are white space of JSON."""
    data = encode_canonical(value) + more
    if more.strip(b" \t\r\n"):
        try:
            decode_strict(data, where="x")
        except PackageFormatError as error:
            assert "expected" in error.message  # noqa: PT017
        else:
            raise AssertionError(data)
    else:
        assert is_exactly(decode_strict(data, where="x"), value)


@given(texts(), json_values(max_leaves=2), json_values(max_leaves=2), st.booleans())
def test_a_repeated_key_is_refused(key: str, first: Any, second: Any, escaped: bool) -> None:
    """However the second is spelled, a key stands once in an object."""
    again = json.dumps(key, ensure_ascii=True)
    if escaped:
        again = (
            '"'
            + "".join(f"\\u{unit:04X}" for unit in memoryview(key.encode("utf-16-le")).cast("H"))
            + '"'
        )
    body = [json.dumps(key), json.dumps(first), again, json.dumps(second)]
    try:
        decode_strict("{{{}:{},{}:{}}}".format(*body).encode(), where="x")
    except PackageFormatError as error:
        assert "twice in one object" in error.message  # noqa: PT017
    else:
        raise AssertionError(key)
