"""Pickles: files that are one, whatever they are called, and code that reads them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from repropack._lint.code import Call, Module, is_literal
from repropack._lint.pieces import NPY_MAGIC
from repropack._lint.subject import LintedFile, Subject, found
from repropack._lint.zips import ZIP_MAGIC, iter_members
from repropack.models.lint import LintFinding

_SUFFIXES = frozenset({".pkl", ".pickle", ".joblib", ".dill"})
_OBJECTS = re.compile(rb"'descr': *(?:'\|O|\[.{0,2000}?'\|O)")
_HEADER_BYTES = 4096
_FIRST_OPCODES = b"\x95}]()cKXUCGJMNhqlIiSVF\x8c\x8e\x8a\x88\x89K"
_TRUE, _FALSE = (True,), (False,)
_READERS = {
    "pickle.load": "executes what is in the file",
    "pickle.loads": "executes what is in the bytes",
    "pickle.Unpickler": "executes what is in the file",
    "joblib.load": "reads pickles",
    "dill.load": "reads pickles",
    "dill.loads": "reads pickles",
    "cloudpickle.load": "reads pickles",
    "cloudpickle.loads": "reads pickles",
    "pandas.read_pickle": "reads pickles",
    "shelve.open": "reads pickles",
}


def check_pickles(subject: Subject, modules: tuple[Module, ...]) -> Iterator[LintFinding]:
    """Yield packed files that are pickles, and calls that read them.

    Args:
        subject: What is looked at.
        modules: Its parsed source.
    """
    for file in subject.files:
        problem = _pickled(file, subject) if file.packed else None
        if problem is not None:
            yield found("pickle", file.path, problem)
    for module in modules:
        for call in module.calls:
            why = _why_reading(call)
            if why is not None:
                yield found("pickle-in-code", module.file.path, f"{call.name}() {why}", call.line)


def _pickled(file: LintedFile, subject: Subject) -> str | None:
    if file.suffix in _SUFFIXES:
        return "its name says that it is a pickle"
    with file.open() as stream:
        head = stream.read(_HEADER_BYTES)
        if head.startswith(NPY_MAGIC):
            return "an array of Python objects" if _OBJECTS.search(head) else None
        if _starts_a_pickle(head):
            stream.seek(max(file.size - 1, 0))
            return "it begins and ends as a pickle does" if stream.read(1) == b"." else None
        if not head.startswith(ZIP_MAGIC):
            return None
        for name, content in iter_members(stream, subject.limits):
            first = next(content, b"")[:_HEADER_BYTES]
            if first.startswith(NPY_MAGIC) and _OBJECTS.search(first):
                return f"member {name[:80]!r} is an array of Python objects"
            if name.endswith(".pkl") and _starts_a_pickle(first):
                return f"member {name[:80]!r} is a pickle"
    return None


def _starts_a_pickle(head: bytes) -> bool:
    """Whether bytes begin as pickles of protocols 2 to 5 do."""
    return len(head) > 3 and head[0] == 0x80 and 2 <= head[1] <= 5 and head[2] in _FIRST_OPCODES


def _why_reading(call: Call) -> str | None:
    if call.name == "numpy.load":
        allowed = call.argument(2, "allow_pickle")
        return "with allow_pickle=True reads pickles" if is_literal(allowed, *_TRUE) else None
    if call.name == "torch.load":
        only = next((row.value for row in call.node.keywords if row.arg == "weights_only"), None)
        safe = only is not None and not is_literal(only, *_FALSE)
        return None if safe else "without weights_only=True reads pickles"
    if call.name == "pickle.loads" and _copies(call):
        return None
    return _READERS.get(call.name)


def _copies(call: Call) -> bool:
    """Whether what is read was made on the spot: ``pickle.loads(pickle.dumps(x))``."""
    given = call.argument(0, "data")
    return (
        isinstance(given, ast.Call)
        and isinstance(given.func, ast.Attribute)
        and given.func.attr == "dumps"
    )
