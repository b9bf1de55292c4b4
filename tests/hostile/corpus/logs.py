"""T9: histories that were cut, edited, repeated or begun elsewhere, with chains made right again."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from repropack._format.canonical import encode_canonical
from repropack._format.log import CHAIN_START
from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    FORMAT,
    INTEGRITY,
    LIMIT,
    NEWER,
    Case,
    Tell,
    Write,
    lie,
    rows,
    told,
)
from tests.support.hostile import Forgery, replace_row

REFERENCE = "reference"
LOG = "runs/reference/fingerprints.jsonl"
OTHER = "sha256:" + "0" * 64
RESULTS = "results.json"


def log_of(run: str) -> str:
    """Path of a run's log."""
    return f"runs/{run}/fingerprints.jsonl"


def in_bytes(change: Callable[[bytes], bytes]) -> Write:
    """Change the reference's log as bytes; its chain stays as it is."""

    def tell(base: Base, forgery: Forgery) -> None:
        before = forgery.files[LOG]
        forgery.files[LOG] = change(before)
        assert forgery.files[LOG] != before, "the lie was not told"

    return told(tell)


def in_lines(change: Callable[[list[bytes]], list[bytes]]) -> Write:
    """Change the reference's lines and leave their chain alone."""
    return in_bytes(lambda data: b"".join(change(data.splitlines(keepends=True))))


def line(number: int, change: Callable[[bytes], bytes]) -> Write:
    """Change one line's bytes, counted from 0: the header, the start line, step 1."""

    def alter(lines: list[bytes]) -> list[bytes]:
        return [change(raw) if k == number else raw for k, raw in enumerate(lines)]

    return in_lines(alter)


def chained(change: Callable[[Base, Any], object], *, step: int = 3, results: bool = True) -> Write:
    """Change a step, 0 for the last, in the reference and its twin; chains and results anew."""

    def tell(base: Base, forgery: Forgery) -> None:
        for run in (REFERENCE, base.resumed):
            log = forgery.log(run)
            number = step or base.steps
            if number >= log.header["first_step"]:
                change(base, log.step(number))
                forgery.put_log(run, log)
        forgery.rechain_all()
        if results:
            forgery.recompute_results()

    return told(tell)


def header(change: Callable[[Base, Any], object], run: str = REFERENCE) -> Write:
    """Change a header, which no chain covers."""

    def tell(base: Base, forgery: Forgery) -> None:
        log = forgery.log(run)
        change(base, log.header)
        forgery.put_log(run, log)

    return told(tell)


def start(change: Callable[[Base, Any], object], run: str = REFERENCE) -> Write:
    """Change a start line and leave the chain behind it alone."""

    def tell(base: Base, forgery: Forgery) -> None:
        log = forgery.log(run)
        change(base, log.start)
        forgery.put_log(run, log)

    return told(tell)


def on_run(attribute: str, change: Callable[[Base, Forgery, Any], object]) -> Tell:
    """Change the log of one of the comparisons, by what it is."""

    def tell(base: Base, forgery: Forgery) -> None:
        run = getattr(base, attribute)
        log = forgery.log(run)
        change(base, forgery, log)
        forgery.put_log(run, log)

    return tell


def cut_steps(base: Base, forgery: Forgery, log: Any) -> None:
    """End a comparison early, its last files with it."""
    run = log.header["run"]
    del log.steps[-1]
    for path in list(forgery.files):
        if path.startswith(f"runs/{run}/checkpoints/step-{base.steps:09d}"):
            del forgery.files[path]
    if f"runs/{run}/kept.npz" in forgery.files:
        forgery.edit_kept(run, lambda kept: kept.update({k: v[:-1] for k, v in kept.items()}))


def cut_reference(base: Base, forgery: Forgery) -> None:
    """Every run ends one step early, and nothing else contradicts it but the plan."""
    for run in (REFERENCE, base.resumed, base.reset, base.fresh):
        log = forgery.log(run)
        cut_steps(base, forgery, log)
        forgery.put_log(run, log)
    forgery.rechain_all()


def swapped(base: Base, forgery: Forgery) -> None:
    """Two steps change places, numbers and chains made right."""
    log = forgery.log()
    first, second = log.step(1), log.step(2)
    for member in ("stages", "state", "metrics", "printed"):
        first[member], second[member] = second[member], first[member]
    forgery.put_log(REFERENCE, log)
    forgery.rechain_all()


