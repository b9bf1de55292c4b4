"""Two logs walked together: each kind of divergence, and what is known where little is recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repropack._compare.logs import LogComparison, split, view_from
from repropack.models.log import StepLine
from repropack.models.results import Split, StepCount
from tests.support.logs import Declared, HandMadeRun, digest_of, rows, step, walk

DECLARED: Declared = {
    "batch": ("state:sampler",),
    "gradient": ("batch", "state:weights"),
    "update": ("gradient", "state:adam"),
}
STATE = {"adam": "a0", "sampler": "s0", "weights": "w0"}


def line(number: int, **changes: Any) -> StepLine:
    """One step of the run below, with single stages, components or members changed."""
    stages = {"batch": f"b{number}", "gradient": f"g{number}", "update": f"u{number}"}
    state = {name: f"{name[0]}{number}" for name in STATE}
    for name in list(changes):
        if name in stages:
            stages[name] = changes.pop(name)
        elif name in state:
            state[name] = changes.pop(name)
    members: dict[str, Any] = {"stages": stages, "state": state, "metrics": {"loss": 1.5}}
    return step(number, **{**members, **changes})


RUN = HandMadeRun(tuple(line(number) for number in range(1, 5)), STATE, DECLARED)


def with_lines(run: HandMadeRun, **lines: StepLine | None) -> HandMadeRun:
    """The run with single lines replaced: ``with_lines(RUN, s2=...)``."""
    changed = {int(name[1:]): value for name, value in lines.items()}
    return replace(run, lines=tuple(changed.get(one.step, one) or one for one in run.lines))


def known(comparison: LogComparison) -> tuple[Any, ...]:
    found = comparison.divergence
    assert found is not None
    return (found.kind, found.step, found.last_equal_step, found.stage)


def inputs(comparison: LogComparison) -> list[tuple[str, bool | None]]:
    found = comparison.divergence
    assert found is not None
    return [(item.name, item.equal) for item in found.inputs]


# ---------------------------------------------------------------- equal, and the kinds


def test_equal_logs_have_no_divergence() -> None:
    """Nothing is found, and everything was compared."""
    comparison = walk(RUN, RUN)
    assert comparison.divergence is None
    assert (comparison.last_step, comparison.last_equal) == (4, 4)
    assert comparison.stage_counts() == (
        StepCount(name="batch", compared=4, differing=0),
        StepCount(name="gradient", compared=4, differing=0),
        StepCount(name="update", compared=4, differing=0),
    )
    assert comparison.component_counts() == (
        StepCount(name="adam", compared=4, differing=0),
        StepCount(name="sampler", compared=4, differing=0),
        StepCount(name="weights", compared=4, differing=0),
    )


def test_a_stage_whose_inputs_are_equal_is_an_output() -> None:
    """The operation itself gave something else; later stages and the state only follow."""
    other = with_lines(RUN, s3=line(3, gradient="x", update="x", adam="x", weights="x"))
    comparison = walk(RUN, other)
    assert known(comparison) == ("output", 3, 2, "gradient")
    assert inputs(comparison) == [("batch", True), ("state:weights", True)]
    found = comparison.divergence
    assert found is not None
    assert found.stages == Split(equal=("batch",), differing=("gradient", "update"))
    assert found.state_before == Split(equal=("adam", "sampler", "weights"))
    assert found.state_after == Split(equal=("sampler",), differing=("adam", "weights"))
    assert found.metrics == Split(equal=("loss",))
    assert (found.missing, found.unexpected) == ((), ())


def test_a_stage_whose_component_differs_is_a_state() -> None:
    """The difference came in with the state, and the component is named."""
    other = replace(
        with_lines(RUN, s1=line(1, update="x", adam="x")), state={**STATE, "adam": "other"}
    )
    comparison = walk(RUN, other)
    assert known(comparison) == ("state", 1, 0, "update")
    assert inputs(comparison) == [("gradient", True), ("state:adam", False)]


def test_a_component_that_differs_after_equal_stages_is_a_state_without_a_stage() -> None:
    """What no stage shows is found in the state after the step."""
    comparison = walk(RUN, with_lines(RUN, s2=line(2, adam="x")))
    assert known(comparison) == ("state", 2, 1, None)
    assert comparison.divergence is not None
    assert comparison.divergence.state_after == Split(
        equal=("sampler", "weights"), differing=("adam",)
    )
    assert comparison.divergence.inputs == ()


def test_a_component_that_one_side_lacks_differs() -> None:
    """A name without a partner is a difference, not nothing."""
    state = rows({"adam": "a2", "sampler": "s2"})
    other = with_lines(RUN, s2=line(2).model_copy(update={"state": state}))
    comparison = walk(RUN, other)
    assert known(comparison) == ("state", 2, 1, None)
    assert comparison.component_counts()[2] == StepCount(
        name="weights", compared=4, differing=1, first_step=2
    )


@pytest.mark.parametrize(
    ("stages", "stage", "missing", "unexpected"),
    [
        pytest.param({"batch": "b2", "update": "u2"}, "gradient", ("gradient",), (), id="left-out"),
        pytest.param(
            {"batch": "b2", "gradient": "g2", "update": "u2", "extra": "e"},
            "extra",
            (),
            ("extra",),
            id="added",
        ),
        pytest.param(
            {"gradient": "g2", "batch": "b2", "update": "u2"}, "batch", (), (), id="other-order"
        ),
        pytest.param(
            {"batch": "b2", "gradient": "g2"}, "update", ("update",), (), id="ends-before"
        ),
        pytest.param({}, "batch", ("batch", "gradient", "update"), (), id="none"),
    ],
)
def test_other_stages_are_a_structure(
    stages: dict[str, str], stage: str, missing: tuple[str, ...], unexpected: tuple[str, ...]
) -> None:
    """Which stages there are, and in which order, comes before what is in them."""
    comparison = walk(RUN, with_lines(RUN, s2=line(2, stages=stages)))
    assert known(comparison) == ("structure", 2, 1, stage)
    assert comparison.divergence is not None
    assert comparison.divergence.missing == missing
    assert comparison.divergence.unexpected == unexpected


def test_another_declaration_is_a_structure() -> None:
    """What a stage is made of is part of the log."""
    other = replace(RUN, declared={**DECLARED, "gradient": ("batch",)})
    assert known(walk(RUN, other)) == ("structure", 1, 0, "gradient")
    undeclared = replace(RUN, declared={**DECLARED, "gradient": None})
    assert known(walk(RUN, undeclared)) == ("structure", 1, 0, "gradient")


@pytest.mark.parametrize(
    ("left", "right", "differs"),
    [
        pytest.param({"loss": 1.5}, {"loss": 2.5}, ("loss",), id="value"),
        pytest.param({"loss": 0.0}, {"loss": -0.0}, ("loss",), id="sign-of-zero"),
        pytest.param({"loss": 1}, {"loss": 1.0}, ("loss",), id="integer-and-float"),
        pytest.param({"loss": 1.5}, {}, ("loss",), id="left-out"),
        pytest.param({}, {"loss": 1.5}, ("loss",), id="added"),
        pytest.param(
            {"loss": {"$float": "nan"}}, {"loss": {"$float": "inf"}}, ("loss",), id="encoded"
        ),
    ],
)
def test_a_metric_alone_is_a_metric(
    left: dict[str, Any], right: dict[str, Any], differs: tuple[str, ...]
) -> None:
    """Metrics are compared as they are stored, after everything else."""
    comparison = walk(
        with_lines(RUN, s2=line(2, metrics=left)), with_lines(RUN, s2=line(2, metrics=right))
    )
    assert known(comparison) == ("metric", 2, 1, None)
    assert comparison.divergence is not None
    assert comparison.divergence.metrics.differing == differs


def test_a_printed_text_alone_is_a_metric() -> None:
    """The printed text belongs to its metric."""
    comparison = walk(
        with_lines(RUN, s2=line(2, printed={"loss": "1.5"})),
        with_lines(RUN, s2=line(2, printed={"loss": "1.50"})),
    )
    assert known(comparison) == ("metric", 2, 1, None)
    assert comparison.divergence is not None
    assert comparison.divergence.metrics == Split(differing=("loss",))


def test_a_log_that_ends_before_the_other_is_a_length() -> None:
    """The first step that one side lacks is named, and which side lacks it."""
    short = replace(RUN, lines=RUN.lines[:3])
    missing, unexpected = walk(RUN, short), walk(short, RUN)
    assert known(missing) == known(unexpected) == ("length", 4, 3, None)
    assert missing.divergence is not None
    assert unexpected.divergence is not None
    assert (missing.divergence.missing, missing.divergence.unexpected) == (("step 4",), ())
    assert (unexpected.divergence.missing, unexpected.divergence.unexpected) == ((), ("step 4",))
    assert missing.divergence.state_before == Split(equal=("adam", "sampler", "weights"))
    assert missing.last_step == 3


def test_a_finish_on_one_side_is_a_length() -> None:
    """A run that says it has ended parts from one that goes on."""
    comparison = walk(RUN, with_lines(RUN, s4=line(4, finish="converged")))
    assert known(comparison) == ("length", 4, 3, None)
    other = walk(
        with_lines(RUN, s4=line(4, finish="stalled")),
        with_lines(RUN, s4=line(4, finish="converged")),
    )
    assert known(other) == ("length", 4, 3, None)


def test_logs_without_any_step_are_equal() -> None:
    """There is nothing to compare and nothing is found."""
    empty = replace(RUN, lines=())
    comparison = walk(empty, empty)
    assert comparison.divergence is None
    assert comparison.last_step == 0
    assert known(walk(RUN, empty)) == ("length", 1, 0, None)


# ---------------------------------------------------------------- what is compared with what


def test_an_undeclared_stage_is_made_of_everything_before_it() -> None:
    """Without ``of``, earlier stages in order and the whole state, sorted, are its inputs."""
    run = replace(RUN, declared={**DECLARED, "update": None})
    other = with_lines(run, s2=line(2, update="x"))
    comparison = walk(run, other)
    assert known(comparison) == ("output", 2, 1, "update")
    assert inputs(comparison) == [
        ("batch", True),
        ("gradient", True),
        ("state:adam", True),
        ("state:sampler", True),
        ("state:weights", True),
    ]
    changed = replace(with_lines(run, s1=line(1, update="x")), state={**STATE, "sampler": "other"})
    assert known(walk(run, changed)) == ("state", 1, 0, "update")


def test_an_undeclared_stage_after_an_unrecorded_state_is_undetermined() -> None:
    """Where the state before was not recorded, ``state:*`` stands for all of it."""
    run = with_lines(replace(RUN, declared={**DECLARED, "update": None}), s1=line(1, state=None))
    comparison = walk(run, with_lines(run, s2=line(2, update="x")))
    assert known(comparison) == ("undetermined", 2, 0, "update")
    assert inputs(comparison) == [("batch", True), ("gradient", True), ("state:*", None)]
    assert comparison.divergence is not None
    assert comparison.divergence.state_before is None


def test_a_component_that_was_not_recorded_leaves_it_undetermined() -> None:
    """An input whose equality is unknown is never called equal."""
    run = with_lines(RUN, s1=line(1, state=None), s2=line(2, state=None))
    comparison = walk(run, with_lines(run, s3=line(3, gradient="x")))
    assert known(comparison) == ("undetermined", 3, 0, "gradient")
    assert inputs(comparison) == [("batch", True), ("state:weights", None)]


@pytest.mark.parametrize("name", ["state:ghost", "ghost", "update"])
def test_an_input_that_nothing_was_recorded_of_is_unknown(name: str) -> None:
    """A declaration may name what is not there; it is neither equal nor different."""
    run = replace(RUN, declared={**DECLARED, "gradient": (name,)})
    comparison = walk(run, with_lines(run, s2=line(2, gradient="x")))
    assert known(comparison) == ("undetermined", 2, 1, "gradient")
    assert inputs(comparison) == [(name, None)]


def test_a_stage_made_of_nothing_is_an_output() -> None:
    """An empty ``of`` says that the stage depends on nothing."""
    run = replace(RUN, declared={**DECLARED, "batch": ()})
    comparison = walk(run, with_lines(run, s1=line(1, batch="x")))
    assert known(comparison) == ("output", 1, 0, "batch")
    assert inputs(comparison) == []


def test_the_first_stage_that_differs_is_the_divergence() -> None:
    """Later stages of the step differ as a consequence."""
    other = with_lines(RUN, s2=line(2, batch="x", gradient="x"), s3=line(3, batch="y"))
    assert known(walk(RUN, other)) == ("output", 2, 1, "batch")


def test_a_divergence_is_not_undone_by_equal_steps_after_it() -> None:
    """First means first; the steps after it are counted and no more."""
    comparison = walk(RUN, with_lines(RUN, s2=line(2, gradient="x")))
    assert known(comparison) == ("output", 2, 1, "gradient")
    assert comparison.last_equal == 1
    assert comparison.stage_counts()[1] == StepCount(
        name="gradient", compared=4, differing=1, first_step=2
    )


def test_a_lines_own_declaration_holds_for_that_line_alone() -> None:
    """``declares`` replaces the header's for one line; the next has the header's again."""
    own: Declared = {"gradient": ("batch",)}
    left = with_lines(RUN, s2=line(2, declares=own))
    assert walk(left, left).divergence is None
    assert known(walk(left, RUN)) == ("structure", 2, 1, "gradient")
    right = with_lines(RUN, s2=line(2, declares=own), s3=line(3, declares=own))
    assert known(walk(left, right)) == ("structure", 3, 2, "gradient")


def test_a_stage_that_comes_later_is_declared_where_it_comes() -> None:
    """A stage that the header does not know is compared by its line's declaration."""
    stages = {"batch": "b2", "gradient": "g2", "update": "u2", "evaluation": "e"}
    declares: Declared = {"evaluation": ("update",)}
    left = with_lines(RUN, s2=line(2, stages=stages, declares=declares))
    right = with_lines(RUN, s2=line(2, stages={**stages, "evaluation": "x"}, declares=declares))
    comparison = walk(left, right)
    assert known(comparison) == ("output", 2, 1, "evaluation")
    assert inputs(comparison) == [("update", True)]
    assert comparison.stage_counts()[3] == StepCount(
        name="evaluation", compared=1, differing=1, first_step=2
    )


