#!/usr/bin/env python3
"""How long explaining the difference of two npz takes, against loading and comparing them.

    python benchmarks/array_difference.py [--mebibytes 32] [--folder DIR]

Two npz of one array each differ in one element, in every element, in type, in the signs of zeros
alone, and in NaN payloads alone. Loading and comparing is NumPy's: `numpy.load` of both, then
`numpy.array_equal` of the elements' bits (values, where types differ). The goal is at most twice
that time. Prints processor time, the median of some runs of each in a process of their own (a
loaded machine tells little by the clock), and the most memory of the process that explained.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_LOAD = """
import sys, time
import numpy as np
def run(paths):
    left, right = (np.load(path)["values"] for path in paths)
    if left.dtype != right.dtype:
        return np.array_equal(left, right)
    bits = f"u{left.dtype.itemsize}"
    return np.array_equal(left.view(bits), right.view(bits))
"""
_EXPLAIN = """
import sys, time
from repropack.diff_of_arrays import diff_arrays
def run(paths):
    return diff_arrays(*paths)
"""
_TIMED = """
times = []
for _ in range(int(sys.argv[3])):
    start = time.process_time()
    found = run(sys.argv[1:3])
    times.append(time.process_time() - start)
[peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(*times, peak)
"""


def _measured(code: str, pair: tuple[Path, Path], runs: int) -> tuple[float, float]:
    """Median time in seconds, and largest memory of the process in mebibytes."""
    command = [sys.executable, "-c", code + _TIMED, *map(str, pair), str(runs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    *times, memory = map(float, done.stdout.split())
    return statistics.median(times), memory / 1024


def _cases(count: int) -> dict[str, tuple[Array, Array]]:
    values = np.random.default_rng(7).standard_normal(count, np.float32)
    one = values.copy()
    one[count // 2] += 1
    zeros = np.where(np.arange(count) % 2, values, np.float32(0))
    quiet = np.full(count, np.nan, np.float32)
    payload = (quiet.view(np.uint32) ^ np.uint32(1)).view(np.float32)
    return {
        "equal": (values, values),
        "one element": (values, one),
        "every element": (values, np.nextafter(values, np.float32(9))),
        "everything, far": (values, -values),
        "every second": (values, np.where(np.arange(count) % 2, values, values + 1)),
        "type, rounded": (values.astype(np.float64), values),
        "signs of zeros": (zeros, np.where(zeros == 0, np.float32(-0.0), zeros)),
        "NaN payloads": (quiet, payload),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mebibytes", type=int, default=32)
    parser.add_argument("--folder", help="where the files lie (default: temporary)")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    sys.stdout.write(f"{'':18}{'load, compare':>14}{'explain':>12}{'times':>8}{'memory':>12}\n")
    for name, pair in _cases(options.mebibytes << 18).items():
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            paths = Path(folder, "left.npz"), Path(folder, "right.npz")
            for path, array in zip(paths, pair, strict=True):
                np.savez(path, values=array)  # noqa: TID251 - what others write
            (usual, _), (ours, memory) = (
                _measured(code, paths, options.runs) for code in (_LOAD, _EXPLAIN)
            )
        sys.stdout.write(
            f"{name:18}{usual * 1e3:11.0f} ms{ours * 1e3:9.0f} ms{ours / usual:8.2f}"
            f"{memory:8.0f} MiB\n"
        )


if __name__ == "__main__":
    main()
