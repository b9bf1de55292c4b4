"""What of a package its records are held against."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._read.package import open_package
from repropack._read.recorded import package_facts
from repropack.models.plan import ComparisonPlan
from tests.support.records import CLAIMS, RUNS, run
from tests.support.reports import STAGES


def test_the_facts_of_the_lab(lab_package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, claims, and the stages at the steps that are asked for; an added resume's are the
    reference's."""
    added = ComparisonPlan(name="resume-at-20", resume_at=20, expect="identical")
    monkeypatch.setattr("repropack._read.recorded.added_resume", lambda _: added)
    asked = [("reference", 1), ("reference", 0), ("reference", 101), ("adam-reset", 41)]
    with open_package(lab_package) as package:
        facts = package_facts(package, [*asked, ("resume-at-20", 21), ("foreign", 1)])
        assert facts.evidence_digest == package.evidence_digest
        assert facts.archive_digest == package.container.whole_digest()
    assert (facts.name, facts.version, facts.added) == ("replay-lab", "1.0.0", "resume-at-20")
    assert facts.runs == {name: run(name).claim for name in RUNS}
    assert facts.claims == CLAIMS
    assert facts.expectations_failed == ()
    assert facts.parts == {"run", "notebook", "figures"}
    places = [("reference", 1), ("adam-reset", 41), ("resume-at-20", 21)]
    assert facts.stages == dict.fromkeys(places, frozenset(STAGES))
