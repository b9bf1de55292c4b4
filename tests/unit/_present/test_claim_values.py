"""Values for write-ups: each format has its own harm, and none of it gets in."""

# ruff: noqa: E501 - one line of output a line

from __future__ import annotations

import csv
import io
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from repropack._compare.claim_values import printed_claims
from repropack._compare.proofreading import Piece, proofread
from repropack._format.marks import scan_text
from repropack._format.printing import print_value
from repropack._format.values import encode_value
from repropack._present.claim_values import (
    csv_values,
    escape_tex,
    markdown_values,
    shown_value,
    tex_values,
)
from repropack.models.authored import Author
from repropack.models.claims import ClaimOutcome
from repropack.models.manifest import PackageMetadata
from repropack.models.proofreading import Values
from tests.support.claims import outcome_of

DIGEST = "sha256:" + "0" * 64
SHARE = outcome_of("97.5%", id="share-2", value=0.975, held=False)
NASTY = outcome_of("=1|\\x{}\x1b", id="nasty", value="=1|\\x{}\x1b", sentence='a, "b"\x07')


def values(*claims: ClaimOutcome, **package: Any) -> Values:
    metadata = PackageMetadata(
        name="lab", version="1.0", title="T", license="MIT", authors=(Author(name="A"),), **package
    )
    return Values(
        package=metadata, package_digest=DIGEST, evidence_digest=DIGEST,
        values=printed_claims(claims),
    )  # fmt: skip


def test_latex() -> None:
    """Macros by both prefixes, specials escaped, what does not hold said in a comment."""
    assert tex_values(values(outcome_of(), SHARE, NASTY)).decode() == (
        f"% Values of the claims of lab 1.0, evidence digest {DIGEST}.\n"
        "% Made by `repropack values`: do not edit.\n"
        "% \\claim{ID}{VALUE} marks a value that is written out, for `repropack proofread`.\n"
        "\\providecommand{\\claim}[2]{#2}\n"
        "\\newcommand{\\claimFinalLoss}{0.0215}% final-loss\n"
        "\\newcommand{\\exactFinalLoss}{0.0214672945992594}% final-loss, in full\n"
        "\\newcommand{\\claimShareTwo}{97.5\\%}% share-2; DOES NOT HOLD\n"
        "\\newcommand{\\exactShareTwo}{0.975}% share-2, in full\n"
        "\\newcommand{\\claimNasty}{=1|\\textbackslash{}x\\{\\}\\textbackslash{}x1b}% nasty\n"
        "\\newcommand{\\exactNasty}{=1|\\textbackslash{}x\\{\\}\\textbackslash{}x1b}% nasty, in full\n"
    )
    assert escape_tex("$a_b^2 & #1 ~") == "\\$a\\_b\\textasciicircum{}2 \\& \\#1 \\textasciitilde{}"


def test_markdown() -> None:
    """A table whose values are marked; a bar in a text does not end its cell."""
    assert markdown_values(values(outcome_of(), SHARE, NASTY)).decode() == (
        f"<!-- Values of the claims of lab 1.0, evidence digest {DIGEST}. Made by `repropack "
        "values`: do not edit. -->\n\n"
        "| claim | value | in full | holds |\n|---|---|---|---|\n"
        "| `final-loss` | <!-- claim: final-loss -->0.0215<!-- /claim --> | 0.0214672945992594 | yes |\n"
        "| `share-2` | <!-- claim: share-2 -->97.5%<!-- /claim --> | 0.975 | **no** |\n"
        "| `nasty` | <!-- claim: nasty -->=1\\|\\\\x{}\\\\x1b<!-- /claim --> | =1\\|\\\\x{}\\\\x1b | yes |\n"
    )


def test_what_is_printed_in_markdown_agrees_with_itself() -> None:
    """A reader who copies it has copied no fault."""
    claims = [outcome_of(), outcome_of("-3", id="minus", value=-3), outcome_of("1.2e-07", id="e")]
    text = markdown_values(values(*claims)).decode()
    found = proofread([Piece(scan_text(text, "markdown"))], claims)
    assert (found.marks, found.findings) == (3, [])


TEXTS = st.text("abx05.%$#&\\`*_{}[]()<>!-/|~^=+ \n\x1b\u00a0\u0301\u200b", max_size=30)
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60)
@given(st.one_of(TEXTS, NUMBERS))
@example("<!--")
@example("<!-- claim: a -->1<!-- /claim -->")
@example("a*b")
@example("<=0.5")
@example("x|y")
@example("_x_")
@example("5$")
@example("~~5~~")
@example("**5**")
@example("&lt;")
@example("<" * 500)
@example("\x1b" * 500)
@example(int("9" * 500))
def test_whatever_is_written_agrees_with_itself(value: str | float) -> None:
    """Copied from the table, used as a macro, or with the macros in the article itself."""
    text = print_value(value, ".4g" if isinstance(value, float) else "exact")
    stored = encode_value("a", value)
    kind = "bound" if isinstance(value, str) else "number"
    claims = [outcome_of(text, id="a", kind=kind, value=stored)]
    table, macros = markdown_values(values(*claims)).decode(), tex_values(values(*claims)).decode()
    for piece, marks in (
        (scan_text(table, "markdown"), 1),
        (scan_text(macros, "latex"), 2),
        (scan_text(r"\claimA{} and \exactA", "latex"), 2),
    ):
        found = proofread([Piece(piece)], claims, shown_value)
        assert (found.marks, found.findings) == (marks, [])


def test_csv() -> None:
    """RFC 4180, and nothing that a spreadsheet would take for a formula."""
    data = csv_values(values(outcome_of("-3", value=-3), NASTY)).decode()
    assert data.startswith("id,kind,held,text,exact,expected,sentence,macro\r\n")
    rows = list(csv.DictReader(io.StringIO(data, newline="")))
    assert [(row["held"], row["text"]) for row in rows] == [
        ("true", "-3"),
        ("true", "'=1|\\x{}\\x1b"),
    ]
    assert rows[1]["sentence"] == 'a, "b"\\x07'


def test_a_package_without_claims_has_no_values() -> None:
    """And each format stands."""
    nothing = values()
    assert tex_values(nothing).decode().count("newcommand") == 0
    assert csv_values(nothing).count(b"\r\n") == 1
    assert markdown_values(nothing).endswith(b"|---|---|---|---|\n")
