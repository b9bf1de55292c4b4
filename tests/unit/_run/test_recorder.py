"""The judge believes nothing that a worker hands over: messages and files are made by hand here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import describe_state, write_state
from repropack._format.limits import Limits
from repropack._format.npz import read_npz
from repropack._format.state import EncodedState, encode_state
from repropack._read.container import open_container
from repropack._read.run import RunReader
from repropack._run import recorder as recorder_module
from repropack._run.handed import HandedFolder
from repropack._run.recorder import Recorder
from repropack.errors import CouldNotRunError
from repropack.models.worker import (
    Checkpointed,
    Failed,
    Finished,
    KeptStage,
    Message,
    Ready,
    Stepped,
)
from tests.support.environments import RECORD

DIGEST = "sha256:" + "1" * 64


class Worker:
    """A worker's side, played by hand: two steps, a state of one array, one kept stage."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.tree, self.handed = folder / "tree", folder / "handed"
        self.handed.mkdir()
        self.own = folder / "own"
        self.own.mkdir()
        folders = (self.tree, self.handed, self.own)
        self.recorder = Recorder(
            "reference", *folders, 1, **{"keep": ("w",), "last_step": 2, **options}
        )
        self.rows = np.arange(6.0).reshape(2, 3)

    def state(self, step: int) -> EncodedState:
        return encode_state({"w": np.full(3, float(step)), "n": step})

    def hand_over(self, step: int) -> None:
        state = self.state(step)
        with (self.handed / f"step-{step:09d}.npz").open("wb") as stream:
            write_state(stream, state)
        (self.handed / f"step-{step:09d}.json").write_bytes(
            encode_canonical(describe_state(state).model_dump(mode="json"))
        )

    def messages(self) -> list[Message]:
        """An honest run; every file that it speaks of is there."""
        self.hand_over(0)
        self.hand_over(2)
        (self.handed / "kept-0.raw").write_bytes(self.rows.tobytes())
        kept = KeptStage(stage="w", file="kept-0.raw", dtype="<f8", shape=(3,), rows=2)
        return [
            Ready(
                config={},
                config_schema=None,
                constants=(),
                state=describe_state(self.state(0)).components,
                environment=RECORD,
            ),
            Checkpointed(step=0),
            self.stepped(1),
            self.stepped(2),
            Checkpointed(step=2, kept=(kept,)),
            Finished(),
        ]

    def stepped(self, step: int, **changes: Any) -> Stepped:
        fingerprint = describe_state(encode_state({"w": self.rows[step - 1]})).arrays["w"]
        values: dict[str, Any] = {
            "step": step,
            "stages": (("w", fingerprint.fingerprint),),
            "declarations": (("w", None),),
            "state": describe_state(self.state(step)).components,
            "metrics": {},
            "printed": {},
            "finish": None,
        }
        return Stepped(**{**values, **changes})

    def record(self, messages: list[Message]) -> list[int]:
        return list(self.recorder.record(iter(messages)))

    def refused(self, messages: list[Message]) -> str:
        """What is wrong with ``messages``; it has to be something."""
        with pytest.raises(CouldNotRunError) as caught:
            self.record(messages)
        before, _, problem = caught.value.message.partition(": the worker handed over nonsense: ")
        assert before == "run 'reference'"
        return problem


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    return Worker(tmp_path)


def test_an_honest_run_is_recorded(worker: Worker):
    """Log, checkpoints and kept arrays stand in the tree, and the folder is emptied of states."""
    assert worker.record(worker.messages()) == [1, 2]
    result = worker.recorder.result()
    assert (result.first_step, result.last_step, result.environment) == (1, 2, RECORD)
    with open_container(worker.tree) as container:
        run = RunReader(container, "reference")
        assert [line.step for line in run.steps()] == [1, 2]
        assert run.checkpoint_steps() == (0, 2)
        assert run.checkpoint(2)[0].chain == worker.recorder.chain
        rows = list(run.kept_rows("w") or ())
    np.testing.assert_array_equal(rows, worker.rows)
    assert list(worker.handed.iterdir()) == []


def test_a_resumed_run_declares_what_the_reference_does(tmp_path: Path):
    """The header's declarations are given, and the lines name what differs from them."""
    declared = (("w", ("state:w",)), ("eval", None))
    worker = Worker(tmp_path, declared=declared, chain=DIGEST)
    worker.record(worker.messages())
    with open_container(worker.tree) as container:
        run = RunReader(container, "reference")
        assert run.header.stages == declared
        assert run.start.chain == DIGEST
        assert [line.declares for line in run.steps()] == [(("w", None),)] * 2


