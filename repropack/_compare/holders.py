"""Which objects may hold what a resume lacks: what was seen in a run against what came back.

Evidence, never a cause: an object that changed between steps, is in no component and is another
after the restore may be a cache that nothing depends on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from repropack.models.audit import (
    AuditedResume,
    ChangedObject,
    Holder,
    HolderKind,
    HolderReason,
)
from repropack.models.worker import Watched, WatchedRow

Rows = Mapping[str, WatchedRow]
_NO_ROWS: Rows = {}
_ROOT = re.compile(r"\w+\.\w+")
"""A name of a module or function, with which a path begins."""
_ORDER: Mapping[HolderReason, int] = {
    "narrowed": 0,
    "no-longer-shared": 1,
    "shared-after-restore": 2,
    "not-in-state": 3,
    "not-restored": 4,
    "opaque": 8,
}
_KINDS: Mapping[str, int] = {"generator": -4, "cache": 3, "names": 1}


@dataclass
class Watch:
    """What a run's worker saw, look by look."""

    _looks: dict[int, Rows] = field(default_factory=dict)
    _rows: dict[str, WatchedRow] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)

    def add(self, message: Watched) -> None:
        """Take the next look over.

        Args:
            message: What is other than at the look before.
        """
        for path in message.gone:
            self._rows.pop(path, None)
        self._rows |= {row.path: row for row in message.rows}
        self._looks[message.step] = dict(self._rows)
        self.left_out |= dict.fromkeys(message.left_out)

    def steps(self) -> tuple[int, ...]:
        """Steps after which it was looked, ascending."""
        return tuple(self._looks)

    def at(self, step: int) -> Rows:
        """All that was seen after a step; nothing where it was not looked."""
        return self._looks.get(step, _NO_ROWS)

    def looks(self) -> Iterator[tuple[int, Rows]]:
        """Every look, in order."""
        yield from self._looks.items()

    def opaque(self) -> tuple[str, ...]:
        """Paths of objects that cannot be looked into, with their type."""
        found = {
            path: row.shown
            for _, rows in self.looks()
            for path, row in rows.items()
            if row.kind == "opaque"
        }
        return tuple(f"{path} ({shown})" for path, shown in found.items())


@dataclass
class _History:
    """How one path went on: when it changed, and what held it all the time."""

    kind: str
    first: int | None = None
    changes: int = 0
    held: frozenset[str] | None = None


class Changes:
    """What changed between the looks of a run.

    Example:
        >>> Changes(Watch()).unheld({})
        ()
    """

    def __init__(self, watch: Watch) -> None:
        """Walk all looks.

        Args:
            watch: A run from its first state on.
        """
        self._paths: dict[str, _History] = {}
        self._first: Rows = _NO_ROWS
        self._roots: set[str] = set()
        before: Rows | None = None
        for step, rows in watch.looks():
            if before is None:
                self._first = rows
                self._roots = {found[0] for path in rows if (found := _ROOT.match(path))}
            for path, row in rows.items():
                self._note(path, row, step, before)
            for path in () if before is None else before.keys() - rows.keys():
                self._change(path, step)
            before = rows

    def first(self, path: str) -> int | None:
        """The first step after which a path was another than before."""
        known = self._paths.get(path)
        return None if known is None else known.first

    def was_there(self, path: str) -> bool:
        """Whether a path was there before the first step."""
        return path in self._first

    def is_set_by_each_step(self, path: str) -> bool:
        """Whether a script's name was not there before the first step, so that a step makes it."""
        found = _ROOT.match(path)
        return found is not None and found[0] not in self._roots

    def held(self, path: str) -> tuple[str, ...]:
        """Names of the state that held its value at every look, as it changed.

        Returns:
            None of what never changed: that has the value of some name by chance.
        """
        known = self._paths.get(path)
        if known is None or known.first is None:
            return ()
        return tuple(sorted(known.held or ()))

    def unheld(
        self, lost: Mapping[str, tuple[int, ...]], *, loop: bool = False
    ) -> tuple[ChangedObject, ...]:
        """Objects that changed and are in no component.

        Args:
            lost: Resumes after which a path had another value, by path.
            loop: Whether a script was run that owns its loop.

        Returns:
            Them in the order in which they were reached, but those first that were lost, and names
            last that each step of a script sets.
        """
        found = [
            ChangedObject(
                path=path,
                kind=cast("HolderKind", one.kind),
                changed_first=one.first,
                changes=one.changes,
                lost_at=lost.get(path, ()),
                set_by_each_step=loop and self.is_set_by_each_step(path),
            )
            for path, one in self._paths.items()
            if one.first is not None
            and not one.held
            and one.kind not in {"shared", "opaque"}
            and not self._follows(path)
        ]
        return tuple(
            sorted(
                found,
                key=lambda one: (one.set_by_each_step, not one.lost_at, one.kind != "generator"),
            )
        )

    def _note(self, path: str, row: WatchedRow, step: int, before: Rows | None) -> None:
        known = self._paths.setdefault(path, _History(row.kind))
        known.kind = row.kind
        held = frozenset(row.held)
        known.held = held if known.held is None else known.held & held
        if before is not None and not same(before.get(path), row):
            self._change(path, step)

    def _change(self, path: str, step: int) -> None:
        known = self._paths[path]
        known.changes += 1
        if known.first is None:
            known.first = step

    def _follows(self, path: str) -> bool:
        """Whether a path is new or gone because the names of what it is in changed."""
        if self.was_there(path):
            return False
        return any(
            self._paths[parent].first is not None and self._paths[parent].kind == "names"
            for parent in parents(path)
            if parent in self._paths
        )


