"""The experiment told as a notebook that runs it again, for readers who want to see it happen.

The notebook stands beside the other entries of an unpacked package and needs nothing of repropack:
it reads the format by itself (``notebook_tools``), makes every run of the plan in fresh processes,
and asserts that what it finds is what the package holds. Here it is only put together; nothing is
executed, and nothing of a clock or the machine gets in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from repropack._present import notebook_cells as cells
from repropack._present import notebook_figures as figures
from repropack._present import notebook_findings as findings
from repropack._present import notebook_outputs as outputs
from repropack._present import notebook_recorded as recorded
from repropack._present import notebook_scripts as scripts
from repropack._present import notebook_story as story
from repropack._present import notebook_texts as texts
from repropack._present import notebook_tools as tools
from repropack._present.claims import markdown_claims
from repropack._present.layout import is_command
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import Plan
from repropack.models.results import Results

MAX_SECTIONS = 12
"""Most comparisons that get a section of their own; more of them are made in one loop."""

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}
_Cell = tuple[str, str]
"""``markdown``, ``code``, or ``folded`` for code that JupyterLab shows folded; and the source."""


def make_notebook(metadata: PackageMetadata, plan: Plan, results: Results) -> NotebookNode:
    """Put the notebook of a package together, not executed.

    Its code reads names and numbers from the package when it runs; no text of the author's is
    pasted into code, and where it stands in Markdown it is escaped.

    Args:
        metadata: What the author says of the package.
        plan: What was run, the configuration complete.
        results: What was found.

    Returns:
        A valid notebook, format 4.5, whose cells have ids made of their place and content.

    Raises:
        ValidationError: it is not valid; a fault of this module.

    Determinism:
        The notebook depends on the arguments alone.
    """
    made = [
        _new_cell(place, kind, source.strip("\n"))
        for place, (kind, source) in enumerate(_story(metadata, plan, results), start=1)
    ]
    make: Any = new_notebook
    notebook: NotebookNode = make(cells=made, metadata=_METADATA, nbformat_minor=5)
    nbformat.validate(notebook)
    return notebook


def _new_cell(place: int, kind: str, source: str) -> NotebookNode:
    content = hashlib.sha256(f"{kind}\n{source}".encode()).hexdigest()[:12]
    make: Any = new_markdown_cell if kind == "markdown" else new_code_cell
    cell: NotebookNode = make(source, id=f"{place:02d}-{content}")
    if kind == "folded":
        cell.metadata = {"jupyter": {"source_hidden": True}}
    return cell


def _story(metadata: PackageMetadata, plan: Plan, results: Results) -> Iterator[_Cell]:
    """Every cell in order."""
    yield "markdown", story.opening(metadata, plan, results)
    if is_command(plan.experiment):
        yield from _command(plan, results)
    elif plan.experiment.loop:
        yield from _loop(plan, results)
    else:
        yield from _steps(plan, results)
    if results.claims:
        yield "markdown", f"{texts.CLAIMS}\n\n{markdown_claims(results.claims)}"
    yield "markdown", story.sources(metadata)


def _steps(plan: Plan, results: Results) -> Iterator[_Cell]:
    """An entry point: every run of it is made again, and every step compared."""
    yield "markdown", texts.ORDER
    yield "code", cells.TWO_ORDERS
    yield "markdown", texts.ORDER_LAST_BIT
    yield "code", cells.LAST_BIT
    yield "markdown", story.how_to_run(plan)
    yield "markdown", story.what_is_run(plan, results)
    yield "folded", cells.SETUP
    yield "folded", cells.FIGURE
    yield "markdown", texts.TOOLS
    yield "code", tools.FINGERPRINTS
    yield "code", tools.TRACE
    yield "markdown", texts.TOOLS_STATE
    yield "folded", tools.STATE
    yield "markdown", texts.TOOLS_RUN
    yield "folded", tools.EXPERIMENT
    yield "folded", tools.BEGIN
    yield "code", tools.RUN
    yield "markdown", texts.REFERENCE
    yield "folded", cells.MAKE_RUN
    yield "code", 'make_run("reference")'
    yield "markdown", texts.CLOSE_UP
    yield "folded", cells.CLOSE_UP
    if plan.comparisons:
        yield "markdown", texts.COMPARISONS
        yield from _comparisons(plan, results)
    else:
        yield "markdown", texts.NO_COMPARISONS
        yield "code", "found = {}"
    yield "markdown", texts.ASSERTIONS
    yield "code", figures.ASSERTIONS
    answer = story.answer(plan, results)
    if answer is not None:
        yield "markdown", answer
    yield "markdown", story.limits(plan, results)


def _command(plan: Plan, results: Results) -> Iterator[_Cell]:
    """A command: it is started again, and every output compared."""
    yield "markdown", scripts.how_to_run(plan)
    yield "markdown", scripts.what_is_run(plan)
    yield "folded", cells.SETUP
    yield "markdown", scripts.CONTENT
    yield "folded", tools.FINGERPRINTS
    yield "code", outputs.CONTENT
    yield "markdown", scripts.RUN
    yield "code", outputs.RUN
    yield "folded", outputs.BESIDE
    yield "markdown", scripts.REFERENCE
    yield "folded", outputs.MAKE_RUN
    yield "code", 'make_run("reference")'
    if plan.comparisons:
        yield "markdown", scripts.COMPARISONS
        yield "folded", outputs.COMPARISON
        yield from _each(plan)
        yield "markdown", scripts.SUMMARY
        yield "folded", outputs.SUMMARY
    else:
        yield "markdown", scripts.NO_COMPARISONS
        yield "code", "found = {}"
    yield "markdown", scripts.LOGS
    yield "code", outputs.CHAIN
    yield "markdown", scripts.ASSERTIONS
    yield "code", outputs.ASSERTIONS
    yield "markdown", scripts.limits(results)


def _loop(plan: Plan, results: Results) -> Iterator[_Cell]:
    """A script that owns its loop: what was recorded of it is read and compared."""
    yield "markdown", scripts.loop_how_to_run(plan)
    yield "markdown", story.what_is_run(plan, results)
    yield "folded", cells.SETUP
    yield "folded", cells.FIGURE
    yield "markdown", scripts.LOOP_TOOLS
    yield "code", tools.FINGERPRINTS
    yield "markdown", texts.TOOLS_STATE
    yield "folded", tools.STATE
    yield "markdown", scripts.LOOP_RECORDED
    yield "folded", recorded.READ
    yield "code", 'make_run("reference")'
    yield "folded", recorded.METRICS
    if plan.comparisons:
        yield "markdown", scripts.LOOP_COMPARISONS
        yield from _comparisons(plan, results)
    else:
        yield "markdown", scripts.LOOP_NO_COMPARISONS
        yield "code", "found = {}"
    if plan.experiment.outputs:
        yield "markdown", scripts.LOOP_SCRIPT
        yield "folded", outputs.CONTENT
        yield "folded", outputs.RUN
        yield "folded", outputs.BESIDE
        yield "code", outputs.SCRIPT
    yield "markdown", scripts.LOOP_ASSERTIONS
    yield "code", figures.RECORDED_ASSERTIONS
    yield "markdown", scripts.loop_limits(results)


def _each(plan: Plan) -> Iterator[_Cell]:
    """A section for each comparison, or one for all of them."""
    if len(plan.comparisons) > MAX_SECTIONS:
        yield "markdown", story.listed(plan.comparisons)
        yield (
            "code",
            'for row in plan["comparisons"]:\n    make_comparison(row["name"])\n    print()',
        )
        return
    for comparison in plan.comparisons:
        yield "markdown", story.section(comparison)
        yield "code", f'make_comparison("{comparison.name}")'


def _comparisons(plan: Plan, results: Results) -> Iterator[_Cell]:
    yield "folded", findings.COMPARE
    yield "folded", findings.MEASURE
    yield from _each(plan)
    yield "markdown", story.summary(plan)
    yield "folded", findings.SUMMARY
    yield "markdown", texts.AGREEMENT
    yield "folded", figures.AGREEMENT
    if all(outcome.identical for outcome in results.comparisons):
        return
    yield "markdown", story.differences(plan)
    yield "folded", figures.DIFFERENCES
    if plan.record.printed:
        yield "markdown", story.printed(results)
        yield "folded", figures.PRINTED
