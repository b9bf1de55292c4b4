"""A divergence in words: where, on what evidence, and what could have caused it.

Evidence and hypothesis never share a sentence. A fingerprint finds the first difference; it does
not explain its cause, so causes are only ever "consistent with" what was found, or not.
"""

from __future__ import annotations

from collections.abc import Iterable

from repropack._present.layout import join_names, plural, stage_text
from repropack.models.base import OUTPUT_PREFIX
from repropack.models.reports import RunVerification
from repropack.models.results import Divergence

_STATE = "state:"
_CONSTANT = "constant "
_CONFIGURATION = "configuration "


def divergence_place(divergence: Divergence) -> str:
    """Where two logs part.

    Returns:
        Step and stage like a path, ``step 41 · batch``; where steps between were not recorded
        whole, those in which it lies, ``steps 41..45 · batch``. For a command, which has one step,
        the output alone.
    """
    if is_output(divergence):
        return stage_text(divergence.stage or "")
    first = divergence.last_equal_step + 1
    narrowed = first < divergence.step and divergence.kind != "length"
    steps = f"steps {first}..{divergence.step}" if narrowed else f"step {divergence.step}"
    what = _what(divergence)
    return f"{steps} · {what}" if what else steps


def is_output(divergence: Divergence) -> bool:
    """Whether it lies in an output of a command."""
    return (divergence.stage or "").startswith(OUTPUT_PREFIX)


def divergence_evidence(divergence: Divergence) -> str:
    """What was observed there, and nothing else."""
    if is_output(divergence) and divergence.kind == "output":
        others, differing = len(divergence.stages.equal), len(divergence.stages.differing)
        parts = plural(others + differing, "output or array", "outputs and arrays")
        return f"{differing} of {parts} {'differs' if differing == 1 else 'differ'}"
    if divergence.kind in {"output", "undetermined"}:
        equal = join_names(_named(divergence, equal=True))
        unknown = join_names(_named(divergence, equal=None))
        inputs = f"inputs equal ({equal}), " if equal else ""
        unrecorded = f"inputs not recorded ({unknown}), " if unknown else ""
        return f"{inputs}{unrecorded}output differs"
    if divergence.kind == "state":
        return _state_evidence(divergence)
    if divergence.kind == "structure":
        return _structure_evidence(divergence)
    if divergence.kind == "metric":
        names = join_names(divergence.metrics.differing) or "a metric"
        verb = "differ" if len(divergence.metrics.differing) > 1 else "differs"
        return f"every recorded stage and component is equal, {names} {verb}"
    return _length_evidence(divergence)


def differing_components(divergence: Divergence) -> tuple[str, ...]:
    """Components that differ: those that the stage was made of, else those of the whole state."""
    if divergence.stage is not None:
        names = _named(divergence, equal=False)
        return tuple(name.removeprefix(_STATE) for name in names if name.startswith(_STATE))
    split = divergence.state_after
    return split.differing if split is not None else ()


def differing_constants(run: RunVerification) -> tuple[str, ...]:
    """Constants of a run that are not the recorded ones."""
    found = (
        problem.removeprefix(_CONSTANT).partition(" differs")[0].strip("'\"")
        for problem in run.problems
        if problem.startswith(_CONSTANT)
    )
    return tuple(dict.fromkeys(found))


def state_holder(*, loop: bool) -> str:
    """What holds an experiment's state, in a word that its author knows."""
    return "the attached state" if loop else "state_dict"


