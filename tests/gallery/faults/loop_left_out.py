"""A loop attaches its model and forgets its generator.

Reported: a script of its own resumes, and sees the data of its first steps again.
Wrong: the generator is not among what is given to ``attach``.
"""

from __future__ import annotations

import numpy as np

import repropack


def main() -> None:
    generator = np.random.default_rng(7)
    model = {"weights": np.zeros(4)}
    run = repropack.attach(state={"model": model})
    for _ in run.steps(16):
        batch = generator.random(4)
        run.record("batch", batch, of=())
        model["weights"] = 0.75 * model["weights"] + batch
        run.record("weights", model["weights"], of=("batch", "state:model"))


if __name__ == "__main__":
    main()
