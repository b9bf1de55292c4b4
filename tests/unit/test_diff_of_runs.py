"""Two runs held against each other: bare logs, runs in packages, and logs that lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repropack._format.limits import Limits
from repropack.diff_of_runs import diff_runs
from repropack.errors import UnsupportedVersionError, UsageError
from repropack.models.results import Split, StepCount
from repropack.models.run_difference import FormChange, RunDifference, RunSide, Stretch
from tests.support.handmade_logs import chained, digest_of, header, log_bytes, start, step
from tests.support.hostile import take_apart

LAST = 40
ROWS = ("stages", "state")
BOTH = pytest.mark.parametrize("fast", [False, True], ids=["whole", "fast"])


def steps(first: int = 1, **changed: dict[str, Any]) -> list[dict[str, Any]]:
    """Steps up to the last one; members of single ones changed: ``steps(s7={...})``."""
    return [step(number, **changed.get(f"s{number}", {})) for number in range(first, LAST + 1)]


def gradient(number: int, letter: str = "x") -> dict[str, Any]:
    """What a step has whose gradient alone is another one."""
    names = {"batch": f"batch{number}", "gradient": letter, "w": f"w{number}"}
    return {"stages": [[name, digest_of(text)] for name, text in names.items()]}


REFERENCE = log_bytes(steps())
PARTED = log_bytes(steps(s7=gradient(7), s8=gradient(8), s30=gradient(30)))


class Logs:
    """Writes logs into a folder and compares two of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def diff(
        self, left: bytes, right: bytes, *, fast: bool = False, **limits: int
    ) -> RunDifference:
        paths = self.file("left.jsonl", left), self.file("right.jsonl", right)
        return diff_runs(*paths, believe_chains=fast, limits=Limits(**limits))


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def place(found: RunDifference) -> tuple[Any, ...]:
    divergence = found.divergence
    assert divergence is not None
    return (divergence.kind, divergence.step, divergence.stage, divergence.last_equal_step)


def rules(side: RunSide) -> list[tuple[str, str]]:
    return [(fault.rule, fault.entry) for fault in side.faults]


# ---------------------------------------------------------------- bare logs


@BOTH
def test_the_first_divergence_and_its_evidence(logs: Logs, fast: bool) -> None:
    """The same one, whether all is read or a few lines."""
    found = logs.diff(REFERENCE, PARTED, fast=fast)
    assert (found.verdict, found.comparable, found.chains_believed) == ("differs", True, fast)
    assert place(found) == ("output", 7, "gradient", 6)
    assert found.divergence is not None
    assert found.divergence.stages == Split(equal=("batch", "w"), differing=("gradient",))
    assert found.divergence.state_before == Split(equal=("s", "w"))
    assert (found.first_step, found.last_step, found.chains_equal) == (1, LAST, False)
    assert (found.configurations_equal, found.recorded_alike) == (True, True)
    assert found.declared == Split(equal=("batch", "gradient", "w"))
    assert found.left.path == str(logs.folder / "left.jsonl")
    assert (found.left.kind, found.left.run, found.left.package_digest) == (
        "log",
        "reference",
        None,
    )
    assert (found.right.first_step, found.right.last_step, found.right.finish) == (1, LAST, None)
    assert found.right.chain == "sha256:" + PARTED.splitlines()[-1][17:81].decode()


def test_everything_is_counted_where_all_is_read(logs: Logs) -> None:
    """Steps, stages, and the steps from which on all is equal."""
    counts = logs.diff(REFERENCE, PARTED).counts
    assert counts is not None
    assert (counts.compared, counts.differing) == (LAST, 3)
    assert counts.stages[1] == StepCount(name="gradient", compared=LAST, differing=3, first_step=7)
    assert counts.meets_again == Stretch(first_step=31, last_step=LAST)
    assert counts.equal_between == Stretch(first_step=9, last_step=29)
    assert logs.diff(REFERENCE, PARTED, fast=True).counts is None


@BOTH
def test_equal_logs_are_identical(logs: Logs, fast: bool) -> None:
    """One history, of one chain."""
    found = logs.diff(REFERENCE, REFERENCE, fast=fast)
    assert (found.verdict, found.divergence, found.structure) == ("identical", None, None)
    assert (found.chains_equal, found.recorded_alike) == (True, True)
    assert found.left.chain == found.right.chain


