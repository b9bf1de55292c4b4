"""Rules over evidence: what each pattern needs, what it excludes, and when it stays silent."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from repropack._compare.evidence import (
    Evidence,
    evidence_of_difference,
    evidence_of_run,
)
from repropack._compare.patterns import (
    difference_with_patterns,
    patterns_of,
    run_with_patterns,
    runs_with_patterns,
)
from repropack.models.differences import ArrayDifference
from repropack.models.patterns import DrawDistance, Pattern, PatternId
from repropack.models.reports import Confinement
from repropack.models.results import (
    Divergence,
    InputEquality,
    PrintedAgreement,
    Split,
    StepCount,
)
from repropack.models.run_difference import FormChange, RunCounts, RunDifference, RunSide
from repropack.models.zoom import (
    RepeatedGroup,
    RepeatedResult,
    Repetition,
    SandboxLevel,
    Zoom,
    ZoomedArray,
)
from tests.support.reports import (
    COMPONENTS,
    at_batch,
    at_gradient,
    differing_run,
    verified_run,
)

EQUAL = Split(equal=COMPONENTS)
CONSTANTS = Split(equal=("features", "targets"))
KNOWN: dict[str, Any] = {"config_equal": True, "constants": CONSTANTS, "start": EQUAL}
LATE = at_gradient(step=41, last_equal_step=40)
FIRST_BATCH = at_gradient(
    stage="batch",
    inputs=(InputEquality(name="state:sampler", equal=True),),
    stages=Split(differing=("batch", "contributions", "gradient", "weights")),
)
LATE_STATE = at_batch(step=45, last_equal_step=44)


def divergence(kind: Any, step: int = 5, **changes: Any) -> Divergence:
    return Divergence(kind=kind, step=step, **({"last_equal_step": step - 1} | changes))


AFTER_STAGES = divergence(
    "state", state_before=EQUAL, state_after=Split(differing=("clock",)), stages=Split(equal=("a",))
)
UNRECORDED = divergence(
    "undetermined",
    stage="gradient",
    inputs=(
        InputEquality(name="batch", equal=True),
        InputEquality(name="state:*", equal=None),
    ),
)


def array(name: str, step: int = 1, form: str = "<f4 (3,)", **changes: Any) -> ArrayDifference:
    return ArrayDifference(
        array=name,
        step=step,
        expected_type=changes.pop("expected_type", form),
        observed_type=form,
        elements=3,
        elements_differing=1,
        **changes,
    )


def evidence_with(fields: dict[str, Any]) -> Evidence:
    return Evidence(**fields)


def found(evidence: Evidence, name: PatternId) -> Pattern | None:
    """The pattern of one id, where it is claimed."""
    rows = [pattern for pattern in patterns_of(evidence) if pattern.id == name]
    assert len(rows) <= 1
    return rows[0] if rows else None


def claims(evidence: Evidence) -> dict[str, bool]:
    return {pattern.id: pattern.consistent for pattern in patterns_of(evidence)}


def test_a_reduction_in_another_order_at_step_1() -> None:
    """Equal inputs in the first step: another fixed order, and not another beginning."""
    evidence = Evidence(at_gradient(), 1, **KNOWN)
    assert patterns_of(evidence) == (
        Pattern(
            id="other-order",
            consistent=True,
            because=("what is recorded of its inputs is equal",),
            names=("gradient",),
        ),
        Pattern(
            id="other-beginning",
            consistent=False,
            because=(
                "configuration, constants and first state are equal",
                "so are the stages before it",
            ),
        ),
    )


def test_equal_runs_have_no_pattern() -> None:
    """Nothing is claimed of what does not differ."""
    assert patterns_of(Evidence(None, 1, **KNOWN)) == ()
    run = verified_run()
    assert run_with_patterns(run) is run


def test_a_resume_is_judged_beside_the_reference() -> None:
    """What parts without a checkpoint as well says nothing of the checkpoint."""
    resume = differing_run(
        "resume", claim="exact-resume", first_step=41, divergence=LATE, repeats=True, **KNOWN
    )
    (alone,) = runs_with_patterns([resume], None)
    assert "incomplete-checkpoint" in [pattern.id for pattern in alone.patterns]
    equal, beside = runs_with_patterns([verified_run(), resume], None)
    assert (equal, beside) == (verified_run(), alone)
    _, beside = runs_with_patterns([differing_run(repeats=True, **KNOWN), resume], None)
    assert [pattern.id for pattern in beside.patterns if pattern.consistent] == ["other-order"]
    assert beside.patterns[0].because == (
        "what is recorded of its inputs is equal",
        "the reference, which is not resumed, parts at this stage as well",
        "a second run here equals the first",
    )


@pytest.mark.parametrize(
    ("changes", "because", "names"),
    [
        ({"config_equal": False}, ("the configuration differs",), ()),
        (
            {"constants": Split(differing=("features",))},
            ("constants differ",),
            ("features",),
        ),
        (
            {"start": Split(differing=("weights",)), "repeats": True},
            ("the first state differs", "a second run here equals the first"),
            ("weights",),
        ),
        (
            {"start": Split(differing=("weights",)), "repeats": False},
            ("the first state differs", "two runs here differ from each other too"),
            ("weights",),
        ),
        (
            {"divergence": FIRST_BATCH},
            ("nothing that is recorded before it differs, in step 1",),
            (),
        ),
    ],
)
def test_another_beginning(
    changes: dict[str, Any], because: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """Configuration, constants, first state, or the very first stage."""
    evidence = evidence_with({"divergence": at_gradient(), "first_step": 1} | KNOWN | changes)
    assert found(evidence, "other-beginning") == Pattern(
        id="other-beginning", consistent=True, because=because, names=names
    )


def test_another_beginning_shows_without_a_step_that_differs() -> None:
    """Constants may differ where every step is equal."""
    evidence = Evidence(None, 1, **(KNOWN | {"constants": Split(differing=("features",))}))
    assert claims(evidence) == {"other-beginning": True}


@pytest.mark.parametrize(
    "missing", [{"config_equal": None}, {"constants": None}, {"start": None}, {"resumed": True}]
)
def test_another_beginning_is_not_excluded_without_knowing_it(missing: dict[str, Any]) -> None:
    """Each part of a beginning has to be known before it counts as equal."""
    assert found(Evidence(LATE, 1, **(KNOWN | missing)), "other-beginning") is None


@pytest.mark.parametrize(
    ("changes", "consistent"),
    [
        ({}, True),
        ({"repeats": True}, True),
        ({"repeats": False}, None),
        ({"divergence": LATE}, None),
        ({"divergence": LATE, "repeats": True}, None),
        (
            {
                "divergence": LATE,
                "repeats": True,
                "arrays": (array("kept.gradient", 41, largest_ulp=64),),
            },
            True,
        ),
        (
            {
                "divergence": LATE,
                "repeats": True,
                "arrays": (array("kept.gradient", 41, largest_ulp=65),),
            },
            None,
        ),
        ({"divergence": LATE, "arrays": (array("kept.gradient", 41, largest_ulp=64),)}, None),
        ({"divergence": at_batch(), "first_step": 41}, False),
        ({"divergence": UNRECORDED, "first_step": 5}, None),
        ({"constants": Split(differing=("features",))}, None),
        ({"config_equal": False}, None),
        ({"resumed": True}, None),
        ({"resumed": True, "repeats": True}, None),
        ({"resumed": True, "arrays": (array("kept.gradient", largest_ulp=64),)}, True),
        ({"resumed": True, "reference": at_gradient()}, True),
        ({"resumed": True, "reference": FIRST_BATCH}, None),
        ({"config_equal": False, "arrays": (array("kept.gradient", largest_ulp=65),)}, None),
        ({"config_equal": False, "arrays": (array("kept.gradient", largest_ulp=64),)}, True),
    ],
)
def test_another_order(changes: dict[str, Any], consistent: bool | None) -> None:
    """Needs equal inputs, and a result that does not vary; last bits where it is not at once, or of
    a resume or another configuration."""
    evidence = evidence_with({"divergence": at_gradient(), "first_step": 1} | KNOWN | changes)
    pattern = found(evidence, "other-order")
    assert (None if pattern is None else pattern.consistent) is consistent


def test_last_bits_are_said_of_another_order() -> None:
    """What is known of elements stands beside equal inputs."""
    evidence = Evidence(at_gradient(), 1, arrays=(array("kept.gradient", largest_ulp=5),), **KNOWN)
    pattern = found(evidence, "other-order")
    assert pattern is not None
    assert pattern.because[1] == "elements differ in their last bits"


@pytest.mark.parametrize(
    ("changes", "because", "names"),
    [
        (
            {
                "divergence": at_batch(),
                "start": Split(equal=("adam", "weights"), differing=("sampler",)),
            },
            ("the state after step 40 that it began with differs",),
            ("sampler",),
        ),
        (
            {"divergence": at_gradient(step=41, last_equal_step=40)},
            (
                "every component restored after step 40 is equal",
                "the first step made from it differs",
            ),
            ("gradient",),
        ),
        (
            {"divergence": LATE_STATE},
            (
                "every component restored after step 40 is equal",
                "4 steps are equal after it, step 45 is not",
            ),
            ("batch",),
        ),
    ],
)
def test_an_incomplete_checkpoint(
    changes: dict[str, Any], because: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """What was restored differs; or it is equal, and what is made from it is not, soon or late."""
    evidence = evidence_with({"first_step": 41, "resumed": True} | KNOWN | changes)
    assert found(evidence, "incomplete-checkpoint") == Pattern(
        id="incomplete-checkpoint", consistent=True, because=because, names=names
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"resumed": False},
        {"config_equal": False},
        {"start": None},
        {"divergence": divergence("structure", 41)},
        {"reference": at_gradient()},
    ],
)
def test_an_incomplete_checkpoint_is_not_claimed_of_others(changes: dict[str, Any]) -> None:
    """Not of a run that began at its beginning, with other values, or in another form; nor where a
    run without a checkpoint parts at the same stage."""
    fields: dict[str, Any] = (
        {"divergence": LATE, "first_step": 41, "resumed": True} | KNOWN | changes
    )
    assert found(evidence_with(fields), "incomplete-checkpoint") is None


def draws(count: int | None, step: int = 41, **changes: Any) -> DrawDistance:
    fields: dict[str, Any] = {"generator": "sampler", "kind": "PCG64", "word_bits": 64} | changes
    return DrawDistance(step=step, draws=count, **fields)


AT_41 = at_batch(state_before=EQUAL, state_after=Split(differing=("sampler",)))


@pytest.mark.parametrize(
    ("rows", "changes", "consistent", "because"),
    [
        ((draws(1),), {}, True, "after step 41 generator sampler is 1 draw of 64 bits ahead"),
        (
            (draws(-512),),
            {},
            False,
            "after step 41 generator sampler is 512 draws of 64 bits behind",
        ),
        (
            (draws(-2),),
            {"left_resumed": True},
            True,
            "after step 41 generator sampler is 2 draws of 64 bits behind",
        ),
        (
            (draws(2),),
            {"left_resumed": True},
            False,
            "after step 41 generator sampler is 2 draws of 64 bits ahead",
        ),
        (
            (draws(-2, kind="MT19937", word_bits=32),),
            {"resumed": False},
            True,
            "after step 41 generator sampler is 2 draws of 32 bits behind",
        ),
        (
            (draws(None),),
            {},
            False,
            "after step 41 generator sampler is at no position of the same stream within the bound",
        ),
        (
            (draws(0, remainder_equal=False),),
            {},
            False,
            "after step 41 generator sampler differs in what it holds back of its last draw",
        ),
        ((draws(0),), {}, False, "every generator is equal around step 41"),
        (
            (draws(3, generator="augment.rng"),),
            {},
            False,
            "every generator is equal around step 41",
        ),
    ],
)
def test_extra_draws(
    rows: tuple[DrawDistance, ...], changes: dict[str, Any], consistent: bool, because: str
) -> None:
    """A generator that moved forward, in a component that differs around the divergence."""
    fields: dict[str, Any] = {
        "divergence": AT_41,
        "first_step": 41,
        "resumed": True,
        "draws": rows,
    } | changes
    pattern = found(evidence_with(fields), "extra-draws")
    assert pattern is not None
    assert (pattern.consistent, pattern.because) == (consistent, (because,))


def test_states_around_the_step_say_more_of_draws_than_a_later_checkpoint() -> None:
    """What was made again lies nearer to the divergence than what is stored."""
    zoom = Zoom(step=41, draws=(draws(1),))
    evidence = Evidence(AT_41, 41, resumed=True, draws=(draws(-900, 60),), zoom=zoom)
    assert claims(evidence)["extra-draws"] is True


def test_a_place_that_making_again_showed_is_the_one_that_counts() -> None:
    """Where steps between were not recorded, the replays may part earlier."""
    late = at_gradient(step=45, last_equal_step=0)
    run = differing_run(divergence=late, zoom=Zoom(step=41, divergence=LATE), repeats=None)
    assert evidence_of_run(run).divergence == LATE
    assert evidence_of_run(differing_run(divergence=late)).divergence == late


def test_extra_draws_need_generators() -> None:
    """Without a generator in a known form nothing is said of draws."""
    assert found(Evidence(AT_41, 41, resumed=True), "extra-draws") is None


def test_extra_draws_of_a_state_that_the_log_lacks_are_taken_at_their_step() -> None:
    """Where no state was recorded, only a checkpoint up to the divergence says when it moved."""
    unrecorded = at_batch(state_before=None, state_after=None)
    early, late = (Evidence(unrecorded, 41, draws=(draws(1, step),)) for step in (41, 60))
    assert claims(early)["extra-draws"] is True
    assert claims(late)["extra-draws"] is False


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"repeats": False}, (True, ("two runs here differ from each other too",))),
        ({"repeats": True}, (False, ("a second run here equals the first",))),
        ({"repeats": True, "same_process_id": True}, None),
        ({"divergence": LATE, "repeats": True, "same_process_id": True}, None),
        ({}, None),
        (
            {"divergence": LATE},
            (True, ("40 steps are equal before it", "it was not tried whether it repeats")),
        ),
        ({"divergence": LATE, "config_equal": False}, None),
        ({"divergence": LATE_STATE}, None),
    ],
)
def test_a_varying_operation(
    changes: dict[str, Any], expected: tuple[bool, tuple[str, ...]] | None
) -> None:
    """By a second run that could differ, or by a long equal stretch before the output."""
    evidence = evidence_with({"divergence": at_gradient(), "first_step": 1} | KNOWN | changes)
    pattern = found(evidence, "varying-operation")
    assert (None if pattern is None else (pattern.consistent, pattern.because)) == expected


def group(variation: Any, distinct: int = 1, *, as_first: bool = True) -> RepeatedGroup:
    result = RepeatedResult(name="gradient", distinct=distinct, as_first=as_first)
    return RepeatedGroup(variation=variation, times=5, results=(result,))


def repeated(*groups: RepeatedGroup, **changes: Any) -> Evidence:
    repetition = Repetition(
        run="reference", side="expected", step=41, name="gradient", groups=groups
    )
    return Evidence(LATE, 1, zoom=Zoom(step=41, repetition=repetition), **(KNOWN | changes))


@pytest.mark.parametrize(
    ("evidence", "consistent", "because"),
    [
        (
            repeated(group("one-process"), group("fresh-processes"), repeats=False),
            False,
            ("the repeated step gave the same bits 10 of 10 times",),
        ),
        (
            repeated(group("one-process"), group("threads", as_first=False), repeats=True),
            True,
            ("the repeated step varies with the number of threads",),
        ),
        (
            repeated(group("one-process", 3), group("fresh-processes", 5)),
            True,
            (
                "the repeated step varies within one process",
                "the repeated step varies from process to process",
            ),
        ),
    ],
)
def test_a_repeated_step_decides_whether_an_operation_varies(
    evidence: Evidence, consistent: bool, because: tuple[str, ...]
) -> None:
    """What was repeated says more than a second run."""
    pattern = found(evidence, "varying-operation")
    assert pattern is not None
    assert (pattern.consistent, pattern.because) == (consistent, because)


def test_what_outlives_a_restore_is_no_varying_operation() -> None:
    """Varying in one process and never between fresh ones: the state lacks something."""
    evidence = repeated(group("one-process", 5), group("fresh-processes"))
    assert claims(evidence) == {
        "incomplete-checkpoint": True,
        "other-beginning": False,
        "varying-operation": False,
    }
    pattern = found(evidence, "incomplete-checkpoint")
    assert pattern is not None
    assert pattern.because[0].startswith("the repeated step varies within one process, where ")


CHOICE = divergence(
    "output",
    41,
    stage="scores",
    inputs=(InputEquality(name="batch", equal=True),),
    stages=Split(equal=("batch",), differing=("scores", "choice", "weights")),
)
FEW = array("kept.scores", 41, kind="one-element", largest_ulp=1)
CHOSEN = array("kept.choice", 41, "<i8 (3,)", kind="one-element")


@pytest.mark.parametrize(
    ("arrays", "consistent"),
    [
        ((FEW, CHOSEN), True),
        ((CHOSEN, FEW), True),
        ((FEW, array("kept.choice", 41, "|b1 (3,)")), True),
        ((FEW, array("kept.choice", 44, "|b1 (3,)")), None),
        ((FEW, array("kept.choice", 40, "<i8 (3,)")), None),
        ((array("kept.scores", 41, largest_ulp=65), CHOSEN), None),
        ((array("kept.weights", 41, largest_ulp=1), CHOSEN), None),
        ((FEW, array("kept.choice", 41, "<f4 (3,)", largest_ulp=900)), None),
        ((FEW, array("kept.choice", 41, "<i8 (3,)", expected_type="<f8 (3,)")), None),
        ((FEW, array("checkpoint.epoch", 60, "<i8 (3,)")), None),
        ((FEW,), None),
        ((CHOSEN,), None),
    ],
)
def test_a_discrete_decision(arrays: tuple[ArrayDifference, ...], consistent: bool | None) -> None:
    """Floats in their last bits, and integers that were recorded after them."""
    pattern = found(Evidence(CHOICE, 1, arrays=arrays), "discrete-decision")
    assert (None if pattern is None else pattern.consistent) is consistent
    if pattern is not None:
        assert pattern.names == ("scores", "choice")


def test_integers_made_of_equal_inputs_are_no_decision_on_last_bits() -> None:
    """A stage of integers that differs first, while what it is recorded to be made of is equal."""
    alone = CHOICE.model_copy(update={"stage": "choice", "stages": Split(differing=("choice",))})
    pattern = found(Evidence(alone, 1, arrays=(CHOSEN,)), "discrete-decision")
    assert pattern is not None
    assert not pattern.consistent


def count(name: str, differing: int, first_step: int | None = None) -> StepCount:
    return StepCount(name=name, compared=60, differing=differing, first_step=first_step)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (True, ("every stage is equal at 60 steps",), ("clock",))),
        (
            {"metrics": (count("loss", 0),)},
            (True, ("every stage and metric is equal at 60 steps",), ("clock",)),
        ),
        (
            {"stages": (count("a", 3, 9),)},
            (False, ("a differs from step 9 on",), ("clock",)),
        ),
        (
            {"metrics": (count("loss", 2, 7),)},
            (False, ("loss differs from step 7 on",), ("clock",)),
        ),
        (
            {"printed": (PrintedAgreement(metric="loss", compared=60, equal=59),)},
            (False, ("loss prints another text",), ("clock",)),
        ),
        ({"stages": ()}, None),
        ({"components": ()}, None),
        ({"divergence": LATE}, None),
        (
            {"divergence": divergence("metric", metrics=Split(differing=("loss",)))},
            (False, ("loss differs at step 5",), ("clock",)),
        ),
        ({"divergence": divergence("length")}, None),
    ],
)
def test_a_masked_difference(
    changes: dict[str, Any], expected: tuple[bool, tuple[str, ...], tuple[str, ...]] | None
) -> None:
    """A state that differs while every later result that was counted is equal."""
    fields: dict[str, Any] = {
        "divergence": AFTER_STAGES,
        "first_step": 1,
        "stages": (count("a", 0),),
        "components": (count("clock", 56, 5), count("weights", 0)),
    }
    pattern = found(evidence_with(fields | changes), "masked-difference")
    observed = None
    if pattern is not None:
        observed = (pattern.consistent, pattern.because, pattern.names)
    assert observed == expected


def test_a_reset_that_no_stage_shows_is_masked() -> None:
    """What differs before the first step alone leaves no divergence."""
    evidence = Evidence(
        None, 41, resumed=True, start=Split(differing=("ema",)), stages=(count("a", 0),)
    )
    assert claims(evidence) == {"incomplete-checkpoint": True, "masked-difference": True}


@pytest.mark.parametrize(
    ("arrays", "signed", "form"),
    [
        ((array("kept.gradient", kind="sign-of-zero"),), True, False),
        ((array("kept.gradient", kind="nan-payload"),), True, False),
        ((array("kept.gradient", kind="bits-alone"),), True, False),
        ((array("kept.gradient", kind="one-element"),), False, False),
        ((array("kept.gradient", kind="type", expected_type="<f8 (3,)"),), False, True),
        ((array("kept.gradient", kind="shape", expected_type="<f4 (4,)"),), False, True),
        ((array("kept.gradient", 2, kind="sign-of-zero"),), None, None),
        ((array("kept.other", kind="sign-of-zero"),), None, None),
        ((), None, None),
    ],
)
def test_zeros_nans_and_forms(
    arrays: tuple[ArrayDifference, ...], signed: bool | None, form: bool | None
) -> None:
    """Decided by the diverging stage's own elements, at the diverging step."""
    observed = claims(Evidence(at_gradient(), 1, arrays=arrays))
    assert observed.get("signed-zero-or-nan") is signed
    assert observed.get("other-form") is form