def another_run(base: Base, forgery: Forgery) -> None:
    """The log of another run in the reference's place."""
    forgery.files[LOG] = forgery.files[log_of(base.fresh)]


def begun_elsewhere(base: Base, forgery: Forgery) -> None:
    forgery.rechain_all(start=OTHER)
    forgery.recompute_results()


def resumed_afresh(base: Base, forgery: Forgery) -> None:
    """A resumed run whose chain begins as if nothing had been before it."""
    forgery.rechain(base.reset, forgery.log(base.reset), CHAIN_START)
    forgery.recompute_results()


def no_steps(base: Base, forgery: Forgery) -> None:
    """A run that claims to begin where no log could ever end."""
    log = forgery.log(base.reset)
    log.header["first_step"], log.steps = 2**53 - 1, []
    forgery.put_log(base.reset, log)
    for path in list(forgery.files):
        if path.startswith(f"runs/{base.reset}/") and not path.endswith(".jsonl"):
            del forgery.files[path]


def step_chained(number: Any, *, step: int = 3) -> Write:
    """Give a step another number, chain anew."""
    return chained(lambda b, one: one.update(step=number), step=step, results=False)


def long_line(base: Base, one: Any) -> None:
    one["metrics"] = {f"m{k:06d}": 0.5 for k in range(90_000)}


def finish_early(base: Base, forgery: Forgery) -> None:
    """The reference says that it ended at a step, and goes on."""
    for run in (REFERENCE, base.resumed):
        log = forgery.log(run)
        for one in log.steps:
            if one["step"] == base.steps - 1:
                one["finish"] = "done"
        forgery.put_log(run, log)
    forgery.rechain_all()


def forget_stages(base: Base, forgery: Forgery) -> None:
    """A step has no stages, and its kept rows are gone with them."""
    log = forgery.log()
    del log.step(3)["stages"]
    forgery.put_log(REFERENCE, log)
    forgery.rechain_all()
    forgery.edit_kept(
        REFERENCE, lambda kept: kept.update({k: np.delete(v, 2, 0) for k, v in kept.items()})
    )


def move_metric(base: Base, forgery: Forgery) -> None:
    for run in (REFERENCE, base.resumed):
        log = forgery.log(run)
        value = log.steps[-1]["metrics"][base.metric]
        log.steps[-1]["metrics"][base.metric] = (
            value + 1 if isinstance(value, int) else value * (1 + 2e-16)
        )
        forgery.put_log(run, log)
    forgery.rechain_all()
    forgery.edit(RESULTS, lambda v: v["reference"].update(chain=forgery.log().steps[-1]["chain"]))


def declare_again(base: Base, forgery: Forgery) -> None:
    log = forgery.log()
    log.step(3)["declares"] = [log.header["stages"][0]]
    forgery.put_log(REFERENCE, log)
    forgery.rechain_all()


def write_long(base: Base, forgery: Forgery) -> None:
    """A line that no writer makes: chained by hand, for the writer refuses it."""
    lines = forgery.files[LOG].splitlines(keepends=True)
    log = forgery.log()
    long_line(base, log.step(3))
    lines[4] = encode_canonical(log.step(3))
    forgery.files[LOG] = b"".join(lines)


