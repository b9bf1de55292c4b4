"""What a comparison reads of a run, and the kept rows of two runs brought to the same step.

``outcomes`` and ``series`` share this, so that a figure cannot measure other rows than a finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy.typing as npt

from repropack._compare.distances import absolute_difference, largest
from repropack._compare.logs import StepPair
from repropack._format.state import decode_value
from repropack.models.log import HeaderLine, StartLine, StepLine

Array = npt.NDArray[Any]


class RunEvidence(Protocol):
    """What is needed of a run: its log and its kept arrays, streamed."""

    @property
    def name(self) -> str: ...
    @property
    def header(self) -> HeaderLine: ...
    @property
    def start(self) -> StartLine: ...
    def steps(self, first_step: int = 0) -> Iterator[StepLine]: ...
    def kept_rows(self, stage: str, first_step: int = 0) -> Iterator[Array] | None: ...


class KeptRows:
    """The rows of one kept stage in both runs. Ask for every compared pair once, in order."""

    def __init__(self, stage: str, reference: RunEvidence, run: RunEvidence) -> None:
        """Begin at the run's first step.

        Args:
            stage: The kept stage.
            reference: The reference; its rows before the run's first step are passed over.
            run: The run; one that is identical to the reference may have stored no rows.
        """
        self.stage = stage
        own = run.kept_rows(stage)
        left = None if own is None else reference.kept_rows(stage, run.header.first_step)
        self._rows = None if own is None or left is None else (left, own)

    def differing(self, pair: StepPair) -> tuple[Array, Array] | None:
        """Both rows of a step where they differ and can be measured against each other.

        Args:
            pair: The next compared step.

        Returns:
            Reference's and run's row, of one type and shape; ``None`` where the stage was not
            recorded, its fingerprints are equal, or the rows are of another type or shape.
        """
        if self._rows is None:
            return None
        left, right = _row(self._rows[0], pair.left), _row(self._rows[1], pair.right)
        if left is None or right is None or self.stage not in pair.differing_stages:
            return None
        if left.dtype != right.dtype or left.shape != right.shape:
            return None
        return left, right


def largest_absolute(left: Array, right: Array) -> float | None:
    """Largest absolute difference of two rows, in float64.

    Args:
        left: Any storable type and shape.
        right: The same type and shape.

    Returns:
        Above zero, perhaps infinite; ``None`` where no element differs in value (zeros of two
        signs) or none is comparable (NaN).
    """
    encoded = largest(absolute_difference(left, right))
    return None if encoded is None else float(decode_value("largest", encoded))


def metric_as_float(encoded: Any) -> float:
    """Return a stored metric as float64; an integer beyond its range becomes infinite."""
    value: int | float = decode_value("metric", encoded)
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _row(rows: Iterator[Array], line: StepLine) -> Array | None:
    """The row of one step, which is the next; ``None`` where its stages were not recorded."""
    return None if line.stages is None else next(rows, None)
