"""People, organizations, licence, article and funding of a package as entities of its crate."""

from __future__ import annotations

import re
from collections.abc import Sequence

from repropack._export.graph import Entity, Graph, encoded, refer
from repropack.models.authored import Article, Author, AuthoredMetadata, Contact, Funding

_IDENTIFIER = re.compile(r"(?!LicenseRef-)[A-Za-z0-9][A-Za-z0-9.-]*\+?")
SPDX = "https://spdx.org/licenses/"
ROOT = "./"


def is_identifier(license_expression: str) -> bool:
    """Tell by its form whether a licence is one identifier of SPDX.

    Args:
        license_expression: An SPDX expression.

    Returns:
        Whether it is no expression of several parts and no name of one's own.

    Example:
        >>> is_identifier("CC-BY-4.0"), is_identifier("MIT OR ISC"), is_identifier("LicenseRef-x")
        (True, False, False)
    """
    return _IDENTIFIER.fullmatch(license_expression) is not None


def is_person(author: Author) -> bool:
    """Whether the author is known to be a person: it is said, or follows from parts or an iD."""
    if author.kind is not None:
        return author.kind == "person"
    return bool(author.given_names or author.family_names or author.orcid)


def add_people(graph: Graph, metadata: AuthoredMetadata, *, commit: str | None) -> Entity:
    """Add who and what stands around a package.

    Args:
        graph: The crate's graph, which has no root yet.
        metadata: What the author says.
        commit: The commit of the repository that the files are of, if it is known.

    Returns:
        Members of the root that refer to what was added.
    """
    authors = add_authors(graph, metadata.authors, "#author")
    members: Entity = {
        "author": refer(authors),
        "license": refer([_license(graph, metadata.license)]),
        "publisher": None,
        "isBasedOn": None,
        "citation": None,
    }
    if metadata.publisher is not None:
        one = metadata.publisher
        members["publisher"] = refer([_organization(graph, one.name, one.ror or one.url, one.url)])
    if metadata.repository is not None:
        told = {"description": "Where the code is developed", "version": commit}
        graph.add(metadata.repository, "CreativeWork", name=metadata.repository, **told)
        members["isBasedOn"] = refer([metadata.repository])
    if metadata.article is not None:
        members["citation"] = refer([_article(graph, metadata.article)])
    if metadata.contact is not None:
        members |= _contact(graph, metadata, metadata.contact, authors)
    return {**members, **_funding(graph, metadata.funding)}


def add_authors(graph: Graph, authors: Sequence[Author], prefix: str) -> list[str]:
    """Add authors, each under his ORCID iD or else under a number.

    Args:
        graph: The crate's graph.
        authors: In order.
        prefix: What ids of authors without an iD begin with.

    Returns:
        Their ids, in order.
    """
    return [
        _author(graph, author, f"{prefix}/{place}") for place, author in enumerate(authors, start=1)
    ]


def _author(graph: Graph, author: Author, numbered: str) -> str:
    affiliation = None
    if author.affiliation is not None:
        affiliation = refer([_organization(graph, author.affiliation, author.affiliation_ror)])
    unsaid = "Organization" if author.kind == "organization" else "Thing"
    return graph.add(
        f"https://orcid.org/{author.orcid}" if author.orcid is not None else numbered,
        "Person" if is_person(author) else unsaid,
        name=author.name,
        givenName=author.given_names,
        familyName=author.family_names,
        affiliation=affiliation,
    )


def _organization(
    graph: Graph, name: str, entity_id: str | None = None, url: str | None = None
) -> str:
    made = entity_id or f"#organization/{encoded(name)}"
    return graph.add(made, "Organization", name=name, url=url)


def _license(graph: Graph, expression: str) -> str:
    """An identifier is SPDX's page of it; an expression stands for itself."""
    if is_identifier(expression):
        told = f"The licence with the SPDX identifier {expression}"
        return graph.add(f"{SPDX}{expression}", "CreativeWork", name=expression, description=told)
    told = f"The SPDX expression {expression}; LICENSE holds the text or the expression"
    return graph.add("#license", "CreativeWork", name=expression, description=told)


def _article(graph: Graph, article: Article) -> str:
    address = f"https://doi.org/{article.doi}" if article.doi is not None else article.url
    return graph.add(
        address or "#article",
        "ScholarlyArticle",
        name=article.title,
        author=refer(add_authors(graph, article.authors, "#article-author")),
    )


def _contact(
    graph: Graph, metadata: AuthoredMetadata, contact: Contact, authors: Sequence[str]
) -> Entity:
    """A contact stands at the author or publisher of its name, or else at the root."""
    graph.add("#contact", "ContactPoint", name=contact.name, email=contact.email, url=contact.url)
    reference = refer(["#contact"])
    for author, entity_id in zip(metadata.authors, authors, strict=True):
        if author.name == contact.name:
            graph.extend(entity_id, contactPoint=reference)
            return {}
    publisher = metadata.publisher
    if publisher is not None and publisher.name == contact.name:
        graph.extend(
            _organization(graph, publisher.name, publisher.ror or publisher.url),
            contactPoint=reference,
        )
        return {}
    return {"contactPoint": reference}


def _funding(graph: Graph, funding: Sequence[Funding]) -> Entity:
    funders, grants = [], []
    for place, row in enumerate(funding, start=1):
        funders.append(_organization(graph, row.funder))
        if row.award is not None or row.url is not None:
            grants.append(
                graph.add(
                    row.url or f"#grant/{place}",
                    "Grant",
                    name=row.award or row.url,
                    identifier=row.award,
                    funder=refer(funders[-1:]),
                )
            )
    return {"funder": refer(funders), "funding": refer(grants)}
