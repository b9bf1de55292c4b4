"""Export a package for an archive: a bag, a deposit's metadata, a draft, or its identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repropack._checking import check_intact
from repropack._export.codecheck import codecheck_bytes
from repropack._export.identifiers import identifiers_bytes
from repropack._export.zenodo import zenodo_deposit
from repropack._format.canonical import encode_canonical
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.package import Package, open_package
from repropack._read.swhids import content_swhid, source_swhid
from repropack._read.verification import read_verification
from repropack._run.assemble import FILE_MODE
from repropack._run.bagging import check_bag, write_bag, zip_bag
from repropack._run.durable import sync_tree, write_synced
from repropack._run.export_target import check_export_target
from repropack._run.fresh_work import fresh_work
from repropack._run.target import publish_directory, publish_file
from repropack._run.workplace import ASIDE, ASSEMBLED
from repropack.errors import UsageError
from repropack.models.export import ExportFormat, ExportReport, LackingKey
from repropack.models.reports import VerificationReport


def export_package(
    path: str | Path,
    to: ExportFormat,
    output: str | Path | None = None,
    *,
    force: bool = False,
    verification: str | Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ExportReport:
    """Check a package and write what an archive wants of it.

    Written aside and moved in one step; nothing is replaced unless ``force`` says so, and then only
    an earlier export of its kind. No clock is read: a date is the author's.

    Args:
        path: The package, zip or directory.
        to: ``bagit`` for a bag (RFC 8493) whose payload is the package, ``zenodo`` for a
            ``.zenodo.json``, ``codecheck`` for a draft of a ``codecheck.yml``, ``swhid`` for the
            identifiers of Software Heritage.
        output: What to write; a bag is a zip where it ends in ``.zip``, else a folder. Needed for
            all but ``swhid``, which only computes without it.
        force: Replace an earlier export of the same kind.
        verification: For ``codecheck``: a report that ``verify`` kept of this very package.
        limits: Limits on reading.

    Returns:
        What was written. Where a deposit's metadata lack what is required, nothing is, and
        ``lacking`` names all of it.

    Raises:
        UsageError: no such package or report, a report of another package, or the output is not
            given, exists, or cannot be written there.
        PackageError: not a package; nothing is written.
        IntegrityError: the package is damaged; nothing is written.
        UnsupportedVersionError: a format version or feature of a later release.
        BusyError: another process works on the output.
        CouldNotRunError: the disk is full or fails.

    Determinism:
        What is written follows from the package, the report and the release alone.
    """
    target = _target(to, output)
    if verification is not None and to != "codecheck":
        raise UsageError(f"--verification: expected --to codecheck beside it, observed {to}")
    if target is not None:
        check_export_target(target, Path(path), to=to, force=force)
    with open_package(path, limits=limits) as package:
        found = None
        if verification is not None:
            found = read_verification(verification, package.package_digest, limits=limits)
        check_intact(package)
        source = source_swhid(package.container, package.manifest.entries)
        job = _Export(package, target, force, source, content_swhid(package))
        files, size, lacking = job.write(to, found)
        return ExportReport(
            path=shown_path(path),
            to=to,
            package_digest=package.package_digest,
            evidence_digest=package.evidence_digest,
            source_swhid=job.source,
            content_swhid=job.content,
            written=shown_path(output) if output is not None and not lacking else None,
            files=files,
            size_bytes=size,
            lacking=lacking,
        )


@dataclass(frozen=True)
class _Export:
    """One export: the checked package, where it goes, and its identifiers."""

    package: Package
    target: Path | None
    force: bool
    source: str | None
    content: str

    def write(
        self, to: ExportFormat, found: VerificationReport | None
    ) -> tuple[int, int, tuple[LackingKey, ...]]:
        """Write it; returns files, bytes and what is lacking."""
        if to == "bagit":
            return (*self._bag(), ())
        if to == "zenodo":
            deposit, lacking = zenodo_deposit(self.package.manifest.package)
            return (0, 0, lacking) if lacking else self._document(to, encode_canonical(deposit))
        if to == "codecheck":
            return self._document(to, self._codecheck(found))
        return self._document(to, identifiers_bytes(self.source, self.content))

    def _codecheck(self, found: VerificationReport | None) -> bytes:
        package = self.package
        named = {
            "package_digest": package.package_digest,
            "evidence_digest": package.evidence_digest,
            "source": self.source,
            "content": self.content,
        }
        told = {name: value for name, value in named.items() if value is not None}
        metadata, entries = package.manifest.package, package.manifest.entries
        return codecheck_bytes(metadata, entries, told, found, package.results.claims)

    def _bag(self) -> tuple[int, int]:
        if self.target is None:
            return 0, 0
        zipped = self.target.suffix == ".zip"
        metadata = self.package.manifest.package
        with fresh_work(self.target) as work:
            bag = work / ASSEMBLED
            octets, files = write_bag(self.package, self.source, bag)
            sync_tree(bag)
            check_bag(bag)
            if zipped:
                zip_bag(bag, work / ASIDE, f"{metadata.name}-{metadata.version}")
            check_export_target(self.target, self.package.path, to="bagit", force=self.force)
            if zipped:
                publish_file(work / ASIDE, self.target, force=self.force)
            else:
                publish_directory(bag, self.target, force=self.force)
        return files, octets

    def _document(self, to: ExportFormat, data: bytes) -> tuple[int, int, tuple[LackingKey, ...]]:
        if self.target is None:
            return 0, 0, ()
        with fresh_work(self.target) as work:
            aside = work / ASIDE
            write_synced(aside, data)
            aside.chmod(FILE_MODE)
            check_export_target(self.target, self.package.path, to=to, force=self.force)
            publish_file(aside, self.target, force=self.force)
        return 1, len(data), ()


def _target(to: ExportFormat, output: str | Path | None) -> Path | None:
    if output is None:
        if to != "swhid":
            raise UsageError(
                f"--to {to}: expected -o PATH beside it, observed none",
                hint="say where to write it",
            )
        return None
    return Path(output).absolute()
