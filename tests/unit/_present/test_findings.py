"""What comparisons found, as sentences that follow from the numbers alone."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._present.findings import (
    config_value,
    contrasts,
    expectation,
    failure,
    failures,
    forgotten_state,
    intervention,
    measure_sentences,
    outcome_sentence,
    recorded,
)
from repropack.models.plan import ComparisonPlan, ExpectedDivergence, RecordPlan
from repropack.models.results import FinalMetric, PrintedAgreement, Split, StepCount
from tests.support import reports


def test_equal_prints_over_different_weights_are_the_contrast_that_matters() -> None:
    """Every printed value equal, every step's weights different: said in one sentence."""
    assert list(contrasts(reports.reversed_reduction())) == [
        (
            "reversed-reduction printed the same loss as the reference at 100 of 100 steps; "
            "its stage weights differs at 100 of 100 steps."
        )
    ]


def test_a_lower_loss_proves_nothing() -> None:
    """A run that did not replay and has the better number is named, in full digits."""
    assert list(contrasts(reports.sampler_reset())) == [
        (
            "sampler-reset did not replay, and ended with a lower loss (0.02076356404369701) than "
            "the reference (0.0214672945992594): a lower loss proves nothing about replay."
        )
    ]


@pytest.mark.parametrize(
    ("metric", "reference", "run", "said"),
    [
        ("loss", 0.2, 0.3, None),
        ("loss", 0.2, 0.2, None),
        ("val_accuracy", 0.8, 0.9, "a higher val_accuracy"),
        ("val_accuracy", 0.8, 0.7, None),
        ("loss", 0.2, {"$float": "nan"}, None),
        ("accuracy_error", 0.2, 0.1, "a lower accuracy_error"),
        ("acceleration", 8.14, 7.73, "another acceleration"),
        ("height", 7.73, 8.14, "another height"),
        ("height", 7.73, 7.73, None),
    ],
)
def test_only_the_better_looking_value_is_a_contrast(
    metric: str, reference: Any, run: Any, said: str | None
) -> None:
    """A worse value deceives nobody; where more is better, more is what deceives."""
    final = (FinalMetric(metric=metric, reference=reference, run=run),)
    sentences = list(contrasts(reports.sampler_reset(final_metrics=final)))
    assert len(sentences) == (said is not None)
    assert all(f"ended with {said} (" in sentence for sentence in sentences)


def test_a_metric_of_unknown_direction_is_neither_better_nor_worse() -> None:
    """Both values, and that neither direction would prove anything."""
    assert list(contrasts(reports.forgetful_resume())) == [
        (
            "resume did not replay, and ended with another height (7.73, the reference 8.14): "
            "whether that looks better or worse proves nothing about replay."
        )
    ]


def test_another_configuration_was_never_meant_to_replay() -> None:
    """A better last value of a run that was configured otherwise deceives nobody about replay."""
    assert list(contrasts(reports.sampler_reset(config_equal=False))) == []
    (printed,) = contrasts(reports.reversed_reduction(config_equal=False))
    assert "did not replay" not in printed


FORGOTTEN = (
    "resume: step 11 · w: its inputs (gradient, state:w) are equal, its output differs: it "
    "depends on something that state_dict does not hold, or it varies by itself."
)


