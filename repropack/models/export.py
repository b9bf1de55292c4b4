"""What ``export`` says: what it wrote for an archive, or what it lacks for that."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repropack.models.base import Count, Digest, Document, Model

ExportFormat = Literal["bagit", "zenodo", "codecheck", "swhid"]
Swhid = Annotated[
    str,
    StringConstraints(pattern=r"^swh:1:(cnt|dir):[0-9a-f]{40}$", min_length=50, max_length=50),
]
"""An identifier of Software Heritage."""


class LackingKey(Model):
    """What a deposit requires and the package does not say.

    ``field`` is the deposit's name of it, ``key`` the key of ``[package]`` that gives it.
    """

    field: str
    key: str
    problem: str


class ExportReport(Document):
    """What ``export`` wrote.

    ``written`` is null where nothing was: where something is ``lacking``, and of identifiers that
    are only shown. ``files`` and ``size_bytes`` count what lies in a bag, or the one document.
    ``source_swhid`` is null where a package has no source.
    """

    schema_name: Literal["repropack/export-report/v1"] = Field(
        default="repropack/export-report/v1", alias="schema"
    )
    path: str
    to: ExportFormat
    package_digest: Digest
    evidence_digest: Digest
    source_swhid: Swhid | None
    content_swhid: Swhid
    written: str | None = None
    files: Count = 0
    size_bytes: Count = 0
    lacking: tuple[LackingKey, ...] = ()
