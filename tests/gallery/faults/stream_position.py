"""The place in a stream of data is not saved.

Reported: a resumed run reads its file from the beginning again.
Wrong: the open file knows how far it was read, and no ``state_dict`` holds that.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.stream = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self.stream.writelines(f"{k}\n" for k in range(100))
        self.stream.seek(0)
        self.weights = np.zeros(4)

    def step(self, trace: Any) -> None:
        batch = np.array([float(next(self.stream)) for _ in range(4)])
        trace.record("batch", batch, of=())
        self.weights = 0.75 * self.weights + batch
        trace.record("weights", self.weights, of=("batch", "state:weights"))

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, state: Any) -> None:
        self.weights = state["weights"]
