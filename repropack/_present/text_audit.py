"""What an audit found, as text: the verdict, the evidence, and a table of the state."""

from __future__ import annotations

from collections.abc import Iterable

from repropack._present.divergence import divergence_evidence, divergence_place
from repropack._present.escape import escape_text
from repropack._present.layout import (
    ended,
    field,
    join_names,
    listing,
    number,
    plural,
    short_number,
    stage_text,
    table,
    wrap,
)
from repropack._present.patterns import pattern_lines
from repropack.models.audit import (
    AuditedReset,
    AuditedResume,
    AuditReport,
    ChangedObject,
    Holder,
)
from repropack.models.results import FinalMetric

_MAX_HOLDERS = 8
_MAX_CHANGED = 12
_GENERATORS = {
    "random": "the global generator of random",
    "numpy.random": "the global generator of numpy.random",
    "torch": "the global generator of torch",
}


def plan_line(runs: int, steps: int) -> str:
    """How much an audit will run, before it goes on.

    Args:
        runs: How many runs it makes.
        steps: How many steps the longest has.

    Returns:
        One line.
    """
    each = "each in its own process; one more where a resume diverges"
    return f"audit: {plural(runs, 'run')} of up to {plural(steps, 'step')}, {each}"


def audit_text(report: AuditReport) -> str:
    """What an audit found, for people.

    Returns:
        The text; ends in a newline.
    """
    lines = wrap(f"{escape_text(report.path)}: {_headline(report)}", first=f"{report.verdict}  ")
    lines += ["", *_repeat_lines(report), *_round_trip_lines(report), *_resume_lines(report)]
    lines += _holder_lines(report)
    lines += _table_lines(report)
    lines += _changed_lines(report)
    lines += ["", *wrap(_limits(report))]
    return ended(lines)


def _headline(report: AuditReport) -> str:
    if not report.repeat.identical:
        return "a second run in a fresh process differs; no resume can be judged before it repeats"
    if report.round_trip is not None:
        return "the first state does not come back when it is loaded"
    failed = [one for one in report.resumes if not one.identical]
    if failed:
        resumes = plural(len(report.resumes), "resume")
        return f"{len(failed)} of {resumes} of the whole state did not go on exactly"
    return f"resumed {_times(len(report.resumes))} in fresh processes, each went on exactly"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _repeat_lines(report: AuditReport) -> list[str]:
    repeat = report.repeat
    if repeat.identical:
        told = f"yes: a second run in a fresh process equals the first, steps 1..{report.last_step}"
        return field("repeats", told)
    if repeat.divergence is None:
        return field("repeats", "no: the first states differ")
    lines = field("repeats", f"no: {divergence_place(repeat.divergence)}")
    lines += field("", divergence_evidence(repeat.divergence))
    return lines + pattern_lines(repeat.patterns)


def _round_trip_lines(report: AuditReport) -> list[str]:
    if report.round_trip is None:
        return field("loads back", "yes: after one step, the first state comes back byte for byte")
    lines = field("loads back", f"no: {escape_text(report.round_trip.message, 600)}")
    if report.round_trip.hint:
        lines += field("", f"cure: {escape_text(report.round_trip.hint, 400)}")
    return lines


def _resume_lines(report: AuditReport) -> list[str]:
    lines: list[str] = []
    told = False
    for one in report.resumes:
        lines += field(f"resume after {one.resume_at}"[:17], _resume_told(one))
        if one.divergence is not None:
            lines += field("", divergence_evidence(one.divergence))
        if one.start.differing:
            names = join_names(one.start.differing)
            lines += field("", f"right after the restore these are not what was stored: {names}")
        if one.repeats is False:
            lines += field("", "a second resume gives another result: it varies from run to run")
        if not told:  # they are mostly the same for all that part
            lines += pattern_lines(one.patterns)
        told = told or one.divergence is not None
    if report.boundaries:
        steps = ", ".join(map(str, report.boundaries[:8]))
        more = ", ..." if len(report.boundaries) > 8 else ""
        lines += field(
            "seldom changes",
            f"a component that seldom changes did so after steps {steps}{more}: the end of an "
            "epoch, or a step of a schedule",
        )
    return lines


