"""What repeating says: a second run, or one step made again and again from the same state."""

from __future__ import annotations

from repropack._compare.evidence import Evidence
from repropack._compare.pattern_words import counted, excluded, fits, stage_names
from repropack.models.patterns import Pattern
from repropack.models.zoom import RepeatVariation, Repetition

_WORDS: dict[RepeatVariation, str] = {
    "one-process": "within one process",
    "fresh-processes": "from process to process",
    "threads": "with the number of threads",
    "hash-seed": "with the hash seed",
}


def varying_operation(e: Evidence) -> Pattern | None:
    """Needs a repeated step, a second run here, or a long equal stretch before the output."""
    found = e.divergence
    repetition = _repetition(e)
    if repetition is not None and what_outlives(e) is not None:
        because = ["the repeated step does not vary from process to process"]
        return excluded("varying-operation", because, (repetition.name,))
    if repetition is not None:
        because = [f"the repeated step varies {words}" for words in _varied(repetition)]
        if because:
            return fits("varying-operation", because, (repetition.name,))
        times = sum(group.times for group in repetition.groups)
        if times > 1 and _was_tried(repetition):
            because = [f"the repeated step gave the same bits {times} of {times} times"]
            return excluded("varying-operation", because, (repetition.name,))
    if e.repeats is not None:
        if not e.repeats:
            return fits("varying-operation", ["two runs here differ from each other too"])
        if e.same_process_id:  # a second run had no chance to differ by it
            return None
        return excluded("varying-operation", ["a second run here equals the first"])
    if found is None or found.kind != "output" or e.in_first_step or e.made_otherwise:
        return None
    equal = found.last_equal_step - e.first_step + 1
    because = [f"{counted(equal)} equal before it", "it was not tried whether it repeats"]
    return fits("varying-operation", because, stage_names(found))


def what_outlives(e: Evidence) -> str | None:
    """Whether something that the restored state does not hold outlives the restore.

    Returns:
        A statement where the step varies within one process and never between fresh ones.
    """
    repetition = _repetition(e)
    if repetition is None or not repetition.varies("one-process"):
        return None
    if repetition.varies("fresh-processes") is not False:
        return None
    return (
        "the repeated step varies within one process, where the state is restored each time, and "
        "not from process to process"
    )


def _repetition(e: Evidence) -> Repetition | None:
    return None if e.zoom is None else e.zoom.repetition


def _varied(repetition: Repetition) -> tuple[str, ...]:
    """Under what the step varies, in words."""
    return tuple(words for name, words in _WORDS.items() if repetition.varies(name))


def _was_tried(repetition: Repetition) -> bool:
    return any(repetition.varies(name) is not None for name in _WORDS)
