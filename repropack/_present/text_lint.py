"""What ``lint`` found, as text for a terminal: by file, each finding with its rule and its cure."""

from __future__ import annotations

import shlex
from collections import Counter

from repropack._present.escape import escape_text
from repropack._present.layout import ended, listing, plural, wrap
from repropack.models.lint import LintFinding, LintReport, Severity

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_MAX_SHOWN = 200


def lint_text(report: LintReport) -> str:
    """What ``lint`` found, for people.

    Returns:
        The text; ends in a newline.
    """
    lines = wrap(
        f"{escape_text(report.path)}: {counted(report.findings)}", first=f"{report.verdict}  "
    )
    lines += wrap(
        f"Looked at {plural(report.files_examined, 'file')} of the {report.subject}; ran nothing."
    )
    for finding in report.findings[:_MAX_SHOWN]:
        lines += ["", *_finding(finding)]
    if len(report.findings) > _MAX_SHOWN:
        lines += ["", f"and {len(report.findings) - _MAX_SHOWN} more"]
    if report.findings:
        lines += ["", *wrap(_meaning(report))]
    return ended(lines)


def findings_lines(findings: tuple[LintFinding, ...], project: str) -> list[str]:
    """Errors and warnings of a project that is about to be built, one or more lines each.

    Args:
        findings: All that was found.
        project: The project's path, as it was given; the first line names it for a shell.

    Returns:
        No line where there is neither.
    """
    shown = [one for one in findings if one.severity != "note" and not one.allowed]
    if not shown:
        return []
    rows = [f"{one.severity}: {_told(one)}" for one in shown]
    more = f"`repropack lint {escape_text(shlex.quote(project))}` tells more"
    return [f"lint: {counted(findings)}; {more}", *listing(rows, first="  ")]


def counted(findings: tuple[LintFinding, ...]) -> str:
    """How many findings of each severity there are, and how many of them are allowed."""
    if not findings:
        return "nothing found"
    number = Counter(one.severity for one in findings if not one.allowed)
    parts = [plural(number[severity], severity) for severity in _SEVERITIES if number[severity]]
    allowed = sum(one.allowed for one in findings)
    if allowed:
        parts.append(f"{allowed} allowed")
    return ", ".join(parts)


def _finding(finding: LintFinding) -> list[str]:
    mark = "allowed" if finding.allowed else finding.severity
    return [
        *wrap(_told(finding), first=f"{mark:<8} ", rest=" " * 9),
        *wrap(f"cure: {finding.cure}", first=" " * 9, rest=" " * 9),
    ]


def _told(finding: LintFinding) -> str:
    return f"{escape_text(finding.place)}: {escape_text(finding.problem)} [{finding.rule}]"


def _meaning(report: LintReport) -> str:
    stopping = "An error stops a build" if report.subject == "project" else "An error ends with 1"
    return (
        f"{stopping}, unless its rule is listed under allow in [lint]; warnings and notes do not. "
        "`docs/lint.md` gives the reason of each rule."
    )