def test_zeros_are_looked_for_in_the_state_where_no_stage_differs() -> None:
    """Every array of the state at that step has to fit."""
    zeros = array("checkpoint.m", 5, kind="sign-of-zero")
    assert claims(Evidence(AFTER_STAGES, 1, arrays=(zeros,)))["signed-zero-or-nan"] is True
    both = (zeros, array("checkpoint.v", 5, kind="everything"))
    assert claims(Evidence(AFTER_STAGES, 1, arrays=both))["signed-zero-or-nan"] is False
    zoomed = ZoomedArray(
        name="state:m",
        role="state-after",
        equal=False,
        difference=array("m", 5, kind="sign-of-zero"),
    )
    evidence = Evidence(AFTER_STAGES, 1, zoom=Zoom(step=5, arrays=(zoomed,)))
    assert claims(evidence)["signed-zero-or-nan"] is True


def test_a_rounded_copy_is_told() -> None:
    """A checkpoint in a narrower type says what its values are."""
    cast = array("kept.gradient", kind="type", expected_type="<f8 (3,)", converted="rounded")
    pattern = found(Evidence(at_gradient(), 1, arrays=(cast,)), "other-form")
    assert pattern is not None
    assert pattern.because == (
        "<f8 (3,) and <f4 (3,)",
        "the values are equal once the wider are rounded to the narrower type",
    )


