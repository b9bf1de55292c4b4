"""What the notebook of a command says of it: fitted to its plan and its results."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._present.layout import command_text, experiment_text, plural
from repropack._present.markdown import code_span
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import Plan
from repropack.models.results import Results

CONTENT = """\
## The tools, written out

Nothing of repropack is used in this notebook. Files are compared by what they are: arrays by type,
shape and bytes, JSON and tables by their values, images by their pixels, everything else by bytes.
Two files may hold the same and be written in other bytes, by another version of a library say; that
is told, and is no difference."""

RUN = """\
A **run** is the command, started in a new folder that holds the source and the inputs at their
paths in the project, and nothing else. So a file that was forgotten shows. Files that it writes and
that fit the plan's patterns are its **outputs**."""

REFERENCE = """\
## The reference

The reference is the run that everything else is held against. Here it is made again, and each file
that it writes stands beside the packaged one."""

COMPARISONS = """\
## The comparisons

Each comparison is a second run under one stated change. Its outputs are held against the packaged
ones, and against those of the reference made above."""

NO_COMPARISONS = """\
## No comparisons

The plan of this package makes no comparison. So the run above shows that the command writes the
same files again, and nothing else."""

LOGS = """\
## The recorded logs

A fingerprint log holds a fingerprint of each output, and a *chain*: the digest of a line and of the
chain before. A line that was changed afterwards would show here."""

SUMMARY = """\
## All comparisons side by side"""

ASSERTIONS = """\
## What must hold

Everything above is shown; this cell insists. It fails where an output made here does not hold what
the packaged one does, or where a comparison finds anything else than `results.json` says. On
another machine it may fail for a good reason, since another processor or library may round
differently: compare `environment.json` with what you have before you blame the code."""


def question(results: Results) -> str:
    """What a reader wants to know."""
    if any(not outcome.identical for outcome in results.comparisons):
        return "Does this command write the same files again, and which ones do not stay the same?"
    return "Does this command write the same files again?"


def what_it_is(metadata: PackageMetadata, plan: Plan) -> str:
    """The package, and what the notebook does with its command."""
    package = code_span(f"{metadata.name} {metadata.version}")
    return (
        f"This notebook belongs to the reproducibility package {package}. It starts the packaged "
        f"command {code_span(experiment_text(plan.experiment))} again, in a new folder that holds "
        "the source and the inputs and nothing else, and compares every output with the packaged "
        "one."
    )


def how_to_run(plan: Plan) -> str:
    """How a reader gets it to run, what it needs, and what it may do."""
    return f"""\
## How to run this notebook

```sh
repropack unpack package.zip DIR     # or: python -m zipfile -e package.zip DIR
cd DIR
jupyter lab notebook.ipynb           # then: Run, Run All Cells
```

It needs Python 3.11 or newer with NumPy and a Jupyter kernel, and what the command itself needs;
the versions that it was recorded with are in `environment.json`. It makes
{plural(len(plan.comparisons) + 1, "run")}. JupyterLab folds the longer cells; a click on the three
dots opens one.

It runs the command with your rights and without a sandbox: run it only where you would run that
command. `repropack check package.zip` looks at everything in a package without running anything.
The notebook changes no file of the package, but Jupyter saves the notebook itself. So open a copy
that you do not need intact."""


_WHAT = """\
The plan names the command, its configuration, and the files that count as outputs. In the plan
`{seed}` and `{config.NAME}` stand for the seed and for values of the configuration."""
_AFTER = """\
After the runs, on what they gave, the author's own figures and tables were made. They are in
`after/`, and are not made again here:"""
_LOOP_SHOWS = """\
Where the assertions hold, the record agrees with itself, and the comparisons follow from the
recorded runs. It does not show:"""


def what_is_run(plan: Plan) -> str:
    """The heading above the plan's experiment, and what comes after the runs."""
    parts = ["## What is run", _WHAT]
    if plan.after:
        rows = (f"- {code_span(command_text(row.command, plan.experiment))}" for row in plan.after)
        parts += [_AFTER, "\n".join(rows)]
    return "\n\n".join(parts)


