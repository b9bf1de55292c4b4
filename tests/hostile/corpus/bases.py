"""The honest packages that every lie starts from.

``lab`` is the replay lab with a shorter plan. ``own`` is an experiment as a user would write one:
other names of stages, bool and integer arrays, a nested state with arrays in it, an executable
source file, comparisons that differ. ``command`` is a script that is run as a whole, with outputs
of several kinds, inputs packed and held elsewhere, and a command on the finished runs. All are
built here, never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from repropack.build import build_package
from repropack.lab import replay_lab
from tests.support.commands import write_files
from tests.support.hostile import Forgery, take_apart

TALLY = '''\
"""Counts how often a walk passes its own middle."""

import numpy as np


class Tally:
    def __init__(self, config, seed):
        self.rate = config["rate"]
        self.walk = np.array([[seed, 0, -1], [2, 3, 5]], dtype=np.int16)
        self.generator = np.random.PCG64(seed)
        self.done = 0

    def step(self, trace):
        self.done += 1
        word = int(self.generator.random_raw()) >> 60
        passed = self.walk > self.walk.mean()
        trace.record("passed", passed, of=("state:walk",))
        counts = passed.sum(axis=1).astype(np.int16)
        trace.record("counts", counts, of=("passed",))
        self.walk = (self.walk * 3 + counts[:, None] * self.rate + word) % 1009
        self.walk = self.walk.astype(np.int16)
        trace.record("walk", self.walk, of=("counts", "state:walk", "state:chance"))
        trace.metric("share", float(passed.mean()))
        trace.metric("top", int(self.walk.max()))

    def state_dict(self):
        return {
            "walk": self.walk,
            "progress.done": self.done,
            "progress.notes": {"seen": [self.walk[0] > 3, {"limit": float("inf")}], "name": "x"},
            "chance.generator": self.generator.state,
        }

    def load_state_dict(self, state):
        self.walk = state["walk"]
        self.done = state["progress.done"]
        self.generator.state = state["chance.generator"]
'''

TALLY_PROJECT = """\
[package]
name = "tally"
version = "0.2.1"
title = "A walk and its middle"
license = "CC0-1.0"
date = 2026-11-30
[[package.authors]]
name = "A. Tester"

[experiment]
entry-point = "tally:Tally"
source = ["tally.py", "tools/plot.sh"]
seed = 7
steps = 6
[experiment.config]
rate = 2

[record]
checkpoint-every = 2
keep = ["walk", "passed"]
printed = { share = ".2f" }

[[comparisons]]
name = "resumed"
resume-at = 4
expect = "identical"

[[comparisons]]
name = "without-chance"
resume-at = 2
reset = ["chance"]
expect = { diverges-at = 3, component = "chance" }

[[comparisons]]
name = "faster"
config = { rate = 5 }

[[claims]]
id = "resumes"
kind = "exact-resume"
run = "resumed"
sentence = "Resumed after step 4, the walk goes on: {value}."

[[claims]]
id = "share"
kind = "bound"
sentence = "The reference ends with a share of {value}."
expression = "results.reference.final_metrics[share] <= 1"

[[claims]]
id = "done"
kind = "count"
sentence = "It has made {value} steps."
expression = "first(final[reference][progress.done])"
states = "6"
"""

LAB_PROJECT = """\
[package]
name = "short-lab"
version = "1.0.0"
title = "The replay lab, ten steps of it"
license = "CC0-1.0"
date = 2026-11-30
[[package.authors]]
name = "A. Tester"

[experiment]
entry-point = "replay_lab:ReplayLab"
source = ["replay_lab.py"]
seed = 7
steps = 10

[record]
checkpoint-every = 2
keep = ["weights"]
printed = { loss = ".4f" }

[[comparisons]]
name = "full-checkpoint"
resume-at = 4
expect = "identical"

[[comparisons]]
name = "sampler-reset"
resume-at = 4
reset = ["sampler"]
expect = { diverges-at = 5, stage = "batch" }

[[comparisons]]
name = "reversed-reduction"
config = { reduction = "reverse" }
expect = { diverges-at = 1, stage = "gradient" }

[[claims]]
id = "resumes"
kind = "exact-resume"
run = "full-checkpoint"
sentence = "Resumed after step 4, it goes on: {value}."

[[claims]]
id = "loss"
kind = "bound"
sentence = "The reference ends with the loss {value}."
expression = "results.reference.final_metrics[loss] <= 100"

[[claims]]
id = "updates"
kind = "count"
sentence = "It has counted {value} updates."
expression = "first(final[reference][adam.updates])"
states = "10"
"""


SCRIPT = """\
import json, sys
import numpy as np

rows = [float(line) for line in open("data/rows.csv").read().split()]
scale = float(sys.argv[1])
np.savez("fit.npz", mean=np.mean(rows) * scale, rows=np.array(rows))
json.dump({"n": len(rows), "scale": scale}, open("fit.json", "w"))
with open("tables/rows.csv", "w") as stream:
    stream.writelines(f"{k},{row * scale}\\n" for k, row in enumerate(rows))
