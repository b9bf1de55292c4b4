"""What each comparison found, in words and numbers, for the terminal and the packaged README.

Every sentence follows from ``results.json`` and the plan, for any experiment's names. Printed
values stand beside the exact comparison, never instead of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from repropack._format.canonical import encode_canonical
from repropack._format.contents import read_output_stage
from repropack._present.divergence import divergence_evidence, divergence_place, state_holder
from repropack._present.escape import escape_text
from repropack._present.layout import (
    join_names,
    number,
    plural,
    short_number,
    stage_text,
    step_range,
)
from repropack.models.plan import ComparisonPlan, ExpectedDivergence, RecordPlan
from repropack.models.results import (
    ComparisonOutcome,
    FinalMetric,
    Results,
    StepCount,
)

_BETTER_LOWER = ("loss", "error")
"""What names contain for which less is better."""

_BETTER_HIGHER = frozenset({
    "acc", "accuracy", "auc", "auroc", "bleu", "f1", "iou", "miou", "precision", "r2", "recall",
    "reward", "score",
})  # fmt: skip
"""Words in the names of metrics for which more is better; of all others nothing is known."""


def findings_table(results: Results) -> tuple[list[str], list[list[str]], tuple[int, ...]]:
    """The comparisons as a table.

    Returns:
        Headings, some of two lines; one row a comparison; columns aligned to the right. Of a
        command, whose stages are its outputs, how many of those are equal.
    """
    if results.comparisons and all(map(output_counts, results.comparisons)):
        return _outputs_table(results)
    kept = _in_order(row.stage for outcome in results.comparisons for row in outcome.kept)
    printed = _in_order(row.metric for outcome in results.comparisons for row in outcome.printed)
    header = ["comparison", "steps", "first divergence"]
    header += [f"{escape_text(stage, 40)}\ndiffers at" for stage in kept]
    header += [f"{escape_text(metric, 40)} prints\nequal at" for metric in printed]
    header += [f"largest diff.\nof {escape_text(stage, 40)}" for stage in kept]
    header += ["as\nexpected"]
    rows = [
        [
            escape_text(outcome.run, 80),
            step_range(outcome.first_step, outcome.last_step),
            _place(outcome),
            *(_count(_step_count(outcome, stage)) for stage in kept),
            *(_printed_count(outcome, metric) for metric in printed),
            *(_largest(outcome, stage) for stage in kept),
            _as_expected(outcome),
        ]
        for outcome in results.comparisons
    ]
    return header, rows, tuple(range(3, 3 + len(kept) + len(printed)))


def contrasts(outcome: ComparisonOutcome) -> Iterator[str]:
    """What a reader would get wrong who looked at printed values or final metrics alone.

    Yields:
        One sentence each; none for a comparison that is identical.
    """
    if outcome.identical:
        return
    name = escape_text(outcome.run, 80)
    same_print = [
        row.metric for row in outcome.printed if row.compared and row.equal == row.compared
    ]
    for row in outcome.printed:
        if row.metric in same_print:
            yield (
                f"{name} printed the same {escape_text(row.metric, 80)} as the reference at "
                f"{row.equal} of {plural(row.compared, 'step')}; {_inside(outcome)}."
            )
    if not outcome.config_equal:  # never meant to replay
        return
    for final in outcome.final_metrics:
        told = _final_contrast(final) if final.metric not in same_print else None
        if told is not None:
            yield f"{name} did not replay, and ended with {told}"


def failures(outcome: ComparisonOutcome, *, loop: bool = False) -> Iterator[str]:
    """What was expected of a comparison and what was observed instead.

    Args:
        outcome: What the comparison found.
        loop: Whether a script was run that owns its loop.

    Yields:
        One sentence; a second one where the experiment has state that it does not declare; none
        where the expectation held or there is none.
    """
    if outcome.held is False:
        yield f"{escape_text(outcome.run, 80)}: {failure(outcome)}."
        forgotten = forgotten_state(outcome, loop=loop)
        if forgotten is not None:
            yield forgotten


def failure(outcome: ComparisonOutcome) -> str:
    """What was expected and what was observed, without name and full stop."""
    return f"{expectation(outcome.expected)}; observed {observed(outcome)}"


def observed(outcome: ComparisonOutcome) -> str:
    """What a comparison found, after the word "observed"; evidence where the place says too little.

    Returns:
        ``step 1 · w``, say; and that no stage has the expected name, where none has.
    """
    stages, expected = [row.name for row in outcome.stages], outcome.expected
    named = expected.stage if isinstance(expected, ExpectedDivergence) else None
    found, divergence = _observed(outcome), outcome.divergence
    known = list(stages)
    if divergence is not None:
        known += [divergence.stage or "", *(item.name for item in divergence.inputs)]
    if named is None or named in known:
        return found
    there = join_names(map(stage_text, stages)) or "none"
    return f"{found}; no compared step has a stage {stage_text(named)}; stages: {there}"


def _observed(outcome: ComparisonOutcome) -> str:
    if outcome.identical:
        return f"no difference, {_all_equal(outcome)}"
    if outcome.divergence is None:
        return f"{_other_start(outcome)} at its beginning, and every recorded step is equal"
    place = divergence_place(outcome.divergence)
    if outcome.constants.differing:
        return f"{place}; constants differ: {join_names(outcome.constants.differing)}"
    expected = outcome.expected
    place_alone = isinstance(expected, ExpectedDivergence) and expected.component is None
    if place_alone or forgotten_state(outcome) is not None:
        return place
    return f"{place}, {divergence_evidence(outcome.divergence)}"


def forgotten_state(outcome: ComparisonOutcome, *, loop: bool = False) -> str | None:
    """That a resumed run shows state which the experiment does not declare, where it does.

    Args:
        outcome: What the comparison found.
        loop: Whether a script was run that owns its loop.

    Returns:
        The sentence; ``None`` unless the run was expected to be identical, began with the
        configuration, constants and state of the reference, and computed something else from
        equal inputs in its first step.
    """
    divergence = outcome.divergence
    if divergence is None or divergence.kind != "output" or outcome.expected != "identical":
        return None
    other = (*outcome.constants.differing, *outcome.start.differing)
    resumed = outcome.first_step > 1 and outcome.config_equal and not other
    if not resumed or divergence.step != outcome.first_step:
        return None
    names = join_names(item.name for item in divergence.inputs)
    inputs = f"its inputs ({names}) are equal, " if names else ""
    return (
        f"{escape_text(outcome.run, 80)}: {divergence_place(divergence)}: {inputs}its output "
        f"differs: it depends on something that {state_holder(loop=loop)} does not hold, or it "
        "varies by itself."
    )


def outcome_sentence(outcome: ComparisonOutcome) -> str:
    """What one comparison found, without its name."""
    if outcome.identical:
        state, after = "", outcome.final_state
        if after is not None and after.equal and not after.differing:
            state = f", and so is its final state ({join_names(after.equal)})"
        return f"Identical: {_all_equal(outcome)}{state}."
    if outcome.divergence is None:
        return f"It began with {_other_start(outcome)} and is equal in every recorded step."
    counts = output_counts(outcome)
    if counts is not None:
        equal, of = counts
        return f"Different: {of - equal} of {plural(of, 'output')}, first {_place(outcome)}."
    return f"Different: the first divergence is at {_place(outcome)}."


def output_counts(outcome: ComparisonOutcome) -> tuple[int, int] | None:
    """How many outputs of a command are equal, and how many there are, one file each.

    Returns:
        ``None`` where the stages are those of steps.
    """
    found: dict[str, bool] = {}
    for row in outcome.stages:
        output = read_output_stage(row.name)
        if output is None:
            return None
        found[output[0]] = found.get(output[0], True) and not row.differing
    return (sum(found.values()), len(found)) if found else None


def measure_sentences(outcome: ComparisonOutcome) -> Iterator[str]:
    """How often and how far one comparison parts, in numbers.

    Yields:
        A sentence for each kept stage and each printed metric.
    """
    for row in outcome.kept:
        count = _step_count(outcome, row.stage)
        if count is None or not count.differing:
            continue
        far = row.largest_absolute
        largest = (
            f"; the largest difference is {number(far.value)}, first at step {far.first_step}"
            if far is not None
            else ""
        )
        yield f"stage {escape_text(row.stage, 80)} differs at {_count(count)} steps{largest}."
    for agreement in outcome.printed:
        yield (
            f"{escape_text(agreement.metric, 80)} prints equal at {agreement.equal} of "
            f"{plural(agreement.compared, 'step')}."
        )


def intervention(comparison: ComparisonPlan) -> str:
    """What a comparison changes, in words: ``resumed after step 40, adam reset``."""
    if comparison.resume_at is None:
        parts = ["run again from the beginning in a fresh process"]
    else:
        parts = [
            f"resumed in a fresh process from the checkpoint after step {comparison.resume_at}"
        ]
    if comparison.reset:
        value = "its value" if len(comparison.reset) == 1 else "their values"
        parts.append(f"{join_names(comparison.reset)} put back to {value} at step 0")
    parts += [
        f"{escape_text(name, 80)} = {config_value(value)}"
        for name, value in sorted(comparison.config.items())
    ]
    if comparison.hash_seed is not None:
        parts.append(f"PYTHONHASHSEED={comparison.hash_seed}")
    return ", ".join(parts)


def recorded(record: RecordPlan) -> str:
    """What is fingerprinted, and how often."""
    stages, state = record.stages_every, record.state_every
    if stages == state == 1:
        return "every stage and the whole state at every step"
    return f"stages every {plural(stages, 'step')}, the state every {plural(state, 'step')}"


def expectation(expected: str | ExpectedDivergence | None) -> str:
    """What a comparison is expected to find, in words; empty where nothing is."""
    if expected is None:
        return ""
    if isinstance(expected, str):
        return "expected to be identical"
    if expected.stage is not None and read_output_stage(expected.stage) is not None:
        return f"expected to differ first in {stage_text(expected.stage)}"
    parts = [f"expected to part at step {expected.diverges_at}"]
    if expected.stage is not None:
        parts.append(f"at {stage_text(expected.stage)}")
    if expected.component is not None:
        parts.append(f"because component {escape_text(expected.component, 80)} differs")
    return ", ".join(parts)


def config_value(value: object) -> str:
    """A configuration value as canonical JSON; encoded numbers as what they stand for."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$"):
        return number(value)
    return escape_text(encode_canonical(value).decode("utf-8").rstrip("\n"), 120)


