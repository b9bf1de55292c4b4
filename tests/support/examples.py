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
            "sha256:f5ad2bc5e17d9a330977d228fc3be23ace23ea3eb29415cc3ade6e00c1c51f99",
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
            "sha256:86be0619b0db3f7468c149d64fccca797ef9a7cc5ddf8c449f24815611426492",
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
            "sha256:2c77880e06064c9f4f469abd582ed55dcd66baf748254acd8d5c7eeaf7a6de4b",
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
            "sha256:da8da36929a3a924fb2fa5df4980a3ae7bf8e578cd60119e018d0ec8dd0493c3",
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
            "sha256:54f60e1bc37082365777c08f60d5950d991ea46402ebfb798a3d8d16b80ef8a5",
            {"same-hash-seed": None, "resume": None, "another-hash-seed": None},
        ),
        Example(
            "forgotten-state",
            100,
            "sha256:abedc685ebae257d8f468cc9f8b5e5d81df2ae0868c52e9b0032f2d53b36ef8c",
            {"independent-restart": None, "resume-at-80": None, "resume-at-40": (71, "rate")},
        ),
        Example(
            "forgotten-state/mended.toml",
            100,
            "sha256:66d5c206dd34baf360c3c34df21f514f4454c8d4a9c5cab11442f05bfc3f34ce",
            {"independent-restart": None, "resume-at-80": None, "resume-at-40": None},
        ),
    )
}
