"""Contradictions: every digest and chain is right, and the parts of the package do not agree."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    FORMAT,
    INTEGRITY,
    LIMIT,
    Case,
    Tell,
    Write,
    lie,
    rows,
    told,
)
from tests.hostile.corpus.documents import PLAN, RESULTS, companion
from tests.support.hostile import Forgery

OTHER = "sha256:" + "0" * 64
KEPT = "runs/reference/kept.npz"


def in_results(attribute: str, change: Callable[[Base, Any], object]) -> Write:
    """Change the results of one comparison, by what it is."""

    def tell(base: Base, forgery: Forgery) -> None:
        def alter(value: Any) -> None:
            run = getattr(base, attribute)
            change(base, next(one for one in value["comparisons"] if one["run"] == run))

        forgery.edit(RESULTS, alter)

    return told(tell)


def in_document(
    path: str, change: Callable[[Base, Any], object], *, results: bool = False
) -> Write:
    """Change a document; results may follow."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.edit(path, lambda value: change(base, value))
        if results:
            forgery.recompute_results()

    return told(tell)


def planned(base: Base, plan: Any, attribute: str) -> Any:
    """The plan's row of a comparison."""
    run = getattr(base, attribute)
    return next(one for one in plan["comparisons"] if one["name"] == run)


def in_kept(change: Callable[[Base, dict[str, Any]], object]) -> Write:
    """Change the reference's kept arrays."""
    return told(
        lambda base, forgery: forgery.edit_kept("reference", lambda kept: change(base, kept))
    )


def bump(array: Any) -> Any:
    """The same array with its last element changed a little."""
    changed = array.copy()
    flat = changed.reshape(-1)
    flat[-1] = flat[-1] + 1 if changed.dtype.kind in "iu" else np.nextafter(flat[-1], np.float32(9))
    return changed


def in_checkpoint(change: Callable[[Base, dict[str, Any], Any], object]) -> Tell:
    """Change a state in the middle, its document and fingerprints with it, and no log."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.edit_checkpoint(
            "reference", base.middle, lambda arrays, values: change(base, arrays, values)
        )

    return tell


def copied_run(base: Base, forgery: Forgery) -> None:
    for path in list(forgery.files):
        if path.startswith(f"runs/{base.fresh}/"):
            forgery.files[path.replace(base.fresh, "extra")] = forgery.files[path]


def dropped_run(base: Base, forgery: Forgery) -> None:
    for path in list(forgery.files):
        if path.startswith(f"runs/{base.fresh}/"):
            del forgery.files[path]


def swapped_runs(base: Base, forgery: Forgery) -> None:
    """Two comparisons have each other's files, with their names made right."""
    one, other = (f"runs/{run}/" for run in (base.fresh, base.reset))
    moved = {}
    for path in list(forgery.files):
        for here, there in ((one, other), (other, one)):
            if path.startswith(here):
                moved[path.replace(here, there)] = forgery.files.pop(path)
    forgery.files.update(moved)
    for run in (base.fresh, base.reset):
        log = forgery.log(run)
        log.header["run"] = run
        forgery.put_log(run, log)


def twin_stores(base: Base, forgery: Forgery) -> None:
    """A run that equals the reference stores what it does not have to."""
    kept = forgery.arrays(KEPT)
    rows_of = {name: array[base.start :] for name, array in kept.items()}
    forgery.put_arrays(f"runs/{base.resumed}/kept.npz", rows_of)


def copied_checkpoint(base: Base, forgery: Forgery) -> None:
    """A checkpoint under the name of another step."""
    for end in ("json", "npz"):
        source = f"runs/reference/checkpoints/step-{base.middle:09d}.{end}"
        forgery.files[source.replace(f"{base.middle:09d}", f"{base.middle + 1:09d}")] = (
            forgery.files[source]
        )


def dropped_checkpoint(base: Base, forgery: Forgery) -> None:
    for end in ("json", "npz"):
        del forgery.files[f"runs/reference/checkpoints/step-{base.middle:09d}.{end}"]


def dropped_start(base: Base, forgery: Forgery) -> None:
    """The checkpoint that a comparison resumes from."""
    for end in ("json", "npz"):
        del forgery.files[f"runs/reference/checkpoints/step-{base.start:09d}.{end}"]


def dropped_half(end: str) -> Tell:
    def tell(base: Base, forgery: Forgery) -> None:
        del forgery.files[f"runs/reference/checkpoints/step-{base.middle:09d}.{end}"]

    return tell


def huge_plan(plan: Any) -> None:
    plan["experiment"]["steps"] = 999_999_999
    plan["record"]["checkpoint_every"] = 1


