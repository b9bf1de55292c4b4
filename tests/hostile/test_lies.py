"""Lies with every digest right: each is told to ``check`` and ``verify``, and one of them notices.

The forger recomputes whatever digest, fingerprint or chain the lie needs. What contradicts the rest
of the package is found by ``check``; what is consistent and false, only by running it again.
"""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._format.canonical import encode_canonical
from repropack._format.fingerprints import fingerprint_array
from repropack._format.log import CHAIN_START
from repropack._run.confinement.consent import confine
from repropack.check import check_package
from repropack.errors import ConfinementUnavailableError, UnsupportedVersionError
from repropack.models.reports import VerificationReport
from repropack.verify import verify_package
from tests.support.hostile import Forgery, nudge, replace_row, take_apart

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

Tell = Callable[[Forgery], None]
RESULTS, PLAN = "results.json", "plan.json"
LOG, KEPT = "runs/reference/fingerprints.jsonl", "runs/reference/kept.npz"
TWINS = ("reference", "independent-restart", "full-checkpoint")
"""The reference and the runs whose logs repeat its lines."""
OTHER_DIGEST = "sha256:" + "0" * 64


def log_of(run: str) -> str:
    return f"runs/{run}/fingerprints.jsonl"


def companion(step: int, run: str = "reference") -> str:
    return f"runs/{run}/checkpoints/step-{step:09d}.json"


@dataclass(frozen=True)
class Lie:
    """A change, and what the check must say: which entry, and words of the problem."""

    name: str
    tell: Tell
    entry: str
    words: str


@pytest.fixture
def forgery(lab_package: Path) -> Forgery:
    return take_apart(lab_package)


# ---------------------------------------------------------------- how lies are told


def in_results(row: int, change: Callable[[Any], None]) -> Tell:
    """Change one comparison's row of the results."""
    return lambda forgery: forgery.edit(RESULTS, lambda value: change(value["comparisons"][row]))


def in_plan(change: Callable[[Any], None], *, results: bool = False) -> Tell:
    def tell(forgery: Forgery) -> None:
        forgery.edit(PLAN, change)
        if results:
            forgery.recompute_results()

    return tell


def in_steps(
    change: Callable[[Any], None], *runs: str, step: int | None = None, results: bool = True
) -> Tell:
    """Change the step lines of some logs; chains and results are computed anew."""

    def tell(forgery: Forgery) -> None:
        for run in runs or TWINS:
            log = forgery.log(run)
            change(log.steps if step is None else log.step(step))
            forgery.put_log(run, log)
        forgery.rechain_all()
        if results:
            forgery.recompute_results()

    return tell


def in_head(run: str, change: Callable[[Any, Any], None], *, results: bool = False) -> Tell:
    def tell(forgery: Forgery) -> None:
        log = forgery.log(run)
        change(log.header, log.start)
        forgery.put_log(run, log)
        if results:
            forgery.recompute_results()

    return tell


def in_lines(change: Callable[[list[bytes]], list[bytes]], path: str = LOG) -> Tell:
    """Change a log's stored lines and leave their chains alone."""

    def tell(forgery: Forgery) -> None:
        lines = forgery.files[path].splitlines(keepends=True)
        forgery.files[path] = b"".join(change(lines))

    return tell


def in_kept(change: Callable[[dict[str, Any]], None], run: str = "reference") -> Tell:
    return lambda forgery: forgery.edit_kept(run, change)


def without(*paths: str) -> Tell:
    def tell(forgery: Forgery) -> None:
        for path in paths:
            del forgery.files[path]

    return tell


def in_row(path: str, **members: Any) -> Tell:
    return lambda forgery: forgery.rows.update({path: members})


def respelled(path: str, change: Callable[[bytes], bytes]) -> Tell:
    return lambda forgery: forgery.files.update({path: change(forgery.files[path])})


# ---------------------------------------------------------------- the single lies


def move_weights_in_companion(forgery: Forgery) -> None:
    forgery.edit_checkpoint("reference", 60, lambda arrays, _: nudge(arrays["weights"], 3))


def move_weights_in_npz(forgery: Forgery) -> None:
    path = companion(60).replace(".json", ".npz")
    arrays = forgery.arrays(path)
    nudge(arrays["weights"], 3)
    forgery.put_arrays(path, arrays)


def count_updates(forgery: Forgery) -> None:
    forgery.edit(companion(60), lambda value: value["values"].update({"adam.updates": 61}))


def copy_checkpoint(forgery: Forgery) -> None:
    for end in ("json", "npz"):
        source, copy = (companion(step).replace("json", end) for step in (40, 30))
        forgery.files[copy] = forgery.files[source]


def copy_run(forgery: Forgery) -> None:
    for path in list(forgery.files):
        if path.startswith("runs/adam-reset/"):
            forgery.files[path.replace("adam-reset", "extra")] = forgery.files[path]


