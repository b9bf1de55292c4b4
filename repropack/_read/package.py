"""An open package: its documents as models, its runs as readers, its two digests."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

from repropack._format.canonical import (
    check_bounds,
    decode_exactly,
    decode_strict,
    encode_canonical,
)
from repropack._format.digests import BLOCK_BYTES, digest_bytes
from repropack._format.layout import (
    CHECKER,
    CITATION,
    CRATE,
    ENVIRONMENT,
    LICENSE,
    MANIFEST,
    NOTEBOOK,
    PAGE,
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
from repropack._format.zip_peek import peek_member
from repropack._read.container import Container, open_container
from repropack._read.run import RunReader, read_stored
from repropack.errors import (
    IntegrityError,
    LimitExceededError,
    PackageFormatError,
    UnsupportedVersionError,
)
from repropack.models.base import Document
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import FORMAT_NAME, FORMAT_VERSION, Entry, Manifest
from repropack.models.plan import Plan
from repropack.models.results import Results
from repropack.refusals import refusal

EVIDENCE_DOMAIN = b"repropack.evidence.v1\n"
SOURCE_DOMAIN = b"repropack.source.v1\n"
REQUIRED_PATHS = (
    PLAN,
    ENVIRONMENT,
    RESULTS,
    README,
    LICENSE,
    CHECKER,
    NOTEBOOK,
    PAGE,
    CITATION,
    CRATE,
    log_path(REFERENCE_RUN),
)
"""Entries without which a manifest describes no package."""

_FOREIGN = refusal(
    "manifest.foreign",
    MANIFEST,
    "",
    f"format {FORMAT_NAME!r}",
    "'repropack': this belongs to another tool that is also called ReproPack",
)
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

    Args:
        entries: The manifest's entries, in any order.

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
        """Read the manifest of an open container, which is then the package's to close."""
        self.path = path
        self.container = container
        self.limits = limits
        data = self.read(MANIFEST, max_bytes=limits.max_manifest_bytes)
        self.package_digest: str = digest_bytes(data)
        self.manifest: Manifest = _read_manifest(data, limits)

    def __enter__(self) -> Self:
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

    def expectations_failed(self) -> tuple[str, ...]:
        """Comparisons that came out otherwise than expected, as the package itself says.

        Returns:
            Names of their runs; raises ``PackageError`` where the results are malformed.
        """
        return tuple(row.run for row in self.results.comparisons if row.held is False)

    def claims_failed(self) -> tuple[str, ...]:
        """Claims that do not hold, as the package itself says.

        Returns:
            Their ids; raises ``PackageError`` where the results are malformed.
        """
        return tuple(claim.id for claim in self.results.claims if not claim.held)

    def run_names(self) -> tuple[str, ...]:
        """Names of the runs that have a log, the reference first."""
        names = {path.split("/")[1] for path in self.container.paths if path.startswith(f"{RUNS}/")}
        having = [name for name in names if log_path(name) in self.container]
        return tuple(sorted(having, key=lambda name: (name != REFERENCE_RUN, name)))

    def run(self, name: str = REFERENCE_RUN) -> RunReader:
        """Open one run.

        Args:
            name: One of ``run_names()``.

        Returns:
            A reader of its log, checkpoints and kept arrays; usable while the package is open.

        Raises:
            UsageError: there is no such run.
            PackageFormatError: its log does not begin as a log must.
            IntegrityError: its log is another run's.
        """
        return RunReader(self.container, name, limits=self.limits)

    def read(self, path: str, *, max_bytes: int | None = None) -> bytes:
        """Read one entry whole.

        Args:
            path: Path of the entry.
            max_bytes: Largest size accepted, in bytes; the document limit where not given.

        Returns:
            Its bytes; whether they have the manifest's digest is not looked at here.

        Raises:
            PackageFormatError: there is no such entry.
            LimitExceededError: it is larger.
        """
        maximum = self.limits.max_document_bytes if max_bytes is None else max_bytes
        if path not in self.container:
            here, expected = str(self.path), f"an entry {path!r}"
            raise PackageFormatError(
                refusal("manifest.missing", here, "", expected, "none: this is no package")
                if path == MANIFEST
                else refusal("manifest.file-missing", path, "missing", "this entry", "none")
            )
        with self.container.open(path) as stream:
            data = stream.read(maximum + 1)
        if len(data) > maximum:
            limit = "max_manifest_bytes" if path == MANIFEST else "max_document_bytes"
            size = max(len(data), self.container.size(path))
            raise LimitExceededError(limit, path, "", (maximum, size))
        return data

    def copy_entry(self, entry: Entry, target: BinaryIO) -> None:
        """Copy one entry's content and hold what was copied against its digest.

        A directory may change after it was checked; what is written here is what was listed.

        Args:
            entry: A row of the manifest.
            target: Where the bytes go.

        Raises:
            PackageFormatError: the stored bytes are damaged.
            IntegrityError: the bytes copied do not have the entry's digest.
        """
        hasher = hashlib.sha256()
        with self.container.open(entry.path) as stream:
            while block := stream.read(BLOCK_BYTES):
                hasher.update(block)
                target.write(block)
        observed = f"sha256:{hasher.hexdigest()}"
        if observed != entry.digest:
            raise IntegrityError(
                refusal("digest.entry", entry.path, "digest differs", entry.digest, observed)
            )

    def _document(self, model: type[_Document], path: str) -> _Document:
        return read_stored(model, self.read(path), where=path, limits=self.limits)


