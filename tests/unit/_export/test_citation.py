"""Citations, word for word; ``tests/integration/test_judges.py`` has them judged."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from repropack._export.citation import cff_license, citation_bytes
from repropack._export.yaml_text import yaml_text
from repropack.models.authored import Article, Author, Contact
from repropack.models.manifest import Origin, PackageMetadata

EVIDENCE, SOURCE = f"sha256:{'1' * 64}", f"swh:1:dir:{'2' * 40}"
ADA = Author(
    name="Ada Lovelace",
    given_names="Ada",
    family_names="Lovelace",
    orcid="0000-0002-1825-0097",
    affiliation="An institute",
)


def metadata(**members: Any) -> PackageMetadata:
    plain: dict[str, Any] = {
        "name": "lake",
        "version": "1.0",
        "title": "A lake",
        "license": "MIT",
        "authors": (Author(name="A. Author"),),
    }
    return PackageMetadata(**(plain | members))


PLAIN = f"""\
cff-version: "1.2.0"
message: "To cite this reproducibility package, use what follows."
title: "A lake"
version: "1.0"
authors:
  - name: "A. Author"
license: "MIT"
identifiers:
  - description: "The evidence digest: plan, source, inputs and runs"
    type: "other"
    value: "{EVIDENCE}"
"""

WHOLE = f"""\
cff-version: "1.2.0"
message: "To cite this reproducibility package, use what follows."
type: "dataset"
title: "A lake"
version: "1.0"
date-released: "2026-11-29"
authors:
  - family-names: "Lovelace"
    given-names: "Ada"
    affiliation: "An institute"
    orcid: "https://orcid.org/0000-0002-1825-0097"
  - name: "The group"
contact:
  - name: "Ada Lovelace"
    email: "ada@example.org"
abstract: "Levels: \\"deep\\" \\\\ \u00e9."
keywords:
  - "lake"
license:
  - "MIT"
  - "ISC"
doi: "10.5281/zenodo.1234"
repository-code: "https://example.org/lake"
commit: "{"a" * 40}"
identifiers:
  - description: "The source of the experiment"
    type: "swh"
    value: "{SOURCE}"
  - description: "The evidence digest: plan, source, inputs and runs"
    type: "other"
    value: "{EVIDENCE}"
references:
  - type: "article"
    title: "Lakes"
    doi: "10.1000/182"
    authors:
      - name: "B. Author"
"""


def test_what_the_author_does_not_say_is_left_out() -> None:
    """No date, no description, no type is made up."""
    assert citation_bytes(metadata(), EVIDENCE, None).decode() == PLAIN


def test_a_citation_with_everything() -> None:
    """All that the format has a place for."""
    told = metadata(
        type="dataset",
        date=dt.date(2026, 11, 29),
        authors=(ADA, Author(name="The group", kind="organization"), ADA),
        contact=Contact(name="Ada Lovelace", email="ada@example.org"),
        description='Levels: "deep" \\ \u00e9.',
        keywords=("lake", "lake"),
        license="MIT OR ISC",
        doi="10.5281/zenodo.1234",
        repository="https://example.org/lake",
        origin=Origin(commit="a" * 40, clean=True),
        article=Article(title="Lakes", doi="10.1000/182", authors=(Author(name="B. Author"),)),
    )
    assert citation_bytes(told, EVIDENCE, SOURCE).decode() == WHOLE


def test_a_commit_is_named_where_nothing_was_changed() -> None:
    """Else the package is not what that commit holds."""
    changed = metadata(origin=Origin(commit="a" * 40, clean=False))
    assert citation_bytes(changed, EVIDENCE, None).decode() == PLAIN


@pytest.mark.parametrize(
    "author",
    [
        Author(name="Ada Lovelace"),
        Author(name="Ada Lovelace", kind="person"),
        Author(name="Ada Lovelace", orcid="0000-0002-1825-0097"),
        Author(name="Ada Lovelace", given_names="Ada", kind="organization"),
    ],
)
def test_a_name_is_never_taken_apart(author: Author) -> None:
    """Without parts, or of an organization, it stands whole."""
    text = citation_bytes(metadata(authors=(author,)), EVIDENCE, None).decode()
    assert '  - name: "Ada Lovelace"\n' in text
    assert "given-names" not in text


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("MIT", "MIT"),
        ("MIT OR ISC OR MIT", ["MIT", "ISC"]),
        ("MIT AND ISC", None),
        ("(MIT OR ISC) AND MIT", None),
        ("GPL-2.0-only WITH Classpath-exception-2.0", None),
        ("LicenseRef-mine", None),
        ("mit", None),
    ],
)
def test_licences_that_the_format_knows(expression: str, said: object) -> None:
    """An identifier, a choice of several, or nothing."""
    assert cff_license(expression) == said


def test_texts_stay_texts() -> None:
    """What looks like a date, a number, a list or nothing is quoted, and so is what YAML lacks."""
    texts = {"a": "2026-11-30", "b": "1.0", "c": "- x", "d": "null", "e": "\ufffe\x7f\u2028\n"}
    assert yaml_text(texts) == (
        'a: "2026-11-30"\nb: "1.0"\nc: "- x"\nd: "null"\ne: "\\ufffe\\u007f\\u2028\\n"\n'
    )
