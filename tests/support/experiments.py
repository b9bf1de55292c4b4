"""Tiny experiments, each a project folder of its own, and what they are good for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TINY = '''\
"""Multiplies three numbers by a factor; ends where it is told to."""

import numpy as np


class Tiny:
    def __init__(self, config, seed):
        self.config = config
        self.x = np.full(3, float(seed))
        self.updates = 0

    def step(self, trace):
        self.updates += 1
        with np.errstate(over="ignore"):
            self.x = self.x * np.float64(self.config.get("factor", 1.5))
        trace.record("x", self.x, of=("state:x",))
        trace.metric("loss", float(self.x[0]))
        if self.updates == self.config.get("end", 0):
            trace.finish("done")

    def state_dict(self):
        return {"x": self.x, "updates": self.updates}

    def load_state_dict(self, state):
        self.x, self.updates = state["x"], state["updates"]
'''
"""Config: ``factor``, and ``end``, the step at which it finishes; 0 for never."""


def write_project(
    folder: Path,
    *,
    source: str = TINY,
    entry_point: str = "tiny:Tiny",
    steps: int = 10,
    config: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
    comparisons: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write a project of one module, ``tiny.py``; keys as in the project file."""
    folder.mkdir(parents=True)
    (folder / "tiny.py").write_text(source, "utf-8")
    tables = {
        "package": {"name": "tiny", "version": "1.0.0", "title": "Tiny", "license": "CC0-1.0",
                    "authors": [{"name": "Nobody"}]},
        "experiment": {"entry-point": entry_point, "seed": 3, "steps": steps,
                       "config": dict(config or {})},
        "record": dict(record or {}),
    }  # fmt: skip
    lines = [f"{name} = {_inline(table)}" for name, table in tables.items()]
    lines += [f"[[comparisons]]\n{_members(row)}" for row in comparisons]
    (folder / "repropack.toml").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def _inline(value: Any) -> str:
    """TOML of a value; JSON's spelling where both languages have the same."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value)


def _members(table: Mapping[str, Any]) -> str:
    return "\n".join(f"{key} = {_inline(value)}" for key, value in table.items())
