"""A script with its own loop, as a run: what is recorded, resumed, tried and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._read.equality import hold_against
from repropack._run.execute import Launcher
from repropack.errors import (
    CommandError,
    ExperimentError,
    ExperimentLoadError,
    RepropackError,
    StateError,
    StepError,
)
from tests.support.experiment_sources import compare, opened
from tests.support.loops import BEGIN, CALM, LOOP, in_loop, make_loop_launcher

pytestmark = pytest.mark.slow

TWICE = "expected one call of attach, observed a second, in this process or in another of the run"
OUTSIDE = "expected stages and metrics within the loop over steps(...), observed one outside of it"
COMMAND = "command 'python train.py {seed}'"


def failure(launcher: Launcher) -> RepropackError:
    """The error of a reference that fails."""
    with pytest.raises(RepropackError) as caught:
        launcher.run_reference()
    return caught.value


def test_a_loop_is_recorded_like_any_experiment(tmp_path: Path):
    """Stages, metrics, components and checkpoints stand where those of an entry point stand."""
    launcher = make_loop_launcher(tmp_path, CALM, keep=("weights",))
    recorded = launcher.run_reference()
    assert (recorded.first_step, recorded.last_step, recorded.config) == (1, 4, {})
    with opened(launcher) as (reference,):
        lines = list(reference.steps())
        assert [name for name, _ in lines[0].stages or ()] == ["noise", "weights"]
        assert [name for name, _ in lines[0].state or ()] == [
            *("counters", "numpy", "python", "rng", "weights")
        ]
        _, first = reference.checkpoint(0)
        _, last = reference.checkpoint(4)
        assert (first.values["counters.made"], last.values["counters.made"]) == (0, 4)
        assert float(last.arrays["weights"][0]) == lines[3].metrics["loss"]
        assert dict(reference.header.stages)["weights"] == ("noise", "state:weights")


@pytest.mark.parametrize("resume_at", [0, 2])
def test_a_loop_that_restores_resumes_exactly(tmp_path: Path, resume_at: int):
    """Arrays, dicts, and generators of three kinds go on where the checkpoint has them."""
    launcher = make_loop_launcher(tmp_path, CALM)
    launcher.run_reference()
    resumed = compare(launcher, resume_at=resume_at)
    assert resumed.first_step == resume_at + 1
    with opened(launcher, "other") as (reference, other):
        found = hold_against(reference, reference, other, "exact-resume")
        assert (found.equal, found.lines_compared) == (True, 4 - resume_at)


def test_a_reset_component_is_where_a_resumed_loop_parts(tmp_path: Path):
    """One generator put back gives other noise in the first step, and no other input."""
    launcher = make_loop_launcher(tmp_path, CALM)
    launcher.run_reference()
    compare(launcher, resume_at=2, reset=("rng",))
    with opened(launcher, "other") as (reference, other):
        found = hold_against(reference, reference, other, "comparison")
    assert found.divergence is not None
    assert (found.divergence.step, found.divergence.stage) == (3, "noise")


def test_a_state_that_a_script_forgets_is_found_by_resuming(tmp_path: Path):
    """A variable outside the state begins anew, and the stage that it enters differs."""
    script = BEGIN + "hidden = 0\n" + in_loop("hidden += 1", "weights += hidden")[len(BEGIN) :]
    launcher = make_loop_launcher(tmp_path, script)
    launcher.run_reference()
    compare(launcher, resume_at=2)
    with opened(launcher, "other") as (reference, other):
        found = hold_against(reference, reference, other, "exact-resume")
    assert (found.equal, found.divergence and found.divergence.step) == (False, 3)


def test_the_plan_governs_the_number_of_steps(tmp_path: Path):
    """A script that would make more steps makes the plan's, and what follows its loop is run."""
    launcher = make_loop_launcher(
        tmp_path, in_loop(after='print("made", counters); open("done.txt", "w").write("")'), steps=3
    )
    assert launcher.run_reference().last_step == 3


@pytest.mark.parametrize("count", ["np.int64(4)", "np.uint8(200)"])
def test_the_number_of_steps_may_be_an_integer_of_numpy(tmp_path: Path, count: str):
    """It is a number of steps outside of a run as well."""
    launcher = make_loop_launcher(tmp_path, BEGIN + LOOP.replace("steps(4)", f"steps({count})"))
    assert launcher.run_reference().last_step == 4


