"""Commands that tests run: projects around a script, and launchers of single runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repropack._run.confinement.sandbox import UNCONFINED, Sandbox
from repropack._run.execute import Launcher
from repropack._run.materials import Materials
from repropack.models.plan import CommandPlan, ExperimentPlan, Plan, RecordPlan

WRITES = 'open("out.txt", "w").write("done\\n")\n'
"""The smallest script that is an experiment."""
PACKAGE = """\
[package]
name = "script"
version = "1.0.0"
title = "A script"
license = "CC0-1.0"
date = 2026-11-30
[[package.authors]]
name = "A. Tester"
"""


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder, by their path in it."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def write_script_project(
    folder: Path,
    script: str = WRITES,
    *,
    command: Sequence[str] = ("python", "train.py"),
    outputs: Sequence[str] = ("out.txt",),
    files: Mapping[str, str | bytes] | None = None,
    experiment: str = "",
    rest: str = "",
) -> Path:
    """Write a project around ``train.py``.

    ``experiment`` is TOML of its table, ``rest`` of what comes after it; ``files`` lie beside.
    """
    lines = [
        PACKAGE,
        "[experiment]",
        f"command = {json.dumps(list(command))}",
        f"outputs = {json.dumps(list(outputs))}",
        experiment,
        rest,
    ]
    write_files(folder, {"train.py": script, "repropack.toml": "\n".join(lines) + "\n"})
    return write_files(folder, files or {})


def make_command_launcher(
    folder: Path,
    script: str = WRITES,
    *,
    inputs: Mapping[str, str | bytes] | None = None,
    after: Sequence[CommandPlan] = (),
    sandbox: Sandbox = UNCONFINED,
    **experiment: Any,
) -> Launcher:
    """A launcher for one script; ``experiment`` are the members of an ``ExperimentPlan``."""
    (folder / "scratch").mkdir(parents=True)
    write_files(folder / "source", {"train.py": script})
    given = None if inputs is None else write_files(folder / "inputs", inputs)
    values: dict[str, Any] = {
        "command": ("python", "train.py"),
        "outputs": ("out.txt",),
        "seed": 7,
        "steps": 1,
    }
    plan = Plan(
        experiment=ExperimentPlan(**(values | experiment)), record=RecordPlan(), after=tuple(after)
    )
    materials = Materials(folder / "source", given)
    return Launcher(plan, materials, folder / "tree", folder / "scratch", sandbox=sandbox)


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path in it."""
    return {
        place.relative_to(folder).as_posix(): place.read_bytes()
        for place in sorted(folder.rglob("*"))
        if place.is_file()
    }
