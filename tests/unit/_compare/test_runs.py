"""Two logs walked to their ends: what is counted, other stages, and whether the runs meet again."""

from __future__ import annotations

from typing import Any

from repropack._compare.logs import view_from
from repropack._compare.runs import MAX_NAMES, RunWalk
from repropack.models.log import StepLine
from repropack.models.results import PrintedAgreement, StepCount
from repropack.models.run_difference import Stretch, StructureDifference, WhyIncomparable
from tests.support.logs import Declared, HandMadeRun, step

DECLARED: Declared = {"batch": ("state:sampler",), "gradient": ("batch",), "update": None}
STATE = {"sampler": "s0", "weights": "w0"}


def line(number: int, changed: str = "", **members: Any) -> StepLine:
    """A step; the stages and components that ``changed`` names by their first letter differ."""
    stages = {name: f"{name}{number}" for name in ("batch", "gradient", "update")}
    state = {name: f"{name}{number}" for name in STATE}
    for named in (stages, state):
        for name in named:
            named[name] += "!" * (name[0] in changed)
    given = {"stages": stages, "state": state, "metrics": {"loss": 1.5}, "printed": {"loss": "1.5"}}
    return step(number, **{**given, **members})


def run_of(*changed: str, **single: StepLine) -> HandMadeRun:
    """A run with a text for each step that says what differs; whole lines as ``s3=...``."""
    lines = [line(number, text) for number, text in enumerate(changed, start=1)]
    for name, one in single.items():
        lines[int(name[1:]) - 1] = one
    return HandMadeRun(tuple(lines), STATE, DECLARED)


RUN = run_of(*[""] * 8)


def walk(left: HandMadeRun, right: HandMadeRun, *, to_the_end: bool = True) -> RunWalk:
    first = max(left.first_step, right.first_step)
    found = RunWalk(
        view_from(left.header, left.start, left.steps(), first),
        view_from(right.header, right.start, right.steps(), first),
        first,
    )
    found.walk(to_the_end=to_the_end)
    return found


# ---------------------------------------------------------------- counts


def test_everything_that_differs_is_counted_to_the_end() -> None:
    """Steps, stages, components and metrics, each with the first step at which it differs."""
    other = run_of("", "", "g", "gw", "g", "", "b", "")
    found = walk(RUN, other)
    counts = found.counts()
    assert (counts.compared, counts.differing, counts.unrecorded) == (8, 4, 0)
    assert counts.stages == (
        StepCount(name="batch", compared=8, differing=1, first_step=7),
        StepCount(name="gradient", compared=8, differing=3, first_step=3),
        StepCount(name="update", compared=8, differing=0),
    )
    assert counts.components == (
        StepCount(name="sampler", compared=8, differing=0),
        StepCount(name="weights", compared=8, differing=1, first_step=4),
    )
    assert counts.metrics == (StepCount(name="loss", compared=8, differing=0),)
    assert counts.printed == (PrintedAgreement(metric="loss", compared=8, equal=8),)
    assert (found.last_step, found.recorded_alike, found.reasons()) == (8, True, ())


def test_a_metric_is_compared_as_it_is_stored() -> None:
    """Minus zero is not zero, a missing one differs, and a text is one of its own."""
    other = run_of(
        *[""] * 8,
        s2=line(2, metrics={"loss": 1.5, "norm": 2.0}),
        s4=line(4, metrics={"loss": -0.0}),
        s5=line(5, printed={"loss": "1.50"}),
    )
    zero = run_of(*[""] * 8, s4=line(4, metrics={"loss": 0.0}))
    counts = walk(zero, other).counts()
    assert counts.metrics == (
        StepCount(name="loss", compared=8, differing=2, first_step=4),
        StepCount(name="norm", compared=1, differing=1, first_step=2),
    )
    assert counts.printed == (PrintedAgreement(metric="loss", compared=8, equal=7),)
    assert counts.differing == 3


def test_nothing_is_walked_behind_the_divergence_unless_asked() -> None:
    """The divergence is the same one."""
    other = run_of("", "", "g", "gw", "g", "", "b", "")
    short, whole = walk(RUN, other, to_the_end=False), walk(RUN, other)
    assert short.divergence == whole.divergence
    assert short.counts().compared == 3


def test_another_end_is_a_difference_of_its_step() -> None:
    """The reason is recorded."""
    found = walk(RUN, run_of(*[""] * 8, s8=line(8, finish="converged")))
    assert found.divergence is not None
    assert (found.divergence.kind, found.counts().differing) == ("length", 1)


def test_names_beyond_a_number_are_not_counted() -> None:
    """A log may have new ones at every step, and memory is not to grow with it."""
    many = {f"s{number}": "a" for number in range(MAX_NAMES + 5)}
    lines = HandMadeRun((step(1, many, metrics={"loss": 1.0}),), {}, {})
    counts = walk(lines, lines).counts()
    assert (len(counts.stages), counts.names_left_out) == (MAX_NAMES, True)
    assert walk(RUN, RUN).counts().names_left_out is False


# ---------------------------------------------------------------- meeting again


def stretches(*changed: str) -> tuple[Stretch | None, Stretch | None]:
    counts = walk(run_of(*[""] * len(changed)), run_of(*changed)).counts()
    return counts.meets_again, counts.equal_between


def test_runs_that_meet_again_say_from_where() -> None:
    """To the end, or only for a while; the longest of those; never before the divergence."""
    end, between = Stretch(first_step=5, last_step=6), Stretch(first_step=3, last_step=4)
    assert stretches("", "", "g", "b", "", "") == (end, None)
    assert stretches("", "g", "", "", "g", "g") == (None, between)
    assert stretches("g", "", "g", "", "", "g", "", "g") == (
        None,
        Stretch(first_step=4, last_step=5),
    )
    assert stretches("g", "", "g", "", "") == (
        Stretch(first_step=4, last_step=5),
        Stretch(first_step=2, last_step=2),
    )
    assert stretches("", "", "g") == (None, None)
    assert stretches("", "", "") == (None, None)


