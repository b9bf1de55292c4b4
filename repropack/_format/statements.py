"""Statements as bytes: made of what they are about, and read back in their one spelling.

A statement about a package follows from the package alone, so reading one is making it again and
comparing bytes: nothing is parsed before it is known to be what was expected.
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

from repropack._format.canonical import decode_exactly, decode_strict, encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.limits import DEFAULT_LIMITS, MEBIBYTE, Limits
from repropack.errors import PackageError
from repropack.models.base import Model
from repropack.models.machine import MachineFacts
from repropack.models.manifest import PackageMetadata
from repropack.models.statements import (
    PACKAGE_PREDICATE,
    RECORD_PREDICATE,
    STATEMENT_TYPE,
    DigestSet,
    PackageStatement,
    StatementOfPackage,
    StatementOfRecord,
    Subject,
    VerificationResult,
)

PACKAGE_NAMESPACE: Final = "repropack-package@v1"
RECORD_NAMESPACE: Final = "repropack-record@v1"
"""Namespaces of SSH signatures: one made for the other kind, or for anything else, is refused."""
STATEMENT_SUFFIX: Final = ".intoto.json"
SIGNATURE_SUFFIX: Final = ".sig"
MAX_SIGNATURE_FILES: Final = 64
"""Signature files of one statement that are looked at."""
MAX_STATEMENT_BYTES: Final = MEBIBYTE

_PREFIX = "sha256:"
_LIMITS = Limits(
    max_document_bytes=MAX_STATEMENT_BYTES,
    max_json_depth=DEFAULT_LIMITS.max_json_depth,
    max_json_containers=20_000,
    max_json_items=50_000,
)
_NO_DIGEST = _PREFIX + "0" * 64
_Statement = TypeVar("_Statement", StatementOfPackage, StatementOfRecord)


def package_statement(
    metadata: PackageMetadata, package_digest: str, evidence_digest: str, archive: str | None
) -> bytes:
    """The statement about a package.

    Args:
        metadata: What its manifest says of it.
        package_digest: Digest of its manifest.
        evidence_digest: Its evidence digest.
        archive: Digest of the zip; ``None`` for a package that is a folder.

    Returns:
        Canonical JSON; docs/signing.md has its members.

    Determinism:
        The bytes depend on the arguments alone.
    """
    statement = StatementOfPackage(
        type_name=STATEMENT_TYPE,
        subject=subjects(package_digest, archive),
        predicate_type=PACKAGE_PREDICATE,
        predicate=PackageStatement(
            name=metadata.name,
            version=metadata.version,
            evidence_digest=evidence_digest,
        ),
    )
    return _encode(statement)


def record_statement(
    result: VerificationResult, package_digest: str | None, archive: str | None
) -> bytes:
    """The statement about one verification.

    Args:
        result: What it found.
        package_digest: Digest of the package's manifest; ``None`` where it could not be read.
        archive: Digest of the zip; ``None`` for a folder.

    Returns:
        Canonical JSON; docs/verification-records.md has its members.

    Determinism:
        The bytes depend on the arguments alone.
    """
    statement = StatementOfRecord(
        type_name=STATEMENT_TYPE,
        subject=subjects(package_digest, archive),
        predicate_type=RECORD_PREDICATE,
        predicate=result,
    )
    return _encode(statement)


def subjects(package_digest: str | None, archive: str | None) -> tuple[Subject, ...]:
    """What a statement is about: the zip, where there is one, and then the manifest."""
    named = (("package.zip", archive), ("manifest.json", package_digest))
    return tuple(
        Subject.model_validate(
            {"name": name, "digest": DigestSet(sha256=digest.removeprefix(_PREFIX))}
        )
        for name, digest in named
        if digest is not None
    )


def subject_digest(statement: StatementOfPackage | StatementOfRecord, name: str) -> str | None:
    """Digest of one subject, ``sha256:<64 hex>``; ``None`` where the statement has none."""
    found = (one.digest.sha256 for one in statement.subject if one.name == name)
    return next((_PREFIX + digest for digest in found), None)


def archive_signed(
    data: bytes, metadata: PackageMetadata, package_digest: str, evidence_digest: str
) -> tuple[bool, str | None]:
    """Whether bytes are the statement about a package, whatever zip it was made of.

    Args:
        data: The statement as it was found.
        metadata: As for ``package_statement``, and so are the digests.
        package_digest: Digest of the package's manifest.
        evidence_digest: Its evidence digest.

    Returns:
        Whether they are, and the digest of the zip that the statement names, if any.
    """
    facts = (metadata, package_digest, evidence_digest)
    if data == package_statement(*facts, None):
        return True, None
    before, after = package_statement(*facts, _NO_DIGEST).split(_NO_DIGEST[len(_PREFIX) :].encode())
    found = re.fullmatch(re.escape(before) + rb"([0-9a-f]{64})" + re.escape(after), data)
    return (True, _PREFIX + found[1].decode("ascii")) if found else (False, None)


def read_statement(model: type[_Statement], data: bytes) -> _Statement:
    """Read a statement in its one spelling.

    Args:
        model: Which kind is expected.
        data: The bytes.

    Returns:
        The statement.

    Raises:
        ValueError: it is another kind, has other members, is not canonical, or exceeds a limit;
            says what was expected and observed, without the file's name.
    """
    try:
        value = decode_strict(data, where="", limits=_LIMITS)
    except PackageError as error:
        raise ValueError(error.refusals[0].problem) from error
    kind = value.get("predicateType") if isinstance(value, dict) else None
    wanted = {StatementOfPackage: PACKAGE_PREDICATE, StatementOfRecord: RECORD_PREDICATE}[model]
    if kind != wanted:
        raise ValueError(f"expected a statement of type {wanted}, observed {kind!a:.80}")
    found = decode_exactly(model, data, lambda members: members)
    if found is None or [one.name for one in found.subject] not in (
        ["package.zip", "manifest.json"],
        ["manifest.json"],
        ["package.zip"],
    ):
        raise ValueError(
            "expected a statement as this version writes it, in canonical JSON, observed other "
            "members, subjects or spelling"
        )
    return found


def machine_digest(machine: MachineFacts | None) -> str:
    """Digest of the facts of a machine: the name of its kind where nobody signed.

    Returns:
        SHA-256 of ``repropack.machine.v1``, a newline, and the canonical JSON of the facts.
    """
    facts = None if machine is None else machine.model_dump(mode="json")
    return digest_bytes(b"repropack.machine.v1\n" + encode_canonical(facts))


def _encode(statement: Model) -> bytes:
    return encode_canonical(statement.model_dump(mode="json"))
