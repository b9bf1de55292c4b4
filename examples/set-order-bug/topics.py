"""Words as vectors, numbered in the order of a set: the bug that only another process shows.

``WordVectors`` has the bug; ``Mended`` differs from it by one call of ``sorted``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from repropack import Trace

SENTENCES = (
    "the sea is calm tonight and the tide is full",
    "the tide was at the full and round the shore",
    "a calm night on the shore of the sea",
    "the moon lies fair upon the night and the sea",
    "a long tide and a cold moon on the shore",
)


@dataclass(frozen=True)
class Settings:
    """``size`` is the length of a word's vector, ``pull`` how far it moves in a step, 0 to 1."""

    size: int = 4
    pull: float = 0.25


class WordVectors:
    """Each step takes one sentence and pulls the vectors of its words towards their middle."""

    def __init__(self, config: Settings, seed: int) -> None:
        self.pull = config.pull
        words = {word for sentence in SENTENCES for word in sentence.split()}
        self.numbers = {word: number for number, word in enumerate(self.in_order(words))}
        raw = np.random.PCG64(seed).random_raw(len(words) * config.size) >> np.uint64(11)
        self.vectors = (raw * 2.0**-52 - 1.0).reshape(len(words), config.size)
        self.place = 0

    def in_order(self, words: set[str]) -> Iterable[str]:
        """Return the words in the order in which they are numbered: the set's own."""
        return words  # BUG: this order depends on PYTHONHASHSEED

    def step(self, trace: Trace) -> None:
        """Look up the words of the next sentence, and move their vectors."""
        sentence = SENTENCES[self.place % len(SENTENCES)]
        rows = np.array([self.numbers[word] for word in sentence.split()])
        trace.record("rows", rows, of="state:place")
        total = np.zeros(self.vectors.shape[1])
        for row in rows:
            total = total + self.vectors[row]
        middle = total / len(rows)
        trace.record("middle", middle, of=("rows", "state:vectors"))
        vectors = self.vectors.copy()
        for row in rows:
            vectors[row] = vectors[row] + self.pull * (middle - vectors[row])
        distance = np.abs(vectors[rows] - middle)
        self.vectors, self.place = vectors, self.place + 1
        trace.record("vectors", vectors, of=("rows", "middle", "state:vectors"))
        trace.metric("spread", distance.max())

    def state_dict(self) -> dict[str, Any]:
        """Return the vectors and the place in the text."""
        return {"vectors": self.vectors, "place": self.place}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from vectors and place."""
        self.vectors, self.place = state["vectors"], state["place"]


class Mended(WordVectors):
    """The same with the cure."""

    def in_order(self, words: set[str]) -> Iterable[str]:
        """Return the words in the order in which they are numbered: the alphabet's."""
        return sorted(words)
