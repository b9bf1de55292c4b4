"""One element of an array is never set.

Reported: long equal, then one number is nonsense, another one each time.
Wrong: ``np.empty`` gives memory as it is found. From step 6 on its last element is not written;
what lies there was left by an array that depends on the process.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.count = 0

    def step(self, trace: Any) -> None:
        self.count += 1
        padded = self.padded(7 if self.count >= 6 else 8)
        trace.record("padded", padded, of=("state:weights", "state:count"))
        self.weights = 0.75 * self.weights + 0.125 * padded
        trace.record("weights", self.weights, of=("padded", "state:weights"))

    def padded(self, filled: int) -> Any:
        left_behind = np.full(8, float(os.getpid()))
        del left_behind
        buffer = np.empty(8)
        buffer[:filled] = self.weights[:filled]
        return buffer

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "count": self.count}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.count = state["count"]
