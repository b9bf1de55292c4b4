"""What two packages say of themselves, held against each other: metadata, files, plan, results.

Pure: documents and rows of manifests in, differences out. The order is that of cause and effect,
so that a reader meets what was changed before what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from repropack._compare.evidence import evidence_of_references
from repropack._compare.logs import split, view_from
from repropack._compare.patterns import patterns_of
from repropack._compare.rows import RunEvidence
from repropack._compare.runs import RunWalk
from repropack._format.canonical import encode_canonical
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.package_difference import (
    FileChange,
    FileChanges,
    FileVersion,
    MetricChange,
    OutcomeChange,
    ReferenceDifference,
    Succession,
    ValueChange,
)
from repropack.models.plan import Plan
from repropack.models.results import ReferenceOutcome, Results

_WHOLE = frozenset({"expect", "authors"})
"""Members that are told as one value."""
_NOTHING = object()
"""In the place of a value that one side does not have; ``null`` is a value."""


def succession_of(old: tuple[PackageMetadata, str], new: tuple[PackageMetadata, str]) -> Succession:
    """Say whose version a package names as the one that it supersedes.

    Args:
        old: Metadata and package digest of the one that is taken for the former.
        new: Metadata and package digest of the other.

    Returns:
        ``named`` where the new one names the old one.
    """
    if new[0].supersedes == old[1]:
        return "named"
    if old[0].supersedes == new[1]:
        return "reversed"
    return "none" if new[0].supersedes is None else "other"


def compare_metadata(old: PackageMetadata, new: PackageMetadata) -> tuple[ValueChange, ...]:
    """Return what the author says otherwise of the new package, key by key."""
    return _changes(_dumped(old), _dumped(new))


def compare_plans(old: Plan, new: Plan) -> tuple[ValueChange, ...]:
    """Return every key of the plan whose value is another.

    Args:
        old: The former plan.
        new: The later plan.

    Returns:
        A row a key: configuration values and printed metrics by name, comparisons and claims by
        name and key, commands that run afterwards by number and key. A comparison or claim that
        only one side has is one row.
    """
    tables = (_dumped(old), _dumped(new))
    rows = [{row.pop("name"): row for row in table.pop("comparisons")} for table in tables]
    for table in tables:
        table["claims"] = {row.pop("id"): row for row in table.pop("claims")}
        commands = table.pop("after", ())
        table.update({f"after[{place}]": command for place, command in enumerate(commands)})
        table.pop("schema")
    changes = list(_changes(*tables))
    for name in _names(*rows):
        changes += _change(f"comparisons.{name}", *_pair(name, *rows))
    common = [[name for name in row if name in rows[0] and name in rows[1]] for row in rows]
    if common[0] != common[1]:
        changes.append(
            ValueChange(key="comparisons (order)", old=_json(common[0]), new=_json(common[1]))
        )
    return tuple(changes)


def compare_entries(
    old: Iterable[Entry], new: Iterable[Entry], wanted: Callable[[str], bool], prefix: str = ""
) -> FileChanges:
    """Hold the files of one kind against each other by what the manifests say of them.

    Args:
        old: The former manifest's entries.
        new: The later manifest's entries.
        wanted: Asked for each path.
        prefix: What the paths are shown without.

    Returns:
        Files that differ in bytes, mode, or where they are to be had, in order of their paths.
    """
    left, right = (
        {entry.path: _version(entry) for entry in entries if wanted(entry.path)}
        for entries in (old, new)
    )
    paths = sorted({*left, *right}, key=str.encode)
    changed = [path for path in paths if left.get(path) != right.get(path)]
    return FileChanges(
        unchanged=len(paths) - len(changed),
        changed=tuple(
            FileChange(path=path.removeprefix(prefix), old=left.get(path), new=right.get(path))
            for path in changed
        ),
    )


def compare_references(
    old: tuple[RunEvidence, ReferenceOutcome], new: tuple[RunEvidence, ReferenceOutcome]
) -> ReferenceDifference:
    """Hold the references of two packages against each other; reads both logs where they differ.

    Args:
        old: The former reference, and how it ended.
        new: The later reference, and how it ended.

    Returns:
        Where they part, how far, and what their metrics were at their ends.
    """
    (left, left_end), (right, right_end) = old, new
    chain_equal = left_end.chain == right_end.chain
    walk = None if chain_equal else _walked(left, right)
    difference = ReferenceDifference(
        old_last_step=left_end.last_step,
        new_last_step=right_end.last_step,
        chain_equal=chain_equal,
        config_equal=left.header.config == right.header.config,
        constants=split(dict(left.header.constants), dict(right.header.constants)),
        start=split(dict(left.start.state), dict(right.start.state)),
        divergence=None if walk is None else walk.divergence,
        structure=None if walk is None else walk.structure,
        counts=None if walk is None else walk.counts(),
        metrics=tuple(_metric_changes(left_end.final_metrics, right_end.final_metrics)),
    )
    patterns = patterns_of(evidence_of_references(difference))
    return difference.model_copy(update={"patterns": patterns})


def _walked(left: RunEvidence, right: RunEvidence) -> RunWalk:
    first_step = max(left.header.first_step, right.header.first_step)
    views = [
        view_from(run.header, run.start, run.steps(first_step - 1), first_step)
        for run in (left, right)
    ]
    walk = RunWalk(views[0], views[1], first_step)
    walk.walk()
    return walk


def compare_outcomes(old: Results, new: Results) -> tuple[int, tuple[OutcomeChange, ...]]:
    """Return how many comparisons came out the same in every number, and those that did not."""
    left, right = ({row.run: row for row in results.comparisons} for results in (old, new))
    names = _names(left, right)
    changed = tuple(
        OutcomeChange(run=name, old=left.get(name), new=right.get(name))
        for name in names
        if left.get(name) != right.get(name)
    )
    return len(names) - len(changed), changed


def _metric_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[MetricChange]:
    for name in sorted({*old, *new}):
        left, right = old.get(name), new.get(name)
        if _json(left) != _json(right):  # as stored: -0.0 is not 0.0
            yield MetricChange(metric=name, old=left, new=right)


def _version(entry: Entry) -> FileVersion:
    return FileVersion(
        size=entry.size,
        digest=entry.digest,
        executable=entry.executable,
        included=entry.included,
        location=entry.location,
    )


def _dumped(document: Plan | PackageMetadata) -> dict[str, Any]:
    """A document's members without those that say nothing; values of a configuration may."""
    members: dict[str, Any] = document.model_dump(mode="json", exclude_none=True)
    return members


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[ValueChange, ...]:
    return tuple(
        change for name in _names(old, new) for change in _change(name, *_pair(name, old, new))
    )


def _change(key: str, old: Any, new: Any) -> Iterator[ValueChange]:
    """Changes of one value, or of the values below it where both sides have a table."""
    if _is_table(key, old) and _is_table(key, new):
        for name in _names(old, new):
            yield from _change(f"{key}.{name}", *_pair(name, old, new))
        return
    left, right = (None if value is _NOTHING else _json(value) for value in (old, new))
    if left != right:
        yield ValueChange(key=key, old=left, new=right)


def _names(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of both, in the order of the old one, then of the new one."""
    return tuple(dict.fromkeys((*old, *new)))


def _pair(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Any, Any]:
    return old.get(name, _NOTHING), new.get(name, _NOTHING)


def _is_table(key: str, value: Any) -> bool:
    """A mapping of names to values, and no encoded value."""
    if not isinstance(value, Mapping) or key.rpartition(".")[2] in _WHOLE:
        return False
    return not any(name.startswith("$") for name in value)


def _json(value: Any) -> str:
    return encode_canonical(value).decode("utf-8").removesuffix("\n")
