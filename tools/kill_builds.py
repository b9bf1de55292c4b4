#!/usr/bin/env python3
"""Kill builds at random moments, continue them, and see whether anything is ever lost.

Each attempt is ``repropack build --resume``; it is ended by SIGKILL at a random time, or a random
time after it has come to a phase drawn by chance. After every kill the target has to be absent or
the whole package, byte for byte that of an uninterrupted build. Ends with status 1 where it is not.

    python tools/kill_builds.py --kills 500
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

EXPERIMENT = """\
import time

import numpy as np


class Slow:
    def __init__(self, config, seed):
        self.x = np.full(50, float(seed))

    def step(self, trace):
        time.sleep(0.04)
        self.x = self.x * 1.0625 + 1.0
        trace.record("x", self.x, of=("state:x",))
        trace.metric("loss", float(self.x[0]))

    def state_dict(self):
        return {"x": self.x}

    def load_state_dict(self, state):
        self.x = state["x"]
"""
PROJECT = """\
[package]
name = "slow"
version = "1.0.0"
title = "Slow"
license = "CC0-1.0"
authors = [{ name = "Nobody" }]
[experiment]
entry-point = "slow:Slow"
seed = 3
steps = 24
[record]
checkpoint-every = 4
keep = ["x"]
[[comparisons]]
name = "again"
expect = "identical"
[[comparisons]]
name = "resumed"
resume-at = 8
expect = "identical"
"""
PHASES = ("runs/reference", "runs/again", "runs/resumed", "assembled", "package.zip")
"""Paths in the work folder whose coming tells how far a build is."""
_MOST_SECONDS = 120.0
_RUN_SECONDS, _PACK_SECONDS = 3.0, 0.3
"""About how long a phase of running and one of packing takes."""
_BEGIN_AGAIN = 0.35
"""How often what a killed build left is thrown away, so that early phases are met as well."""


@dataclass
class Tally:
    """What was seen; ``kills`` counts by the phase that the build had come to.

    ``packages`` counts packages found whole, ``continued`` attempts that found
    a run to go on with.
    """

    kills: Counter[str] = field(default_factory=Counter)
    packages: int = 0
    continued: int = 0
    torn: list[str] = field(default_factory=list)

    @property
    def killed(self) -> int:
        """How many builds were killed."""
        return sum(self.kills.values())


def write_project(folder: Path) -> Path:
    """Write the project that is built; returns its folder."""
    folder.mkdir()
    (folder / "slow.py").write_text(EXPERIMENT, "utf-8")
    (folder / "repropack.toml").write_text(PROJECT, "utf-8")
    return folder


def start_build(project: Path, target: Path) -> subprocess.Popen[bytes]:
    """Start one attempt; its output is read when it has ended."""
    return subprocess.Popen(  # noqa: S603 - our own interpreter and package
        [sys.executable, "-m", "repropack", "build", str(project), "-o", str(target),
         "--unexecuted-notebook", "--resume"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


def kill_builds(folder: Path, kills: int, seed: int) -> Tally:
    """Build, kill and continue until ``kills`` builds were killed and the last was finished.

    Args:
        folder: An existing folder for project and packages.
        kills: How many builds are to be killed.
        seed: Of the moments.

    Returns:
        What was seen.
    """
    draw, tally = random.Random(seed), Tally()  # noqa: S311 - moments, no secrets
    project, target = write_project(folder / "project"), folder / "slow.zip"
    begun = time.monotonic()
    _finish(start_build(project, target))
    whole, longest = target.read_bytes(), time.monotonic() - begun
    target.unlink()
    work = target.with_name(f".{target.name}.work")
    while True:
        last = tally.killed >= kills
        if not last and draw.random() < _BEGIN_AGAIN:
            shutil.rmtree(work, ignore_errors=True)
        tally.continued += _goes_on(work)
        build = start_build(project, target)
        output = _finish(build) if last else _kill(build, target, draw, longest)
        if output is None:
            tally.kills[_phase_of(target)] += 1
        elif build.returncode != 0 or work.exists():
            tally.torn.append(f"status {build.returncode}: {output.decode('utf-8', 'replace')}")
            return tally
        if target.exists():
            tally.packages += 1
            if target.read_bytes() != whole:
                tally.torn.append(f"after {tally.killed} kills: another file at the target")
            if last:
                return tally
            target.unlink()
            shutil.rmtree(work, ignore_errors=True)


def _finish(build: subprocess.Popen[bytes]) -> bytes:
    output, _ = build.communicate(timeout=_MOST_SECONDS)
    return output


def _kill(
    build: subprocess.Popen[bytes], target: Path, draw: random.Random, longest: float
) -> bytes | None:
    """Kill a build at a moment drawn by chance; returns its output where it had ended before."""
    place = draw.choice((None, *PHASES))
    within = longest if place is None else _RUN_SECONDS if "/" in place else _PACK_SECONDS
    wait = draw.uniform(0, within)
    work = target.with_name(f".{target.name}.work")
    until = time.monotonic() + _MOST_SECONDS
    while place is not None and build.poll() is None and not (work / place).exists():
        if time.monotonic() > until:
            break
        time.sleep(0.001)
    until = time.monotonic() + wait
    while build.poll() is None and time.monotonic() < until:
        time.sleep(0.001)
    if build.poll() is None:
        build.kill()
    output = _finish(build)
    return None if build.returncode == -signal.SIGKILL else output


def _goes_on(work: Path) -> bool:
    """Whether a run was interrupted after a checkpoint that is not its first state."""
    return any(
        not notes.with_name("finished.json").exists()
        and len(list(work.glob(f"recorded/runs/{notes.parent.name}/checkpoints/*.json"))) > 1
        for notes in work.glob("runs/*/progress.json")
    )


def _phase_of(target: Path) -> str:
    if target.exists():
        return "published"
    work = target.with_name(f".{target.name}.work")
    reached = [place for place in PHASES if (work / place).exists()]
    return reached[-1] if reached else "before the first run"


def main(arguments: list[str] | None = None) -> int:
    """Run the script.

    Returns:
        The exit status: 1 where anything was torn or lost.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=500, help="builds to kill (default: 500)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        tally = kill_builds(Path(folder), options.kills, options.seed)
    for phase, count in sorted(tally.kills.items()):
        sys.stdout.write(f"{count:5} killed: {phase}\n")
    sys.stdout.write(
        f"{tally.killed:5} killed in all; {tally.continued} attempts found a run to go on with; "
        f"{tally.packages} packages, all but {len(tally.torn)} the same file\n"
    )
    for problem in tally.torn:
        sys.stdout.write(f"{problem}\n")
    return 1 if tally.torn else 0


if __name__ == "__main__":
    sys.exit(main())
