"""Reports as text, word for word; and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from repropack._present import text_verify
from repropack._present.layout import WIDTH, cells
from repropack._present.text import build_text, check_text, unpack_text
from repropack._present.text_export import export_text
from repropack._present.text_inspect import inspect_text
from repropack._present.text_verify import verify_text
from repropack._run.confinement import probing
from repropack.models.authored import Article, Contact, Funding, Organization
from repropack.models.export import ExportReport, LackingKey
from repropack.models.inspection import Inspection
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan
from repropack.models.reports import (
    Confinement,
    ContinuedRun,
    Fault,
    Guarantee,
    LockReport,
    Problem,
    RenderedVerification,
    UsedEnvironment,
)
from repropack.models.results import PrintedAgreement, Split
from tests.support import reports

IDENTITY = """\
Identical printed losses, different weights
package           replay-lab 1.0.0
package digest    sha256:abababababababababababababababababababababababababababababababab
evidence digest   sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
"""

SAID = f"Its manifest says, and nothing here confirms:\n{IDENTITY}"

BUILD = f"""\
built  replay-lab-1.0.0.zip (565.7 kB)
3 of 3 expectations held

{IDENTITY.rstrip()}
source            1 file (named in the project file)

The reference ran 100 steps.

                                                   weights  loss prints  largest diff.   as
comparison          steps    first divergence   differs at     equal at  of weights      expected
full-checkpoint     41..100  none                  0 of 60     60 of 60  -               yes
reversed-reduction  1..100   step 1 · gradient  100 of 100   100 of 100  1.19e-07 at 38  yes
sampler-reset       41..100  step 41 · batch      60 of 60      6 of 60  0.041 at 99     yes

reversed-reduction printed the same loss as the reference at 100 of 100 steps; its stage weights
  differs at 100 of 100 steps.
sampler-reset did not replay, and ended with a lower loss (0.02076356404369701) than the reference
  (0.0214672945992594): a lower loss proves nothing about replay.
"""

INTACT = f"""\
intact  lab.zip
63 entries, 480 steps of fingerprint logs and 1 array are what the package says they are; the stored
results follow from them.

{IDENTITY}
Nothing of the package was executed. Intact means that the package agrees with its manifest and with
itself; figures and a notebook were not looked at beyond their digests. Whether it is the one that
was published is for `--expect-digest` to say, whether it can be reproduced for `repropack verify`.
"""

DAMAGED = f"""\
damaged  lab.zip
The package is damaged or unsafe, and nothing of it was executed: 2 faults.
- plan.json: its digest differs [digest.entry]
- source/lab.py: missing [manifest.file-missing]

{SAID}"""

ANOTHER = f"""\
damaged  lab.zip
This is another package than the one expected, and nothing of it was executed.
- manifest.json: package digest differs: expected
  sha256:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f, observed
  sha256:abababababababababababababababababababababababababababababababab [digest.package]

{SAID}"""

IDENTICAL = f"""\
identical  lab.zip
2 runs executed again here: every byte that was compared is equal to the package's.

{IDENTITY}
                                                        log                 kept   final
run              claim               steps    result  lines  checkpoints  arrays  arrays
reference        independent replay  1..100   equal     100            6     100  3 of 3
full-checkpoint  exact resume        41..100  equal      60            4      60  3 of 3

not verified:
- resuming after steps other than 40

confinement:      none needed: the packaged source is one that repropack ships, so nothing foreign
                  was executed; it ran in a process of its own, under limits
scope:            Reproduced here, in this environment: what was run again gave the recorded bytes.
                  Nothing wider is claimed: no other environment, and not that the result is right
                  or good.
"""

DIFFERS = f"""\
differs  lab.zip
1 run executed again here: 0 equal to the package byte for byte, 1 not (reference).

environment: differs from the recorded one in 1 point
float32 matrix products changed: consistent with another BLAS kernel.
field                         recorded  here      matters?
thread_pools.openblas.kernel  Haswell   SkylakeX  may

{IDENTITY}
                                                  log                 kept   final
run        claim               steps   result   lines  checkpoints  arrays  arrays
reference  independent replay  1..100  DIFFERS    100            6     100  1 of 2

run reference (independent replay) differs
first divergence: step 1 · gradient      inputs equal (contributions), output differs: 19 of 24
                  elements, at most 5 ulp
                  gradient[0]   expected -0.55355924 (0xbf0db60f)  observed -0.5535591 (0xbf0db60d)
                  gradient[12]  expected 0.25 (0x3e800000)         observed 0.25000003 (0x3e800001)
final arrays:     differing: weights
repeats here:     yes, a second run here gave the same bytes as the first one here
consistent with:  the other environment (above)
                  another order or rounding of an operation (gradient) [other-order]: what is
                  recorded of its inputs is equal; elements differ in their last bits; a second run
                  here equals the first
