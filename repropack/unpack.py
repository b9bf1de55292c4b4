"""Unpack a package or some of its entries into a folder, by our own writer, digests checked."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from repropack._format.digests import BLOCK_BYTES
from repropack._format.layout import MANIFEST
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._read.integrity import Findings, check_package_whole
from repropack._read.package import Package, open_package
from repropack.errors import IntegrityError, UsageError
from repropack.models.reports import UnpackReport


def unpack_package(
    path: str | Path,
    directory: str | Path,
    entries: Sequence[str] = (),
    *,
    force: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> UnpackReport:
    """Write a package's entries as plain files below a new folder.

    Every entry's digest is checked before anything is written. Written aside and renamed.

    Args:
        path: The package, zip or directory.
        directory: The folder to make.
        entries: Paths of single entries; all of them and the manifest where empty.
        force: Replace an existing folder.
        limits: Limits on reading.

    Returns:
        What was written.

    Raises:
        UsageError: no such package or entry, or the folder exists and ``force`` is not given.
        PackageError: the package is damaged; nothing is written.
        UnsupportedVersionError: a format version or feature of a later release.
    """
    target = Path(directory).absolute()
    if (target.exists() or target.is_symlink()) and not force:
        raise UsageError(
            f"{target.name}: expected a folder that does not exist, observed one that does",
            hint="give another folder, or --force to replace it",
        )
    with open_package(path, limits=limits) as package:
        known = (MANIFEST, *(entry.path for entry in package.manifest.entries))
        unknown = [entry for entry in entries if entry not in known]
        if unknown:
            raise UsageError(f"no entry {unknown[0]!r} in this package")
        findings = Findings()
        check_package_whole(package, findings, fast=True)
        if findings.faults:
            raise IntegrityError(tuple((f.entry, f.problem) for f in findings.faults))
        chosen = tuple(path for path in known if not entries or path in entries)
        _write(package, chosen, target)
        return UnpackReport(
            path=str(path),
            directory=str(directory),
            package_digest=package.package_digest,
            entries=chosen,
        )


def _write(package: Package, paths: Sequence[str], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        tree = work / "tree"
        tree.mkdir()
        for path in paths:
            place = tree / path
            place.parent.mkdir(parents=True, exist_ok=True)
            mode = 0o755 if package.container.executable(path) else 0o644
            with package.container.open(path) as source, place.open("xb") as copy:
                shutil.copyfileobj(source, copy, BLOCK_BYTES)
            place.chmod(mode)
        if target.exists():
            shutil.move(target, work / "former")
        tree.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