def many_comparisons(base: Base, plan: Any) -> None:
    like = planned(base, plan, "fresh")
    plan["comparisons"] = [{**like, "name": f"c{k}"} for k in range(5000)]


RESULT = rows(
    "T9",
    "results",
    lie("identical", "A run that differs is called identical.", in_results("fresh", lambda b, r: r.update(identical=True)), INTEGRITY, "identical", forms=BOTH),
    lie("not-identical", "A run that is identical is said to differ.", in_results("resumed", lambda b, r: r.update(identical=False)), INTEGRITY, "identical"),
    lie("no-divergence", "Where a run parts is left out.", in_results("fresh", lambda b, r: r.update(divergence=None)), INTEGRITY, "divergence"),
    lie("divergence-step", "A run parts at another step.", in_results("fresh", lambda b, r: r["divergence"].update(step=2)), INTEGRITY, "divergence"),
    lie("divergence-stage", "A run parts at another stage.", in_results("fresh", lambda b, r: r["divergence"].update(stage="zz")), INTEGRITY, "divergence"),
    lie("divergence-kind", "A run parts in another way.", in_results("fresh", lambda b, r: r["divergence"].update(kind="metric")), INTEGRITY, "divergence"),
    lie("held", "An expectation that held is said not to.", in_results("reset", lambda b, r: r.update(held=False)), INTEGRITY, "held"),
    lie("expected", "An expectation that the plan does not have.", in_results("reset", lambda b, r: r.update(expected="identical")), INTEGRITY, "expected"),
    lie("printed", "More printed values agree than do.", in_results("fresh", lambda b, r: r["printed"][0].update(equal=0, compared=0)), INTEGRITY, "printed"),
    lie("stages", "Fewer steps differ than do.", in_results("fresh", lambda b, r: r["stages"][-1].update(differing=0)), INTEGRITY, "stages"),
    lie("components", "A component is said to be equal.", in_results("fresh", lambda b, r: r.update(components=[])), INTEGRITY, "components"),
    lie("kept", "A difference is smaller than it is.", in_results("fresh", lambda b, r: r["kept"][0].update(largest_absolute=None)), INTEGRITY, "kept"),
    lie("final-metric", "A metric ended otherwise.", in_results("fresh", lambda b, r: r["final_metrics"][0].update(run=0.125)), INTEGRITY, "final_metrics"),
    lie("final-state", "A final state is said to be equal.", in_results("fresh", lambda b, r: r.update(final_state=None)), INTEGRITY, "final_state"),
    lie("config-equal", "Two configurations are said to be equal.", in_results("fresh", lambda b, r: r.update(config_equal=True)), INTEGRITY, "config_equal"),
    lie("last-step", "A run ended at another step.", in_results("fresh", lambda b, r: r.update(last_step=1)), INTEGRITY, "last_step"),
    lie("float-for-integer", "A count with a point.", in_results("fresh", lambda b, r: r["final_metrics"][-1].update(reference=float(r["final_metrics"][-1]["reference"]) + 1.0)), INTEGRITY, "final_metrics"),
    lie("left-out", "The last comparison is left out.", in_document(RESULTS, lambda b, v: v["comparisons"].pop()), INTEGRITY, "one for each of the plan"),
    lie("more", "A comparison that the plan does not have.", in_document(RESULTS, lambda b, v: v["comparisons"].append({**v["comparisons"][0], "run": "zz"})), INTEGRITY, "one for each of the plan"),
    lie("order", "Comparisons in another order.", in_document(RESULTS, lambda b, v: v["comparisons"].reverse()), INTEGRITY, "one for each of the plan"),
    lie("twice", "A comparison comes twice.", in_document(RESULTS, lambda b, v: v["comparisons"].insert(0, v["comparisons"][0])), INTEGRITY, "", faults=None),
    lie("chain", "The reference ended with another chain.", in_document(RESULTS, lambda b, v: v["reference"].update(chain=OTHER)), INTEGRITY, "reference: chain"),
    lie("reference-step", "The reference ended at another step.", in_document(RESULTS, lambda b, v: v["reference"].update(last_step=1)), INTEGRITY, "reference: last_step"),
    lie("reference-state", "The reference ended in another state.", in_document(RESULTS, lambda b, v: v["reference"].update(final_state=None)), INTEGRITY, "reference: final_state"),
    lie("reference-finish", "The reference ended for a reason.", in_document(RESULTS, lambda b, v: v["reference"].update(finish="converged \x1b[31m")), INTEGRITY, "reference: finish"),
    lie("reference-metric", "The reference ended with another metric.", in_document(RESULTS, lambda b, v: v["reference"]["final_metrics"].update({b.metric: 0.5})), INTEGRITY, "reference: final_metrics"),
)  # fmt: skip

