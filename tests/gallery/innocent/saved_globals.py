"""The generators of the process, saved and restored.

Unusual: ``random`` and ``numpy.random`` are used as they are, and both are among the state.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        self.weights = np.zeros(4)

    def step(self, trace: Any) -> None:
        noise = np.random.standard_normal(4) + random.random()  # noqa: NPY002
        trace.record("noise", noise, of="state:generators")
        self.weights = 0.75 * self.weights + noise
        trace.record("weights", self.weights, of=("noise", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        version, words, gauss = random.getstate()
        own = np.random.get_state(legacy=False)  # noqa: NPY002
        return {
            "weights": self.weights,
            "generators.python": [version, list(words), gauss],
            "generators.numpy": own,
        }

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        version, words, gauss = state["generators.python"]
        random.setstate((version, tuple(words), gauss))
        np.random.set_state(state["generators.numpy"])  # noqa: NPY002
