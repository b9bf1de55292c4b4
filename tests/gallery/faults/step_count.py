"""The count of steps of the optimizer is not saved.

Reported: the first updates after a resume are too large.
Wrong: moments are saved, and the count that corrects their bias is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.moment = np.zeros(8)
        self.count = 0

    def step(self, trace: Any) -> None:
        self.count += 1
        gradient = self.weights - 0.5
        trace.record("gradient", gradient, of="state:weights")
        self.moment = 0.875 * self.moment + 0.125 * gradient
        trace.record("moment", self.moment, of=("gradient", "state:moment"))
        corrected = self.moment / (1.0 - 0.875**self.count)
        trace.record("corrected", corrected, of="moment")
        self.weights = self.weights - 0.25 * corrected
        trace.record("weights", self.weights, of=("corrected", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "moment": self.moment}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.moment = state["moment"]