def open_package(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Package:
    """Open a package, zip or directory, for reading; nothing of it is executed.

    Args:
        path: The package.
        limits: Limits on reading.

    Returns:
        The open package. Its entries' digests are not compared yet: see ``check_package``.

    Raises:
        UsageError: no such path, or neither a file nor a directory.
        PackageFormatError: not a package, or its container or manifest is malformed.
        SchemaError: the manifest breaks its schema.
        UnsupportedVersionError: a format version of a later release.

    Example:
        >>> open_package("no-such-package.zip")
        Traceback (most recent call last):
        repropack.errors.UsageError: no-such-package.zip: no such file or directory: expected a package (zip or directory)
    """  # noqa: E501 - the doctest shows the whole line
    path = Path(path)
    try:
        container = open_container(path, limits)
    except PackageFormatError:
        _refuse_foreign(path, limits)
        raise
    try:
        return Package(path, container, limits)
    except BaseException:
        container.close()
        raise


def _refuse_foreign(path: Path, limits: Limits) -> None:
    """Say so where a file that is no package belongs to the other tool of this name."""
    if not path.is_file():
        return
    with path.open("rb") as stream:
        data = peek_member(stream, MANIFEST, max_bytes=limits.max_document_bytes, limits=limits)
    try:
        value = decode_strict(data or b"", where=MANIFEST, limits=limits)
    except PackageFormatError:
        return
    if isinstance(value, dict) and value.get("format") == "repropack":
        raise PackageFormatError(_FOREIGN)


def _read_manifest(data: bytes, limits: Limits) -> Manifest:
    limits = replace(limits, max_document_bytes=limits.max_manifest_bytes)
    check_bounds(data, where=MANIFEST, limits=limits)
    exact = decode_exactly(Manifest, data, lambda members: members)
    if exact is not None:
        return exact
    value: Any = decode_strict(data, where=MANIFEST, limits=limits)
    found = value.get("format") if isinstance(value, dict) else None
    if found == "repropack":
        raise PackageFormatError(_FOREIGN)
    if found != FORMAT_NAME:
        expected = f"format {FORMAT_NAME!r}"
        raise PackageFormatError(
            refusal("manifest.format", MANIFEST, "", expected, f"{found!a:.80}")
        )
    version = value.get("format_version")
    if isinstance(version, int) and not isinstance(version, bool) and version > FORMAT_VERSION:
        supported = f"1 to {FORMAT_VERSION}"
        raise UnsupportedVersionError("version.format", "format version", str(version), supported)
    return read_stored(Manifest, data, where=MANIFEST, limits=limits)