@BOTH
def test_a_resumed_run_is_compared_from_its_first_step_on(logs: Logs, fast: bool) -> None:
    """An exact resume is identical, also where the reference is the right one."""
    chain = "sha256:" + REFERENCE.splitlines()[21][17:81].decode()
    state = [["s", digest_of("s20")], ["w", digest_of("w20")]]
    resumed = log_bytes(steps(21), header(21), start(chain, state=state))
    for left, right in ((REFERENCE, resumed), (resumed, REFERENCE)):
        found = logs.diff(left, right, fast=fast)
        assert (found.verdict, found.first_step, found.last_step) == ("identical", 21, LAST)
        assert (found.chains_equal, found.declared) == (True, None)
        assert found.start == Split(equal=("s", "w"))
    reset = [["s", digest_of("s0")], ["w", digest_of("w20")]]
    changed = {"stages": [["batch", digest_of("x")], *gradient(21, "gradient21")["stages"][1:]]}
    other = log_bytes(steps(21, s21=changed), header(21), start(chain, state=reset))
    found = logs.diff(REFERENCE, other, fast=fast)
    assert place(found) == ("state", 21, "batch", 20)
    assert found.start == Split(equal=("w",), differing=("s",))


@BOTH
def test_a_run_of_another_history_may_have_equal_lines(logs: Logs, fast: bool) -> None:
    """The chains differ before the first common step, and every line is compared."""
    other = log_bytes(steps(21), header(21), start(digest_of("other"), state=[
        ["s", digest_of("s20")], ["w", digest_of("w20")],
    ]))  # fmt: skip
    found = logs.diff(REFERENCE, other, fast=fast)
    assert (found.verdict, found.divergence, found.chains_equal) == ("identical", None, False)


@BOTH
def test_what_lies_before_the_steps_is_compared_too(logs: Logs, fast: bool) -> None:
    """Constants, the first state and declarations make a difference; a configuration is told."""
    config = log_bytes(steps(), header(config=digest_of("other")))
    found = logs.diff(REFERENCE, config, fast=fast)
    assert (found.verdict, found.configurations_equal) == ("identical", False)
    constants = [["features", digest_of("other")], ["targets", digest_of("targets")]]
    found = logs.diff(REFERENCE, log_bytes(steps(), header(constants=constants)), fast=fast)
    assert (found.verdict, found.divergence) == ("differs", None)
    assert found.constants == Split(equal=("targets",), differing=("features",))
    state = start(state=[["s", digest_of("s0")], ["w", digest_of("x")]])
    found = logs.diff(REFERENCE, log_bytes(steps(), None, state), fast=fast)
    assert (found.verdict, found.start) == ("differs", Split(equal=("s",), differing=("w",)))
    declared = [["batch", []], ["gradient", ["batch", "state:w"]], ["w", None]]
    found = logs.diff(REFERENCE, log_bytes(steps(), header(stages=declared)), fast=fast)
    assert found.declared == Split(equal=("gradient", "w"), differing=("batch",))
    assert place(found) == ("structure", 1, "batch", 0)
    assert found.structure is not None
    assert found.structure.redeclared == ("batch",)


@BOTH
def test_one_log_ends_before_the_other(logs: Logs, fast: bool) -> None:
    """Cut after a whole line, or ended by the experiment itself."""
    lines = REFERENCE.splitlines(keepends=True)
    found = logs.diff(REFERENCE, b"".join(lines[:12]), fast=fast)
    assert place(found) == ("length", 11, None, 10)
    assert (found.first_step, found.last_step, found.chains_equal) == (1, 10, True)
    assert (found.left.last_step, found.right.last_step) == (LAST, 10)
    ended = log_bytes([*steps()[:9], step(10, finish="converged")])
    found = logs.diff(REFERENCE, ended, fast=fast)
    assert place(found) == ("length", 10, None, 9)
    assert found.right.finish == "converged"


