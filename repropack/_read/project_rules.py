"""What a project file must obey beyond its types: rules that join several of its values.

The rules look at the raw tables, so that they find their faults beside those of the types. Where
a value that a rule needs is itself at fault, that rule says nothing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from datetime import date, time
from pathlib import Path
from typing import Any

from repropack._format.layout import REFERENCE_RUN, run_folder
from repropack._format.lint_rules import LINT_RULES
from repropack._format.orcid import check_digit
from repropack._format.paths import check_entry_path
from repropack._read.project_claims import broken_claims
from repropack._read.project_faults import Key, dotted, shown
from repropack._read.project_forms import broken_forms, table_of
from repropack._read.project_sources import is_own_file, is_pattern_inside
from repropack.errors import UnsafeEntryError

Fault = tuple[Key, str]
Table = Mapping[str, Any]

_ARTICLE: Key = ("package", "article")
_ORCID = re.compile(r"([0-9]{4}-){3}[0-9]{3}[0-9X]")
_RULE = re.compile(r"[a-z]+(-[a-z0-9]+)*")
_VALUES = "text, a number, true, false, an array or a table"


def broken_rules(data: Table, root: Path) -> Iterator[Fault]:
    """Yield every broken rule of a project file.

    Args:
        data: The file's tables, of any form.
        root: The project folder.
    """
    experiment, record = table_of(data, "experiment"), table_of(data, "record")
    yield from _license(table_of(data, "package"), root)
    yield from _people(table_of(data, "package"))
    yield from _patterns(experiment)
    yield from broken_forms(data)
    yield from _allowed(table_of(data, "lint"))
    yield from _config(("experiment", "config"), experiment.get("config"))
    yield from _once(("record", "keep"), record.get("keep"))
    comparisons = list(_comparisons(data))
    yield from _names(comparisons)
    for key, comparison in comparisons:
        yield from _resume(key, comparison, experiment, record)
        yield from _expectation(key, comparison, experiment)
        yield from _config((*key, "config"), comparison.get("config"))
    yield from broken_claims(data, comparisons)


def _license(package: Table, root: Path) -> Iterator[Fault]:
    name = package.get("license-file")
    if isinstance(name, str) and not is_own_file(root, name):
        yield (
            ("package", "license-file"),
            f"expected a file in the project folder that is no link, observed {shown(name)}",
        )


def _people(package: Table) -> Iterator[Fault]:
    """Yield what is wrong with authors, and keywords that come twice."""
    for key, table in (("package",), package), (_ARTICLE, table_of(package, "article")):
        listed = table.get("authors")
        seen: set[str] = set()
        for place, author in enumerate(listed if isinstance(listed, list | tuple) else ()):
            if isinstance(author, Mapping):
                yield from _author((*key, "authors", place), author, seen)
    yield from _once(("package", "keywords"), package.get("keywords"))


def _author(key: Key, author: Table, seen: set[str]) -> Iterator[Fault]:
    """Yield a wrong check digit, an iD that comes again, and parts of an organization's name."""
    orcid = author.get("orcid")
    if isinstance(orcid, str) and _ORCID.fullmatch(orcid):
        right = check_digit(orcid)
        if orcid[-1] != right:
            yield (*key, "orcid"), f"expected the check digit {right!r}, observed {shown(orcid)}"
        elif orcid in seen:
            yield (*key, "orcid"), f"expected an iD of its own, observed {shown(orcid)} twice"
        seen.add(orcid)
    if author.get("kind") == "organization":
        for name in ("given-names", "family-names", "orcid"):
            if name in author:
                problem = "expected none beside kind = 'organization', observed one"
                yield (*key, name), problem


def _patterns(experiment: Table) -> Iterator[Fault]:
    patterns = experiment.get("source")
    for place, pattern in enumerate(patterns if isinstance(patterns, list | tuple) else ()):
        if isinstance(pattern, str) and pattern and not is_pattern_inside(pattern):
            yield (
                ("experiment", "source", place),
                f"expected a pattern inside the project folder, observed {shown(pattern)}",
            )


