"""The weights are changed in place after their state was taken.

Reported: the checkpoint is not what the next step begins with.
Wrong: the step copies the weights for the checkpoint, and then shrinks the weights in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.saved = self.weights.copy()

    def step(self, trace: Any) -> None:
        gradient = self.weights - 0.5
        trace.record("gradient", gradient, of="state:weights")
        self.weights -= 0.25 * gradient
        trace.record("weights", self.weights, of=("gradient", "state:weights"))
        self.saved = self.weights.copy()
        self.weights *= 0.96875

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.saved}

    def load_state_dict(self, state: Any) -> None:
        self.saved = state["weights"]
        self.weights = self.saved.copy()
