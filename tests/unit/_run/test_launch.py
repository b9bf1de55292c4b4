"""A worker is started, listened to and ended; nothing of it is left, whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._run import launch
from repropack._run.confinement.supervised import Supervised
from repropack._run.launch import run_worker
from repropack.errors import CouldNotRunError, RepropackError
from repropack.models.plan import ExperimentPlan, RecordPlan
from repropack.models.worker import Finished, Job, Message, Ready, Stepped
from tests.support.commands import WRITES, make_command_launcher
from tests.support.experiment_sources import SOURCES, make_launcher, opened


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job for the module ``tiny_lab`` of ``tmp_path``."""
    (tmp_path / "handed").mkdir()
    (tmp_path / "here").mkdir()
    return Job(
        run="reference",
        source=str(tmp_path),
        output=str(tmp_path / "handed"),
        experiment=ExperimentPlan(entry_point="tiny_lab:Experiment", seed=7, steps=3),
        record=RecordPlan(),
        first_step=1,
    )


def converse(
    job: Job, name: str, *, limits: Limits = DEFAULT_LIMITS
) -> Generator[Message, None, None]:
    """Run one of the tiny experiments as ``job``."""
    folder = Path(job.source)
    (folder / "tiny_lab.py").write_text(SOURCES[name], "utf-8")
    return run_worker(job, scratch=folder / "here", limits=limits)


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a hand-made program in the worker's place."""

    def played(program: str) -> None:
        script = tmp_path / "program.py"
        script.write_text(f"import os, signal, sys, time\n{textwrap.dedent(program)}", "utf-8")
        monkeypatch.setattr(launch, "_MAIN", script)

    return played


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def all_end(*pids: int) -> bool:
    """Whether all processes end within seconds; a killed one may take a moment."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not any(map(is_running, pids)):
            return True
        time.sleep(0.01)
    return False


def test_messages_come_in_order(job: Job):
    """First the state before the first step, then each step, then the end."""
    kinds = [message.kind for message in converse(job, "calm")]
    assert kinds == [
        "ready",
        "checkpointed",
        "stepped",
        "stepped",
        "stepped",
        "checkpointed",
        "finished",
    ]


def test_a_worker_leaves_nothing_in_its_folder(job: Job, tmp_path: Path):
    """Neither the record of standard error nor a cache stands where the experiment works."""
    assert isinstance(list(converse(job, "prints"))[-1], Finished)
    assert list((tmp_path / "here").iterdir()) == []
    assert not (tmp_path / "__pycache__").exists()


@pytest.mark.parametrize(
    ("name", "how", "hint"),
    [
        ("killed", "was ended by signal 9 (SIGKILL)", None),
        ("leaves", "ended with status 7", "its last line on standard error: so long"),
        ("cuts-message", "ended with status 9", None),
        ("closes-pipes", "ended with status 0", None),
    ],
)
def test_a_worker_that_dies_is_told_by_how_and_where(job: Job, name: str, how: str, hint: str):
    """Signal or status, the last step that arrived, and what was printed last."""
    with pytest.raises(CouldNotRunError) as caught:
        list(converse(job, name))
    assert caught.value.message == (
        f"run 'reference': the worker {how} after step 1: expected it to finish"
    )
    assert (caught.value.code, caught.value.hint) == ("could-not-run", hint)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("sys.exit(3)", "the worker ended with status 3 after step 0: expected it to finish"),
        (
            "os.kill(os.getpid(), 40)",
            "the worker was ended by signal 40 after step 0: expected it to finish",
        ),
        (
            "print('{}')",
            (
                "the worker sent no valid message: 1 validation error for "
                "tagged-union[Ready,Stepped,Checkpointed,"
            ),
        ),
        (
            "print('no JSON')",
            (
                "the worker sent no valid message: run 'reference': expected strict JSON, observed "
                "Expecting value: line 1 column 1 (char 0)"
            ),
        ),
        (
            'print(\'{"kind":"checkpointed","kind":"finished","step":1}\')',
            (
                "the worker sent no valid message: run 'reference': expected strict JSON, observed "
                "the key 'kind' twice in one object"
            ),
        ),
        (
            "print('[' * 100 + ']' * 100)",
            (
                "the worker sent no valid message: run 'reference': limit max_json_depth exceeded: "
                "allowed 64, observed 65"
            ),
        ),
        ("print('{\"kind\":', end='')", "the worker ended with status 0 after step 0: "),
    ],
    ids=["status", "real-time-signal", "empty", "text", "double", "deep", "cut"],
)
def test_what_no_worker_says_is_refused(job: Job, play, program: str, message: str):
    """Whatever comes instead of a message ends the run, on one line."""
    play(program)
    with pytest.raises(CouldNotRunError) as caught:
        list(run_worker(job, scratch=Path(job.source)))
    assert caught.value.message.startswith(f"run 'reference': {message}")
    assert "\n" not in caught.value.message


def test_a_message_beyond_the_limit_is_refused(job: Job):
    """A worker cannot fill the judge's memory; a limit is no damage of a package."""
    with pytest.raises(CouldNotRunError) as caught:
        list(converse(job, "calm", limits=Limits(max_document_bytes=100)))
    assert caught.value.message == (
        "run 'reference': message after step 0: limit max_document_bytes exceeded: "
        "allowed 100, observed more"
    )


