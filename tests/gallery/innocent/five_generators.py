"""Generators of five kinds, each saved in a form of its own.

Unusual: states as nested mappings, as lists, and as an array of words, with half a draw left over.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

KINDS = (np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.generators = [np.random.Generator(kind(seed)) for kind in KINDS]
        self.plain = random.Random(seed)
        self.weights = np.zeros(5)

    def step(self, trace: Any) -> None:
        whole = [int(generator.integers(0, 1000, dtype=np.uint32)) for generator in self.generators]
        draws = np.array([*whole, self.plain.gauss(0.0, 1.0)])
        trace.record("draws", draws, of=("state:generators", "state:plain"))
        self.weights = 0.75 * self.weights + draws
        trace.record("weights", self.weights, of=("draws", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        version, words, gauss = self.plain.getstate()
        return {
            "weights": self.weights,
            "generators": [generator.bit_generator.state for generator in self.generators],
            "plain.version": version,
            "plain.words": np.array(words, dtype=np.uint32),
            "plain.gauss": gauss,
        }

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        for generator, own in zip(self.generators, state["generators"], strict=True):
            generator.bit_generator.state = own
        words = tuple(int(word) for word in state["plain.words"])
        self.plain.setstate((state["plain.version"], words, state["plain.gauss"]))
