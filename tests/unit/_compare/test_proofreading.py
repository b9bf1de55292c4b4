"""An article against claims: what agrees, what does not, and what is worth a look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from repropack._compare import proofreading
from repropack._compare.claim_values import exact_form, printed_claims
from repropack._compare.proofreading import Piece, Proofreading, proofread
from repropack._format.marks import scan_text
from repropack._format.scans import Form
from repropack.models.claims import ClaimOutcome
from tests.support.claims import outcome_of

LOSS = outcome_of()
APART = outcome_of("1.2e-07", id="apart", value=1.1920928955078125e-07, expected="1.2e-07")
BOUND = outcome_of(
    "0.0215", id="below", kind="bound", value=0.0214672945992594, limit=0.022, expected="< 0.022"
)
STAGE = outcome_of("gradient", id="stage", kind="bound", value="gradient", limit="gradient")
CAUSE = outcome_of("false", id="cause", kind="bound", value=False, limit=False)
ROWS = outcome_of("12,500", id="rows", kind="count", value=12500)
SHARE = outcome_of("97.5%", id="share", value=0.975)
SAME = outcome_of("identical", id="same", kind="exact-resume", value=True)
WRONG = outcome_of("0.5", id="wrong", value=0.5, held=False, expected="0.4")
CLAIMS = (LOSS, APART, BOUND, STAGE, CAUSE, ROWS, SHARE, SAME, WRONG)


def found(text: str, form: Form = "markdown", claims: Sequence[ClaimOutcome] = CLAIMS) -> Any:
    return proofread([Piece(scan_text(text, form))], claims)


def mark(claim: str, content: str) -> str:
    return f"<!-- claim: {claim} -->{content}<!-- /claim -->"


@pytest.mark.parametrize(
    ("claim", "content"),
    [
        ("final-loss", "0.0215"),
        ("final-loss", "**0.0215**"),
        ("final-loss", "2.15e-2"),
        ("final-loss", "0.0214672945992594"),
        ("apart", "1.2e-7"),
        ("apart", "1.2 \u00d7 10\u207b\u2077"),
        ("apart", "$1.2 \\times 10^{-7}$"),
        ("apart", "1.1920928955078125e-07"),
        ("below", "0.0215"),
        ("below", "0.022"),
        ("stage", "`gradient`"),
        ("cause", "the optimizer's state"),
        ("rows", "12,500"),
        ("rows", "12500"),
        ("share", "97.5 %"),
        ("share", "0.975"),
        ("same", "*identical*"),
    ],
)
def test_what_agrees(claim: str, content: str) -> None:
    """The value as it is printed, in full, or the limit of a bound, however it is written."""
    assert found(mark(claim, content)).findings == []


@pytest.mark.parametrize(
    ("claim", "content", "expected"),
    [
        ("final-loss", "0.0216", "0.0215"),
        ("final-loss", "0.02150", "0.0215"),
        ("final-loss", "0.021", "0.0215"),
        ("final-loss", "-0.0215", "0.0215"),
        ("final-loss", "", "0.0215"),
        ("apart", "1.2e-8", "1.2e-07"),
        ("apart", "1.20e-7", "1.2e-07"),
        ("below", "0.023", "0.0215, or the limit 0.022"),
        ("stage", "weights", "gradient"),
        ("rows", "12,501", "12,500"),
        ("share", "0.98", "97.5%"),
        ("same", "differs", "identical"),
    ],
)
def test_what_disagrees(claim: str, content: str, expected: str) -> None:
    """Another value, or another last digit; with the place of what is marked."""
    (one,) = found(f"a\n b {mark(claim, content)}").findings
    told = (one.kind, one.claim, one.expected, one.observed)
    assert told == ("disagrees", claim, expected, content or "nothing")
    assert (one.place.line, one.place.column) == (2, 4 + len(f"<!-- claim: {claim} -->"))


def test_an_unknown_claim_is_told_with_one_that_is_close() -> None:
    """Whatever is marked with it."""
    (one,) = found(mark("final-los", "0.0215")).findings
    assert (one.kind, one.claim) == ("unknown-claim", "final-los")
    assert one.observed == "none of this id; did you mean 'final-loss'?"


def test_a_claim_that_does_not_hold_is_told_whatever_is_marked() -> None:
    """Its value agrees, and the sentence is wrong all the same."""
    for content in ("0.5", "0.4"):
        (one,) = found(mark("wrong", content)).findings
        told = (one.kind, one.expected, one.observed)
        assert told == ("does-not-hold", "0.4", "0.5 in the package")


@pytest.mark.parametrize("content", ["0.45", "0.50", "0.40", "half"])
def test_a_wrong_number_is_told_beside_a_claim_that_does_not_hold(content: str) -> None:
    """It is neither what the claim states nor what the package has: another fault."""
    first, second = found(mark("wrong", content)).findings
    assert first.kind == "does-not-hold"
    assert (second.kind, second.expected, second.observed) == ("disagrees", "0.5", content)


def test_macros_of_values_are_right_by_themselves() -> None:
    """Unless there is no such claim, or it does not hold."""
    good = found(r"\claimFinalLoss{} and \exactRows", "latex")
    assert (good.findings, good.marks, good.used) == ([], 2, {"final-loss", "rows"})
    bad = found(r"\claimFinalLos, \claimWrong", "latex").findings
    assert [(one.kind, one.claim) for one in bad] == [
        ("unknown-claim", r"\claimFinalLos"), ("does-not-hold", "wrong"),
    ]  # fmt: skip
    assert bad[0].observed == "none of this name; did you mean 'claimFinalLoss'?"


@pytest.mark.parametrize(
    ("value", "content", "agrees"),
    [
        ("007", "007", True),
        ("007", "**007**", True),
        ("007", "7", False),
        ("1,000.0", "1000.0", False),
        ("5$", "5", False),
        ("5$", "5$", True),
        ("gradient", "grad*i*ent", True),
        ("gradient", "grad<br>ient", False),
        ("gradient", "~~gradient~~", False),
    ],
)
def test_a_text_agrees_letter_for_letter(value: str, content: str, agrees: bool) -> None:
    """Though it looks like a number."""
    claims = [outcome_of(value, id="a", kind="bound", value=value, limit=value)]
    assert (found(mark("a", content), claims=claims).findings == []) is agrees


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (r"\renewcommand\claimFinalLoss{0.03}", "disagrees"),
        (r"\def\exactFinalLoss{0.03}", "disagrees"),
        (r"\let\claimFinalLoss\x", "malformed-mark"),
        (r"\newcommand\claimFinalLoss[1]{0.0215}", "malformed-mark"),
    ],
)
def test_an_article_that_defines_a_macro_of_values_otherwise(text: str, kind: str) -> None:
    """Its number is none of the package's, though each use of it looks right."""
    (one,) = found(text + r" \claimFinalLoss", "latex").findings
    assert (one.kind, one.claim) == (kind, "final-loss")


