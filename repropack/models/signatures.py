"""What signatures say of a package or a record, and what ``sign`` wrote."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repropack.models.base import Digest, Document, Model
from repropack.models.claims import RecordedClaim

KeyFingerprint = Annotated[
    str, StringConstraints(pattern=r"^SHA256:[A-Za-z0-9+/]{43}$", min_length=50, max_length=50)
]
"""Fingerprint of a public key as OpenSSH writes it: unpadded base64 of SHA-256."""

Standing = Literal["known", "not-accepted", "unknown", "unvouched", "not-valid"]
"""What a signature is worth:

``known``         valid, and the list of signers vouches for its key under at least one name
``not-accepted``  valid; its key is listed, but not for this use or not at this time
``unknown``       valid, and its key is not listed
``unvouched``     valid, and no list of signers was given
``not-valid``     no signature of these bytes in this namespace
"""


class SignatureFinding(Model):
    """One signature file. ``names`` are those under which the list accepts its key."""

    file: str
    standing: Standing
    key: KeyFingerprint | None = None
    names: tuple[str, ...] = ()
    problem: str | None = None


class Signer(Model):
    """One key that signed, counted once however many signatures and names it has."""

    key: KeyFingerprint
    names: tuple[str, ...]


class PackageSignatures(Model):
    """What lies beside a package: whose word it has, by the list of signers that was given.

    ``statement`` says whether the statement that is signed is about this package. ``archive`` says
    whether the zip is the very file that was signed: ``another`` where it was written anew with the
    same content, ``not-signed`` where the statement names none or the package is a folder.
    ``missing`` are required signers that did not sign.
    """

    statement: Literal["of-this-package", "of-another-package", "not-readable", "none"]
    problem: str | None = None
    archive: Literal["equal", "another", "not-signed"] = "not-signed"
    signatures: tuple[SignatureFinding, ...] = ()
    signers: tuple[Signer, ...] = ()
    required: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class SignReport(Document):
    """What ``sign`` wrote.

    ``signature`` is null where no key was given, so that the statement alone was written.
    ``already`` says that this key had signed this statement before; then nothing was written.
    ``removed`` are signature files that were taken away, or replaced by ``signature``: they signed
    the statement that stood there before. ``claims`` says which claims hold: in the package, or by
    the record that is signed.
    """

    schema_name: Literal["repropack/sign-report/v1"] = Field(
        default="repropack/sign-report/v1", alias="schema"
    )
    path: str
    kind: Literal["package", "record"]
    namespace: str
    statement: str
    statement_digest: Digest
    package_digest: Digest | None = None
    archive_digest: Digest | None = None
    signature: str | None = None
    key: KeyFingerprint | None = None
    already: bool = False
    removed: tuple[str, ...] = ()
    claims: tuple[RecordedClaim, ...] = ()
