"""Whether plan, logs, stored files and results of a package tell one and the same story.

Everything read here is already whole in itself; this is about lies that keep every digest right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any

from repropack._compare.outcomes import compute_results
from repropack._format.canonical import encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.layout import PLAN, REFERENCE_RUN, RESULTS
from repropack._format.log import CHAIN_START
from repropack._read.run import RunReader
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.results import Results

Report = Callable[[str, str], None]


def required_checkpoints(plan: Plan, first_step: int, last_step: int) -> tuple[int, ...]:
    """Steps after which a run from ``first_step`` to ``last_step`` stores its state."""
    every = plan.record.checkpoint_every
    between = range(every, last_step, every) if every is not None else ()
    steps = {first_step - 1, last_step, *(step for step in between if step >= first_step)}
    return tuple(sorted(steps))


def planned_config(plan: Plan, comparison: ComparisonPlan | None) -> dict[str, Any]:
    """The complete configuration of a run, encoded: the plan's, with the comparison's changes."""
    changes = {} if comparison is None else comparison.config
    return {**plan.experiment.config, **changes}


def check_consistency(
    plan: Plan, stored: Results, runs: Mapping[str, RunReader], report: Report
) -> None:
    """Hold plan, runs and results against each other.

    Args:
        plan: The package's plan.
        stored: Its ``results.json``.
        runs: A reader for the reference and for each comparison.
        report: Called with an entry's path and what is wrong there.
    """
    reference = runs[REFERENCE_RUN]
    comparisons = {name: run for name, run in runs.items() if name != REFERENCE_RUN}
    computed = compute_results(plan, reference, comparisons)
    _check_results(computed, stored, report)
    last = computed.reference.last_step
    if last != plan.experiment.steps and computed.reference.finish is None:
        report(reference.log_path, f"expected {plan.experiment.steps} steps, observed {last}")
    _check_run(plan, None, reference, last, report)
    _check_files(plan, reference, last, report, whole=True)
    for comparison, outcome in zip(plan.comparisons, computed.comparisons, strict=True):
        run = runs[comparison.name]
        _check_run(plan, comparison, run, outcome.last_step, report)
        _check_start(comparison, reference, run, report)
        _check_files(plan, run, outcome.last_step, report, whole=not outcome.identical)


def _check_results(computed: Results, stored: Results, report: Report) -> None:
    if stored.reference != computed.reference or _dump(stored.reference) != _dump(computed.reference):
        report(RESULTS, f"reference: {_first_difference(computed.reference, stored.reference)}")
    for expected, observed in zip_longest(computed.comparisons, stored.comparisons):
        if expected is None or observed is None or expected.run != observed.run:
            report(RESULTS, "comparisons: expected one for each of the plan, in its order")
            return
        if _dump(expected) != _dump(observed):
            report(RESULTS, f"{expected.run}: {_first_difference(expected, observed)}")


def _check_run(
    plan: Plan, comparison: ComparisonPlan | None, run: RunReader, last: int, report: Report
) -> None:
    resume_at = comparison.resume_at if comparison is not None else None
    first_step = (resume_at or 0) + 1
    if run.header.first_step != first_step:
        report(
            run.log_path, f"first step: the plan has {first_step}, observed {run.header.first_step}"
        )
    expected = digest_bytes(encode_canonical(planned_config(plan, comparison)))
    if run.header.config != expected:
        report(run.log_path, f"configuration: {PLAN} has {expected}, observed {run.header.config}")
    if last > plan.experiment.steps:
        report(run.log_path, f"expected at most {plan.experiment.steps} steps, observed {last}")


def _check_start(
    comparison: ComparisonPlan, reference: RunReader, run: RunReader, report: Report
) -> None:
    expected = CHAIN_START
    if comparison.resume_at is not None:
        if comparison.resume_at not in reference.checkpoint_steps():
            report(run.log_path, f"resumes at {comparison.resume_at}: no such checkpoint is stored")
            return
        expected = reference.checkpoint_document(comparison.resume_at).chain
    if run.start.chain != expected:
        report(run.log_path, f"chain at the start: expected {expected}, observed {run.start.chain}")


def _check_files(plan: Plan, run: RunReader, last: int, report: Report, *, whole: bool) -> None:
    """A run identical to the reference stores only its log; any other stores everything."""
    steps = required_checkpoints(plan, run.header.first_step, last) if whole else ()
    if run.checkpoint_steps() != steps:
        report(
            run.log_path,
            f"checkpoints: expected after steps {list(steps)}, "
            f"observed {list(run.checkpoint_steps())}",
        )
    kept = sorted(plan.record.keep) if whole else []
    if sorted(run.kept_stages()) != kept:
        report(run.kept_path, f"arrays: expected {kept}, observed {sorted(run.kept_stages())}")


def _dump(model: Any) -> bytes:
    return encode_canonical(model.model_dump(mode="json"))


def _first_difference(expected: Any, observed: Any) -> str:
    left, right = expected.model_dump(mode="json"), observed.model_dump(mode="json")
    for name, value in left.items():
        if encode_canonical(value) != encode_canonical(right[name]):
            return f"{name}: the logs give {value!r:.200}, observed {right[name]!r:.200}"
    return "differs"
