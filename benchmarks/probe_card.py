#!/usr/bin/env python3
"""Print how long the start guard, the probe card and the environment record take here.

Each is done in fresh processes, for what counts is the first time: ``benchmarks/probe_card.py [N]``
starts N of them, 5 by default, and prints the median and the largest time, imports left out. The
goals are 50 ms for the card and 150 ms for all of it; no test asserts a time.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
MEASURED = """
import sys, time
sys.path.insert(0, sys.argv[1])
from repropack._run.environment import observe_environment
from repropack._run.guard import check_guard
from repropack._run.probe_card import probe_card
from repropack._run.probe_families import FAMILIES

def timed(name, call):
    start = time.perf_counter()
    result = call()
    print(name, (time.perf_counter() - start) * 1e3)
    return result

timed("guard", check_guard)
card = timed("card", probe_card)
timed("record", lambda: observe_environment(card))
timed("card-again", probe_card)
for name, compute in FAMILIES.items():
    timed("family:" + name, lambda: list(compute()))
"""


def main() -> int:
    """Measure and print.

    Returns:
        0.
    """
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    times: dict[str, list[float]] = {}
    for _ in range(count):
        command = [sys.executable, "-c", MEASURED, str(CHECKOUT)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        for line in done.stdout.splitlines():
            name, value = line.split()
            times.setdefault(name, []).append(float(value))
    for name, values in times.items():
        middle, worst = statistics.median(values), max(values)
        sys.stdout.write(f"{name:28} median {middle:7.2f} ms   largest {worst:7.2f} ms\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
