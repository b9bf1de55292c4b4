"""Judges a crate, a citation, a bag or a tree by the public validator for it, without a network.

Run by the interpreter of the judges' own environment (``tools/judges.txt``), never imported: what
it needs is not installed beside repropack. It prints one JSON document.

    python judge.py crate FOLDER PROFILE...     what is required and not there, by profile
    python judge.py citation FILE...            what cffconvert says of each, or nothing
    python judge.py licenses                    the licences that CITATION.cff 1.2.0 knows
    python judge.py bag FOLDER                  what bagit says, or nothing
    python judge.py tree FOLDER                 the identifier that swh.model computes

The validator of crates fetches the JSON-LD contexts that a crate names. It is handed one of ours
instead, with the terms that our crates use. A crate with another term is refused, then: the term
has to be looked up in the published contexts first, and is added here where it is one of theirs.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

SCHEMA_ORG = """
    CreativeWork Dataset SoftwareSourceCode SoftwareApplication ComputerLanguage Person Organization
    Thing ContactPoint ScholarlyArticle Grant CreateAction PropertyValue name description
    datePublished version identifier keywords license author publisher contactPoint isBasedOn
    citation funder funding hasPart mentions about givenName familyName affiliation url email
    encodingFormat contentSize programmingLanguage alternateName
    softwareRequirements instrument agent object result actionStatus value
"""
CONTEXT = {
    "@context": {
        **{term: f"http://schema.org/{term}" for term in SCHEMA_ORG.split()},
        "File": "http://schema.org/MediaObject",
        "conformsTo": "http://purl.org/dc/terms/conformsTo",
        "Profile": "http://www.w3.org/ns/dx/prof/Profile",
        "sha256": "https://w3id.org/ro/terms/workflow-run#sha256",
    }
}
WORKFLOW_TERMS = {"@context": {"environment": "https://w3id.org/ro/terms/workflow-run#environment"}}
KNOWN = {
    "https://w3id.org/ro/crate/1.2/context": CONTEXT,
    "https://w3id.org/ro/terms/workflow-run/context": WORKFLOW_TERMS,
}


class Offline:
    """An answer to a request for a context; any other address is not there."""

    def __init__(self, url: str) -> None:
        self.status_code = 200 if url in KNOWN else 404
        self.headers = {"Content-Type": "application/ld+json"}
        self.url, self._document = url, KNOWN.get(url, {})

    def json(self) -> Any:
        return self._document

    @property
    def text(self) -> str:
        return json.dumps(self._document)


def answer(_requester: object, url: str, **_options: object) -> Offline:
    """What takes the place of the network."""
    return Offline(url)


def judge_crate(folder: str, *profiles: str) -> dict[str, list[list[str]]]:
    """What rocrate-validator requires and does not find: check and message."""
    from rocrate_validator import services  # type: ignore[import-not-found]
    from rocrate_validator.utils.http import HttpRequester  # type: ignore[import-not-found]

    HttpRequester.get = HttpRequester.head = answer
    found: dict[str, list[list[str]]] = {}
    for profile in profiles:
        settings = services.ValidationSettings(
            rocrate_uri=folder,
            profile_identifier=profile,
            requirement_severity="REQUIRED",
            offline=True,
        )
        result = services.validate(settings)
        found[profile] = sorted(
            [issue.check.identifier, str(issue.message)] for issue in result.get_issues()
        )
    return found


def judge_citation(*files: str) -> list[str]:
    """What cffconvert says against each citation; empty where it is valid."""
    from cffconvert import Citation  # type: ignore[import-not-found]

    said = []
    for file in files:
        try:
            Citation(Path(file).read_text("utf-8"), src=file).validate()
        except Exception as error:  # noqa: BLE001 - jsonschema's, of a version that is not ours
            said.append(str(error)[:2000])
        else:
            said.append("")
    return said


def judge_licenses() -> list[str]:
    """The licences of the schema that cffconvert brings."""
    import cffconvert

    schema = Path(cffconvert.__file__).parent / "schemas" / "1.2.0" / "schema.json"
    known = json.loads(schema.read_text("utf-8"))["definitions"]["license-enum"]["enum"]
    return sorted(known)


def judge_bag(folder: str) -> str:
    """What bagit says against a bag; empty where it is complete and valid."""
    import bagit  # type: ignore[import-not-found]

    try:
        bagit.Bag(folder).validate()
    except bagit.BagError as error:
        return str(error)[:2000]
    return ""


def judge_tree(folder: str) -> str:
    """The identifier of a folder, as Software Heritage's own program computes it."""
    from swh.model.from_disk import Directory  # type: ignore[import-not-found]

    return str(Directory.from_disk(path=folder.encode(), max_content_length=None).swhid())


if __name__ == "__main__":
    judges: dict[str, Any] = {
        "crate": judge_crate,
        "citation": judge_citation,
        "licenses": judge_licenses,
        "bag": judge_bag,
        "tree": judge_tree,
    }
    with contextlib.redirect_stdout(io.StringIO()):
        verdict = judges[sys.argv[1]](*sys.argv[2:])
    json.dump(verdict, sys.stdout)