not with:         another beginning: other constants, first state or batch [other-beginning]:
                  configuration, constants and first state are equal; so are the stages before it
                  an operation whose result varies between launches [varying-operation]: a second
                  run here equals the first

not verified:
- resuming after steps other than 40

confinement:      none needed: the packaged source is one that repropack ships, so nothing foreign
                  was executed; it ran in a process of its own, under limits
scope:            Not reproduced here, in this environment. That says nothing of other environments,
                  and a first difference is evidence of where, not of why.
"""

COULD_NOT_RUN = f"""\
could-not-run  lab.zip
the worker died [could-not-run]
hint: give it more memory

{IDENTITY}
confinement:      nothing of the package was executed
scope:            No answer: this says neither that the package replays nor that it does not.
"""

INSPECTION = f"""\
read  lab.zip
{IDENTITY}authors           Ada Example (Institute); B. Second
licence           CC-BY-4.0
date              2026-11-29
description       A lab.
source            swh:1:dir:5555555555555555555555555555555555555555
whole package     swh:1:dir:6666666666666666666666666666666666666666
size              1.5 kB in 3 entries

experiment        replay_lab:ReplayLab
seed              7
steps             100
configuration     learning_rate = 0.04, reduction = "forward"
checkpoints       every 20 steps, at the start and the end
recorded          every stage and the whole state at every step
kept whole        weights
printed           loss as .4f

run              steps    checkpoints  kept arrays      size
reference        1..100             6  yes          102.3 kB
full-checkpoint  41..100            -  -             48.0 kB

full-checkpoint: resumed in a fresh process from the checkpoint after step 40
  Identical: every fingerprint is equal at 60 of 60 steps, and so is its final state (adam, sampler,
  weights). Expected to be identical: held.
reversed-reduction: run again from the beginning in a fresh process, reduction = "reverse"
  Different: the first divergence is at step 1 · gradient. Expected to part at step 1, at gradient:
  held.
sampler-reset: resumed in a fresh process from the checkpoint after step 40, sampler put back to its
  value at step 0
  Different: the first divergence is at step 41 · batch. Expected to part at step 41, at batch:
  held.

made with         CPython 3.11.7, NumPy 2.3.1
on                Linux x86_64, glibc 2.36
processor         Xeon; NumPy found X86_V3 X86_V4
BLAS              openblas 0.3.27, kernel SkylakeX, 8 threads
variables         OMP_NUM_THREADS=8
distributions     2, of which numpy 2.3.1
probe card        3 families of operations

environment: differs from the recorded one in 1 point
float32 matrix products changed: consistent with another BLAS kernel.
field                         recorded  here      matters?
thread_pools.openblas.kernel  Haswell   SkylakeX  may

role    entries       size
plan          1  900 bytes
source        2  600 bytes

Read, not checked: `repropack check` tells whether the package agrees with its manifest and with
itself, `repropack verify` whether it can be reproduced here.
"""

UNPACKED = """\
unpacked  lab.zip
2 entries written to lab, every digest checked

package digest    sha256:abababababababababababababababababababababababababababababababab

- manifest.json
- plan.json
"""


def differing_verification(**changes: Any) -> Any:
    fields = {
        "verdict": "differs",
        "runs": (reports.differing_run(),),
        "environment": reports.account(),
    }
    return reports.verification(**(fields | changes))


def unanswered_verification(**changes: Any) -> Any:
    problem = Problem(code="could-not-run", message="the worker died", hint="give it more memory")
    fields = {
        "verdict": "could-not-run",
        "runs": (),
        "confinement": None,
        "not_verified": (),
        "problem": problem,
    }
    return reports.verification(**(fields | changes))


def damaged_verification() -> Any:
    return reports.verification(
        verdict="damaged",
        checked=False,
        runs=(),
        confinement=None,
        not_verified=(),
        faults=reports.damaged_check().faults,
    )


def other_figures(*differing: str) -> Any:
    paths = Split(equal=("figures/agreement.svg",), differing=differing or ("figures/printed.svg",))
    return reports.verification(verdict="differs", figures=RenderedVerification(paths=paths))


def unexpected_build() -> Any:
    results = reports.results(reports.forgetful_resume(), reports.sampler_reset(held=False))
    return reports.build_report(results=results, expectations_held=False)


def unexpected_inspection() -> Any:
    comparisons = (ComparisonPlan(name="resume", resume_at=10, expect="identical"),)
    return reports.inspection(
        plan=reports.plan(comparisons=comparisons),
        results=reports.results(reports.forgetful_resume()),
    )


def described_inspection() -> Inspection:
    """Inspecting a package whose author says all that archives ask for."""
    about = reports.metadata(
        description="A lab.",
        type="software",
        keywords=("lab", "replay"),
        contact=Contact(name="Ada Lovelace", email="ada@example.org"),
        publisher=Organization(name="An archive"),
        repository="https://example.org/lab",
        doi="10.5281/zenodo.1234",
        article=Article(title="Replays", doi="10.1000/182"),
        funding=(Funding(funder="A fund"),),
    )
    return reports.inspection(package=about)


EXPORTED = ExportReport(
    path="lab.zip",
    to="bagit",
    package_digest=reports.PACKAGE_DIGEST,
    evidence_digest=reports.EVIDENCE_DIGEST,
    source_swhid=f"swh:1:dir:{'5' * 40}",
    content_swhid=f"swh:1:dir:{'6' * 40}",
    written="lab-bag",
    files=70,
    size_bytes=1_300_000,
)
EXPORT = """\
exported  lab-bag

