"""A short round trip through some towns, searched for by a loop of its own.

``python tour.py`` runs it alone, and nothing is recorded then. What repropack needs are the lines
with ``run`` in them.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt

import repropack

Integers = npt.NDArray[np.int64]


def tour_length(towns: Integers, tour: Integers) -> int:
    """Return the length of a closed tour, in blocks of a city whose streets cross squarely."""
    there = towns[tour]
    return int(np.abs(there - np.roll(there, -1, axis=0)).sum())


def main() -> None:
    """Search, and write ``tour.csv``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--towns", type=int, default=40)
    parser.add_argument("--steps", type=int, default=60)
    given = parser.parse_args()

    generator = np.random.default_rng(given.seed)
    towns = generator.integers(0, 1000, size=(given.towns, 2))
    tour = np.arange(given.towns)
    search = {"allowance": 400, "length": tour_length(towns, tour)}

    run = repropack.attach(
        state={"tour": tour, "search": search, "generator": generator},
        constants={"towns": towns},
    )
    for step in run.steps(given.steps):
        proposals = np.sort(generator.integers(0, given.towns, size=(200, 2)), axis=1)
        run.record("proposals", proposals, of="state:generator")
        for first, last in proposals:
            changed = tour.copy()
            changed[first : last + 1] = changed[first : last + 1][::-1]
            length = tour_length(towns, changed)
            if length < search["length"] + search["allowance"]:
                tour[:] = changed
                search["length"] = length
        search["allowance"] = search["allowance"] * 9 // 10
        run.record("tour", tour, of=("proposals", "state:tour", "state:search"))
        run.metric("length", search["length"])
        if step % 20 == 0:
            print(f"step {step}: {search['length']} blocks")

    with Path("tour.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["town", "east", "north"])
        table.writerows([int(town), *map(int, towns[town])] for town in tour)


if __name__ == "__main__":
    main()
