"""A command that is an experiment of one step: started in the worker, its outputs are the stages.

It runs in the worker's clean copy, with the worker's variables and those of the plan. Whatever it
prints goes to standard error, of which the judge keeps the end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from repropack._format.placeholders import fill_placeholders
from repropack._run.clean_copy import find_outputs, output_stages
from repropack._run.folders import files_below
from repropack._run.session import Session
from repropack.errors import CommandError
from repropack.experiment import State, Trace
from repropack.models.plan import ExperimentPlan
from repropack.models.worker import Job

PYTHON_WORDS = ("python", "python3")
"""A first word that stands for the interpreter in use."""


def command_words(experiment: ExperimentPlan) -> list[str]:
    """Return the words of a command as they are executed.

    Args:
        experiment: An experiment that has a command; its ``config`` is the run's.

    Returns:
        The words, placeholders filled in, a first word ``python`` as the interpreter's path.
    """
    words = [
        fill_placeholders(word, experiment.seed, experiment.config)
        for word in experiment.command or ()
    ]
    return [sys.executable, *words[1:]] if words[0] in PYTHON_WORDS else words


def import_path(experiment: ExperimentPlan, source: Path) -> list[str]:
    """Where a run looks for the modules of its source.

    Args:
        experiment: What is run.
        source: Root of the source: a copy of it, or the clean copy.

    Returns:
        Absolute paths: the root, then the folders of ``import_from``.
    """
    return [str(source), *(str(source / folder) for folder in experiment.import_from)]


def start_command(
    run: str, experiment: ExperimentPlan, copy: Path, variables: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a command in a clean copy; what it prints goes to standard error.

    Args:
        run: Name of the run, for messages.
        experiment: What to start.
        copy: Its working folder.
        variables: Variables beside those of this process, which has the plan's.

    Returns:
        The running process.

    Raises:
        CommandError: it cannot be started.
    """
    words = command_words(experiment)
    modules = [variables.get("PYTHONPATH", ""), *import_path(experiment, copy)[1:]]
    path = {"PYTHONPATH": os.pathsep.join(filter(None, modules))} if any(modules) else {}
    try:
        return subprocess.Popen(  # noqa: S603 - the author's command, confined like the worker
            words,
            stdin=subprocess.DEVNULL,
            stdout=2,
            stderr=2,
            cwd=copy,
            env={**os.environ, **variables, **path},
        )
    except OSError as error:
        told = error.strerror or str(error)
        hint = "name a program of PATH, or a file of the source as './NAME'"
        if isinstance(error, PermissionError):
            hint = "make the file executable, or name its interpreter before it"
        raise CommandError(run, f"{words[0]!r} cannot be started: {told}", hint=hint) from None


def check_status(run: str, status: int) -> None:
    """Refuse a command that did not end well.

    Args:
        run: Name of the run, for the message.
        status: Its exit status, negative for a signal.

    Raises:
        CommandError: the status is not 0.
    """
    if status == 0:
        return
    observed = str(status)
    if status < 0:
        try:
            observed = signal.Signals(-status).name
        except ValueError:  # a real-time signal has no name
            observed = f"signal {-status}"
    raise CommandError(
        run,
        f"expected the command to end with status 0, observed {observed}",
        hint="try it by hand in a folder that holds its source and its inputs, and nothing else",
    )


def tell_command(job: Job, session: Session) -> None:
    """Run a command to its end, and tell it as a run of one step with an empty state.

    Args:
        job: The job, whose experiment is a command and no loop.
        session: Where it is told.

    Raises:
        CommandError: it cannot be started, fails, or does not write all of its outputs.
        CouldNotRunError: arithmetic is not IEEE 754's, or an output cannot be read.
    """
    experiment, copy = job.experiment, Path(job.copy_folder or "")
    given = files_below(copy)
    session.begin(_Stateless(), experiment.config, None)
    session.open_step(1)
    check_status(job.run, start_command(job.run, experiment, copy, {}).wait())
    outputs = find_outputs(job.run, experiment.outputs, copy, given)
    session.close_step(_Stateless(), _OutputTrace(output_stages(job.run, outputs, copy)))
    session.end()


class _Stateless:
    """A command has no state: it runs as a whole."""

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing is restored."""


class _OutputTrace(Trace):
    """Stages that are outputs, each made of nothing that was recorded."""

    def __init__(self, outputs: list[tuple[str, str]]) -> None:
        super().__init__()
        self._outputs = tuple(outputs)

    @property
    def stages(self) -> tuple[tuple[str, str], ...]:
        return self._outputs

    @property
    def declarations(self) -> dict[str, tuple[str, ...] | None]:
        return {stage: () for stage, _ in self._outputs}
