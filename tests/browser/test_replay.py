"""The lab made again in the page: every fingerprint, and what a planted change does."""

from __future__ import annotations

import base64
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from repropack._format.fingerprints import fingerprint_array
from repropack.lab.replay_lab import ReplayLab, ReplayLabConfig
from tests.support.in_browser import in_base64
from tests.unit.lab import test_replay_lab as literal

pytestmark = pytest.mark.slow

RUNS = {
    "reference": 806,
    "independent-restart": 806,
    "full-checkpoint": 486,
    "reversed-reduction": 806,
    "adam-reset": 486,
    "sampler-reset": 486,
}
"""Fingerprints of each run: two constants, three components and the chain at the start, and eight
at each step."""

MAKE = """
async ({config, seed, steps}) => {
  const {Lab, readConfig} = repropack.lab;
  const lab = await Lab.make(readConfig(config), BigInt(seed));
  const found = {constants: lab.constants(), steps: []};
  for (let step = 1; step <= steps; step += 1) {
    found.steps.push({stages: lab.step(), loss: repropack.canonical.spellFloat(lab.loss())});
  }
  return {...found, updates: lab.updates, sampler: String(lab.sampler.state),
    increment: String(lab.sampler.increment)};
}
"""
REPLAY = """
async (data) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const report = await repropack.check.checkPackage(new Blob([bytes]));
  if (!repropack.replay.isLab(report)) return null;
  const outcomes = await repropack.replay.replay(repropack.replay.fromPackage(report));
  return outcomes.map(({run, fingerprints, equal, steps, difference}) =>
    ({run, fingerprints, equal, steps, verdict: difference.verdict}));
}
"""
REPLAY_PAGE = """
async (data) => {
  const outcomes = await repropack.replay.replay(repropack.replay.fromPage(data));
  return outcomes.map(({run, fingerprints, equal, difference}) =>
    ({run, fingerprints, equal, verdict: difference.verdict, divergence: difference.divergence}));
}
"""


