"""A loop of its own that attaches all that it needs.

Unusual: the script makes its steps itself, and leaves before the last one.
"""

from __future__ import annotations

import numpy as np

import repropack


def main() -> None:
    generator = np.random.default_rng(7)
    model = {"weights": np.zeros(4)}
    progress = {"epoch": 0}
    run = repropack.attach(state={"model": model, "progress": progress, "generator": generator})
    for step in run.steps(16):
        batch = generator.random(4)
        run.record("batch", batch, of="state:generator")
        model["weights"] = 0.75 * model["weights"] + batch
        run.record("weights", model["weights"], of=("batch", "state:model"))
        progress["epoch"] = step // 3
        if step == 14:
            run.finish("enough")


if __name__ == "__main__":
    main()
