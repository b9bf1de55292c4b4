"""Two runs held against each other, as small as a test of the text allows."""

from __future__ import annotations

from typing import Any

from repropack.models.reports import Fault
from repropack.models.results import Divergence, InputEquality, PrintedAgreement, Split, StepCount
from repropack.models.run_difference import RunCounts, RunDifference, RunSide, Stretch
from tests.support import reports


def side(path: str = "a.jsonl", **changes: Any) -> RunSide:
    fields: dict[str, Any] = {
        "path": path,
        "kind": "log",
        "run": "reference",
        "first_step": 1,
        "last_step": 100,
        "chain": reports.CHAIN,
    }
    return RunSide(**(fields | changes))


LAB = side(
    "lab.zip", kind="run", run="sampler-reset", first_step=41, package_digest=reports.PACKAGE_DIGEST
)
AT_GRADIENT = Divergence(
    kind="output",
    step=41,
    last_equal_step=40,
    stage="gradient",
    inputs=(InputEquality(name="batch", equal=True),),
    stages=Split(equal=("batch",), differing=("gradient", "weights")),
    state_before=Split(equal=("adam", "weights")),
    state_after=Split(equal=("adam",), differing=("weights",)),
)
COUNTS = RunCounts(
    compared=60,
    differing=7,
    unrecorded=3,
    stages=(
        StepCount(name="batch", compared=57, differing=0),
        StepCount(name="gradient", compared=57, differing=7, first_step=41),
        StepCount(name="weights", compared=57, differing=2, first_step=41),
    ),
    components=(StepCount(name="adam", compared=60, differing=1, first_step=44),),
    metrics=(StepCount(name="loss", compared=60, differing=0),),
    printed=(PrintedAgreement(metric="loss", compared=60, equal=60),),
    meets_again=Stretch(first_step=60, last_step=100),
    equal_between=Stretch(first_step=50, last_step=51),
)


def difference(**changes: Any) -> RunDifference:
    fields: dict[str, Any] = {
        "verdict": "differs",
        "left": side(),
        "right": LAB,
        "first_step": 41,
        "last_step": 100,
        "configurations_equal": True,
        "start": Split(equal=("adam", "weights")),
        "recorded_alike": True,
        "chains_equal": False,
        "divergence": AT_GRADIENT,
        "counts": COUNTS,
    }
    return RunDifference(**(fields | changes))


CUT = Fault(
    code="package.format", rule="log.cut", entry="b.jsonl", problem="line 7: a cut line",
    expected="", observed="",
)  # fmt: skip


def damaged() -> RunDifference:
    """A right side that cannot be trusted."""
    right = RunSide(path="b.jsonl", kind="log", faults=(CUT,))
    return RunDifference(verdict="damaged", left=side(), right=right)


def identical() -> RunDifference:
    """Two logs of one history."""
    return difference(
        verdict="identical",
        right=side("b.jsonl", finish="converged"),
        first_step=1,
        chains_equal=True,
        divergence=None,
        counts=None,
    )
