"""What a worker does with an experiment: what it records, refuses and passes on."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import repropack
from repropack._format.limits import RunLimits
from repropack._run.confinement.sandbox import Sandbox
from repropack._run.variables import FIXED_VARIABLES, NUMERIC_VARIABLES, STARTING_VARIABLES
from repropack.errors import (
    ConfigurationError,
    CouldNotRunError,
    ExperimentLoadError,
    RepropackError,
    StateError,
    StepError,
    UnsupportedDtypeError,
)
from tests.support.experiment_sources import (
    DATACLASS,
    PYDANTIC,
    SOURCES,
    at_step,
    compare,
    configured,
    make_launcher,
    opened,
    run_reference,
    updating,
)

pytestmark = pytest.mark.slow

ENTRY = "entry point 'tiny_lab:Experiment'"


def failure(folder: Path, name: str, **options: Any) -> RepropackError:
    """Run an experiment that fails as a reference; its error."""
    with pytest.raises(RepropackError) as caught:
        run_reference(folder, name, **options)
    return caught.value


def test_an_entry_point_finds_the_variables_of_its_plan(tmp_path: Path):
    """They are there when its module is imported."""
    source = updating("trace.metric('depth', int(os.environ['LAKE_DEPTH']))")
    launcher = make_launcher(tmp_path, f"import os\nos.environ['LAKE_DEPTH']\n{source}")
    plan = launcher.plan.experiment.model_copy(update={"environment": {"LAKE_DEPTH": "17"}})
    launcher = replace(launcher, plan=launcher.plan.model_copy(update={"experiment": plan}))
    launcher.run_reference()
    with opened(launcher) as (reference,):
        assert [line.metrics["depth"] for line in reference.steps()] == [17, 17, 17, 17]


@pytest.mark.parametrize(
    ("name", "step", "stage", "cause", "place"),
    [
        ("raises", 2, None, "ValueError: the loss is", "line 39, in update"),
        (
            "raises-after-stage",
            2,
            "gradient",
            "ValueError: the loss is no number",
            "line 39, in update",
        ),
        ("exits", 2, None, "SystemExit: 3", "line 39, in update"),
        (
            "raises-in-state",
            2,
            "weights",
            "state_dict: KeyError: 'weights'",
            "line 38, in state_dict",
        ),
        ("raises-in-close", 4, "weights", "close: OSError: disk is gone", "line 37, in close"),
        ("raises-twice", 2, None, "ValueError: first", "line 39, in update"),
    ],
)
def test_a_step_that_raises_is_told_by_step_stage_and_cause(
    tmp_path: Path, name: str, step: int, stage: str | None, cause: str, place: str
):
    """The step, the last stage before it, the exception and its line in the source."""
    error = failure(tmp_path, name)
    after = "before its first stage" if stage is None else f"after stage {stage!r}"
    assert error.message == f"run 'reference': step {step} raised {after}: {cause}"
    assert error.hint == f"look at tiny_lab.py, {place}"
    assert isinstance(error, StepError)
    assert (error.code, error.step, error.stage) == ("experiment.step", step, stage)
    assert error.cause == cause


def test_an_author_is_shown_where_it_was_raised(tmp_path: Path):
    """The traceback begins in the source and names no folder of ours; prints stand before it."""
    source = at_step(2, 'print("so far so good")', 'raise ValueError("the loss is no number")')
    with pytest.raises(StepError) as caught:
        make_launcher(tmp_path, source).run_reference()
    assert caught.value.printed == (
        "so far so good",
        "Traceback (most recent call last):",
        '  File "tiny_lab.py", line 20, in step',
        "    self.update(trace)",
        '  File "tiny_lab.py", line 40, in update',
        '    raise ValueError("the loss is no number")',
        "ValueError: the loss is no number",
    )


def test_only_the_last_lines_are_shown(tmp_path: Path):
    """Twenty of them."""
    source = at_step(2, 'print("\\n".join(map(str, range(99))), flush=True)', "os._exit(1)")
    with pytest.raises(CouldNotRunError) as caught:
        make_launcher(tmp_path, source).run_reference()
    assert caught.value.printed == tuple(map(str, range(79, 99)))


def test_nobody_is_shown_what_foreign_code_prints(tmp_path: Path):
    """Code that runs under limits is not its caller's own."""
    sandbox = Sandbox(limits=RunLimits())
    with pytest.raises(StepError) as caught:
        make_launcher(tmp_path, SOURCES["raises"], sandbox=sandbox).run_reference()
    assert caught.value.printed == ()


def test_an_unprintable_exception_is_told_escaped_and_cut(tmp_path: Path):
    """Text that no terminal and no JSON can hold does not end the conversation."""
    error = failure(tmp_path, "raises-unprintable")
    assert isinstance(error, StepError)
    assert error.cause.startswith(r"ValueError: a\udc80\x1b[31mbbb")
    assert len(error.cause) == 400


