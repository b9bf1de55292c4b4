"""The learning rate is computed once and kept.

Reported: the decay takes effect only after a resume.
Wrong: the optimizer keeps the rate of its first step, and no ``state_dict`` holds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Optimizer:
    def __init__(self) -> None:
        self.rate: float | None = None

    def change(self, gradient: Any, count: int) -> Any:
        if self.rate is None:
            self.rate = 0.25 / count
        return self.rate * gradient


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.optimizer = Optimizer()
        self.weights = np.linspace(1.0, 2.0, 8)
        self.count = 0

    def step(self, trace: Any) -> None:
        self.count += 1
        gradient = self.weights - 0.5
        trace.record("gradient", gradient, of="state:weights")
        change = self.optimizer.change(gradient, self.count)
        trace.record("change", change, of=("gradient", "state:count"))
        self.weights = self.weights - change
        trace.record("weights", self.weights, of=("change", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "count": self.count}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.count = state["count"]
