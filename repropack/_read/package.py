"""An open package: its documents as models, its runs as readers, its two digests."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.layout import (
    ENVIRONMENT,
    LICENSE,
    MANIFEST,
    PLAN,
    README,
    REFERENCE_RUN,
    RESULTS,
    RUNS,
    SOURCE,
    is_evidence,
    log_path,
)
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.schemas import read_document
from repropack._read.container import Container, open_container
from repropack._read.run import RunReader
from repropack.errors import PackageFormatError, UnsupportedVersionError
from repropack.models.base import Document
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import FORMAT_NAME, FORMAT_VERSION, Entry, Manifest
from repropack.models.plan import Plan
from repropack.models.results import Results

EVIDENCE_DOMAIN = b"repropack.evidence.v1\n"
SOURCE_DOMAIN = b"repropack.source.v1\n"
REQUIRED_PATHS = (PLAN, ENVIRONMENT, RESULTS, README, LICENSE, log_path(REFERENCE_RUN))
"""Entries without which a manifest describes no package."""

_Document = TypeVar("_Document", bound=Document)


def evidence_digest(entries: tuple[Entry, ...]) -> str:
    """Digest of the manifest's rows of ``plan.json``, ``source/``, ``inputs/`` and ``runs/``.

    Args:
        entries: The manifest's entries, in their order.

    Returns:
        SHA-256 of ``repropack.evidence.v1``, a newline, and the canonical JSON of those rows.
    """
    rows = [entry.model_dump(mode="json") for entry in entries if is_evidence(entry.path)]
    return digest_bytes(EVIDENCE_DOMAIN + encode_canonical(rows))


def source_digest(entries: tuple[Entry, ...]) -> str:
    """Digest of the packaged source: paths below ``source/`` with their digests, sorted.

    Returns:
        SHA-256 of ``repropack.source.v1``, a newline, and the canonical JSON of the
        ``[path, digest]``.
    """
    rows = [
        [entry.path.removeprefix(f"{SOURCE}/"), entry.digest]
        for entry in entries
        if entry.path.startswith(f"{SOURCE}/")
    ]
    return digest_bytes(SOURCE_DOMAIN + encode_canonical(sorted(rows)))


class Package:
    """A package opened for reading. Nothing of it is executed; entries are read when asked for.

    Opening reads the container's structure and the manifest. Whether entries match their digests
    is ``check``'s to say. Use it as a context manager, or call ``close``.

    Example:
        >>> with open_package("replay-lab.zip") as package:  # doctest: +SKIP
        ...     package.manifest.package.title
        'Identical printed losses, different weights'
    """

    def __init__(self, path: Path, container: Container, limits: Limits) -> None:
        self.path = path
        self.container = container
        self.limits = limits
        data = self.read(MANIFEST, max_bytes=limits.max_manifest_bytes)
        self.package_digest: str = digest_bytes(data)
        self.manifest: Manifest = _read_manifest(data, limits)

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the container."""
        self.container.close()

    @property
    def evidence_digest(self) -> str:
        """Digest of what was run and what came of it, without what describes the machine."""
        return evidence_digest(self.manifest.entries)

    @property
    def source_digest(self) -> str:
        """Digest of the packaged source."""
        return source_digest(self.manifest.entries)

    @cached_property
    def plan(self) -> Plan:
        """``plan.json``; raises ``PackageError`` where it is malformed."""
        return self._document(Plan, PLAN)

    @cached_property
    def environment(self) -> EnvironmentRecord:
        """``environment.json``; raises ``PackageError`` where it is malformed."""
        return self._document(EnvironmentRecord, ENVIRONMENT)

    @cached_property
    def results(self) -> Results:
        """``results.json``; raises ``PackageError`` where it is malformed."""
        return self._document(Results, RESULTS)

    def run_names(self) -> tuple[str, ...]:
        """Names of the runs that have a log, the reference first."""
        names = {path.split("/")[1] for path in self.container.paths if path.startswith(f"{RUNS}/")}
        having = [name for name in names if log_path(name) in self.container.paths]
        return tuple(sorted(having, key=lambda name: (name != REFERENCE_RUN, name)))

    def run(self, name: str = REFERENCE_RUN) -> RunReader:
        """Open one run.

        Raises:
            UsageError: there is no such run.
            PackageError: its log does not begin as a log must.
        """
        return RunReader(self.container, name, limits=self.limits)

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Read one entry whole.

        Args:
            path: Path of the entry.
            max_bytes: Largest size accepted, in bytes; the document limit where not given.

        Raises:
            PackageFormatError: there is no such entry, or it is larger.
        """
        maximum = self.limits.max_document_bytes if max_bytes is None else max_bytes
        if path not in self.container.paths:
            raise PackageFormatError(
                f"{self.path}: expected an entry {path!r}, observed none: this is no package"
                if path == MANIFEST
                else f"entry {path!r}: missing"
            )
        size = self.container.size(path)
        if size > maximum:
            raise PackageFormatError(
                f"entry {path!r}: expected at most {maximum} bytes, observed {size}"
            )
        with self.container.open(path) as stream:
            return stream.read()

    def _document(self, model: type[_Document], path: str) -> _Document:
        return read_document(model, self.read(path), where=path, limits=self.limits)


def open_package(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Package:
    """Open a package, zip or directory, for reading; nothing of it is executed.

    Args:
        path: The package.
        limits: Limits on reading.

    Returns:
        The open package. Its entries' digests are not compared yet: see ``check_package``.

    Raises:
        UsageError: no such path, or neither a file nor a directory.
        PackageError: not a package, or its container or manifest is malformed.
        UnsupportedVersionError: a format version of a later release.
    """
    path = Path(path)
    container = open_container(path, limits)
    try:
        return Package(path, container, limits)
    except BaseException:
        container.close()
        raise


def _read_manifest(data: bytes, limits: Limits) -> Manifest:
    value: Any = decode_strict(data, where=MANIFEST, limits=limits)
    found = value.get("format") if isinstance(value, dict) else None
    if found == "repropack":
        raise PackageFormatError(
            f"{MANIFEST}: expected format {FORMAT_NAME!r}, observed 'repropack': this belongs to "
            "another tool that is also called ReproPack"
        )
    if found != FORMAT_NAME:
        raise PackageFormatError(
            f"{MANIFEST}: expected format {FORMAT_NAME!r}, observed {ascii(found):.80}"
        )
    version = value.get("format_version")
    if isinstance(version, int) and not isinstance(version, bool) and version > FORMAT_VERSION:
        raise UnsupportedVersionError("format version", str(version), f"1 to {FORMAT_VERSION}")
    return read_document(Manifest, data, where=MANIFEST, limits=limits)