@BOTH
@pytest.mark.parametrize("every", [7, 40])
def test_a_state_recorded_now_and_then_narrows_the_divergence(
    logs: Logs, fast: bool, every: int
) -> None:
    """It lies behind the last step whose state was recorded and is equal."""
    pair = [
        log_bytes(
            [
                {name: one[name] for name in one if one["step"] % every == 0 or name not in ROWS}
                for one in steps(s35=letters, s40=letters)
            ]
        )
        for letters in ({}, {"state": [["s", digest_of("x")], ["w", digest_of("x")]]})
    ]
    found = logs.diff(*pair, fast=fast)
    expected = {7: ("state", 35, None, 28), 40: ("state", 40, None, 0)}
    assert place(found) == expected[every]


# ---------------------------------------------------------------- what cannot be compared


@BOTH
def test_logs_without_a_common_step_are_explained(logs: Logs, fast: bool) -> None:
    """Each side's range is told, and nothing is claimed."""
    late = log_bytes([step(number) for number in range(50, 60)], header(50))
    found = logs.diff(REFERENCE, late, fast=fast)
    assert (found.verdict, found.comparable, found.divergence) == ("differs", False, None)
    [why] = found.reasons
    assert (why.reason, why.left, why.right) == ("no-step-in-common", ("1..40",), ("50..59",))
    assert (found.first_step, found.chains_equal, found.counts) == (None, None, None)
    empty = log_bytes([])
    assert logs.diff(empty, REFERENCE, fast=fast).reasons[0].left == ("1..0",)


@BOTH
def test_logs_of_other_experiments_are_explained(logs: Logs, fast: bool) -> None:
    """No name of one is in the other."""
    lines = [
        step(number, stages=[["q", digest_of("q")]], state=[["z", digest_of("z")]])
        for number in range(1, LAST + 1)
    ]
    found = logs.diff(REFERENCE, log_bytes(lines, header(stages=[])), fast=fast)
    assert (found.comparable, found.structure, found.divergence) == (False, None, None)
    [why] = found.reasons
    assert (why.reason, why.right) == ("no-name-in-common", ("q", "state:z"))


@BOTH
def test_logs_that_record_at_other_steps_are_explained(logs: Logs, fast: bool) -> None:
    """Or found to be less than identical, where some steps were recorded by both."""
    odd, even = (
        log_bytes([
            step(number, **({} if number % 2 == rest else {"stages": None, "state": None}))
            for number in range(1, LAST + 1)
        ])
        for rest in (1, 0)
    )  # fmt: skip
    found = logs.diff(odd, even, fast=fast)
    assert [why.reason for why in found.reasons] == ["never-recorded-together"]
    found = logs.diff(REFERENCE, even, fast=fast)
    assert (found.verdict, found.comparable, found.divergence) == ("differs", True, None)
    assert found.recorded_alike is False


@BOTH
def test_logs_that_are_recorded_apart_from_some_step_on_are_compared(
    logs: Logs, fast: bool
) -> None:
    """What is equal before makes them kin."""
    left, right = (
        log_bytes([
            step(number, **({"stages": None, "state": None} if number > 20 and side else {}))
            for number in range(1, LAST + 1)
        ])
        for side in (0, 1)
    )  # fmt: skip
    found = logs.diff(left, right, fast=fast)
    assert (found.verdict, found.comparable, found.reasons) == ("differs", True, ())
    assert (found.divergence, found.recorded_alike) == (None, False)


# ---------------------------------------------------------------- logs that lie or are damaged


@pytest.mark.hostile
def test_made_up_chains_mislead_a_search_and_not_a_reading(logs: Logs) -> None:
    """The recorded chains say that the two are one history; the lines say otherwise."""
    lines = REFERENCE.splitlines(keepends=True)
    lines[8] = lines[8].replace(digest_of("gradient7").encode(), digest_of("x").encode())
    forged = b"".join(lines)
    assert logs.diff(REFERENCE, forged, fast=True).verdict == "identical"
    found = logs.diff(REFERENCE, forged)
    assert (found.verdict, found.divergence) == ("damaged", None)
    assert (rules(found.left), rules(found.right)) == (
        [],
        [("log.chain", str(logs.folder / "right.jsonl"))],
    )
    assert rules(logs.diff(forged, REFERENCE).left) != []
    without = b"".join(line for line in REFERENCE.splitlines(keepends=True) if line != lines[21])
    assert logs.diff(REFERENCE, without, fast=True).verdict == "identical"
    assert [rule for rule, _ in rules(logs.diff(REFERENCE, without).right)] == ["log.sequence"]


