"""What of a verification goes into a record, what does not, and which records are none."""

from __future__ import annotations

import json

import pytest

from repropack._compare.machines import machine_facts
from repropack.models.reports import Fault, RenderedVerification
from repropack.models.results import Split
from repropack.models.statements import FirstDifference
from tests.support.environments import RECORD
from tests.support.records import (
    MACHINE,
    NOTEBOOK,
    differing,
    partial,
    record,
    result,
    unanswered,
    verification,
)

INTACT, EXECUTED, REPLAY, HELD, NOTES, CLAIMS = (
    "REPROPACK_PACKAGE_INTACT",
    "REPROPACK_EXECUTED_RUNS_IDENTICAL",
    "REPROPACK_REPLAY_IDENTICAL",
    "REPROPACK_EXPECTATIONS_HELD",
    "REPROPACK_NOTEBOOK_IDENTICAL",
    "REPROPACK_CLAIMS_HELD",
)
DAMAGED = verification(
    verdict="damaged",
    runs=(),
    claims=(),
    recorded_runs=(),
    machine=None,
    faults=(
        Fault(
            code="package.integrity",
            rule="digest.entry",
            entry="source/secret-name.py",
            problem="digest differs",
            expected="a",
            observed="b",
        ),
    ),
)
NO_ANSWER = unanswered()


def test_a_machine_in_a_few_words() -> None:
    """Vendor, model, family, system, library versions; the BLAS that was loaded."""
    assert machine_facts(RECORD).model_dump() | {"repropack": "0.1.0"} == MACHINE.model_dump()
    without = RECORD.model_copy(update={"thread_pools": ()})
    assert machine_facts(without).blas == "scipy-openblas 0.3.27"


@pytest.mark.parametrize(
    ("report", "properties"),
    [
        (verification(), [INTACT, EXECUTED, REPLAY, HELD, CLAIMS]),
        (verification(notebook=NOTEBOOK), [INTACT, EXECUTED, REPLAY, NOTES, HELD, CLAIMS]),
        (verification(expectations_failed=("x",)), [INTACT, EXECUTED, REPLAY, CLAIMS]),
        (partial(), [INTACT, EXECUTED, HELD]),
        (differing(), [INTACT]),
        (DAMAGED, []),
        (NO_ANSWER, []),
    ],
)
def test_properties_are_what_was_shown(report: object, properties: list[str]) -> None:
    """Where it differs, intactness alone; where there is no answer, nothing."""
    found = result(report)  # type: ignore[arg-type]
    assert list(found.properties) == properties


def test_no_path_name_or_message_gets_out() -> None:
    """Neither of the package's place, nor of an error, nor of an entry."""
    for report in (verification(), differing(), DAMAGED, NO_ANSWER):
        text = record(report)
        for word in (b"ann", b"home", b"private", b"secret", b"no confinement"):
            assert word not in text
    assert result(DAMAGED).repropack.rules == ("digest.entry",)
    assert result(NO_ANSWER).repropack.problem == "run.no-confinement"


def test_the_frame_is_a_simple_verification_result() -> None:
    """Its four required fields, and one extension."""
    value = json.loads(record())
    assert sorted(value) == ["_type", "predicate", "predicateType", "subject"]
    assert value["predicateType"] == "https://in-toto.io/attestation/svr/v0.2"
    predicate = value["predicate"]
    assert sorted(predicate) == ["properties", "repropack", "timeCreated", "verifier"]
    assert predicate["timeCreated"] == "2026-11-30T12:00:00Z"
    assert predicate["verifier"] == {"id": "urn:repropack:verify:0.1.0", "policies": []}
    assert predicate["repropack"]["coverage"] == {
        "complete": True,
        "narrowed": False,
        "notebook": "not-executed",
        "runs_executed": 6,
        "runs_recorded": 6,
    }


def test_coverage_counts_recorded_runs_alone() -> None:
    """A resume that was added does not stand in for one that is missing."""
    added = partial().runs[0].model_copy(update={"run": "added"})
    coverage = result(partial(runs=(*partial().runs, added))).repropack.coverage
    assert (coverage.runs_executed, coverage.complete, coverage.narrowed) == (1, False, True)


def test_the_first_difference_is_named() -> None:
    """Run, step and stage; or what beside the runs differs."""
    assert result(differing()).repropack.first_difference == FirstDifference(
        run="reference", step=1, stage="gradient", kind="output"
    )
    figures = RenderedVerification(paths=Split(differing=("figures/a.svg",)))
    beside = result(verification(verdict="differs", figures=figures)).repropack
    assert beside.first_difference == FirstDifference(part="figures")
    notebook = NOTEBOOK.model_copy(update={"differences": ("cell 1",)})
    told = result(verification(verdict="differs", notebook=notebook)).repropack
    assert told.first_difference == FirstDifference(part="notebook")
    assert result(verification(verdict="differs")).repropack.first_difference == FirstDifference(
        part="after"
    )
