"""Notebooks of packages in tests: made from what a package holds, and run without a kernel."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from repropack._present.notebook import make_notebook
from repropack._run.notebook_form import notebook_bytes
from repropack.models.manifest import Manifest
from repropack.models.plan import Plan
from repropack.models.results import Results


def as_if_executed(node: NotebookNode, **_: Any) -> bytes:
    """Number one cell instead of executing all: so much of an execution is in the plan too."""
    numbered = copy.deepcopy(node)
    next(cell for cell in numbered.cells if cell.cell_type == "code").execution_count = 1
    return notebook_bytes(numbered)


def notebook_of(folder: Path) -> NotebookNode:
    """The notebook of an unpacked package."""
    manifest = Manifest.model_validate_json((folder / "manifest.json").read_bytes())
    plan = Plan.model_validate_json((folder / "plan.json").read_bytes())
    results = Results.model_validate_json((folder / "results.json").read_bytes())
    return make_notebook(manifest.package, plan, results)


class Played:
    """What a notebook said when its cells were run one after the other, without a kernel."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "notebook", "In": []}
        self.printed = ""
        self.shown: list[dict[str, Any]] = []

    def run(self, source: str) -> None:
        """Run one cell; what it prints and shows is kept."""
        self.names["In"].append(source)
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(compile(source, "cell", "exec"), self.names)
        self.printed += stream.getvalue()

    @property
    def tables(self) -> list[str]:
        """Every table shown, as text."""
        return [shown["text/plain"] for shown in self.shown if "text/markdown" in shown]

    @property
    def figures(self) -> list[str]:
        """What every figure shown says of itself."""
        return [shown["text/plain"] for shown in self.shown if "image/png" in shown]


@contextlib.contextmanager
def playing(folder: Path) -> Iterator[Played]:
    """Run cells in ``folder``, with a stand-in for the one thing that they take from IPython."""
    played, before = Played(), Path.cwd()
    module = types.ModuleType("IPython.display")
    module.display = lambda data, raw: played.shown.append(data)  # type: ignore[attr-defined]
    package = types.ModuleType("IPython")
    package.version_info, package.get_ipython = (9,), lambda: None  # type: ignore[attr-defined]
    saved = {name: sys.modules.get(name) for name in ("IPython", "IPython.display")}
    sys.modules.update({"IPython": package, "IPython.display": module})
    os.chdir(folder)
    try:
        yield played
    finally:
        os.chdir(before)
        for name, known in saved.items():
            if known is None:
                del sys.modules[name]
            else:
                sys.modules[name] = known


def play(folder: Path, notebook: NotebookNode | None = None) -> Played:
    """Run every code cell of a package's notebook."""
    with playing(folder) as played:
        for cell in (notebook or notebook_of(folder)).cells:
            if cell.cell_type == "code":
                played.run(cell.source)
    return played
