"""A sum is split among threads.

Reported: another number of threads gives other last digits.
Wrong: each thread adds up its part, and the parts follow the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

VALUES = np.array([1.0 / (k + 3) for k in range(24)])


def added(values: Iterable[float]) -> float:
    total = 0.0
    for value in values:  # ``sum`` makes up for rounding from Python 3.12 on
        total += value
    return total


def thread_sum(values: Any) -> float:
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    parts = np.array_split(values, threads)
    with ThreadPoolExecutor(threads) as pool:
        return added(pool.map(lambda part: added(part.tolist()), parts))


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.weights = np.linspace(1.0, 2.0, 8)

    def step(self, trace: Any) -> None:
        trace.record("values", VALUES, of=())
        total = thread_sum(VALUES)
        trace.record("total", np.float64(total), of="values")
        self.weights = 0.75 * self.weights + total
        trace.record("weights", self.weights, of=("total", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
