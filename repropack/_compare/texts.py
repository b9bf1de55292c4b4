"""Two versions of a text, line by line, in a bounded amount of work.

A hostile text can make a search for common lines take very long. So only what lies between the
equal beginning and the equal end is searched, and only where it is short.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from repropack.models.package_difference import TextChange

MAX_TEXT_BYTES = 1024 * 1024
"""Bytes of a text that is compared line by line."""
MAX_LINE_CHARACTERS = 500
_MAX_SEARCHED = 1000
_CONTEXT = 3


@dataclass
class TextBudget:
    """What may still be searched and told of all texts of a package, in lines.

    Args:
        searched: Lines of either version that are searched for common ones.
        shown: Lines of all diffs together.
        shown_each: Lines of one diff.
    """

    searched: int = 20_000
    shown: int = 400
    shown_each: int = 60

    def compare(self, old: bytes, new: bytes) -> TextChange | None:
        """Say how one text became another.

        Args:
            old: The former bytes.
            new: The later bytes, not the same.

        Returns:
            The change, its lines as far as there is room; ``None`` where one side is no UTF-8, or
            is too long, or too much has been compared already.
        """
        left, right = _lines(old), _lines(new)
        if left is None or right is None:
            return None
        before = _common(left, right)
        after = _common(left[before:][::-1], right[before:][::-1])
        searched = max(len(left), len(right)) - before - after
        if searched > min(_MAX_SEARCHED, self.searched):
            return None
        self.searched -= searched
        lines = list(_unified(left, right, before, after))
        room = min(self.shown_each, self.shown)
        self.shown -= min(room, len(lines))
        return TextChange(
            lines=tuple(line[:MAX_LINE_CHARACTERS] for line in lines[:room]),
            left_out=max(0, len(lines) - room),
            added=sum(line.startswith("+") for line in lines),
            removed=sum(line.startswith("-") for line in lines),
        )


def _lines(data: bytes) -> list[str] | None:
    if len(data) > MAX_TEXT_BYTES or b"\x00" in data:
        return None
    try:
        return data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _unified(left: list[str], right: list[str], before: int, after: int) -> Iterator[str]:
    """The lines of a unified diff; ``before`` and ``after`` are how many ends have in common."""
    first = max(0, before - _CONTEXT)
    beyond = max(0, after - _CONTEXT)
    olds, news = left[first : len(left) - beyond], right[first : len(right) - beyond]
    for group in SequenceMatcher(None, olds, news).get_grouped_opcodes(_CONTEXT):
        a, b, c, d = group[0][1], group[-1][2], group[0][3], group[-1][4]
        yield f"@@ -{_range(first + a, b - a)} +{_range(first + c, d - c)} @@"
        for kind, i, j, k, m in group:
            if kind == "equal":
                yield from (f" {line}" for line in olds[i:j])
                continue
            yield from (f"-{line}" for line in olds[i:j])
            yield from (f"+{line}" for line in news[k:m])


def _range(start: int, count: int) -> str:
    """Lines as a unified diff counts them: from 1, and from the line before where there is none."""
    return f"{start + (count > 0)},{count}"
