"""The project file ``repropack.toml``: what an author writes, in kebab-case keys.

It says the same as the plan, with the package's metadata and the choice of source files besides.
Configuration values stay as TOML gives them; they are encoded when the plan is made.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from repropack.models.base import Model
from repropack.models.manifest import Line, PackageMetadata
from repropack.models.plan import ComparisonPlan, ExpectedDivergence, ExperimentPlan, RecordPlan

SourcePattern = Annotated[str, Field(min_length=1, max_length=400)]
"""A pattern of paths relative to the project folder; ``**`` stands for any number of folders."""


def kebab_case(name: str) -> str:
    """Return a field's name as the project file spells it: ``resume_at`` as ``resume-at``."""
    return name.replace("_", "-")


_KEBAB_CASE = ConfigDict(alias_generator=kebab_case, validate_by_name=False)


class ProjectPackage(PackageMetadata):
    """``[package]``: the metadata, and where the licence's text is if not in ``LICENSE``."""

    model_config = _KEBAB_CASE

    license_file: Line | None = None


class ProjectExperiment(ExperimentPlan):
    """``[experiment]``: the plan's, and the patterns of the files that are packed as its source."""

    model_config = _KEBAB_CASE

    source: tuple[SourcePattern, ...] = Field(default=("**/*.py",), min_length=1)


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


class ProjectFile(Model):
    """``repropack.toml``, or ``[tool.repropack]`` of a ``pyproject.toml``."""

    model_config = _KEBAB_CASE

    package: ProjectPackage
    experiment: ProjectExperiment
    record: ProjectRecord = ProjectRecord()
    comparisons: tuple[ProjectComparison, ...] = ()