def test_forgotten_state_is_told() -> None:
    """What was expected, what was observed, and what follows from equal inputs."""
    assert list(failures(reports.forgetful_resume())) == [
        "resume: expected to be identical; observed step 11 · w.",
        FORGOTTEN,
    ]
    assert list(failures(reports.forgetful_resume(), loop=True))[1:] == [
        FORGOTTEN.replace("state_dict", "the attached state")
    ]
    alone = reports.forgetful_resume().divergence
    assert alone is not None
    bare = reports.forgetful_resume(divergence=alone.model_copy(update={"inputs": ()}))
    assert forgotten_state(bare) == FORGOTTEN.replace(
        "its inputs (gradient, state:w) are equal, ", ""
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"config_equal": False},
        {"constants": Split(differing=("features",))},
        {"start": Split(differing=("w",))},
        {"first_step": 1, "divergence": reports.at_gradient()},
        {"divergence": reports.at_gradient(step=12, last_equal_step=11)},
        {"divergence": reports.at_batch(step=11, last_equal_step=10)},
        {"expected": ExpectedDivergence(diverges_at=12)},
        {"identical": True, "divergence": None},
    ],
)
def test_state_is_not_said_to_be_forgotten_where_something_else_differs(
    changes: dict[str, Any],
) -> None:
    """Another configuration, other data, another start, a fresh run or a later step allow more."""
    assert forgotten_state(reports.forgetful_resume(**changes)) is None


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (
            reports.forgetful_resume(expected=ExpectedDivergence(diverges_at=1, stage="gradient")),
            "expected to part at step 1, at gradient; observed step 11 · w.",
        ),
        (
            reports.sampler_reset(
                held=False,
                expected=ExpectedDivergence(diverges_at=41, stage="batch", component="adam"),
            ),
            (
                "expected to part at step 41, at batch, because component adam differs; observed "
                "step 41 · batch, state differs: sampler."
            ),
        ),
        (
            reports.sampler_reset(held=False, expected="identical"),
            "expected to be identical; observed step 41 · batch, state differs: sampler.",
        ),
        (
            reports.forgetful_resume(constants=Split(differing=("features", "targets"))),
            "expected to be identical; observed step 11 · w; constants differ: features, targets.",
        ),
        (
            reports.outcome("a", held=False, expected=ExpectedDivergence(diverges_at=3)),
            (
                "expected to part at step 3; observed no difference, every fingerprint is equal "
                "at 100 of 100 steps."
            ),
        ),
        (
            reports.outcome("a", held=False, identical=False, start=Split(differing=("clock",))),
            (
                "expected to be identical; observed another state (clock) at its beginning, and "
                "every recorded step is equal."
            ),
        ),
    ],
)
def test_a_failed_expectation_says_what_was_observed(outcome: Any, said: str) -> None:
    """Expected and observed in one line, with the evidence where the place alone is too little."""
    assert list(failures(outcome)) == [f"{outcome.run}: {said}"]


def test_an_expected_stage_that_nothing_records_is_told() -> None:
    """A name that was misspelt cannot be where a run parts: those that there are follow."""
    stages = tuple(StepCount(name=name, compared=4, differing=0) for name in ("batch", "w"))
    wrong = ExpectedDivergence(diverges_at=11, stage="w.x")
    outcome = reports.forgetful_resume(expected=wrong, held=False, stages=stages)
    said = (
        "resume: expected to part at step 11, at w.x; observed step 11 · w; no compared step has "
        "a stage w.x; stages: batch, w."
    )
    assert list(failures(outcome)) == [said]
    right = outcome.model_copy(update={"expected": wrong.model_copy(update={"stage": "w"})})
    assert "no compared step" not in failure(right)


def test_what_held_or_was_not_expected_is_no_failure() -> None:
    """Nothing to explain."""
    assert list(failures(reports.sampler_reset())) == []
    assert list(failures(reports.sampler_reset(expected=None, held=None))) == []


def test_an_identical_comparison_has_no_contrast() -> None:
    """Equal prints over equal bytes are no news."""
    assert list(contrasts(reports.outcome("full-checkpoint"))) == []


