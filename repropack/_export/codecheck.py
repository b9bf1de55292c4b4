"""``codecheck.yml``: a draft of the configuration of a CODECHECK, specification 1.0.

It holds what the authors owe and what a program can know. Who checks, when, and the certificate
are the codechecker's to write; the draft says so where they go.

Source: https://codecheck.org.uk/spec/config/1.0/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repropack._export.files import DESCRIPTIONS
from repropack._export.yaml_text import Yaml, yaml_text
from repropack._format.layout import REFERENCE_RUN, outputs_folder
from repropack.models.authored import Article
from repropack.models.claims import ClaimOutcome
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.reports import VerificationReport

CODECHECK = "codecheck.yml"
_SPECIFICATION = "https://codecheck.org.uk/spec/config/1.0/"
_BEGIN = f'---\nversion: "{_SPECIFICATION}"\n'.encode()
_TO_FILL_IN = """\
# To be written by the codechecker, who alone can say it:
#
# codechecker:
#   - name: ...
#     ORCID: ...
# report: ...
# summary: ...
# check_time: ...
# certificate: ...
"""


def codecheck_bytes(
    metadata: PackageMetadata,
    entries: Sequence[Entry],
    identifiers: Mapping[str, str],
    verification: VerificationReport | None = None,
    claims: Sequence[ClaimOutcome] = (),
) -> bytes:
    """Write the draft.

    Args:
        metadata: What the author says of the package.
        entries: Rows of its manifest.
        identifiers: Its digests and identifiers by name, which go below ``repropack_<name>``.
        verification: What ``verify`` found of this very package.
        claims: Those of the package, evaluated.

    Returns:
        YAML in UTF-8, every text quoted; paths are relative to the root of the package.
    """
    told: dict[str, Yaml] = {"version": _SPECIFICATION}
    if metadata.article is not None:
        told["paper"] = _paper(metadata.article)
    told["manifest"] = [
        {"file": entry.path, "comment": DESCRIPTIONS[entry.role]}
        for entry in entries
        if _is_result(entry)
    ]
    told["repropack_package"] = f"{metadata.name} {metadata.version}"
    told |= {f"repropack_{name}": value for name, value in identifiers.items()}
    if claims:
        told["repropack_claims"] = _claims(claims, verification)
    if verification is not None:
        told |= _found(verification)
    return f"---\n{yaml_text(told)}{_TO_FILL_IN}".encode()


def is_draft(data: bytes) -> bool:
    """Whether a file is a draft in which nobody has written: what is to fill in still stands there.

    Args:
        data: The file.

    Returns:
        True where it begins and ends as a draft does.
    """
    return data.startswith(_BEGIN) and data.endswith(_TO_FILL_IN.encode())


def _is_result(entry: Entry) -> bool:
    """Figures, tables and results, and of outputs those of the reference."""
    if entry.role == "output":
        return entry.path.startswith(f"{outputs_folder(REFERENCE_RUN)}/")
    return entry.role in {"results", "figure", "derived"}


def _paper(article: Article) -> dict[str, Yaml]:
    paper: dict[str, Yaml] = {"title": article.title}
    authors: list[Yaml] = []
    for author in article.authors:
        orcid = {"ORCID": author.orcid} if author.orcid is not None else {}
        authors.append({"name": author.name, **orcid})
    if authors:
        paper["authors"] = authors
    reference = f"https://doi.org/{article.doi}" if article.doi is not None else article.url
    return {**paper, "reference": reference} if reference is not None else paper


def _claims(
    claims: Sequence[ClaimOutcome], verification: VerificationReport | None
) -> dict[str, Yaml]:
    """Which claims hold and which do not: in the package, and where it was verified."""
    told: dict[str, list[Yaml]] = {
        "held": [claim.id for claim in claims if claim.held],
        "failed": [claim.id for claim in claims if not claim.held],
    }
    if verification is not None:
        here = {claim.id: claim.held_here for claim in verification.claims}
        names = {True: "verified_held", False: "verified_failed", None: "not_verified"}
        for held, name in names.items():
            told[name] = [claim.id for claim in claims if here.get(claim.id) is held]
    return {name: ids for name, ids in told.items() if ids}


def _found(verification: VerificationReport) -> dict[str, Yaml]:
    """The verdict and what it covers: a run that was not made again is not named."""
    told: dict[str, Yaml] = {"repropack_verdict": verification.verdict}
    runs: list[Yaml] = [
        {"run": run.run, "verdict": "identical" if run.equal else "differs"}
        for run in verification.runs
    ]
    if runs:
        told["repropack_verified_runs"] = runs
    if verification.not_verified:
        told["repropack_not_verified"] = list(verification.not_verified)
    return told
