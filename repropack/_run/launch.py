"""Start a worker process and read what it says, line by line; leave no process behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._run.variables import worker_environment
from repropack.errors import (
    ConfigurationError,
    CouldNotRunError,
    ExperimentLoadError,
    LimitExceededError,
    PackageFormatError,
    RepropackError,
    StateError,
    StepError,
)
from repropack.models.worker import Failed, Finished, Job, Message, Stepped

_MAIN = Path(__file__).with_name("worker_main.py")
_MESSAGES: TypeAdapter[Message] = TypeAdapter(Message)
_TAIL_BYTES = 2000


def run_worker(
    job: Job, *, scratch: Path, hash_seed: int = 0, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Message]:
    """Run one job in a fresh process and hand over its messages as they come.

    The process group is killed when the iteration ends, however it ends.

    Args:
        job: What to run.
        scratch: An existing folder; working directory and temporary folder of the worker.
        hash_seed: ``PYTHONHASHSEED`` of the worker.
        limits: ``max_log_line_bytes`` bounds a step's message; others bound documents.

    Yields:
        Every message up to and including ``Finished``.

    Raises:
        ExperimentError: what the experiment did wrong, as the matching class of the tree.
        CouldNotRunError: the worker died, or said something that no worker says.
    """
    environment = worker_environment(dict(os.environ), hash_seed=hash_seed)
    environment["TMPDIR"] = str(scratch)
    with (scratch / "stderr.log").open("w+b") as stderr:
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
        try:
            yield from _converse(process, job, limits, scratch / "stderr.log")
        finally:
            _end(process)


def _converse(
    process: subprocess.Popen[bytes], job: Job, limits: Limits, stderr: Path
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
            raise LimitExceededError(f"run {job.run!r}", "max_document_bytes", maximum, len(raw))
        message = _read_message(raw, job.run, limits)
        if isinstance(message, Failed):
            raise _error_of(message, job.run)
        if isinstance(message, Stepped):
            step = message.step
        yield message
        if isinstance(message, Finished):
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
    if failure.reason == "configuration":
        return ConfigurationError(failure.message, hint=failure.hint)
    if failure.reason == "state":
        place = f" (run {run!r}, step {failure.step})"
        return StateError(failure.name, failure.message + place, hint=failure.hint)
    return StepError(run, failure.step, failure.stage, failure.message)


def _died(process: subprocess.Popen[bytes], run: str, step: int, stderr: Path) -> CouldNotRunError:
    status = process.wait()
    if status < 0:
        how = f"was ended by signal {-status} ({signal.Signals(-status).name})"
    else:
        how = f"ended with status {status}"
    tail = _last_printed_line(stderr)
    hint = f"its last line on standard error: {tail}" if tail else None
    return CouldNotRunError(
        f"run {run!r}: the worker {how} after step {step}: expected it to finish", hint=hint
    )


def _last_printed_line(path: Path) -> str:
    with path.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - _TAIL_BYTES))
        lines = stream.read().decode("utf-8", "replace").strip().splitlines()
    return ascii(lines[-1])[1:-1][:300] if lines else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the worker and everything it started, and collect it."""
    if process.stdout is not None:
        process.stdout.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        if process.returncode is None and process.poll() is None:
            process.wait(timeout=0 if sys.exc_info()[0] else 10)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