@pytest.mark.parametrize(
    ("changes", "inside"),
    [
        ({"kept": (), "components": (count := StepCount(name="adam", compared=9, differing=9),)},
         "its component adam differs at 9 of 9 steps"),
        ({"kept": (), "components": (), "stages": (count,)},
         "its stage adam differs at 9 of 9 steps"),
        ({"kept": (), "components": (), "stages": ()}, "it differs from step 1 · gradient on"),
    ],
)  # fmt: skip
def test_what_differs_is_named_without_kept_stages_too(
    changes: dict[str, Any], inside: str
) -> None:
    """Kept stages, else components, else stages, else the place."""
    (sentence,) = contrasts(reports.reversed_reduction(**changes))
    assert sentence.endswith(f"; {inside}.")


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (
            reports.outcome("a", first_step=41),
            (
                "Identical: every fingerprint is equal at 60 of 60 steps, and so is its final "
                "state (adam, sampler, weights)."
            ),
        ),
        (
            reports.outcome("a", last_step=1, final_state=None),
            "Identical: every fingerprint is equal at 1 of 1 step.",
        ),
        (
            reports.sampler_reset(),
            "Different: the first divergence is at step 41 · batch.",
        ),
        (
            reports.outcome("a", identical=False, start=Split(differing=("clock",))),
            "It began with another state (clock) and is equal in every recorded step.",
        ),
        (
            reports.outcome("a", identical=False, constants=Split(differing=("features",))),
            "It began with other constants (features) and is equal in every recorded step.",
        ),
    ],
)
def test_an_outcome_in_a_sentence(outcome: Any, sentence: str) -> None:
    """Identical, different and where, or different only before it began."""
    assert outcome_sentence(outcome) == sentence


def test_measures_are_given_in_full() -> None:
    """Largest differences keep all their digits, and printed values stand beside them."""
    assert list(measure_sentences(reports.reversed_reduction())) == [
        (
            "stage weights differs at 100 of 100 steps; the largest difference is "
            "1.1920928955078125e-07, first at step 38."
        ),
        "loss prints equal at 100 of 100 steps.",
    ]
    printed = (PrintedAgreement(metric="loss", compared=1, equal=0),)
    bits_only = reports.differing_outcome("a", reports.at_gradient(), printed=printed)
    assert list(measure_sentences(bits_only)) == [
        "stage weights differs at 100 of 100 steps.",
        "loss prints equal at 0 of 1 step.",
    ]
    assert list(measure_sentences(reports.outcome("a", printed=()))) == []


@pytest.mark.parametrize(
    ("comparison", "words"),
    [
        ({}, "run again from the beginning in a fresh process"),
        (
            {"resume_at": 40, "reset": ("adam", "sampler")},
            (
                "resumed in a fresh process from the checkpoint after step 40, adam, sampler put "
                "back to their values at step 0"
            ),
        ),
        (
            {"config": {"order": ["a", 1], "deep": {"$float": "inf"}}, "hash_seed": 1},
            (
                "run again from the beginning in a fresh process, deep = inf, "
                'order = ["a",1], PYTHONHASHSEED=1'
            ),
        ),
    ],
)
def test_an_intervention_in_words(comparison: dict[str, Any], words: str) -> None:
    """Where it starts, what is reset, and what is configured otherwise."""
    assert intervention(ComparisonPlan(name="a", **comparison)) == words


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (None, ""),
        ("identical", "expected to be identical"),
        (ExpectedDivergence(diverges_at=41), "expected to part at step 41"),
        (
            ExpectedDivergence(diverges_at=41, stage="weights", component="adam"),
            "expected to part at step 41, at weights, because component adam differs",
        ),
    ],
)
def test_an_expectation_in_words(expected: Any, words: str) -> None:
    """What a comparison has to find."""
    assert expectation(expected) == words


def test_configuration_values_and_recording() -> None:
    """Values are JSON; how often something is recorded is said in words."""
    assert [config_value(value) for value in (True, "a", 1e-8, None, {"a": [1]})] == [
        "true", '"a"', "1e-08", "null", '{"a":[1]}',
    ]  # fmt: skip
    assert recorded(RecordPlan()) == "every stage and the whole state at every step"
    assert recorded(RecordPlan(state_every=5)) == "stages every 1 step, the state every 5 steps"
