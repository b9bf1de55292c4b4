"""The entries of a package as entities of its crate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from repropack._export.graph import Graph, encoded, refer
from repropack._format.layout import CRATE, MANIFEST, media_type_of
from repropack.models.manifest import Entry, Role

DESCRIPTIONS: Mapping[Role, str] = MappingProxyType(
    {
        "readme": "What the package is and how to check it",
        "license": "The licence",
        "plan": "The plan: experiment, configuration, seed, recording, comparisons",
        "environment": "The environment that the experiment ran in",
        "source": "Source of the experiment",
        "input": "An input of the experiment",
        "log": "A fingerprint log: a record of every step of a run",
        "checkpoint": "A stored state of a run",
        "kept": "Arrays of the stages that were kept whole",
        "output": "A file that a run wrote",
        "derived": "A file made of the finished runs",
        "results": "What the comparisons found",
        "schema": "The JSON Schema of a document",
        "figure": "A figure of what the comparisons found",
        "notebook": "The experiment told as a notebook",
        "report": "A page that shows what was found",
        "checker": "A program that checks the package",
        "lock": "The distributions to install, with their digests",
        "crate": "The description of this crate",
        "citation": "How to cite the package",
        "scope": "The environments that the claims are made for",
        "claims": "The claims",
        "wheel": "A distribution to install",
    }
)
"""What an entry is, by its role."""
_MANIFEST_DESCRIPTION = "The manifest: every other file with its size and SHA-256 digest"
PYTHON = "#python"


def file_id(entry: Entry) -> str:
    """The id of an entry: its path, percent-encoded; of one that is held elsewhere behind a mark.

    Args:
        entry: A row of the manifest.

    Returns:
        Such as ``source/train.py`` or ``#held/inputs/table.csv``.
    """
    return encoded(entry.path) if entry.included else f"#held/{encoded(entry.path)}"


def add_files(graph: Graph, entries: Iterable[Entry]) -> list[str]:
    """Add the manifest and all entries but the crate itself.

    Args:
        graph: The crate's graph.
        entries: Rows of the manifest.

    Returns:
        Ids of the files that lie in the package, sorted.
    """
    graph.add(
        MANIFEST,
        "File",
        name=MANIFEST,
        description=_MANIFEST_DESCRIPTION,
        encodingFormat=media_type_of(MANIFEST),
    )
    parts = [MANIFEST]
    for entry in entries:
        if entry.path == CRATE:
            continue
        entity_id = _file(graph, entry)
        if entry.included:
            parts.append(entity_id)
    return sorted(parts)


def _file(graph: Graph, entry: Entry) -> str:
    code = entry.role == "source" and entry.media_type == "text/x-python"
    description = DESCRIPTIONS[entry.role]
    kind: str | list[str] = ["File", "SoftwareSourceCode"] if code else "File"
    if not entry.included:
        kind, description = "CreativeWork", f"{description}, held elsewhere: {entry.location}"
    return graph.add(
        file_id(entry),
        kind,
        name=entry.path,
        description=description,
        encodingFormat=entry.media_type,
        contentSize=str(entry.size),
        sha256=entry.digest.removeprefix("sha256:"),
        programmingLanguage=refer([PYTHON]) if code else None,
    )