def drop(messages: list[Message], position: int) -> list[Message]:
    return messages[:position] + messages[position + 1 :]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda w, m: m[1:], "expected a first state, observed checkpointed"),
        (lambda w, m: [m[0], *m], "expected one first state, observed a second"),
        (lambda w, m: drop(m, 1), "expected a checkpoint of the first state, observed a step"),
        (lambda w, m: drop(m, 2), "expected step 1, observed step 2"),
        (lambda w, m: [*m[:3], *m[2:]], "expected step 2, observed step 1"),
        (lambda w, m: drop(m, 4), "expected a checkpoint after step 2, observed an end"),
        (
            lambda w, m: [*m[:5], *m[4:]],
            "expected a step after 2, observed checkpoint step-000000002",
        ),
        (
            lambda w, m: [*m[:3], m[4], *m[3:]],
            "expected a step after 1, observed checkpoint step-000000002",
        ),
        (lambda w, m: m[:-1], "expected an end, observed none"),
        (lambda w, m: [*m, m[-1]], "expected nothing after its end, observed finished"),
        (lambda w, m: [*m, m[2]], "expected nothing after its end, observed stepped"),
        (lambda w, m: [*m[:2], m[-1]], "expected 2 steps, observed an end after step 0"),
        (
            lambda w, m: [*m[:5], w.stepped(2).model_copy(update={"step": 3})],
            "expected 2 steps, observed step 3",
        ),
        (
            lambda w, m: [*m[:2], w.stepped(1, finish="done"), *m[3:]],
            "expected no step after finish, observed step 2",
        ),
        (
            lambda w, m: [m[0], Failed(reason="step", name="", message="x")],
            "expected a step or an end, observed failed",
        ),
    ],
    ids=[
        "no-first-state",
        "two-first-states",
        "no-first-checkpoint",
        "step-left-out",
        "step-twice",
        "no-last-checkpoint",
        "checkpoint-twice",
        "checkpoint-too-early",
        "no-end",
        "two-ends",
        "step-after-end",
        "ends-early",
        "too-many-steps",
        "step-after-finish",
        "failure",
    ],
)
def test_messages_out_of_order_are_refused(worker: Worker, change: Any, problem: str):
    """Each message has its place; the refusal says what was expected there."""
    assert worker.refused(change(worker, worker.messages())) == problem


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"declarations": (("v", None),)},
            "step 1: expected stages and their declarations, each once, observed ['w'] and ['v']",
        ),
        (
            {"declarations": None},
            "step 1: expected stages and their declarations, each once, observed ['w'] and None",
        ),
        (
            {"stages": (("w", DIGEST),) * 2, "declarations": (("w", None),) * 2},
            (
                "step 1: expected stages and their declarations, each once, "
                "observed ['w', 'w'] and ['w', 'w']"
            ),
        ),
        (
            {"stages": (("v", DIGEST),), "declarations": (("v", None),)},
            "step 1: expected kept stages, observed no ['w']",
        ),
        (
            {"state": (("w", DIGEST), ("n", DIGEST))},
            "state: expected sorted names, each once, observed ['w', 'n']",
        ),
        (
            {"state": (("n", DIGEST), ("n", DIGEST))},
            "state: expected sorted names, each once, observed ['n', 'n']",
        ),
    ],
    ids=["other", "undeclared", "stage-twice", "kept-missing", "unsorted", "component-twice"],
)
def test_a_step_that_contradicts_itself_is_refused(
    worker: Worker, changes: dict[str, Any], problem: str
):
    """Stages have one declaration each, kept ones are there, components are sorted."""
    messages = worker.messages()
    assert worker.refused([*messages[:2], worker.stepped(1, **changes)]) == problem


@pytest.mark.parametrize("member", ["constants", "state"])
def test_a_first_state_with_a_name_twice_is_refused(worker: Worker, member: str):
    """Names of constants and components are sorted, each once."""
    twice = worker.messages()[0].model_copy(update={member: (("a", DIGEST),) * 2})
    assert worker.refused([twice]) == (
        f"{member}: expected sorted names, each once, observed ['a', 'a']"
    )