@pytest.mark.hostile
def test_a_chain_that_jumps_misleads_a_search_and_not_a_reading(logs: Logs) -> None:
    """From step 20 on another chain, with every line as it was: no divergence is there."""
    lines = REFERENCE.splitlines(keepends=True)
    chain = digest_of("jump")
    for number in range(20, LAST + 1):
        lines[number + 1], chain = chained(chain, step(number))
    forged = b"".join(lines)
    found = logs.diff(REFERENCE, forged, fast=True)
    assert rules(found.right) == [("log.chain", str(logs.folder / "right.jsonl"))]
    assert logs.diff(REFERENCE, forged).verdict == "damaged"


@pytest.mark.hostile
@BOTH
def test_damage_is_named_with_its_side(logs: Logs, fast: bool) -> None:
    """Cut inside a line, another line end, empty, no log at all."""
    lines = REFERENCE.splitlines(keepends=True)
    cases = {
        "log.cut": (REFERENCE[:-9], b""),
        "json.canonical": (REFERENCE.replace(b"\n", b"\r\n"),),
        "json.syntax": (b"{\n", b"{" + REFERENCE),
        "json.encoding": (b"\xef\xbb\xbf" + REFERENCE,),
        "log.member": (b"{}\n", lines[1] + REFERENCE),
    }
    for rule, damaged in cases.items():
        for data in damaged:
            found = logs.diff(REFERENCE, data, fast=fast)
            assert found.verdict == "damaged", rule
            assert [one for one, _ in rules(found.right)] == [rule]
            assert found.left.faults == ()
            assert [one for one, _ in rules(logs.diff(data, REFERENCE, fast=fast).left)] == [rule]


@pytest.mark.hostile
def test_what_only_the_longer_log_has_is_read_too(logs: Logs) -> None:
    """A broken chain behind the last common step is found all the same."""
    lines = REFERENCE.splitlines(keepends=True)
    lines[-1] = lines[-1].replace(digest_of("w40").encode(), digest_of("x").encode())
    found = logs.diff(b"".join(lines), b"".join(lines[:12]))
    assert [rule for rule, _ in rules(found.left)] == ["log.chain"]


@BOTH
def test_limits_and_later_versions(logs: Logs, fast: bool) -> None:
    """A limit is a fault by its name; a later version is no answer."""
    found = logs.diff(REFERENCE, PARTED, fast=fast, max_log_line_bytes=300)
    assert [fault.code for fault in found.left.faults] == ["package.limit-exceeded"]
    later = REFERENCE.replace(b"fingerprint-log/v1", b"fingerprint-log/v2")
    with pytest.raises(UnsupportedVersionError):
        logs.diff(REFERENCE, later, fast=fast)


def test_arrays_are_no_side_of_a_run(logs: Logs) -> None:
    """That is another comparison."""
    arrays = logs.file("a.npz", b"PK")
    with pytest.raises(UsageError, match=r"a\.npz: expected a run or a fingerprint log"):
        diff_runs(arrays, logs.file("left.jsonl", REFERENCE))


# ---------------------------------------------------------------- runs in packages


@BOTH
def test_runs_in_one_package(lab_package: Path, fast: bool) -> None:
    """What the package's own results say of them."""
    found = diff_runs(
        f"{lab_package}::reference", f"{lab_package}::runs/sampler-reset", believe_chains=fast
    )
    assert place(found) == ("state", 41, "batch", 40)
    assert found.start == Split(equal=("adam", "weights"), differing=("sampler",))
    assert (found.left.kind, found.left.run, found.right.run) == (
        "run",
        "reference",
        "sampler-reset",
    )
    assert found.left.package_digest == found.right.package_digest
    assert (found.right.first_step, found.right.last_step) == (41, 100)
    whole = diff_runs(lab_package, f"{lab_package}::full-checkpoint", believe_chains=fast)
    assert (whole.verdict, whole.first_step, whole.chains_equal) == ("identical", 41, True)


