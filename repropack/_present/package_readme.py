"""The README inside a package: what it claims, what was found, and how to find out oneself.

It follows from the author's plan and the recorded results alone: no clock, nothing of the machine,
so that an experiment whose bytes travel has the same README everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from repropack._format.layout import AFTER, AUTHOR_READMES, FIGURES, INPUTS, NOTEBOOK
from repropack._present.claims import markdown_claims
from repropack._present.findings import (
    config_value,
    contrasts,
    expectation,
    forgotten_state,
    intervention,
    measure_sentences,
    observed,
    outcome_sentence,
    recorded,
)
from repropack._present.layout import command_text, experiment_text, is_command, number, plural
from repropack._present.markdown import code_span, escape_markdown
from repropack._present.untested import untested
from repropack.models.manifest import FORMAT_VERSION, PackageMetadata
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan
from repropack.models.results import ComparisonOutcome, Results

_HOW_TO = """\
Nothing in a package has to be trusted to be read. With repropack (the distribution
`repropack-replay`), where `FILE` is this package, as a zip or as a folder:

```sh
repropack check FILE      # digests, documents, log chains, arrays: reads everything, runs nothing
repropack verify FILE     # checks, then runs it again and compares byte for byte
repropack inspect FILE    # shows plan, runs and findings
```

`check` and `verify` end with status 0 where everything is intact or identical, 1 where something
differs, 3 where the package is damaged, and 4 where there is no answer.

