"""Logistic regression by minibatches, with everything in its state that the next step needs.

Its bytes travel: it uses elementwise arithmetic, sums in a stated order and raw generator words,
and writes the sigmoid out instead of calling ``exp``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from repropack import Trace

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """What may be changed. ``reduction`` is the order in which a batch's rows are added."""

    rows: int = 160
    features: int = 6
    batch_size: int = 16
    learning_rate: float = 0.5
    reduction: Literal["forward", "reverse"] = "forward"


def draw_uniform(generator: np.random.PCG64, *shape: int) -> Floats:
    """Return float64 of a shape, each a multiple of 2**-52 from -1 up to but not including 1."""
    words = generator.random_raw(int(np.prod(shape))) >> np.uint64(11)
    return words.astype(np.float64).reshape(shape) * 2.0**-52 - 1.0


def sigmoid(score: Floats) -> Floats:
    """Return ``1 / (1 + exp(-score))`` by ``+ * /`` alone, to about 12 digits.

    ``exp`` gives other last bits on another processor. Here it is the 1024th power, by squaring ten
    times, of a short series for ``exp(-score / 1024)``. Scores beyond 30 count as 30.
    """
    small = np.clip(score, -30.0, 30.0) * -(2.0**-10)
    power = np.ones_like(small)
    for divisor in range(8, 0, -1):
        power = 1.0 + small * power / divisor
    for _ in range(10):
        power = power * power
    return 1.0 / (1.0 + power)


class Sampler:
    """Hands out batches of rows: a new order for each epoch, and a place in it."""

    def __init__(self, rows: int, seed: int) -> None:
        self.generator = np.random.PCG64(seed)
        self.order = np.arange(rows)
        self.position = rows  # the first batch begins an epoch

    def next_batch(self, size: int) -> npt.NDArray[np.int64]:
        """Return the indices of the next batch, int64 of shape ``(size,)``."""
        if self.position + size > self.order.size:
            keys = self.generator.random_raw(self.order.size)
            self.order = np.argsort(keys, kind="stable")
            self.position = 0
        batch = self.order[self.position : self.position + size]
        self.position += size
        return batch


class LogisticRegression:
    """Weights are float64 of shape ``(features,)``; labels are 0 and 1, a tenth of them wrong."""

    def __init__(self, config: Settings, seed: int) -> None:
        self.config = config
        source = np.random.PCG64(seed)
        self.x = draw_uniform(source, config.rows, config.features)
        truth = draw_uniform(source, config.features)
        flipped = draw_uniform(source, config.rows) > 0.8
        self.y = ((self.predict(self.x, 20.0 * truth) > 0.5) ^ flipped).astype(np.float64)
        self.weights = np.zeros(config.features)
        self.sampler = Sampler(config.rows, seed + 1)

    @staticmethod
    def predict(x: Floats, weights: Floats) -> Floats:
        """Return the probability of a 1 for each row; features are added in their order."""
        score = np.zeros(len(x))
        for feature, weight in zip(x.T, weights, strict=True):
            score = score + feature * weight
        return sigmoid(score)

    def step(self, trace: Trace) -> None:
        """Make one update from one batch."""
        batch = self.sampler.next_batch(self.config.batch_size)
        trace.record("batch", batch, of="state:sampler")
        x, y = self.x[batch], self.y[batch]
        errors = self.predict(x, self.weights) - y
        trace.record("errors", errors, of=("batch", "state:weights"))
        contributions = errors[:, np.newaxis] * x
        trace.record("contributions", contributions, of=("batch", "errors"))
        rows = contributions if self.config.reduction == "forward" else contributions[::-1]
        gradient = np.zeros_like(self.weights)
        for row in rows:
            gradient = gradient + row
        trace.record("gradient", gradient, of="contributions")
        self.weights = self.weights - self.config.learning_rate / len(batch) * gradient
        trace.record("weights", self.weights, of=("gradient", "state:weights"))
        trace.metric("error", np.cumsum(errors * errors)[-1] / len(batch))

    def state_dict(self) -> dict[str, Any]:
        """Return all that the next step depends on; the sampler has three parts."""
        return {
            "weights": self.weights,
            "sampler.generator": self.sampler.generator.state,
            "sampler.order": self.sampler.order,
            "sampler.position": self.sampler.position,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue as if the process had never ended."""
        self.weights = state["weights"]
        self.sampler.generator.state = state["sampler.generator"]
        self.sampler.order = state["sampler.order"]
        self.sampler.position = state["sampler.position"]

    def constants(self) -> dict[str, Any]:
        """Return what is held fixed: the data."""
        return {"x": self.x, "y": self.y}
