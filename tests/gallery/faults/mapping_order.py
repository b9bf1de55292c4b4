"""Parameters come back in another order.

Reported: a resumed run pairs moments with the wrong parameters; every number in the file is right.
Wrong: the order of a mapping has a meaning, and a stored mapping comes back sorted by its names.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Trainer:
    def __init__(self, config: Any, seed: int) -> None:
        self.parameters = {"weight": np.linspace(1.0, 2.0, 4), "bias": np.linspace(3.0, 5.0, 4)}
        self.rates = np.array([0.25, 0.125])

    def step(self, trace: Any) -> None:
        for name, rate in zip(self.parameters, self.rates, strict=True):
            self.parameters[name] = self.parameters[name] * (1.0 - rate)
        for name in sorted(self.parameters):
            trace.record(name, self.parameters[name], of="state:parameters")

    def state_dict(self) -> dict[str, Any]:
        return {f"parameters.{name}": array for name, array in self.parameters.items()}

    def load_state_dict(self, state: Any) -> None:
        self.parameters = {name.removeprefix("parameters."): state[name] for name in sorted(state)}
