"""Python source as a tree that rules ask: which functions are called, under their full names.

Source is parsed and never run. What cannot be parsed is passed over: it is for a run to complain.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from repropack._lint.subject import LintedFile, Subject


@dataclass(frozen=True)
class Call:
    """A call, and where it stands.

    ``name`` is the function's full name such as ``numpy.random.rand``, or that of a method alone
    with a dot before it such as ``.read_text``.
    """

    name: str
    node: ast.Call

    @property
    def line(self) -> int:
        """Line of the call, from 1."""
        return self.node.lineno

    def argument(self, position: int, keyword: str = "") -> ast.expr | None:
        """The argument at a position or under a keyword; ``None`` where it is not given."""
        if position < len(self.node.args):
            return self.node.args[position]
        return next((row.value for row in self.node.keywords if row.arg == keyword), None)


@dataclass(frozen=True)
class Module:
    """One parsed source file."""

    file: LintedFile
    tree: ast.Module

    @property
    def is_test(self) -> bool:
        """Whether it tests the experiment and is no part of it."""
        path = PurePosixPath(self.file.name)
        named = path.name.startswith("test_") or path.name in {"conftest.py", "setup.py"}
        return named or "tests" in path.parts or "test" in path.parts

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every call in it whose function has a name."""
        aliases = dict(_aliases(self.nodes))
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Call):
                name = _full_name(node.func, aliases)
                if name:
                    found.append(Call(name, node))
        return tuple(found)

    @cached_property
    def names(self) -> dict[int, str]:
        """The full name of each call's function by the identity of the call's node."""
        return {id(call.node): call.name for call in self.calls}

    @cached_property
    def texts(self) -> tuple[tuple[str, int], ...]:
        """Every text in it with its line, docstrings left out."""
        docs = {id(node.value) for node in self.nodes if isinstance(node, ast.Expr)}
        return tuple(
            (node.value, node.lineno)
            for node in self.nodes
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docs
        )


def parse_modules(subject: Subject) -> tuple[Module, ...]:
    """Parse the Python source of a subject.

    Args:
        subject: What is looked at.

    Returns:
        A module for each source file that can be parsed.
    """
    found = []
    for file in subject.sources:
        data = file.read() if file.suffix == ".py" else None
        if data is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        found.append(Module(file, tree))
    return tuple(found)


def is_literal(node: ast.expr | None, *values: object) -> bool:
    """Whether an argument is one of some values, written out."""
    return isinstance(node, ast.Constant) and any(node.value is value for value in values)


def _aliases(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is not None:
                    yield alias.asname, alias.name
                else:
                    yield alias.name.partition(".")[0], alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _full_name(node: ast.expr, aliases: dict[str, str]) -> str:
    """Name of a function: whole where it begins with an import or a builtin."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        if node.id in aliases:
            return ".".join([aliases[node.id], *reversed(parts)])
        if not parts:
            return node.id
    return f".{parts[0]}" if parts else ""
