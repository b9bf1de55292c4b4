"""The running statistics of a normalisation are not saved.

Reported: training goes on exactly, and the next evaluation is off.
Wrong: mean and variance are no parameters, and were left out of ``state_dict``. They are used only
when the model is evaluated, every fifth step.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.running_mean = np.zeros(4)
        self.weights = np.zeros(4)
        self.count = 0

    def step(self, trace: Any) -> None:
        self.count += 1
        batch = self.generator.random(4)
        trace.record("batch", batch, of="state:generator")
        self.running_mean = 0.875 * self.running_mean + 0.125 * batch
        self.weights = 0.75 * self.weights + (batch - batch.mean())
        trace.record("weights", self.weights, of=("batch", "state:weights"))
        if self.count % 5 == 0:
            trace.record("evaluated", self.weights - self.running_mean, of="weights")

    def state_dict(self) -> dict[str, Any]:
        return {
            "weights": self.weights,
            "generator": self.generator.bit_generator.state,
            "count": self.count,
        }

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.generator.bit_generator.state = state["generator"]
        self.count = state["count"]
