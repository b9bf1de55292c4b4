"""Projects of commands and of scripts with their own loop, as small as they get."""

from __future__ import annotations

from pathlib import Path

HEAD = """\
[package]
name = "{name}"
version = "1.0.0"
title = "A script"
license = "CC0-1.0"
authors = [{{ name = "A. Author" }}]
[experiment]
"""

SCRIPT = '''\
"""Reads a table and writes what it makes of it, in four kinds of files."""
import csv, json, os, sys
import numpy as np

seed, rate, text = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
with open("data/table.csv", newline="") as stream:
    values = [float(row["x"]) for row in csv.DictReader(stream)]
os.mkdir("out")
np.savez("out/found.npz", values=np.array(values) * rate, seed=np.int64(seed))
with open("out/found.json", "w") as stream:
    json.dump({"sum": sum(values) * rate, "text": text, "set": os.environ["SETTING"]}, stream)
with open("out/found.csv", "w", newline="") as stream:
    csv.writer(stream).writerows([["x"], *[[value * rate] for value in values]])
with open("out/found.txt", "w") as stream:
    stream.write(f"{seed}\\n")
'''
COMMAND = """\
command = ["python", "script.py", "{seed}", "{config.rate}", "{{}}{config.text}"]
inputs = ["data/*.csv"]
outputs = ["out/found.*"]
environment = { SETTING = "on" }
seed = 3
[experiment.config]
rate = 0.5
text = "a b"
[[comparisons]]
name = "again"
hash-seed = 1
expect = "identical"
[[comparisons]]
name = "faster"
config = { rate = 0.25 }
"""

LOOP = '''\
"""A walk whose loop is its own."""
import sys
import numpy as np
import repropack

generator = np.random.Generator(np.random.PCG64(int(sys.argv[1])))
place = {"x": np.zeros(3)}
run = repropack.attach(state={"place": place, "generator": generator})
for step in run.steps(6):
    draw = generator.integers(0, 100, 3)
    run.record("draw", draw, of="state:generator")
    place["x"] = place["x"] + draw
    run.record("x", place["x"], of=("draw", "state:place"))
    run.metric("height", float(place["x"][0]))
np.save("end.npy", place["x"])
'''
LOOP_COMMAND = """\
command = ["python", "script.py", "{seed}"]
outputs = ["end.npy"]
seed = 3
steps = 6
[record]
checkpoint-every = 2
keep = ["x"]
printed = { height = ".1f" }
[[comparisons]]
name = "resume"
resume-at = 2
expect = "identical"
[[comparisons]]
name = "generator-reset"
resume-at = 4
reset = ["generator"]
expect = { diverges-at = 5, stage = "draw", component = "generator" }
"""


def write_script(folder: Path, script: str = SCRIPT, experiment: str = COMMAND) -> Path:
    """A project of one script, with a table as its input; ``experiment`` are the tables' lines."""
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "table.csv").write_text("x,y\n1.5,0\n2.5,0\n", "utf-8")
    (folder / "script.py").write_text(script, "utf-8")
    (folder / "repropack.toml").write_text(HEAD.format(name="script") + experiment, "utf-8")
    return folder
