"""Structure-aware changes: bytes become a short program that forges an honest package.

Plain byte flips never get past a digest. A program swaps, splices, repeats and resizes parts of
entries, edits values of documents and lines, and then makes digests and chains right again, or
leaves single ones wrong.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from repropack._format.archive_writer import ArchiveWriter
from repropack._format.canonical import encode_canonical
from repropack._format.log import chain_step
from repropack.errors import RepropackError
from tests.support.hostile import Forgery

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**53 - 1, 0.5, -0.0, 1e300, "", "a", "reference", "$int",
    "sha256:" + "0" * 64, "\x1b[2J", "\u202e", "../x", [], {}, [[]], {"$int": "9007199254740993"},
    {"$float": "nan"}, {"$array": "walk"}, "x" * 300, [1, 2, 3], {"a": {"b": []}},
)  # fmt: skip
TEXTS: tuple[bytes, ...] = (
    b"", b"\0", b"\n", b"\r\n", b",", b"{}", b"[]", b"null", b"NaN", b"1e999", b"-0", b'"\\ud800"',
    b"\xff", b"\xef\xbb\xbf", b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY\x01\x00v\x00", b"'",
    b"(0, 9999999999, )", b"|O", b">f8", b"True", b"[" * 70, b"9" * 30,
)  # fmt: skip
NAMES = ("source/zz.py", "runs/reference/checkpoints/step-000000003.npz", "figures/a.svg", "x")


class Bytes:
    """A program as a stream of small numbers; past its end everything is 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def below(self, bound: int) -> int:
        """A number from 0 to ``bound - 1``, of one byte, or of two where one is not enough."""
        width = 1 if bound <= 256 else 3
        taken = self._data[self._at : self._at + width]
        self._at += width
        return int.from_bytes(taken, "big") % max(bound, 1)

    def one_of(self, choices: Any) -> Any:
        """One element of a sequence that is not empty."""
        return choices[self.below(len(choices))]


def forge(forgery: Forgery, program: bytes) -> bytes:
    """Run a program on a package and return the zip that comes of it.

    Args:
        forgery: The package taken apart; it is changed.
        program: Any bytes.

    Returns:
        A zip in the pinned form; what is in it is the program's doing.
    """
    steps = Bytes(program)
    sealed = steps.below(8)  # bit 0: leave chains broken; bit 1: results stay as they are
    count = 0
    while steps and count < 24:
        OPERATIONS[steps.below(len(OPERATIONS))](forgery, steps)
        count += 1
    if not sealed & 1:
        rechain(forgery)
    if not sealed & 2:
        with suppress(RepropackError, ValueError, KeyError, TypeError, IndexError):
            forgery.recompute_results()  # what gives no results keeps the stored ones
    return pack(forgery, steps)


def pack(forgery: Forgery, steps: Bytes) -> bytes:
    """Write in the pinned form, sorted or not, right digests or not."""
    manifest = forgery.seal()
    names = sorted(forgery.files, key=str.encode)
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    writer.add("manifest.json", manifest)
    for name in names:
        writer.add(name, forgery.files[name], executable=name in forgery.executables)
    writer.finish()
    data = bytearray(stream.getvalue())
    for _ in range(steps.below(3)):  # and last of all a few raw bytes
        at = steps.below(len(data))
        data[at] ^= steps.below(256)
    return bytes(data)


