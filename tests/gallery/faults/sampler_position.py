"""The position of the sampler is not saved.

Reported: after a resume in the middle of an epoch some examples come twice and others never.
Wrong: ``state_dict`` holds the order of the epoch, but not how far the sampler has got in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Sampler:
    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.order = self.generator.permutation(12)
        self.position = 0

    def next_batch(self) -> Any:
        if self.position == len(self.order):
            self.order = self.generator.permutation(12)
            self.position = 0
        self.position += 4
        return self.order[self.position - 4 : self.position]


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.sampler = Sampler(seed)
        self.weights = np.zeros(4)

    def step(self, trace: Any) -> None:
        batch = self.sampler.next_batch()
        trace.record("batch", batch, of="state:sampler")
        self.weights = 0.75 * self.weights + batch
        trace.record("weights", self.weights, of=("batch", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {
            "weights": self.weights,
            "sampler.order": self.sampler.order,
            "sampler.generator": self.sampler.generator.bit_generator.state,
        }

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.sampler.order = state["sampler.order"]
        self.sampler.generator.bit_generator.state = state["sampler.generator"]
