"""What a crate says where metadata, plan or results are of another shape than the lab's.

Whole crates stand in ``tests/property/test_archive_clauses.py``, word for word.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from repropack._export.crate import crate_bytes
from repropack._export.graph import bare, encoded, refer
from repropack.models.authored import Article, Author, Contact, Funding, Organization
from repropack.models.manifest import Entry, Origin
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan
from repropack.models.results import ComparisonOutcome, Divergence, Results, Split
from tests.support import reports
from tests.support.environments import RECORD

PLAN = Plan(experiment=ExperimentPlan(entry_point="lab:Lab", seed=7, steps=9), record=RecordPlan())
COMMIT = "a" * 40


def crate(
    plan: Plan = PLAN, outcomes: tuple[ComparisonOutcome, ...] = (), **about: Any
) -> dict[str, Any]:
    """Entities by id."""
    results = Results(reference=reports.results().reference, comparisons=outcomes)
    data = crate_bytes(reports.metadata(**about), (), plan, results, RECORD)
    return {row["@id"]: row for row in json.loads(data)["@graph"]}


def author(**members: Any) -> Any:
    graph = crate(authors=(Author(name="Ada Lovelace", **members),))
    return graph[graph["./"]["author"]["@id"]]


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ({}, "Thing"),
        ({"affiliation": "Here"}, "Thing"),
        ({"kind": "person"}, "Person"),
        ({"family_names": "Lovelace"}, "Person"),
        ({"orcid": "0000-0002-1825-0097"}, "Person"),
        ({"kind": "organization"}, "Organization"),
        ({"kind": "organization", "orcid": "0000-0002-1825-0097"}, "Organization"),
    ],
)
def test_nobody_is_taken_for_a_person_by_a_name(members: dict[str, Any], kind: str) -> None:
    """It is said, or follows from parts of the name or an iD."""
    assert author(**members)["@type"] == kind


def test_authors_of_one_affiliation_share_it() -> None:
    """And an author without an iD has the number of his place."""
    first = Author(name="A", affiliation="Here", orcid="0000-0002-1825-0097")
    graph = crate(authors=(first, Author(name="B", affiliation="Here"), Author(name="C")))
    ids = ["https://orcid.org/0000-0002-1825-0097", "#author/2", "#author/3"]
    assert graph["./"]["author"] == [{"@id": one} for one in ids]
    assert graph["#author/2"]["affiliation"] == {"@id": "#organization/Here"}
    assert graph["#organization/Here"]["@type"] == "Organization"


@pytest.mark.parametrize(
    ("name", "place"), [("Ada", "#author/1"), ("Press", "https://ror.org/05dxps055"), ("X", "./")]
)
def test_a_contact_stands_where_it_belongs(name: str, place: str) -> None:
    """At the author or the publisher of its name, else at the package."""
    publisher = Organization(name="Press", ror="https://ror.org/05dxps055")
    graph = crate(
        authors=(Author(name="Ada"),),
        publisher=publisher,
        contact=Contact(name=name, email="x@example.org"),
    )
    assert [key for key, row in graph.items() if "contactPoint" in row] == [place]
    assert graph["#contact"]["email"] == "x@example.org"


@pytest.mark.parametrize(
    ("expression", "entity"),
    [
        ("MIT", "https://spdx.org/licenses/MIT"),
        ("GPL-2.0+", "https://spdx.org/licenses/GPL-2.0+"),
        ("MIT OR ISC", "#license"),
        ("LicenseRef-mine", "#license"),
    ],
)
def test_a_licence_is_a_page_of_spdx_or_stands_for_itself(expression: str, entity: str) -> None:
    """An expression is no page there."""
    graph = crate(license=expression)
    assert graph["./"]["license"] == {"@id": entity}
    assert graph[entity]["name"] == expression


@pytest.mark.parametrize(
    ("article", "entity"),
    [
        (Article(title="T", doi="10.1000/182", url="https://example.org/"), "https://doi.org/10.1000/182"),
        (Article(title="T", url="https://example.org/"), "https://example.org/"),
        (Article(title="T"), "#article"),
    ],
)  # fmt: skip
def test_an_article_has_the_best_address_that_is_known(article: Article, entity: str) -> None:
    """Its DOI, its address, or none."""
    graph = crate(article=article)
    assert graph["./"]["citation"] == {"@id": entity}
    assert graph[entity] == {"@id": entity, "@type": "ScholarlyArticle", "name": "T"}


def test_a_repository_has_the_commit_that_the_files_are_of() -> None:
    """Not where one was changed."""
    where = "https://example.org/repository"
    clean = crate(repository=where, origin=Origin(commit=COMMIT, clean=True))
    changed = crate(repository=where, origin=Origin(commit=COMMIT, clean=False))
    assert clean[where]["version"] == COMMIT
    assert "version" not in changed[where]
    assert clean["./"]["isBasedOn"] == {"@id": where}


def test_funding() -> None:
    """A funder is an organization, an award a grant; a funder alone has none."""
    rows = (
        Funding(funder="F"),
        Funding(funder="F", award="7"),
        Funding(funder="G", url="https://g.org/1"),
    )
    graph = crate(funding=rows)
    assert graph["./"]["funder"] == [{"@id": "#organization/F"}, {"@id": "#organization/G"}]
    assert graph["./"]["funding"] == [{"@id": "#grant/2"}, {"@id": "https://g.org/1"}]
    assert graph["#grant/2"]["identifier"] == "7"


def test_nothing_is_made_up() -> None:
    """A package without a date, a description or an author's words has no member for them."""
    root = crate(date=None)["./"]
    for name in ("datePublished", "description", "keywords", "identifier", "publisher", "citation"):
        assert name not in root


