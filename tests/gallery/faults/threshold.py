"""A threshold turns a last bit into a branch.

Reported: two orders of addition agree in all printed digits, then the run takes another branch.
Wrong: a sum lies at a threshold; in which order it is added up decides on which side.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

VALUES = [0.1, 0.2, 0.3]


def added(values: Iterable[float]) -> float:
    total = 0.0
    for value in values:  # ``sum`` makes up for rounding from Python 3.12 on
        total += value
    return total


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.values = VALUES if config["order"] == "forward" else VALUES[::-1]
        self.weights = np.linspace(1.0, 2.0, 8)
        self.count = 0

    def step(self, trace: Any) -> None:
        self.count += 1
        total = added(self.values) if self.count >= 4 else 0.5
        trace.record("total", np.float64(total), of="state:count")
        branch = np.bool_(total > 0.6)
        trace.record("branch", branch, of="total")
        self.weights = self.weights * (0.5 if branch else 2.0)
        trace.record("weights", self.weights, of=("branch", "state:weights"))
        trace.metric("total", float(total))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "count": self.count}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.count = state["count"]