def _resume_told(one: AuditedResume) -> str:
    if one.problem is not None:
        return f"raised: {escape_text(one.problem.message, 400)}"
    if one.identical:
        return f"exact to the end, steps {one.resume_at + 1}..{one.resume_at + one.compared}"
    if one.divergence is None:
        return "every step equal, the restored state is not"
    return f"diverges at {divergence_place(one.divergence)}"


def _holder_lines(report: AuditReport) -> list[str]:
    """Likely holders of the first resume that diverges; none where it varies as the runs do."""
    one = next((each for each in report.resumes if each.holders), None)
    if one is None or (not report.repeat.identical and one.repeats is False):
        return []
    own = [holder for holder in one.holders if not holder.set_by_each_step] or one.holders
    names = [each.path for each in one.holders if each not in own]
    lines = [
        "",
        *wrap(
            f"Objects that may hold what the resume after step {one.resume_at} lacks, likeliest "
            "first. Each is evidence and none is proof: an object can change and not matter."
        ),
    ]
    for holder in own[:_MAX_HOLDERS]:
        lines += wrap(_holder_told(holder), first="- ", rest="  ")
    left = max(0, len(own) - _MAX_HOLDERS) + one.holders_left_out
    if left > 0:
        lines.append(f"- and {left} more")
    if names:
        told = f"least likely, names that each step sets: {join_names(names, 6)}"
        lines += wrap(told, first="- ", rest="  ")
    return lines


def _holder_told(holder: Holder) -> str:
    name = escape_text(holder.path, 120)
    described = f"{_GENERATORS[holder.path]}" if holder.path in _GENERATORS else name
    parts = [f"{described}: {_reason(holder)}"]
    if (
        holder.kind != "generator"
        and holder.in_run is not None
        and holder.after_restore is not None
    ):
        run, restored = (escape_text(text, 80) for text in (holder.in_run, holder.after_restore))
        parts.append(f"{run} in the run, {restored} after the restore")
    elif holder.in_run is None and holder.after_restore is not None:
        parts.append("it is there only after the restore")
    elif holder.after_restore is None and holder.in_run is not None and holder.reason != "opaque":
        parts.append(f"{escape_text(holder.in_run, 80)} in the run, not there after the restore")
    if holder.lost_without_harm:
        parts.append("another resume lost it too, and went on exactly")
    if holder.set_by_each_step:
        parts.append("a name that each step sets")
    return "; ".join(parts)


def _reason(holder: Holder) -> str:
    names = join_names(holder.in_state)
    changed = (
        f"changed first in step {holder.changed_first}"
        if holder.changed_first is not None
        else "never changed between steps"
    )
    other = escape_text(holder.shared_with or "", 120)
    return {
        "not-in-state": f"{changed}, is in no component, and does not come back",
        "narrowed": f"the state holds it in a type that loses some of it, as {names}",
        "no-longer-shared": f"one object with {other} in the run, two after the restore",
        "shared-after-restore": f"an object of its own in the run, {other} after the restore",
        "not-restored": f"{changed}, is in the state as {names}, and does not come back",
        "opaque": f"cannot be looked into ({escape_text(holder.in_run or '', 80)})",
    }[holder.reason]


def _table_lines(report: AuditReport) -> list[str]:
    if not report.resets:
        return []
    lines = [
        "",
        *wrap(
            "Each part of the state put back to its first value when the run is resumed, held "
            "against a resume of the whole state:"
        ),
        "",
    ]
    header = (
        "part",
        "matters",
        "from\nstep",
        "through",
        "apart at the end",
        "metrics",
        "resumed\nafter",
    )
    rows = [_row(one) for one in report.resets]
    lines += table(header, rows, right={2, 6})
    silent = [
        one for one in report.resets if one.effect in {"itself", "none"} and one.value is None
    ]
    if silent:
        names = join_names(one.component for one in silent)
        lines += ["", *wrap(f"Never mattered to anything else in these runs: {names}.")]
    if any(_direction(one.final_metrics) for one in report.resets):
        lines += wrap("A metric that ends lower or higher proves nothing about a state.")
    return lines


