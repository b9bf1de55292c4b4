"""What each comparison found, in words and numbers, for the terminal and the packaged README.

Every sentence follows from ``results.json`` and the plan, for any experiment's names. Printed
values stand beside the exact comparison, never instead of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repropack._format.canonical import encode_canonical
from repropack._present.divergence import divergence_place
from repropack._present.escape import escape_text
from repropack._present.layout import join_names, number, plural, short_number, step_range
from repropack.models.plan import ComparisonPlan, ExpectedDivergence, RecordPlan
from repropack.models.results import ComparisonOutcome, Results, StepCount

_BETTER_HIGHER = (
    "acc", "auc", "bleu", "f1", "iou", "precision", "r2", "recall", "reward", "score",
)  # fmt: skip
"""Parts of the names of metrics for which more is better; of all others less is."""


def findings_table(results: Results) -> tuple[list[str], list[list[str]], tuple[int, ...]]:
    """The comparisons as a table.

    Returns:
        Headings, some of two lines; one row a comparison; columns aligned to the right.
    """
    kept = _in_order(row.stage for outcome in results.comparisons for row in outcome.kept)
    printed = _in_order(row.metric for outcome in results.comparisons for row in outcome.printed)
    header = ["comparison", "steps", "first divergence"]
    header += [f"{escape_text(stage, 40)}\ndiffer at" for stage in kept]
    header += [f"{escape_text(metric, 40)} prints\nequal at" for metric in printed]
    header += [f"largest diff.\nof {escape_text(stage, 40)}" for stage in kept]
    header += ["expected"]
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
    for final in outcome.final_metrics:
        direction = _better(final.metric, final.reference, final.run)
        if direction is not None and final.metric not in same_print:
            what = f"a {direction} {escape_text(final.metric, 80)}"
            yield (
                f"{name} did not replay, and ended with {what} ({number(final.run)}) than the "
                f"reference ({number(final.reference)}): {what} proves nothing about replay."
            )


def outcome_sentence(outcome: ComparisonOutcome) -> str:
    """What one comparison found, without its name."""
    steps = outcome.last_step - outcome.first_step + 1
    if outcome.identical:
        state = ""
        if outcome.final_state is not None and not outcome.final_state.differing:
            state = f", and so is its final state ({join_names(outcome.final_state.equal)})"
        return (
            f"Identical: every fingerprint is equal at {steps} of {plural(steps, 'step')}{state}."
        )
    if outcome.divergence is None:
        names = join_names(outcome.start.differing)
        return f"It started from another state ({names}) and is equal in every recorded step."
    return f"Different: the first divergence is at {_place(outcome)}."


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
        yield (f"{escape_text(row.stage, 80)} differ at {_count(count)} steps{largest}.")
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
    parts = [f"expected to part at step {expected.diverges_at}"]
    if expected.stage is not None:
        parts.append(f"at {escape_text(expected.stage, 80)}")
    if expected.component is not None:
        parts.append(f"because component {escape_text(expected.component, 80)} differs")
    return ", ".join(parts)


def config_value(value: object) -> str:
    """A configuration value as canonical JSON; encoded numbers as what they stand for."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$"):
        return number(value)
    return escape_text(encode_canonical(value).decode("utf-8").rstrip("\n"), 120)


def _place(outcome: ComparisonOutcome) -> str:
    if outcome.divergence is not None:
        return divergence_place(outcome.divergence)
    return "none" if outcome.identical else "its start"


def _inside(outcome: ComparisonOutcome) -> str:
    """What differs although nothing printed does: kept stages, else state, else stages."""
    kept = {row.stage for row in outcome.kept}
    for rows in (
        [row for row in outcome.stages if row.name in kept],
        list(outcome.components),
        list(outcome.stages),
    ):
        differing = [row for row in rows if row.differing]
        if differing:
            return "; ".join(
                f"its {escape_text(row.name, 80)} differ at {_count(row)} steps"
                for row in differing[:4]
            )
    return f"it differs from {_place(outcome)} on"


def _better(metric: str, reference: object, run: object) -> str | None:
    """``lower`` or ``higher`` where the run ended with what passes for the better value."""
    if not isinstance(reference, int | float) or not isinstance(run, int | float):
        return None
    if any(part in metric.lower() for part in _BETTER_HIGHER):
        return "higher" if run > reference else None
    return "lower" if run < reference else None


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