def test_a_log_taken_out_of_a_package_is_the_same(lab_package: Path, tmp_path: Path) -> None:
    """A folder, a log on its own, and the folder of a run are sides like a zip."""
    forgery = take_apart(lab_package)
    folder = forgery.write_directory(tmp_path / "lab")
    log = folder / "runs/reference/fingerprints.jsonl"
    for side in (log, folder / "runs/reference", folder, f"{folder}::reference"):
        assert diff_runs(lab_package, side).verdict == "identical"


@BOTH
def test_a_deflated_log_is_read_and_not_searched(
    lab_package: Path, tmp_path: Path, fast: bool
) -> None:
    """Its parts cannot be read apart; where it ends is not known to who stops before."""
    deflated = take_apart(lab_package).write_zip(tmp_path / "deflated.zip", deflate=True)
    found = diff_runs(deflated, f"{deflated}::sampler-reset", believe_chains=fast)
    assert place(found) == ("state", 41, "batch", 40)
    assert (found.counts is None, found.left.last_step) == ((True, None) if fast else (False, 100))
    assert diff_runs(deflated, lab_package, believe_chains=fast).verdict == "identical"


@pytest.mark.hostile
def test_a_package_that_is_damaged_is_named(lab_package: Path, tmp_path: Path) -> None:
    """A log with another digest, one of another run, no package at all."""
    forgery = take_apart(lab_package)
    manifest, entry = forgery.seal(), "runs/reference/fingerprints.jsonl"
    other = forgery.files["runs/adam-reset/fingerprints.jsonl"]
    forgery.files[entry] = other
    bent = forgery.write_zip(tmp_path / "bent.zip", manifest)
    renamed = forgery.write_zip(tmp_path / "renamed.zip")
    none = tmp_path / "none.zip"
    none.write_bytes(b"no zip")
    for path, rule in ((bent, "digest.entry"), (renamed, "run.name"), (none, "zip.not-a-zip")):
        found = diff_runs(path, f"{lab_package}::reference")
        assert found.verdict == "damaged"
        assert [one for one, _ in rules(found.left)] == [rule]
        assert found.right.faults == ()
    forgery.files[entry] = forgery.files["runs/full-checkpoint/fingerprints.jsonl"]
    equal = forgery.write_zip(tmp_path / "equal.zip")
    for believe_chains in (True, False):
        found = diff_runs(lab_package, equal, believe_chains=believe_chains)
        assert [one for one, _ in rules(found.right)] == ["run.name"]


@pytest.mark.hostile
def test_a_stored_array_that_is_damaged_is_a_fault_of_its_side(
    lab_package: Path, tmp_path: Path
) -> None:
    """The patterns ask for it; nothing is left out in silence, and the right side is blamed."""
    forgery, entry = take_apart(lab_package), "runs/sampler-reset/checkpoints/step-000000040.npz"
    forgery.files[entry] = forgery.files[entry][:-1]
    damaged = forgery.write_zip(tmp_path / "damaged.zip")
    found = diff_runs(lab_package, f"{damaged}::sampler-reset")
    assert found.verdict == "damaged"
    assert found.left.faults == ()
    assert [fault.entry for fault in found.right.faults] == [entry]
    fast = diff_runs(lab_package, f"{damaged}::sampler-reset", believe_chains=True)
    assert fast.verdict == "differs"


def test_arrays_of_another_type_are_told(lab_package: Path, tmp_path: Path) -> None:
    """A fingerprint says that they differ, what was stored says that their type does."""
    forgery = take_apart(lab_package)
    log = forgery.log("reference")
    line = log.step(100)
    line["stages"] = [[name, digest_of("x")] for name, _ in line["stages"]]
    forgery.rechain("reference", log)
    companion = "runs/reference/checkpoints/step-000000100.json"
    forgery.files[companion] = forgery.files[companion].replace(b'"<f4"', b'"<f8"', 1)
    other = forgery.write_zip(tmp_path / "other.zip")
    found = diff_runs(lab_package, other, believe_chains=True)  # which reads no array
    assert place(found)[:2] == ("output", 100)
    assert found.forms == (
        FormChange(name="state:adam.first_moment", left="<f4 (24,)", right="<f8 (24,)"),
    )