def drop_run(forgery: Forgery) -> None:
    for path in list(forgery.files):
        if path.startswith("runs/adam-reset/"):
            del forgery.files[path]


def cut_comparison(forgery: Forgery) -> None:
    """End a comparison at step 80 and let everything else agree."""
    run = "adam-reset"
    log = forgery.log(run)
    del log.steps[40:]
    forgery.put_log(run, log)
    for end in ("json", "npz"):
        del forgery.files[companion(100, run).replace("json", end)]
    forgery.edit_kept(run, lambda arrays: arrays.update(weights=arrays["weights"][:40]))
    forgery.recompute_results()


def swap_and_renumber(forgery: Forgery) -> None:
    for run in TWINS:
        log = forgery.log(run)
        first, second = log.step(70), log.step(71)
        for member in ("stages", "state", "metrics", "printed"):
            first[member], second[member] = second[member], first[member]
        forgery.put_log(run, log)
    forgery.rechain_all()
    forgery.recompute_results()


def forget_stages(forgery: Forgery) -> None:
    for run in TWINS:
        log = forgery.log(run)
        del log.step(70)["stages"]
        forgery.put_log(run, log)
    forgery.edit_kept(
        "reference", lambda kept: kept.update(weights=np.delete(kept["weights"], 69, 0))
    )
    forgery.rechain_all()
    forgery.recompute_results()


def begin_elsewhere(forgery: Forgery) -> None:
    forgery.rechain_all(start=OTHER_DIGEST)
    forgery.recompute_results()


def begin_resume_afresh(forgery: Forgery) -> None:
    forgery.rechain("sampler-reset", forgery.log("sampler-reset"), CHAIN_START)
    forgery.recompute_results()


def begin_with_other_weights(forgery: Forgery) -> None:
    """A resumed run whose own first checkpoint says the same as its start line."""
    run = "adam-reset"
    state = forgery.edit_checkpoint(run, 40, lambda arrays, _: nudge(arrays["weights"], 0))
    in_head(run, lambda _, start: start.update(state=state), results=True)(forgery)


def begin_in_no_time(forgery: Forgery) -> None:
    """A run of no step that claims to begin where no log could ever end."""
    log = forgery.log("adam-reset")
    log.header["first_step"], log.steps = 2**53 - 1, []
    forgery.put_log("adam-reset", log)
    for path in list(forgery.files):
        if path.startswith("runs/adam-reset/checkpoints/"):
            del forgery.files[path]
    forgery.edit_kept("adam-reset", lambda arrays: arrays.update(weights=arrays["weights"][:0]))


def sort_rows_backwards(manifest: Any) -> None:
    manifest["entries"].reverse()


