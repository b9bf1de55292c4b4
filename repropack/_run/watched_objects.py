"""The parts of an object, each with the path by which its author would name it.

Nothing of the experiment is called: attributes are read from dictionaries and slots, items by the
methods of Python's own types, classes by their own dictionaries. What has no parts that can be
read so is opaque, and said to be.
"""

from __future__ import annotations

import collections
import enum
import functools
import gc
import io
import itertools
import logging
import pathlib
import re
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from repropack._run.watched_parts import (
    NOTHING,
    Looked,
    Part,
    Source,
    attributes,
    instance_dict,
    is_heap_type,
    leaf_of,
    local_names,
    made_of,
    module_of,
    opaque,
)
from repropack._run.watched_values import kind_name, mro

_OWN_PACKAGE = "repropack"
_MAX_KEY_CHARACTERS = 60
_CALLABLES = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    np.ufunc,
)
_HARMLESS: tuple[type, ...] = (
    *_CALLABLES,
    logging.Handler,
    logging.Logger,
    type(Ellipsis),
    type(NotImplemented),
    np.dtype,
    property,
    re.Pattern,
    re.Match,
    slice,
    types.CodeType,
    types.FrameType,
    types.GenericAlias,
    types.TracebackType,
    types.UnionType,
    weakref.ReferenceType,
    type(threading.Lock()),
    type(threading.RLock()),
)
"""Types whose objects determine no result by themselves, and C's functions."""
_ITERATORS: tuple[Any, ...] = (
    type(iter([])),
    type(iter(())),
    type(iter("")),
    type(iter(range(0))),
    type(iter(b"")),
    type(iter({})),
    type(iter({}.items())),
    type(iter({}.values())),
    type(iter(set())),
    type(reversed([])),
)
"""Iterators that know how many items they have left."""
_WRAPPERS = (enumerate, filter, map, zip)
_FILE = mro(io.BytesIO)[-2]
"""What all files derive from."""
_SKIPPED_GLOBALS = frozenset({"__builtins__", "__annotations__", "__cached__", "__doc__"})


def look_into(path: str, value: Any, source: Source) -> Looked:
    """Look at an object that is no plain value, generator or tensor.

    Args:
        path: How it is reached.
        value: The object.
        source: The author's own code.

    Returns:
        What it is and what it is made of.
    """
    kind = type(value)
    bases = mro(kind)
    for look in (_look_at_code, _look_at_iterator, _look_at_container):
        looked = look(path, value, source)
        if looked is not None:
            return looked
    if any(base in bases for base in _HARMLESS) or pathlib.PurePath in bases:
        return NOTHING
    if enum.Enum in bases:
        name = instance_dict(value).get("_name_")
        return Looked(leaf_of("value", f"{kind_name(kind)}.{name}"))
    if _is_ours(kind):
        return NOTHING
    if _FILE in bases:
        return _look_at_file(value)
    parts = list(attributes(path, value))
    if not parts and not is_heap_type(kind):
        return opaque(value)
    return made_of(None, parts, shares=True)


def _is_ours(kind: type) -> bool:
    return module_of(kind).partition(".")[0] == _OWN_PACKAGE


def _look_at_code(path: str, value: Any, source: Source) -> Looked | None:
    """Modules, classes, functions, methods, partial calls and caches."""
    kind = type(value)
    if kind is types.ModuleType:
        return NOTHING  # the author's own are roots
    if type in mro(kind):
        return _look_at_class(path, value, source)
    if kind is types.FunctionType:
        return _look_at_function(path, value, source)
    if kind is types.MethodType:
        method: Any = value
        return made_of(
            None, [(path, method.__func__), (f"{path}.__self__", method.__self__)], shares=False
        )
    if kind in {staticmethod, classmethod}:
        return made_of(None, [(path, value.__func__)], shares=False)
    if kind is functools.partial:
        partial: Any = value
        called = [("func", partial.func), ("args", partial.args), ("keywords", partial.keywords)]
        return made_of(None, [(f"{path}.{name}", part) for name, part in called], shares=False)
    if kind is functools._lru_cache_wrapper:  # noqa: SLF001 - the type of what lru_cache gives
        cache: Any = value
        hits, misses, _, size = cache.cache_info()
        parts = [(f"{path}.__wrapped__", cache.__wrapped__)]
        leaf = leaf_of("cache", f"{size} results", f"{hits} {misses} {size}")
        return made_of(leaf, parts, shares=False)
    return None


def _look_at_class(path: str, kind: type, source: Source) -> Looked:
    if not source.owns_class(kind):
        return NOTHING
    members = type.__dict__["__dict__"].__get__(kind)
    parts = [
        (f"{path}.{name}", member)
        for name, member in members.items()
        if not (name.startswith("__") and name.endswith("__")) and name != "_abc_impl"
    ]
    return made_of(None, parts, shares=False)


def _look_at_function(path: str, value: Any, source: Source) -> Looked:
    if not source.owns_file(value.__code__.co_filename):
        return NOTHING
    parts: list[Part] = []
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            parts.append((f"{path}.<{name}>", cell.cell_contents))
        except ValueError:  # it has not been given a value yet
            continue
    parts += [(f"{path}.__defaults__[{k}]", one) for k, one in enumerate(value.__defaults__ or ())]
    keyword_only = value.__kwdefaults__ or {}
    parts += [(f"{path}.__defaults__.{name}", one) for name, one in keyword_only.items()]
    parts += [(f"{path}.{name}", one) for name, one in value.__dict__.items()]
    return made_of(None, parts, shares=False)


