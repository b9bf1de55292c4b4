"""Whether plan, logs, stored files and results of a package tell one and the same story.

Everything read here is already whole in itself; this is about lies that keep every digest right.
The shape of the runs is held against the plan first, and results are computed from runs that have
it, so that no walk is longer than a log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from repropack._compare.logs import STATE_PREFIX
from repropack._compare.outcomes import compute_results
from repropack._compare.timeline import Timelines
from repropack._format.canonical import encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.layout import ENVIRONMENT, PLAN, REFERENCE_RUN, RESULTS
from repropack._format.log import CHAIN_START
from repropack._format.placeholders import unknown_placeholders
from repropack._format.printing import print_number
from repropack._format.state import decode_value
from repropack._format.values import check_references
from repropack._read.claimed import check_planned_claims, check_stored_claims
from repropack._read.project_sources import is_pattern_inside
from repropack._read.run import RunReader
from repropack.errors import PackageFormatError
from repropack.models.environment import EnvironmentRecord
from repropack.models.log import StepLine
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.results import Results
from repropack.refusals import refusal

_Declared = Mapping[str, tuple[str, ...] | None]
_COMPONENT = re.compile(rf"{STATE_PREFIX}[A-Za-z0-9_][A-Za-z0-9_+-]{{0,199}}")
_State = tuple[tuple[str, str], ...] | None
_Fault = tuple[str, str, str, str]
"""Rule, place, expected and observed of what is wrong with a step line."""
Report = Callable[[str, str, str, object, object], None]
"""Called with rule, entry, place, expected and observed, as ``refusal`` takes them."""


@dataclass(frozen=True)
class _End:
    """Where a log ends, and how many of its steps have stages."""

    last_step: int
    rows: int


def required_checkpoints(plan: Plan, first_step: int, last_step: int) -> tuple[int, ...]:
    """Steps after which a run from ``first_step`` to ``last_step`` stores its state, ascending."""
    every = plan.record.checkpoint_every
    between = range(-(-first_step // every) * every, last_step, every) if every is not None else ()
    return tuple(sorted({first_step - 1, last_step, *between}))


def planned_config(plan: Plan, comparison: ComparisonPlan | None) -> dict[str, Any]:
    """The complete configuration of a run, encoded: the plan's, with the comparison's changes."""
    changes = {} if comparison is None else comparison.config
    return {**plan.experiment.config, **changes}


def check_plan(plan: Plan, report: Report) -> None:
    """Hold the plan's comparisons against the plan.

    Args:
        plan: The package's plan.
        report: Called for each fault.

    Raises:
        PackageFormatError: a configuration holds what is no encoded value.
    """
    _check_form(plan, report)
    _check_values(plan.experiment.config)
    if len(set(plan.record.keep)) != len(plan.record.keep):
        report("plan.keep", PLAN, "keep", "each stage once", "one twice")
    seen = {REFERENCE_RUN}
    for comparison in plan.comparisons:
        where = f"comparison {comparison.name!r}"
        _check_values(comparison.config)
        if comparison.name in seen:
            report("plan.name", PLAN, where, "a name of its own", "one that is taken")
        seen.add(comparison.name)
        if comparison.reset and comparison.resume_at is None:
            report("plan.reset", PLAN, where, "resume_at beside reset", "none")
        if len(set(comparison.reset)) != len(comparison.reset):
            report("plan.reset", PLAN, f"{where}: reset", "each component once", "one twice")
        if comparison.resume_at is not None and comparison.resume_at >= plan.experiment.steps:
            expected = f"a step before {plan.experiment.steps}"
            place = f"{where}: resume_at"
            report("plan.resume-at", PLAN, place, expected, comparison.resume_at)
    check_planned_claims(plan, report)


def _check_form(plan: Plan, report: Report) -> None:
    """An experiment has one of three forms, and a command without steps only what it can have."""
    one = plan.experiment
    if (one.entry_point is None) == (one.command is None):
        observed = "neither" if one.command is None else "both"
        report("plan.form", PLAN, "experiment", "an entry point or a command", observed)
    for folder in one.import_from:
        if not is_pattern_inside(folder):
            report("plan.form", PLAN, "import_from", "folders of the source", f"{folder!a:.80}")
    if one.command is None and (one.loop or one.outputs):
        report("plan.form", PLAN, "experiment", "a command beside loop and outputs", "none")
    for word in (*(one.command or ()), *(word for row in plan.after for word in row.command)):
        if any(unknown_placeholders(word, one.config)):
            expected = "{seed}, {config.NAME} and doubled braces in words of commands"
            report("plan.form", PLAN, "", expected, f"{word!a:.100}")
    if one.command is None or one.loop:
        return
    if one.steps != 1 or not one.outputs:
        expected, observed = "a command of one step with outputs", f"{one.steps} steps"
        report("plan.form", PLAN, "experiment", expected, observed)
    resumed = any(comparison.resume_at is not None for comparison in plan.comparisons)
    if resumed or plan.record.keep or plan.record.printed:
        expected = "no resume, kept stage or printed metric of a command without steps"
        report("plan.form", PLAN, "experiment", expected, "one")


def _check_values(config: Mapping[str, Any]) -> None:
    for name, value in config.items():
        if name.startswith("$"):
            raise PackageFormatError(
                refusal("plan.config", PLAN, "config", "no key with $", repr(name))
            )
        if check_references(name, value):
            raise PackageFormatError(
                refusal("plan.config", PLAN, f"config {name!r}", "no array", "one")
            )


def check_environment(record: EnvironmentRecord, report: Report) -> None:
    """Hold an environment's lists against what is said of them, whatever they list.

    Args:
        record: The package's environment.
        report: Called for each fault.
    """
    for place, names in (
        ("distributions", [row.name for row in record.distributions]),
        ("cpu/features", list(record.cpu.features)),
    ):
        if names != sorted(set(names)):
            expected = "sorted by name, each name once"
            report(
                "document.environment", ENVIRONMENT, place, expected, "another order, or one twice"
            )
    for family, digest in (record.probe_card_at_end or {}).items():
        if record.probe_card.get(family, digest) == digest:
            expected = "families whose digest changed"
            report("document.environment", ENVIRONMENT, "probe_card_at_end", expected, repr(family))


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
    reset = frozenset(comparison.reset)
    return {
        name: initial.get(name, "") if name in reset else digest for name, digest in stored.items()
    }


def check_consistency(
    plan: Plan,
    stored: Results,
    runs: Mapping[str, RunReader],
    report: Report,
    timelines: Timelines | None = None,
) -> None:
    """Hold plan, runs and results against each other.

    Args:
        plan: The package's plan, which ``check_plan`` found nothing wrong with.
        stored: Its ``results.json``.
        runs: A reader for the reference and for each comparison.
        report: Called for each fault.
        timelines: Filled with what the runs look like step by step.

    Raises:
        PackageError: a log, checkpoint or kept array is malformed.
    """
    faults = 0

    def note(rule: str, entry: str, place: str, expected: object, observed: object) -> None:
        nonlocal faults
        faults += 1
        report(rule, entry, place, expected, observed)

    reference = runs[REFERENCE_RUN]
    ends = {REFERENCE_RUN: _check_run(plan, None, reference, note)}
    _check_chain(CHAIN_START, reference, note)
    _check_header(reference, reference, note)
    # those that resume from one checkpoint come together, so that it is read once
    for comparison in sorted(plan.comparisons, key=lambda one: one.resume_at or 0):
        run = runs[comparison.name]
        ends[comparison.name] = _check_run(plan, comparison, run, note)
        _check_start(comparison, reference, run, note)
        _check_header(reference, run, note)
    if faults:
        return
    comparisons = {name: run for name, run in runs.items() if name != REFERENCE_RUN}
    computed = compute_results(plan, reference, comparisons, timelines)
    _check_results(computed, stored, note)
    if not faults:
        check_stored_claims(plan, computed, stored, runs, note)
    _check_files(plan, reference, ends[REFERENCE_RUN], note, whole=True)
    for outcome in computed.comparisons:
        run = runs[outcome.run]
        _check_files(plan, run, ends[outcome.run], note, whole=not outcome.identical)


def _check_results(computed: Results, stored: Results, report: Report) -> None:
    if _dump(stored.reference) != _dump(computed.reference):
        _report_difference("reference", computed.reference, stored.reference, report)
    for expected, observed in zip_longest(computed.comparisons, stored.comparisons):
        if expected is None or observed is None or expected.run != observed.run:
            planned = "one for each of the plan, in its order"
            report("results.comparisons", RESULTS, "comparisons", planned, "others")
            return
        if _dump(expected) != _dump(observed):
            _report_difference(expected.run, expected, observed, report)


def _check_run(
    plan: Plan, comparison: ComparisonPlan | None, run: RunReader, report: Report
) -> _End:
    """Hold one run's log against the plan."""
    resume_at = comparison.resume_at if comparison is not None else None
    first_step = (resume_at or 0) + 1
    if run.header.first_step != first_step:
        place = "first step, against the plan's"
        report("run.first-step", run.log_path, place, first_step, run.header.first_step)
    expected = digest_bytes(encode_canonical(planned_config(plan, comparison)))
    if run.header.config != expected:
        place = "configuration, against the plan's"
        report("run.config", run.log_path, place, expected, run.header.config)
    declared = dict(run.header.stages)
    last, finish, rows, wrong = run.header.first_step - 1, None, 0, None
    before: _State = run.start.state
    for line in run.steps():
        last, finish, rows = line.step, line.finish, rows + (line.stages is not None)
        wrong = wrong or _recording_fault(plan, line) or _declaration_fault(declared, before, line)
        before = line.state
    if wrong is not None:
        rule, place, told, observed = wrong
        report(rule, run.log_path, place, told, observed)
    steps = plan.experiment.steps
    if last > steps or (last < steps and finish is None):
        report("run.steps", run.log_path, "", f"{steps} steps", last)
    return _End(last, rows)


