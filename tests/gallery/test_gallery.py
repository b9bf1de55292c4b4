"""Experiments with one planted fault each, and innocent ones: what is said of them, literally."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gallery.cases import FAULTS, FOLDER, INNOCENT, Fault, story_of
from tests.gallery.looks import audit, find_fault, second_launch, write_project
from tests.support.thinning import part_of
from tools.generate_gallery import DOCUMENT, gallery_document


@pytest.mark.slow
@pytest.mark.parametrize("fault", part_of(FAULTS), ids=lambda fault: fault.name)
def test_a_planted_fault_is_found(fault: Fault, tmp_path: Path) -> None:
    """Step, stage or component, patterns and holder are those that the table states."""
    assert find_fault(fault, tmp_path) == fault.finding


@pytest.mark.slow
@pytest.mark.parametrize("name", part_of(INNOCENT))
def test_nothing_is_found_in_an_innocent_experiment(name: str, tmp_path: Path) -> None:
    """Unusual state that is complete resumes exactly."""
    report = audit(write_project(tmp_path, "innocent", name))
    assert report.verdict == "identical"
    assert len(report.resumes) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", part_of(INNOCENT, 4))
def test_a_second_launch_of_an_innocent_experiment_is_equal(name: str, tmp_path: Path) -> None:
    """With another hash seed, in a process of its own."""
    assert second_launch(tmp_path, "innocent", name).verdict == "identical"


@pytest.mark.slow
def test_one_resume_may_miss_a_fault(tmp_path: Path) -> None:
    """Before the loss stands still the patience that is lost is that of a new run."""
    assert audit(write_project(tmp_path, "faults", "early_stopping"), at=4).verdict == "identical"


@pytest.mark.slow
def test_what_never_mattered_is_said(tmp_path: Path) -> None:
    """A count that nothing reads differs by itself alone; names that never change tell nothing."""
    report = audit(write_project(tmp_path, "innocent", "idle_component"), at=4, resets=2)
    assert {row.component: row.effect for row in report.resets} == {
        "names": "unchanged",
        "progress": "itself",
        "weights": "matters",
    }


def test_every_experiment_is_looked_at() -> None:
    """A module without a row would be an experiment that nobody looks at."""
    rows = {"faults": [fault.name for fault in FAULTS], "innocent": list(INNOCENT)}
    for kind, names in rows.items():
        assert sorted(names) == sorted(path.stem for path in (FOLDER / kind).glob("*.py"))


def test_every_experiment_tells_its_story() -> None:
    """What people report and what is wrong; of an innocent one, what is unusual."""
    for fault in FAULTS:
        assert list(story_of("faults", fault.name).parts) == ["Reported", "Wrong"]
    for name in INNOCENT:
        assert list(story_of("innocent", name).parts) == ["Unusual"]


def test_the_document_is_made_of_the_table() -> None:
    """docs/gallery.md is what the table and the experiments say."""
    assert DOCUMENT.read_text("utf-8") == gallery_document()
