"""Start a worker process and read what it says, line by line; leave no process behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._run.variables import worker_environment
from repropack.errors import (
    ConfigurationError,
    CouldNotRunError,
    ExperimentLoadError,
    PackageFormatError,
    RepropackError,
    StateError,
    StepError,
    UnsupportedDtypeError,
)
from repropack.models.environment import EnvironmentRecord
from repropack.models.worker import Failed, Finished, Job, Message, Stepped

_MAIN = Path(__file__).with_name("worker_main.py")
_MESSAGES: TypeAdapter[Message] = TypeAdapter(Message)
_TAIL_BYTES = 2000
OBSERVE_SECONDS = 60
GRACE_SECONDS = 10
"""How long a worker that has said its last word may take to end by itself."""


def run_worker(
    job: Job, *, scratch: Path, hash_seed: int = 0, limits: Limits = DEFAULT_LIMITS
) -> Generator[Message, None, None]:
    """Run one job in a fresh process and hand over its messages as they come.

    The worker's process group is killed when the iteration ends, however it ends. A caller that
    may stop early closes the generator (``contextlib.closing``) rather than leave that to chance.

    Args:
        job: What to run.
        scratch: An existing folder; working directory and temporary folder of the worker.
        hash_seed: ``PYTHONHASHSEED`` of the worker.
        limits: ``max_document_bytes`` and ``max_json_depth`` bound a message.

    Yields:
        Every message up to and including ``Finished``.

    Raises:
        ExperimentError: what the experiment did wrong, as the matching class of the tree.
        CouldNotRunError: the worker died, or said something that no worker says.
    """
    environment = worker_environment(dict(os.environ), hash_seed=hash_seed)
    environment["TMPDIR"] = str(scratch)
    with tempfile.TemporaryFile(dir=scratch) as stderr:  # it has no name there
        try:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and script
                [sys.executable, "-P", "-B", str(_MAIN)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=scratch,
                env=environment,
                umask=0o022,
                start_new_session=True,
            )
        except OSError as error:
            raise CouldNotRunError(
                f"run {job.run!r}: the worker cannot be started: {error.strerror}"
            ) from error
        try:
            yield from _converse(process, job, limits, stderr.fileno())
        finally:
            _end(process)


def observe_here() -> EnvironmentRecord:
    """Observe this machine as a worker sees it, in a process that runs no experiment.

    Returns:
        The record, of a process with a worker's variables.

    Raises:
        CouldNotRunError: the process failed, or took longer than a minute.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and script
            [sys.executable, "-P", "-B", str(_MAIN), "observe"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=worker_environment(dict(os.environ)),
            timeout=OBSERVE_SECONDS,
            check=True,
        )
        return EnvironmentRecord.model_validate_json(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise CouldNotRunError(f"this machine could not be observed: {error}") from error


def _converse(
    process: subprocess.Popen[bytes], job: Job, limits: Limits, stderr: int
) -> Iterator[Message]:
    if process.stdin is None or process.stdout is None:
        raise CouldNotRunError(f"run {job.run!r}: the worker has no pipes")
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(encode_canonical(job.model_dump(mode="json")))
        process.stdin.close()
    step = job.first_step - 1
    maximum = limits.max_document_bytes
    while raw := process.stdout.readline(maximum + 1):
        if len(raw) > maximum:
            raise CouldNotRunError(
                f"run {job.run!r}: message after step {step}: limit max_document_bytes exceeded: "
                f"allowed {maximum}, observed more"
            )
        if not raw.endswith(b"\n"):  # the worker died in the middle of a message
            break
        message = _read_message(raw, job.run, limits)
        if isinstance(message, Failed):
            _let_end(process)
            raise _error_of(message, job.run)
        if isinstance(message, Stepped):
            step = message.step
        yield message
        if isinstance(message, Finished):
            _let_end(process)
            return
    raise _died(process, job.run, step, stderr)


def _read_message(raw: bytes, run: str, limits: Limits) -> Message:
    try:
        decode_strict(raw, where=f"run {run!r}", limits=limits)
        return _MESSAGES.validate_json(raw)
    except (PackageFormatError, ValidationError) as error:
        reason = str(error).split("\n", 1)[0]
        raise CouldNotRunError(
            f"run {run!r}: the worker sent no valid message: {reason}"
        ) from error


def _error_of(failure: Failed, run: str) -> RepropackError:
    if failure.reason == "load":
        return ExperimentLoadError(failure.message, hint=failure.hint)
    if failure.reason == "environment":
        return CouldNotRunError(failure.message, hint=failure.hint)
    if failure.reason == "configuration":
        return ConfigurationError(failure.message, hint=failure.hint)
    place = f" (run {run!r}, step {failure.step})"
    if failure.reason == "state":
        return StateError(failure.name, failure.message + place, hint=failure.hint)
    if failure.reason == "dtype":
        unsupported = UnsupportedDtypeError(failure.name, failure.dtype or "unknown")
        unsupported.message += place
        return unsupported
    error = StepError(run, failure.step, failure.stage, failure.message)
    error.hint = failure.hint
    return error


def _died(process: subprocess.Popen[bytes], run: str, step: int, stderr: int) -> CouldNotRunError:
    try:
        how = _how_it_ended(process.wait(timeout=GRACE_SECONDS))
    except subprocess.TimeoutExpired:
        how = "closed its messages and ran on"
    tail = _last_printed_line(stderr)
    hint = f"its last line on standard error: {tail}" if tail else None
    return CouldNotRunError(
        f"run {run!r}: the worker {how} after step {step}: expected it to finish", hint=hint
    )


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:  # a real-time signal has no name
        return f"was ended by signal {-status}"


def _last_printed_line(stderr: int) -> str:
    """Read without moving the place in the file, which the worker's children may share."""
    start = max(0, os.fstat(stderr).st_size - _TAIL_BYTES)
    lines = os.pread(stderr, _TAIL_BYTES, start).decode("utf-8", "replace").strip().splitlines()
    return ascii(lines[-1])[1:-1][:300] if lines else ""


def _let_end(process: subprocess.Popen[bytes]) -> None:
    """Give a worker that has said its last word the time to end by itself."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=GRACE_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the worker and everything in its process group, and collect it."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