@pytest.mark.parametrize(
    ("name", "problem", "place"),
    [
        (
            "raises-in-constructor",
            "calling it with (config, seed) failed: RuntimeError: no seed like that",
            "line 37, in __init__",
        ),
        (
            "raises-in-constants",
            "constants raised before the first step: OSError: no data here",
            "line 37, in constants",
        ),
        (
            "raises-in-first-state",
            "state_dict raised before the first step: KeyError: 'weights'",
            "line 37, in state_dict",
        ),
        (
            "odd-mapping",
            "state_dict raised before the first step: RuntimeError: no such luck",
            "line 39, in __getitem__",
        ),
        (
            "exits-on-import",
            "importing 'tiny_lab' failed: SystemExit: not today",
            "line 1, in <module>",
        ),
    ],
)
def test_what_fails_before_the_first_step_is_a_load_error(
    tmp_path: Path, name: str, problem: str, place: str
):
    """No step is blamed for what was raised before any."""
    error = failure(tmp_path, name)
    assert error.message == f"{ENTRY}: {problem}"
    assert error.hint == f"look at tiny_lab.py, {place}"
    assert isinstance(error, ExperimentLoadError)


def test_a_state_that_cannot_be_loaded_is_a_load_error_of_the_resumed_run(tmp_path: Path):
    """What ``load_state_dict`` raises names it; the reference is not concerned."""
    launcher, _ = run_reference(tmp_path, "raises-in-load")
    with pytest.raises(ExperimentLoadError) as caught:
        compare(launcher, resume_at=2)
    assert caught.value.message == (
        f"{ENTRY}: load_state_dict raised before the first step: KeyError: 'moment'"
    )


