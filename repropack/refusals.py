"""One thing wrong with a package, as data: what a reader refuses and a linter finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing wrong with a package, as data.

    ``rule`` is a stable id of ``_format/rules.py``; ``entry`` the path of the entry, or the name of
    the package itself; ``expected`` and ``observed`` are short; ``problem`` says it all but the
    entry, for people.
    """

    rule: str
    entry: str
    problem: str
    expected: str
    observed: str


def refusal(rule: str, entry: str, place: str, expected: object, observed: object) -> Refusal:
    """Compose a refusal.

    Args:
        rule: Id of the rule that is broken.
        entry: Path of the entry, or name of the package itself; empty where the caller knows it.
        place: Where in the entry, or what of it; may be empty.
        expected: What the rule asks for.
        observed: What was found instead.

    Returns:
        The refusal, with ``expected`` and ``observed`` as texts and in its problem.

    Example:
        >>> refusal("log.sequence", "log.jsonl", "line 7", "step 5", "step 6").problem
        'line 7: expected step 5, observed step 6'
    """
    told = f"expected {expected}, observed {observed}"
    return Refusal(rule, entry, f"{place}: {told}" if place else told, str(expected), str(observed))
