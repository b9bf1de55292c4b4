"""The hash of a name is used as a seed.

Reported: layers begin with other weights at each launch, although every seed is set.
Wrong: Python's ``hash`` of a text changes from process to process.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.random.default_rng([seed, abs(hash("layer-1"))]).random(8)

    def step(self, trace: Any) -> None:
        gradient = self.weights - 0.5
        trace.record("gradient", gradient, of="state:weights")
        self.weights = self.weights - 0.25 * gradient
        trace.record("weights", self.weights, of=("gradient", "state:weights"))
        trace.metric("loss", float(np.square(gradient).sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
