"""The check digit of an ORCID iD: ISO/IEC 7064, MOD 11-2."""

from __future__ import annotations


def check_digit(orcid: str) -> str:
    """Compute the last character of an ORCID iD from the fifteen digits before it.

    Args:
        orcid: An iD such as ``0000-0002-1825-0097``; its own last character is not looked at.

    Returns:
        A digit, or ``X``, which stands for 10.

    Example:
        >>> check_digit("0000-0002-1825-0097"), check_digit("0000-0002-9079-593?")
        ('7', 'X')
    """
    total = 0
    for digit in orcid.replace("-", "")[:15]:
        total = (total + int(digit)) * 2
    remainder = (12 - total % 11) % 11
    return "X" if remainder == 10 else str(remainder)
