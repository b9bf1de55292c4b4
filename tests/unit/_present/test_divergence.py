"""A divergence in words: its place, the evidence, and hypotheses that the evidence allows."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._present.divergence import (
    differing_constants,
    divergence_evidence,
    divergence_place,
    hypotheses,
)
from repropack.models.results import Divergence, InputEquality, Split
from tests.support.reports import COMPONENTS, at_batch, at_gradient, differing_run


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
            "every recorded value is equal, the reason for the end differs",
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


LATE = at_gradient(step=41, last_equal_step=40)
OTHER_START = at_batch(step=1, last_equal_step=0)
OTHER_FEATURES = "constant 'features' differs: expected a, observed b"
OTHER_CONFIGURATION = "configuration differs: expected a, observed b"


@pytest.mark.parametrize(
    ("run", "allowed"),
    [
        ({}, ("another order or rounding of this operation",)),
        (
            {"divergence": LATE},
            (
                (
                    "an operation whose result varies between launches; repeat that step alone to "
                    "confirm"
                ),
            ),
        ),
        (
            {"divergence": at_batch(), "first_step": 41},
            ("an incomplete or reset checkpoint: component sampler",),
        ),
        (
            {"divergence": LATE, "first_step": 41, "claim": "exact-resume"},
            (
                (
                    "something that this operation depends on and state_dict does not hold, or "
                    "another order or rounding of it"
                ),
            ),
        ),
        ({"divergence": OTHER_START}, ("other code or data",)),
        (
            {"divergence": OTHER_START, "repeats": None},
            ("other code or data, or something random that is not pinned",),
        ),
        ({"problems": (OTHER_FEATURES,)}, ("other code or data",)),
        (
            {"problems": (OTHER_FEATURES,), "repeats": False},
            ("other code or data, or something random that is not pinned",),
        ),
        ({"problems": (OTHER_FEATURES,), "divergence": None}, ("other code or data",)),
        (
            {"divergence": AFTER_STAGES},
            ("something that no stage records changes the state: component clock",),
        ),
        (
            {
                "divergence": divergence(
                    "state",
                    step=41,
                    state_before=Split(differing=("scheduler", "loader")),
                    state_after=Split(differing=("scheduler", "loader")),
                ),
                "first_step": 41,
            },
            ("an incomplete or reset checkpoint: components scheduler, loader",),
        ),
        (
            {"divergence": METRIC},
            ("a metric made of something that neither a stage nor the state records",),
        ),
        (
            {"divergence": divergence("structure", stage="x")},
            ("another version of the code, or a branch that depends on what is not recorded",),
        ),
        (
            {"divergence": divergence("length")},
            ("an end that depends on something that is not recorded, or a run cut short",),
        ),
        (
            {"divergence": UNRECORDED},
            ("another operation or another state: record every input to tell them apart",),
        ),
        (
            {"problems": (OTHER_CONFIGURATION, OTHER_FEATURES)},
            ("the other configuration (above)", "other code or data"),
        ),
        ({"divergence": None}, ()),
    ],
)
def test_what_the_evidence_allows(run: dict[str, Any], allowed: tuple[str, ...]) -> None:
    """The hypothesis follows from the kind of divergence and where in the run it lies."""
    found, _ = hypotheses(differing_run(**run), environment_differs=False)
    assert found == allowed


@pytest.mark.parametrize("claim", ["independent-replay", "exact-resume", "comparison"])
@pytest.mark.parametrize("first_step", [1, 41])
@pytest.mark.parametrize("problem", [OTHER_FEATURES, OTHER_CONFIGURATION])
@pytest.mark.parametrize("found", [LATE, at_gradient(), UNRECORDED, METRIC])
def test_no_operation_is_blamed_where_the_run_was_made_of_something_else(
    found: Divergence, problem: str, first_step: int, claim: Any
) -> None:
    """Fresh or resumed: with another constant or configuration the cause lies before any step."""
    run = differing_run(divergence=found, problems=(problem,), first_step=first_step, claim=claim)
    allowed, _ = hypotheses(run, environment_differs=True)
    assert allowed[0] == "the other environment (above)"
    assert allowed[1:] in {("other code or data",), ("the other configuration (above)",)}


def test_a_loop_has_an_attached_state_and_no_state_dict() -> None:
    """The hypothesis speaks of what its author wrote."""
    run = differing_run(divergence=LATE, first_step=41, claim="exact-resume")
    found, _ = hypotheses(run, environment_differs=False, loop=True)
    said = (
        "something that this operation depends on and the attached state does not hold, or "
        "another order or rounding of it"
    )
    assert found == (said,)


def test_differing_constants_are_named() -> None:
    """Their names alone, once each, out of everything that was found."""
    run = differing_run(
        problems=(OTHER_CONFIGURATION, OTHER_FEATURES, "constant 'targets' differs", OTHER_FEATURES)
    )
    assert differing_constants(run) == ("features", "targets")
    assert differing_constants(differing_run()) == ()


def test_another_environment_is_the_first_hypothesis() -> None:
    """Before an operation is blamed, the environment is."""
    allowed, _ = hypotheses(differing_run(), environment_differs=True)
    assert allowed[0] == "the other environment (above)"


@pytest.mark.parametrize(
    ("run", "excluded"),
    [
        (
            {"repeats": None},
            (
                "other values of batch, contributions (equal)",
                "another starting state (equal)",
            ),
        ),
        (
            {"divergence": LATE},
            (
                "other values of batch, contributions (equal)",
                "another state before the step (equal)",
                "a result that varies between launches (a second run here equals the first)",
            ),
        ),
        (
            {"divergence": at_batch(), "first_step": 41, "repeats": None},
            ("another computation of batch (what it is made of differs already)",),
        ),
        ({"divergence": divergence("length"), "repeats": False}, ()),
        ({"divergence": None}, ()),
    ],
)
def test_what_the_evidence_excludes(run: dict[str, Any], excluded: tuple[str, ...]) -> None:
    """Only what was recorded and is equal is excluded."""
    _, found = hypotheses(differing_run(**run), environment_differs=False)
    assert found == excluded
