#!/usr/bin/env python3
"""Print what recording a stage costs beside hashing its bytes.

``benchmarks/recording_cost.py [REPEATS]``, 30 repeats by default. For arrays of several sizes:

- *hash*: SHA-256 of the array's bytes alone;
- *record*: ``Trace.record``, with declared inputs, as a step calls it;
- *told*: what telling a stage costs the same process at the end of its step: a message made,
  encoded and written to the null device.

Each is the least of the repeats, so that another program's turn does not count; the last column is
what a stage costs beyond the hashing. The goal is 10 microseconds; no test asserts a time. A loop
(``repropack.attach``) records through the same call. What the other process does with a message
takes none of the step's time, and is not in it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from repropack._format.canonical import encode_canonical
from repropack.experiment import Trace
from repropack.models.worker import Stepped

STAGES = 64
SHAPES = ((24,), (1024,), (256, 256), (1024, 1024))
NAMES = tuple(f"stage{k}" for k in range(STAGES))
OF = ("state:model",)


def main() -> int:
    """Measure and print.

    Returns:
        0.
    """
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    told = _told(repeats)
    sys.stdout.write(
        "float32 array      hash us   record us   told us   beyond the hash us   ratio\n"
    )
    for shape in SHAPES:
        array = np.full(shape, 0.1, np.float32)
        stages = STAGES if array.nbytes < 1 << 20 else 4
        hashing, recording = _least(
            (_hashing(array, stages), _recording(array, stages)), repeats, stages
        )
        whole = recording + told
        name = "x".join(map(str, shape))
        sys.stdout.write(
            f"{name:15} {hashing:10.2f}  {recording:10.2f}  {told:8.2f}  {whole - hashing:19.2f}  "
            f"{whole / hashing:6.2f}\n"
        )
    return 0


def _least(calls: Sequence[Callable[[], None]], repeats: int, stages: int) -> list[float]:
    """Microseconds of one stage of each call, taken in turns."""
    least = [float("inf")] * len(calls)
    for _ in range(repeats):
        for k, call in enumerate(calls):
            least[k] = min(least[k], timeit.timeit(call, number=4))
    return [seconds / 4 / stages * 1e6 for seconds in least]


def _hashing(array: np.ndarray[Any, Any], stages: int) -> Callable[[], None]:
    data = array.tobytes()

    def step() -> None:
        for _ in range(stages):
            hashlib.sha256(data).hexdigest()

    return step


def _recording(array: np.ndarray[Any, Any], stages: int) -> Callable[[], None]:
    """A step's stages, the making of its trace included."""

    def step() -> None:
        trace = Trace(components=("model",))
        for name in NAMES[:stages]:
            trace.record(name, array, of=OF)

    return step


def _told(repeats: int) -> float:
    """Microseconds that one more stage adds to a step's message."""
    array = np.zeros(24, np.float32)
    with Path(os.devnull).open("wb") as stream:

        def telling(stages: int) -> Callable[[], None]:
            trace = Trace(components=("model",))
            for name in NAMES[:stages]:
                trace.record(name, array, of=OF)

            def message() -> None:
                stepped = Stepped(
                    step=1,
                    stages=trace.stages,
                    declarations=tuple(trace.declarations.items()),
                    state=None,
                    metrics={},
                    printed={},
                    finish=None,
                )
                stream.write(encode_canonical(stepped.model_dump(mode="json")))
                stream.flush()

            return message

        whole, empty = _least((telling(STAGES), telling(0)), repeats, 1)
    return (whole - empty) / STAGES


if __name__ == "__main__":
    sys.exit(main())
