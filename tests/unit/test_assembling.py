"""What is said where the notebook cannot be executed."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._assembling import _unrepeated
from repropack.models.plan import ComparisonPlan
from tests.support import reports

RESTART = reports.reversed_reduction().model_copy(update={"run": "restart"})


@pytest.mark.parametrize(
    ("comparison", "said"),
    [
        (
            {},
            (
                "run 'restart' differs from the reference as well, from the beginning: the "
                "experiment does not repeat here"
            ),
        ),
        ({"resume_at": 40}, None),
        ({"config": {"reduction": "reversed"}}, None),
    ],
)
def test_a_second_run_that_differs_is_named(comparison: dict[str, Any], said: str | None) -> None:
    """A notebook cannot agree with the package then; another configuration or a resume may."""
    plan = reports.plan(comparisons=(ComparisonPlan(name="restart", **comparison),))
    assert _unrepeated(plan, reports.results(RESTART)) == said
    equal = RESTART.model_copy(update={"identical": True, "divergence": None})
    assert _unrepeated(plan, reports.results(equal)) is None
