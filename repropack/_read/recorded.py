"""What of a package the records of its verifications have to agree with."""

from __future__ import annotations

from collections.abc import Iterable

from repropack._compare.claim_rules import OF_RUNS
from repropack._compare.claims import runs_of
from repropack._compare.record_fit import ClaimFacts, PackageFacts
from repropack._format.layout import REFERENCE_RUN
from repropack._read.package import Package
from repropack._read.shown import added_resume, claim_of
from repropack.models.plan import ComparisonPlan
from repropack.models.reports import RunClaim


def package_facts(package: Package, places: Iterable[tuple[str, int]] = ()) -> PackageFacts:
    """The facts of a package.

    Args:
        package: The package, checked.
        places: Runs and steps whose stages are asked for; each log is read once.

    Returns:
        The facts; what is asked for and not there is left out.

    Raises:
        PackageError: a log is malformed.
    """
    plan = package.plan
    claims: dict[str, RunClaim] = {REFERENCE_RUN: "independent-replay"}
    claims |= {row.name: claim_of(row, package) for row in plan.comparisons}
    names = package.run_names()
    added = added_resume(package)
    return PackageFacts(
        package_digest=package.package_digest,
        archive_digest=package.container.whole_digest(),
        name=package.manifest.package.name,
        version=package.manifest.package.version,
        evidence_digest=package.evidence_digest,
        runs={name: claims[name] for name in names},
        added=None if added is None else added.name,
        expectations_failed=package.expectations_failed(),
        claims={
            claim.id: ClaimFacts(runs_of(claim), outcome.held, claim.kind in OF_RUNS)
            for claim, outcome in zip(plan.claims, package.results.claims, strict=True)
        },
        has_outputs=bool(plan.experiment.outputs),
        notebook_executed=plan.notebook == "executed",
        parts=frozenset({"run", "notebook", "figures", *(["after"] if plan.after else [])}),
        stages=_stages_at(package, frozenset(places), added),
    )


def _stages_at(
    package: Package, places: frozenset[tuple[str, int]], added: ComparisonPlan | None
) -> dict[tuple[str, int], frozenset[str]]:
    """The stages of each line that is asked for; an added resume is held against the reference."""
    found: dict[tuple[str, int], frozenset[str]] = {}
    logs = {name: name for name in package.run_names()}
    if added is not None:
        logs[added.name] = REFERENCE_RUN
    for run, log in logs.items():
        wanted = {step for name, step in places if name == run}
        if not wanted:
            continue
        for line in package.run(log).steps(min(wanted)):
            if line.step > max(wanted):
                break
            if line.step in wanted:
                found[run, line.step] = frozenset(name for name, _ in line.stages or ())
    return found
