"""The elements of the step at which two runs part, in words and numbers."""

from __future__ import annotations

from repropack._present.divergence import divergence_place
from repropack._present.elements import array_counts, element_lines
from repropack._present.escape import escape_text
from repropack._present.layout import field, join_names, plural
from repropack.models.base import OUTPUT_PREFIX
from repropack.models.differences import ArrayDifference, ValueDifference
from repropack.models.zoom import (
    RanCode,
    RepeatedGroup,
    RepeatedResult,
    RepeatVariation,
    Repetition,
    Zoom,
    ZoomedArray,
    ZoomSide,
)

_MAX_ARRAYS = 8
_MAX_INPUT_ELEMENTS = 3
_NAME = 100
_RECORDED = {True: ", as recorded", False: ", NOT as recorded"}
_SIDES = {"expected": "on the left", "observed": "on the right"}


def zoom_lines(zoom: Zoom, *, diverging: bool = True) -> list[str]:
    """What was seen at the step at which two runs part.

    Args:
        zoom: What was looked at.
        diverging: Whether what diverged is told too, which may stand above already.

    Returns:
        Lines with a label before the first of each, everything from the runs escaped.
    """
    lines = _origins(zoom) + _keeping(zoom) + _array_lines(zoom.arrays, diverging=diverging)
    for value in zoom.values[:_MAX_ARRAYS]:
        label = "made of:" if value.role == "input" else "value:"
        lines += field(label, f"{escape_text(value.name, _NAME)}{_value(value.difference)}")
    lines += _more(len(zoom.values) + zoom.left_out)
    equal = [row.name for row in zoom.arrays if row.role == "input" and row.equal]
    if equal:
        lines += field("equal inputs:", join_names(equal))
    if zoom.problem is not None:
        lines += field("no elements:", escape_text(zoom.problem, 600))
    if zoom.repetition is not None:
        lines += repetition_lines(zoom.repetition)
    return lines


def _array_lines(arrays: tuple[ZoomedArray, ...], *, diverging: bool) -> list[str]:
    """What diverged, what it was made of, and what differs after it."""
    lines: list[str] = []
    first = [row for row in arrays if row.role not in {"input", "later"}]
    if diverging:
        for row in first[:_MAX_ARRAYS]:
            lines += _array("elements:", row, None)
        lines += _more(len(first))
    inputs = [row for row in arrays if row.role == "input" and not row.equal]
    for row in inputs[:_MAX_ARRAYS]:
        lines += _array("made of:", row, _MAX_INPUT_ELEMENTS)
    lines += _more(len(inputs))
    for row in arrays:
        if row.role == "later" and not row.equal:
            lines += _array("later there:", row, 1)
    return lines


def _origins(zoom: Zoom) -> list[str]:
    """Where the arrays of both sides come from."""
    lines: list[str] = []
    if zoom.divergence is not None:
        place = divergence_place(zoom.divergence)
        text = f"made again with every step recorded, they part at {place}"
        lines += field("parted before:", text)
    for label, side in (("expected from:", zoom.expected), ("observed from:", zoom.observed)):
        if side is not None:
            lines += field(label, _origin(side, zoom.step))
    return lines


def _keeping(zoom: Zoom) -> list[str]:
    """How to have the recorded elements another time, where making them again gives others."""
    sides = [side for side in (zoom.expected, zoom.observed) if side is not None]
    if zoom.name is None or zoom.name.startswith(OUTPUT_PREFIX):
        return []
    if all(side.reproduced is not False for side in sides):
        return []
    name = escape_text(zoom.name, _NAME)
    return field("to have those:", f"keep, in [record], stores {name} as it was when recorded")


def repetition_lines(repetition: Repetition) -> list[str]:
    """How stable the result of a step was when it was made again and again.

    Args:
        repetition: The step, and what each variation gave.

    Returns:
        A line for each variation, and what they show together.
    """
    name = escape_text(repetition.name, _NAME)
    run = escape_text(repetition.run, 80)
    what = f"step {repetition.step} of {run} from the same state and inputs, {name}:"
    lines = field("repeated:", what)
    for group in repetition.groups:
        found = [row for row in group.results if row.name == repetition.name]
        if found:
            lines += field("", f"{_group(group)}: {_stability(group, found[0])}")
    if repetition.problem is not None:
        lines += field("", f"not repeated: {escape_text(repetition.problem, 600)}")
    return lines + field("", _shown(repetition)) if repetition.groups else lines