what              a bag, whose payload in data/ is the package
package digest    sha256:abababababababababababababababababababababababababababababababab
source            swh:1:dir:5555555555555555555555555555555555555555
whole package     swh:1:dir:6666666666666666666666666666666666666666
size              1.3 MB in 70 files of payload
"""
LACKING = EXPORTED.model_copy(
    update={
        "to": "zenodo",
        "written": None,
        "files": 0,
        "size_bytes": 0,
        "lacking": (
            LackingKey(field="upload_type", key="type", problem="expected a type, observed none"),
        ),
    }
)
LACKED = """\
incomplete  lab.zip: 1 key missing for --to zenodo; nothing was written

- type in [package], for upload_type: expected a type, observed none

Add it to the project file and build again: a package is never changed.
"""
EXAMPLES: dict[str, tuple[Callable[[Any], str], Any, str | None]] = {
    "build": (build_text, reports.build_report(), BUILD),
    "intact": (check_text, reports.check_report(), INTACT),
    "damaged": (check_text, reports.damaged_check(), DAMAGED),
    "another": (check_text, reports.another_package(), ANOTHER),
    "identical": (verify_text, reports.verification(), IDENTICAL),
    "differs": (verify_text, differing_verification(), DIFFERS),
    "could-not-run": (verify_text, unanswered_verification(), COULD_NOT_RUN),
    "verify-damaged": (verify_text, damaged_verification(), None),
    "figures-differ": (verify_text, other_figures(), None),
    "unexpected": (build_text, unexpected_build(), None),
    "inspect-unexpected": (inspect_text, unexpected_inspection(), None),
    "inspect": (inspect_text, reports.inspection(), INSPECTION),
    "inspect-described": (inspect_text, described_inspection(), None),
    "export": (export_text, EXPORTED, EXPORT),
    "export-lacking": (export_text, LACKING, LACKED),
    "unpack": (unpack_text, reports.unpack_report(), UNPACKED),
}


@pytest.mark.parametrize("name", [name for name, row in EXAMPLES.items() if row[2] is not None])
def test_a_report_reads_as_written_here(name: str) -> None:
    """The whole text, literally: the verdict first, then the evidence."""
    text, report, expected = EXAMPLES[name]
    assert text(report) == expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_text_fits_the_page_and_never_says_correct(name: str) -> None:
    """A hundred columns, no trailing space, and a result is reproduced, never correct."""
    text, report, _ = EXAMPLES[name]
    shown = text(report)
    assert shown.endswith("\n")
    for line in shown.split("\n"):
        assert cells(line) <= WIDTH
        assert line == line.rstrip()
    assert "correct" not in shown.lower()


HOSTILE = "\x1b[2J\r\nidentical  lab.zip\u202e" + "x" * 500
FIXED = {
    "schema_name", "verdict", "claim", "kind", "role", "confinement", "expected", "date",
    "package_digest", "evidence_digest", "id", "to",
}  # fmt: skip


def poison(value: Any) -> Any:
    """The same report with every text that a package could choose replaced by a hostile one."""
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, tuple):
        return tuple(poison(item) for item in value)
    if isinstance(value, dict):
        return {HOSTILE if isinstance(k, str) else k: poison(v) for k, v in value.items()}
    if isinstance(value, BaseModel):
        fields = {
            name: poison(getattr(value, name))
            for name in type(value).model_fields
            if name not in FIXED
        }
        return value.model_copy(update=fields)
    return value


@pytest.mark.hostile
@pytest.mark.parametrize("name", EXAMPLES)
def test_hostile_text_changes_no_line(name: str) -> None:
    """No control character gets through, no line is forged, and no line leaves the page."""
    text, report, _ = EXAMPLES[name]
    shown = text(poison(report))
    verdict = text(report).split()[0]
    assert shown.startswith(f"{verdict}  \\x1b[2J\\x0d\\x0aidentical")
    for line in shown.removesuffix("\n").split("\n")[1:]:
        assert line.isprintable()
        assert not line.startswith("identical")
        assert cells(line) <= WIDTH


def test_a_failed_expectation_is_named() -> None:
    """The text says how many failed, which, and that the package was written all the same."""
    failed = reports.sampler_reset(held=False)
    silent = reports.reversed_reduction(expected=None, held=None)
    results = reports.results(failed, silent)
    shown = build_text(reports.build_report(expectations_held=False, results=results))
    command = "repropack diff replay-lab-1.0.0.zip replay-lab-1.0.0.zip::sampler-reset --zoom"
    assert (
        "\n1 of 1 expectation failed: sampler-reset. The package was written all the same.\n"
        f"Where it began: {command}\n"
    ) in shown
    assert shown.count("  NO\n") == 1
    held = reports.results(reports.sampler_reset(), silent)
    shown = build_text(reports.build_report(results=held))
    assert "\n1 of 1 expectation held; 1 comparison without one\n" in shown


FORGOTTEN = (
    "resume: step 11 · w: its inputs (gradient, state:w) are equal, its output differs: it depends "
    "on\n  something that state_dict does not hold, or it varies by itself.\n"
)


def test_what_was_observed_instead_stands_below_the_table() -> None:
    """Expected and observed for each that failed, and what a forgetful resume shows."""
    shown = build_text(unexpected_build())
    assert (
        "\n\nresume: expected to be identical; observed step 11 · w.\n"
        f"{FORGOTTEN}"
        "sampler-reset: expected to part at step 41, at batch; observed step 41 · batch.\n\n"
        "resume did not replay, and ended with another height (7.73, the reference 8.14): "
    ) in shown


def test_an_inspection_tells_what_a_resume_shows() -> None:
    """The finding lies in the package and is told whenever it is read."""
    assert (
        "\nresume: resumed in a fresh process from the checkpoint after step 10\n"
        "  FAILED: expected to be identical; observed step 11 · w.\n"
        f"  {FORGOTTEN}"
    ) in inspect_text(unexpected_inspection())


def test_metrics_that_are_no_numbers_are_told() -> None:
    """By what was built and by what is inspected, in the order of their steps."""
    results = reports.results(first_nan={"loss": 57, "accuracy": 58})
    said = (
        "The metric loss is not a number (NaN) first at step 57.\n"
        "The metric accuracy is not a number (NaN) first at step 58.\n"
    )
    assert said in build_text(reports.build_report(results=results))
    assert said in inspect_text(reports.inspection(results=results))
    assert "NaN" not in build_text(reports.build_report())


LOST = "w: no step changed it; the script may have put "
LOST_TOO = "v, w: no step changed them; the script may have put "


def plan_of(*, loop: bool) -> Plan:
    """The lab's plan, or that of a script that owns its loop."""
    plan = reports.plan()
    script = {"entry_point": None, "command": ("python", "train.py"), "loop": True}
    experiment = plan.experiment.model_copy(update=script if loop else {})
    return plan.model_copy(update={"experiment": experiment})


