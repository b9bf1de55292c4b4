"""What ``proofread`` found, as text."""

from __future__ import annotations

from typing import Any

from repropack._present.text_proofread import proofread_text
from repropack.models.authored import Author
from repropack.models.manifest import PackageMetadata
from repropack.models.proofreading import (
    ArticlePlace,
    ProofreadFinding,
    ProofreadHint,
    ProofreadReport,
)

DIGEST = "sha256:" + "0" * 64
PLACE = ArticlePlace(line=3, column=7)


def text(**members: Any) -> str:
    package = PackageMetadata(
        name="lab", version="1.0", title="T", license="MIT", authors=(Author(name="A"),)
    )
    values: dict[str, Any] = {
        "path": "lab.zip", "article": "a.md", "form": "markdown", "verdict": "agrees",
        "package": package, "package_digest": DIGEST, "evidence_digest": DIGEST, "claims": 3,
        "marks": 2, **members,
    }  # fmt: skip
    return proofread_text(ProofreadReport.model_validate(values))


def finding(kind: Any, **members: Any) -> ProofreadFinding:
    values = {"kind": kind, "place": PLACE, "claim": "loss", "expected": "1", "observed": "2"}
    return ProofreadFinding.model_validate({**values, **members})


END = f"\npackage           lab 1.0\npackage digest    {DIGEST}\nevidence digest   {DIGEST}\n"


def test_an_article_that_agrees() -> None:
    """The verdict first, and what was never used."""
    assert text(unused=("apart",)) == (
        "agrees  a.md\n2 marks, all of them the package's values; 2 of 3 claims used.\n\n"
        f"never used:       apart\n{END}"
    )
    shown = text(marks=0, verdict="nothing-marked")
    assert shown.startswith("nothing marked  a.md\n")
    assert "No number is marked with one of the package's 3 claims, so nothing was" in shown


def test_marks_in_code_are_told() -> None:
    """So that nothing goes unseen without a word."""
    assert "\n1 mark in code or comments was not looked at.\n" in text(marks_in_code=1)
    assert "\n2 marks in code or comments were not looked at.\n" in text(marks_in_code=2)


def test_each_finding_has_its_place() -> None:
    """File, line and column; a cell where there is one; what is foreign is escaped."""
    cell = ArticlePlace(line=1, column=2, cell=4)
    shown = text(
        verdict="disagrees",
        findings=(
            finding("disagrees"),
            finding("does-not-hold"),
            finding("unknown-claim", claim="x\x1b", place=cell),
            finding("malformed-mark", claim="", expected="<!-- claim: ID -->"),
        ),
        findings_left_out=2,
    )
    assert shown.startswith(
        "disagrees  a.md\n6 of 2 marks are wrong; 3 of 3 claims used.\n\n"
        "a.md:3:7: loss: expected 1, observed 2\n"
        "a.md:3:7: loss does not hold: expected 1, observed 2\n"
        "a.md:cell 4:1:2: x\\x1b: expected 1, observed 2\n"
        "a.md:3:7: a mark: expected <!-- claim: ID -->, observed 2\n"
    )


def test_hints_follow() -> None:
    """With what they are nearly."""
    hints = tuple(
        ProofreadHint(kind=kind, place=PLACE, claim="loss", expected="0.5", observed="0.51")
        for kind in ("same", "near")
    )
    shown = text(hints=hints, hints_left_out=1)
    assert "a.md:3:7: 0.51 equals claim loss (0.5); mark it or ignore it\n" in shown
    assert "a.md:3:7: 0.51 nearly equals claim loss (0.5); mark it or ignore it\n" in shown


def test_long_lists_are_cut_and_counted() -> None:
    """Here, and where they were cut before."""
    shown = text(verdict="disagrees", findings=(finding("disagrees"),) * 203, findings_left_out=5)
    assert "and 8 more findings\n" in shown
