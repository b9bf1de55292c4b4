"""``[package]``: what archives ask for, read as it is written and never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._read.project import load_project
from repropack.errors import ProjectError
from repropack.models.authored import Article, Author, Contact, Funding, Organization
from repropack.models.manifest import PackageMetadata
from tests.support.described import PROJECT, write_described

ADA = 'name = "Ada Lovelace"\ngiven-names = "Ada"\nfamily-names = "Lovelace"\n'


def fault(folder: Path, old: str, new: str) -> tuple[str, str]:
    """The one fault of the project with one place changed."""
    assert old in PROJECT
    write_described(folder)
    (folder / "repropack.toml").write_text(PROJECT.replace(old, new, 1), "utf-8")
    with pytest.raises(ProjectError) as caught:
        load_project(folder)
    (issue,) = caught.value.issues
    return issue


def test_everything_reaches_the_manifest(tmp_path: Path) -> None:
    """In the words of the document, not of the file."""
    metadata = load_project(write_described(tmp_path)).metadata()
    orcid = "0000-0002-1825-0097"
    ada = Author(
        name="Ada Lovelace", given_names="Ada", family_names="Lovelace", orcid=orcid,
        affiliation="An institute", affiliation_ror="https://ror.org/05dxps055",
    )  # fmt: skip
    group = Author(name="The group", kind="organization")
    assert type(metadata) is PackageMetadata
    assert metadata.authors == (ada, Author(name="Somebody"), group)
    assert [type(author) for author in metadata.authors] == [Author] * 3
    assert metadata.article == Article(
        title="Lakes", doi="10.1000/182", authors=(Author(name="Ada Lovelace", orcid=orcid),)
    )
    assert metadata.contact == Contact(name="Ada Lovelace", email="ada@example.org")
    assert metadata.publisher == Organization(name="An archive", url="https://archive.example.org/")
    assert metadata.funding == (Funding(funder="A fund", award="F-1"),)
    assert (metadata.type, metadata.keywords) == ("dataset", ("lake", "level: daily"))
    assert (metadata.doi, metadata.repository) == (
        "10.5281/zenodo.1234", "https://example.org/lake",
    )  # fmt: skip
    again = PackageMetadata.model_validate_json(metadata.model_dump_json())
    assert again == metadata


@pytest.mark.parametrize(
    ("old", "new", "key", "problem"),
    [
        (
            'orcid = "0000-0002-1825-0097"\naff',
            'orcid = "0000-0002-1825-0098"\naff',
            "package.authors[0].orcid",
            "expected the check digit '7', observed '0000-0002-1825-0098'",
        ),
        (
            'name = "Ada Lovelace", orcid = "0000-0002-1825-0097"',
            'name = "Ada Lovelace", orcid = "0000-0002-1825-009X"',
            "package.article.authors[0].orcid",
            "expected the check digit '7', observed '0000-0002-1825-009X'",
        ),
        (
            'name = "Somebody"',
            'name = "Somebody"\norcid = "0000-0002-1825-0097"',
            "package.authors[1].orcid",
            "expected an iD of its own, observed '0000-0002-1825-0097' twice",
        ),
        (
            'kind = "organization"',
            'kind = "organization"\ngiven-names = "The"',
            "package.authors[2].given-names",
            "expected none beside kind = 'organization', observed one",
        ),
        (
            'kind = "organization"',
            'kind = "group"',
            "package.authors[2].kind",
            "expected 'person' or 'organization', observed 'group'",
        ),
        (
            'type = "dataset"',
            'type = "paper"',
            "package.type",
            "expected 'software' or 'dataset', observed 'paper'",
        ),
        (
            '["lake", "level: daily"]',
            '["lake", "lake"]',
            "package.keywords",
            "expected each name once, observed 'lake' twice",
        ),
        (
            'doi = "10.5281/zenodo.1234"',
            'doi = "https://doi.org/10.5281/zenodo.1234"',
            "package.doi",
            (
                "expected a DOI such as 10.5281/zenodo.1234, without an address before it, "
                "observed 'https://doi.org/10.5281/zenodo.1234'"
            ),
        ),
        (
            "https://example.org/lake",
            "git@example.org:lake",
            "package.repository",
            (
                "expected an address that begins with https:// or http://, observed "
                "'git@example.org:lake'"
            ),
        ),
        (
            "ada@example.org",
            "ada at example.org",
            "package.contact.email",
            "expected an address of mail, observed 'ada at example.org'",
        ),
        (
            "https://ror.org/05dxps055",
            "https://ror.org/harvard",
            "package.authors[0].affiliation-ror",
            (
                "expected an identifier of ROR such as https://ror.org/05dxps055, observed "
                "'https://ror.org/harvard'"
            ),
        ),
        (
            'given-names = "Ada"',
            'given_names = "Ada"',
            "package.authors[0].given_names",
            "unknown key; did you mean 'given-names'?",
        ),
        (
            'funder = "A fund"',
            'founder = "A fund", funder = "A fund"',
            "package.funding[0].founder",
            "unknown key; did you mean 'funder'?",
        ),
        (
            'name = "Ada Lovelace"',
            'name = "Ada\\u202eecalevoL"',
            "package.contact.name",
            (
                "expected one line without control, format or bidirectional characters, observed "
                "'Ada\\u202eecalevoL'"
            ),
        ),
        (
            'title = "Lakes"\n',
            "",
            "package.article.title",
            "expected a value, observed none",
        ),
    ],
)
def test_each_fault_has_its_place(
    tmp_path: Path, old: str, new: str, key: str, problem: str
) -> None:
    """What was expected, and what was observed."""
    assert fault(tmp_path, old, new) == (key, problem)
