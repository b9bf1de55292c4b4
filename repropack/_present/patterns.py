"""Patterns in words: what the evidence of a divergence is consistent with, and what it excludes.

Each is followed by its id, which is a heading of docs/divergences.md, and by the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable

from repropack._present.escape import escape_text
from repropack._present.layout import field, join_names, stage_text
from repropack.models.base import OUTPUT_PREFIX
from repropack.models.patterns import Pattern, PatternId

PATTERN_WORDS: dict[PatternId, str] = {
    "other-beginning": "another beginning: other constants, first state or batch",
    "other-order": "another order or rounding of an operation",
    "incomplete-checkpoint": "an incomplete or reset checkpoint",
    "extra-draws": "extra draws from a generator",
    "varying-operation": "an operation whose result varies between launches",
    "discrete-decision": "a discrete decision on values that differ in their last bits",
    "masked-difference": "a difference of state that no later result shows",
    "signed-zero-or-nan": "other signs of zero or other NaN payloads, and nothing else",
    "other-form": "another type or shape",
    "equal-when-printed": "a difference that no printed value shows",
    "other-stages": "another version of the code, or a branch on something that is not recorded",
    "other-length": "an end that depends on something that is not recorded, or a run cut short",
    "unrecorded-metric": "a metric made of something that neither a stage nor the state records",
    "unrecorded-input": "an input that is not recorded",
}
"""What each pattern is called in a text, after "consistent with" or "not with"."""

_SAID_BY_ELEMENTS = frozenset({"signed-zero-or-nan", "other-form", "equal-when-printed"})
"""Excluded by what the text shows anyway: elements, types and printed values."""
_OTHER_ENVIRONMENT = "the other environment (above)"


def pattern_lines(patterns: Iterable[Pattern], *, environment_differs: bool = False) -> list[str]:
    """What the evidence is consistent with, and what it is not.

    Args:
        patterns: Those of one divergence.
        environment_differs: Whether the environment here is another than the recorded one, which
            then comes first.

    Returns:
        Lines of at most 100 columns; none where nothing is known.
    """
    found = list(patterns)
    allowed = [pattern_text(pattern) for pattern in found if pattern.consistent]
    if allowed and environment_differs:
        allowed.insert(0, _OTHER_ENVIRONMENT)
    excluded = [
        pattern_text(pattern)
        for pattern in found
        if not pattern.consistent and not _is_plain(pattern)
    ]
    return _listed("consistent with:", allowed) + _listed("not with:", excluded)


def _is_plain(pattern: Pattern) -> bool:
    """Excluded by what is shown anyway, or by generators of which none is to be named."""
    return pattern.id in _SAID_BY_ELEMENTS or (pattern.id == "extra-draws" and not pattern.names)


def pattern_text(pattern: Pattern) -> str:
    """One pattern: its words, what it is about, its id, and the evidence, escaped."""
    names = join_names(map(_shown, pattern.names), 4)
    about = f" ({names})" if names else ""
    because = "; ".join(escape_text(text, 300) for text in pattern.because)
    return f"{PATTERN_WORDS[pattern.id]}{about} [{pattern.id}]: {because}"


def _shown(name: str) -> str:
    return stage_text(name) if name.startswith(OUTPUT_PREFIX) else name


def _listed(label: str, texts: list[str]) -> list[str]:
    labels = [label, *[""] * len(texts)]
    return [line for name, text in zip(labels, texts, strict=False) for line in field(name, text)]
