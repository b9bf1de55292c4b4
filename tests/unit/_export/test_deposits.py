"""A deposit's metadata, a draft of a CODECHECK and the tag files of a bag, as their rules say.

No validator of Zenodo's and CODECHECK's can be installed: what is required of them is written down
here from their specifications.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import jsonschema
import pytest

from repropack._export.bagit import info_bytes, manifest_bytes
from repropack._export.codecheck import codecheck_bytes
from repropack._export.identifiers import identifiers_bytes
from repropack._export.zenodo import zenodo_deposit
from repropack._format.layout import media_type_of, role_of
from repropack._version import __version__
from repropack.models.authored import Article, Author, Contact
from repropack.models.claims import ClaimVerification
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.reports import VerificationReport
from tests.support.claims import outcome_of

DIGEST, SOURCE = f"sha256:{'1' * 64}", f"swh:1:dir:{'2' * 40}"
DEPOSIT: dict[str, Any] = {
    "type": "object",
    "required": [
        "upload_type", "publication_date", "title", "creators", "description", "access_right",
        "license",
    ],
    "additionalProperties": False,
    "properties": {
        "upload_type": {"enum": ["software", "dataset"]},
        "publication_date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "title": {"type": "string", "minLength": 1},
        "description": {"type": "string", "minLength": 1},
        "access_right": {"enum": ["open", "embargoed", "restricted", "closed"]},
        "license": {"type": "string", "pattern": r"^[A-Za-z0-9.+-]+$"},
        "version": {"type": "string"},
        "doi": {"type": "string", "pattern": r"^10\."},
        "keywords": {"type": "array", "items": {"type": "string"}},
        "creators": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {
                    "name": {"type": "string"},
                    "affiliation": {"type": "string"},
                    "orcid": {"type": "string", "pattern": r"^[0-9X-]{19}$"},
                },
            },
        },
        "related_identifiers": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["identifier", "relation"],
                "properties": {"relation": {"enum": ["isSupplementTo", "isDerivedFrom"]}},
            },
        },
    },
}  # fmt: skip
"""What https://developers.zenodo.org/#representation asks of deposits of these two types."""


def metadata(**members: Any) -> PackageMetadata:
    ada = Author(name="Ada Lovelace", given_names="Ada", family_names="Lovelace")
    whole: dict[str, Any] = {
        "name": "lake",
        "version": "1.0",
        "title": "A lake",
        "license": "CC-BY-4.0",
        "authors": (ada, Author(name="The group", affiliation="Here", kind="organization")),
        "date": dt.date(2026, 11, 29),
        "description": "Levels <b>& more</b>",
        "type": "dataset",
        "keywords": ("lake",),
        "doi": "10.1000/1",
        "repository": "https://example.org/lake",
        "article": Article(title="Lakes", doi="10.1000/182", authors=(ada,)),
        "contact": Contact(name="Ada", email="ada@example.org"),
    }
    return PackageMetadata(**(whole | members))


def test_a_deposit_with_everything() -> None:
    """Its description is text, and Zenodo reads it as HTML."""
    deposit, lacking = zenodo_deposit(metadata())
    assert lacking == ()
    jsonschema.Draft202012Validator(DEPOSIT).validate(deposit)
    assert deposit == {
        "upload_type": "dataset",
        "publication_date": "2026-11-29",
        "title": "A lake",
        "creators": [
            {"name": "Lovelace, Ada"},
            {"name": "The group", "affiliation": "Here"},
        ],
        "description": "Levels &lt;b&gt;&amp; more&lt;/b&gt;",
        "access_right": "open",
        "license": "CC-BY-4.0",
        "version": "1.0",
        "keywords": ["lake"],
        "doi": "10.1000/1",
        "related_identifiers": [
            {"identifier": "10.1000/182", "relation": "isSupplementTo"},
            {"identifier": "https://example.org/lake", "relation": "isDerivedFrom"},
        ],
    }


def test_zenodo_assigns_its_own_doi() -> None:
    """It refuses one of its own prefix that it did not reserve for the deposit."""
    assert "doi" not in zenodo_deposit(metadata(doi="10.5281/zenodo.7"))[0]


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("type", None, "upload_type"),
        ("date", None, "publication_date"),
        ("description", None, "description"),
        ("license", "MIT OR ISC", "license"),
    ],
)
def test_what_a_deposit_lacks_is_named(key: str, value: object, field: str) -> None:
    """By the key that gives it, and nothing stands in its place."""
    deposit, lacking = zenodo_deposit(metadata(**{key: value}))
    assert [(row.key, row.field) for row in lacking] == [(key, field)]
    assert field not in deposit


def entry(path: str) -> Entry:
    role = role_of(path)
    assert role is not None
    return Entry(path=path, size=1, digest=DIGEST, role=role, media_type=media_type_of(path))