def _allowed(lint: Table) -> Iterator[Fault]:
    listed = lint.get("allow")
    for place, rule in enumerate(listed if isinstance(listed, list | tuple) else ()):
        if isinstance(rule, str) and _RULE.fullmatch(rule) and rule not in LINT_RULES:
            close = difflib.get_close_matches(rule, LINT_RULES, n=1)
            instead = f"; did you mean {close[0]!r}?" if close else ""
            problem = f"expected a rule of docs/lint.md, observed {shown(rule)}{instead}"
            yield ("lint", "allow", place), problem
    yield from _once(("lint", "allow"), listed)


def _config(key: Key, value: object) -> Iterator[Fault]:
    """Yield dates, which JSON does not have, and keys with the mark of encoded values."""
    if isinstance(value, date | time):
        yield key, f"expected {_VALUES}, observed {shown(value)}"
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name.startswith("$"):
                yield (
                    (*key, name),
                    f"expected a key that does not start with '$', observed {name!r}",
                )
            yield from _config((*key, name), inner)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _config((*key, place), inner)


def _names(comparisons: list[tuple[Key, Table]]) -> Iterator[Fault]:
    seen: dict[str, Key] = {}
    for key, comparison in comparisons:
        name = comparison.get("name")
        if not isinstance(name, str):
            continue
        if name == REFERENCE_RUN:
            yield (
                (*key, "name"),
                f"expected another name than that of the first run, observed {name!r}",
            )
        elif name in seen:
            yield (
                (*key, "name"),
                f"expected a name of its own, observed {name!r}, the name of {dotted(seen[name])}",
            )
        elif not _fits_a_path(name):
            yield (*key, "name"), f"expected a name that a folder may have, observed {name!r}"
        seen.setdefault(name, key)


def _fits_a_path(name: str) -> bool:
    try:
        check_entry_path(run_folder(name))
    except UnsafeEntryError:
        return False
    return True


def _resume(key: Key, comparison: Table, experiment: Table, record: Table) -> Iterator[Fault]:
    if comparison.get("reset") and "resume-at" not in comparison:
        yield (*key, "reset"), "expected resume-at beside it, observed none"
    yield from _once((*key, "reset"), comparison.get("reset"))
    step, steps = _count(comparison, "resume-at"), _count(experiment, "steps")
    if not step:  # absent, not a count, or 0, where there is always a checkpoint
        return
    place = (*key, "resume-at")
    if steps and step >= steps:
        yield place, f"expected 0 to {steps - 1}, for there are {steps} steps, observed {step}"
    elif "checkpoint-every" not in record:
        yield place, f"expected 0, or record.checkpoint-every to be given, observed {step}"
    elif (every := _count(record, "checkpoint-every")) and step % every:
        problem = f"expected a multiple of record.checkpoint-every ({every}), observed {step}"
        yield place, problem


def _once(key: Key, names: object) -> Iterator[Fault]:
    """Yield the first name that comes again in a list."""
    seen: set[str] = set()
    for name in names if isinstance(names, list | tuple) else ():
        if isinstance(name, str):
            if name in seen:
                yield key, f"expected each name once, observed {name!r} twice"
                return
            seen.add(name)


def _expectation(key: Key, comparison: Table, experiment: Table) -> Iterator[Fault]:
    at = _count(table_of(comparison, "expect"), "diverges-at")
    steps, resumed = _count(experiment, "steps"), _count(comparison, "resume-at") or 0
    if at and steps and resumed < steps and not resumed < at <= steps:
        yield (
            (*key, "expect", "diverges-at"),
            f"expected a step of this run, {resumed + 1} to {steps}, observed {at}",
        )


def _comparisons(data: Table) -> Iterator[tuple[Key, Table]]:
    listed = data.get("comparisons")
    for place, comparison in enumerate(listed if isinstance(listed, list | tuple) else ()):
        if isinstance(comparison, Mapping):
            yield ("comparisons", place), comparison


def _count(table: Table, name: str) -> int | None:
    value = table.get(name)
    return value if type(value) is int and value >= 0 else None
