"""The worker: the process that imports an experiment's code.

It reads one job from standard input, writes one JSON line a message to what was its standard
output, and puts arrays into its output folder. Whatever the experiment prints goes to standard
error.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from repropack._run.command import import_path, tell_command
from repropack._run.failing import print_failure
from repropack._run.loading import (
    Configuration,
    check_modules,
    check_origin,
    load_entry_point,
    make_experiment,
)
from repropack._run.loop_worker import run_loop
from repropack._run.repeating import repetitions
from repropack._run.session import Session, silence_children
from repropack._run.trial import Trial
from repropack.errors import RepropackError
from repropack.experiment import close_experiment
from repropack.models.worker import Job


def main() -> int:
    """Run the one job that standard input holds, and report it on standard output.

    Returns:
        The process's exit status: 0 after ``Finished``, 1 after ``Failed``. Where neither was
        said, the process ends with a traceback on standard error and the judge sees it die.
    """
    job = Job.model_validate_json(sys.stdin.buffer.readline())
    with _take_over_stdout() as protocol:
        session = Session(job, protocol, Path(job.source))
        try:
            if job.experiment.loop:
                return 0 if run_loop(job, protocol) else 1
            sys.path[:0] = import_path(job.experiment, Path(job.source))
            _run(job, session)
        except RepropackError as error:
            print_failure(error, Path(job.source))
            session.fail(error)
            return 1
    return 0


def _take_over_stdout() -> BinaryIO:
    """Keep the real standard output for messages and send prints to standard error."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    silence_children(descriptor)
    return os.fdopen(descriptor, "wb")


def _run(job: Job, session: Session) -> None:
    """Construct, restore, and step to the end."""
    plan, source, known = job.experiment, Path(job.source), frozenset(sys.modules)
    if plan.command is not None and not plan.loop:
        tell_command(job, session)
        return
    entry_point = plan.entry_point or ""
    target = load_entry_point(entry_point)
    check_origin(entry_point, source)
    config = Configuration(target, plan.config)
    experiment = make_experiment(target, config.value, plan.seed, entry_point)
    check_modules(source, known)
    try:
        if job.trial:
            Trial(session, experiment).make_step(experiment.step)
            _close_quietly(job, experiment)
            return
        session.begin(experiment, config.encoded, config.schema)
        _make_steps(job, session, experiment)
    except BaseException:
        _close_quietly(job, experiment)
        raise
    session.guarded("close", lambda: close_experiment(experiment))
    check_modules(source, known)
    session.end()


def _make_steps(job: Job, session: Session, experiment: Any) -> None:
    if job.repeat:
        for trace in repetitions(job, session, experiment):
            session.guarded("step", lambda trace=trace: experiment.step(trace))  # type: ignore[misc]
        return
    for step in range(job.first_step, job.experiment.steps + 1):
        trace = session.open_step(step)
        session.guarded("step", lambda trace=trace: experiment.step(trace))  # type: ignore[misc]
        if session.close_step(experiment, trace):
            return


def _close_quietly(job: Job, experiment: Any) -> None:
    """After a failure: what ``close`` raises as well must not hide what came first."""
    try:
        close_experiment(experiment)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the first failure is to be reported
        error.__context__ = None
        print_failure(error, Path(job.source))
