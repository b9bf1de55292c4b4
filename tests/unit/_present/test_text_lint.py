"""What lint found, in words."""

from __future__ import annotations

from repropack._present.text_lint import findings_lines, lint_text
from tests.support import reports

ERROR = reports.lint_finding()
NOTE = reports.lint_finding(
    rule="authors-orcid", severity="note", path="repropack.toml", line=None, problem="no ORCID iD"
)


def test_a_report_is_told_by_finding() -> None:
    """The verdict and the counts first, then each finding with its cure."""
    report = reports.lint_report(verdict="errors", findings=(ERROR, NOTE))
    assert lint_text(report) == (
        "errors  lab: 1 error, 1 note\n"
        "Looked at 3 files of the project; ran nothing.\n"
        "\n"
        "error    train.py:7: a path in the home folder of 'ada' [personal-path]\n"
        "         cure: write the path relative to the project folder, and make the file again\n"
        "\n"
        "note     repropack.toml: no ORCID iD [authors-orcid]\n"
        "         cure: write the path relative to the project folder, and make the file again\n"
        "\n"
        "An error stops a build, unless its rule is listed under allow in [lint]; warnings and "
        "notes do not.\n"
        "`docs/lint.md` gives the reason of each rule.\n"
    )


def test_nothing_found_is_said() -> None:
    """A clean report is short."""
    report = reports.lint_report(verdict="clean", findings=())
    assert lint_text(report) == (
        "clean  lab: nothing found\nLooked at 3 files of the project; ran nothing.\n"
    )


def test_what_is_allowed_is_marked() -> None:
    """It is counted apart."""
    allowed = ERROR.model_copy(update={"allowed": True})
    text = lint_text(reports.lint_report(verdict="clean", findings=(allowed,)))
    assert text.startswith("clean  lab: 1 allowed\n")
    assert "\nallowed  train.py:7: " in text


def test_a_build_is_told_errors_and_warnings() -> None:
    """Notes and what is allowed are counted, and where there is nothing else there is no line."""
    allowed = ERROR.model_copy(update={"allowed": True})
    assert findings_lines((ERROR, allowed, NOTE), "my lab") == [
        "lint: 1 error, 1 note, 1 allowed; `repropack lint 'my lab'` tells more",
        "  error: train.py:7: a path in the home folder of 'ada' [personal-path]",
    ]
    assert findings_lines((allowed, NOTE), "lab") == []


def test_others_text_is_escaped() -> None:
    """A path in a package may hold what moves a cursor."""
    evil = ERROR.model_copy(update={"path": "a\x1b[2J", "problem": "b\u202e"})
    text = lint_text(reports.lint_report(findings=(evil,)))
    assert "\x1b" not in text
    assert "\u202e" not in text
