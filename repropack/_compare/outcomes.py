"""From the logs and kept arrays of two runs to one comparison's outcome.

``build`` computes outcomes from what it just recorded, ``check`` again from what is stored: the
same function, so a results document that says anything else than its logs is found out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from repropack._compare.distances import largest_distance
from repropack._compare.evidence import blamed_components
from repropack._compare.logs import LogComparison, LogView, PrintedTally, StepPair, split, view_from
from repropack._compare.rows import KeptRows, RunEvidence, largest_absolute
from repropack._compare.timeline import Measured, Timelines
from repropack._format.state import encode_value
from repropack._format.values import is_nan
from repropack.models.log import StepLine
from repropack.models.plan import ComparisonPlan, ExpectedDivergence, Plan, RecordPlan
from repropack.models.results import (
    ComparisonOutcome,
    Divergence,
    FinalMetric,
    KeptDifference,
    Largest,
    ReferenceOutcome,
    Results,
)


def compute_results(
    plan: Plan,
    reference: RunEvidence,
    runs: Mapping[str, RunEvidence],
    timelines: Timelines | None = None,
) -> Results:
    """All findings of a package, from its logs and kept arrays alone.

    Args:
        plan: The plan.
        reference: The reference run.
        runs: The comparisons' runs by name, one for each row of the plan.
        timelines: Filled with what the walks meet, step by step.

    Returns:
        The results document, comparisons in the plan's order.
    """
    return Results(
        reference=describe_reference(reference, timelines),
        comparisons=tuple(
            compare_runs(reference, runs[comparison.name], comparison, plan.record, timelines)
            for comparison in plan.comparisons
        ),
    )


def describe_reference(
    reference: RunEvidence, timelines: Timelines | None = None
) -> ReferenceOutcome:
    """How the reference ended; reads its log once.

    Args:
        reference: The reference run.
        timelines: Filled with its fingerprints, where those are asked for.

    Returns:
        Its end.
    """
    if timelines is not None:
        timelines.add_start(reference.name, reference.header, reference.start)
    last: StepLine | None = None
    first_nan: dict[str, int] = {}
    unchanged = dict(reference.start.state)
    for line in reference.steps():
        last = line
        if timelines is not None:
            timelines.add_line(reference.name, line)
        if line.state is not None:
            unchanged = dict(unchanged.items() & dict(line.state).items())
        for metric, number in line.metrics.items():
            if is_nan(number):
                first_nan.setdefault(metric, line.step)
    if last is None:
        return ReferenceOutcome(
            last_step=reference.header.first_step - 1,
            finish=None,
            chain=reference.start.chain,
            final_state=reference.start.state,
            final_metrics={},
        )
    return ReferenceOutcome(
        last_step=last.step,
        finish=last.finish,
        chain=last.chain,
        final_state=last.state,
        final_metrics=last.metrics,
        first_nan=first_nan,
        unchanged=tuple(sorted(unchanged)),
    )


def compare_runs(
    reference: RunEvidence,
    run: RunEvidence,
    comparison: ComparisonPlan,
    record: RecordPlan,
    timelines: Timelines | None = None,
) -> ComparisonOutcome:
    """Hold one run against the reference over all the steps that both have.

    Args:
        reference: The reference run.
        run: The comparison's run; its first step may lie later than the reference's.
        comparison: The plan's row for it, with its expectation.
        record: Which stages are kept and which metrics are printed.
        timelines: Filled with what the walk meets, step by step.

    Returns:
        The outcome; it follows from the two runs' logs and kept arrays alone.
    """
    first_step = run.header.first_step
    left = view_from(reference.header, reference.start, reference.steps(first_step - 1), first_step)
    right = LogView(dict(run.header.stages), dict(run.start.state), run.steps())
    start = split(left.before or {}, right.before or {})
    walk = LogComparison(left, right, first_step)
    kept = [_KeptMeasure(KeptRows(stage, reference, run)) for stage in record.keep]
    printed = PrintedTally(record.printed)
    timeline = None
    if timelines is not None:
        timelines.add_start(run.name, run.header, run.start)
        timeline = timelines.begin(comparison, record.keep)
    last: StepPair | None = None
    for pair in walk.pairs():
        measured: list[Measured | None] = []
        if pair.left.stages is not None or pair.right.stages is not None:
            measured = [measure.add(pair) for measure in kept]
        printed.add(pair)
        if timelines is not None:
            timelines.add_line(run.name, pair.right)
        if timeline is not None:
            timeline.add(pair, measured[0] if measured else None)
        last = pair
    constants = split(dict(reference.header.constants), dict(run.header.constants))
    identical = walk.divergence is None and not start.differing and not constants.differing
    return ComparisonOutcome(
        run=run.name,
        first_step=first_step,
        last_step=walk.last_step,
        identical=identical,
        config_equal=reference.header.config == run.header.config,
        constants=constants,
        start=start,
        divergence=walk.divergence,
        stages=walk.stage_counts(),
        components=walk.component_counts(),
        kept=tuple(measure.result() for measure in kept),
        printed=printed.agreement(),
        final_metrics=_final_metrics(last),
        final_state=_final_state(last),
        expected=comparison.expect,
        held=_held(comparison.expect, walk.divergence, identical=identical),
    )


@dataclass
class _KeptMeasure:
    """Largest differences of one kept stage, read only where its fingerprints differ."""

    rows: KeptRows
    _absolute: tuple[float, int] = (0.0, 0)
    _ulp: tuple[int, int] = (0, 0)

    def add(self, pair: StepPair) -> Measured | None:
        """Measure one step; steps whose stages were not recorded have no row."""
        rows = self.rows.differing(pair)
        if rows is None:
            return None
        absolute = largest_absolute(*rows)
        if absolute is not None and absolute > self._absolute[0]:
            self._absolute = (absolute, pair.left.step)
        distance = largest_distance(*rows)
        if distance > self._ulp[0]:
            self._ulp = (distance, pair.left.step)
        return Measured(absolute, distance)

    def result(self) -> KeptDifference:
        """The largest differences seen."""
        absolute = encode_value("absolute", self._absolute[0])
        return KeptDifference(
            stage=self.rows.stage,
            largest_absolute=Largest(value=absolute, first_step=self._absolute[1])
            if self._absolute[1]
            else None,
            largest_ulp=Largest(value=encode_value("ulp", self._ulp[0]), first_step=self._ulp[1])
            if self._ulp[1]
            else None,
        )


def _final_metrics(pair: StepPair | None) -> tuple[FinalMetric, ...]:
    if pair is None:
        return ()
    return tuple(
        FinalMetric(metric=name, reference=value, run=pair.right.metrics[name])
        for name, value in sorted(pair.left.metrics.items())
        if name in pair.right.metrics
    )


def _final_state(pair: StepPair | None) -> Any:
    if pair is None or pair.left.state is None or pair.right.state is None:
        return None
    return split(dict(pair.left.state), dict(pair.right.state))


def _held(
    expected: str | ExpectedDivergence | None, divergence: Divergence | None, *, identical: bool
) -> bool | None:
    if expected is None:
        return None
    if isinstance(expected, str):
        return identical
    if divergence is None or divergence.step != expected.diverges_at:
        return False
    if expected.stage is not None and divergence.stage != expected.stage:
        return False
    if expected.component is None:
        return True
    return expected.component in blamed_components(divergence)
