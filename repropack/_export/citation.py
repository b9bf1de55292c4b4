"""``CITATION.cff``: how to cite the package, in the Citation File Format 1.2.0.

It follows from the manifest and the identifier of the source, as chapter 12 of docs/format.md
says. What the author does not say is left out.

Source: https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema-guide.md
"""

from __future__ import annotations

from collections.abc import Sequence

from repropack._export.cff_licenses import CFF_LICENSES
from repropack._export.people import is_person
from repropack._export.yaml_text import Yaml, yaml_text
from repropack.models.authored import Article, Author, Contact
from repropack.models.manifest import PackageMetadata

_MESSAGE = "To cite this reproducibility package, use what follows."
_SOURCE = "The source of the experiment"
_EVIDENCE = "The evidence digest: plan, source, inputs and runs"
_Row = dict[str, Yaml]


def citation_bytes(
    metadata: PackageMetadata, evidence_digest: str, source_swhid: str | None
) -> bytes:
    """Write the citation of a package.

    Args:
        metadata: What the author says of the package.
        evidence_digest: Digest of the manifest's rows of plan, source, inputs and runs.
        source_swhid: Software Heritage identifier of ``source/``; ``None`` where it is empty.

    Returns:
        YAML in UTF-8, every text quoted.

    Determinism:
        The bytes depend on the arguments alone.
    """
    date, origin = metadata.date, metadata.origin
    told: dict[str, Yaml | None] = {
        "cff-version": "1.2.0",
        "message": _MESSAGE,
        "type": metadata.type,
        "title": metadata.title,
        "version": metadata.version,
        "date-released": date.isoformat() if date is not None else None,
        "authors": _people(metadata.authors),
        "contact": [_contact(metadata.contact)] if metadata.contact is not None else None,
        "abstract": metadata.description,
        "keywords": list(dict.fromkeys(metadata.keywords)),
        "license": cff_license(metadata.license),
        "doi": metadata.doi,
        "repository-code": metadata.repository,
        "commit": origin.commit if origin is not None and origin.clean else None,
        "identifiers": _identifiers(evidence_digest, source_swhid),
        "references": _references(metadata.article),
    }
    return yaml_text({key: value for key, value in told.items() if value}).encode("utf-8")


def cff_license(expression: str) -> Yaml | None:
    """A licence as the format has it: an identifier that it knows, or a choice among such.

    Args:
        expression: An SPDX expression.

    Returns:
        The identifier; a list where identifiers are joined by ``OR``; ``None`` for what the
        format cannot say, such as ``AND``, ``WITH`` and identifiers that it does not know.

    Example:
        >>> cff_license("MIT"), cff_license("MIT OR ISC"), cff_license("MIT AND ISC")
        ('MIT', ['MIT', 'ISC'], None)
    """
    choice = list(dict.fromkeys(expression.split(" OR ")))
    if not CFF_LICENSES.issuperset(choice):
        return None
    return choice if len(choice) > 1 else choice[0]


def _people(authors: Sequence[Author]) -> list[Yaml]:
    """Each author once: the format refuses a list that names one twice."""
    rows: list[Yaml] = []
    for author in authors:
        row = _author(author)
        if row not in rows:
            rows.append(row)
    return rows


def _author(author: Author) -> _Row:
    """A person with the parts of the name, or else an entity, whose name stays as it is."""
    orcid = f"https://orcid.org/{author.orcid}" if author.orcid is not None else None
    if is_person(author) and (author.given_names or author.family_names):
        return _row(
            ("family-names", author.family_names),
            ("given-names", author.given_names),
            ("affiliation", author.affiliation),
            ("orcid", orcid),
        )
    return _row(("name", author.name), ("orcid", orcid))


def _contact(contact: Contact) -> _Row:
    return _row(("name", contact.name), ("email", contact.email), ("website", contact.url))


def _identifiers(evidence_digest: str, source_swhid: str | None) -> list[Yaml]:
    evidence = _row(("description", _EVIDENCE), ("type", "other"), ("value", evidence_digest))
    if source_swhid is None:
        return [evidence]
    return [_row(("description", _SOURCE), ("type", "swh"), ("value", source_swhid)), evidence]


def _references(article: Article | None) -> list[Yaml]:
    """The article, where its authors are known: the format has no reference without authors."""
    if article is None or not article.authors:
        return []
    row = _row(("type", "article"), ("title", article.title), ("doi", article.doi))
    return [{**row, **_row(("url", article.url)), "authors": _people(article.authors)}]


def _row(*members: tuple[str, str | None]) -> _Row:
    return {key: value for key, value in members if value is not None}
