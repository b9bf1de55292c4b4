"""Series and arrays that an expression names, as elements that are read when they are asked for.

A run that is identical to the reference stores its log alone; its arrays are then the
reference's, and that is where they are read, also while they still lie beside their run.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from repropack._compare.claim_rules import step_range
from repropack._compare.pointers import is_encoded, unknown
from repropack._compare.rows import RunEvidence, metric_as_float
from repropack._format.expressions import ExpressionError, Part, Pointer
from repropack._format.layout import RESULTS
from repropack._format.values import decode_value
from repropack.errors import LimitExceededError
from repropack.models.checkpoint import Checkpoint
from repropack.models.log import StepLine

Array = npt.NDArray[Any]
_ELEMENTS_A_LINE = 1000
"""What reading a line of a log, or a row of a checkpoint's document, counts as."""
_LARGEST_PLAIN = 2**63


class ClaimRun(RunEvidence, Protocol):
    """What is needed of a run: its log, and its stored arrays by blocks."""

    @property
    def log_path(self) -> str: ...
    @property
    def kept_path(self) -> str: ...
    def kept_stages(self) -> dict[str, tuple[str, tuple[int, ...]]]: ...
    def kept_elements(self, stage: str, first_row: int, rows: int) -> Iterator[Array]: ...
    def checkpoint_steps(self) -> tuple[int, ...]: ...
    def checkpoint_paths(self, step: int) -> tuple[str, str]: ...
    def checkpoint_document(self, step: int) -> Checkpoint: ...
    def checkpoint_elements(self, step: int, name: str) -> Iterator[Array]: ...


@dataclass(frozen=True)
class Elements:
    """Rows of elements of one type, and where they come from.

    ``steps`` are those of the rows, ascending; ``None`` for an array, which is one row.
    ``read`` gives flat blocks of some rows: the first, and how many.
    """

    dtype: str
    row_shape: tuple[int, ...]
    steps: Sequence[int] | None
    read: Callable[[int, int], Iterator[Array]]
    evidence: tuple[str, ...]
    at: int
    first_row: int = 0
    rows: int = 1

    @property
    def row_elements(self) -> int:
        """Elements of one row."""
        count = 1
        for extent in self.row_shape:
            count *= extent
        return count

    @property
    def size(self) -> int:
        """Elements of all rows."""
        return self.rows * self.row_elements

    def blocks(self) -> Iterator[Array]:
        """The elements of all rows, in order."""
        return self.read(self.first_row, self.rows)

    def one(self, row: int) -> Elements:
        """One of the rows, from 0."""
        return replace(self, first_row=self.first_row + row, rows=1)

    def between(self, first_step: int, last_step: int) -> Elements:
        """The rows of some steps; empty where none of them has any."""
        steps = self.steps or ()
        begin = bisect_left(steps, first_step)
        end = bisect_right(steps, last_step)
        return replace(
            self, steps=steps[begin:end], first_row=self.first_row + begin, rows=end - begin
        )


