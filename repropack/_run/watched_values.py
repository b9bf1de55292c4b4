"""What a watcher makes of one value: a digest to compare it by, and a few words to show it by.

No code of the experiment is called: every type is asked for by identity, values are read through
the methods of Python's and NumPy's own types. No memory address gets into a digest or a word.
"""

from __future__ import annotations

import collections
import contextlib
import datetime as dt
import decimal
import enum
import fractions
import hashlib
import random
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from repropack._run.loading import one_line
from repropack.models.worker import WatchedKind

MAX_PLAIN_ITEMS = 200_000
"""Numbers and texts of one container that are looked at as one value."""
MAX_DEPTH = 24
_MAX_SHOWN = 60
_MAX_LISTED = 512
"""Elements of an array that is also compared with a list."""

_ATOMS = (type(None), bool, int, float, complex, str, bytes)
_CONVERSIONS = (
    (int, int.__int__),
    (float, float.__float__),
    (str, str.__str__),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))),
    (bytearray, lambda value: bytes(bytearray.__getitem__(value, slice(None)))),
)
_SHOWN_BY_REPR = (
    dt.date,
    dt.datetime,
    dt.time,
    dt.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    range,
)


class TooMuch(Exception):  # noqa: N818 - a signal within the watcher, no error of a run
    """A value is larger or deeper than is looked at."""


class NotPlain(Exception):  # noqa: N818 - likewise
    """A container holds an object that has an identity of its own."""


@dataclass(frozen=True)
class Leaf:
    """A value without parts: its kind, how it is compared, and how it is shown.

    ``digests`` are of its forms, its own first; a state may hold any of them.
    """

    kind: WatchedKind
    digests: tuple[str, ...]
    shown: str
    array: np.ndarray[Any, Any] | None = None


class Budget:
    """How much one look may take together: bytes of arrays, and items of plain containers."""

    def __init__(self, array_bytes: int, items: int) -> None:
        self.array_bytes, self.items = array_bytes, items

    def take_bytes(self, count: int) -> None:
        """Take room for an array.

        Raises:
            TooMuch: there is none left.
        """
        if count > self.array_bytes:
            raise TooMuch
        self.array_bytes -= count

    def take_item(self) -> None:
        """Take room for one number or text.

        Raises:
            TooMuch: there is none left.
        """
        if self.items <= 0:
            raise TooMuch
        self.items -= 1


def is_plain_array(kind: type) -> bool:
    """Whether a type is NumPy's array or derives from it."""
    return any(base is np.ndarray for base in mro(kind))  # "in" asks metaclasses


def mro(kind: type) -> tuple[type, ...]:
    """A type's bases, whatever its metaclass says."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return found


def kind_name(kind: type) -> str:
    """A type's module and name."""
    module = type.__dict__["__module__"].__get__(kind)
    name = type.__dict__["__qualname__"].__get__(kind)
    return one_line(name if module in {"builtins", "__main__"} else f"{module}.{name}")


def digest_plain(value: Any, budget: Budget) -> str:
    """Digest of numbers, texts, arrays and containers of those; a tuple equals a list.

    Args:
        value: The value.
        budget: What it may take.

    Returns:
        SHA-256, hexadecimal.

    Raises:
        NotPlain: something else is in it.
        TooMuch: it is too large or too deep.
    """
    hasher = hashlib.sha256()
    _feed(hasher.update, value, budget, 0)
    return hasher.hexdigest()


