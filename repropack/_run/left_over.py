"""What an interrupted run left behind: how much of it is whole, and how it is put back there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from repropack._format.checkpoints import checkpoint_name
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.layout import checkpoint_folder, kept_path, log_path
from repropack._format.log import LogReader
from repropack._format.npy import array_size
from repropack._format.state import EncodedState
from repropack._read.container import open_container
from repropack._read.run import RunReader
from repropack._run.durable import sync_path
from repropack._run.workplace import clear_place
from repropack.errors import PackageError
from repropack.models.log import Declaration, StepLine
from repropack.models.work import KeptForm, RunProgress


@dataclass(frozen=True)
class LeftOver:
    """The last whole checkpoint of a run, and what of the log and the kept rows belongs to it.

    ``end`` and ``whole_end`` are places in the log, in bytes: after the line of ``step``, and after
    its last whole line.
    """

    name: str
    step: int
    chain: str
    rows: int
    end: int
    whole_end: int
    last_line: int
    state: EncodedState
    components: tuple[tuple[str, str], ...]
    declared: tuple[Declaration, ...]
    kept: tuple[KeptForm, ...]


@dataclass(frozen=True)
class _Candidate:
    """A step after which a checkpoint may be whole."""

    line: StepLine
    end: int
    rows: int


def find_left_over(
    tree: Path,
    folder: Path,
    name: str,
    progress: RunProgress,
    keep: tuple[str, ...],
    last_step: int,
) -> LeftOver | None:
    """Find the last whole checkpoint of an interrupted run.

    Whole means: log and chain are right up to it, its two files are what a package needs, they
    hold the state that the log has, and every kept row up to it is there. The first state is none,
    for a run begins anew as well; nor is the last, for what a worker observes at the end of a run
    belongs to the steps before it.

    Args:
        tree: Root below which the run was recorded.
        folder: The run's notes, with the kept rows taken over.
        name: The run's name.
        progress: What was noted of it.
        keep: Stages that are kept whole.
        last_step: The last step planned.

    Returns:
        ``None`` where there is no such checkpoint.

    Raises:
        OSError: something cannot be read; what may be whole is not given up for that.
        UsageError: the same, told by the container.
    """
    try:
        with open_container(tree) as container:
            run = RunReader(container, name)
            stored = frozenset(run.checkpoint_steps()) - {last_step}
            with (tree / log_path(name)).open("rb") as stream:
                walk = _walk(stream, stored)
            for candidate in reversed(walk.candidates):
                if _has_rows(tree, folder, name, progress, keep, candidate.rows):
                    state = _whole_state(run, candidate.line)
                    if state is not None:
                        return LeftOver(
                            name=name,
                            step=candidate.line.step,
                            chain=candidate.line.chain,
                            rows=candidate.rows,
                            end=candidate.end,
                            whole_end=walk.end,
                            last_line=walk.last,
                            state=state,
                            components=candidate.line.state or (),
                            declared=run.header.stages,
                            kept=progress.kept,
                        )
    except PackageError:
        return None
    return None


@dataclass(frozen=True)
class _Walk:
    """One walk over a log up to its last whole line."""

    candidates: tuple[_Candidate, ...]
    end: int
    last: int


def _walk(stream: BinaryIO, stored: frozenset[int]) -> _Walk:
    """Read a log as far as it is whole; a torn or invalid line ends it."""
    reader = LogReader(stream, where="the log")
    candidates, end, last, rows = [], stream.tell(), reader.header.first_step - 1, 0
    lines = reader.steps()
    while True:
        try:
            line = next(lines, None)
        except PackageError:
            break
        if line is None:
            break
        end, last, rows = stream.tell(), line.step, rows + (line.stages is not None)
        if line.step in stored and line.finish is None and line.state is not None:
            candidates.append(_Candidate(line, end, rows))
    return _Walk(tuple(candidates), end, last)


def _whole_state(run: RunReader, line: StepLine) -> EncodedState | None:
    try:
        document, state = run.checkpoint(line.step)
    except PackageError:
        return None
    whole = document.chain == line.chain and document.components == line.state
    return state if whole else None


def _has_rows(
    tree: Path,
    folder: Path,
    name: str,
    progress: RunProgress,
    keep: tuple[str, ...],
    rows: int,
) -> bool:
    """Whether the first ``rows`` kept rows are there, each with its fingerprint in the log."""
    forms = {form.stage: form for form in progress.kept}
    if rows and set(forms) != set(keep):
        return False
    return all(_has_stage(tree, folder, name, form, rows) for form in forms.values())


def _has_stage(tree: Path, folder: Path, name: str, form: KeptForm, rows: int) -> bool:
    size = array_size("", form.stage, form.dtype, form.shape)
    try:
        with (folder / form.file).open("rb") as stream:
            for fingerprint in _fingerprints(tree, name, form.stage, rows):
                data = stream.read(size)
                if len(data) != size:
                    return False
                array = np.frombuffer(data, form.dtype).reshape(form.shape)
                if fingerprint_canonical(array) != fingerprint:
                    return False
    except FileNotFoundError:
        return rows == 0
    return True


def _fingerprints(tree: Path, name: str, stage: str, rows: int) -> Iterator[str]:
    """What the log has of a stage, for its first ``rows`` recorded steps."""
    with (tree / log_path(name)).open("rb") as stream:
        seen = 0
        for line in LogReader(stream, where=log_path(name)).steps():
            if seen == rows:
                return
            if line.stages is not None:
                seen += 1
                yield dict(line.stages)[stage]


def put_back(left: LeftOver, tree: Path, folder: Path, before: Path) -> None:
    """Bring a run's files to its last whole checkpoint; can be interrupted and done again.

    What the log holds after it is added to ``before`` first. No file is changed in place but the
    judge's own raw rows: the log is written anew and moved.

    Args:
        left: What is whole.
        tree: Root below which the run was recorded.
        folder: The run's notes.
        before: File of the lines that were recorded after the checkpoint, at this interruption and
            at earlier ones.

    Raises:
        OSError: something cannot be read or written.
    """
    log = tree / log_path(left.name)
    aside = folder / "aside.jsonl"
    with log.open("rb") as source, aside.open("wb") as target:
        source.seek(left.end)
        _copy(source, target, left.whole_end - left.end)
        if before.is_file():
            with before.open("rb") as earlier:
                target.writelines(_whole_lines_after(earlier, left.last_line))
        _sync(target)
    aside.replace(before)
    sync_path(folder)
    with log.open("rb") as source, aside.open("wb") as target:
        _copy(source, target, left.end)
        _sync(target)
    aside.replace(log)
    (tree / kept_path(left.name)).unlink(missing_ok=True)
    stored = tree / checkpoint_folder(left.name)
    last = checkpoint_name(left.step)
    for place in stored.iterdir():
        if place.stem > last:
            clear_place(place)
    for form in left.kept:
        if (folder / form.file).is_file():
            size = left.rows * array_size("", form.stage, form.dtype, form.shape)
            os.truncate(folder / form.file, size)
    for changed in (stored, log.parent):
        sync_path(changed)


def _whole_lines_after(earlier: BinaryIO, step: int) -> Iterator[bytes]:
    """Lines put aside at an earlier interruption, of steps that this one did not come to."""
    for line in earlier:
        if step_of(line) > step:
            yield line


def step_of(line: bytes) -> int:
    r"""The step of a stored line, without reading the rest: it is the last member.

    Args:
        line: One whole line of a step.

    Returns:
        Its number.

    Example:
        >>> step_of(b'{"chain":"","metrics":{},"printed":{},"step":7}\n')
        7
    """
    return int(line.rpartition(b'"step":')[2].rstrip(b"}\n"))


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    """Copy the next ``size`` bytes."""
    while size > 0 and (block := source.read(min(size, 1 << 20))):
        target.write(block)
        size -= len(block)


def _sync(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())
