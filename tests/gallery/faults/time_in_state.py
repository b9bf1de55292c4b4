"""The time of the start is part of the state.

Reported: checkpoints of equal runs are never equal, although nothing else differs.
Wrong: a note on when the run began was put among the state.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.began = time.time_ns()
        self.weights = np.linspace(1.0, 2.0, 8)

    def step(self, trace: Any) -> None:
        self.weights = 0.75 * self.weights
        trace.record("weights", self.weights, of="state:weights")
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "note.began": self.began}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.began = state["note.began"]
