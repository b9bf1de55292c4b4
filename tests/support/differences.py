"""Two packages of the lab held against each other, as small as a test of the text allows."""

from __future__ import annotations

from typing import Any

from repropack.models.environment import EnvironmentAccount, EnvironmentDifference
from repropack.models.package_difference import (
    DiffSide,
    FileChange,
    FileChanges,
    FileVersion,
    MetricChange,
    OutcomeChange,
    PackageDifference,
    ReferenceDifference,
    ResultsDifference,
    TextChange,
    ValueChange,
)
from repropack.models.results import Split, StepCount
from repropack.models.run_difference import RunCounts, Stretch, StructureDifference
from tests.support import reports

NEW_DIGEST = "sha256:" + "12" * 32
NEW_EVIDENCE = "sha256:" + "34" * 32
ACCOUNT = EnvironmentAccount(differences=(), changed_families=(), sentence="Nothing.")


def side(path: str = "old.zip", **changes: Any) -> DiffSide:
    """One of the two packages."""
    fields: dict[str, Any] = {
        "path": path,
        "package": reports.metadata(),
        "package_digest": reports.PACKAGE_DIGEST,
        "evidence_digest": reports.EVIDENCE_DIGEST,
    }
    return DiffSide(**(fields | changes))


def new_side(**changes: Any) -> DiffSide:
    """The later package."""
    fields: dict[str, Any] = {
        "package": reports.metadata(version="1.1.0", supersedes=reports.PACKAGE_DIGEST),
        "package_digest": NEW_DIGEST,
        "evidence_digest": NEW_EVIDENCE,
    }
    return side("new.zip", **(fields | changes))


def version(**changes: Any) -> FileVersion:
    """What a package says of a file."""
    fields: dict[str, Any] = {
        "size": 2000,
        "digest": reports.CHAIN,
        "executable": False,
        "included": True,
        "location": None,
    }
    return FileVersion(**(fields | changes))


def file_change(path: str, **changes: Any) -> FileChange:
    """A file with other bytes in the later package."""
    fields: dict[str, Any] = {"old": version(), "new": version(size=2500, digest=NEW_DIGEST)}
    return FileChange(path=path, **(fields | changes))


def reference(**changes: Any) -> ReferenceDifference:
    """References that part at the gradient of the first step."""
    fields: dict[str, Any] = {
        "old_last_step": 100,
        "new_last_step": 100,
        "chain_equal": False,
        "config_equal": True,
        "constants": Split(equal=("features", "targets")),
        "start": Split(equal=reports.COMPONENTS),
        "divergence": reports.at_gradient(),
        "structure": StructureDifference(step=3, extra=("clip",), steps=98),
        "counts": RunCounts(
            compared=100,
            differing=99,
            stages=(StepCount(name="gradient", compared=100, differing=99, first_step=1),),
            components=(StepCount(name="adam", compared=100, differing=0),),
            equal_between=Stretch(first_step=2, last_step=2),
        ),
        "metrics": (MetricChange(metric="loss", old=0.25, new=0.125),),
    }
    return ReferenceDifference(**(fields | changes))


def results(**changes: Any) -> ResultsDifference:
    """One comparison in each way of having changed, or not."""
    full = reports.outcome("full-checkpoint", first_step=41)
    fields: dict[str, Any] = {
        "reference": reference(),
        "comparisons_unchanged": 1,
        "comparisons": (
            OutcomeChange(run="full-checkpoint", old=full, new=reports.forgetful_resume()),
            OutcomeChange(
                run="sampler-reset",
                old=reports.sampler_reset(),
                new=reports.sampler_reset(printed=()),
            ),
            OutcomeChange(run="adam-reset", old=reports.outcome("adam-reset"), new=None),
            OutcomeChange(run="reversed-reduction", old=None, new=reports.reversed_reduction()),
        ),
        "files": FileChanges(unchanged=3, changed=(file_change("reference/kept.npz"),)),
    }
    return ResultsDifference(**(fields | changes))


def unequal_account() -> EnvironmentAccount:
    """An account of two versions of NumPy."""
    row = EnvironmentDifference(
        field="numpy.version", recorded="2.3.1", observed="2.4.0", effect="steers"
    )
    sentence = "none of the 30 families of the probe card changed."
    return EnvironmentAccount(differences=(row,), changed_families=(), sentence=sentence)


def difference(**changes: Any) -> PackageDifference:
    """Something changed in every section but the environment."""
    lines = ("@@ -1,1 +1,1 @@", "-    old = 1", "+    new = 2")
    text = TextChange(lines=lines, left_out=2, added=2, removed=1)
    fields: dict[str, Any] = {
        "verdict": "differs",
        "old": side(),
        "new": new_side(),
        "succession": "named",
        "metadata": (ValueChange(key="version", old='"1.0.0"', new='"1.1.0"'),),
        "source": FileChanges(
            unchanged=2,
            changed=(
                file_change("lab.py", text=text),
                file_change("model.bin"),
                file_change("new.py", old=None),
                file_change("old.py", new=None),
                file_change("run.sh", new=version(executable=True)),
            ),
        ),
        "inputs": FileChanges(
            unchanged=0,
            changed=(
                file_change("big.npz", new=version(included=False, location="on request")),
                file_change("more.npz", old=None, new=version(included=False, location="here")),
            ),
        ),
        "configuration": (
            ValueChange(key="experiment.seed", old="7", new="8"),
            ValueChange(key="experiment.config.rate", old="0.5", new=None),
            ValueChange(key="experiment.config.step", old=None, new="1"),
        ),
        "environment": ACCOUNT,
        "results": results(),
        "others": FileChanges(unchanged=9, changed=(file_change("README.md"),)),
    }
    return PackageDifference(**(fields | changes))


def identical() -> PackageDifference:
    """One package under two names."""
    return PackageDifference(verdict="identical", old=side(), new=side("copy.zip"))


def damaged() -> PackageDifference:
    """A later package that cannot be trusted."""
    faults = reports.damaged_check().faults
    return PackageDifference(verdict="damaged", old=side(), new=new_side(faults=faults))