def hypotheses(
    run: RunVerification, *, environment_differs: bool, loop: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a run's divergence is consistent with, and what it is not.

    Where the configuration or a constant differs, that comes before any step, and no operation is
    blamed.

    Args:
        run: A run that does not equal the recorded one.
        environment_differs: Whether the environment here is another than the recorded one.
        loop: Whether a script was run that owns its loop.

    Returns:
        Causes that the evidence allows, then causes that it excludes; either may be empty.
    """
    divergence = run.divergence
    allowed = list(_before_any_step(run))
    if not allowed and divergence is not None:
        allowed = [_cause(run, divergence, state_holder(loop=loop))]
    if allowed and environment_differs:
        allowed.insert(0, "the other environment (above)")
    return tuple(allowed), () if divergence is None else tuple(_excluded(run, divergence))


def _what(divergence: Divergence) -> str:
    if divergence.stage is not None:
        return stage_text(divergence.stage)
    if divergence.kind == "state":
        return f"state {join_names(differing_components(divergence), 4)}".rstrip()
    if divergence.kind == "metric":
        return f"metric {join_names(divergence.metrics.differing, 4)}".rstrip()
    return "end of the run" if divergence.kind == "length" else ""


def _state_evidence(divergence: Divergence) -> str:
    components = join_names(differing_components(divergence)) or "a component"
    if divergence.stage is None:
        return f"every recorded stage is equal, state differs after the step: {components}"
    equal = join_names(_named(divergence, equal=True))
    return f"state differs: {components}" + (f"; equal: {equal}" if equal else "")


def _structure_evidence(divergence: Divergence) -> str:
    parts = []
    if divergence.missing:
        parts.append(f"missing: {join_names(divergence.missing)}")
    if divergence.unexpected:
        parts.append(f"unexpected: {join_names(divergence.unexpected)}")
    return f"other stages ({'; '.join(parts) or 'in another order, or made of other inputs'})"


def _length_evidence(divergence: Divergence) -> str:
    if divergence.missing:
        return f"the run ended before step {divergence.step}, the one it is held against did not"
    if divergence.unexpected:
        return f"the run went on to step {divergence.step}, the one it is held against had ended"
    return "every recorded value is equal, the reason for the end differs"


def _before_any_step(run: RunVerification) -> Iterable[str]:
    """Causes that lie in what a run was made of: its configuration, its constants."""
    if any(problem.startswith(_CONFIGURATION) for problem in run.problems):
        yield "the other configuration (above)"
    if differing_constants(run):
        yield _other_beginning(run)


def _other_beginning(run: RunVerification) -> str:
    """Constants or a first state that are not the recorded ones; two equal runs rule out chance."""
    if run.repeats:
        return "other code or data"
    return "other code or data, or something random that is not pinned"


def _cause(run: RunVerification, divergence: Divergence, holder: str) -> str:
    """The hypothesis for each kind of divergence."""
    at_first_step = divergence.last_equal_step + 1 <= run.first_step
    if divergence.kind in {"output", "state"} and _starts_differently(run, at_first_step):
        return _other_beginning(run)
    if divergence.kind == "output" and is_output(divergence):
        if run.repeats is False:
            return "something that changes from run to run: a clock, randomness that is not pinned"
        return "other code, data or libraries, or another order or rounding of an operation"
    if divergence.kind == "output":
        if at_first_step and run.claim == "exact-resume":
            return (
                f"something that this operation depends on and {holder} does not hold, or "
                "another order or rounding of it"
            )
        if at_first_step:
            return "another order or rounding of this operation"
        return (
            "an operation whose result varies between launches; repeat that step alone to confirm"
        )
    if divergence.kind == "state":
        before = divergence.state_before.differing if divergence.state_before is not None else ()
        names = differing_components(divergence) or before
        components = f"{'component' if len(names) == 1 else 'components'} {join_names(names)}"
        if at_first_step and (divergence.stage is not None or before):
            return f"an incomplete or reset checkpoint: {components}"
        return f"something that no stage records changes the state: {components}"
    return _OTHER_CAUSES[divergence.kind]


_OTHER_CAUSES = {
    "metric": "a metric made of something that neither a stage nor the state records",
    "structure": "another version of the code, or a branch that depends on what is not recorded",
    "length": "an end that depends on something that is not recorded, or a run cut short",
    "undetermined": "another operation or another state: record every input to tell them apart",
}


def _starts_differently(run: RunVerification, at_first_step: bool) -> bool:  # noqa: FBT001
    """A fresh run whose state before its first step is not the recorded one."""
    if not at_first_step or run.first_step > 1:
        return False
    before = run.divergence.state_before if run.divergence is not None else None
    return before is not None and bool(before.differing)


def _excluded(run: RunVerification, divergence: Divergence) -> Iterable[str]:
    stages = divergence.stages.equal if divergence.kind in {"output", "state"} else ()
    if stages:
        yield f"other values of {join_names(map(stage_text, stages))} (equal)"
    before = None if is_output(divergence) else divergence.state_before
    if before is not None and not before.differing and divergence.kind != "length":
        starting = divergence.step == run.first_step
        yield f"another {'starting state' if starting else 'state before the step'} (equal)"
    if divergence.kind == "state" and divergence.stage is not None:
        stage = stage_text(divergence.stage)
        yield f"another computation of {stage} (what it is made of differs already)"
    if run.repeats:
        yield "a result that varies between launches (a second run here equals the first)"


def _named(divergence: Divergence, *, equal: bool | None) -> tuple[str, ...]:
    return tuple(item.name for item in divergence.inputs if item.equal is equal)
