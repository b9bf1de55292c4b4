"""What ``inspect`` shows of a package."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Count, Digest, Document, Model, RunName, StepNumber
from repropack.models.environment import EnvironmentAccount, EnvironmentRecord
from repropack.models.export import Swhid
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.plan import Plan
from repropack.models.results import Results


class RunSummary(Model):
    """What a package holds of one run; sizes in bytes."""

    run: RunName
    first_step: StepNumber
    last_step: StepNumber
    checkpoints: tuple[StepNumber, ...]
    kept: bool
    size_bytes: Count


class Inspection(Document):
    """What ``inspect`` shows of a package, without checking more than it reads.

    ``present`` is the account of the recorded environment against this machine's; null where this
    machine's could not be observed. ``source_swhid`` and ``content_swhid`` identify the source and
    the whole tree as git and Software Heritage do; null where there is no source, and where an
    entry cannot be read.
    """

    schema_name: Literal["repropack/inspection/v1"] = Field(
        default="repropack/inspection/v1", alias="schema"
    )
    path: str
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    size_bytes: Count
    entries: tuple[Entry, ...]
    plan: Plan
    runs: tuple[RunSummary, ...]
    results: Results
    environment: EnvironmentRecord
    present: EnvironmentAccount | None = None
    source_swhid: Swhid | None = None
    content_swhid: Swhid | None = None
