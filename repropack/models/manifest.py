"""The manifest: who made the package, and every entry with its size, digest and role."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import FailFast, Field, StringConstraints

from repropack.models.authored import AuthoredMetadata, Line
from repropack.models.base import Count, Digest, Document, Model

FORMAT_NAME: Final = "replay-package"
FORMAT_VERSION: Final = 1

Role = Literal[
    "readme",
    "license",
    "plan",
    "environment",
    "source",
    "input",
    "log",
    "checkpoint",
    "kept",
    "output",
    "derived",
    "results",
    "schema",
    "figure",
    "notebook",
    "report",
    "checker",
    "lock",
    "crate",
    "citation",
    "scope",
    "claims",
    "wheel",
]
"""What an entry is for."""
RESERVED_ROLES: Final = frozenset({"scope", "claims"})
"""Roles that no entry of this release has: a package with one was made by a later release."""


class Origin(Model):
    """The commit that the packed files were checked out from, and whether none was changed."""

    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    clean: bool


FindingId = Annotated[
    str, StringConstraints(pattern=r"^[a-z]+(-[a-z0-9]+)*$", min_length=1, max_length=64)
]


class PackageMetadata(AuthoredMetadata):
    """What the author says of the package, and what was found beside it.

    ``allowed_findings`` are rules of ``lint`` whose findings the author lets pass; ``origin`` is
    null outside a checkout of git.
    """

    allowed_findings: tuple[FindingId, ...] = ()
    origin: Origin | None = None


class Entry(Model):
    """One listed file. ``size`` in bytes; ``digest`` of the stored bytes.

    An input that is not ``included`` is held by reference: the package has its size and digest,
    and ``location`` says in words where to get it.
    """

    path: Annotated[str, StringConstraints(min_length=1, max_length=1024)]
    size: Count
    digest: Digest
    role: Role
    media_type: Line
    executable: bool = False
    included: bool = True
    location: Line | None = None


class Manifest(Document):
    """``manifest.json``: every entry but itself, sorted by the bytes of its path."""

    schema_name: Literal["repropack/manifest/v1"] = Field(
        default="repropack/manifest/v1", alias="schema"
    )
    format: Literal["replay-package"] = FORMAT_NAME
    format_version: Annotated[int, Field(ge=1, le=FORMAT_VERSION)] = FORMAT_VERSION
    package: PackageMetadata
    entries: Annotated[tuple[Entry, ...], FailFast()]
