"""Verification records made by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import repropack.lab
from repropack._compare.claims import runs_of
from repropack._compare.record_fit import ClaimFacts
from repropack._compare.records import verification_result
from repropack._format.statements import record_statement
from repropack._read.package import open_package
from repropack.models.claims import ClaimPlan, ClaimVerification
from repropack.models.machine import MachineFacts
from repropack.models.reports import (
    Confinement,
    NotebookVerification,
    Problem,
    RunVerification,
    UsedEnvironment,
    VerificationReport,
)
from repropack.models.statements import VerificationResult
from tests.support.claims import outcome_of
from tests.support.reports import EVIDENCE_DIGEST, PACKAGE_DIGEST, at_gradient, metadata

MOMENT = "2026-11-30T12:00:00Z"
MACHINE = MachineFacts(
    cpu_vendor="GenuineIntel",
    cpu="Xeon",
    family="6/85",
    architecture="x86_64",
    system="debian 12",
    libc="glibc 2.36",
    python="3.11.7",
    numpy="2.3.1",
    blas="openblas 0.3.27 SkylakeX",
    repropack="0.1.0",
)

_LAB: Any = tomllib.loads(
    Path(repropack.lab.__file__).with_name("replay_lab.toml").read_text("utf-8")
)
RUNS = ("reference", *sorted(row["name"] for row in _LAB["comparisons"]))
"""The runs of the lab."""
RESUME = "full-checkpoint"
CLAIMS = {
    row["id"]: ClaimFacts(
        runs_of(ClaimPlan.model_validate(row)),
        of_equality=row["kind"] in {"repeated-outcome", "exact-resume"},
    )
    for row in _LAB["claims"]
}
"""The claims of the lab: each holds."""
_SHOWS = {"reference": "independent-replay", "independent-restart": "independent-replay"}


def run(name: str, **changes: Any) -> RunVerification:
    """A run of ten steps that was equal, unless changed."""
    fields: dict[str, Any] = {
        "run": name,
        "claim": "exact-resume" if name == RESUME else _SHOWS.get(name, "comparison"),
        "first_step": 1,
        "last_step": 10,
        "equal": True,
        "lines_compared": 12,
        "checkpoints_compared": 3,
        "kept_arrays_compared": 0,
    }
    return RunVerification(**(fields | changes))


def claims(executed: Any = RUNS, *, repeated: bool = True) -> tuple[ClaimVerification, ...]:
    """The claims of the lab: each held where its runs were executed, and were ``repeated``."""
    fields = ("kind", "sentence", "expected", "held", "text", "value")
    told: dict[str, Any] = {name: getattr(outcome_of(), name) for name in fields}
    return tuple(
        ClaimVerification(
            id=name,
            held_here=(repeated or not claim.of_equality)
            if set(claim.runs) <= set(executed)
            else None,
            **told,
        )
        for name, claim in CLAIMS.items()
    )


def verification(**changes: Any) -> VerificationReport:
    """A verification of the lab that found every run identical, unless changed."""
    fields: dict[str, Any] = {
        "path": "/home/ann/private/lab.zip",
        "verdict": "identical",
        "checked": True,
        "package": metadata(),
        "package_digest": PACKAGE_DIGEST,
        "evidence_digest": EVIDENCE_DIGEST,
        "confinement": Confinement(level="none", reason="shipped-source"),
        "used_environment": UsedEnvironment(kind="present"),
        "recorded_runs": RUNS,
        "runs": tuple(map(run, RUNS)),
        "claims": claims(),
        "machine": MACHINE,
    }
    return VerificationReport(**(fields | changes))


def differing(**changes: Any) -> VerificationReport:
    """One that found the reference parted at its first step."""
    parted = run("reference", equal=False, repeats=True, divergence=at_gradient())
    fields: dict[str, Any] = {
        "verdict": "differs",
        "runs": (parted, *map(run, RUNS[1:])),
        "claims": claims(repeated=False),
    }
    return verification(**(fields | changes))


def partial(**changes: Any) -> VerificationReport:
    """One that was asked for the reference alone."""
    asked = ("reference",)
    fields: dict[str, Any] = {"runs_requested": asked, "runs": (run("reference"),)}
    return verification(**(fields | {"claims": claims(asked)} | changes))


def unanswered(**changes: Any) -> VerificationReport:
    """One that was checked, and could not run."""
    problem = Problem(code="run.no-confinement", message="no confinement in /home/ann")
    fields: dict[str, Any] = {"verdict": "could-not-run", "runs": (), "claims": (), "machine": None}
    return verification(**(fields | {"problem": problem} | changes))


def result(report: VerificationReport | None = None) -> VerificationResult:
    """The predicate of a record."""
    return verification_result(report or verification(), MOMENT)


def record(
    report: VerificationReport | None = None, package_digest: str | None = PACKAGE_DIGEST
) -> bytes:
    """A whole record, as ``verify --record`` writes it for a folder."""
    return record_statement(result(report), package_digest, None)


def record_about(package: Path, report: VerificationReport | None = None) -> bytes:
    """A whole record about a package of the lab that is there."""
    with open_package(package) as found:
        told = {"evidence_digest": found.evidence_digest}
        return record((report or verification()).model_copy(update=told), found.package_digest)


NOTEBOOK = NotebookVerification(executed=True)
