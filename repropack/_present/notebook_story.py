"""What the notebook says of one experiment: fitted to its plan and its results.

Every sentence with a name or a number follows from those two; nothing here knows an experiment.
Whatever an author wrote is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repropack._present import notebook_scripts as scripts
from repropack._present.findings import (
    contrasts,
    expectation,
    findings_table,
    intervention,
)
from repropack._present.layout import experiment_text, is_command, plural
from repropack._present.markdown import code_span, escape_markdown
from repropack._present.notebook_texts import PRINTED_AGREE, SOURCES
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.results import ComparisonOutcome, PrintedAgreement, Results, StepCount


def opening(metadata: PackageMetadata, plan: Plan, results: Results) -> str:
    """Title, question, and what was found, before anything is explained."""
    authors = ", ".join(escape_markdown(author.name) for author in metadata.authors)
    date = f", {metadata.date.isoformat()}" if metadata.date is not None else ""
    parts = [f"# {escape_markdown(metadata.title)}", f"{authors}{date}"]
    if metadata.description is not None:
        parts.append(escape_markdown(metadata.description))
    parts += [f"**{_question(plan, results)}**", _what_it_is(metadata, plan)]
    if results.comparisons:
        parts += ["What was recorded, and is found again below:", _table(results)]
        parts += [
            escape_markdown(sentence, 1000)
            for outcome in results.comparisons
            for sentence in contrasts(outcome)
        ]
    return "\n\n".join(parts)


def how_to_run(plan: Plan) -> str:
    """How a reader gets it to run, what it needs, and what it may do."""
    steps = [plan.experiment.steps - (row.resume_at or 0) for row in plan.comparisons]
    total = plural(sum(steps) + plan.experiment.steps, "step")
    runs = plural(len(steps) + 1, "run")
    return f"""\
## How to run this notebook

```sh
repropack unpack package.zip DIR     # or: python -m zipfile -e package.zip DIR
cd DIR
jupyter lab notebook.ipynb           # then: Run, Run All Cells
```

It needs Python 3.11 or newer with NumPy, matplotlib and a Jupyter kernel, and what the experiment
itself imports; the versions that it was recorded with are in `environment.json`. It makes {runs},
{total} in all. JupyterLab folds the longer cells; a click on the three dots opens one.

It runs the experiment's code with your rights and without a sandbox: run it only where you would
run that code. `repropack check package.zip` looks at everything in a package without running
anything. The notebook changes no file of the package, but Jupyter saves the notebook itself. So
open a copy that you do not need intact."""


def what_is_run(plan: Plan, results: Results) -> str:
    """The heading above the configuration."""
    reference, about = results.reference, ["The plan names the experiment, its complete"]
    about.append("configuration and its seed.")
    if reference.final_state:
        names = ", ".join(code_span(name) for name, _ in reference.final_state)
        about.append(f"The state has the components {names}.")
    if reference.last_step != plan.experiment.steps:
        reason = f": {escape_markdown(reference.finish)}" if reference.finish is not None else ""
        about.append(f"The reference ended after step {reference.last_step}{reason}.")
    return f"## What is run\n\n{' '.join(about)}"


def section(comparison: ComparisonPlan) -> str:
    """The heading above one comparison."""
    return f"### {code_span(comparison.name)}\n\n{_done(comparison)}"


def listed(comparisons: Iterable[ComparisonPlan]) -> str:
    """The heading above many comparisons."""
    rows = (f"- {code_span(row.name)}: {_done(row)}" for row in comparisons)
    return "\n".join(["### All of them", "", *rows])


def summary(plan: Plan) -> str:
    """The heading above the tables."""
    caution = "Printed values stand beside the exact comparison, never instead of it. "
    return f"""\
## All comparisons side by side

First where each comparison parts from the reference, how often and how far; then the metrics after
the last step, in full. {caution if plan.record.printed else ""}A run that did not replay may well
end with the better number, which proves nothing about replay."""


def differences(plan: Plan) -> str:
    """The heading above the second figure."""
    line = (
        " The dashed line is half of the last printed digit: a difference far below it\n"
        "hardly ever shows in print."
    )
    return f"""\
## How far the runs part

