"""The generator is seeded again when the iterator of the data is built.

Reported: every resumed run sees the batches of the first steps again.
Wrong: the generator is restored, then the first step builds the iterator, which seeds it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class Loader:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.generator = np.random.default_rng(seed)
        self.iterator: Iterator[Any] | None = None

    def batches(self) -> Iterator[Any]:
        self.generator.bit_generator.state = np.random.default_rng(self.seed).bit_generator.state
        while True:
            yield self.generator.random(4)

    def next_batch(self) -> Any:
        if self.iterator is None:
            self.iterator = self.batches()
        return next(self.iterator)


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.loader = Loader(seed)
        self.weights = np.zeros(4)

    def step(self, trace: Any) -> None:
        batch = self.loader.next_batch()
        trace.record("batch", batch, of="state:generator")
        self.weights = 0.75 * self.weights + batch
        trace.record("weights", self.weights, of=("batch", "state:weights"))
        trace.metric("loss", float(self.weights.sum()))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "generator": self.loader.generator.bit_generator.state}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.loader.generator.bit_generator.state = state["generator"]
