"""Two names of the state are one array, and stay so.

Unusual: tied weights are stored under two names, and tied again when they are restored.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.encoder = np.linspace(1.0, 2.0, 8)
        self.decoder = self.encoder

    def step(self, trace: Any) -> None:
        self.encoder -= 0.25 * (self.decoder - 0.5)
        trace.record("decoder", self.decoder, of=("state:encoder", "state:decoder"))

    def state_dict(self) -> dict[str, Any]:
        return {"encoder": self.encoder, "decoder": self.decoder}

    def load_state_dict(self, state: Any) -> None:
        self.encoder = state["encoder"]
        self.decoder = self.encoder
