"""A run executed here against the recorded one: what counts as equal, and what is said if not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._read.container import open_container
from repropack._read.equality import hold_against
from repropack._read.run import RunReader
from repropack.models.reports import RunVerification
from repropack.models.results import Split
from tests.support.hostile import Forgery, nudge, replace_row, take_apart

OTHER_DIGEST = "sha256:" + "0" * 64
RUN = "reference"
ARRAYS = ("adam.first_moment", "adam.second_moment", "weights")
Hold = Callable[..., RunVerification]


@pytest.fixture
def forgery(lab_package: Path) -> Forgery:
    return take_apart(lab_package)


@pytest.fixture
def hold(lab_package: Path, tmp_path: Path) -> Hold:
    """Hold a forged run, as if it had been executed here, against the lab's own."""

    def held(
        forgery: Forgery, run: str = RUN, expected: str | None = None, arrays: str | None = None
    ) -> RunVerification:
        forgery.write_directory(tmp_path / "observed")
        with (
            open_container(lab_package) as recorded,
            open_container(tmp_path / "observed") as made,
        ):
            return hold_against(
                RunReader(recorded, expected or run),
                RunReader(recorded, arrays or expected or run),
                RunReader(made, run),
                "comparison",
            )

    return held


def test_an_equal_run_says_what_was_compared(forgery: Forgery, hold: Hold) -> None:
    """Every line, checkpoint and kept row, and the final arrays one by one."""
    found = hold(forgery)
    assert found.equal
    assert (found.run, found.claim, found.first_step, found.last_step) == (
        RUN, "comparison", 1, 100,
    )  # fmt: skip
    assert (found.lines_compared, found.checkpoints_compared, found.kept_arrays_compared) == (
        100, 6, 100,
    )  # fmt: skip
    assert found.final_arrays == Split(equal=ARRAYS)
    assert (found.divergence, found.arrays, found.problems, found.repeats) == (None, (), (), None)


def test_a_run_that_stores_its_log_alone_borrows_arrays_from_the_reference(
    forgery: Forgery, hold: Hold
) -> None:
    """A resume that was identical: its own log, and the reference's checkpoints from 40 on."""
    for path in list(forgery.files):
        if path.startswith("runs/reference/") and not path.endswith(".jsonl"):
            step = path.rpartition("step-")[2].split(".")[0]
            if not step.isdigit() or int(step) >= 40:
                target = path.replace("reference", "full-checkpoint")
                forgery.files[target] = forgery.files[path]
    forgery.edit_kept("full-checkpoint", lambda kept: kept.update(weights=kept["weights"][40:]))
    found = hold(forgery, "full-checkpoint", arrays=RUN)
    assert found.equal, found
    assert (found.lines_compared, found.checkpoints_compared, found.kept_arrays_compared) == (
        60, 4, 60,
    )  # fmt: skip
    # an added resume has no log of its own in the package: the reference's lines are expected
    assert hold(forgery, "full-checkpoint", expected=RUN).equal


# ---------------------------------------------------------------- lines


def test_a_differing_line_is_a_divergence(forgery: Forgery, hold: Hold) -> None:
    log = forgery.log()
    replace_row(log.step(30)["stages"], "gradient", OTHER_DIGEST)
    forgery.rechain(RUN, log)
    found = hold(forgery)
    assert not found.equal
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.step) == ("output", 30)
    assert found.arrays == ()
    assert found.problems == ()
    assert found.lines_compared == 100


def test_a_chain_that_differs_alone_is_a_problem(forgery: Forgery, hold: Hold) -> None:
    """Recorded values are equal and the lines are not: a declaration was repeated."""
    log = forgery.log()
    log.step(30)["declares"] = [["batch", ["state:sampler"]]]
    forgery.rechain(RUN, log)
    found = hold(forgery)
    assert not found.equal
    assert found.divergence is None
    assert found.problems == ("the chains differ although every recorded value is equal",)


def test_a_run_that_ends_early_is_a_divergence(forgery: Forgery, hold: Hold) -> None:
    """The checkpoint it never reached is lacking too; the last common step is compared."""
    log = forgery.log()
    del log.steps[99:]
    forgery.put_log(RUN, log)
    for end in ("json", "npz"):
        del forgery.files[f"runs/{RUN}/checkpoints/step-000000100.{end}"]
    forgery.edit_kept(RUN, lambda kept: kept.update(weights=kept["weights"][:99]))
    found = hold(forgery)
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.step) == ("length", 100)
    assert found.divergence.missing == ("step 100",)
    assert (found.last_step, found.lines_compared, found.checkpoints_compared) == (99, 99, 5)
    assert found.final_arrays == Split()
    assert found.problems == ("kept stage 'weights': other steps were recorded",)


# ---------------------------------------------------------------- headers and start


