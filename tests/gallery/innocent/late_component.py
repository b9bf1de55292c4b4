"""A component that comes to be in the third step.

Unusual: the state has another set of names in the first steps than later.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)
        self.count = 0
        self.moment: Any = None

    def step(self, trace: Any) -> None:
        self.count += 1
        if self.count >= 3:
            self.moment = self.weights * 0.5 + (0.0 if self.moment is None else self.moment * 0.25)
            trace.record("moment", self.moment)
            self.weights = self.weights - 0.125 * self.moment
        trace.record("weights", self.weights)

    def state_dict(self) -> dict[str, Any]:
        late = {} if self.moment is None else {"late.moment": self.moment}
        return {"weights": self.weights, "count": self.count, **late}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.count = state["count"]
        self.moment = state.get("late.moment")