def test_a_checkpoint_of_another_state_is_refused(worker: Worker):
    """A checkpoint that is whole in itself, but not the state in the log, is not adopted."""
    messages = worker.messages()
    step = worker.stepped(1, state=describe_state(worker.state(2)).components)
    worker.hand_over(1)
    assert worker.refused([*messages[:2], step, Checkpointed(step=1)]) == (
        "checkpoint step-000000001 does not hold the state that was recorded"
    )
    assert sorted(path.name for path in (worker.tree / "runs/reference/checkpoints").iterdir()) == [
        "step-000000000.json",
        "step-000000000.npz",
    ]


def missing(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-200] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("suffix", ["npz", "json"])
@pytest.mark.parametrize("harm", [missing, cut, link, pipe, folder, flip])
def test_a_checkpoint_file_that_is_harmed_is_refused(worker: Worker, harm: Any, suffix: str):
    """A missing, cut or changed file, a link, a pipe, a folder: nothing of it is adopted."""
    messages = worker.messages()
    harm(worker.handed / f"step-000000002.{suffix}")
    assert worker.refused(messages).startswith("checkpoint step-000000002 cannot be adopted: ")
    assert not (worker.tree / "runs/reference/checkpoints/step-000000002.json").exists()


@pytest.mark.parametrize(
    "text",
    ['{"arrays":{},"components":[],"values":{"a":NaN}}', '{"arrays":{},"arrays":{}}', "[" * 99],
    ids=["nan", "twice", "deep"],
)
def test_a_checkpoint_document_is_read_strictly(worker: Worker, text: str):
    """What two readers could read differently is not read at all."""
    messages = worker.messages()
    (worker.handed / "step-000000000.json").write_text(text, "utf-8")
    assert worker.refused(messages).startswith("checkpoint step-000000000 cannot be adopted: ")


def test_an_adopted_checkpoint_is_out_of_the_workers_reach(worker: Worker):
    """A worker that still holds its file open cannot change what was checked."""
    messages = worker.messages()

    def tampering() -> Iterator[Message]:
        with (worker.handed / "step-000000000.npz").open("r+b") as stream:
            yield from messages[:2]
            stream.write(b"\0" * 64)
            stream.flush()
            yield from messages[2:]

    assert list(worker.recorder.record(tampering())) == [1, 2]
    with open_container(worker.tree) as container:
        _, state = RunReader(container, "reference").checkpoint(0)
    np.testing.assert_array_equal(state.arrays["w"], np.zeros(3))


def with_kept(messages: list[Message], *kept: KeptStage) -> list[Message]:
    return [*messages[:-2], Checkpointed(step=2, kept=kept), messages[-1]]


HONEST = KeptStage(stage="w", file="kept-0.raw", dtype="<f8", shape=(3,), rows=2)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"rows": 1}, "kept stage 'w': expected 2 rows, observed 1"),
        ({"shape": (2,)}, "kept stage 'w': expected 32 bytes, observed 48"),
        ({"shape": (3, 1)}, "kept stage 'w', row 0, is not what was recorded"),
        ({"dtype": "<i8"}, "kept stage 'w', row 0, is not what was recorded"),
        ({"dtype": "<f9"}, "kept stage 'w': expected a type that is stored, observed <f9"),
        (
            {"shape": (2**52, 2**52)},
            (
                "kept stage 'w': array shape: expected at most 9223372036854775807 bytes, "
                f"observed {2**107}"
            ),
        ),
        ({"stage": "v"}, "kept stages: expected ['w'], observed ['v']"),
    ],
    ids=["rows", "size", "shape", "type", "no-type", "huge", "other-stage"],
)
def test_kept_arrays_that_are_described_wrongly_are_refused(
    worker: Worker, changes: dict[str, Any], problem: str
):
    """Stage, type, shape and rows are those of the log."""
    lie = HONEST.model_copy(update=changes)
    assert worker.refused(with_kept(worker.messages(), lie)) == problem


@pytest.mark.parametrize("kept", [(), (HONEST, HONEST)], ids=["none", "twice"])
def test_kept_stages_are_those_of_the_plan(worker: Worker, kept: tuple[KeptStage, ...]):
    """None is left out, and none comes twice."""
    observed = ["w"] * len(kept)
    assert worker.refused(with_kept(worker.messages(), *kept)) == (
        f"kept stages: expected ['w'], observed {observed}"
    )


