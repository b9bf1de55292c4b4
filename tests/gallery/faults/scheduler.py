"""The place in the schedule of the learning rate is not saved.

Reported: after a resume the loss jumps at the next decay, or at once where there was one before.
Wrong: the schedule counts its steps itself, and its count is not in ``state_dict``.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Schedule:
    def __init__(self) -> None:
        self.count = 0

    def next_rate(self) -> float:
        self.count += 1
        return 0.25 * 0.5 ** ((self.count - 1) // 6)


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.schedule = Schedule()
        self.weights = np.linspace(1.0, 2.0, 8)

    def step(self, trace: Any) -> None:
        gradient = self.weights - 0.5
        trace.record("gradient", gradient, of="state:weights")
        self.weights = self.weights - self.schedule.next_rate() * gradient
        trace.record("weights", self.weights, of=("gradient", "state:weights"))
        trace.metric("loss", float(np.square(gradient).sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
