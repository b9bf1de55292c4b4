"""The volume of the five-dimensional unit ball, estimated by throwing points at its cube."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from repropack import Trace

DIMENSIONS = 5
CUBE = float(2**DIMENSIONS)


@dataclass(frozen=True)
class Settings:
    """What may be changed: how many points one step throws."""

    points: int = 4000


class BallVolume:
    """Each step is one independent estimate, so the generator is the only state there is."""

    def __init__(self, config: Settings, seed: int) -> None:
        self.points = config.points
        self.generator = np.random.Generator(np.random.PCG64(seed))

    def step(self, trace: Trace) -> None:
        """Throw points into the cube from -1 to 1, and count those inside the ball."""
        thrown = self.generator.random((self.points, DIMENSIONS)) * 2.0 - 1.0
        trace.record("points", thrown, of="state:generator")
        distance = np.zeros(self.points)  # squared; added up in the order of the dimensions
        for dimension in range(DIMENSIONS):
            distance = distance + thrown[:, dimension] * thrown[:, dimension]
        inside = np.count_nonzero(distance <= 1.0)
        trace.record("inside", np.array(inside), of="points")
        trace.metric("volume", CUBE * inside / self.points)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the generator: a dict of integers and text."""
        return {"generator": self.generator.bit_generator.state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue the generator where another process left it."""
        self.generator.bit_generator.state = state["generator"]
