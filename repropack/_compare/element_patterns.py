"""Patterns that need more than fingerprints: elements, printed values, states of generators."""

from __future__ import annotations

from repropack._compare.evidence import (
    LAST_BITS_ULP,
    Evidence,
    blamed_components,
    plain_number,
)
from repropack._compare.logs import STATE_PREFIX
from repropack._compare.pattern_words import excluded, fits, stage_names
from repropack._format.state import component_of
from repropack.models.differences import ArrayDifference
from repropack.models.patterns import DrawDistance, Pattern
from repropack.models.results import Divergence

_INTEGERS = ("|b1", "<i", "<u", "|i1", "|u1")
_FLOATS = ("<f", "<c")
_BITS_ALONE = {
    "sign-of-zero": "zeros of another sign",
    "nan-payload": "NaNs of other bits",
    "bits-alone": "zeros of another sign and NaNs of other bits",
}


def extra_draws(e: Evidence) -> Pattern | None:
    """Needs states of both sides after one step, with generators of a known form in them."""
    found = e.divergence
    if found is None or not e.distances:
        return None
    early = [row for row in e.distances if not row.equal and _differs_early(row, found)]
    moved = [row for row in early if _is_extra(row, e)]
    if moved:
        return fits("extra-draws", map(_drawn, moved), (row.generator for row in moved))
    if not early:
        return excluded("extra-draws", [f"every generator is equal around step {found.step}"])
    return excluded("extra-draws", map(_drawn, early), (row.generator for row in early))


def _is_extra(row: DrawDistance, e: Evidence) -> bool:
    """Moved, and of a run that was resumed: forward. One that is behind was put back."""
    draws = row.draws or 0
    return bool(draws) if not e.resumed else (draws < 0 if e.left_resumed else draws > 0)


def _differs_early(row: DrawDistance, found: Divergence) -> bool:
    """Whether its component differs around the diverging step, and not only as a consequence."""
    known = [split for split in (found.state_before, found.state_after) if split is not None]
    if not known:
        return row.step <= found.step
    component = component_of(row.generator)
    return any(component in split.differing for split in known)


def _drawn(row: DrawDistance) -> str:
    place = f"after step {row.step} generator {row.generator}"
    if row.draws is None:
        return f"{place} is at no position of the same stream within the bound"
    if row.draws == 0:
        return f"{place} differs in what it holds back of its last draw"
    count = abs(row.draws)
    side = "ahead" if row.draws > 0 else "behind"
    return f"{place} is {count} {'draw' if count == 1 else 'draws'} of {row.word_bits} bits {side}"


def discrete_decision(e: Evidence) -> Pattern | None:
    """Needs elements: floats that differ in their last bits, and integers recorded after them."""
    found = e.divergence
    if found is None:
        return None
    own = e.stage_array
    if own is not None and _is_of(own, _INTEGERS) and found.kind == "output" and found.inputs:
        equal = "everything that is recorded of its inputs is equal"
        return excluded("discrete-decision", [equal], stage_names(found))
    last_bits = [array for array in e.elements if last_bits_alone(array)]
    for choice in e.elements:
        if not _is_of(choice, _INTEGERS):
            continue
        for floats in last_bits:
            if _is_before(floats, choice, e):
                names = floats.array, choice.array
                form = choice.expected_type.split()[0]
                because = (
                    f"{names[0]} differs in its last bits at step {floats.step}",
                    f"{names[1]}, of type {form}, differs at step {choice.step}",
                )
                return fits("discrete-decision", because, names)
    return None


def last_bits_alone(array: ArrayDifference) -> bool:
    """Whether floats are known to differ by a few units in the last place at most."""
    distance = plain_number(array.largest_ulp) if _is_of(array, _FLOATS) else None
    return distance is not None and distance <= LAST_BITS_ULP


def _is_before(floats: ArrayDifference, choice: ArrayDifference, e: Evidence) -> bool:
    """Whether one stage is recorded before another in the same step."""
    names = floats.array, choice.array
    if floats.step != choice.step or not all(name in e.execution_order for name in names):
        return False
    return e.execution_order.index(names[0]) < e.execution_order.index(names[1])


def _is_of(array: ArrayDifference, types: tuple[str, ...]) -> bool:
    return array.expected_type == array.observed_type and array.expected_type.startswith(types)


def signed_zero_or_nan(e: Evidence) -> Pattern | None:
    """Needs elements of all that diverged."""
    arrays = e.diverging_arrays
    if not arrays:
        return None
    names = [array.array for array in arrays]
    kinds = dict.fromkeys(array.kind for array in arrays)
    if all(kind in _BITS_ALONE for kind in kinds):
        because = [_BITS_ALONE[str(kind)] for kind in kinds]
        return fits("signed-zero-or-nan", because, names)
    return excluded("signed-zero-or-nan", ["elements differ in value, type or number"], names)


def other_form(e: Evidence) -> Pattern | None:
    """Needs type and shape of what diverged, on both sides."""
    found, arrays = e.divergence, e.diverging_arrays
    others = [array for array in arrays if array.kind in {"type", "shape"}]
    forms = [(array.array, array.expected_type, array.observed_type) for array in others]
    if not arrays and found is not None:
        forms = [(row.name, row.left, row.right) for row in e.forms if _has_parted(row.name, found)]
    if not forms:
        return excluded("other-form", ["type and shape are equal"]) if arrays else None
    because = [f"{left} and {right}" for _, left, right in forms]
    if any(array.converted == "rounded" for array in others):
        because.append("the values are equal once the wider are rounded to the narrower type")
    if any(array.converted == "equal" for array in others):
        because.append("the values are equal")
    return fits("other-form", because, (name for name, _, _ in forms))


def _has_parted(name: str, found: Divergence) -> bool:
    """Whether an array is the diverging stage's, or one of a component that differs."""
    if not name.startswith(STATE_PREFIX):
        return name == found.stage
    return component_of(name.removeprefix(STATE_PREFIX)) in blamed_components(found)


def equal_when_printed(e: Evidence) -> Pattern | None:
    """Needs printed values of both sides."""
    rows = [row for row in e.printed if row.compared]
    if not rows:
        return None
    others = [row for row in rows if row.equal < row.compared]
    because = [
        f"{row.metric} prints the same text at {row.equal} of {row.compared} steps"
        for row in others or rows
    ]
    make = excluded if others else fits
    return make("equal-when-printed", because, (row.metric for row in others or rows))
