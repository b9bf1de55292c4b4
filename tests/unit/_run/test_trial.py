"""The trial before a build: a state that does not come back is found by one step."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from repropack._format.state import encode_state
from repropack._run.trial import state_difference
from repropack.errors import ExperimentLoadError, RepropackError, StateError
from tests.support.experiment_sources import SOURCES, at_step, experiment, make_launcher

DIFFERS = "differs after a step and load_state_dict(first state): in state_dict() "


def tried(folder: Path, source: str) -> RepropackError | None:
    """What the trial of an experiment raises."""
    launcher = make_launcher(folder, source)
    try:
        launcher.try_round_trip()
    except RepropackError as error:
        return error
    return None


@pytest.mark.parametrize("name", ["calm", "generators", "live-views", "grows", "constant"])
def test_a_state_that_comes_back_passes(tmp_path: Path, name: str):
    """Generators, live views, and components that only later steps have."""
    assert tried(tmp_path, SOURCES[name]) is None
    assert not (tmp_path / "tree").exists()


def test_a_load_that_does_nothing_is_found(tmp_path: Path):
    """The step has changed what was to come back; every name is given."""
    error = tried(tmp_path, experiment("def load_state_dict(self, state): pass"))
    assert isinstance(error, StateError)
    assert error.message == (
        f"'count': {DIFFERS}expected 0, observed 1; so do weights (tried before the run)"
    )
    assert error.hint == (
        "let load_state_dict put 'count' back to the value that it is given, and state_dict return "
        "what it is put to"
    )


def test_a_load_of_a_half_is_found(tmp_path: Path):
    """Only what did not come back is named."""
    error = tried(tmp_path, SOURCES["loads-half"])
    assert isinstance(error, StateError)
    assert error.message == f"'count': {DIFFERS}expected 0, observed 1 (tried before the run)"


def test_a_load_that_raises_is_told_by_its_cause(tmp_path: Path):
    """The method, and its line."""
    error = tried(tmp_path, SOURCES["raises-in-load"])
    assert isinstance(error, ExperimentLoadError)
    assert error.message == (
        "entry point 'tiny_lab:Experiment': load_state_dict, given the first state after one step, "
        "raised: KeyError: 'moment'"
    )
    assert error.hint == "look at tiny_lab.py, line 37, in load_state_dict"


@pytest.mark.parametrize(
    "body",
    [
        'raise ValueError("first")',
        "os._exit(7)",
        'trace.record("gradient", self.weights, of="nothing")',
        'trace.metric("loss", "low")',
    ],
    ids=["raises", "dies", "stage", "metric"],
)
def test_what_else_goes_wrong_is_left_to_the_run(tmp_path: Path, body: str):
    """The run tells it with the stages before it, and keeps what was recorded."""
    launcher = make_launcher(tmp_path, at_step(1, body))
    launcher.try_round_trip()
    with pytest.raises(RepropackError) as caught:
        launcher.run_reference()
    assert "'reference'" in caught.value.message


def test_what_a_step_leaves_behind_never_reaches_the_run(tmp_path: Path):
    """The trial has a process and a copy of the source of its own."""
    source = experiment(
        dedent("""
        def __init__(self, config, seed):
            super().__init__(config, seed)
            assert not Path(__file__).with_name("mark").exists()

        def update(self, trace):
            super().update(trace)
            Path(__file__).with_name("mark").write_text("made")
        """)
    )
    launcher = make_launcher(tmp_path, source)
    launcher.try_round_trip()
    assert launcher.run_reference().last_step == 4


FIRST = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "n": 1, "g": {"key": np.arange(2)}}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"w": np.array([[1.0, 2.0], [3.5, 4.5]])}, ("2 of 4 elements: at [1, 0] expected 3.0, "
         "observed 3.5")),
        ({"w": np.array([[1.0, 2.0], [3.0, -0.0]])}, ("1 of 4 elements: at [1, 1] expected 4.0, "
         "observed -0.0")),
        ({"w": np.zeros((2, 2), np.float32)}, "expected <f8 [2, 2], observed <f4 [2, 2]"),
        ({"w": np.zeros(4)}, "expected <f8 [2, 2], observed <f8 [4]"),
        ({"w": None}, "expected an array of <f8 [2, 2], observed null"),
        ({"w": ...}, "expected an array of <f8 [2, 2], observed nothing of that name"),
        ({"n": 1.0}, "expected 1, observed 1.0"),
        ({"n": [1]}, "expected 1, observed [1]"),
        ({"late": 2}, "expected nothing of that name, observed 2"),
        ({"g": {"key": np.arange(2) + 1}}, ("(array g#1) 2 of 2 elements: at [0] expected 0, "
         "observed 1")),
        ({"g": {"lock": np.arange(2)}}, ('expected {"key":{"$array":"g#1"}}, observed '
         '{"lock":{"$array":"g#1"}}')),
    ],
)  # fmt: skip
def test_what_differs_is_told_by_kind(changes: dict[str, Any], problem: str):
    """Elements, type, shape, kind, or that it is not there."""
    again = {name: value for name, value in {**FIRST, **changes}.items() if value is not ...}
    error = state_difference(encode_state(FIRST), encode_state(again))
    assert error is not None
    assert (error.name, error.problem) == (next(iter(changes)), DIFFERS + problem)


def test_an_attached_state_differs_in_words_of_its_own():
    """A script that owns its loop has no state_dict."""
    error = state_difference(encode_state({"a.n": 1}), encode_state({"a.n": 2}), loop=True)
    assert error is not None
    assert error.message == (
        "'a.n': differs after a step and restoring the first state: expected 1, observed 2"
    )
    assert error.hint == (
        "see to it that what is attached as 'a' takes back the value that it has given"
    )


def test_equal_states_do_not_differ():
    """NaN equals itself, by its bits."""
    state = {"w": np.array([np.nan, -0.0]), "x": float("nan")}
    assert state_difference(encode_state(state), encode_state(dict(state))) is None


def test_many_names_are_counted():
    """The first is described, five are named."""
    first, again = ({f"n{k}": k + more for k in range(9)} for more in (0, 1))
    error = state_difference(encode_state(first), encode_state(again))
    assert error is not None
    assert error.problem == (
        f"{DIFFERS}expected 0, observed 1; so do n1, n2, n3, n4, n5 and 3 more"
    )
