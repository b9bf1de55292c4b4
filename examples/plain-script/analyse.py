"""How fast the lake cools with depth: a straight line, and how sure one can be of its slope.

Usage: python analyse.py [--seed N] [--resamples N]

Reads readings.csv. Writes slopes.npz, summary.csv and cooling.png.
"""

import argparse
import csv

import matplotlib.pyplot as plt
import numpy as np


def fit_line(depth: np.ndarray, temperature: np.ndarray) -> tuple[float, float]:
    """Return slope, in degrees a metre, and the temperature at the surface."""
    from_middle = depth - depth.mean()
    slope = (from_middle * temperature).sum() / (from_middle * from_middle).sum()
    return float(slope), float(temperature.mean() - slope * depth.mean())


def main() -> None:
    """Fit, draw samples again from the readings, and write what came out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resamples", type=int, default=500)
    args = parser.parse_args()

    depth, temperature = np.loadtxt("readings.csv", delimiter=",", skiprows=1).T
    slope, surface = fit_line(depth, temperature)

    rng = np.random.default_rng(args.seed)
    slopes = np.zeros(args.resamples)
    for i in range(args.resamples):
        rows = rng.integers(0, len(depth), size=len(depth))
        slopes[i], _ = fit_line(depth[rows], temperature[rows])
    ordered = np.sort(slopes)
    low, high = ordered[args.resamples // 40], ordered[-1 - args.resamples // 40]

    np.savez("slopes.npz", slopes=slopes, interval=np.array([low, high]))

    with open("summary.csv", "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["quantity", "unit", "value"])
        w.writerow(["slope", "degC/m", f"{slope:.5f}"])
        w.writerow(["slope, 2.5 %", "degC/m", f"{low:.5f}"])
        w.writerow(["slope, 97.5 %", "degC/m", f"{high:.5f}"])
        w.writerow(["surface", "degC", f"{surface:.3f}"])

    plt.figure(figsize=(5, 3.5))
    plt.plot(depth, temperature, ".", label="readings")
    plt.plot(depth, surface + slope * depth, label=f"{slope:.3f} °C a metre")
    plt.xlabel("depth, m")
    plt.ylabel("temperature, °C")
    plt.legend()
    plt.tight_layout()
    plt.savefig("cooling.png", dpi=120)
    print(f"slope {slope:.4f} degC/m, 95 % from {low:.4f} to {high:.4f}")


if __name__ == "__main__":
    main()
