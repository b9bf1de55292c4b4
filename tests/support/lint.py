"""Subjects of lint made in memory: a few files, and what is usual besides."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import partial
from io import BytesIO
from typing import Any

from repropack._lint.examine import examine
from repropack._lint.person import NOBODY, Person
from repropack._lint.subject import FileKind, LintedFile, Subject
from repropack.models.authored import Article, Author, Contact, Organization
from repropack.models.lint import LintFinding
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan

README = "Takes 5 minutes. Expected: a loss of 0.1 in loss.csv.\n"
CLEAN = ComparisonPlan(name="resume", resume_at=2, expect="identical")


def file(path: str, data: bytes | str, kind: FileKind = "source", **other: Any) -> LintedFile:
    """A file held in memory."""
    content = data.encode() if isinstance(data, str) else data
    return LintedFile(path, kind, len(content), partial(BytesIO, content), path, **other)


def subject(
    sources: Mapping[str, bytes | str] | None = None,
    *others: LintedFile,
    readme: str | None = README,
    metadata: Mapping[str, Any] | None = None,
    experiment: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Subject:
    """A subject in which no rule finds anything, but for what is given."""
    authored: dict[str, Any] = {
        "name": "tiny",
        "version": "1.0.0",
        "title": "Tiny",
        "license": "CC0-1.0",
        "authors": (
            Author(
                name="Jane Smith",
                given_names="Jane",
                family_names="Smith",
                orcid="0000-0002-1825-0097",
            ),
        ),
        "date": dt.date(2026, 11, 30),
        "description": "A tiny one.",
        "type": "software",
        "keywords": ("tiny",),
        "contact": Contact(name="Jane Smith", email="jane@example.org"),
        "publisher": Organization(name="An archive"),
        "repository": "https://example.org/tiny",
        "doi": "10.1000/182",
        "article": Article(title="A tiny article", doi="10.1000/183"),
    }
    run: dict[str, Any] = {"entry_point": "tiny:Tiny", "seed": 3, "steps": 4}
    files = [file(path, data) for path, data in (sources or {}).items()]
    if readme is not None:
        files.append(file("README.md", readme, "readme", packed=False))
    plan = Plan(
        experiment=ExperimentPlan(**(run | dict(experiment or {}))),
        record=RecordPlan(checkpoint_every=2),
        comparisons=(CLEAN,),
    )
    usual: dict[str, Any] = {
        "kind": "project",
        "settings": "repropack.toml",
        "metadata": PackageMetadata(**(authored | dict(metadata or {}))),
        "plan": plan,
        "files": (*files, *others),
        "license_text": b"CC0",
        "locked": True,
    }
    return Subject(**(usual | fields))


def findings(one: Subject, person: Person = NOBODY) -> tuple[LintFinding, ...]:
    """Everything that is found in a subject."""
    return examine(one, person)


def found(one: Subject, person: Person = NOBODY) -> list[tuple[str, str, int | None]]:
    """Rule, path and line of everything that is found."""
    return [(row.rule, row.path, row.line) for row in findings(one, person)]


def rules(source: str, **given: Any) -> list[str]:
    """Rules that find something in one Python file."""
    return [row.rule for row in findings(subject({"train.py": source}, **given))]