def test_a_worker_that_stops_listening_is_no_crash_of_the_judge(job: Job, play):
    """A worker that dies before it has read a large job is told like any other."""
    play("os.close(0)\nsys.exit(5)")
    large = job.model_copy(
        update={"experiment": job.experiment.model_copy(update={"config": {"a": "x" * 10**6}})}
    )
    with pytest.raises(CouldNotRunError, match="ended with status 5 after step 0"):
        list(run_worker(large, scratch=Path(job.source)))


def test_an_interpreter_that_cannot_be_started_is_told(job: Job, monkeypatch):
    """A missing interpreter is a run that gave no answer."""
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(CouldNotRunError) as caught:
        list(converse(job, "calm"))
    assert caught.value.message == (
        "run 'reference': the worker cannot be started: No such file or directory"
    )


def test_a_worker_that_closes_its_messages_and_runs_on_is_ended(job: Job, play, monkeypatch):
    """An end of the messages without an end of the process does not hang the judge."""
    monkeypatch.setattr(launch, "GRACE_SECONDS", 0.1)
    play("print(os.getpid(), file=sys.stderr, flush=True)\nos.close(1)\ntime.sleep(60)")
    with pytest.raises(CouldNotRunError) as caught:
        list(run_worker(job, scratch=Path(job.source)))
    assert "the worker closed its messages and ran on after step 0" in caught.value.message
    assert caught.value.hint is not None
    assert all_end(int(caught.value.hint.rpartition(" ")[2]))


def test_a_worker_that_lingers_after_its_end_is_ended(job: Job, play, monkeypatch, tmp_path):
    """After its last word a worker has a moment to end by itself, and no more."""
    monkeypatch.setattr(launch, "GRACE_SECONDS", 0.1)
    play(
        """
        open("pid", "w").write(str(os.getpid()))
        print('{"kind":"finished"}', flush=True)
        time.sleep(60)
        """
    )
    assert [message.kind for message in run_worker(job, scratch=tmp_path)] == ["finished"]
    assert all_end(int((tmp_path / "pid").read_text("utf-8")))


def test_the_end_of_standard_error_is_shown_printable(job: Job, play):
    """The last line that a dying worker printed, escaped, and cut to 300 characters."""
    play("sys.stderr.buffer.write(b'first\\n\\x1b[31m' + b'x' * 5000); sys.exit(1)")
    with pytest.raises(CouldNotRunError) as caught:
        list(run_worker(job, scratch=Path(job.source)))
    assert caught.value.hint == "its last line on standard error: " + "x" * 300


def _pids(message: Message) -> tuple[int, int]:
    assert isinstance(message, Stepped)
    worker, child = message.metrics["worker"], message.metrics["child"]
    assert isinstance(worker, int)
    assert isinstance(child, int)
    return worker, child


def test_nothing_is_left_after_the_end(job: Job):
    """What the experiment started ends with its run."""
    pids = [_pids(m) for m in converse(job, "starts-a-child") if isinstance(m, Stepped)]
    assert len(pids) == 3
    assert all_end(*(pid for pair in pids for pid in pair))


def test_nothing_is_left_when_the_reader_stops_early(job: Job):
    """Closing the conversation ends the worker and what it started."""
    with contextlib.closing(converse(job, "starts-a-child")) as messages:
        worker, child = _pids(next(m for m in messages if isinstance(m, Stepped)))
        assert is_running(worker)
        assert is_running(child)
    assert all_end(worker, child)


def test_nothing_is_left_after_a_failure(tmp_path: Path):
    """A step that raises ends what earlier steps started."""
    source = SOURCES["starts-a-child"].replace(
        "        import subprocess\n",
        "        import subprocess\n"
        "        if self.count == 2: raise ValueError(f'{os.getpid()} {self.child.pid}')\n",
    )
    with pytest.raises(RepropackError) as caught:
        make_launcher(tmp_path, source).run_reference()
    assert all_end(*map(int, caught.value.message.split()[-2:]))


