"""Draw the plate at the checkpoints of the finished run, as one row of images."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

CHECKPOINTS = Path("runs/reference/checkpoints")


def main() -> None:
    """Read every checkpoint of the reference, and write ``plate.png``."""
    mpl.rcParams["font.size"] = 9
    files = sorted(CHECKPOINTS.glob("step-*.npz"))
    figure = Figure(figsize=(2.0 * len(files), 2.4), layout="constrained")
    for axes, file in zip(figure.subplots(1, len(files)), files, strict=True):
        with np.load(file) as arrays:
            axes.imshow(arrays["field"], vmin=0, vmax=50, cmap="inferno")
        axes.set_title(f"step {int(file.stem.removeprefix('step-'))}")
        axes.set_axis_off()
    figure.savefig("plate.png", dpi=100)


if __name__ == "__main__":
    main()
