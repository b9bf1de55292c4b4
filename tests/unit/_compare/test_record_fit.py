"""Which records no verification wrote: each lie with what was expected and observed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from repropack._compare.record_fit import PackageFacts, contradiction, misfit, places_named
from repropack._format.statements import read_statement
from repropack.models.claims import RecordedClaim
from repropack.models.reports import Fault, NotebookVerification, VerificationReport
from repropack.models.statements import FirstDifference, StatementOfRecord
from tests.support.records import (
    CLAIMS,
    MACHINE,
    NOTEBOOK,
    RUNS,
    differing,
    partial,
    record,
    run,
    unanswered,
    verification,
)
from tests.support.reports import EVIDENCE_DIGEST, PACKAGE_DIGEST

LAB = PackageFacts(
    package_digest=PACKAGE_DIGEST,
    archive_digest="sha256:" + "01" * 32,
    name="replay-lab",
    version="1.0.0",
    evidence_digest=EVIDENCE_DIGEST,
    runs={name: run(name).claim for name in RUNS},
    claims=CLAIMS,
    parts=frozenset({"run", "notebook", "figures"}),
    stages={("reference", step): frozenset({"batch", "gradient"}) for step in range(1, 101)},
)
ADDED = replace(LAB, added="resume-at-20")
FAULT = Fault(code="c", rule="digest.entry", entry="e", problem="p", expected="a", observed="b")
DAMAGED = verification(verdict="damaged", runs=(), claims=(), machine=None, faults=(FAULT,))
BEYOND = FirstDifference(run="reference", step=101, kind="length")


def statement(
    report: VerificationReport | None = None, /, moment: str | None = None, **changes: Any
) -> StatementOfRecord:
    """A record, and what a liar changes of what it says of itself."""
    honest = read_statement(StatementOfRecord, record(report))
    result = honest.predicate
    inner = result.repropack
    coverage = inner.coverage.model_copy(update=changes.pop("coverage", {}))
    inner = inner.model_copy(update=changes | {"coverage": coverage})
    told = {"repropack": inner, "time_created": moment or result.time_created}
    return honest.model_copy(update={"predicate": result.model_copy(update=told)})


@pytest.mark.parametrize(
    "report",
    [
        verification(),
        verification(notebook=NOTEBOOK),
        partial(),
        differing(),
        differing(notebook=NOTEBOOK.model_copy(update={"differences": ("cell 1",)})),
        verification(
            verdict="differs",
            notebook=NotebookVerification(executed=False, differences=("cell 1",)),
        ),
        unanswered(),
        unanswered(recorded_runs=()),
        unanswered(runs=(run("reference"),), machine=verification().machine),
        DAMAGED,
    ],
)
def test_an_honest_record_fits(report: VerificationReport) -> None:
    """Whatever the verdict, and however far the verification came."""
    told = statement(report)
    assert contradiction(told) is None
    assert misfit(told, LAB) is None


@pytest.mark.parametrize(
    ("report", "changes", "said"),
    [
        (None, {"moment": "2026-13-01T00:00:00Z"}, "timeCreated: expected a moment in UTC"),
        (None, {"moment": "2026-02-29T00:00:00Z"}, "observed 2026-02-29T00:00:00Z"),
        (None, {"moment": "2026-04-00T00:00:00Z"}, "timeCreated"),
        (None, {"moment": "2026-04-30T24:00:00Z"}, "timeCreated"),
        (None, {"moment": "2026-04-30T23:60:00Z"}, "timeCreated"),
        (None, {"moment": "2026-04-30T23:59:60Z"}, "timeCreated"),
        (None, {"moment": "1969-12-31T23:59:59Z"}, "timeCreated"),
        (None, {"name": None}, "package: expected name, version and evidence digest"),
        (None, {"verdict": "differs"}, "properties: expected the properties that follow"),
        (None, {"coverage": {"runs_recorded": 7}}, "expected numbers that add up"),
        (
            differing(),
            {"coverage": {"runs_executed": 5, "complete": False}},
            "every run, for none was",
        ),
        (differing(), {"coverage": {"runs_executed": 4, "complete": False}}, "numbers that add up"),
        (None, {"coverage": {"runs_executed": 7}}, "expected numbers that add up"),
        (partial(), {"coverage": {"narrowed": False}}, "coverage: expected every run"),
        (partial(runs=(run("reference"), run("added"))), {}, "numbers that add up"),
        (partial(), {"runs": ()}, "expected numbers that add up"),
        (
            partial(),
            {"runs": (run("reference"),) * 2, "coverage": {"runs_executed": 2}},
            "runs: expected each once, observed 'reference' again",
        ),
        (None, {"claims": (RecordedClaim(id="steps", held=True),) * 2}, "claims: expected each"),
        (None, {"first_difference": FirstDifference()}, "identical: expected no first difference"),
        (None, {"problem": "run.limit"}, "verdict identical: expected no problem, observed one"),
        (None, {"rules": ("digest.entry",)}, "verdict identical: expected no broken rule"),
        (None, {"coverage": {"notebook": "differs"}}, "observed a notebook that does"),
        (unanswered(), {"problem": None}, "verdict could-not-run: expected a problem"),
        (DAMAGED, {"rules": ()}, "verdict damaged: expected a broken rule, observed none"),
        (differing(), {"first_difference": None}, "differs: expected a first difference"),
        (None, {"runs": "unequal"}, "expected runs, all of them equal, observed others"),
        (None, {"machine": None}, "runs: expected the machine that they ran with"),
        (None, {"confinement": None}, "runs: expected the confinement"),
        (None, {"environment": None}, "runs: expected the environment"),
        (None, {"runs": "repeats"}, "run 'reference': expected repeats null"),
        (differing(), {"runs": "unknown"}, "expected whether it repeats"),
        (
            differing(),
            {"first_difference": FirstDifference(run="adam-reset")},
            "first_difference: expected run 'reference', observed run adam-reset",
        ),
        (
            differing(),
            {"first_difference": FirstDifference(part="figures")},
            "expected run 'reference', observed figures",
        ),
        (
            differing(),
            {"first_difference": FirstDifference(run="reference", step=1)},
            "expected a step from 1 on with its kind",
        ),
        (
            differing(),
            {"first_difference": FirstDifference(run="reference", step=0, kind="output")},
            "expected a step from 1 on with its kind",
        ),
        (
            differing(),
            {"first_difference": BEYOND.model_copy(update={"stage": "gradient"})},
            "expected no stage, for its kind is length, observed gradient",
        ),
        (
            verification(verdict="differs"),
            {"first_difference": FirstDifference(part="notebook")},
            "expected a notebook that differs, observed not-executed",
        ),
        (
            partial(verdict="differs"),
            {"first_difference": FirstDifference(part="figures")},
            "expected none beside the runs",
        ),
        (
            differing(),
            {"first_difference": FirstDifference(run="reference", step=1, kind="output")},
            "expected a stage, for its kind is output",
        ),
        (
            verification(machine=MACHINE.model_copy(update={"repropack": "77"})),
            {},
            "verifier.id: expected urn:repropack:verify:77, observed urn:repropack:verify:0.1.0",
        ),
    ],
)
def test_a_record_that_contradicts_itself_is_none(
    report: VerificationReport | None, changes: dict[str, Any], said: str
) -> None:
    """Moment, verdict, runs, numbers, properties and first difference follow from each other."""
    honest = statement(report).predicate.repropack.runs
    told: dict[str, dict[str, Any]] = {
        "unequal": {"equal": False, "repeats": True},
        "repeats": {"repeats": True},
        "unknown": {"repeats": None},
    }
    if isinstance(changes.get("runs"), str):
        first = honest[0].model_copy(update=told[changes["runs"]])
        changes = changes | {"runs": (first, *honest[1:])}
    assert said in str(contradiction(statement(report, **changes)))


def test_a_record_of_a_manifest_that_was_not_read_says_nothing_of_it() -> None:
    """It names the zip alone, and no answer was found."""
    told = statement(unanswered(package=None, evidence_digest=None, recorded_runs=()))
    zipped = told.subject[0].model_copy(update={"name": "package.zip"})
    assert contradiction(told.model_copy(update={"subject": (zipped,)})) is None
    assert "the manifest was read" in str(contradiction(told))
    full = statement().model_copy(update={"subject": (zipped,)})
    assert "the manifest was not read" in str(contradiction(full))
    other = replace(LAB, archive_digest=PACKAGE_DIGEST)
    assert misfit(told.model_copy(update={"subject": (zipped,)}), other) is None
    assert "expected a record about" in str(misfit(full, LAB))


FOREIGN = (*map(run, RUNS[:-1]), run("foreign"))


@pytest.mark.parametrize(
    ("report", "changes", "said"),
    [
        (None, {"name": "other"}, "name: expected replay-lab, observed other"),
        (None, {"version": "1.0.1"}, "version: expected 1.0.0, observed 1.0.1"),
        (None, {"evidence_digest": PACKAGE_DIGEST}, f"expected {EVIDENCE_DIGEST}, observed"),
        (
            verification(recorded_runs=RUNS[:2], runs=tuple(map(run, RUNS[:2]))),
            {},
            "coverage.runs_recorded: expected 6, observed 2",
        ),
        (unanswered(recorded_runs=RUNS[:2]), {}, "runs_recorded: expected 6, observed 2"),
        (None, {"expectations_failed": ("adam-reset",)}, "expected none, observed adam-reset"),
        (verification(runs=FOREIGN), {"coverage": {"runs_executed": 6}}, "observed foreign"),
        (
            verification(runs=(*map(run, RUNS), run("resume-at-20"))),
            {},
            "runs: expected runs of the package (reference, adam-reset,",
        ),
        (None, {"runs": "claimed"}, "run 'reference': expected the claim independent-replay"),
        (partial(), {"coverage": {"runs_executed": 0}}, "runs_executed: expected 1, observed 0"),
        (None, {"claims": ()}, "claims: expected the package's 40, observed without "),
        (None, {"claims": "foreign"}, "claims: expected the package's 40, observed foreign"),
        (None, {"claims": "turned"}, "claims: expected the package's 40, observed another order"),
        (partial(), {"claims": "held"}, "expected held null, for run "),
        (
            verification(verdict="differs"),
            {"first_difference": FirstDifference(part="after")},
            "expected one of figures, notebook, run, observed after",
        ),
        (
            differing(),
            {"first_difference": FirstDifference(run="reference", step=102, kind="length")},
            "first_difference, run 'reference': expected a step that the package has, observed 102",
        ),
        (
            differing(),
            {"first_difference": BEYOND.model_copy(update={"kind": "metric"})},
            "expected a step that the package has, observed 101",
        ),
        (
            differing(),
            {
                "first_difference": FirstDifference(
                    run="reference", step=2, stage="foreign", kind="output"
                )
            },
            "run 'reference', step 2: expected a stage that the package has, observed foreign",
        ),
    ],
)
def test_a_record_that_is_none_of_the_package_is_told(
    report: VerificationReport | None, changes: dict[str, Any], said: str
) -> None:
    """Name, version, digest, runs, claims, and where it differs are the package's."""
    honest = statement(report).predicate.repropack
    runs, claims = honest.runs, honest.claims
    told: dict[Any, Any] = {
        "claimed": (
            *(row.model_copy(update={"claim": "exact-resume"}) for row in runs[:1]),
            *runs[1:],
        ),
        "foreign": (*claims, RecordedClaim(id="foreign", held=True)),
        "turned": claims[::-1],
        "held": tuple(row.model_copy(update={"held": True}) for row in claims),
    }
    for name in ("runs", "claims"):
        if isinstance(changes.get(name), str):
            changes = changes | {name: told[changes[name]]}
    assert said in str(misfit(statement(report, **changes), LAB))


