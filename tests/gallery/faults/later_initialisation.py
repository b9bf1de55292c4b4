"""Restored weights are overwritten by a later initialisation.

Reported: a resumed run begins with the loss of an untrained model.
Wrong: the first step of a process builds the model, after its weights were restored.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.seed = seed
        self.is_built = False
        self.weights = np.zeros(8)

    def build(self) -> None:
        self.weights = np.random.default_rng(self.seed).random(8)
        self.is_built = True

    def step(self, trace: Any) -> None:
        if not self.is_built:
            self.build()
        gradient = self.weights - 0.5
        trace.record("gradient", gradient, of="state:weights")
        self.weights = self.weights - 0.25 * gradient
        trace.record("weights", self.weights, of=("gradient", "state:weights"))
        trace.metric("loss", float(np.square(gradient).sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
