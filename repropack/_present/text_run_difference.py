"""The difference of two runs as text: where it began first, then how far it goes."""

from __future__ import annotations

from repropack._present.divergence import divergence_evidence, divergence_place, is_output
from repropack._present.escape import escape_text
from repropack._present.layout import (
    cells,
    ended,
    field,
    join_names,
    plural,
    stage_text,
    step_range,
    table,
    wrap,
)
from repropack._present.patterns import pattern_lines
from repropack._present.text import fault_lines
from repropack._present.zoom import what_ran, zoom_lines
from repropack.models.results import Divergence, Split, StepCount
from repropack.models.run_difference import (
    FormChange,
    RunCounts,
    RunDifference,
    RunSide,
    Stretch,
    StructureDifference,
    WhyIncomparable,
)

_MAX_ROWS = 30
_MAX_FORMS = 8
_BELIEVED = (
    "The recorded chains were believed and not computed again (--fast): nothing is counted; "
    "without --fast both logs are read whole."
)
_COMPUTED = (
    "Both logs were read whole and every chain computed again; {ran}. A first difference "
    "is evidence of where, not of why."
)


def run_difference_text(report: RunDifference) -> str:
    """Where one run parts from another, for people.

    Returns:
        The text; ends in a newline.
    """
    sides = (report.left, report.right)
    told = [side for side in sides if side.faults or report.verdict != "damaged"]
    subject = " and ".join(_named(side) for side in told)
    lines = wrap(subject, first=f"{report.verdict}  ")
    if report.verdict == "damaged":
        for side in told:
            noun = "log" if side.kind == "log" else "package"
            lines += ["", *wrap(_named(side)), *fault_lines(side.faults, noun)]
        return ended(lines)
    lines += wrap(_summary(report))
    lines += ["", *_side("left:", report.left), *_side("right:", report.right)]
    if not report.comparable:
        lines += [line for why in report.reasons for line in field("no comparison:", _why(why))]
        return ended(lines)
    if report.first_step is not None and report.last_step is not None:
        compared = plural(report.last_step - report.first_step + 1, "step")
        steps = f"{compared} that both have, {step_range(report.first_step, report.last_step)}"
        lines += field("compared:", steps)
    lines += _beginnings(report)
    if report.divergence is not None:
        lines += ["", *divergence_lines(report.divergence, report.structure)]
        lines += _forms(report.forms)
    if report.zoom is not None:
        lines += ["", *zoom_lines(report.zoom)]
    counted = report.divergence is not None or report.recorded_alike is False
    if report.counts is not None and counted:
        later = report.divergence is not None and report.divergence.step < (report.last_step or 0)
        lines += ["", *counts_lines(report.counts, later=later)]
    if patterns := pattern_lines(report.patterns):
        lines += ["", *patterns]
    said = _BELIEVED if report.chains_believed else _COMPUTED.format(ran=what_ran(report.zoom))
    lines += ["", *wrap(said)]
    return ended(lines)


def divergence_lines(
    divergence: Divergence, structure: StructureDifference | None = None
) -> list[str]:
    """The first divergence: where, on what evidence, and what else is equal there or not.

    Args:
        divergence: The first place where two logs differ.
        structure: Where their stages are first not the same.

    Returns:
        Lines with a label before the first of each.
    """
    place, evidence = divergence_place(divergence), divergence_evidence(divergence)
    [*above, last] = field("first divergence:", place)
    if above or cells(last) > 60:
        lines = [*above, last, *field("", evidence)]
    else:
        lines = wrap(evidence, first=f"{last}      ", rest=" " * 18)
    for label, parts, text in (
        ("stages there:", divergence.stages, stage_text),
        ("state before it:", divergence.state_before, escape_text),
        ("state after it:", divergence.state_after, escape_text),
    ):
        if parts is not None and (parts.equal or parts.differing):
            lines += field(label, _parted(parts, text))
    if structure is not None:
        lines += field("other stages:", other_stages(structure))
    return lines


def counts_lines(counts: RunCounts, *, later: bool) -> list[str]:
    """How many steps differ, whether the runs meet again, and a row for each name that differs.

    Args:
        counts: What was counted.
        later: Whether there are steps behind the first divergence, at which they could meet.

    Returns:
        Lines with a label before the first of each, and a table.
    """
    some = f"{counts.differing} of {plural(counts.compared, 'step')}"
    if counts.unrecorded:
        some += f"; of {counts.unrecorded} of them neither stages nor state were recorded by both"
    lines = field("differing:", some)
    if later:
        lines += field("meet again:", meeting(counts))
    rows = [
        [what, stage_text(row.name), f"{row.differing} of {row.compared}", f"step {row.first_step}"]
        for what, tallies in _tallies(counts)
        for row in tallies
        if row.differing
    ]
    same_print = [
        row.metric for row in counts.printed if row.compared and row.equal == row.compared
    ]
    if same_print and len(rows) > 0:
        lines += field("printed alike:", f"{join_names(same_print)} at every step; proves nothing")
    for what, tallies in _tallies(counts):
        equal = [row.name for row in tallies if not row.differing]
        if equal:
            lines += field(f"equal {what}s:", join_names(map(stage_text, equal)))
    if rows:
        head = ["what", "name", "differs at", "first at"]
        lines += ["", *table(head, rows[:_MAX_ROWS], right=(3,))]
    if len(rows) > _MAX_ROWS:
        lines.append(f"and {len(rows) - _MAX_ROWS} more")
    if counts.names_left_out:
        lines += wrap("There are more names than are counted; the others are not told.")
    return lines