def _recording_fault(plan: Plan, line: StepLine) -> _Fault | None:
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
            return "run.recording", f"{member} of step {step}", expected, observed
    for name in sorted(record.printed.keys() & {*line.metrics, *line.printed}):
        value = decode_value(name, line.metrics[name]) if name in line.metrics else None
        text = None if value is None else print_number(value, record.printed[name])
        if line.printed.get(name) != text:
            place, observed = f"metric {name!r} of step {step}", f"{line.printed.get(name)!r:.100}"
            return "run.printed", place, f"to be printed as {text!r}", observed
    unplanned = sorted(line.printed.keys() - record.printed.keys())
    if unplanned:
        return "run.printed", f"metric {unplanned[0]!r} of step {step}", "no printed text", "text"
    return None


def _declaration_fault(declared: _Declared, before: _State, line: StepLine) -> _Fault | None:
    """Whether each stage of a step is declared once: by the header, or by its line otherwise."""
    stages, own = [name for name, _ in line.stages or ()], dict(line.declares or ())
    for name, made_of in own.items():
        if name not in stages or (name in declared and made_of == declared[name]):
            place = f"step {line.step}: declares {name!r}"
            return "run.declaration", place, "only what the header lacks", "this"
    if list(own) != [name for name in stages if name in own]:
        return "run.declaration", f"step {line.step}: declares", "its stages' order", "another"
    earlier: set[str] = set()
    components = None if before is None else {f"{STATE_PREFIX}{name}" for name, _ in before}
    for name in stages:
        place = f"step {line.step}: stage {name!r}"
        if name not in own and name not in declared:
            return "run.declaration", place, "a declaration", "none"
        for part in own.get(name, declared.get(name)) or ():
            if part not in earlier and not _is_component(part, components):
                told = "to be made of earlier stages and the state before"
                return "run.declaration", place, told, repr(part)
        earlier.add(name)
    return None