RESTART, PLANNED = "restart-repeats", "learning-rate"


@pytest.mark.parametrize(
    ("report", "claim", "held", "said"),
    [
        (None, RESTART, False, "claim 'restart-repeats': expected held True, as follows"),
        (None, RESTART, None, "expected held True, as follows, observed None"),
        (None, PLANNED, False, "expected held True, as follows, observed False"),
        (partial(), PLANNED, None, "expected held True, as follows, observed None"),
        (differing(), RESTART, True, "expected held False or None, as follows, observed True"),
        (differing(), PLANNED, False, "expected held True"),
        (differing(), "first-loss", False, None),
    ],
)
def test_a_claim_of_equal_runs_comes_out_as_in_the_package(
    report: VerificationReport | None, claim: str, held: bool | None, said: str | None
) -> None:
    """One of the plan alone always; one that is equal is not identical to one that is not."""
    honest = statement(report).predicate.repropack.claims
    changed = tuple(
        row.model_copy(update={"held": held}) if row.id == claim else row for row in honest
    )
    assert changed != honest
    told = misfit(statement(report, claims=changed), LAB)
    assert told is None if said is None else said in str(told)


def test_files_that_runs_write_may_be_equal_and_have_other_bytes() -> None:
    """Then a claim of theirs may come out otherwise, but not one of the plan alone."""
    writing = replace(LAB, has_outputs=True)
    claims = statement().predicate.repropack.claims
    for name, said in ((RESTART, "None"), (PLANNED, "expected held True")):
        failed = tuple(row.model_copy(update={"held": row.id != name}) for row in claims)
        assert said in str(misfit(statement(claims=failed), writing))


