"""The scale of the loss is not saved.

Reported: steps are skipped, or the scale falls back, after each resume; the weights are the same.
Wrong: scale and growth of the scaler are not in ``state_dict``. It is a power of two, so that the
weights are not touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Scaler:
    def __init__(self) -> None:
        self.scale = 8.0
        self.good_steps = 0

    def update(self) -> None:
        self.good_steps += 1
        if self.good_steps == 3:
            self.scale *= 2.0
            self.good_steps = 0


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.scaler = Scaler()
        self.weights = np.linspace(1.0, 2.0, 8)

    def step(self, trace: Any) -> None:
        scaled = self.scaler.scale * (self.weights - 0.5)
        trace.record("scaled", scaled, of="state:weights")
        self.weights = self.weights - 0.25 * (scaled / self.scaler.scale)
        trace.record("weights", self.weights, of="state:weights")
        self.scaler.update()

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
