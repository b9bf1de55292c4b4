"""The reference experiment a second time, with the standard library alone.

It shares no code with ``repropack.lab.replay_lab`` and does not use NumPy: PCG64 and SeedSequence
are written out from their published algorithms, and float32 is a Python float that is rounded
through ``struct`` after every operation. Rounding the float64 result of ``+ - * /`` or a square
root of float32 operands to float32 gives the float32 result exactly, because 53 >= 2 * 24 + 2.

Where the two implementations agree, byte for byte, the recipe was enough to reproduce the
experiment.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

ROWS, FEATURES, BATCH_SIZE = 512, 24, 64
SIGNAL_SCALE, SINE_AMPLITUDE, NOISE_SCALE = 0.4, 0.3, 0.12
LEARNING_RATE, BETA1, BETA2, EPSILON, INITIAL_SCALE = 0.04, 0.9, 0.999, 1e-8, 0.1

MASK32, MASK64, MASK128 = 2**32 - 1, 2**64 - 1, 2**128 - 1

Reset = Literal["adam", "sampler"]


# ---------------------------------------------------------------- float32 and fingerprints


def f32(values: list[float]) -> list[float]:
    """Round every value to float32."""
    layout = struct.Struct(f"<{len(values)}f")
    return list(layout.unpack(layout.pack(*values)))


def f32_scalar(value: float) -> float:
    """Round one value to float32."""
    return f32([value])[0]


def array_fingerprint(type_string: str, shape: tuple[int, ...], elements: bytes) -> str:
    """Return the fingerprint of an array, given its elements little-endian and in C order."""
    header = f"repropack.array.v1\n{type_string}\n{','.join(map(str, shape))}\n"
    return "sha256:" + hashlib.sha256(header.encode("ascii") + elements).hexdigest()


def f32_fingerprint(values: list[float], *shape: int) -> str:
    """Return the fingerprint of float32 values, a vector unless a shape is given."""
    elements = struct.pack(f"<{len(values)}f", *values)
    return array_fingerprint("<f4", shape or (len(values),), elements)


def i64_fingerprint(values: list[int]) -> str:
    """Return the fingerprint of a vector of int64."""
    return array_fingerprint("<i8", (len(values),), struct.pack(f"<{len(values)}q", *values))


# ---------------------------------------------------------------- SeedSequence and PCG64


def hash_constants(start: int, multiplier: int) -> list[tuple[int, int]]:
    """Return enough of the pairs (xor with, multiply by) that the pool's hash walks through."""
    pairs = []
    for _ in range(64):
        following = start * multiplier & MASK32
        pairs.append((start, following))
        start = following
    return pairs


def hash_word(word: int, constants: tuple[int, int]) -> int:
    """Hash one 32-bit word."""
    word = (word ^ constants[0]) * constants[1] & MASK32
    return word ^ word >> 16


def mix_words(left: int, right: int) -> int:
    """Mix two 32-bit words."""
    word = left * 0xCA01F9DD - right * 0x4973F715 & MASK32
    return word ^ word >> 16


