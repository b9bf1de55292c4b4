"""The worker's end of a repetition: one step made again and again from one state."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._format.state import fingerprint_components
from repropack._run.session import Session, Stateful
from repropack.experiment import Trace
from repropack.models.worker import Job, Repeated


def repetitions(job: Job, session: Session, experiment: Stateful) -> Iterator[Trace]:
    """Repeat the job's one step; the state is restored before each but the first.

    Args:
        job: What is run; it has a starting state, and ``repeat`` is at least 1.
        session: Begun, so that the starting state is restored.
        experiment: The experiment.

    Yields:
        What the step is to record into: make the step before the next is asked for.

    Raises:
        ExperimentError: the state cannot be restored or taken.
    """
    for number in range(1, job.repeat + 1):
        if number > 1:
            session.restore(experiment)
        trace = session.open_step(job.first_step)
        yield trace
        state = fingerprint_components(session.state_of(experiment))
        session.say(Repeated(number=number, stages=trace.stages, state=state))
