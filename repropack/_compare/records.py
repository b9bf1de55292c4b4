"""What a verification found, cut down to what may be published: no path, user, host or message."""

from __future__ import annotations

from repropack._version import __version__
from repropack.models.claims import RecordedClaim
from repropack.models.reports import VerificationReport
from repropack.models.statements import (
    Coverage,
    FirstDifference,
    Property,
    RecordedRun,
    VerificationRecord,
    VerificationResult,
    Verifier,
)

_MAX_RULES = 20


def verification_result(report: VerificationReport, moment: str) -> VerificationResult:
    """The predicate of a verification record.

    Args:
        report: What ``verify`` found.
        moment: When, such as ``2026-11-30T12:00:00Z``.

    Returns:
        The properties that were shown, and the record with what they rest on.
    """
    record = _record(report)
    return VerificationResult(
        verifier=Verifier(id=f"urn:repropack:verify:{__version__}"),
        time_created=moment,
        properties=shown_properties(record),
        repropack=record,
    )


def _record(report: VerificationReport) -> VerificationRecord:
    package, confinement = report.package, report.confinement
    return VerificationRecord(
        verdict=report.verdict,
        name=None if package is None else package.name,
        version=None if package is None else package.version,
        evidence_digest=report.evidence_digest,
        coverage=_coverage(report),
        runs=tuple(
            RecordedRun(run=run.run, claim=run.claim, equal=run.equal, repeats=run.repeats)
            for run in report.runs
        ),
        expectations_failed=report.expectations_failed,
        claims=tuple(RecordedClaim(id=one.id, held=one.held_here) for one in report.claims),
        first_difference=_first_difference(report),
        confinement=None if confinement is None else confinement.level,
        environment=None if report.used_environment is None else report.used_environment.kind,
        machine=report.machine,
        problem=None if report.problem is None else report.problem.code,
        rules=tuple(dict.fromkeys(fault.rule for fault in report.faults))[:_MAX_RULES],
    )


def _coverage(report: VerificationReport) -> Coverage:
    executed = {run.run for run in report.runs}
    recorded = set(report.recorded_runs)
    notebook = report.notebook
    return Coverage(
        runs_recorded=len(recorded),
        runs_executed=len(executed & recorded),
        narrowed=report.runs_requested is not None,
        complete=bool(recorded) and recorded <= executed,
        notebook="differs"
        if notebook is not None and notebook.differences  # also one that is packed unexecuted
        else ("identical" if notebook is not None and notebook.executed else "not-executed"),
    )


def _first_difference(report: VerificationReport) -> FirstDifference | None:
    """Where the first run that differs parted; else which part of the rest differs."""
    if report.verdict != "differs":
        return None
    for run in report.runs:
        if not run.equal:
            place = run.divergence
            return FirstDifference(
                run=run.run,
                step=None if place is None else place.step,
                stage=None if place is None else place.stage,
                kind=None if place is None else place.kind,
            )
    if report.figures is not None and report.figures.paths.differing:
        return FirstDifference(part="figures")
    if report.notebook is not None and report.notebook.differences:
        return FirstDifference(part="notebook")
    return FirstDifference(part="after")


def shown_properties(record: VerificationRecord) -> tuple[Property, ...]:
    """What was shown to hold; nothing of it where the verdict is not identical, but intactness.

    Args:
        record: What was found.

    Returns:
        The properties, in their order.
    """
    shown: list[Property] = []
    if record.verdict in {"identical", "differs"}:
        shown.append("REPROPACK_PACKAGE_INTACT")
    if record.verdict == "identical":
        shown.append("REPROPACK_EXECUTED_RUNS_IDENTICAL")
        if record.coverage.complete:
            shown.append("REPROPACK_REPLAY_IDENTICAL")
        if record.coverage.notebook == "identical":
            shown.append("REPROPACK_NOTEBOOK_IDENTICAL")
        if not record.expectations_failed:
            shown.append("REPROPACK_EXPECTATIONS_HELD")
        if record.claims and all(claim.held for claim in record.claims):
            shown.append("REPROPACK_CLAIMS_HELD")
    return tuple(shown)
