#!/usr/bin/env python3
"""How long a confined program takes to start, beside one that is started plainly.

Prints the median of twenty starts of a program that does nothing: as a plain process, under the
supervisor alone, and at each level of confinement.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from repropack._format.limits import DEFAULT_RUN_LIMITS
from repropack._run.confinement.probing import LEVELS, probe_level
from repropack._run.confinement.sandbox import Places, Sandbox, compose_policy
from repropack._run.confinement.supervised import Supervised
from repropack._run.variables import worker_environment
from repropack.errors import ConfinementUnavailableError
from repropack.models.zoom import SandboxLevel

STARTS = 20
COMMAND = [sys.executable, "-I", "-S", "-B", "-c", "pass"]


def median_seconds(start: Callable[[], None]) -> float:
    """Median over ``STARTS`` starts, after one that is not counted."""
    taken = []
    for _ in range(STARTS + 1):
        begun = time.perf_counter()
        start()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken[1:])


def main() -> None:
    """Measure and print."""
    environment = worker_environment(dict(os.environ))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        places = Places(folder, writable=(folder,))

        def plain() -> None:
            subprocess.run(  # noqa: S603 - this interpreter
                COMMAND, check=True, env=environment, cwd=folder
            )

        def under(sandbox: Sandbox) -> None:
            policy = compose_policy(sandbox, COMMAND, environment, places)
            with Supervised(policy, folder=folder, environment=environment) as running:
                report = running.wait(60)
            if report != {"status": 0, "left": 0}:
                raise SystemExit(f"{sandbox.level}: {report}")

        base = median_seconds(plain)
        sys.stdout.write(f"{'plain':12}{base * 1000:6.1f} ms\n")
        usable = [
            lv for lv in LEVELS if not isinstance(probe_level(lv), ConfinementUnavailableError)
        ]
        levels: list[SandboxLevel] = ["none", *usable]
        for level in levels:
            sandbox = Sandbox(level, DEFAULT_RUN_LIMITS)
            taken = median_seconds(partial(under, sandbox))
            added = (taken - base) * 1000
            sys.stdout.write(f"{level:12}{taken * 1000:6.1f} ms   {added:+.1f} ms\n")


if __name__ == "__main__":
    main()
