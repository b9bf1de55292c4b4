"""A step that is looked at: what a worker hands over of it is believed in nothing."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._format.checkpoints import describe_state
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.state import EncodedState, encode_state
from repropack._run.handed import HandedFolder
from repropack._run.recorder import Recorder
from repropack._run.repeat import _collect
from repropack._run.zoom import SeenStep
from repropack._run.zoomed import ZoomedStep
from repropack.errors import CouldNotRunError
from repropack.models.worker import (
    Checkpointed,
    Finished,
    KeptStage,
    Message,
    Ready,
    Repeated,
    Stepped,
    Zoomed,
)
from tests.support.environments import RECORD

BATCH, GRADIENT = np.arange(3), np.ones((2, 2), "<f4")
STAGES = (("batch", fingerprint_canonical(BATCH)), ("gradient", fingerprint_canonical(GRADIENT)))


def state(value: float) -> EncodedState:
    return encode_state({"w": np.full(2, value), "n": {"made": int(value)}})


class Handed:
    """A worker's folder with step 1 in it, and the judge's end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "handed"
        self.folder.mkdir()
        step = ZoomedStep(self.folder, 1)
        step.before(state(0))
        step.keep("batch", BATCH)
        step.keep("gradient", GRADIENT)
        self.message = step.after(state(1))
        self.seen = SeenStep(1, folder / "seen")

    def take(self, message: Zoomed | None = None, **changes: Any) -> None:
        told = stepped().model_copy(update=changes)
        before = describe_state(state(0)).components
        self.seen.take(
            "zoom", message or self.message, HandedFolder("zoom", self.folder), told, before
        )


def stepped(step: int = 1) -> Stepped:
    return Stepped(
        step=step,
        stages=STAGES,
        declarations=tuple((name, None) for name, _ in STAGES),
        state=describe_state(state(1)).components,
        metrics={},
        printed={},
        finish=None,
    )


@pytest.fixture
def handed(tmp_path: Path) -> Handed:
    return Handed(tmp_path)


def test_a_step_is_taken_over_whole(handed: Handed) -> None:
    """Every stage, and the states before and after; the worker's folder is empty then."""
    handed.take()
    seen = handed.seen
    assert seen.taken
    np.testing.assert_array_equal(seen.stage("gradient"), GRADIENT)
    np.testing.assert_array_equal(seen.stage("batch"), BATCH)
    assert seen.stage("weights") is None
    assert seen.state(after=False).values == {"n": {"made": 0}}
    np.testing.assert_array_equal(seen.state(after=True).arrays["w"], [1, 1])
    assert list(handed.folder.iterdir()) == []


def test_a_step_without_stages_has_its_states(tmp_path: Path) -> None:
    handed = Handed(tmp_path)
    handed.take(handed.message.model_copy(update={"stages": ()}), stages=None)
    assert handed.seen.stage("batch") is None
    assert handed.seen.state(after=True).values == {"n": {"made": 1}}


def other_elements(handed: Handed) -> None:
    (handed.folder / "zoom-1.raw").write_bytes(bytes(16))


def a_link(handed: Handed) -> None:
    (handed.folder / "zoom-0.raw").unlink()
    (handed.folder / "zoom-0.raw").symlink_to("/dev/zero")


def another_state(handed: Handed) -> None:
    ZoomedStep(handed.folder, 1).before(state(5))


def no_state(handed: Handed) -> None:
    (handed.folder / "zoom-after.npz").unlink()


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (other_elements, "kept stage 'gradient', row 0, is not what was recorded"),
        (a_link, "kept stage 'batch' cannot be adopted"),
        (another_state, "zoom-before does not hold the state that was recorded"),
        (no_state, "checkpoint zoom-after cannot be adopted"),
    ],
)
def test_files_that_contradict_the_log_are_refused(
    handed: Handed, change: Any, problem: str
) -> None:
    """Each array is held against its fingerprint, and no link is followed."""
    change(handed)
    with pytest.raises(CouldNotRunError, match=f"run 'zoom': .*{problem}"):
        handed.take()
    assert not handed.seen.taken


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda one, two: (one,), "expected .'batch', 'gradient'., observed .'batch'."),
        (lambda one, two: (one, two, two), "kept stages: expected"),
        (lambda one, two: (one, of(two, rows=2)), "expected 1 rows, observed 2"),
        (lambda one, two: (one, of(two, shape=(2**40,))), "expected .* bytes, observed 16"),
        (
            lambda one, two: (one, of(two, file="zoom-0.raw")),
            "expected 16 bytes, observed 24|cannot",
        ),
    ],
    ids=["one-less", "one-twice", "more-rows", "too-large", "another-file"],
)
def test_messages_that_contradict_the_log_are_refused(
    handed: Handed, change: Any, problem: str
) -> None:
    """A stage that was not recorded, another number of rows, another form."""
    stages = change(*handed.message.stages)
    with pytest.raises(CouldNotRunError, match=problem):
        handed.take(handed.message.model_copy(update={"stages": stages}))
    assert not handed.seen.taken