def test_a_fork_does_not_go_on_with_the_loop(tmp_path: Path):
    """It would write over what the script's own process records, and is told so."""
    script = in_loop(
        "if step == 2:",
        "    child = os.fork()",
        "    if not child: weights += 1",
        after="assert child, 'the fork made the loop'\nprint(os.waitpid(child, 0)[1])",
    )
    launcher = make_loop_launcher(tmp_path, script)
    assert launcher.run_reference().last_step == 4
    error = failure(
        make_loop_launcher(
            tmp_path / "whole",
            BEGIN
            + "child = os.fork()\nif child: sys.exit(os.waitpid(child, 0)[1] != 256)\n"
            + LOOP,
        )
    )
    assert isinstance(error, CommandError)
    assert error.problem == "expected a loop over steps(...) of what attach returns, observed none"
    assert any("observed it in a fork of it" in line for line in error.printed)


@pytest.mark.parametrize("left", ["", "break"])
def test_finish_ends_the_loop_after_the_step(tmp_path: Path, left: str):
    """Also where the script leaves its loop at once."""
    launcher = make_loop_launcher(
        tmp_path, in_loop("if step == 3:", '    run.finish("good enough")', f"    {left or 'pass'}")
    )
    assert launcher.run_reference().last_step == 3
    with opened(launcher) as (reference,):
        assert [line.finish for line in reference.steps()] == [None, None, "good enough"]


@pytest.mark.parametrize(
    ("script", "message", "hint"),
    [
        (
            "print('hello')\n",
            "expected the script to call repropack.attach, observed its end without that",
            "take `steps` out of the project file where the command is to be run as a whole",
        ),
        (
            BEGIN,
            "expected a loop over steps(...) of what attach returns, observed none",
            "write `for step in run.steps(4):`, with `run` what attach returned",
        ),
        (
            in_loop("if step == 2: break"),
            "expected 4 steps, observed an end after stage 'weights' of step 2",
            "call finish(reason) to end a run before its last step",
        ),
        (
            in_loop("if step == 4: break"),
            "expected 4 steps, observed an end after stage 'weights' of step 4",
            "a step is over when the next is asked for: let the loop run to its end",
        ),
        (
            in_loop("if step == 2: sys.exit(3)"),
            "expected 4 steps, observed an end after stage 'weights' of step 2",
            "call finish(reason) to end a run before its last step",
        ),
        (
            in_loop("if step == 2: os._exit(3)"),
            "expected the command to end with status 0, observed 3",
            "step 1 is the last that it has made",
        ),
        (
            in_loop("if step == 2: os._exit(0)"),
            "expected 4 steps, observed an end after step 1",
            None,
        ),
        (
            in_loop("if step == 2: os.kill(os.getpid(), 9)"),
            "expected the command to end with status 0, observed SIGKILL",
            "step 1 is the last that it has made",
        ),
        (
            in_loop(after="sys.exit(5)"),
            "expected the command to end with status 0, observed 5",
            "step 4 is the last that it has made",
        ),
        (
            in_loop(after="raise ValueError('late')"),
            "the script raised after its last step: ValueError: late",
            "look at train.py, line 25, in <module>",
        ),
        (
            f"{BEGIN}repropack.attach(state={{}})\n",
            TWICE,
            'call attach once, below `if __name__ == "__main__":` where processes are spawned',
        ),
        (
            in_loop(after="list(run.steps(4))"),
            "expected one loop over steps(...), observed a second",
            "look at train.py, line 25, in <module>",
        ),
        (
            f'{BEGIN}run.metric("loss", 1.0)\n',
            OUTSIDE,
            "look at train.py, line 17, in <module>",
        ),
        (
            BEGIN + LOOP.replace("steps(4)", "steps(3)"),
            "expected steps(4) or more, as the plan has it, observed steps(3)",
            "make `steps` of the project file and of the script the same",
        ),
    ],
    ids=[
        *("no-attach", "no-loop", "break", "last", "exit", "exit-at-once", "exit-well", "killed"),
        *("status", "late", "twice", "second-loop", "outside", "fewer"),
    ],
)
def test_a_loop_that_is_not_one_is_told(
    tmp_path: Path, script: str, message: str, hint: str | None
):
    """What was expected, what was observed, and where the run was."""
    error = failure(make_loop_launcher(tmp_path, script))
    assert isinstance(error, CommandError)
    assert (error.message, error.hint) == (f"run 'reference': {message}", hint)


