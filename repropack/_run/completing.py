"""What the first runs tell of a plan: its configuration in full, and names that only they know."""

from __future__ import annotations

from pathlib import Path

from repropack._compare.logs import split
from repropack._format.canonical import encode_canonical
from repropack._format.layout import REFERENCE_RUN
from repropack._read.consistency import planned_config, planned_start
from repropack._read.container import open_container
from repropack._read.run import RunReader
from repropack._run.recorder import RecordedRun
from repropack.errors import ConfigurationError, StateError
from repropack.models.plan import ComparisonPlan, Plan


def completed_plan(plan: Plan, reference: RecordedRun) -> Plan:
    """The plan with the configuration as the experiment completed it, defaults filled in.

    Args:
        plan: As the author wrote it.
        reference: The reference run.

    Returns:
        The plan as a package holds it.
    """
    experiment = plan.experiment.model_copy(update={"config": reference.config})
    return plan.model_copy(update={"experiment": experiment})


def check_names(plan: Plan, tree: Path) -> None:
    """Hold names in the plan against what only the experiment knows: metrics and configuration.

    Args:
        plan: The plan, its configuration completed.
        tree: Root below which the reference was recorded.

    Raises:
        StateError: a metric is to be printed that the reference does not have.
        ConfigurationError: a comparison changes a value that there is not.
    """
    with open_container(tree) as container:
        lines = RunReader(container, REFERENCE_RUN).steps()
        printed = {name for line in lines for name in line.metrics}
    for name in sorted(set(plan.record.printed) - printed):
        known = ", ".join(sorted(printed)) or "none"
        raise StateError(
            name, f"is to be printed: expected a metric of the reference ({known}), observed none"
        )
    known_names = sorted(plan.experiment.config)
    for comparison in plan.comparisons:
        for name in sorted(set(comparison.config) - set(known_names) if known_names else ()):
            raise ConfigurationError(
                f"comparison {comparison.name!r}: config: unknown name {name!r}: expected one of "
                f"{', '.join(known_names)}"
            )


def completed_comparison(
    plan: Plan, comparison: ComparisonPlan, run: RecordedRun
) -> ComparisonPlan:
    """The comparison with its changes as the experiment read them; they must be all there is.

    Args:
        plan: The plan, its configuration completed.
        comparison: One of its comparisons.
        run: That comparison's run.

    Returns:
        The comparison as a package holds it.

    Raises:
        ConfigurationError: the run has changed more than that.
    """
    changes = {name: run.config[name] for name in comparison.config}
    completed = comparison.model_copy(update={"config": changes})
    planned = planned_config(plan, completed)
    if encode_canonical(planned) != encode_canonical(run.config):
        names = [
            name
            for name in sorted({*planned, *run.config})
            if encode_canonical(planned.get(name)) != encode_canonical(run.config.get(name))
        ]
        raise ConfigurationError(
            f"comparison {comparison.name!r}: expected to change {', '.join(sorted(changes))} "
            f"alone, observed another value of {', '.join(names)} as well"
        )
    return completed


def check_restored(tree: Path, comparison: ComparisonPlan, *, loop: bool) -> None:
    """Refuse a resumed run that did not start from exactly the state that it was given.

    Args:
        tree: Root below which the runs were recorded.
        comparison: One that resumes, or another: then there is nothing to look at.
        loop: Whether it is the attached state of a script that owns its loop.

    Raises:
        StateError: a component is not restored.
    """
    if comparison.resume_at is None:
        return
    with open_container(tree) as container:
        expected = planned_start(comparison, RunReader(container, REFERENCE_RUN))
        observed = dict(RunReader(container, comparison.name).start.state)
    differing = split(expected, observed).differing
    if not differing:
        return
    name, failed = differing[0], f"is not restored in comparison {comparison.name!r}"
    if loop:
        raise StateError(
            name,
            f"{failed}: expected the attached state to be what it was put back to, observed "
            "another value",
            hint=f"see to it that what is attached as {name!r} takes back the value that it has "
            "given",
        )
    raise StateError(
        name,
        f"{failed}: after load_state_dict, expected state_dict to give what was loaded, observed "
        "another value",
        hint="load_state_dict and state_dict have to be each other's inverse",
    )
