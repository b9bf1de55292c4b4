"""The one JSON module: canonical bytes out, strict parsing in.

Canonical JSON is Python's ``json.dumps`` with sorted keys, no spaces, UTF-8, no NaN, and a final
newline (docs/format.md, chapter 2). Reading refuses what readers are known to disagree on:
repeated keys, NaN and infinities, numbers out of range, lone surrogates, other encodings, depth.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack.errors import LimitExceededError, PackageFormatError
from repropack.models.base import MAX_SAFE_INTEGER

_STRUCTURE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|(?P<open>[\[{])|(?P<close>[\]}])', re.DOTALL)
"""Texts, which hide brackets, and brackets. Possessive, and at home in a text without an end, so
that hostile bytes cost time and memory in proportion to their length."""
_MAX_QUOTED = 80


def encode_canonical(value: Any) -> bytes:
    r"""Encode a JSON value as canonical bytes, equal for equal values.

    Args:
        value: ``None``, bool, int within +-(2**53 - 1), finite float, str, or lists and dicts of
            those with text keys, nested at most 64 deep. Models and ``encode_state`` see to it
            that nothing else comes here: other keys and larger integers would be written.

    Returns:
        UTF-8 bytes that end in a newline.

    Raises:
        ValueError: a float is NaN or infinite, or a text holds a lone surrogate.
        TypeError: the value is of a type that JSON does not have.

    Determinism:
        The bytes depend on the value alone; keys are sorted by code point.

    Example:
        >>> encode_canonical({"b": 1, "a": [1.0, None]})
        b'{"a":[1.0,null],"b":1}\n'
    """
    text = json.dumps(  # noqa: TID251 - the one place that may
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8") + b"\n"


def decode_strict(data: bytes, *, where: str, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Parse one JSON document and refuse everything that two readers could read differently.

    Args:
        data: The stored bytes, UTF-8 without a byte order mark.
        where: What is being read, for error messages: an entry's path, with a line where it has.
        limits: ``max_document_bytes`` and ``max_json_depth`` apply.

    Returns:
        The value: ``None``, bool, int, float, str, list or dict.

    Raises:
        PackageFormatError: not UTF-8, not JSON, a repeated key, NaN or an infinity, an integer
            beyond 2**53 - 1 or spelled ``-0``, or a lone surrogate.
        LimitExceededError: longer or deeper than ``limits`` allow.

    Example:
        >>> decode_strict(b'{"a": [1, 1.0]}', where="a.json")
        {'a': [1, 1.0]}
    """
    if len(data) > limits.max_document_bytes:
        raise LimitExceededError(where, "max_document_bytes", limits.max_document_bytes, len(data))
    _check_depth(data, where, limits)
    try:
        text = data.decode("utf-8", errors="strict")
        value = json.loads(  # noqa: TID251 - the one place that may
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except UnicodeDecodeError as error:
        raise PackageFormatError(
            f"{where}: expected UTF-8, observed byte 0x{data[error.start]:02x} at {error.start}"
        ) from error
    except (ValueError, RecursionError) as error:
        reason = str(error).split("\n", 1)[0]
        raise PackageFormatError(f"{where}: expected strict JSON, observed {reason}") from error
    if "\\u" in text and _has_surrogate(value):
        raise PackageFormatError(f"{where}: expected Unicode text, observed a lone surrogate")
    return value


def _check_depth(data: bytes, where: str, limits: Limits) -> None:
    depth = containers = 0
    for token in _STRUCTURE.finditer(data):
        if token.lastgroup == "open":
            depth += 1
            containers += 1
            if containers > limits.max_json_containers:
                allowed = limits.max_json_containers
                raise LimitExceededError(where, "max_json_containers", allowed, containers)
            if depth > limits.max_json_depth:
                raise LimitExceededError(where, "max_json_depth", limits.max_json_depth, depth)
        elif token.lastgroup == "close":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key[:_MAX_QUOTED]!r} twice in one object")
        result[key] = value
    return result


def _constant(text: str) -> NoReturn:
    raise ValueError(f"the constant {text}, which is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]}, beyond a 64-bit float")
    return value


def _int(text: str) -> int:
    if len(text) > 17 or abs(value := int(text)) > MAX_SAFE_INTEGER:
        raise ValueError(f"the integer {text[:40]}, beyond 2^53-1")
    if text == "-0":
        raise ValueError("the integer -0, which some readers take for the float")
    return value


def _has_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return not is_unicode(value)
    if isinstance(value, dict):
        return any(_has_surrogate(key) or _has_surrogate(item) for key, item in value.items())
    if isinstance(value, list):
        return any(map(_has_surrogate, value))
    return False


def is_unicode(text: str) -> bool:
    r"""Return whether a text can be written as UTF-8: it holds no lone surrogate.

    Args:
        text: Any text.

    Returns:
        Whether every character is a Unicode scalar value.

    Example:
        >>> is_unicode("\u00e9"), is_unicode("\ud800")
        (True, False)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