def _group(group: RepeatedGroup) -> str:
    if group.variation == "threads":
        return f"with {plural(group.setting or 0, 'thread')}"
    if group.variation == "hash-seed":
        return f"with hash seed {group.setting}"
    return "in one process" if group.variation == "one-process" else "in fresh processes"


def _stability(group: RepeatedGroup, result: RepeatedResult) -> str:
    if result.distinct > 1:
        return f"{result.distinct} different results in {group.times} times"
    recorded = "" if result.as_recorded is None else _RECORDED[result.as_recorded]
    other = "" if result.as_first else ", with another result than without"
    return f"bitwise stable in {group.times} of {group.times}{recorded}{other}"


def _shown(repetition: Repetition) -> str:
    """What the variations show together; never a cause."""
    if repetition.varies("fresh-processes"):
        within = "within one process and " if repetition.varies("one-process") else ""
        return (
            f"varies {within}from process to process: consistent with an operation whose result "
            "varies, so that a difference here needs no other code, data or state"
        )
    if repetition.varies("one-process"):
        return (
            "varies within a process and not between fresh ones: consistent with state that "
            "restoring does not put back"
        )
    varying = [what for variation, what in _VARIED if repetition.varies(variation)]
    if varying:
        return f"varies with the {' and the '.join(varying)}"
    return "stable under all of these: not consistent with an operation that varies by itself"


_VARIED: tuple[tuple[RepeatVariation, str], ...] = (
    ("threads", "number of threads"),
    ("hash-seed", "hash seed"),
)


def what_ran(zoom: Zoom | None) -> str:
    """Whether code of a package was run to look at a step, and how it was confined.

    Args:
        zoom: What was looked at, if anything was.

    Returns:
        A clause without a full stop.
    """
    rows = () if zoom is None else zoom.ran
    if not rows:
        return "nothing was run"
    alike = {_confined(row) for row in rows}
    told = [
        _confined(row) if len(row.sides) > 1 else f"{_SIDES[row.sides[0]]} {_confined(row)}"
        for row in rows
    ]
    both = len(alike) == 1 and len(rows) > 1
    return f"what is not stored was made again, {alike.pop() if both else ' and '.join(told)}"


def _confined(row: RanCode) -> str:
    if row.level != "none":
        return f"confined by {row.level}"
    if row.reason == "trusted":
        return "NOT CONFINED (--trust allows it)"
    return "not confined (repropack ships the source)"


def seen_difference(zoom: Zoom | None) -> ArrayDifference | None:
    """How what diverged differs, where it was seen as recorded on both sides.

    Args:
        zoom: What was looked at, if anything was.

    Returns:
        The diverging stage's difference; ``None`` where a replay gave something else.
    """
    if zoom is None or zoom.name is None or zoom.divergence is not None:
        return None
    sides = (zoom.expected, zoom.observed)
    if any(side is None or side.reproduced is False for side in sides):
        return None
    return next((row.difference for row in zoom.arrays if row.role == "diverging"), None)


def _origin(side: ZoomSide, step: int) -> str:
    run = escape_text(side.run, 80)
    if side.origin == "stored":
        return f"{run}, as it is stored"
    begin = side.from_checkpoint
    start = "its first state" if begin == 0 else f"the state after step {begin}"
    made = f"{run}, its step {step} made again from {start}"
    if side.reproduced is False:
        return f"{made}: NOT as recorded, so that these are elements of the replay alone"
    return f"{made}: as recorded"


def _array(label: str, row: ZoomedArray, at_most: int | None) -> list[str]:
    name = escape_text(row.name, _NAME)
    if row.missing is not None:
        return field(label, f"{name}: {row.missing} has no such array")
    if row.difference is None:
        return field(label, f"{name}: equal as it was made again on both sides")
    lines = field(label, f"{name}: {array_counts(row.difference)}")
    return lines + element_lines(row.difference, at_most=at_most)


def _more(count: int) -> list[str]:
    left = count - _MAX_ARRAYS
    return field("", f"and {plural(left, 'more')}") if left > 0 else []


def _value(difference: ValueDifference) -> str:
    expected, observed = (
        "nothing" if side is None else escape_text(side, _NAME)
        for side in (difference.expected, difference.observed)
    )
    place = escape_text(difference.pointer, _NAME)
    return f"{place}: expected {expected}, observed {observed}"