class Sources:
    """Finds elements, and counts what is read so that a hostile package cannot ask for ever."""

    def __init__(self, runs: Mapping[str, ClaimRun], max_elements: int) -> None:
        """Prepare; nothing is read yet.

        Args:
            runs: The runs by name.
            max_elements: How many elements may be read in all.
        """
        self._runs = runs
        self._max_elements = max_elements
        self._read = 0
        self._recorded: dict[str, Sequence[int]] = {}
        self._metrics: dict[tuple[str, str], tuple[Sequence[int], Sequence[float]]] = {}

    def charge(self, elements: int) -> None:
        """Count what is about to be read.

        Args:
            elements: How many.

        Raises:
            LimitExceededError: it is more than may be read.
        """
        self._read += elements
        if self._read > self._max_elements:
            bounds = (self._max_elements, self._read)
            raise LimitExceededError("max_claim_elements", RESULTS, "elements for claims", bounds)

    def find(self, pointer: Pointer, holder: str) -> Elements:
        """Find the elements that a pointer names; none of an array is read yet.

        Args:
            pointer: ``kept``, ``metric``, ``final`` or ``checkpoint``, its form checked.
            holder: The run that stores the arrays of the one that the pointer names.

        Returns:
            The elements.

        Raises:
            ExpressionError: there is no such stage, metric, array or step.
            PackageError: a log, checkpoint or kept array is malformed, or too much is read.
        """
        name, second, *rest = pointer.parts
        run, stored = self._runs[name.name], self._runs[holder]
        if pointer.root == "kept":
            found = self._kept(run, stored, second)
        elif pointer.root == "metric":
            found = self._metric(run, second)
        elif pointer.root == "final":
            return self._stored(stored, run, stored.checkpoint_steps()[-1], second)
        else:
            return self._stored(stored, run, int(second.name), rest[0])
        if rest:
            found = found.between(*step_range(rest[0]))
        if not found.rows:
            raise ExpressionError(pointer.at, "expected a recorded step, observed none")
        return found

    def _lines(self, run: ClaimRun) -> Iterator[StepLine]:
        for line in run.steps():
            self.charge(_ELEMENTS_A_LINE)
            yield line

    def _kept(self, run: ClaimRun, stored: ClaimRun, stage: Part) -> Elements:
        stages = stored.kept_stages()
        if stage.name not in stages:
            raise unknown(stage.at, stage.name, list(stages), "a kept stage")
        dtype, shape = stages[stage.name]
        if stored.name not in self._recorded:
            lines = self._lines(stored)
            recorded = array("q", (line.step for line in lines if line.stages is not None))
            self._recorded[stored.name] = recorded
        steps = self._recorded[stored.name]
        found = Elements(
            dtype,
            shape[1:],
            steps,
            lambda first, rows: stored.kept_elements(stage.name, first, rows),
            tuple(sorted({run.log_path, stored.log_path, stored.kept_path})),
            stage.at,
            rows=len(steps),
        )
        return found.between(run.header.first_step, steps[-1]) if steps else found

    def _metric(self, run: ClaimRun, metric: Part) -> Elements:
        """A metric's rows are the steps that noted it; each is a float64."""
        if (run.name, metric.name) not in self._metrics:
            steps, values, names = array("q"), array("d"), set[str]()
            for line in self._lines(run):
                names |= line.metrics.keys()
                if metric.name in line.metrics:
                    steps.append(line.step)
                    values.append(metric_as_float(line.metrics[metric.name]))
            if not steps:
                raise unknown(metric.at, metric.name, sorted(names), "a metric")
            self._metrics[run.name, metric.name] = steps, values
        held, numbers = self._metrics[run.name, metric.name]

        def read(first: int, rows: int) -> Iterator[Array]:
            yield np.array(numbers[first : first + rows], "<f8")

        return Elements("<f8", (), held, read, (run.log_path,), metric.at, rows=len(held))

    def _stored(self, stored: ClaimRun, run: ClaimRun, step: int, name: Part) -> Elements:
        steps = stored.checkpoint_steps()
        if step not in steps:
            told = ", ".join(map(str, steps[:20]))
            problem = f"expected a checkpoint after one of the steps {told}, observed {step}"
            raise ExpressionError(name.at, problem)
        document = stored.checkpoint_document(step)
        rows = len(document.arrays) + len(document.values)
        self.charge(_ELEMENTS_A_LINE * rows)
        companion, npz = stored.checkpoint_paths(step)
        logs = {run.log_path, stored.log_path}
        if name.name in document.arrays:
            row = document.arrays[name.name]
            return Elements(
                row.dtype,
                row.shape,
                None,
                lambda _first, _rows: stored.checkpoint_elements(step, name.name),
                tuple(sorted({*logs, companion, npz})),
                name.at,
            )
        if name.name not in document.values:
            known = sorted({*document.arrays, *document.values})
            raise unknown(name.at, name.name, known, "an array or a number of the state")
        number = _number(document.values[name.name], name)
        evidence = tuple(sorted({*logs, companion}))
        return Elements(
            number.dtype.str, (), None, lambda _first, _rows: iter((number,)), evidence, name.at
        )


def side_by_side(left: Elements, right: Elements) -> tuple[Elements, Elements]:
    """Bring two series to the steps that both have, and see that they can be compared.

    Args:
        left: A series or an array.
        right: Another of the same kind.

    Returns:
        Both, with the same number of elements in the same order.

    Raises:
        ExpressionError: another type or shape, no common step, or steps recorded only on one
            side between common ones.
    """
    if (left.dtype, left.row_shape) != (right.dtype, right.row_shape):
        expected, observed = (
            f"type {one.dtype} and shape {one.row_shape}" for one in (left, right)
        )
        raise ExpressionError(right.at, f"expected {expected}, observed {observed}")
    if left.steps is None or right.steps is None:
        return left, right
    first = max(left.steps[0], right.steps[0])
    last = min(left.steps[-1], right.steps[-1])
    one, two = left.between(first, last), right.between(first, last)
    if one.steps != two.steps:  # one ended early, at a step that the other did not record
        common = sorted(set(one.steps or ()) & set(two.steps or ()))
        last = common[-1] if common else 0
        one, two = left.between(first, last), right.between(first, last)
    if not one.rows or one.steps != two.steps:
        problem = "expected steps that both runs recorded, observed others between them"
        raise ExpressionError(right.at, f"{problem}; name a range such as [41..100]")
    return one, two


def _number(encoded: Any, name: Part) -> Array:
    """A number of the state as an array of one element, exact."""
    plain = isinstance(encoded, int | float) and not isinstance(encoded, bool)
    if not plain and not is_encoded(encoded):
        raise ExpressionError(
            name.at, f"expected an array or a number, observed another value of {name.name!r}"
        )
    value: int | float = decode_value(name.name, encoded)
    if isinstance(value, int) and not -_LARGEST_PLAIN <= value < _LARGEST_PLAIN:
        raise ExpressionError(name.at, f"expected {name.name!r} within 64 bits, observed a larger")
    return np.array([value], "<i8" if isinstance(value, int) else "<f8")
