"""The number of the epoch begins again at zero.

Reported: after a resume in the middle of an epoch the data come in the order of the first epoch.
Wrong: the order is made of seed and epoch, and the epoch is not in ``state_dict``.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.seed = seed
        self.epoch = 0
        self.position = 0
        self.weights = np.zeros(4)

    def step(self, trace: Any) -> None:
        if self.position == 12:
            self.epoch += 1
            self.position = 0
        order = np.random.default_rng([self.seed, self.epoch]).permutation(12)
        batch = order[self.position : self.position + 4]
        self.position += 4
        trace.record("batch", batch, of="state:sampler")
        self.weights = 0.75 * self.weights + batch
        trace.record("weights", self.weights, of=("batch", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "sampler.position": self.position}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.position = state["sampler.position"]
