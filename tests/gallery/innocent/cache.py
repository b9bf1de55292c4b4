"""A cache that changes and does not matter.

Unusual: much changes between steps that is in no component: a memo, a count of its hits, the time
that the steps took.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.count = 0
        self.memo: dict[int, float] = {}
        self.hits = 0
        self.seconds: list[float] = []

    def rate(self, epoch: int) -> float:
        if epoch in self.memo:
            self.hits += 1
        else:
            self.memo[epoch] = 0.25 * 0.5**epoch
        return self.memo[epoch]

    def step(self, trace: Any) -> None:
        began = time.monotonic()
        self.weights = self.weights * (1.0 - self.rate(self.count // 6))
        self.count += 1
        trace.record("weights", self.weights, of=("state:weights", "state:count"))
        self.seconds.append(time.monotonic() - began)

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "count": self.count}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.count = state["count"]