# ---------------------------------------------------------------- gaps in what is recorded


def test_steps_without_stages_narrow_a_difference_to_a_range() -> None:
    """With stages at every second step, the state tells the step and the range holds it."""
    run = HandMadeRun(
        tuple(line(n, stages=None) if n % 2 else line(n) for n in range(1, 7)), STATE, DECLARED
    )
    comparison = walk(run, with_lines(run, s3=line(3, stages=None, adam="x")))
    assert known(comparison) == ("state", 3, 2, None)
    assert comparison.stage_counts()[0] == StepCount(name="batch", compared=3, differing=0)


def test_steps_without_state_narrow_a_difference_to_a_range() -> None:
    """The last step known to be equal is the last whose state was recorded."""
    run = HandMadeRun(
        tuple(line(n) if n % 3 == 0 else line(n, stages=None, state=None) for n in range(1, 7)),
        STATE,
        DECLARED,
    )
    other = with_lines(run, s6=line(6, batch="x", gradient="x", update="x", adam="x"))
    comparison = walk(run, other)
    assert known(comparison) == ("undetermined", 6, 3, "batch")
    assert inputs(comparison) == [("state:sampler", None)]
    assert comparison.component_counts()[0] == StepCount(
        name="adam", compared=2, differing=1, first_step=6
    )