Without repropack, `python FILE` checks digests, log chains and arrays, with Python 3.9 or newer;
for a folder it is `python FILE/__main__.py`. That executes a program which lies in the package: use
it on a package that you trust, or take the checker from repropack's own source,
`repropack/checker.py`, and run `python checker.py FILE`.
"""

_BEFORE = """\
| entry | what it holds |
|---|---|
| `manifest.json` | every other entry with its size and digest |
| `plan.json` | experiment, configuration, seed, recording, comparisons, claims |
| `source/` | the experiment's code |
"""
_AUTHOR = "| `README.author.{end}` | what its author says of it, in their own words |\n"
_INPUTS = "| `inputs/` | its input files, by their paths in the project |\n"
_LOG = """\
| `runs/<run>/fingerprints.jsonl` | the fingerprint log: a header, a start line, one line a step |
"""
_STEPS = """\
| `runs/<run>/checkpoints/` | stored states: arrays as `.npz`, everything else as `.json` |
| `runs/<run>/kept.npz` | arrays of the kept stages, one row a step |
"""
_OUTPUTS = "| `runs/<run>/outputs/` | the files that the run wrote |\n"
_AFTER = "| `after/` | what the commands that come after the runs wrote |\n"
_LAST = """\
| `results.json` | what was found, and whether the claims hold; it follows from logs and arrays |
| `environment.json` | what it ran on |
| `schemas/` | JSON Schemas of these documents |
| `__main__.py` | a checker that needs nothing but Python's standard library |
| `CITATION.cff` | how to cite it, for programs |
| `ro-crate-metadata.json` | all of this for archives, as an RO-Crate |
"""
_LOCK = "| `requirements.lock` | the distributions that it ran with, by version and digest |\n"
_WHEELS = "| `wheels/`, `pylock.toml` | those distributions, and a list of them for installers |\n"
_FIGURES = "| `figures/` | what the runs look like, drawn from the logs and kept arrays |\n"
_NOTEBOOK = "| `notebook.ipynb` | the experiment told as a notebook that was executed |\n"
_UNEXECUTED = "| `notebook.ipynb` | the experiment told as a notebook, not executed |\n"
_PAGE = "| `index.html` | all of this as one page, to be opened in a browser |\n"
_CLAIMS = """\
Each is a claim that follows from the plan, the logs and the arrays of this package, and is \
evaluated again by `check` on what is stored and by `verify` on what it runs. It says nothing of \
other machines."""
_BY_CONTENT = """\
Outputs are compared by what they are: arrays by type, shape and bytes, JSON, tables and images by \
what they hold, everything else by bytes."""


def package_readme(
    metadata: PackageMetadata,
    plan: Plan,
    results: Results,
    evidence_digest: str,
    entries: Collection[str] = (),
) -> bytes:
    """Write the README of a package.

    Args:
        metadata: What the author says of the package; escaped wherever it appears.
        plan: What was run, the configuration complete.
        results: What was found.
        evidence_digest: Digest of the manifest's rows of plan, source, inputs and runs.
        entries: Paths of the package; figures and the notebook are named where they are there.

    Returns:
        Markdown, UTF-8, one paragraph or list item a line.

    Determinism:
        The bytes depend on the arguments alone.
    """
    sections = [
        f"# {escape_markdown(metadata.title)}",
        _opening(metadata, plan),
        *([escape_markdown(metadata.description)] if metadata.description is not None else []),
        "## What was run",
        _items(_what_was_run(plan, results)),
        "## What is claimed, and what was found",
        *_findings(plan, results),
        "## How to check it, and how to verify it",
        _HOW_TO.rstrip("\n"),
        _digests(evidence_digest),
        "## What was not tested",
        _items(untested(plan, results)),
        "## What is in it",
        *_contents(plan, entries),
        "## How to cite it",
        _citation(metadata, evidence_digest),
        "## Licence",
        f"{escape_markdown(metadata.license)}; `LICENSE` holds the text or the identifier.",
    ]
    return ("\n\n".join(sections) + "\n").encode("utf-8")


def _opening(metadata: PackageMetadata, plan: Plan) -> str:
    what = (
        "a command with its source and its inputs, the files that it wrote and what is needed to "
        "run it again and compare them"
        if is_command(plan.experiment)
        else "an experiment with its code, its recorded steps and what is needed to run it again "
        "and compare every step byte for byte"
    )
    named = code_span(f"{metadata.name} {metadata.version}")
    form = f"a reproducibility package (format version {FORMAT_VERSION})"
    parts = [f"{named} is {form}: {what}."]
    if metadata.supersedes is not None:
        parts.append(f"It supersedes the package with the digest {code_span(metadata.supersedes)}.")
    if metadata.origin is not None:
        state = "" if metadata.origin.clean else ", with changes that are in no commit"
        parts.append(f"Its files come from commit {code_span(metadata.origin.commit)}{state}.")
    return " ".join(parts)


def _items(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _names(names: Iterable[str]) -> str:
    return ", ".join(code_span(name) for name in names)


def _what_was_run(plan: Plan, results: Results) -> Iterable[str]:
    if is_command(plan.experiment):
        yield from _what_was_started(plan)
    else:
        yield from _what_was_stepped(plan, results)
    for command in plan.after:
        words, outputs = (
            code_span(command_text(command.command, plan.experiment)),
            _names(command.outputs),
        )
        yield f"After the runs, on what they gave: {words}, which writes {outputs}."


def _what_was_started(plan: Plan) -> Iterable[str]:
    """A command: what is in its folder, what its words stand for, what it writes."""
    experiment = plan.experiment
    yield (
        f"Command {code_span(experiment_text(experiment))}, started in a new folder that holds the "
        "source and the inputs and nothing else."
    )
    if any("{seed}" in word for word in experiment.command or ()):
        yield f"Seed: {experiment.seed}."
    yield from _configuration(experiment)
    variables = sorted(experiment.environment.items())
    if variables:
        yield f"Variables: {_names(f'{name}={value}' for name, value in variables)}."
    yield f"Outputs: {_names(experiment.outputs)}."


def _configuration(experiment: ExperimentPlan) -> Iterable[str]:
    config = sorted(experiment.config.items())
    if config:
        settings = _names(f"{name} = {config_value(value)}" for name, value in config)
        yield f"Configuration: {settings}."


def _what_was_stepped(plan: Plan, results: Results) -> Iterable[str]:
    experiment, record, reference = plan.experiment, plan.record, results.reference
    noun = "Script" if experiment.loop else "Experiment"
    yield (
        f"{noun} {code_span(experiment_text(experiment))}, seed {experiment.seed}, "
        f"{plural(experiment.steps, 'step')}."
    )
    if reference.last_step != experiment.steps:
        reason = f": {escape_markdown(reference.finish)}" if reference.finish is not None else ""
        yield f"The reference ended after step {reference.last_step}{reason}."
    yield from _configuration(experiment)
    if reference.final_state is not None:
        yield f"State: {_names(name for name, _ in reference.final_state)}."
    every = record.checkpoint_every
    between = (
        f"every {plural(every, 'step')}, at the start" if every is not None else "at the start"
    )
    yield f"Checkpoints {between} and at the end."
    yield f"Recorded: {recorded(record)}."
    if record.keep:
        yield f"Stages kept whole: {_names(record.keep)}."
    printed = (f"{code_span(name)} as {code_span(text)}" for name, text in record.printed.items())
    if record.printed:
        yield f"Printed as a log would: {', '.join(sorted(printed))}."
    metrics = sorted(reference.final_metrics.items())
    if metrics:
        values = (f"{code_span(name)} {number(value)}" for name, value in metrics)
        yield f"The reference's last metrics: {', '.join(values)}."


def _findings(plan: Plan, results: Results) -> Iterable[str]:
    held = "" if is_command(plan.experiment) else " fingerprint by fingerprint"
    yield (
        "The reference is one uninterrupted run. Each comparison is a second run under one stated "
        f"change, held against the reference{held}."
    )
    if plan.experiment.outputs:
        yield _BY_CONTENT
    if not plan.comparisons:
        yield "This package makes no comparison."
    found = {outcome.run: outcome for outcome in results.comparisons}
    for comparison in plan.comparisons:
        yield f"### {code_span(comparison.name)}"
        yield _items(_comparison(comparison, found.get(comparison.name), loop=plan.experiment.loop))
    if results.claims:
        yield "### Sentences of the write-up"
        yield _CLAIMS
        yield markdown_claims(results.claims)


def _comparison(
    comparison: ComparisonPlan, outcome: ComparisonOutcome | None, *, loop: bool
) -> Iterable[str]:
    what = escape_markdown(intervention(comparison), 1000)
    yield f"What was done: {what}."
    expected = expectation(comparison.expect)
    if outcome is None:
        return
    if expected and outcome.held is False:
        instead = escape_markdown(observed(outcome), 1000)
        yield f"Claim: {escape_markdown(expected)}; **it failed**: observed {instead}."
    else:
        if expected:
            yield f"Claim: {escape_markdown(expected)}; it held."
        yield escape_markdown(outcome_sentence(outcome), 1000)
    forgotten = forgotten_state(outcome, loop=loop)
    if forgotten is not None:
        yield escape_markdown(forgotten, 1000)
    if not outcome.identical:
        for sentence in (*measure_sentences(outcome), *contrasts(outcome)):
            yield escape_markdown(sentence, 1000)


def _digests(evidence_digest: str) -> str:
    return (
        f"The evidence digest of this package is {code_span(evidence_digest)}. It covers the plan, "
        "the source, the inputs and the runs, and leaves out what describes the machine. The "
        "package digest, which names this very package, is the SHA-256 of `manifest.json`; it "
        "cannot be stated here, because the manifest lists this file."
    )


def _contents(plan: Plan, entries: Collection[str]) -> Iterable[str]:
    """A table of what there is; entries that not every package has where they are there."""

    def rows(text: str, *places: str) -> str:
        return text if any(path.startswith(places) for path in entries) else ""

    yield "".join(
        (
            _BEFORE,
            *(rows(_AUTHOR.format(end=path.rpartition(".")[2]), path) for path in AUTHOR_READMES),
            rows(_INPUTS, f"{INPUTS}/"),
            _LOG,
            "" if is_command(plan.experiment) else _STEPS,
            _OUTPUTS if plan.experiment.outputs else "",
            rows(_AFTER, f"{AFTER}/"),
            _LAST,
            rows(_LOCK, "requirements.lock"),
            rows(_WHEELS, "wheels/"),
            rows(_FIGURES, f"{FIGURES}/"),
            rows(_NOTEBOOK if plan.notebook == "executed" else _UNEXECUTED, NOTEBOOK),
            _PAGE,
        )
    ).rstrip("\n")
    yield "A run that is identical to the reference stores only its log."


def _citation(metadata: PackageMetadata, evidence_digest: str) -> str:
    authors = ", ".join(escape_markdown(author.name) for author in metadata.authors)
    year = f" ({metadata.date.year})" if metadata.date is not None else ""
    doi = f" <https://doi.org/{metadata.doi}>." if metadata.doi is not None else ""
    cited = (
        f"{authors}{year}. {escape_markdown(metadata.title)}. {metadata.name}, "
        f"version {metadata.version}. Reproducibility package, evidence digest "
        f"{code_span(evidence_digest)}.{doi}"
    )
    article = metadata.article
    if article is None:
        return cited
    where = f"https://doi.org/{article.doi}" if article.doi is not None else article.url
    place = f" (<{where}>)" if where is not None else ""
    return f"{cited}\n\nIt supplements the article {escape_markdown(article.title)}{place}."