DAMAGED = (
    # results that do not follow
    Lie("printed-agreement", in_results(3, lambda row: row["printed"][0].update(equal=60)), RESULTS, "adam-reset: printed"),
    Lie("largest-difference", in_results(2, lambda row: row["kept"][0]["largest_absolute"].update(value=1e-9)), RESULTS, "reversed-reduction: kept"),
    Lie("step-of-largest", in_results(2, lambda row: row["kept"][0]["largest_ulp"].update(first_step=13)), RESULTS, "reversed-reduction: kept"),
    Lie("expectation-held", in_results(3, lambda row: row.update(held=False)), RESULTS, "adam-reset: held"),
    Lie("divergence-stage", in_results(2, lambda row: row["divergence"].update(stage="weights")), RESULTS, "reversed-reduction: divergence"),
    Lie("no-divergence", in_results(2, lambda row: row.update(divergence=None)), RESULTS, "reversed-reduction: divergence"),
    Lie("final-metric", in_results(4, lambda row: row["final_metrics"][0].update(run=0.02)), RESULTS, "sampler-reset: final_metrics"),
    Lie("steps-differing", in_results(2, lambda row: row["stages"][3].update(differing=0)), RESULTS, "reversed-reduction: stages"),
    Lie("called-identical", in_results(2, lambda row: row.update(identical=True)), RESULTS, "reversed-reduction: identical"),
    Lie("final-chain", lambda f: f.edit(RESULTS, lambda value: value["reference"].update(chain=OTHER_DIGEST)), RESULTS, "reference: chain"),
    Lie("float-for-integer", in_results(2, lambda row: row["kept"][0]["largest_ulp"].update(value=492.0)), RESULTS, "reversed-reduction: kept"),
    Lie("result-left-out", lambda f: f.edit(RESULTS, lambda value: value["comparisons"].pop()), RESULTS, "one for each of the plan"),
    Lie("results-reordered", lambda f: f.edit(RESULTS, lambda value: value["comparisons"].reverse()), RESULTS, "one for each of the plan"),
    # a plan that the runs do not follow
    Lie("fewer-steps", in_plan(lambda plan: plan["experiment"].update(steps=99)), LOG, "expected 99 steps, observed 100"),
    Lie("more-steps", in_plan(lambda plan: plan["experiment"].update(steps=101)), LOG, "expected 101 steps, observed 100"),
    Lie("configuration", in_plan(lambda plan: plan["experiment"]["config"].update(learning_rate=0.05)), LOG, "configuration"),
    Lie("configuration-of-a-comparison", in_plan(lambda plan: plan["comparisons"][2]["config"].update(reduction="forward")), log_of("reversed-reduction"), "configuration"),
    Lie("configuration-not-encoded", in_plan(lambda plan: plan["experiment"]["config"].update(rows={"$float": "0"})), PLAN, "value 'rows'"),
    Lie("configuration-reserved-key", in_plan(lambda plan: plan["comparisons"][2]["config"].update({"$rows": 1})), PLAN, "'$rows'"),
    Lie("resumes-elsewhere", in_plan(lambda plan: plan["comparisons"][1].update(resume_at=60)), log_of("full-checkpoint"), "first step, against the plan's: expected 61, observed 41"),
    Lie("resumes-after-the-end", in_plan(lambda plan: plan["comparisons"][1].update(resume_at=100)), PLAN, "resume_at"),
    Lie("expectation-changed", in_plan(lambda plan: plan["comparisons"][3]["expect"].update(diverges_at=42)), RESULTS, "adam-reset: expected"),
    Lie("one-name-twice", in_plan(lambda plan: plan["comparisons"].append(plan["comparisons"][0])), PLAN, "'independent-restart': expected a name of its own"),
    Lie("named-reference", in_plan(lambda plan: plan["comparisons"].append({**plan["comparisons"][0], "name": "reference"})), PLAN, "'reference': expected a name of its own"),
    Lie("reset-without-resume", in_plan(lambda plan: plan["comparisons"][0].update(reset=["adam"])), PLAN, "expected resume_at beside reset"),
    Lie("resets-another", in_plan(lambda plan: plan["comparisons"][4].update(reset=["adam"])), log_of("sampler-reset"), "component 'adam' at the start"),
    Lie("resets-nothing", in_plan(lambda plan: plan["comparisons"][4].update(reset=[])), log_of("sampler-reset"), "component 'sampler' at the start"),
    Lie("reset-of-nothing", in_plan(lambda plan: plan["comparisons"][3].update(reset=["ghost"])), PLAN, "resets 'ghost'"),
    Lie("keeps-nothing", in_plan(lambda plan: plan["record"].update(keep=[]), results=True), KEPT, "array 'weights': expected stages that the plan keeps"),
    Lie("keeps-more", in_plan(lambda plan: plan["record"].update(keep=["weights", "gradient"]), results=True), KEPT, "arrays: expected ['gradient', 'weights']"),
    Lie("prints-otherwise", in_plan(lambda plan: plan["record"].update(printed={"loss": ".3f"})), LOG, "metric 'loss' of step 1: expected to be printed as"),
    Lie("prints-nothing", in_plan(lambda plan: plan["record"].update(printed={}) or plan["claims"].clear(), results=True), LOG, "metric 'loss' of step 1: expected no printed text, observed text"),
    Lie("more-checkpoints", in_plan(lambda plan: plan["record"].update(checkpoint_every=10)), LOG, "checkpoints: expected after steps [0, 10, 20"),
    Lie("fewer-checkpoints", in_plan(lambda plan: plan["record"].update(checkpoint_every=40)), LOG, "checkpoints: expected after steps [0, 40, 80, 100]"),
    Lie("fewer-stages", in_plan(lambda plan: plan["record"].update(stages_every=2)), LOG, "stages of step 1: expected none, observed some"),
    Lie("fewer-states", in_plan(lambda plan: plan["record"].update(state_every=3)), LOG, "state of step 1: expected none, observed some"),
    # runs
    Lie("run-missing", drop_run, "runs/adam-reset", "missing: expected a run of the plan, observed none"),
    Lie("run-extra", copy_run, "runs/extra", "expected a run of the plan, observed another"),
    Lie("files-of-no-run", lambda f: f.files.update({"runs/ghost/kept.npz": f.files[KEPT]}), "runs/ghost", "expected a run of the plan, observed another"),
    Lie("log-of-another-run", in_head("adam-reset", lambda header, _: header.update(run="sampler-reset")), log_of("adam-reset"), "run: expected 'adam-reset', observed 'sampler-reset'"),
    Lie("run-begins-nowhere", begin_in_no_time, log_of("adam-reset"), "first step, against the plan's: expected 41"),
    # checkpoints
    Lie("checkpoint-without-log", move_weights_in_companion, companion(60), "component 'weights' after step 60"),
    Lie("checkpoint-array", move_weights_in_npz, companion(60).replace(".json", ".npz"), "array 'weights'"),
    Lie("checkpoint-value", count_updates, companion(60).replace(".json", ".npz"), "components"),
    Lie("checkpoint-chain", lambda f: f.edit(companion(60), lambda value: value.update(chain=OTHER_DIGEST)), companion(60), "chain, against the log's"),
    Lie("checkpoint-of-another-step", copy_checkpoint, companion(30), "expected step 30, observed 40"),
    Lie("checkpoint-missing", without(companion(60), companion(60).replace(".json", ".npz")), LOG, "checkpoints: expected after steps [0, 20, 40, 60, 80, 100]"),
    Lie("checkpoint-to-resume-from-missing", without(companion(40), companion(40).replace(".json", ".npz")), log_of("full-checkpoint"), "resumes at 40: expected a checkpoint of the reference there, observed none"),
    Lie("checkpoint-without-arrays", without(companion(60).replace(".json", ".npz")), companion(60).replace(".json", ".npz"), "missing"),
    Lie("checkpoint-without-companion", without(companion(60)), companion(60).replace(".json", ".npz"), "expected pairs"),
    Lie("checkpoint-spelled-otherwise", respelled(companion(60), lambda data: data.replace(b",", b", ")), companion(60), "canonical"),
    # kept arrays
    Lie("kept-row", in_kept(lambda arrays: nudge(arrays["weights"], 49, 0)), KEPT, "array 'weights': row of step 50"),
    Lie("kept-missing", without(KEPT), KEPT, "arrays: expected ['weights'], observed []"),
    Lie("kept-row-too-many", in_kept(lambda arrays: arrays.update(weights=np.repeat(arrays["weights"], [1] * 99 + [2], 0))), KEPT, "expected a row for each recorded step, observed more"),
    Lie("kept-row-too-few", in_kept(lambda arrays: arrays.update(weights=arrays["weights"][:-1])), KEPT, "expected a row for step 100, observed none"),
    Lie("kept-array-too-many", in_kept(lambda arrays: arrays.update(extra=arrays["weights"])), KEPT, "array 'extra': expected stages that the plan keeps"),
    Lie("kept-batch-too-many", in_kept(lambda arrays: arrays.update(weights=arrays["weights"].astype("<f8"))), KEPT, "array 'weights': row of step 1"),
    Lie("kept-without-rows", in_kept(lambda arrays: arrays.update(weights=np.float32(1.0))), KEPT, "rank 0"),
    Lie("kept-of-an-identical-run", lambda f: f.files.update({"runs/independent-restart/kept.npz": f.files[KEPT]}), "runs/independent-restart/kept.npz", "arrays: expected [], observed ['weights']"),
    # logs
    Lie("line-cut-out", in_lines(lambda lines: lines[:51] + lines[52:]), LOG, "expected step 50, observed step 51"),
    Lie("line-edited", in_lines(lambda lines: [line.replace(b'"printed":{"loss":"0.0', b'"printed":{"loss":"0.1') for line in lines]), LOG, "(step"),
    Lie("lines-swapped", in_lines(lambda lines: [*lines[:50], lines[51], lines[50], *lines[52:]]), LOG, "expected step 49, observed step 50"),
    Lie("last-line-cut-off", in_lines(lambda lines: lines[:-1]), companion(100), "expected a step of the log, observed step 100"),
    Lie("last-line-cut-in-half", in_lines(lambda lines: [*lines[:-1], lines[-1][:-20]]), LOG, "cut line"),
    Lie("log-without-lines", in_lines(lambda lines: []), LOG, "expected a header"),
    Lie("comparison-cut-short", cut_comparison, log_of("adam-reset"), "expected 100 steps, observed 80"),
    Lie("twin-cut-short", in_steps(list.pop, "full-checkpoint"), log_of("full-checkpoint"), "expected 100 steps, observed 99"),
    Lie("lines-swapped-and-renumbered", swap_and_renumber, KEPT, "array 'weights': row of step 70"),
    Lie("stages-forgotten", forget_stages, LOG, "stages of step 70: expected them, observed none"),
    Lie("state-forgotten", in_steps(lambda line: line.pop("state"), step=70), LOG, "state of step 70: expected them, observed none"),
    Lie("state-forgotten-at-a-checkpoint", in_steps(lambda line: line.pop("state"), step=60), companion(60), "expected a state in the log after step 60, observed none"),
    Lie("component-with-chain", in_steps(lambda line: replace_row(line["state"], "adam", OTHER_DIGEST), step=60), companion(60), "component 'adam' after step 60"),
    Lie("stage-with-chain", in_steps(lambda line: replace_row(line["stages"], "weights", OTHER_DIGEST), step=60), KEPT, "row of step 60"),
    Lie("printed-with-chain", in_steps(lambda line: line["printed"].update(loss="0.0001"), step=60), LOG, "metric 'loss' of step 60"),
    Lie("metric-that-prints-otherwise", in_steps(lambda line: line["metrics"].update(loss=0.5), step=60), LOG, "metric 'loss' of step 60: expected to be printed as '0.5000'"),
    Lie("metric-that-is-none", in_steps(lambda line: line["metrics"].update(loss={"a": "b"}), step=60, results=False), LOG, "metrics/loss: expected a number"),
    Lie("stage-twice", in_steps(lambda line: line["stages"].append(line["stages"][0]), step=60, results=False), LOG, "stages: expected each name once"),
    Lie("component-twice", in_steps(lambda line: line["state"].append(line["state"][0]), step=60, results=False), LOG, "state: expected each name once"),
    Lie("header-configuration", in_head("reference", lambda header, _: header.update(config=OTHER_DIGEST)), LOG, "configuration"),
    Lie("header-constants", in_head("reference", lambda header, _: replace_row(header["constants"], "targets", OTHER_DIGEST)), RESULTS, "constants"),
    Lie("header-declarations", in_head("reference", lambda header, _: replace_row(header["stages"], "gradient", ["batch"])), log_of("full-checkpoint"), "header: expected the stages that the reference's declares"),
    Lie("header-declares-more", in_head("reference", lambda header, _: header["stages"].append(["ghost", None])), LOG, "header: expected the stages ['batch'"),
    Lie("header-declares-less", in_head("reference", lambda header, _: header["stages"].pop()), LOG, "step 1: stage 'weights': expected a declaration"),
    Lie("declared-of-what-comes-later", in_head("reference", lambda header, _: replace_row(header["stages"], "batch", ["weights"])), LOG, "expected to be made of earlier stages and the state"),
    Lie("declared-again", in_steps(lambda line: line.update(declares=[["batch", ["state:sampler"]]]), step=60), LOG, "declares 'batch': expected only what the header lacks"),
    Lie("declared-and-absent", in_steps(lambda line: line.update(declares=[["ghost", None]]), step=60), LOG, "declares 'ghost': expected only what the header lacks"),
    Lie("start-line", in_head("reference", lambda _, start: replace_row(start["state"], "adam", OTHER_DIGEST)), companion(0), "component 'adam' after step 0"),
    Lie("start-line-of-a-twin", in_head("full-checkpoint", lambda _, start: replace_row(start["state"], "adam", OTHER_DIGEST)), log_of("full-checkpoint"), "component 'adam' at the start"),
    Lie("start-line-with-its-checkpoint", begin_with_other_weights, log_of("adam-reset"), "component 'weights' at the start"),
    Lie("chain-begins-elsewhere", begin_elsewhere, LOG, "chain at the start"),
    Lie("resumed-chain-begins-afresh", begin_resume_afresh, log_of("sampler-reset"), "chain at the start"),
    # other documents
    Lie("schema", respelled("schemas/plan.schema.json", lambda data: data.replace(b'"seed"', b'"Seed"')), "schemas/plan.schema.json", "expected the released schema"),
    Lie("configuration-schema", respelled("schemas/config.schema.json", lambda data: b"[]\n"), "schemas/config.schema.json", "expected an object"),
    Lie("environment", respelled("environment.json", lambda data: b"{}\n"), "environment.json", "'schema' is a required property"),
    Lie("plan-spelled-otherwise", respelled(PLAN, lambda data: data.replace(b",", b", ")), PLAN, "canonical"),
    Lie("plan-without-a-member", in_plan(lambda plan: plan["comparisons"][0].pop("reset")), PLAN, "every member"),
    Lie("results-spelled-otherwise", respelled(RESULTS, lambda data: data + b"\n"), RESULTS, "canonical"),
    # manifest
    Lie("role", in_row("README.md", role="license"), "README.md", "expected readme and text/markdown, observed license"),
    Lie("media-type", in_row("README.md", media_type="text/html"), "README.md", "expected readme and text/markdown, observed readme and text/html"),
    Lie("executable", in_row("source/replay_lab.py", executable=True), "source/replay_lab.py", "executable: expected true, observed the contrary"),
    Lie("location", in_row("README.md", location="https://example.org/"), "README.md", "location"),
    Lie("digest", in_row("README.md", digest=OTHER_DIGEST), "README.md", "digest differs"),
    Lie("size", in_row("README.md", size=1), "README.md", "(1 bytes)"),
    Lie("unknown-place", lambda f: f.files.update({"page.html": b"<script>"}), "page.html", "path: expected one that entries may have, observed another"),
    Lie("required-entry", without("LICENSE"), "LICENSE", "missing: expected an entry that every package has, observed none"),
    Lie("required-schema", without("schemas/plan.schema.json"), "schemas/plan.schema.json", "missing: expected an entry that every package has, observed none"),
)  # fmt: skip


