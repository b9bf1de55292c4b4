"""Make the table of the write-up from the finished run: reads its outputs, writes table.md."""

import csv

import numpy as np

OUTPUTS = "runs/reference/outputs"


def main() -> None:
    """Write a table of the summary, and of how many slopes were drawn."""
    with open(f"{OUTPUTS}/summary.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    with np.load(f"{OUTPUTS}/slopes.npz") as arrays:
        drawn = len(arrays["slopes"])
    lines = ["| quantity | value | unit |", "|---|---|---|"]
    lines += [f"| {row['quantity']} | {row['value']} | {row['unit']} |" for row in rows]
    lines += ["", f"The interval is that of {drawn} samples drawn again from the readings."]
    with open("table.md", "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