def spawned_seed_words(seed: int, child: int) -> list[int]:
    """Return ``SeedSequence(seed).spawn(child + 1)[child].generate_state(4, uint64)``."""
    if not 0 <= seed < 2**128:
        message = f"seed: expected at most 128 bits, observed {seed}"
        raise ValueError(message)
    # The seed fills the pool of four words; a spawn key comes after it.
    entropy = [seed >> shift & MASK32 for shift in (0, 32, 64, 96)] + [child]
    constants = iter(hash_constants(0x43B0D7E5, 0x931E8875))
    pool = [hash_word(word, next(constants)) for word in entropy[:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = mix_words(pool[target], hash_word(pool[source], next(constants)))
    for word in entropy[4:]:
        for target in range(4):
            pool[target] = mix_words(pool[target], hash_word(word, next(constants)))

    constants = iter(hash_constants(0x8B51F9DD, 0x58F38DED))
    words = [hash_word(pool[index % 4], next(constants)) for index in range(8)]
    return [words[index] | words[index + 1] << 32 for index in range(0, 8, 2)]


class Pcg64:
    """PCG64: a 128-bit linear congruential generator with the XSL-RR output function."""

    MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645

    def __init__(self, seed: int, child: int) -> None:
        high, low, increment_high, increment_low = spawned_seed_words(seed, child)
        self.increment = (increment_high << 64 | increment_low) << 1 & MASK128 | 1
        self.state = self.increment + (high << 64 | low) & MASK128
        self.advance()

    def advance(self) -> None:
        """Move the state on by one."""
        self.state = self.state * self.MULTIPLIER + self.increment & MASK128

    def raw(self, count: int) -> list[int]:
        """Return the next 64-bit words."""
        words = []
        for _ in range(count):
            self.advance()
            folded = self.state >> 64 ^ self.state & MASK64
            turn = self.state >> 122
            words.append((folded >> turn | folded << 64 - turn) & MASK64)
        return words

    def normals(self, count: int) -> list[float]:
        """Return Irwin-Hall normals: twelve uniforms added in order, less 6."""
        uniforms = [(word >> 11) * 2.0**-53 for word in self.raw(12 * count)]
        normals = []
        for index in range(count):
            total = 0.0
            for uniform in uniforms[index::count]:
                total += uniform
            normals.append(total - 6.0)
        return normals


# ---------------------------------------------------------------- the experiment


def sine(x: float) -> float:
    """Return the Taylor polynomial through x^15 by Horner's scheme."""
    square = x * x
    result = -1 / math.factorial(15)
    for odd in (13, 11, 9, 7, 5, 3, 1):
        sign = -1 if odd in (11, 7, 3) else 1
        result = result * square + sign / math.factorial(odd)
    return result * x


def integer_power(base: float, exponent: int) -> float:
    """Return a power by squaring, from the least significant bit."""
    result = 1.0
    for bit in reversed(f"{exponent:b}"):
        if bit == "1":
            result *= base
        base *= base
    return result


def pairwise_sum(values: list[float]) -> float:
    """Return the tree sum, recursively."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    added = [values[index] + values[index + half] for index in range(half)]
    return pairwise_sum(added + values[2 * half :])


def dot(row: list[float], weights: list[float]) -> float:
    """Return the float64 product, feature by feature."""
    total = 0.0
    for value, weight in zip(row, weights, strict=True):
        total += value * weight
    return total


@dataclass
class OracleRun:
    """What a run computed: a dictionary of fingerprints for each step, and the final state."""

    constants: dict[str, str] = field(default_factory=dict)
    stages: list[dict[str, str]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    weights: list[list[float]] = field(default_factory=list)
    first_moment: str = ""
    second_moment: str = ""
    sampler_state: int = 0
    sampler_increment: int = 0


def make_data(seed: int) -> tuple[list[list[float]], list[float]]:
    """Return the float32 features, by row, and the float32 targets."""
    generator = Pcg64(seed, child=0)
    flat = f32(generator.normals(ROWS * FEATURES))
    features = [flat[start : start + FEATURES] for start in range(0, ROWS * FEATURES, FEATURES)]
    true_weights = [value * SIGNAL_SCALE for value in generator.normals(FEATURES)]
    targets = []
    for row, noise in zip(features, generator.normals(ROWS), strict=True):
        bent = dot(row, true_weights) + SINE_AMPLITUDE * sine(min(max(row[0], -3.0), 3.0))
        targets.append(bent + NOISE_SCALE * noise)
    return features, f32(targets)


def contributions_of(
    rows: list[list[float]], targets: list[float], weights: list[float]
) -> list[list[float]]:
    """Return the float32 gradient contributions, by row of the batch."""
    predictions = [0.0] * len(rows)
    for feature, weight in enumerate(weights):
        products = f32([row[feature] * weight for row in rows])
        predictions = f32([p + q for p, q in zip(predictions, products, strict=True)])
    errors = f32([p - y for p, y in zip(predictions, targets, strict=True)])
    scale = f32_scalar(2 / BATCH_SIZE)
    scaled = f32([error * scale for error in errors])
    return [f32([s * x for x in row]) for s, row in zip(scaled, rows, strict=True)]


class OracleLab:
    """The state of a run and how a step changes it."""

    def __init__(self, seed: int, *, reverse: bool) -> None:
        self.reverse = reverse
        self.features, self.targets = make_data(seed)
        initial = Pcg64(seed, child=1).normals(FEATURES)
        self.weights = f32([value * INITIAL_SCALE for value in initial])
        self.seed = seed
        self.reset("adam")
        self.reset("sampler")

    def reset(self, component: Reset) -> None:
        """Put a component back to its value at step 0."""
        if component == "adam":
            self.first = [0.0] * FEATURES
            self.second = [0.0] * FEATURES
            self.updates = 0
        else:
            self.sampler = Pcg64(self.seed, child=2)

    def step(self) -> dict[str, str]:
        """Advance by one update and return the fingerprints of its stages."""
        keys = self.sampler.raw(ROWS)
        batch = sorted(range(ROWS), key=keys.__getitem__)[:BATCH_SIZE]
        rows = [self.features[index] for index in batch]
        contributions = contributions_of(
            rows, [self.targets[index] for index in batch], self.weights
        )
        gradient = [0.0] * FEATURES
        for row in reversed(contributions) if self.reverse else contributions:
            gradient = f32([g + c for g, c in zip(gradient, row, strict=True)])
        self.adam(gradient)
        return {
            "batch": i64_fingerprint(batch),
            "contributions": f32_fingerprint(
                list(chain.from_iterable(contributions)), BATCH_SIZE, FEATURES
            ),
            "gradient": f32_fingerprint(gradient),
            "weights": f32_fingerprint(self.weights),
        }

    def adam(self, gradient: list[float]) -> None:
        """Update moments and weights, element by element."""
        self.updates += 1
        beta1, other1 = f32_scalar(BETA1), f32_scalar(1 - BETA1)
        beta2, other2 = f32_scalar(BETA2), f32_scalar(1 - BETA2)
        correction1 = f32_scalar(1 - integer_power(BETA1, self.updates))
        correction2 = f32_scalar(1 - integer_power(BETA2, self.updates))
        rate, epsilon = f32_scalar(LEARNING_RATE), f32_scalar(EPSILON)
        for index, g in enumerate(gradient):
            m = f32_scalar(f32_scalar(beta1 * self.first[index]) + f32_scalar(other1 * g))
            squared = f32_scalar(g * g)
            v = f32_scalar(f32_scalar(beta2 * self.second[index]) + f32_scalar(other2 * squared))
            numerator = f32_scalar(rate * f32_scalar(m / correction1))
            root = f32_scalar(math.sqrt(f32_scalar(v / correction2)))
            change = f32_scalar(numerator / f32_scalar(root + epsilon))
            self.first[index], self.second[index] = m, v
            self.weights[index] = f32_scalar(self.weights[index] - change)

    def loss(self) -> float:
        """Return the float64 loss over all rows."""
        squares = []
        for row, target in zip(self.features, self.targets, strict=True):
            error = dot(row, self.weights) - target
            squares.append(error * error)
        return pairwise_sum(squares) / ROWS


def run_oracle(
    *,
    seed: int = 7,
    steps: int = 100,
    reverse: bool = False,
    reset: Reset | None = None,
    reset_after: int = 40,
) -> OracleRun:
    """Run the experiment with its default configuration, optionally resetting one component."""
    lab = OracleLab(seed, reverse=reverse)
    run = OracleRun(
        constants={
            "features": f32_fingerprint(list(chain.from_iterable(lab.features)), ROWS, FEATURES),
            "targets": f32_fingerprint(lab.targets),
        }
    )
    for number in range(1, steps + 1):
        run.stages.append(lab.step())
        run.losses.append(lab.loss())
        run.weights.append(list(lab.weights))
        if reset is not None and number == reset_after:
            lab.reset(reset)
    run.first_moment = f32_fingerprint(lab.first)
    run.second_moment = f32_fingerprint(lab.second)
    run.sampler_state = lab.sampler.state
    run.sampler_increment = lab.sampler.increment
    return run