@pytest.mark.parametrize("harm", [missing, link, pipe, folder])
def test_a_kept_file_that_is_harmed_is_refused(worker: Worker, harm: Any):
    """The judge opens regular files of the worker's folder and nothing else."""
    messages = worker.messages()
    harm(worker.handed / "kept-0.raw")
    assert worker.refused(messages).startswith("kept stage 'w' cannot be adopted: ")


def test_a_kept_row_that_was_not_recorded_is_refused(worker: Worker):
    """Every row is held against its fingerprint; the first that differs is named."""
    messages = worker.messages()
    worker.rows[1, 2] = -worker.rows[1, 2]
    (worker.handed / "kept-0.raw").write_bytes(worker.rows.tobytes())
    assert worker.refused(messages) == "kept stage 'w', row 1, is not what was recorded"


@pytest.mark.parametrize("file", ["../kept-0.raw", "/etc/passwd", "kept-0.raw\n", "kept-.raw"])
def test_a_kept_file_has_a_plain_name(file: str):
    """No message can name a file outside the worker's folder."""
    with pytest.raises(ValueError, match="file"):
        KeptStage(stage="w", file=file, dtype="<f8", shape=(), rows=1)


def test_kept_stages_stand_in_the_order_of_an_npz(tmp_path: Path):
    """A stage whose name continues another's comes before it: ``-`` sorts before ``.npy``."""
    worker = Worker(tmp_path, keep=("w", "w-2", "w#2"), last_step=1)
    row = worker.rows[:1]
    messages = worker.messages()
    names = ("w", "w-2", "w#2")
    digest = (worker.stepped(1).stages or ())[0][1]
    step = worker.stepped(
        1,
        stages=tuple((name, digest) for name in names),
        declarations=tuple((name, None) for name in names),
    )
    worker.hand_over(1)
    kept = []
    for place, name in enumerate(names):
        (worker.handed / f"kept-{place}.raw").write_bytes(row.tobytes())
        kept.append(
            HONEST.model_copy(update={"stage": name, "file": f"kept-{place}.raw", "rows": 1})
        )
    worker.record([*messages[:2], step, Checkpointed(step=1, kept=tuple(kept)), Finished()])
    with (worker.tree / "runs/reference/kept.npz").open("rb") as stream:
        assert list(read_npz(stream, where="kept.npz")) == ["w#2", "w-2", "w"]


def test_a_run_that_ends_before_any_stage_keeps_nothing(tmp_path: Path):
    """Steps whose stages are not recorded have no rows."""
    worker = Worker(tmp_path)
    messages = worker.messages()
    step = worker.stepped(1, stages=None, declarations=None, finish="enough")
    worker.hand_over(1)
    worker.record([*messages[:2], step, Checkpointed(step=1), Finished()])
    assert worker.recorder.result().last_step == 1
    assert not (worker.tree / "runs/reference/kept.npz").exists()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (
            Limits(max_log_line_bytes=300),
            (
                "run 'reference': log line after step 0: limit max_log_line_bytes exceeded: "
                "allowed 300, observed "
            ),
        ),
        (
            Limits(max_document_bytes=400),
            (
                "run 'reference': checkpoint step-000000000: limit max_document_bytes exceeded: "
                "allowed 400, observed "
            ),
        ),
    ],
    ids=["line", "document"],
)
def test_what_a_reader_would_refuse_is_not_written(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, limits: Limits, message: str
):
    """A run beyond a limit of the format is one that could not be recorded, not a bad package."""
    monkeypatch.setattr(recorder_module, "DEFAULT_LIMITS", limits)
    with pytest.raises(CouldNotRunError) as caught:
        worker.record(worker.messages())
    assert caught.value.message.startswith(message)


def test_a_run_without_a_step_has_no_result(worker: Worker):
    """Nothing is known of a run that made no step."""
    worker.recorder.last_step = None
    messages = worker.messages()
    worker.recorder = replace(worker.recorder, keep=())
    worker.record([*messages[:2], Finished()])
    with pytest.raises(CouldNotRunError, match="expected at least one step and an end"):
        worker.recorder.result()


def test_a_folder_in_the_place_of_a_file_that_was_read_is_nonsense(tmp_path: Path) -> None:
    """The worker is still running when the judge clears away what it has taken over."""
    (tmp_path / "step-000000001.json").mkdir()
    with pytest.raises(CouldNotRunError, match=r"step-000000001\.json cannot be removed"):
        HandedFolder("reference", tmp_path).remove("step-000000001.json")
