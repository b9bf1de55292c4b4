"""What ``diff`` reports of two packages: where the new one is another than the old one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Count, Digest, Document, Model, Number, RunName, StepNumber
from repropack.models.differences import OutputDifference
from repropack.models.environment import EnvironmentAccount
from repropack.models.manifest import PackageMetadata
from repropack.models.patterns import Pattern
from repropack.models.reports import Fault
from repropack.models.results import ComparisonOutcome, Divergence, Split
from repropack.models.run_difference import RunCounts, StructureDifference
from repropack.models.zoom import Zoom

Succession = Literal["named", "reversed", "other", "none"]
"""Whose version a package says that it supersedes:

``named``     the new one names the old one's package digest
``reversed``  the old one names the new one's: the two were given the other way round
``other``     the new one names a package that is not the old one
``none``      the new one names none
"""


class DiffSide(Model):
    """One of the two packages; what could not be read of it is null, and ``faults`` says why."""

    path: str
    package: PackageMetadata | None = None
    package_digest: Digest | None = None
    evidence_digest: Digest | None = None
    faults: tuple[Fault, ...] = ()


class ValueChange(Model):
    """One value, by its dotted key, as canonical JSON; null on the side that has none."""

    key: str
    old: str | None
    new: str | None


class FileVersion(Model):
    """What one package says of a file; one that is not ``included`` is held by reference."""

    size: Count
    digest: Digest
    executable: bool
    included: bool
    location: str | None


class TextChange(Model):
    """How two versions of a text differ.

    ``lines`` are those of a unified diff with three lines around each change, without its head.
    ``left_out`` counts those that did not find room. ``added`` and ``removed`` count all lines.
    """

    lines: tuple[str, ...]
    left_out: Count
    added: Count
    removed: Count


class FileChange(Model):
    """One file that is not the same in both packages; a side is null that does not have it.

    ``text`` is that of source, null where no lines were compared: only one side has the file, it
    is no text, it is too long, or the file's bytes are equal and something else differs.
    ``content`` says how an input or output differs by what it is, the old one as what is expected.
    """

    path: str
    old: FileVersion | None
    new: FileVersion | None
    text: TextChange | None = None
    content: OutputDifference | None = None


class FileChanges(Model):
    """The files of one kind: how many are the same in both packages, and those that are not."""

    unchanged: Count
    changed: tuple[FileChange, ...] = ()


class MetricChange(Model):
    """A metric of the reference's last step; null on the side that does not have it."""

    metric: str
    old: Number | None
    new: Number | None


class OutcomeChange(Model):
    """A comparison whose outcome is not the same; null on the side that does not have it."""

    run: RunName
    old: ComparisonOutcome | None
    new: ComparisonOutcome | None


class ReferenceDifference(Model):
    """The two references held against each other, by their logs alone.

    ``chain_equal`` says whether their histories are equal from beginning to end; then there is no
    divergence, and nothing is counted. ``start`` splits the components of the state before the
    first step.
    """

    old_last_step: StepNumber
    new_last_step: StepNumber
    chain_equal: bool
    config_equal: bool
    constants: Split
    start: Split
    divergence: Divergence | None = None
    structure: StructureDifference | None = None
    counts: RunCounts | None = None
    patterns: tuple[Pattern, ...] = ()
    metrics: tuple[MetricChange, ...] = ()


class ResultsDifference(Model):
    """What came out: the references, comparisons whose outcome changed, and the runs' files."""

    reference: ReferenceDifference
    comparisons_unchanged: Count
    comparisons: tuple[OutcomeChange, ...] = ()
    files: FileChanges


class PackageDifference(Document):
    """What ``diff`` found: what was changed, then what came of it.

    ``identical`` means that both have one package digest, ``damaged`` that one of them cannot be
    trusted, and then nothing is compared. Every entry that differs is in exactly one list of
    files, but for the plan, the environment record and the results, of which the values are
    compared; where none of those differs and the stored bytes do, they are among ``others``.
    ``zoom`` holds the elements of the step at which the references part, where it was asked for.
    """

    schema_name: Literal["repropack/package-difference/v1"] = Field(
        default="repropack/package-difference/v1", alias="schema"
    )
    verdict: Literal["identical", "differs", "damaged"]
    old: DiffSide
    new: DiffSide
    succession: Succession | None = None
    metadata: tuple[ValueChange, ...] = ()
    source: FileChanges | None = None
    inputs: FileChanges | None = None
    configuration: tuple[ValueChange, ...] = ()
    environment: EnvironmentAccount | None = None
    results: ResultsDifference | None = None
    others: FileChanges | None = None
    zoom: Zoom | None = None
