"""Hold a run that was executed here against what a package holds of it, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy.typing as npt

from repropack._compare.arrays import describe_difference, same_bytes
from repropack._compare.logs import LogComparison, PrintedTally, split, view_from
from repropack._format.canonical import encode_canonical
from repropack._format.layout import REFERENCE_RUN, outputs_folder
from repropack._format.state import EncodedState
from repropack._read.decisions import measure_decision
from repropack._read.draws import measure_draws
from repropack._read.outputs import compare_stored, stored_paths
from repropack._read.run import RunReader
from repropack.models.differences import (
    CHECKPOINT_PREFIX,
    KEPT_PREFIX,
    ArrayDifference,
    OutputsComparison,
)
from repropack.models.reports import RunClaim, RunVerification
from repropack.models.results import Split

_Row = tuple[int, npt.NDArray[Any]]


@dataclass
class _Evidence:
    """What was compared, and what differs. Of each kind only the first difference is kept whole."""

    lines: int = 0
    checkpoints: int = 0
    kept: int = 0
    problems: list[str] = field(default_factory=list)
    arrays: list[ArrayDifference] = field(default_factory=list)
    final: Split = field(default_factory=Split)


def hold_against(
    expected: RunReader,
    arrays: RunReader,
    observed: RunReader,
    claim: RunClaim,
) -> RunVerification:
    """Compare a run executed here with the recorded one.

    Args:
        expected: The recorded run whose log must be equal from ``observed``'s first step on.
        arrays: The recorded run that holds the checkpoints and kept arrays: ``expected``, or the
            reference where a run identical to it stores only its log.
        observed: The run executed here.
        claim: What equality shows.

    Returns:
        Equal or not, what was compared, the first divergence and the first differing arrays.

    Raises:
        PackageError: a log, checkpoint or kept array of either is malformed.
    """
    evidence = _Evidence()
    first_step = observed.header.first_step
    _compare_heads(expected, observed, evidence)
    left = view_from(expected.header, expected.start, expected.steps(), first_step)
    right = view_from(observed.header, observed.start, observed.steps(), first_step)
    start = split(left.before or {}, right.before or {})
    for name in start.differing:
        evidence.problems.append(f"state after step {first_step - 1}: component {name!r} differs")
    walk = LogComparison(left, right, first_step)
    chains_equal = True
    printed = PrintedTally()
    for pair in walk.pairs():
        evidence.lines += 1
        printed.add(pair)
        chains_equal = chains_equal and pair.left.chain == pair.right.chain
    if not chains_equal and walk.divergence is None:
        evidence.problems.append("the chains differ although every recorded value is equal")
    _compare_checkpoints(arrays, observed, walk.last_step, evidence)
    _compare_kept(arrays, observed, evidence)
    outputs = _compare_outputs(arrays, observed)
    clean = not evidence.problems and not evidence.arrays and outputs.equal
    equal = clean and walk.divergence is None
    return RunVerification(
        run=observed.name,
        claim=claim,
        first_step=first_step,
        last_step=walk.last_step,
        equal=equal,
        lines_compared=evidence.lines,
        checkpoints_compared=evidence.checkpoints,
        kept_arrays_compared=evidence.kept,
        final_arrays=evidence.final,
        config_equal=expected.header.config == observed.header.config,
        constants=split(dict(expected.header.constants), dict(observed.header.constants)),
        start=start,
        divergence=walk.divergence,
        stages=() if equal else walk.stage_counts(),
        components=() if equal else walk.component_counts(),
        printed=() if equal else printed.agreement(),
        draws=() if equal else measure_draws(arrays, observed, walk.divergence),
        decided=() if equal else measure_decision(arrays, observed, walk.stage_counts()),
        arrays=tuple(evidence.arrays),
        problems=tuple(evidence.problems),
        outputs=outputs,
    )


def _compare_outputs(arrays: RunReader, observed: RunReader) -> OutputsComparison:
    """What a command wrote; a loop's outputs are the reference's alone."""
    folder = outputs_folder(observed.name)
    if observed.name != REFERENCE_RUN and not stored_paths(observed.container, folder):
        return OutputsComparison()
    return compare_stored(arrays.container, outputs_folder(arrays.name), observed.container, folder)


def _compare_heads(expected: RunReader, observed: RunReader, evidence: _Evidence) -> None:
    if expected.header.config != observed.header.config:
        evidence.problems.append(
            f"configuration differs: expected {expected.header.config}, "
            f"observed {observed.header.config}"
        )
    if expected.header.first_step == observed.header.first_step:
        _compare_declarations(expected, observed, evidence)
    left, right = dict(expected.header.constants), dict(observed.header.constants)
    for name in split(left, right).differing:
        evidence.problems.append(
            f"constant {name!r} differs: expected {left.get(name)}, observed {right.get(name)}"
        )


def _compare_declarations(expected: RunReader, observed: RunReader, evidence: _Evidence) -> None:
    """Headers of the same first step declare the same stages, also such as never came."""
    left, right = dict(expected.header.stages), dict(observed.header.stages)
    for name in sorted({*left, *right}):
        if (name in left, left.get(name)) != (name in right, right.get(name)):
            evidence.problems.append(
                f"stage {name!r} is declared otherwise: expected {_of(left, name)}, "
                f"observed {_of(right, name)}"
            )


def _of(declared: Mapping[str, tuple[str, ...] | None], name: str) -> str:
    if name not in declared:
        return "no such stage"
    names = declared[name]
    return "of everything before it" if names is None else f"of {', '.join(names) or 'nothing'}"


def _compare_checkpoints(
    arrays: RunReader, observed: RunReader, last_step: int, evidence: _Evidence
) -> None:
    stored, made = arrays.checkpoint_steps(), observed.checkpoint_steps()
    first = observed.header.first_step - 1
    for step in (step for step in stored if first <= step <= last_step and step not in made):
        evidence.problems.append(f"a checkpoint after step {step} that the run here lacks")
    for step in made:
        if step not in stored:
            evidence.problems.append(f"a checkpoint after step {step} that the package lacks")
            continue
        evidence.checkpoints += 1
        _, left = arrays.checkpoint(step)
        _, right = observed.checkpoint(step)
        if not evidence.arrays:
            _note_differing_state(step, left, right, evidence)
        if step == last_step:
            evidence.final = _split_arrays(left, right)


def _note_differing_state(
    step: int, left: EncodedState, right: EncodedState, evidence: _Evidence
) -> None:
    for name in sorted({*left.arrays, *right.arrays}):
        if name not in left.arrays or name not in right.arrays:
            side = "the package" if name not in left.arrays else "the run here"
            evidence.problems.append(f"checkpoint {step}: array {name!r} is not in {side}")
        elif not same_bytes(left.arrays[name], right.arrays[name]):
            evidence.arrays.append(
                describe_difference(
                    f"{CHECKPOINT_PREFIX}{name}", step, left.arrays[name], right.arrays[name]
                )
            )
    for name in sorted({*left.values, *right.values}):
        expected, observed = left.values.get(name), right.values.get(name)
        if encode_canonical(expected) != encode_canonical(observed):
            evidence.problems.append(
                f"checkpoint {step}: value {name!r} differs: expected {expected!r:.120}, "
                f"observed {observed!r:.120}"
            )


def _split_arrays(left: EncodedState, right: EncodedState) -> Split:
    names = sorted({*left.arrays, *right.arrays})
    equal = tuple(
        name
        for name in names
        if name in left.arrays
        and name in right.arrays
        and same_bytes(left.arrays[name], right.arrays[name])
    )
    return Split(equal=equal, differing=tuple(name for name in names if name not in equal))


def _compare_kept(arrays: RunReader, observed: RunReader, evidence: _Evidence) -> None:
    first_step = observed.header.first_step
    for stage in sorted({*arrays.kept_stages(), *observed.kept_stages()}):
        pairs = zip_longest(_kept(arrays, stage, first_step), _kept(observed, stage, first_step))
        for left, right in pairs:
            if left is None or right is None or left[0] != right[0]:
                evidence.problems.append(f"kept stage {stage!r}: other steps were recorded")
                break
            evidence.kept += 1
            if not same_bytes(left[1], right[1]):
                evidence.arrays.append(
                    describe_difference(f"{KEPT_PREFIX}{stage}", left[0], left[1], right[1])
                )
                break


def _kept(run: RunReader, stage: str, first_step: int) -> Iterator[_Row]:
    """A kept stage's rows with their steps, from ``first_step`` on."""
    rows = run.kept_rows(stage)
    if rows is None:
        return
    for line in run.steps():
        if line.stages is None:
            continue
        row = next(rows, None)
        if row is not None and line.step >= first_step:
            yield line.step, row
