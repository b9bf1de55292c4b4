"""What a package does not show: said in its README and on its page, in the same words."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._present.layout import is_command
from repropack.models.plan import ComparisonPlan, Plan
from repropack.models.results import Results


def untested(plan: Plan, results: Results) -> Iterator[str]:
    """What a package says nothing about.

    Args:
        plan: The plan.
        results: What was found.

    Yields:
        Sentences in which names stand between backticks; there is no other markup in them.
    """
    yield (
        "Any other environment than the one in `environment.json`: another processor, library or "
        "version may give other bytes."
    )
    if not is_command(plan.experiment):
        yield from _not_resumed(plan)
    if not any(row.resume_at is None and not changes(row) for row in plan.comparisons):
        yield "Repeating: no comparison runs the same experiment a second time from its beginning."
    if is_command(plan.experiment):
        yield "What the command does besides writing these outputs, and its course up to them."
    else:
        yield from _not_recorded(plan, results)
    yield (
        "Whether the result is any good. Equal bytes mean that it was reproduced; a better-looking "
        "metric means nothing for that, and printed values that agree are rounded."
    )


def _not_resumed(plan: Plan) -> Iterator[str]:
    resumed = sorted(
        {row.resume_at for row in plan.comparisons if row.resume_at and not changes(row)}
    )
    if resumed:
        places = ", ".join(map(str, resumed))
        yield f"Resuming from other checkpoints than the one after step {places}."
    else:
        yield "Resuming: no comparison continues from a complete checkpoint."


def _not_recorded(plan: Plan, results: Results) -> Iterator[str]:
    if results.reference.final_state is not None:
        names = ", ".join(f"`{name}`" for name, _ in results.reference.final_state)
        yield (
            f"State that the experiment does not declare. It declares {names}; a part that is not "
            "among these, such as a scheduler or a loader, was not saved, restored or compared."
        )
    if plan.record.stages_every > 1 or plan.record.state_every > 1:
        yield "The steps between recorded ones: a difference there is narrowed to a range of steps."
    yield f"Steps after step {results.reference.last_step}."


def changes(comparison: ComparisonPlan) -> bool:
    """Whether a comparison changes what is computed: it resets a component or another value."""
    return bool(comparison.reset or comparison.config)
