"""The patience of early stopping is not saved.

Reported: a run that was resumed trains longer than one that was not.
Wrong: the best loss and the count of steps without a better one are not in ``state_dict``.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Stopper:
    def __init__(self) -> None:
        self.best = float("inf")
        self.without_better = 0

    def is_over(self, loss: float) -> bool:
        self.without_better = 0 if loss < self.best else self.without_better + 1
        self.best = min(self.best, loss)
        return self.without_better == 6


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.stopper = Stopper()
        self.weights = np.linspace(9.0, 10.0, 8)

    def step(self, trace: Any) -> None:
        self.weights = np.maximum(self.weights - 1.0, 5.0)
        trace.record("weights", self.weights, of="state:weights")
        loss = float(self.weights.max())
        trace.metric("loss", loss)
        if self.stopper.is_over(loss):
            trace.finish("no better loss in 6 steps")

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