def _is_component(part: str, components: Collection[str] | None) -> bool:
    """Whether a stage can be made of a part as of a component; by its form, where none is known."""
    if components is not None:
        return part in components
    return _COMPONENT.fullmatch(part) is not None


def _check_header(reference: RunReader, run: RunReader, report: Report) -> None:
    """A fresh run's header declares the stages of its first step, a resumed one's the reference's.

    So an exact resume writes the lines of the reference.
    """
    if run.header.first_step > 1:
        if run.header.stages != reference.header.stages:
            expected = "the stages that the reference's declares"
            report("run.stages", run.log_path, "header", expected, "others")
        return
    first = next(run.steps(), None)
    stages = [name for name, _ in (first.stages if first is not None else None) or ()]
    declared = [name for name, _ in run.header.stages]
    if declared != stages:
        told, observed = f"the stages {stages!s:.400}", f"{declared!s:.400}"
        report("run.stages", run.log_path, "header", told, observed)


def _check_start(
    comparison: ComparisonPlan, reference: RunReader, run: RunReader, report: Report
) -> None:
    initial = dict(reference.start.state)
    stored: Collection[str] = initial
    if comparison.resume_at is None:
        _check_chain(CHAIN_START, run, report)
    elif comparison.resume_at not in reference.checkpoint_steps():
        place = f"resumes at {comparison.resume_at}"
        report("run.resume", run.log_path, place, "a checkpoint of the reference there", "none")
    else:
        document = reference.checkpoint_document(comparison.resume_at)
        stored = dict(document.components)
        _check_chain(document.chain, run, report)
        expected, observed = planned_start(comparison, reference), dict(run.start.state)
        for name in sorted({*expected, *observed}):
            if expected.get(name) != observed.get(name):
                place = f"component {name!r} at the start, against the plan and the checkpoints"
                given, found = expected.get(name, "none"), observed.get(name, "none")
                report("run.start", run.log_path, place, given, found)
    for component in comparison.reset:
        if component not in initial or component not in stored:
            place = f"comparison {run.name!r}: resets {component!r}"
            report("plan.reset", PLAN, place, "a component of the state", "none of this name")


