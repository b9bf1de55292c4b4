"""Why a run cannot go on, as the process that makes it tells the judge, and as it prints it."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import FrameType

from repropack._run.loading import one_line
from repropack.errors import (
    CommandError,
    ConfigurationError,
    CouldNotRunError,
    ExperimentLoadError,
    RepropackError,
    StateError,
    UnsupportedDtypeError,
)
from repropack.models.worker import Failed, FailureReason


def failure_of(error: RepropackError, source: Path, step: int, stage: str | None) -> Failed:
    """The message that says why a run cannot go on.

    Args:
        error: What ended it.
        source: Folder of the code that runs, without links in its path, to name places in it.
        step: The step under way, or the one before the first.
        stage: The stage recorded last in it.

    Returns:
        The message, every text in it one line.
    """
    reason: FailureReason = "step"
    name, message, dtype = "", error.message, None
    if isinstance(error, ExperimentLoadError):
        reason = "load"
    elif isinstance(error, ConfigurationError):
        reason = "configuration"
    elif isinstance(error, CouldNotRunError):
        reason = "environment"
    elif isinstance(error, CommandError):
        reason, message = "command", error.problem
    elif isinstance(error, UnsupportedDtypeError):
        reason, name, message, dtype = "dtype", error.name, error.problem, error.dtype
    elif isinstance(error, StateError):
        reason, name, message = "state", error.name, error.problem
    hint = error.hint or place_in(source, error)
    return Failed(
        reason=reason,
        name=one_line(name),
        message=one_line(message),
        hint=None if hint is None else one_line(hint),
        step=step,
        stage=stage,
        dtype=None if dtype is None else one_line(dtype),
    )


def place_in(source: Path, error: BaseException) -> str | None:
    """Where in a folder of code an error came from, as a hint.

    Args:
        source: The folder, without links in its path.
        error: The error, or one that has it as its cause.

    Returns:
        The innermost place below the folder; ``None`` if nowhere.
    """
    for frame in reversed(traceback.extract_tb((error.__cause__ or error).__traceback__)):
        file = Path(frame.filename).resolve()
        if file.is_relative_to(source):
            place = file.relative_to(source).as_posix()
            return f"look at {place}, line {frame.lineno}, in {frame.name}"
    return None


def print_failure(error: BaseException, source: Path) -> None:
    """Print what the experiment raised, from the first frame on that lies in its source.

    Args:
        error: The error, or one that has it as its cause.
        source: Folder of the code that is run.
    """
    raised, root = error.__cause__ or error, source.resolve()
    own = raised.__traceback__
    while own is not None and not _lies_in(own.tb_frame, root):
        own = own.tb_next
    if own is not None or raised is not error:
        traceback.print_exception(type(raised), raised, own, chain=own is not None)


def _lies_in(frame: FrameType, source: Path) -> bool:
    return Path(frame.f_code.co_filename).resolve().is_relative_to(source)
