"""Claims in words: held or not, here or not at all."""

from __future__ import annotations

from typing import Any

from repropack._present.claims import (
    claims_table,
    failed_claims,
    held_line,
    held_sentence,
    markdown_claims,
    unverified_claims,
    verified_line,
    verified_table,
)
from repropack.models.claims import ClaimVerification, RecordedClaim
from repropack.models.reports import VerificationReport
from tests.support.claims import outcome_of

WRONG = outcome_of("0.0216", held=False, value=0.02161, id="wrong")


def verified(name: str, **here: Any) -> ClaimVerification:
    stored = outcome_of(id=name)
    members = {
        field: getattr(stored, field)
        for field in ("id", "kind", "sentence", "expected", "held", "text", "value")
    }
    return ClaimVerification.model_validate({**members, **here})


SAME = verified("same", held_here=True, text_here="0.0215", value_here=0.0214672945992594)
MOVED = verified("moved", held_here=False, text_here="0.0219", value_here=0.0219)
SILENT = verified("silent", reason="run 'other' was not executed")


def line(verdict: Any, *claims: ClaimVerification) -> str:
    return " ".join(verified_line(VerificationReport(path="p", verdict=verdict, claims=claims)))


def test_how_many_hold() -> None:
    """One line, and none where nothing is claimed."""
    assert held_line([]) == []
    assert held_line([outcome_of()]) == ["1 of 1 claim holds"]
    assert held_line([outcome_of(), WRONG]) == ["1 of 2 claims does not hold: wrong."]
    silent = RecordedClaim(id="silent", held=None)
    assert held_sentence([outcome_of(), silent]) == "1 of 2 claims holds; 1 was not verified"
    assert held_sentence([WRONG, silent]) == (
        "1 of 2 claims does not hold: wrong; 1 was not verified."
    )


def test_what_does_not_hold_is_told_with_its_value() -> None:
    """As it is printed, and in full."""
    assert failed_claims([outcome_of(), WRONG]) == [
        "claim wrong: expected 0.0215, observed 0.0216 (0.02161)."
    ]


def test_claims_as_a_package_says_them() -> None:
    """Each with whether it holds; a value in full where that is longer."""
    assert claims_table([outcome_of(), WRONG]) == [
        "final-loss: The final loss is 0.0215. [holds] (0.0214672945992594)",
        "wrong: DOES NOT HOLD: stated 0.0215, found 0.0216 (0.02161)",
        "  With what was found the sentence reads: The final loss is 0.0216.",
    ]


def test_what_came_of_them_here_stands_beside_the_verdict() -> None:
    """Where bytes differ it says so, and changes nothing of it."""
    assert line("identical", SAME) == "1 of 1 claim holds on what was computed here."
    assert line("differs", SAME, MOVED, SILENT) == (
        "1 of 3 claims holds on what was computed here, although bytes differ; moved does not; "
        "1 was not verified."
    )
    assert line("identical") == ""


def test_each_claim_is_told_on_both_sides() -> None:
    """With the value there where it is another."""
    assert verified_table([SAME, MOVED, SILENT]) == [
        "claim   in the package  value   here           value here",
        "same    holds           0.0215  holds          same",
        "moved   holds           0.0215  DOES NOT HOLD  0.0219",
        "silent  holds           0.0215  not verified   -",
    ]
    assert unverified_claims([SAME, SILENT, verified("b", reason=SILENT.reason)]) == [
        "claims silent, b: run 'other' was not executed"
    ]


def test_nothing_foreign_gets_out_as_it_is() -> None:
    """Neither on a terminal nor in Markdown."""
    odd = outcome_of("\x1b[31m*x*", sentence="It is \x1b[31m*x* <b>.", value="\x1b[31m*x*")
    text = "\n".join(
        (*claims_table([odd]), *failed_claims([odd.model_copy(update={"held": False})]))
    )
    assert "\x1b" not in text
    assert markdown_claims([odd, WRONG]) == (
        "- It is \\\\x1b\\[31m\\*x\\* \\<b\\>. (`final-loss`)\n"
        "- **Does not hold** (`wrong`): stated 0.0215, found 0.0216 (0.02161). "
        "With what was found the sentence reads: The final loss is 0.0216."
    )


def test_long_lists_are_cut_and_say_so() -> None:
    """In each form."""
    many = [outcome_of()] * 65
    assert claims_table(many)[-1] == "and 5 more claims; --format json has all"
    assert markdown_claims(many).endswith("\n- and 5 more claims, in `results.json`")
    assert verified_table([SAME] * 65)[-1] == "and 5 more claims; --format json has all"
