"""What the verbs report. Each report is a document; its ``schema`` names its JSON Schema."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.errors import CouldNotRunError, DivergenceError, IntegrityError
from repropack.models.base import Count, Digest, Document, Model, Number, RunName, StepNumber
from repropack.models.environment import EnvironmentAccount, EnvironmentRecord
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.plan import Plan
from repropack.models.results import Divergence, Results, Split

Verdict = Literal["identical", "differs", "damaged", "could-not-run"]
RunClaim = Literal["independent-replay", "exact-resume", "comparison"]
"""What running a run again shows: the reference repeats; a resume continues exactly; a comparison
under its intervention repeats."""


class Fault(Model):
    """One thing wrong with a package: a stable code, the entry, and the problem in words."""

    code: str
    entry: str
    problem: str


class Problem(Model):
    """Why something ended without an answer."""

    code: str
    message: str
    hint: str | None = None


class BuildReport(Document):
    """What ``build`` wrote, and what it found."""

    schema_name: Literal["repropack/build-report/v1"] = Field(
        default="repropack/build-report/v1", alias="schema"
    )
    path: str
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    size_bytes: Count
    expectations_held: bool
    results: Results


class CheckReport(Document):
    """What ``check`` found without running anything.

    ``fast`` means that entry digests alone were compared. ``package_digest`` and
    ``evidence_digest`` are null where the manifest could not be read.
    """

    schema_name: Literal["repropack/check-report/v1"] = Field(
        default="repropack/check-report/v1", alias="schema"
    )
    path: str
    verdict: Literal["intact", "damaged"]
    fast: bool
    package: PackageMetadata | None = None
    package_digest: Digest | None = None
    evidence_digest: Digest | None = None
    entries_checked: Count = 0
    steps_checked: Count = 0
    arrays_checked: Count = 0
    faults: tuple[Fault, ...] = ()


class ElementDifference(Model):
    """One element in both runs: decimal, hexadecimal bits, and distance.

    ``ulp`` is in units in the last place; null for types without any, and where one side is NaN.
    """

    index: tuple[Count, ...]
    expected: Number | bool
    expected_bits: str
    observed: Number | bool
    observed_bits: str
    ulp: Number | None = None


class ArrayDifference(Model):
    """How one array differs: where it is stored, how many elements, and the first of them.

    ``expected_type`` and ``observed_type`` read like ``<f4 (24,)``; where they differ no elements
    are compared.
    """

    array: str
    step: StepNumber
    expected_type: str
    observed_type: str
    elements: Count
    elements_differing: Count
    largest_absolute: Number | None = None
    largest_ulp: Number | None = None
    first: tuple[ElementDifference, ...] = ()


class RunVerification(Model):
    """One run, executed again here and compared with what the package holds of it.

    ``equal``: every line of the log, every kept array, every checkpoint and the final arrays are
    equal byte by byte. ``repeats``: where it is not equal, whether a second local run equals the
    first local one; null where that was not tried.
    """

    run: RunName
    claim: RunClaim
    first_step: StepNumber
    last_step: StepNumber
    equal: bool
    lines_compared: Count
    checkpoints_compared: Count
    kept_arrays_compared: Count
    final_arrays: Split = Split()
    divergence: Divergence | None = None
    arrays: tuple[ArrayDifference, ...] = ()
    problems: tuple[str, ...] = ()
    repeats: bool | None = None


class RenderedVerification(Model):
    """Entries drawn again from what was computed here, by path.

    ``reason`` says why they were not compared; then both sides of ``paths`` are empty.
    """

    paths: Split = Split()
    reason: str | None = None


class NotebookVerification(Model):
    """The notebook, generated and executed again here.

    ``differences`` name what differs from the packaged one, images by their bytes apart in
    ``images``: another version of matplotlib may draw alike. ``executed`` is false where the
    packaged one was not, so that its cells alone were compared.
    """

    executed: bool
    differences: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


class VerificationReport(Document):
    """What ``verify`` found: the verdict first, then the evidence."""

    schema_name: Literal["repropack/verification-report/v1"] = Field(
        default="repropack/verification-report/v1", alias="schema"
    )
    path: str
    verdict: Verdict
    package: PackageMetadata | None = None
    package_digest: Digest | None = None
    evidence_digest: Digest | None = None
    confinement: Literal["shipped-source", "none"] = "none"
    runs_requested: tuple[RunName, ...] | None = None
    runs: tuple[RunVerification, ...] = ()
    figures: RenderedVerification | None = None
    notebook: NotebookVerification | None = None
    not_verified: tuple[str, ...] = ()
    environment: EnvironmentAccount | None = None
    faults: tuple[Fault, ...] = ()
    problem: Problem | None = None

    def raise_for_divergence(self) -> None:
        """Raise unless the verdict is ``identical``.

        Raises:
            DivergenceError: it differs.
            IntegrityError: it is damaged; holds every fault.
            CouldNotRunError: there is no answer.
        """
        if self.verdict == "differs":
            raise DivergenceError(f"{self.path}: expected identical, observed differs")
        if self.verdict == "damaged":
            raise IntegrityError(tuple((fault.entry, fault.problem) for fault in self.faults))
        if self.verdict == "could-not-run":
            problem = self.problem
            why = "no reason is known" if problem is None else problem.message
            hint = None if problem is None else problem.hint
            raise CouldNotRunError(f"{self.path}: could not run: {why}", hint=hint)


class RunSummary(Model):
    """What a package holds of one run; sizes in bytes."""

    run: RunName
    first_step: StepNumber
    last_step: StepNumber
    checkpoints: tuple[StepNumber, ...]
    kept: bool
    size_bytes: Count


class Inspection(Document):
    """What ``inspect`` shows of a package, without checking more than it reads.

    ``present`` is the account of the recorded environment against this machine's; null where this
    machine's could not be observed.
    """

    schema_name: Literal["repropack/inspection/v1"] = Field(
        default="repropack/inspection/v1", alias="schema"
    )
    path: str
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    size_bytes: Count
    entries: tuple[Entry, ...]
    plan: Plan
    runs: tuple[RunSummary, ...]
    results: Results
    environment: EnvironmentRecord
    present: EnvironmentAccount | None = None


class UnpackReport(Document):
    """What ``unpack`` wrote."""

    schema_name: Literal["repropack/unpack-report/v1"] = Field(
        default="repropack/unpack-report/v1", alias="schema"
    )
    path: str
    directory: str
    package_digest: Digest
    entries: tuple[str, ...]


class ErrorReport(Document):
    """Printed under ``--format json`` where a verb ends with an error."""

    schema_name: Literal["repropack/error/v1"] = Field(default="repropack/error/v1", alias="schema")
    code: str
    message: str
    hint: str | None = None
    status: int
