"""An audit in words, and its figure before it is drawn."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._present.audit_figure import audit_layout, figure_bytes, figure_format
from repropack._present.figure_layout import Span
from repropack._present.text_audit import audit_text, plan_line
from repropack.errors import UsageError
from repropack.models.audit import (
    AuditedRepeat,
    AuditedReset,
    AuditedResume,
    AuditReport,
    ChangedObject,
    FinalDistance,
    Holder,
)
from repropack.models.reports import Problem
from repropack.models.results import Divergence, FinalMetric, InputEquality, Split

PARTED = Divergence(
    kind="output",
    step=8,
    last_equal_step=7,
    stage="batch",
    inputs=(InputEquality(name="state:rng", equal=True),),
)


def audit(**members: Any) -> AuditReport:
    """A report of an exact audit, with other members where they are given."""
    given: dict[str, Any] = {
        "path": "study",
        "verdict": "identical",
        "experiment": "lab:Lab",
        "loop": False,
        "last_step": 12,
        "runs_made": 7,
        "repeat": AuditedRepeat(identical=True, last_step=12),
        "resumes": (AuditedResume(resume_at=7, identical=True, compared=5),),
    }
    return AuditReport(**{**given, **members})


def found() -> AuditReport:
    """One with everything in it."""
    return audit(
        verdict="differs",
        boundaries=(4, 8),
        resumes=(
            AuditedResume(
                resume_at=7,
                identical=False,
                divergence=PARTED,
                repeats=False,
                start=Split(differing=("sampler",)),
                differing_steps=((8, 9), (11, 12)),
                compared=5,
                holders=(
                    Holder(path="random", kind="generator", reason="not-in-state", changed_first=1),
                    Holder(
                        path="self.momentum",
                        kind="value",
                        reason="not-in-state",
                        changed_first=2,
                        in_run="0.5",
                        after_restore="0.0",
                        lost_without_harm=True,
                    ),
                    Holder(
                        path="self.view",
                        kind="array",
                        reason="no-longer-shared",
                        changed_first=None,
                        shared_with="self.w",
                    ),
                    Holder(
                        path="self.w",
                        kind="array",
                        reason="narrowed",
                        changed_first=1,
                        in_state=("w",),
                    ),
                ),
            ),
            AuditedResume(
                resume_at=9,
                identical=False,
                problem=Problem(code="experiment.step", message="it raised\x1b[31m"),
            ),
        ),
        resets=(
            AuditedReset(
                component="adam",
                effect="matters",
                resume_at=7,
                run="reset-1",
                first_step=10,
                stages=("weights",),
                differing_steps=((10, 12),),
                compared=5,
                final=(
                    FinalDistance(component="adam", values=("adam.t",), largest_absolute=7.0),
                    FinalDistance(component="w", values=("w",), largest_absolute=0.01234),
                ),
                final_metrics=(FinalMetric(metric="loss", reference=2.0, run=1.0),),
            ),
            AuditedReset(component="ema", effect="itself", resume_at=7, run="reset-2", compared=5),
            AuditedReset(component="fixed", effect="unchanged"),
            AuditedReset(component="late", effect="not-run", resume_at=9),
        ),
        changed=(
            ChangedObject(
                path="self.cache", kind="names", changed_first=1, changes=12, lost_at=(7, 9)
            ),
        ),
        opaque=("self.items (enumerate)",),
        not_looked_at=("self.big: larger than is looked at (numpy.ndarray)",),
    )


def test_an_exact_audit_is_said_in_few_lines():
    """The verdict, what it stands on, and what it does not show."""
    assert audit_text(audit()) == (
        "identical  study: resumed once in fresh processes, each went on exactly\n"
        "\n"
        "repeats           yes: a second run in a fresh process equals the first, steps 1..12\n"
        "loads back        yes: after one step, the first state comes back byte for byte\n"
        "resume after 7    exact to the end, steps 8..12\n"
        "\n"
        "Made 7 runs. An exact resume shows that nothing was missing after these steps, in this "
        "environment.\n"
    )


def test_everything_that_was_found_is_said():
    """Evidence before hypothesis, in one page of 100 columns, without any raw escape."""
    text = audit_text(found())
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text
    for line in (
        "differs  study: 2 of 2 resumes of the whole state did not go on exactly",
        "resume after 7    diverges at step 8 · batch",
        "                  inputs equal (state:rng), output differs",
        "                  right after the restore these are not what was stored: sampler",
        "                  a second resume gives another result: it varies from run to run",
        "resume after 9    raised: it raised\\x1b[31m",
        "- self.view: one object with self.w in the run, two after the restore",
        "- self.w: the state holds it in a type that loses some of it, as w",
        "part   matters      step  through                 apart at the end  metrics       after",
        "adam   yes            10  weights                 w by 0.0123       loss lower        7",
        "ema    only itself                                                                    7",
        "fixed  not told           equals its first value",
        "late   not run                                                                        9",
        "Never mattered to anything else in these runs: ema.",
        "A metric that ends lower or higher proves nothing about a state.",
        "- self.cache: changed in 12 looks, first in step 1; does not come back after steps 7, 9",
    ):
        assert line in text.splitlines(), text
    assert "1 part of the state left out: --max-runs." in text
    assert "- the global generator of random: changed first in step 1, is in no comp" in text
    assert "another resume lost it too, and went on exactly" in text


def test_a_run_that_does_not_repeat_and_a_state_that_does_not_load_are_said():
    """Each in the first line where it is the first thing wrong."""
    text = audit_text(
        audit(
            verdict="differs",
            repeat=AuditedRepeat(identical=False, last_step=12, divergence=PARTED),
        )
    )
    assert "repeats           no: step 8 · batch" in text
    assert "no resume can be judged before it repeats" in text.replace("\n         ", " ")
    problem = Problem(code="experiment.state", message="'t': differs", hint="let it")
    text = audit_text(audit(verdict="differs", round_trip=problem))
    assert "loads back        no: 't': differs\n                  cure: let it" in text


def test_names_that_each_step_sets_share_a_line():
    """They are seldom it; alone, they are told like others. Of runs that vary nothing is told."""

    def holder(path: str, **changes: Any) -> Holder:
        return Holder(
            path=path, kind="value", reason="not-in-state", changed_first=1, in_run="2", **changes
        )

    def told(*holders: Holder, **changes: Any) -> str:
        resume = AuditedResume(
            resume_at=7, identical=False, divergence=PARTED, repeats=False, holders=holders
        )
        return " ".join(audit_text(audit(verdict="differs", resumes=(resume,), **changes)).split())

    each = [holder(f"job.{name}", set_by_each_step=True) for name in ("g", "step")]
    text = told(holder("job.rate"), *each)
    assert text.count("in the run, not there after the restore") == 1
    assert " - least likely, names that each step sets: job.g, job.step Made 7 runs." in text
    alone = told(*each)
    assert alone.count("; a name that each step sets") == 2
    assert "least likely" not in alone
    varying = AuditedRepeat(identical=False, divergence=PARTED, last_step=12)
    assert "Objects that may hold" not in told(holder("job.rate"), repeat=varying)


def test_the_number_of_runs_is_told():
    """Before they are made."""
    told = (
        "audit: 9 runs of up to 1 step, each in its own process; one more where a resume diverges"
    )
    assert plan_line(9, 1) == told


def test_the_figure_shows_where_each_run_differs():
    """Cells from the report's ranges; what was not put back is said below."""
    layout = audit_layout(found())
    assert layout.resumes[0].heading == ("whole state, resumed after step 7",)
    assert layout.resumes[0].strip.spans == (
        Span(1, 7, "shared"),
        Span(8, 9, "differs"),
        Span(10, 10, "equal"),
        Span(11, 12, "differs"),
    )
    assert [row.heading for row in layout.resets] == [
        ("adam: matters from step 10",),
        ("ema: nothing else differs",),
    ]
    assert (layout.resets[0].strip.equal, layout.resets[0].strip.compared) == (2, 5)
    assert layout.untold == (
        "Nothing can be told, the value never differs from the first: fixed.",
        "Not put back, to keep to the bound on runs: late.",
    )


def test_the_figure_is_the_same_bytes_each_time():
    """As SVG and as PNG; any other ending is refused."""
    report = found()
    assert figure_bytes(report, "a.svg") == figure_bytes(report, "b.svg")
    assert figure_bytes(report, "a.PNG").startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="observed none"):
        figure_format("audit")