def page_data(package: Path) -> dict[str, Any]:
    """What the page in a package of the lab knows of its runs."""
    with zipfile.ZipFile(package) as archive:
        text = archive.read("index.html").decode("utf-8")
    found = re.search(r'<script [^>]*id="package-data"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_every_literal_of_the_lab(tool: Page) -> None:
    """Constants, the first step both ways, the last weights, losses, and the generator's state."""
    made = tool.evaluate(MAKE, {"config": {}, "seed": 7, "steps": 100})
    assert dict(made["constants"]) == literal.CONSTANTS
    assert dict(made["steps"][0]["stages"]) == literal.STEP_1_OF_THE_REFERENCE
    last = dict(made["steps"][99]["stages"])
    assert last["weights"] == literal.FINAL_ARRAYS_OF_THE_REFERENCE["weights"]
    assert last["weights"].startswith("sha256:4eb3806d")
    assert (made["steps"][0]["loss"], made["steps"][99]["loss"]) == (
        "2.9508880964883595",
        "0.0214672945992594",
    )
    assert made["updates"] == 100
    assert made["sampler"] == "320544360476052151765366930580394842622"
    assert made["increment"] == "256891960955705767649068364265550451039"
    made = tool.evaluate(MAKE, {"config": {"reduction": "reverse"}, "seed": 7, "steps": 100})
    assert dict(made["steps"][0]["stages"]) == literal.STEP_1_REVERSED
    last = dict(made["steps"][99]["stages"])
    assert last["weights"] == literal.FINAL_ARRAYS_REVERSED["weights"]
    assert made["steps"][99]["loss"] == "0.021467294219161076"


@pytest.mark.parametrize(
    ("config", "seed"),
    [
        ({"rows": 33, "features": 5, "batch_size": 8}, 2**70),
        (
            {
                "rows": 8,
                "features": 1,
                "batch_size": 8,
                "learning_rate": 3.5,
                "reduction": "reverse",
            },
            0,
        ),
        (
            {
                "rows": 17,
                "features": 3,
                "batch_size": 1,
                "epsilon": 0.0,
                "beta1": 0.0,
                "beta2": 0.5,
            },
            3,
        ),
        (
            {
                "rows": 40,
                "features": 4,
                "batch_size": 7,
                "signal_scale": 1e20,
                "noise_scale": 1e-40,
            },
            12,
        ),
        (
            {
                "rows": 9,
                "features": 2,
                "batch_size": 3,
                "initial_scale": 1e-38,
                "signal_scale": 1e-39,
            },
            5,
        ),
    ],
)
def test_other_configurations(tool: Page, config: dict[str, Any], seed: int) -> None:
    """Any seed, sizes that are no powers of two, numbers that overflow or are subnormal."""
    lab = ReplayLab(ReplayLabConfig(**config), seed)
    made = tool.evaluate(MAKE, {"config": config, "seed": str(seed), "steps": 12})
    assert dict(made["constants"]) == {
        name: fingerprint_array(name, array) for name, array in lab.constants().items()
    }

    class Seen:
        def __init__(self) -> None:
            self.stages: list[list[str]] = []
            self.losses: list[str] = []

        def record(self, name: str, array: Any, of: tuple[str, ...] | None = None) -> None:
            self.stages.append([name, fingerprint_array(name, array)])

        def metric(self, name: str, value: float) -> None:
            self.losses.append(repr(value))

    for number in range(12):
        seen = Seen()
        with np.errstate(all="ignore"):  # an overflow is an infinity in both
            lab.step(seen)
        assert made["steps"][number] == {"stages": seen.stages, "loss": seen.losses[0]}, number


def test_a_batch_is_drawn_by_whole_keys_and_in_order(tool: Page) -> None:
    """Keys that differ in their lower half alone, and equal ones, which keep the rows' order."""
    batch = tool.evaluate(
        """async () => {
        const {Lab, readConfig} = repropack.lab;
        const lab = await Lab.make(readConfig({rows: 6, batch_size: 5, features: 1}), 7n);
        const keys = [[1, 9], [1, 4294967295], [0, 5], [1, 9], [1, 0], [4294967295, 0]];
        lab.sampler = {next() { [this.high, this.low] = keys.shift(); }};
        return Array.from(lab.drawBatch()); }"""
    )
    assert batch == [2, 4, 0, 3, 1]


def test_what_is_no_configuration_is_refused(tool: Page) -> None:
    """With its reason, before anything is computed."""
    found = tool.evaluate(
        """(all) => all.map((config) => {
        try { repropack.lab.readConfig(config); return null; }
        catch (error) { return error.message; } })""",
        [
            {"rows": 5, "batch_size": 6},
            {"rows": 0},
            {"reduction": "both"},
            {"more": 1},
            {"beta1": "x"},
            {"rows": 2**20, "features": 2**10},
            {},
        ],
    )
    assert found == [
        "a batch that has more than all rows",
        "rows: expected 1 or more",
        "no such reduction",
        "the lab has no setting more",
        "beta1: expected a number",
        "a data set too large for a page",
        None,
    ]


def test_all_runs_of_the_package_come_out_again(tool: Page, lab_package: Path) -> None:
    """Stages, states, constants and every chain: 3876 fingerprints."""
    found = tool.evaluate(REPLAY, in_base64(lab_package.read_bytes()))
    assert [row["run"] for row in found] == list(RUNS)
    for row in found:
        assert row["fingerprints"] == row["equal"] == RUNS[row["run"]], row
        assert row["verdict"] == "identical"
    assert sum(RUNS.values()) == 3876


def test_the_page_in_the_package_replays_it(page: Page, lab_package: Path, tmp_path: Path) -> None:
    """The button makes all runs again, and says how many fingerprints are equal: real counts."""
    with zipfile.ZipFile(lab_package) as archive:
        archive.extract("index.html", tmp_path)
    page.goto((tmp_path / "index.html").as_uri())
    lead = page.inner_text(".panel-replay > p:first-child")
    assert "The package's logs have 475 fingerprints more" in lead  # 3,876 - 3,401
    assert "and replay the lab" in page.inner_text(".panel-lead")
    page.get_by_role("button", name="Replay all 6 runs").press("Enter")
    page.wait_for_selector(".panel-result strong")
    # of each run: 2 constants, 3 components and the chain at the start, 7 a step, the last chain;
    # the resumed run that is identical has no chain at its start in the page
    assert page.inner_text(".panel-result").startswith(
        "identical 3,401 of 3,401 fingerprints equal, in 6 runs, computed here in "
    )
    assert page.inner_text(".panel-runs li:nth-child(6)").split("\n")[-1] == (
        "427 of 427 fingerprints equal, 60 steps"
    )


@pytest.mark.parametrize(
    ("run", "place", "step", "stage", "kind"),
    [
        ("reference", 7 * 57 + 1, 58, "contributions", "output"),
        ("reversed-reduction", 3, 1, "weights", "output"),
        ("adam-reset", 7 * 59, 100, "batch", "output"),
        ("sampler-reset", 7 * 9 + 5, 50, None, "state"),
    ],
)
def test_a_planted_change_is_found(
    tool: Page, lab_package: Path, run: str, place: int, step: int, stage: str | None, kind: str
) -> None:
    """One fingerprint altered in the data: at its step and stage, and nowhere else."""
    data = page_data(lab_package)
    [row] = [row for row in data["fingerprints"]["runs"] if row["name"] == run]
    rows = bytearray(base64.b64decode(row["rows"]))
    rows[32 * place + 31] ^= 1
    row["rows"] = base64.b64encode(rows).decode()
    for found in tool.evaluate(REPLAY_PAGE, data):
        follows = run == "reference" and (found["run"], step > 40) in {
            ("independent-restart", True),
            ("full-checkpoint", True),
        }
        if found["run"] == run or follows:
            assert found["equal"] == found["fingerprints"] - 1
            divergence = found["divergence"]
            assert (divergence["step"], divergence["stage"], divergence["kind"]) == (
                step,
                stage,
                kind,
            )
        else:
            assert found["equal"] == found["fingerprints"]
            assert found["divergence"] is None
