"""The data are shuffled by the generator of the process.

Reported: two runs agree, a resumed run differs from the next epoch on.
Wrong: ``random.shuffle`` takes from Python's own generator, which no ``state_dict`` holds.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        random.seed(seed)
        self.order = list(range(12))
        self.position = 0
        self.weights = np.zeros(4)

    def step(self, trace: Any) -> None:
        if self.position == 0:
            random.shuffle(self.order)
        batch = np.array(self.order[self.position : self.position + 4])
        self.position = (self.position + 4) % 12
        trace.record("batch", batch, of="state:sampler")
        self.weights = 0.75 * self.weights + batch
        trace.record("weights", self.weights, of=("batch", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {
            "weights": self.weights,
            "sampler.order": list(self.order),
            "sampler.position": self.position,
        }

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.order = state["sampler.order"]
        self.position = state["sampler.position"]
