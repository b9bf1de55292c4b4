"""Pages of small packages that were never built, and pages full of what a stranger could write."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from repropack._compare.pairwise import PairOutcome
from repropack._compare.timeline import Cell, PrintedRow, PrintedRows, Timeline, Timelines
from repropack._present.page_subject import PageSubject
from repropack.models.authored import Author
from repropack.models.claims import ClaimOutcome
from repropack.models.plan import ComparisonPlan, ExperimentPlan
from repropack.models.reports import Problem
from repropack.models.results import Split, StepCount
from tests.support import reports
from tests.support.environments import RECORD

ALL = frozenset({"batch", "weights", "state:adam"})


def timeline(run: str, first: int, *differing: int, last: int = 100) -> Timeline:
    """A run that differs at some steps, each by an eighth of its number."""
    made = Timeline(run, None if first == 1 else first - 1, "weights", last_step=last)
    made.stages, made.components = {"batch": None, "weights": None}, {"adam": None}
    for step in range(first, last + 1):
        cell = made.cells[step - 1] = Cell(compared=1, names=set(ALL))
        if step in differing:
            cell.differing, cell.first_step, cell.first_name = 1, step, "weights"
            cell.absolute = cell.absolute_step = step
            cell.absolute /= 8
            cell.ulp, cell.ulp_step = step * 1000, step
            cell.differing_names = {"weights"}
    rows = PrintedRows()
    for step in range(first, last + 1):
        run_value = 0.5 + (2**-40 if step in differing else 0)
        rows.add(PrintedRow(step, "0.5000", "0.5000", 0.5, run_value))
    made.printed["loss"] = rows
    return made


def claim(**changes: Any) -> ClaimOutcome:
    """A claim that holds."""
    members: dict[str, Any] = {
        "id": "final-loss",
        "kind": "number",
        "sentence": "The loss ends at 0.0215.",
        "expected": "0.0215",
        "text": "0.0215",
        "value": 0.0214672945992594,
        "held": True,
        "evidence": ("runs/reference/fingerprints.jsonl",),
    }
    return ClaimOutcome(**(members | changes))


def subject(**changes: Any) -> PageSubject:
    """The lab's page with three comparisons, in small."""
    timelines = Timelines()
    timelines.runs = [
        timeline("full-checkpoint", 41),
        timeline("reversed-reduction", 1, *range(1, 101)),
        timeline("sampler-reset", 41, *range(41, 101)),
    ]
    members: dict[str, Any] = {
        "metadata": reports.metadata(),
        "plan": reports.plan(),
        "results": reports.results(),
        "environment": RECORD,
        "entries": reports.inspection().entries,
        "evidence_digest": reports.EVIDENCE_DIGEST,
        "source_digest": reports.CHAIN,
        "timelines": timelines,
        "pairs": (
            PairOutcome(
                "reversed-reduction", "sampler-reset", 41, 41, reports.at_gradient(), Split(), None
            ),
        ),
    }
    return PageSubject(**(members | changes))


def hostile_subject(text: str) -> PageSubject:
    """A page on which every text that a package can hold is ``text``, valid or not."""
    base = subject()
    metadata = base.metadata.model_copy(
        update={
            "name": text,
            "version": text,
            "title": text,
            "license": text,
            "description": text,
            "authors": (Author.model_construct(name=text, affiliation=text, orcid=None),),
        }
    )
    experiment = ExperimentPlan.model_construct(
        entry_point=None,
        command=(text, text),
        config={text: text, "a": [text]},
        environment={text: text},
        outputs=(text,),
        seed=7,
        steps=100,
        loop=True,
        import_from=(),
        timeout_seconds=None,
    )
    comparisons = tuple(
        ComparisonPlan.model_construct(**{**dict(row), "name": text, "config": {text: text}})
        for row in base.plan.comparisons
    )
    record = base.plan.record.model_copy(update={"keep": (text,), "printed": {text: text}})
    plan = base.plan.model_copy(
        update={"experiment": experiment, "comparisons": comparisons, "record": record}
    )
    count = StepCount.model_construct(name=text, compared=2, differing=1, first_step=1)
    divergence = reports.at_gradient().model_copy(
        update={"stage": text, "stages": Split(equal=(text,), differing=(text,))}
    )
    outcomes = tuple(
        outcome.model_copy(
            update={
                "run": text,
                "identical": False,
                "divergence": divergence,
                "stages": (count,),
                "components": (count,),
                "constants": Split(differing=(text,)),
            }
        )
        for outcome in base.results.comparisons
    )
    claims = (
        claim().model_copy(update={"sentence": text, "expected": text, "value": text}),
        claim().model_copy(update={"held": False, "text": text, "evidence": (text,)}),
    )
    reference = base.results.reference.model_copy(update={"final_state": ((text, text),)})
    results = base.results.model_copy(
        update={"comparisons": outcomes, "claims": claims, "reference": reference}
    )
    timelines = Timelines()
    for run in base.timelines.runs:
        told = PrintedRow(1, text, text + "1", 0.5, 0.25)
        rows = PrintedRows(compared=1, rows={0: told})
        cells = {k: replace(cell, names={text, f"state:{text}"}) for k, cell in run.cells.items()}
        for cell in cells.values():
            cell.first_name = text
        made = replace(run, run=text, subject=text, cells=cells, printed={text: rows})
        made.stages, made.components = {text: None}, {text: None}
        timelines.runs.append(made)
    environment = RECORD.model_copy(
        update={
            "cpu": RECORD.cpu.model_copy(update={"model": text}),
            "variables": {text: text},
            "probe_card": {text: text},
        }
    )
    entry = base.entries[0].model_copy(
        update={"path": text, "digest": text, "role": text, "included": False, "location": text}
    )
    report = reports.verification(
        verdict="could-not-run",
        problem=Problem(code=text, message=text, hint=text),
        not_verified=(text,),
    )
    return replace(
        base,
        metadata=metadata,
        plan=plan,
        results=results,
        environment=environment,
        entries=(entry,),
        evidence_digest=text,
        source_digest=text,
        package_digest=text,
        timelines=timelines,
        pairs=(replace(base.pairs[0], left=text, right=text, divergence=divergence),),
        verification=report,
    )
