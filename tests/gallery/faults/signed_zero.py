"""Two ways to clip differ in the sign of zero.

Reported: the numbers are equal when they are compared, and their digests are not.
Wrong: multiplying by a mask leaves a negative zero where choosing leaves a positive one.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.clip = config["clip"]
        self.weights = np.linspace(-1.0, 1.0, 8)

    def step(self, trace: Any) -> None:
        positive = self.weights > 0.0
        if self.clip == "multiply":
            clipped = self.weights * positive
        else:
            clipped = np.where(positive, self.weights, 0.0)
        trace.record("clipped", clipped, of="state:weights")
        self.weights = self.weights - 0.25 * clipped
        trace.record("weights", self.weights, of=("clipped", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
