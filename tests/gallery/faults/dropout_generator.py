"""The second generator is not saved.

Reported: data are right after a resume, and the masks of dropout are those of the first steps.
Wrong: dropout has a generator of its own, which was left out of ``state_dict``.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.data_generator, self.mask_generator = (
            np.random.Generator(np.random.Philox(child))
            for child in np.random.SeedSequence(seed).spawn(2)
        )
        self.weights = np.zeros(8)

    def step(self, trace: Any) -> None:
        batch = self.data_generator.random(8)
        trace.record("batch", batch, of="state:generator")
        mask = self.mask_generator.random(8) < 0.5
        trace.record("mask", mask, of=())
        self.weights = 0.75 * self.weights + batch * mask
        trace.record("weights", self.weights, of=("batch", "mask", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "generator": self.data_generator.bit_generator.state}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.data_generator.bit_generator.state = state["generator"]
