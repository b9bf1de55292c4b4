"""Scripts that own their loop, and launchers that run them."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

from repropack._run.confinement.sandbox import UNCONFINED, Sandbox
from repropack._run.execute import Launcher
from repropack._run.materials import Materials
from repropack.models.plan import ExperimentPlan, Plan, RecordPlan

BEGIN = """\
import os
import random
import sys

import numpy as np

import repropack

random.seed(3), np.random.seed(3)
weights = np.zeros(3)
rng = np.random.default_rng(int(sys.argv[1]))
counters = {"made": 0}
run = repropack.attach(
    state={"weights": weights, "rng": rng, "counters": counters,
           "python": random, "numpy": np.random}
)
"""
LOOP = """\
for step in run.steps(4):
    counters["made"] += 1
    noise = rng.random(3) + random.random() + np.random.random(3)
    run.record("noise", noise, of=("state:rng", "state:python", "state:numpy"))
    weights += noise
    run.record("weights", weights, of=("noise", "state:weights"))
    run.metric("loss", float(weights[0]))
"""
CALM = BEGIN + LOOP
"""Four steps that draw from three generators; the script's argument is the seed."""


def in_loop(*lines: str, after: str = "") -> str:
    """The calm script with ``lines`` at the end of its loop's body, and ``after`` after it."""
    return f"{CALM}{indent(chr(10).join(lines), '    ')}\n{after}\n"


def make_loop_launcher(
    folder: Path, script: str, *, steps: int = 4, sandbox: Sandbox = UNCONFINED, **record: Any
) -> Launcher:
    """A launcher for one script; ``record`` are the members of a ``RecordPlan``."""
    source, scratch = folder / "source", folder / "scratch"
    for place in (source, scratch):
        place.mkdir(parents=True, exist_ok=True)
    (source / "train.py").write_text(script, "utf-8")
    plan = Plan(
        experiment=ExperimentPlan(
            command=("python", "train.py", "{seed}"), loop=True, seed=7, steps=steps
        ),
        record=RecordPlan(**{"checkpoint_every": 2, **record}),
    )
    return Launcher(plan, Materials(source), folder / "tree", scratch, sandbox=sandbox)
