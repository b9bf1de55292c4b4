"""State that grows with every step.

Unusual: a replay buffer whose shape is another one at each checkpoint.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.buffer = np.zeros((1, 2))
        self.returns: list[float] = []

    def step(self, trace: Any) -> None:
        choice = int(self.generator.random() * len(self.buffer))
        trace.record("choice", np.int64(choice), of=("state:generator", "state:buffer"))
        fresh = self.buffer[choice] * 0.5 + [1.0, len(self.returns)]
        self.buffer = np.vstack([self.buffer, fresh])
        self.returns.append(float(fresh.sum()))
        trace.record("fresh", fresh, of=("choice", "state:buffer", "state:returns"))

    def state_dict(self) -> dict[str, Any]:
        return {
            "generator": self.generator.bit_generator.state,
            "buffer": self.buffer,
            "returns": list(self.returns),
        }

    def load_state_dict(self, state: Any) -> None:
        self.generator.bit_generator.state = state["generator"]
        self.buffer = state["buffer"]
        self.returns = state["returns"]
