r"""The notebook's own look at the runs: code cells that compare, draw and assert.

Each text is one cell; all of them adapt to the plan when they run. They come after the cells of
``notebook_tools`` and need NumPy, matplotlib and an IPython kernel.
"""

from __future__ import annotations

TWO_ORDERS = r"""
import numpy as np

a, b, c = np.array([1, 100_000_000, -100_000_000], dtype=np.float32)

print("forward:  (a + b) + c =", (a + b) + c)
print("backward: (c + b) + a =", (c + b) + a)
"""

LAST_BIT = r"""
numbers = [np.float32(1) / np.float32(n) for n in range(1, 65)]

for name, order in (("forward", numbers), ("backward", numbers[::-1])):
    total = np.float32(0)
    for number in order:
        total = total + number
    print(
        f"{name:<9} prints {total:.4f}   in full {total!s:<10} bytes {total.tobytes().hex()}"
    )
"""

SETUP = r'''
# The package, and how tables are shown
import itertools
import json
from pathlib import Path

from IPython.display import display

PACKAGE = Path.cwd()
assert (PACKAGE / "plan.json").is_file(), (
    "open this notebook in the folder of an unpacked package: repropack unpack FILE DIR"
)
plan = json.loads((PACKAGE / "plan.json").read_bytes())
results = json.loads((PACKAGE / "results.json").read_bytes())


def show_table(header, rows):
    """Show a table: drawn where Markdown is, as text everywhere else."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    cells.insert(1, ["-" * width for width in widths])
    lines = [" | ".join(map(str.ljust, row, widths)) for row in cells]
    text = "\n".join(f"| {line} |" for line in lines)
    display({"text/markdown": text, "text/plain": text}, raw=True)


print(json.dumps(plan["experiment"], indent=1))
'''

FIGURE = r'''
# How figures are shown
import base64
import io

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

matplotlib.rcdefaults()


def show_figure(figure, text):
    """Show a figure as a PNG that holds pixels and nothing else."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
    image = base64.b64encode(stream.getvalue()).decode("ascii")
    display({"image/png": image, "text/plain": text}, raw=True)
'''

FIXED = r"""
FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""

MAKE_RUN = (
    r"""
# A run in a process of its own, and its log held against the recorded one
import os
import shutil
import subprocess
import tempfile
"""
    + FIXED
    + r'''

def fresh_run(name):
    """Make one run in a process of its own, from the cells above that begin "For every run"."""
    change = next((row for row in plan["comparisons"] if row["name"] == name), {})
    program = "\n".join(cell for cell in In if cell.startswith("# For every run"))
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch, "work")
        work.mkdir()
        if (PACKAGE / "inputs").is_dir():
            shutil.copytree(PACKAGE / "inputs", work, dirs_exist_ok=True)
        shutil.copytree(PACKAGE / "source", Path(scratch, "source"))
        Path(scratch, "run.py").write_text(program, "utf-8")
        fixed = {
            **FIXED,
            "PYTHONHASHSEED": str(change.get("hash_seed") or 0),
            "TMPDIR": str(work),
        }
        done = subprocess.run(
            [sys.executable, "-P", Path(scratch, "run.py"), PACKAGE, scratch, name],
            cwd=work,
            env=os.environ | fixed | plan["experiment"]["environment"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["nothing"]
            raise RuntimeError(f"run {name} ended with status {done.returncode}: {said[-1]}")
        kept = {}
        for number, stage in enumerate(plan["record"]["keep"]):
            file = Path(scratch, f"kept-{number}.npy")
            if file.is_file():
                kept[stage] = np.load(file, allow_pickle=False)
        return Path(scratch, "fingerprints.jsonl").read_bytes(), kept


def first_difference(name):
    """Where a log made here parts from the recorded one; empty where every byte is equal."""
    recorded = (PACKAGE / "runs" / name / "fingerprints.jsonl").read_bytes()
    if runs[name]["log"] == recorded:
        return ""
    pairs = itertools.zip_longest(runs[name]["log"].split(b"\n"), recorded.split(b"\n"))
    number, here, there = next(
        (n, *pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1]
    )
    line = json.loads(here or b"{}")
    if "step" not in line:
        return f"line {number}, which is of no step" if here else f"line {number}, one too many"
    rows = [*line.get("stages", []), *([f"state:{c}", v] for c, v in line.get("state", []))]
    names = [name for name, value in rows if value.encode("ascii") not in (there or b"")]
    return f"line {number} (step {', '.join([str(line['step']), *names])})"


runs = {}


def make_run(name):
    """Make one run, and say whether its log is the recorded one."""
    log, kept = fresh_run(name)
    header, start, *lines = [json.loads(line) for line in log.decode("utf-8").split("\n")[:-1]]
    steps = {line["step"]: line for line in lines}
    rows = [step for step in steps if "stages" in steps[step]]
    kept = {stage: dict(zip(rows, kept[stage])) for stage in kept}
    runs[name] = {
        "log": log,
        "header": header,
        "start": start,
        "steps": steps,
        "kept": kept,
    }
    stages = sum(len(line.get("stages", [])) for line in lines)
    components = sum(len(line.get("state", [])) for line in lines)
    place = first_difference(name)
    verdict = (
        f"DIFFERS from {name}'s recorded log, first in {place}"
        if place
        else (f"is the recorded one, byte for byte: {len(log)} bytes, {digest(log)[:23]}…")
    )
    print(
        f"{name}: steps {min(steps)} to {max(steps)}, {stages} fingerprints of stages and "
        f"{components} of state components.\nThe log made here {verdict}"
    )
'''
)

CLOSE_UP = r'''
# The stages of one step
def close_up(line, recorded):
    """The stages of one step: what each was made of, its fingerprint, whether it is recorded."""
    made_of = dict([*runs["reference"]["header"]["stages"], *line.get("declares", [])])
    show_table(
        [f"stage of step {line['step']}", "made of", "fingerprint made here", "recorded"],
        [
            [
                f"`{stage}`",
                ", ".join(f"`{name}`" for name in made_of[stage] or ["everything before it"]),
                f"`{value[:31]}…`",
                "the same" if f'["{stage}","{value}"]' in recorded else "**another**",
            ]
            for stage, value in line["stages"]
        ],
    )


recorded = (
    (PACKAGE / "runs" / "reference" / "fingerprints.jsonl").read_text("utf-8").split("\n")
)
first = next((line for line in runs["reference"]["steps"].values() if line.get("stages")), None)
if first is None:
    print("The experiment records no stages: its states are compared instead.")
else:
    close_up(first, recorded[first["step"] + 1])
'''
