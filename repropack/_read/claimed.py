"""Claims of a package: against its plan, against what it stores, and on what was run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest

from repropack._compare.claim_rules import claim_faults, repeated_names
from repropack._compare.claims import ClaimEvaluator, evaluate_claims, runs_of
from repropack._compare.outcomes import compute_results
from repropack._compare.pointers import names_of
from repropack._format.canonical import encode_canonical
from repropack._format.expressions import ExpressionError
from repropack._format.layout import PLAN, REFERENCE_RUN, RESULTS
from repropack._read.run import RunReader
from repropack.errors import LimitExceededError
from repropack.models.claims import ClaimOutcome, ClaimPlan, ClaimVerification
from repropack.models.plan import Plan
from repropack.models.results import Results

Report = Callable[[str, str, str, object, object], None]


def check_planned_claims(plan: Plan, report: Report) -> None:
    """Hold the claims of a plan against the plan.

    Args:
        plan: The package's plan.
        report: Called for each fault with rule, entry, place, expected and observed.
    """
    for place, problem in repeated_names(claim.id for claim in plan.claims):
        report("plan.claim", PLAN, f"claim {plan.claims[place].id!r}", "none of this", problem)
    names = names_of(plan)
    for claim in plan.claims:
        for member, problem in claim_faults(claim, names):
            where = f"claim {claim.id!r}: {member}"
            report("plan.claim", PLAN, where, "a claim that can be evaluated", problem)


def check_stored_claims(
    plan: Plan, computed: Results, stored: Results, runs: Mapping[str, RunReader], report: Report
) -> None:
    """Hold what a package says of its claims against what its logs and arrays give.

    Args:
        plan: The package's plan, in whose claims ``check_planned_claims`` finds nothing wrong.
        computed: The results that the logs give.
        stored: Its ``results.json``.
        runs: A reader for the reference and for each comparison.
        report: Called for each fault.

    Raises:
        PackageError: a log, checkpoint or kept array is malformed.
    """
    if [claim.id for claim in plan.claims] != [claim.id for claim in stored.claims]:
        report(
            "results.claims", RESULTS, "claims", "one for each of the plan, in its order", "others"
        )
        return
    limits = runs[REFERENCE_RUN].limits
    evaluated = evaluate_claims(plan, computed, runs, limits.max_claim_elements)
    for place, problem in evaluated.faults:
        where = f"claim {plan.claims[place].id!r}"
        report("results.claim", RESULTS, where, "a value in the logs and arrays", problem)
    if evaluated.faults:
        return
    for expected, observed in zip_longest(evaluated.outcomes, stored.claims):
        _check_outcome(expected, observed, report)


def verify_claims(
    plan: Plan, stored: Results, fresh: Mapping[str, RunReader]
) -> tuple[ClaimVerification, ...]:
    """Evaluate the claims of a package on the runs that were executed here.

    Args:
        plan: The package's plan, checked.
        stored: Its results, checked.
        fresh: Readers of the runs that were executed here, by name.

    Returns:
        One for each claim, in the plan's order.

    Raises:
        PackageError: what was executed here left a log or array that is malformed.
    """
    if not plan.claims:
        return ()
    here = _Here(plan, fresh)
    return tuple(map(here.verify, plan.claims, stored.claims))


class _Here:
    """What was executed here, for claims."""

    def __init__(self, plan: Plan, fresh: Mapping[str, RunReader]) -> None:
        self._fresh = fresh
        executed = tuple(row for row in plan.comparisons if row.name in fresh)
        results = None
        if REFERENCE_RUN in fresh:
            narrowed = plan.model_copy(update={"comparisons": executed})
            results = compute_results(narrowed, fresh[REFERENCE_RUN], fresh)
        rows = results.comparisons if results is not None else ()
        self._moved = {row.run for row in rows if row.start.differing}
        most = max((run.limits.max_claim_elements for run in fresh.values()), default=0)
        self._evaluator = ClaimEvaluator(plan, results, fresh, most)

    def verify(self, claim: ClaimPlan, stored: ClaimOutcome) -> ClaimVerification:
        """One claim, as it is stored and as it comes out here."""
        outcome = self._evaluated(claim)
        told = ClaimVerification(
            id=stored.id,
            kind=stored.kind,
            sentence=stored.sentence,
            expected=stored.expected,
            held=stored.held,
            text=stored.text,
            value=stored.value,
        )
        if isinstance(outcome, str):
            return told.model_copy(update={"reason": outcome})
        here = {
            "held_here": outcome.held,
            "text_here": outcome.text,
            "value_here": outcome.value,
            "sentence_here": outcome.sentence,
        }
        return told.model_copy(update=here)

    def _evaluated(self, claim: ClaimPlan) -> ClaimOutcome | str:
        """The outcome here, or why there is none."""
        missing = [run for run in runs_of(claim) if run not in self._fresh]
        if missing:
            return f"run {missing[0]!r} was not executed"
        if claim.kind == "exact-resume" and claim.run in self._moved:
            return (
                f"the state that {claim.run!r} resumes from is the package's, and the reference "
                "here has another one there"
            )
        try:
            return self._evaluator.evaluate(claim)
        except (ExpressionError, LimitExceededError) as error:
            return f"it has no value here: {error}"


def _check_outcome(expected: ClaimOutcome, observed: ClaimOutcome | None, report: Report) -> None:
    left = expected.model_dump(mode="json")
    right = {} if observed is None else observed.model_dump(mode="json")
    for member, value in left.items():
        if encode_canonical(value) != encode_canonical(right.get(member)):
            place = f"claim {expected.id!r}: {member}, against plan, logs and arrays"
            told = f"{right.get(member)!r:.200}"
            report("results.claim", RESULTS, place, f"{value!r:.200}", told)
            return
