"""Two runs compared in the page: the answer of ``diff``, member by member and word by word."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from repropack._present.divergence import divergence_evidence, divergence_place
from repropack._present.text_run_difference import _summary, how_far, meeting
from repropack.diff_of_runs import diff_runs
from repropack.models.run_difference import RunDifference
from tests.support.handmade_logs import digest_of, header, log_bytes, start, step
from tests.support.in_browser import in_base64

pytestmark = pytest.mark.slow

COMPARE = """
async (pairs) => {
  const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  async function* blocks(data) { yield data; }
  const side = async (text) => {
    const log = await repropack.log.openLog(blocks(bytes(text)), "a.jsonl");
    return {header: log.header, start: log.start, steps: log.steps()};
  };
  const found = [];
  for (const [left, right] of pairs) {
    const report = await repropack.diverge.compare(await side(left), await side(right));
    const {divergencePlace, divergenceEvidence, howFar, meeting, summary} = repropack.words;
    const {divergence, counts} = report;
    const of = (value, text) => (value ? text(value) : "");
    found.push([report, summary(report), of(counts, howFar), of(counts, meeting),
      of(divergence, divergencePlace), of(divergence, divergenceEvidence)]);
  }
  return found;
}
"""
RUNS = [
    "reference",
    "independent-restart",
    "full-checkpoint",
    "reversed-reduction",
    "adam-reset",
    "sampler-reset",
]


def expected(report: RunDifference) -> list[Any]:
    """What Python says of the same two logs: members, and the words made of them."""
    whole = report.model_dump(mode="json", by_alias=True)
    kept = (
        ["verdict", "comparable", "configurations_equal", "constants", "declared"]
        if not report.comparable
        else [
            "verdict",
            "comparable",
            "configurations_equal",
            "constants",
            "declared",
            "first_step",
            "last_step",
            "start",
            "recorded_alike",
            "chains_equal",
            "divergence",
            "structure",
            "counts",
        ]
    )
    counts, divergence = report.counts, report.divergence
    return [
        {name: whole[name] for name in kept},
        _summary(report),
        how_far(counts) if counts is not None else "",
        meeting(counts) if counts is not None else "",
        divergence_place(divergence) if divergence is not None else "",
        divergence_evidence(divergence) if divergence is not None else "",
    ]


def assert_compared_alike(tool: Page, pairs: list[tuple[bytes, bytes]], folder: Path) -> list[Any]:
    found = tool.evaluate(COMPARE, [list(map(in_base64, pair)) for pair in pairs])
    answers = []
    for pair, observed in zip(pairs, found, strict=True):
        paths = [folder / name for name in ("left.jsonl", "right.jsonl")]
        for path, data in zip(paths, pair, strict=True):
            path.write_bytes(data)
        report = diff_runs(*paths)
        answer = expected(report)
        reasons = [why["reason"] for why in observed[0].pop("reasons")]
        assert reasons == [why.reason for why in report.reasons]
        assert observed == answer
        answers.append(answer)
    return answers


def test_all_pairs_of_the_labs_runs(tool: Page, lab_package: Path, tmp_path: Path) -> None:
    """Thirty-six comparisons, the six of a run with itself among them."""
    with zipfile.ZipFile(lab_package) as archive:
        logs = {run: archive.read(f"runs/{run}/fingerprints.jsonl") for run in RUNS}
    pairs = [(logs[left], logs[right]) for left in RUNS for right in RUNS]
    answers = assert_compared_alike(tool, pairs, tmp_path)
    assert [answer[0]["verdict"] for answer in answers[:6]] == [
        *["identical"] * 3,
        *["differs"] * 3,
    ]
    assert answers[3][4:] == [
        "step 1 · gradient",
        "inputs equal (contributions), output differs",
    ]
    assert answers[5][1] == (
        "They part at step 41 · batch; 60 of 60 steps differ, in 4 of 4 stages and 3 of 3 "
        "components."
    )


def line(number: int, kind: str) -> dict[str, Any]:
    """A step of which something differs, or was not recorded."""
    stages = [[name, digest_of(f"{name}{number}")] for name in ("batch", "gradient", "w")]
    state = [[name, digest_of(f"{name}{number}")] for name in ("s", "w")]
    other = digest_of("other")
    changes: dict[str, Any] = {
        "batch": {"stages": [["batch", other], *stages[1:]]},
        "gradient": {"stages": [stages[0], ["gradient", other], stages[2]]},
        "w": {"stages": [*stages[:2], ["w", other]]},
        "state": {"state": [state[0], ["w", other]]},
        "metric": {"metrics": {"loss": 2.0}},
        "float": {"metrics": {"loss": 0 if number > 1 else 1}},
        "printed": {"printed": {"loss": "x"}},
        "no-stages": {"stages": None},
        "no-state": {"state": None},
        "nothing": {"stages": None, "state": None},
        "fewer": {"stages": stages[:2]},
        "swapped": {"stages": [stages[1], stages[0], stages[2]]},
        "extra": {"stages": [*stages, ["more", other]], "declares": [["more", None]]},
        "declared": {"declares": [["w", ["gradient"]]]},
        "component": {"state": [*state, ["x", other]]},
    }
    return step(number, **changes.get(kind, {}))


KINDS = [
    "same",
    "same",
    "same",
    "batch",
    "gradient",
    "w",
    "state",
    "metric",
    "float",
    "printed",
    "no-stages",
    "no-state",
    "nothing",
    "fewer",
    "swapped",
    "extra",
    "declared",
    "component",
]


def test_logs_of_every_kind(tool: Page, tmp_path: Path) -> None:
    """Drawn logs, some of them shorter, resumed, or of another configuration and other names."""
    runs = st.builds(
        lambda kinds, first, config, finish: log_bytes(
            [
                {
                    **line(first + k, kind),
                    **({"finish": "done"} if finish and k == len(kinds) - 1 else {}),
                }
                for k, kind in enumerate(kinds)
            ],
            header(first, config=digest_of(config)),
            start(),
        ),
        st.lists(st.sampled_from(KINDS), max_size=7),
        st.sampled_from([1, 1, 1, 2, 3, 9]),
        st.sampled_from("ab"),
        st.booleans(),
    )

    @settings(max_examples=4, deadline=None)
    @given(st.lists(st.tuples(runs, runs), min_size=30, max_size=30))
    def law(pairs: list[tuple[bytes, bytes]]) -> None:
        assert_compared_alike(tool, pairs, tmp_path)

    plain = log_bytes([line(number, "same") for number in range(1, 7)])
    singles = [
        log_bytes([line(n, kind if n == 3 else "same") for n in range(1, 7)]) for kind in KINDS
    ]
    foreign = log_bytes(
        [step(1, stages=[["q", digest_of("q")]], state=[["z", digest_of("z")]])],
        header(stages=[["q", None]]),
        start(state=[["z", digest_of("z0")]]),
    )
    others = [*singles, plain[: plain[:-1].rindex(b"\n") + 1], foreign]
    assert_compared_alike(tool, [(plain, one) for one in others], tmp_path)
    assert_compared_alike(tool, [(one, plain) for one in others], tmp_path)
    law()


def test_damaged_logs_are_refused(tool: Page) -> None:
    """Cut, edited, of a later version: by the rule that is broken."""
    lines = log_bytes([line(number, "same") for number in range(1, 4)]).splitlines(keepends=True)
    head, begin, one, two, three = lines
    told = {
        "log.sequence": [head, begin, one, three],
        "json.canonical": [head, begin, one.replace(b'"step":1', b'"step": 1'), two, three],
        "log.chain": [head, begin, one, two.replace(b'"loss":0.5', b'"loss":0.6'), three],
        "log.cut": [head, begin, one, two, three[:-1]],
        "version.document": [head.replace(b"log/v1", b"log/v2"), begin],
        "log.member": [head.replace(b'"run"', b'"rum"'), begin],
        "log.name-order": [head, begin.replace(b'["s"', b'["z"')],
    }
    found = tool.evaluate(
        """async (all) => {
        const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
        async function* blocks(text) { yield bytes(text); }
        const rules = [];
        for (const text of all) {
          try {
            const log = await repropack.log.openLog(blocks(text), "a.jsonl");
            for await (const line of log.steps());
            rules.push("read");
          } catch (fault) { rules.push(fault.rule ?? String(fault)); }
        }
        return rules; }""",
        [in_base64(b"".join(given)) for given in [*told.values(), [head], lines]],
    )
    assert found == [*told, "log.cut", "read"]
