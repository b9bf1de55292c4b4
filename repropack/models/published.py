"""What ``publish`` laid out."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Count, Digest, Document, Model
from repropack.models.claims import RecordedClaim
from repropack.models.manifest import PackageMetadata
from repropack.models.signatures import SignatureFinding


class PublishedFile(Model):
    """One file of the folder. ``size`` in bytes."""

    path: str
    size: Count
    digest: Digest


class LeftOut(Model):
    """An entry that is in the package alone, and why."""

    path: str
    reason: str


class PublishReport(Document):
    """The folder that ``publish`` made.

    ``package_file`` is the zip in it, ``signatures`` the signature files beside that. ``files`` are
    all but ``SHA256SUMS``, which lists them. ``signatures_left_out`` are signature files beside the
    package that do not hold of its statement, and are not laid out. ``claims`` says which of the
    package's claims hold.
    """

    schema_name: Literal["repropack/publish-report/v1"] = Field(
        default="repropack/publish-report/v1", alias="schema"
    )
    path: str
    directory: str
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    package_file: str
    signatures: tuple[str, ...] = ()
    signatures_left_out: tuple[SignatureFinding, ...] = ()
    claims: tuple[RecordedClaim, ...] = ()
    files: tuple[PublishedFile, ...]
    left_out: tuple[LeftOut, ...] = ()
