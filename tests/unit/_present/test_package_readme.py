"""The README inside a package: the whole text, and that authors' text is never markup."""

from __future__ import annotations

import re

import pytest

from repropack._present.package_readme import package_readme
from repropack.models.plan import ComparisonPlan, ExperimentPlan, RecordPlan
from tests.support import reports

EXPECTED = """\
# Identical printed losses, different weights

`replay-lab 1.0.0` is a reproducibility package (format version 1): an experiment with its code, its recorded steps and what is needed to run it again and compare every step byte for byte.

## What was run

- Experiment `replay_lab:ReplayLab`, seed 7, 100 steps.
- Configuration: `learning_rate = 0.04`, `reduction = "forward"`.
- State: `adam`, `sampler`, `weights`.
- Checkpoints every 20 steps, at the start and at the end.
- Recorded: every stage and the whole state at every step.
- Stages kept whole: `weights`.
- Printed as a log would: `loss` as `.4f`.
- The reference's last metrics: `loss` 0.0214672945992594.

## What is claimed, and what was found

The reference is one uninterrupted run. Each comparison is a second run under one stated change, held against the reference fingerprint by fingerprint.

### `full-checkpoint`

- What was done: resumed in a fresh process from the checkpoint after step 40.
- Claim: expected to be identical; it held.
- Identical: every fingerprint is equal at 60 of 60 steps, and so is its final state (adam, sampler, weights).

### `reversed-reduction`

- What was done: run again from the beginning in a fresh process, reduction = "reverse".
- Claim: expected to part at step 1, at gradient; it held.
- Different: the first divergence is at step 1 · gradient.
- stage weights differs at 100 of 100 steps; the largest difference is 1.1920928955078125e-07, first at step 38.
- loss prints equal at 100 of 100 steps.
- reversed-reduction printed the same loss as the reference at 100 of 100 steps; its stage weights differs at 100 of 100 steps.

### `sampler-reset`

- What was done: resumed in a fresh process from the checkpoint after step 40, sampler put back to its value at step 0.
- Claim: expected to part at step 41, at batch, because component sampler differs; it held.
- Different: the first divergence is at step 41 · batch.
- stage weights differs at 60 of 60 steps; the largest difference is 0.041036590933799744, first at step 99.
- loss prints equal at 6 of 60 steps.
- sampler-reset did not replay, and ended with a lower loss (0.02076356404369701) than the reference (0.0214672945992594): a lower loss proves nothing about replay.

## How to check it, and how to verify it

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

The evidence digest of this package is `sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd`. It covers the plan, the source, the inputs and the runs, and leaves out what describes the machine. The package digest, which names this very package, is the SHA-256 of `manifest.json`; it cannot be stated here, because the manifest lists this file.

## What was not tested

- Any other environment than the one in `environment.json`: another processor, library or version may give other bytes.
- Resuming from other checkpoints than the one after step 40.
- Repeating: no comparison runs the same experiment a second time from its beginning.
- State that the experiment does not declare. It declares `adam`, `sampler`, `weights`; a part that is not among these, such as a scheduler or a loader, was not saved, restored or compared.
- Steps after step 100.
- Whether the result is any good. Equal bytes mean that it was reproduced; a better-looking metric means nothing for that, and printed values that agree are rounded.

## What is in it

| entry | what it holds |
|---|---|
| `manifest.json` | every other entry with its size and digest |
| `plan.json` | experiment, configuration, seed, recording, comparisons, claims |
| `source/` | the experiment's code |
| `runs/<run>/fingerprints.jsonl` | the fingerprint log: a header, a start line, one line a step |
| `runs/<run>/checkpoints/` | stored states: arrays as `.npz`, everything else as `.json` |
| `runs/<run>/kept.npz` | arrays of the kept stages, one row a step |
| `results.json` | what was found, and whether the claims hold; it follows from logs and arrays |
| `environment.json` | what it ran on |
| `schemas/` | JSON Schemas of these documents |
| `__main__.py` | a checker that needs nothing but Python's standard library |
| `CITATION.cff` | how to cite it, for programs |
| `ro-crate-metadata.json` | all of this for archives, as an RO-Crate |
| `index.html` | all of this as one page, to be opened in a browser |

A run that is identical to the reference stores only its log.

## How to cite it

Ada Example, B. Second (2026). Identical printed losses, different weights. replay-lab, version 1.0.0. Reproducibility package, evidence digest `sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd`.

## Licence

CC-BY-4.0; `LICENSE` holds the text or the identifier.
"""  # noqa: E501 - one paragraph a line


def readme(**changes: object) -> str:
    """The lab's README, with some of its arguments changed."""
    arguments = {
        "metadata": reports.metadata(),
        "plan": reports.plan(),
        "results": reports.results(),
        "evidence_digest": reports.EVIDENCE_DIGEST,
    }
    return package_readme(**(arguments | changes)).decode("utf-8")  # type: ignore[arg-type]


def test_the_readme_reads_as_written_here() -> None:
    """The whole document, literally, and the same bytes every time."""
    assert readme() == EXPECTED
    assert readme() == readme()


