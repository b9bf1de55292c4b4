"""Which patterns of docs/divergences.md the evidence of a divergence is consistent with.

Each rule says what evidence it needs. Where that is missing it says nothing: neither that the
evidence is consistent with its pattern, nor that it is not. No rule names a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from repropack._compare.element_patterns import (
    discrete_decision,
    equal_when_printed,
    extra_draws,
    last_bits_alone,
    other_form,
    signed_zero_or_nan,
)
from repropack._compare.evidence import (
    Evidence,
    blamed_components,
    evidence_of_difference,
    evidence_of_references,
    evidence_of_run,
)
from repropack._compare.pattern_words import counted, excluded, fits, stage_names
from repropack._compare.repeated import varying_operation, what_outlives
from repropack.models.package_difference import PackageDifference
from repropack.models.patterns import Pattern
from repropack.models.reports import Confinement, RunVerification
from repropack.models.results import Divergence
from repropack.models.run_difference import RunDifference
from repropack.models.zoom import SandboxLevel, Zoom

_SECOND_RUN = "a second run here equals the first"


def patterns_of(evidence: Evidence) -> tuple[Pattern, ...]:
    """Apply every rule.

    Args:
        evidence: What is known of two runs.

    Returns:
        The patterns that the evidence is consistent with, then those that it excludes, each in the
        order of docs/divergences.md; none where the runs are equal.
    """
    if evidence.divergence is None and not evidence.made_otherwise and not evidence.start_differs:
        return ()
    found = [pattern for rule in _RULES if (pattern := rule(evidence)) is not None]
    return tuple(sorted(found, key=lambda pattern: not pattern.consistent))


def runs_with_patterns(
    runs: Iterable[RunVerification], confinement: Confinement | None
) -> tuple[RunVerification, ...]:
    """Runs that were verified, the reference first, with their patterns."""
    level = None if confinement is None else confinement.level
    known, reference = [], None
    for run in runs:
        known.append(run_with_patterns(run, reference, level))
        if run.claim == "independent-replay" and reference is None:
            reference = run.divergence
    return tuple(known)


def run_with_patterns(
    run: RunVerification, reference: Divergence | None = None, level: SandboxLevel | None = None
) -> RunVerification:
    """A run that was verified, with its patterns; one that is equal has none.

    Args:
        run: What was found.
        reference: Where a run from the beginning parts, of those that were verified before it.
        level: How it was confined.

    Returns:
        The run.
    """
    if run.equal:
        return run
    patterns = patterns_of(evidence_of_run(run, reference, level))
    return run.model_copy(update={"patterns": patterns})


def difference_with_zoom(difference: RunDifference, zoom: Zoom) -> RunDifference:
    """Two runs that were compared, with the step that was looked at; patterns follow from both."""
    return difference_with_patterns(difference.model_copy(update={"zoom": zoom}))


def packages_with_zoom(difference: PackageDifference, zoom: Zoom) -> PackageDifference:
    """Two packages that were compared, with the step at which their references part."""
    results = difference.results
    if results is not None:
        evidence = evidence_of_references(results.reference, zoom)
        reference = results.reference.model_copy(update={"patterns": patterns_of(evidence)})
        results = results.model_copy(update={"reference": reference})
    return difference.model_copy(update={"zoom": zoom, "results": results})


def difference_with_patterns(difference: RunDifference) -> RunDifference:
    """Two runs that were compared, with their patterns; none where nothing could be compared."""
    if not difference.comparable or difference.verdict != "differs":
        return difference
    patterns = patterns_of(evidence_of_difference(difference))
    return difference.model_copy(update={"patterns": patterns})


def _other_beginning(e: Evidence) -> Pattern | None:
    """Needs what both runs began with; of the first stage of all, nothing before it."""
    because = ["the configuration differs"] if e.config_equal is False else []
    if e.constants_differ:
        because.append("constants differ")
    if e.start_differs and not e.resumed:
        because.append("the first state differs")
    found = e.divergence
    if not because and found is not None and _is_first_of_all(e, found):
        because.append(f"nothing that is recorded before it differs, in step {found.step}")
    if because:
        if e.repeats is not None:
            because.append(_SECOND_RUN if e.repeats else "two runs here differ from each other too")
        own_start = () if e.resumed else e.start_differs
        return fits("other-beginning", because, (*e.constants_differ, *own_start))
    if e.resumed or e.config_equal is None or e.constants is None or e.start is None:
        return None
    equal = ["configuration, constants and first state are equal"]
    if found is not None and found.stages.equal and e.in_first_step:
        equal.append("so are the stages before it")
    return excluded("other-beginning", equal)


def _is_first_of_all(e: Evidence, found: Divergence) -> bool:
    """The first stage of the first step of a fresh run: only code and data come before it."""
    if e.resumed or not e.in_first_step or found.kind not in {"output", "undetermined"}:
        return False
    return e.of_a_command or not found.stages.equal


def _other_order(e: Evidence) -> Pattern | None:
    """Needs equal inputs in the first step, or later and a second run here that is equal.

    Later, and of a run that was resumed or has another configuration, elements that differ in their
    last bits as well: more than that is seldom an order. Of a resumed run, a reference that parts
    at the same stage does instead.

    Returns:
        The pattern, or ``None`` where that evidence is missing.
    """
    found = e.divergence
    if found is None:
        return None
    if found.kind == "state" and found.stage is not None:
        because = ["what it is made of differs already"]
        return excluded("other-order", because, stage_names(found))
    if found.kind != "output" or e.constants_differ or e.repeats is False:
        return None
    if not e.in_first_step and e.repeats is None:
        return None
    own = e.stage_array
    few = own is not None and last_bits_alone(own)
    later = e.resumed or not e.in_first_step
    if (e.config_equal is False or (later and not _parts_from_the_start(e))) and not few:
        return None
    because = ["what is recorded of its inputs is equal"]
    if _parts_from_the_start(e):
        because.append("the reference, which is not resumed, parts at this stage as well")
    if few:
        because.append("elements differ in their last bits")
    if e.repeats:
        because.append(_SECOND_RUN)
    return fits("other-order", because, stage_names(found))


def _parts_from_the_start(e: Evidence) -> bool:
    """Whether a run without a checkpoint parts at the same stage, from equal inputs as well."""
    found, other = e.divergence, e.reference
    if not e.resumed or found is None or other is None or other.kind != "output":
        return False
    return found.kind == "output" and found.stage == other.stage


def _incomplete_checkpoint(e: Evidence) -> Pattern | None:
    """Needs a run that began from a stored state, or a step that was repeated."""
    found = e.divergence
    if found is not None and (outlives := what_outlives(e)) is not None:
        return fits("incomplete-checkpoint", [outlives], stage_names(found))
    if not e.resumed or e.made_otherwise:
        return None
    if e.start_differs:
        because = [f"the state after step {e.first_step - 1} that it began with differs"]
        return fits("incomplete-checkpoint", because, e.start_differs)
    if found is None or e.start is None or found.kind not in {"output", "state", "undetermined"}:
        return None
    if _parts_from_the_start(e):
        return None
    because = [f"every component restored after step {e.first_step - 1} is equal"]
    if e.in_first_step:
        because.append("the first step made from it differs")
    else:
        equal = found.last_equal_step - e.first_step + 1
        because.append(f"{counted(equal)} equal after it, step {found.step} is not")
    return fits("incomplete-checkpoint", because, stage_names(found) or blamed_components(found))


def _masked_difference(e: Evidence) -> Pattern | None:
    """Needs counts of every stage over all compared steps, and a state that differs."""
    found = e.divergence
    names = dict.fromkeys(e.start_differs)
    names |= dict.fromkeys(row.name for row in e.components if row.differing)
    if not names or not e.stages or (found is not None and found.stage is not None):
        return None
    later = [
        f"{row.name} differs from step {row.first_step} on"
        for row in (*e.stages, *e.metrics)
        if row.differing
    ]
    later += [f"{row.metric} prints another text" for row in e.printed if row.equal < row.compared]
    if found is not None and found.kind == "metric":
        later += [f"{name} differs at step {found.step}" for name in found.metrics.differing]
    if later:
        return excluded("masked-difference", later, names)
    if found is not None and found.kind != "state":
        return None
    compared = max(row.compared for row in e.stages)
    results = "stage and metric" if e.metrics else "stage"
    return fits("masked-difference", [f"every {results} is equal at {compared} steps"], names)


def _other_stages(e: Evidence) -> Pattern | None:
    found = e.divergence
    if found is None or found.kind != "structure":
        return None
    because = [
        f"stages that only the {side} run has"
        for side, names in (("left", found.missing), ("right", found.unexpected))
        if names
    ]
    names = (*found.missing, *found.unexpected) or stage_names(found)
    return fits("other-stages", because or ["another order, or made of other inputs"], names)


def _other_length(e: Evidence) -> Pattern | None:
    found = e.divergence
    if found is None or found.kind != "length":
        return None
    if found.missing or found.unexpected:
        side = "right" if found.missing else "left"
        return fits("other-length", [f"the {side} run ended before step {found.step}"])
    because = (
        f"after step {found.step} one ended by itself; the other did not, or gave another reason"
    )
    return fits("other-length", [because])


def _unrecorded_metric(e: Evidence) -> Pattern | None:
    found = e.divergence
    if found is None or found.kind != "metric":
        return None
    because = ["every recorded stage and component of the step is equal"]
    return fits("unrecorded-metric", because, found.metrics.differing)


def _unrecorded_input(e: Evidence) -> Pattern | None:
    """Needs a stage whose inputs are not all recorded, or a state that no stage accounts for."""
    found = e.divergence
    if found is None:
        return None
    if found.kind == "undetermined":
        names = [item.name for item in found.inputs if item.equal is None]
        return fits("unrecorded-input", ["these of its inputs are not recorded"], names)
    before = found.state_before
    if found.kind != "state" or found.stage is not None or before is None or before.differing:
        return None
    because = ["every recorded stage of the step is equal, and the state after it is not"]
    return fits("unrecorded-input", because, blamed_components(found))


_RULES: tuple[Callable[[Evidence], Pattern | None], ...] = (
    _other_beginning,
    _other_order,
    _incomplete_checkpoint,
    extra_draws,
    varying_operation,
    discrete_decision,
    _masked_difference,
    signed_zero_or_nan,
    other_form,
    equal_when_printed,
    _other_stages,
    _other_length,
    _unrecorded_metric,
    _unrecorded_input,
)