def test_nothing_is_left_when_progress_is_interrupted(tmp_path: Path):
    """An interrupt between two steps ends the worker at once, while the error is still held."""
    seen: list[int] = []
    launcher = make_launcher(tmp_path, SOURCES["starts-a-child"])

    def interrupt(run: str, step: int, last: int) -> None:
        log = (launcher.tree / "runs" / run / "fingerprints.jsonl").read_text("utf-8")
        numbers = log.splitlines()[-1].replace("}", ",").split(",")
        seen.extend(int(n.rpartition(":")[2]) for n in numbers if '"child"' in n or "worker" in n)
        raise KeyboardInterrupt

    object.__setattr__(launcher, "on_step", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        launcher.run_reference()
    assert len(seen) == 2
    assert all_end(*seen)
    assert list((tmp_path / "scratch").iterdir()) == []
    assert caught.value.__traceback__ is not None


def test_nothing_is_left_when_waiting_is_interrupted(job: Job):
    """An interrupt that comes while the judge waits for a message ends the worker."""
    workers: list[int] = []
    popen = subprocess.Popen

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def noting(*arguments, **options):
        process = popen(*arguments, **options)
        workers.append(process.pid)
        return process

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(subprocess, "Popen", noting)
            messages = converse(job, "sleeps")
            assert isinstance(next(messages), Ready)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(KeyboardInterrupt):
                list(messages)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(workers) == 1
    assert all_end(*workers)


def test_the_hash_seed_is_the_jobs_own(job: Job):
    """Two workers differ in the order of sets only where their hash seeds do."""
    folder = Path(job.source)
    (folder / "tiny_lab.py").write_text(SOURCES["set-order"], "utf-8")
    losses = []
    for hash_seed in (0, 0, 5):
        (folder / "handed").mkdir(exist_ok=True)
        messages = run_worker(job, scratch=folder / "here", hash_seed=hash_seed)
        losses.append([m.metrics["loss"] for m in messages if isinstance(m, Stepped)])
    assert losses[0] == losses[1]
    assert losses[0][0] != losses[2][0]


def test_a_relative_umask_of_the_caller_does_not_reach_the_worker(job: Job, tmp_path: Path):
    """Files of a worker have the same modes whatever the caller's umask is."""
    before = os.umask(0o077)
    try:
        list(converse(job, "calm"))
    finally:
        os.umask(before)
    assert (tmp_path / "handed" / "step-000000000.npz").stat().st_mode & 0o777 == 0o644


# ---------------------------------------------------------------- variables of an entry point

ENVIRONMENT = """\
import os
import numpy as np


class Lab:
    def __init__(self, config, seed):
        pass

    def step(self, trace):
        names = ("MINE", "OMP_NUM_THREADS", "TZ")
        trace.finish(" ".join(str(os.environ.get(name)) for name in names))

    def state_dict(self):
        return {"x": np.zeros(1)}

    def load_state_dict(self, state):
        pass
"""


def test_an_entry_point_has_the_plans_variables_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Before anything is imported, so that libraries see them; they stand before the caller's."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    variables = {"MINE": "a 'b' é", "OMP_NUM_THREADS": "1"}
    launcher = make_command_launcher(
        tmp_path,
        ENVIRONMENT,
        command=None,
        entry_point="train:Lab",
        outputs=(),
        environment=variables,
    )
    result = launcher.run_reference()
    with opened(launcher) as (run,):
        (line,) = run.steps()
    assert line.finish == "a 'b' é 1 UTC"
    assert result.environment.variables["OMP_NUM_THREADS"] == "1"


@pytest.mark.hostile
def test_variables_of_a_package_do_not_reach_the_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It is not confined: a library that it was made to load would be the caller."""
    started: list[dict[str, str]] = []

    def noting(policy: Any, *, environment: Any, **options: Any) -> Any:
        started.append(environment)
        return Supervised(policy, environment=environment, **options)

    monkeypatch.setattr(launch, "Supervised", noting)
    options: list[dict[str, Any]] = [
        {},
        {"command": None, "entry_point": "train:Lab", "outputs": ()},
    ]
    for number, form in enumerate(options):
        launcher = make_command_launcher(
            tmp_path / str(number),
            ENVIRONMENT if form else WRITES,
            environment={"LD_PRELOAD": "./evil.so", "PYTHONPATH": "."},
            **form,
        )
        launcher.run_reference()
    assert len(started) == 2
    assert not any({"LD_PRELOAD", "PYTHONPATH"} & set(environment) for environment in started)
