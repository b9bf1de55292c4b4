"""A buffer is made of the first batch that a process sees.

Reported: inputs are scaled otherwise after a resume.
Wrong: the mean of the first batch is kept for centring, and no ``state_dict`` holds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.centre: float | None = None
        self.weights = np.zeros(4)

    def step(self, trace: Any) -> None:
        batch = self.generator.random(4)
        trace.record("batch", batch, of="state:generator")
        if self.centre is None:
            self.centre = float(batch.mean())
        centred = batch - self.centre
        trace.record("centred", centred, of="batch")
        self.weights = 0.75 * self.weights + centred
        trace.record("weights", self.weights, of=("centred", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "generator": self.generator.bit_generator.state}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.generator.bit_generator.state = state["generator"]
