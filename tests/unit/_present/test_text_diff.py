"""The difference of two packages as text, word for word."""

from __future__ import annotations

import pytest

from repropack._present.layout import WIDTH, cells
from repropack._present.text_diff import diff_text
from repropack.models.environment import EnvironmentAccount
from repropack.models.package_difference import (
    FileChanges,
    PackageDifference,
    TextChange,
    ValueChange,
)
from repropack.models.results import Split
from tests.support import differences, reports

DIFFERS = """\
differs  old.zip and new.zip
Changed: source, inputs, configuration, results. Equal: environment.
They part at step 1 · gradient.

old               replay-lab 1.0.0
package digest    sha256:abababababababababababababababababababababababababababababababab
evidence digest   sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
new               replay-lab 1.1.0
package digest    sha256:1212121212121212121212121212121212121212121212121212121212121212
evidence digest   sha256:3434343434343434343434343434343434343434343434343434343434343434

succession        the new one says that it supersedes the old one
metadata          1 value changed
  version: "1.0.0" -> "1.1.0"

source            5 files changed, 2 unchanged
  changed lab.py (+2 -1 lines)
    @@ -1,1 +1,1 @@
    -    old = 1
    +    new = 2
    and 2 more lines
  changed model.bin (2.0 kB -> 2.5 kB)
  added new.py (2.5 kB)
  removed old.py (2.0 kB)
  changed run.sh (now executable)
inputs            2 files changed, 0 unchanged
  changed big.npz (now held by reference, another place to get it)
  added more.npz (2.0 kB, held by reference)
configuration     3 values changed
  experiment.seed: 7 -> 8
  experiment.config.rate: removed, 0.5
  experiment.config.step: added, 1

environment       the same in every point

results           first divergence of the references: step 1 · gradient
  inputs equal (contributions), output differs.
  other stages from step 3 on, at 98 steps: extra on the right: clip.
  99 of 100 steps differ, in 1 of 1 stage and 0 of 1 component.
  do they meet again? for a while: all that both recorded is equal at step 2.
  stage by stage: `repropack diff OLD::reference NEW::reference`
  loss at its end: 0.25 -> 0.125
  changed full-checkpoint: before: Identical: every fingerprint is equal at 60 of 60 steps, and so
    is its final state (adam, sampler, weights). Now: FAILED: expected to be identical; observed
    step 11 · w.
  removed adam-reset: Identical: every fingerprint is equal at 100 of 100 steps, and so is its final
    state (adam, sampler, weights).
  added reversed-reduction: Different: the first divergence is at step 1 · gradient.
  found the same, with other numbers: sampler-reset
  unchanged: 1 comparison
files of the runs 1 file changed, 3 unchanged: reference/kept.npz
other entries     1 file changed, 9 unchanged: README.md

Every entry of both has the digest that its manifest lists; nothing was run. Whether each package
agrees with itself is for `repropack check` to say.
"""

IDENTICAL = """\
identical  old.zip and copy.zip
Both have the same manifest, and every entry of both is what it lists.

package           replay-lab 1.0.0
package digest    sha256:abababababababababababababababababababababababababababababababab
evidence digest   sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
"""

DAMAGED = """\
damaged  new.zip

new.zip
The package is damaged or unsafe, and nothing of it was executed: 2 faults.
- plan.json: its digest differs [digest.entry]
- source/lab.py: missing [manifest.file-missing]
"""