@pytest.mark.parametrize("lie", DAMAGED, ids=lambda lie: lie.name)
def test_check_names_the_place_of_a_contradiction(
    lie: Lie, forgery: Forgery, tmp_path: Path
) -> None:
    """A lie that contradicts the rest is damage: entry and place are named, and nothing is run."""
    lie.tell(forgery)
    report = check_package(forgery.write_zip(tmp_path / "forged.zip"))
    assert report.verdict == "damaged"
    found = [(fault.entry, fault.problem) for fault in report.faults]
    assert any(entry == lie.entry and lie.words in problem for entry, problem in found), found
    verification = verify_package(forgery.write_directory(tmp_path / "forged"))
    assert (verification.verdict, verification.runs) == ("damaged", ())
    assert verification.faults == report.faults


def write_entries(
    forgery: Forgery, path: Path, change: Callable[[Any], None] = lambda manifest: None
) -> Path:
    """Write with a manifest changed after everything was sealed."""
    manifest = json.loads(forgery.seal())
    change(manifest)
    return forgery.write_directory(path, encode_canonical(manifest))


@pytest.mark.parametrize(
    ("change", "entry", "words"),
    [
        pytest.param(sort_rows_backwards, "manifest.json", "another order", id="order"),
        pytest.param(
            lambda m: m["entries"].insert(0, m["entries"][0]),
            "manifest.json",
            "each path once",
            id="twice",
        ),
        pytest.param(
            lambda m: m["entries"].pop(2),
            "README.md",
            "unexpected: expected nothing that the manifest does not list",
            id="unlisted",
        ),
        pytest.param(
            lambda m: m["entries"].append({**m["entries"][0], "path": "source/zz.py"}),
            "source/zz.py",
            "missing: expected what the manifest lists",
            id="listed-and-missing",
        ),
        pytest.param(
            lambda m: m["entries"].append({**m["entries"][0], "path": "source/../x"}),
            "source/../x",
            "component",
            id="unsafe-path",
        ),
        pytest.param(
            lambda m: m.update(format="repropack"),
            "manifest.json",
            "another tool",
            id="another-tool",
        ),
        pytest.param(
            lambda m: m.update(format="zip"), "manifest.json", "observed 'zip'", id="format"
        ),
        pytest.param(
            lambda m: m.update(format_version=0), "manifest.json", "format_version", id="version"
        ),
        pytest.param(
            lambda m: m.update(format_version=True), "manifest.json", "format_version", id="true"
        ),
        pytest.param(
            lambda m: m.update(extra=1),
            "manifest.json",
            "'extra' was unexpected",
            id="unknown-member",
        ),
        pytest.param(
            lambda m: m["package"].pop("date"), "manifest.json", "every member", id="no-member"
        ),
    ],
)
def test_check_refuses_a_manifest_that_lies_about_the_files(
    forgery: Forgery, tmp_path: Path, change: Callable[[Any], None], entry: str, words: str
) -> None:
    """File set, order and form of the manifest are held against what is there."""
    path = write_entries(forgery, tmp_path / "forged", change)
    report = check_package(path)
    assert report.verdict == "damaged"
    found = [(fault.entry, fault.problem) for fault in report.faults]
    assert any(name == entry and words in problem for name, problem in found), found
    assert verify_package(path).verdict == "damaged"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda m: m.update(format_version=2), id="newer-version"),
        pytest.param(
            lambda m: m["entries"][1].update(role="scope"),
            id="reserved-role",
        ),
    ],
)
def test_a_feature_of_a_later_release_is_no_damage(
    forgery: Forgery, tmp_path: Path, change: Callable[[Any], None]
) -> None:
    """There is no answer: ``check`` raises, ``verify`` reports that it could not run."""
    path = write_entries(forgery, tmp_path / "forged", change)
    with pytest.raises(UnsupportedVersionError):
        check_package(path)
    report = verify_package(path)
    assert report.verdict == "could-not-run"
    assert report.problem is not None
    assert report.problem.code == "package.unsupported-version"
    assert report.not_verified == ()


