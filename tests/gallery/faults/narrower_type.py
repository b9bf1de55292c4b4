"""The checkpoint holds the weights in a narrower type.

Reported: a resumed run is almost the same; the printed losses agree.
Wrong: ``state_dict`` casts float64 to float32, so that half of the digits are lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)

    def step(self, trace: Any) -> None:
        gradient = np.sin(self.weights)
        trace.record("gradient", gradient, of="state:weights")
        self.weights = self.weights - 0.1 * gradient
        trace.record("weights", self.weights, of=("gradient", "state:weights"))
        trace.metric("loss", float(np.square(gradient).sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights.astype(np.float32)}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"].astype(np.float64)
