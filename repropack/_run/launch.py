"""Start a worker process and read what it says, line by line; leave no process behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import DEFAULT_LIMITS, DEFAULT_RUN_LIMITS, Limits
from repropack._run.confinement.sandbox import UNCONFINED, Places, Sandbox, compose_policy
from repropack._run.confinement.supervised import Supervised
from repropack._run.printed import shown_lines
from repropack._run.runtime import PRESENT, Runtime
from repropack._run.variables import worker_environment
from repropack.errors import (
    CommandError,
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
_SHOWN_LINES = 20
OBSERVE_SECONDS = 60
GRACE_SECONDS = 10
"""How long a worker that has said its last word may take to end by itself."""


def run_worker(
    job: Job,
    *,
    scratch: Path,
    hash_seed: int = 0,
    sandbox: Sandbox = UNCONFINED,
    recorded: Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
    runtime: Runtime = PRESENT,
) -> Generator[Message, None, None]:
    """Run one job in a fresh process and hand over its messages as they come.

    A supervisor stands between: when the iteration ends, however it ends, and also when this
    process is killed, it ends the worker with everything that came of it. A caller that may stop
    early closes the generator (``contextlib.closing``) rather than leave that to chance.

    Args:
        job: What to run. Confined, the worker reads its source and starting state and changes
            its output folder and ``scratch``.
        scratch: An existing folder; working directory and temporary folder of the worker.
        hash_seed: ``PYTHONHASHSEED`` of the worker.
        sandbox: How the worker is confined, and its limits.
        recorded: The folder in which the run is recorded; it counts against the run's limits.
        limits: ``max_document_bytes`` and ``max_json_depth`` bound a message.
        runtime: The interpreter of the worker.

    Yields:
        Every message up to and including ``Finished``.

    Raises:
        ExperimentError: what the experiment did wrong, as the matching class of the tree.
        CouldNotRunError: the worker died, reached a limit, or said something that no worker says.
        ConfinementUnavailableError: the sandbox does not exist on this machine.
    """
    environment = worker_environment(dict(os.environ), hash_seed=hash_seed)
    environment = runtime.with_programs(environment)
    environment["TMPDIR"] = str(scratch)
    places = Places(
        scratch,
        read_only=tuple(Path(path) for path in (job.source, job.start) if path is not None),
        writable=(scratch, Path(job.output)),
        timeout_seconds=job.experiment.timeout_seconds,
    )
    command = [runtime.python, "-P", "-B", str(_MAIN), *_own_variables(job)]
    policy = compose_policy(sandbox, command, environment, places, view=runtime.view)
    if recorded is not None:
        policy["watched"].append(str(recorded))
    kept = (sandbox.limits or DEFAULT_RUN_LIMITS).max_run_output_bytes
    try:
        worker = Supervised(policy, folder=scratch, environment=environment, output_bytes=kept)
    except OSError as error:
        raise CouldNotRunError(
            f"run {job.run!r}: the worker cannot be started: {error.strerror}"
        ) from error
    with worker:
        own = sandbox.limits is None
        with _showing_prints(worker, job) if own else contextlib.nullcontext():
            yield from _converse(worker, job, limits)


def _own_variables(job: Job) -> list[str]:
    """The arguments by which a worker gets the plan's variables, and the supervisor does not."""
    variables = job.experiment.environment
    return ["with", encode_canonical(variables).decode().strip()] if variables else []


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


def _converse(worker: Supervised, job: Job, limits: Limits) -> Iterator[Message]:
    with contextlib.suppress(BrokenPipeError):
        worker.stdin.write(encode_canonical(job.model_dump(mode="json")))
        worker.stdin.close()
    step = job.first_step - 1
    maximum = limits.max_document_bytes
    while raw := worker.stdout.readline(maximum + 1):
        if len(raw) > maximum:
            raise CouldNotRunError(
                f"run {job.run!r}: message after step {step}: limit max_document_bytes exceeded: "
                f"allowed {maximum}, observed more"
            )
        if not raw.endswith(b"\n"):  # the worker died in the middle of a message
            break
        message = _read_message(raw, job.run, limits)
        if isinstance(message, Failed):
            worker.wait(GRACE_SECONDS)
            raise _error_of(message, job)
        if isinstance(message, Stepped):
            step = message.step
        yield message
        if isinstance(message, Finished):
            worker.wait(GRACE_SECONDS)
            return
    raise _died(worker, job.run, step)