def test_an_article_that_defines_a_macro_as_values_does() -> None:
    """It may hold what `values` wrote; and macros of other names are its own affair."""
    proof = found(r"\newcommand{\claimFinalLoss}{0.0215} \newcommand{\exactSequence}{9}", "latex")
    assert (proof.findings, proof.marks) == ([], 1)


@pytest.mark.parametrize(("content", "kinds"), [
    ("7", ["does-not-hold", "disagrees"]), ("007", ["does-not-hold"]), ("008", ["does-not-hold"]),
])  # fmt: skip
def test_a_text_that_does_not_hold(content: str, kinds: list[str]) -> None:
    """What is stated is compared letter for letter too."""
    claim = outcome_of("007", id="a", kind="bound", value="007", held=False, expected="008")
    assert [one.kind for one in found(mark("a", content), claims=[claim]).findings] == kinds


def test_marks_in_code_are_counted() -> None:
    """Over all pieces; they are no marks."""
    proof = found(f"`{mark('rows', '1')}` ` {mark('rows', '12500')}\n\n```\n{mark('a', '1')}\n```")
    assert (proof.marks, proof.marks_in_code, proof.findings) == (1, 2, [])


def test_a_mark_that_is_none_is_told() -> None:
    """In the order of the places, beside the others."""
    kinds = [one.kind for one in found("<!-- claim: a --> 1" + mark("rows", "1")).findings]
    assert kinds == ["malformed-mark", "disagrees"]


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("a loss of 0.0215", [("same", "final-loss", "0.0215")]),
        ("a loss of 0.021467", [("same", "final-loss", "0.021467")]),
        ("a loss of 0.0216", [("near", "final-loss", "0.0216")]),
        ("a loss of 0.0220", []),
        ("a loss of 0.021", []),
        ("12,500 rows", [("same", "rows", "12,500")]),
        ("12500 rows, 12501 rows", [("same", "rows", "12500")]),
        ("97.5 % of them", [("same", "share", "97.5 %")]),
        ("1.19e-7", [("same", "apart", "1.19e-7")]),
        ("`0.0215` and https://x/0.0215", []),
        ("version 0.0215.1", []),
    ],
)
def test_numbers_without_a_mark(text: str, hints: list[tuple[str, str, str]]) -> None:
    """Three digits that a value gives when it is rounded there, or a fraction within 1 %."""
    assert [(one.kind, one.claim, one.observed) for one in found(text).hints] == hints


