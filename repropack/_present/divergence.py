"""A divergence in words: where it is, and what was observed there.

A fingerprint finds the first difference; it does not explain its cause. What the evidence is
consistent with is said apart from it, by ``patterns``.
"""

from __future__ import annotations

from repropack._compare.evidence import blamed_components
from repropack._present.layout import join_names, plural, stage_text
from repropack.models.base import OUTPUT_PREFIX
from repropack.models.results import Divergence


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


def state_holder(*, loop: bool) -> str:
    """What holds an experiment's state, in a word that its author knows."""
    return "the attached state" if loop else "state_dict"


def _what(divergence: Divergence) -> str:
    if divergence.stage is not None:
        return stage_text(divergence.stage)
    if divergence.kind == "state":
        return f"state {join_names(blamed_components(divergence), 4)}".rstrip()
    if divergence.kind == "metric":
        return f"metric {join_names(divergence.metrics.differing, 4)}".rstrip()
    return "end of the run" if divergence.kind == "length" else ""


def _state_evidence(divergence: Divergence) -> str:
    components = join_names(blamed_components(divergence)) or "a component"
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
    return "every recorded value is equal, whether and why the run ended there differs"


def _named(divergence: Divergence, *, equal: bool | None) -> tuple[str, ...]:
    return tuple(item.name for item in divergence.inputs if item.equal is equal)
