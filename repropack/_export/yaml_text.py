"""YAML of one spelling: blocks of maps and lists, every text in double quotes.

A text is written as JSON writes it, which every version of YAML reads as that text: no date, number
or boolean is ever made of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from repropack._format.canonical import encode_canonical

Yaml = str | Mapping[str, "Yaml"] | Sequence["Yaml"]
_STEP = "  "
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def yaml_text(value: Mapping[str, Yaml]) -> str:
    r"""Write a document.

    Args:
        value: Texts, maps and lists, none of which is empty. Keys are plain words.

    Returns:
        The lines; the last ends with a newline.

    Example:
        >>> print(yaml_text({"a": "1", "b": [{"c": "x: y", "d": ["z"]}]}), end="")
        a: "1"
        b:
          - c: "x: y"
            d:
              - "z"
    """
    return "\n".join(_map(value)) + "\n"


def _map(value: Mapping[str, Yaml]) -> list[str]:
    lines = []
    for key, inner in value.items():
        if isinstance(inner, str):
            lines.append(f"{key}: {quoted(inner)}")
        else:
            lines += [f"{key}:", *_indented(_block(inner))]
    return lines


def _block(value: Mapping[str, Yaml] | Sequence[Yaml]) -> list[str]:
    if isinstance(value, Mapping):
        return _map(value)
    lines = []
    for item in value:
        rows = [quoted(item)] if isinstance(item, str) else _block(item)
        first, *rest = rows
        lines += [f"- {first}", *_indented(rest)]
    return lines


def _indented(lines: list[str]) -> list[str]:
    return [f"{_STEP}{line}" for line in lines]


def quoted(text: str) -> str:
    """A text in double quotes, with the escapes of JSON, and what YAML cannot hold as one, too."""
    written = encode_canonical(text).decode("utf-8").rstrip("\n")
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
