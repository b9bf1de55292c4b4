"""What the verbs report. Each report is a document; its ``schema`` names its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repropack.errors import CouldNotRunError, DivergenceError, IntegrityError
from repropack.models.base import Count, Digest, Document, Model, RunName, StepNumber
from repropack.models.claims import ClaimId, ClaimVerification
from repropack.models.differences import ArrayDifference, OutputsComparison
from repropack.models.environment import EnvironmentAccount
from repropack.models.lint import LintFinding
from repropack.models.machine import MachineFacts
from repropack.models.manifest import PackageMetadata
from repropack.models.patterns import DrawDistance, Pattern
from repropack.models.results import Divergence, PrintedAgreement, Results, Split, StepCount
from repropack.models.signatures import PackageSignatures
from repropack.models.zoom import SandboxLevel, Zoom
from repropack.refusals import Refusal

Verdict = Literal["identical", "differs", "damaged", "could-not-run"]
RunClaim = Literal["independent-replay", "exact-resume", "comparison"]
"""What running a run again shows: the reference repeats; a resume continues exactly; a comparison
under its intervention repeats."""


_MAX_FAULT_TEXT = 2000


class Fault(Model):
    """One thing wrong with a package: a stable code and rule, the entry, and the problem in words.

    The code leads to the exit status, the rule to its sentence in docs/refusals.md, or in
    docs/lint.md where the code is ``lint``.
    """

    code: str
    rule: str
    entry: str
    problem: str
    expected: str
    observed: str


def fault_of(code: str, one: Refusal) -> Fault:
    """The fault that a refusal becomes: its texts short, and such as JSON can hold."""
    entry, problem, expected, observed = map(
        _storable, (one.entry, one.problem, one.expected, one.observed)
    )
    return Fault(
        code=code,
        rule=one.rule,
        entry=entry,
        problem=problem,
        expected=expected,
        observed=observed,
    )


def _storable(text: str) -> str:
    shown = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return shown if len(shown) <= _MAX_FAULT_TEXT else f"{shown[:_MAX_FAULT_TEXT]}..."


def refusal_of(fault: Fault) -> Refusal:
    """The refusal that became this fault."""
    return Refusal(fault.rule, fault.entry, fault.problem, fault.expected, fault.observed)


class Problem(Model):
    """Why something ended without an answer."""

    code: str
    message: str
    hint: str | None = None


class ContinuedRun(Model):
    """A run that was interrupted: the steps after whose checkpoints it was continued."""

    run: RunName
    after_steps: tuple[StepNumber, ...]


SourceChoice = Literal["source", "git", "python-files"]
"""What chose the packed source: the project file's ``source``; what git tracks; ``**/*.py``."""


class SourceSummary(Model):
    """How many files are packed as the source, and what chose them."""

    files: Count
    chosen_by: SourceChoice


class LockReport(Model):
    """How many distributions the package locks, and whether it holds their wheels."""

    distributions: Count
    wheels_packed: bool


class BuildReport(Document):
    """What ``build`` wrote, and what it found.

    ``continued`` names the runs that were interrupted; the package holds no trace of it.
    ``not_compared`` are files that the reference's command wrote and no pattern of outputs matches.
    ``findings`` are those of ``lint``. ``lock`` is null where the environment was not locked.
    ``loop`` says whether a script was run that owns its loop.
    """

    schema_name: Literal["repropack/build-report/v1"] = Field(
        default="repropack/build-report/v1", alias="schema"
    )
    path: str
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    size_bytes: Count
    sources: SourceSummary
    expectations_held: bool
    results: Results
    continued: tuple[ContinuedRun, ...] = ()
    not_compared: tuple[str, ...] = ()
    findings: tuple[LintFinding, ...] = ()
    lock: LockReport | None = None
    loop: bool = False


class InitReport(Document):
    """The project that ``init`` began.

    ``written`` and ``kept`` are paths below ``path``; ``kept`` was there before. ``command``,
    ``inputs`` and ``outputs`` are what was found of a script; ``notes`` what its author has to see
    to; ``next`` the commands that build and verify the package.
    """

    schema_name: Literal["repropack/init-report/v1"] = Field(
        default="repropack/init-report/v1", alias="schema"
    )
    path: str
    name: RunName
    form: Literal["stepwise", "command"]
    written: tuple[str, ...]
    kept: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    next: tuple[str, ...]


