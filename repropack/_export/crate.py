"""``ro-crate-metadata.json``: the package described as an RO-Crate that is a Process Run Crate.

It follows from manifest, plan, results and environment record alone, word for word as chapter 12
of docs/format.md says, so that a checker can make it again and compare.

Sources: RO-Crate 1.2 (https://w3id.org/ro/crate/1.2), which the descriptor names beside 1.1, the
version that Process Run Crate 0.5 (https://w3id.org/ro/wfrun/process/0.5) is built on.
"""

from __future__ import annotations

from collections.abc import Sequence

from repropack._export.files import add_files
from repropack._export.graph import Graph, bare, refer
from repropack._export.people import ROOT, add_people
from repropack._export.runs import add_experiment, add_runs
from repropack._format.canonical import encode_canonical
from repropack._format.layout import CRATE
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.plan import Plan
from repropack.models.results import Results

_CONTEXT = [
    "https://w3id.org/ro/crate/1.2/context",
    "https://w3id.org/ro/terms/workflow-run/context",
]
_VERSIONS = ("https://w3id.org/ro/crate/1.2", "https://w3id.org/ro/crate/1.1")
_PROFILE = "https://w3id.org/ro/wfrun/process/0.5"


def crate_bytes(
    metadata: PackageMetadata,
    entries: Sequence[Entry],
    plan: Plan,
    results: Results,
    environment: EnvironmentRecord,
) -> bytes:
    """Describe a package as a crate.

    Args:
        metadata: What the author says of the package.
        entries: Rows of the manifest, with or without that of the crate.
        plan: The plan.
        results: What the comparisons found.
        environment: The environment record.

    Returns:
        Canonical JSON. It lists every entry but itself, and the manifest without a digest.

    Determinism:
        The bytes depend on the arguments alone.
    """
    graph = Graph()
    people = add_people(graph, metadata, commit=_commit(metadata))
    members = {**people, "version": metadata.version}
    parts = add_files(graph, entries)
    add_experiment(graph, metadata, plan, environment, entries)
    actions = add_runs(graph, plan, results, environment, entries, members)
    profile = ["CreativeWork", "Profile"]
    graph.add(_PROFILE, profile, name="Process Run Crate", version="0.5")
    graph.add(
        ROOT,
        "Dataset",
        name=metadata.title,
        description=metadata.description,
        datePublished=metadata.date.isoformat() if metadata.date is not None else None,
        identifier=f"https://doi.org/{metadata.doi}" if metadata.doi is not None else None,
        keywords=bare(list(metadata.keywords)),
        conformsTo=refer([_PROFILE]),
        hasPart=refer(parts),
        mentions=refer(actions),
        **members,
    )
    graph.add(CRATE, "CreativeWork", about=refer([ROOT]), conformsTo=refer(_VERSIONS))
    return encode_canonical({"@context": _CONTEXT, "@graph": list(graph.sorted())})


def _commit(metadata: PackageMetadata) -> str | None:
    """The commit, where every packed file is as it is there."""
    return metadata.origin.commit if metadata.origin is not None and metadata.origin.clean else None
