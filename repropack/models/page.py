"""What ``report`` says of the page that it wrote."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Count, Digest, Document
from repropack.models.manifest import PackageMetadata
from repropack.models.reports import Verdict


class PageReport(Document):
    """A page of a package, beside the package; ``page`` is where it lies, ``size_bytes`` its size.

    ``verification`` is the verdict that it shows, null where none was given.
    """

    schema_name: Literal["repropack/page-report/v1"] = Field(
        default="repropack/page-report/v1", alias="schema"
    )
    path: str
    page: str
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    size_bytes: Count
    verification: Verdict | None = None
