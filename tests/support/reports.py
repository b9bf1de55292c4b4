"""Reports made by hand, as small as a test of their text allows; the lab's own numbers."""

from __future__ import annotations

import datetime as dt
from typing import Any

from repropack._compare.patterns import run_with_patterns
from repropack.models.authored import Author
from repropack.models.differences import ArrayDifference, ElementDifference
from repropack.models.environment import EnvironmentAccount, EnvironmentDifference
from repropack.models.inspection import Inspection, RunSummary
from repropack.models.lint import LintFinding, LintReport
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.plan import (
    ComparisonPlan,
    ExpectedDivergence,
    ExperimentPlan,
    Plan,
    RecordPlan,
)
from repropack.models.reports import (
    BuildReport,
    CheckReport,
    Confinement,
    Fault,
    RunVerification,
    SourceSummary,
    UnpackReport,
    VerificationReport,
)
from repropack.models.results import (
    ComparisonOutcome,
    Divergence,
    FinalMetric,
    InputEquality,
    KeptDifference,
    Largest,
    PrintedAgreement,
    ReferenceOutcome,
    Results,
    Split,
    StepCount,
)
from tests.support.environments import RECORD

PACKAGE_DIGEST = "sha256:" + "ab" * 32
EVIDENCE_DIGEST = "sha256:" + "cd" * 32
CHAIN = "sha256:" + "0f" * 32
COMPONENTS = ("adam", "sampler", "weights")
STAGES = ("batch", "contributions", "gradient", "weights")


def metadata(**changes: Any) -> PackageMetadata:
    """What the lab's author says."""
    fields: dict[str, Any] = {
        "name": "replay-lab",
        "version": "1.0.0",
        "title": "Identical printed losses, different weights",
        "license": "CC-BY-4.0",
        "authors": (Author(name="Ada Example", affiliation="Institute"), Author(name="B. Second")),
        "date": dt.date(2026, 11, 29),
    }
    return PackageMetadata(**(fields | changes))


def plan(**changes: Any) -> Plan:
    """The lab's plan with three of its comparisons and one configuration value."""
    fields: dict[str, Any] = {
        "experiment": ExperimentPlan(
            entry_point="replay_lab:ReplayLab",
            config={"learning_rate": 0.04, "reduction": "forward"},
            seed=7,
            steps=100,
        ),
        "record": RecordPlan(checkpoint_every=20, keep=("weights",), printed={"loss": ".4f"}),
        "comparisons": (
            ComparisonPlan(name="full-checkpoint", resume_at=40, expect="identical"),
            ComparisonPlan(
                name="reversed-reduction",
                config={"reduction": "reverse"},
                expect=ExpectedDivergence(diverges_at=1, stage="gradient"),
            ),
            ComparisonPlan(
                name="sampler-reset",
                resume_at=40,
                reset=("sampler",),
                expect=ExpectedDivergence(diverges_at=41, stage="batch", component="sampler"),
            ),
        ),
    }
    return Plan(**(fields | changes))


def at_gradient(**changes: Any) -> Divergence:
    """The divergence of a reduction in another order."""
    fields: dict[str, Any] = {
        "kind": "output",
        "step": 1,
        "last_equal_step": 0,
        "stage": "gradient",
        "inputs": (InputEquality(name="contributions", equal=True),),
        "stages": Split(equal=("batch", "contributions"), differing=("gradient", "weights")),
        "metrics": Split(differing=("loss",)),
        "state_before": Split(equal=COMPONENTS),
        "state_after": Split(equal=("sampler",), differing=("adam", "weights")),
    }
    return Divergence(**(fields | changes))


def at_batch(**changes: Any) -> Divergence:
    """The divergence of a sampler that was reset."""
    fields: dict[str, Any] = {
        "kind": "state",
        "step": 41,
        "last_equal_step": 40,
        "stage": "batch",
        "inputs": (InputEquality(name="state:sampler", equal=False),),
        "stages": Split(differing=STAGES),
        "metrics": Split(differing=("loss",)),
        "state_before": Split(equal=("adam", "weights"), differing=("sampler",)),
        "state_after": Split(differing=COMPONENTS),
    }
    return Divergence(**(fields | changes))