@pytest.mark.parametrize("member", ["logical_type", "same_as"])
def test_a_reserved_member_of_a_checkpoint_is_no_damage(
    forgery: Forgery, tmp_path: Path, member: str
) -> None:
    """A later release may use it; this one has no answer."""
    value = "bfloat16" if member == "logical_type" else "step-000000000"
    forgery.edit(companion(60), lambda doc: doc["arrays"]["weights"].update({member: value}))
    path = forgery.write_zip(tmp_path / "forged.zip")
    with pytest.raises(UnsupportedVersionError):
        check_package(path)
    assert verify_package(path).verdict == "could-not-run"


# ---------------------------------------------------------------- what only a run can find


def replay(forgery: Forgery, folder: Path, *runs: str) -> VerificationReport:
    """Verify a forged package that ``check`` finds nothing wrong with."""
    path = forgery.write_zip(folder / "forged.zip")
    report = check_package(path)
    assert report.verdict == "intact", report.faults
    return verify_package(path, runs=runs or ("reference",))


def forge_checkpoint(forgery: Forgery) -> None:
    """Another first moment after step 60; log, chains, results and all twins agree."""

    def change(arrays: dict[str, Any], _: Any) -> None:
        nudge(arrays["adam.first_moment"], 3)
        arrays["adam.first_moment"][5] = 0.5

    state = forgery.edit_checkpoint("reference", 60, change)
    in_steps(lambda line: line.update(state=state), step=60)(forgery)


