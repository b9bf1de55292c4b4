"""What a divergence looks like: patterns of evidence, each with an entry in docs/divergences.md.

A pattern is no cause. Evidence is consistent with it, or excludes it; where the evidence that would
decide is missing, the pattern is not named at all.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repropack.models.base import Model, StepNumber

PatternId = Literal[
    "other-beginning",
    "other-order",
    "incomplete-checkpoint",
    "extra-draws",
    "varying-operation",
    "discrete-decision",
    "masked-difference",
    "signed-zero-or-nan",
    "other-form",
    "equal-when-printed",
    "other-stages",
    "other-length",
    "unrecorded-metric",
    "unrecorded-input",
]
"""The headings of docs/divergences.md, in its order."""

GeneratorKind = Literal["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"]
"""An algorithm as NumPy names it. Python's ``random`` and PyTorch's generator of the processor are
``MT19937``."""

MAX_DRAWS = 2**53 - 1
"""Farther apart than so many raw words, two states count as positions that no run reaches."""


class DrawDistance(Model):
    """By how many draws one generator of a state is apart on the two sides, after ``step``.

    ``generator`` is its place in the state, such as ``sampler`` or ``loader.rng``. ``draws`` counts
    raw words of ``word_bits`` bits, and is positive where the right side drew more; null where the
    two states are not positions of one stream, or none was found within the bound that
    docs/divergences.md gives. ``remainder_equal`` is false where what is left of the last
    word, or a normal number held back for the next call, is not the same.
    """

    generator: Annotated[str, Field(min_length=1, max_length=1000)]
    kind: GeneratorKind
    step: StepNumber
    draws: Annotated[int, Field(ge=-MAX_DRAWS, le=MAX_DRAWS)] | None
    word_bits: Literal[32, 64]
    remainder_equal: bool = True

    @property
    def equal(self) -> bool:
        """Whether the generator gives the same numbers on both sides from there on."""
        return self.draws == 0 and self.remainder_equal


class Pattern(Model):
    """Whether the evidence of a divergence is consistent with one pattern.

    ``because`` is the evidence, one statement each. ``names`` are the components, generators,
    stages or metrics that it is about, where it is about some.
    """

    id: PatternId
    consistent: bool
    because: Annotated[tuple[str, ...], Field(min_length=1)]
    names: tuple[str, ...] = ()
