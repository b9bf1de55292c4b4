"""The moving average of the weights is not saved.

Reported: evaluation is much worse for a while after a resume; training is not touched.
Wrong: the average is not in ``state_dict``, and begins at the first weights again.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.average = self.weights.copy()

    def step(self, trace: Any) -> None:
        self.weights = self.weights - 0.25 * (self.weights - 0.5)
        trace.record("weights", self.weights, of="state:weights")
        self.average = 0.875 * self.average + 0.125 * self.weights
        trace.record("average", self.average, of="weights")
        trace.metric("evaluated", float(self.average.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
