"""An article held against the claims of a package; nothing is executed and nothing is changed."""

from __future__ import annotations

from pathlib import Path

from repropack._compare.proofreading import Proofreading, proofread
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._present.claim_values import shown_value
from repropack._read.article import read_article
from repropack._read.intact import require_intact
from repropack._read.package import open_package
from repropack.models.proofreading import ProofreadReport, Verdict


def proofread_article(
    path: str | Path, article: str | Path, *, limits: Limits = DEFAULT_LIMITS
) -> ProofreadReport:
    """Find the marked numbers of an article that are not those of the package.

    The package is checked first. The article is read as text: nothing of it is rendered,
    expanded or followed.

    Args:
        path: The package, zip or directory.
        article: The article: Markdown, HTML, LaTeX or a notebook, by its extension.
        limits: Limits on reading the package.

    Returns:
        Marks that are wrong, numbers that have none and nearly are a claim's, claims that are
        never used.

    Raises:
        UsageError: no such path, or an article that cannot be read.
        PackageError: not a package, or damaged.
        UnsupportedVersionError: a format version or feature of a later release.
    """
    form, pieces = read_article(article)
    with open_package(path, limits=limits) as package:
        require_intact(package)
        claims = package.results.claims
        found = proofread(pieces, claims, shown_value)
        return ProofreadReport(
            path=shown_path(path),
            article=shown_path(article),
            form=form,
            verdict=_verdict(found),
            package=package.manifest.package,
            package_digest=package.package_digest,
            evidence_digest=package.evidence_digest,
            claims=len(claims),
            marks=found.marks,
            marks_in_code=found.marks_in_code,
            findings=tuple(found.findings),
            findings_left_out=found.findings_left_out,
            hints=tuple(found.hints),
            hints_left_out=found.hints_left_out,
            unused=tuple(claim.id for claim in claims if claim.id not in found.used),
        )


def _verdict(found: Proofreading) -> Verdict:
    if found.findings:
        return "disagrees"
    return "agrees" if found.marks else "nothing-marked"
