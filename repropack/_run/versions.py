"""A version names one evidence: what stands at a target is not replaced by other evidence.

Who has read a package's version in a write-up and finds another file under it later cannot know
which one was meant. So ``--force`` replaces a package by one of another version, or by one of the
same evidence, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repropack._compare.packages import compare_plans
from repropack._format.layout import INPUTS, SOURCE
from repropack._read.package import Package, open_package
from repropack.errors import PackageError, UnsupportedVersionError, UsageError
from repropack.models.base import JsonObject
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import Plan
from repropack.models.work import BuildIdentity

_MAX_NAMED = 8


def check_version_planned(
    target: Path, metadata: PackageMetadata, plan: Plan, identity: BuildIdentity
) -> None:
    """Refuse, before anything runs, to build other evidence under a version that stands already.

    Only what is certain counts: configuration values of other kinds than numbers may read the same
    once the experiment has completed them. ``check_version_built`` looks at everything.

    Args:
        target: Where the package goes.
        metadata: Name and version of the package to build.
        plan: Its plan, as the author wrote it.
        identity: What is built, with the digests of its source and inputs.

    Raises:
        UsageError: a package of this name and version stands there, and plan, source or inputs
            differ.
    """
    with _standing(target, metadata) as package:
        if package is None:
            return
        differing = [*_differing_files(package, identity), *_differing_keys(package, plan)]
        if differing:
            more = f" and {len(differing) - _MAX_NAMED} more" if len(differing) > _MAX_NAMED else ""
            observed = f"another {', '.join(differing[:_MAX_NAMED])}{more}"
            raise UsageError(_problem(target, package, observed), hint=_cure(target, package))


def check_version_built(target: Path, metadata: PackageMetadata, evidence_digest: str) -> None:
    """Refuse to publish other evidence under a version that stands already.

    Args:
        target: Where the package goes.
        metadata: Name and version of the package that was built.
        evidence_digest: Its evidence digest.

    Raises:
        UsageError: a package of this name and version stands there, with another evidence digest.
    """
    with _standing(target, metadata) as package:
        if package is not None and package.evidence_digest != evidence_digest:
            problem = _problem(target, package, evidence_digest)
            raise UsageError(problem, hint=_cure(target, package))


@contextmanager
def _standing(target: Path, metadata: PackageMetadata) -> Iterator[Package | None]:
    """Open the package of this name and version that stands at a target.

    Yields:
        The package; ``None`` where there is none, or one that is torn and so names nothing.
    """
    try:
        package = open_package(target) if target.exists() else None
    except (PackageError, UnsupportedVersionError, UsageError):
        package = None
    if package is None:
        yield None
        return
    with package:
        told = package.manifest.package
        same = (told.name, told.version) == (metadata.name, metadata.version)
        yield package if same else None


def _differing_files(package: Package, identity: BuildIdentity) -> Iterator[str]:
    """Paths of source and inputs whose bytes differ; those held by reference have digests too."""
    folders = {f"{SOURCE}/": identity.sources, f"{INPUTS}/": identity.inputs}
    stored = {
        entry.path: entry.digest
        for entry in package.manifest.entries
        if entry.path.startswith(tuple(folders))
    }
    built = {
        f"{folder}{path}": digest
        for folder, digests in folders.items()
        for path, digest in digests.items()
    }
    yield from (path for path in sorted({*stored, *built}) if stored.get(path) != built.get(path))


def _differing_keys(package: Package, plan: Plan) -> Iterator[str]:
    """Keys of the plan whose values are certain to differ."""
    try:
        stored = package.plan
    except PackageError:  # damaged, so that nothing is certain
        return
    yield from (row.key for row in compare_plans(*map(_without_config, (stored, plan))))
    completed = stored.experiment.config
    for name, value in plan.experiment.config.items():
        other = completed.get(name)
        if isinstance(value, int | float) and isinstance(other, int | float) and value != other:
            yield f"experiment.config.{name}"


def _without_config(plan: Plan) -> Plan:
    """A plan without what the experiment completes."""
    nothing: dict[str, JsonObject] = {"config": {}}
    comparisons = tuple(row.model_copy(update=nothing) for row in plan.comparisons)
    experiment = plan.experiment.model_copy(update=nothing)
    return plan.model_copy(update={"experiment": experiment, "comparisons": comparisons})


def _problem(target: Path, package: Package, observed: str) -> str:
    told = package.manifest.package
    return (
        f"{target.name}: expected to replace {told.name} {told.version} by the same evidence, "
        f"{package.evidence_digest}, observed {observed}"
    )


def _cure(target: Path, package: Package) -> str:
    return (
        f"a version names one evidence: raise version and set supersedes = "
        f'"{package.package_digest}"; or, where nobody has {target.name}, remove it and build again'
    )
