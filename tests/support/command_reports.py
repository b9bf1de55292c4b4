"""Plan, results and reports of a command, made by hand."""

from __future__ import annotations

from typing import Any

from repropack.models.inspection import Inspection, RunSummary
from repropack.models.plan import (
    CommandPlan,
    ComparisonPlan,
    ExpectedDivergence,
    ExperimentPlan,
    Plan,
    RecordPlan,
)
from repropack.models.results import (
    ComparisonOutcome,
    Divergence,
    ReferenceOutcome,
    Results,
    Split,
    StepCount,
)
from tests.support import reports

STAGES = ("output:a.csv", "output:b.npz:w", "output:b.npz:z")
"""Two outputs, of which one has two arrays."""


def plan(**changes: Any) -> Plan:
    """A command with two comparisons, and one that comes after."""
    fields: dict[str, Any] = {
        "command": ("python", "run.py", "--seed", "{seed}"),
        "config": {"rate": 0.5},
        "outputs": ("*.csv", "b.npz"),
        "environment": {"MODE": "full"},
        "timeout_seconds": 60,
        "seed": 3,
        "steps": 1,
    }
    return Plan(
        experiment=ExperimentPlan(**(fields | changes)),
        record=RecordPlan(),
        comparisons=(
            ComparisonPlan(name="again", hash_seed=1, expect="identical"),
            ComparisonPlan(
                name="slower",
                config={"rate": 0.25},
                expect=ExpectedDivergence(diverges_at=1, stage="output:b.npz:w"),
            ),
        ),
        after=(CommandPlan(command=("python", "plot it.py"), outputs=("figure.svg",)),),
    )


def outcome(run: str, *differing: str, **changes: Any) -> ComparisonOutcome:
    """A comparison in which some of ``STAGES`` differ."""
    counts = tuple(
        StepCount(
            name=stage,
            compared=1,
            differing=int(stage in differing),
            first_step=1 if stage in differing else None,
        )
        for stage in STAGES
    )
    divergence = Divergence(
        kind="output",
        step=1,
        last_equal_step=0,
        stage=differing[0] if differing else None,
        stages=Split(
            equal=tuple(stage for stage in STAGES if stage not in differing), differing=differing
        ),
        state_before=Split(),
        state_after=Split(),
    )
    fields: dict[str, Any] = {
        "identical": not differing,
        "divergence": divergence if differing else None,
        "stages": counts,
        "components": (),
        "kept": (),
        "printed": (),
        "final_metrics": (),
        "final_state": Split(),
        "constants": Split(),
        "start": Split(),
    }
    made: ComparisonOutcome = reports.outcome(run, last_step=1, **(fields | changes))
    return made


def results(*comparisons: ComparisonOutcome) -> Results:
    """One comparison that is identical, and one of which one array differs."""
    expected = ExpectedDivergence(diverges_at=1, stage="output:b.npz:w")
    return Results(
        reference=ReferenceOutcome(
            last_step=1, finish=None, chain=reports.CHAIN, final_state=(), final_metrics={}
        ),
        comparisons=comparisons
        or (outcome("again"), outcome("slower", "output:b.npz:w", expected=expected)),
    )


def inspection() -> Inspection:
    """What inspecting a command's package shows."""
    lab = reports.inspection()
    stored = [
        lab.entries[0].model_copy(update={"path": f"runs/{path}", "size": size, "role": "output"})
        for path, size in (
            ("reference/outputs/a.csv", 200),
            ("reference/outputs/b.npz", 400),
            ("slower/outputs/a.csv", 300),
        )
    ]
    summaries = [
        RunSummary(run=name, first_step=1, last_step=1, checkpoints=(), kept=False, size_bytes=900)
        for name in ("reference", "again", "slower")
    ]
    changes = {
        "plan": plan(),
        "results": results(),
        "entries": (*lab.entries, *stored),
        "runs": tuple(summaries),
    }
    return lab.model_copy(update=changes)