class CheckReport(Document):
    """What ``check`` found without running anything.

    ``fast`` means that entry digests alone were compared. ``package_digest`` and
    ``evidence_digest`` are null where the manifest could not be read. ``expectations_failed``
    names comparisons that came out otherwise than expected, ``claims_failed`` claims that do not
    hold, as the package itself says. ``not_compared`` are entries that another release made, so
    that this one cannot make them again. ``signatures`` is null where nobody asked for them, and
    where the package is damaged.
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
    expectations_failed: tuple[RunName, ...] = ()
    claims_failed: tuple[ClaimId, ...] = ()
    not_compared: tuple[str, ...] = ()
    signatures: PackageSignatures | None = None
    faults: tuple[Fault, ...] = ()


class RunVerification(Model):
    """One run, executed again here and compared with what the package holds of it.

    ``equal``: every line of the log, every kept array, every checkpoint and the final arrays are
    equal byte by byte. ``repeats``: where it is not equal, whether a second local run equals the
    first local one; null where that was not tried. ``start`` splits the components of the state
    before ``first_step``. Where it is not equal, ``stages``, ``components`` and ``printed`` say at
    how many steps each part differs, ``draws`` how far the generators of the first differing
    checkpoint are apart, ``decided`` how the first kept stage of integers that differs does, and
    the kept floats before it in its step; ``patterns`` are those that the evidence fits or
    excludes. ``zoom`` holds the elements of the step at which they part, of the first run alone
    that is not equal.
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
    config_equal: bool = True
    constants: Split = Split()
    start: Split = Split()
    divergence: Divergence | None = None
    stages: tuple[StepCount, ...] = ()
    components: tuple[StepCount, ...] = ()
    printed: tuple[PrintedAgreement, ...] = ()
    draws: tuple[DrawDistance, ...] = ()
    decided: tuple[ArrayDifference, ...] = ()
    arrays: tuple[ArrayDifference, ...] = ()
    problems: tuple[str, ...] = ()
    outputs: OutputsComparison = OutputsComparison()
    repeats: bool | None = None
    zoom: Zoom | None = None
    patterns: tuple[Pattern, ...] = ()


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


class Guarantee(Model):
    """One thing that confinement promises, and whether it was found to hold by trying."""

    name: Annotated[str, Field(pattern=r"^[a-z]+(-[a-z]+)*$", max_length=40)]
    status: Literal["held", "not-held", "not-checked"]


class Confinement(Model):
    """How the package's code was confined.

    ``reason`` says why there is no confinement at level ``none``: the source is one that repropack
    ships, or the caller trusts this very package. ``limits`` are those that applied to each run.
    """

    level: SandboxLevel
    reason: Literal["shipped-source", "trusted"] | None = None
    guarantees: tuple[Guarantee, ...] = ()
    limits: dict[str, Count] = Field(default_factory=dict)


class UsedEnvironment(Model):
    """The environment that a package's runs were executed in.

    ``present`` is the one that repropack itself runs in, of which nothing more is said here. A
    ``recreated`` one was installed from the package's lock: from the wheels in the package or from
    an index, by uv or pip, and that itself confined or under limits alone. ``python`` is the
    interpreter's version, ``distributions`` how many were installed.
    """

    kind: Literal["present", "recreated"]
    origin: Literal["packed-wheels", "index"] | None = None
    installer: Literal["uv", "pip"] | None = None
    installer_confined: bool | None = None
    python: str | None = None
    distributions: Count | None = None


class VerificationReport(Document):
    """What ``verify`` found: the verdict first, then the evidence.

    ``checked`` says whether the check ended and found nothing; where it did not, ``package`` and
    both digests are what the package's manifest says, and nothing confirms them.
    ``expectations_failed`` names comparisons that came out otherwise than expected, and
    ``claims_failed`` claims that do not hold, as the package itself says; ``claims`` holds each
    claim as it is stored and as it comes out here, which is no part of the verdict. ``after`` holds
    what the commands after the runs wrote here against what is packaged, null where the plan has
    none. ``confinement`` and ``used_environment`` are null where
    nothing of the package was executed; ``machine`` where no run came to its end. ``recorded_runs``
    are those that the package holds. ``loop`` says whether its script owns its loop.
    """

    schema_name: Literal["repropack/verification-report/v1"] = Field(
        default="repropack/verification-report/v1", alias="schema"
    )
    path: str
    verdict: Verdict
    checked: bool = False
    package: PackageMetadata | None = None
    package_digest: Digest | None = None
    evidence_digest: Digest | None = None
    confinement: Confinement | None = None
    used_environment: UsedEnvironment | None = None
    runs_requested: tuple[RunName, ...] | None = None
    expectations_failed: tuple[RunName, ...] = ()
    claims_failed: tuple[ClaimId, ...] = ()
    recorded_runs: tuple[RunName, ...] = ()
    runs: tuple[RunVerification, ...] = ()
    claims: tuple[ClaimVerification, ...] = ()
    figures: RenderedVerification | None = None
    after: OutputsComparison | None = None
    notebook: NotebookVerification | None = None
    not_verified: tuple[str, ...] = ()
    environment: EnvironmentAccount | None = None
    machine: MachineFacts | None = None
    faults: tuple[Fault, ...] = ()
    problem: Problem | None = None
    loop: bool = False

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
            raise IntegrityError(*map(refusal_of, self.faults))
        if self.verdict == "could-not-run":
            problem = self.problem
            why = "no reason is known" if problem is None else problem.message
            hint = None if problem is None else problem.hint
            raise CouldNotRunError(f"{self.path}: could not run: {why}", hint=hint)


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
    faults: tuple[Fault, ...] = ()
