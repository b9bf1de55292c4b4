"""What ``proofread`` found, as text for a terminal: the verdict, then place after place."""

from __future__ import annotations

from repropack._present.escape import escape_text
from repropack._present.layout import ended, field, join_names, plural, wrap
from repropack.models.proofreading import (
    ArticlePlace,
    FindingKind,
    ProofreadFinding,
    ProofreadHint,
    ProofreadReport,
)

_MAX_FINDINGS = 200
_MAX_HINTS = 50
_SAID: dict[FindingKind, str] = {
    "disagrees": "{claim}: expected {expected}, observed {observed}",
    "does-not-hold": "{claim} does not hold: expected {expected}, observed {observed}",
    "unknown-claim": "{claim}: expected {expected}, observed {observed}",
    "malformed-mark": "a mark: expected {expected}, observed {observed}",
}


def proofread_text(report: ProofreadReport) -> str:
    """What ``proofread`` found, for people.

    Returns:
        The text; ends in a newline.
    """
    lines = wrap(escape_text(report.article), first=f"{report.verdict.replace('-', ' ')}  ")
    lines += wrap(_summary(report))
    if report.marks_in_code:
        were = "was" if report.marks_in_code == 1 else "were"
        told = f"{plural(report.marks_in_code, 'mark')} in code or comments {were} not looked at."
        lines += wrap(told)
    article = escape_text(report.article)
    if report.findings:
        lines.append("")
        for finding in report.findings[:_MAX_FINDINGS]:
            lines += wrap(_finding(article, finding), rest="  ")
        lines += _more(len(report.findings) - _MAX_FINDINGS + report.findings_left_out, "finding")
    if report.hints:
        lines += ["", "numbers without a mark:"]
        for hint in report.hints[:_MAX_HINTS]:
            lines += wrap(_hint(article, hint), rest="  ")
        lines += _more(len(report.hints) - _MAX_HINTS + report.hints_left_out, "hint")
    if report.unused:
        lines += ["", *field("never used:", join_names(report.unused, at_most=20))]
    package = f"{escape_text(report.package.name)} {escape_text(report.package.version)}"
    lines += ["", *field("package", package), *field("package digest", report.package_digest)]
    lines += field("evidence digest", report.evidence_digest)
    return ended(lines)


def _summary(report: ProofreadReport) -> str:
    claims = plural(report.claims, "claim")
    if not report.marks:
        told = f"No number is marked with one of the package's {claims}, so nothing was compared"
        return f"{told}; docs/claims.md says how to mark."
    wrong = len(report.findings) + report.findings_left_out
    used = f"{report.claims - len(report.unused)} of {claims} used"
    marks = plural(report.marks, "mark")
    if not wrong:
        return f"{marks}, all of them the package's values; {used}."
    return f"{wrong} of {marks} {'is' if wrong == 1 else 'are'} wrong; {used}."


def _finding(article: str, finding: ProofreadFinding) -> str:
    told = _SAID[finding.kind].format(
        claim=escape_text(finding.claim, 120),
        expected=escape_text(finding.expected, 300),
        observed=escape_text(finding.observed, 150),
    )
    return f"{_place(article, finding.place)}: {told}"


def _hint(article: str, hint: ProofreadHint) -> str:
    how = "equals" if hint.kind == "same" else "nearly equals"
    told = (
        f"{escape_text(hint.observed, 150)} {how} claim {hint.claim} ({escape_text(hint.expected)})"
    )
    return f"{_place(article, hint.place)}: {told}; mark it or ignore it"


def _place(article: str, place: ArticlePlace) -> str:
    cell = f"cell {place.cell}:" if place.cell is not None else ""
    return f"{article}:{cell}{place.line}:{place.column}"


def _more(count: int, noun: str) -> list[str]:
    return [f"and {plural(count, f'more {noun}')}"] if count > 0 else []
