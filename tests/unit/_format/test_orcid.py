"""Check digits of ORCID iDs."""

from __future__ import annotations

import pytest

from repropack._format.orcid import check_digit


@pytest.mark.parametrize(
    "orcid", ["0000-0002-1825-0097", "0000-0001-5109-3700", "0000-0002-1694-233X"]
)
def test_published_ids_have_their_check_digit(orcid: str) -> None:
    """Those that ORCID's own documentation shows."""
    assert check_digit(orcid) == orcid[-1]


def test_a_changed_or_swapped_digit_is_noticed() -> None:
    """Every single digit that is wrong, and every two neighbours that were swapped."""
    digits = "000000021825009"
    right = check_digit(digits)
    for place, digit in enumerate(digits):
        for other in "0123456789".replace(digit, ""):
            assert check_digit(digits[:place] + other + digits[place + 1 :]) != right
        pair = digits[place : place + 2]
        if len(set(pair)) == 2:
            swapped = digits[:place] + pair[::-1] + digits[place + 2 :]
            assert check_digit(swapped) != right