@pytest.mark.parametrize(
    ("names", "loop", "said"),
    [
        (("w",), False, "w: no step changed it\n"),
        (("v", "w"), False, "v, w: no step changed them\n"),
        (("w",), True, f"{LOST}another object in its place: change\n{'':18}it in place\n"),
        (
            ("v", "w"),
            True,
            f"{LOST_TOO}other objects in their place:\n{'':18}change them in place\n",
        ),
    ],
)
def test_components_that_no_step_changed_are_told(
    names: tuple[str, ...], loop: bool, said: str
) -> None:
    """By what was built and by what is inspected; of a script, why that may be."""
    results, line = reports.results(unchanged=names), f"\nunchanged         {said}"
    assert line in build_text(reports.build_report(results=results, loop=loop))
    assert line in inspect_text(reports.inspection(results=results, plan=plan_of(loop=loop)))
    assert "unchanged" not in build_text(reports.build_report(loop=loop))


@pytest.mark.parametrize(
    ("paths", "line"),
    [
        (
            ("extra.txt",),
            "not compared      extra.txt: written, and no pattern of outputs matches it\n",
        ),
        (
            ("a", "b\x1b"),
            "not compared      a, b\\x1b: written, and no pattern of outputs matches them\n",
        ),
    ],
)
def test_a_build_tells_what_is_not_compared(paths: tuple[str, ...], line: str) -> None:
    """Files that a command wrote besides its outputs, below the source."""
    shown = build_text(reports.build_report(not_compared=paths))
    assert shown.partition("(named in the project file)\n")[2].startswith(line)
    assert "not compared" not in build_text(reports.build_report())


