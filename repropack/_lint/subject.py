"""What is looked at: the files that are or will be packed, and what is known of them.

A project and a package become the same kind of value here, so that each rule is written once.
Files are opened when a rule asks for them, and read as a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePosixPath
from typing import BinaryIO, Literal

from repropack._format.limits import DEFAULT_LIMITS, MEBIBYTE, Limits
from repropack._format.lint_rules import LINT_RULES
from repropack.models.lint import LintFinding
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import Plan

FileKind = Literal["source", "input", "output", "readme", "other"]
MAX_READ_BYTES = MEBIBYTE
"""Largest file that is read whole, as code or as a README; a longer one is looked at as bytes."""

_TEXT_SUFFIXES = frozenset(
    {".py", ".pyi", ".r", ".jl", ".m", ".sh", ".bash", ".c", ".h", ".cpp", ".f90", ".ipynb"}
    | {".md", ".rst", ".txt", ".toml", ".yaml", ".yml", ".cfg", ".ini", ".json", ".csv", ".env"}
)


@dataclass(frozen=True)
class LintedFile:
    """One file: its path in the project or package, what it is, and how to open it.

    ``name`` is the path under which the experiment knows it; ``size`` is in bytes. One that is not
    ``packed`` is read for what it says to people, and may hold what it likes.
    """

    path: str
    kind: FileKind
    size: int
    open: Callable[[], BinaryIO]
    name: str = ""
    packed: bool = True

    @property
    def suffix(self) -> str:
        """The extension in lower case, with its dot."""
        return PurePosixPath(self.path).suffix.lower()

    @property
    def is_text(self) -> bool:
        """Whether people write such files."""
        return self.suffix in _TEXT_SUFFIXES or self.kind == "readme"

    def read(self) -> bytes | None:
        """Read it whole; ``None`` where it is too large for that."""
        if self.size > MAX_READ_BYTES:
            return None
        with self.open() as stream:
            data = stream.read(MAX_READ_BYTES + 1)
        return data if len(data) <= MAX_READ_BYTES else None


@dataclass(frozen=True)
class Subject:
    """What is looked at.

    ``settings`` is the file that the plan comes from. ``inputs`` are the names of all inputs, also
    of those held by reference. ``left_out`` says of a name whether such a file is there without
    being packed. ``license_text`` is ``None`` where there is none but an identifier.
    """

    kind: Literal["project", "package"]
    settings: str
    metadata: PackageMetadata
    plan: Plan
    files: tuple[LintedFile, ...]
    inputs: tuple[str, ...] = ()
    license_text: bytes | None = None
    locked: bool = False
    left_out: Callable[[str], bool] = field(default=lambda _: False)
    limits: Limits = DEFAULT_LIMITS

    @cached_property
    def sources(self) -> tuple[LintedFile, ...]:
        """The experiment's source."""
        return tuple(file for file in self.files if file.kind == "source")

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of everything that a run of the experiment sees."""
        seen = {file.name for file in self.files if file.kind in {"source", "input"}}
        return frozenset({*seen, *self.inputs})

    @cached_property
    def output_patterns(self) -> tuple[str, ...]:
        """Patterns of the files that the commands write."""
        after = (pattern for command in self.plan.after for pattern in command.outputs)
        return (*self.plan.experiment.outputs, *after)

    def is_output(self, name: str) -> bool:
        """Whether a command is said to write a file of this name."""
        loose = (pattern.replace("**/", "*") for pattern in self.output_patterns)
        return any(fnmatchcase(name, pattern) for pattern in loose)

    def plan_texts(self) -> Iterator[str]:
        """Words of commands, values of variables, and texts in the configuration."""
        experiment = self.plan.experiment
        yield from experiment.command or ()
        yield from experiment.environment.values()
        for command in self.plan.after:
            yield from command.command
            yield from command.environment.values()
        yield from texts_of(experiment.config)
        for comparison in self.plan.comparisons:
            yield from texts_of(comparison.config)
        for claim in self.plan.claims:
            yield from (claim.sentence, claim.states or "")


def found(rule: str, path: str, problem: str, line: int | None = None) -> LintFinding:
    """Compose a finding; severity and cure are those of its rule.

    Args:
        rule: A key of ``LINT_RULES``.
        path: The file, as ``lint`` shows it.
        problem: What was found, in words.
        line: Where in the file, from 1.

    Returns:
        The finding, not allowed.
    """
    known = LINT_RULES[rule]
    return LintFinding(
        rule=rule,
        severity=known.severity,
        path=path,
        line=line,
        problem=problem,
        cure=known.cure,
    )


def texts_of(value: object) -> Iterator[str]:
    """Yield every text in a value of JSON, but names of members.

    Args:
        value: Any.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)