def test_years_are_no_hints() -> None:
    """Whatever a claim says."""
    year = outcome_of("2024", id="year", kind="count", value=2024)
    assert found("in 2024", claims=[year]).hints == []
    assert len(found("in 2124", claims=[year.model_copy(update={"value": 2124})]).hints) == 1


def test_what_is_listed_is_bounded_and_the_rest_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of findings and of hints."""
    monkeypatch.setattr(proofreading, "MAX_FINDINGS", 2)
    monkeypatch.setattr(proofreading, "MAX_HINTS", 3)
    text = mark("rows", "1") * 5 + " 0.0215" * 7
    proof: Proofreading = found(text)
    assert (len(proof.findings), proof.findings_left_out) == (2, 3)
    assert (len(proof.hints), proof.hints_left_out) == (3, 4)
    assert proof.marks == 5


def test_places_in_cells_name_the_cell() -> None:
    """Each cell has lines of its own."""
    pieces = [Piece(scan_text("x", "markdown"), cell=1), Piece(scan_text("\n" + mark("b", "1"), "markdown"), cell=3)]  # fmt: skip  # noqa: E501
    (one,) = proofread(pieces, CLAIMS).findings
    assert (one.place.cell, one.place.line, one.place.column) == (3, 2, 18)


def test_numbers_beyond_all_bounds_are_harmless() -> None:
    """Huge exponents, infinities and very small values."""
    odd = [
        outcome_of("inf", id="a", value={"$float": "inf"}),
        outcome_of("5e-324", id="b", value=5e-324),
        outcome_of("1e+300", id="c", value=1e300),
    ]
    text = "1.25e9999 and 1.25e-9999 and 4.94e-324 " + mark("a", "inf")
    proof = found(text, claims=odd)
    assert [(one.kind, one.claim) for one in proof.hints] == [("same", "b")]
    assert proof.findings == []


def test_values_are_printed_rounded_and_in_full() -> None:
    """With the name of a macro."""
    (row,) = printed_claims([APART])
    assert (row.text, row.exact, row.macro) == ("1.2e-07", "1.1920928955078125e-07", "claimApart")
    assert exact_form({"$int": str(2**70)}) == str(2**70)


def test_unknown_names_are_compared_with_known_ones_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hundred thousand marks of claims that there are not take no time with the claims."""
    asked = []

    def count(name: str, known: list[str]) -> str:
        asked.append(name)
        return f"; did you mean {known[0]!r}?"

    monkeypatch.setattr(proofreading, "advice", count)
    text = " ".join(mark(f"x-{k // 2}", "1") for k in range(200))
    told = [finding.observed for finding in found(text).findings]
    assert asked == [f"x-{k}" for k in range(proofreading.MAX_ADVICE)]
    assert told[39].endswith("did you mean 'final-loss'?")
    assert told[40] == "none of this id"


def test_a_claim_may_be_a_whole_number_beyond_float64() -> None:
    """It is a number like others; and so is one of ten thousand digits in an article."""
    huge = outcome_of("1" + "0" * 400, id="huge", kind="count", value={"$int": "1" + "0" * 400})
    hints = found(f"a 1{'0' * 200} b 123e9999 c 1990 d 1{'0' * 299}", claims=[huge, LOSS]).hints
    assert hints == []
