#!/usr/bin/env python3
"""What the page of a run of very many steps costs: for `check`, and for the browser that opens it.

    python benchmarks/page_of_a_long_run.py
    python benchmarks/page_of_a_long_run.py --package long.zip       one that is there already

Builds a walk of 100,000 steps with three comparisons, which takes minutes. Then it prints processor
time and peak memory of `check` without and with the page, each in a process of its own, and how
long Chromium takes from opening the page to having run its script. The browser needs the extra
`dev`.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from repropack import build_package, open_package
from repropack._format.layout import PAGE

_WALK = '''\
"""A float32 walk, as cheap as a step can be."""

import numpy as np


class Walk:
    def __init__(self, config, seed):
        self.rate = np.float32(config["rate"])
        self.weights = np.linspace(0.1, 1.0, 4, dtype=np.float32)
        self.position = 0

    def step(self, trace):
        self.position += 1
        batch = np.float32(self.position % 97) * np.linspace(0.5, 2.0, 4, dtype=np.float32)
        trace.record("batch", batch, of=("state:position",))
        self.weights = self.weights + self.rate * (np.float32(0.01) * batch - self.weights)
        trace.record("weights", self.weights, of=("batch", "state:weights"))
        trace.metric("loss", float(self.weights[0]))

    def state_dict(self):
        return {"weights": self.weights, "position": self.position}

    def load_state_dict(self, state):
        self.weights, self.position = state["weights"].copy(), int(state["position"])
'''
_PROJECT = """\
[package]
name = "long-walk"
version = "1.0.0"
title = "A walk of very many steps"
license = "CC0-1.0"
authors = [{{ name = "The repropack authors" }}]
[experiment]
entry-point = "walk:Walk"
seed = 1
steps = {steps}
config = {{ rate = 0.01 }}
[record]
checkpoint-every = {half}
keep = ["weights"]
printed = {{ loss = ".4f" }}
[[comparisons]]
name = "again"
expect = "identical"
[[comparisons]]
name = "other-rate"
config = {{ rate = 0.0100001 }}
[[comparisons]]
name = "position-reset"
resume-at = {half}
reset = ["position"]
"""
_CHECK = """\
import re, sys, time
from pathlib import Path
from repropack import open_package
from repropack._checking import check_whole
from repropack._read.findings import Findings
from repropack._read.integrity import check_package_whole
look = check_whole if sys.argv[2] == "with" else check_package_whole
with open_package(sys.argv[1]) as package:
    findings, begin = Findings(), time.process_time()
    look(package, findings)
    spent = time.process_time() - begin
    assert not findings.faults, findings.faults[0]
# Not ru_maxrss: a child inherits that of the process that started it.
memory = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024
print(f"check {sys.argv[2]} the page: {spent:.1f} s of processor time, {memory} MB")
"""


def build(folder: Path, steps: int) -> Path:
    """Build the walk; returns the package."""
    project = folder / "walk"
    project.mkdir()
    (project / "walk.py").write_text(_WALK, "utf-8")
    text = _PROJECT.format(steps=steps, half=steps // 2)
    (project / "repropack.toml").write_text(text, "utf-8")
    build_package(project, folder / "long.zip", unexecuted_notebook=True)
    return folder / "long.zip"


def seconds_to_open(page: Path, times: int) -> list[float]:
    """How long Chromium takes each time, from opening to the end of loading, in seconds."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - of the extra `dev`

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        found = []
        for _ in range(times):
            opened = browser.new_page()
            opened.goto(page.as_uri())
            ends = "performance.getEntriesByType('navigation')[0].loadEventEnd"
            found.append(float(opened.evaluate(ends)) / 1000)
            opened.close()
        browser.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--package", type=Path)
    parser.add_argument("--steps", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        package = options.package or build(Path(folder), options.steps)
        for what in ("without", "with"):
            subprocess.run([sys.executable, "-c", _CHECK, package, what], check=True)  # noqa: S603 - our own
        page = Path(folder) / "page.html"
        with open_package(package) as opened:
            page.write_bytes(opened.read(PAGE))
        found = seconds_to_open(page, 5)
    sys.stdout.write(
        f"page {package}: median of {len(found)} openings {statistics.median(found):.2f} s, "
        f"slowest {max(found):.2f} s\n"
    )


if __name__ == "__main__":
    main()
