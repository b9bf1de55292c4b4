"""What ``lint`` reports: findings, each of one rule, with where it is and what to do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repropack.models.base import Count, Document, Model
from repropack.models.manifest import FindingId, PackageMetadata

Severity = Literal["error", "warning", "note"]
"""An error does harm or will not run elsewhere, and stops a build; a warning is what a reader will
miss; a note is a thing to consider."""


class LintFinding(Model):
    """One finding: its rule (docs/lint.md), the file and line, the problem and its cure in words.

    ``line`` is counted from 1; null where the finding is about the whole file, and where the file
    has no lines. ``allowed`` means that the author lets findings of this rule pass.
    """

    rule: FindingId
    severity: Severity
    path: str
    line: Annotated[int, Field(ge=1)] | None = None
    problem: str
    cure: str
    allowed: bool = False

    @property
    def place(self) -> str:
        """The file, and the line where there is one: ``train.py:7``."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


class LintReport(Document):
    """What ``lint`` found without running anything.

    ``verdict`` is ``errors`` where a finding is an error that is not allowed, ``warnings`` where
    one is a warning that is not allowed, ``clean`` otherwise: notes alone are clean.
    """

    schema_name: Literal["repropack/lint-report/v1"] = Field(
        default="repropack/lint-report/v1", alias="schema"
    )
    path: str
    subject: Literal["project", "package"]
    verdict: Literal["clean", "warnings", "errors"]
    package: PackageMetadata
    files_examined: Count
    findings: tuple[LintFinding, ...] = ()