def outcome(run: str, *, first_step: int = 1, last_step: int = 100, **changes: Any) -> Any:
    """A comparison that is identical, unless changed."""
    steps = last_step - first_step + 1
    fields: dict[str, Any] = {
        "identical": True,
        "config_equal": True,
        "constants": Split(equal=("features", "targets")),
        "start": Split(equal=COMPONENTS),
        "stages": tuple(StepCount(name=name, compared=steps, differing=0) for name in STAGES),
        "components": tuple(
            StepCount(name=name, compared=steps, differing=0) for name in COMPONENTS
        ),
        "kept": (KeptDifference(stage="weights"),),
        "printed": (PrintedAgreement(metric="loss", compared=steps, equal=steps),),
        "final_metrics": (
            FinalMetric(metric="loss", reference=0.0214672945992594, run=0.0214672945992594),
        ),
        "final_state": Split(equal=COMPONENTS),
        "expected": "identical",
        "held": True,
    }
    return ComparisonOutcome(
        run=run, first_step=first_step, last_step=last_step, **(fields | changes)
    )


def differing_outcome(run: str, divergence: Divergence, **changes: Any) -> ComparisonOutcome:
    """A comparison whose weights differ at every compared step, as expected."""
    first_step = divergence.step
    steps = 100 - first_step + 1
    fields: dict[str, Any] = {
        "identical": False,
        "divergence": divergence,
        "stages": (
            StepCount(name="weights", compared=steps, differing=steps, first_step=first_step),
        ),
        "final_state": Split(differing=COMPONENTS),
        "expected": ExpectedDivergence(diverges_at=first_step, stage=divergence.stage),
    }
    made: ComparisonOutcome = outcome(run, first_step=first_step, **(fields | changes))
    return made


def reversed_reduction(**changes: Any) -> ComparisonOutcome:
    """Another configuration: every printed loss equal, every step's weights different."""
    fields: dict[str, Any] = {
        "config_equal": False,
        "kept": (
            KeptDifference(
                stage="weights",
                largest_absolute=Largest(value=1.1920928955078125e-07, first_step=38),
                largest_ulp=Largest(value=8, first_step=1),
            ),
        ),
        "final_metrics": (
            FinalMetric(metric="loss", reference=0.0214672945992594, run=0.021467294219161076),
        ),
    }
    return differing_outcome("reversed-reduction", at_gradient(), **(fields | changes))


def sampler_reset(**changes: Any) -> ComparisonOutcome:
    """Did not replay, and ended with the lower loss."""
    fields: dict[str, Any] = {
        "kept": (
            KeptDifference(
                stage="weights",
                largest_absolute=Largest(value=0.041036590933799744, first_step=99),
            ),
        ),
        "printed": (PrintedAgreement(metric="loss", compared=60, equal=6),),
        "final_metrics": (
            FinalMetric(metric="loss", reference=0.0214672945992594, run=0.02076356404369701),
        ),
    }
    return differing_outcome("sampler-reset", at_batch(), **(fields | changes))


def forgetful_resume(**changes: Any) -> ComparisonOutcome:
    """A resume that was expected to be identical, of an experiment with undeclared state."""
    divergence = Divergence(
        kind="output",
        step=11,
        last_equal_step=10,
        stage="w",
        inputs=(
            InputEquality(name="gradient", equal=True),
            InputEquality(name="state:w", equal=True),
        ),
        stages=Split(equal=("gradient",), differing=("w",)),
        state_before=Split(equal=("w",)),
        state_after=Split(differing=("w",)),
    )
    fields: dict[str, Any] = {
        "start": Split(equal=("w",)),
        "printed": (),
        "final_metrics": (FinalMetric(metric="height", reference=8.14, run=7.73),),
        "expected": "identical",
        "held": False,
    }
    return differing_outcome("resume", divergence, **fields).model_copy(update=changes)


