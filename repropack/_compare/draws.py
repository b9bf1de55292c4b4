"""By how many draws the generators of two states are apart.

A state is looked through for generators in the forms in which they are stored. Positions of one
stream are told from states of different streams. Nothing is drawn but from copies of the states
that were given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from repropack._compare.generators import GeneratorState, read_generator
from repropack._compare.positions import words_between
from repropack._format.state import EncodedState
from repropack._format.values import decode_checked
from repropack.models.patterns import DrawDistance

MAX_GENERATORS = 64
"""How many generators of a state are compared; those with the first names, where it has more."""


def draw_distances(left: EncodedState, right: EncodedState, step: int) -> tuple[DrawDistance, ...]:
    """How far each generator is apart that both states hold at the same place.

    Args:
        left: The one state, as it is stored.
        right: The other, after the same step.
        step: The step after which both were taken.

    Returns:
        Generators sorted by their place, those that are equal too; none where no value of both
        states is a generator in a known form.
    """
    lefts, rights = generators_of(left), generators_of(right)
    places = sorted(lefts.keys() & rights.keys())[:MAX_GENERATORS]
    return tuple(_distance(place, lefts[place], rights[place], step) for place in places)


def first_distances(
    pairs: Iterable[tuple[int, EncodedState, EncodedState]],
) -> tuple[DrawDistance, ...]:
    """The generators of the first of some pairs of states in which one is apart.

    Args:
        pairs: A step, and the states of both sides after it.

    Returns:
        As ``draw_distances``; those of the last pair where none is apart, none where there is none.
    """
    found: tuple[DrawDistance, ...] = ()
    for step, left, right in pairs:
        found = draw_distances(left, right, step)
        if any(not row.equal for row in found):
            break
    return found


def generators_of(state: EncodedState) -> dict[str, GeneratorState]:
    """Generators of a state by their place.

    Args:
        state: A state in its encoded form.

    Returns:
        Generators by names and keys joined by dots, list places in brackets.
    """
    return dict(_generators(_nested(state), ""))


def _distance(place: str, left: GeneratorState, right: GeneratorState, step: int) -> DrawDistance:
    return DrawDistance(
        generator=place[:1000],
        kind=left.kind,
        step=step,
        draws=words_between(left, right),
        word_bits=32 if left.kind == "MT19937" else 64,
        remainder_equal=left.held_back == right.held_back,
    )


def _nested(state: EncodedState) -> dict[str, Any]:
    """Names with dots as mappings in each other: a generator may be spread over several names."""
    tree: dict[str, Any] = {}
    for name in state.names():
        value = (
            decode_checked(state.values[name], state.arrays)
            if name in state.values
            else state.arrays[name]
        )
        node = tree
        *outer, last = name.split(".")
        for part in outer:
            below = node.setdefault(part, {})
            if not isinstance(below, dict):  # the name without its last part is used too
                below = node[f"{part}."] = node.get(f"{part}.", {})
            node = below
        if isinstance(node.get(last), dict) and isinstance(value, dict):
            value = {**node[last], **value}
        node[last] = value
    return tree


def _generators(value: object, place: str) -> Iterator[tuple[str, GeneratorState]]:
    found = read_generator(value) if place else None
    if found is not None:
        yield place, found
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _generators(value[key], f"{place}.{key}" if place else key)
    elif isinstance(value, list) and not _is_plain_row(value):
        for k, item in enumerate(value):
            yield from _generators(item, f"{place}[{k}]")


def _is_plain_row(value: list[Any]) -> bool:
    """A row of numbers or texts, however long, holds no generator."""
    return not value or isinstance(value[0], int | float | str | None)
