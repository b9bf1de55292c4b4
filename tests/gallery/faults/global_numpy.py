"""Noise comes from NumPy's generator of the process.

Reported: two runs agree, a resumed run differs at once.
Wrong: ``np.random.random_sample`` takes from a generator that no ``state_dict`` holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        np.random.seed(seed)  # noqa: NPY002
        self.weights = np.zeros(8)

    def step(self, trace: Any) -> None:
        noise = np.random.random_sample(8)  # noqa: NPY002
        trace.record("noise", noise, of=())
        self.weights = 0.75 * self.weights + noise
        trace.record("weights", self.weights, of=("noise", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
