"""A plan with claims and its runs, all in memory, for the evaluator and what tells of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from repropack._compare.claims import ClaimEvaluator
from repropack._compare.outcomes import compute_results
from repropack.models.checkpoint import ArrayRow, Checkpoint
from repropack.models.claims import ClaimOutcome, ClaimPlan
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan
from repropack.models.results import Results
from tests.support.logs import HandMadeRun, digest_of, step

BLOCK = 5
"""Elements of a block: fewer than some rows have, and no divisor of their number."""


@dataclass(frozen=True)
class StoredRun(HandMadeRun):
    """A run with checkpoints: arrays and encoded values by step."""

    arrays: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def log_path(self) -> str:
        return f"runs/{self.name}/fingerprints.jsonl"

    @property
    def kept_path(self) -> str:
        return f"runs/{self.name}/kept.npz"

    def kept_stages(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        return {
            name: (rows[0].dtype.str, (len(rows), *rows[0].shape))
            for name, rows in self.kept.items()
        }

    def kept_elements(self, stage: str, first_row: int, rows: int) -> Iterator[Any]:
        chosen = self.kept[stage][first_row : first_row + rows]
        yield from blocks(np.concatenate([row.reshape(-1) for row in chosen]))

    def checkpoint_steps(self) -> tuple[int, ...]:
        return tuple(sorted(self.arrays))

    def checkpoint_paths(self, step: int) -> tuple[str, str]:
        base = f"runs/{self.name}/checkpoints/step-{step:09d}"
        return f"{base}.json", f"{base}.npz"

    def checkpoint_document(self, step: int) -> Checkpoint:
        return Checkpoint(
            step=step,
            chain=digest_of("c"),
            components=(),
            arrays={
                name: ArrayRow(dtype=one.dtype.str, shape=one.shape, fingerprint=digest_of(name))
                for name, one in self.arrays[step].items()
            },
            values=dict(self.values),
        )

    def checkpoint_elements(self, step: int, name: str) -> Iterator[Any]:
        yield from blocks(self.arrays[step][name].reshape(-1))


def blocks(flat: Any) -> Iterator[Any]:
    for start in range(0, flat.size, BLOCK):
        yield flat[start : start + BLOCK]


def _line(number: int, letter: str, loss: float, *, stages: bool = True) -> Any:
    return step(
        number,
        {"weights": f"{letter}{number}"} if stages else None,
        {"weights": f"{letter}{number}"},
        metrics={"loss": loss, "hits": number},
        printed={"loss": f"{loss:.1f}"},
    )


def weights(offset: float, steps: range) -> list[Any]:
    return [np.full((2, 3), n + offset, "<f4") for n in steps]


REFERENCE = StoredRun(
    tuple(_line(n, "w", 1 / n) for n in range(1, 5)),
    {"weights": "w0"},
    {"weights": None},
    name="reference",
    kept={"weights": weights(0, range(1, 5))},
    arrays={
        0: {"weights": np.zeros((2, 3), "<f4")},
        2: {"weights": np.full((2, 3), 2, "<f4")},
        4: {"weights": np.full((2, 3), 4, "<f4"), "counts": np.array([3, -7, 5], "<i8")},
    },
    values={"clock.updates": 4, "clock.big": {"$int": str(2**70)}, "clock.name": "adam",
            "clock.rate": 0.25},
)  # fmt: skip
OTHER = replace(
    REFERENCE,
    name="other",
    lines=tuple(_line(n, "x", 1 / n + 0.25) for n in range(1, 5)),
    kept={"weights": [*weights(0.5, range(1, 4)), *weights(2, range(4, 5))]},
    arrays={0: REFERENCE.arrays[0], 4: {"weights": np.full((2, 3), 6, "<f4")}},
)
RESUMED = replace(
    REFERENCE, name="resumed", lines=REFERENCE.lines[2:], first_step=3, state={"weights": "w2"},
    kept={}, arrays={},
)  # fmt: skip
"""Identical, and so it stores its log alone."""
RUNS: dict[str, StoredRun] = {one.name: one for one in (REFERENCE, OTHER, RESUMED)}
PLAN = Plan(
    experiment=ExperimentPlan(
        entry_point="a:B",
        config={"rate": 0.25, "nested": {"name": "adam"}, "big": {"$int": str(2**60)}},
        seed=3,
        steps=4,
    ),
    record=RecordPlan(checkpoint_every=2, keep=("weights",), printed={"loss": ".1f"}),
    comparisons=(
        ComparisonPlan(name="other", config={"rate": 0.5}),
        ComparisonPlan(name="resumed", resume_at=2, expect="identical"),
    ),
)


def results(runs: Mapping[str, StoredRun] = RUNS) -> Results:
    others = {name: run for name, run in runs.items() if name != "reference"}
    return compute_results(PLAN, runs["reference"], others)


def evaluator(max_elements: int = 10**9, **runs: StoredRun) -> ClaimEvaluator:
    known = {**RUNS, **runs}
    return ClaimEvaluator(PLAN, results(known), known, max_elements)


def claim(expression: str, kind: Any = "number", **members: Any) -> ClaimPlan:
    """A claim of this expression; what it states is not looked at where it is not given."""
    return ClaimPlan(id="a", kind=kind, sentence="It is {value}.", expression=expression, **members)


def outcome(expression: str, kind: Any = "number", **members: Any) -> ClaimOutcome:
    return evaluator().evaluate(claim(expression, kind, **members))


def outcome_of(text: str = "0.0215", **members: Any) -> ClaimOutcome:
    """A claim that was evaluated, for whoever tells of it."""
    return ClaimOutcome.model_validate(
        {
            "id": "final-loss", "kind": "number", "sentence": f"The final loss is {text}.",
            "expected": "0.0215", "text": text, "value": 0.0214672945992594, "held": True,
            "evidence": ("runs/reference/fingerprints.jsonl",), **members,
        }
    )  # fmt: skip
