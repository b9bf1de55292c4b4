"""Whether plan, logs, stored files and results of a package tell one and the same story.

Everything read here is already whole in itself; this is about lies that keep every digest right.
The shape of the runs is held against the plan first, and results are computed from runs that have
it, so that no walk is longer than a log.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from repropack._compare.logs import STATE_PREFIX
from repropack._compare.outcomes import compute_results
from repropack._format.canonical import encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.layout import PLAN, REFERENCE_RUN, RESULTS
from repropack._format.log import CHAIN_START
from repropack._format.state import decode_value
from repropack._format.values import check_references
from repropack._read.run import RunReader
from repropack.errors import PackageFormatError
from repropack.models.log import StepLine
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.results import Results

_Declared = Mapping[str, tuple[str, ...] | None]
Report = Callable[[str, str], None]
"""Called with an entry's path and what is wrong there."""


@dataclass(frozen=True)
class _End:
    """Where a log ends, and how many of its steps have stages."""

    last_step: int
    rows: int


def required_checkpoints(plan: Plan, first_step: int, last_step: int) -> tuple[int, ...]:
    """Steps after which a run from ``first_step`` to ``last_step`` stores its state, ascending."""
    every = plan.record.checkpoint_every
    between = range(every, last_step, every) if every is not None else ()
    steps = {first_step - 1, last_step, *(step for step in between if step >= first_step)}
    return tuple(sorted(steps))


def planned_config(plan: Plan, comparison: ComparisonPlan | None) -> dict[str, Any]:
    """The complete configuration of a run, encoded: the plan's, with the comparison's changes."""
    changes = {} if comparison is None else comparison.config
    return {**plan.experiment.config, **changes}


def check_plan(plan: Plan, report: Report) -> None:
    """Hold the plan's comparisons against the plan.

    Args:
        plan: The package's plan.
        report: Called with an entry's path and what is wrong there.

    Raises:
        PackageFormatError: a configuration holds what is no encoded value.
    """
    _check_values(plan.experiment.config)
    seen = {REFERENCE_RUN}
    for comparison in plan.comparisons:
        where = f"comparison {comparison.name!r}"
        _check_values(comparison.config)
        if comparison.name in seen:
            report(PLAN, f"{where}: expected a name of its own, observed one that is taken")
        seen.add(comparison.name)
        if comparison.reset and comparison.resume_at is None:
            report(PLAN, f"{where}: expected resume_at beside reset, observed none")
        if comparison.resume_at is not None and comparison.resume_at >= plan.experiment.steps:
            report(
                PLAN,
                f"{where}: resume_at: expected a step before {plan.experiment.steps}, "
                f"observed {comparison.resume_at}",
            )


def _check_values(config: Mapping[str, Any]) -> None:
    for name, value in config.items():
        if name.startswith("$"):
            raise PackageFormatError(f"{PLAN}: config: expected no key with $, observed {name!r}")
        if check_references(name, value):
            raise PackageFormatError(f"{PLAN}: config {name!r}: expected no array, observed one")


def planned_start(comparison: ComparisonPlan, reference: RunReader) -> dict[str, str]:
    """Components of the state that a resumed run starts from, by what the reference stores.

    Args:
        comparison: A comparison with ``resume_at``.
        reference: The reference run.

    Returns:
        Fingerprints by component: the checkpoint's, of reset components those at step 0.

    Raises:
        UsageError: the reference stores no checkpoint after that step.
        PackageError: a checkpoint's companion is malformed.
    """
    initial = dict(reference.start.state)
    stored = dict(reference.checkpoint_document(comparison.resume_at or 0).components)
    return {
        name: initial.get(name, "") if name in comparison.reset else digest
        for name, digest in stored.items()
    }


