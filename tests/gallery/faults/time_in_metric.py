"""A metric holds the time that a step took.

Reported: two runs are never equal, although all arrays are.
Wrong: a speed was noted among the metrics of the run.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)

    def step(self, trace: Any) -> None:
        self.weights = 0.75 * self.weights
        trace.record("weights", self.weights, of="state:weights")
        trace.metric("loss", float(self.weights.sum()))
        trace.metric("clock", time.monotonic_ns())

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
