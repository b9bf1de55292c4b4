"""What executing the runs of a package again can show, and the resume that is added to them."""

from __future__ import annotations

from itertools import count

from repropack._read.package import Package
from repropack.models.plan import ComparisonPlan
from repropack.models.reports import RunClaim


def _is_plain(comparison: ComparisonPlan) -> bool:
    """Whether nothing but where it begins is another than in the reference."""
    return not comparison.reset and not comparison.config


def claim_of(comparison: ComparisonPlan, package: Package) -> RunClaim:
    """What repeating a stored run shows: one that parts from the reference shows only itself.

    Args:
        comparison: The plan's row for it.
        package: The package, checked.

    Returns:
        The claim that is supported where the run comes out equal.
    """
    same = any(row.run == comparison.name and row.identical for row in package.results.comparisons)
    if not same or not _is_plain(comparison):
        return "comparison"
    return "independent-replay" if comparison.resume_at is None else "exact-resume"


def added_resume(package: Package) -> ComparisonPlan | None:
    """A plain resume from a middle checkpoint, where the plan has none.

    Args:
        package: The package, checked.

    Returns:
        It, under a name that no run has; ``None`` where there is one, or no middle checkpoint.
    """
    plan = package.plan
    resumes = [row for row in plan.comparisons if _is_plain(row) and row.resume_at is not None]
    last = package.results.reference.last_step
    steps = [step for step in package.run().checkpoint_steps() if 0 < step < last]
    if resumes or not steps:
        return None
    step = steps[(len(steps) - 1) // 2]
    candidates = (f"resume-at-{step}{f'-{k}' if k > 1 else ''}" for k in count(1))
    name = next(name for name in candidates if name not in package.run_names())
    return ComparisonPlan(name=name, resume_at=step, expect="identical")