def test_headers_are_compared_though_no_chain_holds_them(forgery: Forgery, hold: Hold) -> None:
    """Configuration, constants and declarations, each by name."""
    log = forgery.log()
    log.header["config"] = OTHER_DIGEST
    replace_row(log.header["constants"], "features", OTHER_DIGEST)
    replace_row(log.header["stages"], "gradient", None)
    log.header["stages"].append(["ghost", []])
    forgery.put_log(RUN, log)
    found = hold(forgery)
    assert [problem.split(":")[0] for problem in found.problems] == [
        "configuration differs",
        "stage 'ghost' is declared otherwise",
        "stage 'gradient' is declared otherwise",
        "constant 'features' differs",
    ]
    assert found.problems[1].endswith("expected no such stage, observed of nothing")
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.stage) == ("structure", "gradient")


def test_another_starting_state_is_a_problem(forgery: Forgery, hold: Hold) -> None:
    log = forgery.log()
    replace_row(log.start["state"], "sampler", OTHER_DIGEST)
    forgery.put_log(RUN, log)
    found = hold(forgery)
    assert found.problems == ("state after step 0: component 'sampler' differs",)
    assert found.divergence is None
    assert not found.equal


# ---------------------------------------------------------------- checkpoints


def test_a_differing_checkpoint_shows_its_arrays(forgery: Forgery, hold: Hold) -> None:
    """Of the first checkpoint that differs, every array; the final ones are told apart."""

    def change(arrays: dict[str, Any], _: Any) -> None:
        nudge(arrays["weights"], 3)
        arrays["adam.first_moment"] = arrays["adam.first_moment"].astype("<f8")

    for step in (60, 100):
        forgery.edit_checkpoint(RUN, step, change)
    found = hold(forgery)
    assert [(one.array, one.step) for one in found.arrays] == [
        ("checkpoint.adam.first_moment", 60),
        ("checkpoint.weights", 60),
    ]
    assert (found.arrays[0].expected_type, found.arrays[0].observed_type) == (
        "<f4 (24,)", "<f8 (24,)",
    )  # fmt: skip
    assert [(one.index, one.ulp) for one in found.arrays[1].first] == [((3,), 1)]
    assert found.checkpoints_compared == 6
    assert found.final_arrays == Split(
        equal=("adam.second_moment",), differing=("adam.first_moment", "weights")
    )


def test_values_and_lacking_arrays_are_problems(forgery: Forgery, hold: Hold) -> None:
    """What is no array, or has no partner, cannot be shown by element."""

    def change(arrays: dict[str, Any], values: Any) -> None:
        values["adam.updates"] = 60.0
        arrays["extra"] = arrays.pop("weights")

    forgery.edit_checkpoint(RUN, 60, change)
    assert hold(forgery).problems == (
        "checkpoint 60: array 'extra' is not in the package",
        "checkpoint 60: array 'weights' is not in the run here",
        "checkpoint 60: value 'adam.updates' differs: expected 60, observed 60.0",
    )


def test_checkpoints_of_other_steps_are_problems(forgery: Forgery, hold: Hold) -> None:
    """One that the package lacks, and one that the run here lacks."""
    folder = f"runs/{RUN}/checkpoints"
    for end in ("json", "npz"):
        forgery.files[f"{folder}/step-000000061.{end}"] = forgery.files.pop(
            f"{folder}/step-000000060.{end}"
        )
    assert hold(forgery).problems == (
        "a checkpoint after step 60 that the run here lacks",
        "a checkpoint after step 61 that the package lacks",
    )


# ---------------------------------------------------------------- kept arrays


def test_the_first_differing_kept_row_is_shown(forgery: Forgery, hold: Hold) -> None:
    def change(kept: dict[str, Any]) -> None:
        nudge(kept["weights"], 29, 7)
        nudge(kept["weights"], 49, 7)

    forgery.edit_kept(RUN, change)
    found = hold(forgery)
    assert [(one.array, one.step, one.elements_differing) for one in found.arrays] == [
        ("kept.weights", 30, 1)
    ]
    assert (found.kept_arrays_compared, found.equal) == (30, False)


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        pytest.param(
            lambda kept: kept.update(weights=kept["weights"][:50]),
            ("kept stage 'weights': other steps were recorded",),
            id="fewer-rows",
        ),
        pytest.param(
            lambda kept: kept.update(gradient=kept["weights"]),
            ("kept stage 'gradient': other steps were recorded",),
            id="another-stage",
        ),
        pytest.param(
            lambda kept: kept.pop("weights"),
            ("kept stage 'weights': other steps were recorded",),
            id="none",
        ),
    ],
)
def test_other_kept_rows_are_a_problem(
    forgery: Forgery, hold: Hold, change: Callable[[Any], Any], problems: tuple[str, ...]
) -> None:
    """What one side kept and the other did not is not equal."""
    forgery.edit_kept(RUN, change)
    found = hold(forgery)
    assert found.problems == problems
    assert not found.equal


def test_kept_bits_count_and_not_values(forgery: Forgery, hold: Hold) -> None:
    """A negative zero is not a zero."""

    def change(kept: dict[str, Any]) -> None:
        kept["weights"] = kept["weights"].copy()
        kept["weights"][0, 0] = np.float32(-0.0)

    forgery.edit_kept(RUN, change)
    assert hold(forgery).arrays[0].first[0].observed_bits == "0x80000000"