def _tallies(counts: RunCounts) -> tuple[tuple[str, tuple[StepCount, ...]], ...]:
    return ("stage", counts.stages), ("component", counts.components), ("metric", counts.metrics)


def meeting(counts: RunCounts) -> str:
    """Whether two runs meet again, without a full stop."""
    between, again = counts.equal_between, counts.meets_again
    if again is not None:
        return f"yes: all that both recorded is equal at {_stretch(again)}, to the end"
    if between is not None:
        return f"for a while: all that both recorded is equal at {_stretch(between)}"
    return "no: there is no later step at which all that both recorded is equal"


def _stretch(stretch: Stretch) -> str:
    if stretch.first_step == stretch.last_step:
        return f"step {stretch.first_step}"
    return f"steps {stretch.first_step}..{stretch.last_step}"


def _parted(parts: Split, text: object) -> str:
    shown = text if callable(text) else str
    said = []
    if parts.differing:
        said.append(f"differing: {join_names(map(shown, parts.differing))}")
    if parts.equal:
        said.append(f"equal: {join_names(map(shown, parts.equal))}")
    return "; ".join(said)


def other_stages(structure: StructureDifference) -> str:
    """Which stages are missing, extra, in another order or declared otherwise, and where."""
    said = []
    for what, names in (
        ("missing on the right", structure.missing),
        ("extra on the right", structure.extra),
        ("in another order", structure.reordered),
        ("made of other inputs", structure.redeclared),
    ):
        if names:
            said.append(f"{what}: {join_names(map(stage_text, names))}")
    return f"from step {structure.step} on, at {plural(structure.steps, 'step')}: {'; '.join(said)}"


def _forms(forms: tuple[FormChange, ...]) -> list[str]:
    """Arrays of another type or shape."""
    told = [
        f"{escape_text(form.name, 80)}: {escape_text(form.left, 80)} on the left, "
        f"{escape_text(form.right, 80)} on the right"
        for form in forms[:_MAX_FORMS]
    ]
    if len(forms) > _MAX_FORMS:
        told.append(f"and {len(forms) - _MAX_FORMS} more")
    return [line for text in told for line in field("other form:", text)]


def _named(side: RunSide) -> str:
    run = f"::{side.run}" if side.kind == "run" and side.run is not None else ""
    return f"{escape_text(side.path)}{run}"


def _side(label: str, side: RunSide) -> list[str]:
    said = [f"run {escape_text(side.run or 'not known', 80)}"]
    if side.first_step is not None and side.last_step is not None:
        said.append(f"steps {step_range(side.first_step, side.last_step)}")
    if side.finish is not None:
        said.append(f"ended by itself ({escape_text(side.finish, 80)})")
    what = "in a package" if side.kind == "run" else "a log on its own"
    return field(label, f"{', '.join(said)}; {what}")


def _summary(report: RunDifference) -> str:
    if not report.comparable:
        return "These two cannot be compared, so this says nothing of where they part."
    if report.verdict == "identical":
        whole = "one history" if report.chains_equal else "equal line by line"
        return f"On all the steps that both have they are {whole}."
    if report.divergence is None:
        if report.recorded_alike is False:
            return (
                "No divergence where both were recorded; but they were not recorded at the same "
                "steps, so that this is less than identical."
            )
        return "No step differs that both have; what was there before them does."
    how = ""
    if is_output(report.divergence):
        how = f"; {divergence_evidence(report.divergence)}"
    elif report.counts is not None:
        how = f"; {how_far(report.counts)}"
    return f"They part at {divergence_place(report.divergence)}{how}."


def how_far(counts: RunCounts) -> str:
    """How many steps, stages and components differ, without a full stop."""
    differ = "differs" if counts.differing == 1 else "differ"
    parts = [
        f"{sum(row.differing > 0 for row in rows)} of {plural(len(rows), noun)}"
        for noun, rows in (("stage", counts.stages), ("component", counts.components))
        if rows
    ]
    steps = f"{counts.differing} of {plural(counts.compared, 'step')} {differ}"
    return f"{steps}, in {' and '.join(parts)}" if parts else steps


def _beginnings(report: RunDifference) -> list[str]:
    """What was another before any step."""
    lines: list[str] = []
    if report.configurations_equal is False:
        lines += field("configuration:", "they ran with another configuration")
    for label, parts in (
        ("constants:", report.constants),
        ("first state:", report.start),
        ("declared stages:", report.declared),
    ):
        if parts is not None and parts.differing:
            lines += field(label, _parted(parts, stage_text))
    return lines


def _why(why: WhyIncomparable) -> str:
    left, right = join_names(why.left) or "none", join_names(why.right) or "none"
    if why.reason == "no-step-in-common":
        return f"they have no step in common: left has steps {left}, right {right}"
    if why.reason == "no-name-in-common":
        return (
            "no stage and no component of one is in the other, so that they are of different "
            f"experiments: left has {left}; right {right}"
        )
    return (
        "there is no step of which both recorded stages or both the state: "
        "they were recorded at different steps"
    )