def test_a_state_that_differs_is_no_meeting() -> None:
    """Though every stage is equal again."""
    assert stretches("", "gw", "w", "w") == (None, None)


def test_a_meeting_begins_with_a_recorded_state() -> None:
    """Stages alone tell too little where a state is recorded now and then."""

    def sparse(*changed: str) -> HandMadeRun:
        whole = run_of(*changed)
        lines = (
            one if one.step % 3 == 0 else one.model_copy(update={"state": None})
            for one in whole.lines
        )
        return HandMadeRun(tuple(lines), STATE, DECLARED)

    found = walk(sparse(*[""] * 8), sparse("", "g", "", "", "", "", "", ""))
    assert found.counts().meets_again == Stretch(first_step=3, last_step=8)
    found = walk(sparse(*[""] * 8), sparse("", "g", "w", "", "", "", "", ""))
    assert found.counts().meets_again == Stretch(first_step=6, last_step=8)


def test_stages_are_enough_where_no_state_is_recorded_at_all() -> None:
    """A run that has none meets again by its stages."""

    def stateless(*changed: str) -> HandMadeRun:
        lines = (one.model_copy(update={"state": None}) for one in run_of(*changed).lines)
        return HandMadeRun(tuple(lines), {}, DECLARED)

    found = walk(stateless("", "", "", ""), stateless("", "g", "", ""))
    assert found.counts().meets_again == Stretch(first_step=3, last_step=4)


# ---------------------------------------------------------------- other stages


def structure(*names: str, declares: Declared | None = None) -> StructureDifference | None:
    """What is found where step 3 has these stages, and step 5 too."""
    stages = {name: f"{name}3" for name in names}
    changed = [line(number, stages=stages, declares=declares) for number in (3, 5)]
    return walk(RUN, run_of(*[""] * 8, s3=changed[0], s5=changed[1])).structure


def test_missing_extra_and_reordered_stages_are_told_apart() -> None:
    """Each is a finding of its own, with the first step and their number."""
    first: dict[str, Any] = {"step": 3, "steps": 2}
    assert structure("batch", "update") == StructureDifference(missing=("gradient",), **first)
    assert structure("batch", "clip", "gradient", "update") == StructureDifference(
        extra=("clip",), **first
    )
    assert structure("gradient", "batch", "update") == StructureDifference(
        reordered=("gradient", "batch"), **first
    )
    assert structure("clip", "update", "batch") == StructureDifference(
        missing=("gradient",), extra=("clip",), reordered=("update", "batch"), **first
    )
    assert structure("batch", "gradient", "update") is None


def test_a_stage_made_of_other_inputs_is_told() -> None:
    """Whether a line says so or the header."""
    names = ("batch", "gradient", "update")
    found = structure(*names, declares={"gradient": ("batch", "state:weights")})
    assert found == StructureDifference(step=3, redeclared=("gradient",), steps=2)
    other = HandMadeRun(RUN.lines, STATE, {**DECLARED, "batch": None})
    found = walk(RUN, other).structure
    assert found == StructureDifference(step=1, redeclared=("batch",), steps=8)


def test_other_stages_are_found_behind_the_divergence_too() -> None:
    """The first difference is another one."""
    other = run_of("", "g", "", "", "", "", "", "", s6=line(6, stages={"batch": "batch6"}))
    found = walk(RUN, other)
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.step) == ("output", 2)
    assert found.structure is not None
    assert (found.structure.step, found.structure.missing) == (6, ("gradient", "update"))


# ---------------------------------------------------------------- what cannot be compared


def test_logs_of_other_experiments_are_not_compared() -> None:
    """No stage and no component in common: the first names of each side are told."""
    stranger = HandMadeRun(
        tuple(step(number, {"q": "a"}, {"z": "b"}) for number in range(1, 9)), {"z": "b"}, {}
    )
    left = ("batch", "gradient", "update", "state:sampler", "state:weights")
    assert walk(RUN, stranger).reasons() == (
        WhyIncomparable(reason="no-name-in-common", left=left, right=("q", "state:z")),
    )
    cousin = HandMadeRun(
        tuple(step(number, {"q": "a"}, {"weights": "b"}) for number in range(1, 9)), {}, {}
    )
    assert walk(RUN, cousin).reasons() == ()


def test_logs_that_were_never_recorded_at_one_step_are_not_compared() -> None:
    """Nothing of one is held against anything of the other; a metric would be enough."""

    def every(remainder: int, metric: float = 1.5) -> HandMadeRun:
        lines = (
            line(number, metrics={"loss": metric})
            if number % 2 == remainder
            else line(number, stages=None, state=None, metrics={"loss": metric})
            for number in range(1, 9)
        )
        return HandMadeRun(tuple(lines), STATE, DECLARED)

    found = walk(every(0), every(1))
    assert [why.reason for why in found.reasons()] == ["never-recorded-together"]
    assert (found.recorded_alike, found.counts().unrecorded) == (False, 8)
    assert walk(every(0), every(1, 2.5)).reasons() == ()
    assert walk(RUN, every(1)).reasons() == ()
    assert walk(RUN, every(1)).recorded_alike is False


def test_a_run_that_records_nothing_is_equal_to_itself() -> None:
    """Neither side has a name that the other could lack."""
    empty = HandMadeRun(tuple(step(number, {}, {}) for number in range(1, 3)), {}, {})
    found = walk(empty, empty)
    assert (found.reasons(), found.divergence) == ((), None)
