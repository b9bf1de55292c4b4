"""Unpack a package or some of its entries into a folder, by our own writer, digests checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repropack._format.digests import digest_stream
from repropack._format.layout import MANIFEST
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.intact import require_intact
from repropack._read.package import Package, open_package
from repropack._run.durable import forget_cached, sync_tree
from repropack._run.fresh_work import fresh_work
from repropack._run.target import check_target, publish_directory
from repropack._run.workplace import ASSEMBLED
from repropack.errors import CouldNotRunError, UsageError
from repropack.models.manifest import Entry
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

    Every entry's digest is checked before anything is written. Written aside, read back from the
    disk, and moved in one step: a folder that is replaced is never absent in between.

    Args:
        path: The package, zip or directory.
        directory: The folder to make.
        entries: Paths of single entries, or folders of them; all of them and the manifest where
            empty. An entry that is held by reference is nowhere to be unpacked from.
        force: Replace an existing folder, if it is empty or a package that nobody edited.
        limits: Limits on reading.

    Returns:
        What was written.

    Raises:
        UsageError: no such package or entry; or the folder exists and ``force`` is not given, is no
            package's, holds the package itself, or cannot be written there.
        PackageError: not a package; nothing is written.
        IntegrityError: the package is damaged; nothing is written.
        UnsupportedVersionError: a format version or feature of a later release.
        BusyError: another build or unpack of the folder is under way.
        CouldNotRunError: the disk is full or fails.
    """
    target = Path(directory).absolute()
    _check_target(target, Path(path), force=force)
    with open_package(path, limits=limits) as package:
        listed = package.manifest.entries
        known = (MANIFEST, *(entry.path for entry in listed if entry.included))
        chosen = _chosen(known, entries, [entry for entry in listed if not entry.included])
        require_intact(package, fast=True)
        _write(package, chosen, target, force=force)
        return UnpackReport(
            path=shown_path(path),
            directory=shown_path(directory),
            package_digest=package.package_digest,
            entries=chosen,
        )


def _chosen(
    known: Sequence[str], wanted: Sequence[str], elsewhere: Sequence[Entry]
) -> tuple[str, ...]:
    """Entries that are wanted by their path or a folder's, in the order they are known."""
    for path in wanted:
        if not any(_lies_at(entry, path) for entry in known):
            for entry in elsewhere:
                if _lies_at(entry.path, path):
                    raise UsageError(
                        f"entry {entry.path!r}: expected one that the package holds, observed one "
                        "that is held by reference",
                        hint=f"where to get it: {entry.location}",
                    )
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
    if package.is_dir() and target.resolve().is_relative_to(package.resolve()):
        raise UsageError(
            f"{target.name}: expected a folder outside the package, observed one inside",
            hint="a package is never changed; give another folder",
        )
    check_target(target, force=force, directory=True)


def _write(package: Package, paths: Sequence[str], target: Path, *, force: bool) -> None:
    with fresh_work(target) as work:
        tree = work / ASSEMBLED
        _write_tree(package, paths, tree)
        sync_tree(tree)
        _check_tree(package, paths, tree)
        check_target(target, force=force, directory=True)
        publish_directory(tree, target, force=force)


def _write_tree(package: Package, paths: Sequence[str], tree: Path) -> None:
    rows = {entry.path: entry for entry in package.manifest.entries}
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


def _check_tree(package: Package, paths: Sequence[str], tree: Path) -> None:
    """Read back from the disk what was written."""
    digests = {entry.path: entry.digest for entry in package.manifest.entries}
    digests[MANIFEST] = package.package_digest
    for path in paths:
        with (tree / path).open("rb") as stream:
            forget_cached(stream.fileno())
            observed, _ = digest_stream(stream)
        if observed != digests[path]:
            raise CouldNotRunError(
                f"read back before it was published: entry {path!r}: expected {digests[path]}, "
                f"observed {observed}",
                hint="the storage did not keep what was written; try another disk",
            )