NOTEBOOK = rows(
    "T10",
    "notebook",
    lie("executed", "A notebook that was not executed is called executed.", in_document(PLAN, lambda b, p: p.update(notebook="executed")), INTEGRITY, "notebook.ipynb", forms=BOTH),
    lie("no-notebook", "A notebook that is no JSON.", told(lambda b, f: f.files.update({"notebook.ipynb": b"<html>"})), FORMAT, "notebook.ipynb"),
    lie("list", "A notebook that is a list.", told(lambda b, f: f.files.update({"notebook.ipynb": b"[]\n"})), FORMAT, "notebook.ipynb"),
    lie("format-3", "A notebook of an old format.", told(lambda b, f: f.files.update({"notebook.ipynb": b'{"nbformat":3,"worksheets":[]}\n'})), FORMAT, "notebook.ipynb"),
    lie("cells", "A notebook whose cells are none.", told(lambda b, f: f.files.update({"notebook.ipynb": b'{"cells":7,"metadata":{},"nbformat":4,"nbformat_minor":5}\n'})), FORMAT, "notebook.ipynb"),
    lie("depth", "A notebook of ten thousand brackets.", told(lambda b, f: f.files.update({"notebook.ipynb": b"[" * 10_000})), LIMIT, "max_json_depth"),
)  # fmt: skip

