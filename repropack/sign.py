"""Sign a package or a verification record, by an SSH signature over an in-toto statement."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repropack._checking import check_intact
from repropack._compare.record_fit import contradiction
from repropack._format.digests import digest_bytes
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._format.sshsig import MAX_SIGNATURE_BYTES, read_signature
from repropack._format.statements import (
    MAX_STATEMENT_BYTES,
    PACKAGE_NAMESPACE,
    RECORD_NAMESPACE,
    package_statement,
    read_statement,
    subject_digest,
)
from repropack._read.beside import (
    begin_of,
    next_signature,
    read_beside,
    read_unnamed,
    signature_files,
    statement_place,
)
from repropack._read.mistaken import PACKAGE_KIND, RECORD_KIND, refuse_mistaken
from repropack._read.package import open_package
from repropack._run.documents import STATEMENT
from repropack._run.durable import os_problem, replace_document
from repropack._run.folders import new_folder, remove_tree
from repropack._run.ssh_keygen import fingerprint_of, sign_file
from repropack._signatures import judge_signatures, valid_signatures
from repropack.errors import CouldNotRunError, UsageError
from repropack.models.claims import RecordedClaim
from repropack.models.signatures import SignReport
from repropack.models.statements import StatementOfRecord

_RECORD_START = b'{"_type":'


def sign_package(
    path: str | Path,
    *,
    key: str | Path | None = None,
    output: str | Path | None = None,
    force: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> SignReport:
    """Sign a package, or a record of a verification.

    A package is checked first. Its statement is written beside it, named after it, and the
    signature beside the statement. A record is a statement already, so its signature is all that
    is written. ``ssh-keygen`` signs; no private key is read here.

    Args:
        path: The package, zip or directory, or a record of ``verify --record``.
        key: A private key, or a public key whose private one an agent or a hardware key holds.
            Without one the statement alone is written, to be signed elsewhere.
        output: Where a package's statement goes; beside the package where ``None``.
        force: Replace a statement of another package that is there, and take away the signatures
            of it: they hold of nothing that is left.
        limits: Limits on reading.

    Returns:
        What was written.

    Raises:
        UsageError: no such file or key; a record without a key, or with an output; something else
            is where the statement goes.
        PackageError: not a package; nothing is written.
        IntegrityError: the package is damaged; nothing is written.
        UnsupportedVersionError: a format version or feature of a later release.
        CouldNotRunError: there is no ``ssh-keygen``, it did not sign, or the disk is full or fails.
    """
    given = Path(path)
    if _is_record(given):
        if key is None or output is not None:
            raise UsageError(
                f"{given.name}: a record is a statement already: expected --key and no --output",
                hint="its signature is written beside it",
            )
        subject = _record(given)
        dead: tuple[Path, ...] = ()
    else:
        refuse_mistaken(given, (PACKAGE_KIND,), f"a package or {RECORD_KIND}")
        subject = _package(given, output, limits)
        dead = _dead_signatures(subject, _replaced(subject, given, force=force))
    signed = None if key is None else _signature(subject, Path(key))
    try:
        return _write(subject, given, signed, dead, None if output is None else Path(output))
    except OSError as error:
        raise CouldNotRunError(os_problem(error)) from error


@dataclass(frozen=True)
class _Subject:
    """What is signed: the statement's bytes, where they lie, and what they are about."""

    kind: Literal["package", "record"]
    statement: bytes
    place: Path
    namespace: str
    package_digest: str | None
    archive: str | None
    claims: tuple[RecordedClaim, ...]


def _is_record(path: Path) -> bool:
    return begin_of(path, len(_RECORD_START)) == _RECORD_START


def _record(path: Path) -> _Subject:
    data = read_beside(path, "a verification record", MAX_STATEMENT_BYTES)
    try:
        record = read_statement(StatementOfRecord, data)
    except ValueError as error:
        refuse_mistaken(path, (RECORD_KIND,), f"a package or {RECORD_KIND}")
        raise UsageError(f"{path.name}: {error}") from error
    problem = contradiction(record)
    if problem is not None:
        raise UsageError(f"{path.name}: {problem}")
    package, archive = (
        subject_digest(record, "manifest.json"),
        subject_digest(record, "package.zip"),
    )
    claims = record.predicate.repropack.claims
    return _Subject("record", data, path.absolute(), RECORD_NAMESPACE, package, archive, claims)