def test_a_step_that_raises_in_a_loop_is_told_as_in_any(tmp_path: Path):
    """Step, last stage, cause and line; what was recorded before stays."""
    launcher = make_loop_launcher(tmp_path, in_loop("if step == 3: raise ValueError('no loss')"))
    error = failure(launcher)
    assert isinstance(error, StepError)
    assert (error.step, error.stage, error.cause) == (3, "weights", "ValueError: no loss")
    assert error.hint == "look at train.py, line 24, in <module>"
    log = (launcher.tree / "runs/reference/fingerprints.jsonl").read_bytes()
    assert log.count(b"\n") == 4  # header, start, two steps


@pytest.mark.parametrize(
    ("script", "message", "kind"),
    [
        (
            f"{BEGIN}1 / 0\n",
            f"{COMMAND}: the script raised before a step: ZeroDivisionError: division by zero",
            ExperimentLoadError,
        ),
        (
            in_loop('counters["shape"] = (1, 2)'),
            (
                "'counters.shape': holds a tuple, which JSON would give back as a list (run "
                "'reference', step 1)"
            ),
            StateError,
        ),
        (
            "import repropack\nrepropack.attach(state={'epochs': [1]})\n",
            (
                "'epochs': cannot be restored in place: expected an object with state_dict and "
                "load_state_dict, a NumPy generator, random.Random, the module random or "
                "numpy.random, a dict or an array, observed list (run 'reference', step 0)"
            ),
            StateError,
        ),
    ],
    ids=["raises", "tuple", "list"],
)
def test_what_a_script_hands_over_is_looked_at(
    tmp_path: Path, script: str, message: str, kind: type[ExperimentError]
):
    """The component, the key and the type are named."""
    error = failure(make_loop_launcher(tmp_path, script))
    assert isinstance(error, kind)
    assert error.message == message
    assert "state_dict" not in (error.hint or "")


CALM_LOOP = "for step in run.steps(4):"


@pytest.mark.parametrize(
    ("script", "line", "code"),
    [
        (BEGIN + LOOP.replace("steps(4)", "steps(3)"), 17, CALM_LOOP.replace("4", "3")),
        (CALM.replace('{"made": 0}', '{"made": 0, "shape": (1, 2)}'), 17, CALM_LOOP),
    ],
    ids=["fewer", "tuple"],
)
@pytest.mark.parametrize("trial", [True, False], ids=["trial", "run"])
def test_a_script_is_shown_its_own_lines_whole_and_alone(
    tmp_path: Path, script: str, line: int, code: str, trial: bool
):
    """Also by the trial, which ends its process: no frame of ours, and the message once."""
    launcher = make_loop_launcher(tmp_path, f"print('begun', flush=True)\n{script}")
    with pytest.raises(ExperimentError) as caught:
        launcher.try_round_trip() if trial else launcher.run_reference()
    assert caught.value.printed == (
        "begun",
        "Traceback (most recent call last):",
        f'  File "train.py", line {line + 1}, in <module>',
        f"    {code}",
    )


def test_a_component_that_raises_is_told_by_what_was_done_with_it(tmp_path: Path):
    """A script has no load_state_dict of its own: its state is taken and restored."""
    script = (
        "import repropack\n"
        "class Adam:\n"
        "    moment = 0.0\n"
        "    def state_dict(self):\n"
        "        assert self.moment < 2, 'taken'\n"
        "        return {'moment': self.moment}\n"
        "    def load_state_dict(self, state): raise ValueError('put back')\n"
        "adam = Adam()\n"
        "run = repropack.attach(state={'adam': adam})\n"
        "for step in run.steps(4): adam.moment += 1.0\n"
    )
    launcher = make_loop_launcher(tmp_path, script)
    with pytest.raises(ExperimentLoadError) as caught:
        launcher.try_round_trip()
    assert caught.value.message == (
        f"{COMMAND}: restoring the attached state, given the first state after one step, raised: "
        "ValueError: put back"
    )
    error = failure(launcher)
    assert isinstance(error, StepError)
    assert error.cause == "taking the attached state: AssertionError: taken"


