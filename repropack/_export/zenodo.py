"""``.zenodo.json``: the metadata of a deposit at Zenodo, or what they lack.

Source: https://developers.zenodo.org/#representation, as the deposit interface of 2026 has it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from repropack._export.people import is_identifier
from repropack.models.authored import Author
from repropack.models.export import LackingKey
from repropack.models.manifest import PackageMetadata

ZENODO = ".zenodo.json"
_OWN_PREFIX = "10.5281/"
"""Zenodo assigns these itself and refuses one that it has not reserved for the deposit."""

_ALWAYS = frozenset({"access_right", "creators", "title", "version"})
_OPTIONAL = frozenset({
    "upload_type", "publication_date", "description", "license", "keywords", "doi",
    "related_identifiers",
})  # fmt: skip


def zenodo_deposit(metadata: PackageMetadata) -> tuple[dict[str, Any], tuple[LackingKey, ...]]:
    """Write a deposit's metadata.

    Args:
        metadata: What the author says of the package.

    Returns:
        The metadata, and what they lack of the fields that Zenodo requires. ``access_right`` is
        ``open``, which is Zenodo's own default.
    """
    deposit: dict[str, Any] = {
        "access_right": "open",
        "creators": [_creator(author) for author in metadata.authors],
        "title": metadata.title,
        "version": metadata.version,
    }
    optional = {
        "upload_type": metadata.type,
        "publication_date": metadata.date.isoformat() if metadata.date is not None else None,
        "description": html.escape(metadata.description) if metadata.description else None,
        "license": metadata.license if is_identifier(metadata.license) else None,
        "keywords": list(metadata.keywords),
        "doi": _foreign_doi(metadata.doi),
        "related_identifiers": _related(metadata),
    }
    deposit |= {name: value for name, value in optional.items() if value}
    return deposit, tuple(_lacking(metadata, deposit))


def is_deposit(members: Mapping[str, object]) -> bool:
    """Whether the members of a document are those of a deposit's metadata as it is written here.

    Args:
        members: Of the whole document.

    Returns:
        True where all that are always written are there, and no other than are ever written.
    """
    return _ALWAYS <= members.keys() <= _ALWAYS | _OPTIONAL


def _creator(author: Author) -> dict[str, str]:
    """Zenodo wants ``family, given``; a name without parts stays as it is."""
    parts = [part for part in (author.family_names, author.given_names) if part is not None]
    told = {"name": ", ".join(parts) if len(parts) > 1 else author.name}
    if author.affiliation is not None:
        told["affiliation"] = author.affiliation
    if author.orcid is not None:
        told["orcid"] = author.orcid
    return told


def _foreign_doi(doi: str | None) -> str | None:
    return None if doi is None or doi.startswith(_OWN_PREFIX) else doi


def _related(metadata: PackageMetadata) -> list[dict[str, str]]:
    rows, article = [], metadata.article
    if article is not None and (article.doi or article.url):
        rows.append((article.doi or article.url or "", "isSupplementTo"))
    if metadata.repository is not None:
        rows.append((metadata.repository, "isDerivedFrom"))
    return [{"identifier": identifier, "relation": relation} for identifier, relation in rows]


def _lacking(metadata: PackageMetadata, deposit: dict[str, Any]) -> list[LackingKey]:
    required = {
        "upload_type": ("type", "expected software or dataset, observed none"),
        "publication_date": ("date", "expected the author's date, observed none"),
        "description": ("description", "expected a line about it, observed none"),
        "license": (
            "license",
            f"expected one SPDX identifier, all that Zenodo takes, observed {metadata.license!r}",
        ),
    }
    return [
        LackingKey(field=name, key=key, problem=problem)
        for name, (key, problem) in required.items()
        if name not in deposit
    ]
