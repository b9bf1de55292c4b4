"""The small language of claims: text in, a tree out; nothing is looked up and nothing runs.

The grammar is that of docs/claims.md. A tree is bounded by the length of its text, by its depth
and by the number of its parts, so that whoever walks it needs no bounds of their own.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

MAX_DEPTH: Final = 16
"""Parentheses, calls and signs within each other."""
MAX_PARTS: Final = 100
"""Operands and operations of one expression together."""

COMPARATORS: Final = ("==", "!=", "<=", ">=", "<", ">")
DOCUMENTS: Final = ("results", "plan")
SERIES: Final = ("kept", "metric")
ARRAYS: Final = ("final", "checkpoint")
ROOTS: Final = (*DOCUMENTS, *SERIES, *ARRAYS)
SELECTORS: Final = {"kept": (2, 3), "metric": (2, 3), "final": (2, 2), "checkpoint": (3, 3)}
"""How many names in brackets a series or an array has, at least and at most."""
FUNCTIONS: Final = {
    "count": 1,
    "size": 1,
    "first": 1,
    "last": 1,
    "min": 1,
    "max": 1,
    "max_abs": 1,
    "sum": 1,
    "norm": 1,
    "max_abs_difference": 2,
    "count_different": 2,
    "steps_different": 2,
}
"""Every function and how many arguments it takes."""

_TOKEN = re.compile(
    r"(?P<space> +)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<text>\"[^\"]*\"|'[^']*')"
    r"|(?P<bracket>\[[^\[\]]*\])"
    r"|(?P<mark>==|!=|<=|>=|[<>()+\-*/.,])"
)
_END = ""


class ExpressionError(ValueError):
    """An expression that cannot be read or has no value; ``at`` is a place in it, from 0."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(f"character {at + 1}: {problem}")
        self.at = at
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text, true or false."""

    value: bool | int | float | str
    at: int


@dataclass(frozen=True, slots=True)
class Part:
    """One step into a document: a member by its name, or a row by the name in brackets."""

    name: str
    row: bool
    at: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in a document, a series of a run or an array of a checkpoint."""

    root: str
    parts: tuple[Part, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function of one or two arguments, each a pointer."""

    function: str
    arguments: tuple[Pointer, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Negated:
    """Minus something."""

    operand: Node
    at: int


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands and one of ``+ - * /``; or, outermost alone, a comparison."""

    operator: str
    left: Node
    right: Node
    at: int


Node = Constant | Pointer | Call | Negated | Binary


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def parse_expression(text: str) -> Node:
    """Read an expression.

    Args:
        text: The expression, at most 1,000 characters of ASCII.

    Returns:
        Its tree; the outermost node alone may be a comparison.

    Raises:
        ExpressionError: it is not in the language, or too deep or too long; says where.

    Example:
        >>> parse_expression("2 < 3").operator
        '<'
        >>> parse_expression("cuont(plan.comparisons)")
        Traceback (most recent call last):
        repropack._format.expressions.ExpressionError: character 1: expected a function, observed 'cuont'; did you mean 'count'?
    """  # noqa: E501 - the doctest shows the whole line
    return _Parser(text).parse()


def pointers_in(node: Node) -> Iterator[Pointer]:
    """Yield every pointer of a tree, from left to right."""
    if isinstance(node, Pointer):
        yield node
    elif isinstance(node, Call):
        yield from node.arguments
    elif isinstance(node, Negated):
        yield from pointers_in(node.operand)
    elif isinstance(node, Binary):
        yield from pointers_in(node.left)
        yield from pointers_in(node.right)


def is_comparison(node: Node) -> bool:
    """Whether a tree is a comparison, whose value is true or false."""
    return isinstance(node, Binary) and node.operator in COMPARATORS


def advice(name: str, known: Sequence[str]) -> str:
    """Return ``; did you mean ...?`` where one of the known names is close, else nothing.

    Example:
        >>> advice("weihgts", ["weights", "batch"])
        "; did you mean 'weights'?"
    """
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ExpressionError(at, _unreadable(text, at))
        if match.lastgroup != "space":
            found.append(_Token(str(match.lastgroup), match[0], at))
        at = match.end()
    return [*found, _Token("end", _END, len(text))]


def _unreadable(text: str, at: int) -> str:
    character = text[at]
    if character in "\"'":
        return f"expected a closing {character}, observed none"
    if character == "[":
        return "expected a name and a closing ], observed none"
    if character == "=":
        return "expected ==, observed ="
    return f"expected a name, a number, a text or an operator, observed {character!r}"


class _Parser:
    """Recursive descent over the tokens; one method a rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._place = 0
        self._depth = 0
        self._parts = 0

    def parse(self) -> Node:
        """``sum [comparator sum]``, and nothing behind it."""
        node = self._sum()
        token = self._token
        if token.kind == "mark" and token.text in COMPARATORS:
            self._next()
            node = self._counted(Binary(token.text, node, self._sum(), token.at))
        if self._token.kind != "end":
            self._refuse("an operator or the end")
        return node

    @property
    def _token(self) -> _Token:
        return self._tokens[self._place]

    def _next(self) -> _Token:
        token = self._token
        self._place += 1
        return token

    def _refuse(self, expected: str) -> NoReturn:
        token = self._token
        observed = "the end" if token.kind == "end" else repr(token.text)
        raise ExpressionError(token.at, f"expected {expected}, observed {observed}")

    def _counted(self, node: Node) -> Node:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise ExpressionError(node.at, f"expected at most {MAX_PARTS} parts, observed more")
        return node

    def _sum(self) -> Node:
        node = self._product()
        while self._token.kind == "mark" and self._token.text in "+-":
            token = self._next()
            node = self._counted(Binary(token.text, node, self._product(), token.at))
        return node

    def _product(self) -> Node:
        node = self._signed()
        while self._token.kind == "mark" and self._token.text in "*/":
            token = self._next()
            node = self._counted(Binary(token.text, node, self._signed(), token.at))
        return node

    def _signed(self) -> Node:
        token = self._token
        if token.kind != "mark" or token.text not in {"-", "("}:
            return self._operand()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(token.at, f"expected a depth of at most {MAX_DEPTH}")
        self._next()
        if token.text == "-":
            node = self._counted(Negated(self._signed(), token.at))
        else:
            node = self._sum()
            self._expect(")")
        self._depth -= 1
        return node

    def _expect(self, text: str) -> None:
        if self._token.kind != "mark" or self._token.text != text:
            self._refuse(repr(text))
        self._next()

    def _operand(self) -> Node:
        token = self._token
        if token.kind == "number":
            self._next()
            return self._counted(Constant(_number(token), token.at))
        if token.kind == "text":
            self._next()
            return self._counted(Constant(token.text[1:-1], token.at))
        if token.kind != "word":
            self._refuse("a number, a text, a pointer or a function")
        self._next()
        if token.text in {"true", "false"}:
            return self._counted(Constant(token.text == "true", token.at))
        if self._token.text == "(" and self._token.kind == "mark":
            return self._counted(self._call(token))
        pointer = self._pointer(token)
        if pointer.root not in DOCUMENTS:
            raise ExpressionError(
                token.at,
                f"expected {token.text} within a function such as max_abs, observed it alone",
            )
        return self._counted(pointer)

    def _call(self, name: _Token) -> Call:
        if name.text not in FUNCTIONS:
            told = advice(name.text, list(FUNCTIONS))
            known = "" if told else f"; expected one of {', '.join(FUNCTIONS)}"
            raise ExpressionError(
                name.at, f"expected a function, observed {name.text!r}{told}{known}"
            )
        self._expect("(")
        arguments = [self._argument()]
        while self._token.kind == "mark" and self._token.text == ",":
            self._next()
            arguments.append(self._argument())
        self._expect(")")
        wanted = FUNCTIONS[name.text]
        if len(arguments) != wanted:
            what = "one argument" if wanted == 1 else "two arguments"
            raise ExpressionError(
                name.at, f"expected {what} of {name.text}, observed {len(arguments)}"
            )
        for argument in arguments:
            if argument.root in DOCUMENTS and name.text != "count":
                raise ExpressionError(
                    argument.at,
                    f"expected kept, metric, final or checkpoint in {name.text}, observed "
                    f"{argument.root!r}",
                )
        return Call(name.text, tuple(arguments), name.at)

    def _argument(self) -> Pointer:
        token = self._token
        if token.kind != "word":
            self._refuse("kept, metric, final, checkpoint, or a list of results or plan")
        self._next()
        pointer = self._pointer(token)
        self._counted(pointer)
        return pointer

    def _pointer(self, root: _Token) -> Pointer:
        if root.text not in ROOTS:
            raise ExpressionError(
                root.at,
                f"expected one of {', '.join(ROOTS)}, observed {root.text!r}"
                f"{advice(root.text, ROOTS)}",
            )
        parts: list[Part] = []
        while True:
            token = self._token
            if token.kind == "bracket":
                self._next()
                parts.append(_row(token))
            elif token.kind == "mark" and token.text == ".":
                self._next()
                if self._token.kind != "word":
                    self._refuse("the name of a member")
                member = self._next()
                parts.append(Part(member.text, row=False, at=member.at))
            else:
                break
        pointer = Pointer(root.text, tuple(parts), root.at)
        _check_selectors(pointer)
        return pointer


def _row(token: _Token) -> Part:
    name = token.text[1:-1].strip()
    if not name:
        raise ExpressionError(token.at, "expected a name in brackets, observed none")
    return Part(name, row=True, at=token.at)


def _check_selectors(pointer: Pointer) -> None:
    """A series or an array has as many names in brackets as it needs, and no members."""
    if pointer.root in DOCUMENTS:
        if not pointer.parts:
            raise ExpressionError(pointer.at, f"expected {pointer.root} and a member, observed it")
        return
    least, most = SELECTORS[pointer.root]
    plain = all(part.row for part in pointer.parts)
    if not plain or not least <= len(pointer.parts) <= most:
        form = {
            "kept": "kept[RUN][STAGE] or kept[RUN][STAGE][FIRST..LAST]",
            "metric": "metric[RUN][NAME] or metric[RUN][NAME][FIRST..LAST]",
            "final": "final[RUN][ARRAY]",
            "checkpoint": "checkpoint[RUN][STEP][ARRAY]",
        }[pointer.root]
        raise ExpressionError(pointer.at, f"expected {form}, observed another form")


def _number(token: _Token) -> int | float:
    if token.text.isdigit():
        return int(token.text)
    value = float(token.text)
    if math.isinf(value):
        raise ExpressionError(token.at, "expected a number within float64, observed a larger one")
    return value
