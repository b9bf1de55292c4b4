"""The first stage of integers at which two runs part, with the floats recorded before it.

A choice (the largest, the first k, beyond a threshold) makes a large difference of a small one. It
shows where kept stages hold both: what was compared, and what was chosen.
"""

from __future__ import annotations

from repropack._compare.arrays import describe_difference, same_bytes
from repropack._read.run import RunReader
from repropack.models.differences import ArrayDifference
from repropack.models.results import StepCount

INTEGER_KINDS = "biu"
FLOAT_KINDS = "fc"


def measure_decision(
    left: RunReader, right: RunReader, stages: tuple[StepCount, ...]
) -> tuple[ArrayDifference, ...]:
    """Compare the elements of kept stages at the first step at which integers differ.

    Args:
        left: The one run with its kept stages.
        right: The other.
        stages: At how many steps each stage differs, in order of execution.

    Returns:
        Kept floats that come before the integers in a step and differ in it, in order of execution,
        then the integers or truth values; none where no kept stage of those differs.

    Raises:
        PackageError: a kept array is malformed.
    """
    kept = {name: left.kept_stages()[name][0][1] for name in left.kept_stages()}
    names = [row for row in stages if row.name in kept and row.name in right.kept_stages()]
    chosen = [row for row in names if row.differing and kept[row.name] in INTEGER_KINDS]
    first = min(chosen, key=lambda row: row.first_step or 0, default=None)
    if first is None or first.first_step is None:
        return ()
    before = names[: names.index(first)]
    floats = [row.name for row in before if kept[row.name] in FLOAT_KINDS]
    found = (_difference(left, right, name, first.first_step) for name in (*floats, first.name))
    return tuple(difference for difference in found if difference is not None)


def _difference(left: RunReader, right: RunReader, stage: str, step: int) -> ArrayDifference | None:
    """How a kept stage differs at a step; ``None`` where it does not, or one side lacks it."""
    rows = [run.kept_rows(stage, step) for run in (left, right)]
    one, other = (None if row is None else next(row, None) for row in rows)
    if one is None or other is None or same_bytes(one, other):
        return None
    return describe_difference(stage, step, one, other)
