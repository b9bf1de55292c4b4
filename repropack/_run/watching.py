"""What is reached from an experiment, step by step: for an audit of what its state leaves out.

A watcher looks from the experiment, or from the names of a script that owns its loop, at every
object that they lead to, and from the modules of the author's own source; and at the generators
that belong to the process. It changes nothing, keeps nothing but digests, and calls no code of the
experiment. How much it looks at is bounded, and what it leaves out is said.
"""

from __future__ import annotations

import random
import re
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from repropack._format.state import EncodedState, decode_state
from repropack._run.loading import one_line
from repropack._run.watched_objects import globals_of, gradient_of, look_into
from repropack._run.watched_parts import (
    Looked,
    Part,
    Source,
    has_attributes,
    local_names,
    opaque,
)
from repropack._run.watched_values import (
    Budget,
    Leaf,
    TooMuch,
    is_plain_array,
    kind_name,
    look_at_generator,
    look_at_plain,
    look_at_tensor,
    mro,
)
from repropack.models.worker import Job, Watched, WatchedRow

MAX_OBJECTS = 20_000
"""Objects that one look visits."""
MAX_ROWS = 4_000
MAX_PATH_DEPTH = 30
MAX_ARRAY_BYTES = 256 * 1024 * 1024
"""Bytes of arrays that one look reads."""
MAX_ITEMS = 1_000_000
"""Numbers and texts that one look reads."""
_MAX_HELD = 12
_MAX_NAME_CHARACTERS = 100
_COMPARED_FIRST = 16
"""Elements of two arrays that are compared before all are."""
_MAX_LEFT_OUT = 20


