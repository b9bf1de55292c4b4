"""What an author says of a package and of its people: the one source of all its metadata.

README, citation, crate and exports are made of this and of what was recorded. Nothing in it is
ever guessed: a name is not taken apart, a date is not read from a clock.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repropack.models.base import Digest, Model, RunName

LINE_PATTERN = "^[^\\x00-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]+$"
Line = Annotated[str, StringConstraints(pattern=LINE_PATTERN, min_length=1, max_length=500)]
"""One line of text without control, format or bidirectional characters."""
VersionText = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]*$", min_length=1, max_length=64)
]
Orcid = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$", max_length=19),
]
"""An ORCID iD; its last character is a check digit (``_format.orcid``)."""
Ror = Annotated[
    str, StringConstraints(pattern=r"^https://ror\.org/0[a-z0-9]{6}[0-9]{2}$", max_length=25)
]
"""Identifier of an organization in the registry ROR."""
Doi = Annotated[
    str,
    StringConstraints(
        pattern=r"^10\.[0-9]{4,9}(\.[0-9]+)?/[A-Za-z0-9:/_;.()-]+$", min_length=9, max_length=200
    ),
]
"""A DOI without an address before it, in the characters that CITATION.cff 1.2.0 takes."""
Url = Annotated[
    str,
    StringConstraints(
        pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*)?$",
        min_length=10,
        max_length=500,
    ),
]
"""An address of the web."""
Email = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$",
        min_length=6,
        max_length=200,
    ),
]
MAX_LISTED = 500
"""Most keywords, and most rows of funding."""


class Author(Model):
    """One author, as the write-up should cite them.

    ``name`` is the name as it is cited; ``given_names`` and ``family_names`` are its parts, where
    they are given. ``kind`` says what an author without parts is.
    """

    name: Line
    given_names: Line | None = None
    family_names: Line | None = None
    kind: Literal["person", "organization"] | None = None
    affiliation: Line | None = None
    affiliation_ror: Ror | None = None
    orcid: Orcid | None = None


class Contact(Model):
    """Whom to ask about the package."""

    name: Line
    email: Email | None = None
    url: Url | None = None


class Organization(Model):
    """Who publishes the package."""

    name: Line
    url: Url | None = None
    ror: Ror | None = None


class Article(Model):
    """The article that the package supplements."""

    title: Line
    doi: Doi | None = None
    url: Url | None = None
    authors: tuple[Author, ...] = ()


class Funding(Model):
    """Who paid for it: a funder, and the award as the funder numbers it."""

    funder: Line
    award: Line | None = None
    url: Url | None = None


class AuthoredMetadata(Model):
    """What the author says of the package; ``license`` is an SPDX expression.

    ``supersedes`` is the package digest of the version before; ``repository`` where the code is
    developed; ``doi`` that of the package itself.
    """

    name: RunName
    version: VersionText
    title: Line
    license: Line
    authors: tuple[Author, ...] = Field(min_length=1)
    date: dt.date | None = None
    description: Line | None = None
    supersedes: Digest | None = None
    type: Literal["software", "dataset"] | None = None
    keywords: Annotated[tuple[Line, ...], Field(max_length=MAX_LISTED)] = ()
    contact: Contact | None = None
    publisher: Organization | None = None
    repository: Url | None = None
    doi: Doi | None = None
    article: Article | None = None
    funding: Annotated[tuple[Funding, ...], Field(max_length=MAX_LISTED)] = ()