def test_many_files_that_are_not_compared_are_counted() -> None:
    """Twenty are named."""
    shown = build_text(reports.build_report(not_compared=tuple(f"f{n:02}" for n in range(23))))
    assert "f19 and 3 more: written, and" in " ".join(shown.split())
    assert "f20" not in shown


def test_a_build_without_comparisons_says_so() -> None:
    """No comparison, no table, nothing claimed."""
    results = reports.results().model_copy(update={"comparisons": ()})
    shown = build_text(reports.build_report(results=results))
    assert "0 comparisons, none with an expectation" in shown
    assert "first divergence" not in shown


def test_a_fast_check_says_what_it_did_not_look_at() -> None:
    """Digests alone are less than a check, and the text does not hide it."""
    shown = " ".join(check_text(reports.check_report(fast=True)).split())
    assert "63 entries compared with their digests, and nothing else" in shown
    assert "were not looked at (--fast)" in shown
    assert "Intact means that its entries agree with its manifest. Whether" in shown


def test_an_unreadable_package_has_no_digests() -> None:
    """Where the manifest could not be read, nothing is made up."""
    nothing = {"package": None, "package_digest": None, "evidence_digest": None}
    shown = check_text(reports.damaged_check(**nothing))
    assert "package digest    not known: the manifest was not read\n" in shown
    assert "Identical printed" not in shown


def test_a_package_beyond_a_limit_is_not_called_damaged_in_words() -> None:
    """It may be whole: what it is was not looked at, and the way to look is named."""
    fault = Fault(
        code="package.limit-exceeded",
        rule="limit.max_entries",
        entry="lab.zip",
        problem="limit max_entries exceeded",
        expected="at most 3",
        observed="4",
    )
    shown = " ".join(check_text(reports.damaged_check(faults=(fault,))).split())
    assert "The package exceeds a limit on reading, so nothing is said of it otherwise" in shown
    assert "with --limit NAME=VALUE." in shown
    assert "damaged or unsafe" not in shown


def test_many_faults_are_counted() -> None:
    """A long list of faults ends in how many more there are."""
    faults = tuple(
        Fault(code="c", rule="r", entry=f"e{k}", problem="p", expected="x", observed="y")
        for k in range(25)
    )
    lines = check_text(reports.damaged_check(faults=faults)).splitlines()
    assert lines[1].endswith("25 faults.")
    assert "- e19: p [r]" in lines
    assert "- and 5 more" in lines
    assert "- e20: p [r]" not in lines


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("f1.zip: entry 'figures/a.svg': checksum differs", "checksum differs"),
        ("entry 'figures/a.svg': checksum differs", "checksum differs"),
        ("entry 'figures/b.svg': checksum differs", "entry 'figures/b.svg': checksum differs"),
        ("stands beside entry 'figures/a.svg': no", "stands beside entry 'figures/a.svg': no"),
        ("entry 'figures/a.svg': ", "entry 'figures/a.svg': "),
    ],
)
def test_an_entry_is_named_once(problem: str, said: str) -> None:
    """What stands before a problem already is not said again in it."""
    faults = (
        Fault(
            code="c", rule="r", entry="figures/a.svg", problem=problem, expected="x", observed="y"
        ),
    )
    lines = check_text(reports.damaged_check(faults=faults)).splitlines()
    assert lines[2] == f"- figures/a.svg: {' '.join(said.split())} [r]"


def test_of_a_damaged_package_only_its_manifest_is_told() -> None:
    """`check` and `verify` call its names and digests what the manifest says; unread, nothing."""
    for shown in (check_text(reports.damaged_check()), verify_text(damaged_verification())):
        assert f"\n\n{SAID}" in shown
    unread = {"package": None, "package_digest": None, "evidence_digest": None}
    assert "Its manifest says" not in check_text(reports.damaged_check(**unread))
    assert "Its manifest says" not in check_text(reports.check_report())


def test_another_package_that_is_damaged_too_is_damaged() -> None:
    """The milder sentence is for the one fault alone."""
    faults = (*reports.another_package().faults, *reports.damaged_check().faults)
    shown = check_text(reports.damaged_check(faults=faults))
    assert "The package is damaged or unsafe, and nothing of it was executed: 3 faults." in shown
    assert "another package than" not in shown