def test_a_forged_checkpoint_is_found_by_running_again(forgery: Forgery, tmp_path: Path) -> None:
    """Everything was recomputed to match: the step, the component and the elements are named."""
    forge_checkpoint(forgery)
    report = replay(forgery, tmp_path)
    assert report.verdict == "differs"
    run = report.runs[0]
    assert run.divergence is not None
    assert (run.divergence.kind, run.divergence.step, run.divergence.stage) == ("state", 60, None)
    assert run.divergence.last_equal_step == 59
    assert run.divergence.state_after is not None
    assert run.divergence.state_after.differing == ("adam",)
    assert [(array.array, array.step) for array in run.arrays] == [
        ("checkpoint.adam.first_moment", 60)
    ]
    array = run.arrays[0]
    assert (array.expected_type, array.elements, array.elements_differing) == ("<f4 (24,)", 24, 2)
    assert (array.first[0].index, array.first[0].ulp) == ((3,), 1)
    assert (array.first[1].index, array.first[1].expected) == ((5,), 0.5)
    assert array.first[1].expected_bits == "0x3f000000"
    assert run.final_arrays.differing == ()
    assert run.repeats is True
    assert not run.equal


def test_a_resume_from_a_forged_checkpoint_is_found_too(forgery: Forgery, tmp_path: Path) -> None:
    """The resumed run passes step 60 with its own state and parts from the log there."""
    forge_checkpoint(forgery)
    run = replay(forgery, tmp_path, "full-checkpoint").runs[0]
    assert run.claim == "exact-resume"
    assert run.divergence is not None
    assert (run.divergence.kind, run.divergence.step) == ("state", 60)


