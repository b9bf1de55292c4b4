"""Batches that were seen are skipped by drawing them again.

Reported: a resumed run jumps ahead in its data.
Wrong: the generator is restored to where it was, and then moved past the batches once more.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.weights = np.zeros(4)
        self.seen = 0
        self.to_skip = 0

    def step(self, trace: Any) -> None:
        while self.to_skip > 0:
            self.generator.random(4)
            self.to_skip -= 1
        batch = self.generator.random(4)
        self.seen += 1
        trace.record("batch", batch, of="state:generator")
        self.weights = 0.75 * self.weights + batch
        trace.record("weights", self.weights, of=("batch", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {
            "weights": self.weights,
            "generator": self.generator.bit_generator.state,
            "loader.seen": self.seen,
        }

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.generator.bit_generator.state = state["generator"]
        self.seen = state["loader.seen"]
        self.to_skip = self.seen
