#!/usr/bin/env python3
"""How long `check` of a package takes, against starting Python with the imports that it needs.

    python benchmarks/check_lab.py lab.zip

Prints processor time, the median of some runs of each: a loaded machine tells little by the clock.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys

_IMPORTS = "import repropack._cli.main, repropack._present.text, repropack.check"
_CHECK = "import sys; from repropack._cli.main import main; sys.exit(main(['check', sys.argv[1]]))"


def _seconds(code: str, package: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code, package]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("package")
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    found = {
        name: statistics.median(_seconds(code, options.package) for _ in range(options.runs))
        for name, code in (("imports", _IMPORTS), ("check", _CHECK))
    }
    ratio = found["check"] / found["imports"]
    sys.stdout.write(
        f"imports {found['imports'] * 1000:.0f} ms, check {found['check'] * 1000:.0f} ms, "
        f"{ratio:.2f} times\n"
    )


if __name__ == "__main__":
    main()
