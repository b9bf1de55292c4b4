"""Heat that spreads over a square plate: an explicit scheme on a grid, nothing that learns.

Only elementwise arithmetic and sums in a stated order are used, so the bytes travel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from repropack import Trace


@dataclass(frozen=True)
class Settings:
    """The plate and the scheme.

    ``size`` counts the grid's points a side, ``diffusion`` is that number of the scheme, without
    unit and at most 0.25. ``order`` says how the four neighbours are added: in pairs,
    (up + down) + (left + right), or in turn, ((up + down) + left) + right.
    """

    size: int = 48
    spots: int = 4
    diffusion: float = 0.2
    order: Literal["pairs", "turn"] = "pairs"


class HeatEquation:
    """A field of ``(size, size)`` float64, in degrees; the rim is held at zero."""

    def __init__(self, config: Settings, seed: int) -> None:
        self.config = config
        self.field = np.zeros((config.size, config.size))
        self.time = 0
        words = np.random.PCG64(seed).random_raw(2 * config.spots)
        for row, column in (words % np.uint64(config.size - 8)).reshape(-1, 2).astype(int) + 2:
            self.field[row : row + 4, column : column + 4] += 100.0

    def step(self, trace: Trace) -> None:
        """Advance by one step of time."""
        up, down = self.field[:-2, 1:-1], self.field[2:, 1:-1]
        left, right = self.field[1:-1, :-2], self.field[1:-1, 2:]
        if self.config.order == "pairs":
            neighbours = (up + down) + (left + right)
        else:
            neighbours = ((up + down) + left) + right
        trace.record("neighbours", neighbours, of="state:field")

        inner = self.field[1:-1, 1:-1]
        field = np.zeros_like(self.field)
        field[1:-1, 1:-1] = inner + self.config.diffusion * (neighbours - 4.0 * inner)
        self.field = field
        self.time += 1
        trace.record("field", field, of=("neighbours", "state:field"))
        trace.metric("warmest", field.max())
        trace.metric("heat", np.cumsum(field)[-1])  # added one by one, in the grid's order

    def state_dict(self) -> dict[str, Any]:
        """Return the field, in degrees, and the number of steps made."""
        return {"field": self.field, "clock.steps": self.time}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a field."""
        self.field = state["field"]
        self.time = state["clock.steps"]
