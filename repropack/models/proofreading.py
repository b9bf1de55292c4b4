"""What ``values`` and ``proofread`` say: the values of claims, and an article held against them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repropack.models.base import Count, Digest, Document, Model
from repropack.models.claims import ClaimId, ClaimKind, ClaimValue
from repropack.models.manifest import PackageMetadata

ArticleForm = Literal["markdown", "html", "latex", "notebook"]
Verdict = Literal["agrees", "disagrees", "nothing-marked"]


class PrintedClaim(Model):
    """One claim's value: ``text`` as it is printed, ``exact`` in full, ``value`` as in results.

    ``macro`` is the name of the LaTeX macro that prints ``text``, without its backslash.
    """

    id: ClaimId
    kind: ClaimKind
    held: bool
    text: str
    exact: str
    value: ClaimValue
    expected: str
    sentence: str
    macro: str


class Values(Document):
    """The values of all claims of a package, in the order of its plan."""

    schema_name: Literal["repropack/values/v1"] = Field(
        default="repropack/values/v1", alias="schema"
    )
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    values: tuple[PrintedClaim, ...] = ()


class ArticlePlace(Model):
    """A place in an article; both numbers count from 1, ``cell`` too, null outside notebooks."""

    line: Annotated[int, Field(ge=1)]
    column: Annotated[int, Field(ge=1)]
    cell: Annotated[int, Field(ge=1)] | None = None


FindingKind = Literal["disagrees", "does-not-hold", "unknown-claim", "malformed-mark"]
"""What is wrong with a mark (docs/claims.md):

``disagrees``       what it marks is not the claim's value
``does-not-hold``   its claim does not hold, so that the sentence is wrong
``unknown-claim``   the package has no claim of this id, or no macro of this name
``malformed-mark``  it has another form than a mark, or is not closed
"""
HintKind = Literal["same", "near"]
"""An unmarked number that prints like a claim's value, or one within 1 % of it."""


class ProofreadFinding(Model):
    """One mark that is wrong; ``claim`` is what it names, as it stands there."""

    kind: FindingKind
    place: ArticlePlace
    claim: str
    expected: str
    observed: str


class ProofreadHint(Model):
    """One number without a mark that is nearly a claim's value."""

    kind: HintKind
    place: ArticlePlace
    claim: ClaimId
    expected: str
    observed: str


class ProofreadReport(Document):
    """What ``proofread`` found in an article.

    ``disagrees`` where there is a finding, ``nothing-marked`` where the article has no mark at
    all, so that nothing of it was held against a claim; hints and unused claims alone agree. Of
    findings and hints the first thousand and the first two hundred are listed;
    ``findings_left_out`` and ``hints_left_out`` count the others. ``marks_in_code`` counts what
    begins like a mark in code, in a comment or in metadata, where none is looked at.
    """

    schema_name: Literal["repropack/proofread-report/v1"] = Field(
        default="repropack/proofread-report/v1", alias="schema"
    )
    path: str
    article: str
    form: ArticleForm
    verdict: Verdict
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    claims: Count
    marks: Count
    marks_in_code: Count = 0
    findings: tuple[ProofreadFinding, ...] = ()
    findings_left_out: Count = 0
    hints: tuple[ProofreadHint, ...] = ()
    hints_left_out: Count = 0
    unused: tuple[ClaimId, ...] = ()