def test_stages_of_one_side_alone_are_not_compared() -> None:
    """What one log does not record cannot differ."""
    comparison = walk(RUN, with_lines(RUN, s2=line(2, stages=None)))
    assert comparison.divergence is None
    assert comparison.stage_counts()[0] == StepCount(name="batch", compared=3, differing=0)


# ---------------------------------------------------------------- views


def test_a_view_begins_with_the_state_before_its_first_step() -> None:
    """Lines before it are skipped; the state is that of the line before."""
    view = view_from(RUN.header, RUN.start, RUN.steps(), 3)
    assert view.before == {name: digest_of(f"{name[0]}2") for name in STATE}
    assert [one.step for one in view.steps] == [3, 4]
    assert view.declared == DECLARED


def test_a_view_from_the_first_step_begins_with_the_start_line() -> None:
    view = view_from(RUN.header, RUN.start, RUN.steps(), 1)
    assert view.before == {name: digest_of(letter) for name, letter in STATE.items()}
    assert [one.step for one in view.steps] == [1, 2, 3, 4]


def test_a_view_after_an_unrecorded_state_does_not_know_it() -> None:
    """Unknown is not the state of some step before."""
    run = with_lines(RUN, s2=line(2, state=None))
    assert view_from(run.header, run.start, run.steps(), 3).before is None


