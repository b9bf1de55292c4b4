"""The difference of two files of arrays as text."""

from __future__ import annotations

from repropack._present.elements import array_counts, element_lines
from repropack._present.escape import escape_text
from repropack._present.layout import ended, field, join_names, plural, wrap
from repropack.models.arrays_difference import ArraysDifference

_MAX_ARRAYS = 20


def arrays_text(report: ArraysDifference) -> str:
    """How two files of arrays differ, for people.

    Returns:
        The text; ends in a newline.
    """
    sides = (report.left, report.right)
    told = [side for side in sides if side.problem or report.verdict != "damaged"]
    subject = " and ".join(escape_text(side.path) for side in told)
    lines = wrap(subject, first=f"{report.verdict}  ")
    for side in told:
        if side.problem is not None:
            path = escape_text(side.path)
            lines += wrap(f"{path} cannot be read: {escape_text(side.problem, 300)}")
    if report.verdict == "damaged":
        return ended(lines)
    lines += wrap(_summary(report))
    for array in report.arrays[:_MAX_ARRAYS]:
        name = f"{escape_text(array.array, 80)}: " if array.array else ""
        lines += ["", *field("array:", f"{name}{array_counts(array)}"), *element_lines(array)]
    more = report.arrays_differing - len(report.arrays[:_MAX_ARRAYS])
    if more:
        lines += field("", f"and {plural(more, 'more array', 'more arrays')}")
    names = (("only left:", report.missing), ("only right:", report.unexpected))
    for label, arrays in names:
        if arrays:
            lines += ["", *field(label, join_names(arrays))]
    return ended(lines)


def _summary(report: ArraysDifference) -> str:
    total = report.arrays_equal + report.arrays_differing
    if report.verdict == "identical":
        return f"{plural(total, 'array')} compared: equal in name, type, shape and every bit."
    equal = f"{report.arrays_equal} equal, " if report.arrays_equal else ""
    return f"{plural(total, 'array')} in both: {equal}{report.arrays_differing} not."