def results(*comparisons: ComparisonOutcome, **changes: Any) -> Results:
    """Results with the given comparisons; the lab's three where none is given."""
    reference = ReferenceOutcome(
        last_step=100,
        finish=None,
        chain=CHAIN,
        final_state=tuple((name, CHAIN) for name in COMPONENTS),
        final_metrics={"loss": 0.0214672945992594},
    )
    full = outcome("full-checkpoint", first_step=41)
    return Results(
        reference=reference.model_copy(update=changes),
        comparisons=comparisons or (full, reversed_reduction(), sampler_reset()),
    )


def build_report(**changes: Any) -> BuildReport:
    """What building the lab reports."""
    fields: dict[str, Any] = {
        "path": "replay-lab-1.0.0.zip",
        "package": metadata(),
        "package_digest": PACKAGE_DIGEST,
        "evidence_digest": EVIDENCE_DIGEST,
        "size_bytes": 565_700,
        "sources": SourceSummary(files=1, chosen_by="source"),
        "expectations_held": True,
        "results": results(),
    }
    return BuildReport(**(fields | changes))


def damage(rule: str, entry: str, problem: str, code: str = "package.integrity") -> Fault:
    """A fault; what was expected and observed stands in its problem already."""
    return Fault(
        code=code, rule=rule, entry=entry, problem=problem, expected="this", observed="that"
    )


def check_report(**changes: Any) -> CheckReport:
    """What checking an intact package reports."""
    fields: dict[str, Any] = {
        "path": "lab.zip",
        "verdict": "intact",
        "fast": False,
        "package": metadata(),
        "package_digest": PACKAGE_DIGEST,
        "evidence_digest": EVIDENCE_DIGEST,
        "entries_checked": 63,
        "steps_checked": 480,
        "arrays_checked": 1,
    }
    return CheckReport(**(fields | changes))


def damaged_check(**changes: Any) -> CheckReport:
    """What checking a damaged package reports."""
    faults = (
        damage("digest.entry", "plan.json", "its digest differs"),
        damage("manifest.file-missing", "source/lab.py", "missing"),
    )
    return check_report(**({"verdict": "damaged", "faults": faults} | changes))


def another_package() -> CheckReport:
    """What checking an intact package reports where another was expected."""
    problem = f"package digest differs: expected {CHAIN}, observed {PACKAGE_DIGEST}"
    return damaged_check(
        faults=(damage("digest.package", "manifest.json", problem, "package.another"),)
    )


def verified_run(run: str = "reference", **changes: Any) -> RunVerification:
    """A run that is equal, unless changed."""
    fields: dict[str, Any] = {
        "claim": "independent-replay",
        "first_step": 1,
        "last_step": 100,
        "equal": True,
        "lines_compared": 100,
        "checkpoints_compared": 6,
        "kept_arrays_compared": 100,
        "final_arrays": Split(equal=("adam.first_moment", "adam.second_moment", "weights")),
    }
    return RunVerification(run=run, **(fields | changes))


def gradient_array(**changes: Any) -> ArrayDifference:
    """The gradient of two orders of addition."""
    fields: dict[str, Any] = {
        "array": "kept.gradient",
        "step": 1,
        "expected_type": "<f4 (24,)",
        "observed_type": "<f4 (24,)",
        "elements": 24,
        "elements_differing": 19,
        "largest_ulp": 5,
        "first": (
            ElementDifference(
                index=(0,),
                expected=-0.55355924,
                expected_bits="0xbf0db60f",
                observed=-0.5535591,
                observed_bits="0xbf0db60d",
                ulp=2,
            ),
            ElementDifference(
                index=(12,),
                expected=0.25,
                expected_bits="0x3e800000",
                observed=0.25000003,
                observed_bits="0x3e800001",
                ulp=1,
            ),
        ),
    }
    return ArrayDifference(**(fields | changes))


def differing_run(run: str = "reference", **changes: Any) -> RunVerification:
    """A run whose gradient was added in another order."""
    fields: dict[str, Any] = {
        "equal": False,
        "divergence": at_gradient(),
        "arrays": (gradient_array(),),
        "final_arrays": Split(equal=("adam.updates",), differing=("weights",)),
        "repeats": True,
    }
    return run_with_patterns(verified_run(run, **(fields | changes)))


