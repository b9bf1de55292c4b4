"""What a command wrote, as a package holds it: against its log, and against what it writes here."""

from __future__ import annotations

from collections.abc import Callable

from repropack._compare.contents import compare_outputs
from repropack._format.contents import ContentBudget, contents_of
from repropack._format.layout import PLAN, REFERENCE_RUN, log_path, outputs_folder
from repropack._read.container import Container
from repropack._read.project_sources import matches_pattern
from repropack._read.run import RunReader
from repropack.errors import LimitExceededError
from repropack.models.differences import OutputsComparison
from repropack.models.plan import Plan

Report = Callable[[str, str, str, object, object], None]


def stored_paths(container: Container, folder: str) -> tuple[str, ...]:
    """Files below a folder of a container, by their path in it.

    Args:
        container: A package, or a tree that runs were recorded in.
        folder: Such as ``outputs_folder("reference")``.

    Returns:
        Paths, sorted by their bytes.
    """
    start = f"{folder}/"
    found = (path.removeprefix(start) for path in container.paths if path.startswith(start))
    return tuple(sorted(found, key=str.encode))


def check_outputs(
    plan: Plan,
    container: Container,
    run: RunReader,
    report: Report,
    *,
    whole: bool,
    budget: ContentBudget,
) -> None:
    """Hold the stored outputs of a run against its log and the plan.

    Args:
        plan: The plan.
        container: The package.
        run: The run.
        report: Called for each fault.
        whole: Whether the run stores its outputs: the reference, and any other that is not
            identical to it.
        budget: How much the outputs of all runs may become.

    Raises:
        LimitExceededError: they become more.
        PackageError: a stored output is damaged.
    """
    experiment, folder = plan.experiment, outputs_folder(run.name)
    stored = stored_paths(container, folder)
    stores = whole and (not experiment.loop or run.name == REFERENCE_RUN)
    patterns = experiment.outputs if stores else ()
    check_matches(patterns, stored, folder, report)
    if experiment.command is None or experiment.loop:
        return
    _check_line(run, report)
    if not stores:
        return
    told = [row for line in run.steps() for row in line.stages or ()]
    found: list[tuple[str, str]] = []
    for path in stored:
        size = container.size(f"{folder}/{path}")
        with container.open(f"{folder}/{path}") as stream:
            beyond = budget.take(path, stream, size)
            if beyond is not None:
                bounds, entry = (budget.allowed, beyond), f"{folder}/{path}"
                raise LimitExceededError("max_inflated_bytes", entry, "outputs so far", bounds)
            found += contents_of(path, stream, size).stages
    if told != found:
        names = sorted({name for name, _ in {*told} ^ {*found}})
        place = f"{names[0]}, against the outputs" if names else "order, against the outputs"
        expected = dict(found).get(names[0], "no such stage") if names else "that of the paths"
        observed = dict(told).get(names[0], "no such stage") if names else "another"
        report("run.outputs", log_path(run.name), place, expected, observed)


def _check_line(run: RunReader, report: Report) -> None:
    """The log of a command tells its outputs and nothing else: it has no state and no numbers."""
    line, place = next(run.steps()), "a command"
    declared = {of for _, of in (*run.header.stages, *(line.declares or ()))}
    for told, expected, observed in (
        (run.header.constants or run.start.state or line.state, "no constant or state", "one"),
        (line.metrics or line.finish is not None, "no metric and no finish", "one"),
        (declared - {()}, "outputs that are made of nothing", "others"),
    ):
        if told:
            report("run.outputs", run.log_path, place, expected, observed)


def check_matches(
    patterns: tuple[str, ...], stored: tuple[str, ...], folder: str, report: Report
) -> None:
    """Hold what is stored in a folder against the patterns of what a command writes.

    Args:
        patterns: Patterns of paths.
        stored: Paths in the folder.
        folder: The folder's path.
        report: Called for each fault.
    """
    for path in stored:
        if not any(matches_pattern(path, pattern) for pattern in patterns):
            expected = "outputs that the plan names"
            report("run.outputs", f"{folder}/{path}", "", expected, "another")
    for pattern in patterns:
        if not any(matches_pattern(path, pattern) for path in stored):
            place = f"outputs {pattern!r} in {folder}"
            report("run.outputs", PLAN, place, "at least one file", "none")


def compare_stored(
    expected: Container, expected_folder: str, observed: Container, observed_folder: str
) -> OutputsComparison:
    """Compare the files of two folders, each by what it is.

    Args:
        expected: Holds what was recorded.
        expected_folder: The folder of it there.
        observed: Holds what was written here.
        observed_folder: The folder of it there.

    Returns:
        What differs; files whose content is equal count as equal.

    Raises:
        PackageError: a stored file is damaged.
    """
    left, right = stored_paths(expected, expected_folder), stored_paths(observed, observed_folder)
    differences = []
    for path in (path for path in left if path in right):
        one, other = f"{expected_folder}/{path}", f"{observed_folder}/{path}"
        with expected.open(one) as stream, observed.open(other) as written:
            given = (stream, expected.size(one)), (written, observed.size(other))
            difference = compare_outputs(path, *given)
        if difference is not None:
            differences.append(difference)
    return OutputsComparison(
        compared=len({*left} & {*right}),
        differences=tuple(differences),
        missing=tuple(path for path in left if path not in right),
        unexpected=tuple(path for path in right if path not in left),
    )