def _read_message(raw: bytes, run: str, limits: Limits) -> Message:
    try:
        decode_strict(raw, where=f"run {run!r}", limits=limits)
        return _MESSAGES.validate_json(raw)
    except (PackageFormatError, ValidationError) as error:
        reason = str(error).split("\n", 1)[0]
        raise CouldNotRunError(
            f"run {run!r}: the worker sent no valid message: {reason}"
        ) from error


def _error_of(failure: Failed, job: Job) -> RepropackError:
    run = job.run
    if failure.reason == "load":
        return ExperimentLoadError(failure.message, hint=failure.hint)
    if failure.reason == "environment":
        return CouldNotRunError(failure.message, hint=failure.hint)
    if failure.reason == "configuration":
        return ConfigurationError(failure.message, hint=failure.hint)
    if failure.reason == "command":
        return CommandError(run, failure.message, hint=failure.hint)
    place = f" (run {run!r}, step {failure.step})" if not job.trial else " (tried before the run)"
    if failure.reason == "state":
        return StateError(failure.name, failure.message + place, hint=failure.hint)
    if failure.reason == "dtype":
        unsupported = UnsupportedDtypeError(failure.name, failure.dtype or "unknown")
        unsupported.message += place
        return unsupported
    error = StepError(run, failure.step, failure.stage, failure.message)
    error.hint = failure.hint
    return error


def _died(worker: Supervised, run: str, step: int) -> CouldNotRunError:
    report = worker.wait(GRACE_SECONDS) or worker.end()
    place = f"after step {step}: expected it to finish"
    if "limit" in report:
        return beyond_limit(report, f"run {run!r}: after step {step}")
    if "problem" in report:
        problem = ascii(str(report["problem"]))[1:-1]
        return CouldNotRunError(f"run {run!r}: the worker cannot be started: {problem}")
    how = "closed its messages and ran on"
    if "stopped" not in report:
        how = _how_it_ended(int(report.get("status", 0)))
    tail = last_printed_line(worker.printed())
    hint = f"its last line on standard error: {tail}" if tail else None
    return CouldNotRunError(f"run {run!r}: the worker {how} {place}", hint=hint)


def beyond_limit(report: Mapping[str, Any], where: str) -> CouldNotRunError:
    """What is said of a run that was ended by one of its limits."""
    limit, allowed, observed = (report[name] for name in ("limit", "allowed", "observed"))
    hint = f"raise it with --limit {limit}=VALUE if the run may take that much"
    if limit == "timeout-seconds":
        hint = "raise it in the project file if the run may take that long"
    return CouldNotRunError(
        f"{where}: limit {limit} exceeded: allowed {allowed}, observed {observed}", hint=hint
    )


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:  # a real-time signal has no name
        return f"was ended by signal {-status}"


@contextlib.contextmanager
def _showing_prints(worker: Supervised, job: Job) -> Iterator[None]:
    """Put what the caller's own code printed last into the error that it ends with."""
    try:
        yield
    except RepropackError as error:
        worker.end()
        error.printed = _last_lines(worker.printed(), job, error)
        raise


def _last_lines(printed: bytes, job: Job, error: RepropackError) -> tuple[str, ...]:
    """The end of what a run printed, its own folders left out of paths."""
    text = printed.decode("utf-8", "replace")
    for folder in (job.source, job.copy_folder):
        text = text.replace(f"{folder}/", "") if folder is not None else text
    return shown_lines(text.rstrip().splitlines(), error)[-_SHOWN_LINES:]


def last_printed_line(printed: bytes) -> str:
    """The last line of what was printed, as visible characters; empty where there is none."""
    lines = printed[-_TAIL_BYTES:].decode("utf-8", "replace").strip().splitlines()
    return ascii(lines[-1])[1:-1][:300] if lines else ""
