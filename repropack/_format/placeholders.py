"""What the words of a command stand for: ``{seed}`` and ``{config.NAME}``, ``{{`` and ``}}``.

Nothing of Python's format language is taken: a word is text with names in it, and no code.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from repropack._format.values import decode_value

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_CONFIG = "config."


def unknown_placeholders(word: str, config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the names in a word.

    Args:
        word: One word of a command.
        config: The configuration, in any form.

    Example:
        >>> list(unknown_placeholders("--rate={config.rat}", {"rate": 0.5}))
        ["expected {seed} or {config.NAME}, observed '{config.rat}'; did you mean '{config.rate}'?"]
    """
    known = ["seed", *(f"{_CONFIG}{name}" for name in config)]
    for found in _TOKEN.finditer(word):
        token, name = found[0], found[1]
        if token in {"{{", "}}"} or name in known:
            continue
        if name is None:
            yield f"expected {{{{ or }}}} for a brace, observed {token!r} alone"
            continue
        close = difflib.get_close_matches(name, known, n=1)
        advice = f"; did you mean {{{close[0]}}}?" if close else ""
        advice = advice.replace("{", "'{").replace("}", "}'")
        yield f"expected {{seed}} or {{config.NAME}}, observed {token!r}{advice}"


def fill_placeholders(word: str, seed: int, config: Mapping[str, Any]) -> str:
    """Return a word with its names replaced.

    Args:
        word: One word of a command, in which ``unknown_placeholders`` finds nothing.
        seed: The run's seed.
        config: The run's complete configuration, encoded.

    Returns:
        The word; texts stand as they are, everything else as JSON: numbers of any size in digits,
        and what is no finite number as ``NaN``, ``Infinity`` and ``-Infinity``.

    Raises:
        KeyError: a name is unknown.

    Example:
        >>> fill_placeholders("{{{config.name}}}-{seed}", 7, {"name": "a"})
        '{a}-7'
    """

    def value(found: re.Match[str]) -> str:
        token, name = found[0], found[1]
        if name is None:
            return token[0]
        if name == "seed":
            return str(seed)
        given = decode_value(name, config[name.removeprefix(_CONFIG)])
        if isinstance(given, str):
            return given
        # what a program reads, not what a package holds: so no ``{"$int": ...}``
        return json.dumps(  # noqa: TID251
            given, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )

    return _TOKEN.sub(value, word)
