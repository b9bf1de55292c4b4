"""The table of exit statuses, each cell of it."""

from __future__ import annotations

from typing import get_args

import pytest

from repropack import errors
from repropack._cli.status import MEANINGS, STATUS_BY_VERDICT, status_of_error
from repropack.errors import RepropackError
from repropack.models.lint import LintReport
from repropack.models.proofreading import ProofreadReport
from repropack.models.reports import CheckReport, Verdict
from tests.contract.test_errors import CLASSES, make

EXPECTED = {
    errors.RepropackError: 4,
    errors.UsageError: 2,
    errors.ProjectError: 2,
    errors.ExperimentError: 4,
    errors.ExperimentLoadError: 4,
    errors.ConfigurationError: 4,
    errors.StateError: 4,
    errors.UnsupportedDtypeError: 4,
    errors.StepError: 4,
    errors.CommandError: 4,
    errors.InexactResumeError: 4,
    errors.PackageError: 3,
    errors.PackageFormatError: 3,
    errors.UnsafeEntryError: 3,
    errors.LimitExceededError: 3,
    errors.SchemaError: 3,
    errors.IntegrityError: 3,
    errors.LintError: 1,
    errors.UnsupportedVersionError: 4,
    errors.CouldNotRunError: 4,
    errors.ConfinementUnavailableError: 4,
    errors.BusyError: 4,
    errors.DivergenceError: 1,
}


def test_every_error_has_a_cell() -> None:
    """An error that is added to the tree gets its status here first."""
    assert set(EXPECTED) == set(CLASSES)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_status_of_an_error(cls: type[RepropackError]) -> None:
    """Each class has the status that the design gives it."""
    assert status_of_error(make(cls)) == EXPECTED[cls]


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        ("identical", 0),
        ("intact", 0),
        ("differs", 1),
        ("damaged", 3),
        ("could-not-run", 4),
        ("clean", 0),
        ("warnings", 0),
        ("errors", 1),
        ("agrees", 0),
        ("disagrees", 1),
        ("nothing-marked", 1),
    ],
)
def test_the_status_of_a_verdict(verdict: str, status: int) -> None:
    """A no and a could-not-tell are different numbers."""
    assert STATUS_BY_VERDICT[verdict] == status


def test_every_verdict_has_a_status_and_every_status_a_meaning() -> None:
    """No verdict of a report is missing from the table, no status from the help."""
    reports = (CheckReport, LintReport, ProofreadReport)
    verdicts = {*get_args(Verdict)}
    verdicts |= {
        one for report in reports for one in get_args(report.model_fields["verdict"].annotation)
    }
    assert set(STATUS_BY_VERDICT) == verdicts
    assert {*STATUS_BY_VERDICT.values(), *EXPECTED.values()} < set(MEANINGS)
    assert set(MEANINGS) == {0, 1, 2, 3, 4, 130}