def verification(**changes: Any) -> VerificationReport:
    """What verifying the lab reports where everything is equal."""
    resumed = verified_run(
        "full-checkpoint",
        claim="exact-resume",
        first_step=41,
        lines_compared=60,
        checkpoints_compared=4,
        kept_arrays_compared=60,
    )
    fields: dict[str, Any] = {
        "path": "lab.zip",
        "verdict": "identical",
        "checked": True,
        "package": metadata(),
        "package_digest": PACKAGE_DIGEST,
        "evidence_digest": EVIDENCE_DIGEST,
        "confinement": Confinement(level="none", reason="shipped-source"),
        "runs": (verified_run(), resumed),
        "not_verified": ("resuming after steps other than 40",),
    }
    return VerificationReport(**(fields | changes))


def other_kernel() -> EnvironmentDifference:
    """One difference of environments that explains bytes."""
    return EnvironmentDifference(
        field="thread_pools.openblas.kernel", recorded="Haswell", observed="SkylakeX"
    )


def account(
    differences: tuple[EnvironmentDifference, ...] | None = None,
) -> EnvironmentAccount:
    """What two environments tell: by default, of one other kernel."""
    return EnvironmentAccount(
        differences=(other_kernel(),) if differences is None else differences,
        changed_families=("matmul-f32",),
        sentence="float32 matrix products changed: consistent with another BLAS kernel.",
    )


def inspection(**changes: Any) -> Inspection:
    """What inspecting the lab shows."""
    fields: dict[str, Any] = {
        "path": "lab.zip",
        "package": metadata(description="A lab."),
        "package_digest": PACKAGE_DIGEST,
        "evidence_digest": EVIDENCE_DIGEST,
        "size_bytes": 1500,
        "entries": (
            Entry(
                path="plan.json",
                size=900,
                digest=CHAIN,
                role="plan",
                media_type="application/json",
            ),
            Entry(path="source/a.py", size=400, digest=CHAIN, role="source", media_type="text/x"),
            Entry(path="source/b.py", size=200, digest=CHAIN, role="source", media_type="text/x"),
        ),
        "plan": plan(),
        "runs": (
            RunSummary(
                run="reference",
                first_step=1,
                last_step=100,
                checkpoints=(0, 20, 40, 60, 80, 100),
                kept=True,
                size_bytes=102_300,
            ),
            RunSummary(
                run="full-checkpoint",
                first_step=41,
                last_step=100,
                checkpoints=(),
                kept=False,
                size_bytes=48_000,
            ),
        ),
        "results": results(),
        "environment": RECORD,
        "present": account(),
        "source_swhid": f"swh:1:dir:{'5' * 40}",
        "content_swhid": f"swh:1:dir:{'6' * 40}",
    }
    return Inspection(**(fields | changes))


def unpack_report(**changes: Any) -> UnpackReport:
    """What unpacking two entries reports."""
    fields: dict[str, Any] = {
        "path": "lab.zip",
        "directory": "lab",
        "package_digest": PACKAGE_DIGEST,
        "entries": ("manifest.json", "plan.json"),
    }
    return UnpackReport(**(fields | changes))


def lint_finding(**changes: Any) -> LintFinding:
    """A path in a home folder."""
    fields: dict[str, Any] = {
        "rule": "personal-path",
        "severity": "error",
        "path": "train.py",
        "line": 7,
        "problem": "a path in the home folder of 'ada'",
        "cure": "write the path relative to the project folder, and make the file again",
    }
    return LintFinding(**(fields | changes))


def lint_report(**changes: Any) -> LintReport:
    """A project with one warning."""
    warning = lint_finding(
        rule="readme-missing",
        severity="warning",
        path="repropack.toml",
        line=None,
        problem="expected a README, observed none",
        cure="write one",
    )
    fields: dict[str, Any] = {
        "path": "lab",
        "subject": "project",
        "verdict": "warnings",
        "package": metadata(),
        "files_examined": 3,
        "findings": (warning,),
    }
    return LintReport(**(fields | changes))