def _check_chain(expected: str, run: RunReader, report: Report) -> None:
    if run.start.chain != expected:
        report("run.chain", run.log_path, "chain at the start", expected, run.start.chain)


def _check_files(plan: Plan, run: RunReader, end: _End, report: Report, *, whole: bool) -> None:
    """A run identical to the reference stores only its log; any other stores everything."""
    steps = required_checkpoints(plan, run.header.first_step, end.last_step) if whole else ()
    stored = run.checkpoint_steps()
    if stored != steps:
        expected, observed = f"after steps {list(steps)!s:.400}", f"{list(stored)!s:.400}"
        report("run.checkpoints", run.log_path, "checkpoints", expected, observed)
    kept, stages = sorted(set(plan.record.keep)) if whole and end.rows else [], run.kept_stages()
    if sorted(stages) != kept or run.has_kept != bool(kept):
        expected, observed = f"{kept!s:.400}", f"{sorted(stages)!s:.400}"
        report("run.kept", run.kept_path, "arrays", expected, observed)


def _dump(model: Any) -> bytes:
    return encode_canonical(model.model_dump(mode="json"))


def _report_difference(place: str, expected: Any, observed: Any, report: Report) -> None:
    left, right = expected.model_dump(mode="json"), observed.model_dump(mode="json")
    name = next(key for key in left if encode_canonical(left[key]) != encode_canonical(right[key]))
    place = f"{place}: {name}, against the logs"
    report("results.outcome", RESULTS, place, f"{left[name]!r:.200}", f"{right[name]!r:.200}")