def outcome(**members: Any) -> ComparisonOutcome:
    plain: dict[str, Any] = {
        "run": "b", "first_step": 3, "last_step": 9, "identical": True, "config_equal": True,
        "constants": Split(), "start": Split(),
    }  # fmt: skip
    return ComparisonOutcome(**(plain | members))


PARTED = Divergence(kind="output", step=5, last_equal_step=4, stage="loss")


@pytest.mark.parametrize(
    ("comparison", "found", "told"),
    [
        ({}, {}, "nothing changed. Identical in steps 3 to 9"),
        ({"resume_at": 2}, {}, "resumed after step 2. Identical in steps 3 to 9"),
        (
            {"resume_at": 2, "reset": ("adam", "sampler"), "hash_seed": 1},
            {"identical": False, "divergence": PARTED},
            "resumed after step 2; reset adam, sampler; hash seed 1. Differs first in step 5",
        ),
        (
            {"config": {"rate": 0.5, "a": [1]}},
            {"identical": False},
            'configuration {"a":[1],"rate":0.5}. Differs before step 3',
        ),
    ],
)
def test_a_comparison_is_told(comparison: dict[str, Any], found: dict[str, Any], told: str) -> None:
    """What was changed, and what came of it."""
    plan = PLAN.model_copy(update={"comparisons": (ComparisonPlan(name="b", **comparison),)})
    action = crate(plan, (outcome(**found),))["#run/b"]
    assert action["description"] == f"Against the reference: {told}"


def test_an_input_that_is_held_elsewhere_is_no_part() -> None:
    """It is described, and the runs have read it."""
    row = Entry(
        path="inputs/a b.csv", size=3, digest=reports.CHAIN, role="input", media_type="text/csv",
        included=False, location="ask",
    )  # fmt: skip
    data = crate_bytes(reports.metadata(), (row,), PLAN, reports.results(), RECORD)
    graph = {one["@id"]: one for one in json.loads(data)["@graph"]}
    held = graph["#held/inputs/a%20b.csv"]
    assert (held["@type"], held["contentSize"]) == ("CreativeWork", "3")
    assert held["description"] == "An input of the experiment, held elsewhere: ask"
    assert graph["./"]["hasPart"] == {"@id": "manifest.json"}
    assert {"@id": "#held/inputs/a%20b.csv"} in graph["#run/reference"]["object"]


def test_values_of_properties() -> None:
    """One value stands alone, and an id is written in ASCII."""
    assert (bare([]), bare(["a"]), bare(["a", "b"])) == (None, "a", ["a", "b"])
    assert refer(["b", "a", "b"]) == [{"@id": "b"}, {"@id": "a"}]
    assert encoded("a/b c#%\u00e9~") == "a/b%20c%23%25%C3%A9~"
