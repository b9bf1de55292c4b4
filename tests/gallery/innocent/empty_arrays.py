"""Arrays without elements, and of no dimension.

Unusual: a queue that is empty at most checkpoints, and a scalar that is an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.queue = np.empty((0, 2))
        self.total = np.array(1.0)

    def step(self, trace: Any) -> None:
        trace.record("queue", self.queue, of="state:queue")
        self.total = self.total * 0.75 + self.queue.sum()
        trace.record("total", self.total, of=("queue", "state:total"))
        full = len(self.queue) == 2
        self.queue = np.empty((0, 2)) if full else np.vstack([self.queue, [self.total] * 2])

    def state_dict(self) -> dict[str, Any]:
        return {"queue": self.queue, "total": self.total, "nothing": []}

    def load_state_dict(self, state: Any) -> None:
        self.queue = state["queue"]
        self.total = state["total"]