def _package(path: Path, output: str | Path | None, limits: Limits) -> _Subject:
    with open_package(path, limits=limits) as package:
        check_intact(package)
        archive = package.container.whole_digest()
        facts = (package.manifest.package, package.package_digest, package.evidence_digest)
        place = statement_place(path) if output is None else Path(output).absolute()
        return _Subject(
            "package",
            package_statement(*facts, archive),
            place,
            PACKAGE_NAMESPACE,
            package.package_digest,
            archive,
            tuple(RecordedClaim(id=one.id, held=one.held) for one in package.results.claims),
        )


def _replaced(subject: _Subject, package: Path, *, force: bool) -> bytes | None:
    """The other statement that gets replaced; a place in the package, or of no statement, none."""
    place = subject.place
    if package.is_dir() and place.resolve().is_relative_to(package.resolve()):
        raise UsageError(
            f"{place.name}: expected a statement outside the package, observed one inside",
            hint="a package is never changed; give another path with --output",
        )
    if not place.parent.is_dir():
        raise UsageError(f"{place.name}: expected an existing folder, observed none")
    if not os.path.lexists(place):
        return None
    try:
        data = read_unnamed(place, "a statement", MAX_STATEMENT_BYTES)
    except ValueError as error:
        raise UsageError(f"{place.name}: {error}") from error
    if data == subject.statement and not place.is_symlink():
        return None
    if not STATEMENT.is_one(data) or place.is_symlink():
        raise UsageError(
            f"{place.name}: expected a statement or nothing, observed something else",
            hint="give another path with --output",
        )
    if not force:
        raise UsageError(
            f"{place.name}: expected the statement about this very package, observed another",
            hint="--force writes it anew, and takes signatures of the other one away",
        )
    return data


def _dead_signatures(subject: _Subject, replaced: bytes | None) -> tuple[Path, ...]:
    """Signature files beside the statement's place that hold of the one that is replaced."""
    if replaced is None or replaced == subject.statement:
        return ()
    files = signature_files(subject.place)
    held, _ = valid_signatures(replaced, subject.namespace, files)
    return tuple(held)


@dataclass(frozen=True)
class _Signed:
    """A signature that was made and judged: its bytes, and the fingerprint of its key."""

    data: bytes
    key: str


def _signature(subject: _Subject, key: Path) -> _Signed:
    """Have a copy of the statement signed in a folder of ours, and judge what came of it."""
    folder = new_folder("repropack-sign-")
    try:
        copy = folder / "statement"
        copy.write_bytes(subject.statement)
        made = sign_file(copy, key, subject.namespace)
        data = read_beside(made, "a signature", MAX_SIGNATURE_BYTES)
        fingerprint = fingerprint_of(copy, made, subject.namespace)
        if fingerprint is None:
            raise CouldNotRunError("ssh-keygen: expected a valid signature, observed another")
        read_signature(data)
        return _Signed(data, fingerprint)
    except (OSError, ValueError) as error:
        problem = os_problem(error) if isinstance(error, OSError) else str(error)
        raise CouldNotRunError(f"ssh-keygen: {problem}") from error
    finally:
        remove_tree(folder)


def _write(
    subject: _Subject,
    given: Path,
    signed: _Signed | None,
    dead: tuple[Path, ...],
    output: Path | None,
) -> SignReport:
    """Write the statement, then the signature unless this key has signed already; then clear."""
    place = subject.place
    shown = output or (given.with_name(place.name) if given.name not in {"", ".."} else place)
    if not os.path.lexists(place) or place.read_bytes() != subject.statement:
        replace_document(place, subject.statement)
    written, already = None, False
    if signed is not None:
        files = tuple(file for file in signature_files(place) if file not in dead)
        findings = judge_signatures(subject.statement, subject.namespace, files, None)
        before = [
            file for file, found in zip(files, findings, strict=True) if found.key == signed.key
        ]
        already = bool(before)
        # in one move; what signed the statement before is worth nothing since it was replaced
        free = dead[0] if dead else next_signature(place)
        written = before[0] if before else free
        if not before:
            replace_document(written, signed.data)
    for file in dead:
        if file != written:
            file.unlink(missing_ok=True)
    return SignReport(
        path=shown_path(given),
        kind=subject.kind,
        namespace=subject.namespace,
        statement=shown_path(shown),
        statement_digest=digest_bytes(subject.statement),
        package_digest=subject.package_digest,
        archive_digest=subject.archive,
        signature=None if written is None else shown_path(shown.with_name(written.name)),
        key=None if signed is None else signed.key,
        already=already,
        removed=tuple(shown_path(shown.with_name(file.name)) for file in dead),
        claims=subject.claims,
    )