def _feed(update: Callable[[bytes], object], value: Any, budget: Budget, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise TooMuch
    budget.take_item()
    value = _as_builtin(value)
    kind = type(value)
    bases = mro(kind)
    if kind in _ATOMS:
        update(_atom(value))
    elif np.generic in bases and hasattr(np.generic, "item"):
        _feed(update, np.generic.item(value), budget, depth + 1)
    elif np.ndarray in bases:
        update(b"a" + _array_digest(value, budget).encode())
    elif list in bases or tuple in bases or collections.deque in bases:
        items = list(_items(value))
        update(b"l%d;" % len(items))
        for item in items:
            _feed(update, item, budget, depth + 1)
    elif dict in bases:
        _feed_dict(update, value, budget, depth)
    elif set in bases or frozenset in bases:
        parts = sorted(_part(item, budget, depth) for item in _items(value))
        update(b"e%d;" % len(parts) + b"".join(parts))
    elif kind in _SHOWN_BY_REPR:
        update(b"r" + repr(value).encode("utf-8", "surrogatepass") + b";")
    else:
        raise NotPlain


def _as_builtin(value: Any) -> object:
    """A number or text of a derived type as one of the type itself."""
    bases = mro(type(value))
    if np.generic in bases or type(value) in _ATOMS or enum.Enum in bases:
        return value
    convert: Any
    for base, convert in _CONVERSIONS:
        if base in bases:
            return convert(value)
    return value


def _part(item: object, budget: Budget, depth: int) -> bytes:
    hasher = hashlib.sha256()
    _feed(hasher.update, item, budget, depth + 1)
    return hasher.digest()


def _feed_dict(update: Callable[[bytes], object], value: Any, budget: Budget, depth: int) -> None:
    items: list[tuple[Any, Any]] = list(dict.items(value))
    pairs = [(_part(key, budget, depth), item) for key, item in items]
    update(b"d%d;" % len(pairs))
    for key, item in sorted(pairs, key=lambda pair: pair[0]):
        update(key)
        _feed(update, item, budget, depth + 1)


def _items(value: Any) -> Iterator[Any]:
    """The items of a list, tuple, deque or set, by its own type's iteration."""
    bases = mro(type(value))
    base: Any = next(
        one for one in (list, tuple, collections.deque, set, frozenset) if one in bases
    )
    items: Iterator[Any] = base.__iter__(value)
    return items


def _atom(value: Any) -> bytes:
    kind = type(value)
    if kind is float:
        return b"f" + struct.pack("<d", value)
    if kind is complex:
        return b"c" + struct.pack("<dd", value.real, value.imag)
    if kind is int:
        return b"i" + hex(value).encode() + b";"
    if kind is bytes:
        return b"b%d;" % len(value) + bytes(value)
    if kind is str:
        encoded = value.encode("utf-8", "surrogatepass")
        return b"s%d;" % len(encoded) + bytes(encoded)
    return repr(value).encode() + b";"


def _array_digest(value: Any, budget: Budget) -> str:
    array = np.ndarray.view(value, np.ndarray)
    budget.take_bytes(array.nbytes)
    if array.dtype.hasobject:
        raise NotPlain
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    hasher = hashlib.sha256(f"{little.dtype.str}{list(array.shape)};".encode())
    hasher.update(np.ascontiguousarray(little).reshape(-1).view(np.uint8).data)
    return hasher.hexdigest()


def look_at_plain(value: Any, budget: Budget) -> Leaf | None:
    """A number, text, array or container of those as a leaf.

    Returns:
        The leaf; ``None`` where it is something else.

    Raises:
        TooMuch: it is larger than is looked at.
    """
    kind = type(value)
    if is_plain_array(kind):
        return _array_leaf(value, budget)
    own = Budget(budget.array_bytes, min(budget.items, MAX_PLAIN_ITEMS))
    before = own.items
    try:
        digest = digest_plain(value, own)
    except NotPlain:
        return None
    budget.array_bytes, budget.items = own.array_bytes, budget.items - (before - own.items)
    if np.generic in mro(kind):
        return _scalar_leaf(value, digest)
    return Leaf("value", (digest,), shown_value(value))


def _scalar_leaf(value: Any, digest: str) -> Leaf:
    """NumPy's own number by its type too; a state may hold it as a plain one."""
    name = kind_name(type(value))
    own = hashlib.sha256(f"{name} {digest}".encode()).hexdigest()
    return Leaf("value", (own, digest), _cut(f"{shown_value(value)} ({name})"))


def _array_leaf(value: Any, budget: Budget) -> Leaf | None:
    array = np.ndarray.view(value, np.ndarray)
    if array.dtype.hasobject:
        return None
    digests = [digest_plain(array, budget)]
    if array.size <= _MAX_LISTED:
        with contextlib.suppress(NotPlain, TooMuch):
            listed = Budget(0, 2 * _MAX_LISTED)
            digests.append(digest_plain(np.ndarray.tolist(array), listed))
    return Leaf("array", tuple(digests), _shown_array(array), array)


def shown_value(value: Any) -> str:
    """A plain value in few words: what it is, and as much of it as is short."""
    value = _as_builtin(value)
    kind = type(value)
    if kind in _ATOMS or kind in _SHOWN_BY_REPR:
        text = repr(value) if kind is not int or abs(value) < 10**40 else "a long integer"
        return _cut(text)
    if np.generic in mro(kind):
        return _cut(repr(np.generic.item(value)))
    sized: Any = next(
        base for base in (list, tuple, collections.deque, dict, set, frozenset) if base in mro(kind)
    )
    count = sized.__len__(value)
    items = [] if sized in {dict, set, frozenset} else list(sized.__iter__(value))
    if not count:
        return f"an empty {kind_name(kind)}"
    if count <= 8 and all(type(item) in _ATOMS for item in items) and items:
        return _cut(repr(items))
    return f"{kind_name(kind)} of {count}"


def _shown_array(array: np.ndarray[Any, Any]) -> str:
    form = f"{array.dtype.str} {list(array.shape)}"
    if array.size == 0 or array.dtype.kind not in "biufc":
        return form
    first = ", ".join(repr(one.item()) for one in array.reshape(-1)[:3])
    return _cut(f"{form}: {first}{', ...' if array.size > 3 else ''}")


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MAX_SHOWN else f"{line[: _MAX_SHOWN - 3]}..."


def look_at_generator(value: Any, budget: Budget) -> Leaf | None:
    """A random generator of Python's, NumPy's or torch's as a leaf; ``None`` where it is none."""
    bases = mro(type(value))
    forms: list[object] = []
    if random.Random in bases:  # noqa: S311 - the author's own
        version, words, gauss = random.Random.getstate(value)
        forms = [
            {"gauss": gauss, "version": version, "words": np.array(words, np.uint32)},
            [version, words, gauss],
        ]
    elif np.random.RandomState in bases:
        legacy: Any = value
        forms = [
            np.random.RandomState.get_state(legacy, legacy=False),
            np.random.RandomState.get_state(legacy, legacy=True),
        ]
    elif np.random.Generator in bases:
        generator: Any = value
        forms = [generator.bit_generator.state]
    elif np.random.BitGenerator in bases:
        bits: Any = value
        forms = [bits.state]
    elif (torch := sys.modules.get("torch")) is not None and torch.Generator in bases:
        state = torch.Generator.get_state(value).numpy()
        forms = [state]
    if not forms:
        return None
    digests = tuple(digest_plain(form, budget) for form in forms)
    return Leaf("generator", digests, kind_name(type(value)))


def look_at_tensor(value: Any, budget: Budget) -> Leaf | None:
    """A tensor of torch as the array of its elements; ``None`` where it is none."""
    torch = sys.modules.get("torch")
    if torch is None or torch.Tensor not in mro(type(value)):
        return None
    tensor = torch.Tensor.detach(value)
    budget.take_bytes(tensor.numel() * tensor.element_size())
    plain = tensor.cpu().contiguous()
    try:
        array = plain.numpy()
    except (TypeError, RuntimeError):  # a type that NumPy does not have: its bits
        array = plain.view(torch.uint8).numpy()
    return _array_leaf(array, budget)