def of(row: KeptStage, **changes: Any) -> KeptStage:
    return row.model_copy(update=changes)


def test_another_step_than_asked_for_is_refused(handed: Handed) -> None:
    with pytest.raises(CouldNotRunError, match="expected step 1, once, observed 2"):
        handed.take(handed.message.model_copy(update={"step": 2}))


def run(folder: Path, messages: list[Message], zoom: SeenStep | None) -> None:
    """Record a run of one step."""
    (folder / "own").mkdir()
    recorder = Recorder(
        "zoom", folder / "tree", folder / "handed", folder / "own", 1, last_step=1, zoom=zoom
    )
    for _ in recorder.record(iter(messages)):
        pass


def messages_of(folder: Path) -> list[Message]:
    """A run of one step without what is looked at."""
    for step in (0, 1):
        one = ZoomedStep(folder / "handed", 1)
        one.before(state(step))
        for suffix in ("npz", "json"):
            place = folder / "handed" / f"zoom-before.{suffix}"
            place.rename(place.with_name(f"step-{step:09d}.{suffix}"))
    components = describe_state(state(0)).components
    return [
        Ready(config={}, config_schema=None, constants=(), state=components, environment=RECORD),
        Checkpointed(step=0),
        stepped(),
        Checkpointed(step=1),
        Finished(),
    ]


@pytest.mark.parametrize(
    ("place", "step", "problem"),
    [
        (None, 1, "expected what step 1 recorded, observed an end"),
        (2, None, "expected no step to look at, observed step 1"),
        (2, 1, "expected no step to look at, observed step 1"),
        (3, 2, "expected step 2, once, observed 1"),
    ],
    ids=["left-out", "not-asked-for", "before-the-step", "another-step"],
)
def test_what_was_not_asked_for_is_refused(
    tmp_path: Path, place: int | None, step: int | None, problem: str
) -> None:
    """A step is looked at once, after it was told, and only where the judge wants it."""
    handed = Handed(tmp_path)
    messages = messages_of(tmp_path)
    if place is not None:
        messages.insert(place, handed.message)
    zoom = None if step is None else SeenStep(step, tmp_path / "seen")
    with pytest.raises(CouldNotRunError, match=problem):
        run(tmp_path, messages, zoom)


def test_a_step_that_the_run_does_not_reach_is_not_missed(tmp_path: Path) -> None:
    """It ended before; the caller sees that nothing was taken."""
    Handed(tmp_path)
    zoom = SeenStep(9, tmp_path / "seen")
    run(tmp_path, messages_of(tmp_path), zoom)
    assert not zoom.taken


def repeated(*numbers: int) -> Generator[Message, None, None]:
    for number in numbers:
        yield Repeated(number=number, stages=STAGES, state=())
    yield Finished()


def test_repetitions_are_counted() -> None:
    assert [one.number for one in _collect(repeated(1, 2, 3), 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ((1,), "expected the step 2 times, observed 1"),
        ((1, 1), "expected repetition 2 of 2, observed 1"),
        ((1, 2, 3), "expected repetition 3 of 2, observed 3"),
    ],
)
def test_other_repetitions_than_asked_for_are_refused(
    numbers: tuple[int, ...], problem: str
) -> None:
    with pytest.raises(CouldNotRunError, match=problem):
        _collect(repeated(*numbers), 2)


def test_a_file_of_a_zoom_has_a_name_of_its_own(handed: Handed) -> None:
    """So that it is never taken for a kept stage's."""
    assert [row.file for row in handed.message.stages] == ["zoom-0.raw", "zoom-1.raw"]
    row = handed.message.stages[0].model_dump() | {"file": "zoom-../x.raw"}
    with pytest.raises(ValueError, match="file"):
        KeptStage.model_validate(row)