"""

AFTER = """\
text = open("runs/reference/outputs/tables/rows.csv").read()
open("summary.txt", "w").write(f"{len(text.splitlines())} rows\\n")
"""

SCRIPT_PROJECT = """\
[package]
name = "script"
version = "1.0.0"
title = "A script as it was found"
license = "CC0-1.0"
date = 2026-11-30
[[package.authors]]
name = "A. Tester"

[experiment]
command = ["python", "fit.py", "{config.scale}"]
source = ["fit.py", "summary.py", "tables/README"]
outputs = ["fit.*", "tables/*.csv"]
inputs = [
    "data/rows.csv",
    { path = "data/big.bin", include = false, location = "ask the institute" },
]
[experiment.config]
scale = 2.0

[[comparisons]]
name = "again"
hash-seed = 1
expect = "identical"

[[comparisons]]
name = "larger"
config = { scale = 3.0 }

[[after]]
command = ["python", "summary.py"]
outputs = ["summary.txt"]
"""


@dataclass(frozen=True)
class Base:
    """An honest package, and the names in it that lies are about.

    ``resumed`` is the comparison that repeats the reference's lines, ``reset`` the resumed one
    that does not, ``fresh`` the one from step 1 that differs. ``middle`` and ``start`` are steps
    with a checkpoint, where ``start`` is the one that ``resumed`` continues from.
    """

    name: str
    package: Path
    source: str
    resumed: str
    reset: str
    fresh: str
    start: int
    middle: int
    steps: int
    stage: str
    kept: str
    array: str
    component: str
    metric: str
    printed: str

    def forgery(self) -> Forgery:
        """The package taken apart, to be changed."""
        whole = _taken_apart(self.package)
        return Forgery(
            dict(whole.files),
            deepcopy(whole.manifest),
            set(whole.executables),
            deepcopy(whole.rows),
            set(whole.elsewhere),
        )


@cache
def _taken_apart(package: Path) -> Forgery:
    return take_apart(package)


def build_own(folder: Path) -> Base:
    """Build the package of a user's own experiment."""
    (folder / "tally" / "tools").mkdir(parents=True, exist_ok=True)
    (folder / "tally" / "tally.py").write_text(TALLY, "utf-8")
    script = folder / "tally" / "tools" / "plot.sh"
    script.write_text("#!/bin/sh\n", "utf-8")
    script.chmod(0o755)
    package = _build(folder / "tally", TALLY_PROJECT, folder / "own.zip")
    return Base(
        name="own",
        package=package,
        source="source/tally.py",
        resumed="resumed",
        reset="without-chance",
        fresh="faster",
        start=4,
        middle=2,
        steps=6,
        stage="counts",
        kept="walk",
        array="walk",
        component="walk",
        metric="top",
        printed="share",
    )


def build_lab(folder: Path) -> Base:
    """Build the replay lab with a shorter plan."""
    (folder / "lab").mkdir(parents=True, exist_ok=True)
    source = Path(replay_lab.__file__).read_bytes()
    (folder / "lab" / "replay_lab.py").write_bytes(source)
    package = _build(folder / "lab", LAB_PROJECT, folder / "lab.zip")
    return Base(
        name="lab",
        package=package,
        source="source/replay_lab.py",
        resumed="full-checkpoint",
        reset="sampler-reset",
        fresh="reversed-reduction",
        start=4,
        middle=8,
        steps=10,
        stage="gradient",
        kept="weights",
        array="weights",
        component="weights",
        metric="loss",
        printed="loss",
    )


def build_command(folder: Path) -> Base:
    """Build the package of a script that is run as a whole.

    It has one step and no stage, array or metric that could be named like those of the others.
    """
    files = {
        "fit.py": SCRIPT,
        "summary.py": AFTER,
        "tables/README": "Tables are written here.\n",
        "data/rows.csv": "1.5\n2.25\n",
        "data/big.bin": "too large to pack\n",
    }
    write_files(folder / "script", files)
    package = _build(folder / "script", SCRIPT_PROJECT, folder / "command.zip")
    return Base(
        name="command",
        package=package,
        source="source/fit.py",
        resumed="again",
        reset="again",
        fresh="larger",
        start=0,
        middle=0,
        steps=1,
        stage="output:fit.json",
        kept="",
        array="",
        component="",
        metric="",
        printed="",
    )


def _build(project: Path, text: str, package: Path) -> Path:
    if not package.exists():
        (project / "repropack.toml").write_text(text, "utf-8")
        build_package(project, package, unexecuted_notebook=True)
        package.chmod(0o444)
    return package


BUILDERS: Mapping[str, Callable[[Path], Base]] = {
    "own": build_own,
    "lab": build_lab,
    "command": build_command,
}
"""By name, what builds each base below a folder, unless its package stands there already."""
