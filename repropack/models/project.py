"""The project file ``repropack.toml``: what an author writes, in kebab-case keys.

It says the same as the plan, with the package's metadata and the choice of source files besides.
Configuration values stay as TOML gives them; they are encoded when the plan is made.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from repropack.models.authored import Article, Author, AuthoredMetadata, Line
from repropack.models.base import Count, Digest, Model
from repropack.models.claims import MAX_CLAIMS, ClaimPlan
from repropack.models.manifest import FindingId
from repropack.models.plan import (
    MAX_AFTER,
    MAX_PATTERNS,
    AuthoredExperiment,
    CommandPlan,
    ComparisonPlan,
    ExpectedDivergence,
    OutputPattern,
    RecordPlan,
    Seed,
    Steps,
)

SourcePattern = Annotated[str, Field(min_length=1, max_length=400)]
"""A pattern of paths relative to the project folder; ``**`` stands for any number of folders."""


def kebab_case(name: str) -> str:
    """Return a field's name as the project file spells it: ``resume_at`` as ``resume-at``."""
    return name.replace("_", "-")


_KEBAB_CASE = ConfigDict(alias_generator=kebab_case, validate_by_name=False)


class ProjectAuthor(Author):
    """One of ``[[package.authors]]``."""

    model_config = _KEBAB_CASE


class ProjectArticle(Article):
    """``[package.article]``: the article that the package supplements."""

    model_config = _KEBAB_CASE

    authors: tuple[ProjectAuthor, ...] = ()


class ProjectPackage(AuthoredMetadata):
    """``[package]``: the metadata, and where the licence's text is if not in ``LICENSE``."""

    model_config = _KEBAB_CASE

    authors: tuple[ProjectAuthor, ...] = Field(min_length=1)
    article: ProjectArticle | None = None
    license_file: Line | None = None


class ProjectInput(Model):
    """An input as a table: one file, and what is to be known of it.

    One that is not included is held by reference: ``location`` says in words where to get it.
    ``digest`` and ``size`` in bytes, where they are given, are those that the file must have.
    """

    model_config = _KEBAB_CASE

    path: SourcePattern
    include: bool = True
    digest: Digest | None = None
    size: Count | None = None
    location: Line | None = None


class ProjectExperiment(AuthoredExperiment):
    """``[experiment]``: the plan's, and the files that are packed as its source and inputs.

    Where ``source`` is not given, it is what git tracks, or else ``**/*.py``. A command without
    ``steps`` is run as a whole; ``seed`` is 0 where a command does not have one.
    """

    model_config = _KEBAB_CASE

    seed: Seed | None = None
    steps: Steps | None = None
    source: Annotated[tuple[SourcePattern, ...], Field(min_length=1)] | None = None
    inputs: tuple[SourcePattern | ProjectInput, ...] = ()


class ProjectAfter(CommandPlan):
    """One of ``[[after]]``: a command that runs on the finished runs."""

    model_config = _KEBAB_CASE

    outputs: tuple[OutputPattern, ...] = Field(min_length=1, max_length=MAX_PATTERNS)


class ProjectLint(Model):
    """``[lint]``: rules whose findings do not stop a build."""

    model_config = _KEBAB_CASE

    allow: tuple[FindingId, ...] = ()


class ProjectRecord(RecordPlan):
    """``[record]``: what is recorded, in steps."""

    model_config = _KEBAB_CASE


class ProjectDivergence(ExpectedDivergence):
    """``expect = { diverges-at = ... }`` of a comparison."""

    model_config = _KEBAB_CASE


class ProjectComparison(ComparisonPlan):
    """One of ``[[comparisons]]``: a second run under one stated intervention."""

    model_config = _KEBAB_CASE

    expect: Literal["identical"] | ProjectDivergence | None = None


class ProjectClaim(ClaimPlan):
    """One of ``[[claims]]``: a sentence of the write-up, and how its value is found."""

    model_config = _KEBAB_CASE


class ProjectFile(Model):
    """``repropack.toml``, or ``[tool.repropack]`` of a ``pyproject.toml``."""

    model_config = _KEBAB_CASE

    package: ProjectPackage
    experiment: ProjectExperiment
    record: ProjectRecord = ProjectRecord()
    comparisons: tuple[ProjectComparison, ...] = ()
    after: Annotated[tuple[ProjectAfter, ...], Field(max_length=MAX_AFTER)] = ()
    claims: Annotated[tuple[ProjectClaim, ...], Field(max_length=MAX_CLAIMS)] = ()
    lint: ProjectLint = ProjectLint()
