"""Verification records made by hand."""

from __future__ import annotations

from typing import Any

from repropack._compare.records import verification_result
from repropack._format.statements import record_statement
from repropack.models.machine import MachineFacts
from repropack.models.reports import (
    Confinement,
    NotebookVerification,
    RunVerification,
    UsedEnvironment,
    VerificationReport,
)
from repropack.models.statements import VerificationResult
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


def run(name: str, **changes: Any) -> RunVerification:
    """A run of ten steps that was equal, unless changed."""
    fields: dict[str, Any] = {
        "run": name,
        "claim": "independent-replay" if name == "reference" else "exact-resume",
        "first_step": 1,
        "last_step": 10,
        "equal": True,
        "lines_compared": 12,
        "checkpoints_compared": 3,
        "kept_arrays_compared": 0,
    }
    return RunVerification(**(fields | changes))


def verification(**changes: Any) -> VerificationReport:
    """A verification of a package of two runs that found both identical, unless changed."""
    fields: dict[str, Any] = {
        "path": "/home/ann/private/lab.zip",
        "verdict": "identical",
        "package": metadata(),
        "package_digest": PACKAGE_DIGEST,
        "evidence_digest": EVIDENCE_DIGEST,
        "confinement": Confinement(level="none", reason="shipped-source"),
        "used_environment": UsedEnvironment(kind="present"),
        "recorded_runs": ("reference", "resume"),
        "runs": (run("reference"), run("resume")),
        "machine": MACHINE,
    }
    return VerificationReport(**(fields | changes))


def differing(**changes: Any) -> VerificationReport:
    """One that found the reference parted at its first step."""
    parted = run("reference", equal=False, repeats=True, divergence=at_gradient())
    fields: dict[str, Any] = {"verdict": "differs", "runs": (parted, run("resume"))}
    return verification(**(fields | changes))


def partial(**changes: Any) -> VerificationReport:
    """One that was asked for the reference alone."""
    fields: dict[str, Any] = {"runs_requested": ("reference",), "runs": (run("reference"),)}
    return verification(**(fields | changes))


def result(report: VerificationReport | None = None) -> VerificationResult:
    """The predicate of a record."""
    return verification_result(report or verification(), MOMENT)


def record(
    report: VerificationReport | None = None, package_digest: str | None = PACKAGE_DIGEST
) -> bytes:
    """A whole record, as ``verify --record`` writes it for a folder."""
    return record_statement(result(report), package_digest, None)


NOTEBOOK = NotebookVerification(executed=True)
