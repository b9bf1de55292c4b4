"""Clauses 8.7.4, 8.15.1 and 8.15.2 of docs/format.md: claims, and what comes of them.

What the lab claims is computed here from its logs and arrays with NumPy and the standard library
alone, each claim by hand, and held against what its package says.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack.check import check_package
from tests.support.hostile import Forgery, take_apart

Json = Any
REFERENCE = "reference"


class Lab:
    """The lab's package by paths: documents, logs, kept rows."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as package:
            self.files = {name: package.read(name) for name in package.namelist()}
        self.plan = json.loads(self.files["plan.json"])
        self.results = json.loads(self.files["results.json"])
        self.found = {row["id"]: row for row in self.results["claims"]}

    def log(self, run: str) -> list[Json]:
        lines = self.files[f"runs/{run}/fingerprints.jsonl"].splitlines()
        return [json.loads(line) for line in lines[2:]]

    def loss(self, run: str) -> list[float]:
        return [line["metrics"]["loss"] for line in self.log(run)]

    def printed(self, run: str) -> dict[int, str]:
        return {line["step"]: line["printed"]["loss"] for line in self.log(run)}

    def weights(self, run: str) -> Any:
        """Rows of the kept weights, read without any reader of ours."""
        data = zipfile.ZipFile(io.BytesIO(self.files[f"runs/{run}/kept.npz"])).read("weights.npy")
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)

    def farthest(self, run: str) -> float:
        """The largest difference of a weight from the reference's, in float64."""
        rows = self.weights(run)
        left = self.weights(REFERENCE)[-len(rows) :].astype(np.float64)
        return float(np.abs(left - rows.astype(np.float64)).max())

    def equal_prints(self, run: str) -> int:
        reference = self.printed(REFERENCE)
        return sum(text == reference[step] for step, text in self.printed(run).items())


@pytest.fixture(scope="module")
def lab(lab_package: Path) -> Lab:
    return Lab(lab_package)


BY_HAND: dict[str, Callable[[Lab], Json]] = {
    "first-loss": lambda lab: lab.loss(REFERENCE)[0],
    "reference-loss": lambda lab: lab.loss(REFERENCE)[-1],
    "adam-loss": lambda lab: lab.loss("adam-reset")[-1],
    "loss-apart": lambda lab: lab.loss(REFERENCE)[-1] - lab.loss("reversed-reduction")[-1],
    "sampler-ends-lower": lambda lab: lab.loss("sampler-reset")[-1],
    "reversed-prints-equal": lambda lab: lab.equal_prints("reversed-reduction"),
    "adam-prints-equal": lambda lab: lab.equal_prints("adam-reset"),
    "sampler-prints-equal": lambda lab: lab.equal_prints("sampler-reset"),
    "reversed-largest": lambda lab: lab.farthest("reversed-reduction"),
    "adam-largest": lambda lab: lab.farthest("adam-reset"),
    "sampler-largest": lambda lab: lab.farthest("sampler-reset"),
    "updates": lambda lab: len(lab.log(REFERENCE)),
    "learning-rate": lambda lab: lab.plan["experiment"]["config"]["learning_rate"],
    "resume-is-exact": lambda lab: lab.log("full-checkpoint") == lab.log(REFERENCE)[40:],
}