def limits(results: Results) -> str:
    """What the notebook shows and what it does not."""
    shown = ["The command writes outputs that hold what the packaged ones do."]
    if any(not outcome.identical for outcome in results.comparisons):
        shown.append("Where a run was changed and differs, it differs in the outputs named.")
    return "\n\n".join(
        [
            "## What this shows, and what it does not",
            "Where the assertions hold, on this machine:",
            "\n".join(f"- {line}" for line in shown),
            "It does not show:",
            "\n".join(f"- {line}" for line in _not_shown()),
        ]
    )


def _not_shown() -> Iterator[str]:
    yield "That another machine gives these files: its processor or libraries may round otherwise."
    yield "What the command does besides writing these outputs, and its course up to them."
    yield "That the result is any good: equal files mean reproduced, and do not mean right."


LOOP_TOOLS = """\
## The tools, written out

The next cells read what a package holds from the description of its format alone, and use nothing
of repropack. So where they agree with the package, two independent programs agree.

A **fingerprint** is the SHA-256 of an array's type, shape and bytes."""

LOOP_RECORDED = """\
## The recorded runs

The script owns its loop, and only repropack can bring it to a step or to a checkpoint. So this
notebook makes no run again: `repropack verify` does. It reads the recorded runs, from the
description of the format alone, and holds every line against its chain, every kept array and every
stored state against its fingerprint."""

LOOP_COMPARISONS = """\
## The comparisons

Each comparison is a second run under one stated change. It is held against the reference
fingerprint by fingerprint, over the steps that both have, as both were recorded."""

LOOP_NO_COMPARISONS = """\
## No comparisons

The plan of this package makes no comparison."""

LOOP_SCRIPT = """\
## The script as it stands

Outside repropack the script can be started like any other: then it makes the steps that it says
itself, and nothing is recorded. Its outputs stand beside the packaged ones. Where it makes another
number of steps than the plan, they differ for that reason."""

LOOP_ASSERTIONS = """\
## What must hold

This cell insists. It fails where the recorded runs give anything else than `results.json` says."""


def loop_is(metadata: PackageMetadata, plan: Plan) -> str:
    """The package, and what the notebook does with a script that owns its loop."""
    package = code_span(f"{metadata.name} {metadata.version}")
    return (
        f"This notebook belongs to the reproducibility package {package}. It reads what was "
        f"recorded of the script {code_span(experiment_text(plan.experiment))}, "
        f"{plural(plan.experiment.steps, 'step')}, holds it against itself, and compares the "
        "recorded runs step by step. It does not make them again: `repropack verify` does."
    )


def loop_how_to_run(plan: Plan) -> str:
    """How a reader gets it to run, and what it needs."""
    runs = (
        "One cell starts the packaged script, with your rights and without a sandbox, if repropack "
        "is installed: run it only where you would run that script."
        if plan.experiment.outputs
        else "It runs nothing of the package."
    )
    return f"""\
## How to run this notebook

```sh
repropack unpack package.zip DIR     # or: python -m zipfile -e package.zip DIR
cd DIR
jupyter lab notebook.ipynb           # then: Run, Run All Cells
```

It needs Python 3.11 or newer with NumPy, matplotlib and a Jupyter kernel. {runs} JupyterLab folds
the longer cells; a click on the three dots opens one."""


def loop_limits(results: Results) -> str:
    """What the notebook shows and what it does not."""
    lines = [
        "That the runs come out the same again: for that, `repropack verify` makes them.",
        f"What happens after step {results.reference.last_step}.",
        "That the result is any good: equal bytes mean reproduced, and do not mean right.",
    ]
    return "\n\n".join(
        [
            "## What this shows, and what it does not",
            _LOOP_SHOWS,
            "\n".join(f"- {line}" for line in lines),
        ]
    )
