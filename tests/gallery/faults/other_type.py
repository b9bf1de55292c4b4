"""A number comes back in another type.

Reported: memory doubles, or a kernel is not found, after a resume.
Wrong: a factor of type float32 is saved as a plain number and restored as float64, and takes the
arrays that it meets along.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.factor: Any = np.float32(0.75)
        self.weights = np.linspace(1.0, 2.0, 8).astype(np.float32)

    def step(self, trace: Any) -> None:
        scaled = self.weights * self.factor
        trace.record("scaled", scaled, of=("state:weights", "state:factor"))
        self.weights = scaled.astype(np.float32)
        trace.record("weights", self.weights, of="scaled")

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "factor": float(self.factor)}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.factor = np.float64(state["factor"])
