"""T10: crates and citations that tell an archive something else than the package holds."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import BOTH, INTEGRITY, Case, Write, lie, rows, told
from tests.hostile.corpus.manifests import author
from tests.support.hostile import Forgery

CRATE, CITATION = "ro-crate-metadata.json", "CITATION.cff"


def crate(change: Callable[[list[Any]], object]) -> Write:
    """Change the entities of the crate; it is canonical again."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.described = False
        forgery.edit(CRATE, lambda document: change(document["@graph"]))

    return told(tell)


def entity(name: str, **members: Any) -> Write:
    """Other members of one entity."""
    return crate(lambda graph: one(graph, name).update(members))


def one(graph: list[Any], name: str) -> Any:
    return next(row for row in graph if row["@id"] == name)


def spelled(path: str, change: Callable[[bytes], bytes]) -> Write:
    """Change the bytes of a description."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.described = False
        before = forgery.files[path]
        forgery.files[path] = change(before)
        assert forgery.files[path] != before, "the lie was not told"

    return told(tell)


def stale(change: Callable[[Forgery], object]) -> Write:
    """Change something else, and leave the descriptions as they were."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.described = False
        change(forgery)

    return told(tell)


def without(path: str) -> Write:
    """Leave a description out, the others right."""
    return stale(lambda forgery: forgery.files.pop(path))


def part_more(graph: list[Any]) -> None:
    """A file that is not in the package."""
    graph.append({"@id": "source/virus.py", "@type": "File", "name": "source/virus.py"})
    one(graph, "./")["hasPart"].append({"@id": "source/virus.py"})


def pretty(data: bytes) -> bytes:
    return json.dumps(json.loads(data), indent=1, sort_keys=True).encode() + b"\n"


CRATES = rows(
    "T10",
    "crate",
    lie("digest", "The crate gives a file another digest.", entity("plan.json", sha256="0" * 64), INTEGRITY, "plan.json", forms=BOTH),
    lie("size", "The crate gives a file another size.", entity("plan.json", contentSize="1"), INTEGRITY, "plan.json"),
    lie("author", "The crate names another author.", crate(lambda g: next(r for r in g if r["@id"].startswith("#author")).update(name="M. Allory")), INTEGRITY, "author"),
    lie("license", "The crate names another licence.", entity("./", license={"@id": "https://spdx.org/licenses/MIT"}), INTEGRITY, "license"),
    lie("date", "The crate has another date.", entity("./", datePublished="1999-01-01"), INTEGRITY, "datePublished"),
    lie("file-more", "The crate describes a file that is not there.", crate(part_more), INTEGRITY, "entity"),
    lie("file-less", "The crate is silent about a file.", crate(lambda g: g.remove(one(g, "plan.json"))), INTEGRITY, "plan.json"),
    lie("run-identical", "The crate calls a run identical that differs.", crate(lambda g: next(r for r in g if "Differs" in r.get("description", "")).update(description="Identical")), INTEGRITY, "description"),
    lie("time", "The crate has a time at which a run ended.", entity("#run/reference", endTime="2026-11-30T00:00:00Z"), INTEGRITY, "endTime"),
    lie("spelling", "The crate is indented.", spelled(CRATE, pretty), INTEGRITY, "canonical JSON"),
    lie("no-json", "The crate is no JSON.", spelled(CRATE, lambda d: b"hello\n"), INTEGRITY, "entity"),
    lie("depth", "The crate nests deeper than a parser goes.", spelled(CRATE, lambda d: b"[" * 100_000), INTEGRITY, "entity"),
    lie("list", "The crate is a list.", spelled(CRATE, lambda d: b"[]\n"), INTEGRITY, "entity"),
    lie("escape", "The crate names an entity that clears the screen.", crate(lambda g: g.append({"@id": "\x1b[2J", "@type": "File"})), INTEGRITY, "entity"),
    lie("none", "There is no crate.", without(CRATE), INTEGRITY, "missing"),
    lie("stale", "The licence is another, and the crate as it was before.", stale(lambda f: f.files.update({"LICENSE": b"all rights reserved\n"})), INTEGRITY, "LICENSE"),
)  # fmt: skip

CITATIONS = rows(
    "T10",
    "citation",
    lie("author", "The citation names another author.", spelled(CITATION, lambda d: d.replace(b"authors:\n  - name: ", b"authors:\n  - name: \"M. Allory\"\n  - name: ")), INTEGRITY, "line", forms=BOTH, faults=2),
    lie("source", "The citation identifies another source.", spelled(CITATION, lambda d: d.replace(b"swh:1:dir:", b"swh:1:dir:0")[:-1] + b"\n"), INTEGRITY, "swh", faults=2),
    lie("line", "The citation has a line more.", spelled(CITATION, lambda d: d + b"x: y\n"), INTEGRITY, "line", faults=2),
    lie("empty", "The citation is empty.", spelled(CITATION, lambda d: b""), INTEGRITY, "line 1", faults=2),
    lie("binary", "The citation is no text.", spelled(CITATION, lambda d: b"\xff\x1b[2J" + d), INTEGRITY, "line 1", faults=2),
    lie("none", "There is no citation.", without(CITATION), INTEGRITY, "missing"),
)  # fmt: skip

ORCIDS = rows(
    "T10",
    "orcid",
    lie("check-digit", "An ORCID iD of nobody: its check digit is wrong.", author(orcid="0000-0002-1825-0098"), INTEGRITY, "0000-0002-1825-0098"),
    lie("honest", "An ORCID iD that can be.", author(orcid="0000-0002-1825-0097"), None, ""),
)  # fmt: skip

CASES: tuple[Case, ...] = (*CRATES, *CITATIONS, *ORCIDS)