def test_other_processes_of_a_script_do_not_speak_for_it(tmp_path: Path):
    """A fork that goes on, and a second process that attaches, leave the run as it is."""
    script = in_loop(
        "if step == 2:",
        "    import subprocess",
        "    again = subprocess.run([sys.executable, *sys.argv], capture_output=True, text=True)",
        "    assert 'expected one call of attach, observed a second' in again.stderr, again",
        "    child = os.fork()",
        "    if child == 0: run.metric('loss', 9.0); sys.exit(3)",
        "    os.waitpid(child, 0)",
    )
    calm, forking = (
        make_loop_launcher(tmp_path / name, text) for name, text in (("a", CALM), ("b", script))
    )
    for launcher in (calm, forking):
        assert launcher.run_reference().last_step == 4
    with opened(calm) as (expected,), opened(forking) as (observed,):
        assert list(observed.steps()) == list(expected.steps())


def test_a_script_imports_the_repropack_that_runs_it(tmp_path: Path):
    """Whatever else of that name an environment variable would lead to."""
    other = tmp_path / "other"
    (other / "repropack").mkdir(parents=True)
    (other / "repropack" / "__init__.py").write_text("raise ImportError('another')\n")
    launcher = make_loop_launcher(tmp_path, CALM)
    experiment = launcher.plan.experiment.model_copy(
        update={"environment": {"PYTHONPATH": str(other)}}
    )
    plan = launcher.plan.model_copy(update={"experiment": experiment})
    again = Launcher(plan, launcher.materials, launcher.tree, launcher.scratch)
    assert again.run_reference().last_step == 4


# ---------------------------------------------------------------- the trial


def test_a_loop_whose_state_comes_back_passes_its_trial(tmp_path: Path):
    """One step is made, nothing after the loop is reached, and nothing is recorded."""
    mark = tmp_path / "reached"
    launcher = make_loop_launcher(tmp_path, in_loop(after=f"open({str(mark)!r}, 'w')"))
    launcher.try_round_trip()
    assert (mark.exists(), launcher.tree.exists()) == (False, False)


def test_a_component_that_does_not_come_back_is_named_before_the_long_run(tmp_path: Path):
    """An object whose load_state_dict does nothing is found by the one step that was made."""
    script = (
        "import numpy as np, repropack\n"
        "class Adam:\n"
        "    moment = 0.0\n"
        "    def state_dict(self): return {'moment': self.moment, 'rate': 0.5}\n"
        "    def load_state_dict(self, state): pass\n"
        "adam = Adam()\n"
        "run = repropack.attach(state={'adam': adam})\n"
        "for step in run.steps(4): adam.moment += 1.0\n"
    )
    launcher = make_loop_launcher(tmp_path, script)
    with pytest.raises(StateError) as caught:
        launcher.try_round_trip()
    assert caught.value.message == (
        "'adam.moment': differs after a step and restoring the first state: expected 0.0, "
        "observed 1.0 (tried before the run)"
    )
    assert caught.value.hint == (
        "see to it that what is attached as 'adam' takes back the value that it has given"
    )


def test_a_step_that_raises_is_left_to_the_run_itself(tmp_path: Path):
    """The run tells it with its stages, so the trial says nothing of it."""
    launcher = make_loop_launcher(tmp_path, in_loop("raise ValueError('no loss')"))
    launcher.try_round_trip()
    error = failure(launcher)
    assert isinstance(error, StepError)
    assert (error.step, error.stage) == (1, "weights")


def test_names_that_a_script_holds_besides_lead_to_the_restored_elements(tmp_path: Path):
    """An array is put back in place, so a view of it is as exact as itself."""
    script = in_loop("run.record('other', alias)").replace(
        "counters =", "alias = weights[:2]\ncounters ="
    )
    launcher = make_loop_launcher(tmp_path, script)
    launcher.run_reference()
    compare(launcher, resume_at=2)
    with opened(launcher, "other") as (reference, other):
        assert list(other.steps()) == list(reference.steps())[2:]
