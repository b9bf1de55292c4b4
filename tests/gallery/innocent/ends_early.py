"""A run that ends before its last planned step.

Unusual: early stopping as it should be, with its count among the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(9.0, 10.0, 8)
        self.best = float("inf")
        self.without_better = 0

    def step(self, trace: Any) -> None:
        self.weights = np.maximum(self.weights - 1.0, 5.0)
        trace.record("weights", self.weights, of="state:weights")
        loss = float(self.weights.max())
        trace.metric("loss", loss)
        self.without_better = 0 if loss < self.best else self.without_better + 1
        self.best = min(self.best, loss)
        if self.without_better == 6:
            trace.finish("no better loss in 6 steps")

    def state_dict(self) -> dict[str, Any]:
        return {
            "weights": self.weights,
            "stopper.best": self.best,
            "stopper.without_better": self.without_better,
        }

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.best = state["stopper.best"]
        self.without_better = state["stopper.without_better"]
