"""Rules of a project file that depend on the form of its experiment: entry point, command, loop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repropack._format.placeholders import unknown_placeholders
from repropack._read.project_faults import Key, shown
from repropack._read.project_sources import is_pattern_inside

Fault = tuple[Key, str]
Table = Mapping[str, Any]

_OF_STEPS = ("checkpoint-every", "stages-every", "state-every", "keep", "printed")
_FIXED = re.compile(
    r"PATH|HOME|TMPDIR|TZ|LANG|SHELL|USER|LOGNAME|IFS|BASH_ENV|ENV|LC_.*|LD_.*|DYLD_.*|PYTHON.*"
    r"|REPROPACK_.*|RANK|WORLD_SIZE|LOCAL_RANK|MASTER_ADDR|MASTER_PORT"
)
"""Variables that are not the author's: every run has them from repropack, or not at all."""


def broken_forms(data: Table) -> Iterator[Fault]:
    """Yield what is wrong with the form of the experiment and with the commands.

    Args:
        data: The file's tables, of any form.
    """
    experiment, key = table_of(data, "experiment"), ("experiment",)
    if not experiment:
        return
    yield from _one_form(experiment)
    yield from _command(key, experiment, experiment)
    yield from _inputs(experiment)
    yield from _import_folders(experiment)
    if "command" in experiment and "steps" not in experiment:
        yield from _as_a_whole(data, experiment)
    for place, after in enumerate(_tables(data, "after")):
        yield from _command(("after", place), after, experiment)


def _one_form(experiment: Table) -> Iterator[Fault]:
    forms = [name for name in ("entry-point", "command") if name in experiment]
    if len(forms) != 1:
        observed = "both" if forms else "neither"
        yield ("experiment",), f"expected either entry-point or command, observed {observed}"
    if forms == ["entry-point"]:
        for name in ("seed", "steps"):
            if name not in experiment:
                yield ("experiment", name), "expected a value, observed none"
        if experiment.get("outputs"):
            problem = "expected none beside entry-point, whose steps are compared; observed some"
            yield ("experiment", "outputs"), problem


def _as_a_whole(data: Table, experiment: Table) -> Iterator[Fault]:
    """A command without steps: its outputs are all there is to compare."""
    if not experiment.get("outputs"):
        yield (
            ("experiment", "outputs"),
            "expected at least one pattern of files that the command writes, observed none",
        )
    record = table_of(data, "record")
    for name in _OF_STEPS:
        if name in record:
            problem = "expected experiment.steps, for a command without steps records none"
            yield ("record", name), f"{problem}; observed none"
    for place, comparison in enumerate(_tables(data, "comparisons")):
        if "resume-at" in comparison:
            problem = "for a command resumes only through repropack.attach; observed none"
            yield ("comparisons", place, "resume-at"), f"expected experiment.steps, {problem}"


def _command(key: Key, table: Table, experiment: Table) -> Iterator[Fault]:
    config = table_of(experiment, "config")
    for place, word in enumerate(_texts(table, "command")):
        for problem in unknown_placeholders(word, config):
            yield (*key, "command", place), problem
    for place, pattern in enumerate(_texts(table, "outputs")):
        if pattern and not is_pattern_inside(pattern):
            yield (
                (*key, "outputs", place),
                f"expected a pattern inside the working folder, observed {shown(pattern)}",
            )
    for name in table_of(table, "environment"):
        if _FIXED.fullmatch(name):
            problem = "expected a variable that repropack does not set or remove itself"
            yield (*key, "environment", name), f"{problem}, observed {name!r}"


def _import_folders(experiment: Table) -> Iterator[Fault]:
    for place, folder in enumerate(_texts(experiment, "import-from")):
        if folder and (not is_pattern_inside(folder) or set(folder) & set("*?[")):
            yield (
                ("experiment", "import-from", place),
                f"expected a folder inside the project folder, observed {shown(folder)}",
            )


def _inputs(experiment: Table) -> Iterator[Fault]:
    inputs = experiment.get("inputs")
    for place, row in enumerate(inputs if isinstance(inputs, list | tuple) else ()):
        key: Key = ("experiment", "inputs", place)
        table = row if isinstance(row, Mapping) else {"path": row}
        pattern = table.get("path")
        if isinstance(pattern, str) and pattern and not is_pattern_inside(pattern):
            yield key, f"expected a pattern inside the project folder, observed {shown(pattern)}"
        if table.get("include") is False and "location" not in table:
            problem = "expected words that say where to get it, for it is not packed; observed none"
            yield (*key, "location"), problem
        if table.get("include", True) is True and "location" in table:
            yield (*key, "location"), "expected include = false beside it, observed none"


def _texts(table: Table, name: str) -> Sequence[str]:
    listed = table.get(name)
    found = listed if isinstance(listed, list | tuple) else ()
    return [item if isinstance(item, str) else "" for item in found]


def _tables(data: Table, name: str) -> list[Table]:
    listed = data.get(name)
    found = listed if isinstance(listed, list | tuple) else ()
    return [item if isinstance(item, Mapping) else {} for item in found]


def table_of(data: Table, name: str) -> Table:
    """Return a table of a project file of any form; empty where there is none."""
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}
