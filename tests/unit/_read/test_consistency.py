"""Plan, logs, files and results of one story, also where runs end early, late or record little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repropack._read.consistency import check_plan, planned_config, required_checkpoints
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import PackageFormatError
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan
from tests.support.experiments import TINY, write_project


def plan(*comparisons: ComparisonPlan, every: int | None = None, **config: Any) -> Plan:
    return Plan(
        experiment=ExperimentPlan(entry_point="a:b", seed=1, steps=10, config=config),
        record=RecordPlan(checkpoint_every=every),
        comparisons=comparisons,
    )


# ---------------------------------------------------------------- what a plan asks for


@pytest.mark.parametrize(
    ("every", "first", "last", "steps"),
    [
        (None, 1, 10, (0, 10)),
        (4, 1, 10, (0, 4, 8, 10)),
        (5, 1, 10, (0, 5, 10)),
        (1, 1, 3, (0, 1, 2, 3)),
        (20, 1, 10, (0, 10)),
        (4, 5, 10, (4, 8, 10)),
        (4, 7, 10, (6, 8, 10)),
        (4, 9, 10, (8, 10)),
        (None, 5, 10, (4, 10)),
        (4, 1, 0, (0,)),
    ],
)
def test_checkpoints_stand_before_the_first_step_at_multiples_and_at_the_end(
    every: int | None, first: int, last: int, steps: tuple[int, ...]
) -> None:
    assert required_checkpoints(plan(every=every), first, last) == steps


def test_a_comparisons_configuration_replaces_single_values() -> None:
    """Name by name, and nothing of the plan's own is changed."""
    whole = plan(rate=0.5, order="forward")
    reverse = ComparisonPlan(name="a", config={"order": "reverse", "more": {"x": 1}})
    assert planned_config(whole, None) == {"rate": 0.5, "order": "forward"}
    assert planned_config(whole, reverse) == {"rate": 0.5, "order": "reverse", "more": {"x": 1}}
    assert whole.experiment.config == {"rate": 0.5, "order": "forward"}


def faults_of(whole: Plan) -> list[str]:
    found: list[str] = []
    check_plan(
        whole,
        lambda _, entry, place, expected, observed: found.append(
            f"{entry}: {place}: expected {expected}, observed {observed}"
        ),
    )
    return found


def test_a_plan_in_order_has_no_faults() -> None:
    assert faults_of(plan()) == []
    resumed = ComparisonPlan(name="a", resume_at=9, reset=("x",), config={"n": {"$int": "9" * 20}})
    assert faults_of(plan(resumed, ComparisonPlan(name="b", resume_at=0))) == []


def test_every_fault_of_a_plan_is_gathered() -> None:
    """Names that are taken, resets without a resume, resumes at or after the end."""
    whole = plan(
        ComparisonPlan(name="reference"),
        ComparisonPlan(name="a", reset=("x",)),
        ComparisonPlan(name="a", resume_at=10),
    )
    assert faults_of(whole) == [
        "plan.json: comparison 'reference': expected a name of its own, observed one that is taken",
        "plan.json: comparison 'a': expected resume_at beside reset, observed none",
        "plan.json: comparison 'a': expected a name of its own, observed one that is taken",
        "plan.json: comparison 'a': resume_at: expected a step before 10, observed 10",
    ]


@pytest.mark.parametrize(
    "config",
    [
        {"$rate": 1},
        {"rate": {"$float": "1.0"}},
        {"rate": {"$int": "1"}},
        {"rate": [{"$array": "rate#1"}]},
        {"rate": {"deep": {"$other": "x"}}},
    ],
)
def test_a_configuration_holds_encoded_values(config: dict[str, Any]) -> None:
    """In the experiment and in every comparison."""
    with pytest.raises(PackageFormatError):
        faults_of(plan(**config))
    with pytest.raises(PackageFormatError):
        faults_of(plan(ComparisonPlan(name="a", config=config)))


# ---------------------------------------------------------------- honest packages of other shapes


@pytest.mark.parametrize(
    ("record", "comparisons"),
    [
        pytest.param({}, [], id="nothing-but-the-reference"),
        pytest.param(
            {"checkpoint-every": 5, "stages-every": 3, "state-every": 2, "keep": ["x"]},
            [{"name": "resumed", "resume-at": 5}, {"name": "other", "config": {"factor": 2.0}}],
            id="stages-and-states-now-and-then",
        ),
        pytest.param(
            {"keep": ["x"], "printed": {"loss": ".2f"}},
            [{"name": "shorter", "config": {"end": 4}}],
            id="comparison-ends-early",
        ),
        pytest.param(
            {"stages-every": 7, "keep": ["x"]},
            [{"name": "shorter", "config": {"end": 4}}],
            id="comparison-ends-before-any-stage",
        ),
        pytest.param(
            {"checkpoint-every": 2, "keep": ["x"], "printed": {"loss": "e"}},
            [
                {"name": "resumed", "resume-at": 4},
                {"name": "blown-up", "config": {"factor": 1e200}},
            ],
            id="infinities",
        ),
    ],
)
def test_an_honest_package_is_intact(
    tmp_path: Path, record: dict[str, Any], comparisons: list[dict[str, Any]]
) -> None:
    """Whatever a plan asks for, a package built from it tells one story."""
    project = write_project(tmp_path / "project", record=record, comparisons=comparisons)
    build_package(project, tmp_path / "built.zip")
    report = check_package(tmp_path / "built.zip")
    assert report.faults == ()
    assert report.verdict == "intact"


@pytest.mark.parametrize("number", ["10**400", "-(10**400)", "float('nan')", "-0.0", "2**63"])
def test_numbers_of_every_kind_are_printed_alike(tmp_path: Path, number: str) -> None:
    """A check prints each metric again; also those that no float or no plain integer holds."""
    source = TINY.replace("float(self.x[0])", number)
    record = {"printed": {"loss": "+9.1f"}}
    project = write_project(tmp_path / "project", source=source, record=record, steps=2)
    build_package(project, tmp_path / "built.zip")
    assert check_package(tmp_path / "built.zip").faults == ()


def test_a_comparison_longer_than_the_reference_is_intact(tmp_path: Path) -> None:
    """Both are compared over the steps that both have; each stores what its own length asks for."""
    project = write_project(
        tmp_path / "project",
        config={"end": 6},
        record={"checkpoint-every": 2, "keep": ["x"]},
        comparisons=[{"name": "longer", "config": {"end": 0}}],
    )
    report = build_package(project, tmp_path / "built.zip")
    (outcome,) = report.results.comparisons
    assert (outcome.last_step, report.results.reference.finish) == (6, "done")
    assert check_package(tmp_path / "built.zip").faults == ()