def half(text: bytes) -> bytes:
    return text[: len(text) // 2]


BYTES = rows(
    "T9",
    "log",
    lie("torn", "The last line was not written to its end.", in_lines(lambda x: [*x[:-1], half(x[-1])]), FORMAT, "cut line", forms=BOTH),
    lie("no-newline", "The last line lacks its end.", in_bytes(lambda d: d[:-1]), FORMAT, "cut line"),
    lie("zeros", "The last line never reached the disk.", in_lines(lambda x: [*x[:-1], bytes(len(x[-1]))]), FORMAT, "cut line"),
    lie("zero-page", "A page of zeros in the middle.", line(4, lambda d: bytes(len(d) - 1) + b"\n"), FORMAT, "strict JSON"),
    lie("last-line", "The last line is missing.", in_lines(lambda x: x[:-1]), INTEGRITY, "of the log", faults=None),
    lie("line", "A line in the middle is missing.", in_lines(lambda x: x[:4] + x[5:]), FORMAT, "expected step 3, observed step 4"),
    lie("repeated", "A line comes twice.", in_lines(lambda x: [*x[:5], x[4], *x[5:]]), FORMAT, "expected step 4, observed step 3"),
    lie("swapped", "Two lines changed places.", in_lines(lambda x: [*x[:3], x[4], x[3], *x[5:]]), FORMAT, "expected step 2, observed step 3"),
    lie("edited", "A line was edited.", line(4, lambda d: d.replace(b'"metrics":{', b'"metrics":{"aa":1,')), FORMAT, "the chain is broken here"),
    lie("chain", "A line has another chain.", line(4, lambda d: d[:17] + OTHER[7:].encode() + d[81:]), FORMAT, "the chain is broken here"),
    lie("chain-capitals", "A chain in capitals.", line(4, lambda d: d[:17] + d[17:81].upper() + d[81:]), FORMAT, "line 5"),
    lie("chain-last", "The chain is not the first member.", line(4, lambda d: b"{" + d[83:-2] + b"," + d[1:82] + b"}\n"), FORMAT, "canonical"),
    lie("empty", "A log of nothing.", in_bytes(lambda d: b""), FORMAT, "a header"),
    lie("newline", "A log of a line end.", in_bytes(lambda d: b"\n"), FORMAT, "strict JSON"),
    lie("header-alone", "A log of a header.", in_lines(lambda x: x[:1]), FORMAT, "a start line"),
    lie("no-header", "A log without its header.", in_lines(lambda x: x[1:]), FORMAT, "line 1"),
    lie("no-start", "A log without its start line.", in_lines(lambda x: [x[0], *x[2:]]), FORMAT, "line 2"),
    lie("header-twice", "A log with two headers.", in_lines(lambda x: [x[0], *x]), FORMAT, "line 2"),
    lie("header-later", "A second history behind the first.", in_lines(lambda x: x + x), FORMAT, "chain"),
    lie("blank-line", "A line of nothing.", in_lines(lambda x: [*x[:3], b"\n", *x[3:]]), FORMAT, "strict JSON"),
    lie("blank-last", "A line of nothing at the end.", in_bytes(lambda d: d + b"\n"), FORMAT, "strict JSON"),
    lie("return", "The line ends of another system.", in_bytes(lambda d: d.replace(b"\n", b"\r\n")), FORMAT, "canonical"),
    lie("return-alone", "Line ends that are none.", in_bytes(lambda d: d.replace(b"\n", b"\r")), FORMAT, "cut line"),
    lie("byte-order-mark", "A byte order mark in front.", in_bytes(lambda d: b"\xef\xbb\xbf" + d), FORMAT, "byte order mark"),
    lie("utf-16", "A log in UTF-16.", in_bytes(lambda d: d.decode().encode("utf-16-le")), FORMAT, "line 1"),
    lie("array", "A log that is a list of lines.", in_lines(lambda x: [b"[" + b",".join(one[:-1] for one in x) + b"]\n"]), FORMAT, "line 1"),
    lie("two-in-a-line", "Two steps in a line.", in_lines(lambda x: [*x[:3], x[3][:-1] + x[4], *x[5:]]), FORMAT, "strict JSON"),
    lie("key-twice", "A member comes twice.", line(4, lambda d: d.replace(b'"step":3', b'"step":3,"step":3')), FORMAT, "twice"),
    lie("nan", "A metric that JSON lacks.", line(4, lambda d: d.replace(b'"metrics":{', b'"metrics":{"aa":NaN,')), FORMAT, "NaN"),
    lie("blank", "A blank behind a comma.", line(4, lambda d: d.replace(b'","metrics"', b'", "metrics"')), FORMAT, "canonical"),
    lie("null-line", "A line that is null.", line(4, lambda d: b"null\n"), FORMAT, "line 5"),
    lie("binary", "A line of noise.", line(4, lambda d: bytes(range(11, 256)) + b"\n"), FORMAT, "expected UTF-8"),
    lie("long-line", "A line longer than is allowed.", line(4, lambda d: b'"' + b"a" * 2**20 + b'"\n'), LIMIT, "max_log_line_bytes"),
    lie("endless-line", "A line of eight megabytes without an end.", in_bytes(lambda d: b"{" * 2**23), LIMIT, "max_log_line_bytes"),
    lie("deep-line", "A line deeper than is allowed.", line(4, lambda d: b"[" * 9_000 + b"\n"), LIMIT, "max_json_depth"),
)  # fmt: skip

CHAINED = rows(
    "T9",
    "history",
    lie("step-zero", "A step is numbered 0.", step_chained(0), FORMAT, "expected step 3, observed step 0", faults=None),
    lie("step-next", "A step is numbered like the next.", step_chained(4), FORMAT, "expected step 3, observed step 4", faults=None),
    lie("step-negative", "A step is numbered below 0.", step_chained(-3), FORMAT, "step", faults=None),
    lie("step-float", "A step is numbered with a point.", step_chained(3.0), FORMAT, "step", faults=None),
    lie("step-true", "A step is numbered true.", step_chained(True, step=1), FORMAT, "step", faults=None),
    lie("step-text", "A step is numbered in text.", step_chained("3"), FORMAT, "step", faults=None),
    lie("steps-swapped", "Two steps changed places, numbers and chain made right.", told(swapped), INTEGRITY, "row of step 1", faults=None),
    lie("cut", "Every run ends a step early.", told(cut_reference), INTEGRITY, "steps, observed", faults=None),
    lie("cut-comparison", "A comparison ends a step early.", told(on_run("reset", cut_steps)), INTEGRITY, "steps, observed", faults=None),
    lie("finish-and-on", "A run goes on behind its end.", told(finish_early), FORMAT, "expected no line after finish", faults=None),
    lie("finish-empty", "A run ends for a reason of no letter.", chained(lambda b, one: one.update(finish=""), step=0, results=False), FORMAT, "finish", faults=None),
    lie("finish-long", "A run ends for a reason of a page.", chained(lambda b, one: one.update(finish="x" * 401), step=0, results=False), FORMAT, "finish", faults=None),
    lie("begun-elsewhere", "The chain begins with another digest.", told(begun_elsewhere), INTEGRITY, "chain at the start", faults=None),
    lie("resumed-afresh", "A resumed run begins its own chain.", told(resumed_afresh), INTEGRITY, "chain at the start", faults=None),
    lie("begins-nowhere", "A run of no step that begins behind all others.", told(no_steps), INTEGRITY, "first step", faults=None),
    lie("another-run", "The log of another run in the reference's place.", told(another_run), INTEGRITY, "run: expected 'reference'", faults=None),
    lie("member", "A step with a member that nobody knows.", chained(lambda b, one: one.update(clock=1), results=False), FORMAT, "clock", faults=None),
    lie("null", "A member that was not recorded is null.", chained(lambda b, one: one.update(declares=None), results=False), FORMAT, "observed null", faults=None),
    lie("metrics-missing", "A step without its metrics.", chained(lambda b, one: one.pop("metrics"), results=False), FORMAT, "metrics", faults=None),
    lie("metric-text", "A metric that is text.", chained(lambda b, one: one["metrics"].update({b.metric: "low"}), results=False), FORMAT, "metrics", faults=None),
    lie("metric-true", "A metric that is true.", chained(lambda b, one: one["metrics"].update({b.metric: True}), results=False), FORMAT, "metrics", faults=None),
    lie("metric-mark", "A metric in a spelling that numbers lack.", chained(lambda b, one: one["metrics"].update({b.metric: {"$float": "NaN"}}), results=False), FORMAT, "expected a number", faults=None),
    lie("metric-name", "A metric that clears the screen.", chained(lambda b, one: one["metrics"].update({"\x1b[2J": 1}), results=False), FORMAT, "metrics", faults=None),
    lie("metric-gone", "A metric that other steps have is gone.", chained(lambda b, one: one["printed"].update({b.printed: "0.0"}) or one["metrics"].pop(b.printed)), INTEGRITY, "expected to be printed as", faults=None),
    lie("metric-moved", "A metric moves by the smallest float.", told(move_metric), INTEGRITY, "final_metrics", faults=None),
    lie("printed", "A metric was printed otherwise.", chained(lambda b, one: one["printed"].update({b.printed: "0.1"})), INTEGRITY, "expected to be printed as", faults=None),
    lie("printed-more", "A metric was printed that the plan does not print.", chained(lambda b, one: one["printed"].update({"other": "1"})), INTEGRITY, "metric '", faults=None),
    lie("printed-control", "A print that clears the screen.", chained(lambda b, one: one["printed"].update({b.printed: "\x1b[2J"})), INTEGRITY, "expected to be printed as", faults=None),
    lie("printed-long", "A print of a kilobyte.", chained(lambda b, one: one["printed"].update({b.printed: "0" * 1000}), results=False), FORMAT, "printed", faults=None),
    lie("stage-twice", "A stage comes twice in a step.", chained(lambda b, one: one["stages"].append(one["stages"][0]), results=False), FORMAT, "each name once", faults=None),
    lie("stage-more", "A stage that nothing declares.", chained(lambda b, one: one["stages"].append(["zz", OTHER])), INTEGRITY, "expected a declaration", faults=None),
    lie("stage-less", "The last stage of a step is gone.", chained(lambda b, one: one["stages"].pop()), INTEGRITY, "", faults=None),
    lie("stage-order", "Two stages changed places.", chained(lambda b, one: one["stages"].reverse()), INTEGRITY, "expected to be made of earlier stages", faults=None),
    lie("stage-digest", "A stage with a digest that is none.", chained(lambda b, one: replace_row(one["stages"], b.stage, "sha256:1"), results=False), FORMAT, "stages", faults=None),
    lie("stage-kept", "A kept stage has another fingerprint.", chained(lambda b, one: replace_row(one["stages"], b.kept, OTHER)), INTEGRITY, "row of step 3", faults=None),
    lie("stage-name", "A stage named like a path.", chained(lambda b, one: one["stages"].append(["../x", OTHER]), results=False), FORMAT, "stages", faults=None),
    lie("stages-forgotten", "A step without stages.", told(forget_stages), INTEGRITY, "stages of step 3", faults=None),
    lie("state-forgotten", "A step without its state.", chained(lambda b, one: one.pop("state")), INTEGRITY, "state of step 3: expected them", faults=None),
    lie("state-checkpoint", "A state is not the checkpoint's.", chained(lambda b, one: replace_row(one["state"], b.component, OTHER), step=2), INTEGRITY, "after step 2", faults=None),
    lie("state-order", "Components in another order.", chained(lambda b, one: one["state"].reverse(), results=False), FORMAT, "names sorted", faults=None),
    lie("state-twice", "A component comes twice.", chained(lambda b, one: one["state"].append(one["state"][-1]), results=False), FORMAT, "each name once", faults=None),
    lie("stage-again", "A stage comes a third time, and not a second.", chained(lambda b, one: (one["stages"].append([b.stage + "#3", OTHER]), one.update(declares=[[b.stage + "#3", None]])), results=False), FORMAT, "#2'", faults=None),
    lie("stage-once", "A stage comes a first time by number.", chained(lambda b, one: (one["stages"].append(["zz#1", OTHER]), one.update(declares=[["zz#1", None]])), results=False), FORMAT, "zz#1", faults=None),
    lie("metric-again", "A metric comes a third time, and not a second.", chained(lambda b, one: one["metrics"].update({b.metric + "#3": 1}), results=False), FORMAT, "#2'", faults=None),
    lie("state-dot", "A component with a dot.", chained(lambda b, one: one["state"].append(["zz.zz", OTHER]), results=False), FORMAT, "without a dot", faults=None),
    lie("declares-order", "Two declarations changed places.", chained(lambda b, one: (one["stages"].extend([["yy", OTHER], ["zz", OTHER]]), one.update(declares=[["zz", None], ["yy", None]]))), INTEGRITY, "order", faults=None),
    lie("declares-ghost", "A stage is made of a component that is not there.", chained(lambda b, one: (one["stages"].append(["zz", OTHER]), one.update(declares=[["zz", ["state:ghost"]]]))), INTEGRITY, "state:ghost", faults=None),
    lie("declares-escape", "A stage is made of what colours a terminal.", chained(lambda b, one: (one["stages"].append(["zz", OTHER]), one.update(declares=[["zz", ["state:\x1b[31m"]]]))), INTEGRITY, "the state before", faults=None),
    lie("declares-none", "A step declares nothing.", chained(lambda b, one: one.update(declares=[]), results=False), FORMAT, "declares", faults=None),
    lie("declares-again", "A step declares what the header has.", told(declare_again), INTEGRITY, "expected only what the header lacks", faults=None),
    lie("declares-later", "A stage is made of a later one.", chained(lambda b, one: one.update(declares=[[one["stages"][0][0], [one["stages"][-1][0]]]])), INTEGRITY, "earlier stages", faults=None),
    lie("long-line", "A step of ninety thousand metrics.", told(write_long), LIMIT, "max_log_line_bytes", faults=None),
)  # fmt: skip

HEADS = rows(
    "T9",
    "log-head",
    lie("run", "A header names another run.", header(lambda b, h: h.update(run=b.fresh)), INTEGRITY, "run: expected 'reference'"),
    lie("run-path", "A header names a path.", header(lambda b, h: h.update(run="../x")), FORMAT, "run"),
    lie("schema", "A header of another document.", header(lambda b, h: h.update(schema="repropack/plan/v1")), FORMAT, "schema"),
    lie("newer", "A header of a later version.", header(lambda b, h: h.update(schema="repropack/fingerprint-log/v2")), NEWER, "fingerprint-log/v2"),
    lie("config", "A header of another configuration.", header(lambda b, h: h.update(config=OTHER)), INTEGRITY, "configuration"),
    lie("first-step", "A header that begins at step 2.", header(lambda b, h: h.update(first_step=2)), FORMAT, "expected step 2, observed step 1", faults=None),
    lie("first-step-zero", "A header that begins at step 0.", header(lambda b, h: h.update(first_step=0)), FORMAT, "first_step"),
    lie("first-step-huge", "A header that begins near the last integer.", header(lambda b, h: h.update(first_step=2**53 - 1)), FORMAT, "expected step", faults=None),
    lie("constants-order", "Constants in another order.", header(lambda b, h: h.update(constants=[["b", OTHER], ["a", OTHER]])), FORMAT, "names sorted"),
    lie("constants-more", "A constant that no other run has.", header(lambda b, h: h["constants"].append(["zz", OTHER])), INTEGRITY, "constants", faults=None),
    lie("stages-more", "A header declares a stage that is not run.", header(lambda b, h: h["stages"].append(["zz", None])), INTEGRITY, "header: expected the stages", faults=None),
    lie("stages-less", "A header does not declare a stage.", header(lambda b, h: h["stages"].pop()), INTEGRITY, "expected a declaration", faults=None),
    lie("stages-twice", "A header declares a stage twice.", header(lambda b, h: h["stages"].append(h["stages"][0])), FORMAT, "each name once"),
    lie("stages-of-themselves", "A stage is made of itself.", header(lambda b, h: h["stages"][0].__setitem__(1, [h["stages"][0][0]])), INTEGRITY, "earlier stages", faults=None),
    lie("member", "A header with a host name.", header(lambda b, h: h.update(host="laptop")), FORMAT, "host"),
    lie("start-chain", "A start line with another chain.", start(lambda b, s: s.update(chain=OTHER)), FORMAT, "the chain is broken here", faults=None),
    lie("start-chain-form", "A start line with a chain that is none.", start(lambda b, s: s.update(chain="sha256:0")), FORMAT, "chain"),
    lie("start-state", "A start line with another state.", start(lambda b, s: replace_row(s["state"], b.component, OTHER)), INTEGRITY, "after step 0", faults=None),
    lie("start-component", "A start line with a component more.", start(lambda b, s: s["state"].append(["zz", OTHER])), INTEGRITY, "component 'zz' after step 0", faults=None),
    lie("start-member", "A start line with a member more.", start(lambda b, s: s.update(restored=True)), FORMAT, "restored"),
    lie("resumed-state", "A resumed run starts with another state.", told(on_run("resumed", lambda b, f, log: replace_row(log.start["state"], b.component, OTHER))), INTEGRITY, "at the start", faults=None),
    lie("resumed-stages", "A resumed run declares other stages.", told(on_run("resumed", lambda b, f, log: log.header["stages"][0].__setitem__(1, None))), INTEGRITY, "stages that the reference's declares", faults=None),
    lie("resumed-first", "A resumed run begins a step later than it does.", told(on_run("resumed", lambda b, f, log: log.header.update(first_step=b.start + 2))), FORMAT, "expected step", faults=None),
    lie("not-reset", "A component that was to be reset is not.", told(on_run("reset", lambda b, f, log: log.start.update(state=f.log().step(log.header["first_step"] - 1)["state"]))), INTEGRITY, "", faults=None),
)  # fmt: skip


CASES: tuple[Case, ...] = (*BYTES, *CHAINED, *HEADS)