ENTRIES = tuple(
    entry(path)
    for path in (
        "after/table.csv",
        "figures/agreement.svg",
        "plan.json",
        "results.json",
        "runs/again/outputs/level.json",
        "runs/reference/outputs/level.json",
        "source/lake.py",
    )
)
DRAFT = f"""\
---
version: "https://codecheck.org.uk/spec/config/1.0/"
paper:
  title: "Lakes"
  authors:
    - name: "Ada Lovelace"
  reference: "https://doi.org/10.1000/182"
manifest:
  - file: "after/table.csv"
    comment: "A file made of the finished runs"
  - file: "figures/agreement.svg"
    comment: "A figure of what the comparisons found"
  - file: "results.json"
    comment: "What the comparisons found"
  - file: "runs/reference/outputs/level.json"
    comment: "A file that a run wrote"
repropack_package: "lake 1.0"
repropack_package_digest: "{DIGEST}"
"""


def test_a_draft_of_a_codecheck() -> None:
    """Manifest and paper as the specification has them; the rest is commented, to be filled in."""
    text = codecheck_bytes(metadata(), ENTRIES, {"package_digest": DIGEST}).decode()
    assert text.startswith(DRAFT)
    left = text.removeprefix(DRAFT).splitlines()
    assert all(line.startswith("#") for line in left)
    for owed in ("codechecker:", "report:", "certificate:", "check_time:", "summary:"):
        assert any(line.startswith(f"# {owed}") for line in left)


def test_a_draft_invents_no_paper() -> None:
    """Without an article there is none, and without its authors none are named."""
    text = codecheck_bytes(metadata(article=None), ENTRIES, {}).decode()
    assert "paper:" not in text
    unsigned = Article(title="Lakes", url="https://example.org/lakes")
    text = codecheck_bytes(metadata(article=unsigned), ENTRIES, {}).decode()
    assert 'paper:\n  title: "Lakes"\n  reference: "https://example.org/lakes"\nmanifest' in text


def test_a_draft_with_a_verification() -> None:
    """Keys of our own have the prefix that the specification asks for."""
    report = VerificationReport(path="a", verdict="identical", not_verified=("other machines",))
    text = codecheck_bytes(metadata(), ENTRIES, {}, report).decode()
    assert 'repropack_verdict: "identical"\nrepropack_not_verified:\n  - "other machines"\n' in text
    known = {"version", "paper", "manifest"}
    keys = set(re.findall(r"^(\w+):", text, re.MULTILINE))
    assert all(key in known or key.startswith("repropack_") for key in keys)


def test_a_draft_names_the_claims_that_fail() -> None:
    """In the package; with a verification also there."""
    claims = [outcome_of(), outcome_of(id="final-msd", held=False), outcome_of(id="slow")]
    text = codecheck_bytes(metadata(), ENTRIES, {}, None, claims).decode()
    stored = '  held:\n    - "final-loss"\n    - "slow"\n  failed:\n    - "final-msd"\n'
    assert f"\nrepropack_claims:\n{stored}#" in text
    fields = ("id", "kind", "sentence", "expected", "held", "text", "value")
    seen = tuple(
        ClaimVerification(**{name: getattr(one, name) for name in fields}, held_here=held)
        for one, held in zip(claims, (True, False, None), strict=True)
    )
    report = VerificationReport(path="a", verdict="identical", claims=seen)
    text = codecheck_bytes(metadata(), ENTRIES, {}, report, claims).decode()
    assert (
        f'{stored}  verified_held:\n    - "final-loss"\n  verified_failed:\n    - "final-msd"\n'
        '  not_verified:\n    - "slow"\n'
    ) in text


def test_the_manifest_of_a_bag() -> None:
    """Sorted by bytes; what RFC 8493 wants encoded is, and nothing else."""
    digests = {"data/b": "02", "data/B": "01", "data/100%": "03", "data/\u00e9 x": "04"}
    assert manifest_bytes(digests) == (
        "03  data/100%25\n01  data/B\n02  data/b\n04  data/\u00e9 x\n".encode()
    )


def test_what_a_bag_says_of_itself() -> None:
    """The author's date, and none where there is none; no description made of the title."""
    text = info_bytes(metadata(), DIGEST, SOURCE, (123, 4)).decode()
    assert text == (
        "Contact-Name: Ada\nContact-Email: ada@example.org\n"
        "External-Description: Levels <b>& more</b>\nBagging-Date: 2026-11-29\n"
        f"Internal-Sender-Identifier: lake 1.0\nBag-Software-Agent: repropack {__version__}\n"
        f"External-Identifier: https://doi.org/10.1000/1\nExternal-Identifier: {DIGEST}\n"
        f"External-Identifier: {SOURCE}\nPayload-Oxum: 123.4\n"
    )
    bare = metadata(contact=None, date=None, description=None, doi=None)
    assert info_bytes(bare, DIGEST, None, (0, 1)).decode() == (
        f"Internal-Sender-Identifier: lake 1.0\nBag-Software-Agent: repropack {__version__}\n"
        f"External-Identifier: {DIGEST}\nPayload-Oxum: 0.1\n"
    )


def test_a_list_of_identifiers() -> None:
    """Each with what it names."""
    content = SOURCE.replace("2", "3")
    assert identifiers_bytes(SOURCE, content).decode() == f"{SOURCE}  source/\n{content}  ./\n"
