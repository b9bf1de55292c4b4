"""The one JSON module: canonical bytes out, strict parsing in.

Canonical JSON is Python's ``json.dumps`` with sorted keys, no spaces, UTF-8, no NaN, and a final
newline (docs/format.md, chapter 2). Reading refuses what readers are known to disagree on:
repeated keys, NaN and infinities, numbers out of range, lone surrogates, other encodings, depth.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack.errors import LimitExceededError, PackageFormatError
from repropack.models.base import MAX_SAFE_INTEGER, Model
from repropack.refusals import refusal

_STRUCTURE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|(?P<open>[\[{])|(?P<close>[\]}])', re.DOTALL)
"""Texts, which hide brackets, and brackets. Possessive, and at home in a text without an end, so
that hostile bytes cost time and memory in proportion to their length."""
_COMMAS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|(?P<comma>,)', re.DOTALL)
_LONG_INTEGER = re.compile(rb"[:,\[-][0-9]{16}")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAX_QUOTED = 80
_Model = TypeVar("_Model", bound=Model)


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


class _NotStrictError(ValueError):
    """What a hook of the parser refuses: the rule, and what was observed."""


def decode_exactly(
    model: type[_Model], data: bytes, stored: Callable[[dict[str, Any]], dict[str, Any]]
) -> _Model | None:
    """Read bytes that are the one spelling of a model, quickly.

    What is the canonical form of a model's own members has no repeated key, no NaN, no second
    spelling of a number, and fits the schema that was generated from the model. So nothing else
    has to be looked at, but integers of a size that readers disagree on.

    Args:
        model: The model.
        data: The stored bytes, within the limits.
        stored: From the model's members, as ``model_dump`` gives them, to those that are stored.

    Returns:
        The frozen model; ``None`` where anything about the bytes is unusual, which is then for
        ``decode_strict`` and the schema to put in words.
    """
    if _LONG_INTEGER.search(data):
        return None
    try:
        found = model.model_validate_json(data)
        same = encode_canonical(stored(found.model_dump(mode="json"))) == data
    except (ValueError, RecursionError):
        return None
    return found if same else None


def decode_strict(
    data: bytes, *, where: str, place: str = "", limits: Limits = DEFAULT_LIMITS
) -> Any:
    """Parse one JSON document and refuse everything that two readers could read differently.

    Args:
        data: The stored bytes, UTF-8 without a byte order mark.
        where: The entry's path, for error messages.
        place: Where in the entry: a log's line. Empty where it is the whole of it.
        limits: ``max_document_bytes``, ``max_json_depth`` and ``max_json_containers`` apply.

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
    check_bounds(data, where=where, place=place, limits=limits)
    if data.startswith(_BYTE_ORDER_MARK):
        raise PackageFormatError(
            refusal("json.encoding", where, place, "UTF-8 without a byte order mark", "one")
        )
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
        observed = f"byte 0x{data[error.start]:02x} at {error.start}"
        raise PackageFormatError(
            refusal("json.encoding", where, place, "UTF-8", observed)
        ) from error
    except _NotStrictError as error:
        rule, observed = error.args
        raise PackageFormatError(refusal(rule, where, place, "strict JSON", observed)) from error
    except (ValueError, RecursionError) as error:
        observed = str(error).split("\n", 1)[0]
        raise PackageFormatError(
            refusal("json.syntax", where, place, "strict JSON", observed)
        ) from error
    if "\\u" in text and _has_surrogate(value):
        raise PackageFormatError(
            refusal("json.surrogate", where, place, "Unicode text", "a lone surrogate")
        )
    return value


def check_bounds(
    data: bytes, *, where: str, place: str = "", limits: Limits = DEFAULT_LIMITS
) -> None:
    """Refuse a document that would cost too much to parse, before it is parsed.

    Args:
        data: The stored bytes, JSON or not.
        where: The entry's path, for error messages.
        place: Where in the entry; empty where it is the whole of it.
        limits: ``max_document_bytes`` and the limits on JSON apply.

    Raises:
        LimitExceededError: longer or deeper than ``limits`` allow, or with more in it.
    """
    if len(data) > limits.max_document_bytes:
        bounds = (limits.max_document_bytes, len(data))
        raise LimitExceededError("max_document_bytes", where, place, bounds)
    if data.count(b",") > limits.max_json_items:
        items = sum(token.lastgroup == "comma" for token in _COMMAS.finditer(data))
        if items > limits.max_json_items:
            bounds = (limits.max_json_items, items)
            raise LimitExceededError("max_json_items", where, place, bounds)
    _check_depth(data, where, place, limits)


def _check_depth(data: bytes, where: str, place: str, limits: Limits) -> None:
    depth = containers = 0
    for token in _STRUCTURE.finditer(data):
        if token.lastgroup == "open":
            depth += 1
            containers += 1
            if containers > limits.max_json_containers:
                bounds = (limits.max_json_containers, containers)
                raise LimitExceededError("max_json_containers", where, place, bounds)
            if depth > limits.max_json_depth:
                bounds = (limits.max_json_depth, depth)
                raise LimitExceededError("max_json_depth", where, place, bounds)
        elif token.lastgroup == "close":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            observed = f"the key {key[:_MAX_QUOTED]!r} twice in one object"
            raise _NotStrictError("json.duplicate-key", observed)
        result[key] = value
    return result


def _constant(text: str) -> NoReturn:
    raise _NotStrictError("json.constant", f"the constant {text}, which is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _NotStrictError("json.float", f"the number {text[:40]}, beyond a 64-bit float")
    return value


def _int(text: str) -> int:
    if len(text) > 17 or abs(value := int(text)) > MAX_SAFE_INTEGER:
        raise _NotStrictError("json.integer", f"the integer {text[:40]}, beyond 2^53-1")
    if text == "-0":
        observed = "the integer -0, which some readers take for the float"
        raise _NotStrictError("json.integer", observed)
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
