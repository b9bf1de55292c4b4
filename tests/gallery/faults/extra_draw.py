"""Building the iterator of the data takes one number from the generator.

Reported: a resumed run is one number off in everything random.
Wrong: the iterator takes a base seed when it is built, once more in every process.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Loader:
    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self.base_seed = 0.0

    def next_batch(self) -> Any:
        if self.base_seed == 0.0:
            self.base_seed = self.generator.random()
        return self.generator.random(4)


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.loader = Loader(self.generator)
        self.weights = np.zeros(4)

    def step(self, trace: Any) -> None:
        batch = self.loader.next_batch()
        trace.record("batch", batch, of="state:generator")
        self.weights = 0.75 * self.weights + batch
        trace.record("weights", self.weights, of=("batch", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "generator": self.generator.bit_generator.state}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.generator.bit_generator.state = state["generator"]
