"""Values that are no number, infinite, and negative zero.

Unusual: a NaN with a payload stands for "missing", and signs of zero carry a meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MISSING = np.array([0x7FF8000000000ABC], dtype=np.uint64).view(np.float64)[0]


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.table = np.array([MISSING, -0.0, 0.0, np.inf, -np.inf, 5e-324, 1.0, -1.0])
        self.best = float("inf")
        self.worst = float("nan")

    def step(self, trace: Any) -> None:
        self.table = np.roll(np.negative(self.table), 1)
        trace.record("table", self.table, of="state:table")
        finite = self.table[np.isfinite(self.table)]
        self.best = min(self.best, float(finite.min()))
        trace.metric("best", self.best)
        trace.metric("worst", self.worst)

    def state_dict(self) -> dict[str, Any]:
        return {"table": self.table, "best": self.best, "worst": self.worst}

    def load_state_dict(self, state: Any) -> None:
        self.table = state["table"]
        self.best = state["best"]
        self.worst = state["worst"]