def check_consistency(
    plan: Plan, stored: Results, runs: Mapping[str, RunReader], report: Report
) -> None:
    """Hold plan, runs and results against each other.

    Args:
        plan: The package's plan, which ``check_plan`` found nothing wrong with.
        stored: Its ``results.json``.
        runs: A reader for the reference and for each comparison.
        report: Called with an entry's path and what is wrong there.

    Raises:
        PackageError: a log, checkpoint or kept array is malformed.
    """
    faults = 0

    def note(entry: str, problem: str) -> None:
        nonlocal faults
        faults += 1
        report(entry, problem)

    reference = runs[REFERENCE_RUN]
    ends = {REFERENCE_RUN: _check_run(plan, None, reference, note)}
    _check_chain(CHAIN_START, reference, note)
    _check_header(reference, reference, note)
    for comparison in plan.comparisons:
        run = runs[comparison.name]
        ends[comparison.name] = _check_run(plan, comparison, run, note)
        _check_start(comparison, reference, run, note)
        _check_header(reference, run, note)
    if faults:
        return
    comparisons = {name: run for name, run in runs.items() if name != REFERENCE_RUN}
    computed = compute_results(plan, reference, comparisons)
    _check_results(computed, stored, note)
    _check_files(plan, reference, ends[REFERENCE_RUN], note, whole=True)
    for outcome in computed.comparisons:
        run = runs[outcome.run]
        _check_files(plan, run, ends[outcome.run], note, whole=not outcome.identical)


def _check_results(computed: Results, stored: Results, report: Report) -> None:
    if _dump(stored.reference) != _dump(computed.reference):
        report(RESULTS, f"reference: {_first_difference(computed.reference, stored.reference)}")
    for expected, observed in zip_longest(computed.comparisons, stored.comparisons):
        if expected is None or observed is None or expected.run != observed.run:
            report(RESULTS, "comparisons: expected one for each of the plan, in its order")
            return
        if _dump(expected) != _dump(observed):
            report(RESULTS, f"{expected.run}: {_first_difference(expected, observed)}")


def _check_run(
    plan: Plan, comparison: ComparisonPlan | None, run: RunReader, report: Report
) -> _End:
    """Hold one run's log against the plan."""
    resume_at = comparison.resume_at if comparison is not None else None
    first_step = (resume_at or 0) + 1
    if run.header.first_step != first_step:
        report(
            run.log_path, f"first step: the plan has {first_step}, observed {run.header.first_step}"
        )
    expected = digest_bytes(encode_canonical(planned_config(plan, comparison)))
    if run.header.config != expected:
        report(run.log_path, f"configuration: {PLAN} has {expected}, observed {run.header.config}")
    declared = dict(run.header.stages)
    last, finish, rows, problem = run.header.first_step - 1, None, 0, None
    for line in run.steps():
        last, finish, rows = line.step, line.finish, rows + (line.stages is not None)
        problem = problem or _recording_problem(plan, line) or _declaration_problem(declared, line)
    if problem is not None:
        report(run.log_path, problem)
    steps = plan.experiment.steps
    if last > steps or (last < steps and finish is None):
        report(run.log_path, f"expected {steps} steps, observed {last}")
    return _End(last, rows)


def _recording_problem(plan: Plan, line: StepLine) -> str | None:
    """Whether a step tells what the plan says is recorded, no more and no less."""
    record, step = plan.record, line.step
    last = step == plan.experiment.steps
    every = record.checkpoint_every
    stored = last or line.finish is not None or (every is not None and step % every == 0)
    for member, value, planned in (
        ("stages", line.stages, last or step % record.stages_every == 0),
        ("state", line.state, stored or step % record.state_every == 0),
    ):
        if (value is not None) != planned:
            expected, observed = ("them", "none") if planned else ("none", "some")
            return f"{member} of step {step}: expected {expected}, observed {observed}"
    for name, spec in record.printed.items():
        value = decode_value(name, line.metrics[name]) if name in line.metrics else None
        text = None if value is None else _print(value, spec)
        if line.printed.get(name) != text:
            return (
                f"metric {name!r} of step {step}: expected to be printed as {text!r}, "
                f"observed {line.printed.get(name)!r:.100}"
            )
    unplanned = sorted(line.printed.keys() - record.printed.keys())
    if unplanned:
        return f"metric {unplanned[0]!r} of step {step}: expected not to be printed, observed text"
    return None


