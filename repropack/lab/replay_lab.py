"""Replay lab: runs whose printed losses agree at every step while their weights never do.

A linear model is trained by Adam on a small made-up data set. The file needs the standard library
and NumPy, nothing else, so that it can be read in one sitting and run anywhere.

Its bytes are the same on every machine, because it uses only operations whose result IEEE 754 or
integer arithmetic fixes uniquely: elementwise ``+ - * /``, casts, ``clip``, ``math.sqrt``, a
stable integer sort and raw generator words. What is missing is missing on purpose: ``np.sum``,
``@``, ``np.sqrt``, ``np.exp``, ``**`` and ``Generator.normal`` give other last bits on another
machine or with another NumPy. Where an order of operations is written out as a loop, that order
is part of the result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Float32s = npt.NDArray[np.float32]
Float64s = npt.NDArray[np.float64]
Floats = TypeVar("Floats", Float32s, Float64s)  # one of the two, the same going in and coming out
Int64s = npt.NDArray[np.int64]
State = Mapping[str, Any]
Reduction = Literal["forward", "reverse"]


class Trace(Protocol):
    """Where a step tells what it computed; anything with these two methods will do."""

    def record(self, name: str, array: npt.NDArray[Any], of: tuple[str, ...] | None = None) -> None:
        """Take an intermediate result and the names of what it was computed from."""

    def metric(self, name: str, value: float) -> None:
        """Take a number that a log would print."""


@dataclass(frozen=True)
class ReplayLabConfig:
    """Everything that may be changed about the experiment, except its seed."""

    rows: int = 512
    features: int = 24
    batch_size: int = 64
    signal_scale: float = 0.4
    sine_amplitude: float = 0.3
    noise_scale: float = 0.12
    learning_rate: float = 0.04
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    initial_scale: float = 0.1
    reduction: Reduction = "forward"

    def __post_init__(self) -> None:
        """Refuse values that would otherwise change the experiment without a word.

        Raises:
            ValueError: the order is neither of the two, or a batch would not fit into the rows.
        """
        if self.reduction not in ("forward", "reverse"):
            message = f"reduction: expected 'forward' or 'reverse', observed {self.reduction!r}"
            raise ValueError(message)
        if not 1 <= self.batch_size <= self.rows:
            message = f"batch_size: expected 1 to rows ({self.rows}), observed {self.batch_size}"
            raise ValueError(message)


# ---------------------------------------------------------------- arithmetic with a fixed order


def tree_sum(values: Float64s) -> float:
    """Return the sum of a vector that is not empty, added pairwise in float64.

    The first half is added to the second until one element is left; an odd last element waits for
    the next round. ``np.sum`` adds pairwise too, but in blocks that NumPy has changed from one
    version to the next.
    """
    while len(values) > 1:
        half = len(values) // 2
        paired = values[:half] + values[half : 2 * half]
        values = np.concatenate((paired, values[2 * half :]))
    return float(values[0])


def add_rows(rows: Floats, reduction: Reduction = "forward") -> Floats:
    """Return the sum over the first axis: ``(n, ...)`` to ``(...)``, one row after the other.

    Floating-point addition is not associative: the reverse order gives a sum of the same numbers
    that may differ in its last bits. The reversed run changes this order and nothing else.
    """
    order = range(len(rows)) if reduction == "forward" else range(len(rows) - 1, -1, -1)
    total = np.zeros(rows.shape[1:], dtype=rows.dtype)
    for index in order:
        total = total + rows[index]
    return total


def add_products(inputs: Floats, weights: Floats) -> Floats:
    """Return the linear model's output: ``(n, features)`` and ``(features,)`` to ``(n,)``.

    This is ``inputs @ weights``, feature by feature: a BLAS would choose an order, and whether to
    fuse multiplication with addition, by the processor that it finds.
    """
    total = np.zeros(len(inputs), dtype=inputs.dtype)
    for feature in range(len(weights)):
        total = total + inputs[:, feature] * weights[feature]
    return total


def power(base: float, exponent: int) -> float:
    """Return ``base`` to the power of a whole number ``>= 0``, in float64.

    By squaring, least significant bit first; ``**`` would ask the C library, and each has its own.
    """
    result = 1.0
    while exponent:
        if exponent & 1:
            result = result * base
        base = base * base
        exponent >>= 1
    return result


def square_roots(values: Float32s) -> Float32s:
    """Return the square roots, each taken in float64 and rounded once to float32.

    ``math.sqrt`` is correctly rounded everywhere; ``np.sqrt`` is not in every build.
    """
    return np.array([math.sqrt(value) for value in values.tolist()], dtype=np.float32)


def sine(x: Float64s) -> Float64s:
    """Return the odd Taylor polynomial of the sine through ``x**15``; good for ``|x| <= 3``.

    Horner's scheme in ``x * x``, from the coefficient -1/15! down to 1.
    """
    square = x * x
    result = np.zeros_like(x)
    for odd in range(15, 0, -2):
        sign = 1.0 if odd % 4 == 1 else -1.0
        result = result * square + sign / math.factorial(odd)
    return result * x


# ---------------------------------------------------------------- random numbers and data


def uniforms(generator: np.random.PCG64, count: int) -> Float64s:
    """Return ``count`` float64 in [0, 1): the upper 53 bits of as many raw words.

    NumPy promises to keep the raw words as they are, but not what ``Generator`` makes of them.
    """
    words = generator.random_raw(count) >> np.uint64(11)
    return words.astype(np.float64) * (1.0 / (1 << 53))


def normals(generator: np.random.PCG64, count: int) -> Float64s:
    """Return ``count`` approximately normal float64: twelve uniforms added, less 6 (Irwin-Hall).

    Additions only, so no logarithm or cosine is involved.
    """
    return add_rows(uniforms(generator, 12 * count).reshape(12, count)) - 6.0


def make_data(generator: np.random.PCG64, config: ReplayLabConfig) -> tuple[Float32s, Float32s]:
    """Return features ``(rows, features)`` and targets ``(rows,)``, both float32.

    Targets are a linear signal, a sine of the first feature that a linear model cannot learn, and
    noise; computed in float64 from the float32 features, rounded once at the end.
    """
    drawn = normals(generator, config.rows * config.features)
    features = drawn.reshape(config.rows, config.features).astype(np.float32)
    true_weights = normals(generator, config.features) * config.signal_scale
    noise = normals(generator, config.rows)

    wide = features.astype(np.float64)
    targets = add_products(wide, true_weights)
    targets = targets + config.sine_amplitude * sine(np.clip(wide[:, 0], -3.0, 3.0))
    targets = targets + config.noise_scale * noise
    return features, targets.astype(np.float32)


def draw_batch(generator: np.random.PCG64, rows: int, batch_size: int) -> Int64s:
    """Return ``batch_size`` different row numbers, int64, in the order in which they are used.

    Every row draws a random key; the rows with the smallest keys, in order of their keys, are the
    batch. The sort is stable, so that even equal keys would have one order.
    """
    keys = generator.random_raw(rows)
    return np.argsort(keys, kind="stable")[:batch_size].astype(np.int64)


def gradient_contributions(inputs: Float32s, targets: Float32s, weights: Float32s) -> Float32s:
    """Return each example's part of the gradient of the mean squared error.

    ``inputs`` is ``(batch, features)``, ``targets`` ``(batch,)``, ``weights`` ``(features,)``;
    the result is ``(batch, features)``; all are float32. Its rows, added up, are the gradient.
    """
    errors = add_products(inputs, weights) - targets
    scale = np.float32(2 / len(targets))
    return (errors * scale)[:, np.newaxis] * inputs


# ---------------------------------------------------------------- the experiment


class ReplayLab:
    """The experiment: data, weights, optimizer and sampler, advanced one update at a time."""

    def __init__(self, config: ReplayLabConfig, seed: int) -> None:
        """Make the data and the state at step 0; data, weights and sampler have a source each."""
        sources = np.random.SeedSequence(seed).spawn(3)
        data, initial, self._sampler = (np.random.PCG64(source) for source in sources)
        self._config = config
        self._features, self._targets = make_data(data, config)
        scaled = normals(initial, config.features) * config.initial_scale
        self._weights: Float32s = scaled.astype(np.float32)
        self._first_moment: Float32s = np.zeros(config.features, dtype=np.float32)
        self._second_moment: Float32s = np.zeros(config.features, dtype=np.float32)
        self._updates = 0

    def step(self, trace: Trace) -> None:
        """Draw a batch, update the weights once, and tell ``trace`` about every stage."""
        batch = draw_batch(self._sampler, self._config.rows, self._config.batch_size)
        trace.record("batch", batch, of=("state:sampler",))

        contributions = gradient_contributions(
            self._features[batch], self._targets[batch], self._weights
        )
        trace.record("contributions", contributions, of=("batch", "state:weights"))

        gradient = add_rows(contributions, self._config.reduction)
        trace.record("gradient", gradient, of=("contributions",))

        self._update_weights(gradient)
        trace.record("weights", self._weights, of=("gradient", "state:weights", "state:adam"))

        trace.metric("loss", self._loss())

    def state_dict(self) -> dict[str, Any]:
        """Return everything that determines the next step; the arrays are live, not copies."""
        sampler = self._sampler.state
        return {
            "weights": self._weights,
            "adam.first_moment": self._first_moment,
            "adam.second_moment": self._second_moment,
            "adam.updates": self._updates,
            "sampler": {
                "bit_generator": "PCG64",
                "state": {key: int(sampler["state"][key]) for key in ("state", "inc")},
                "has_uint32": int(sampler["has_uint32"]),
                "uinteger": int(sampler["uinteger"]),
            },
        }

    def load_state_dict(self, state: State) -> None:
        """Continue from ``state``; its arrays are copied, so that later steps leave them alone."""
        self._weights = np.array(state["weights"], dtype=np.float32)
        self._first_moment = np.array(state["adam.first_moment"], dtype=np.float32)
        self._second_moment = np.array(state["adam.second_moment"], dtype=np.float32)
        self._updates = int(state["adam.updates"])
        self._sampler.state = state["sampler"]

    def constants(self) -> dict[str, npt.NDArray[Any]]:
        """Return the data set, which no step changes."""
        return {"features": self._features, "targets": self._targets}

    def _update_weights(self, gradient: Float32s) -> None:
        """Apply Adam, every operation of it rounded once to float32.

        Constants are computed in float64 and then cast: what a wider scalar does to a float32
        array depends on NumPy's version.
        """
        config, gradient_squared = self._config, gradient * gradient
        keep1, add1 = np.float32(config.beta1), np.float32(1 - config.beta1)
        keep2, add2 = np.float32(config.beta2), np.float32(1 - config.beta2)
        self._updates += 1
        self._first_moment = keep1 * self._first_moment + add1 * gradient
        self._second_moment = keep2 * self._second_moment + add2 * gradient_squared
        first = self._first_moment / np.float32(1 - power(config.beta1, self._updates))
        second = self._second_moment / np.float32(1 - power(config.beta2, self._updates))
        divisor = square_roots(second) + np.float32(config.epsilon)
        self._weights = self._weights - (np.float32(config.learning_rate) * first) / divisor

    def _loss(self) -> float:
        """Return the mean squared error over all rows, in float64."""
        inputs, targets = self._features.astype(np.float64), self._targets.astype(np.float64)
        errors = add_products(inputs, self._weights.astype(np.float64)) - targets
        return tree_sum(errors * errors) / self._config.rows
