"""Two names of the state are one array.

Reported: the best weights that were kept are the last ones, unless the run was resumed.
Wrong: the best weights are kept without a copy, so that training changes them too. Restored, they
are two arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.best = self.weights

    def step(self, trace: Any) -> None:
        gradient = self.weights - 0.5
        trace.record("gradient", gradient, of="state:weights")
        self.weights -= 0.25 * gradient
        trace.record("weights", self.weights, of=("gradient", "state:weights"))
        trace.metric("loss", float(np.square(gradient).sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "best": self.best}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.best = state["best"]
