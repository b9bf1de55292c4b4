"""Licence, authors, locked distributions, size, and what the plan compares."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from repropack._format.layout import MANIFEST
from repropack._format.lint_rules import LARGE_FILE_BYTES
from repropack._lint.subject import Subject, found
from repropack.models.authored import AuthoredMetadata
from repropack.models.lint import LintFinding

_REQUIRED = ("date", "description", "type")
_WANTED = ("keywords", "contact", "publisher", "repository", "doi", "article")


def check_metadata(subject: Subject) -> Iterator[LintFinding]:
    """Yield what is missing of licence, authors and locked distributions.

    Args:
        subject: What is looked at.
    """
    metadata = subject.metadata
    where = subject.settings if subject.kind == "project" else MANIFEST
    if subject.license_text is None:
        problem = f"expected the text of {metadata.license!r} in a file, observed none"
        yield found("license-missing", where, problem)
    if not _is_known_license(metadata.license):
        problem = f"expected an SPDX expression, observed {metadata.license!r}"
        yield found("license-unknown", where, problem)
    people = [author for author in metadata.authors if author.kind != "organization"]
    without = [author.name for author in people if author.orcid is None]
    if without:
        yield found("authors-orcid", where, f"no ORCID iD of {', '.join(without)}")
    yield from _check_archive(metadata, where)
    if not subject.locked:
        yield found("not-locked", where, "expected a lock of the distributions, observed none")


def _check_archive(metadata: AuthoredMetadata, where: str) -> Iterator[LintFinding]:
    """What citations, crates and deposits are made of."""
    whole = [
        author.name
        for author in metadata.authors
        if author.kind != "organization" and not (author.given_names or author.family_names)
    ]
    if whole:
        yield found("authors-names", where, f"expected the parts of the name {', '.join(whole)}")
    for rule, keys in (("archive-required", _REQUIRED), ("archive-wanted", _WANTED)):
        lacking = [key for key in keys if not getattr(metadata, key)]
        if lacking:
            yield found(rule, where, f"no {', '.join(lacking)}")


def check_plan(subject: Subject) -> Iterator[LintFinding]:
    """Yield what the plan does not compare, and files that are large.

    Args:
        subject: What is looked at.
    """
    plan, where = subject.plan, subject.settings
    whole = plan.experiment.command is not None and not plan.experiment.loop
    if not plan.comparisons:
        yield found("no-comparisons", where, "expected a comparison, observed none")
    elif not whole and not any(row.resume_at is not None for row in plan.comparisons):
        problem = "expected a comparison with resume-at, observed none"
        yield found("no-resume-tested", where, problem)
    if not whole and plan.experiment.steps > 1 and plan.record.checkpoint_every is None:
        problem = "expected checkpoint-every in [record], observed none"
        yield found("checkpoint-every-missing", where, problem)
    for file in subject.files:
        if file.packed and file.size > LARGE_FILE_BYTES:
            yield found("large-file", file.path, f"{file.size} bytes")


def _is_known_license(expression: str) -> bool:
    try:
        canonicalize_license_expression(expression)
    except InvalidLicenseExpression:
        return False
    return True