ENVIRONMENT_ALONE = """\
differs  old.zip and new.zip
Changed: environment. Equal: source, inputs, configuration, results.

old               replay-lab 1.0.0
package digest    sha256:abababababababababababababababababababababababababababababababab
evidence digest   sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
new               replay-lab 1.1.0
package digest    sha256:1212121212121212121212121212121212121212121212121212121212121212
evidence digest   sha256:3434343434343434343434343434343434343434343434343434343434343434

succession        the new one does not say that it supersedes any
metadata          unchanged

source            unchanged (1 file)
inputs            unchanged (2 files)
configuration     unchanged

environment: differs from the old one in 1 point
none of the 30 families of the probe card changed.
field          old    new    matters?
numpy.version  2.3.1  2.4.0  yes

results           the references are equal at all 100 steps: one chain
  unchanged: 1 comparison
files of the runs unchanged (4 files)
other entries     unchanged (9 files)

Every entry of both has the digest that its manifest lists; nothing was run. Whether each package
agrees with itself is for `repropack check` to say.
"""

NOTHING_ELSE = {
    "environment": differences.unequal_account(),
    "succession": "none",
    "metadata": (),
    "source": FileChanges(unchanged=1),
    "inputs": FileChanges(unchanged=2),
    "configuration": (),
    "results": differences.results(
        reference=differences.reference(chain_equal=True, divergence=None, metrics=()),
        comparisons=(),
        files=FileChanges(unchanged=4),
    ),
    "others": FileChanges(unchanged=9),
}


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (differences.difference(), DIFFERS),
        (differences.identical(), IDENTICAL),
        (differences.damaged(), DAMAGED),
        (differences.difference(**NOTHING_ELSE), ENVIRONMENT_ALONE),
    ],
    ids=["differs", "identical", "damaged", "environment-alone"],
)
def test_a_difference_reads_like_this(report: PackageDifference, text: str) -> None:
    """What was changed comes before what came of it."""
    assert diff_text(report) == text


def test_both_damaged_sides_are_told() -> None:
    """Each with its own faults."""
    faults = reports.damaged_check().faults
    report = differences.damaged().model_copy(update={"old": differences.side(faults=faults[:1])})
    assert diff_text(report).startswith("damaged  old.zip and new.zip\n\nold.zip\nThe package is")


def test_a_package_beside_one_that_differs_in_nothing_told() -> None:
    """A README alone may be another."""
    report = differences.difference(**(NOTHING_ELSE | {"environment": differences.ACCOUNT}))
    text = diff_text(report)
    assert "\nNone of source, inputs, configuration, environment, results changed." in text


def test_what_was_another_before_any_step_is_told() -> None:
    """Configuration, constants and the first state; and where the runs ended."""
    reference = differences.reference(
        config_equal=False,
        constants=Split(differing=("features",)),
        start=Split(equal=("adam",), differing=("weights",)),
        divergence=None,
        new_last_step=50,
        metrics=(),
    )
    text = diff_text(differences.difference(results=differences.results(reference=reference)))
    assert (
        """\
results           the references begin otherwise, and are equal in every step that was recorded
  they ran with another configuration
  constants: features not the same
  first state: weights not the same; equal: adam
  they ended after steps 100 and 50
"""
        in text
    )


def test_texts_of_packages_are_escaped_and_cut() -> None:
    """No line of a hostile package moves a cursor, and none is longer than the page."""
    lines = ("@@ -1,1 +1,1 @@", "-\x1b[2J", "+" + "\u4e2d" * 300, " " + "x" * 300)
    text = TextChange(lines=lines, left_out=0, added=1, removed=1)
    row = differences.file_change("a\u202eb.py", text=text)
    report = differences.difference(
        old=differences.side("\x1b]0;x\x07.zip"),
        source=FileChanges(unchanged=0, changed=(row,) * 30),
        configuration=(ValueChange(key="k\x9b", old='"\x7f"', new="n" * 900),) * 70,
        environment=EnvironmentAccount(
            differences=(), changed_families=("exp",), sentence="s\x1b" * 200
        ),
    )
    shown = diff_text(report)
    assert shown.isprintable() or all(c == "\n" or c.isprintable() for c in shown)
    assert max(cells(line) for line in shown.splitlines()) <= WIDTH
    assert "    -\\x1b[2J\n" in shown
    assert "  and 10 more\n" in shown
