"""How far the generators of two runs are apart, by the checkpoints that both have."""

from __future__ import annotations

from repropack._compare.draws import first_distances
from repropack._read.run import RunReader
from repropack.models.patterns import DrawDistance
from repropack.models.results import Divergence

_MOST_CHECKPOINTS = 2
"""How many pairs of checkpoints are looked at: a state before the divergence may be equal."""


def measure_draws(
    left: RunReader, right: RunReader, divergence: Divergence | None
) -> tuple[DrawDistance, ...]:
    """Compare the generators in the first checkpoints that may differ.

    Args:
        left: The one run, whose checkpoints are whole states.
        right: The other.
        divergence: Where they part; ``None`` where only what is before the first step differs.

    Returns:
        The generators of the first pair in which one differs, else those of the last pair that was
        looked at; none where there is no such pair, or no generator in a known form.

    Raises:
        PackageError: a checkpoint is malformed.
    """
    begin = max(left.header.first_step, right.header.first_step) - 1
    if divergence is not None:
        begin = max(begin, divergence.last_equal_step)
    common = sorted({*left.checkpoint_steps()} & {*right.checkpoint_steps()})
    steps = [step for step in common if step >= begin][:_MOST_CHECKPOINTS]
    return first_distances(
        (step, left.checkpoint(step)[1], right.checkpoint(step)[1]) for step in steps
    )
