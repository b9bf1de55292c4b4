#!/usr/bin/env python3
"""Fuzz one reader under guidance by coverage, from honest inputs and the ones kept before.

Needs atheris (``pip install atheris``), which is no dependency of the project. Inputs that reached
something new are kept in ``build/fuzz/TARGET`` and are where the next run begins. An input that
breaks a promise is written to ``build/fuzz/crash-TARGET-...``, and the run ends with a status
other than 0: put it into ``tests/fuzz/regressions/TARGET/``, where it is tried by every test run.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "fuzz"
MISSING = "this needs atheris: pip install atheris (it has wheels for CPython on Linux)\n"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line.

    Returns:
        ``target``, ``seconds``, ``max_bytes``, ``package``.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", help="a name of tests/fuzz/targets.py: zip, npz, json, log ...")
    parser.add_argument("--seconds", type=int, default=60, help="how long (default: 60)")
    parser.add_argument("--max-bytes", type=int, default=8192, help="longest input (default: 8192)")
    parser.add_argument("--package", type=Path, help="honest package to begin from; else built")
    return parser.parse_args(arguments)


def write_seeds(seeds: list[bytes], folder: Path) -> None:
    """Write honest inputs beside those that were kept before."""
    folder.mkdir(parents=True, exist_ok=True)
    for index, data in enumerate(seeds):
        (folder / f"seed-{index:03d}").write_bytes(data)


def run(options: argparse.Namespace, atheris: Any) -> None:
    """Import the readers instrumented, and feed them until the time is over."""
    with atheris.instrument_imports(include=["repropack"], enable_loader_override=False):
        targets = importlib.import_module("tests.fuzz.targets")
    if options.target not in targets.TARGETS:
        sys.exit(f"no target {options.target!r}: expected one of {', '.join(targets.TARGETS)}")
    with tempfile.TemporaryDirectory(prefix="repropack-fuzz-") as folder:
        package = options.package
        if package is None:
            bases = importlib.import_module("tests.hostile.corpus.bases")
            package = bases.build_own(Path(folder)).package
        targets.use_base(package, Path(folder))
        write_seeds(targets.seeds(options.target), WORK / options.target)
        command = [
            sys.argv[0],
            str(WORK / options.target),
            f"-max_total_time={options.seconds}",
            f"-max_len={options.max_bytes}",
            "-timeout=10",
            "-rss_limit_mb=1024",
            "-print_final_stats=1",
            f"-artifact_prefix={WORK}/crash-{options.target}-",
        ]
        atheris.Setup(command, targets.TARGETS[options.target])
        atheris.Fuzz()


def main(arguments: list[str] | None = None) -> int:
    """Run the script.

    Returns:
        2 where atheris is missing; else the fuzzer ends the process itself.
    """
    options = parse(arguments)
    sys.path.insert(0, str(ROOT))
    try:
        atheris = importlib.import_module("atheris")
    except ImportError:
        sys.stderr.write(MISSING)
        return 2
    run(options, atheris)
    return 0


if __name__ == "__main__":
    sys.exit(main())
