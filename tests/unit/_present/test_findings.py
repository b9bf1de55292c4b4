"""What comparisons found, as sentences that follow from the numbers alone."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._present.findings import (
    config_value,
    contrasts,
    expectation,
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
            "its weights differ at 100 of 100 steps."
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


def test_an_identical_comparison_has_no_contrast() -> None:
    """Equal prints over equal bytes are no news."""
    assert list(contrasts(reports.outcome("full-checkpoint"))) == []


@pytest.mark.parametrize(
    ("changes", "inside"),
    [
        ({"kept": (), "components": (count := StepCount(name="adam", compared=9, differing=9),)},
         "its adam differ at 9 of 9 steps"),
        ({"kept": (), "components": (), "stages": (count,)}, "its adam differ at 9 of 9 steps"),
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
            "It started from another state (clock) and is equal in every recorded step.",
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
            "weights differ at 100 of 100 steps; the largest difference is 1.1920928955078125e-07, "
            "first at step 38."
        ),
        "loss prints equal at 100 of 100 steps.",
    ]
    printed = (PrintedAgreement(metric="loss", compared=1, equal=0),)
    bits_only = reports.differing_outcome("a", reports.at_gradient(), printed=printed)
    assert list(measure_sentences(bits_only)) == [
        "weights differ at 100 of 100 steps.",
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