@pytest.mark.parametrize(
    ("found_at", "name", "consistent"),
    [
        (at_gradient(), "gradient", True),
        (at_gradient(), "weights", None),
        (AFTER_STAGES, "state:clock.ticks", True),
        (AFTER_STAGES, "state:other", None),
    ],
)
def test_forms_that_both_stored_count_for_what_parted(
    found_at: Divergence, name: str, consistent: bool | None
) -> None:
    """Of runs in packages types are known without elements."""
    change = FormChange(name=name, left="<f8 (3,)", right="<f4 (3,)")
    assert claims(Evidence(found_at, 1, forms=(change,))).get("other-form") is consistent


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((60, 60), (True, ("loss prints the same text at 60 of 60 steps",))),
        ((60, 6), (False, ("loss prints the same text at 6 of 60 steps",))),
        ((0, 0), None),
    ],
)
def test_equal_when_printed(
    rows: tuple[int, int], expected: tuple[bool, tuple[str, ...]] | None
) -> None:
    """Every printed text that both have is equal, or it is said how many are."""
    printed = (PrintedAgreement(metric="loss", compared=rows[0], equal=rows[1]),)
    pattern = found(Evidence(at_gradient(), 1, printed=printed), "equal-when-printed")
    assert (None if pattern is None else (pattern.consistent, pattern.because)) == expected