def test_figures_are_told_beside_the_runs() -> None:
    """Equal figures in a line; others by name, while the runs stay reproduced."""
    equal = RenderedVerification(paths=Split(equal=("figures/a.svg", "figures/b.svg")))
    assert (
        "figures:          all 2 drawn again from these runs: equal to the package's byte for "
        "byte\n"
    ) in verify_text(reports.verification(figures=equal))
    shown = " ".join(verify_text(other_figures()).split())
    assert "every byte that was compared is equal to the package's, but not its figures." in shown
    assert (
        "2 drawn again from these runs, 1 not equal to the package's (figures/printed.svg): it "
        "does not show what the runs gave"
    ) in shown
    assert "scope: The runs were reproduced here" in shown
    shown = " ".join(verify_text(other_figures("figures/b.svg", "figures/c.svg")).split())
    assert "(figures/b.svg, figures/c.svg): they do not show what the runs gave" in shown
    for nothing in (RenderedVerification(), RenderedVerification(reason="another matplotlib")):
        assert "figures:" not in verify_text(reports.verification(figures=nothing))


def test_differing_constants_stand_below_the_divergence() -> None:
    """A resumed run over other data: named before any pattern, and no rounding is suspected."""
    run = reports.differing_run(
        claim="exact-resume",
        first_step=41,
        divergence=reports.at_gradient(step=41, last_equal_step=40),
        arrays=(),
        constants=Split(differing=("x", "targets")),
    )
    shown = verify_text(differing_verification(runs=(run,), environment=None))
    assert "output differs\nconstants differ: x, targets\n" in shown
    assert (
        "\nconsistent with:  another beginning: other constants, first state or batch (x, targets)"
        in shown
    )
    assert "rounding" not in shown


def test_the_environment_is_named_first_only_where_something_differs() -> None:
    """Equal bytes in another environment are the stronger finding; the difference comes last."""
    same = reports.verification(environment=reports.account())
    shown = verify_text(same)
    assert shown.index("run  ") < shown.index("environment: differs")
    shown = verify_text(differing_verification())
    assert shown.index("environment: differs") < shown.index("package digest")


def test_many_environment_differences_are_counted() -> None:
    """Twelve rows, then their number; a side that has nothing there shows a dash."""
    row = reports.other_kernel().model_copy(update={"observed": None})
    shown = verify_text(differing_verification(environment=reports.account((row,) * 15)))
    assert "in 15 points\n" in shown
    assert shown.count("  Haswell   -     may\n") == 12
    assert "\nand 3 more\n" in shown


def test_a_narrowed_verification_says_so() -> None:
    """The verdict of some runs is not the verdict of all."""
    shown = verify_text(reports.verification(runs_requested=("reference",)))
    assert "2 runs executed again here, only those asked for: every byte" in shown


def test_arrays_elsewhere_than_the_divergence_stand_by_themselves() -> None:
    """An array of another stage or step is named with its step, its first elements below it."""
    elsewhere = reports.gradient_array(array="checkpoint.weights", step=20, largest_absolute=0.5)
    run = reports.differing_run(arrays=(elsewhere,), problems=("constant 'x' differs",))
    shown = verify_text(differing_verification(runs=(run,)))
    assert "output differs\n" in shown
    assert (
        "array:            checkpoint.weights at step 20: "
        "19 of 24 elements, at most 5 ulp, at most 0.5\n"
        "                  weights[0]   expected -0.55355924 (0xbf0db60f)"
    ) in shown
    assert "also:             constant 'x' differs\n" in shown


def test_arrays_of_many_runs_stay_short() -> None:
    """The four earliest arrays of a run, elements of the first run alone; the rest is counted."""
    steps = (25, 24, 23, 22, 21, 20)
    arrays = tuple(reports.gradient_array(array="checkpoint.w", step=step) for step in steps)
    first = reports.differing_run(arrays=arrays)
    second = reports.differing_run("restart", arrays=arrays[:5])
    shown = verify_text(differing_verification(runs=(first, second)))
    above, below = shown.split("run restart (")[-2:]
    assert (above.count("array:  "), below.count("array:  ")) == (4, 4)
    assert "\n                  and 2 more arrays; --format json has all\n" in above
    assert "\n                  and 1 more array; --format json has all\n" in below
    assert [line.split(":")[1].strip() for line in above.splitlines() if line[:6] == "array:"] == [
        f"checkpoint.w at step {step}" for step in (20, 21, 22, 23)
    ]
    assert (above.count("  w[0]   expected"), below.count("  w[0]   expected")) == (4, 0)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"observed_type": "<f8 (24,)"}, "type or shape: expected <f4 (24,), observed <f8 (24,)"),
        (
            {"observed_type": "<f8 (24,)", "kind": "type", "converted": "rounded"},
            "observed <f8 (24,); the values are equal once the wider are rounded to the narrower",
        ),
        (
            {"largest_ulp": None, "kind": "sign-of-zero"},
            "19 of 24 elements, in the sign of zero alone",
        ),
        (
            {"largest_ulp": None, "kind": "nan-payload"},
            "19 of 24 elements, in the bits of NaNs alone",
        ),
        (
            {"largest_ulp": None, "kind": "bits-alone"},
            "19 of 24 elements, in the sign of zero and the bits of NaNs alone",
        ),
        (
            {"kind": "rows", "rows": (3, 9)},
            "19 of 24 elements, in rows 3 to 9 alone, at most 5 ulp",
        ),
        ({"kind": "rows", "rows": (3, 3)}, "19 of 24 elements, in row 3 alone, at most 5 ulp"),
        ({"kind": "everything", "elements_differing": 24}, "all 24 elements, at most 5 ulp"),
        ({"elements": 1, "elements_differing": 1}, "1 of 1 element, at most 5 ulp"),
    ],
)
def test_how_an_array_differs(changes: dict[str, Any], text: str) -> None:
    """Type and shape, bits alone, or a distance."""
    run = reports.differing_run(arrays=(reports.gradient_array(first=(), **changes),))
    shown = " ".join(verify_text(differing_verification(runs=(run,))).split())
    assert "output differs: " in shown
    assert text in shown


