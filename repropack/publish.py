"""Lay out a package for a site: pages that run nothing, plain files, and the package itself."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from repropack._checking import check_intact, page_of
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.digests import digest_bytes, digest_stream
from repropack._format.inert import HEAD_BYTES, MAX_SVG_BYTES, is_still_svg, why_left_out
from repropack._format.layout import MANIFEST, NOTEBOOK, PAGE
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.page_head import MAX_HEAD_BYTES, page_version
from repropack._format.paths import shown_path
from repropack._format.statements import (
    MAX_STATEMENT_BYTES,
    PACKAGE_NAMESPACE,
    STATEMENT_SUFFIX,
    archive_signed,
)
from repropack._present.front_page import (
    AS_IT_IS,
    FRONT,
    NOTEBOOK_PAGE,
    REPORT_PAGE,
    SUMS,
    front_page,
)
from repropack._present.notebook_page import MAX_NOTEBOOK_BYTES, UNRENDERED
from repropack._read.beside import (
    read_beside,
    read_unnamed,
    signature_files,
    statement_place,
)
from repropack._read.findings import Findings
from repropack._read.integrity import check_package_whole
from repropack._read.package import Package, open_package
from repropack._run.bounded import run_bounded
from repropack._run.continuing import has_something
from repropack._run.durable import os_problem, sync_tree
from repropack._run.target import publish_directory
from repropack._run.workplace import ASSEMBLED, clear_work, work_alone
from repropack._signatures import valid_signatures
from repropack.errors import CouldNotRunError, IntegrityError, UsageError
from repropack.models.claims import RecordedClaim
from repropack.models.manifest import Entry
from repropack.models.published import LeftOut, PublishedFile, PublishReport
from repropack.models.reports import refusal_of
from repropack.models.signatures import SignatureFinding
from repropack.refusals import refusal

_FILE_MODE, _FOLDER_MODE = 0o644, 0o755
_RENDERING, _RENDERING_SECONDS, _RENDERING_BYTES = (
    "repropack._present.notebook_page_main",
    120,
    4 * 1024**3,
)
_WHOLE = "checkpoints and wheels are large, and nobody reads them here"


def publish_package(
    path: str | Path,
    directory: str | Path,
    *,
    force: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> PublishReport:
    """Lay out what a site shows of a package beside an article.

    The package is checked first. The folder holds a front page, the notebook as a page and as it
    is, every entry that neither a browser nor a server would run, the package as one zip with the
    signature files beside it that hold, and ``SHA256SUMS``. It is written aside and moved in one
    step. Pages run no script, fetch nothing, and link to each other by relative paths.

    Args:
        path: The package, zip or directory. It is only read.
        directory: The folder to make.
        force: Replace a folder that was published before, if nothing else is in it.
        limits: Limits on reading.

    Returns:
        What was laid out, and what was left in the package alone.

    Raises:
        UsageError: no such package; the folder exists and ``force`` is not given, or holds
            something else; a statement beside the package is not of this package.
        PackageError: not a package; nothing is written.
        IntegrityError: the package is damaged; nothing is written.
        UnsupportedVersionError: a format version or feature of a later release.
        BusyError: another process works on the folder.
        CouldNotRunError: there are signatures, and no ``ssh-keygen`` that judges them; the extra
            ``notebook`` is not installed, the notebook cannot be rendered within 2 minutes and
            4 GiB of memory, or the disk is full or fails.

    Determinism:
        The bytes depend on the package, on what lies beside it, and on the versions of repropack,
        nbconvert and bleach.
    """
    target = Path(directory).absolute()
    _check_target(target, Path(path), force=force)
    with open_package(path, limits=limits) as package:
        timelines, runs = check_intact(package)
        beside = _beside(package)
        data = package.read(NOTEBOOK, max_bytes=MAX_NOTEBOOK_BYTES)
        pages = {
            NOTEBOOK_PAGE: _rendered(data, package.manifest.package.title),
            REPORT_PAGE: page_of(package, timelines, runs, package_digest=package.package_digest),
        }
        try:
            with work_alone(target, has_something) as work:
                clear_work(work)
                site = _Site(work / ASSEMBLED, package, beside)
                report = site.lay_out(shown_path(path), shown_path(directory), pages)
                sync_tree(site.root)
                _check_target(target, Path(path), force=force)
                publish_directory(site.root, target, force=force)
        except OSError as error:
            raise CouldNotRunError(os_problem(error)) from error
        return report


@dataclass(frozen=True)
class _Beside:
    """What lies beside the package, by what its names add to that of the package."""

    files: dict[str, bytes] = field(default_factory=dict)
    left_out: tuple[SignatureFinding, ...] = ()


@dataclass
class _Site:
    """A folder that is being laid out."""

    root: Path
    package: Package
    beside: _Beside
    files: list[PublishedFile] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def lay_out(self, path: str, directory: str, pages: dict[str, bytes]) -> PublishReport:
        """Write everything; the digests come last, the front page before them."""
        package = self.package
        self.root.mkdir(mode=_FOLDER_MODE)
        self._write(MANIFEST, package.read(MANIFEST, max_bytes=package.limits.max_manifest_bytes))
        for entry in package.manifest.entries:
            self._entry(entry)
        for place, page in pages.items():
            self._write(place, page)
        name = _zip_name(package)
        self._zip(name)
        for suffix, data in self.beside.files.items():
            self._write(name + suffix, data)
        report = self._report(path, directory, name)
        self._write(FRONT, front_page(report))
        rows = sorted(self.files, key=lambda file: file.path.encode())
        sums = "".join(f"{file.digest.removeprefix('sha256:')}  {file.path}\n" for file in rows)
        self._put(SUMS, sums.encode("utf-8"))
        self._put(AS_IT_IS, b"")  # apart from the digests: uploads often leave such names behind
        for folder in filter(Path.is_dir, self.root.rglob("*")):
            folder.chmod(_FOLDER_MODE)
        return self._report(path, directory, name)

    def _report(self, path: str, directory: str, name: str) -> PublishReport:
        suffixes = self.beside.files
        package = self.package
        return PublishReport(
            path=path,
            directory=directory,
            package=package.manifest.package,
            package_digest=package.package_digest,
            evidence_digest=package.evidence_digest,
            package_file=name,
            signatures=tuple(name + suffix for suffix in suffixes if suffix != STATEMENT_SUFFIX),
            signatures_left_out=self.beside.left_out,
            claims=tuple(RecordedClaim(id=one.id, held=one.held) for one in package.results.claims),
            files=tuple(sorted(self.files, key=lambda file: file.path.encode())),
            left_out=tuple(self.left_out),
        )

    def _entry(self, entry: Entry) -> None:
        if entry.path == PAGE:
            return
        reason = _why_not(self.package, entry)
        if reason is not None:
            self.left_out.append(LeftOut(path=entry.path, reason=reason))
            return
        place = self.root / entry.path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as copy:
            self.package.copy_entry(entry, copy)
        place.chmod(_FILE_MODE)
        self.files.append(PublishedFile(path=entry.path, size=entry.size, digest=entry.digest))

    def _zip(self, name: str) -> None:
        """The package as one zip: the very file, or one made of a folder."""
        place = self.root / name
        if self.package.container.whole_digest() is None:
            _zip_folder(self.package, place)
        else:
            shutil.copyfile(self.package.path, place)
        place.chmod(_FILE_MODE)
        with place.open("rb") as stream:
            digest, size = digest_stream(stream)
        if self.package.container.whole_digest() not in {None, digest}:
            raise IntegrityError(
                refusal("zip.changed", shown_path(self.package.path), "", "the zip", "another")
            )
        self.files.append(PublishedFile(path=name, size=size, digest=digest))

    def _write(self, path: str, data: bytes) -> None:
        self._put(path, data)
        digest = digest_bytes(data)
        self.files.append(PublishedFile(path=path, size=len(data), digest=digest))

    def _put(self, path: str, data: bytes) -> None:
        with (self.root / path).open("xb") as stream:
            stream.write(data)
            os.fchmod(stream.fileno(), _FILE_MODE)


def _rendered(notebook: bytes, title: str) -> bytes:
    """The notebook as a page, made in a process that is ended where it takes too long."""
    head = title.encode("utf-8", "surrogatepass")
    return run_bounded(
        _RENDERING,
        [str(len(head)), str(_RENDERING_BYTES)],
        head + notebook,
        what=UNRENDERED,
        seconds=_RENDERING_SECONDS,
    )


def _zip_name(package: Package) -> str:
    metadata = package.manifest.package
    return f"{metadata.name}-{metadata.version}.zip"


def _zip_folder(package: Package, place: Path) -> None:
    """Pack a package that is a folder; ``build`` would make the same bytes."""
    with place.open("xb") as stream:
        writer = ArchiveWriter(stream)
        manifest = package.read(MANIFEST, max_bytes=package.limits.max_manifest_bytes)
        writer.add(MANIFEST, manifest)
        for entry in (entry for entry in package.manifest.entries if entry.included):
            with package.container.open(entry.path) as source:
                writer.add(entry.path, source, size=entry.size, executable=entry.executable)
        writer.finish()
    with open_package(place, limits=package.limits) as made:
        findings = Findings()
        check_package_whole(made, findings, fast=True, expect_digest=package.package_digest)
        if findings.faults:
            raise IntegrityError(*map(refusal_of, findings.faults))


def _why_not(package: Package, entry: Entry) -> str | None:
    """Why an entry is left in the package alone."""
    if not entry.included:
        return f"it is held by reference: {entry.location}"
    if entry.role in {"checkpoint", "wheel"}:
        return _WHOLE
    with package.container.open(entry.path) as stream:
        if entry.path.lower().endswith(".svg"):
            still = is_still_svg(stream.read(MAX_SVG_BYTES + 1))
            hidden = why_left_out(entry.path[: -len(".svg")] + ".png", b"")
            return hidden if still else "it is an SVG that does more than draw"
        return why_left_out(entry.path, stream.read(HEAD_BYTES))


def _beside(package: Package) -> _Beside:
    """The statement, and those of the signatures beside it that hold of it as it stands."""
    place = statement_place(package.path)
    if not os.path.lexists(place):
        return _Beside()
    try:
        data = read_unnamed(place, "a statement", MAX_STATEMENT_BYTES)
    except ValueError as error:
        raise UsageError(f"{place.name}: {error}") from error
    facts = (package.manifest.package, package.package_digest, package.evidence_digest)
    is_ours, archive = archive_signed(data, *facts)
    if not is_ours or archive not in {None, package.container.whole_digest()}:
        raise UsageError(
            f"{place.name}: expected the statement about this very package, observed another",
            hint="sign this package, or move what is there away",
        )
    held, others = valid_signatures(data, PACKAGE_NAMESPACE, signature_files(place))
    named = {
        STATEMENT_SUFFIX + file.name.removeprefix(place.name): signature
        for file, signature in held.items()
    }
    return _Beside({STATEMENT_SUFFIX: data, **named}, others)


def _check_target(target: Path, package: Path, *, force: bool) -> None:
    """Refuse a folder that exists, unless it was published before and nothing was added."""
    if target.name in {"", ".."}:
        raise UsageError(f"{target}: expected a path that ends in a name, observed none")
    resolved, source = target.resolve(), package.resolve()
    if source.is_relative_to(resolved) or (package.is_dir() and resolved.is_relative_to(source)):
        raise UsageError(
            f"{target.name}: expected a folder apart from the package, observed one with it",
            hint="a package is never changed; give another folder",
        )
    if not os.path.lexists(target):
        return
    if not force:
        raise UsageError(
            f"{target.name}: expected a folder that does not exist, observed one that does",
            hint="give another, or --force to replace what was published before",
        )
    if target.is_symlink() or not target.is_dir():
        raise UsageError(f"{target.name}: expected a folder to replace, observed something else")
    if not _is_published(target):
        raise UsageError(
            f"{target.name}: expected a folder that `publish` made, observed another",
            hint="only what was published is ever replaced: give another folder",
        )
    added = _unlisted(target)
    if added is not None:
        raise UsageError(
            f"{target.name}: expected a folder that `publish` made, observed {added!a} in it, "
            f"which its {SUMS} does not list so",
            hint="only what was published is ever replaced: give another folder",
        )


def _is_published(target: Path) -> bool:
    """Whether the folder is empty, or has both pages, each as repropack begins one."""
    if next(target.iterdir(), None) is None:
        return True
    for page in (target / FRONT, target / REPORT_PAGE):
        if page.is_symlink() or not page.is_file():
            return False
        with page.open("rb") as stream:
            if page_version(stream.read(MAX_HEAD_BYTES)) is None:
                return False
    return True


def _unlisted(target: Path) -> str | None:
    """The first file that is not listed with its digest; none in an empty folder."""
    sums = target / SUMS
    listed = {AS_IT_IS: digest_bytes(b"")}
    if sums.is_file() and not sums.is_symlink():
        text = read_beside(sums, "a list of digests", DEFAULT_LIMITS.max_manifest_bytes)
        for line in text.decode("utf-8", "replace").splitlines():
            listed[line[66:]] = f"sha256:{line[:64]}"
    for place in sorted(target.rglob("*")):
        path = place.relative_to(target).as_posix()
        if place.is_symlink() or not (place.is_dir() or place.is_file()):
            return path
        if place.is_file() and path != SUMS:
            with place.open("rb") as stream:
                if listed.get(path) != digest_stream(stream)[0]:
                    return path
    return None