def _outputs_table(results: Results) -> tuple[list[str], list[list[str]], tuple[int, ...]]:
    header = ["comparison", "outputs equal", "first difference", "as\nexpected"]
    rows = []
    for outcome in results.comparisons:
        equal, of = output_counts(outcome) or (0, 0)
        row = [escape_text(outcome.run, 80), f"{equal} of {of}"]
        rows.append([*row, _place(outcome), _as_expected(outcome)])
    return header, rows, (1,)


def _all_equal(outcome: ComparisonOutcome) -> str:
    counts = output_counts(outcome)
    if counts is None:
        return f"every fingerprint is equal at {_all_steps(outcome)}"
    if counts[1] == 1:
        return "its one output is equal in what it holds"
    return f"all {counts[1]} outputs are equal in what they hold"


def _place(outcome: ComparisonOutcome) -> str:
    if outcome.divergence is not None:
        return divergence_place(outcome.divergence)
    return "none" if outcome.identical else "its start"


def _inside(outcome: ComparisonOutcome) -> str:
    """What differs although nothing printed does: kept stages, else state, else stages."""
    kept = {row.stage for row in outcome.kept}
    for noun, rows in (
        ("stage", [row for row in outcome.stages if row.name in kept]),
        ("component", list(outcome.components)),
        ("stage", list(outcome.stages)),
    ):
        differing = [row for row in rows if row.differing]
        if differing:
            return "; ".join(
                f"its {noun} {escape_text(row.name, 80)} differs at {_count(row)} steps"
                for row in differing[:4]
            )
    return f"it differs from {_place(outcome)} on"


