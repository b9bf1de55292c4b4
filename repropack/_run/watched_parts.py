"""What an object is made of, by its attributes, and which code is the author's own.

Nothing of the experiment is called: attributes are read from dictionaries and slots, a class from
its own dictionary.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repropack._run.watched_values import Leaf, kind_name, mro
from repropack.models.worker import WatchedKind

Part = tuple[str, object]
"""A path and the object that it leads to."""

_HEAP_TYPE = 1 << 9
_MAX_PARTS = 2000


@functools.lru_cache(maxsize=4096)
def _lies_in(file: str, folder: Path) -> bool:
    return Path(file).resolve().is_relative_to(folder)


@dataclass(frozen=True)
class Source:
    """The folder of the author's own code; only what is defined there is looked into as code."""

    folder: Path

    def modules(self) -> list[tuple[str, types.ModuleType]]:
        """Modules of the author's own, sorted, each under its name or its file's."""
        found = []
        for name, module in sorted(sys.modules.items(), key=lambda pair: pair[0]):
            if type(module) is types.ModuleType and self.owns_module(module):
                file = module.__dict__.get("__file__")
                shown = Path(file).stem if name == "__main__" and file else name
                found.append((shown, module))
        return found

    def owns_module(self, module: types.ModuleType) -> bool:
        """Whether a module's file lies in the folder."""
        return self.owns_file(module.__dict__.get("__file__"))

    def owns_file(self, file: object) -> bool:
        """Whether a file lies in the folder."""
        return type(file) is str and _lies_in(file, self.folder)

    def owns_class(self, kind: type) -> bool:
        """Whether a class was defined in a module of the folder."""
        module = sys.modules.get(module_of(kind))
        return type(module) is types.ModuleType and self.owns_module(module)


@dataclass(frozen=True)
class Looked:
    """What an object is: a leaf or none, and its parts. ``shares``: it may have two names."""

    leaf: Leaf | None
    parts: tuple[Part, ...] = ()
    left_out: int = 0
    shares: bool = False


NOTHING = Looked(None)


def opaque(value: Any) -> Looked:
    """An object that cannot be looked into: its type is all that is seen of it."""
    name = kind_name(type(value))
    return Looked(Leaf("opaque", ("",), name))


def leaf_of(kind: WatchedKind, shown: str, digest: str | None = None) -> Leaf:
    """A leaf that is compared by a text, that which is shown where no other is given."""
    text = shown if digest is None else digest
    return Leaf(kind, (hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),), shown)


def made_of(leaf: Leaf | None, parts: list[Part], *, shares: bool) -> Looked:
    """An object with its parts, as many as are looked at."""
    return Looked(leaf, tuple(parts[:_MAX_PARTS]), max(0, len(parts) - _MAX_PARTS), shares)


def is_heap_type(kind: type) -> bool:
    """Whether a class was made by a class statement, or is one of C's that can be ended."""
    flags: int = type.__dict__["__flags__"].__get__(kind)
    return bool(flags & _HEAP_TYPE)


def module_of(kind: type) -> str:
    """The name of a class's module; empty where it says none."""
    module = type.__dict__["__module__"].__get__(kind)
    return module if type(module) is str else ""


def instance_dict(value: Any) -> dict[str, Any]:
    """An object's own attributes, past any property of that name; empty where it has none."""
    for base in mro(type(value)):
        entry = type.__dict__["__dict__"].__get__(base).get("__dict__")
        if type(entry) is types.GetSetDescriptorType:
            found = entry.__get__(value)
            return dict(found) if type(found) is dict else {}
        if entry is not None:
            return {}
    return {}


def has_attributes(value: Any) -> bool:
    """Whether a container has attributes besides its items."""
    return bool(instance_dict(value))


def attributes(path: str, value: Any) -> Iterator[Part]:
    """An object's attributes, of its dictionary and of its slots."""
    for name, member in instance_dict(value).items():
        yield (f"{path}.{name}" if type(name) is str else f"{path}.<attribute>"), member
    for base in mro(type(value)):
        if not is_heap_type(base):
            continue
        for name, member in type.__dict__["__dict__"].__get__(base).items():
            if type(member) is not types.MemberDescriptorType:
                continue
            try:
                yield f"{path}.{name}", member.__get__(value)
            except AttributeError:  # it has not been given a value yet
                continue


def local_names(frame: types.FrameType) -> dict[str, Any]:
    """The local names of a function that is under way.

    Returns:
        Values by name. Before Python 3.13 a frame keeps what it was asked for, and with it every
        object: that is cleared, or arrays could no longer be resized in place.
    """
    names = frame.f_locals
    found = dict(names)
    if sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        names.clear()
    return found
