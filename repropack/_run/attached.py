"""The other end of a loop: what ``repropack.attach`` does in the script's own process.

A job file says what is run and where messages go. Whoever attaches first takes the file; a second
call, here or in another process of the run, finds none. What the script raises is told before the
interpreter prints it, and a loop that is left early is told when the interpreter ends.
"""

from __future__ import annotations

import atexit
import operator
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import SupportsIndex

from pydantic import ValidationError

from repropack._run.loading import last_line
from repropack._run.loop_state import LoopState
from repropack._run.repeating import repetitions
from repropack._run.session import RaisedError, Session, silence_children
from repropack._run.trial import Trial
from repropack.errors import CommandError, ExperimentLoadError, RepropackError
from repropack.experiment import Trace
from repropack.models.worker import LoopJob

TAKEN_SUFFIX = ".taken"


class Attached:
    """One attached run: its state, and its steps as they are made."""

    def __init__(
        self,
        job_file: str,
        state: Mapping[str, object],
        constants: Mapping[str, object] | None,
    ) -> None:
        """Take the job file, and look at the state's components.

        Args:
            job_file: Its path.
            state: Objects by component name.
            constants: What is held fixed.

        Raises:
            CommandError: the job file is taken.
            ExperimentLoadError: there is none, or it is of another release.
            StateError: a component cannot be restored in place.
        """
        loop = _take_job(job_file)
        self._job = loop.job
        self._run = loop.job.run
        descriptor = os.open(loop.messages, os.O_WRONLY | os.O_CLOEXEC)
        silence_children(descriptor)
        self._session = Session(loop.job, os.fdopen(descriptor, "wb"), Path(loop.folder))
        self._process = os.getpid()
        self._trace: Trace | None = None
        self._begun = False
        _call_at_the_end(self)
        self._state = LoopState(state, constants)

    @property
    def trace(self) -> Trace:
        """What the step under way records into.

        Raises:
            CommandError: no step is under way.
        """
        if self._trace is None:
            raise CommandError(
                self._run,
                "expected stages and metrics within the loop over steps(...), observed one "
                "outside of it",
            )
        return self._trace

    def steps(self, count: int) -> Iterator[int]:
        """The steps of the plan from where the run begins; state is restored before the first.

        Args:
            count: How many steps the script would make by itself.

        Yields:
            The number of each step.

        Raises:
            CommandError: fewer than the plan's, or a second loop.
            ExperimentError: what the script hands over cannot be stored.
            RepropackError: what else ends the run; it is told before it is raised.
        """
        try:
            self._check_process()
            self._check_count(count)
            yield from self._try() if self._job.trial else self._make()
        except RepropackError as error:
            if not self._session.ended and os.getpid() == self._process:
                self._session.fail(error)
            raise

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise CommandError(
                self._run,
                "expected the loop in the process that called attach, observed it in a fork of it",
                hint="fork below the loop, and let the new process end without going on with it",
            )

    def _check_count(self, count: object) -> None:
        planned = self._job.experiment.steps
        if not isinstance(count, SupportsIndex) or operator.index(count) < planned:
            raise CommandError(
                self._run,
                f"expected steps({planned}) or more, as the plan has it, observed "
                f"steps({count!r:.40})",
                hint="make `steps` of the project file and of the script the same",
            )
        if self._begun:
            raise CommandError(self._run, "expected one loop over steps(...), observed a second")
        self._begun = True

    def _make(self) -> Iterator[int]:
        session, plan = self._session, self._job.experiment
        session.begin(self._state, dict(plan.config), None)
        if self._job.repeat:
            yield from self._repeat()
            return
        for step in range(self._job.first_step, plan.steps + 1):
            trace = self._trace = session.open_step(step)
            try:
                yield step
            except GeneratorExit:  # the loop was left; after finish() that is its end
                if trace.finish_reason is None:
                    raise
            self._check_process()
            self._trace = None
            if session.close_step(self._state, trace):
                break
        session.end()

    def _repeat(self) -> Iterator[int]:
        """Make one step again and again; its number stays the same."""
        for trace in repetitions(self._job, self._session, self._state):
            self._trace = trace
            yield self._job.first_step
            self._check_process()
        self._trace = None
        self._session.end()

    def _try(self) -> Iterator[int]:
        """Make one step, see whether the first state comes back, and go no further.

        The process ends here: nothing after the loop, and no ``finally``, is reached.

        Yields:
            1, the only step.
        """
        trial = Trial(self._session, self._state)
        self._trace = trial.trace
        yield 1
        trial.end()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(0)

    def tell(self, error: BaseException) -> None:
        """Tell what the script raised and nothing caught."""
        if os.getpid() != self._process or self._session.failed:
            return
        if isinstance(error, RepropackError):
            self._session.fail(error)
            return
        if self._job.trial:  # the run itself tells it, with its stages
            self._session.end_trial()
            return
        line = last_line(error)
        told: RepropackError = RaisedError(line)
        if self._session.ended:
            told = CommandError(self._run, f"the script raised after its last step: {line}")
        elif self._trace is None:
            subject = self._session.subject
            told = ExperimentLoadError(f"{subject}: the script raised before a step: {line}")
        told.__cause__ = error
        self._session.fail(told)

    def tell_end(self) -> None:
        """Tell that the interpreter ends in the middle of the loop, if it does."""
        if os.getpid() != self._process or self._session.ended:
            return
        session, planned = self._session, self._job.experiment.steps
        if self._job.trial:
            session.end_trial()
        elif not self._begun:
            told = "expected a loop over steps(...) of what attach returns, observed none"
            hint = f"write `for step in run.steps({planned}):`, with `run` what attach returned"
            session.fail(CommandError(self._run, told, hint=hint))
        else:
            stage = f"after stage {session.stage!r} of" if session.stage else "in"
            told = f"expected {planned} steps, observed an end {stage} step {session.step}"
            hint = "call finish(reason) to end a run before its last step"
            if session.step == planned:
                hint = "a step is over when the next is asked for: let the loop run to its end"
            session.fail(CommandError(self._run, told, hint=hint))


def _take_job(job_file: str) -> LoopJob:
    path = Path(job_file)
    taken = path.with_name(path.name + TAKEN_SUFFIX)
    try:
        path.rename(taken)
    except OSError as error:
        if taken.exists():
            raise _attached_again(taken) from None
        raise ExperimentLoadError(
            f"attach: the job file that REPROPACK_JOB names cannot be taken: {error.strerror}",
            hint="unset REPROPACK_JOB where repropack does not run the script",
        ) from error
    return _read_job(taken)


def _read_job(path: Path) -> LoopJob:
    try:
        return LoopJob.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise ExperimentLoadError(
            "attach: expected a job file of this release of repropack, observed another",
            hint="see to it that the script imports the repropack that runs it",
        ) from error


def _attached_again(taken: Path) -> CommandError:
    return CommandError(
        _read_job(taken).job.run,
        "expected one call of attach, observed a second, in this process or in another of the run",
        hint='call attach once, below `if __name__ == "__main__":` where processes are spawned',
    )


def _call_at_the_end(attached: Attached) -> None:
    """Hear of exceptions that nothing catches, and of the interpreter's end."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        try:
            attached.tell(error)
        finally:
            before(kind, error, trace)

    sys.excepthook = hook
    atexit.register(attached.tell_end)
