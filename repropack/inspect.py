"""Show what a package holds, reading its documents and running nothing."""

from __future__ import annotations

from pathlib import Path

from repropack._compare.environments import account_of
from repropack._format.layout import MANIFEST, RUNS
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.package import Package, open_package
from repropack._read.swhids import content_swhid, source_swhid
from repropack._run.launch import observe_here
from repropack.errors import CouldNotRunError, PackageError
from repropack.models.environment import EnvironmentAccount
from repropack.models.inspection import Inspection, RunSummary


def inspect_package(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Inspection:
    """Read a package's documents and the outline of its runs, and run nothing of it.

    The recorded environment is held against this machine's, which a process of our own observes.
    Whether the bytes are what the manifest says is ``check_package``'s to answer.

    Args:
        path: The package, zip or directory.
        limits: Limits on reading.

    Returns:
        Metadata, digests and identifiers, entries, plan, runs and results.

    Raises:
        UsageError: no such path.
        PackageError: not a package, or one of its documents or logs is malformed.
        UnsupportedVersionError: a format version of a later release.
    """
    with open_package(path, limits=limits) as package:
        source, content = _swhids(package)
        return Inspection(
            path=shown_path(path),
            package=package.manifest.package,
            package_digest=package.package_digest,
            evidence_digest=package.evidence_digest,
            size_bytes=_size(package),
            entries=package.manifest.entries,
            plan=package.plan,
            runs=tuple(_summary(package, name) for name in package.run_names()),
            results=package.results,
            environment=package.environment,
            present=_present(package),
            source_swhid=source,
            content_swhid=content,
        )


def _swhids(package: Package) -> tuple[str | None, str | None]:
    """Identifiers of source and whole tree; none of a package whose entries cannot be read."""
    try:
        source = source_swhid(package.container, package.manifest.entries)
        return source, content_swhid(package)
    except PackageError:
        return None, None


def _present(package: Package) -> EnvironmentAccount | None:
    try:
        return account_of(package.environment, observe_here())
    except CouldNotRunError:
        return None


def _size(package: Package) -> int:
    manifest = package.container.size(MANIFEST)
    return manifest + sum(entry.size for entry in package.manifest.entries)


def _summary(package: Package, name: str) -> RunSummary:
    run = package.run(name)
    last = run.header.first_step - 1
    for line in run.steps():
        last = line.step
    folder = f"{RUNS}/{name}/"
    return RunSummary(
        run=name,
        first_step=run.header.first_step,
        last_step=last,
        checkpoints=run.checkpoint_steps(),
        kept=bool(run.kept_stages()),
        size_bytes=sum(e.size for e in package.manifest.entries if e.path.startswith(folder)),
    )
