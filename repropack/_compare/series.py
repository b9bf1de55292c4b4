"""What two runs look like step by step: what figures and tables of a comparison are drawn from.

An outcome says where two runs part and counts the rest; a series keeps every step. Both follow
from the same logs and the same rows (``_compare.rows``), and nothing here knows how it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from repropack._compare.logs import LogComparison, LogView, StepPair, split, view_from
from repropack._compare.rows import KeptRows, RunEvidence, largest_absolute, metric_as_float
from repropack._format.canonical import encode_canonical
from repropack.models.plan import ComparisonPlan, RecordPlan

STATE_SUBJECT = "state"
"""The subject where no stage is kept: the complete state after a step."""


@dataclass(frozen=True)
class MetricSeries:
    """One metric at every step at which both runs noted it.

    ``reference`` and ``run`` are its values as float64, not finite where the metric is not;
    ``equal`` whether they are stored alike, so that -0.0 is not 0.0; the printed texts are
    ``None`` where the plan prints none.
    """

    metric: str
    steps: tuple[int, ...]
    reference: tuple[float, ...]
    run: tuple[float, ...]
    equal: tuple[bool, ...]
    reference_printed: tuple[str | None, ...]
    run_printed: tuple[str | None, ...]


@dataclass(frozen=True)
class RunSeries:
    """One run against the reference, at every step at which both recorded the subject.

    ``subject`` is the first kept stage, or ``state`` where none is kept; ``first_step`` the run's
    first; ``resume_at`` the step after which it resumed, ``None`` for a fresh run. ``equal`` is
    decided by fingerprints alone; ``largest_absolute`` by the kept rows, in float64, ``None``
    where the subject is equal, not kept, or no difference can be measured.
    """

    run: str
    first_step: int
    resume_at: int | None
    subject: str
    steps: tuple[int, ...]
    equal: tuple[bool, ...]
    largest_absolute: tuple[float | None, ...]
    metrics: tuple[MetricSeries, ...] = ()


def run_series(
    reference: RunEvidence, run: RunEvidence, comparison: ComparisonPlan, record: RecordPlan
) -> RunSeries:
    """Hold one run against the reference at every step that both have.

    Args:
        reference: The reference run.
        run: The comparison's run. One that is identical may have stored its log alone.
        comparison: The plan's row for it.
        record: Which stages are kept; the first is the subject.

    Returns:
        The series, metrics sorted by name.
    """
    first_step = run.header.first_step
    walk = LogComparison(
        view_from(reference.header, reference.start, reference.steps(first_step - 1), first_step),
        LogView(dict(run.header.stages), dict(run.start.state), run.steps()),
        first_step,
    )
    subject = _Subject(KeptRows(record.keep[0], reference, run) if record.keep else None)
    metrics: dict[str, _Metric] = {}
    for pair in walk.pairs():
        subject.add(pair)
        for name in pair.left.metrics.keys() & pair.right.metrics.keys():
            metrics.setdefault(name, _Metric()).add(pair, name)
    return RunSeries(
        run=run.name,
        first_step=first_step,
        resume_at=comparison.resume_at,
        subject=record.keep[0] if record.keep else STATE_SUBJECT,
        steps=tuple(subject.steps),
        equal=tuple(subject.equal),
        largest_absolute=tuple(subject.largest_absolute),
        metrics=tuple(metrics[name].series(name) for name in sorted(metrics)),
    )


@dataclass
class _Subject:
    """The kept stage, or the whole state, step by step."""

    kept: KeptRows | None
    steps: list[int] = field(default_factory=list)
    equal: list[bool] = field(default_factory=list)
    largest_absolute: list[float | None] = field(default_factory=list)

    def add(self, pair: StepPair) -> None:
        """Note one step; one at which the subject was not recorded is left out."""
        measured = None
        if self.kept is not None:
            rows = self.kept.differing(pair)  # before any return: rows go in step with pairs
            measured = None if rows is None else largest_absolute(*rows)
            equal = _stage_equal(pair, self.kept.stage)
        else:
            equal = _state_equal(pair)
        if equal is None:
            return
        self.steps.append(pair.left.step)
        self.equal.append(equal)
        self.largest_absolute.append(measured)


@dataclass
class _Metric:
    steps: list[int] = field(default_factory=list)
    values: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    equal: list[bool] = field(default_factory=list)
    printed: tuple[list[str | None], list[str | None]] = field(default_factory=lambda: ([], []))

    def add(self, pair: StepPair, name: str) -> None:
        """Note a metric that both sides have."""
        lines = (pair.left, pair.right)
        self.steps.append(pair.left.step)
        self.equal.append(len({encode_canonical(line.metrics[name]) for line in lines}) == 1)
        for line, values, printed in zip(lines, self.values, self.printed, strict=True):
            values.append(metric_as_float(line.metrics[name]))
            printed.append(line.printed.get(name))

    def series(self, name: str) -> MetricSeries:
        """What was noted."""
        return MetricSeries(
            metric=name,
            steps=tuple(self.steps),
            reference=tuple(self.values[0]),
            run=tuple(self.values[1]),
            equal=tuple(self.equal),
            reference_printed=tuple(self.printed[0]),
            run_printed=tuple(self.printed[1]),
        )


def _stage_equal(pair: StepPair, stage: str) -> bool | None:
    """Whether a stage is equal; ``None`` where neither side recorded it or one's step is bare."""
    if pair.left.stages is None or pair.right.stages is None:
        return None
    lefts, rights = dict(pair.left.stages), dict(pair.right.stages)
    return None if stage not in {*lefts, *rights} else lefts.get(stage) == rights.get(stage)


def _state_equal(pair: StepPair) -> bool | None:
    if pair.left.state is None or pair.right.state is None:
        return None
    return not split(dict(pair.left.state), dict(pair.right.state)).differing
