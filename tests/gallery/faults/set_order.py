"""Numbers are added up in the order of a set.

Reported: two launches of one program differ in the last digits from the first step on.
Wrong: the order of a set of names follows the hash seed of the process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FEATURES = {f"feature-{k}": (k + 1) ** 0.5 for k in range(12)}


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 4)

    def step(self, trace: Any) -> None:
        trace.record("features", np.array([FEATURES[name] for name in sorted(FEATURES)]), of=())
        total = np.float64(0.0)
        for name in set(FEATURES):
            total += FEATURES[name]
        trace.record("total", total, of="features")
        self.weights = 0.75 * self.weights + total
        trace.record("weights", self.weights, of=("total", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