def test_forged_kept_rows_are_found_by_running_again(forgery: Forgery, tmp_path: Path) -> None:
    """A kept row with its stage's fingerprint, chain and results changed to match."""
    forgery.edit_kept("reference", lambda arrays: nudge(arrays["weights"], 69, 2))
    row = forgery.arrays(KEPT)["weights"][69]
    print_of = fingerprint_array("weights", row)
    in_steps(lambda line: replace_row(line["stages"], "weights", print_of), step=70)(forgery)
    run = replay(forgery, tmp_path).runs[0]
    assert run.divergence is not None
    assert (run.divergence.kind, run.divergence.step) == ("output", 70)
    assert run.divergence.stage == "weights"
    assert run.divergence.stages.equal == ("batch", "contributions", "gradient")
    assert [(array.array, array.step) for array in run.arrays] == [("kept.weights", 70)]
    assert [(one.index, one.ulp) for one in run.arrays[0].first] == [((2,), 1)]


def test_a_metric_that_prints_the_same_is_found(forgery: Forgery, tmp_path: Path) -> None:
    """The full value counts, not the four decimals."""

    def change(line: Any) -> None:
        line["metrics"]["loss"] = float(np.nextafter(line["metrics"]["loss"], 1.0))

    in_steps(change, step=70)(forgery)
    run = replay(forgery, tmp_path).runs[0]
    assert run.divergence is not None
    assert (run.divergence.kind, run.divergence.step) == ("metric", 70)
    assert run.divergence.metrics.differing == ("loss",)
    assert run.arrays == ()


def test_another_seed_in_the_plan_is_found(forgery: Forgery, tmp_path: Path) -> None:
    """Nothing in a log tells the seed; the first state and the constants do."""
    in_plan(lambda plan: plan["experiment"].update(seed=8), results=True)(forgery)
    report = replay(forgery, tmp_path)
    assert report.verdict == "differs"
    problems = " ".join(report.runs[0].problems)
    assert "constant 'features' differs" in problems
    assert "state after step 0: component 'weights' differs" in problems
    assert report.runs[0].divergence is not None
    assert report.runs[0].divergence.step == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            lambda header: replace_row(header["constants"], "targets", OTHER_DIGEST),
            "constant 'targets' differs",
            id="constants",
        ),
        pytest.param(
            lambda header: replace_row(header["stages"], "gradient", ["batch"]),
            "stage 'gradient' is declared otherwise: expected of batch, observed of contributions",
            id="declaration",
        ),
        pytest.param(
            lambda header: replace_row(header["stages"], "gradient", None),
            "stage 'gradient' is declared otherwise: expected of everything before it, "
            "observed of contributions",
            id="declaration-of-everything",
        ),
    ],
)
def test_a_header_that_lies_in_every_log_is_found(
    forgery: Forgery, tmp_path: Path, change: Callable[[Any], None], problem: str
) -> None:
    """Headers are outside the chain, and compared all the same."""
    forgery.edit(PLAN, lambda plan: plan["claims"].clear())  # one of them is about declarations
    for row in ("reference", *(row["name"] for row in forgery.read(PLAN)["comparisons"])):
        in_head(row, lambda header, _: change(header))(forgery)
    forgery.recompute_results()
    report = replay(forgery, tmp_path)
    assert report.verdict == "differs"
    assert any(one.startswith(problem) for one in report.runs[0].problems)


