"""The choice of the best checkpoint is flipped by a tie.

Reported: two launches train the same, and go on from different best weights.
Wrong: two candidates have the same score. It is added up in the order of a set of names, so that
its last bit decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

FOLDS = {f"fold-{k}": 0.1 * (k + 1) for k in range(9)}


def added(values: Iterable[float]) -> float:
    total = 0.0
    for value in values:  # ``sum`` makes up for rounding from Python 3.12 on
        total += value
    return total


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.candidates = np.stack([np.linspace(1.0, 2.0, 6), np.linspace(7.0, 3.0, 6)])
        self.weights = np.zeros(6)
        self.count = 0

    def step(self, trace: Any) -> None:
        self.count += 1
        if self.count % 5 == 0:
            in_order = added(FOLDS[name] for name in sorted(FOLDS))
            scores = np.array([in_order, added(FOLDS[name] for name in set(FOLDS))])
            trace.record("scores", scores, of=())
            best = np.argmin(scores)
            trace.record("best", best, of="scores")
            self.weights = self.weights + self.candidates[best]
        self.weights = 0.75 * self.weights
        trace.record("weights", self.weights, of=("state:weights", "state:count"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "count": self.count}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
        self.count = state["count"]