@pytest.mark.parametrize(
    ("name", "value", "step", "options"),
    [
        ("tuple-state", "shape", 0, {}),
        ("set-state", "names", 0, {}),
        ("late-set-state", "names", 2, {}),
        ("endless-state", "loop", 0, {}),
        ("not-a-mapping", "state", 0, {}),
        ("unknown-of", "gradient", 1, {}),
        ("text-metric", "loss", 1, {}),
        ("changing-shape", "grows", 2, {"keep": ("grows",)}),
        ("missing-stage", "seldom", 2, {"keep": ("seldom",)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_recorded_is_told_by_name_and_step(
    tmp_path: Path, name: str, value: str, step: int, options: dict[str, Any]
):
    """A state error names the value, stage or metric, the run and the step."""
    error = failure(tmp_path, name, **options)
    assert type(error) is StateError
    assert (error.code, error.name) == ("experiment.state", value)
    assert error.message.startswith(f"{value!r}: ")
    assert error.message.endswith(f" (run 'reference', step {step})")


def test_a_kept_stage_that_changes_its_form_says_both(tmp_path: Path):
    """Kept arrays are stacked, so each has the type and shape of the first."""
    error = failure(tmp_path, "changing-shape", keep=("grows",))
    assert error.message == (
        "'grows': is kept at every step: expected <f8 [1] as before, observed <f8 [2] "
        "(run 'reference', step 2)"
    )


def test_a_kept_stage_that_is_missing_is_refused(tmp_path: Path):
    """A kept stage is a stage of every step; those of this one are named."""
    error = failure(tmp_path, "missing-stage", keep=("seldom",))
    assert error.message == (
        "'seldom': is in record.keep: expected a stage of that name in every step, observed the "
        "stages weights (run 'reference', step 2)"
    )


def test_an_array_type_that_cannot_be_stored_keeps_its_class(tmp_path: Path):
    """The error is the same as in the process that met it, with the place added."""
    error = failure(tmp_path, "object-state")
    assert type(error) is UnsupportedDtypeError
    assert (error.code, error.name, error.dtype) == (
        "experiment.unsupported-dtype",
        "weights",
        "object",
    )
    assert str(error).endswith("observed object (run 'reference', step 0)")
    assert error.hint == "convert the array to one of those types before it is recorded"


def test_a_limit_on_memory_ends_a_state_that_is_too_big(tmp_path: Path):
    """An allocation beyond the limit is the experiment's error, not the machine's end."""
    error = failure(
        tmp_path, "huge-state", sandbox=Sandbox(limits=RunLimits(max_run_memory_bytes=2 << 30))
    )
    assert isinstance(error, StepError)
    assert (error.step, error.stage) == (2, "weights")
    assert error.cause.startswith("state_dict: MemoryError: Unable to allocate 128. GiB")


@pytest.mark.parametrize(
    ("declaration", "config", "encoded"),
    [
        (DATACLASS, {"rate": 0.25}, {"rate": 0.25, "layers": [4, 2]}),
        (PYDANTIC, {}, {"rate": 0.5, "name": "calm"}),
    ],
    ids=["dataclass", "pydantic"],
)
def test_a_declared_configuration_is_completed(
    tmp_path: Path, declaration: str, config: dict[str, Any], encoded: dict[str, Any]
):
    """The run is recorded with the complete configuration and its schema."""
    launcher = make_launcher(tmp_path, configured("Config", declaration), config=config)
    run = launcher.run_reference()
    assert run.config == encoded
    assert run.config_schema is not None
    assert sorted(run.config_schema["properties"]) == sorted(encoded)


def test_a_configuration_that_does_not_fit_ends_the_run(tmp_path: Path):
    """The judge raises the error that the worker met, word for word."""
    launcher = make_launcher(tmp_path, configured("Config", DATACLASS), config={"rat": 1})
    with pytest.raises(ConfigurationError) as caught:
        launcher.run_reference()
    assert caught.value.message == "configuration: unknown name 'rat', did you mean 'rate'"


@pytest.mark.parametrize("name", ["prints", "prints-messages", "reads-input", "changes-folder"])
def test_what_an_experiment_prints_or_does_elsewhere_is_no_message(tmp_path: Path, name: str):
    """Standard streams and working directory are the experiment's own; messages go elsewhere."""
    (tmp_path / "calm").mkdir()
    launcher, run = run_reference(tmp_path / "noisy", name)
    calm, _ = run_reference(tmp_path / "calm", "calm")
    assert run.last_step == 4
    with opened(launcher) as (reference,), opened(calm) as (expected,):
        assert [line.chain for line in reference.steps()] == [
            line.chain for line in expected.steps()
        ]


def test_a_forked_child_neither_speaks_nor_keeps_the_judge_waiting(tmp_path: Path):
    """When the worker dies its messages end, although a child of its lives on."""
    error = failure(tmp_path, "forks")
    assert error.message == (
        "run 'reference': the worker ended with status 5 after step 1: expected it to finish"
    )


def test_a_worker_has_the_fixed_variables_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Nothing of the caller's environment arrives but what is listed; the world is its own.

    The experiment also raises unless its folder is empty and is its temporary folder, its source
    comes first on the path, and umask is 022.
    """
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    launcher, _ = run_reference(tmp_path, "tells-its-world", steps=1)
    with opened(launcher) as (reference,):
        names = set(next(reference.steps()).metrics) - {"loss", "COVERAGE_PROCESS_CONFIG"}
    assert names >= {*FIXED_VARIABLES, "OMP_NUM_THREADS", "PATH", "TMPDIR"}
    names -= {"KMP_DUPLICATE_LIB_OK"}  # threadpoolctl's own, set when it is imported
    assert names <= {*FIXED_VARIABLES, *NUMERIC_VARIABLES, *STARTING_VARIABLES, "TMPDIR"}
    assert not names & {"HOME", "MY_TOKEN", "PYTHONPATH", "USER"}


def test_a_worker_uses_this_copy_of_repropack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Another ``repropack`` in the source, the working directory or on a path is not imported."""
    source = SOURCES["calm"].replace(
        "    pass\n",
        "    def update(self, trace):\n        import repropack\n"
        f"        assert repropack.__file__ == {repropack.__file__!r}, repropack.__file__\n"
        "        super().update(trace)\n",
    )
    launcher = make_launcher(tmp_path, source)
    for place in ("source", "scratch"):
        (tmp_path / place / "repropack.py").write_text("", "utf-8")
    monkeypatch.chdir(tmp_path / "scratch")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "scratch"))
    assert launcher.run_reference().last_step == 4


def test_an_entry_point_outside_the_source_is_refused(tmp_path: Path):
    """What runs is what is packed, whatever is installed under that name."""
    launcher = make_launcher(tmp_path, "", entry_point="repropack.lab.replay_lab:ReplayLab")
    with pytest.raises(ExperimentLoadError) as caught:
        launcher.run_reference()
    assert caught.value.message == (
        "entry point 'repropack.lab.replay_lab:ReplayLab': expected module "
        "'repropack.lab.replay_lab' in the experiment's source, observed one of that name elsewhere"
    )


def test_odd_numbers_are_recorded_as_they_are(tmp_path: Path):
    """NaN, infinities and integers beyond 64 bits are metrics like others."""
    launcher, _ = run_reference(tmp_path, "odd-numbers", printed={"nan": ".2f", "big": ".1e"})
    with opened(launcher) as (reference,):
        line = next(reference.steps())
    assert line.metrics == {
        "nan": {"$float": "nan"},
        "inf": {"$float": "-inf"},
        "big": {"$int": "1180591620717411303424"},
        "loss": 7.1,
    }
    assert line.printed == {"nan": "nan", "big": "1.2e+21"}


@pytest.mark.parametrize("name", ["live-views", "mutates-stage"])
def test_changing_an_array_after_it_was_handed_over_changes_nothing(tmp_path: Path, name: str):
    """Arrays may be live views: each recorded state is that of its own moment."""
    launcher, _ = run_reference(tmp_path, name, checkpoint_every=1)
    with opened(launcher) as (reference,):
        first = [reference.checkpoint(step)[1].arrays["weights"][0] for step in range(5)]
        lines = list(reference.steps())
    assert first == pytest.approx([7.0, 7.1, 7.3, 7.6, 8.0])
    assert len({dict(line.state or ())["weights"] for line in lines}) == 4
    assert math.copysign(1, first[0]) == 1


@pytest.mark.parametrize(
    ("record", "stages", "states", "checkpoints", "kept"),
    [
        ({}, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], (0, 2, 4, 5), 5),
        ({"checkpoint_every": None}, [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], (0, 5), 5),
        ({"stages_every": 2}, [2, 4, 5], [1, 2, 3, 4, 5], (0, 2, 4, 5), 3),
        ({"state_every": 3}, [1, 2, 3, 4, 5], [2, 3, 4, 5], (0, 2, 4, 5), 5),
        (
            {"stages_every": 9, "state_every": 9, "checkpoint_every": 9},
            [5],
            [5],
            (0, 5),
            1,
        ),
    ],
    ids=["all", "no-checkpoints", "stages-every", "state-every", "rarely"],
)
def test_what_is_recorded_follows_the_plan(
    tmp_path: Path,
    record: dict[str, Any],
    stages: list[int],
    states: list[int],
    checkpoints: tuple[int, ...],
    kept: int,
):
    """Stages, states, checkpoints and kept rows stand where the plan has them, and at the end."""
    launcher, _ = run_reference(tmp_path, "calm", steps=5, keep=("weights",), **record)
    with opened(launcher) as (reference,):
        lines = list(reference.steps())
        assert reference.checkpoint_steps() == checkpoints
        assert reference.kept_stages() == {"weights": ("<f8", (kept, 3))}
    assert [line.step for line in lines if line.stages is not None] == stages
    assert [line.step for line in lines if line.state is not None] == states


def test_an_early_end_is_recorded_with_its_checkpoint(tmp_path: Path):
    """``finish`` ends the run after its step, wherever the next checkpoint would be."""
    launcher, run = run_reference(tmp_path, "finishes", steps=9, checkpoint_every=5)
    with opened(launcher) as (reference,):
        assert [line.finish for line in reference.steps()] == [None, None, "good enough"]
        assert reference.checkpoint_steps() == (0, 3)
    assert run.last_step == 3


def test_a_component_may_appear_in_the_middle_of_a_run(tmp_path: Path):
    """``of`` is checked against the state before the step, not against the first one."""
    launcher, run = run_reference(tmp_path, "grows")
    with opened(launcher) as (reference,):
        declared = [dict(line.declares or ()) for line in reference.steps()]
    assert run.last_step == 4
    assert declared[1] == {"moment": ("state:late",)}


def test_generators_survive_a_checkpoint(tmp_path: Path):
    """Generator states, one of them with an array inside, continue exactly."""
    launcher, _ = run_reference(tmp_path, "generators")
    compare(launcher, resume_at=2)
    with opened(launcher, "other") as (reference, other):
        assert list(other.steps()) == list(reference.steps())[2:]
        _, state = reference.checkpoint(2)
    assert state.arrays["generators.all#1"].shape == (624,)
    assert state.arrays["generators.all#1"].dtype == np.dtype("<u4")


def test_constants_are_fingerprinted_by_name(tmp_path: Path):
    """Arrays and values that are held fixed are named in the log's header."""
    source = SOURCES["calm"].replace(
        "    pass\n",
        "    def constants(self):\n"
        "        return {'data.x': np.zeros(2), 'nested': [np.zeros(2), 1], 'count': 3}\n",
    )
    launcher = make_launcher(tmp_path, source)
    launcher.run_reference()
    with opened(launcher) as (reference,):
        constants = dict(reference.header.constants)
    data = hashlib.sha256(b"repropack.array.v1\n<f8\n2\n" + bytes(16)).hexdigest()
    count = hashlib.sha256(b'repropack.state.v1\n[["count",3]]\n').hexdigest()
    assert sorted(constants) == ["count", "data.x", "nested"]
    assert constants["data.x"] == f"sha256:{data}"
    assert constants["count"] == f"sha256:{count}"