@pytest.mark.parametrize(
    ("found_at", "name", "because", "names"),
    [
        (
            divergence("structure", stage="x", missing=("a",), unexpected=("x",)),
            "other-stages",
            ("stages that only the left run has", "stages that only the right run has"),
            ("a", "x"),
        ),
        (
            divergence("structure", stage="x"),
            "other-stages",
            ("another order, or made of other inputs",),
            ("x",),
        ),
        (
            divergence("length", missing=("step 5",)),
            "other-length",
            ("the right run ended before step 5",),
            (),
        ),
        (
            divergence("length", unexpected=("step 5",)),
            "other-length",
            ("the left run ended before step 5",),
            (),
        ),
        (
            divergence("length"),
            "other-length",
            ("after step 5 one ended by itself; the other did not, or gave another reason",),
            (),
        ),
        (
            divergence("metric", metrics=Split(differing=("loss",))),
            "unrecorded-metric",
            ("every recorded stage and component of the step is equal",),
            ("loss",),
        ),
        (
            UNRECORDED,
            "unrecorded-input",
            ("these of its inputs are not recorded",),
            ("state:*",),
        ),
        (
            AFTER_STAGES,
            "unrecorded-input",
            ("every recorded stage of the step is equal, and the state after it is not",),
            ("clock",),
        ),
    ],
)
def test_what_the_kind_of_divergence_says(
    found_at: Divergence, name: PatternId, because: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """Other stages, another length, and what was not recorded."""
    expected = Pattern(id=name, consistent=True, because=because, names=names)
    assert found(Evidence(found_at, 1), name) == expected


def test_patterns_of_a_run_that_was_verified() -> None:
    """The lab's reversed reduction, found on another machine and twice there."""
    run = run_with_patterns(differing_run(constants=CONSTANTS, start=EQUAL))
    assert {pattern.id: pattern.consistent for pattern in run.patterns} == {
        "other-order": True,
        "other-beginning": False,
        "varying-operation": False,
        "signed-zero-or-nan": False,
        "other-form": False,
    }


def test_a_second_run_of_the_same_process_id_excludes_nothing() -> None:
    """Under bubblewrap the id repeats, and so does what is made of it."""
    run = differing_run(constants=CONSTANTS, start=EQUAL)
    levels: dict[SandboxLevel, bool] = {"bubblewrap": False, "landlock": True, "none": True}
    for level, named in levels.items():
        (found_here,) = runs_with_patterns([run], Confinement(level=level))
        ids = {pattern.id for pattern in found_here.patterns}
        assert ("varying-operation" in ids) is named, level


@pytest.mark.parametrize(
    ("begins", "resumed", "left_resumed"),
    [
        ((1, 1), False, False),
        ((1, 41), True, False),
        ((41, 1), True, True),
        ((41, 41), True, False),
    ],
)
def test_evidence_of_two_runs(begins: tuple[int, int], resumed: bool, left_resumed: bool) -> None:
    """Which side was resumed follows from where the logs begin."""
    sides = [RunSide(path="a", kind="log", first_step=begin, last_step=100) for begin in begins]
    difference = RunDifference(
        verdict="differs",
        left=sides[0],
        right=sides[1],
        first_step=41,
        last_step=100,
        divergence=LATE,
        counts=RunCounts(compared=60, differing=60, metrics=(count("loss", 1, 41),)),
    )
    evidence = evidence_of_difference(difference)
    assert (evidence.resumed, evidence.left_resumed) == (resumed, left_resumed)
    assert evidence.metrics == (count("loss", 1, 41),)
    assert difference_with_patterns(difference).patterns == patterns_of(evidence)
    incomparable = difference.model_copy(update={"comparable": False})
    assert difference_with_patterns(incomparable) is incomparable


def test_every_pattern_can_be_found() -> None:
    """No id without a rule: each is claimed of some evidence above."""
    evidences = [
        Evidence(at_gradient(), 1, arrays=(array("gradient", kind="sign-of-zero"),), **KNOWN),
        Evidence(at_gradient(), 1, arrays=(array("gradient", kind="type"),), repeats=False),
        Evidence(LATE, 41, resumed=True, draws=(draws(1),), start=EQUAL, config_equal=False),
        Evidence(AT_41, 41, resumed=True, draws=(draws(1),), start=EQUAL),
        Evidence(CHOICE, 1, arrays=(FEW, CHOSEN)),
        Evidence(AFTER_STAGES, 1, stages=(count("a", 0),), components=(count("clock", 2, 5),)),
        Evidence(
            divergence("metric"),
            1,
            printed=(PrintedAgreement(metric="loss", compared=1, equal=1),),
        ),
        Evidence(divergence("structure"), 1),
        Evidence(divergence("length"), 1),
    ]
    claimed = {name for one in evidences for name, yes in claims(one).items() if yes}
    assert claimed == set(get_args(PatternId))


def test_evidence_of_a_verified_run_takes_over_what_was_counted() -> None:
    """Nothing that a verification found is lost on the way to the rules."""
    printed = (PrintedAgreement(metric="loss", compared=100, equal=100),)
    run = differing_run(printed=printed, stages=(count("a", 1, 3),), first_step=41)
    evidence = evidence_of_run(run)
    assert (evidence.printed, evidence.stages) == (printed, (count("a", 1, 3),))
    assert (evidence.resumed, evidence.repeats) == (True, True)