Those that differ, on a logarithmic axis; a step without a point is equal.\
{line if plan.record.printed else ""}"""


def printed(results: Results) -> str:
    """Why printed values agree, where they do."""
    same = [
        f"- {code_span(outcome.run)} printed the same {code_span(row.metric)} at {row.equal} of "
        f"{plural(row.compared, 'step')}{_inside(outcome)}."
        for outcome, row in _same_prints(results)
    ]
    opened = "Printing rounds. The last column below says how far runs are apart in units of the"
    parts = ["## What printing hides", f"{opened}\nlast printed digit."]
    if same:
        parts = ["## What printing hides", "Printing rounds.", "\n".join(same), PRINTED_AGREE]
    return "\n\n".join(parts)


def answer(plan: Plan, results: Results) -> str | None:
    """The question answered, where two runs print alike and differ; ``None`` where none do."""
    for outcome, row in _same_prints(results):
        divergence = outcome.divergence
        changed = next((one for one in plan.comparisons if one.name == outcome.run), None)
        if divergence is None or divergence.stage is None or changed is None:
            continue
        metric, stage = code_span(row.metric), code_span(divergence.stage)
        equal = ", ".join(code_span(item.name) for item in divergence.inputs if item.equal)
        inside = f", while what it is made of is equal: {equal}" if equal else ""
        where = f"**Where did it start?** At step {divergence.step}, in {stage}{inside}."
        why = f"**Why?** What was changed: {escape_markdown(intervention(changed), 1000)}."
        if divergence.kind == "output":
            why += (
                " The same numbers gave another result, so they were put together in another way; "
                "from there on every step starts from another place."
            )
        unseen = (
            f"**Why did no print show it?** Printing rounds: in print, {metric} is the same at "
            "every step, whatever it is in full."
        )
        caught = (
            f"**What would have caught it?** A fingerprint of {stage}, at step {divergence.step}. "
            f"The printed {metric} would not have, at any of {plural(row.compared, 'step')}."
        )
        parts = ["## The answer", where, why, unseen, caught]
        return "\n\n".join(parts)
    return None


def limits(plan: Plan, results: Results) -> str:
    """What the notebook shows and what it does not."""
    identical = {row.run for row in results.comparisons if row.identical}
    exact = sorted(
        {
            row.resume_at
            for row in plan.comparisons
            if row.resume_at and row.name in identical and not row.reset and not row.config
        }
    )
    shown = ["A separate process repeats the reference, every recorded stage and state of it."]
    if exact:
        places = ", ".join(map(str, exact))
        shown.append(f"A run that resumes after step {places} continues exactly.")
    if len(identical) < len(results.comparisons):
        shown.append("Where a run was changed and differs, the first difference is the one named.")
    hidden = list(_not_shown(plan, results, resumes=bool(exact)))
    return "\n\n".join(
        [
            "## What this shows, and what it does not",
            "Where the assertions hold, on this machine:",
            "\n".join(f"- {line}" for line in shown),
            "It does not show:",
            "\n".join(f"- {line}" for line in hidden),
        ]
    )


def sources(metadata: PackageMetadata) -> str:
    """Where to read on."""
    name = code_span(f"{metadata.name} {metadata.version}")
    return f"""\
## Sources

- This package: {escape_markdown(metadata.title)}, {name}. The experiment's code is in
  `source/`, its licence in `LICENSE`.
{SOURCES}"""


def _question(plan: Plan, results: Results) -> str:
    if is_command(plan.experiment):
        return scripts.question(results)
    for outcome, row in _same_prints(results):
        parts = _parts(outcome)
        if parts is not None:
            often = f"at {parts.differing} of {plural(parts.compared, 'step')}"
            every = parts.differing == parts.compared == row.compared
            return (
                f"Two runs print the same {escape_markdown(row.metric)} at all "
                f"{plural(row.compared, 'step')}, and their {escape_markdown(parts.name)} differ "
                f"{'at every one of them' if every else often}. Why? Where did it start? What "
                "would have caught it?"
            )
    if any(not outcome.identical for outcome in results.comparisons):
        return "Does this experiment repeat byte for byte, and where do runs part that do not?"
    return "Does this experiment repeat byte for byte?"


def _what_it_is(metadata: PackageMetadata, plan: Plan) -> str:
    if is_command(plan.experiment):
        return scripts.what_it_is(metadata, plan)
    if plan.experiment.loop:
        return scripts.loop_is(metadata, plan)
    package = code_span(f"{metadata.name} {metadata.version}")
    return (
        f"This notebook belongs to the reproducibility package {package}. It runs the packaged "
        f"experiment {code_span(experiment_text(plan.experiment))} again, "
        f"{plural(plan.experiment.steps, 'step')} with seed {plan.experiment.seed}, and compares "
        "every recorded step byte for byte."
    )


def _table(results: Results) -> str:
    header, rows, right = findings_table(results)
    marks = ["---:" if column in right else "---" for column in range(len(header))]
    lines = [[_in_cell(text) for text in row] for row in (header, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], marks, *lines[1:]))


def _in_cell(text: str) -> str:
    """A text that is escaped for a terminal already, in a cell of a Markdown table."""
    return escape_markdown(text.replace("\n", " ")).replace("|", "\\|")


def _done(comparison: ComparisonPlan) -> str:
    """What one comparison changes and what is expected of it."""
    done = escape_markdown(intervention(comparison), 1000)
    expected = escape_markdown(expectation(comparison.expect))
    return f"{done[:1].upper()}{done[1:]}." + (f" It is {expected}." if expected else "")


def _same_prints(results: Results) -> Iterator[tuple[ComparisonOutcome, PrintedAgreement]]:
    """Comparisons that differ although everything printed of a metric is equal."""
    for outcome in results.comparisons:
        for row in outcome.printed:
            if not outcome.identical and row.compared and row.equal == row.compared:
                yield outcome, row


def _parts(outcome: ComparisonOutcome) -> StepCount | None:
    """What differs most often: a kept stage before others, a stage before a component."""
    kept = {row.stage for row in outcome.kept}
    rows = [row for row in (*outcome.stages, *outcome.components) if row.differing]
    return max(rows, key=lambda row: (row.name in kept, row.differing), default=None)


def _inside(outcome: ComparisonOutcome) -> str:
    row = _parts(outcome)
    if row is None:
        return ""
    return f", while its {code_span(row.name)} differ at {row.differing} of {row.compared}"


def _not_shown(plan: Plan, results: Results, *, resumes: bool) -> Iterator[str]:
    yield "That another machine gives these bytes: its processor or libraries may round otherwise."
    if resumes:
        yield "That resuming from another checkpoint continues exactly."
    else:
        yield "That a resumed run continues exactly: no comparison shows it."
    if results.reference.final_state:
        names = ", ".join(code_span(name) for name, _ in results.reference.final_state)
        yield f"Anything about state that the experiment does not declare. It declares {names}."
    if plan.record.stages_every > 1 or plan.record.state_every > 1:
        yield "The steps between recorded ones: a difference there is narrowed to a range."
    yield f"What happens after step {results.reference.last_step}."
    yield "That the result is any good: equal bytes mean reproduced, and do not mean right."
