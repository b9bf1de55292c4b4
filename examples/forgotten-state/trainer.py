"""A trainer whose schedule counts steps, and forgets to store the count.

``Trainer`` has the bug; ``Mended`` differs from it by one name in its state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from repropack import Trace


@dataclass(frozen=True)
class Settings:
    """``decay_every`` counts steps; ``rate`` is the learning rate that the run begins with."""

    size: int = 8
    rate: float = 0.25
    decay_every: int = 35


class Schedule:
    """Halves the learning rate each time that it has been used ``decay_every`` times."""

    def __init__(self, rate: float, decay_every: int) -> None:
        self.rate = rate
        self.decay_every = decay_every
        self.used = 0

    def next_rate(self) -> float:
        """Return the rate for this step."""
        if self.used == self.decay_every:
            self.rate = self.rate * 0.5
            self.used = 0
        self.used += 1
        return self.rate


class Trainer:
    """Moves weights towards a target that is seen through noise."""

    def __init__(self, config: Settings, seed: int) -> None:
        self.generator = np.random.PCG64(seed)
        self.target = np.arange(config.size) * 0.25
        self.weights = np.zeros(config.size)
        self.schedule = Schedule(config.rate, config.decay_every)

    def step(self, trace: Trace) -> None:
        """Make one update."""
        words = self.generator.random_raw(self.weights.size) >> np.uint64(11)
        noise = words * 2.0**-52 - 1.0
        trace.record("noise", noise, of="state:generator")
        gradient = self.weights - (self.target + noise)
        trace.record("gradient", gradient, of=("noise", "state:weights"))
        rate = self.schedule.next_rate()
        trace.record("rate", np.array(rate), of="state:schedule")
        self.weights = self.weights - rate * gradient
        trace.record("weights", self.weights, of=("rate", "gradient", "state:weights"))
        trace.metric("error", np.abs(self.weights - self.target).max())

    def state_dict(self) -> dict[str, Any]:
        """Return weights, generator and schedule."""
        return {
            "weights": self.weights,
            "generator": self.generator.state,
            "schedule.rate": self.schedule.rate,
            # BUG: schedule.used belongs here
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from weights, generator and schedule."""
        self.weights = state["weights"]
        self.generator.state = state["generator"]
        self.schedule.rate = state["schedule.rate"]


class Mended(Trainer):
    """The same with the count in its state."""

    def state_dict(self) -> dict[str, Any]:
        """Return weights, generator and the whole schedule."""
        return {**super().state_dict(), "schedule.used": self.schedule.used}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from weights, generator and the whole schedule."""
        super().load_state_dict(state)
        self.schedule.used = state["schedule.used"]
