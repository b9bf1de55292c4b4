"""The warm-up is done once more in each process.

Reported: a resumed run makes an evaluation that the first run does not.
Wrong: whether the warm-up was done is known to the process and not to ``state_dict``.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.is_warm = False
        self.weights = np.linspace(1.0, 2.0, 8)

    def step(self, trace: Any) -> None:
        if not self.is_warm:
            trace.record("warm-up", self.weights.mean(), of="state:weights")
            self.is_warm = True
        self.weights = 0.75 * self.weights
        trace.record("weights", self.weights, of="state:weights")

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