PLANS = rows(
    "T10",
    "plan",
    lie("steps-less", "The plan has fewer steps.", in_document(PLAN, lambda b, p: p["experiment"].update(steps=b.steps - 1)), INTEGRITY, "steps, observed", faults=None),
    lie("steps-more", "The plan has more steps.", in_document(PLAN, lambda b, p: p["experiment"].update(steps=b.steps + 1)), INTEGRITY, "steps, observed", faults=None),
    lie("steps-billion", "The plan has a billion steps, a checkpoint at each.", in_document(PLAN, lambda b, p: huge_plan(p)), INTEGRITY, "steps, observed", faults=None),
    lie("config", "Another configuration.", in_document(PLAN, lambda b, p: p["experiment"]["config"].update(zz=1)), INTEGRITY, "configuration", faults=None),
    lie("config-comparison", "Another configuration of a comparison.", in_document(PLAN, lambda b, p: planned(b, p, "fresh")["config"].update(zz=1)), INTEGRITY, "configuration"),
    lie("config-mark", "A configuration in a spelling that values lack.", in_document(PLAN, lambda b, p: p["experiment"]["config"].update(zz={"$float": "0"})), FORMAT, "'zz'"),
    lie("config-array", "A configuration that names an array.", in_document(PLAN, lambda b, p: p["experiment"]["config"].update(zz={"$array": "zz#1"})), FORMAT, "expected no array"),
    lie("config-key", "A configuration with a key that is reserved.", in_document(PLAN, lambda b, p: p["experiment"]["config"].update({"$zz": 1})), FORMAT, "'$zz'"),
    lie("resume", "A comparison resumes elsewhere.", in_document(PLAN, lambda b, p: planned(b, p, "resumed").update(resume_at=b.start - 2)), INTEGRITY, "first step", faults=None),
    lie("resume-late", "A comparison resumes behind the end.", in_document(PLAN, lambda b, p: planned(b, p, "resumed").update(resume_at=b.steps)), INTEGRITY, "resume_at", faults=None),
    lie("resume-huge", "A comparison resumes at the last integer.", in_document(PLAN, lambda b, p: planned(b, p, "resumed").update(resume_at=2**53 - 1)), INTEGRITY, "resume_at", faults=None),
    lie("resume-none", "A comparison that resumes is said not to.", in_document(PLAN, lambda b, p: planned(b, p, "resumed").update(resume_at=None) or p["claims"].pop(0)), INTEGRITY, "first step", faults=None),
    lie("reset-none", "A reset is left out.", in_document(PLAN, lambda b, p: planned(b, p, "reset").update(reset=[])), INTEGRITY, "at the start", faults=None),
    lie("reset-other", "Another component is reset.", in_document(PLAN, lambda b, p: planned(b, p, "reset").update(reset=[b.component])), INTEGRITY, "at the start", faults=None),
    lie("reset-ghost", "A component is reset that is none.", in_document(PLAN, lambda b, p: planned(b, p, "reset")["reset"].append("ghost")), INTEGRITY, "ghost", faults=None),
    lie("reset-fresh", "A fresh run is reset.", in_document(PLAN, lambda b, p: planned(b, p, "fresh").update(reset=[b.component])), INTEGRITY, "expected resume_at beside reset", faults=None),
    lie("expectation", "Another expectation.", in_document(PLAN, lambda b, p: planned(b, p, "reset").update(expect="identical")), INTEGRITY, "expected"),
    lie("name-twice", "Two comparisons of one name.", in_document(PLAN, lambda b, p: p["comparisons"].append(p["comparisons"][0])), INTEGRITY, "a name of its own", faults=None),
    lie("name-reference", "A comparison named like the reference.", in_document(PLAN, lambda b, p: p["comparisons"].append({**planned(b, p, "fresh"), "name": "reference"})), INTEGRITY, "a name of its own", faults=None),
    lie("comparison-left-out", "A comparison is left out.", in_document(PLAN, lambda b, p: p["comparisons"].remove(planned(b, p, "fresh"))), INTEGRITY, "run of the plan", faults=None),
    lie("comparison-more", "A comparison that was never run.", in_document(PLAN, lambda b, p: p["comparisons"].append({**planned(b, p, "fresh"), "name": "zz"})), INTEGRITY, "run of the plan", faults=None),
    lie("comparisons-many", "Five thousand comparisons.", in_document(PLAN, many_comparisons), INTEGRITY, "run of the plan", faults=None),
    lie("keep-none", "Nothing was to be kept.", in_document(PLAN, lambda b, p: p["record"].update(keep=[]), results=True), INTEGRITY, "expected stages that the plan keeps", faults=None),
    lie("keep-twice", "A stage was to be kept twice.", in_document(PLAN, lambda b, p: p["record"]["keep"].append(b.kept), results=True), INTEGRITY, "each stage once"),
    lie("reset-twice", "A component was to be reset twice.", in_document(PLAN, lambda b, p: planned(b, p, "reset")["reset"].append(planned(b, p, "reset")["reset"][0])), INTEGRITY, "each component once"),
    lie("keep-more", "More was to be kept.", in_document(PLAN, lambda b, p: p["record"]["keep"].append(b.stage), results=True), INTEGRITY, "arrays: expected", faults=None),
    lie("print-none", "Nothing was to be printed.", in_document(PLAN, lambda b, p: p["record"].update(printed={}), results=True), INTEGRITY, "metric '", faults=None),
    lie("print-other", "A metric was to be printed otherwise.", in_document(PLAN, lambda b, p: p["record"]["printed"].update({b.printed: ".9e"})), INTEGRITY, "expected to be printed as", faults=None),
    lie("print-wide", "A metric was to be printed as wide as can be.", in_document(PLAN, lambda b, p: p["record"]["printed"].update({b.printed: "99.99f"})), INTEGRITY, "expected to be printed as", faults=None),
    lie("checkpoints-more", "More checkpoints were to be stored.", in_document(PLAN, lambda b, p: p["record"].update(checkpoint_every=1)), INTEGRITY, "checkpoints: expected", faults=None),
    lie("checkpoints-less", "Fewer checkpoints were to be stored.", in_document(PLAN, lambda b, p: p["record"].update(checkpoint_every=None)), INTEGRITY, "checkpoints: expected", faults=None),
    lie("stages-less", "Fewer stages were to be recorded.", in_document(PLAN, lambda b, p: p["record"].update(stages_every=2)), INTEGRITY, "stages of step 1: expected none", faults=None),
    lie("state-less", "Fewer states were to be recorded.", in_document(PLAN, lambda b, p: p["record"].update(state_every=3)), INTEGRITY, "state of step 1: expected none", faults=None),
)  # fmt: skip

