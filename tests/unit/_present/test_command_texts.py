"""What is said of a command: outputs and never steps, on the terminal and in the README."""

from __future__ import annotations

import pytest

from repropack._present.divergence import divergence_evidence
from repropack._present.findings import findings_table, observed, outcome_sentence
from repropack._present.package_readme import package_readme
from repropack._present.rendered import render_figures
from repropack._present.text import build_text
from repropack._present.text_inspect import inspect_text
from repropack._present.text_verify import verify_text
from repropack.models.differences import OutputsComparison
from repropack.models.manifest import Origin
from repropack.models.plan import Plan
from repropack.models.results import ComparisonOutcome, Split
from tests.support import command_reports as commands
from tests.support import reports
from tests.support.logs import HandMadeRun, step

ONE = commands.outcome("x", "output:a.csv", held=False, expected="identical")
BOTH = commands.outcome("x", "output:b.npz:z", "output:a.csv")


def test_the_table_counts_outputs() -> None:
    """One row a comparison; a file is one output, however many arrays it has."""
    assert findings_table(commands.results()) == (
        ["comparison", "outputs equal", "first difference", "as\nexpected"],
        [
            ["again", "2 of 2", "none", "yes"],
            ["slower", "1 of 2", "output b.npz · w", "yes"],
        ],
        (1,),
    )


@pytest.mark.parametrize(
    ("outcome", "sentence", "seen"),
    [
        (
            commands.outcome("x"),
            "Identical: all 2 outputs are equal in what they hold.",
            "no difference, all 2 outputs are equal in what they hold",
        ),
        (
            ONE,
            "Different: 1 of 2 outputs, first output a.csv.",
            "output a.csv, 1 of 3 outputs and arrays differs",
        ),
        (
            BOTH,
            "Different: 2 of 2 outputs, first output b.npz · z.",
            "output b.npz · z, 2 of 3 outputs and arrays differ",
        ),
    ],
)
def test_an_outcome_in_words(outcome: ComparisonOutcome, sentence: str, seen: str) -> None:
    """How many outputs differ, and which comes first."""
    assert outcome_sentence(outcome) == sentence
    assert observed(outcome) == seen


def test_one_output_is_one() -> None:
    """No plural of one."""
    only = commands.outcome("x", "output:a.csv")
    assert only.divergence is not None
    lone = only.divergence.model_copy(update={"stages": Split(differing=("output:a.csv",))})
    assert divergence_evidence(lone) == "1 of 1 output or array differs"
    alone = commands.outcome("x")
    alone = alone.model_copy(update={"stages": alone.stages[:1]})
    assert outcome_sentence(alone) == "Identical: its one output is equal in what it holds."


def test_what_build_says() -> None:
    """The reference ran once; no steps, no divergence at step 1."""
    text = build_text(reports.build_report(results=commands.results()))
    assert (
        """
The reference ran once.

                                             as
comparison  outputs equal  first difference  expected
again              2 of 2  none              yes
slower             1 of 2  output b.npz · w  yes
"""
        in text
    )
    assert "step" not in text


def test_what_inspect_says() -> None:
    """The command, what it writes, and what is stored of each run."""
    text = inspect_text(commands.inspection())
    assert (
        """
command           python run.py --seed 3
seed              3
configuration     rate = 0.5
variables         MODE=full
outputs           *.csv, b.npz
time limit        60 seconds
after the runs    python 'plot it.py' writes figure.svg

run        outputs               size
reference  2                600 bytes
again      the reference's          -
slower     1                300 bytes

again: run again from the beginning in a fresh process, PYTHONHASHSEED=1
  Identical: all 2 outputs are equal in what they hold. Expected to be identical: held.
slower: run again from the beginning in a fresh process, rate = 0.25
  Different: 1 of 2 outputs, first output b.npz · w. Expected to differ first in output b.npz · w:
  held.
"""
        in text
    )
    assert "step" not in text
    assert "checkpoints" not in text


def test_what_verify_says() -> None:
    """Of each run how many outputs were compared; no log, no checkpoint, no array."""
    outputs = OutputsComparison(compared=2)
    nothing = {"lines_compared": 1, "checkpoints_compared": 2, "kept_arrays_compared": 0}
    rows = [
        reports.verified_run(
            name, last_step=1, final_arrays=Split(), outputs=outputs, claim=claim, **nothing
        )
        for name, claim in (("reference", "independent-replay"), ("slower", "comparison"))
    ]
    text = verify_text(reports.verification(runs=tuple(rows)))
    assert (
        """
run        claim               result  outputs
reference  independent replay  equal         2
slower     comparison          equal         2
"""
        in text
    )


