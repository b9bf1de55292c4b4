"""A set, the process id and threads, in ways that change nothing.

Unusual: a set is sorted before use, threads finish in any order and are added up in a fixed one.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

NAMES = {f"feature-{k:02}" for k in range(12)}


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 4)
        self.process = os.getpid()
        self.seen: set[str] = set()

    def step(self, trace: Any) -> None:
        with ThreadPoolExecutor(3) as pool:
            parts = list(pool.map(lambda name: 0.1 * int(name[-2:]), sorted(NAMES)))
        self.seen |= NAMES
        self.weights = 0.75 * self.weights + sum(parts)
        trace.record("weights", self.weights, of="state:weights")
        trace.metric("seen", len(self.seen))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
