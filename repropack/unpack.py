"""Unpack a package or some of its entries into a folder, by our own writer, digests checked."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

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
        UsageError: no such package or entry; or the folder exists and ``force`` is not given, is no
            folder, or holds the package itself.
        PackageError: not a package; nothing is written.
        IntegrityError: the package is damaged; nothing is written.
        UnsupportedVersionError: a format version or feature of a later release.
    """
    target = Path(directory).absolute()
    _check_target(target, Path(path), force=force)
    with open_package(path, limits=limits) as package:
        known = (MANIFEST, *(entry.path for entry in package.manifest.entries))
        unknown = [entry for entry in entries if entry not in known]
        if unknown:
            raise UsageError(f"no entry {unknown[0]!r} in this package")
        findings = Findings()
        check_package_whole(package, findings, fast=True)
        if findings.faults:
            raise IntegrityError(tuple((f.entry, f.problem) for f in findings.faults))
        chosen = tuple(entry for entry in known if not entries or entry in entries)
        _write(package, chosen, target)
        return UnpackReport(
            path=str(path),
            directory=str(directory),
            package_digest=package.package_digest,
            entries=chosen,
        )


def _check_target(target: Path, package: Path, *, force: bool) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if not force:
        raise UsageError(
            f"{target.name}: expected a folder that does not exist, observed one that does",
            hint="give another folder, or --force to replace it",
        )
    if target.is_symlink() or not target.is_dir():
        raise UsageError(f"{target.name}: expected a folder to replace, observed something else")
    if package.resolve().is_relative_to(target.resolve()):
        raise UsageError(
            f"{target.name}: expected a folder apart from the package, observed one that holds it"
        )


def _write(package: Package, paths: Sequence[str], target: Path) -> None:
    rows = {entry.path: entry for entry in package.manifest.entries}
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        tree = work / "tree"
        tree.mkdir()
        for path in paths:
            place = tree / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as copy:
                if path == MANIFEST:
                    copy.write(package.read(MANIFEST, max_bytes=package.limits.max_manifest_bytes))
                else:
                    package.copy_entry(rows[path], copy)
            place.chmod(0o755 if path in rows and rows[path].executable else 0o644)
        if target.exists():
            shutil.move(target, work / "former")
        tree.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