FILES = rows(
    "T9",
    "stored",
    lie("run-more", "A run that the plan does not have.", told(copied_run), INTEGRITY, "run of the plan", forms=BOTH),
    lie("run-less", "A run of the plan is missing.", told(dropped_run), INTEGRITY, "run of the plan", forms=BOTH),
    lie("run-files", "Files of a run that has no log.", told(lambda b, f: f.files.update({"runs/ghost/kept.npz": f.files[KEPT]})), INTEGRITY, "run of the plan"),
    lie("runs-swapped", "Two runs have each other's files.", told(swapped_runs), INTEGRITY, "first step", faults=None),
    lie("twin-stores", "A run that equals the reference stores arrays.", told(twin_stores), INTEGRITY, "arrays: expected", faults=None),
    lie("kept-no-array", "A run that equals the reference has a file of no kept array.", told(lambda b, f: f.put_arrays(f"runs/{b.resumed}/kept.npz", {})), INTEGRITY, "arrays: expected"),
    lie("checkpoint-array", "A stored array is not the log's.", told(in_checkpoint(lambda b, a, v: a.update({b.array: bump(a[b.array])}))), INTEGRITY, "after step", forms=BOTH),
    lie("checkpoint-value", "A stored value is not the log's.", told(in_checkpoint(lambda b, a, v: v.update({f"{b.component}.zz": 1}))), INTEGRITY, "after step"),
    lie("checkpoint-component", "A stored component that the log lacks.", told(in_checkpoint(lambda b, a, v: a.update({"zz": a[b.array]}))), INTEGRITY, "component 'zz'"),
    lie("checkpoint-chain", "A checkpoint of another history.", told(lambda b, f: f.edit(companion(b), lambda v: v.update(chain=OTHER))), INTEGRITY, "chain"),
    lie("checkpoint-step", "A checkpoint says another step.", told(lambda b, f: f.edit(companion(b), lambda v: v.update(step=1))), INTEGRITY, "observed 1"),
    lie("checkpoint-fingerprint", "A document with another fingerprint.", told(lambda b, f: f.edit(companion(b), lambda v: v["arrays"][b.array].update(fingerprint=OTHER))), INTEGRITY, "array '"),
    lie("checkpoint-shape", "A document with another shape.", told(lambda b, f: f.edit(companion(b), lambda v: v["arrays"][b.array].update(shape=[1]))), INTEGRITY, "array '"),
    lie("checkpoint-shape-huge", "A document with a shape of 2^53 - 1.", told(lambda b, f: f.edit(companion(b), lambda v: v["arrays"][b.array].update(shape=[2**53 - 1] * 3))), INTEGRITY, "array '"),
    lie("checkpoint-components", "A document without its components.", told(lambda b, f: f.edit(companion(b), lambda v: v.update(components=[]))), INTEGRITY, "components"),
    lie("checkpoint-copied", "A checkpoint of another step.", told(copied_checkpoint), INTEGRITY, "expected step", faults=None),
    lie("checkpoint-dropped", "A checkpoint of the plan is missing.", told(dropped_checkpoint), INTEGRITY, "", faults=None),
    lie("checkpoint-start", "The checkpoint that a run resumes from is missing.", told(dropped_start), INTEGRITY, "resumes at", faults=None),
    lie("checkpoint-no-arrays", "A checkpoint without its arrays.", told(dropped_half("npz")), INTEGRITY, "missing", faults=None),
    lie("checkpoint-no-document", "A checkpoint without its document.", told(dropped_half("json")), INTEGRITY, "expected pairs", faults=None),
    lie("kept-row", "A kept row is not the log's.", in_kept(lambda b, k: k.update({b.kept: bump(k[b.kept])})), INTEGRITY, "row of step", forms=BOTH),
    lie("kept-row-more", "A kept row too many.", in_kept(lambda b, k: k.update({b.kept: np.concatenate([k[b.kept], k[b.kept][-1:]])})), INTEGRITY, "observed more"),
    lie("kept-row-less", "A kept row too few.", in_kept(lambda b, k: k.update({b.kept: k[b.kept][:-1]})), INTEGRITY, "observed none"),
    lie("kept-rows-swapped", "Two kept rows changed places.", in_kept(lambda b, k: k.update({b.kept: k[b.kept][[1, 0, *range(2, len(k[b.kept]))]]})), INTEGRITY, "row of step 1"),
    lie("kept-type", "Kept rows of another type.", in_kept(lambda b, k: k.update({b.kept: k[b.kept].astype("<f8")})), INTEGRITY, "row of step 1"),
    lie("kept-no-row", "A kept array without rows.", in_kept(lambda b, k: k.update({b.kept: k[b.kept].reshape(-1)[0]})), INTEGRITY, "rank 0"),
    lie("kept-empty", "A kept array of no row.", in_kept(lambda b, k: k.update({b.kept: k[b.kept][:0]})), INTEGRITY, "observed none"),
    lie("kept-other-name", "A kept array under another name.", in_kept(lambda b, k: k.update({"zz": k.pop(b.kept)})), INTEGRITY, "expected stages that the plan keeps", faults=None),
    lie("kept-dropped", "Kept arrays of the plan are missing.", told(lambda b, f: f.files.pop(KEPT)), INTEGRITY, "arrays: expected", faults=None),
)  # fmt: skip

CASES: tuple[Case, ...] = (*RESULT, *NOTEBOOK, *PLANS, *FILES)