def _declaration_problem(declared: _Declared, line: StepLine) -> str | None:
    """Whether each stage of a step is declared once: by the header, or by its line otherwise."""
    stages, own = [name for name, _ in line.stages or ()], dict(line.declares or ())
    for name, made_of in own.items():
        if name not in stages or (name in declared and made_of == declared[name]):
            return f"step {line.step}: declares {name!r}: expected only what the header lacks"
    for place, name in enumerate(stages):
        if name not in own and name not in declared:
            return f"step {line.step}: stage {name!r}: expected a declaration, observed none"
        for part in own.get(name, declared.get(name)) or ():
            if not part.startswith(STATE_PREFIX) and part not in stages[:place]:
                return (
                    f"step {line.step}: stage {name!r}: expected to be made of earlier stages, "
                    f"observed {part!r}"
                )
    return None


def _check_header(reference: RunReader, run: RunReader, report: Report) -> None:
    """A fresh run's header declares the stages of its first step, a resumed one's the reference's.

    So an exact resume writes the lines of the reference.
    """
    if run.header.first_step > 1:
        if run.header.stages != reference.header.stages:
            report(run.log_path, "header: expected the stages that the reference's declares")
        return
    first = next(run.steps(), None)
    stages = [name for name, _ in (first.stages if first is not None else None) or ()]
    declared = [name for name, _ in run.header.stages]
    if declared != stages:
        report(run.log_path, f"header: expected the stages {stages}, observed {declared}")


def _print(number: float, spec: str) -> str:
    """As a log would print it: Python's own formatting, the same everywhere."""
    try:
        return format(number, spec)
    except OverflowError:  # an integer beyond the range of floats
        return format(math.copysign(math.inf, 1 if number > 0 else -1), spec)


def _check_start(
    comparison: ComparisonPlan, reference: RunReader, run: RunReader, report: Report
) -> None:
    if comparison.resume_at is None:
        _check_chain(CHAIN_START, run, report)
    elif comparison.resume_at not in reference.checkpoint_steps():
        report(run.log_path, f"resumes at {comparison.resume_at}: no such checkpoint is stored")
    else:
        _check_chain(reference.checkpoint_document(comparison.resume_at).chain, run, report)
        expected, observed = planned_start(comparison, reference), dict(run.start.state)
        for name in sorted({*expected, *observed}):
            if expected.get(name) != observed.get(name):
                report(
                    run.log_path,
                    f"component {name!r} at the start: the plan and the reference's checkpoints "
                    f"give {expected.get(name)}, observed {observed.get(name)}",
                )
    for component in comparison.reset:
        if component not in dict(reference.start.state):
            report(PLAN, f"comparison {run.name!r}: resets {component!r}: no such component")


def _check_chain(expected: str, run: RunReader, report: Report) -> None:
    if run.start.chain != expected:
        report(run.log_path, f"chain at the start: expected {expected}, observed {run.start.chain}")


def _check_files(plan: Plan, run: RunReader, end: _End, report: Report, *, whole: bool) -> None:
    """A run identical to the reference stores only its log; any other stores everything."""
    steps = required_checkpoints(plan, run.header.first_step, end.last_step) if whole else ()
    if run.checkpoint_steps() != steps:
        report(
            run.log_path,
            f"checkpoints: expected after steps {list(steps)}, "
            f"observed {list(run.checkpoint_steps())}",
        )
    kept = sorted(set(plan.record.keep)) if whole and end.rows else []
    if sorted(run.kept_stages()) != kept:
        report(run.kept_path, f"arrays: expected {kept}, observed {sorted(run.kept_stages())}")


def _dump(model: Any) -> bytes:
    return encode_canonical(model.model_dump(mode="json"))


def _first_difference(expected: Any, observed: Any) -> str:
    left, right = expected.model_dump(mode="json"), observed.model_dump(mode="json")
    name = next(key for key in left if encode_canonical(left[key]) != encode_canonical(right[key]))
    return f"{name}: the logs give {left[name]!r:.200}, observed {right[name]!r:.200}"
