"""The values of claims as texts: rounded as their rule says, and in full."""

from __future__ import annotations

from collections.abc import Iterable

from repropack._format.macros import VALUE_PREFIX, macro_name
from repropack._format.printing import EXACT, print_value
from repropack._format.values import decode_value
from repropack.models.claims import ClaimOutcome, ClaimValue
from repropack.models.proofreading import PrintedClaim


def exact_form(value: ClaimValue) -> str:
    """Return a value in full.

    Args:
        value: As results hold it, numbers encoded.

    Returns:
        A float as the shortest decimal that gives its bits; everything else as it is.

    Example:
        >>> exact_form(1.1920928955078125e-07), exact_form({"$float": "inf"}), exact_form(True)
        ('1.1920928955078125e-07', 'inf', 'true')
    """
    return print_value(decode_value("claim", value), EXACT)


def printed_claims(claims: Iterable[ClaimOutcome]) -> tuple[PrintedClaim, ...]:
    """Return the values of claims.

    Args:
        claims: Those of a package's results.

    Returns:
        One for each, in their order.
    """
    return tuple(
        PrintedClaim(
            id=claim.id,
            kind=claim.kind,
            held=claim.held,
            text=claim.text,
            exact=exact_form(claim.value),
            value=claim.value,
            expected=claim.expected,
            sentence=claim.sentence,
            macro=f"{VALUE_PREFIX}{macro_name(claim.id)}",
        )
        for claim in claims
    )