def _look_at_iterator(path: str, value: Any, source: Source) -> Looked | None:
    """Iterators by how many items are left, generators by their place and local names."""
    kind = type(value)
    if kind in _ITERATORS:
        iterator: Any = value
        left = kind.__length_hint__(iterator)
        return Looked(leaf_of("iterator", f"{kind_name(kind)} with {left} items left"))
    if kind is types.GeneratorType:
        generator: Any = value
        frame = generator.gi_frame
        if frame is None or not source.owns_file(generator.gi_code.co_filename):
            return Looked(leaf_of("iterator", "an ended generator")) if frame is None else NOTHING
        if generator.gi_running:
            return NOTHING
        parts = [(f"{path}.<{name}>", one) for name, one in local_names(frame).items()]
        leaf = leaf_of("iterator", f"generator {generator.__name__}", f"at {frame.f_lasti}")
        return made_of(leaf, parts, shares=True)
    if kind is itertools.count and {int, float}.issuperset(map(type, gc.get_referents(value))):
        return Looked(leaf_of("iterator", repr(value)))
    if kind in _WRAPPERS or module_of(kind) == "itertools":
        return made_of(opaque(value).leaf, _wrapped(path, value), shares=True)
    return None


def _wrapped(path: str, value: Any) -> list[Part]:
    """What an iterator goes over; what it handed out last is left out."""
    found: list[object] = []
    for one in gc.get_referents(value):
        found += one if type(one) is tuple else [one]
    return [
        (f"{path}.<{k}>", one)
        for k, one in enumerate(found, 1)
        if type in mro(type(type(one)))
        and type(one) in {*_ITERATORS, *_WRAPPERS, list, types.GeneratorType}
    ]


def _look_at_container(path: str, value: Any, source: Source) -> Looked | None:  # noqa: ARG001
    """Dictionaries by key, lists by place; of a set that is not plain, how many it has."""
    bases = mro(type(value))
    if dict in bases or type(value) is types.MappingProxyType:
        pairs: list[Any] = list(dict.items(value) if dict in bases else value.items())
        keys = [_key(key, k) for k, (key, _) in enumerate(pairs, 1)]
        parts = [(f"{path}{key}", one) for key, (_, one) in zip(keys, pairs, strict=True)]
        parts += attributes(path, value)
        leaf = leaf_of("names", f"{len(keys)} names", "\n".join(keys))
        return made_of(leaf, parts, shares=True)
    for base in (list, tuple, collections.deque):
        if base in bases:
            items: list[Any] = list(base.__iter__(value))
            parts = [(f"{path}[{k}]", one) for k, one in enumerate(items)]
            parts += attributes(path, value)
            return made_of(leaf_of("names", f"{len(items)} items"), parts, shares=True)
    for group in (set, frozenset):
        if group in bases:
            leaf = leaf_of("names", f"{group.__len__(value)} objects")
            return made_of(leaf, [], shares=True)
    if np.ndarray in bases:  # of objects
        items = list(np.ndarray.tolist(np.ndarray.ravel(value)))
        parts = [(f"{path}.flat[{k}]", one) for k, one in enumerate(items)]
        return made_of(leaf_of("names", f"{len(items)} objects"), parts, shares=True)
    if types.CellType in bases:
        cell: Any = value
        try:
            return made_of(None, [(path, cell.cell_contents)], shares=False)
        except ValueError:
            return NOTHING
    return None


def _key(key: object, place: int) -> str:
    """A key as it stands in a path; one that is no number or text by its place."""
    if type(key) is str and len(key) <= _MAX_KEY_CHARACTERS:
        return f"[{key!r}]"
    if type(key) in {int, float, bool, type(None)}:
        return f"[{key!r}]"[:_MAX_KEY_CHARACTERS]
    if type(key) is tuple and all(type(one) in {int, str, float, bool} for one in key):
        return f"[{key!r}]"[:_MAX_KEY_CHARACTERS]
    return f"[key {place}]"


def _look_at_file(value: Any) -> Looked:
    """An open file by its position, where that can be asked without the experiment's code."""
    kind = type(value)
    raw: Any = value
    if kind is io.TextIOWrapper:
        raw = raw.buffer
    try:
        if type(raw) in {io.BufferedReader, io.BufferedRandom, io.BytesIO, io.StringIO, io.FileIO}:
            inner = getattr(raw, "raw", raw)
            if type(inner) in {io.FileIO, io.BytesIO, io.StringIO} and raw.seekable():
                return Looked(leaf_of("file", f"file at position {raw.tell()}"))
    except (OSError, ValueError):
        return Looked(leaf_of("file", "a closed file"))
    return opaque(value)


def gradient_of(path: str, value: Any) -> tuple[Part, ...]:
    """The gradient of a tensor of torch, which its attributes do not show."""
    torch = sys.modules.get("torch")
    if torch is None or torch.Tensor not in mro(type(value)):
        return ()
    if not torch.Tensor.is_leaf.__get__(value):  # it has none, and torch warns of the question
        return ()
    gradient = torch.Tensor.grad.__get__(value)
    return () if gradient is None else ((f"{path}.grad", gradient),)


def globals_of(name: str, module: types.ModuleType) -> Iterator[Part]:
    """The names of a module, its own and those that it imports."""
    for key, member in list(module.__dict__.items()):
        dunder = key.startswith("__") and key.endswith("__")
        if not dunder and key not in _SKIPPED_GLOBALS:
            yield f"{name}.{key}", member
