"""The examples: what each has to find, every number stated once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples"

Found = tuple[int, str] | None
"""Step and stage of a first divergence, or none."""


@dataclass(frozen=True)
class Example:
    """A project below ``examples/``.

    ``evidence`` is its evidence digest where its bytes travel; ``found`` is what each comparison
    finds, in the plan's order; ``outputs`` are packed beside the runs' logs.
    """

    project: str
    steps: int
    evidence: str | None
    found: dict[str, Found]
    outputs: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """What is given to ``build``."""
        return FOLDER / self.project


EXAMPLES = {
    example.project.replace("/mended.toml", "-mended"): example
    for example in (
        Example(
            "logistic-regression",
            60,
            "sha256:08ec4080339aa101f26749c64fda6d0abb0b288d7796b246aa80e5cf100d4653",
            {
                "independent-restart": None,
                "resume-mid-epoch": None,
                "resume-at-epoch-end": None,
                "sampler-reset": (26, "batch"),
                "reversed-sum": (1, "gradient"),
            },
        ),
        Example(
            "plain-script",
            1,
            None,  # pixels follow matplotlib's version
            {"another-hash-seed": None, "fewer-resamples": (1, "output:slopes.npz:interval")},
            (
                "after/table.md",
                "runs/fewer-resamples/outputs/cooling.png",
                "runs/fewer-resamples/outputs/slopes.npz",
                "runs/fewer-resamples/outputs/summary.csv",
                "runs/reference/outputs/cooling.png",
                "runs/reference/outputs/slopes.npz",
                "runs/reference/outputs/summary.csv",
            ),
        ),
        Example(
            "own-loop",
            60,
            "sha256:cb28db2fff711a5fcacb4ad8843226aeb01863b1f07ef9a7b59af5ff06d42999",
            {
                "independent-restart": None,
                "resume": None,
                "generator-reset": (31, "proposals"),
                "search-reset": (31, "tour"),
            },
            ("runs/reference/outputs/tour.csv",),
        ),
        Example(
            "monte-carlo",
            40,
            "sha256:bf54f53c19c65e9c0c17dcc28217d910c4f15fc0070aa7bdd440a718ce522dca",
            {
                "independent-restart": None,
                "resume-at-10": None,
                "resume-at-20": None,
                "resume-at-30": None,
                "generator-reset": (21, "points"),
            },
        ),
        Example(
            "heat-equation",
            80,
            "sha256:5cb60ba2e14a230472418479536ba85b3cb7ff521bcde15eae183076f6d83a82",
            {
                "independent-restart": None,
                "resume": None,
                "neighbours-in-turn": (4, "neighbours"),
            },
            ("after/plate.png",),
        ),
        Example(
            "set-order-bug",
            20,
            None,  # the order of a set follows the interpreter
            {"same-hash-seed": None, "resume": None, "another-hash-seed": (1, "rows")},
        ),
        Example(
            "set-order-bug/mended.toml",
            20,
            "sha256:9488cbacf7b6a74d8959aa76391dc144a19ae8618163a1aeba813f4ad2b65599",
            {"same-hash-seed": None, "resume": None, "another-hash-seed": None},
        ),
        Example(
            "forgotten-state",
            100,
            "sha256:4a1267a02ed4ea437392d3ebb7f37f7a55c17e8ef006bdf5cd4ec033c860f2e8",
            {"independent-restart": None, "resume-at-80": None, "resume-at-40": (71, "rate")},
        ),
        Example(
            "forgotten-state/mended.toml",
            100,
            "sha256:760db254762e0be414948aa0482eea642a81fc5952f30299746637af8dd212fe",
            {"independent-restart": None, "resume-at-80": None, "resume-at-40": None},
        ),
    )
}
