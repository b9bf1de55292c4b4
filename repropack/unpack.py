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
from repropack._run.target import check_target, replace_directory
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
        entries: Paths of single entries, or folders of them; all of them and the manifest where
            empty.
        force: Replace an existing folder, if it is empty or holds a package.
        limits: Limits on reading.

    Returns:
        What was written.

    Raises:
        UsageError: no such package or entry; or the folder exists and ``force`` is not given, is no
            package's, holds the package itself, or cannot be written.
        PackageError: not a package; nothing is written.
        IntegrityError: the package is damaged; nothing is written.
        UnsupportedVersionError: a format version or feature of a later release.
    """
    target = Path(directory).absolute()
    _check_target(target, Path(path), force=force)
    with open_package(path, limits=limits) as package:
        known = (MANIFEST, *(entry.path for entry in package.manifest.entries))
        chosen = _chosen(known, entries)
        findings = Findings()
        check_package_whole(package, findings, fast=True)
        if findings.faults:
            raise IntegrityError(tuple((f.entry, f.problem) for f in findings.faults))
        _write(package, chosen, target)
        return UnpackReport(
            path=str(path),
            directory=str(directory),
            package_digest=package.package_digest,
            entries=chosen,
        )


def _chosen(known: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Entries that are wanted by their path or a folder's, in the order they are known."""
    for path in wanted:
        if not any(_lies_at(entry, path) for entry in known):
            raise UsageError(
                f"no entry and no folder {path!r} in this package",
                hint="`repropack inspect --format json` lists every entry",
            )
    return tuple(
        entry for entry in known if not wanted or any(_lies_at(entry, path) for path in wanted)
    )


def _lies_at(entry: str, path: str) -> bool:
    return entry == path or entry.startswith(f"{path.rstrip('/')}/")


def _check_target(target: Path, package: Path, *, force: bool) -> None:
    if force and package.resolve().is_relative_to(target.resolve()):
        raise UsageError(
            f"{target.name}: expected a folder apart from the package, observed one that holds it"
        )
    check_target(target, force=force, directory=True)


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
        replace_directory(tree, target)
    except OSError as error:
        raise UsageError(f"{target.name}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