class Watcher:
    """Looks at what an experiment leads to, and tells what is other than at the look before.

    Attributes:
        state: The experiment's state as it was taken last.
    """

    def __init__(self, job: Job, source: Path) -> None:
        """Prepare to look.

        Args:
            job: What is run.
            source: Folder of the code that runs, without links in its path.
        """
        self._is_loop = job.experiment.loop
        self._source = Source(source)
        self._rows: dict[str, WatchedRow] = {}
        self.state = EncodedState({}, {})

    def look(self, experiment: object, step: int) -> Watched:
        """Look at everything once.

        Args:
            experiment: The experiment; for a script that owns its loop, its frames are looked at.
            step: The step that was made last.

        Returns:
            Rows that are new or other than at the look before, paths that are gone, and what was
            left out.
        """
        roots = list(self._loop_roots() if self._is_loop else [("self", experiment)])
        for name, module in self._source.modules():
            roots += globals_of(name, module)
        look = _Look(self._source, _StateIndex(self.state))
        look.at_generators()
        look.walk(roots)
        before, self._rows = self._rows, look.rows
        return Watched(
            step=step,
            rows=tuple(row for path, row in look.rows.items() if before.get(path) != row),
            gone=tuple(path for path in before if path not in look.rows),
            left_out=tuple(look.left_out[:_MAX_LEFT_OUT]),
        )

    def _loop_roots(self) -> Iterator[Part]:
        """Local names of the functions of the script that wait for the loop."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the frames are what is watched
        while frame is not None:
            code = frame.f_code
            if self._source.owns_file(code.co_filename) and code.co_name != "<module>":
                for name, value in local_names(frame).items():
                    yield f"{code.co_name}.{name}", value
            frame = frame.f_back


class _StateIndex:
    """What a state holds, by digest: names of values, and of parts of them."""

    def __init__(self, state: EncodedState) -> None:
        self.names: dict[str, list[str]] = {}
        self._arrays: dict[int, list[tuple[str, np.ndarray[Any, Any]]]] = {}
        self._budget = Budget(MAX_ARRAY_BYTES, MAX_ITEMS)
        for name, value in decode_state(state).items():
            self._add(name, value)

    def _add(self, name: str, value: object) -> None:
        try:
            leaf = look_at_plain(value, self._budget)
        except TooMuch:
            return
        for digest in leaf.digests if leaf is not None else ():
            self.names.setdefault(digest, []).append(name)
        if isinstance(value, np.ndarray):
            self._arrays.setdefault(value.size, []).append((name, value))
        elif isinstance(value, dict):
            for key, part in value.items():
                self._add(f"{name}/{key}", part)
        elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
            for place, part in enumerate(value):
                self._add(f"{name}/{place}", part)

    def held(self, path: str, leaf: Leaf) -> tuple[str, ...]:
        """Names of the state under which a value is held in full, those like its own first."""
        found = {name for digest in leaf.digests for name in self.names.get(digest, ())}
        if not found:
            found = {name for name, same in self._casts(leaf) if same}
        return _named(path, found)

    def narrowed(self, path: str, leaf: Leaf) -> tuple[str, ...]:
        """Names under which an array is held in a type that loses some of it."""
        return _named(path, {name for name, same in self._casts(leaf) if not same})

    def _casts(self, leaf: Leaf) -> Iterator[tuple[str, bool]]:
        """Arrays of the state that are an array in another type or shape; whether it comes back."""
        array = leaf.array
        if array is None or array.size == 0 or array.dtype.kind not in "iufc":
            return
        for name, stored in self._arrays.get(array.size, ()):
            same_form = (stored.dtype, stored.shape) == (array.dtype, array.shape)
            complex_differs = (stored.dtype.kind == "c") != (array.dtype.kind == "c")
            if same_form or complex_differs or stored.dtype.kind not in "iufc":
                continue
            flat, kept = array.reshape(-1), stored.reshape(-1)
            first = slice(_COMPARED_FIRST)
            if _is_cast(flat[first], kept[first]) and _is_cast(flat, kept):
                with np.errstate(all="ignore"):
                    yield name, kept.astype(flat.dtype).tobytes() == flat.tobytes()


def _is_cast(array: np.ndarray[Any, Any], kept: np.ndarray[Any, Any]) -> bool:
    with np.errstate(all="ignore"):
        return array.astype(kept.dtype).tobytes() == kept.tobytes()


def _named(path: str, names: set[str]) -> tuple[str, ...]:
    """Some of many names: those that end like the path first."""
    tail = re.split(r"[.\[\]'/]+", path.rstrip("]'"))[-1]
    chosen = sorted(names, key=lambda name: (re.split(r"[./]", name)[-1] != tail, len(name), name))
    return tuple(sorted(one_line(name)[:_MAX_NAME_CHARACTERS] for name in chosen[:_MAX_HELD]))


class _Look:
    """One look: a walk, shortest paths first, that visits no object twice."""

    def __init__(self, source: Source, state: _StateIndex) -> None:
        self.rows: dict[str, WatchedRow] = {}
        self.left_out: list[str] = []
        self._source, self._state = source, state
        self._budget = Budget(MAX_ARRAY_BYTES, MAX_ITEMS)
        self._seen: dict[int, tuple[str, object]] = {}

    def at_generators(self) -> None:
        """Look at the generators that belong to the process."""
        for path, generator in _process_generators().items():
            self._visit(path, generator)

    def walk(self, roots: list[Part]) -> None:
        """Look at all that the roots lead to."""
        queue = deque((path, value, 0) for path, value in roots)
        visited = 0
        while queue:
            path, value, depth = queue.popleft()
            visited += 1
            if visited > MAX_OBJECTS or len(self.rows) >= MAX_ROWS:
                self._leave_out(f"{path} and what follows: more than {MAX_OBJECTS} objects")
                return
            for part_path, part in self._visit(path, value):
                if depth < MAX_PATH_DEPTH:
                    queue.append((part_path, part, depth + 1))
                else:
                    self._leave_out(f"{part_path}: deeper than {MAX_PATH_DEPTH}")

    def _visit(self, path: str, value: object) -> tuple[Part, ...]:
        """Look at one object; returns its parts."""
        if self._is_known(path, value):
            return ()
        looked = self._looked(path, value)
        if looked.left_out:
            self._leave_out(f"{path}: {looked.left_out} of its parts")
        if looked.shares or (looked.leaf is not None and looked.leaf.kind in _SHARING):
            self._seen[_identity(value)] = (path, value)
        elif looked.parts:  # code, which is looked into once and is no state
            self._seen[id(value)] = ("", value)
        if looked.leaf is not None:
            self._add(path, looked.leaf)
        return looked.parts

    def _looked(self, path: str, value: object) -> Looked:
        try:
            for look in (look_at_plain, look_at_generator, look_at_tensor):
                leaf = look(value, self._budget)
                if leaf is not None:
                    if leaf.kind == "value" and _has_names(value):
                        return _with_forms(look_into(path, value, self._source), leaf)
                    return Looked(leaf, gradient_of(path, value), shares=_has_identity(value))
            return look_into(path, value, self._source)
        except TooMuch:
            self._leave_out(f"{path}: larger than is looked at ({kind_name(type(value))})")
            return Looked(None)
        except Exception:  # noqa: BLE001 - an object of any library; it must not end the run
            return opaque(value)

    def _is_known(self, path: str, value: object) -> bool:
        known = self._seen.get(_identity(value))
        if known is None:
            return False
        origin = known[0]
        if origin:
            known_as = one_line(origin)
            row = WatchedRow(
                path=one_line(path), kind="shared", digest="", shown="", origin=known_as
            )
            self._put(row)
        return True

    def _add(self, path: str, leaf: Leaf) -> None:
        held = self._state.held(path, leaf)
        self._put(
            WatchedRow(
                path=one_line(path),
                kind=leaf.kind,
                digest=leaf.digests[0],
                shown=leaf.shown,
                held=held,
                narrowed=() if held else self._state.narrowed(path, leaf),
            )
        )

    def _put(self, row: WatchedRow) -> None:
        self.rows.setdefault(row.path, row)

    def _leave_out(self, what: str) -> None:
        self.left_out.append(one_line(what))


_CONTAINERS = frozenset({dict, list, tuple, set, frozenset, deque})
_MAX_NAMES = 200
"""Names of a dictionary that is looked at name by name; a longer one is one value."""
_SHARING = frozenset({"array", "generator"})


def _identity(value: object) -> int:
    """What two names of one object, or of one array's memory, have in common."""
    if is_plain_array(type(value)):
        owner: Any = value
        while type(base := np.ndarray.base.__get__(owner)) is np.ndarray:  # not its own ``base``
            owner = base
        return id(owner)
    return id(value)


def _with_forms(looked: Looked, plain: Leaf) -> Looked:
    """A dictionary looked at name by name, which a state may hold as one value."""
    if looked.leaf is None:
        return looked
    digests = (*looked.leaf.digests, *plain.digests)
    return replace(looked, leaf=replace(looked.leaf, digests=digests))


def _has_names(value: object) -> bool:
    """Whether a plain container is looked at name by name, or has attributes besides."""
    bases = mro(type(value))
    if dict in bases and 0 < dict.__len__(value) <= _MAX_NAMES:  # type: ignore[arg-type]
        return True
    return not _CONTAINERS.isdisjoint(bases) and has_attributes(value)


def _has_identity(value: object) -> bool:
    return type(value) in {dict, list, deque, set} and bool(value)


def _process_generators() -> Mapping[str, object]:
    """The generators that belong to the process, of the libraries that are imported."""
    found: dict[str, object] = {
        "random": random._inst,  # noqa: SLF001 - the global one
        "numpy.random": np.random.mtrand._rand,  # noqa: SLF001 - the global one
    }
    torch = sys.modules.get("torch")
    if torch is not None:
        found["torch"] = torch.default_generator
    return found