def test_a_start_line_that_lies_with_its_checkpoint_is_found(
    forgery: Forgery, tmp_path: Path
) -> None:
    """A fresh run whose own first checkpoint says the same as its start line."""
    run = "reversed-reduction"
    state = forgery.edit_checkpoint(run, 0, lambda arrays, _: nudge(arrays["weights"], 0))
    in_head(run, lambda _, start: start.update(state=state), results=True)(forgery)
    found = replay(forgery, tmp_path, run).runs[0]
    assert found.problems == ("state after step 0: component 'weights' differs",)
    assert [(array.array, array.step) for array in found.arrays] == [("checkpoint.weights", 0)]
    assert found.divergence is None
    assert not found.equal


def test_an_end_that_the_experiment_never_asked_for_is_found(
    forgery: Forgery, tmp_path: Path
) -> None:
    """``finish`` is part of the line and of the comparison."""
    in_steps(lambda line: line.update(finish="converged"), step=100)(forgery)
    run = replay(forgery, tmp_path).runs[0]
    assert run.divergence is not None
    assert (run.divergence.kind, run.divergence.step) == ("length", 100)


# ---------------------------------------------------------------- what is free to change


def test_the_readme_is_free_text(forgery: Forgery, tmp_path: Path) -> None:
    """What a README claims is its author's to say: no verb believes or checks it."""
    forgery.files["README.md"] = b"# All losses are zero\n"
    report = replay(forgery, tmp_path)
    assert report.verdict == "identical"


def test_another_environment_is_reported_and_not_damage(forgery: Forgery, tmp_path: Path) -> None:
    """The record describes a machine; a verification says where this one differs from it."""
    forgery.edit("environment.json", lambda record: record["numpy"].update(version="0.0.1"))
    report = replay(forgery, tmp_path)
    assert report.verdict == "identical"
    assert report.environment is not None
    differences = report.environment.differences
    assert ("numpy.version", "0.0.1") in [(row.field, row.recorded) for row in differences]


# ---------------------------------------------------------------- foreign code


def write_marker(forgery: Forgery, marker: Path) -> None:
    """Change the source to one that leaves a trace when it is imported."""
    trace = f"open({str(marker)!r}, 'w').close()\n".encode()
    forgery.files["source/replay_lab.py"] += trace


def add_module(forgery: Forgery, marker: Path) -> None:
    """A module that would be imported instead of one of the standard library's."""
    forgery.files["source/dataclasses.py"] = f"open({str(marker)!r}, 'w')\n".encode()


def call_other(forgery: Forgery, marker: Path) -> None:
    """The shipped source untouched, and something else named to be called."""
    in_plan(lambda plan: plan["experiment"].update(entry_point="subprocess:run"))(forgery)


def call_other_in_lab(forgery: Forgery, marker: Path) -> None:
    in_plan(lambda plan: plan["experiment"].update(entry_point="replay_lab:power"))(forgery)


def add_input(forgery: Forgery, marker: Path) -> None:
    forgery.files["inputs/data.csv"] = b"1,2\n"


@pytest.mark.parametrize(
    "change",
    [write_marker, add_module, call_other, call_other_in_lab, add_input],
    ids=lambda change: change.__name__.replace("_", "-"),
)
def test_foreign_code_is_not_executed_where_nothing_confines_it(
    forgery: Forgery,
    tmp_path: Path,
    change: Callable[[Forgery, Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without confinement only a shipped source runs, by its own entry point."""
    unfit = ConfinementUnavailableError("observed none")
    monkeypatch.setattr("repropack._run.confinement.probing.probe_level", lambda level: unfit)
    marker = tmp_path / "executed"
    change(forgery, marker)
    report = replay(forgery, tmp_path)
    assert report.verdict == "could-not-run"
    assert report.problem is not None
    assert report.problem.code == "confinement-unavailable"
    assert (report.runs, report.confinement) == ((), None)
    assert "run 'reference' was not executed" in report.not_verified
    assert not marker.exists()


def test_a_source_that_changes_after_the_check_is_not_executed(
    forgery: Forgery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory may change while it is verified: what is copied to be run is digested again."""
    import repropack.verify as module

    path = forgery.write_directory(tmp_path / "forged")
    marker = tmp_path / "executed"
    original = confine

    def confine_and_change(package: Any, consent: Any, **options: Any) -> Any:
        sandbox = original(package, consent, **options)
        with (path / "source/replay_lab.py").open("a") as stream:
            stream.write(f"open({str(marker)!r}, 'w').close()\n")
        return sandbox

    monkeypatch.setattr(module, "confine", confine_and_change)
    report = verify_package(path)
    assert report.verdict == "damaged"
    assert [(fault.entry, fault.code) for fault in report.faults] == [
        ("source/replay_lab.py", "package.unsafe-entry")
    ]
    assert not marker.exists()