def test_a_resume_from_an_unrecorded_state_is_undetermined() -> None:
    """The reference did not record what the run started from."""
    run = with_lines(RUN, s2=line(2, state=None))
    resumed = replace(run, first_step=3, lines=(line(3, gradient="x"), line(4)))
    assert known(walk(run, resumed)) == ("undetermined", 3, 2, "gradient")


def test_a_view_beyond_the_end_is_empty() -> None:
    """A first step that no log reaches ends with the log, however far it lies."""
    view = view_from(RUN.header, RUN.start, RUN.steps(), 2**53 - 1)
    assert list(view.steps) == []


def test_a_resumed_run_is_compared_from_its_first_step() -> None:
    """The reference's lines before it are not part of the comparison."""
    resumed = replace(
        with_lines(RUN, s3=line(3, gradient="x")),
        first_step=3,
        state={name: f"{name[0]}2" for name in STATE},
    )
    resumed = replace(resumed, lines=resumed.lines[2:])
    comparison = walk(RUN, resumed)
    assert known(comparison) == ("output", 3, 2, "gradient")
    assert comparison.stage_counts()[1] == StepCount(
        name="gradient", compared=2, differing=1, first_step=3
    )


def test_split_sorts_names_by_equality() -> None:
    """Names are sorted; one without a partner differs, on either side."""
    assert split({"c": "1", "b": "1", "a": "1"}, {"b": "2", "d": "1", "a": "1"}) == Split(
        equal=("a",), differing=("b", "c", "d")
    )
    assert split({}, {}) == Split()


# ---------------------------------------------------------------- how much work it is


class Once(str):
    """A name that counts how often it is compared with another."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Once.compared += 1
        return str.__eq__(self, other)


def test_the_work_of_a_step_grows_with_its_names_and_not_with_their_square() -> None:
    """A line of a megabyte has thousands of components, and in a hostile one all of them differ."""
    names = [Once(f"c{number:04d}") for number in range(400)]
    sides = [
        tuple((name, digest_of(f"{side}{name}")) for name in names) for side in ("left", "right")
    ]
    runs = [
        replace(
            RUN,
            lines=(
                StepLine.model_construct(
                    chain="",
                    step=1,
                    metrics={},
                    printed={},
                    stages=one,
                    state=one,
                    declares=None,
                    finish=None,
                ),
            ),
        )
        for one in sides
    ]
    Once.compared = 0
    (pair,) = LogComparison(
        view_from(runs[0].header, runs[0].start, runs[0].steps(), 1),
        view_from(runs[1].header, runs[1].start, runs[1].steps(), 1),
        1,
    ).pairs()
    assert sum(name in pair.differing_stages for name in names) == 400
    assert Once.compared < 40 * 400
