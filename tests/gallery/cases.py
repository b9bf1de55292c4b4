"""The gallery: which experiments there are, how each is looked at, and what has to be said of it.

An experiment is a module of its own in ``faults/`` or ``innocent/``; its docstring says what people
report and what is wrong. Here stands what the tool says, literally: where, which patterns, which
object. ``docs/gallery.md`` is made of both.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from repropack.models.patterns import PatternId

FOLDER = Path(__file__).resolve().parent

Kind = Literal["faults", "innocent"]

Look = Literal["audit", "launches", "zoomed launches", "threads", "configurations"]
"""How an experiment is looked at:

``audit``           a full resume in a fresh process, after the step ``at``
``launches``        the logs of two launches of one program, with another hash seed
``zoomed launches`` the same, and the elements of the step at which they part
``threads``         elements of two launches with another number of threads
``configurations``  elements of two launches that differ in one setting
"""


@dataclass(frozen=True)
class Finding:
    """What is said of an experiment.

    Attributes:
        where: The first divergence, as a report on a terminal names it.
        patterns: What the evidence is consistent with, in the order of docs/divergences.md.
        named: Of a resume, the object that is named first as the likely holder of what is missing,
            with the reason where it is another than that no component holds it. Of two launches
            what the first pattern is about; where the step was zoomed into, the kind of difference;
            where it was repeated, under what it varies.
    """

    where: str
    patterns: tuple[PatternId, ...]
    named: str | None = None


@dataclass(frozen=True)
class Fault:
    """An experiment with one planted fault.

    Attributes:
        name: Its module below ``faults/``.
        look: How it is looked at.
        finding: What has to be found.
        at: The step after which it is resumed.
        settings: The configuration of the first launch and, where they differ, of the second.
        repeat: How often the diverging step is repeated under each variation.
        still_open: What should be named and is not, as a sentence; empty where nothing.
    """

    name: str
    look: Look
    finding: Finding
    at: int = 4
    settings: tuple[Mapping[str, str], Mapping[str, str]] = field(default=({}, {}))
    repeat: int = 0
    still_open: str = ""


def _resumed(
    name: str,
    where: str,
    named: str | None,
    *patterns: PatternId,
    at: int = 4,
    still_open: str = "",
) -> Fault:
    return Fault(name, "audit", Finding(where, patterns, named), at=at, still_open=still_open)


def _launched(
    name: str, where: str, named: str, *patterns: PatternId, still_open: str = ""
) -> Fault:
    return Fault(name, "launches", Finding(where, patterns, named), still_open=still_open)


FAULTS = (
    # data and their order
    _resumed(
        "sampler_position", "step 5 · batch", "self.sampler.position", "incomplete-checkpoint"
    ),
    _resumed("epoch_number", "step 5 · batch", "self.epoch", "incomplete-checkpoint"),
    _resumed(
        "reseeded_iterator", "step 5 · batch", "self.loader.iterator", "incomplete-checkpoint"
    ),
    _resumed(
        "extra_draw",
        "step 5 · batch",
        "self.loader.base_seed",
        "incomplete-checkpoint",
        "extra-draws",
    ),
    _resumed(
        "skipped_by_drawing",
        "step 5 · batch",
        "self.to_skip",
        "incomplete-checkpoint",
        "extra-draws",
    ),
    _resumed("global_random", "step 7 · batch", "random", "incomplete-checkpoint"),
    _resumed("global_numpy", "step 5 · noise", "numpy.random", "incomplete-checkpoint"),
    _resumed("dropout_generator", "step 5 · mask", "self.mask_generator", "incomplete-checkpoint"),
    _resumed("stream_position", "step 5 · batch", "self.stream", "incomplete-checkpoint"),
    _resumed("loop_left_out", "step 5 · batch", "main.generator", "incomplete-checkpoint"),
    # what belongs to training, and is no weight
    _resumed("scheduler", "step 7 · weights", "self.schedule.count", "incomplete-checkpoint"),
    _resumed("cached_rate", "step 5 · change", "self.optimizer.rate", "incomplete-checkpoint"),
    _resumed("step_count", "step 5 · corrected", "self.count", "incomplete-checkpoint"),
    _resumed("loss_scaler", "step 5 · scaled", "self.scaler.scale", "incomplete-checkpoint"),
    _resumed("moving_average", "step 5 · average", "self.average", "incomplete-checkpoint"),
    _resumed(
        "running_statistics", "step 5 · evaluated", "self.running_mean", "incomplete-checkpoint"
    ),
    _resumed(
        "early_stopping", "step 11 · end of the run", "self.stopper.best", "other-length", at=8
    ),
    _resumed(
        "accumulated_gradient", "step 6 · weights", "self.accumulated", "incomplete-checkpoint"
    ),
    _resumed("lazy_buffer", "step 5 · centred", "self.centre", "incomplete-checkpoint"),
    _resumed(
        "memo",
        "step 9 · update",
        "memo.RATE['now']",
        "incomplete-checkpoint",
        at=8,
        still_open="What the function reads is named first, and its memo, `memo.damping`, second.",
    ),
    # how state is taken and given back
    _resumed(
        "changed_after_recording", "step 5 · gradient", "self.weights", "incomplete-checkpoint"
    ),
    _resumed(
        "narrower_type", "step 5 · gradient", "self.weights (narrowed)", "incomplete-checkpoint"
    ),
    _resumed("other_type", "step 5 · scaled", "self.factor", "incomplete-checkpoint"),
    _resumed("mapping_order", "step 5 · bias", "self.parameters", "incomplete-checkpoint"),
    _resumed("later_initialisation", "step 5 · gradient", "self.is_built", "incomplete-checkpoint"),
    _resumed(
        "shared_names",
        "step 5 · state best",
        "self.best (no-longer-shared)",
        "incomplete-checkpoint",
        "masked-difference",
        "unrecorded-input",
    ),
    _resumed(
        "warm_up_again",
        "step 5 · weights",
        "self.is_warm",
        "other-stages",
        still_open="The place is named by the stage that was to come; the stage that is too many "
        "stands in the evidence.",
    ),
    # what changes from launch to launch
    _launched("time_seed", "step 1 · noise", "generator", "other-beginning"),
    _launched("hash_seed", "step 1 · gradient", "weights", "other-beginning"),
    _launched("directory_order", "step 1 · batch", "data", "other-beginning"),
    _launched(
        "process_seed",
        "step 1 · augmented",
        "augmented",
        "other-beginning",
        "other-order",
        still_open="Numbers drawn from a generator that is in no component are not told from "
        "another order of an operation.",
    ),
    Fault(
        "set_order",
        "zoomed launches",
        Finding("step 1 · total", ("other-order", "varying-operation"), "hash-seed"),
        repeat=1,
    ),
    Fault(
        "uninitialised_memory",
        "zoomed launches",
        Finding("step 6 · padded", ("varying-operation",), "one-element"),
    ),
    Fault(
        "tie",
        "zoomed launches",
        Finding("step 5 · scores", ("varying-operation", "discrete-decision"), "one-element"),
    ),
    _launched(
        "time_in_state", "step 1 · state note", "note", "other-beginning", "masked-difference"
    ),
    _launched("time_in_metric", "step 1 · metric clock", "clock", "unrecorded-metric"),
    Fault(
        "thread_sums",
        "threads",
        Finding("step 1 · total", ("other-order", "varying-operation"), "threads"),
        repeat=1,
    ),
    # what was changed on purpose
    Fault(
        "threshold",
        "configurations",
        Finding("step 4 · total", ("other-beginning", "discrete-decision"), "one-element"),
        settings=({"order": "forward"}, {"order": "backward"}),
    ),
    Fault(
        "signed_zero",
        "configurations",
        Finding("step 1 · clipped", ("other-beginning", "signed-zero-or-nan"), "sign-of-zero"),
        settings=({"clip": "choose"}, {"clip": "multiply"}),
    ),
)

INNOCENT = (
    "cache",
    "empty_arrays",
    "ends_early",
    "five_generators",
    "growing_state",
    "idle_component",
    "late_component",
    "loop_complete",
    "odd_values",
    "saved_globals",
    "shared_on_purpose",
    "sorted_set",
)
"""Experiments of unusual and correct state, below ``innocent/``: nothing may be found."""
_WORDS = ("Reported", "Wrong", "Unusual")


@dataclass(frozen=True)
class Story:
    """What the docstring of an experiment says: a title, and a paragraph by its first word."""

    title: str
    parts: Mapping[str, str]


def story_of(kind: Kind, name: str) -> Story:
    """Read the docstring of an experiment; nothing is executed."""
    text = (FOLDER / kind / f"{name}.py").read_text("utf-8")
    title, *rest = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")
    parts: dict[str, str] = {}
    word = ""
    for line in "\n".join(rest).splitlines():
        first, colon, more = line.partition(": ")
        begins = bool(colon) and first in _WORDS
        word = first if begins else word
        parts[word] = f"{parts.get(word, '')} {more if begins else line}".strip()
    return Story(title, {key: text.replace("``", "`") for key, text in parts.items()})