README = """\
# Identical printed losses, different weights

`replay-lab 1.0.0` is a reproducibility package (format version 1): a command with its source and \
its inputs, the files that it wrote and what is needed to run it again and compare them.

## What was run

- Command `python run.py --seed 3`, started in a new folder that holds the source and the \
inputs and nothing else.
- Seed: 3.
- Configuration: `rate = 0.5`.
- Variables: `MODE=full`.
- Outputs: `*.csv`, `b.npz`.
- After the runs, on what they gave: `python 'plot it.py'`, which writes `figure.svg`.

## What is claimed, and what was found

The reference is one uninterrupted run. Each comparison is a second run under one stated change, \
held against the reference.

Outputs are compared by what they are: arrays by type, shape and bytes, JSON, tables and images by \
what they hold, everything else by bytes.

### `again`

- What was done: run again from the beginning in a fresh process, PYTHONHASHSEED=1.
- Claim: expected to be identical; it held.
- Identical: all 2 outputs are equal in what they hold.

### `slower`

- What was done: run again from the beginning in a fresh process, rate = 0.25.
- Claim: expected to differ first in output b.npz · w; it held.
- Different: 1 of 2 outputs, first output b.npz · w.

"""


def readme(plan: Plan, *entries: str, **metadata: object) -> str:
    data = package_readme(
        reports.metadata(**metadata),
        plan,
        commands.results(),
        reports.EVIDENCE_DIGEST,
        entries,
    )
    return data.decode("utf-8")


def test_the_readme_speaks_of_outputs() -> None:
    """What was run and found, literally; nothing of states, steps and resuming."""
    text = readme(commands.plan())
    assert text.startswith(README)
    tested = text.partition("## What was not tested\n\n")[2].partition("\n\n##")[0]
    assert tested == (
        "- Any other environment than the one in `environment.json`: another processor, library or "
        "version may give other bytes.\n"
        "- What the command does besides writing these outputs, and its course up to them.\n"
        "- Whether the result is any good. Equal bytes mean that it was reproduced; a "
        "better-looking metric means nothing for that, and printed values that agree are rounded."
    )


def test_the_readme_lists_what_there_is() -> None:
    """Inputs, outputs, derived files, a lock and wheels, where the package has them."""
    entries = ("inputs/a", "after/b.svg", "requirements.lock", "wheels/a.whl", "notebook.ipynb")
    text = readme(commands.plan(), *entries)
    assert (
        """\
| `source/` | the experiment's code |
| `inputs/` | its input files, by their paths in the project |
| `runs/<run>/fingerprints.jsonl` | the fingerprint log: a header, a start line, one line a step |
| `runs/<run>/outputs/` | the files that the run wrote |
| `after/` | what the commands that come after the runs wrote |
| `results.json` |"""
        in text
    )
    assert (
        """\
| `requirements.lock` | the distributions that it ran with, by version and digest |
| `wheels/`, `pylock.toml` | those distributions, and a list of them for installers |
| `notebook.ipynb` | the experiment told as a notebook that was executed |
"""
        in text
    )
    plan = commands.plan().model_copy(update={"notebook": "unexecuted"})
    assert "told as a notebook, not executed |\n" in readme(plan, "notebook.ipynb")
    assert "inputs/" not in readme(commands.plan(), "source/inputs/a")


def test_the_readme_says_where_a_package_comes_from() -> None:
    """The version before it, and the commit."""
    origin = Origin(commit="a" * 40, clean=False)
    text = readme(commands.plan(), supersedes=reports.CHAIN, origin=origin)
    assert f"It supersedes the package with the digest `{reports.CHAIN}`. Its files come" in text
    assert f"come from commit `{'a' * 40}`, with changes that are in no commit.\n" in text
    clean = readme(commands.plan(), origin=Origin(commit="b" * 40, clean=True))
    assert f"come from commit `{'b' * 40}`.\n" in clean


def test_inspect_says_where_a_package_comes_from() -> None:
    """The version before it, the commit, and what lint was to let pass."""
    package = reports.metadata(
        supersedes=reports.CHAIN,
        origin=Origin(commit="a" * 40, clean=False),
        allowed_findings=("absolute-path", "seed-unset"),
    )
    text = inspect_text(reports.inspection().model_copy(update={"package": package}))
    assert (
        f"""
supersedes        {reports.CHAIN}
commit            {"a" * 40}, with changes that are in no commit
let pass          absolute-path, seed-unset
"""
        in text
    )


def test_a_loop_is_told_as_a_script_with_steps() -> None:
    """It has steps, checkpoints and states as an entry point has, and may have outputs."""
    plan = commands.plan(loop=True, steps=100)
    text = inspect_text(reports.inspection().model_copy(update={"plan": plan}))
    assert "\nscript            python run.py --seed 3\n" in text
    assert "\nsteps             100\n" in text
    assert "\noutputs           *.csv, b.npz\n" in text
    told = package_readme(reports.metadata(), plan, reports.results(), reports.EVIDENCE_DIGEST)
    assert b"\n- Script `python run.py --seed 3`, seed 3, 100 steps.\n" in told
    assert b"| `runs/<run>/checkpoints/` |" in told
    assert b"| `runs/<run>/outputs/` |" in told


def test_one_step_is_not_drawn() -> None:
    """A command's package has no figures."""
    run = HandMadeRun((step(1, {"output:a.csv": "a"}, {}),))
    runs = dict.fromkeys(("again", "slower"), run)
    assert render_figures(commands.plan(), run, runs, last_step=1) == {}