def _all_steps(outcome: ComparisonOutcome) -> str:
    steps = outcome.last_step - outcome.first_step + 1
    return f"{steps} of {plural(steps, 'step')}"


def _other_start(outcome: ComparisonOutcome) -> str:
    """What differs before the first step of a comparison whose steps are all equal."""
    if outcome.start.differing:
        return f"another state ({join_names(outcome.start.differing)})"
    return f"other constants ({join_names(outcome.constants.differing)})"


def _final_contrast(final: FinalMetric) -> str | None:
    """A last metric that passes for better, or differs in a direction of which nothing is known."""
    reference, run = final.reference, final.run
    if not isinstance(reference, int | float) or not isinstance(run, int | float):
        return None
    name, metric = final.metric.lower(), escape_text(final.metric, 80)
    lower = any(part in name for part in _BETTER_LOWER)
    if lower or not _BETTER_HIGHER.isdisjoint(re.split(r"[^a-z0-9]+", name)):
        what = f"a {'lower' if lower else 'higher'} {metric}"
        better = run < reference if lower else run > reference
        return (
            f"{what} ({number(run)}) than the reference ({number(reference)}): {what} proves "
            "nothing about replay."
            if better
            else None
        )
    return (
        f"another {metric} ({number(run)}, the reference {number(reference)}): whether that looks "
        "better or worse proves nothing about replay."
        if run != reference
        else None
    )


def _step_count(outcome: ComparisonOutcome, stage: str) -> StepCount | None:
    return next((row for row in outcome.stages if row.name == stage), None)


def _count(count: StepCount | None) -> str:
    return "-" if count is None else f"{count.differing} of {count.compared}"


def _printed_count(outcome: ComparisonOutcome, metric: str) -> str:
    row = next((row for row in outcome.printed if row.metric == metric), None)
    return "-" if row is None else f"{row.equal} of {row.compared}"


def _largest(outcome: ComparisonOutcome, stage: str) -> str:
    row = next((row for row in outcome.kept if row.stage == stage), None)
    if row is None or row.largest_absolute is None:
        return "-"
    return f"{short_number(row.largest_absolute.value)} at {row.largest_absolute.first_step}"


def _as_expected(outcome: ComparisonOutcome) -> str:
    return {True: "yes", False: "NO", None: "-"}[outcome.held]


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