def test_a_failed_claim_is_loud() -> None:
    """What did not hold says so in bold."""
    results = reports.results(
        reports.outcome("full-checkpoint", first_step=41),
        reports.reversed_reduction(),
        reports.sampler_reset(held=False),
    )
    text = readme(results=results)
    assert "because component sampler differs; **it failed**: observed step 41 · batch.\n" in text
    assert text.count("it held") == 2


def test_forgotten_state_is_told() -> None:
    """A resume that computes something else from equal inputs shows what state_dict lacks."""
    comparisons = (ComparisonPlan(name="resume", resume_at=10, expect="identical"),)
    text = readme(
        plan=reports.plan(comparisons=comparisons),
        results=reports.results(reports.forgetful_resume()),
    )
    assert (
        "- Claim: expected to be identical; **it failed**: observed step 11 · w.\n"
        "- resume: step 11 · w: its inputs (gradient, state:w) are equal, its output differs: it "
        "depends on something that state_dict does not hold, or it varies by itself.\n"
        "- stage weights differs at 90 of 90 steps.\n"
    ) in text


def test_figures_and_a_notebook_are_listed_where_they_are_there() -> None:
    """The table names what a package holds, and nothing that it does not."""
    both = readme(entries=("figures/printed.svg", "notebook.ipynb", "plan.json"))
    checker = "| `ro-crate-metadata.json` | all of this for archives, as an RO-Crate |\n"
    figures = "| `figures/` | what the runs look like, drawn from the logs and kept arrays |\n"
    notebook = "| `notebook.ipynb` | the experiment told as a notebook that was executed |\n"
    end = "\nA run that is identical to the reference stores only its log.\n"
    page = "| `index.html` | all of this as one page, to be opened in a browser |\n"
    assert f"{checker}{figures}{notebook}{page}{end}" in both
    assert f"{checker}{figures}{page}{end}" in readme(entries=("figures/printed.svg",))
    assert f"{checker}{page}{end}" in readme(entries=("source/figures/a.svg",))


def test_a_package_without_comparisons_claims_nothing() -> None:
    """Nothing was repeated and nothing resumed, and the README says both."""
    plan = reports.plan(
        experiment=ExperimentPlan(entry_point="a:b", seed=0, steps=200),
        record=RecordPlan(stages_every=10),
        comparisons=(),
    )
    results = reports.results(finish="no more data", final_state=None, final_metrics={})
    text = readme(plan=plan, results=results.model_copy(update={"comparisons": ()}))
    assert "This package makes no comparison.\n" in text
    assert "- The reference ended after step 100: no more data.\n" in text
    assert "- Checkpoints at the start and at the end.\n" in text
    assert "- Resuming: no comparison continues from a complete checkpoint.\n" in text
    assert "- Repeating: no comparison runs the same experiment a second time" in text
    assert "- The steps between recorded ones: a difference there is narrowed" in text
    assert "Configuration" not in text
    assert "State that" not in text


def test_a_repeated_run_is_not_listed_as_untested() -> None:
    """What was tested is not among what was not."""
    comparisons = (
        *reports.plan().comparisons,
        ComparisonPlan(name="independent-restart", hash_seed=1),
    )
    text = readme(plan=reports.plan(comparisons=comparisons))
    assert "Repeating" not in text
    assert "PYTHONHASHSEED=1.\n\n" in text


def test_an_experiment_without_a_date_or_with_a_description() -> None:
    """What the author did not say is not made up; what they said is there once."""
    text = readme(metadata=reports.metadata(date=None, description="One *lab* at a time."))
    assert "\n\nOne \\*lab\\* at a time.\n\n" in text
    assert "Ada Example, B. Second. Identical printed losses" in text


@pytest.mark.hostile
@pytest.mark.parametrize(
    "hostile",
    [
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1))",
        "![x](https://example.org/pixel)",
        "a\n\n# Forged heading\n",
        "`code` ```fence```",
        "\x1b]8;;https://example.org\x07link",
        "\u202eesrever",
    ],
)
def test_authors_text_is_never_markup(hostile: str) -> None:
    """Title, description, authors, licence, values and reasons cannot format or forge anything."""
    author = reports.metadata().authors[0].model_copy(update={"name": hostile})
    metadata = reports.metadata().model_copy(
        update={
            "title": hostile,
            "description": hostile,
            "license": hostile,
            "authors": (author,),
        }
    )
    plan = reports.plan(
        experiment=ExperimentPlan(entry_point="a:b", seed=0, steps=200, config={hostile: hostile}),
        comparisons=(ComparisonPlan(name="a", config={hostile: hostile}),),
    )
    text = readme(metadata=metadata, plan=plan, results=reports.results(finish=hostile))
    lines = text.split("\n")
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if line.startswith("#")][1:] == [
        "## What was run",
        "## What is claimed, and what was found",
        "### `a`",
        "## How to check it, and how to verify it",
        "## What was not tested",
        "## What is in it",
        "## How to cite it",
        "## Licence",
    ]
    prose = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"\\.", "", text))
    assert not re.search(r"<[a-z/]|\]\(", prose)
