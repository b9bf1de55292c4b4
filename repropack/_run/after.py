"""The author's own figures and tables: commands that run on the finished runs."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from repropack._format.layout import AFTER, REFERENCE_RUN, outputs_folder, run_folder
from repropack._format.paths import check_entry_path, check_path_set
from repropack._run.execute import Launcher
from repropack._run.folders import files_below, new_folder, remove_tree
from repropack.errors import CommandError, UnsafeEntryError
from repropack.models.plan import CommandPlan, ExperimentPlan, Plan, RecordPlan


def run_after(launcher: Launcher, folder: Path) -> None:
    """Run the commands of a plan's ``after``, in order, and collect what they write.

    Each works in a clean copy of source and inputs, with the runs as a package holds them below
    ``runs/``; it does not see what another one wrote.

    Args:
        launcher: Has executed every run of its plan.
        folder: Where the outputs go, by their path; made where there are any.

    Raises:
        CommandError: a command fails, changes what it is given, writes none of its outputs, or
            writes one that another command wrote, or whose path no package can have beside it.
        CouldNotRunError: the worker died or reached a limit.
    """
    runs = _finished_runs(launcher) if launcher.plan.after else {}
    for number, command in enumerate(launcher.plan.after, 1):
        scratch = new_folder("after-", launcher.scratch)
        try:
            name = f"after-{number}"
            own = replace(
                launcher, plan=_as_plan(launcher.plan, command), tree=scratch, notes=None, runs=runs
            )
            own.run_reference(name)
            _collect(name, scratch / outputs_folder(name), folder)
        finally:
            remove_tree(scratch)


def _finished_runs(launcher: Launcher) -> dict[str, Path]:
    """Files of the plan's runs, by path in a package; a verifier may have made one more."""
    names = (REFERENCE_RUN, *(comparison.name for comparison in launcher.plan.comparisons))
    return {
        f"{run_folder(name)}/{path}": place
        for name in names
        for path, place in files_below(launcher.tree / run_folder(name)).items()
    }


def _as_plan(plan: Plan, command: CommandPlan) -> Plan:
    """A command as a plan of its own; it has the configuration and seed of the experiment."""
    experiment = ExperimentPlan(
        **{name: getattr(command, name) for name in CommandPlan.model_fields},
        import_from=plan.experiment.import_from,
        config=plan.experiment.config,
        seed=plan.experiment.seed,
        steps=1,
    )
    return Plan(experiment=experiment, record=RecordPlan())


def _collect(name: str, outputs: Path, folder: Path) -> None:
    for path, place in files_below(outputs).items():
        target = folder / path
        if target.exists() or any(above.is_file() for above in target.parents):
            raise CommandError(name, f"expected outputs of its own, observed {path!r} again")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(place, target)
    entries = [f"{AFTER}/{path}" for path in files_below(folder)]
    try:
        for entry in entries:
            check_entry_path(entry)
        check_path_set(entries)
    except UnsafeEntryError as error:
        raise CommandError(
            name,
            f"outputs cannot be packed: {error.message}",
            hint="let it write under another name",
        ) from None