def test_wide_elements_are_written_one_below_the_other() -> None:
    """Where both values do not fit beside each other, the observed one stands below."""
    array = reports.gradient_array()
    element = array.first[0].model_copy(
        update={"index": (), "expected_bits": "0x" + "a" * 30, "observed_bits": "0x" + "b" * 30}
    )
    run = reports.differing_run(arrays=(array.model_copy(update={"first": (element,)}),))
    shown = verify_text(differing_verification(runs=(run,)))
    indent = " " * 28
    assert f"{' ' * 18}gradient  expected -0.55355924 (0x{'a' * 30})\n" in shown
    assert f"\n{indent}observed -0.5535591 (0x{'b' * 30})\n" in shown


def test_runs_that_do_not_repeat_here_say_so() -> None:
    """Whether a second run here equals the first is evidence of its own."""
    run = reports.differing_run(repeats=False)
    shown = verify_text(differing_verification(runs=(run,)))
    assert "repeats here:     no, two runs here differ from each other too\n" in shown
    assert "varies between launches (a second run" not in shown


def test_a_difference_without_a_divergence_is_shown() -> None:
    """Final arrays or a chain may differ while no recorded value does."""
    run = reports.differing_run(
        divergence=None,
        arrays=(),
        problems=tuple(f"problem {k}" for k in range(12)),
        final_arrays=Split(),
    )
    shown = verify_text(differing_verification(runs=(run,)))
    assert "first divergence" not in shown
    assert "\nconsistent with:" not in shown
    assert shown.count("also:             problem") == 10
    assert "also:             2 more\n" in shown


def test_a_long_place_has_its_evidence_below() -> None:
    """Where the place takes the line, the evidence begins a new one."""
    divergence = reports.at_gradient(stage="s" * 60, last_equal_step=0, step=1)
    run = reports.differing_run(divergence=divergence, arrays=())
    lines = verify_text(differing_verification(runs=(run,))).splitlines()
    place = lines.index(f"first divergence: step 1 · {'s' * 60}")
    assert lines[place + 1] == f"{'':18}inputs equal (contributions), output differs"


def test_what_no_check_confirmed_is_what_the_manifest_says() -> None:
    """An answer that ended before the check says so above the digests; one after it does not."""
    said = "Its manifest says, and nothing here confirms:\nIdentical printed losses"
    assert said in verify_text(unanswered_verification(checked=False))
    assert "nothing here confirms" not in verify_text(unanswered_verification())
    unread = {"package": None, "package_digest": None, "evidence_digest": None, "checked": False}
    assert "nothing here confirms" not in verify_text(unanswered_verification(**unread))


def test_an_answer_that_ended_early_keeps_what_it_found() -> None:
    """Runs that were executed before the end are shown, and so is where they ran."""
    shown = verify_text(
        unanswered_verification(
            runs=(reports.verified_run(),),
            confinement=Confinement(level="none", reason="trusted"),
            problem=None,
        )
    )
    assert "The run ended without an answer.\n" in shown
    assert "confinement:      NOT CONFINED: by --trust the package's code ran" in shown


def test_a_level_is_shown_with_what_holds_and_what_does_not() -> None:
    """What was not found to hold is as plain as what was."""
    confinement = Confinement(
        level="landlock",
        guarantees=(
            Guarantee(name="network", status="held"),
            Guarantee(name="file-names", status="not-held"),
            Guarantee(name="home-files", status="not-checked"),
            Guarantee(name="process-end", status="held"),
        ),
    )
    shown = verify_text(reports.verification(confinement=confinement))
    assert shown.partition("\nconfinement:")[2].partition("\nscope:")[0] == (
        "      landlock, with a filter on system calls and limits\n"
        "held:             no network, no process left over\n"
        "not held:         other files' names hidden\n"
        "not checked:      home folder hidden"
    )