def test_a_notebook_that_is_packed_unexecuted_was_not_found_identical() -> None:
    """Nothing of it was executed when it was packed, so that nothing could be."""
    told = statement(verification(notebook=NOTEBOOK))
    assert misfit(told, LAB) is None
    assert "coverage.notebook: expected no execution" in str(
        misfit(told, replace(LAB, notebook_executed=False))
    )


def test_an_added_resume_is_a_run_that_the_package_does_not_have() -> None:
    """It is in the record once, beside the package's own."""
    told = statement(
        verification(runs=(*map(run, RUNS), run("resume-at-20", claim="exact-resume")))
    )
    assert contradiction(told) is None
    assert misfit(told, ADDED) is None
    as_other = statement(verification(runs=(*map(run, RUNS), run("resume-at-20"))))
    assert "the claim exact-resume" in str(misfit(as_other, ADDED))


def test_one_step_more_or_another_stage_may_be_what_differs() -> None:
    """Where a run goes on or records something else, the package does not have it."""
    other = FirstDifference(run="reference", step=2, stage="foreign", kind="structure")
    for found in (BEYOND, other):
        told = statement(differing(), first_difference=found)
        assert contradiction(told) is None
        assert misfit(told, LAB) is None


def test_the_places_that_are_looked_up_are_those_that_records_name() -> None:
    """The step, and the one before it."""
    told = places_named([statement(), statement(differing())])
    assert told == {("reference", 1), ("reference", 0)}
