"""A divergence in words: its place, and the evidence."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._present.divergence import divergence_evidence, divergence_place
from repropack.models.results import Divergence, InputEquality, Split
from tests.support.reports import COMPONENTS, at_batch, at_gradient


def divergence(kind: Any, step: int = 5, **changes: Any) -> Divergence:
    return Divergence(kind=kind, step=step, **({"last_equal_step": step - 1} | changes))


AFTER_STAGES = divergence(
    "state", state_before=Split(equal=COMPONENTS), state_after=Split(differing=("clock",))
)
METRIC = divergence("metric", metrics=Split(differing=("loss",)))
UNRECORDED = divergence(
    "undetermined",
    stage="gradient",
    inputs=(
        InputEquality(name="batch", equal=True),
        InputEquality(name="state:*", equal=None),
    ),
)


@pytest.mark.parametrize(
    ("found", "place", "evidence"),
    [
        (at_gradient(), "step 1 · gradient", "inputs equal (contributions), output differs"),
        (at_gradient(inputs=()), "step 1 · gradient", "output differs"),
        (at_batch(), "step 41 · batch", "state differs: sampler"),
        (
            at_batch(
                inputs=(
                    InputEquality(name="gradient", equal=True),
                    InputEquality(name="state:adam", equal=False),
                )
            ),
            "step 41 · batch",
            "state differs: adam; equal: gradient",
        ),
        (
            AFTER_STAGES,
            "step 5 · state clock",
            "every recorded stage is equal, state differs after the step: clock",
        ),
        (
            METRIC,
            "step 5 · metric loss",
            "every recorded stage and component is equal, loss differs",
        ),
        (
            UNRECORDED,
            "step 5 · gradient",
            "inputs equal (batch), inputs not recorded (state:*), output differs",
        ),
        (
            divergence("structure", stage="x", missing=("a",), unexpected=("x",)),
            "step 5 · x",
            "other stages (missing: a; unexpected: x)",
        ),
        (
            divergence("structure", stage="x"),
            "step 5 · x",
            "other stages (in another order, or made of other inputs)",
        ),
        (
            divergence("length", last_equal_step=2, missing=("step 5",)),
            "step 5 · end of the run",
            "the run ended before step 5, the one it is held against did not",
        ),
        (
            divergence("length", unexpected=("step 5",)),
            "step 5 · end of the run",
            "the run went on to step 5, the one it is held against had ended",
        ),
        (
            divergence("length"),
            "step 5 · end of the run",
            "every recorded value is equal, whether and why the run ended there differs",
        ),
        (
            divergence("metric", metrics=Split(differing=("loss", "height"))),
            "step 5 · metric loss, height",
            "every recorded stage and component is equal, loss, height differ",
        ),
        (
            divergence("metric", step=45, last_equal_step=40),
            "steps 41..45 · metric",
            "every recorded stage and component is equal, a metric differs",
        ),
    ],
)
def test_place_and_evidence(found: Divergence, place: str, evidence: str) -> None:
    """Each kind of divergence says where it is and what was observed there."""
    assert divergence_place(found) == place
    assert divergence_evidence(found) == evidence
