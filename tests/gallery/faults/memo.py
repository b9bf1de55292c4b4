"""A memo remembers what it was not asked.

Reported: a run that was resumed uses the new setting, one that was not goes on with the old.
Wrong: a function with ``lru_cache`` reads a value that is no argument of it, which later changes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

RATE = {"now": 0.25}


@lru_cache
def damping(size: int) -> Any:
    return np.full(size, RATE["now"])


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.count = 0

    def step(self, trace: Any) -> None:
        self.count += 1
        RATE["now"] = 0.25 if self.count <= 6 else 0.125
        update = damping(8) * self.weights
        trace.record("update", update, of=("state:weights", "state:count"))
        self.weights = self.weights - update
        trace.record("weights", self.weights, of=("update", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "count": self.count}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.count = state["count"]