class TestOutcomes:
    """8.15.1: what comes of evaluating a claim."""

    def test_one_row_for_each_claim_in_order(self, lab: Lab) -> None:
        """8.9: with its id and kind."""
        named = [[(row["id"], row["kind"]) for row in rows]
                 for rows in (lab.plan["claims"], lab.results["claims"])]  # fmt: skip
        assert named[0] == named[1]
        assert len(named[0]) == 40

    @pytest.mark.parametrize("name", BY_HAND)
    def test_the_value_is_what_logs_and_arrays_give(self, lab: Lab, name: str) -> None:
        """``value``: exact, and of the type that it has."""
        value, expected = lab.found[name]["value"], BY_HAND[name](lab)
        assert (value, type(value)) == (expected, type(expected))

    def test_text_sentence_expected_and_held_follow(self, lab: Lab) -> None:
        """``text`` is what the rounding rule prints, and is put into the sentence."""
        for planned in lab.plan["claims"]:
            row, rule = lab.found[planned["id"]], planned["rounding"]
            value = row["value"]
            if planned["kind"] in {"repeated-outcome", "exact-resume"}:
                text, expected = "identical" if value else "differs", "identical"
                assert row["held"] is value
            elif rule != "exact":
                text, expected = format(value, rule), planned["states"]
            else:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                expected = planned["states"]
            if planned["kind"] == "bound":
                operator = planned["expression"].split()[-2]
                limit = row["limit"]
                shown = str(limit).lower() if isinstance(limit, bool) else str(limit)
                expected = f"{operator} {shown}"
            else:
                assert row["limit"] is None
            assert (row["text"], row["expected"]) == (text, expected)
            assert row["sentence"] == planned["sentence"].replace("{value}", text)
            assert row["held"] is True

    def test_the_evidence_is_there(self, lab: Lab) -> None:
        """8.15.2: paths of entries, sorted."""
        for row in lab.results["claims"]:
            assert row["evidence"] == sorted(row["evidence"])
            assert set(row["evidence"]) <= set(lab.files)
        assert lab.found["seed"]["evidence"] == ["plan.json"]
        assert lab.found["first-loss"]["evidence"] == ["runs/reference/fingerprints.jsonl"]
        assert lab.found["reversed-largest"]["evidence"] == [
            f"runs/{run}/{name}"
            for run in ("reference", "reversed-reduction")
            for name in ("fingerprints.jsonl", "kept.npz")
        ]
        assert lab.found["updates"]["evidence"] == [
            "runs/reference/checkpoints/step-000000100.json",
            "runs/reference/fingerprints.jsonl",
        ]


def refused(forgery: Forgery, folder: Path) -> list[tuple[str, str]]:
    report = check_package(forgery.write_zip(folder / "forged.zip"))
    return [(fault.rule, fault.entry) for fault in report.faults]


class TestRefusals:
    """8.7.4, 9.5: a claim that cannot be evaluated, and results that say otherwise."""

    @pytest.mark.parametrize(
        "change",
        [
            {"expression": "import os"},
            {"expression": "max(kept[reference][gradient])"},
            {"states": None},
            {"run": "adam-reset"},
            {"sentence": "{0}"},
            {"id": "steps"},
        ],
        ids=str,
    )
    def test_a_claim_against_the_plan(
        self, lab_package: Path, tmp_path: Path, change: dict[str, Json]
    ) -> None:
        """It MUST be refused, whatever the results say."""
        forgery = take_apart(lab_package)
        forgery.edit("plan.json", lambda plan: plan["claims"][6].update(change))
        assert ("plan.claim", "plan.json") in refused(forgery, tmp_path)

    def test_a_result_that_does_not_follow(self, lab_package: Path, tmp_path: Path) -> None:
        """Here the loss after the first step."""
        forgery = take_apart(lab_package)
        forgery.edit("results.json", lambda results: results["claims"][6].update(value=2.95))
        assert refused(forgery, tmp_path) == [("results.claim", "results.json")]

    def test_a_failed_claim_is_no_damage(self, lab_package: Path, tmp_path: Path) -> None:
        """A package that says honestly that a claim fails is intact, and says which."""
        forgery = take_apart(lab_package)
        forgery.edit("plan.json", lambda plan: plan["claims"][6].update(states="2.9508"))
        forgery.recompute_results()
        report = check_package(forgery.write_zip(tmp_path / "forged.zip"))
        assert (report.verdict, report.claims_failed) == ("intact", ("first-loss",))
        assert report.expectations_failed == ()
