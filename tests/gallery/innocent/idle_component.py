"""Components that are saved and never used.

Unusual: a count that nothing reads, and names that never change.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.examples_seen = 0

    def step(self, trace: Any) -> None:
        self.weights = 0.75 * self.weights
        trace.record("weights", self.weights, of="state:weights")
        self.examples_seen += 4

    def state_dict(self) -> dict[str, Any]:
        return {
            "weights": self.weights,
            "progress.examples_seen": self.examples_seen,
            "names": ["weight", "bias"],
        }

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.examples_seen = state["progress.examples_seen"]