def rechain(forgery: Forgery) -> None:
    """Chains of every log anew, as far as its lines can still be read."""
    for path in [path for path in forgery.files if path.endswith("/fingerprints.jsonl")]:
        try:
            header, start, *lines = [json.loads(x) for x in forgery.files[path].splitlines()]
            chain = start["chain"]
            for line in lines:
                line.pop("chain", None)
                _, chain = chain_step(chain, line)
                line["chain"] = chain
            forgery.files[path] = b"".join(map(encode_canonical, [header, start, *lines]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, RepropackError):
            continue  # a log that nobody can read stays as it is


# ---------------------------------------------------------------- operations


def edit_value(forgery: Forgery, steps: Bytes) -> None:
    """Put another value somewhere into a document or a line of a log."""
    path = steps.one_of(_documents(forgery))
    lines = forgery.files[path].splitlines(keepends=True)
    if not lines:
        return
    index = steps.below(len(lines)) if path.endswith(".jsonl") else 0
    data = lines[index] if path.endswith(".jsonl") else forgery.files[path]
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    places = _places(value)
    if not places:
        return
    holder, key = steps.one_of(places)
    kind = steps.below(5)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        other, from_key = steps.one_of(places)
        holder[key] = json.loads(json.dumps(other.get(from_key) if isinstance(other, dict) else 0))
    elif kind == 2 and isinstance(holder, dict):
        holder[steps.one_of(("a", "$a", "x" * 250, "weights#2", "\u202e"))] = steps.one_of(VALUES)
    elif kind == 3 and isinstance(holder, list):
        holder.append(json.loads(json.dumps(holder[key])))
    else:
        holder[key] = steps.one_of(VALUES)
    try:
        encoded = encode_canonical(value)
    except (ValueError, RecursionError):
        return
    if path.endswith(".jsonl"):
        lines[index] = encoded
        forgery.files[path] = b"".join(lines)
    else:
        forgery.files[path] = encoded


def splice(forgery: Forgery, steps: Bytes) -> None:
    """Replace a stretch of an entry by a known nasty text, or by a stretch of another entry."""
    path = _entry(forgery, steps)
    data = forgery.files[path]
    start = steps.below(len(data) + 1)
    length = steps.below(64)
    if steps.below(2):
        piece = steps.one_of(TEXTS)
    else:
        other = forgery.files[_entry(forgery, steps)]
        at = steps.below(len(other) + 1)
        piece = other[at : at + steps.below(64)]
    forgery.files[path] = data[:start] + piece + data[start + length :]


def flip(forgery: Forgery, steps: Bytes) -> None:
    """Change one byte of an entry."""
    path = _entry(forgery, steps)
    data = bytearray(forgery.files[path])
    if data:
        data[steps.below(len(data))] ^= 1 + steps.below(255)
        forgery.files[path] = bytes(data)


def swap_entries(forgery: Forgery, steps: Bytes) -> None:
    """Two entries change places."""
    one, other = _entry(forgery, steps), _entry(forgery, steps)
    forgery.files[one], forgery.files[other] = forgery.files[other], forgery.files[one]


def drop_entry(forgery: Forgery, steps: Bytes) -> None:
    """An entry is gone, from the manifest too."""
    if len(forgery.files) > 1:
        del forgery.files[_entry(forgery, steps)]


def copy_entry(forgery: Forgery, steps: Bytes) -> None:
    """An entry is there a second time under another path."""
    data = forgery.files[_entry(forgery, steps)]
    target = steps.one_of((*NAMES, _entry(forgery, steps).replace("2", "8")))
    forgery.files[target] = data


def edit_lines(forgery: Forgery, steps: Bytes) -> None:
    """Lines of a log are dropped, repeated, swapped, or the log is cut."""
    logs = [path for path in sorted(forgery.files) if path.endswith(".jsonl")]
    if not logs:
        return
    path = steps.one_of(logs)
    lines = forgery.files[path].splitlines(keepends=True)
    if len(lines) < 2:
        return
    one, other, kind = steps.below(len(lines)), steps.below(len(lines)), steps.below(4)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines.insert(one, lines[other])
    elif kind == 2:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines = lines[:one]
    forgery.files[path] = b"".join(lines)


def edit_row(forgery: Forgery, steps: Bytes) -> None:
    """A row of the manifest says something else."""
    path = _entry(forgery, steps)
    member = steps.one_of(("path", "size", "digest", "role", "media_type", "executable", "extra"))
    forgery.rows[path] = {member: steps.one_of(VALUES)}


Operation = Callable[[Forgery, Bytes], None]
OPERATIONS: tuple[Operation, ...] = (
    edit_value, edit_value, edit_value, splice, splice, flip, swap_entries, drop_entry, copy_entry,
    edit_lines, edit_row,
)  # fmt: skip


def _documents(forgery: Forgery) -> list[str]:
    found = [
        path
        for path in sorted(forgery.files)
        if path.endswith((".json", ".jsonl")) and not path.startswith("schemas/")
    ]
    return found or ["plan.json"]


def _entry(forgery: Forgery, steps: Bytes) -> str:
    return str(steps.one_of(sorted(forgery.files)))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value, outermost first."""
    found: list[tuple[Any, Any]] = []
    queue = [value]
    while queue and len(found) < 2000:
        holder = queue.pop(0)
        if isinstance(holder, dict):
            found += [(holder, key) for key in holder]
            queue += list(holder.values())
        elif isinstance(holder, list):
            found += [(holder, index) for index in range(len(holder))]
            queue += holder
    return found
