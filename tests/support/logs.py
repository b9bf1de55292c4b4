"""Fingerprint logs written by hand: one letter stands for one digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from repropack._compare.logs import LogComparison, view_from
from repropack._format.log import CHAIN_START
from repropack.models.log import HeaderLine, StartLine, StepLine

Declared = Mapping[str, tuple[str, ...] | None]


def digest_of(letter: str) -> str:
    """The digest that a letter stands for."""
    return f"sha256:{hashlib.sha256(letter.encode()).hexdigest()}"


def rows(letters: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, digest_of(letter)) for name, letter in letters.items())


def step(
    number: int,
    stages: Mapping[str, str] | None = None,
    state: Mapping[str, str] | None = None,
    *,
    metrics: Mapping[str, Any] | None = None,
    printed: Mapping[str, str] | None = None,
    declares: Declared | None = None,
    finish: str | None = None,
) -> StepLine:
    """One step line; its chain says nothing, for comparing never looks at it."""
    return StepLine(
        chain=CHAIN_START,
        step=number,
        stages=None if stages is None else rows(stages),
        state=None if state is None else rows(state),
        metrics=dict(metrics or {}),
        printed=dict(printed or {}),
        declares=None if declares is None else tuple(declares.items()),
        finish=finish,
    )


@dataclass(frozen=True)
class HandMadeRun:
    """A run for the comparison: its log as lines, its kept arrays as lists of rows."""

    lines: tuple[StepLine, ...]
    state: Mapping[str, str] = field(default_factory=dict)
    declared: Declared = field(default_factory=dict)
    first_step: int = 1
    kept: Mapping[str, list[Any]] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    config: str = "config"
    name: str = "run"

    @property
    def header(self) -> HeaderLine:
        return HeaderLine(
            run=self.name,
            config=digest_of(self.config),
            constants=rows(self.constants),
            first_step=self.first_step,
            stages=tuple(self.declared.items()),
        )

    @property
    def start(self) -> StartLine:
        return StartLine(chain=CHAIN_START, state=rows(self.state))

    def steps(self, first_step: int = 0) -> Iterator[StepLine]:
        return (line for line in self.lines if line.step >= first_step)

    def kept_rows(self, stage: str, first_step: int = 0) -> Iterator[Any] | None:
        if stage not in self.kept:
            return None
        before = (line for line in self.lines if line.step < first_step)
        return iter(self.kept[stage][sum(line.stages is not None for line in before) :])


def walk(left: HandMadeRun, right: HandMadeRun, first_step: int | None = None) -> LogComparison:
    """Compare two runs from the right one's first step on, to the end."""
    first = right.first_step if first_step is None else first_step
    comparison = LogComparison(
        view_from(left.header, left.start, left.steps(), first),
        view_from(right.header, right.start, right.steps(), first),
        first,
    )
    exhaust(comparison.pairs())
    return comparison


def exhaust(items: Iterable[object]) -> None:
    for _ in items:
        pass
