"""The number of the process is used as a seed.

Reported: augmented data differ between launches, although every seed is set.
Wrong: the generator of the augmentation is seeded by the process id, and is in no ``state_dict``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.augmentation = np.random.default_rng([seed, os.getpid()])
        self.weights = np.linspace(1.0, 2.0, 8)

    def step(self, trace: Any) -> None:
        augmented = self.weights * self.augmentation.random(8)
        trace.record("augmented", augmented, of="state:weights")
        self.weights = self.weights - 0.25 * augmented
        trace.record("weights", self.weights, of=("augmented", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