def test_inspection_without_comparisons_or_configuration() -> None:
    """What is not there is said in a word, and takes no section."""
    plan = reports.plan(
        experiment=ExperimentPlan(entry_point="a:b", seed=0, steps=3),
        record=RecordPlan(stages_every=5, state_every=10),
        comparisons=(),
    )
    authors = (reports.metadata().authors[1],) * 22
    shown = inspect_text(
        reports.inspection(plan=plan, package=reports.metadata(date=None, authors=authors))
    )
    assert "\nconfiguration     none\n" in shown
    assert "\ncheckpoints       start and end\n" in shown
    assert "\nrecorded          stages every 5 steps, the state every 10 steps\n" in shown
    assert "\nkept whole        no stage\n" in shown
    assert "; and 2 more\n" in shown
    assert "Expected" not in shown


def test_inspection_shows_failed_and_missing_findings() -> None:
    """A failed expectation is loud; a comparison without findings shows what it would be."""
    comparisons = (
        ComparisonPlan(name="sampler-reset", resume_at=40, reset=("sampler",)),
        ComparisonPlan(name="not-found", hash_seed=1),
    )
    results = reports.results(reports.sampler_reset(held=False))
    config = {f"value_{k:02}": {"$float": "nan"} for k in range(45)}
    experiment = ExperimentPlan(entry_point="a:b", seed=0, steps=3, config=config)
    shown = inspect_text(
        reports.inspection(
            plan=reports.plan(comparisons=comparisons, experiment=experiment), results=results
        )
    )
    assert "\n  FAILED: expected to part at step 41, at batch; observed step 41 · batch.\n" in shown
    assert "not-found: run again from the beginning in a fresh process, PYTHONHASHSEED=1\n" in shown
    assert "value_39 = nan, 5 more\n" in shown.replace("\n" + " " * 18, " ")


def test_metrics_that_one_comparison_lacks_show_a_dash() -> None:
    """Columns follow from all comparisons; what one does not have is not a zero."""
    other = reports.outcome(
        "other",
        stages=(),
        kept=(),
        printed=(PrintedAgreement(metric="error", compared=1, equal=0),),
    )
    results = reports.results(reports.sampler_reset(), other)
    blocks = build_text(reports.build_report(results=results)).split("\nother\n")[1]
    assert (
        "  weights differs at: -\n  loss prints equal at: -\n  error prints equal at: 0 of 1\n"
        in (blocks)
    )


def test_every_guarantee_has_words() -> None:
    """A guarantee that is added is shown in words, not by its id."""
    assert set(text_verify._GUARANTEES) == set(probing.GUARANTEES)


def test_a_continued_run_is_told_and_no_more_than_is_known() -> None:
    """Where nothing was computed twice, nothing came out the same."""
    continued = (ContinuedRun(run="reference", after_steps=(5, 10)),)
    shown = build_text(reports.build_report(continued=continued))
    assert "Run reference was interrupted and continued after step 5, 10; no step that" in shown
    assert " was computed twice came\nout otherwise.\n" in shown


@pytest.mark.parametrize(
    ("used", "words"),
    [
        (
            UsedEnvironment(
                kind="recreated",
                origin="packed-wheels",
                installer="uv",
                installer_confined=True,
                python="3.11.7",
                distributions=33,
            ),
            "recreated from packed wheels with uv: 33 distributions, Python 3.11.7",
        ),
        (
            UsedEnvironment(
                kind="recreated",
                origin="index",
                installer="pip",
                installer_confined=False,
                python="3.11.\x1b[2J",
                distributions=1,
            ),
            r"recreated from an index, by the lock, with pip: 1 distribution, Python 3.11.\x1b[2J",
        ),
    ],
)
def test_a_recreated_environment_is_told(used: UsedEnvironment, words: str) -> None:
    """From what, with what, and how much; of the present one there is nothing to say."""
    shown = verify_text(reports.verification(used_environment=used))
    assert f" environment: {words} confinement: " in " ".join(shown.split())
    present = reports.verification(used_environment=UsedEnvironment(kind="present"))
    assert verify_text(present) == verify_text(reports.verification())


def test_a_lock_is_told() -> None:
    """How much was locked, and whether the wheels are there."""
    alone = LockReport(distributions=1, wheels_packed=False)
    packed = LockReport(distributions=33, wheels_packed=True)
    assert "Locked was 1 distribution.\n" in build_text(reports.build_report(lock=alone))
    assert "Locked were 33 distributions, and their wheels packed.\n" in build_text(
        reports.build_report(lock=packed)
    )
    assert "Locked" not in build_text(reports.build_report())
