"""Names of LaTeX macros, made of the ids of claims."""

from __future__ import annotations

from typing import Final

VALUE_PREFIX: Final = "claim"
"""What a macro begins with that prints a value as it is rounded."""
EXACT_PREFIX: Final = "exact"
"""What a macro begins with that prints a value in full."""
_DIGITS: Final = (
    "Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine",
)  # fmt: skip


def macro_name(claim_id: str) -> str:
    """Return what stands behind the prefix in the macro of a claim.

    A macro's name has letters alone: each part of the id begins with a capital letter, and each
    digit is spelled.

    Args:
        claim_id: The id, of ``a-z``, ``0-9`` and ``-``.

    Returns:
        Letters, the first a capital.

    Example:
        >>> macro_name("final-loss"), macro_name("step-40-loss")
        ('FinalLoss', 'StepFourZeroLoss')
    """
    parts = claim_id.split("-")
    return "".join(_spelled(part) for part in parts)


def _spelled(part: str) -> str:
    letters = [_DIGITS[int(c)] if c.isdigit() else c for c in part]
    word = "".join(letters)
    return word[:1].upper() + word[1:]
