"""What was found when the package was verified: on a page that is made with a report, and no other.

The package's own page knows of no verification: it is as old as the package.
"""

from __future__ import annotations

from collections.abc import Iterator

from repropack._present.divergence import divergence_evidence, divergence_place
from repropack._present.escape import without_folders
from repropack._present.html import Content, Markup, element
from repropack._present.layout import join_names, plural, step_range
from repropack._present.page_parts import (
    code,
    details,
    facts,
    items,
    paragraph,
    section,
    table,
    term,
)
from repropack._present.text_verify import LEVELS, RUN_CLAIMS, SCOPE, UNCONFINED
from repropack.models.claims import ClaimVerification
from repropack.models.environment import EnvironmentAccount
from repropack.models.reports import RunVerification, VerificationReport

_KINDS = {"identical": "yes", "differs": "no", "damaged": "no", "could-not-run": "none"}
_MAX_DIFFERENCES = 40
_MAX_NOTES = 20


def verification_section(report: VerificationReport) -> Markup:
    """The verdict, the runs, the first divergence, the environment.

    Args:
        report: What ``verify`` reported of this very package.

    Returns:
        The section.
    """
    others = [run for run in report.runs if not run.equal]
    return section(
        "verification",
        "What was found when it was verified",
        paragraph(
            element("b", report.verdict, class_=f"badge {_KINDS[report.verdict]}"),
            f" {SCOPE[report.verdict]}",
            class_="verdict",
        ),
        *_problem(report),
        *map(_difference, others[:_MAX_NOTES]),
        _runs(report.runs) if report.runs else None,
        _claims(report.claims) if report.claims else None,
        _account(report.environment),
        facts(
            [
                ("confinement", _confinement(report)),
                (
                    "runs asked for",
                    join_names(report.runs_requested) if report.runs_requested else None,
                ),
                ("recreated environment", _recreated(report)),
            ]
        ),
        details(
            f"Not verified: {len(report.not_verified)}", items(report.not_verified[:_MAX_NOTES])
        )
        if report.not_verified
        else None,
    )


def _problem(report: VerificationReport) -> Iterator[Markup]:
    if report.problem is not None:  # a page is shown to others
        yield paragraph(without_folders(report.problem.message), " ", code(report.problem.code))
        if report.problem.hint is not None:
            yield paragraph(without_folders(report.problem.hint))
    if report.faults:
        faults: list[Content] = [
            [
                code(fault.entry),
                f": {fault.problem}; expected {fault.expected}, observed {fault.observed}",
            ]
            for fault in report.faults[:_MAX_NOTES]
        ]
        yield items(faults)


def _difference(run: RunVerification) -> Markup:
    found = run.divergence
    told: list[Content] = [code(run.run), " differs from what the package holds of it"]
    if found is not None:
        told += [
            ": first divergence ",
            element("b", divergence_place(found)),
            f", {divergence_evidence(found)}",
        ]
    told.append(".")
    if run.repeats is not None:
        told.append(
            " A second run here gave the same bytes as the first one here."
            if run.repeats
            else " Two runs here differ from each other too."
        )
    return paragraph(told)


def _runs(runs: tuple[RunVerification, ...]) -> Markup:
    counts = {
        "log lines": [run.lines_compared for run in runs],
        "checkpoints": [run.checkpoints_compared for run in runs],
        "kept arrays": [run.kept_arrays_compared for run in runs],
        "outputs": [run.outputs.compared for run in runs],
    }
    shown = {label: column for label, column in counts.items() if any(column)}
    header = ("run", "claim", "steps", "result", *shown)
    rows = [
        (
            code(run.run),
            RUN_CLAIMS[run.claim],
            step_range(run.first_step, run.last_step),
            "equal" if run.equal else element("span", "differs", class_="bad"),
            *(f"{column[k]:,}" if column[k] else "-" for column in shown.values()),
        )
        for k, run in enumerate(runs)
    ]
    return table("Runs that were executed again", header, rows, right=range(4, len(header)))


def _failing(claim: ClaimVerification) -> str:
    """What the author states of a claim that the package does not hold, and what it holds."""
    return f"stated {claim.expected}, found {claim.text}"


def _claims(claims: tuple[ClaimVerification, ...]) -> Markup:
    words = {True: "holds", False: "fails", None: "not verified"}
    rows = (
        (
            code(claim.id),
            claim.sentence if claim.held else f"{claim.sentence} ({_failing(claim)})",
            words[claim.held],
            words[claim.held_here],
            claim.text_here or claim.reason or "-",
        )
        for claim in claims
    )
    header = ("claim", "sentence", "on what is stored", "on what was computed", "value there")
    return table("Claims, computed again", header, rows)


def _account(account: EnvironmentAccount | None) -> Markup | None:
    if account is None:
        return None
    if not account.differences and not account.changed_families:
        return paragraph("The environment was the recorded one in everything that was compared.")
    rows = [
        (code(row.field), row.recorded or "-", row.observed or "-", row.effect)
        for row in account.differences[:_MAX_DIFFERENCES]
    ]
    return details(
        f"Another environment: {account.sentence}",
        paragraph(
            "Families of the ",
            term("probe card"),
            f" that changed: {join_names(account.changed_families)}.",
        )
        if account.changed_families
        else None,
        table("Environments", ("field", "recorded", "observed", "can it change bytes"), rows),
        open_=True,
    )


def _confinement(report: VerificationReport) -> str:
    confinement = report.confinement
    if confinement is None:
        return "nothing of the package was executed"
    if confinement.level == "none":
        return UNCONFINED[confinement.reason]
    return LEVELS[confinement.level]


def _recreated(report: VerificationReport) -> str | None:
    used = report.used_environment
    if used is None or used.kind == "present":
        return None
    count = plural(used.distributions or 0, "distribution")
    return f"{count}, Python {used.python or 'not known'}, by {used.installer or 'an installer'}"
