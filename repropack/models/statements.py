"""What is signed: in-toto statements about a package, and about a verification of one.

A statement has the form of in-toto Statement v1. Its frame is closed here and has one spelling, so
that a signer never signs what this version does not know. The parts that are ours are documents
with a schema of their own: ``PackageStatement`` is the predicate of one kind, and
``VerificationRecord`` an extension field in the predicate of the other, which is a Simple
Verification Result v0.2.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from repropack.models.authored import VersionText
from repropack.models.base import Count, Digest, Document, Model, RunName, StageName, StepNumber
from repropack.models.claims import RecordedClaim
from repropack.models.machine import MachineFacts
from repropack.models.manifest import FORMAT_NAME, FORMAT_VERSION
from repropack.models.reports import RunClaim, Verdict
from repropack.models.results import DivergenceKind
from repropack.models.zoom import SandboxLevel

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PACKAGE_PREDICATE: Final = "urn:repropack:package:v1"
RECORD_PREDICATE: Final = "https://in-toto.io/attestation/svr/v0.2"

Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$", min_length=64, max_length=64)]
Moment = Annotated[
    str,
    StringConstraints(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", max_length=20
    ),
]
"""A moment in UTC, to the second."""
Token = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9._-]*$", max_length=80)]
"""A code of an error, or the id of a rule."""
Property = Literal[
    "REPROPACK_PACKAGE_INTACT",
    "REPROPACK_EXECUTED_RUNS_IDENTICAL",
    "REPROPACK_REPLAY_IDENTICAL",
    "REPROPACK_NOTEBOOK_IDENTICAL",
    "REPROPACK_EXPECTATIONS_HELD",
    "REPROPACK_CLAIMS_HELD",
]
"""What was found to hold. A property that is not listed was not shown; that is no denial."""


class DigestSet(Model):
    """Digests of one subject: SHA-256 as 64 hexadecimal digits, and no other algorithm."""

    sha256: Hex


class Subject(Model):
    """``package.zip`` stands for the bytes of the zip, whatever its file is called.

    ``manifest.json`` stands for the manifest, whose digest is the package digest.
    """

    name: Literal["package.zip", "manifest.json"]
    digest: DigestSet


Subjects = Annotated[tuple[Subject, ...], Field(min_length=1, max_length=2)]
"""The zip, where there is one, and then the manifest."""


class PackageStatement(Document):
    """Which package a statement is about, so that whoever reads it need not open the package."""

    schema_name: Literal["repropack/package-statement/v1"] = Field(
        default="repropack/package-statement/v1", alias="schema"
    )
    format: Literal["replay-package"] = FORMAT_NAME
    format_version: Annotated[int, Field(ge=1, le=FORMAT_VERSION)] = FORMAT_VERSION
    name: RunName
    version: VersionText
    evidence_digest: Digest


class StatementOfPackage(Model):
    """The statement that ``sign`` writes beside a package."""

    type_name: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: Subjects
    predicate_type: Literal["urn:repropack:package:v1"] = Field(alias="predicateType")
    predicate: PackageStatement


class RecordedRun(Model):
    """One run that was executed: what it shows, whether it was equal, and whether it repeats."""

    run: RunName
    claim: RunClaim
    equal: bool
    repeats: bool | None = None


class Coverage(Model):
    """How much of a package a verification ran.

    ``runs_recorded`` is how many runs the package holds, ``runs_executed`` how many of these were
    executed to their end. ``narrowed`` says that the verifier asked for some of them alone.
    ``complete`` says that every run was executed; the notebook is beside it.
    """

    runs_recorded: Count
    runs_executed: Count
    narrowed: bool
    complete: bool
    notebook: Literal["identical", "differs", "not-executed"]


class FirstDifference(Model):
    """Where the first run that differs parted; null what is not known.

    ``run`` is null where all runs are equal and ``part`` of what follows from them is not.
    """

    run: RunName | None = None
    part: Literal["run", "figures", "notebook", "after"] = "run"
    step: StepNumber | None = None
    stage: StageName | None = None
    kind: DivergenceKind | None = None


class VerificationRecord(Document):
    """What one act of ``verify`` found, and on what. No user, host or path is in it.

    ``machine`` describes the process that ran the experiment; null where nothing was run.
    ``environment`` says whether the runs were made in the environment of the verifier or in one
    that was made from the package's lock. ``problem`` is the code of why there was no answer,
    ``rules`` are those that a damaged package breaks.
    """

    schema_name: Literal["repropack/verification-record/v1"] = Field(
        default="repropack/verification-record/v1", alias="schema"
    )
    verdict: Verdict
    name: RunName | None = None
    version: VersionText | None = None
    evidence_digest: Digest | None = None
    coverage: Coverage
    runs: tuple[RecordedRun, ...] = ()
    expectations_failed: tuple[RunName, ...] = ()
    claims: tuple[RecordedClaim, ...] = ()
    first_difference: FirstDifference | None = None
    confinement: SandboxLevel | None = None
    environment: Literal["present", "recreated"] | None = None
    machine: MachineFacts | None = None
    problem: Token | None = None
    rules: tuple[Token, ...] = ()


class Verifier(Model):
    """The program that verified; not the person: who that was, a signature says."""

    id: Annotated[str, StringConstraints(pattern=r"^urn:repropack:verify:[A-Za-z0-9.+-]+$")]
    policies: Annotated[tuple[str, ...], Field(max_length=0)] = ()


class VerificationResult(Model):
    """A Simple Verification Result v0.2; ``repropack`` is an extension field."""

    verifier: Verifier
    time_created: Moment = Field(alias="timeCreated")
    properties: tuple[Property, ...]
    repropack: VerificationRecord


class StatementOfRecord(Model):
    """The statement that ``verify --record`` writes."""

    type_name: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: Subjects
    predicate_type: Literal["https://in-toto.io/attestation/svr/v0.2"] = Field(
        alias="predicateType"
    )
    predicate: VerificationResult