def same(left: WatchedRow | None, right: WatchedRow | None) -> bool:
    """Whether two rows show the same value."""
    if left is None or right is None:
        return left is right
    return (left.kind, left.digest, left.origin) == (right.kind, right.digest, right.origin)


def parents(path: str) -> Iterator[str]:
    """Paths that a path lies below, the nearest first."""
    for place in range(len(path) - 1, 0, -1):
        if path[place] in ".[":
            yield path[:place]


def lost_paths(run: Rows, restored: Rows) -> tuple[str, ...]:
    """Paths that have another value after a restore than they had in the run at that step.

    Args:
        run: What was seen in the run.
        restored: What was seen after the restore, before a step was made.

    Returns:
        Paths; of a dictionary whose names differ it alone, and not what is below it.
    """
    differing = {
        path: None
        for path in (*run, *(path for path in restored if path not in run))
        if not same(run.get(path), restored.get(path))
    }
    one_sided = {path for path in differing if path not in run or path not in restored}
    return tuple(
        path
        for path in differing
        if path not in one_sided or not any(parent in differing for parent in parents(path))
    )


def likely_holders(
    changes: Changes, run: Rows, restored: Rows, *, loop: bool
) -> tuple[Holder, ...]:
    """Objects that may hold what a resume lacks, the likeliest first.

    Args:
        changes: What changed in the run.
        run: What was seen in the run at the step after which it was resumed.
        restored: What was seen after the restore.
        loop: Whether a script was run that owns its loop.

    Returns:
        Generators first, then by reason; local names that each step sets last but one, objects
        that cannot be looked into last.
    """
    holders = [
        _holder(path, changes, run.get(path), restored.get(path), loop=loop)
        for path in lost_paths(run, restored)
        if changes.first(path) is not None or not _is_generator(path, run, restored)
    ]
    holders += [
        Holder(path=path, kind="opaque", reason="opaque", changed_first=None, in_run=row.shown)
        for path, row in run.items()
        if row.kind == "opaque" and same(row, restored.get(path))
    ]
    return tuple(sorted(holders, key=lambda one: _rank(one, changes)))


def judge_holders(
    resumes: Sequence[AuditedResume], lost: Mapping[str, Sequence[int]]
) -> tuple[AuditedResume, ...]:
    """Note which holders another resume lost as well, and went on exactly over the same step.

    Args:
        resumes: Resumes with their likely holders.
        lost: Steps after which a resume lost a path, by path.

    Returns:
        The resumes; holders that are noted so stand last, before what cannot be looked into.
    """
    exact = [one.resume_at for one in resumes if one.identical]
    judged = []
    for one in resumes:
        parted = one.divergence.step if one.divergence is not None else one.resume_at + 1
        passed = {step for step in exact if step < parted}
        holders = [
            holder.model_copy(
                update={"lost_without_harm": not passed.isdisjoint(lost.get(holder.path, ()))}
            )
            for holder in one.holders
        ]
        holders.sort(key=lambda holder: (holder.reason == "opaque", holder.lost_without_harm))
        judged.append(one.model_copy(update={"holders": tuple(holders)}))
    return tuple(judged)


def _is_generator(path: str, *looks: Rows) -> bool:
    """Whether it is a generator: one that was never drawn from determines nothing."""
    return any(path in rows and rows[path].kind == "generator" for rows in looks)


def _rank(holder: Holder, changes: Changes) -> tuple[bool, int, bool]:
    likely = _ORDER[holder.reason] + _KINDS.get(holder.kind, 0)
    return holder.set_by_each_step, likely, not changes.was_there(holder.path)


def _holder(
    path: str, changes: Changes, run: WatchedRow | None, restored: WatchedRow | None, *, loop: bool
) -> Holder:
    held, other = changes.held(path), None
    reason: HolderReason = "not-in-state"
    known = run or restored
    kind = known.kind if known is not None else "value"
    in_run, after = (None if row is None else row.shown for row in (run, restored))
    if run is not None and run.kind == "shared":
        reason, other, in_run = "no-longer-shared", run.origin, f"the same as {run.origin}"
        kind = restored.kind if restored is not None else "value"
    if restored is not None and restored.kind == "shared":
        reason, other, after = (
            "shared-after-restore",
            restored.origin,
            f"the same as {restored.origin}",
        )
    elif reason == "not-in-state" and run is not None and run.narrowed:
        reason, held = "narrowed", run.narrowed
    elif reason == "not-in-state" and held:
        reason = "not-restored"
    return Holder(
        path=path,
        kind="value" if kind == "shared" else kind,
        reason=reason,
        changed_first=changes.first(path),
        in_state=held,
        shared_with=other,
        in_run=in_run,
        after_restore=after,
        set_by_each_step=loop and changes.is_set_by_each_step(path),
    )
