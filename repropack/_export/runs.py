"""The runs of a package as actions of its crate: what ran, on what, with which result.

One action a run and none for the build: each run has a start, conditions and results of its own.
No action has a time, for no clock was read.
"""

from __future__ import annotations

from collections.abc import Sequence

from repropack._export.files import PYTHON, file_id
from repropack._export.graph import Entity, Graph, encoded, refer
from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import checkpoint_name
from repropack._format.layout import (
    AFTER,
    ENVIRONMENT,
    PLAN,
    README,
    REFERENCE_RUN,
    RUNS,
    SOURCE,
    checkpoint_folder,
)
from repropack.models.authored import AuthoredMetadata
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import Entry
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan
from repropack.models.results import ComparisonOutcome, Results

EXPERIMENT = "#experiment"
_AFTER, _AFTER_COMMANDS = "#after", "#after-commands"
_HASH_SEED = "PYTHONHASHSEED"
_COMPLETED = "http://schema.org/CompletedActionStatus"


def add_experiment(
    graph: Graph,
    metadata: AuthoredMetadata,
    plan: Plan,
    environment: EnvironmentRecord,
    entries: Sequence[Entry],
) -> None:
    """Add the experiment as a program, with its source and the distributions that it needs.

    RO-Crate 1.2 asks for an address of every program. Where none is known it is the document of
    the package that tells of it: the README, or the environment record.

    Args:
        graph: The crate's graph.
        metadata: What the author says of the package.
        plan: The plan.
        environment: The environment record.
        entries: Rows of the manifest.
    """
    interpreter = environment.interpreter
    graph.add(
        PYTHON,
        ["ComputerLanguage", "SoftwareApplication"],
        name="Python",
        alternateName=interpreter.implementation,
        version=interpreter.version,
        url="https://www.python.org/",
    )
    needed = [
        graph.add(
            f"#distribution/{encoded(row.name)}",
            "SoftwareApplication",
            name=row.name,
            version=row.version,
            url=refer([ENVIRONMENT]),
        )
        for row in environment.distributions
    ]
    source = [file_id(entry) for entry in entries if entry.path.startswith(f"{SOURCE}/")]
    graph.add(
        EXPERIMENT,
        "SoftwareApplication",
        name=_program(plan.experiment),
        description="What is run: its source lies in this package",
        version=metadata.version,
        url=metadata.repository or refer([README]),
        hasPart=refer(source),
        softwareRequirements=refer([PYTHON, *needed]),
    )


def add_runs(
    graph: Graph,
    plan: Plan,
    results: Results,
    environment: EnvironmentRecord,
    entries: Sequence[Entry],
    members: Entity,
) -> list[str]:
    """Add an action for each run, and one for the commands that come after the runs.

    Args:
        graph: The crate's graph.
        plan: The plan.
        results: What the comparisons found.
        environment: The environment record.
        entries: Rows of the manifest.
        members: Members of the root: its ``author`` answers for the runs, its ``version`` is that
            of the commands.

    Returns:
        Ids of the actions: the reference's, then those of the comparisons in the plan's order.
    """
    found = {outcome.run: outcome for outcome in results.comparisons}
    given = [PLAN, *(file_id(entry) for entry in entries if entry.role == "input")]
    actions = []
    for comparison in (None, *plan.comparisons):
        name = REFERENCE_RUN if comparison is None else comparison.name
        result = [file_id(one) for one in entries if one.path.startswith(f"{RUNS}/{name}/")]
        actions.append(
            graph.add(
                f"#run/{name}",
                "CreateAction",
                name=f"run {name}",
                description=_description(plan, comparison, found.get(name)),
                instrument=refer([EXPERIMENT]),
                agent=members["author"],
                object=refer([*given, *_started_from(comparison)]),
                result=refer(result),
                environment=refer(_variables(graph, plan, environment, comparison)),
                actionStatus=_COMPLETED,
            )
        )
    if plan.after:
        actions.append(_after(graph, plan, entries, members))
    return actions


def _program(experiment: ExperimentPlan) -> str:
    return experiment.entry_point or " ".join(experiment.command or ())


def _description(
    plan: Plan, comparison: ComparisonPlan | None, outcome: ComparisonOutcome | None
) -> str:
    experiment = plan.experiment
    if comparison is None:
        return f"The reference: seed {experiment.seed}, steps {experiment.steps}"
    told = f"Against the reference: {'; '.join(_changes(comparison)) or 'nothing changed'}"
    if outcome is None:
        return told
    if outcome.identical:
        return f"{told}. Identical in steps {outcome.first_step} to {outcome.last_step}"
    if outcome.divergence is not None:
        return f"{told}. Differs first in step {outcome.divergence.step}"
    return f"{told}. Differs before step {outcome.first_step}"


def _changes(comparison: ComparisonPlan) -> list[str]:
    told = []
    if comparison.resume_at is not None:
        told.append(f"resumed after step {comparison.resume_at}")
    if comparison.reset:
        told.append(f"reset {', '.join(comparison.reset)}")
    if comparison.config:
        told.append(f"configuration {encode_canonical(comparison.config).decode().rstrip()}")
    if comparison.hash_seed is not None:
        told.append(f"hash seed {comparison.hash_seed}")
    return told


def _started_from(comparison: ComparisonPlan | None) -> list[str]:
    """The checkpoints of the reference that a run's starting state was put together from."""
    if comparison is None or comparison.resume_at is None:
        return []
    steps = [comparison.resume_at, *([0] if comparison.reset else [])]
    folder = checkpoint_folder(REFERENCE_RUN)
    return [f"{folder}/{checkpoint_name(step)}{end}" for step in steps for end in (".json", ".npz")]


def _variables(
    graph: Graph, plan: Plan, environment: EnvironmentRecord, comparison: ComparisonPlan | None
) -> list[str]:
    seed = 0 if comparison is None else comparison.hash_seed or 0
    values = {**environment.variables, **plan.experiment.environment, _HASH_SEED: str(seed)}
    return [
        graph.add(
            f"#variable/{encoded(name)}/{encoded(value)}", "PropertyValue", name=name, value=value
        )
        for name, value in sorted(values.items())
    ]


def _after(graph: Graph, plan: Plan, entries: Sequence[Entry], members: Entity) -> str:
    commands = "; ".join(" ".join(row.command) for row in plan.after)
    graph.add(
        _AFTER_COMMANDS,
        "SoftwareApplication",
        name=commands,
        description="Commands that come after the runs",
        version=members["version"],
        url=refer([README]),
        softwareRequirements=refer([PYTHON]),
    )
    return graph.add(
        _AFTER,
        "CreateAction",
        name="after the runs",
        description=f"On the finished runs: {commands}",
        instrument=refer([_AFTER_COMMANDS]),
        agent=members["author"],
        object=refer([file_id(one) for one in entries if one.path.startswith(f"{RUNS}/")]),
        result=refer([file_id(one) for one in entries if one.path.startswith(f"{AFTER}/")]),
        actionStatus=_COMPLETED,
    )