_EFFECTS = {
    "matters": "yes",
    "itself": "only itself",
    "none": "no",
    "fails": "raises",
    "unchanged": "not told",
    "not-run": "not run",
}


def _row(one: AuditedReset) -> tuple[str, ...]:
    name = escape_text(one.value, 60) if one.value is not None else escape_text(one.component, 60)
    indent = "  " if one.value is not None else ""
    if one.effect == "unchanged":
        notes = "equals its first value"
    elif one.effect == "fails" and one.problem is not None:
        notes = escape_text(one.problem.message, 60)
    else:
        notes = _through(one)
    return (
        f"{indent}{name}",
        _EFFECTS[one.effect],
        "" if one.first_step is None else str(one.first_step),
        notes,
        _distance(one),
        _direction(one.final_metrics),
        "" if one.resume_at is None else str(one.resume_at),
    )


def _through(one: AuditedReset) -> str:
    if one.stages:
        return stage_text(one.stages[0])
    if one.components:
        return f"state {join_names(one.components, 2)}"
    return f"metric {join_names(one.metrics, 2)}" if one.metrics else ""


def _distance(one: AuditedReset) -> str:
    """The largest difference of a component at the end, of another than its own where any has."""
    measured = [row for row in one.final if row.largest_absolute is not None]
    others = [row for row in measured if row.component != one.component] or measured
    if not others:
        names = join_names((row.component for row in one.final), 2)
        return f"{names} differ{'s' * (len(one.final) == 1)}" if names else ""
    farthest = max(others, key=lambda row: _size(row.largest_absolute))
    return f"{escape_text(farthest.component, 30)} by {short_number(farthest.largest_absolute)}"


def _size(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("inf")


def _direction(metrics: Iterable[FinalMetric]) -> str:
    parts = []
    for one in metrics:
        pair = (one.reference, one.run)
        if pair[0] == pair[1]:
            continue
        name = escape_text(one.metric, 40)
        if all(isinstance(value, int | float) for value in pair):
            parts.append(f"{name} {'lower' if _size(pair[1]) < _size(pair[0]) else 'higher'}")
        else:
            parts.append(f"{name} {number(pair[1])}")
    return ", ".join(parts[:3])


def _changed_lines(report: AuditReport) -> list[str]:
    changed = [one for one in report.changed if not one.set_by_each_step]
    if not changed:
        return []
    lines = [
        "",
        *wrap(
            "Changed between steps and in no component, from the first looked at on. They may be "
            "caches or what a step writes before it reads it:"
        ),
    ]
    rows = [_changed_told(one) for one in changed]
    shown = listing(rows[:_MAX_CHANGED])
    left = len(rows) - _MAX_CHANGED + report.changed_left_out
    return [*lines, *shown, *([f"- and {left} more"] if left > 0 else [])]


def _changed_told(one: ChangedObject) -> str:
    name = _GENERATORS.get(one.path) or escape_text(one.path, 120)
    back = "comes back when the state is loaded"
    if one.lost_at:
        steps = ", ".join(map(str, one.lost_at))
        back = f"does not come back after step{'s' if len(one.lost_at) > 1 else ''} {steps}"
    times = f"changed in {plural(one.changes, 'look')}, first in step {one.changed_first}"
    return f"{name}: {times}; {back}"


def _limits(report: AuditReport) -> str:
    """What the audit did not look at."""
    parts = [f"Made {plural(report.runs_made, 'run')}."]
    left = sum(one.effect == "not-run" for one in report.resets)
    if left:
        parts.append(f"{plural(left, 'part')} of the state left out: --max-runs.")
    if report.opaque:
        parts.append(f"Cannot be looked into: {join_names(report.opaque, 6)}.")
    if report.not_looked_at:
        parts.append(f"Not looked at: {join_names(report.not_looked_at, 4)}.")
    parts.append(
        "An exact resume shows that nothing was missing after these steps, in this environment."
    )
    return " ".join(parts)
