"""What a package tells of its runs, done again from runs that were executed here.

Figures are drawn and the notebook is executed anew, and both are held against the packaged ones.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from repropack._compare.logs import split
from repropack._compare.notebooks import compare_notebooks, is_executed
from repropack._format.digests import digest_bytes
from repropack._format.layout import AFTER, NOTEBOOK, REFERENCE_RUN
from repropack._present.notebook import make_notebook
from repropack._present.rendered import painter_version, render_figures
from repropack._read.container import open_container
from repropack._read.outputs import compare_stored
from repropack._read.package import Package
from repropack._read.run import RunReader
from repropack._run.after import run_after
from repropack._run.confinement.sandbox import Sandbox
from repropack._run.execute import Launcher
from repropack._run.notebook import execute_notebook
from repropack._run.notebook_form import notebook_bytes
from repropack.models.differences import OutputsComparison
from repropack.models.reports import NotebookVerification, RenderedVerification


def redraw(package: Package, tree: Path, *, whole: bool) -> RenderedVerification:
    """Draw the figures again from the runs executed here and compare their bytes.

    Args:
        package: The package.
        tree: Where those runs were recorded.
        whole: Every run is there, and equal to the package's.

    Returns:
        The figures that are equal and that differ, or why they were not compared.

    Raises:
        CouldNotRunError: matplotlib cannot be imported as it is configured here.
    """
    stored = {row.path: row.digest for row in package.manifest.entries if row.role == "figure"}
    recorded = {row.name: row.version for row in package.environment.distributions}
    painters = (recorded.get("matplotlib"), painter_version())
    if painters[0] != painters[1]:
        return RenderedVerification(
            reason=f"drawn with matplotlib {painters[0]}, here is {painters[1]}"
        )
    if not whole:
        return RenderedVerification(reason="not every run is there and equal")
    with open_container(tree) as container:
        runs = {row.name: RunReader(container, row.name) for row in package.plan.comparisons}
        drawn = render_figures(
            package.plan,
            RunReader(container, REFERENCE_RUN),
            runs,
            last_step=package.results.reference.last_step,
        )
    return RenderedVerification(
        paths=split(stored, {path: digest_bytes(data) for path, data in drawn.items()})
    )


def repeat_after(package: Package, launcher: Launcher, *, whole: bool) -> OutputsComparison | None:
    """Run the commands after the runs again, on the runs executed here, and compare their outputs.

    Args:
        package: The package.
        launcher: Has executed every run.
        whole: Every run is there, and equal to the package's.

    Returns:
        What differs, or why nothing was compared; ``None`` where the plan has no such command.

    Raises:
        ExperimentError: a command failed.
        CouldNotRunError: it ended without an answer.
        PackageError: a packaged output is damaged.
    """
    if not package.plan.after:
        return None
    if not whole:
        return OutputsComparison(reason="not every run is there and equal")
    folder = launcher.scratch / "derived"
    run_after(replace(launcher, plan=package.plan), folder / AFTER)
    with open_container(folder) as container:
        return compare_stored(package.container, AFTER, container, AFTER)


def repeat_notebook(package: Package, scratch: Path, sandbox: Sandbox) -> NotebookVerification:
    """Generate the notebook again, execute it in a copy of the package, and compare it.

    Args:
        package: The package.
        scratch: An existing folder, which holds the inputs; what is written stays below it.
        sandbox: How the kernel is confined: its cells run the package's experiment.

    Returns:
        What differs from the packaged notebook.

    Raises:
        CouldNotRunError: it could not be executed.
        PackageError: an entry has changed since it was checked.
    """
    folder, work = scratch / "unpacked", scratch / "notebook"
    work.mkdir()
    for entry in package.manifest.entries:
        copy = folder / entry.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not entry.included:
            shutil.copyfile(scratch / entry.path, copy)  # given by the caller, and compared
            continue
        with copy.open("xb") as stream:
            package.copy_entry(entry, stream)
    stored = package.read(NOTEBOOK)
    executed = is_executed(stored)
    node = make_notebook(package.manifest.package, package.plan, package.results)
    if executed:
        observed = execute_notebook(node, folder=folder, scratch=work, sandbox=sandbox)
    else:
        observed = notebook_bytes(node)
    lines = compare_notebooks(stored, observed)
    images = tuple(line for line in lines if "image differs" in line)
    return NotebookVerification(
        executed=executed,
        differences=tuple(line for line in lines if line not in images),
        images=images,
    )
